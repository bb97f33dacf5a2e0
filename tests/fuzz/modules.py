"""Cases of the layers: multi-head attention, the block and the decoder, with and without a cache."""

import dataclasses
import math

import torch
from torch import Tensor, nn
from torch.func import functional_call

import attnlib
from tests import DEVICE, reference
from tests.fuzz.bounded import GELU, TANH, exact, inverse_root
from tests.fuzz.draw import Case, as_tuple, words
from tests.fuzz.heads import Problem, draw_bias, draw_mask, finite_bias, seen, spread_heads, with_sink
from tests.fuzz.positions import expected_rotary
from tests.fuzz.rules import draw_facts, facts_seen, rule_of


def expected_linear_layer(a, t, name, x):
    """``x @ weight.T + bias``, stored."""
    rows = a.stored_gradient(x).flatten(1, -2)
    out = a.matmul(rows, t[f"{name}.weight"].mT)
    if f"{name}.bias" in t:  # which PyTorch adds to the rounded product, depending on how x lies in memory
        out = a.add(a.stored(out), a.spread(t[f"{name}.bias"], out.shape[1:]))
    return a.stored(out).reshape(*x.shape[:-1], out.shape[-1])


def expected_multihead(
    a, t, x, context, sizes, visible, prefix="", *, scale=None, softcap=None, turned=False
):
    """Return the output and the weights of multi-head attention; ``turned`` is with rotary positions."""
    D = sizes.C // sizes.H
    heads = []
    for name, source in (("q_proj", x), ("k_proj", context), ("v_proj", context)):
        y = expected_linear_layer(a, t, prefix + name, source)
        heads.append(y.unflatten(-1, (-1, D)).transpose(-3, -2))  # (2, B, heads, length, D)
    q, k, v = heads
    if turned:
        q, k = (expected_rotary(a, y, torch.arange(y.shape[-2]), D, 10000.0, False) for y in (q, k))
    lead = q.shape[1:3]
    k, v = (spread_heads(a, y, sizes.H // sizes.Hkv, lead) for y in (k, v))
    scores = a.times(a.matmul(q, k.mT), 1 / math.sqrt(D) if scale is None else scale)
    if softcap is not None:
        scores = a.times(a.curve(a.times(scores, 1 / softcap), TANH), softcap)
    if "bias" in t:
        scores = a.add(scores, a.times(a.spread(finite_bias(t)["bias"], scores.shape[1:]), 1.0))
    visible, sinks = visible.expand(scores.shape[1:]), {}
    if f"{prefix}sink" in t:
        sinks["sink"] = t[f"{prefix}sink"]
    S = scores.shape[-1]
    scores, v, visible = with_sink(a, sinks, scores, v, visible)
    out = a.attend(scores, v, visible).transpose(-3, -2).flatten(-2)
    return expected_linear_layer(a, t, prefix + "out_proj", out), a.softmax(scores, visible)[..., :S]


def expected_norm(a, t, name, x, *, rms=False):
    rows = a.stored_gradient(x)
    C = x.shape[-1]
    mean = exact(torch.full((*x.shape[1:-2], C, 1), 1 / C, dtype=torch.float64))
    middle = rows if rms else a.add(rows, a.times(a.spread(a.matmul(rows, mean), x.shape[1:]), -1.0))
    inverse = a.curve(a.matmul(a.multiply(middle, middle), mean), inverse_root(1e-5))
    y = a.multiply(middle, a.spread(inverse, x.shape[1:]))
    y = a.multiply(y, a.spread(t[f"{name}.weight"], x.shape[1:], kept=not rms))
    if f"{name}.bias" in t:
        y = a.add(y, a.spread(t[f"{name}.bias"], x.shape[1:], kept=not rms))
    return a.stored(y)


def expected_block(
    a, t, x, sizes, visible, prefix="", *, turned=False, norm="layer", norm_first=True, softcap=None, **_
):
    def normed(name, y):
        return expected_norm(a, t, prefix + name, y, rms=norm == "rms")

    def plus(y, added):
        return a.stored(a.add(a.stored_gradient(y), added))

    read = normed("attention_norm", x) if norm_first else x
    rest = {"turned": turned, "softcap": softcap}
    out, _ = expected_multihead(a, t, read, read, sizes, visible, prefix + "attention.", **rest)
    x = plus(x, out) if norm_first else normed("attention_norm", plus(x, out))
    out = expected_network(a, t, prefix, normed("network_norm", x) if norm_first else x)
    return plus(x, out) if norm_first else normed("network_norm", plus(x, out))


def expected_network(a, t, prefix, x):
    """Two layers, or three: a gate is there if it has weights."""
    up = expected_linear_layer(a, t, prefix + "up_proj", x)
    if f"{prefix}gate_proj.weight" not in t:
        return expected_linear_layer(a, t, prefix + "down_proj", a.stored(a.curve(up, GELU, kept=True)))
    gate = a.stored(a.curve(expected_linear_layer(a, t, prefix + "gate_proj", x), GELU, kept=True))
    return expected_linear_layer(a, t, prefix + "down_proj", a.stored(a.multiply(gate, up)))


def draw_kind(draw):
    """Draw what a block is made of: half of them as ever, the others as they come."""
    if draw.chance(0.5):
        return {}
    kinds = {"norm": draw.pick("layer", "rms"), "norm_first": draw.chance(0.5), "gated": draw.chance(0.5)}
    return kinds | {"bias": draw.chance(0.5)} | draw_own(draw)


def draw_own(draw):
    """Draw what a layer may have of its own."""
    sink, softcap = draw.chance(0.3), draw.pick(None, None, 3.0)
    return ({"sink": True} if sink else {}) | ({"softcap": softcap} if softcap else {})


@dataclasses.dataclass
class Sizes:
    B: int
    T: int
    S: int
    C: int
    H: int
    Hkv: int


def draw_sizes(draw, none=0.0):
    Hkv, groups = draw.pick(1, 2, 3), draw.pick(1, 1, 2, 3)
    H = Hkv * groups
    return Sizes(draw.pick(1, 2, 3), draw.size(none), draw.size(none), H * draw.pick(1, 2, 3), H, Hkv)


def draw_parameters(draw, module, dtype):
    """Draw a value for every parameter, as large as what usually stands there."""
    return {
        name: draw.normal(p.shape, dtype, 0.5 if p.ndim == 1 else p.shape[-1] ** -0.5)
        for name, p in module.named_parameters()
    }


def cuts(draw, T):
    """Cut T positions into pieces and return where each begins and ends."""
    ends = sorted({draw.whole(1, T) for _ in range(3)} | {T})
    return list(zip([0, *ends[:-1]], ends, strict=True))


def rows_of(mask, start, end):
    """Cut out what queries from start to end may see of the keys up to the end."""
    if mask is None or not mask.ndim:
        return mask
    mask = mask if mask.shape[-1] == 1 else mask[..., :end]
    return mask if mask.ndim < 2 or mask.shape[-2] == 1 else mask[..., start:end, :]


@dataclasses.dataclass
class Setting:
    """What is given to a layer beside its input, at once or piece by piece."""

    mask: Tensor | None
    bias: Tensor | None
    causal: bool
    turned: bool
    pieces: list[tuple[int, int]] | None  # with a cache
    facts: list[dict] | None = None  # a rule in place of the mask

    def arguments(self, t, start=None, end=None):
        """Return the keywords of a whole pass, or of the piece from start to end."""
        mask, bias = self.mask, t.get("bias")
        if end is not None:
            mask, bias = rows_of(mask, start, end), rows_of(bias, start, end)
        mask = mask if self.facts is None else rule_of(self.facts, end)
        turn = attnlib.rotary if self.turned else None
        return {"mask": mask, "bias": bias, "causal": self.causal, "rotary": turn}

    def visible(self, sizes, S):
        """Return which keys each query sees, ``(B, H, T, S)``: of a cache what came before its piece ends."""
        problem = Problem(None, None, None, None, 1, (sizes.B, sizes.H, sizes.T, S), ())
        visible = seen(problem, self.mask, self.causal, self.bias)
        if self.facts is not None:
            visible &= facts_seen(self.facts, sizes.T, S)
        for start, end in self.pieces or ():
            visible[..., start:end, end:] = False
        return visible


def draw_setting(draw, sizes, S, dtype, *, cached, crossed=False):
    target = (sizes.B, sizes.H, sizes.T, S)
    mask, bias = draw_mask(draw, target), draw_bias(draw, target, dtype)
    if mask is not None and mask.ndim == 3:
        mask = mask[None]  # the layer takes no mask of three axes
    facts = draw_facts(draw, target) if draw.chance(0.3) else None
    mask = mask if facts is None else None
    even = (sizes.C // sizes.H) % 2 == 0
    turned = even and not crossed and draw.chance(0.5)
    return Setting(mask, bias, draw.chance(0.5), turned, cuts(draw, sizes.T) if cached else None, facts)


def given_to(setting, case):
    """Add to a case what its layer is given beside its parameters."""
    if setting.bias is not None:
        case.inputs["bias"] = setting.bias
    if setting.mask is not None:
        case.others["mask"] = setting.mask
    case.text += ", " + words(**dataclasses.asdict(setting))


def parameters_of(t):
    return {name: x for name, x in t.items() if name not in ("x", "context", "bias")}


def multihead_case(draw):
    sizes, dtype = draw_sizes(draw, 0.05), draw.dtype()
    cached = draw.chance(0.35) and sizes.T > 0
    crossed = draw.chance(0.4) and not cached
    S = sizes.S if crossed else sizes.T
    scale, need_weights = draw.pick(None, None, 0.7, -1.0, 0.0), draw.chance(0.4)
    options = {"num_kv_heads": sizes.Hkv, "bias": draw.chance(0.6), "scale": scale} | draw_own(draw)
    setting = draw_setting(draw, sizes, S, dtype, cached=cached, crossed=crossed)
    visible = setting.visible(sizes, S)

    def call(function, t):
        layer = function(sizes.C, sizes.H, **options).to(DEVICE, dtype)
        own, weights = parameters_of(t), {"need_weights": need_weights}
        if not cached:
            given = setting.arguments(t) | weights
            return functional_call(layer, own, (t["x"], t.get("context")), given)
        cache, outs, rows = layer.make_cache(sizes.B, sizes.T), [], []
        for start, end in setting.pieces:
            given = setting.arguments(t, start, end) | weights | {"cache": cache}
            out = as_tuple(functional_call(layer, own, (t["x"][:, start:end],), given))
            outs.append(out[0])
            rows += [nn.functional.pad(w, (0, S - end)) for w in out[1:]]
        return (torch.cat(outs, 1), torch.cat(rows, 2)) if need_weights else torch.cat(outs, 1)

    def expected(a, t):
        context, rest = t.get("context", t["x"]), {"scale": scale, "turned": setting.turned}
        rest["softcap"] = options.get("softcap")
        both = expected_multihead(a, t, t["x"], context, sizes, visible, **rest)
        return both if need_weights else both[0]

    case = Case("MultiHeadAttention", dtype, words(sizes=sizes, **options), call, expected)
    case.text += f", dtype={dtype}, need_weights={need_weights}"
    case.inputs["x"] = draw.normal((sizes.B, sizes.T, sizes.C), dtype)
    if crossed:
        case.inputs["context"] = draw.normal((sizes.B, S, sizes.C), dtype)
    case.inputs |= draw_parameters(draw, attnlib.MultiHeadAttention(sizes.C, sizes.H, **options), dtype)
    given_to(setting, case)
    case.needs = () if cached else draw.some(case.inputs)
    if crossed and setting.mask is not None and draw.chance(0.3) and DEVICE.type == "cpu":
        hide_padding(draw, case, dataclasses.replace(setting, bias=None).visible(sizes, S))
    return case


def hide_padding(draw, case, visible):
    """Write NaN into positions that no query sees. Forward only: weights learn from every position."""
    unseen = ~visible.any(1).any(1)[..., None]  # (B, S, 1)
    context = case.inputs["context"]
    case.clean["context"] = context.cpu().masked_fill(unseen, 0.0)
    case.inputs["context"] = context.masked_fill(unseen.to(DEVICE), draw.pick(math.nan, math.inf))
    case.needs = ()
    case.text += ", NaN or infinity hidden in the context"


def torch_mha_case(draw):
    """Give a converted mask to PyTorch's own module, and expect what the mask means."""
    sizes, dtype = draw_sizes(draw), draw.pick(torch.float64, torch.float32)
    sizes.Hkv = sizes.H
    B, H, T, S = sizes.B, sizes.H, sizes.T, sizes.S
    shape = draw.pick((T, S), (B, 1, 1, S), (B, H, T, S), (B, 1, T, S))
    mask = draw.boolean(shape, 0.7).clone()
    mask[..., draw.whole(0, S - 1)] = True  # PyTorch's module answers a blind row with NaN
    inputs = {"x": draw.normal((B, T, sizes.C), dtype), "context": draw.normal((B, S, sizes.C), dtype)}
    own = attnlib.MultiHeadAttention(sizes.C, H)
    inputs |= draw_parameters(draw, own, dtype)
    visible = mask.cpu().expand(B, H, T, S)
    told_heads = draw.chance(0.3)

    def call(function, t):
        module = nn.MultiheadAttention(sizes.C, H, batch_first=True, device=DEVICE, dtype=dtype)
        names = ("q_proj", "k_proj", "v_proj")
        parameters = {
            "in_proj_weight": torch.cat([t[f"{name}.weight"] for name in names]),
            "in_proj_bias": torch.cat([t[f"{name}.bias"] for name in names]),
            "out_proj.weight": t["out_proj.weight"],
            "out_proj.bias": t["out_proj.bias"],
        }
        turned = function(mask, H) if shape == (B, 1, T, S) or told_heads else function(mask)
        keyword = "key_padding_mask" if turned.shape == (B, S) and shape == (B, 1, 1, S) else "attn_mask"
        options = {keyword: turned, "need_weights": False}
        return functional_call(module, parameters, (t["x"], t["context"], t["context"]), options)[0]

    def expected(a, t):
        return expected_multihead(a, t, t["x"], t["context"], sizes, visible)[0]

    text = words(sizes=sizes, mask=mask, dtype=str(dtype))
    case = Case("to_torch_mha", dtype, text, call, expected, inputs, draw.some(inputs))
    case.others["mask"] = mask
    return case


def cache_case(draw):
    """Append pieces to a cache: it must hand back all that came, exactly."""
    dtype = draw.dtype()
    B, H, D = draw.size(), draw.size(), draw.size()
    T = draw.size()
    pieces, room = cuts(draw, T), T + draw.pick(0, 2)
    first = None
    if draw.chance(0.4):  # a window that rolls, beside the first positions
        room = draw.whole(1, T + 1)
        first = draw.whole(0, room - 1)
    returned, kept = rolled(pieces, room, first or 0)
    inputs = {name: draw.normal((B, H, T, D), dtype) for name in ("k", "v")}
    used = draw.chance(0.3)

    def call(function, t):
        cache = function(B, H, room, D, dtype=dtype, device=DEVICE, keep_first=first)
        if used:
            cache.append(t["k"], t["v"])
            cache.reset()
        for start, end in pieces:
            k, v = cache.append(t["k"][:, :, start:end], t["v"][:, :, start:end])
        assert (cache.length, cache.next_position) == (len(kept), T)
        assert cache.max_length == room
        assert cache.positions_with(0).tolist() == kept
        return k.clone(), v.clone()

    def expected(a, t):
        return t["k"][..., returned, :], t["v"][..., returned, :]

    text = words(**inputs, pieces=pieces, room=room, keep_first=first)
    return Case("KVCache", dtype, text, call, expected, inputs)


def rolled(pieces, room, first):
    """Return the positions that the last piece gets from a cache, and those that the cache keeps."""
    kept, returned = [], []
    for start, end in pieces:
        given = kept + list(range(start, end))
        over = len(given) > room and len(kept) == room  # the first new position pushes one out
        returned = given[:first] + given[first + over :]
        kept = given if len(given) <= room else given[:first] + given[len(given) - (room - first) :]
    return returned, kept


def block_case(draw):
    sizes, dtype = draw_sizes(draw, 0.05), draw.dtype()
    cached = draw.chance(0.4) and sizes.T > 0
    options = {"num_kv_heads": sizes.Hkv, "hidden_dim": draw.size()} | draw_kind(draw)
    setting = draw_setting(draw, sizes, sizes.T, dtype, cached=cached)
    visible = setting.visible(sizes, sizes.T)

    def call(function, t):
        block, own = function(sizes.C, sizes.H, **options).to(DEVICE, dtype), parameters_of(t)
        if not cached:
            return functional_call(block, own, (t["x"],), setting.arguments(t))
        cache, outs = block.attention.make_cache(sizes.B, sizes.T), []
        for start, end in setting.pieces:
            given = setting.arguments(t, start, end) | {"cache": cache}
            outs.append(functional_call(block, own, (t["x"][:, start:end],), given))
        return torch.cat(outs, 1)

    def expected(a, t):
        return expected_block(a, t, t["x"], sizes, visible, turned=setting.turned, **options)

    case = Case("TransformerBlock", dtype, words(sizes=sizes, dtype=str(dtype), **options), call, expected)
    case.inputs["x"] = draw.normal((sizes.B, sizes.T, sizes.C), dtype)
    case.inputs |= draw_parameters(draw, attnlib.TransformerBlock(sizes.C, sizes.H, **options), dtype)
    given_to(setting, case)
    case.needs = () if cached else draw.some(case.inputs)
    return case


def decoder_case(draw):
    sizes, dtype = draw_sizes(draw), draw.dtype()
    V, layers = draw.pick(2, 3, 5, 7), draw.pick(1, 2)
    arguments = (V, sizes.T + 1, sizes.C, sizes.H, layers)
    pieces = cuts(draw, sizes.T) if draw.chance(0.5) else None
    tokens = torch.randint(0, V, (sizes.B, sizes.T), generator=draw.generator).to(DEVICE)
    kind = draw_kind(draw)
    turned = (sizes.C // sizes.H) % 2 == 0 and draw.chance(0.5)
    options = {"num_kv_heads": sizes.Hkv, "tied": draw.chance(0.3), **kind}
    options["rotary"] = attnlib.rotary if turned else None
    model = attnlib.Decoder(*arguments, **options)
    inputs = draw_parameters(draw, model, dtype)
    visible = reference.mask_from(sizes.T, sizes.T, lambda i, j: j <= i)

    def call(function, t):
        model = function(*arguments, **options).to(DEVICE, dtype)
        if pieces is None:
            return functional_call(model, t, (tokens,))
        caches = model.make_caches(sizes.B)
        parts = [functional_call(model, t, (tokens[:, i:j],), {"caches": caches}) for i, j in pieces]
        return torch.cat(parts, 1)

    def expected(a, t):
        x = a.stored_gradient(t["token_embedding.weight"])[:, tokens.cpu()]
        if not turned:
            places = t["position_embedding.weight"][:, : sizes.T]
            x = a.stored(a.add(x, a.spread(places, x.shape[1:])))
        for i in range(layers):
            x = expected_block(a, t, x, sizes, visible, f"blocks.{i}.", turned=turned, **kind)
        if kind.get("norm_first", True):
            x = expected_norm(a, t, "norm", x, rms=kind.get("norm") == "rms")
        return expected_linear_layer(a, t, "token_embedding" if options["tied"] else "head", x)

    text = words(sizes=sizes, vocabulary=V, layers=layers, cached=pieces, dtype=str(dtype))
    text += ", " + words(**kind, turned=turned, tied=options["tied"])
    case = Case("Decoder", dtype, text, call, expected, inputs, () if pieces else draw.some(inputs))
    case.others["tokens"] = tokens
    return case
