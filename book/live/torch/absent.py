"""Parts of PyTorch that are not here, as far as somebody asks whether they are on."""

from __future__ import annotations

import types
from typing import Any

from torch import missing


class Part(types.ModuleType):
    """A part of PyTorch that answers a few questions and refuses all else."""

    def __init__(self, name: str, **answers: Any) -> None:
        super().__init__(f"torch.{name}")
        self.__dict__.update(answers)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        missing.refuse(f"{self.__name__}.{name}")


def no(*args: Any, **kwargs: Any) -> bool:
    """Say no."""
    return False


def nothing(*args: Any, **kwargs: Any) -> None:
    """Return nothing."""


cuda = Part(
    "cuda", is_available=no, is_current_stream_capturing=no, device_count=lambda: 0, manual_seed_all=nothing
)
mps = Part("backends.mps", is_available=no, is_built=no)
backends = Part("backends", mps=mps)
compiler = Part("compiler", is_compiling=no, is_exporting=no, is_dynamo_compiling=no)
_functorch = Part("_C._functorch", maybe_current_level=nothing, peek_interpreter_stack=nothing)
_C = Part("_C", _functorch=_functorch)
PARTS = {
    "cuda": cuda, "backends": backends, "compiler": compiler, "_C": _C, "accelerator": Part("accelerator", is_available=no),
    "jit": Part("jit", is_scripting=no, is_tracing=no), "ops": Part("ops"), "fx": Part("fx"), "func": Part("func"),
    "optim": Part("optim"), "distributions": Part("distributions"), "fft": Part("fft"), "_dynamo": Part("_dynamo"),
    "version": Part("version", cuda=None, hip=None), "distributed": Part("distributed", is_available=no),
    "export": Part("export"), "profiler": Part("profiler"), "xpu": Part("xpu", is_available=no),
    "mps": Part("mps", is_available=no), "sparse": Part("sparse"), "quantization": Part("quantization"),
    "masked": Part("masked"), "nested": Part("nested"), "library": Part("library"), "multiprocessing": Part("multiprocessing"),
    "hub": Part("hub"), "onnx": Part("onnx"), "package": Part("package"),
}  # fmt: skip
