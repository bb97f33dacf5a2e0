"""Rules drawn as facts, and what the facts say, position by position."""

import torch

import attnlib
from tests import DEVICE, reference
from tests.fuzz.draw import Case, constant_case, words


def draw_facts(draw, target):
    """Draw the facts of one rule, or of two that are joined, for scores of that shape."""
    return [one_rule(draw, target) for _ in range(draw.pick(1, 1, 2))]


def one_rule(draw, target):
    S, batches = target[-1], [1] if len(target) > 3 else []
    batches += [target[-4]] * 3 if len(target) > 3 else []
    facts = {}
    if draw.chance(0.6):
        facts["causal"] = True
    if draw.chance(0.5):
        facts["window"] = draw.pick(1, 2, 3, 5, 11)
    if draw.chance(0.2):
        facts["ahead"] = draw.pick(0, 1, 2)
    if draw.chance(0.3):
        facts["prefix"] = draw.pick(1, 2, 5)
    if draw.chance(0.3):
        shape = (S,) if not batches or draw.chance(0.4) else (draw.pick(*batches), S)
        documents = torch.randint(-1, 3, shape, generator=draw.generator)
        facts["documents"] = documents.sort(-1).values if draw.chance(0.6) else documents
    if batches and draw.chance(0.3):
        B = draw.pick(*batches)
        facts["lengths"] = torch.tensor([draw.whole(0, S) for _ in range(B)], dtype=torch.int64)
    return facts


def rule_of(facts, end=None):
    """Make the rule; with ``end``, for the keys before it, as a cache has them so far."""
    made = [attnlib.MaskRule(**{name: cut(name, x, end) for name, x in one.items()}) for one in facts]
    return made[0] if len(made) == 1 else made[0] & made[1]


def cut(name, x, end):
    if name == "documents":
        return x[..., :end].to(DEVICE)
    if name == "lengths":
        return x.clamp(max=end).to(DEVICE) if end is not None else x.to(DEVICE)
    return x


def facts_seen(facts, T, S):
    """Return which keys each query sees, ``(T, S)`` or ``(B, 1, T, S)``."""
    visible = torch.ones(T, S, dtype=torch.bool)
    for one in facts:
        visible = visible & rule_seen(one, T, S)
    return visible


def rule_seen(facts, T, S):
    lag, batched = S - T, [x for x in facts.values() if torch.is_tensor(x)]
    documents, lengths = facts.get("documents"), facts.get("lengths")

    def sees(i, j, b):
        i += lag
        near = not facts.get("causal") or j <= i
        near = near and ("window" not in facts or i - j < facts["window"])
        near = near and ("ahead" not in facts or j - i <= facts["ahead"])
        near = near or j < facts.get("prefix", 0)
        if documents is not None:
            own = documents if documents.ndim == 1 else documents[b % len(documents)]
            near = near and i >= 0 and bool(own[i] == own[j])
        return near and (lengths is None or j < int(lengths[b % len(lengths)]))

    if not any(x is lengths or x.ndim == 2 for x in batched):
        return reference.mask_from(T, S, lambda i, j: sees(i, j, 0))
    B = max(len(x) for x in batched if x is lengths or x.ndim == 2)
    if any(len(x) == 0 for x in batched if x is lengths or x.ndim == 2):
        return torch.ones(0, 1, T, S, dtype=torch.bool)
    rows = [reference.mask_from(T, S, lambda i, j, b=b: sees(i, j, b)) for b in range(B)]
    return torch.stack(rows)[:, None]


def rule_case(draw):
    """Draw a rule and hold its table against its facts."""
    T, S, B = draw.size(0.1), draw.size(0.1), draw.pick(1, 2, 3)
    facts = draw_facts(draw, (B, 1, T, S))
    expected = facts_seen(facts, T, S).expand(B, 1, T, S)

    def call(function):
        assert function is attnlib.MaskRule
        return rule_of(facts).table(T, S, device=DEVICE).expand(B, 1, T, S)

    case: Case = constant_case("MaskRule", torch.bool, words(T=T, S=S), call, (expected, 0.0))
    case.text += f", facts={facts}"
    return case
