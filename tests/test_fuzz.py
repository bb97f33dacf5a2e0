"""A bounded share of the fuzz, and proof that it can fail. ``python -m tests.fuzz`` runs as much as you like."""

import dataclasses
import math

import pytest
import torch

import attnlib
from attnlib.functional import attention_with_lse, key_mass
from tests import assert_close, reference
from tests.fuzz.bounded import ELU_PLUS_ONE, Arithmetic, exact, roundoff
from tests.fuzz.draw import Draw
from tests.fuzz.heads import draw_problem, draw_scale, expected_scores, spread_heads, with_sink
from tests.fuzz.judge import check, run
from tests.fuzz.linear import expected_linear
from tests.fuzz.positions import expected_rotary
from tests.fuzz.schedule import FUNCTIONS, HOW_OFTEN, SCHEDULE, make_case

SEED = 20


def test_no_function_disagrees_with_float64_in_values_or_gradients():
    done, failed = run(SEED, 1500, seconds=12, report=lambda line: None)
    print(f"{done.total()} cases: {dict(done)}")
    assert not failed, "\n".join(["python -m tests.fuzz", *failed])
    assert set(done) == set(FUNCTIONS)
    assert done.total() >= 2 * len(SCHEDULE)


def test_every_public_function_that_computes_is_drawn():
    computes = set(attnlib.__all__) - {"pick_device"}
    assert computes <= set(FUNCTIONS)
    assert set(HOW_OFTEN) == set(FUNCTIONS)
    assert len(SCHEDULE) == 100


def test_a_case_is_drawn_the_same_again():
    for number in range(len(SCHEDULE)):
        (one, _), (two, _) = make_case(SEED, number), make_case(SEED, number)
        assert one.text == two.text
        for name, x in one.inputs.items():
            assert_close(x, two.inputs[name], rtol=0, atol=0, equal_nan=True)


# the fuzz can fail: each of these is a mistake that somebody made somewhere


def scale_a_little_off(q, k, v, mask=None, *, scale=None, **options):
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    return attnlib.attention(q, k, v, mask, scale=scale * 1.01, **options)


def mask_turned_around(q, k, v, mask=None, **options):
    return attnlib.attention(q, k, v, None if mask is None else ~mask, **options)


def causal_from_the_first_key(q, k, v, mask=None, *, causal=False, **options):
    first = attnlib.causal_mask(q.shape[-2], k.shape[-2], offset=0, device=q.device)
    mask = mask if not causal else first if mask is None else mask & first
    return attnlib.attention(q, k, v, mask, **options)


def heads_in_the_wrong_order(q, k, v, mask=None, **options):
    if q.ndim > 2 and k.ndim > 2 and 1 < k.shape[-3] < q.shape[-3]:
        k, v = (x.repeat(*(1,) * (x.ndim - 3), q.shape[-3] // x.shape[-3], 1, 1) for x in (k, v))
    return attnlib.attention(q, k, v, mask, **options)


def bias_before_the_softcap(q, k, v, mask=None, *, bias=None, softcap=None, **options):
    if bias is None or softcap is None:
        return attnlib.attention(q, k, v, mask, bias=bias, softcap=softcap, **options)
    scores = attnlib.attention_scores(q, k, bias=bias, scale=options["scale"])
    return attnlib.attention(q * 0, k, v, mask, bias=softcap * torch.tanh(scores / softcap), **options)


def keys_without_a_gradient(q, k, v, mask=None, **options):
    return attnlib.attention(q, k.detach(), v, mask, **options)


def gradient_of_values_doubled(q, k, v, mask=None, **options):
    return attnlib.attention(q, k, 2 * v - v.detach(), mask, **options)


def queries_scaled_in_place(q, k, v, mask=None, **options):
    out = attnlib.attention(q, k, v, mask, **options)
    q.detach().mul_(0.5)
    return out


def blind_rows_uniform(q, k, v, mask=None, **options):
    if mask is not None:
        mask = mask | ~mask.any(-1, keepdim=True)
    return attnlib.attention(q, k, v, mask, **options)


def always_in_float32(q, k, v, mask=None, **options):
    return attnlib.attention(q, k, v, mask, **options).float()


def weights_rounded_to_half(q, k, v, mask=None, **options):
    weights = attnlib.attention_weights(q, k, mask, **options).bfloat16().to(q.dtype)
    return (
        weights @ v
        if q.ndim < 3 or k.shape[-3] in (1, q.shape[-3])
        else attnlib.attention(q, k, v, mask, **options)
    )


MISTAKES = (
    scale_a_little_off,
    mask_turned_around,
    causal_from_the_first_key,
    heads_in_the_wrong_order,
    bias_before_the_softcap,
    keys_without_a_gradient,
    gradient_of_values_doubled,
    queries_scaled_in_place,
    blind_rows_uniform,
    always_in_float32,
    weights_rounded_to_half,
)


def sinks_left_out(q, k, v, mask=None, *, sink=None, **options):
    return attnlib.attention(q, k, v, mask, **options)


def a_window_one_key_too_wide(q, k, v, mask=None, *, window, **options):
    return attnlib.sliding_window_attention(q, k, v, mask, window=window + 1, **options)


def rules_without_documents(q, k, v, mask=None, *, rows, align, **options):
    if isinstance(mask, attnlib.MaskRule):
        mask = dataclasses.replace(mask, documents=None, also=())
    return attnlib.attention(q, k, v, mask, **options)


def parts_of_equal_weight(out, lse, other, other_lse):
    return (out + other) / 2, torch.logaddexp(lse, other_lse)


def the_largest_score_for_the_logarithm(q, k, v, mask=None, **options):
    out, lse = attention_with_lse(q, k, v, mask, **options)
    scores = attnlib.attention_scores(q, k, mask, **{n: x for n, x in options.items() if n != "sink"})
    return out, scores.amax(-1).to(lse.dtype).expand(lse.shape) if k.shape[-2] else lse


def the_mean_for_the_mass(q, k, mask=None, **options):
    return key_mass(q, k, mask, **options) / max(1, q.shape[-2])


ELSEWHERE = {
    sinks_left_out: "attention",
    a_window_one_key_too_wide: "sliding_window_attention",
    rules_without_documents: "attention_in_blocks",
    parts_of_equal_weight: "merge",
    the_largest_score_for_the_logarithm: "attention_with_lse",
    the_mean_for_the_mass: "key_mass",
}


@pytest.mark.parametrize("mistake", ELSEWHERE, ids=lambda mistake: mistake.__name__)
def test_the_fuzz_finds_a_mistake_elsewhere(mistake):
    name = ELSEWHERE[mistake]
    numbers = (n for n in range(1000) if SCHEDULE[n % 100] == name)
    found = next((n for n in numbers if check(SEED, n, FUNCTIONS | {name: mistake})[1]), None)
    assert found is not None
    assert not check(SEED, found)[1]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
def test_the_fuzz_finds_a_mistake_in_attention(mistake):
    numbers = (n for n in range(1000) if SCHEDULE[n % 100] == "attention")
    found = next((n for n in numbers if check(SEED, n, FUNCTIONS | {"attention": mistake})[1]), None)
    assert found is not None
    assert not check(SEED, found)[1]  # it is the mistake that was found


# what the fuzz is measured by


def bounded_problem(number, **options):
    draw = Draw("bounds", number)
    problem = draw_problem(draw, **options)
    leaves = {name: exact(x.double()) for name, x in (("q", problem.q), ("k", problem.k), ("v", problem.v))}
    return draw, problem, leaves


def rows(x, problem, groups=1):
    """Spread heads and leading axes by plain indexing, and flatten them: ``(N, length, width)``."""
    x = x.cpu().double()
    x = x if groups == 1 else x.repeat_interleave(groups, -3)
    return x.expand(*problem.lead, *x.shape[-2:]).reshape(math.prod(problem.lead), *x.shape[-2:])


@pytest.mark.parametrize("number", range(40))
def test_what_is_expected_is_what_loops_over_single_numbers_say(number):
    draw, problem, t = bounded_problem(number)
    scale, softcap = draw_scale(draw), draw.pick(None, 5.0)
    a, T, S = Arithmetic(torch.float64), *problem.target[-2:]
    visible = torch.rand(*problem.lead, T, S, generator=draw.generator) < 0.6
    scores = expected_scores(a, t, problem, problem.lead, scale, softcap)
    value, error = a.attend(scores, spread_heads(a, t["v"], problem.groups, problem.lead), visible)
    q, k, v = (
        rows(x, problem, g)[None]
        for x, g in ((problem.q, 1), (problem.k, problem.groups), (problem.v, problem.groups))
    )
    loops = reference.attention(q, k, v, visible.reshape(1, q.shape[1], T, S), scale=scale, softcap=softcap)
    assert ((value - loops.reshape(value.shape)).abs() <= error).all()


@pytest.mark.parametrize("number", range(20))
def test_what_is_expected_of_sinks_and_logarithms_is_what_loops_say(number):
    draw, problem, t = bounded_problem(number)
    a, (T, S) = Arithmetic(torch.float64), problem.target[-2:]
    visible = torch.rand(*problem.lead, T, S, generator=draw.generator) < 0.6
    sink = torch.randn(problem.target[:-2], generator=draw.generator, dtype=torch.float64)
    sink = sink.masked_fill(torch.rand(sink.shape, generator=draw.generator) < 0.2, -math.inf)
    scores = expected_scores(a, t, problem, problem.lead, None)
    v = spread_heads(a, t["v"], problem.groups, problem.lead)
    value, error = a.attend(*with_sink(a, {"sink": exact(sink)}, scores, v, visible))
    log_sum, log_error = a.log_sum(*with_sink(a, {"sink": exact(sink)}, scores, None, visible)[::2])
    sink = sink.expand(problem.lead).reshape(-1)
    rest = (x.flatten(0, -3) if x.ndim > 2 else x[None] for x in (scores[0], v[0], visible))
    for n, (s, values, seen) in enumerate(zip(*rest, strict=True)):
        for i in range(T):
            kept = [s[i, j].item() for j in range(S) if seen[i, j]] + [sink[n].item()]
            e = [math.exp(x) for x in kept]
            total = sum(e)
            js = [j for j in range(S) if seen[i, j]]
            out = sum((e[m] * values[j] for m, j in enumerate(js)), torch.zeros(v.shape[-1]).double())
            at = (*torch.unravel_index(torch.tensor(n), problem.lead), i)
            assert ((value[at] - (out / total if total else out)).abs() <= error[at] + 1e-12).all()
            assert abs(log_sum[at] - (math.log(total) if total else 0.0)) <= log_error[at] + 1e-12


@pytest.mark.parametrize("number", range(20))
def test_what_is_expected_of_linear_attention_is_what_loops_say(number):
    draw, problem, t = bounded_problem(number, same_length=True)
    causal, normalize = draw.chance(0.5), draw.chance(0.5)
    value, error = expected_linear(Arithmetic(torch.float64), t, problem, "elu_plus_one", causal, normalize)
    q, k, v = (
        rows(problem.q, problem),
        rows(problem.k, problem, problem.groups),
        rows(problem.v, problem, problem.groups),
    )
    loops = reference.linear_attention(
        q, k, v, lambda x: x + 1 if x > 0 else math.exp(x), causal=causal, normalize=normalize
    )
    assert ((value - loops.reshape(value.shape)).abs() <= error + 1e-300).all()


@pytest.mark.parametrize("interleaved", [False, True])
def test_what_is_expected_of_rotary_is_what_loops_say(interleaved):
    x, positions = torch.randn(5, 7, dtype=torch.float64), torch.tensor([0, 3, -2, 11, 5])
    value, error = expected_rotary(Arithmetic(torch.float64), exact(x), positions, 6, 500.0, interleaved)
    loops = reference.rotary(x, positions.tolist(), dim=6, base=500.0, interleaved=interleaved)
    assert ((value - loops).abs() <= error).all()


@pytest.mark.parametrize("operation", ["attend", "softmax", "log_sum", "curves"])
def test_expected_gradients_are_those_of_finite_differences(operation):
    a, g = Arithmetic(torch.float64), torch.Generator().manual_seed(3)
    scores, v = (torch.randn(shape, generator=g, dtype=torch.float64) for shape in ((1, 2, 3), (1, 3, 2)))
    visible = torch.tensor([[[True, False, True], [True, True, True]]])

    def bounded_of(x):
        return torch.stack([x, torch.zeros_like(x)])

    def compute(scores, v):
        scores, v = bounded_of(scores), bounded_of(v)
        if operation == "attend":
            return a.attend(scores, v, visible)[0]
        if operation == "softmax":
            return a.matmul(a.softmax(scores, visible), v)[0]
        if operation == "log_sum":
            return a.multiply(a.log_sum(scores, visible)[..., None], v[..., :1, :])[0]
        return a.multiply(a.curve(scores, ELU_PLUS_ONE), a.spread(scores[..., :1], (1, 2, 3)))[0] @ v

    assert torch.autograd.gradcheck(compute, (scores.requires_grad_(), v.requires_grad_()))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_what_may_be_off_is_a_few_roundings(dtype):
    a, g = Arithmetic(dtype), torch.Generator().manual_seed(5)
    scores, v = (exact(torch.randn(shape, generator=g)).requires_grad_() for shape in ((3, 7), (7, 5)))
    out = a.attend(scores, v, torch.ones(3, 7, dtype=torch.bool))
    gradients = torch.autograd.grad(out, (scores, v), exact(torch.ones(3, 5)))
    roundings = 6 if dtype in (torch.bfloat16, torch.float16) else 200  # exponentials are 20 units off
    for x in (out, *gradients):
        assert x[1].max() < roundings * roundoff(dtype) * v[0].abs().max()
