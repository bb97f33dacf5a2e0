"""Grade the stored answers with whatever torch comes first on the path, and print a line of JSON for each.

``python tests/live/verdicts.py TOPIC...``: topic, kind, exercise, number, verdict, the seconds it took, and
what the page's torch was asked and does not have.
"""

import importlib.util
import json
import sys
import time
import warnings
from pathlib import Path

import torch

from attnlib.learn import bank, calling
from attnlib.learn.exercises import NOT_ATTEMPTED, _grade

ANSWERS = Path(__file__).parents[1] / "learn" / "answers"


def answers(topic):
    """Read the stored answers of a topic; not as part of `tests`, which asks for PyTorch's own."""
    spec = importlib.util.spec_from_file_location(f"answers_to_{topic}", ANSWERS / f"{topic}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(topics):
    """Grade the answers of some topics."""
    sys.setswitchinterval(0.0005)
    calling.SECONDS = 30.0  # a busy machine is no reason for another verdict
    noted = getattr(sys.modules.get("torch.missing"), "NOTED", [])
    for topic in topics:
        module = answers(topic)
        cases = [("right", id, n, one) for id, given in module.RIGHT.items() for n, one in enumerate(given)]
        cases += [("wrong", id, n, one) for n, (id, one, _) in enumerate(module.WRONG)]
        for kind, id, n, answer in cases:
            noted.clear()
            torch.manual_seed(0)  # some answers draw
            start = time.process_time()
            verdict = _grade(bank.exercises()[id], answer)
            verdict = "not attempted" if verdict is NOT_ATTEMPTED else verdict
            took = round(time.process_time() - start, 4)
            print(json.dumps([topic, kind, id, n, verdict, took, list(noted)]), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1:])
