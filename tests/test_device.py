import pytest
import torch

from attnlib import device, pick_device


def test_variable_decides(monkeypatch):
    monkeypatch.setenv("ATTNLIB_DEVICE", " cpu ")
    assert pick_device() == torch.device("cpu")


def test_without_it_the_best_there_is(monkeypatch):
    monkeypatch.delenv("ATTNLIB_DEVICE", raising=False)
    monkeypatch.setattr(device, "_wrong", lambda name: ())
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert pick_device().type == "cuda"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert pick_device().type == "mps"
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert pick_device().type == "cpu"


@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize(
    "backend", [torch.backends.cuda.matmul, torch.backends.cudnn], ids=["products", "cudnn"]
)
def test_how_a_gpu_rounds_is_left_as_it_was(monkeypatch, backend, flag):
    monkeypatch.setenv("ATTNLIB_DEVICE", "cpu")
    before = backend.allow_tf32
    try:
        backend.allow_tf32 = flag
        pick_device()
        assert backend.allow_tf32 == flag
    finally:
        backend.allow_tf32 = before


def test_unknown_device_is_named(monkeypatch):
    monkeypatch.setenv("ATTNLIB_DEVICE", "gpu")
    with pytest.raises(ValueError, match=r"must be cpu, cuda, cuda:N or mps, got 'gpu'"):
        pick_device()


def test_absent_device_is_named_with_what_to_do(monkeypatch):
    monkeypatch.setenv("ATTNLIB_DEVICE", "cuda:7")
    with pytest.raises(RuntimeError, match=r"ATTNLIB_DEVICE is 'cuda:7', but .* set it to cpu"):
        pick_device()


def test_a_gpu_that_computes_wrongly_is_named_and_left(monkeypatch):
    monkeypatch.delenv("ATTNLIB_DEVICE", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(
        device, "_wrong", lambda name: ("causal, float16: off by 0.3", "one query, float16: off by 1")
    )
    message = (
        r"mps computes attention wrongly with torch .* \(causal, float16: off by 0.3, and 1 more\); "
        r"the CPU is chosen instead; ATTNLIB_DEVICE decides otherwise"
    )
    with pytest.warns(RuntimeWarning, match=message):
        assert pick_device() == torch.device("cpu")


def test_a_gpu_that_was_asked_for_is_taken_and_what_is_wrong_is_said(monkeypatch):
    monkeypatch.setenv("ATTNLIB_DEVICE", "mps")
    monkeypatch.setattr(device, "_named", torch.device)
    monkeypatch.setattr(device, "_wrong", lambda name: ("causal, float16: off by 0.3",))
    with pytest.warns(RuntimeWarning, match=r"\(causal, float16: off by 0.3\); ATTNLIB_DEVICE asked for it"):
        assert pick_device() == torch.device("mps")


def test_the_cpu_and_cuda_are_not_tried(monkeypatch):
    monkeypatch.setenv("ATTNLIB_DEVICE", "cpu")
    monkeypatch.setattr(device, "_wrong", lambda name: ("all",))
    assert pick_device() == torch.device("cpu")
    monkeypatch.delenv("ATTNLIB_DEVICE")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert pick_device() == torch.device("cuda")  # where trying takes seconds, only doctor tries


def test_a_device_is_tried_once(monkeypatch):
    from attnlib.instruments import conformance

    tried = []
    monkeypatch.setattr(
        conformance, "find_faults", lambda name, cases: tried.append((name, cases)) or ["one"]
    )
    device._wrong.cache_clear()
    assert device._wrong("cuda:7") == device._wrong("cuda:7") == ("one",)
    assert tried == [("cuda:7", conformance.QUICK)]
    device._wrong.cache_clear()
