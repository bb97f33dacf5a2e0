import pytest
import torch

from attnlib.experiments.glove import WordVectors
from attnlib.experiments.putting_it_together import two_layers
from attnlib.experiments.putting_it_together.two_layers import Lesson, load_two_layers, long_vectors, stored
from attnlib.experiments.tasks import pronoun_sentences


@pytest.fixture(scope="module")
def glove():
    return WordVectors.glove()


@pytest.fixture(scope="module")
def lesson(glove):
    return Lesson(glove)


def test_the_weights_shown_are_those_that_make_the_output(glove):
    torch.manual_seed(0)
    model, x = two_layers.TwoLayers(), long_vectors(glove, two_layers.WATCHED[0].split())
    p, weights = x + model.position[: len(x)], model.weights(x)
    assert weights.shape == (2, 11, 11)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 11))
    assert not weights.triu(1).any()
    hidden = p + weights[0] @ (p @ model.w_v1)
    torch.testing.assert_close(model.first(x), hidden, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(model(x), weights[1, -1] @ x, rtol=1e-4, atol=1e-5)


def test_another_vector_of_meaning_changes_the_last_row_of_the_second_layer_alone(glove):
    model = load_two_layers().float()
    x, other = (long_vectors(glove, line.split()) for line in two_layers.WATCHED)
    hidden = model.first(x)
    hidden[-1] = model.first(other)[-1]
    before, after = model.weights(x), model.weights(x, hidden)
    assert torch.equal(before[0], after[0])
    assert torch.equal(before[1, :-1], after[1, :-1])
    assert (before[1, -1, 0] > 0.9) and (after[1, -1, 5] > 0.9)  # noqa: PT018 (Michael, then David)


def test_the_lesson_is_that_of_the_page(lesson):
    assert len(lesson.used) == 66
    assert lesson.used == stored()["used"]
    assert sum(len(told) for told, _ in lesson.tables) == 1500
    assert [told.shape[1] for told, _ in lesson.tables] == [11, 12, 14]
    torch.testing.assert_close(lesson.known.norm(dim=-1), torch.full((66,), 4.0))


def test_the_stored_snapshots_are_those_of_the_training(glove, lesson):
    """Twelve steps: by then another machine's rounding has moved nothing that thousandths show."""
    found = {}

    def watch(step, model):
        found[str(step)] = two_layers.snapshot(model, lesson, glove)

    two_layers.train_two_layers(lesson, steps=12, watch=watch)
    for step in ("0", "6", "12"):
        for name in ("loss", "rows", "chances"):
            again, kept = torch.tensor(found[step][name]), torch.tensor(stored()["snapshots"][step][name])
            assert (again - kept).abs().max() <= 5, (step, name)


def test_the_stored_model_is_where_its_training_ended(glove, lesson):
    kept = stored()
    assert list(kept["snapshots"]) == [str(step) for step in range(0, 151, 2)]
    again = two_layers.snapshot(load_two_layers().float(), lesson, glove)
    for name in ("loss", "rows", "chances"):  # weights in half precision
        last = kept["snapshots"]["150"][name]
        assert (torch.tensor(again[name]) - torch.tensor(last)).abs().max() <= 3, name


def test_every_stored_row_sums_to_one_but_for_rounding():
    for one in stored()["snapshots"].values():
        rows = torch.tensor(one["rows"])
        assert rows.shape == (2, 2, 11)
        assert ((rows.sum(-1) - 1000).abs() <= 6).all()
        assert (torch.tensor(one["chances"]).sum(-1) <= 1001).all()


def test_the_stored_model_writes_names_that_training_never_showed(glove):
    model, right = load_two_layers().float(), 0
    every = long_vectors(glove, glove.words)
    sentences = pronoun_sentences(100, twist=True, twins=True, unseen=True, seed=1)
    for s in sentences:
        average = model(long_vectors(glove, [*s.words, "meaning"]))
        right += glove.words[int((average @ every.T).argmax())] == s.words[s.answer]
    assert right >= 95
