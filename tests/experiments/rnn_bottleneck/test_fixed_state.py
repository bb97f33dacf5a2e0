import pytest
import torch

from attnlib.experiments.rnn_bottleneck.fixed_state import (
    KEY_DIM,
    Store,
    Summary,
    best_answers,
    linear_line,
    lost,
    lower_bound,
    squared_error,
    stored,
    stored_fold,
    train_memory,
    with_positions,
)
from tests import assert_close

B, n, d = 5, 3, 2
MEMORIES = {
    "gru": lambda: Summary("gru", d, n),
    "lstm": lambda: Summary("lstm", d, n),
    "free": lambda: Summary("free", d, n),
    "store": lambda: Store(d, n),
}
memories = pytest.mark.parametrize("make", MEMORIES.values(), ids=MEMORIES)


def numbers(seed=0):
    return torch.randn(B, n, generator=torch.Generator().manual_seed(seed))


def test_each_number_stands_beside_its_position():
    x = numbers()
    steps = with_positions(x)
    assert steps.shape == (B, n, 1 + n)
    assert_close(steps[..., 0], x)
    assert_close(steps[3, :, 1:], torch.eye(n))


@memories
def test_what_is_kept_lies_between_minus_one_and_one(make):
    memory = make()
    kept = memory.keep(100 * numbers())
    assert kept.abs().max() <= 1
    assert kept.shape == ((B, n, KEY_DIM + d) if isinstance(memory, Store) else (B, 1, d))
    assert memory.give_back(kept).shape == (B, n)


@memories
def test_numbers_of_another_count_are_refused(make):
    with pytest.raises(ValueError, match=r"x must be \(B, n\) with n = 3, got \(5, 4\)"):
        make().keep(torch.zeros(B, n + 1))


@memories
def test_training_learns_and_leaves_the_callers_random_numbers(make):
    torch.manual_seed(0)
    memory = make()
    before = lost(memory, 0.1)
    state = torch.get_rng_state()
    assert train_memory(memory, 0.1, steps=60) is memory
    assert torch.equal(torch.get_rng_state(), state)
    assert lost(memory, 0.1) < 0.9 * before


def test_the_error_is_that_of_what_is_given_back():
    memory = Summary("gru", d, n)
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(B, n, generator=torch.Generator().manual_seed(1))
    expected = (memory.give_back(memory.keep(x)) - x).square().mean()
    assert_close(squared_error(memory, 0.0, B, generator), expected)


def test_noise_below_zero_is_refused():
    with pytest.raises(ValueError, match="noise must be 0 or more, got -1"):
        train_memory(Summary("gru", d, n), -1, steps=1)


def test_the_line_and_the_floor_by_hand():
    assert linear_line(1, 2) == 0.5
    assert linear_line(3, 2) == 0.0
    assert lower_bound(1, 1, 1.0) == pytest.approx(1 / 2)
    assert lower_bound(1, 2, 0.5) == pytest.approx(5**-0.5)
    assert lower_bound(4, 8, 0.3) == pytest.approx(0.2874, abs=1e-4)
    assert lower_bound(4, 8, 0.0) == 0.0


def test_no_linear_answer_loses_less_than_the_line():
    x = torch.randn(20000, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for d in (1, 2):
        kept = torch.tanh(x @ torch.randn(3, d, generator=torch.Generator().manual_seed(d)).double())
        answers = kept @ torch.linalg.lstsq(kept, x).solution
        assert (answers - x).square().mean() > linear_line(d, 3) - 0.02


def test_the_best_answer_is_the_mean_of_a_level():
    x = torch.tensor([[0.0], [2.0], [10.0], [14.0]])
    even = torch.full((4,), 0.25)
    got = best_answers(x, torch.tensor([1.0, 2.0, 3.0, 4.0]), even, 2)
    assert_close(got, torch.tensor([[1.0], [1.0], [12.0], [12.0]]))
    assert_close(best_answers(x, torch.zeros(4), even, 50), x.mean(0).expand(4, 1))


def test_the_stored_fold_beats_the_line_and_its_sum_does_not():
    grid = torch.linspace(-4, 4, 81, dtype=torch.float64)
    pairs = torch.cartesian_prod(grid, grid)
    likely = torch.softmax(-pairs.square().sum(1) / 2, 0)
    with torch.no_grad():
        fold = stored_fold().keep(pairs.float())[:, 0, 0].double()
    share = [
        (likely @ (best_answers(pairs, kept, likely, 100) - pairs).square()).mean().item()
        for kept in (fold, pairs.sum(1).round(decimals=6))
    ]
    assert share[0] < 0.25
    assert share[1] == pytest.approx(0.5, abs=0.01)


def test_stored_measurements_say_where_they_come_from_and_keep_the_law():
    data = stored()
    assert {"what", "code", "device", "torch", "date"} <= data.keys()
    for run in data["runs"]:
        size = (KEY_DIM + run["d"]) * run["n"] if run["kind"] == "attention" else run["d"]
        assert lower_bound(size, run["n"], run["noise"]) < run["lost"] + 1e-9
        assert run["lost"] < 1
