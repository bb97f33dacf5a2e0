import pytest
import torch

from attnlib.experiments.tasks import MISSING, copies, own_position, tokens_back


def drawn(seed=0):
    return torch.Generator().manual_seed(seed)


def test_the_answer_is_the_token_so_many_positions_before():
    text, answers = tokens_back(3, 11, distance=5, tokens=7, generator=drawn())
    assert text.shape == answers.shape == (3, 11)
    assert (answers[:, :5] == MISSING).all()
    for m in range(5, 11):
        assert torch.equal(answers[:, m], text[:, m - 5])
    assert text.unique().tolist() == list(range(7))


def test_a_copy_has_different_tokens_a_separator_and_the_tokens_again():
    text, answers = copies(2, 10, tokens=7, generator=drawn())
    said = text[:, :5]
    assert all(len(row.unique()) == 5 for row in said)
    assert (text[:, 5] == 7).all()
    assert torch.equal(text[:, 6:], said[:, :4])
    assert (answers[:, :5] == MISSING).all()
    assert torch.equal(answers[:, 5:], said)
    assert torch.equal(answers[:, 5:-1], text[:, 6:])  # what comes next


def test_the_answer_is_the_own_position_after_a_start_token():
    text, places = own_position(2, 5, tokens=3, generator=drawn())
    assert (text[:, 0] == 3).all()
    assert (text[:, 1:] < 3).all()
    assert places.tolist() == [[0, 1, 2, 3, 4]] * 2


def test_one_seed_draws_the_same_texts():
    for task in (tokens_back, copies, own_position):
        first, second = (task(2, 16, generator=drawn(3))[0] for _ in range(2))
        assert torch.equal(first, second)
        assert not torch.equal(first, task(2, 16, generator=drawn(4))[0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tokens_back(2, 8), "length must be more than the distance, got 8 and 8"),
        (lambda: copies(2, 7), "length must be even and at most twice the 256 tokens, got 7"),
        (lambda: copies(2, 12, tokens=5), "at most twice the 5 tokens, got 12"),
        (lambda: own_position(0, 5), "batch_size"),
    ],
)
def test_what_cannot_be_made_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
