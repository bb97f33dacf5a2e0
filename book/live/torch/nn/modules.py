"""Modules, forwards only."""

from __future__ import annotations

import itertools
import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from torch import creation, elementwise, missing, random
from torch.nn import functional as F
from torch.nn import init
from torch.nn.parameter import Parameter
from torch.tensor import Tensor


class RemovableHandle:
    """Takes a hook away."""

    _numbers = itertools.count()

    def __init__(self, hooks: dict, *, extra_dict: Any = None) -> None:
        self.hooks, self.id = hooks, next(self._numbers)

    def remove(self) -> None:
        """Take it away."""
        self.hooks.pop(self.id, None)


class Module:
    """What holds parameters and other modules."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        for name in ("_parameters", "_buffers", "_modules", "_forward_hooks", "_forward_pre_hooks"):
            object.__setattr__(self, name, OrderedDict())
        object.__setattr__(self, "_not_stored", set())
        object.__setattr__(self, "training", True)

    def __setattr__(self, name: str, value: Any) -> None:
        known = self.__dict__.get("_parameters")
        if isinstance(value, (Parameter, Module)):
            if known is None:
                kind = "parameters" if isinstance(value, Parameter) else "module"
                raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
            self.__dict__.pop(name, None)
            place = self._parameters if isinstance(value, Parameter) else self._modules
            for other in (self._parameters, self._modules, self._buffers):
                if other is not place:
                    other.pop(name, None)
            place[name] = value
        elif known is not None and name in known:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{type(value).__module__}.{type(value).__name__}' as parameter '{name}' "
                    "(torch.nn.Parameter or None expected)"
                )
            known[name] = None
        elif known is not None and name in self._buffers:
            self._buffers[name] = value
        elif known is not None and name in self._modules:
            self._modules[name] = value
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        for place in ("_parameters", "_buffers", "_modules"):
            held = self.__dict__.get(place, {})
            if name in held:
                return held[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for place in (self._parameters, self._buffers, self._modules):
            if name in place:
                del place[name]
                return
        object.__delattr__(self, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for hook, with_kwargs in list(self._forward_pre_hooks.values()):
            found = hook(self, args, kwargs) if with_kwargs else hook(self, args)
            if found is not None:
                if with_kwargs:
                    args, kwargs = found
                else:
                    args = found if isinstance(found, tuple) else (found,)
        result = self.forward(*args, **kwargs)
        for hook, with_kwargs in list(self._forward_hooks.values()):
            found = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
            result = result if found is None else found
        return result

    def forward(self, *args: Any) -> Any:
        """Compute; each module says how."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def register_forward_hook(
        self, hook: Callable, *, with_kwargs: bool = False, **rest: Any
    ) -> RemovableHandle:
        """Call a function after each call."""
        handle = RemovableHandle(self._forward_hooks)
        self._forward_hooks[handle.id] = hook, with_kwargs
        return handle

    def register_forward_pre_hook(
        self, hook: Callable, *, with_kwargs: bool = False, **rest: Any
    ) -> RemovableHandle:
        """Call a function before each call."""
        handle = RemovableHandle(self._forward_pre_hooks)
        self._forward_pre_hooks[handle.id] = hook, with_kwargs
        return handle

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Hold a parameter, or none under its name."""
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Hold a tensor that is no parameter."""
        self._buffers[name] = tensor
        if not persistent:
            self._not_stored.add(name)

    def register_module(self, name: str, module: Module | None) -> None:
        """Hold a module."""
        self._modules[name] = module

    add_module = register_module

    def named_modules(
        self, memo: set | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator:
        """Go through all modules inside, itself first."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name)

    def modules(self) -> Iterator[Module]:
        """Go through all modules inside, itself first."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator:
        """Go through the modules it holds itself."""
        return ((name, one) for name, one in self._modules.items() if one is not None)

    def children(self) -> Iterator[Module]:
        """Go through the modules it holds itself."""
        return (one for _, one in self.named_children())

    def _named(self, place: str, prefix: str, recurse: bool) -> Iterator:
        seen = set()
        modules = self.named_modules(prefix=prefix) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, one in module.__dict__[place].items():
                if one is not None and id(one) not in seen:
                    seen.add(id(one))
                    yield (f"{path}.{name}" if path else name), one

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator:
        """Go through all parameters."""
        return self._named("_parameters", prefix, recurse)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Go through all parameters."""
        return (one for _, one in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator:
        """Go through all buffers."""
        return self._named("_buffers", prefix, recurse)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Go through all buffers."""
        return (one for _, one in self.named_buffers(recurse=recurse))

    def state_dict(self, *, prefix: str = "", keep_vars: bool = False) -> OrderedDict:
        """Return all parameters and buffers by name."""
        found = OrderedDict()
        for name, one in self._parameters.items():
            if one is not None:
                found[prefix + name] = one if keep_vars else one.data
        for name, one in self._buffers.items():
            if one is not None and name not in self._not_stored:
                found[prefix + name] = one
        for name, module in self._modules.items():
            if module is not None:
                found.update(module.state_dict(prefix=f"{prefix}{name}."))
        return found

    def load_state_dict(self, state_dict: dict, strict: bool = True, assign: bool = False) -> None:
        """Copy numbers by name."""
        own = self.state_dict()
        wrong = [f"Missing key(s): {n}" for n in own if n not in state_dict]
        wrong += [f"Unexpected key(s): {n}" for n in state_dict if n not in own]
        if strict and wrong:
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(wrong)
            )
        for name, one in own.items():
            if name in state_dict:
                elementwise.copy_(one, state_dict[name])

    def get_submodule(self, target: str) -> Module:
        """Return a module by its path."""
        found = self
        for name in filter(None, target.split(".")):
            found = getattr(found, name)
        return found

    def train(self, mode: bool = True) -> Module:
        """Say that it is trained, or not."""
        for module in self.modules():
            object.__setattr__(module, "training", mode)
        return self

    def eval(self) -> Module:
        """Say that it is not trained."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Module:
        """Say whether training would adjust the parameters."""
        for one in self.parameters():
            one.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Do nothing: there are no gradients."""

    def apply(self, fn: Callable) -> Module:
        """Call a function with all modules, itself last."""
        for one in self.children():
            one.apply(fn)
        fn(self)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Module:
        """Bring all real numbers to a dtype."""
        for module in self.modules():
            for place in (module._parameters, module._buffers):
                for name, one in place.items():
                    if one is None:
                        continue
                    moved = elementwise.to(one, *args, **kwargs)
                    if isinstance(one, Parameter) and one.dtype.kind == moved.dtype.kind:
                        one.data = moved
                    elif one.dtype.kind == moved.dtype.kind:
                        place[name] = moved
        return self

    def double(self) -> Module:
        """Bring all real numbers to float64."""
        return self.to(__import__("torch").float64)

    def float(self) -> Module:
        """Bring all real numbers to float32."""
        return self.to(__import__("torch").float32)

    def cpu(self) -> Module:
        """Return it."""
        return self

    def extra_repr(self) -> str:
        """Return what stands between the brackets."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = []
        for name, module in self._modules.items():
            text = repr(module).split("\n")
            lines.append(f"({name}): " + "\n".join([text[0], *("  " + line for line in text[1:])]))
        if not lines:
            return f"{self._get_name()}({extra})"
        return (
            f"{self._get_name()}(\n"
            + "".join(f"  {line}\n" for line in ([extra] if extra else []) + lines)
            + ")"
        )

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self._parameters, *self._buffers, *self._modules})


class Identity(Module):
    """Changes nothing."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what came."""
        return input


class Sequential(Module):
    """Modules one after the other."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], dict) else enumerate(args)
        for name, one in named:
            self.register_module(str(name), one)

    def forward(self, input: Any) -> Any:
        """Call them one after the other."""
        for one in self:
            input = one(input)
        return input

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __len__(self) -> int:
        return len(self._modules)

    def __getitem__(self, index: int) -> Module:
        return list(self._modules.values())[index]


class ModuleList(Module):
    """A list of modules."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        for one in modules or ():
            self.append(one)

    def append(self, module: Module) -> ModuleList:
        """Add one."""
        self.register_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Add some."""
        for one in modules:
            self.append(one)
        return self

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __len__(self) -> int:
        return len(self._modules)

    def __getitem__(self, index: Any) -> Any:
        found = list(self._modules.values())[index]
        return ModuleList(found) if isinstance(index, slice) else found


class ModuleDict(Module):
    """Modules by name."""

    def __init__(self, modules: dict | None = None) -> None:
        super().__init__()
        for name, one in (modules or {}).items():
            self.register_module(name, one)

    def __getitem__(self, name: str) -> Module:
        return self._modules[name]

    def __setitem__(self, name: str, module: Module) -> None:
        self.register_module(name, module)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)

    def items(self) -> Any:
        """Return names and modules."""
        return self._modules.items()

    def values(self) -> Any:
        """Return the modules."""
        return self._modules.values()

    def keys(self) -> Any:
        """Return the names."""
        return self._modules.keys()


def _first(*shape: int, dtype: Any = None, device: Any = None) -> Parameter:
    return Parameter(creation.empty(*shape, dtype=dtype, device=device))


class Linear(Module):
    """A matrix and a bias."""

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = _first(out_features, in_features, dtype=dtype, device=device)
        if bias:
            self.bias = _first(out_features, dtype=dtype, device=device)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw first numbers, the same as PyTorch's."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """Multiply and add."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the sizes."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"
        )


class Embedding(Module):
    """A row for each number."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, *, device: Any = None,
        dtype: Any = None, **rest: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        if padding_idx is not None or rest:
            missing.refuse("torch.nn.Embedding", " with padding_idx and the like")
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        self.weight = _first(num_embeddings, embedding_dim, dtype=dtype, device=device)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw first numbers, the same as PyTorch's."""
        init.normal_(self.weight)

    def forward(self, input: Tensor) -> Tensor:
        """Look up."""
        return F.embedding(input, self.weight)

    def extra_repr(self) -> str:
        """Return the sizes."""
        return f"{self.num_embeddings}, {self.embedding_dim}"


class LayerNorm(Module):
    """Brings the last axes to mean zero and variance one."""

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        self.weight = Parameter(creation.ones(*shape, dtype=dtype)) if elementwise_affine else None
        self.bias = Parameter(creation.zeros(*shape, dtype=dtype)) if elementwise_affine and bias else None
        for name in ("weight", "bias"):
            if self.__dict__.get(name, 0) is None:
                del self.__dict__[name]
                self.register_parameter(name, None)

    def forward(self, input: Tensor) -> Tensor:
        """Bring it there."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return the sizes."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class RMSNorm(Module):
    """Brings the last axes to a mean square of one."""

    def __init__(
        self, normalized_shape: Any, eps: float | None = None, elementwise_affine: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        self.register_parameter(
            "weight", Parameter(creation.ones(*shape, dtype=dtype)) if elementwise_affine else None
        )

    def forward(self, input: Tensor) -> Tensor:
        """Bring it there."""
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Return the sizes."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class Dropout(Module):
    """Leaves numbers out while training, which does not run here."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return what came, unless it is trained."""
        return F.dropout(input, self.p, self.training)

    def extra_repr(self) -> str:
        """Return how many."""
        return f"p={self.p}, inplace={self.inplace}"


def _activation(name: str, function: Callable) -> type[Module]:
    def forward(self: Module, input: Tensor) -> Tensor:
        return function(input)

    return type(name, (Module,), {"forward": forward, "__doc__": f"Applies {name}.", "__module__": __name__})


ReLU = _activation("ReLU", elementwise.relu)
Tanh = _activation("Tanh", elementwise.tanh)
Sigmoid = _activation("Sigmoid", elementwise.sigmoid)
SiLU = _activation("SiLU", F.silu)
ELU = _activation("ELU", F.elu)
Softplus = _activation("Softplus", F.softplus)


class GELU(Module):
    """Applies GELU."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.gelu(input, self.approximate)


class Softmax(Module):
    """Makes weights that add up to one."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Make them."""
        return F.softmax(input, self.dim)


class Softmin(Softmax):
    """Makes weights that are largest for the smallest."""

    def forward(self, input: Tensor) -> Tensor:
        """Make them."""
        return F.softmin(input, self.dim)


class Flatten(Module):
    """Makes one axis of several."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Make it."""
        return input.flatten(self.start_dim, self.end_dim)


class RNNCell(Module):
    """One step of a recurrent network."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity: {nonlinearity}")
        self.input_size, self.hidden_size, self.bias, self.nonlinearity = (
            input_size,
            hidden_size,
            bias,
            nonlinearity,
        )
        self.weight_ih, self.weight_hh = (
            _first(hidden_size, input_size, dtype=dtype),
            _first(hidden_size, hidden_size, dtype=dtype),
        )
        self.register_parameter("bias_ih", _first(hidden_size, dtype=dtype) if bias else None)
        self.register_parameter("bias_hh", _first(hidden_size, dtype=dtype) if bias else None)
        bound = 1 / math.sqrt(hidden_size) if hidden_size > 0 else 0
        for one in self.parameters():
            init.uniform_(one, -bound, bound)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Take one step."""
        if input.ndim not in (1, 2):
            raise ValueError(f"RNNCell: Expected input to be 1D or 2D, got {input.ndim}D instead")
        if hx is not None and hx.ndim not in (1, 2):
            raise ValueError(f"RNNCell: Expected hidden to be 1D or 2D, got {hx.ndim}D instead")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {input.shape[-1]} expected {self.input_size}"
            )
        one = F.linear(input, self.weight_ih, self.bias_ih)
        if hx is None:
            hx = creation.zeros(*input.shape[:-1], self.hidden_size, dtype=input.dtype)
        elif hx.shape[-1] != self.hidden_size:
            raise RuntimeError(
                f"hidden{0} has inconsistent hidden_size: got {hx.shape[-1]}, expected {self.hidden_size}"
            )
        both = elementwise.add(one, F.linear(hx, self.weight_hh, self.bias_hh))
        return elementwise.tanh(both) if self.nonlinearity == "tanh" else elementwise.relu(both)

    def extra_repr(self) -> str:
        """Return the sizes."""
        return f"{self.input_size}, {self.hidden_size}"


class _Recurrent(Module):
    """A recurrent network, of which the page has the parameters and the notebook all else."""

    _gates = 1

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, **rest: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        if rest.pop("nonlinearity", "tanh") not in ("tanh", "relu") or any(rest.values()):
            missing.refuse(f"torch.nn.{type(self).__name__}", f" with {', '.join(rest)}")
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.bidirectional, self.dropout = (
            bias,
            batch_first,
            bidirectional,
            dropout,
        )
        rows, ways = self._gates * hidden_size, 1 + bidirectional
        bound = 1 / math.sqrt(hidden_size) if hidden_size > 0 else 0
        for layer, way in itertools.product(range(num_layers), range(ways)):
            end = f"_l{layer}" + ("_reverse" if way else "")
            width = hidden_size * ways if layer else input_size
            self.register_parameter(f"weight_ih{end}", _first(rows, width))
            self.register_parameter(f"weight_hh{end}", _first(rows, hidden_size))
            if bias:
                self.register_parameter(f"bias_ih{end}", _first(rows))
                self.register_parameter(f"bias_hh{end}", _first(rows))
        for one in self.parameters():
            init.uniform_(one, -bound, bound)

    def forward(self, *args: Any) -> Any:
        """Refuse."""
        missing.refuse(f"calling torch.nn.{type(self).__name__}")


class RNN(_Recurrent):
    """A plain recurrent network."""


class GRU(_Recurrent):
    """One with three gates."""

    _gates = 3


class LSTM(_Recurrent):
    """One with four gates."""

    _gates = 4


def absent(name: str) -> type[Module]:
    """Return a class that nothing is of, and that says so when one is made."""

    def refuse(self: Module, *args: Any, **kwargs: Any) -> None:
        missing.refuse(f"torch.nn.{name}")

    return type(
        name, (Module,), {"__init__": refuse, "__doc__": "Does not run on the page.", "__module__": __name__}
    )


def _skip(module_class: type, *args: Any, **kwargs: Any) -> Module:
    state = random.default_generator.get_state()
    try:
        return module_class(*args, **kwargs)
    finally:
        random.default_generator.set_state(state)
