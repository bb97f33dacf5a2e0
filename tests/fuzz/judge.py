"""Run cases and hold what comes out against what must."""

import collections
import math
import time
import warnings

import torch

from tests import DEVICE
from tests.fuzz.bounded import Arithmetic, exact, roundoff
from tests.fuzz.draw import as_tuple
from tests.fuzz.schedule import FUNCTIONS, make_case


def check(seed, number, functions=FUNCTIONS):
    """Run one case and return it with a list of what is wrong, empty if nothing is."""
    case, draw = make_case(seed, number)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # PyTorch says once that it multiplies bfloat16 another way on this processor
        warnings.filterwarnings("ignore", message="mkldnn_matmul failed")
        try:
            return case, judge(case, draw, functions)
        except Exception as error:  # whatever it is, a valid call must not raise
            where = error.__traceback__
            while where.tb_next:
                where = where.tb_next
            file = where.tb_frame.f_code.co_filename.rsplit("/", 1)[-1]
            return case, [f"raised {type(error).__name__} in {file}:{where.tb_lineno}: {str(error)[:200]}"]


def judge(case, draw, functions):
    function = functions[case.name]
    tensors = {name: x.detach().requires_grad_(name in case.needs) for name, x in case.inputs.items()}
    before = {name: x.detach().clone() for name, x in (tensors | case.others).items()}
    outputs = as_tuple(case.call(function, tensors))
    again = as_tuple(case.call(function, tensors))
    faults = []
    for i, (one, two) in enumerate(zip(outputs, again, strict=True)):
        if not same(one, two):
            faults.append(f"output {i} differs in a second call")
    arithmetic = Arithmetic(torch.float32 if case.dtype == torch.bool else case.dtype)
    leaves = {name: exact(case.clean.get(name, x)) for name, x in case.inputs.items()}
    for leaf in leaves.values():
        leaf.requires_grad_()
    taken = {
        name: arithmetic.leaf(leaf, coarser(case.inputs[name].dtype, case.dtype))
        for name, leaf in leaves.items()
    }
    expected = as_tuple(case.expected(arithmetic, taken))
    for i, (got, want) in enumerate(zip(outputs, expected, strict=True)):
        dtype = torch.promote_types(case.dtype, torch.float32) if i in case.wide else case.dtype
        faults += compare(f"output {i}", got, want.detach(), case, dtype)
    if case.needs:
        faults += judge_gradients(case, draw, tensors, outputs, leaves, expected)
    for name, x in (tensors | case.others).items():
        if not same(x, before[name]):
            faults.append(f"{name} was changed in place")
    return faults


def judge_gradients(case, draw, tensors, outputs, leaves, expected):
    pairs = [(x, y) for x, y in zip(outputs, expected, strict=True) if x.requires_grad]
    if not pairs:
        # PyTorch's kernel, too, leaves empty tensors out of the graph
        empty = not any(x.numel() for x in outputs) or not any(tensors[name].numel() for name in case.needs)
        return [] if empty else [f"no output needs a gradient, but {', '.join(case.needs)} does"]
    outputs, expected = zip(*pairs, strict=True)
    upstream = [upstream_gradient(draw, x) for x in outputs]
    got = torch.autograd.grad(outputs, [tensors[name] for name in case.needs], upstream, allow_unused=True)
    upstream = [exact(g) for g in upstream]
    wanted = [leaves[name] for name in case.needs]
    want = torch.autograd.grad(expected, wanted, upstream, allow_unused=True, materialize_grads=True)
    faults = []
    for name, x, y in zip(case.needs, got, want, strict=True):
        x = torch.zeros_like(tensors[name]) if x is None else x
        faults += compare(f"gradient of {name}", x, y, case, tensors[name].dtype)
    return faults


def upstream_gradient(draw, x):
    if draw.chance(0.15):
        return torch.ones((), dtype=x.dtype, device=x.device).expand(x.shape)
    return draw.normal(x.shape, x.dtype)


def same(x, y):
    return x.shape == y.shape and bool(((x == y) | ((x != x) & (y != y))).all())


def coarser(one, other):
    return max(one, other, key=roundoff)


def compare(what, got, want, case, dtype):
    """Hold one tensor against a bounded one and say in one sentence what is wrong, if anything."""
    value, error = want
    if tuple(got.shape) != tuple(value.shape):
        return [f"{what} has shape {tuple(got.shape)} instead of {tuple(value.shape)}"]
    if got.dtype != dtype:
        return [f"{what} is {got.dtype} instead of {dtype}"]
    if got.device.type != DEVICE.type and case.inputs:
        return [f"{what} is on {got.device} instead of {DEVICE}"]
    x = got.detach().cpu().double()
    largest = math.inf if dtype == torch.bool else torch.finfo(dtype).max
    tiny = 0.0 if dtype == torch.bool else torch.finfo(dtype).tiny
    allowed = 2 * error + tiny if dtype == torch.float64 else error + tiny  # the oracle rounds, too
    wrong = ~((x - value).abs() <= allowed) & (x != value)
    wrong &= value.isinf() | (value.abs() + error <= largest)  # may overflow: anything goes
    ignored = case.ignored.get(what.removeprefix("gradient of "))
    if ignored is not None:
        wrong &= ~ignored
    if not wrong.any():
        return []
    worst = ((x - value).abs() / allowed).nan_to_num(nan=math.inf).masked_fill(~wrong, -1.0).argmax()
    at = tuple(int(i) for i in torch.unravel_index(worst, x.shape))
    return [
        f"{what}{list(at)} is {x[at].item():.6g} instead of {value[at].item():.6g} "
        f"within {allowed[at].item():.2g} ({int(wrong.sum())} of {x.numel()} wrong)"
    ]


def run(seed, cases, functions=FUNCTIONS, seconds=math.inf, report=print):
    """Check cases until that much computing is done, whatever else the machine does; return how many of each function were done, and what failed."""
    done, failed, start = collections.Counter(), [], time.process_time()
    for number in range(cases):
        if time.process_time() - start > seconds:
            break
        case, faults = check(seed, number, functions)
        done[case.name] += 1
        if faults:
            failed.append(f"--seed {seed} --case {number}: {case.name}({case.text}): " + "; ".join(faults))
            report(failed[-1])
    return done, failed
