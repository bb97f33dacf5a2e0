import base64
import math
from collections import defaultdict
from importlib import resources

import pytest
import torch

from attnlib import (
    MultiHeadAttention,
    alibi_bias,
    attention,
    attention_weights,
    causal_mask,
    masked_softmax,
    rotary,
    sinusoidal,
    sliding_window_mask,
    widgets,
)
from attnlib.experiments.tasks import relation_masks, word_pairs
from attnlib.experiments.wordvectors import UnknownWordError, WordVectors
from attnlib.instruments.leaks import leaks
from attnlib.instruments.statistics import relation_share
from attnlib.widgets import (
    EQUATIONS,
    SENTENCES,
    AnalogyMap,
    AttentionPlane,
    AverageLine,
    BugFinder,
    CostCalculator,
    FixedState,
    GradientDecay,
    HeadViewer,
    MaskPainter,
    PositionClock,
    ScalingLab,
    TileStepper,
    WholeLayer,
)


def test_the_plane_starts_as_the_chapter_does():
    plane = AttentionPlane()
    assert plane.words == ["buy", "apple", "phone"]
    assert [round(x, 3) for x in plane.weights()[1].tolist()] == [0.009, 0.495, 0.495]
    assert repr(plane) == "AttentionPlane('buy apple phone', query='apple')"


def test_scaling_divides_by_the_root_of_two():
    x = torch.tensor(SENTENCES[0]["points"], dtype=torch.float64)
    plane = AttentionPlane(scaled=True)
    expected = (x @ x.T / math.sqrt(2)).softmax(-1)
    torch.testing.assert_close(plane.weights(), expected)
    torch.testing.assert_close(plane.output(), expected @ x)


def test_a_projection_of_its_own_turns_the_query_counter_clockwise():
    plane = AttentionPlane(points=[[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]], separate=True, turn=90.0)
    q, k, v = plane.projections()
    torch.testing.assert_close(q[0], torch.tensor([0.0, 1.0], dtype=torch.float64))
    assert torch.equal(k, v)
    plane.separate = False
    assert torch.equal(plane.projections()[0], k)


def test_presets_can_be_given():
    preset = {"name": "one", "words": ["one"], "points": [[1.0, 1.0]], "query": 0}
    assert AttentionPlane([preset]).words == ["one"]


def test_the_gradient_of_a_straight_recurrence_is_a_power():
    decay = GradientDecay(weight=0.9, length=44)
    torch.testing.assert_close(decay.gradients(), 0.9 ** torch.arange(45, dtype=torch.float64))
    assert repr(decay) == "GradientDecay(weight=0.9, length=44, squash=False)"


def test_squashed_it_vanishes_even_with_a_weight_above_one():
    assert GradientDecay(weight=1.1, length=100).gradients()[-1] > 1e4
    squashed = GradientDecay(weight=1.1, length=100, squash=True).gradients()
    state = math.tanh(1.1 * 0.5)
    assert squashed[1].item() == pytest.approx(1.1 * (1 - state**2))
    assert squashed[-1] < 1e-6


def test_what_a_fixed_state_loses_by_hand():
    assert FixedState(d=1, n=2, noise=0.0).numbers() == {"linear": 0.5, "floor": 0.0, "attention": 0.0}
    assert FixedState(d=4, n=3, noise=0.0).numbers()["linear"] == 0
    floors = [FixedState(d=4, n=n, noise=0.3).numbers()["floor"] for n in (4, 8, 16, 32)]
    assert floors == pytest.approx([0.083, 0.287, 0.536, 0.732], abs=5e-4)
    assert FixedState(n=64, noise=0.5).numbers()["attention"] == pytest.approx(0.25 / 1.25)
    assert repr(FixedState()) == "FixedState(d=4, n=8, noise=0.3, 0 measured)"


def test_attention_that_was_measured_at_this_noise_is_shown_as_measured():
    flat = [
        {"d": 1, "n": n, "noise": 0.3, "lost": lost, "kind": "attention"} for n, lost in ((4, 0.1), (8, 0.2))
    ]
    assert FixedState(measured=flat).numbers()["attention"] == pytest.approx(0.15)
    assert FixedState(measured=flat, noise=1.0).numbers()["attention"] == 0.5


def test_a_measurement_without_its_noise_is_refused():
    with pytest.raises(ValueError, match=r"each measurement needs d, n, noise, lost, kind; .* has no noise"):
        FixedState(measured=[{"d": 4, "n": 8, "lost": 0.6, "kind": "GRU"}])


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


WIDGETS = [getattr(widgets, name) for name in widgets.__all__ if not name.isupper()]


@pytest.mark.parametrize("widget", WIDGETS)
def test_the_front_end_asks_for_nothing_from_elsewhere(widget):
    assert "http" not in widget._esm.replace("http://www.w3.org/2000/svg", "")
    assert "import " not in widget._esm
    assert "http" not in widget._css


def test_what_two_front_ends_share_stands_in_the_common_file():
    static, places = resources.files("attnlib.widgets") / "static", defaultdict(set)
    for file in static.iterdir():
        lines = [line.strip() for line in file.read_text("utf8").splitlines() if len(line.strip()) > 3]
        for run in zip(lines, lines[1:], lines[2:], strict=False):
            places[run].add(file.name)
    assert [(run, names) for run, names in places.items() if len(names) > 1] == []


def test_the_analogy_starts_as_the_chapter_does():
    widget = AnalogyMap()
    assert repr(widget) == "AnalogyMap('king - man + woman', inputs left out)"
    assert widget.nearest(1)[0][0] == "queen"
    widget.exclude = False
    assert [word for word, _ in widget.nearest(2)] == ["king", "queen"]
    assert repr(widget) == "AnalogyMap('king - man + woman', inputs not left out)"


def test_the_analogy_ships_gloves_own_numbers_in_less_than_a_megabyte():
    widget, glove = AnalogyMap(), WordVectors.glove("cpu")
    table = widget.table()
    assert 2000 <= len(table) <= 2500
    assert len(widget.vectors + widget.late_vectors) < 700_000
    assert torch.equal(table.vectors, glove[widget.words].double())
    assert all(word in table for words in EQUATIONS for word in words)
    assert all(word in table for pairs in word_pairs().values() for pair in pairs for word in pair)


@pytest.mark.parametrize("exclude", [True, False])
@pytest.mark.parametrize("equation", EQUATIONS)
def test_the_ready_equations_need_only_the_vectors_that_come_first(equation, exclude):
    a, b, c = equation
    whole = AnalogyMap(a=a, b=b, c=c, exclude=exclude)
    early = whole.words[: len(base64.b64decode(whole.vectors)) // 200]
    part = AnalogyMap(a=a, b=b, c=c, exclude=exclude, words=early, late_vectors="")
    assert len(early) < 100
    assert part.nearest() == whole.nearest()


def test_the_map_has_b_at_the_origin_and_a_right_angle_of_axes():
    widget = AnalogyMap()
    table = widget.table()
    king, man, woman, queen = widget.positions(["king", "man", "woman", "queen"])
    torch.testing.assert_close(man, torch.zeros(2, dtype=torch.float64))
    assert woman[0] == pytest.approx((table["woman"] - table["man"]).norm().item())
    assert woman[1] == pytest.approx(0, abs=1e-12)
    assert king[1] > 0
    assert (king - man).norm() == pytest.approx((table["king"] - table["man"]).norm().item())
    assert queen.norm() < (table["queen"] - table["man"]).norm()  # it lies off the plane


def test_words_that_leave_no_plane_still_have_a_place():
    assert AnalogyMap(a="man", b="man", c="man").positions(["king"]).tolist() == [[0, 0]]
    line = AnalogyMap(a="king", b="man", c="king").positions(["king"])[0]
    assert line[1] == pytest.approx(0, abs=1e-9)


def test_an_unknown_word_is_named_with_close_spellings():
    with pytest.raises(UnknownWordError, match=r"closest spellings: .*king"):
        AnalogyMap(a="kingg").nearest()


def parts(width=16, heads=2, **options):
    torch.manual_seed(0)
    tables = (torch.nn.Embedding(n, width) for n in (4, 8, 8))
    return *tables, MultiHeadAttention(width, heads, **{"bias": False} | options), torch.nn.Linear(width, 24)


def test_the_viewer_computes_what_the_model_does():
    letter, digit, place, attend, read = parts()
    widget = HeadViewer.of(letter, digit, place, attend, read)
    x = letter(torch.tensor([widget.letters])) + digit(torch.tensor([widget.digits])) + place.weight
    out, weights = attend(x, causal=True, need_weights=True)
    expected = read(out).unflatten(-1, (3, 8)).softmax(-1)[0]
    torch.testing.assert_close(widget.weights(), weights[0].double(), atol=1e-3, rtol=0)
    torch.testing.assert_close(widget.answers(), expected.double(), atol=1e-3, rtol=0)
    for name, mask in relation_masks(torch.tensor([widget.letters]), apart=True).items():
        assert widget.scores()[name] == pytest.approx(relation_share(weights, mask).tolist(), abs=1e-3)
    assert repr(widget) == "HeadViewer('c5 a1 b7 a4 d0 b2 b6 c3', token=6, head=1)"


def test_a_head_that_is_not_used_adds_nothing():
    letter, digit, place, attend, read = parts()
    widget = HeadViewer.of(letter, digit, place, attend, read)
    widget.used = [False, True]
    with torch.no_grad():
        attend.out_proj.weight[:, :8] = 0
    torch.testing.assert_close(
        widget.answers(), HeadViewer.of(letter, digit, place, attend, read).answers(), atol=1e-3, rtol=0
    )


def test_heads_are_scored_where_the_relations_point_to_three_places():
    widget = HeadViewer.of(*parts())
    seen = widget.weights()[:, [3, 5]]  # of c5 a1 b7 a4 d0 b2 b6 c3, a4 and b2
    for name, places in {"previous": [2, 4], "match": [1, 2], "first": [0, 0]}.items():
        assert widget.scores()[name] == pytest.approx(seen[:, [0, 1], places].mean(1).tolist())
    widget.letters = [0] * 8  # the match is always the previous token
    assert all(map(math.isnan, widget.scores()["first"]))


def test_the_viewer_says_which_models_it_cannot_show():
    with pytest.raises(ValueError, match="must have no biases"):
        HeadViewer.of(*parts(bias=True))
    with pytest.raises(ValueError, match="as many key heads as query heads"):
        HeadViewer.of(*parts(num_kv_heads=1))
    letter, digit, _, attend, read = parts()
    with pytest.raises(ValueError, match=r"4 letters, 8 digits and 8 places, got \[4, 8, 4\]"):
        HeadViewer.of(letter, digit, letter, attend, read)


def test_the_lab_scales_one_draw_and_keeps_its_vectors():
    lab = ScalingLab(power=8, scaling="none", draw=3)
    q, k = lab.vectors()
    assert (q.shape, k.shape) == ((1, 256), (16, 256))
    torch.testing.assert_close(lab.weights(), (q @ k.T)[0].softmax(-1))
    wide = lab.numbers()
    lab.scaling = "root"
    assert lab.numbers()["std"] == pytest.approx(wide["std"] / 16)
    lab.scaling, lab.spread = "full", 3.0
    assert lab.numbers()["std"] == pytest.approx(9 * wide["std"] / 256)
    torch.testing.assert_close(ScalingLab(power=2, draw=3).vectors()[1], k[:, :4])
    assert repr(lab) == "ScalingLab(d=256, 'full', spread=3, draw=3)"


def test_the_lab_draws_standard_normal_numbers():
    both = torch.cat([torch.cat(ScalingLab(power=10, draw=n).vectors()) for n in (1, 2, 3)])
    assert both.mean().item() == pytest.approx(0, abs=0.02)
    assert both.std().item() == pytest.approx(1, abs=0.02)


def test_the_painter_starts_causal_and_gives_attnlibs_weights():
    painter = MaskPainter()
    assert repr(painter) == "MaskPainter('The cat sat on the mat', 21 pairs, leaks=0)"
    scores = torch.tensor(painter.scores, dtype=torch.float64)
    expected = attention_weights(scores, torch.eye(6).double(), causal=True, scale=1.0)
    torch.testing.assert_close(painter.weights(), expected)
    painter.mask = [[False] * 6, *painter.mask[1:]]
    assert painter.weights()[0].tolist() == [0] * 6


def test_zero_after_the_softmax_leaves_sums_below_one_and_leaks_everywhere():
    painter = MaskPainter(after=True)
    sums = painter.weights().sum(-1)
    assert (sums[:-1] < 0.9).all()
    assert sums[-1].item() == pytest.approx(1)
    assert painter.leaks().sum() == 15


@pytest.mark.parametrize(
    "preset", ["full", "causal", "window of 2", "prefix of 3", "two documents", "padding"]
)
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("after", [False, True])
def test_the_reach_is_what_the_leak_test_finds(preset, layers, after):
    painter = MaskPainter(preset, layers=layers, after=after)
    mask = torch.tensor(painter.mask)

    def stack(x):
        for _ in range(layers):
            weights = masked_softmax(x @ x.T / 8) * mask if after else masked_softmax(x @ x.T / 8, mask)
            x = x + weights @ x
        return x

    x = torch.randn(6, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert torch.equal(painter.reach(), leaks(stack, x, tries=1))


def test_layers_of_a_window_reach_further():
    assert torch.equal(MaskPainter("window of 2", layers=3).reach(), sliding_window_mask(6, window=4))
    assert torch.equal(MaskPainter("full").leaks(), ~causal_mask(6))


def test_an_unknown_preset_is_named():
    with pytest.raises(ValueError, match=r"preset must be one of full, causal, .* got 'diagonal'"):
        MaskPainter("diagonal")


@pytest.mark.parametrize(
    ("weight", "told", "averages", "cuts"),
    [
        (0.7, 0, [3, 4.2, 5.8, 7], [5]),
        (0.7, 1, [3, 4.2, 5.8, 7], [3.6, 5, 6.4]),
        (0.3, 1, [3, 5.8, 4.2, 7], [5]),
        (0.5, 1, [3, 5, 5, 7], [4, 6]),
        (1.0, 1, [3, 3, 7, 7], []),
        (1.0, 0, [3, 3, 7, 7], [5]),
    ],
)
def test_an_average_is_cut_between_neighbours_of_different_ages(weight, told, averages, cuts):
    found = AverageLine(weight=weight, told=told).numbers()
    assert found["averages"] == pytest.approx(averages)
    assert found["cuts"] == pytest.approx(cuts)


def test_a_line_of_averages_says_whose_age_it_tells():
    assert repr(AverageLine(told=1)) == "AverageLine(weight=0.7, told='Ben')"


def bug(verdicts, moved):
    return {"name": "crossed", "wrong": "a", "right": "b", "verdicts": verdicts, "moved": moved}


def test_bugs_are_shown_as_they_were_found():
    finder = BugFinder([bug(["passes", "error"], causal_mask(2))], ["first", "second"])
    assert finder.bugs[0]["moved"] == [[True, False], [True, True]]
    assert finder.found_by() == ["second"]
    assert repr(finder) == "BugFinder('crossed', found by 1 of 2 tests)"
    assert repr(BugFinder()) == "BugFinder('no bugs', found by 0 of 0 tests)"


@pytest.mark.parametrize("verdicts", [["passes"], ["passes", "perhaps"]])
def test_a_bug_needs_a_verdict_of_each_test(verdicts):
    told = r"verdicts must say passes, fails, error for each of 2 tests, got \[.*\] for crossed"
    with pytest.raises(ValueError, match=told):
        BugFinder([bug(verdicts, causal_mask(2))], ["first", "second"])


def test_what_moves_is_a_square():
    with pytest.raises(ValueError, match=r"moved must be \(T, T\), got \(2, 3\) for crossed"):
        BugFinder([bug(["passes"], causal_mask(2, 3))], ["first"])


def test_the_layer_finds_who_is_meant_with_two_heads_and_not_with_the_same_weights_in_one():
    widget = WholeLayer()
    assert repr(widget) == (
        "WholeLayer('Goku throws the Spirit Bomb at Frieza because he is desperate', step='words', word='he')"
    )
    goku, frieza, he = (widget.words.index(word) for word in ("Goku", "Frieza", "he"))
    who, before = widget.numbers()["weights"][:, he]
    assert who.argmax() == goku
    assert who[goku] > 0.85
    assert before.argmax() == he - 1
    widget.heads = 1
    assert widget.numbers()["weights"][0, he].argmax() == frieza


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("heads", [1, 2])
def test_the_layer_by_hand_is_the_layer_of_attnlib(causal, heads):
    widget = WholeLayer("Bulma gives the radar to Goku", causal=causal, heads=heads)
    x, T, D = widget.x(), 6, 10 // heads
    tables = (torch.tensor(w, dtype=torch.float64) for w in (widget.w_q, widget.w_k, widget.w_v))
    q, k, v = ((x @ w).view(T, heads, D).transpose(0, 1) for w in tables)
    mask = causal_mask(T) if causal else torch.ones(T, T, dtype=torch.bool)
    weights = (q @ k.mT / math.sqrt(D)).masked_fill(~mask, -math.inf).softmax(-1)
    found = widget.numbers()
    torch.testing.assert_close(found["weights"], weights)
    merged = (weights @ v).transpose(0, 1).flatten(1)
    torch.testing.assert_close(found["output"], merged @ torch.tensor(widget.w_o, dtype=torch.float64))


@pytest.mark.parametrize(
    ("sentence", "asks", "meant"),
    [
        ("Frieza throws the Spirit Bomb at Goku because he is desperate", "he", "Frieza"),
        ("Goku fights Frieza and Bulma helps because she is brave", "she", "Bulma"),
        ("Bulma gives the radar to Goku because it is broken", "it", "radar"),
        ("the queen smiles because the king helps her", "her", "queen"),
    ],
)
def test_the_head_for_who_is_meant_asks_by_kind(sentence, asks, meant):
    widget = WholeLayer(sentence)
    weights = widget.numbers()["weights"][0, widget.words.index(asks)]
    assert widget.words[weights.argmax()] == meant
    assert widget.words[widget.word] == asks


def test_meaning_asks_for_someone_and_not_with_the_reason():
    start = "Goku throws the Spirit Bomb at Frieza because he is"
    layers = [WholeLayer(f"{start} {reason} meaning") for reason in ("desperate", "evil")]
    rows = [layer.numbers()["weights"][0, -1] for layer in layers]
    assert torch.equal(*rows)
    assert layers[0].words[rows[0].argmax()] == "Goku"


def test_the_layer_knows_its_words_and_says_which_it_does_not():
    widget = WholeLayer("GOKU, sees bulma!")
    assert widget.words == ["Goku", "sees", "Bulma"]
    assert 40 <= len(widget.vocabulary) <= 80
    assert all(set(sentence.split()) <= set(widget.vocabulary) for sentence in widget.presets)
    with pytest.raises(ValueError, match=r"there is no vector for gokuu, naruto; known are Goku, Gohan"):
        WholeLayer("Gokuu sees Naruto")
    with pytest.raises(ValueError, match="from 1 to 12 words, got 13"):
        WholeLayer("the " * 13)


def test_the_cost_of_a_model_by_hand():
    found = CostCalculator(n=3, d_model=8, heads=4, kv_heads=2, layers=5, width=2).numbers()
    projections, core = 2 * (3 * 8 * 8) * 2 + 2 * (3 * 8 * 4) * 2, 2 * (3 * 3 * 8) * 2
    assert found == {
        "projections": 5 * projections,
        "core": 5 * core,
        "network": 5 * (2 * (3 * 8 * 32) * 2),
        "scores": 4 * 9 * 2,
        "cache": 5 * 2 * (3 * 4) * 2,
        "crossover": 12,
    }
    assert CostCalculator(d_model=8, heads=4, kv_heads=4).numbers()["crossover"] == 16
    assert CostCalculator(d_model=8, heads=4, kv_heads=4, network=True).numbers()["crossover"] == 6 * 8


def test_what_a_gpu_holds_beside_the_weights_of_a_known_model():
    known = {model["name"]: model for model in CostCalculator().models}
    sizes = {name: known["Llama 3 8B"][name] for name in ("layers", "d_model", "heads", "kv_heads")}
    llama = CostCalculator(named="Llama 3 8B", gpu=24, width=2, **sizes)
    token = 32 * 2 * 8 * 128 * 2
    weights = 2 * 8_030_261_248
    free, held = 24 * 10**9 - weights, llama.memory()
    n = held.pop("room_with_scores")
    assert held == {"weights": weights, "room": free // token}
    assert 32 * 2 * n**2 + token * n <= free < 32 * 2 * (n + 1) ** 2 + token * (n + 1)
    llama.layers = 31
    held = llama.memory()
    assert (held["weights"], held["room"]) == (0, 24 * 10**9 * 32 // (31 * token))
    nothing = CostCalculator(named="Llama 3 8B", gpu=1, width=2, **sizes).memory()
    assert nothing["room"] == nothing["room_with_scores"] == 0
    assert all(m["d_model"] % m["heads"] == m["heads"] % m["kv_heads"] == 0 for m in known.values())


def test_the_cost_says_what_it_is_of():
    expected = "CostCalculator(n=1024, d_model=768, heads=12, kv_heads=12, layers=12, width=2)"
    assert repr(CostCalculator()) == expected


@pytest.mark.parametrize(("sizes", "message"), [
    ({"heads": 5}, "heads must divide d_model, and kv_heads must divide heads, got d_model 768, heads 5, kv_heads 12"),
    ({"kv_heads": 5}, "heads must divide d_model, and kv_heads must divide heads, got d_model 768, heads 12, kv_heads 5"),
    ({"width": 3}, "width must be 4, 2 or 1 bytes, got 3"),
])  # fmt: skip
def test_sizes_without_a_cost_are_refused(sizes, message):
    with pytest.raises(ValueError) as caught:
        CostCalculator(**sizes).numbers()
    assert str(caught.value) == message


def test_the_clock_by_hand():
    clock = PositionClock(place=2, distance=3)
    assert repr(clock) == "PositionClock('rotary', query at 5, key at 2, base=10000, back=0)"
    q, k = clock.hands()
    speeds = (1, 0.1, 0.01, 0.001)
    for n, arrows in ((5, q), (2, k)):
        expected = [[math.cos(n * speed), math.sin(n * speed)] for speed in speeds]
        torch.testing.assert_close(arrows, torch.tensor(expected, dtype=torch.float64))
    expected = [sum(math.cos(n * speed) for speed in speeds) for n in range(65)]
    assert clock.scores().tolist() == pytest.approx(expected)


def test_the_clock_scores_as_attnlibs_positions_do():
    up = torch.tensor([1.0, 0.0] * 4).expand(30, 8)
    turned = rotary(up, base=100.0, interleaved=True)
    clock = PositionClock(place=11, base=100)
    torch.testing.assert_close(clock.scores()[:19].float(), (turned @ turned.T)[11:, 11])
    added = torch.tensor([0.0, 1.0] * 4) + sinusoidal(30, 8, base=100.0)
    clock.kind = "sinusoid"
    torch.testing.assert_close(clock.scores()[:19].float(), (added @ added.T)[11:, 11])
    for head in (1, 8):
        clock = PositionClock(kind="alibi", place=11, head=head)
        expected = 4 + alibi_bias(8, 30)[head - 1, 11:, 11]
        torch.testing.assert_close(clock.scores()[:19].float(), expected)


@pytest.mark.parametrize(("kind", "stays"), [("sinusoid", False), ("rotary", True), ("alibi", True)])
def test_moving_both_words_leaves_the_score_of_rotary_and_alibi(kind, stays):
    low, high = PositionClock(kind=kind).band()
    assert ((high - low).max() < 1e-9).item() is stays


@pytest.mark.parametrize("base", [10, 10_000])
@pytest.mark.parametrize("back", [0, 6, 16])
def test_a_query_that_looks_back_scores_highest_there(base, back):
    clock = PositionClock(base=base, back=back)
    assert clock.scores().argmax() == back
    assert clock.scores()[back] == pytest.approx(4)
    assert PositionClock(kind="alibi", back=back).scores().argmax() == 0


@pytest.mark.parametrize(("state", "message"), [
    ({"place": 101}, "place must be from 0 to 100, got 101"),
    ({"distance": -1}, "distance must be from 0 to 64, got -1"),
    ({"head": 0}, "head must be from 1 to 8, got 0"),
    ({"back": 17}, "back must be from 0 to 16, got 17"),
    ({"base": 50}, "base must be one of 10, 30, 100"),
])  # fmt: skip
def test_a_clock_that_no_page_can_show_is_refused(state, message):
    for numbers in ("hands", "scores", "band"):
        with pytest.raises(ValueError, match=message):
            getattr(PositionClock(**state), numbers)()
