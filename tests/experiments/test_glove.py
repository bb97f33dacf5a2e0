import hashlib
from pathlib import Path

import pytest
import torch

import attnlib
from attnlib.experiments.glove import UnknownWordError, WordVectors
from tests import DEVICE

SMALL = WordVectors(
    ["king", "queen", "man", "woman", "pear"],
    torch.tensor([[2.0, 2.0], [2.0, -2.0], [0.0, 3.0], [0.0, -3.0], [-1.0, 0.0]]),
)


@pytest.fixture(scope="module")
def glove():
    return WordVectors.glove(DEVICE)


def test_look_up_by_hand():
    assert SMALL["king"].tolist() == [2.0, 2.0]
    assert SMALL[["man", "pear"]].tolist() == [[0.0, 3.0], [-1.0, 0.0]]
    assert len(SMALL) == 5
    assert "king" in SMALL
    assert "kings" not in SMALL
    assert repr(SMALL) == "WordVectors(5 words, 2 dimensions)"


def test_similarity_is_the_cosine():
    assert SMALL.similarity("king", "queen") == pytest.approx(0.0, abs=1e-6)
    assert SMALL.similarity("king", "man") == pytest.approx(0.5**0.5)
    assert SMALL.similarity("man", "woman") == pytest.approx(-1.0)


def test_nearest_leaves_the_word_itself_out():
    (first, c1), (second, c2) = SMALL.nearest("king", 2)
    assert (first, second) == ("man", "queen")
    assert (c1, c2) == (pytest.approx(0.5**0.5), pytest.approx(0.0, abs=1e-6))
    assert [w for w, _ in SMALL.nearest("king", 9, exclude=["man", "pear"])] == ["queen", "woman"]
    assert SMALL.nearest(torch.tensor([4.0, 4.0]), 1)[0][0] == "king"


def test_analogy_with_and_without_the_inputs():
    vectors = WordVectors(
        ["king", "man", "woman", "queen"], torch.tensor([[3.0, 1.0], [0.0, 1.0], [0.0, 0.5], [3.0, 0.0]])
    )
    assert vectors.analogy("king", "man", "woman", 1)[0][0] == "queen"
    assert vectors.analogy("king", "man", "woman", 1, exclude_inputs=False)[0][0] == "king"


def test_nothing_is_changed_by_asking():
    before = SMALL.vectors.clone()
    SMALL.nearest("king")
    SMALL.analogy("king", "man", "woman")
    assert torch.equal(SMALL.vectors, before)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: SMALL["womann"],
            UnknownWordError,
            "there is no vector for 'womann' among 5 words; closest spellings: woman, man",
        ),
        (
            lambda: SMALL.nearest("zzz"),
            UnknownWordError,
            "there is no vector for 'zzz' among 5 words; no spelling comes close",
        ),
        (
            lambda: SMALL.analogy("king", "Man", "woman"),
            UnknownWordError,
            "there is no vector for 'Man' among 5 words; closest spellings: man, woman",
        ),
        (
            lambda: SMALL.nearest(torch.zeros(3)),
            ValueError,
            "target must be a word or a vector (2,), got (3,)",
        ),
        (lambda: SMALL.nearest("king", 0), ValueError, "n must be at least 1, got 0"),
        (
            lambda: WordVectors(["a", "b"], torch.zeros(3, 2)),
            ValueError,
            "vectors must be (words, D) = (2, D), got (3, 2)",
        ),
        (
            lambda: WordVectors(["a", "a"], torch.zeros(2, 2)),
            ValueError,
            "each word must come once, got 1 again",
        ),
        (
            lambda: WordVectors(["a"], torch.zeros(1, 2, dtype=torch.int64)),
            TypeError,
            "vectors must be a floating-point tensor, got torch.int64; use .float()",
        ),
    ],
)
def test_bad_input_gets_this_message(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message


# the vectors that come with the package


def test_the_file_is_the_one_its_provenance_names():
    folder = Path(attnlib.__file__).parent / "data"
    found = hashlib.sha256((folder / "glove-10k-f16.npz").read_bytes()).hexdigest()
    assert found in (folder / "README.md").read_text("utf8")


def test_glove_has_ten_thousand_words_in_order_of_frequency(glove):
    assert glove.vectors.shape == (10_000, 100)
    assert glove.words[:3] == ["the", "of", "to"]
    assert all(word.isalpha() and word.islower() for word in glove.words)


def test_the_famous_analogy_and_what_is_left_out_of_it(glove):
    (word, cosine), *_ = glove.analogy("king", "man", "woman")
    assert (word, round(cosine, 3)) == ("queen", 0.783)
    (word, cosine), *_ = glove.analogy("king", "man", "woman", exclude_inputs=False)
    assert (word, round(cosine, 3)) == ("king", 0.855)
    assert round(glove.similarity("king", "queen"), 3) == 0.751
