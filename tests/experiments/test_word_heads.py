import pytest
import torch

from attnlib.experiments.glove import WordVectors
from attnlib.experiments.tasks import pronoun_sentences, sense_sentences
from attnlib.experiments.word_heads import (
    KINDS,
    PronounModel,
    SenseModel,
    WordScores,
    encode,
    encode_senses,
    exchanged_scores,
    name_weights,
    names_found,
    senses_found,
    train_pronouns,
    train_senses,
)

GLOVE = WordVectors.glove()
SENTENCES = sense_sentences()[:6]


def test_encode_fills_up_with_minus_one():
    ids = encode(GLOVE, [["he"], ["he", "is", "evil"]])
    assert ids.shape == (2, 3)
    assert ids[0].tolist() == [GLOVE.place("he"), -1, -1]


@pytest.mark.parametrize("kind", KINDS)
def test_weights_sum_to_one_and_leave_the_filling_out(kind):
    torch.manual_seed(0)
    ids = encode_senses(GLOVE, SENTENCES)
    weights = SenseModel(GLOVE, kind).weights(ids)
    assert torch.allclose(weights.sum(-1), torch.ones(6))
    assert not weights[ids[:, 1:] < 0].any()


def test_an_average_gives_both_words_one_vector_and_attention_does_not():
    ids = encode_senses(GLOVE, SENTENCES[:2])
    torch.manual_seed(0)
    same, own = SenseModel(GLOVE, "average").new_vectors(ids), SenseModel(GLOVE).new_vectors(ids)
    assert torch.equal(same[0], same[1])
    assert not torch.allclose(own[0], own[1])


def test_what_keeps_its_word_adds_it_to_the_average():
    ids = encode_senses(GLOVE, SENTENCES[:2])
    torch.manual_seed(0)
    average = SenseModel(GLOVE, "average").new_vectors(ids)
    kept = SenseModel(GLOVE, "average", keep=True).new_vectors(ids)
    assert torch.allclose(kept - average, GLOVE[[s.asks for s in SENTENCES[:2]]], atol=1e-6)


def test_a_kind_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="kind must be one of attention, average"):
        WordScores("cosine", 5)


def test_a_trained_model_finds_the_senses_it_was_trained_on():
    model, losses = train_senses(GLOVE, SENTENCES, seed=0, steps=60)
    assert len(losses) == 60
    assert losses[-1] < losses[0]
    assert senses_found(model, GLOVE, SENTENCES) == 1


def without_positions(layers):
    torch.manual_seed(0)
    return PronounModel(GLOVE, layers=layers, positions=False)


@pytest.mark.parametrize("layers", [["attention"], ["attention"] * 2, ["average", "attention"]])
def test_without_positions_exchanged_names_exchange_their_weights(layers):
    model = without_positions(layers)
    one = name_weights(model, GLOVE, "goku kicks freeza because he is evil")
    two = name_weights(model, GLOVE, "freeza kicks goku because he is evil")
    assert torch.allclose(one[[0, 2]], two[[2, 0]], atol=1e-6)


def test_after_one_layer_the_adjective_does_not_change_the_ratio_of_the_names():
    torch.manual_seed(0)
    for first, kept in (([], True), (["attention"], False), (["average"], False)):
        model = PronounModel(GLOVE, layers=[*first, "attention"], positions=True)
        desperate, evil = (
            name_weights(model, GLOVE, f"goku kicks freeza because he is {adjective}")
            for adjective in ("desperate", "evil")
        )
        ratios = desperate[0] / desperate[2], evil[0] / evil[2]
        assert torch.isclose(*ratios, rtol=1e-4).item() is kept


def test_the_weights_of_an_earlier_layer_can_be_had():
    model = without_positions(["average", "attention"])
    first, last = (
        name_weights(model, GLOVE, "goku kicks freeza because he is evil", layer=n) for n in (0, -1)
    )
    assert torch.allclose(first, torch.full((7,), 1 / 7))
    assert not torch.allclose(last, first)


def test_one_layer_is_right_about_exactly_one_of_two_twins():
    torch.manual_seed(0)
    model = PronounModel(GLOVE, layers=["attention"], positions=True)
    right = names_found(model, GLOVE, pronoun_sentences(40, twist=True, twins=True))
    assert (right[::2] != right[1::2]).all()


def test_a_trained_head_finds_the_first_name():
    sentences = pronoun_sentences(40, twist=False)
    (model,) = train_pronouns(GLOVE, sentences, layers=["attention"], positions=True, seeds=[0], steps=60)
    assert names_found(model, GLOVE, sentences).double().mean() > 0.9


def test_models_trained_together_learn_what_each_learns_alone():
    sentences, options = pronoun_sentences(40, twist=True), {"layers": ["attention"] * 2, "positions": True}
    text = "goku kicks freeza because he is evil"
    together = train_pronouns(GLOVE, sentences, seeds=[0, 1], steps=10, **options)
    for seed, model in enumerate(together):
        (alone,) = train_pronouns(GLOVE, sentences, seeds=[seed], steps=10, **options)
        assert torch.allclose(name_weights(model, GLOVE, text), name_weights(alone, GLOVE, text), atol=1e-3)
    assert not torch.allclose(*(name_weights(model, GLOVE, text) for model in together), atol=1e-3)


@pytest.mark.parametrize("first", [[], ["attention"], ["average"]])
def test_a_table_gives_two_sentences_with_the_same_positions_the_same_weights(first):
    sentences = pronoun_sentences(40, twist=True)
    (model,) = train_pronouns(GLOVE, sentences, layers=[*first, "table"], positions=True, seeds=[0], steps=5)
    assert model.table.any()
    one = name_weights(model, GLOVE, "goku kicks freeza because he is evil")
    two = name_weights(model, GLOVE, "john hits peter because he is desperate")
    assert torch.equal(one, two)


@pytest.mark.parametrize(
    ("layers", "positions", "weights"),
    [
        (["attention"], False, 2 * 100 * 16),
        (["attention"], True, 2 * 100 * 16 + 16 * 100),
        (["tied"], True, 100 * 16 + 16 * 100),
        (["average", "attention"], True, 2 * 100 * 16 + 100 * 100 + 16 * 100),
        (["table"], True, 16 * 16),
    ],
)
def test_a_model_has_the_weights_that_its_layers_use_and_its_setting_says_so(layers, positions, weights):
    (model,) = train_pronouns(
        GLOVE, pronoun_sentences(4, twist=False), layers=layers, positions=positions, seeds=[0], steps=1
    )
    assert model.setting["weights"] == weights
    assert ("positions" in model.setting) is (layers != ["table"])


def test_an_average_has_no_queries_and_no_keys_to_train():
    model, losses = train_senses(GLOVE, SENTENCES, "average", seed=0, steps=1)
    assert losses.setting["weights"] == 100 * 100
    assert [name for name, _ in model.named_parameters()] == ["w_v"]


def test_there_must_be_a_layer_and_of_a_kind_that_exists():
    with pytest.raises(ValueError, match="layers must hold at least one"):
        PronounModel(GLOVE, layers=[], positions=True)
    with pytest.raises(ValueError, match="layers must be one of attention, average, tied, table"):
        PronounModel(GLOVE, layers=["cosine"], positions=True)


def test_a_query_of_one_text_meets_the_keys_of_another():
    torch.manual_seed(0)
    model = PronounModel(GLOVE, layers=("attention", "attention"), positions=True)
    one, two = (f"goku kicks freeza because he is {word}" for word in ("evil", "tired"))
    for text in (one, two):
        scores = exchanged_scores(model, GLOVE, text, text)
        assert torch.allclose(scores.softmax(-1), name_weights(model, GLOVE, text), atol=1e-6)
    both = exchanged_scores(model, GLOVE, one, two)
    assert not torch.allclose(both, exchanged_scores(model, GLOVE, one, one), atol=1e-3)
    assert not torch.allclose(both, exchanged_scores(model, GLOVE, two, two), atol=1e-3)


def test_a_tied_layer_scores_two_words_alike_in_both_directions():
    torch.manual_seed(0)
    model = PronounModel(GLOVE, layers=("tied",), positions=True)
    ((_, scores),) = model._each(torch.tensor([[3, 5, model.he]]))
    assert torch.allclose(scores, scores.mT, atol=1e-5)
