"""Word vectors trained on a text: counted by hand, and on a small language with two topics."""

import pytest
import torch
import torch.nn.functional as F

from attnlib.experiments.glove import WordVectors
from attnlib.experiments.word_vectors.embedding import (
    count_near,
    found_near,
    number_text,
    train_skip_gram,
    truncated_svd,
)


def loss(x, y, n):
    return -F.logsigmoid((x * y).sum(-1)).mean() - 5 * F.logsigmoid(-x @ n.T).mean()


def two_topics(length=20_000, run=400):
    """A text whose words come in runs of one of two topics."""
    generator = torch.Generator().manual_seed(0)
    topic = torch.randint(2, (length // run,), generator=generator).repeat_interleave(run)
    pick = torch.randint(5, (length,), generator=generator)
    return [f"{'sea' if t else 'hill'}{p}" for t, p in zip(topic.tolist(), pick.tolist(), strict=True)]


def topics_apart(vectors):
    """How often the four nearest words of a word are those of its topic."""
    return sum(
        near.rstrip("01234") == word.rstrip("01234")
        for word in vectors.words
        for near, _ in vectors.nearest(word, 4)
    ) / (4 * len(vectors))


def test_words_are_numbered_by_frequency_and_rare_ones_dropped():
    vocabulary, ids = number_text(["b", "a", "b", "c", "a", "b"], least=2)
    assert vocabulary == ["b", "a"]
    assert ids.tolist() == [0, 1, 0, 1, 0]


def test_neighbours_are_counted_on_both_sides():
    n = count_near(torch.tensor([0, 1, 2, 0]), 3, window=2)
    assert n.tolist() == [[0, 2, 2], [2, 0, 1], [2, 1, 0]]


def test_a_table_of_low_rank_is_kept_whole():
    x = torch.randn(11, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    kept = truncated_svd(x @ x.T, 3)
    torch.testing.assert_close(kept @ kept.T, x @ x.T)


def test_the_decomposition_leaves_the_random_numbers_of_the_caller_alone():
    torch.manual_seed(5)
    before = torch.rand(1)
    torch.manual_seed(5)
    truncated_svd(torch.eye(7), 2)
    assert torch.equal(torch.rand(1), before)


def test_skip_gram_tells_topics_apart_and_the_same_seed_gives_the_same_vectors():
    vocabulary, ids = number_text(two_topics())
    settings = {"steps": 300, "width": 7, "device": "cpu", "watch": topics_apart, "every": 100}
    vectors, neighbours, seen = train_skip_gram(ids, vocabulary, loss, **settings)
    again, _, _ = train_skip_gram(ids, vocabulary, loss, **settings)
    assert len(seen) == 4
    assert seen[0] < 0.8
    assert seen[-1] == topics_apart(vectors) == 1
    assert torch.equal(vectors.vectors, again.vectors)
    expected = (vectors.vectors @ neighbours.vectors.T).argmax(1).tolist()  # who stands beside whom
    topics = [word.rstrip("01234") for word in vocabulary]
    assert [topics[i] for i in expected] == topics


def test_counting_tells_them_apart_too():
    vocabulary, ids = number_text(two_topics())
    n = count_near(ids, len(vocabulary))
    chance = n.sum(1, keepdim=True) * n.sum(0) / n.sum()
    vectors = WordVectors(vocabulary, truncated_svd((n / chance).log().clamp(min=0), 2))
    assert topics_apart(vectors) == 1


def test_pairs_are_asked_from_both_sides():
    vectors = WordVectors(["a", "b", "c"], torch.tensor([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8]]))
    words = vectors.words
    assert found_near(vectors, words, [("a", "b")], n=1) == 0.5  # b is nearest to a, c is nearest to b
    assert found_near(vectors, words, [("a", "b")], n=2) == 1
    assert found_near(vectors, words, [("b", "c")], n=1) == 1


@pytest.mark.parametrize("name", ["steps", "every"])
def test_there_is_at_least_one_step(name):
    with pytest.raises(ValueError, match=f"{name} must be"):
        train_skip_gram(torch.tensor([0, 1]), ["a", "b"], loss, **{name: 0})
