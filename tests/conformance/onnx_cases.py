"""The test cases that the ONNX project publishes for its operators: inputs, attributes, and the values to reach."""

import warnings
from dataclasses import dataclass
from importlib import import_module

import numpy as np
import pytest
import torch

from tests import DEVICE

MODULES = {
    "Attention": "attention",
    "LinearAttention": "linear_attention",
    "RotaryEmbedding": "rotaryembedding",
}


@dataclass(frozen=True)
class Case:
    name: str
    attributes: dict
    inputs: dict
    outputs: dict


def tensor(array):
    """Return a NumPy array on the device under test; NumPy has no bfloat16 of its own."""
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.astype(np.float32)).to(DEVICE, torch.bfloat16)
    return torch.from_numpy(np.ascontiguousarray(array)).to(DEVICE)


def cases(operator):
    """Return every case of an operator that states values, as parameters for a test.

    The "expanded" cases are left out: they state the same values for the operator written as a graph of others.
    """
    import onnx
    from onnx.backend.test.case import node

    with warnings.catch_warnings():  # NumPy's, of overflows that some cases are about
        warnings.simplefilter("ignore")
        import_module(
            f"{node.__name__}.{MODULES[operator]}"
        )  # importing registers; collecting all takes 10 s
    found = []
    for case in node._NodeTestCases:
        graph_node = case.model.graph.node[0]
        if graph_node.op_type != operator or "expanded" in case.name:
            continue
        (inputs, outputs), *rest = case.data_sets
        assert not rest
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in graph_node.attribute}
        names = [name for name in graph_node.input if name], [name for name in graph_node.output if name]
        found.append(Case(case.name, attributes, *map(_named, names, (inputs, outputs))))
    assert found
    return [pytest.param(case, id=case.name.removeprefix("test_")) for case in found]


def _named(names, arrays):
    return {name: tensor(array) for name, array in zip(names, arrays, strict=True)}


def split(x, heads):
    """Turn ``(B, T, H * D)`` into ``(B, H, T, D)``."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def merge(x):
    """Turn ``(B, H, T, D)`` into ``(B, T, H * D)``."""
    return x.transpose(1, 2).flatten(2)
