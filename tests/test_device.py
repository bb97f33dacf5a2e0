import pytest
import torch

from attnlib import pick_device


def test_variable_decides(monkeypatch):
    monkeypatch.setenv("ATTNLIB_DEVICE", " cpu ")
    assert pick_device() == torch.device("cpu")


def test_without_it_the_best_there_is(monkeypatch):
    monkeypatch.delenv("ATTNLIB_DEVICE", raising=False)
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
