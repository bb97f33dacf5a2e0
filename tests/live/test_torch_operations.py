"""The page's torch against PyTorch, operation by operation: values, dtypes, shapes, errors, printed text."""

import json
import math
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.live.outcomes import outcome

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.starts_process
ODD = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e-30, 3e38, 100.0, 0.5, 2.5]
KINDS = ["float32", "float32", "float64", "int64", "bool"]


@pytest.fixture(scope="module")
def page():
    """Return what asks the page's torch, in a Python of its own."""
    paths = os.pathsep.join([str(ROOT / "book" / "live"), str(ROOT)])
    server = subprocess.Popen(
        [sys.executable, str(ROOT / "tests" / "live" / "outcomes.py")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": paths},
    )  # fmt: skip

    def ask(expression, **given):
        server.stdin.write(json.dumps({"expression": expression, "given": given}) + "\n")
        server.stdin.flush()
        return json.loads(server.stdout.readline())

    yield ask
    server.stdin.close()
    server.stdout.close()
    server.wait(10)


def drawn(draw, kind, shape, odd=True):
    """Draw a tensor as `outcomes.tensor` reads it, its axes in any order in memory."""
    n = math.prod(shape)
    if kind == "bool":
        numbers = [draw.random() < 0.5 for _ in range(n)]
    elif kind == "int64":
        numbers = [draw.randint(-4, 4) for _ in range(n)]
    else:
        numbers = [draw.gauss(0, 1) for _ in range(n)]
        if odd and draw.random() < 0.3:
            numbers = [draw.choice(ODD) if draw.random() < 0.3 else x for x in numbers]
    order = list(range(len(shape)))
    draw.shuffle(order)
    return [
        kind,
        list(shape),
        [str(x) if isinstance(x, float) and not math.isfinite(x) else x for x in numbers],
        order,
    ]


def shape(draw, most=3):
    return [draw.choice([1, 2, 3, 5]) for _ in range(draw.randint(0, most))]


def fits(draw, to):
    """Draw a shape that mostly broadcasts to another."""
    if draw.random() < 0.1:
        return shape(draw)
    kept = to[draw.randint(0, len(to)) :] if to else []
    return [1 if draw.random() < 0.3 else n for n in kept]


def near(a, b, loose):
    """Tell whether two told results are the same, up to the rounding of another order of sums."""
    if isinstance(a, dict) and isinstance(b, dict):
        if a.get("dtype") != b.get("dtype") or a.get("shape") != b.get("shape"):
            return False
        exact = a["dtype"] in ("torch.int64", "torch.bool", "torch.int32", "torch.uint8")
        allowed = (
            0 if exact else loose * {"torch.float64": 1e-13, "torch.complex128": 1e-13}.get(a["dtype"], 2e-6)
        )
        if a["dtype"] in ("torch.float16", "torch.bfloat16"):
            allowed = 1e-2
        size = max([abs(x) for x in map(real, a["numbers"]) if math.isfinite(x)], default=1.0)
        return len(a["numbers"]) == len(b["numbers"]) and all(
            same(real(x), real(y), allowed, size) for x, y in zip(a["numbers"], b["numbers"], strict=True)
        )
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(near(x, y, loose) for x, y in zip(a, b, strict=True))
    if isinstance(a, (float, int)) and isinstance(b, (float, int)) and not isinstance(a, bool):
        return same(float(a), float(b), 2e-6 * loose, abs(a))
    return a == b


def real(x):
    return abs(complex(*map(float, x))) if isinstance(x, list) else float(x)


def same(x, y, allowed, size):
    if x == y or (x != x and y != y):
        return True
    return math.isfinite(x) and math.isfinite(y) and abs(x - y) <= allowed * max(abs(x), 0.05 * size, 1e-30)


def held(page, expression, loose=1.0, **given):
    """Compare what both say of an expression; what the page refuses is left out, and counted by the caller."""
    one, two = outcome(expression, **given), page(expression, **given)
    if two.get("error") == "NotOnThePageError":
        return False
    where = f"{expression} of {given}\nPyTorch: {one}\npage:    {two}"
    if "error" in one or "error" in two:
        kinds = [
            answer.get("error", "").replace("NotImplementedError", "RuntimeError") for answer in (one, two)
        ]
        several = any(
            kind == "bool" or not shape for kind, shape, *_ in given.values()
        )  # wrong in more than one way
        assert all(kinds) if several else kinds[0] == kinds[1], where
    else:
        assert near(one["value"], two["value"], loose), where
    return True


UNARY = [
    "x.exp()", "x.log()", "x.sqrt()", "x.abs()", "-x", "x.sin()", "x.cos()", "x.tanh()", "x.sigmoid()", "x.relu()",
    "x.floor()", "x.ceil()", "x.round()", "x.trunc()", "x.sign()", "x.square()", "x.reciprocal()", "x.rsqrt()", "x.log2()",
    "x.log10()", "x.log1p()", "x.expm1()", "x.exp2()", "x.erf()", "x.atan()", "x.isnan()", "x.isinf()", "x.isfinite()", "x.logical_not()",
    "x.nan_to_num()", "x.nan_to_num(1.5, 2.5, -2.5)", "x.clamp(-0.5, 0.7)", "x.clamp(min=0)", "x.clamp(max=1)", "~x", "x + 1",
    "x - 1", "1 - x", "x * 2", "x * 0.1", "x / 3", "2 / x", "x ** 2", "x ** 0.5", "x ** 3", "x ** -1", "2 ** x", "x // 2", "x % 3", "x > 0",
    "x == 1", "x != 1", "x <= 0", "x.double()", "x.float()", "x.half()", "x.bfloat16()", "x.bool()", "F.gelu(x.clamp(-9, 9))", "F.silu(x)",
    "F.softplus(x)", "F.logsigmoid(x)", "F.elu(x)", "F.leaky_relu(x)", "x.flatten()", "x.T if x.ndim == 2 else x.mT", "x.numel()", "x.tril()",
    "x.triu(1)", "x.t()", "x.ravel()", "x.unsqueeze(0)", "x.squeeze()", "x.nonzero()", "x.unique()", "x.clone()", "x.contiguous()", "list(x)",
    "x.deg2rad()", "x.tolist()", "len(x)", "bool(x)", "x.item()", "float(x)", "x.mean()", "x.sum()", "x.prod()", "x.std()", "x.var()", "x.max()", "x.min()",
    "x.argmax()", "x.argmin()", "x.all()", "x.any()", "x.amax()", "x.norm()", "x.count_nonzero()", "x.median()", "x.is_contiguous()", "x.stride()",
    "torch.zeros_like(x)", "torch.ones_like(x)", "torch.full_like(x, 2)", "x.new_zeros(2)", "x.half().exp()", "x.half().sum()", "x.bfloat16() * 3",
    "x.half() @ x.half().mT", "x.softmax(-1).half()", "x.long() if x.isfinite().all() else 0", "x.int() if x.isfinite().all() else 0", "x.view(-1)", "x.reshape(-1, 1)", "repr(x)",
    "repr(x * 1000)", "repr(x.double() / 7)", "repr(x.flatten().repeat(400))", "str(x.shape)", "x.diag()", "x.trace()", "torch.diag_embed(x)",
    "torch.nn.functional.normalize(x, dim=-1)", "torch.atleast_2d(x)", "x.diff()", "x.flip(0)", "x.roll(1)", "x.aminmax()", "x.fliplr()",
]  # fmt: skip
BINARY = [
    "x + y", "x - y", "x * y", "x / y", "x // y", "x % y", "x ** y", "x == y", "x != y", "x < y", "x <= y", "x > y", "x >= y", "x & y", "x | y", "x ^ y",
    "torch.maximum(x, y)", "torch.minimum(x, y)", "torch.where(x > 0, x, y)", "torch.where(x > 0, y, 0.0)", "torch.logaddexp(x, y)", "torch.atan2(x, y)",
    "x.masked_fill(y > 0, -math.inf)", "x.masked_fill(y > 0, 2)", "x @ y", "torch.matmul(x, y.mT)", "x.allclose(y)", "torch.equal(x, y)", "torch.isclose(x, x)", "x.add(y, alpha=2)", "torch.lerp(x, y, 0.3)",
    "torch.broadcast_shapes(x.shape, y.shape)", "torch.cat([x, y])", "torch.cat([x, y], -1)", "torch.stack([x, y])", "torch.cat([x, x], 1)", "torch.stack([x, x], -1)",
    "x.expand_as(y)", "y.expand(x.shape)", "torch.result_type(x, y)", "F.mse_loss(x.double(), y.double())", "torch.outer(x, y)", "torch.dot(x, y)", "torch.mm(x, y)", "torch.bmm(x, y)",
    "result = x.clone(); result += y", "result = x.clone(); result *= 2; result[0] = 5", "result = x.clone(); result -= y", "result = x.clone(); result[..., 0] = y",
    "result = x.clone(); result.masked_fill_(y > 0, 1)", "result = x.clone(); result[y > 0] = 3", "x[y > 0]", "x.T.clone() if x.ndim == 2 else x", "x.view_as(y)", "torch.isin(x.contiguous(), y.contiguous())",
    "result = x.clone(); result.copy_(y)", "result = x.clone(); result.T[0] = 1", "result = x.clone(); result /= 2", "torch.cdist(x, y)", "torch.kron(x.contiguous(), y.contiguous())", "torch.einsum('...i,...i->...', x.double(), y.double())",
    "torch.einsum('ij,jk->ik', x, y)", "torch.einsum('i,j->ij', x, y)", "torch.einsum('bij,bjk', x, y)", "torch.einsum('ij,ij->', x, y)", "torch.tensordot(x, y, 1)", "F.cosine_similarity(x, y, dim=-1)", "F.linear(x, y)",
    "torch.hypot(x, y)", "x.logical_and(y)", "torch.linalg.solve(x, y)", "F.scaled_dot_product_attention(x, y, y)", "F.scaled_dot_product_attention(x, x, x, is_causal=True)", "torch.block_diag(x, y)", "torch.vstack([x, y])", "torch.hstack([x, y])",
]  # fmt: skip
ALONG = [
    "x.sum({d})", "x.mean({d})", "x.amax({d})", "x.amin({d})", "x.max({d})", "x.min({d})", "x.argmax({d})", "x.argmin({d}, keepdim=True)", "x.softmax({d})", "x.log_softmax({d})",
    "x.logsumexp({d})", "x.logsumexp({d}, keepdim=True)", "x.cumsum({d})", "x.cumprod({d})", "x.std({d})", "x.var({d}, correction=0)", "x.var({d}, keepdim=True)", "x.all({d})", "x.any({d}, keepdim=True)", "x.prod({d})",
    "x.norm(dim={d})", "x.norm(dim={d}, keepdim=True)", "x.norm(p=1, dim={d})", "x.sort({d})", "x.sort({d}, descending=True)", "x.argsort(dim={d}, stable=True)", "x.flip({d})", "x.roll(1, {d})", "x.roll(-2, {d})",
    "x.unbind({d})", "x.split(2, {d})", "x.chunk(2, {d})", "x.chunk(3, dim={d})", "x.unsqueeze({d})", "x.squeeze({d})", "x.select({d}, 0)", "x.narrow({d}, 0, 1)", "x.diff(dim={d})", "x.cummax({d}).values",
    "x.movedim({d}, 0)", "x.transpose({d}, 0)", "x.flatten({d})", "x.flatten(0, {d})", "x.repeat_interleave(2, {d})", "x.index_select({d}, torch.tensor([0, 0]))", "x.unfold({d}, 2, 1)", "x.count_nonzero({d})", "x.sum({d}, keepdim=True)",
    "x.mean(({d}, 0))", "x.median({d}).values", "x.size({d})", "x.unflatten({d}, (1, -1)) if x.ndim else 0", "F.normalize(x, dim={d})", "x.softmax({d}).sum({d})", "x.sum(axis={d}, keepdims=True)", "x.gather({d}, torch.zeros_like(x).long())", "x.take_along_dim(x.argsort(dim={d}, stable=True), {d})",
    "x.scatter({d}, torch.zeros_like(x).long(), 2)", "x.topk(1, {d}).values", "x.aminmax(dim={d})", "torch.quantile(x, 0.3, dim={d})", "x.double().mean({d}, keepdim=True)", "x.sum(dim={d}, dtype=torch.float64)", "x.stride({d})", "torch.linalg.vector_norm(x, dim={d})", "x.logcumsumexp({d})",
]  # fmt: skip
INDICES = [
    "0", "-1", "5", "..., 0", "None", ":, None", "1:", ":-1", "::2", "..., 1:", "[0, 0]", "[0, -1], 0", ":, [0, 0]", "..., [0]", "0, ..., None", "torch.tensor([0, 0])", "torch.tensor(0)", "torch.tensor([[0], [0]])",
    "x > 0", "x[:, 0] > 0", ":, 0", "0, 0", "0, 0, 0", "0, 0, 0, 0", "[True]", "True", "None, ..., None", "1:1", "10:", "torch.arange(len(x)), 0", "torch.arange(len(x))[:, None], torch.tensor([0])", "..., None, 0", "(0,)", "()", "...",
    "(x > 0).nonzero(as_tuple=True)", "1.5", "'a'", "::-1", "[[0, 0], [0, 0]]", "slice(None), torch.tensor([0]), slice(None), torch.tensor([0])", "torch.tensor([0]), slice(None), torch.tensor([0])", "0, torch.tensor([0, 0]), ...", "[]",
]  # fmt: skip
FIXED = [
    "torch.arange(5)", "torch.arange(2, 9, 3)", "torch.arange(0, 1, 0.1)", "torch.arange(5.0)", "torch.arange(5, 0, -2)", "torch.linspace(0, 1, 7)", "torch.linspace(-2, 3, 4)", "torch.eye(3)", "torch.eye(2, 4)", "torch.zeros(2, 0)", "torch.ones(2, 3, dtype=torch.bool)",
    "torch.full((2, 2), 7)", "torch.full((2,), 1.5)", "torch.full((2,), True)", "torch.tensor([1, 2.5])", "torch.tensor([[True], [False]])", "torch.tensor(3)", "torch.tensor([])", "torch.tensor([[1, 2], [3]])", "torch.tensor('a')", "torch.tensor([None])", "torch.tensor(['a'])", "torch.tensor(1e40)", "torch.tensor(0.1)", "torch.tensor(2 ** 70)",
    "torch.triu_indices(3, 4, 1)", "torch.tril_indices(3, 3)", "torch.cartesian_prod(torch.arange(2), torch.arange(3))", "torch.combinations(torch.arange(4), 2)", "torch.meshgrid(torch.arange(2), torch.arange(3), indexing='ij')", "torch.zeros(-1)", "torch.zeros(2.5)", "torch.nosuch", "torch.zeros(2).nosuch", "torch.zeros(2, 3).view(4)", "torch.zeros(2, 3).T.view(6)",
    "torch.zeros(2, 3).reshape(-1, -1)", "torch.zeros(2, 3).permute(0)", "torch.zeros(2, 3).permute(1, 0).stride()", "torch.cat([])", "torch.stack([torch.zeros(2), torch.zeros(3)])", "torch.zeros(2) + torch.zeros(3)", "torch.zeros(2, 3) @ torch.zeros(2, 3)", "torch.zeros(2, 3, 4) @ torch.zeros(2, 3, 4)", "torch.zeros(3) @ torch.zeros(4)", "torch.zeros(3).long() @ torch.zeros(3)", "torch.zeros(2, 2).long() @ torch.zeros(2, 2)",
    "torch.zeros(2, 3).sum(2)", "torch.zeros(3)[3]", "torch.zeros(3)[0, 0]", "torch.zeros(3).long().mean()", "torch.ones(3).long().softmax(0)", "torch.zeros(3).item()", "bool(torch.zeros(3))", "len(torch.tensor(1))", "torch.ones(3).bool() - torch.ones(3).bool()", "-torch.ones(3).bool()", "1 - torch.ones(3).bool()", "torch.ones(3).masked_fill(torch.ones(3), 0)", "torch.where(torch.ones(3), 1, 0)",
    "F.one_hot(torch.tensor([0, 2, 1]))", "F.one_hot(torch.tensor([0, 2, 1]), 4)", "F.cross_entropy(torch.arange(6.0).view(2, 3), torch.tensor([0, 2]))", "F.pad(torch.ones(2, 2), (1, 0, 0, 2), value=3)", "F.pad(torch.ones(2, 3), (-1, 1))", "F.embedding(torch.tensor([[0, 1]]), torch.eye(3))", "torch.bincount(torch.tensor([0, 2, 2]))", "torch.bincount(torch.tensor([0, 1]), minlength=4)", "torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([0, 3, 9]))",
    "F.layer_norm(torch.arange(6.0).view(2, 3), (3,))", "F.rms_norm(torch.arange(6.0).view(2, 3), (3,))", "torch.zeros(2, 2).expand(3, 2)", "torch.zeros(1, 2).expand(3, -1).shape", "torch.zeros(2, 3).split([1, 1], 1)", "torch.linalg.inv(torch.tensor([[2.0, 1], [0, 3]]))", "torch.linalg.det(torch.tensor([[2.0, 1], [5, 3]]))", "torch.linalg.matrix_power(torch.tensor([[1.0, 1], [0, 1]]), 5)", "torch.linalg.qr(torch.tensor([[2.0, 1], [5, 3], [1, 1]]).double())",
    "torch.linalg.matrix_norm(torch.tensor([[2.0, 1], [5, 3]]), 2)", "torch.linalg.eigvalsh(torch.tensor([[2.0, 1], [1, 3]]))", "torch.polar(torch.ones(3), torch.arange(3.0))", "torch.view_as_real(torch.polar(torch.ones(3), torch.arange(3.0)))", "torch.linalg.lstsq(torch.tensor([[2.0, 1], [5, 3], [1, 1]]), torch.ones(3, 1)).solution", "repr(torch.nn.Linear(2, 3))", "torch.finfo(torch.float32).max", "torch.finfo(torch.float16).eps", "torch.iinfo(torch.int64).max", "torch.float32.itemsize",
    "repr(torch.tensor(2.0))", "repr(torch.tensor([1e-5, 1.0]))", "repr(torch.arange(2000))", "repr(torch.zeros(3, 0))", "repr(torch.tensor([1 + 2j]))", "repr(torch.ones(2, 2, 2, dtype=torch.float64))", "repr(torch.tensor([math.inf, 1.0]))", "repr(torch.tensor([math.nan]))", "repr(torch.arange(12.0).view(3, 4) * 1e6)", "repr(torch.ones(40, 40))", "f'{torch.tensor(1.25):.1f}'", "repr(torch.Size([2, 3]))", "torch.Size([2, 3])[1:] + (4,)", "repr(torch.float32)", "repr(torch.device('cpu'))",
    "repr(torch.ones(2).max(0))", "torch.tensor([3, 1, 2]).sort()", "torch.tensor(5) // 2", "torch.tensor(-5) // 2", "torch.tensor(-5) % 3", "torch.tensor([1.0, 2.0]).tolist()", "torch.tensor(7) / 2", "torch.tensor([1, 2]) ** 2", "torch.tensor([2]) ** -1", "torch.tensor(1) + 0.5", "torch.tensor([200], dtype=torch.uint8) + 100", "torch.arange(3) @ torch.arange(3)", "torch.promote_types(torch.int64, torch.float16)", "torch.ones(2, 3).unflatten(1, (2, 2))", "torch.zeros(3).T.shape", "torch.zeros(2, 2, 2).t()",
]  # fmt: skip
CASES = 6


def tried(page, expressions, seed, *, most=3, two=False, loose=4.0, form=None):
    draw, ran = random.Random(seed), 0
    for expression in expressions:
        for _ in range(CASES):
            first = shape(draw, most)
            kind = draw.choice(KINDS)
            given = {"x": drawn(draw, kind, first)}
            if two:
                other = draw.choice([kind, kind, draw.choice(KINDS)])
                given["y"] = drawn(draw, other, draw.choice([first, fits(draw, first), first[::-1]]))
            text = form(draw, expression, first) if form else expression
            ran += held(page, text, loose, **given)
    assert ran >= 0.9 * CASES * len(expressions)  # the page refuses few of them


@pytest.mark.parametrize("start", range(0, len(UNARY), 20))
def test_operations_of_one_tensor(page, start):
    tried(page, UNARY[start : start + 20], start)


@pytest.mark.parametrize("start", range(0, len(BINARY), 12))
def test_operations_of_two_tensors(page, start):
    tried(page, BINARY[start : start + 12], 1000 + start, two=True)


@pytest.mark.parametrize("start", range(0, len(ALONG), 12))
def test_operations_along_an_axis(page, start):
    def form(draw, expression, shape):
        return expression.format(
            d=draw.randint(-len(shape) - 1, len(shape)) if draw.random() < 0.1 else draw.choice([0, -1, 1])
        )

    tried(page, ALONG[start : start + 12], 2000 + start, form=form)


@pytest.mark.parametrize("writes", [False, True])
def test_indexing(page, writes):
    forms = [f"result = x.clone(); result[{i}] = 7" if writes else f"x[{i}]" for i in INDICES]
    tried(page, forms, 3000 + writes)


SEEDED = [
    "torch.randn({n}, generator=g)", "torch.rand({n}, generator=g)", "torch.randn({n}, generator=g, dtype=torch.float64)",
    "torch.rand({n}, generator=g, dtype=torch.float64)", "torch.randint(-3, {n}, ({n},), generator=g)", "torch.randperm({n}, generator=g)",
    "torch.randint(2 ** 40, ({n},), generator=g)", "torch.randint(0, 2 ** 28 + 5, ({n},), generator=g)",
]  # fmt: skip


@pytest.mark.parametrize("seed", [0, 1, 2**40 + 3])
def test_chance_is_the_same_number_for_number(page, seed):
    draw = random.Random(seed)
    for _ in range(20):
        calls = [
            draw.choice(SEEDED).format(n=draw.choice([1, 2, 7, 15, 16, 17, 31, 32, 100, 777]))
            for _ in range(6)
        ]
        text = f"g = torch.Generator().manual_seed({seed}); result = [{', '.join(calls)}]"
        assert page(text) == outcome(text)


def test_layers_begin_with_the_same_numbers(page):
    layers = "torch.nn.Linear(5, 7), torch.nn.Embedding(3, 8), torch.nn.Linear(3, 2), torch.nn.LSTM(3, 4)"
    text = f"torch.manual_seed(3); result = [p for m in ({layers}) for p in m.parameters()]"
    assert page(text) == outcome(text)


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_eigenvalues(page, n):
    given = f"torch.randn(20, {n}, {n}, generator=torch.Generator().manual_seed({n})).double()"
    text = f"torch.linalg.eigvals({given}).abs().sort(-1).values"
    assert near(outcome(text)["value"], page(text)["value"], 1e4)


def test_the_largest_few_of_equals_are_the_same(page):
    draw = random.Random(0)
    for _ in range(50):
        x = ["float32", [n := draw.randint(1, 70)], [float(draw.randint(0, 5)) for _ in range(n)], [0]]
        k = draw.randint(1, n) if n < 64 else draw.randint(2, n)
        assert held(page, f"x.topk({k})", x=x)


def test_what_is_not_there_says_so(page):
    for text in (
        "torch.fft.fft(torch.ones(3))",
        "torch.ones(3).backward()",
        "torch.optim.Adam",
        "torch.svd(torch.eye(2))",
    ):
        told = page(text)
        assert told["error"] == "NotOnThePageError"
        assert "does not run on the page" in told["said"]


@pytest.mark.parametrize("expression", FIXED)
def test_creation_errors_and_printing(page, expression):
    assert held(page, expression)
