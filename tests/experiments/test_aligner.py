import torch

from attnlib.experiments.aligner import Aligner, aligned, train_aligner, words_right
from attnlib.experiments.tasks import number_words

NUMBERS = number_words(40)


def test_every_french_word_spreads_one_weight_over_real_english_words():
    torch.manual_seed(0)
    n = torch.arange(40)
    mixed, weights = Aligner(NUMBERS, width=8).look(n)
    assert mixed.shape == (40, NUMBERS.previous.shape[1], 8)
    assert torch.allclose(weights.sum(-1), torch.ones(weights.shape[:2]))
    assert not weights.masked_fill(NUMBERS.source_mask[:, 0], 0).any()


def test_an_average_reads_a_number_and_its_swapped_twin_alike():
    numbers, n = number_words(), torch.tensor([345, 543])
    torch.manual_seed(0)
    average, head = Aligner(numbers, average=True), Aligner(numbers)
    same, other = average(n)[:, 0]  # the first French word
    assert torch.allclose(same, other, atol=1e-5)
    same, other = head(n)[:, 0]
    assert not torch.allclose(same, other, atol=1e-5)


def test_training_keeps_a_fifth_aside_and_learns_the_rest():
    aligner, held_out = train_aligner(NUMBERS, seed=0, steps=80)
    seen = torch.tensor([n for n in range(40) if n not in held_out.tolist()])
    assert len(held_out) == 8
    assert words_right(aligner, NUMBERS, seen) > 0.9


def test_aligned_counts_words_that_look_at_their_translation():
    aligner, _ = train_aligner(NUMBERS, seed=0, steps=80)
    share = aligned(aligner, NUMBERS, torch.arange(20, 40), {"vingt": "twenty", "trente": "thirty"})
    assert 0 <= share <= 1
