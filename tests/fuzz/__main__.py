"""Look for disagreements, or repeat one."""

import argparse
import time

from tests.fuzz.judge import check, run


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--case", type=int, help="repeat this one only")
    arguments = parser.parse_args()
    if arguments.case is not None:
        case, faults = check(arguments.seed, arguments.case)
        print(f"{case.name}({case.text})", *(faults or ["agrees"]), sep="\n  ")
        raise SystemExit(bool(faults))
    start = time.monotonic()
    done, failed = run(arguments.seed, arguments.cases)
    counts = ", ".join(f"{name} {n}" for name, n in done.most_common())
    print(f"{done.total()} cases in {time.monotonic() - start:.0f} s, {len(failed)} disagree: {counts}")
    raise SystemExit(bool(failed))


if __name__ == "__main__":
    main()
