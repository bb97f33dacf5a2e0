"""What comes of an expression, told so that two torches can be compared; as a script, a server of that.

``python tests/live/outcomes.py`` reads a line of JSON for each question and answers with one.
"""

import json
import math
import sys
import warnings

import torch
import torch.nn.functional as F


def tensor(given):
    """Make a tensor of its dtype, shape, numbers, and the order of its axes in memory."""
    dtype, shape, numbers, order = given
    numbers = [complex(*x) if isinstance(x, list) else float(x) if isinstance(x, str) else x for x in numbers]
    x = torch.tensor(numbers, dtype=getattr(torch, dtype)).reshape([shape[a] for a in order])
    return x.permute(sorted(range(len(order)), key=order.__getitem__))


def plain(number):
    """Tell a number so that JSON keeps it."""
    if isinstance(number, complex):
        return [plain(number.real), plain(number.imag)]
    return str(number) if isinstance(number, float) and not math.isfinite(number) else number


def told(thing):
    """Tell a result."""
    if isinstance(thing, torch.Tensor):
        numbers = [plain(x) for x in thing.detach().flatten().tolist()]
        return {"dtype": str(thing.dtype), "shape": list(thing.shape), "numbers": numbers}
    if isinstance(thing, (list, tuple)):
        return [told(one) for one in thing]
    return plain(thing) if isinstance(thing, (bool, int, float, complex)) else repr(thing)


def outcome(expression, **given):
    """Evaluate an expression, or run statements that leave ``result``, and tell what came of it."""
    names = {name: tensor(one) for name, one in given.items()} | {"torch": torch, "F": F, "math": math}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if "result" in expression:
                exec(expression, names)
                return {"value": told(names["result"])}
            return {"value": told(eval(expression, names))}
    except Exception as error:
        return {"error": type(error).__name__, "said": str(error)}


if __name__ == "__main__":
    for line in sys.stdin:
        question = json.loads(line)
        print(json.dumps(outcome(question["expression"], **question["given"])), flush=True)
