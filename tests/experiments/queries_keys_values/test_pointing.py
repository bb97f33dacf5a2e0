import pytest

from attnlib.experiments.queries_keys_values.pointing import train_pointing

CIRCLE = [1, 2, 0]


@pytest.mark.parametrize("tied", [False, True])
def test_a_circle_is_learned_with_two_projections_and_not_with_one(tied):
    run = train_pointing(CIRCLE, tied=tied, seed=0, steps=200)
    assert (run.weights.argmax(-1).tolist() == CIRCLE) is not tied
    assert len(run.losses) == 200


def test_tied_things_on_a_line_grow():
    run = train_pointing([1, 2, 2], tied=True, seed=0)
    assert run.weights.argmax(-1).tolist() == [1, 2, 2]
    assert (run.lengths.diff() > 0).all()
