import pytest
import torch

from attnlib.experiments.letters import (
    LENGTH,
    as_letters,
    frequency_losses,
    letter_model,
    losses_by_position,
    manual_letters,
    names_what_was_put,
    train_letters,
)
from attnlib.instruments.leaks import leaks
from attnlib.masks import causal_mask

TEXT = manual_letters()
LINES = TEXT.lines()[:20]


class TooLate(torch.nn.Module):
    def forward(self, q, k, v, *rest, **options):
        weights = (q @ k.mT).softmax(-1).tril()
        return weights @ v, weights


def model(**options):
    return letter_model(TEXT, **({"width": 16, "heads": 2} | options))


def test_letters_and_numbers_lead_back_to_each_other():
    assert TEXT.spell(TEXT.number("a list, or none")) == "a list, or none"
    with pytest.raises(ValueError, match=r"lower case; got \['A'\]"):
        TEXT.number("A list")


def test_the_text_has_no_capitals_and_is_parted_nine_to_one():
    assert len(TEXT.train) + len(TEXT.held) > 400_000
    assert abs(len(TEXT.train) / len(TEXT.held) - 9) < 0.01
    assert TEXT.spell(TEXT.train[:200]) == TEXT.spell(TEXT.train[:200]).lower()
    assert "  " not in TEXT.spell(TEXT.held)


def test_lines_are_cut_one_after_the_other():
    assert LINES.shape == (20, LENGTH + 1)
    assert TEXT.spell(LINES.flatten()) == TEXT.spell(TEXT.held[: 20 * (LENGTH + 1)])


def test_a_pair_of_letters_tells_more_than_one():
    unigram, bigram = frequency_losses(TEXT)
    assert bigram < unigram - 0.7
    assert unigram < torch.tensor(float(len(TEXT.letters))).log()


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("leak", [{"causal": False}, {"attend": TooLate}])
def test_a_twin_depends_on_all_letters_and_the_model_on_those_before(leak, layers):
    line = LINES[:1, :6]
    assert torch.equal(leaks(model(layers=layers), line), causal_mask(6))
    assert leaks(model(layers=layers, **leak), line).all()


def test_twins_start_from_the_same_weights_and_leave_the_callers_random_numbers():
    state = torch.get_rng_state()
    ours, twin, other = model(), model(causal=False), model(seed=1)
    assert torch.equal(torch.get_rng_state(), state)
    for a, b in zip(ours.parameters(), twin.parameters(), strict=True):
        assert torch.equal(a, b)
    assert not torch.equal(ours.head.weight, other.head.weight)


def test_training_learns():
    learner = model()
    losses = train_letters(learner, TEXT, steps=30)
    assert losses[-1] < losses[0] - 0.5


def test_alone_a_masked_model_knows_what_it_knew_with_the_line_open():
    each, alone = losses_by_position(model(), LINES, 24)
    assert each.shape == (LENGTH,)
    assert alone == pytest.approx(each[23].item(), abs=1e-5)


def test_a_model_that_copies_from_the_right_names_what_was_put():
    def reads_ahead(tokens):
        return torch.nn.functional.one_hot(tokens.roll(-1, 1), len(TEXT.letters)).float()

    assert names_what_was_put(reads_ahead, LINES, 23) == 1
    assert names_what_was_put(lambda tokens: reads_ahead(LINES[:, :-1]), LINES, 23) < 0.5


def test_any_text_becomes_letters_with_its_last_tenth_held_out():
    text = as_letters("Two  Words\nand ten letters")
    assert text.spell(torch.cat([text.train, text.held])) == "two words and ten letters"
    assert (len(text.train), len(text.held)) == (22, 3)
