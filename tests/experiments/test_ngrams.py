import numpy as np
import pytest

from attnlib.experiments.ngrams import NGrams

TOKENS = np.random.default_rng(0).integers(0, 5, 211) % 4


def slow(tokens, order, vocab_size, history, token):
    """Interpolated Kneser-Ney from its definition, with dictionaries and recursion."""

    def runs(n):
        return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]

    def count(n):
        if n == order:
            found = {}
            for run in runs(n):
                found[run] = found.get(run, 0) + 1
            return found
        found = {}
        for run in set(runs(order)):  # kinds of longer runs that end so, one token longer at a time
            found.setdefault(run[-n - 1 :][1:], set()).add(run[-n - 1 :])
        return {run: len(kinds) for run, kinds in found.items()}

    def probability(history, token):
        n = len(history) + 1
        counts = count(n)
        once, twice = (sum(c == k for c in counts.values()) for k in (1, 2))
        discount = once / (once + 2 * twice) if once else 0.5
        after = {run: c for run, c in counts.items() if run[:-1] == history}
        shorter = probability(history[1:], token) if n > 1 else 1 / vocab_size
        if not after:
            return shorter
        total = sum(after.values())
        own = max(after.get((*history, token), 0) - discount, 0)
        return (own + discount * len(after) * shorter) / total

    return probability(tuple(history), token)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_probabilities_are_those_of_the_definition(order):
    heard = np.array([0, 3, 1, 4, 2, 2, 0, 6])
    found = NGrams(TOKENS, order, 7).probabilities(heard)
    want = [
        slow(TOKENS.tolist(), order, 7, heard[i : i + order - 1].tolist(), int(heard[i + order - 1]))
        for i in range(len(heard) - order + 1)
    ]
    np.testing.assert_allclose(found, want, rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_probabilities_of_all_tokens_sum_to_one(order):
    model = NGrams(TOKENS, order, 7)
    for history in ([0, 1, 2, 3], [6, 6, 6, 6], [3, 3, 0, 6]):
        last = history[len(history) - order + 1 :] if order > 1 else []
        total = sum(model.probabilities(np.array([*last, token]))[-1] for token in range(7))
        assert total == pytest.approx(1)


def test_more_context_helps_on_a_text_with_order_in_it():
    text = np.array([0, 1, 2, 3, 1, 0, 4] * 60)
    losses = [NGrams(text, order, 5).loss(text) for order in (1, 2, 3)]
    assert losses[0] > losses[1] + 0.3 > losses[2] + 0.6
    uniform = np.random.default_rng(1).integers(0, 5, 4000)
    assert NGrams(uniform, 1, 5).loss(uniform) == pytest.approx(np.log(5), abs=0.01)


def test_bad_input_is_told():
    with pytest.raises(TypeError, match="tokens must be whole numbers, got float64"):
        NGrams(np.zeros(3), 1, 5)
    with pytest.raises(ValueError, match=r"one row of at least 4, got shape \(3,\)"):
        NGrams(np.array([0, 1, 2]), 4, 5)
    with pytest.raises(ValueError, match="between 0 and 4, got 0 to 5"):
        NGrams(np.array([0, 5]), 1, 5)
    with pytest.raises(ValueError, match=r"below 2 \*\* 62, got 1024 \*\* 7"):
        NGrams(np.array([0] * 9), 7, 1024)
    with pytest.raises(ValueError, match="order must be at least 1"):
        NGrams(np.array([0]), 0, 5)
