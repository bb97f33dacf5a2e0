"""Exercises on many heads."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from attnlib.functional import attention, attention_scores, attention_weights
from attnlib.instruments.cost import multihead_parameters
from attnlib.learn.calling import AnswerError, call
from attnlib.learn.grading import by_cases, close, listed, name_number, normal, numbers, single


def _wrong_parameters(C: int, H: int, Hkv: int, bias: bool, says: dict[str, str]) -> list[tuple[float, str]]:
    """Return the mistakes people make in counting parameters."""
    D, right = C // H, multihead_parameters(C, H, Hkv=Hkv, bias=bias)
    known = [
        (H * right, says["for_each_head"]),
        (H * 4 * C * C, says["for_each_head"]),
        (right - C * (C + bias), says["no_w_o"]),
        (right - D * Hkv * (C + bias), says["no_w_v"]),
        (2 * C * (C + bias), says["no_w_k_w_v"]),
        (3 * C * C, says["three_matrices"]),
        *((4 * D**2 * n, says["small_matrices"]) for n in (H, (H + Hkv) / 2)),
        *((D**2 * n + C * C, says["small_matrices"]) for n in (3 * H, H + 2 * Hkv)),
    ]
    if bias:
        known += [
            (right - 2 * C - 2 * D * Hkv, says["no_biases"]),
            (right + 2 * C - 2 * D * Hkv, says["wide_biases"]),
            (right - 2 * D * Hkv, says["no_biases_of_keys"]),
            (right - C, says["three_biases"]),
            (right - D * Hkv, says["three_biases"]),
        ]
    else:
        known += [(multihead_parameters(C, H, Hkv=Hkv, bias=True), says["always_biases"])]
    if Hkv != H:
        known += [
            (4 * C * (C + bias), says["not_narrower"]),
            (2 * (C + Hkv) * (C + bias), says["too_narrow"]),
            (2 * (C + H // Hkv * D) * (C + bias), says["size_of_a_group"]),
            (4 * Hkv * D * (C + bias), says["all_narrower"]),
            ((3 * C + Hkv * D) * (C + bias), says["one_narrower"]),
            ((C + 3 * Hkv * D) * (C + bias), says["three_narrower"]),
        ]
    return known


def parameters(answer: object, says: dict[str, str]) -> str | None:
    """Grade the number of parameters."""
    for C, H, Hkv, bias in ((210, 30, 5, False), (12, 3, 3, False), (12, 3, 3, True), (512, 8, 1, True)):
        got = single(call(answer, C, H, Hkv, bias))
        right = multihead_parameters(C, H, Hkv=Hkv, bias=bias)
        where = says["where"].format(C=C, H=H, Hkv=Hkv, bias=bias)
        wrong = name_number(got, right, _wrong_parameters(C, H, Hkv, bias, says), where)
        if wrong:
            return wrong
    return None


def _model_of_heads(H: int, questions: list[list[set[int]]], says: dict[str, str]) -> Callable:
    """Return the share of right answers of a model without some heads.

    For each question there are the sets of heads of which one is needed, as a whole; ``~head`` stands for a
    head that misleads, and has to be gone.
    """

    def share_right(removed: Iterable[int]) -> float:
        if isinstance(removed, int):
            raise AnswerError(says["a_list"])
        gone = set(map(int, removed))
        if not gone <= set(range(H)):
            raise AnswerError(says["no_such_head"].format(head=max(gone, key=abs), H=H))
        there = {head if head not in gone else ~head for head in range(H)}
        return sum(any(needed <= there for needed in question) for question in questions) / len(questions)

    return share_right


def _what_it_hides_behind(share_right: Callable, head: int, H: int) -> tuple[int, ...] | None:
    """Return the fewest other heads without which removing a head costs; None if it never does."""
    others = [h for h in range(H) if h != head]
    choices = (choice for n in range(H) for choice in combinations(others, n))
    return next((gone for gone in choices if share_right([*gone, head]) < share_right(gone)), None)


def _gains(share_right: Callable, head: int, H: int) -> bool:
    """Tell whether the share rises in some company when a head is removed."""
    others = [h for h in range(H) if h != head]
    choices = (choice for n in range(H) for choice in combinations(others, n))
    return any(share_right([*gone, head]) > share_right(gone) for gone in choices)


def _read_heads(answer: object, H: int, says: dict[str, str]) -> set[int]:
    """Read a list of heads, or a True or False for each head."""
    got = numbers(list(answer) if isinstance(answer, (set, frozenset)) else answer)
    plain = (
        answer.tolist() if hasattr(answer, "tolist") else list(answer) if isinstance(answer, Iterable) else []
    )
    if len(plain) == H and all(type(one) is bool for one in plain):
        return {h for h in range(H) if plain[h]}
    heads = set(got.flatten().tolist())
    if got.ndim != 1 or not heads <= set(range(H)):
        raise AnswerError(says["no_heads"].format(H=H))
    return set(map(int, heads))


def hiding(answer: object, says: dict[str, str]) -> str | None:
    """Grade the search for heads whose removal costs nothing until others are removed."""
    models = [
        (4, [[{0}], [{1}, {3}]]),  # 1 and 3 do the same, 2 does nothing
        (5, [[{0}, {2}, {4}], [{1}]]),  # three do the same
        (4, [[{0}], [{0}, {1}], [{3}]]),  # 0 costs, and 1 can do a part of what it does
        (5, [[{0, 1}, {2, 3}], [{4}]]),  # 0 works with 1, or else 2 with 3
        (3, [[{0}], [{1}], [{2}]]),  # none hides
        (6, [[{5}, {0, 1, 2}], [{3}]]),
        (6, [[{head} for head in range(6)]]),  # all do the same
        (5, [*[[{0}, {1}]] * 2, [{~1}], [{~2, ~3}], [{4}]]),  # 1 hides, and misleads; 2 and 3 only mislead
    ]
    for n, (H, questions) in enumerate(models):
        share_right = _model_of_heads(H, questions, says)
        got = _read_heads(call(listed(answer), share_right, H), H, says)
        behind = {head: _what_it_hides_behind(share_right, head, H) for head in range(H)}
        words = _wrongly_hiding(got, behind, share_right, says)
        if words:
            return (says["right_at_first"].format(H=H) if n else "") + words
    return None


def _wrongly_hiding(got: set[int], behind: dict, share_right: Callable, says: dict[str, str]) -> str | None:
    """Say which head should not be among those found, or is missing; None if they are right."""
    for head in sorted(got):
        if not behind[head]:
            gains = "only_gains" if _gains(share_right, head, len(behind)) else "does_nothing"
            return says[gains if behind[head] is None else "costs_alone"].format(head=head)
    missing = [head for head in behind if behind[head] and head not in got]
    if not missing:
        return None
    head, others = missing[0], [h for h in behind if h != missing[0]]
    if len(behind[head]) > 1:
        return says["more_than_one"].format(head=head)
    case = {"head": head, "other": behind[head][0]}
    if share_right([head]) > share_right([]):
        return says["gains_alone"].format(**case)
    if share_right(others) == share_right(behind):
        return says["in_company"].format(**case)
    if share_right(behind[head]) < share_right([]):
        return says["behind_one_that_costs"].format(**case)
    if not got:
        return says["none_found"]
    return says["behind_another"].format(**case)


def _heads(x: Tensor, H: int) -> Tensor:
    return x.unflatten(-1, (H, -1)).transpose(1, 2)


def _viewed(x: Tensor, H: int) -> Tensor:
    return x.reshape(x.shape[0], H, x.shape[1], -1)


def _merged(heads: Tensor) -> Tensor:
    return heads.transpose(1, 2).flatten(2)


def _flattened(heads: Tensor) -> Tensor:
    return heads.reshape(heads.shape[0], heads.shape[2], -1)


def _dealt(heads: Tensor) -> Tensor:
    return heads.permute(0, 2, 3, 1).flatten(2)


def merge(answer: object, says: dict[str, str]) -> str | None:
    """Grade the merging of heads to which the coordinates were dealt out in turn."""
    cases = [(normal(*shape, seed=0),) for shape in ((2, 3, 5, 4), (3, 2, 7, 5), (5, 7, 2, 3))]
    mistakes = [
        (_merged, says["head_after_head"]),
        (_flattened, says["tokens_mixed"]),
        (lambda x: x.permute(0, 3, 2, 1).reshape(x.shape[0], x.shape[2], -1), says["tokens_behind"]),
        (lambda x: _dealt(x.flip(1)), says["reversed"]),
        (lambda x: _dealt(x).mT, says["turned"]),
        (lambda x: x.permute(0, 2, 3, 1), says["not_joined"]),
        (lambda x: x.transpose(1, 2), says["heads_apart"]),
        (lambda x: x, says["nothing_merged"]),
        (lambda x: x.sum(1), says["added_up"]),
    ]
    return by_cases(answer, _dealt, cases, mistakes)


def _found(weights: Tensor, relation: Tensor) -> Tensor:
    return (weights * relation).sum(-1)


def _score(weights: Tensor, relation: Tensor) -> Tensor:
    return _found(weights, relation)[:, relation.any(-1)].mean(-1)


def _hits(weights: Tensor, relation: Tensor) -> Tensor:
    return (weights.argmax(-1) == relation.float().argmax(-1))[:, relation.any(-1)].float().mean(-1)


def score(answer: object, says: dict[str, str]) -> str | None:
    """Grade the score of each head for a relation."""
    cases = []
    for H, T, S, pairs in (
        (3, 6, 6, [(1, 0), (2, 0), (4, 3), (5, 1)]),
        (2, 5, 7, [(0, 6), (1, 6), (3, 2)]),
        (5, 3, 2, [(2, 1)]),
    ):
        relation = torch.zeros(T, S, dtype=torch.bool)
        relation[tuple(zip(*pairs, strict=True))] = True
        cases.append((normal(H, T, S, seed=0).mul(2).softmax(-1), relation))
    mistakes = [
        (lambda w, r: _found(w, r).mean(-1), says["all_queries"]),
        (lambda w, r: _found(w, r).sum(-1), says["sum"]),
        (lambda w, r: (w * r).mean((-1, -2)), says["all_pairs"]),
        (_hits, says["hits"]),
        (lambda w, r: _score(w, r).mean(), says["over_heads"]),
        (_found, says["each_query"]),
        (lambda w, r: _found(w, r)[:, r.any(-1)], says["each_query_asked"]),
        (lambda w, r: (w.mT * r).sum((-1, -2)) / r.any(-1).sum(), says["turned"]),
        (lambda w, r: _found(w, r).sum(-1) / r.any(0).sum(), says["by_keys"]),
        (lambda w, r: (w * r).amax((-1, -2)), says["largest"]),
        (lambda w, r: w[:, torch.arange(len(r)), r.int().argmax(-1)].mean(-1), says["key_0"]),
        (lambda w, r: _score(w, ~r), says["inverted"]),
    ]
    return by_cases(answer, _score, cases, mistakes)


def _cleared(heads: Tensor, h: int) -> Tensor:
    heads = heads.clone()
    heads[:, h % heads.shape[1]] = 0
    return heads


def _without(heads: Tensor, w_o: Tensor, h: int) -> Tensor:
    return _merged(_cleared(heads, h)) @ w_o


def _replaced(heads: Tensor, w_o: Tensor, h: int, by: Tensor) -> Tensor:
    return _without(heads, w_o, h) + by @ w_o.unflatten(0, (heads.shape[1], -1))[h]


AXES = 0, 1, (0, 1)  # texts, tokens, both


def _rows_left(heads: Tensor, w_o: Tensor, h: int, cut: int) -> Tensor:
    """Leave out head h, and of ``w_o`` the rows of the first or the last head."""
    H = heads.shape[1]
    rows = [n for n in range(H) if n != cut % H]
    return _merged(heads[:, [n for n in range(H) if n != h]]) @ w_o.unflatten(0, (H, -1))[rows].flatten(0, 1)


def _columns_cleared(heads: Tensor, w_o: Tensor, h: int) -> Tensor:
    out = _merged(heads) @ w_o
    out.unflatten(-1, (heads.shape[1], -1))[:, :, h] = 0
    return out


def without(answer: object, says: dict[str, str]) -> str | None:
    """Grade the output of the layer without one of its heads."""
    cases = [
        (normal(B, H, T, D, seed=0), normal(H * D, H * D, seed=1), h)
        for B, H, T, D, h in ((2, 3, 5, 4, 1), (3, 2, 7, 5, 0), (2, 5, 3, 2, 4))
    ]
    mistakes = [
        (lambda x, w, h: _merged(x) @ w, says["every_head"]),
        (lambda x, w, h: _merged(x) @ w - _without(x, w, h), says["head_alone"]),
        (lambda x, w, h: _without(x, w, h) * x.shape[1] / (x.shape[1] - 1), says["scaled_up"]),
        (_columns_cleared, says["columns_cleared"]),
        (lambda x, w, h: _merged(_cleared(x, h)), says["no_w_o"]),
        (lambda x, w, h: _without(x, w.T, h), says["transposed"]),
        (lambda x, w, h: _flattened(_cleared(x, h)) @ w, says["not_swapped"]),
        (lambda x, w, h: _without(x, w, h + 1), says["next_head"]),
        (lambda x, w, h: _without(x, w, h - 1), says["head_before"]),
        (lambda x, w, h: _merged(_cleared(x.transpose(1, 2), h).transpose(1, 2)) @ w, says["position"]),
        *((lambda x, w, h, a=a: _replaced(x, w, h, x[:, h].mean(a, True)), says["own_mean"]) for a in AXES),
        *((lambda x, w, h, n=n: _rows_left(x, w, h, n), says["rows_left"]) for n in (0, -1)),
        (lambda x, w, h: _replaced(x, w, h, x.mean(1)), says["mean_head"]),
        (lambda x, w, h: _replaced(x, w, h, _cleared(x, h).sum(1) / (x.shape[1] - 1)), says["mean_head"]),
    ]
    return by_cases(answer, _without, cases, mistakes)


def _in_turn(x: Tensor, H: int) -> Tensor:
    return x.unflatten(-1, (-1, H)).permute(0, 3, 1, 2)


def _layer(
    *,
    scale: Callable = lambda C, D: D**-0.5,
    axis: int = -1,
    take: Callable = _heads,
    flat: Callable = _merged,
    out: bool = True,
    turned: str = "",
) -> Callable:
    """Return multi-head attention from four matrices, with a mistake."""

    def run(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, H: int) -> Tensor:
        C = x.shape[-1]
        q, k, v = (take(x @ (w.T if "in" in turned else w), H) for w in (w_q, w_k, w_v))
        mixed = flat((q @ k.mT * scale(C, C // H)).softmax(axis) @ v)
        return mixed @ (w_o.T if "out" in turned else w_o) if out else mixed

    return run


def _mixing(mix: Callable) -> Callable:
    """Return multi-head attention in which ``mix(q, k, v)`` stands for the attention of a head."""

    def run(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, H: int) -> Tensor:
        return _merged(mix(*(_heads(x @ w, H) for w in (w_q, w_k, w_v)))) @ w_o

    return run


def multi_head(answer: object, says: dict[str, str]) -> str | None:
    """Grade multi-head attention from four matrices."""
    cases = [
        (normal(B, T, C, seed=0), *(normal(C, C, seed=n) / 2 for n in (1, 2, 3, 4)), H)
        for B, T, C, H in ((2, 5, 12, 2), (3, 6, 12, 3), (2, 3, 10, 5))
    ]
    mistakes = [
        (_layer(scale=lambda C, D: C**-0.5), says["by_root_of_c"]),
        (_layer(scale=lambda C, D: 1.0), says["not_divided"]),
        (_layer(scale=lambda C, D: 1 / D), says["by_d"]),
        (_layer(axis=-2), says["over_queries"]),
        (_layer(axis=1), says["over_heads"]),
        (_layer(take=_viewed), says["tokens_dealt"]),
        (_layer(take=_viewed, flat=_flattened), says["tokens_dealt"]),
        (_layer(flat=_flattened), says["not_swapped"]),
        (_layer(take=_in_turn), says["in_turn"]),
        (_layer(take=_in_turn, flat=_dealt), says["in_turn"]),
        (
            lambda x, a, b, c, d, H: (
                _merged(attention(*(_heads(x @ w, H) for w in (a, b, c)), causal=True)) @ d
            ),
            says["masked"],
        ),
        *((_layer(turned=which), says["transposed"]) for which in ("in, out", "in", "out")),
        (_layer(out=False), says["no_w_o"]),
        (lambda x, a, b, c, d, H: attention(x @ a, x @ b, x @ c) @ d, says["one_head"]),
        (lambda x, a, b, c, d, H: _merged(attention(*[_heads(x, H)] * 3)) @ d, says["not_projected"]),
        (lambda x, a, b, c, d, H: attention(*(_heads(x @ w, H) for w in (a, b, c))).sum(1), says["added_up"]),
        (lambda x, a, b, c, d, H: attention_weights(_heads(x @ a, H), _heads(x @ b, H)), says["weights"]),
        (_layer(scale=lambda C, D: (C / D) ** -0.5), says["by_root_of_h"]),
        (_layer(scale=lambda C, D: D**0.5), says["times_root"]),
        (_mixing(lambda q, k, v: (q @ k.mT / q.shape[-2] ** 0.5).softmax(-1) @ v), says["by_root_of_t"]),
        (_mixing(lambda q, k, v: (q @ k.mT).softmax(-1) / q.shape[-1] ** 0.5 @ v), says["scaled_after"]),
        (_mixing(lambda q, k, v: attention_scores(q, k) @ v), says["no_softmax"]),
        (_mixing(lambda q, k, v: attention(k, q, v)), says["queries_and_keys"]),
        (_mixing(lambda q, k, v: attention(q, v, k)), says["keys_and_values"]),
        (_mixing(lambda q, k, v: attention(v, k, q)), says["queries_and_values"]),
        (_mixing(lambda q, k, v: attention(q, k, k)), says["keys_averaged"]),
        *(
            (_mixing(lambda q, k, v, n=n: attention((q, k)[n], (q, k)[n], v)), says["one_matrix"])
            for n in (0, 1)
        ),
        (_mixing(lambda q, k, v: attention(q, k, v).flip(1)), says["heads_reversed"]),
        (lambda x, a, b, c, d, H: _layer()(x, a, b, torch.eye(len(c)), d, H), says["values_not_projected"]),
        (lambda x, *rest: x + _layer()(x, *rest), says["residual"]),
        (lambda *case: _layer()(*case[:-1], case[0].shape[-1] // case[-1]), says["heads_and_width"]),
        *((lambda *case, n=n: _layer()(*case[:-1], n), says["written_in"].format(n=n)) for n in (2, 3, 4)),
    ]
    ready_made = {"multi_head_attention_forward", "_native_multi_head_attention"}, says["ready_made"]
    return by_cases(answer, _layer(), cases, mistakes, ready_made=ready_made)


def _rest(weights: Tensor, j: int) -> Tensor:
    weights = weights.clone()
    weights[:, j] = 0
    return weights


def _kept(weights: Tensor, values: Tensor, j: int) -> Tensor:
    rest = _rest(weights, j)
    return rest / rest.sum(-1, keepdim=True) @ values


def _moved(new: Callable) -> Callable:
    """Return how far outputs ``new(weights, values, j)`` are from the old ones."""
    return lambda w, v, j: (w @ v - new(w, v, j)).norm(dim=-1)


def _by_columns(weights: Tensor, values: Tensor, j: int) -> Tensor:
    others = torch.arange(len(values)) != j
    return weights[:, others] / weights[:, others].sum(0) @ values[others]


def _per_query(answer: object, says: dict[str, str]) -> Tensor:
    """Read a length for each query, and name the two mistakes that end in NaN."""
    got = numbers(answer)
    if got.isnan().all():
        raise AnswerError(says["by_zero"])
    if got.isnan().any():
        raise AnswerError(says["row_by_zero"])
    return got.squeeze(-1) if got.ndim == 2 else got


def effect(answer: object, says: dict[str, str]) -> str | None:
    """Grade how far the output moves when a key is removed and the other weights fill the gap."""
    cases = [
        (normal(T, S, seed=0).softmax(-1), normal(S, D, seed=1), j)
        for T, S, D, j in ((5, 4, 3, 2), (3, 7, 2, 0), (2, 3, 11, 1))
    ]
    mistakes = [
        (_moved(lambda w, v, j: _rest(w, j) @ v), says["not_refilled"]),
        (_moved(_by_columns), says["sums_of_columns"]),
        (_moved(lambda w, v, j: _rest(w.T, j).T @ v), says["row_cleared"]),
        (lambda w, v, j: _kept(w, v, j).norm(dim=-1), says["length_of_new"]),
        (_kept, says["new_output"]),
        (lambda w, v, j: w @ v - _kept(w, v, j), says["difference"]),
        (lambda w, v, j: _moved(_kept)(w, v, j) ** 2, says["squared"]),
        (lambda w, v, j: (w @ v - _kept(w, v, j)).abs().sum(-1), says["absolute"]),
        (lambda w, v, j: w[:, j] * (v[j] - w @ v).norm(dim=-1), says["no_factor"]),
        (lambda w, v, j: w[:, j], says["weight"]),
        (lambda w, v, j: w[:, j] / (1 - w[:, j]), says["factor_alone"]),
        (lambda w, v, j: (v[j] - w @ v).norm(dim=-1) / (1 - w[:, j]), says["no_weight"]),
        (lambda w, v, j: (w @ v - _kept(w, v, j)).norm(), says["one_length"]),
        (_moved(lambda w, v, j: _rest(w, j).softmax(-1) @ v), says["softmax"]),
    ]
    return by_cases(answer, _moved(_kept), cases, mistakes, read=partial(_per_query, says=says))


def previous(answer: object, says: dict[str, str]) -> str | None:
    """Grade the matrix with which every position attends to the one before."""
    for T in (4, 7, 13, 128):
        w_q = numbers(call(answer, T))
        if w_q.shape != (T, T):
            return says["shape"].format(T=T, shape=tuple(w_q.shape))
        weights = (w_q / T**0.5).softmax(-1)  # positions are one-hot, so row i is the query of position i
        if weights.isnan().any():
            return says["not_finite"]
        found, most, positions = weights.diagonal(-1), weights.argmax(-1), torch.arange(1, T)
        if found.min() >= 0.99 - 1e-6:  # what makes it just 0.99 is right, rounded too
            continue
        seen = weights > weights.amax(-1, keepdim=True) - 1e-6  # several, if they get the same weight
        alone = seen.sum(-1) == 1
        if (weights.diagonal(1).min() >= 0.5) or ((most[:-1] == positions) & alone[:-1]).all():
            return says["at_next"]
        if ((most[1:] == positions) & alone[1:]).all():
            return says["at_itself"]
        right = (most[1:] == positions - 1) & alone[1:]
        if right.all():
            return says["not_firmly"].format(T=T, least=math.floor(found.min().item() * 1e4) / 1e4)
        off = int(positions[~right][0])
        if not alone[off]:
            alike = ", ".join(str(n) for n in range(T) if seen[off, n])
            return says["alike"].format(T=T, at=off, seen=alike, before=off - 1)
        return says["elsewhere"].format(T=T, at=off, seen=int(most[off]), before=off - 1)
    return None


MATRICES = "w_q", "w_k", "w_v", "w_o"
PAIRS = torch.tensor([(a, b) for a in range(4) for b in range(4) if a != b])  # the 12 questions
AGES = torch.cartesian_prod(*[torch.arange(4)] * 4)  # of the four children, (256, 4)
THERE = torch.stack([torch.ones(12, 4).bool(), one_hot(PAIRS, 4).sum(1).bool()])  # all, or who is asked for


def _four_matrices(answer: object, says: dict[str, str]) -> Tensor:
    """Read w_q, w_k, w_v and w_o, (4, 8, 8).

    Raises:
        AnswerError: If they have another form.
    """
    if isinstance(answer, Mapping) and set(answer) == set(MATRICES):
        answer = [answer[name] for name in MATRICES]
    if not isinstance(answer, (list, tuple, Tensor, np.ndarray)) or len(answer) != 4:
        raise AnswerError(says["not_four"])
    matrices = [numbers(one) for one in answer]
    for name, w in zip(MATRICES, matrices, strict=True):
        if w.shape != (8, 8):
            raise AnswerError(says["shape"].format(name=name, shape=tuple(w.shape)))
        if not w.isfinite().all():
            raise AnswerError(says["not_finite"].format(name=name))
    return torch.stack(matrices)


def _ask_two_heads(matrices: Sequence[Tensor], scale: float = 0.5) -> tuple[Tensor, Tensor]:
    """Ask all families all questions: what the layer returns, (2, 256, 12, 8); weights (2, 256, 12, 2, 4)."""
    w_q, w_k, w_v, w_o = matrices
    children = torch.cat([torch.eye(4).expand(256, 4, 4), one_hot(AGES, 4)], -1).double()
    q = (one_hot(PAIRS, 4).flatten(1).double() @ w_q).unflatten(-1, (2, 4))  # (12, 2, 4)
    k, v = ((children @ w).unflatten(-1, (2, 4)) for w in (w_k, w_v))  # (256, 4, 2, 4)
    scores = torch.einsum("qhd,fshd->fqhs", q, k) * scale
    weights = scores.masked_fill(~THERE[:, None, :, None], -torch.inf).softmax(-1)
    return torch.einsum("pfqhs,fshd->pfqhd", weights, v).flatten(-2) @ w_o, weights


def _other_halves(first: Tensor, second: Tensor, says: dict[str, str]) -> list[tuple[Tensor, str]]:
    """Return what known mistakes make of the two halves of the output, each with its words."""
    none, middle, both = torch.zeros_like(first), (first + second) / 2, first + second
    first_name, second_name = one_hot(PAIRS, 4).double().expand(256, 12, 2, 4).unbind(-2)
    shares = THERE.double() / THERE.sum(-1, keepdim=True)
    even = torch.einsum("pqs,fsa->pfqa", shares, one_hot(AGES, 4).double())
    halves = [
        (first_name, second_name, says["names"]),
        (first_name, second, says["name_first"]),
        (first, second_name, says["name_second"]),
        (second, first, says["swapped"]),
        (first, first, says["first_twice"]),
        (second, second, says["second_twice"]),
        (first, none, says["second_empty"]),
        (none, second, says["first_empty"]),
        (second, none, says["only_second"]),
        (none, first, says["only_first"]),
        (middle, middle, says["mean"]),
        (both, both, says["added_up"]),
        (both, none, says["both_in_first"]),
        (none, both, says["both_in_second"]),
        (none, none, says["zeros"]),
        (even, even, says["even"]),
    ]
    return [(torch.cat([a, b], -1), words) for a, b, words in halves]


def _what_two_heads_attend_to(out: Tensor, weights: Tensor, right: Tensor, says: dict[str, str]) -> str:
    """Say what is wrong with the weights of two heads; if nothing is, that it lies in what they bring."""
    if (weights - weights[:, :1]).abs().max() > 1e-3:
        return says["ages_in_keys"]
    weights = weights[0, 0]  # (12, 2, 4), with all four children
    on = torch.stack([weights[range(12), :, PAIRS[:, n]] for n in (0, 1)])  # (2 asked for, 12, 2 heads)
    most, next_most = weights.topk(2).values.unbind(-1)
    there = (on >= most) & (most > next_most + 1e-6)  # whether a head gives most of its weight there
    attended = there.all(1)  # (2 asked for, 2 heads): in all questions
    for n, words in enumerate((says["both_at_first"], says["both_at_second"])):
        if attended[n].all() and not attended[1 - n].any():
            return words
    if not (attended.any(0).all() and attended.any(1).all()):
        astray = ~(there.any(0).all(-1) & there.any(-1).all(0))  # (12,)
        if not astray.any():
            return says["jobs_exchanged"]
        n = int(astray.int().argmax())
        (a, b), (c, d) = weights[n][:, PAIRS[n]].tolist()
        names = dict(zip(("first", "second"), (PAIRS[n] + 1).tolist(), strict=True))
        return says["not_one_at_each"].format(a=a, b=b, c=c, d=d, **names)
    least = on.amax(0).min().item()
    if least < 0.95:
        return says["not_firmly"].format(least=least)
    if (out.unflatten(-1, (2, 4)).argmax(-1) == right.unflatten(-1, (2, 4)).argmax(-1)).all():
        return says["not_one_and_zeros"]
    return says["not_brought"]


def both_ages(answer: object, says: dict[str, str]) -> str | None:
    """Grade the matrices of two heads that look two ages up at once."""
    w_q, w_k, w_v, w_o = matrices = _four_matrices(answer, says)
    out, weights = _ask_two_heads(matrices)
    first, second = (one_hot(AGES, 4).double()[:, PAIRS[:, n]] for n in (0, 1))  # (256, 12, 4)
    right = torch.cat([first, second], -1)

    def gives(found: Tensor, other: Tensor) -> bool:
        return bool((found - other).abs().max() <= 0.05)

    def is_right(matrices: Sequence[Tensor], scale: float = 0.5) -> bool:
        return gives(_ask_two_heads(matrices, scale)[0], right)

    if gives(out, right):
        return None
    if not out.isfinite().all():
        return says["overflow"]
    for wrong, words in _other_halves(first, second, says):
        if gives(out, wrong):
            return words
    if is_right(matrices.mT):
        return says["all_transposed"]
    for n, name in enumerate(MATRICES):
        if is_right([w.T if n == m else w for m, w in enumerate(matrices)]):
            return says["one_transposed"].format(name=name)
    if is_right([-w_q, w_k, w_v, w_o]):
        return says["sign"]
    dealt = torch.arange(8).reshape(4, 2).T.flatten()  # as if head 1 had every second column
    if is_right([w_q[:, dealt], w_k[:, dealt], w_v[:, dealt], w_o[dealt]]):
        return says["dealt"]
    if is_right(matrices, scale=1.0):
        return says["not_scaled"]
    return _what_two_heads_attend_to(out, weights, right, says)


def _columns(order: tuple[int, ...] = (0, 1, 2), in_turn: bool = False) -> Callable:
    """Return how a machine takes its columns of queries, keys and values."""

    def cut(w_qkv: Tensor, H: int, n: int, r: int) -> list[Tensor]:
        three = w_qkv.chunk(3, dim=1)
        return [three[part][:, r::n] if in_turn else three[part].chunk(n, dim=1)[r] for part in order]

    return cut


_own = _columns()


def _straight(w_qkv: Tensor, H: int, n: int, r: int) -> tuple[Tensor, ...]:
    return w_qkv.chunk(n, dim=1)[r].chunk(3, dim=1)


def _head_by_head(w_qkv: Tensor, H: int, n: int, r: int) -> list[Tensor]:
    mine = w_qkv.unflatten(1, (H, 3, -1)).chunk(n, dim=1)[r]  # (C, H / n, 3, D)
    return [mine[:, :, part].flatten(1) for part in range(3)]


def _machines(
    cut: Callable = _own,
    heads: Callable = lambda H, n: H // n,
    rows: Callable = lambda w_o, n, r: w_o.chunk(n)[r],
    mix: Callable = lambda q, k, v, C, n: attention(q, k, v),
    take: Callable = _heads,
    flat: Callable = _merged,
) -> Callable:
    """Return what n machines send that share a layer, (n, B, T, C) and without the bias, with a mistake."""

    def send(x: Tensor, w_qkv: Tensor, w_o: Tensor, b_o: Tensor, H: int, n: int) -> Tensor:
        parts = []
        for r in range(n):
            q, k, v = (take(x @ w, heads(H, n)) for w in cut(w_qkv, H, n, r))
            parts.append(flat(mix(q, k, v, x.shape[-1], n)) @ rows(w_o, n, r))
        return torch.stack(parts)

    return send


def _heads_in_turn(x: Tensor, w_qkv: Tensor, w_o: Tensor, b_o: Tensor, H: int, n: int) -> Tensor:
    order = torch.arange(H).reshape(-1, n).T.flatten()
    w_qkv = w_qkv.unflatten(1, (3, H, -1))[:, :, order].flatten(1)
    return _machines()(x, w_qkv, w_o.unflatten(0, (H, -1))[order].flatten(0, 1), b_o, H, n)


def _over(width: Callable) -> Callable:
    """Return attention whose scores are divided by the root of ``width(D, C, n)``."""
    return lambda q, k, v, C, n: attention(q, k, v, scale=width(q.shape[-1], C, n) ** -0.5)


def machines(answer: object, says: dict[str, str]) -> str | None:
    """Grade the repair of a layer whose heads are shared out among machines."""
    answer, cases = listed(answer), []
    for B, T, H, n, D in ((3, 5, 8, 2, 6), (2, 7, 12, 3, 3), (5, 3, 3, 1, 11), (2, 3, 5, 5, 7)):
        C = H * D
        w_qkv, w_o = normal(C, 3 * C, seed=1) * 2 / C**0.5, normal(C, C, seed=2) / C**0.5
        cases.append((normal(B, T, C, seed=0), w_qkv, w_o, torch.zeros(C), H, n))
    right, as_planted = _machines(), _machines(_straight, lambda H, n: H)
    whole = _machines(lambda w, H, n, r: w.chunk(3, dim=1), lambda H, n: H, lambda w, n, r: w)
    mistakes = [
        (as_planted, says["unchanged"]),
        (_machines(_straight), says["only_heads_right"].format(straight=says["straight"])),
        (_machines(heads=lambda H, n: H), says["only_columns_right"]),
        (_machines(heads=lambda H, n: n), says["n_heads"]),
        (_machines(heads=lambda H, n: 1), says["one_head"]),
        (_machines(_straight, lambda H, n: 1), says["straight"]),
        (_machines(_straight, lambda H, n: n), says["straight"]),
        (_machines(_head_by_head), says["head_by_head"]),
        (_machines(_columns(in_turn=True)), says["columns_in_turn"]),
        (_machines(_columns(in_turn=True), rows=lambda w, n, r: w[r::n]), says["both_in_turn"]),
        (_machines(rows=lambda w, n, r: w[r::n]), says["rows_in_turn"]),
        (_machines(_straight, rows=lambda w, n, r: w[r::n]), says["straight"]),
        (_heads_in_turn, says["heads_in_turn"]),
        (_machines(rows=lambda w, n, r: torch.eye(len(w)).chunk(n)[r]), says["no_w_o"]),
        (lambda *a: right(*a).cumsum(0), says["sums_so_far"]),
        (lambda *a: right(*a)[:1].expand(a[-1], -1, -1, -1), says["all_send_first"]),
        (_machines(rows=lambda w, n, r: w.chunk(n)[0]), says["first_rows"]),
        (_machines(rows=lambda w, n, r: w.T.chunk(n)[r]), says["columns_of_w_o"]),
        (_machines(lambda w, H, n, r: _own(w, H, n, 0)), says["first_heads"]),
        (_machines(lambda w, H, n, r: _own(w, H, n, n - 1 - r)), says["backwards"]),
        (lambda *a: right(*a).flip(0), says["backwards"]),
        (_machines(_columns((1, 0, 2))), says["keys_as_queries"]),
        (_machines(_columns((0, 2, 1))), says["values_as_keys"]),
        (_machines(_columns((0, 1, 1))), says["keys_mixed"]),
        (_machines(take=_viewed), says["tokens_dealt"]),
        (_machines(take=_viewed, flat=_flattened), says["tokens_dealt"]),
        (_machines(_straight, take=_viewed), says["tokens_dealt"]),
        (_machines(mix=lambda q, k, v, C, n: attention_scores(q, k).softmax(-2) @ v), says["over_queries"]),
        (_machines(flat=_flattened), says["not_swapped"]),
        (_machines(_straight, flat=_flattened), says["not_swapped"]),
        (_machines(mix=_over(lambda D, C, n: C)), says["by_root_of_c"]),
        (_machines(mix=_over(lambda D, C, n: C / n)), says["by_root_of_machine"]),
        (_machines(mix=_over(lambda D, C, n: D / n)), says["n_under_root"]),
        (_machines(mix=_over(lambda D, C, n: D * n)), says["n_under_root"]),
        (_machines(mix=_over(lambda D, C, n: 1)), says["not_divided"]),
        (lambda *a: right(*a).sum(0), says["sum"]),
        (lambda *a: right(*a).sum(0, keepdim=True), says["sum"]),
        (lambda *a: right(*a).mean(0), says["mean"]),
        (lambda *a: right(*a).transpose(0, 1), says["not_first_axis"]),
        (lambda *a: right(*a).flatten(0, 1), says["cat"]),
        (lambda *a: right(*a) / a[-1], says["parts_divided"]),
        (whole, says["all_heads"]),
        (lambda *a: whole(*a) / a[-1], says["all_heads_divided"]),
    ]
    words = by_cases(answer, right, cases, mistakes)
    if words == says["unchanged"] and _bias_once(answer, as_planted, cases[:3], says) is None:
        return says["only_bias_right"]
    return words or _bias_once(answer, right, cases, says)


def _bias_once(answer: Callable, right: Callable, cases: list[tuple], says: dict[str, str]) -> str | None:
    """Say whether the bias is once in the sum of what the machines send, on whichever it is."""
    for x, w_qkv, w_o, none, H, n in cases:
        b_o = normal(len(none), seed=3)
        sent = numbers(call(answer, *(part.clone() for part in (x, w_qkv, w_o, b_o)), H, n))
        found = (sent - numbers(right(x, w_qkv, w_o, none, H, n))).sum(0)  # (B, T, C)
        once = numbers(b_o).expand_as(found)
        known = [
            (n * once, says["bias_from_each"].format(n=n)),
            (0 * once, says["no_bias"]),
            (once / n, says["part_of_bias"]),
            (-once, says["bias_subtracted"]),
            ((n - 1) * once, says["bias_too_often"].format(times=n - 1)),
        ]
        if not close(found, once):
            return next((words for wrong, words in known if close(found, wrong)), says["bias"])
    return None
