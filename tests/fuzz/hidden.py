"""NaN and infinity where no query may look: what is hidden cannot be felt."""

import math

import torch

from tests import DEVICE


def poison(draw, problem, visible, case):
    """Write NaN or infinity where no query looks, or where some do not; mark what may feel it."""
    if draw.chance(0.7) or not visible.numel() or DEVICE.type != "cpu":  # elsewhere looking costs too much
        return
    names = [name for name in draw.pick(("k",), ("v",), ("k", "v")) if name in case.inputs]
    number, everywhere = draw.pick(math.nan, math.inf, -math.inf), draw.chance(0.6)
    column = draw.whole(0, visible.shape[-1] - 1)
    for name in names:
        x = case.inputs[name]
        if everywhere:
            at = ~looked_at(visible, x, problem.groups)  # (..., S)
        else:
            if not visible[..., column].any() or visible[..., column].all():
                return
            at = torch.arange(x.shape[-2]).eq(column).expand(x.shape[:-1])
        if not at.any():
            continue
        at = at.unsqueeze(-1).expand(x.shape)
        case.clean[name] = x.cpu().masked_fill(at, 0.0)
        case.inputs[name] = x.masked_fill(at.to(x.device), number)
    if case.clean:
        where = "hidden" if everywhere else f"hidden from some (key {column})"
        case.text += f", {number} in {' and '.join(case.clean)} {where}"
    if case.clean and not everywhere:
        felt = visible[..., column]  # (..., T)
        case.ignored |= dict.fromkeys(("k", "v", "bias", "sink", "scale", "softcap"), torch.tensor(True))
        case.ignored |= {"output 0": felt.unsqueeze(-1), "output 1": felt}
        case.ignored["q"] = reduce_any(felt, case.inputs["q"].shape[:-1]).unsqueeze(-1)


def looked_at(visible, x, groups):
    """Return which keys ``(..., S)`` of x some query sees."""
    any_query = visible.any(-2)  # (..., H, S)
    if groups > 1:
        any_query = any_query.unflatten(-2, (-1, groups)).any(-2)  # (..., Hkv, S)
    return reduce_any(any_query, x.shape[:-1])


def reduce_any(x, shape):
    """Undo a broadcast: True where any of the entries that come from one is."""
    if x.ndim < len(shape):
        x = x.expand(torch.broadcast_shapes(x.shape, shape))
    return x.double().expand(torch.broadcast_shapes(x.shape, shape)).sum_to_size(shape) > 0
