import json
from importlib import resources

import pytest
import torch

from attnlib.instruments.counters import count_flops
from attnlib.instruments.roofline import Kernel, Roofline, _works, measure_roofline, stored_roofline
from attnlib.instruments.settings import setting_of

NAMES = [
    "formula",
    "formula: scores",
    "formula: softmax",
    "formula: mix",
    "fused",
    "decoding",
    "decoding, grouped",
    "layer",
    "LSTM",
]


def test_roof_by_hand():
    fast = Kernel("fast", 3, flops=800, bytes=4, seconds=2.0)
    roof = Roofline("machine", "2", "float32", peak_flops=1000.0, peak_bytes=10.0, kernels=(fast,))
    assert roof.ridge == 100
    assert roof.ceiling(7) == 70
    assert roof.ceiling(700) == 1000
    assert (fast.intensity, fast.speed) == (200, 400)
    assert roof.named("fast") == {3: fast}


def test_unknown_name_lists_the_known():
    with pytest.raises(ValueError) as caught:
        stored_roofline().named("flash")
    assert str(caught.value) == f"name must be one of {', '.join(NAMES)}, got 'flash'"


@pytest.mark.parametrize(("wrong", "error", "message"), [
    ({"lengths": (0,)}, ValueError, "lengths and size must be at least 1, got 0"),
    ({"size": 2.5}, TypeError, "lengths and size must be an int, got float (2.5)"),
])  # fmt: skip
def test_sizes_must_be_whole(wrong, error, message):
    with pytest.raises(error) as caught:
        measure_roofline(torch.device("cpu"), **wrong)
    assert str(caught.value) == message


@torch.no_grad()
def test_operations_are_those_that_are_counted():
    for name, flops, _, work in _works(7, torch.device("cpu"), torch.float32):
        if name != "LSTM":  # PyTorch's counter does not look into it
            assert count_flops(work) == flops, name


def test_bytes_by_hand():
    moved = {name: bytes for name, _, bytes, _ in _works(7, torch.device("cpu"), torch.float64)}
    ends = 4 * 2 * 16 * 7 * 64 * 8  # q, k, v and the output
    assert moved["fused"] == ends
    assert moved["formula"] == ends + 4 * 2 * 16 * 7 * 7 * 8  # scores and weights, written and read
    parts = [moved[f"formula: {part}"] for part in ("scores", "softmax", "mix")]
    assert sum(parts) == moved["formula"]  # nothing is moved beside the three
    assert moved["decoding"] == 2 * 32 * 16 * 64 * 8 + 2 * 32 * 16 * 7 * 64 * 8
    assert moved["decoding, grouped"] == 2 * 32 * 16 * 64 * 8 + 2 * 32 * 4 * 7 * 64 * 8
    assert moved["layer"] == 2 * 2 * 7 * 1024 * 8 + 4 * 1024**2 * 8
    assert moved["LSTM"] == 2 * 2 * 7 * 1024 * 8 + 8 * 1024**2 * 8


def test_measuring_gives_what_is_stored_in_form():
    roof = measure_roofline(torch.device("cpu"), lengths=(3,), size=5, dtype=torch.float32)
    assert [kernel.name for kernel in roof.kernels] == NAMES
    assert (roof.machine, roof.dtype) == ("CPU", "float32")
    stored = json.loads(stored_roofline().dump())
    assert json.loads(roof.dump()).keys() == stored.keys()
    assert min(kernel.seconds for kernel in roof.kernels) > 0


def test_a_kernel_says_on_which_card_and_when_it_was_measured():
    roof = stored_roofline()
    assert str(roof.setting) == (
        "PyTorch 2.11.0; dtype bfloat16; card first of three; NVIDIA H200; 2026-11-15"
    )
    whole, part = roof.named("formula"), roof.named("formula: softmax")
    assert whole[8192].setting == roof.setting
    assert part[8192].setting == roof.setting | {"card": "second of three", "date": "2026-11-17"}
    assert part[16384].setting["card"] == whole[16384].setting["card"] == "third of three"
    assert roof.named("LSTM")[8192].setting["dtype"] == "float16"
    assert setting_of(whole[8192], part[8192]).stored == "NVIDIA H200, 2026-11-15 / 2026-11-17"


def test_what_was_measured_again_is_a_stored_kernel_on_another_card():
    roof = stored_roofline()
    assert {(kernel.name, kernel.setting["card"]) for kernel in roof.again} >= {("LSTM", "second of three")}
    for kernel in roof.again:
        first = roof.named(kernel.name)[kernel.length]
        assert (kernel.flops, kernel.bytes) == (first.flops, first.bytes)
        assert kernel.setting["card"] != first.setting["card"]


def test_what_was_measured_just_now_is_not_said_to_be_stored():
    roof = measure_roofline(torch.device("cpu"), lengths=(3,), size=5, dtype=torch.bfloat16)
    assert roof.setting.stored == ""
    kinds = {kernel.name: kernel.setting["dtype"] for kernel in roof.kernels}
    assert kinds == {name: "float16" if name == "LSTM" else "bfloat16" for name in NAMES}


def test_stored_measurements_are_written_as_they_were_read():
    stored = resources.files("attnlib") / "data" / "roofline-h200.json"
    assert stored_roofline().dump() == stored.read_text("utf8")


def test_stored_measurements_are_complete():
    roof = stored_roofline()
    assert "H200" in roof.machine
    for name in NAMES:
        longer = [16384] if name.startswith(("formula", "fused")) else []
        assert list(roof.named(name)) == [256, 512, 1024, 2048, 4096, 8192, *longer]
    # nothing is faster than the roof, beyond what reading gains over copying
    assert all(kernel.speed <= 1.15 * roof.ceiling(kernel.intensity) for kernel in roof.kernels)
