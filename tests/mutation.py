"""Break the core of the library in many small ways, one at a time, and list what no test notices.

``python -m tests.mutation`` tries every mutant; ``--seconds 60`` tries as many of a fixed random order as it can begin
in that time, ``--changed`` those of modules that differ from main, ``--modules masks tiled`` those of some.

Torch is imported once. Each mutant is tried in a process forked from there, on the CPU, with the tests that enter the
broken function: those of the module's own file first, the quick ones before the slow ones, until one fails.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib.machinery
import json
import math
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tests.mutants import Mutant, mutants, mutate

ROOT = Path(__file__).parents[1]
AROUND = ("experiments", "instruments", "learn", "plotting", "widgets")  # these folders stand around the core
FILES = [
    path.relative_to(ROOT / "attnlib").with_suffix("") for path in sorted((ROOT / "attnlib").rglob("*.py"))
]
MODULES = [x.as_posix() for x in FILES if x.parts[0] not in AROUND and not x.name.startswith("__")]
MODULES += ["instruments/leaks"]
TESTS = [
    "tests/test_*.py",
    "tests/backends/test_*.py",
    "tests/conformance/test_*.py",
    "tests/instruments/test_leaks.py",
]
OTHERS = {
    "test_architecture",
    "test_main",
    "test_mutation",
    "test_package",
    "test_settings",
    "test_types",
}
UNUSED = shutil.ignore_patterns(".*", "__pycache__", "_build", "build", "dist", "node_modules", "*.egg-info")
ENDED = (-signal.SIGXCPU, -signal.SIGALRM)
FLOOR = 0.92  # of all mutants
LEAST = 24  # mutants that even a short run tries
SLOW = 30  # seconds of computing: a longer test tries no mutants, for each unnoticed one would wait for it
SLOW_KINDS = ("compile", "export")  # nor does one with these words in its name
ALONE = {  # nothing is forked from a process that has met a GPU, and other people's plugins stay away
    "ATTNLIB_DEVICE": "cpu",
    "CUDA_VISIBLE_DEVICES": "",
    "OMP_NUM_THREADS": "1",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
}


class Footprints:
    """A plugin for pytest that notes for each test how long it takes and which functions of the library it enters."""

    def __init__(self, folder: Path, into: Path) -> None:
        self.root, self.into, self.found = f"{folder}/attnlib/", into, {}

    def pytest_collection_modifyitems(self, items: list) -> None:
        """Leave out what takes long and is better tried without being watched."""
        items[:] = [item for item in items if not any(kind in item.name for kind in SLOW_KINDS)]

    def pytest_collectreport(self, report) -> None:
        """Note a package that is not installed, and that the tests of this file need."""
        missing = report.failed and re.search(r"No module named '([^']+)'", report.longreprtext)
        if missing and missing[1].split(".")[0] not in ("attnlib", "tests"):
            self.found = {"missing": missing[1]}

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Watch every call from here on."""
        self.seen, self.started = set(), time.process_time()  # whatever else the machine does
        sys.settrace(self._note)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Store what was seen."""
        sys.settrace(None)
        self.found[nodeid] = time.process_time() - self.started, sorted(self.seen)

    def pytest_sessionfinish(self) -> None:
        """Hand over what was found to the process that asked."""
        self.into.write_text(json.dumps(self.found), "utf8")

    def _note(self, frame, event, argument) -> None:
        name = frame.f_code.co_filename
        if name.startswith(self.root):
            module = name.removeprefix(self.root).removesuffix(".py")
            self.seen.add(f"{module}:{frame.f_code.co_qualname.split('.<locals>')[0]}")


class Selection:
    """A plugin for pytest that runs the tests it is given, the quick ones first."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds = seconds

    def pytest_collection_modifyitems(self, items: list) -> None:
        """Leave out the others."""
        chosen = [item for item in items if item.nodeid in self.seconds]
        items[:] = sorted(chosen, key=lambda item: self.seconds[item.nodeid])


def fork_pytest(folder: Path, stages: list, limit: float, broken: tuple[str, str] | None = None) -> int:
    """Run pytest in a forked process, stage after stage until one fails, and return the number of the process.

    Args:
        folder: Where the library and its tests are.
        stages: For each stage the files, and a plugin.
        limit: Seconds of computing, after which the process is ended.
        broken: The name of a module, and the source that takes its place.
    """
    child = os.fork()
    if child:
        return child
    code = 1
    with contextlib.suppress(BaseException):
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 5))
        signal.alarm(20 * math.ceil(limit))  # for what waits and computes nothing
        os.chdir(folder)
        sys.path.insert(0, str(folder))
        tempfile.tempdir = os.environ["TMPDIR"] = str(folder.parent)
        for name in [name for name in sys.modules if name.split(".")[0] in ("attnlib", "tests")]:
            del sys.modules[name]  # those of the parent are not the broken ones
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1), os.dup2(quiet, 2)
        if broken:
            break_module(*broken)
        code = next(filter(None, (pytest_main(files, plugin) for files, plugin in stages)), 0)
    os._exit(int(code))


def break_module(name: str, source: str) -> None:
    """Let the import of one module find another source, in this process alone."""
    load = importlib.machinery.SourceFileLoader.get_code

    def get_code(self, fullname):
        return compile(source, self.path, "exec") if fullname == name else load(self, fullname)

    importlib.machinery.SourceFileLoader.get_code = get_code


def pytest_main(files: list[str], plugin: object) -> int:
    """Run pytest until a test fails."""
    import pytest

    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "nbval.plugin"]
    ignored = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # what is imported before the fork
    return pytest.main([*files, *options, *ignored], plugins=[plugin])


def run_all(tasks: Iterable, jobs: int, start: Callable[[object], int]) -> Iterator[tuple]:
    """Start a process for each task, ``jobs`` at a time, and yield each task with its exit code as it ends."""
    tasks, running = iter(tasks), {}
    while True:
        while len(running) < jobs and (task := next(tasks, None)) is not None:
            running[start(task)] = task
        if not running:
            return
        child, status = os.wait()
        yield running.pop(child), os.waitstatus_to_exitcode(status)


def files_of_tests() -> list[str]:
    """List the files whose tests can notice a mutant."""
    files = [path for pattern in TESTS for path in sorted(ROOT.glob(pattern))]
    return [p.relative_to(ROOT).as_posix() for p in files if not p.stem.startswith(tuple(OTHERS))]


def footprints(folder: Path, jobs: int) -> dict[str, tuple[float, list[str]]]:
    """Run every test once on the unbroken library: its seconds, and the functions that it enters.

    Says which tests are left out, because a package that they need is not installed or because they take long.

    Raises:
        RuntimeError: If a test fails.
    """
    found, failing = {}, []

    def into(file: str) -> Path:
        return folder.parent / f"{file.replace('/', '-')}.json"

    def start(file: str) -> int:
        return fork_pytest(folder, [([file], Footprints(folder, into(file)))], limit=600)

    for file, code in run_all(files_of_tests(), jobs, start):
        noted = json.loads(into(file).read_text("utf8")) if into(file).exists() else {}
        if missing := noted.pop("missing", None):
            print(f"{file} is left out: {missing} is not installed")
        elif code:
            failing.append(file)
        found |= noted
    if failing:
        raise RuntimeError(f"pytest {' '.join(failing)} fails before anything is broken")
    slow = {test: seconds for test, (seconds, _) in found.items() if seconds > SLOW}
    for test, seconds in slow.items():
        print(f"{test} is left out: it takes {seconds:.0f} s; what it alone notices counts as unnoticed")
    return {test: noted for test, noted in found.items() if test not in slow}


def entering_tests(mutant: Mutant, noted: dict[str, tuple[float, list[str]]]) -> dict[str, float]:
    """Return the tests that enter the mutant's function, with their seconds; for other code, those of its module."""
    function, module = f"{mutant.module}:{mutant.function}", f"{mutant.module}:"
    chosen = {test: seconds for test, (seconds, names) in noted.items() if function in names}
    return chosen or {
        test: seconds for test, (seconds, names) in noted.items() if any(n.startswith(module) for n in names)
    }


def in_stages(mutant: Mutant, chosen: dict[str, float]) -> list[tuple[list[str], Selection]]:
    """Take the module's own file first, or else the one with most of the tests; then the other files."""
    own = f"tests/{Path(mutant.module).parent / ('test_' + Path(mutant.module).name)}.py"
    count = Counter(test.split("::")[0] for test in chosen)
    files = sorted(count, key=lambda file: (file != own, -count[file]))
    return [(some, Selection(chosen)) for some in (files[:1], files[1:]) if some]


def shuffled(found: list[Mutant], seed: int) -> list[Mutant]:
    """Order mutants at random, but so that every beginning is spread over the modules by their size.

    The place of a mutant hangs on its own text, so that a change to the library leaves the others where they are.
    """

    def chance(mutant: Mutant) -> str:
        return hashlib.sha256(f"{seed} {mutant.module} {mutant.change}".encode()).hexdigest()

    place = {}
    for module in {mutant.module for mutant in found}:
        mine = sorted((mutant for mutant in found if mutant.module == module), key=chance)
        place |= {mutant: (rank + 0.5) / len(mine) for rank, mutant in enumerate(mine)}
    return sorted(found, key=lambda mutant: (place[mutant], chance(mutant)))


def wanted(tried: int, of: int) -> int:
    """Return how many of the mutants tried must be noticed.

    If all were tried, it is the floor. In a sample it is less, because a sample can be unlucky: the largest number
    that a library exactly at the floor misses at most once in a hundred samples.
    """
    if tried == of:
        return math.ceil(FLOOR * of)
    below = 0.0
    for noticed in range(tried + 1):
        below += math.exp(
            math.lgamma(tried + 1)
            - math.lgamma(noticed + 1)
            - math.lgamma(tried - noticed + 1)
            + noticed * math.log(FLOOR)
            + (tried - noticed) * math.log(1 - FLOOR)
        )
        if below > 0.01:
            return noticed
    return tried


def changed(base: str) -> list[str]:
    """List the modules of the core that differ from where this branch left another."""
    git = ["git", "-C", str(ROOT)]
    fork = subprocess.run(
        [*git, "merge-base", "HEAD", base], capture_output=True, text=True, check=True
    ).stdout
    names = subprocess.run(
        [*git, "diff", "--name-only", fork.strip()], capture_output=True, text=True, check=True
    ).stdout
    return [module for module in MODULES if f"attnlib/{module}.py" in names.split()]


def try_mutants(
    folder: Path, found: list[Mutant], jobs: int, seconds: float
) -> list[tuple[Mutant, bool | None]]:
    """Try mutants, begin none after some seconds; tell for each whether it was noticed, with None for those that never end."""
    noted = footprints(folder, jobs)
    kinds = " or ".join(SLOW_KINDS)
    print(f"{len(found)} mutants, {len(noted)} tests, without those that {kinds}", flush=True)
    sources = {m: (folder / "attnlib" / f"{m}.py").read_text("utf8") for m in {x.module for x in found}}
    began = said = time.monotonic()
    until = began + seconds
    results: list[tuple[Mutant, bool | None]] = []

    def start(mutant: Mutant) -> int:
        chosen = entering_tests(mutant, noted)
        limit = 30 + 5 * sum(chosen.values())
        broken = f"attnlib.{mutant.module.replace('/', '.')}", mutate(mutant, sources[mutant.module])
        return fork_pytest(folder, in_stages(mutant, chosen), limit, broken)

    asked = (m for i, m in enumerate(found) if i < LEAST or time.monotonic() < until)
    for mutant, code in run_all(asked, jobs, start):
        results.append((mutant, None if code in ENDED else code not in (0, 5)))  # 5: no test
        if time.monotonic() - said > 15:
            said = time.monotonic()
            left = min((said - began) / len(results) * (len(found) - len(results)), max(0.0, until - said))
            lost = sum(noticed is False for _, noticed in results)
            print(f"{len(results)} tried, {lost} unnoticed, about {left:.0f} s left", flush=True)
    return results


def report(results: list[tuple[Mutant, bool | None]], of: int, seed: int) -> int:
    """Print the score of each module, what was not noticed, and in one line whether that is enough."""
    for module in sorted({mutant.module for mutant, _ in results}):
        mine = [noticed is not False for mutant, noticed in results if mutant.module == module]
        print(f"  {module}: {sum(mine)} of {len(mine)}")
    for mutant in sorted((m for m, noticed in results if noticed is False), key=str):
        print("unnoticed:", mutant)
    endless = sum(noticed is None for _, noticed in results)
    if endless:
        print(f"{endless} count as noticed because the tests did not end")
    tried, noticed = len(results), sum(noticed is not False for _, noticed in results)
    least = wanted(tried, of)
    score = f"{noticed} of {tried} mutants noticed ({noticed / tried:.1%})"
    if tried == of:
        rule = f"at least {least} ({FLOOR:.0%}) must be"
    else:
        rule = (
            f"at least {least} must be, in a sample (seed {seed}) of {of}: where {FLOOR:.0%} of all are noticed, "
            f"fewer come up once in a hundred samples"
        )
    print(f"{'' if noticed >= least else 'FAILED: '}mutation: {score}; {rule}")
    return int(noticed < least)


def main() -> int:
    """Try mutants and print a summary."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__.splitlines()[0])
    parser.add_argument("--modules", nargs="+", choices=MODULES, default=MODULES, metavar="MODULE")
    parser.add_argument("--changed", nargs="?", const="main", metavar="BASE", help="only modules that differ")
    parser.add_argument(
        "--seconds", type=float, default=math.inf, help=f"begin no mutant after that time, but try {LEAST}"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--seed", type=int, default=0, help="of the order in which mutants are tried")
    asked = parser.parse_args()
    if any(os.environ.get(name) != value for name, value in ALONE.items()):
        os.execve(sys.executable, [sys.executable, "-m", "tests.mutation", *sys.argv[1:]], os.environ | ALONE)
    import_once()
    modules = [m for m in asked.modules if not asked.changed or m in changed(asked.changed)]
    found = [
        m for name in modules for m in mutants(name, (ROOT / "attnlib" / f"{name}.py").read_text("utf8"))
    ]
    if not found:
        print("mutation: no module of the core was changed")
        return 0
    with tempfile.TemporaryDirectory() as base:
        folder = shutil.copytree(ROOT, Path(base, "copy"), ignore=UNUSED)  # edits meanwhile change nothing
        try:
            results = try_mutants(folder, shuffled(found, asked.seed), asked.jobs, asked.seconds)
        except RuntimeError as error:
            print(f"FAILED: mutation: {error}")
            return 2
    return report(results, len(found), asked.seed)


def import_once() -> None:
    """Import what every fork needs, with settings that make every run the same."""
    import nbval.plugin  # noqa: F401
    import pytest  # noqa: F401
    import torch

    torch.set_num_threads(1)
    with contextlib.suppress(ImportError):
        import onnx  # noqa: F401
    with contextlib.suppress(ImportError):
        from hypothesis import Phase, settings

        quick = (Phase.explicit, Phase.generate)  # a failure need not be made small
        settings.register_profile("mutation", derandomize=True, database=None, phases=quick)
        settings.load_profile("mutation")


if __name__ == "__main__":
    sys.exit(main())
