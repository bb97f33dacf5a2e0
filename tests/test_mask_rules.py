"""Rules say what the tables of `attnlib.masks` say, single numbers and facts joined."""

import itertools

import pytest
import torch

from attnlib import (
    MaskRule,
    attention,
    causal_mask,
    document_mask,
    mask_rules,
    padding_mask,
    prefix_mask,
    sliding_window_mask,
)
from attnlib.backends.varlen import document_pieces
from attnlib.mask_rules import CAUSAL
from tests import DEVICE, assert_close, randn

RULES = {
    "nothing": {},
    "causal": {"causal": True},
    "window": {"causal": True, "window": 3},
    "window ahead": {"window": 2, "ahead": 1},
    "ahead": {"ahead": 2},
    "window behind": {"window": 3},
    "prefix": {"causal": True, "prefix": 2},
    "window and prefix": {"causal": True, "window": 2, "prefix": 1},
    "one row of documents": {"documents": 1},
    "documents": {"causal": True, "documents": 2},
    "documents in no order": {"documents": 3},
    "lengths": {"lengths": True},
    "everything": {"causal": True, "window": 4, "prefix": 1, "documents": 2, "lengths": True},
}


def some_rule(name, S, B=2):
    facts = dict(RULES[name])
    kind = facts.pop("documents", None)
    g = torch.Generator().manual_seed(S)
    if kind is not None:
        rows = torch.randint(0, 3, (S,) if kind == 1 else (B, S), generator=g)
        facts["documents"] = (rows if kind == 3 else rows.sort(-1)[0]).to(DEVICE)
    if facts.pop("lengths", False):
        facts["lengths"] = torch.randint(0, S + 1, (B,), generator=g).to(DEVICE)
    return MaskRule(**facts)


def by_numbers(rule, B, T, S):
    """The table, number by number, from the sentences of the docstring."""
    lag = S - T
    rows = torch.zeros(B, 1, T, S, dtype=torch.bool)
    for b, t, j in itertools.product(range(B), range(T), range(S)):
        i = t + lag
        seen = (not rule.causal or j <= i) and (rule.window is None or i - j < rule.window)
        seen = seen and (rule.ahead is None or j - i <= rule.ahead)
        seen = seen or j < rule.prefix
        if rule.documents is not None:
            own = rule.documents if rule.documents.ndim == 1 else rule.documents[b]
            seen = seen and i >= 0 and bool(own[i] == own[j])
        if rule.lengths is not None:
            seen = seen and j < int(rule.lengths[b])
        rows[b, 0, t, j] = seen and all(bool(by_numbers(r, B, T, S)[b, 0, t, j]) for r in rule.also)
    return rows


@pytest.mark.parametrize("lengths", [(5, 5), (3, 5), (5, 3), (1, 4), (0, 3), (3, 0)])
@pytest.mark.parametrize("name", RULES)
def test_a_table_says_what_the_facts_say(name, lengths):
    T, S = lengths
    rule = some_rule(name, S)
    assert_close(rule.table(T, S, device=DEVICE).expand(2, 1, T, S), by_numbers(rule, 2, T, S))


def test_the_rules_of_the_docstring_are_the_masks_they_name():
    T, lengths = 7, torch.tensor([3, 7])
    documents = torch.tensor([[0, 0, 1, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1, 1]])
    for rule, mask in (
        (MaskRule(causal=True), causal_mask(T)),
        (MaskRule(causal=True, window=3), sliding_window_mask(T, window=3)),
        (MaskRule(window=3, ahead=2), sliding_window_mask(T, window=3, ahead=2)),
        (MaskRule(causal=True, prefix=3), prefix_mask(T, prefix=3)),
        (MaskRule(causal=True, documents=documents), document_mask(documents) & causal_mask(T)),
        (MaskRule(lengths=lengths), padding_mask(lengths, T)),
        (MaskRule(lengths=[3, 7]), padding_mask(lengths, T)),
    ):
        assert torch.equal(rule.table(T), mask.expand_as(rule.table(T)))


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations_with_replacement(RULES, 2)))
def test_joined_rules_say_both(one, other):
    first, second = some_rule(one, 6), some_rule(other, 6)
    if one == other and first.documents is not None:
        second = MaskRule(documents=second.documents.flip(-1), lengths=second.lengths, window=2)
    joined = first & second
    tables = (rule.table(6, device=DEVICE) for rule in (first, second))
    want = torch.ones(2, 1, 6, 6, dtype=torch.bool, device=DEVICE)
    for table in tables:
        want = want & table
    assert_close(joined.table(6, device=DEVICE).expand(2, 1, 6, 6), want)
    again = joined & joined
    assert_close(again.table(6, device=DEVICE).expand(2, 1, 6, 6), want)


@pytest.mark.parametrize("name", RULES)
def test_what_lies_outside_the_range_of_a_block_is_seen_by_none_of_it(name):
    for joined in (False, True):
        T, S = 5, 7
        rule = some_rule(name, S)
        rule = rule & MaskRule(causal=True, window=3, prefix=1) if joined else rule
        table = rule.table(T, S, device=DEVICE).expand(2, 1, T, S).any(0)[0]
        for first, last in itertools.combinations(range(T + 1), 2):
            seen = table[first:last].any(0)
            start, end = rule.keys_of(first + 2, last + 2, S)
            assert not seen[:start].any()
            assert not seen[end:].any()
            near = torch.zeros_like(seen)
            for a, b in rule.spans(first + 2, last + 2, S):
                assert a < b
                near[a:b] = True
            assert not (seen & ~near).any()
            if name in ("causal", "window", "window ahead", "ahead", "window behind") and not joined:
                assert seen[start:end].all()  # no wider than it must be


def test_a_block_of_documents_reads_its_own():
    rule = MaskRule(documents=torch.tensor([0, 0, 1, 1, 1, 2]))
    assert [rule.keys_of(i, i + 1, 6) for i in (0, 2, 5)] == [(0, 2), (2, 5), (5, 6)]
    assert rule.keys_of(1, 3, 6) == (0, 5)


@pytest.mark.filterwarnings("ignore:.*flex_attention called without torch.compile:UserWarning")
@pytest.mark.parametrize("lengths", [(8, 8), (4, 8)])
@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_a_mask_mod_of_flex_attention(name, lengths):
    from torch.nn.attention.flex_attention import create_mask

    T, S = lengths
    rule = some_rule(name, S)
    mask = create_mask(rule.mask_mod(T, S), 2, 3, T, S, device=DEVICE.type)
    assert_close(mask, rule.table(T, S, device=DEVICE).expand(2, 3, T, S))


def test_it_prints_what_was_said():
    assert repr(MaskRule(causal=True, window=3)) == "MaskRule(causal=True, window=3)"
    assert repr(MaskRule(lengths=torch.tensor([3, 4]))) == "MaskRule(lengths=(2,))"
    assert repr(MaskRule()) == "MaskRule()"


def test_only_a_plain_causal_rule_is_one():
    assert CAUSAL.only_causal
    assert (CAUSAL & CAUSAL).only_causal
    for other in ({"window": 3}, {"ahead": 1}, {"prefix": 1}, {"lengths": [1]}, {"documents": [1]}):
        assert not MaskRule(causal=True, **other).only_causal
    assert not MaskRule().only_causal
    assert not MaskRule(causal=True, also=(CAUSAL,)).only_causal


@pytest.mark.parametrize(
    ("facts", "error", "message"),
    [
        ({"causal": 1}, TypeError, "causal must be True or False, got int"),
        ({"window": 0}, ValueError, "window must be at least 1, got 0"),
        ({"window": 2.0}, TypeError, "window must be an int, got float (2.0)"),
        ({"ahead": -1}, ValueError, "ahead must be at least 0, got -1"),
        ({"prefix": -1}, ValueError, "prefix must be at least 0, got -1"),
        ({"prefix": True}, TypeError, "prefix must be an int, got bool (True)"),
        ({"lengths": [1.0]}, TypeError, "lengths must be whole numbers, got torch.float32"),
        ({"lengths": [[1]]}, ValueError, "lengths must have one axis (B,), got shape (1, 1)"),
        ({"documents": torch.zeros(2)}, TypeError, "documents must be whole numbers, got torch.float32"),
        (
            {"documents": torch.zeros(1, 1, 1).int()},
            ValueError,
            "documents must have the shape (S,) or (B, S), got shape (1, 1, 1)",
        ),
    ],
)
def test_bad_facts_get_this_message(facts, error, message):
    with pytest.raises(error) as caught:
        MaskRule(**facts)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"documents": [0, 1]}, "documents must name one for each of S = 5 keys, got shape (2,)"),
        ({"lengths": [1, 6]}, "lengths must lie between 0 and S = 5, got [1, 6]"),
        ({"lengths": [-1, 2]}, "lengths must lie between 0 and S = 5, got [-1, 2]"),
        ({"lengths": [1, 2, 3]}, "a rule for B = 3 sequences must fit scores (B, H, T, S), got scores (2, 3, 4, 5)"),
    ],
)  # fmt: skip
def test_a_rule_that_does_not_fit_gets_this_message(facts, message):
    rule = MaskRule(**{name: torch.tensor(x, device=DEVICE) for name, x in facts.items()})
    q, k = randn(2, 3, 4, 6), randn(2, 3, 5, 6)
    with pytest.raises(ValueError) as caught:
        attention(q, k, k, rule)
    assert str(caught.value) == message


def test_lengths_are_looked_at_once_and_again_when_they_change(monkeypatch):
    looks = []
    monkeypatch.setattr(mask_rules, "truth", lambda x: looks.append(x) or bool(x))
    rule = MaskRule(lengths=torch.tensor([2, 5], device=DEVICE))
    for S, found in ((5, 1), (5, 1), (6, 2), (6, 2), (5, 3)):
        rule.check(S)
        assert len(looks) == found
    rule.lengths[0] = 6
    for _ in range(2):
        with pytest.raises(ValueError, match="lengths must lie between 0 and S = 5"):
            rule.check(5)
    assert len(looks) == 5


def test_what_was_made_in_inference_mode_is_looked_at_each_time():
    with torch.inference_mode():
        lengths, documents = torch.tensor([2, 5], device=DEVICE), torch.tensor([0, 1, 1], device=DEVICE)
        rule = MaskRule(lengths=lengths)
        rule.check(5)
        lengths[0] = 6
        with pytest.raises(ValueError, match="lengths must lie between 0 and S = 5"):
            rule.check(5)
        assert document_pieces(documents).q.tolist() == [0, 1, 3]
        documents[1] = 0
        assert document_pieces(documents).q.tolist() == [0, 2, 3]


def test_one_row_of_documents_or_one_length_is_for_every_sequence():
    documents, lengths = torch.tensor([[0, 0, 1, 1]], device=DEVICE), torch.tensor([4, 2, 3], device=DEVICE)
    q = randn(3, 2, 4, 6)
    for rule in (
        MaskRule(documents=documents, lengths=lengths),
        MaskRule(lengths=lengths) & MaskRule(documents=documents),
        MaskRule(documents=documents) & MaskRule(lengths=lengths),
        MaskRule(documents=documents[0]) & MaskRule(lengths=lengths),
    ):
        want = document_mask(documents) & padding_mask(lengths, 4)
        assert_close(rule.table(4), want)
        assert_close(attention(q, q, q, rule), attention(q, q, q, want))
    short = MaskRule(lengths=torch.tensor([3], device=DEVICE))
    assert_close(attention(q, q, q, short), attention(q, q, q, padding_mask([3, 3, 3], 4).to(DEVICE)))
    assert short(2, 0, 0, torch.arange(4, device=DEVICE)).tolist() == [True, True, True, False]
    none = MaskRule(lengths=lengths[:0], documents=documents)
    assert none.table(4).shape == (0, 1, 4, 4)


def test_a_rule_for_two_numbers_of_sequences_gets_this_message():
    rule = MaskRule(documents=torch.zeros(2, 4).long()) & MaskRule(lengths=torch.tensor([1, 2, 3]))
    said = r"documents and lengths of one rule must be for as many sequences, got \[2, 3\]"
    with pytest.raises(ValueError, match=said):
        rule.table(4)


def test_rules_join_rules_only():
    with pytest.raises(
        TypeError, match=r"& joins rules, got Tensor; with a mask write rule.table\(T, S\) & mask"
    ):
        MaskRule(causal=True) & causal_mask(3)


def test_a_rule_elsewhere_gets_this_message():
    q = randn(2, 3, 4, 6)
    with pytest.raises(ValueError, match="a rule's documents and lengths must be on the device of q"):
        attention(q, q, q, MaskRule(lengths=torch.tensor([1, 2], device="meta")))
