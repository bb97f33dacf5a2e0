import pytest

from attnlib.widgets import CostCalculator


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
