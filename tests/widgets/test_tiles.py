import math

import pytest
import torch

from attnlib import attention
from attnlib.widgets import TileStepper


@pytest.mark.parametrize("size", [1, 2, 3, 6])
def test_tile_by_tile_gives_attentions_answer(size):
    stepper = TileStepper(size=size)
    q, k = (torch.tensor(x, dtype=torch.float64) for x in (stepper.q, stepper.k))
    expected = attention(q, k, torch.tensor(stepper.v, dtype=torch.float64)[:, None])[:, 0]
    across = 6 // size
    for step in range(across**2 + 1):
        stepper.step = step
        done = torch.tensor(stepper.numbers()["done"], dtype=torch.float64)
        assert len(done) == step // across * size
        torch.testing.assert_close(done, expected[: len(done)])
    assert stepper.numbers()["moved"] == stepper.numbers()["end"]


def test_what_a_tile_needs_and_what_it_repairs_by_hand():
    stepper = TileStepper()
    assert repr(stepper) == "TileStepper(step=3, size=2)"
    numbers = stepper.numbers()
    assert numbers["m"] == pytest.approx([math.sqrt(2), 2 * math.sqrt(2)])
    assert numbers["shrink"] == pytest.approx([1, math.exp(-math.sqrt(2))])
    # a tile of 4, two queries and keys of two numbers, two values, and m, l, o for two queries
    assert numbers["held"] == 4 + 4 + 4 + 2 + 6
    assert (numbers["moved"], numbers["end"]) == (4 + 3 * 6 + 2, 12 + 3 * 18 + 6)
    assert TileStepper(step=0).numbers()["held"] == 0


def test_tiles_that_do_not_divide_the_table_are_refused():
    with pytest.raises(ValueError, match=r"size must be one of \(1, 2, 3, 6\), got 4"):
        TileStepper(size=4).numbers()
    with pytest.raises(ValueError, match="step must be from 0 to 4, the tiles of size 3, got 5"):
        TileStepper(size=3, step=5).numbers()
