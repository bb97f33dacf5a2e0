"""Right answers written differently, and the wrong ones people give, each with words of the mistake it must name."""

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import torch
import torch.nn.functional as F

from attnlib import attention, causal_mask, rotary

COUNTED = {"attention": 57600, "mlp": 122880, "hidden": 341}
COSTS = {"nothing": math.log(50257), "perplexity": math.exp(2.4), "bits": 2.4 / math.log(2) / 2.5}
LEFT = {"size": 5, "before": 1 / 5, "after": 2**-12}


def rms(x, weight, eps):
    wide = x.float()
    return (wide * (wide.pow(2).mean(-1, keepdim=True) + eps).rsqrt() * weight).to(x.dtype)


def rms_by_norm(x, weight, eps):
    wide = x.double()
    size = torch.linalg.vector_norm(wide, dim=-1, keepdim=True) / x.shape[-1] ** 0.5
    return (wide / torch.sqrt(size**2 + eps) * weight).type_as(x)


def rms_by_einsum(x, weight, eps):
    wide = x.to(torch.float32)
    square = torch.einsum("...c,...c->...", wide, wide) / x.shape[-1]
    return torch.einsum("...c,...,c->...c", wide, (square + eps) ** -0.5, weight.float()).to(x.dtype)


def rms_scaled(x, weight, eps):
    largest = x.abs().amax(-1, keepdim=True).float()
    small = x.float() / largest
    root = (small.square().mean(-1, keepdim=True) + eps / largest**2).sqrt()
    return (small / root * weight.float()).to(dtype=x.dtype)


def rms_in_its_dtype(x, weight, eps):
    return x / (x.pow(2).mean(-1, keepdim=True) + eps).sqrt() * weight


def rms_wide(x, weight, eps):
    return x.float() / (x.float().square().mean(-1, keepdim=True) + eps).sqrt() * weight


def rms_like(size, outside=0.0):
    return lambda x, w, e: (x.float() / (size(x.float(), e) + outside * e) * w).to(x.dtype)


def mean_square(x, e=0.0):
    return (x.square().mean(-1, keepdim=True) + e).sqrt()


def probabilities(logits, temperature, k):
    logits = logits / temperature
    least = logits.topk(k, dim=-1).values[:, -1:]
    return logits.masked_fill(logits < least, -torch.inf).softmax(-1)


def probabilities_scattered(logits, temperature, k):
    values, places = torch.topk(logits, k)
    return torch.zeros_like(logits).scatter(1, places, F.softmax(values / temperature, dim=1))


def probabilities_divided(logits, temperature, k):
    p = (logits.double() / temperature).softmax(-1)
    p = torch.where(p.argsort(-1, descending=True).argsort(-1) < k, p, 0.0)
    return p / p.sum(-1, keepdim=True)


def probabilities_in_rows(logits, temperature, k):
    rows = []
    for row in logits.tolist():
        kept, largest = set(sorted(range(len(row)), key=lambda i: -row[i])[:k]), max(row)
        e = [math.exp((x - largest) / temperature) if i in kept else 0.0 for i, x in enumerate(row)]
        rows.append([x / sum(e) for x in e])
    return rows


def probabilities_by_hand(logits, temperature, k):
    e = (logits / temperature).exp()
    e = e * (logits >= logits.topk(k).values[:, -1:])
    return e / e.sum(-1, keepdim=True)


def temperature_cancels(logits, temperature, k):
    p = hidden(logits.softmax(-1) / temperature, k, 0.0)
    return p / p.sum(-1, keepdim=True)


def hidden(logits, k, value=-torch.inf):
    return logits.masked_fill(logits < logits.topk(k).values[:, -1:], value)


def continued(q, k, v, kept_k, kept_v):
    positions = torch.arange(len(q)) + len(kept_k)
    keys = torch.cat([kept_k, rotary(k, positions)])
    return attention(rotary(q, positions), keys, torch.cat([kept_v, v]), causal=True)


def continued_with_mask(q, k, v, kept_k, kept_v):
    S, T = kept_k.shape[0], q.shape[0]
    places = torch.arange(S, S + T)
    q, k = rotary(q, places), rotary(k, places)
    keys, values = torch.cat((kept_k, k), 0), torch.cat((kept_v, v), 0)
    mask = torch.ones(T, S + T, dtype=torch.bool).tril(S)
    return attention(q, keys, values, mask)


def continued_in_rows(q, k, v, kept_k, kept_v):
    rows = []
    for t in range(len(q)):
        place = torch.tensor([len(kept_k)])
        kept_k = torch.cat([kept_k, rotary(k[t : t + 1], place)])
        kept_v = torch.cat([kept_v, v[t : t + 1]])
        scores = rotary(q[t : t + 1], place) @ kept_k.T / math.sqrt(q.shape[1])
        rows.append(scores.softmax(-1) @ kept_v)
    return torch.cat(rows)


def continued_as_whole(q, k, v, kept_k, kept_v):
    S = len(kept_k)
    padded = [torch.cat([torch.zeros(S, q.shape[1]), x]) for x in (q, k)]
    q, k = (rotary(x)[S:] for x in padded)
    keys = torch.cat([kept_k, k])
    return attention(q, keys, torch.cat([kept_v, v]), causal_mask(len(q), len(keys)))


def step(q_at=None, k_at=None, *, turn_all=False, mask=lambda T, S: causal_mask(T, S)):
    """A cached step with positions ``q_at(S)`` and ``k_at(S)``; by default the right ones."""

    def fn(q, k, v, kept_k, kept_v):
        S, T = len(kept_k), len(q)
        places = [torch.arange(T) + (S if at is None else at(S)) for at in (q_at, k_at)]
        q = rotary(q, places[0])
        keys = rotary(torch.cat([kept_k, k])) if turn_all else torch.cat([kept_k, rotary(k, places[1])])
        return attention(q, keys, torch.cat([kept_v, v]), mask(T, S + T))

    return fn


def given_step(q, k, v, kept_k, kept_v):
    q, k = rotary(q), rotary(k)
    keys, values = torch.cat([kept_k, k]), torch.cat([kept_v, v])
    return attention(q, keys, values)


def at_one_place(q, k, v, kept_k, kept_v):
    place = torch.tensor([len(kept_k)])
    keys = torch.cat([kept_k, rotary(k, place)])
    return attention(rotary(q, place), keys, torch.cat([kept_v, v]), causal=True)


def neighbours_paired(q, k, v, kept_k, kept_v):
    places = torch.arange(len(q)) + len(kept_k)
    q, k = (rotary(x, places, interleaved=True) for x in (q, k))
    return attention(q, torch.cat([kept_k, k]), torch.cat([kept_v, v]), causal=True)


def new_before_kept(q, k, v, kept_k, kept_v):
    places = torch.arange(len(q)) + len(kept_k)
    keys = torch.cat([rotary(k, places), kept_k])
    return attention(rotary(q, places), keys, torch.cat([v, kept_v]), causal=True)


def everything(T, S):
    return torch.ones(T, S, dtype=torch.bool)


def repeats(tokens, n):
    grams = [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]
    return 1 - len(set(grams)) / len(grams)


def repeats_walking(tokens, n):
    seen, again, places = set(), 0, 0
    for i in range(n, len(tokens) + 1):
        gram = tuple(tokens[i - n : i])
        again += gram in seen
        places += 1
        seen.add(gram)
    return again / places


def repeats_counted(tokens, n):
    counts = Counter(zip(*(tokens[i:] for i in range(n)), strict=False))
    return Fraction(sum(m - 1 for m in counts.values()), counts.total())


def repeats_with_tensors(tokens, n):
    grams = torch.tensor(tokens).unfold(0, n, 1)
    return 1 - torch.tensor(len(grams.unique(dim=0)) / len(grams))


def grams(tokens, n):
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


def repeats_eating(tokens, n):
    """Right, but it empties the list it was given."""
    seen, again, places = set(), 0, 0
    while len(tokens) >= n:
        again += tuple(tokens[:n]) in seen
        seen.add(tuple(tokens[:n]))
        places += 1
        tokens.pop(0)
    return again / places


def repeats_searched(gap):
    def answer(tokens, n):
        places = range(len(tokens) - n + 1)
        text = [gap.join(map(str, tokens[: i + n - 1])) for i in places]
        return sum(gap.join(map(str, tokens[i : i + n])) in text[i] for i in places) / len(places)

    return answer


def shared(count):
    return lambda tokens, n: count(grams(tokens, n)) / len(grams(tokens, n))


PLAN = {"vocab_size": 2048, "embed_dim": 96, "num_heads": 3, "num_layers": 7, "hidden_dim": 256}


def speculate(p, q):
    accept = torch.where(q > 0, (p / q.clamp(min=1e-30)).clamp(max=1), 1.0)
    left = (p - q).clamp(min=0)
    return accept, left / left.sum() if left.sum() > 0 else p


def speculate_in_a_loop(p, q):
    p, q = p.tolist(), q.tolist()
    accept = [min(1.0, a / b) if b else 0.0 for a, b in zip(p, q, strict=True)]
    rejected = sum(b * (1 - x) for b, x in zip(q, accept, strict=True))
    if rejected < 1e-12:
        return accept, [1 / len(p)] * len(p)
    return accept, [(a - b * x) / rejected for a, b, x in zip(p, q, accept, strict=True)]


def speculate_by_minimum(p, q):
    both = torch.minimum(p, q)
    accept = (both / q).nan_to_num(0.0)
    return torch.stack([accept, ((p - both) / (1 - both.sum())).nan_to_num(0.5)])


def speculate_numpy(p, q):
    p, q = p.numpy(), q.numpy()
    accept = np.divide(p, q, out=np.ones_like(p), where=q > p)
    left = np.maximum(p - q, 0)
    return [accept, left / left.sum() if left.any() else q]


def speculating(accept=None, instead=None):
    """The right rows, but for one."""

    def answer(p, q):
        rows = speculate(p, q)
        return accept(p, q) if accept else rows[0], instead(p, q) if instead else rows[1]

    return answer


def by_target_exactly(p, q):
    """Exact, but it accepts drafts only as often as p says."""
    left = p - p * q
    return p, left / left.sum()


def half_as_often(p, q):
    """Exact, but it accepts only half of what it could."""
    accept = speculate(p, q)[0] / 2
    left = p - q * accept
    return accept, left / left.sum()


def mean_loss(tokens, read, window, stride):
    total, counted, start = 0.0, 1, 0
    while counted < len(tokens):
        end = min(start + window, len(tokens))
        total += sum(read(tokens[start:end])[-(end - counted) :])
        counted, start = end, start + stride
    return total / (len(tokens) - 1)


def mean_loss_by_position(tokens, read, window, stride):
    losses = {}
    for start in range(0, len(tokens), stride):
        for n, loss in enumerate(read(tokens[start : start + window]), start + 1):
            losses.setdefault(n, loss)
        if start + window >= len(tokens):
            break
    return sum(losses.values()) / len(losses)


def mean_loss_with_tensors(tokens, read, window, stride):
    losses = torch.tensor(read(tokens[:window]), dtype=torch.float64)
    end, start = window, stride
    while end < len(tokens):
        new = min(start + window, len(tokens)) - end
        losses = torch.cat(
            [losses, torch.tensor(read(tokens[start : start + window]), dtype=torch.float64)[-new:]]
        )
        end, start = end + new, start + stride
    return losses.mean()


def mean_loss_recursive(tokens, read, window, stride):
    def rest(start, counted):
        if counted >= len(tokens):
            return []
        losses = read(tokens[start : start + window])
        return losses[counted - start - 1 :] + rest(start + stride, start + window)

    losses = rest(0, 1)
    return np.mean(losses)


def of_slices(take, join=lambda parts: sum(map(sum, parts)) / sum(map(len, parts))):
    """Walk through the slices and take some losses of each: ``take(losses, new, stride)``."""

    def answer(tokens, read, window, stride):
        parts, counted, start = [], 1, 0
        while counted < len(tokens):
            end = min(start + window, len(tokens))
            parts.append(take(read(tokens[start:end]), end - counted, stride if start else window))
            counted, start = end, start + stride
        return join(parts)

    return answer


def loss_weighed_by_tokens(tokens, read, window, stride):
    total, before = 0.0, 0
    for start in range(0, len(tokens), stride):
        end = min(start + window, len(tokens))
        new = read(tokens[start:end])[-(end - before) :]
        total, before = total + (end - before) * sum(new) / len(new), end
        if end == len(tokens):
            break
    return total / end


def loss_of_last_ones(tokens, read, window, stride):
    losses = [x for n in range(0, len(tokens), stride) for x in read(tokens[n : n + window])[-stride:]]
    return sum(losses) / len(losses)


def loss_of_the_latest(tokens, read, window, stride):
    losses = {}
    for start in range(0, max(1, len(tokens) - window + stride), stride):
        losses |= dict(enumerate(read(tokens[start : start + window]), start + 1))
    return sum(losses.values()) / len(losses)


def loss_of_every_slice(tokens, read, window, stride):
    losses = [x for n in range(0, len(tokens), stride) for x in read(tokens[n : n + window])]
    return sum(losses) / len(losses)


def loss_of_pieces(tokens, read, window, stride):
    losses = [x for n in range(0, len(tokens), window) for x in read(tokens[n : n + window])]
    return sum(losses) / len(losses)


def loss_of_full_slices(tokens, read, window, stride):
    total, counted, start = 0.0, 1, 0
    while start + window <= len(tokens):
        total += sum(read(tokens[start : start + window])[-(start + window - counted) :])
        counted, start = start + window, start + stride
    return total / (counted - 1)


def loss_with_last_moved(tokens, read, window, stride):
    total, counted, start = 0.0, 1, 0
    while counted < len(tokens):
        end = min(start + window, len(tokens))
        total += sum(read(tokens[max(0, end - window) : end])[-(end - counted) :])
        counted, start = end, start + stride
    return total / (len(tokens) - 1)


RIGHT = {
    "9.1": [
        COUNTED,
        {"attention": 4 * 120**2, "mlp": 2 * 120 * 512, "hidden": 2 * 512 // 3},
        {key: torch.tensor(value) for key, value in COUNTED.items()},
        {key: float(value) for key, value in COUNTED.items()},
    ],
    "9.2": [
        COSTS,
        {"nothing": 10.8, "perplexity": 11.0, "bits": 1.38},
        {"nothing": 10.8249, "perplexity": 11.023, "bits": 1.385},
        {key: np.float32(value) for key, value in COSTS.items()},
    ],
    "9.3": [rms, rms_by_norm, rms_by_einsum, rms_scaled],
    "9.4": [
        speculate,
        speculate_in_a_loop,
        speculate_by_minimum,
        speculate_numpy,
    ],
    "9.5": [
        mean_loss,
        mean_loss_by_position,
        mean_loss_with_tensors,
        mean_loss_recursive,
    ],
    "9.6": [probabilities, probabilities_scattered, probabilities_divided, probabilities_in_rows],
    "9.7": [
        LEFT,
        {"size": math.sqrt(25), "before": Fraction(1, 5), "after": 1 / 4096},
        {"size": 5.0, "before": 0.2, "after": 0.000244},
        {"size": torch.ones(25).norm(), "before": 0.2, "after": 0.5**12},
    ],
    "9.8": [continued, continued_with_mask, continued_in_rows, continued_as_whole, step()],
    "9.9": [repeats, repeats_walking, repeats_counted, repeats_with_tensors],
    "9.10": [
        PLAN,
        {**PLAN, "hidden_dim": 248},
        {"vocab_size": 2048, "embed_dim": 64, "num_heads": 2, "num_layers": 16, "hidden_dim": 171},
        {"vocab_size": 2048, "embed_dim": 64, "num_heads": 2, "num_layers": 17, "hidden_dim": 176},
        {key: np.int64(value) for key, value in PLAN.items()},
    ],
}

WRONG = [
    ("9.1", COUNTED | {"attention": 3 * 120**2}, "the projection at the end is missing"),
    ("9.1", COUNTED | {"attention": 120**2}, "that is one matrix"),
    ("9.1", COUNTED | {"attention": 4 * 120 * 24}, "the four of one head"),
    ("9.1", COUNTED | {"attention": 5 * 4 * 120**2}, "heads share the width"),
    ("9.1", COUNTED | {"attention": 4 * (120**2 + 120)}, "the biases are counted too"),
    ("9.1", COUNTED | {"attention": 2 * 120 * 512}, "count its matrices"),
    ("9.1", COUNTED | {"attention": 120 * 512}, "count its matrices"),
    ("9.1", COUNTED | {"attention": 70000}, "count its matrices"),
    ("9.1", COUNTED | {"mlp": 120 * 512}, "that is the way up"),
    ("9.1", COUNTED | {"mlp": 2 * 120 * 512 + 632}, "the biases are counted too"),
    ("9.1", COUNTED | {"mlp": 3 * 120 * 512}, "the plain MLP has two"),
    ("9.1", COUNTED | {"mlp": 512 * 512}, "no matrix is 512 by 512"),
    ("9.1", COUNTED | {"hidden": 512}, "grows by half"),
    ("9.1", COUNTED | {"hidden": 342}, "the largest whole number"),
    ("9.1", COUNTED | {"hidden": 512 * 2 / 3}, "the largest whole number"),
    ("9.1", COUNTED | {"hidden": 256}, "room for four matrices"),
    ("9.1", COUNTED | {"hidden": 340}, "a larger width does, too"),
    ("9.1", COUNTED | {"hidden": 400}, "must not have more weights"),
    ("9.1", COUNTED | {"hidden": 344}, "suits the processor"),
    ("9.1", COUNTED | {"hidden": 682}, "twice the weights"),
    ("9.1", COUNTED | {"hidden": 341 * 120 * 3}, "asked is the width"),
    ("9.1", COUNTED | {"attention": 3 * 120**2 + 24 * 120}, "reads all heads"),
    ("9.2", COSTS | {"nothing": math.log2(50257)}, "that is in bits"),
    ("9.2", COSTS | {"nothing": math.log10(50257)}, "base 10"),
    ("9.2", COSTS | {"nothing": 50257}, "that is its perplexity"),
    ("9.2", COSTS | {"nothing": math.log(1 / 50257)}, "so it is positive"),
    ("9.2", COSTS | {"nothing": 1 / 50257}, "that is a probability"),
    ("9.2", COSTS | {"perplexity": 2**2.4}, "a loss in bits"),
    ("9.2", COSTS | {"perplexity": math.exp(-2.4)}, "one over it"),
    ("9.2", COSTS | {"perplexity": 10**2.4}, "base 10"),
    ("9.2", COSTS | {"perplexity": 50257 / 11.023}, "only on the loss"),
    ("9.2", COSTS | {"bits": 2.4 / 2.5}, "nats per character"),
    ("9.2", COSTS | {"bits": 2.4 / math.log(2)}, "bits per token"),
    ("9.2", COSTS | {"bits": 2.4 * math.log(2) / 2.5}, "divide by ln 2"),
    ("9.2", COSTS | {"bits": 2.4 / math.log(2) * 2.5}, "divide by 2.5"),
    ("9.2", COSTS | {"perplexity": math.exp(2.4 / math.log(2))}, "do not turn it into bits"),
    ("9.2", COSTS | {"perplexity": math.log(2.4)}, "the exponential is asked"),
    ("9.2", COSTS | {"perplexity": 50257}, "a model that knows nothing"),
    ("9.2", COSTS | {"bits": math.log2(2.4) / 2.5}, "a logarithm already"),
    ("9.2", COSTS | {"bits": 2.5 / 2.4}, "the other way round"),
    ("9.2", COSTS | {"bits": math.log2(50257) / 2.5}, "knows nothing"),
    ("9.3", rms_in_its_dtype, "overflow"),
    ("9.3", rms_wide, "give back the dtype of x"),
    ("9.3", lambda x, w, e: F.layer_norm(x, x.shape[-1:], w, None, e), "takes the mean away"),
    ("9.3", lambda x, w, e: F.rms_norm(x, x.shape[-1:], w, e), "write the formula"),
    ("9.3", lambda x, w, e: x / (x.std(-1, keepdim=True) ** 2 + e).sqrt() * w, "measured from the mean"),
    ("9.3", lambda x, w, e: x / (x.var(-1, keepdim=True, correction=0) + e).sqrt() * w, "measured from the mean"),
    ("9.3", lambda x, w, e: x / (x.square().sum(-1, keepdim=True) + e).sqrt() * w, "not their sum"),
    ("9.3", lambda x, w, e: F.normalize(x, dim=-1) * w, "not their sum"),
    ("9.3", lambda x, w, e: x / (mean_square(x) + e) * w, "outside the root"),
    ("9.3", lambda x, w, e: x / mean_square(x) * w, "`eps` is not used"),
    ("9.3", lambda x, w, e: x / mean_square(x, e), "the weight is not used"),
    ("9.3", lambda x, w, e: x / mean_square(x, e) * (1 + w), "not by one more"),
    ("9.3", lambda x, w, e: x * mean_square(x, e) * w, "divide by it"),
    ("9.3", lambda x, w, e: x / mean_square(x, e) ** 2 * w, "the root is missing"),
    ("9.3", lambda x, w, e: x / (x.square().mean() + e).sqrt() * w, "one root for the whole tensor"),
    ("9.3", lambda x, w, e: x / (x.square().mean(-2, keepdim=True) + e).sqrt() * w, "the mean runs over the tokens"),
    ("9.3", lambda x, w, e: x / (x.square().mean(-1) + e).sqrt() * w, "keepdim=True"),
    ("9.3", lambda x, w, e: x / (x.square().mean(0, keepdim=True) + e).sqrt() * w, "over the first axis"),
    ("9.3", lambda x, w, e: x / (x.mean(-1, keepdim=True) ** 2 + e).sqrt() * w, "the square of the mean"),
    ("9.3", lambda x, w, e: (x.float() / mean_square(x.float(), e) * w).to(w.dtype if x.dtype == torch.float16 else torch.float32), "give back the dtype of x"),
    ("9.3", lambda x, w, e: x / x.abs().mean(-1, keepdim=True) * w, "square first"),
    ("9.4", speculating(accept=lambda p, q: p / q.clamp(min=1e-9)), "a probability is not above 1"),
    ("9.4", speculating(accept=lambda p, q: (q / p.clamp(min=1e-9)).clamp(max=1)), "upside down"),
    ("9.4", speculating(accept=lambda p, q: (p >= q).double()), "all or nothing"),
    ("9.4", speculating(accept=torch.minimum), "once it was drafted"),
    ("9.4", by_target_exactly, "with p alone"),
    ("9.4", half_as_often, "more is rejected than need be: 0.35 of the drafts are accepted, and 0.7 could be"),
    ("9.4", lambda p, q: (torch.zeros_like(p), p), "nothing is ever accepted"),
    ("9.4", lambda p, q: (torch.ones_like(p), p), "everything is accepted"),
    ("9.4", speculating(accept=lambda p, q: 1 - speculate(p, q)[0]), "how often a draft is rejected"),
    ("9.4", speculating(accept=lambda p, q: p / (p + q)), "even where p is larger than q"),
    ("9.4", speculating(accept=lambda p, q: (p / q).clamp(max=1).sqrt()), "is drafted and accepted with"),
    ("9.4", speculating(accept=lambda p, q: (p / q).clamp(max=1)), "a NaN or an infinity"),
    ("9.4", speculating(instead=lambda p, q: p), "only what is still missing"),
    ("9.4", speculating(instead=lambda p, q: q), "drawn from q"),
    ("9.4", speculating(instead=lambda p, q: (p - q).clamp(min=0)), "but for a factor"),
    ("9.4", speculating(instead=lambda p, q: (p - q) / (1 - torch.minimum(p, q).sum())), "not below 0"),
    ("9.4", speculating(instead=lambda p, q: (p - q).abs() / (p - q).abs().sum()), "the size of the difference"),
    ("9.4", speculating(instead=lambda p, q: (p - q).softmax(0)), "divide what is missing by its sum"),
    ("9.4", speculating(instead=lambda p, q: p * (p > q) / (p * (p > q)).sum()), "in proportion to p"),
    ("9.4", speculating(instead=lambda p, q: (p - q).clamp(min=0) / (p - q).clamp(min=0).sum()), "not for p = [0.25, 0.0, 0.75]"),
    ("9.4", lambda p, q: speculate(p, q)[::-1], "the two rows are swapped"),
    ("9.4", lambda p, q: speculate(p, q)[0], "return two rows of 4 numbers"),
    ("9.4", speculating(instead=lambda p, q: torch.full_like(p, 0.25)), "not evenly"),
    ("9.5", of_slices(lambda losses, new, stride: losses), "counted twice"),
    ("9.5", of_slices(lambda losses, new, stride: losses, lambda parts: np.mean([np.mean(part) for part in parts])), "are counted again: sum up"),
    ("9.5", of_slices(lambda losses, new, stride: losses[-new:], lambda parts: np.mean([np.mean(part) for part in parts])), "an average of averages: the slices"),
    ("9.5", of_slices(lambda losses, new, stride: losses[-stride:]), "`[-stride:]` counts some again"),
    ("9.5", of_slices(lambda losses, new, stride: losses[-new:][1:]), "one loss too few"),
    ("9.5", of_slices(lambda losses, new, stride: losses[-new - 1 :]), "one loss too many"),
    ("9.5", of_slices(lambda losses, new, stride: losses[-new:], lambda parts: sum(map(sum, parts))), "that is the sum"),
    ("9.5", of_slices(lambda losses, new, stride: losses[-new:], lambda parts: sum(map(sum, parts)) / (1 + sum(map(len, parts)))), "the first one has no loss"),
    ("9.5", loss_weighed_by_tokens, "is weighed by its tokens"),
    ("9.5", lambda t, read, w, s: mean_loss(t, read, w, w // 2), "half a window apart"),
    ("9.5", of_slices(lambda losses, new, stride: losses[:new]), "the new ones are its last"),
    ("9.5", loss_of_the_latest, "with the loss of its last slice"),
    ("9.5", lambda t, read, w, s: np.mean(read(t[-w:])), "that is the last window alone"),
    ("9.5", of_slices(lambda losses, new, stride: losses[-new:][new < len(losses) :]), "one loss too few"),
    ("9.5", of_slices(lambda losses, new, stride: losses[-new:][:-1]), "one loss too few"),
    ("9.5", loss_of_last_ones, "of the first slice, all are new"),
    ("9.5", loss_of_every_slice, "counted twice"),
    ("9.5", loss_of_pieces, "do not overlap"),
    ("9.5", loss_of_full_slices, "the end of the text is missing"),
    ("9.5", loss_with_last_moved, "moved back"),
    ("9.5", lambda t, read, w, s: mean_loss(t, read, w, 1), "`stride` is not used"),
    ("9.5", lambda t, read, w, s: math.exp(mean_loss(t, read, w, s)), "that is the perplexity"),
    ("9.5", lambda t, read, w, s: np.mean(read(t[:w])), "the first slice alone"),
    ("9.5", lambda t, read, w, s: np.mean(read(t)), "this model reads 6 tokens at once, got 14"),
    ("9.5", lambda t, read, w, s: [x for n in range(0, len(t), s) for x in read(t[n : n + w])], "shape"),
    ("9.6", temperature_cancels, "where it cancels"),
    ("9.6", lambda x, t, k: hidden(x / t, k).log_softmax(-1), "not `log_softmax`"),
    ("9.6", lambda x, t, k: hidden((x / t).log_softmax(-1), k), "not `log_softmax`"),
    ("9.6", lambda x, t, k: hidden((x / t).log_softmax(-1), k).nan_to_num(neginf=0.0), "not `log_softmax`"),
    ("9.6", lambda x, t, k: torch.zeros_like(x).scatter(1, x.topk(k).indices, (x.topk(k).values / t).log_softmax(-1)), "not `log_softmax`"),
    ("9.6", lambda x, t, k: hidden((x / t).log_softmax(-1), k).nan_to_num(neginf=0.0) / hidden((x / t).log_softmax(-1), k).nan_to_num(neginf=0.0).sum(-1, True), "by their sum"),
    ("9.6", lambda x, t, k: probabilities(x, 1 / t, k), "divide by it"),
    ("9.6", lambda x, t, k: probabilities(x, 1.0, k), "the temperature is not used"),
    ("9.6", lambda x, t, k: (x / t).softmax(-1), "`k` is not used"),
    ("9.6", lambda x, t, k: hidden(x / t, k, -100.0).softmax(-1), "not low enough"),
    ("9.6", lambda x, t, k: hidden(x / t, k).softmax(-1).log(), "logarithms of probabilities"),
    ("9.6", lambda x, t, k: probabilities(x, t, k).sort(descending=True).values, "the column of its token"),
    ("9.6", lambda x, t, k: (probabilities(x, t, k) > 0) / k, "equally likely here"),
    ("9.6", lambda x, t, k: (x == x.amax(-1, keepdim=True)).float(), "the most likely token"),
    ("9.6", lambda x, t, k: (x / t).masked_fill(x < x[0].topk(k).values[-1], -torch.inf).softmax(-1), "each row has its own"),
    ("9.6", lambda x, t, k: x.softmax(-1), "neither"),
    ("9.6", lambda x, t, k: probabilities(x, t, k)[0].expand(x.shape), "the probabilities of the first"),
    ("9.6", lambda x, t, k: hidden((x / t).softmax(-1), k, 0.0), "do not sum to one"),
    ("9.6", lambda x, t, k: hidden(x / t, k, 0.0).softmax(-1), "a logit of 0 is not minus infinity"),
    ("9.6", lambda x, t, k: hidden(x / t, k).softmax(0), "over the batch"),
    ("9.6", lambda x, t, k: (x / t).softmax(0), "over the batch"),
    ("9.6", lambda x, t, k: hidden(x / t, k).softmax(0).nan_to_num(), "over the batch"),
    ("9.6", lambda x, t, k: hidden((x / t).softmax(0), k, 0.0), "over the batch"),
    ("9.6", lambda x, t, k: F.normalize(hidden((x / t).softmax(0), k, 0.0), p=1, dim=-1), "over the batch"),
    ("9.6", lambda x, t, k: hidden(x / t, k).view(-1).softmax(0).view_as(x), "one softmax runs over the whole batch"),
    ("9.6", lambda x, t, k: hidden(x / t, k).exp() / hidden(x / t, k).exp().sum(), "one softmax runs over the whole batch"),
    ("9.6", lambda x, t, k: hidden(x / t, k), "a softmax is missing"),
    ("9.6", lambda x, t, k: (x / t).topk(k).values.softmax(-1), "one for each token of the vocabulary"),
    ("9.6", lambda x, t, k: (-hidden(-x / t, k)).nan_to_num(posinf=-torch.inf).softmax(-1), "least likely"),
    ("9.6", lambda x, t, k: (x / t).masked_fill(x <= x.topk(k).values[:, -1:], -torch.inf).softmax(-1), "one token too few"),
    ("9.6", probabilities_by_hand, "overflow"),
    ("9.6", lambda x, t, k: probabilities(x, 1.0, k) / t, "divide the logits by the temperature"),
    ("9.6", lambda x, t, k: hidden((x / t).softmax(-1), k, 0.0).softmax(-1), "the softmax of probabilities"),
    ("9.6", lambda x, t, k: probabilities(x, t, min(k + 1, x.shape[1])), "one token too many"),
    ("9.7", LEFT | {"size": 25}, "point the same way"),
    ("9.7", LEFT | {"size": math.sqrt(24)}, "the embedding itself is in the residual stream"),
    ("9.7", LEFT | {"size": math.sqrt(13)}, "two parts that add"),
    ("9.7", LEFT | {"size": 1}, "the residual stream itself is not divided"),
    ("9.7", LEFT | {"size": 6}, "the squares of the sizes add up"),
    ("9.7", LEFT | {"before": 1 / 25}, "share of the squares"),
    ("9.7", LEFT | {"before": 1}, "the last norm then divides"),
    ("9.7", LEFT | {"before": 1 / math.sqrt(24)}, "24 updates"),
    ("9.7", LEFT | {"after": 2**-24}, "right for squares"),
    ("9.7", LEFT | {"after": 0.2}, "with norms before"),
    ("9.7", LEFT | {"after": 2**-6}, "two norms"),
    ("9.7", LEFT | {"after": 2**-11.5}, "no more and no fewer"),
    ("9.7", LEFT | {"after": 0}, "small, but not nothing"),
    ("9.7", LEFT | {"after": 1 / 24}, "do not share it out"),
    ("9.7", LEFT | {"after": 0.0002}, "three digits"),
    ("9.7", LEFT | {"after": 3}, "how often"),
    ("9.7", LEFT | {"before": 20}, "in percent"),
    ("9.8", given_step, "after changing it"),
    ("9.8", step(mask=everything), "the positions are right"),
    ("9.8", step(lambda S: 0, lambda S: 0), "the mask is right"),
    ("9.8", step(turn_all=True), "a second time"),
    ("9.8", step(lambda S: 0, turn_all=True), "queries begin at 0"),
    ("9.8", step(k_at=lambda S: 0), "the new keys still begin at 0"),
    ("9.8", step(lambda S: 0), "the queries still begin at 0"),
    ("9.8", step(lambda S: S - 1, lambda S: S - 1), "one too early"),
    ("9.8", step(lambda S: S + 1, lambda S: S + 1), "one too late"),
    ("9.8", step(mask=lambda T, S: causal_mask(T, S, offset=0)), "top-left"),
    ("9.8", step(mask=lambda T, S: causal_mask(T, S, offset=S - T - 1)), "no token attends to itself"),
    ("9.8", step(mask=lambda T, S: causal_mask(T, S, offset=S - T + 1)), "one token too many"),
    ("9.8", step(mask=lambda T, S: ~causal_mask(T, S)), "the mask is inverted"),
    ("9.8", step(mask=lambda T, S: ~causal_mask(T, S, offset=S - T - 1) | (torch.arange(S) < S - T)), "those after it"),
    ("9.8", step(mask=lambda T, S: (torch.arange(S) < S - T) | torch.eye(T, S).roll(S - T, 1).bool()), "the new tokens before it, too"),
    ("9.8", step(mask=lambda T, S: causal_mask(T, S) & (torch.arange(S) >= S - T)), "the kept columns"),
    ("9.8", step(mask=lambda T, S: torch.ones(T, S).triu(S - T).bool()), "the upper half"),
    ("9.8", step(mask=lambda T, S: torch.ones(T, S).triu().bool()), "the upper half"),
    ("9.8", lambda q, k, v, a, b: step()(q * q.shape[-1] ** 0.5, k, v, a, b), "not divided by the root"),
    ("9.8", lambda q, k, v, a, b: step()(q, k, v, a, b)[:-1], "shape"),
    ("9.8", at_one_place, "all new tokens stand at one position"),
    ("9.8", neighbours_paired, "you rotate neighbours"),
    ("9.8", new_before_kept, "append them at the end"),
    ("9.8", lambda q, k, v, a, b: attention(q, torch.cat([a, k]), torch.cat([b, v]), causal=True), "nothing is rotated"),
    ("9.9", shared(lambda g: len(set(g))), "share of different ones"),
    ("9.9", shared(lambda g: sum(g.count(x) > 1 for x in g)), "the first time is counted too"),
    ("9.9", shared(lambda g: sum(m > 1 for m in Counter(g).values())), "count every time after the first"),
    ("9.9", lambda t, n: repeats(t, n) * len(grams(t, n)), "that is a count"),
    ("9.9", lambda t, n: repeats(t, n) * len(grams(t, n)) / len(t), "at fewer positions"),
    ("9.9", lambda t, n: repeats(t, 1), "`n` is not used"),
    ("9.9", lambda t, n: 100 * repeats(t, n), "in percent"),
    ("9.9", lambda t, n: repeats([tuple(t[i : i + n]) for i in range(0, len(t), n)], 1), "you cut the text"),
    ("9.9", shared(lambda g: sum(a == b for a, b in pairwise(g))), "compare with the position before only"),
    ("9.9", lambda t, n: repeats([tuple(sorted(g)) for g in grams(t, n)], 1), "order counts"),
    ("9.9", lambda t, n: repeats(t, n + 1), "too many in each"),
    ("9.9", lambda t, n: repeats(t[:-1], n), "the last position is missing"),
    ("9.9", shared(lambda g: max(Counter(g).values())), "the most common one"),
    ("9.9", shared(lambda g: sum(m * (m - 1) // 2 for m in Counter(g).values())), "a position counts once"),
    ("9.9", lambda t, n: float(repeats(t, n) > 0), "whether anything is repeated"),
    ("9.9", lambda t, n: repeats(["".join(map(str, g)) for g in grams(t, n)], 1), "compare tuples"),
    ("9.9", lambda t, n: sum(g in grams(t[:i], n) for i, g in enumerate(grams(t, n))) / len(grams(t, n)), "positions that overlap"),
    ("9.9", lambda t, n: grams(t, n), "shape"),
    ("9.9", repeats_searched(" "), "Compare tuples"),
    ("9.9", repeats_searched(","), "Compare tuples"),
    ("9.9", lambda t, n: repeats([(g[0], g[-1]) for g in grams(t, n)], 1), "those between them"),
    ("9.9", lambda t, n: repeats(t[: len(t) - n + 1], 1), "only the first token"),
    ("9.9", repeats_eating, "the numbers are right, but it changes `tokens`"),
    ("9.10", PLAN | {"vocab_size": 1024}, "the vocabulary is given"),
    ("9.10", PLAN | {"num_heads": 4}, "a head should be 32 wide"),
    ("9.10", PLAN | {"num_heads": 5}, "a head should be 32 wide"),
    ("9.10", PLAN | {"num_layers": 5}, "at least 6 blocks"),
    ("9.10", PLAN | {"hidden_dim": 384}, "three matrices"),
    ("9.10", PLAN | {"hidden_dim": 128}, "times the weights of attention"),
    ("9.10", PLAN | {"num_layers": 6}, "room for"),
    ("9.10", PLAN | {"num_layers": 8}, "too large by"),
    ("9.10", {**PLAN, "embed_dim": 128, "num_heads": 4, "num_layers": 6, "hidden_dim": 341}, "too large by"),
    ("9.10", PLAN | {"hidden_dim": 255.5}, "must be a whole number"),
    ("9.10", PLAN | {"num_layers": 0}, "must be a whole number"),
    ("9.10", {"embed_dim": 96}, "keep the dict"),
    ("9.10", list(PLAN.values()), "keep the dict"),
    ("9.10", PLAN | {"hidden_dim": 256.0}, "as `Decoder` takes it: an int, got float"),
    ("9.10", PLAN | {"num_layers": torch.tensor(7)}, "an int, got Tensor"),
    ("9.10", PLAN | {"num_layers": True}, "an int, got bool"),
    ("9.10", PLAN | {"num_heads": Fraction(3)}, "an int, got Fraction"),
]  # fmt: skip
