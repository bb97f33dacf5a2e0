import pytest
import torch

from attnlib.experiments.tasks import (
    MISSING,
    recall,
    relation_masks,
    relations,
    several_lookups,
    spell,
    two_lookups,
)

KEYS, VALUES = 7, 5
SIZES = {"keys": KEYS, "values": VALUES}


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def test_recall_asks_for_a_key_that_came_and_answers_its_value():
    steps, answers = recall(200, 4, **SIZES, generator=seeded())
    assert steps.shape == (200, 5, 2)
    assert answers.shape == (200,)
    for sequence, answer in zip(steps.tolist(), answers.tolist(), strict=True):
        *pairs, (asked, mark) = sequence
        assert mark == VALUES
        assert len({key for key, _ in pairs}) == 4
        assert dict(pairs)[asked] == answer
    assert steps[:, :4, 0].unique().tolist() == list(range(KEYS))
    assert answers.unique().tolist() == list(range(VALUES))


def test_recall_asks_for_every_place():
    steps, _ = recall(200, 3, **SIZES, generator=seeded())
    place = (steps[:, :3, 0] == steps[:, 3:, 0]).int().argmax(-1)
    assert place.unique().tolist() == [0, 1, 2]


def test_two_lookups_ask_for_two_different_keys_in_order():
    steps, answers = two_lookups(200, 4, **SIZES, generator=seeded())
    assert steps.shape == (200, 5, 3)
    for sequence, answer in zip(steps.tolist(), answers.tolist(), strict=True):
        *pairs, (first, mark, second) = sequence
        assert mark == VALUES
        assert {blank for _, _, blank in pairs} == {KEYS}
        assert first != second
        known = {key: value for key, value, _ in pairs}
        assert [known[first], known[second]] == answer


@pytest.mark.parametrize("questions", [1, 2, 3, 4])
def test_several_lookups_ask_for_as_many_different_keys_in_order(questions):
    steps, answers = several_lookups(200, 4, questions, **SIZES, generator=seeded())
    assert steps.shape == (200, 5, 1 + questions)
    for sequence, answer in zip(steps.tolist(), answers.tolist(), strict=True):
        *pairs, (first, mark, *rest) = sequence
        assert mark == VALUES
        assert {tuple(blank) for _, _, *blank in pairs} == {(KEYS,) * (questions - 1)}
        assert len({first, *rest}) == questions
        known = {key: value for key, value, *_ in pairs}
        assert [known[key] for key in (first, *rest)] == answer


def test_two_lookups_are_several():
    for two, several in zip(
        two_lookups(9, 4, **SIZES, generator=seeded()),
        several_lookups(9, 4, 2, **SIZES, generator=seeded()),
        strict=True,
    ):
        assert torch.equal(two, several)


@pytest.mark.parametrize(
    ("questions", "said"),
    [(5, "questions must be at most the number of pairs, got 5 and 4"), (0, "questions must be")],
)
def test_more_questions_than_pairs_are_refused(questions, said):
    with pytest.raises(ValueError, match=said):
        several_lookups(9, 4, questions, **SIZES)


def test_relations_by_hand():
    keys = torch.tensor([[2, 0, 2, 2, 0]])
    masks = relation_masks(keys)
    pointed = {
        name: [row.index(True) if True in row else None for row in m[0, 0].tolist()]
        for name, m in masks.items()
    }
    assert pointed == {
        "previous": [None, 0, 1, 2, 3],
        "match": [None, None, 0, 2, 1],
        "first": [None, 0, 0, 0, 0],
    }
    assert all(mask.shape == (1, 1, 5, 5) for mask in masks.values())
    apart = relation_masks(keys, apart=True)  # of these tokens only the last has three different places
    for name, mask in masks.items():
        assert apart[name][0, 0].nonzero().tolist() == [[4, mask[0, 0, 4].int().argmax()]]


def test_targets_are_the_values_that_the_relations_point_at():
    steps, targets = relations(20, 9, keys=3, values=VALUES, generator=seeded())
    keys, values = steps.unbind(-1)
    for r, mask in enumerate(relation_masks(keys).values()):
        for b in range(20):
            for i in range(9):
                at = mask[b, 0, i].nonzero().flatten().tolist()
                assert len(at) <= 1
                assert targets[b, i, r] == (values[b, at[0]] if at else MISSING)


@pytest.mark.parametrize(
    "draw",
    [
        lambda g: recall(3, 4, generator=g),
        lambda g: two_lookups(3, 4, generator=g),
        lambda g: relations(3, 5, generator=g),
    ],
)
def test_the_same_seed_draws_the_same(draw):
    first, again, other = draw(seeded()), draw(seeded()), draw(seeded(1))
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first[0], other[0])


def test_spelling():
    assert spell(torch.tensor([[0, 3], [1, 7], [25, 0], [1, 10]])) == "a3 b7 z0 b?"
    assert spell(torch.tensor([[0, 3, 26], [1, 4, 26], [1, 5, 0]]), values=5) == "a3 b4 b?a"
    assert spell(torch.tensor([[26, 3]])) == "(26)3"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: recall(1, 8, **SIZES),
            "pairs must be at most the number of keys, which are distinct, got 8 and 7",
        ),
        (lambda: recall(0, 2), "batch_size must be at least 1, got 0"),
        (lambda: recall(1, 0), "pairs must be at least 1, got 0"),
        (lambda: two_lookups(1, 1), "pairs must be at least 2, got 1"),
        (lambda: relations(1, 0), "length must be at least 1, got 0"),
        (lambda: relations(1, 3, keys=0), "keys must be at least 1, got 0"),
    ],
)
def test_bad_input_gets_this_message(call, message):
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value) == message
