"""Cases of rotary, sinusoidal and ALiBi positions."""

import math

import torch

from tests import DEVICE, reference
from tests.fuzz.bounded import bounded, roundoff
from tests.fuzz.draw import Case, constant_case, words


def turns(positions, dim, base, work):
    """Return the bounded cosines and sines ``(..., dim / 2)`` of the angles."""
    frequencies = torch.tensor(
        [reference.frequency(i, dim, base) for i in range(dim // 2)], dtype=torch.float64
    )
    angles = positions.double()[..., None] * frequencies
    # the exponent of the base is rounded, then the power, the product and the sine itself
    error = work * (angles.abs() * (math.log(base) + 5) + 4)
    return bounded(angles.cos(), error), bounded(angles.sin(), error)


def expected_rotary(a, x, positions, dim, base, interleaved):
    """Turn the first ``dim`` features of a bounded x."""
    cos, sin = turns(positions.expand(x.shape[1:-1]), dim, base, a.work)
    first = torch.arange(0, dim, 2) if interleaved else torch.arange(dim // 2)
    second = first + (1 if interleaved else dim // 2)
    one, two = x[..., first], x[..., second]
    minus = a.times(a.multiply(two, sin), -1.0)
    turned = a.add(a.multiply(one, cos), minus), a.add(a.multiply(one, sin), a.multiply(two, cos))
    back = torch.argsort(torch.cat([first, second]))
    return torch.cat([a.stored(torch.cat(turned, -1)[..., back]), x[..., dim:]], -1)


def rotary_case(draw):
    dtype = draw.dtype()
    lead = tuple(draw.pick(1, 2, 3) if draw.chance(0.95) else 0 for _ in range(draw.whole(0, 3)))
    shape = (*lead, draw.size(0.05), draw.pick(2, 3, 5, 6, 7, 10))
    x = draw.normal(shape, dtype, draw.pick(1.0, 30.0))
    T, D = shape[-2:]
    dim = draw.pick(*range(2, D + 1, 2)) if D % 2 or draw.chance(0.4) else None
    options = {"interleaved": draw.chance(0.5)}
    if dim is not None:
        options["dim"] = dim
    if draw.chance(0.4):
        options["base"] = draw.pick(2.0, 500.0, 1e6)
    positions = None
    if draw.chance(0.6):
        far = draw.pick(5, 50, 5000)
        fits = draw.fitting(shape[:-1]) or (1,)
        if len(fits) > 1:  # an axis for each of (..., T): two alone could be of sequences or of heads
            fits = (1,) * (len(shape) - 1 - len(fits)) + tuple(fits)
        positions = torch.randint(-far, far, fits, generator=draw.generator)
        positions = draw.placed(positions.to(DEVICE, draw.pick(torch.int64, torch.int32)))

    def call(function, t):
        return function(t["x"], positions, **options)

    def expected(a, t):
        at = torch.arange(T) if positions is None else positions.cpu()
        return expected_rotary(a, t["x"], at, dim or D, options.get("base", 10000.0), options["interleaved"])

    case = Case("rotary", dtype, "", call, expected, {"x": x}, draw.some(["x"]))
    if positions is not None:
        case.others["positions"] = positions
    case.text = words(x=x, positions=positions, **options)
    return case


def sinusoidal_case(draw):
    T, dim, base = draw.size(0.1), 2 * draw.size(), draw.pick(10000.0, 3.0)
    options = {"T": T, "dim": dim, "base": base}
    u = roundoff(torch.float32)
    angle = torch.arange(T)[:, None].double()
    return constant_case(
        "sinusoidal",
        torch.float32,
        words(**options),
        lambda function: function(**options, device=DEVICE),
        (reference.sinusoidal(T, dim, base), (u * (angle * (math.log(base) + 5) + 4)).expand(T, dim)),
    )


def alibi_case(draw):
    H, T, S = draw.pick(1, 2, 3, 4, 5, 7, 8, 11, 12), draw.size(0.1), draw.size(0.1)
    bias = reference.alibi_bias(H, T, S)
    return constant_case(
        "alibi_bias",
        torch.float32,
        words(H=H, T=T, S=S),
        lambda function: function(H, T, S, device=DEVICE),
        (bias, 4 * roundoff(torch.float32) * bias.abs()),
    )
