"""Attributes and methods of tensors that are no functions of the table: what autograd, memory and types are about."""

from __future__ import annotations

from typing import Any
from weakref import WeakSet, ref

import numpy as np

from gradcli.engine.graph import NODES
from gradcli.ops.declare import saved_here, value_of
from gradcli.ops.joining import PUT
from gradcli.runner import printing
from gradcli.runner.backward import grad_fn_of
from gradcli.runner.converting import array_of, cast, dtype_name
from gradcli.runner.events import note
from gradcli.runner.library import ATTRIBUTES, FOREIGN_TO, METHODS, method, native
from gradcli.runner.numpy_values import refuse_active
from gradcli.runner.printing import doubles, grad_fn_name
from gradcli.runner.python.builtins import item_of, type_name
from gradcli.runner.python.containers import put, refuse_stale, rows, write_back
from gradcli.runner.python.host_attributes import DUNDERS
from gradcli.runner.python.operators import traced
from gradcli.runner.state import Run, constant, lay_out, show
from gradcli.runner.values import (
    FLOATS,
    TITLES,
    TORCHS,
    Class,
    Data,
    Detached,
    DType,
    Instance,
    Rest,
    Size,
    Tensor,
    View,
    category,
    extra_of,
)

BYTES = {"float64": 8, "int64": 8, "float32": 4, "int32": 4, "float16": 2, "bfloat16": 2, "int16": 2}
"""Bytes of an entry, where it has more than one."""


def memory_of(run: Run, x: Tensor) -> Tensor:
    """Return what holds the memory of a tensor without its history."""
    if type(x) is not Tensor:
        return x.rest if type(x) in (Detached, Data) else x  # type: ignore[attr-defined]
    extra = extra_of(x)
    if extra.rest is None:
        extra.rest = Rest(x, constant(run, x.node))
    return extra.rest


def leave_memory(run: Run, x: Tensor) -> None:
    """Leave the memory that a tensor has had to those who show it."""
    if x.extra is not None and x.extra.twins:
        x.extra.twins[:] = [one for one in x.extra.twins if one() is not x]
        x.extra.twins = []
    if x.extra is None or not x.extra.views:
        return
    memory = Tensor(constant(run, x.node), x.dtype, x.library)
    for view in x.extra.views:
        view.node = view.node
        view.base, view.seen = memory, memory.version
    x.extra.views = None


def share(x: Tensor, source: Tensor) -> None:
    """Let a tensor have the memory of another, or of what that one shows as a whole."""
    source = source.base if isinstance(source, Detached) and source.shape == source.base.shape else source
    if type(source) is Tensor and source is not x and (source.leaf or not source.active):
        twins = extra_of(source).twins
        twins += [ref(one) for one in ((x,) if twins else (source, x))]
        extra_of(x).twins = twins


@method("detach")
def detached(run: Run, x: Tensor, kind: type[Detached] = Detached) -> Tensor:
    """Return the same memory, without derivatives; what is written to ``Data`` is no new version.

    The tensor knows the view, which keeps the memory where the tensor gets another.
    """
    view = kind(memory_of(run, x), lambda node: constant(run, node), constant(run, x.node), x.dtype, run.overwritten)
    extra = extra_of(x)
    if extra.views is None:
        extra.views = WeakSet()
    extra.views.add(view)
    return view


@method("flatten")
@native("torch.flatten")
def flattened(run: Run, x: Tensor, *arguments: Any, **named: Any) -> Tensor:
    """Return a tensor with fewer axes, the same one where it has no more."""
    made = run.function("flatten", x, *arguments, **named)
    return x if x.library == "torch" and made.shape == x.shape else made


@method("detach_")
def detach_here(run: Run, x: Tensor) -> Tensor:
    """Cut a tensor off from what made it."""
    x.node, x.leaf, x.made_by = constant(run, x.node), False, None
    return x


@method("requires_grad_")
def require(run: Run, x: Tensor, requires_grad: bool = True) -> Tensor:
    """Make a tensor a leaf that is differentiated, or no longer."""
    set_requires(run, x, requires_grad, "only Tensors of floating point dtype can require gradients")
    return x


NO_INTEGERS = "only Tensors of floating point and complex dtype can require gradients"


def set_requires(run: Run, x: Any, on: bool, why: str = NO_INTEGERS) -> None:
    """Switch whether a tensor is differentiated; raises what PyTorch raises."""
    if on and category(x.dtype) < 2:
        run.fail("RuntimeError", why)
    if on and not x.active:
        run.enter_leaf(x)
    elif not on and x.active:
        if not x.leaf:
            run.fail_as("no leaf")
        run.by_leaf.pop(x.node.index, None)
        x.node, x.leaf = np.asarray(x.value), False


READ_ONLY = ("shape", "is_leaf", "T", "mT", "H", "dtype", "device", "ndim", "grad_fn", "itemsize", "nbytes")
"""Attributes that no script may set."""


def assign(run: Run, x: Tensor, name: str, value: Any) -> None:  # noqa: C901 - one case for each name
    """Do ``x.name = value``; raises what PyTorch raises."""
    if name == "grad":
        if value is not None:
            check_grad(run, x, value)
        if x.grad is not None and (value is None or (isinstance(value, Tensor) and not np.any(value.value))):
            note(run, "zero", x)
        x.grad = value
    elif name == "data":
        if not (isinstance(value, Detached) and value.base is x):  # its own, as ``x.data -= g`` gives it back
            set_data(run, x, value)
    elif name == "_made_by":  # a library's text says what PyTorch calls the function that it stands for
        x.made_by = value
    elif name in READ_ONLY and x.library == "torch":
        run.fail("AttributeError", f"attribute '{name}' of 'torch._C.TensorBase' objects is not writable")
    elif name == "requires_grad":
        assign_requires(run, x, value)
    elif name == "flat" and x.library == "numpy":
        put(run, run.attribute(x, "flat"), ..., value)
    elif name == "shape" and x.library == "numpy":
        x.node = run.function("reshape", x, *value).node
    else:
        extra = extra_of(x)
        extra.fields = (extra.fields or {}) | {name: value}


def assign_requires(run: Run, x: Tensor, value: Any) -> None:
    """Do ``x.requires_grad = value``."""
    if type(value) is not bool and x.library == "torch":
        run.fail("RuntimeError", "requires_grad must be a bool")
    if value is True and x.active and not x.leaf:
        run.fail("RuntimeError", "you can only change requires_grad flags of leaf variables.")
    set_requires(run, x, bool(value))


def check_grad(run: Run, x: Tensor, value: Any) -> None:
    """Raise what PyTorch raises for a gradient that does not fit."""
    if not isinstance(value, Tensor):
        run.fail("TypeError", f"assigned grad expected to be a Tensor or None but got grad of type {type_name(value)}")
    if value.shape != x.shape:
        run.fail_as("grad shape", list(value.shape), list(x.shape))
    if value.dtype != x.dtype:
        run.fail_as("grad dtype", TITLES[value.dtype][1], TITLES[x.dtype][0])


def set_data(run: Run, x: Tensor, value: Any) -> Tensor:
    """Give a tensor other memory, past the record of what was computed."""
    leave_memory(run, x)
    numbers = np.array(value.value) if isinstance(value, Tensor) else np.asarray(value)
    if type(x.node) in NODES and not run.held.live and isinstance(value, Tensor) and type(value.node) in NODES:
        numbers = constant(run, value.node)
    old = x.node
    is_leaf = x.leaf and x.active
    if is_leaf:
        note(run, "update", x)
        run.by_leaf.pop(old.index, None)
    is_inner, memory = x.active and not is_leaf, x
    x.made_by = run.grad_fn_name(x) if is_inner else x.made_by
    if isinstance(x, View) and not is_inner:  # it shows another's memory no longer
        memory = Tensor(numbers, x.dtype, x.library)
        memory.version, x.base, x.look = x.version, memory, lambda node: node
    x.node = run.overwritten(old, numbers) if is_inner and np.shape(numbers) == old.shape else numbers
    if is_leaf:
        run.enter_leaf(x)
    if isinstance(value, Tensor):
        x.dtype = memory.dtype = value.dtype
        share(memory, value)
    if type(old) in NODES and run.held.live:  # what was saved of it for backward is the tensor itself, or an output
        flows = tuple([k in old.links for k in range(len(old.arguments))]) if is_inner else ()
        old.value = old.value if is_inner and saved_here(old.op, flows).output else value_of(x.node)
    return x


@method("item")
def item(run: Run, x: Tensor) -> Any:
    """Return the number of a tensor of one entry."""
    if np.size(x.value) != 1:
        if x.library == "torch":
            run.fail("RuntimeError", f"a Tensor with {np.size(x.value)} elements cannot be converted to Scalar")
        run.fail("ValueError", "can only convert an array of size 1 to a Python scalar")
    return item_of(run, x)


@method("numpy")
def numpy(run: Run, x: Tensor, *, force: bool = False) -> Tensor:
    """Return a tensor as an array of NumPy's, of the same memory."""
    if not force and not run.held.through:
        refuse_active(run, x)
    single = x.node if type(x.node) in NODES else np.asarray(x.value)
    made = show(x, lambda node: node, x.node, x.dtype) if x.shape else Tensor(single, x.dtype)
    made.library = "numpy"
    return made


@method("view")
def view(run: Run, x: Tensor, *shape: Any, dtype: Any = None) -> Any:
    """Return the same memory in another shape; raises what PyTorch raises where it cannot be had."""
    if x.library != "torch" or dtype is not None or (shape and dtype_name_of(shape[0]) is not None):
        name = dtype_name_of(shape[0] if dtype is None and shape else dtype)
        return x if name is None else cast(run, x, name)
    made = run.function("view", x, *shape)
    if x.shape and not is_contiguous(run, x) and not np.may_share_memory(np.asarray(made.value), np.asarray(x.value)):
        run.fail_as("view")
    return made


@method("to", "type", "astype", "view_as_dtype")
def to(run: Run, x: Tensor, *arguments: Any, dtype: Any = None, copy: bool = False, **_: Any) -> Any:
    """Return a tensor as another type of numbers."""
    for argument in arguments:
        if isinstance(argument, Tensor):
            dtype = DType(argument.dtype)
        elif isinstance(argument, DType) or dtype_name_of(argument) is not None:
            dtype = argument
    if not arguments and dtype is None:
        return f"torch.{TITLES[x.dtype][0]}Tensor"
    name = dtype_name_of(dtype)
    made = x if name is None else cast(run, x, name)
    return run.function("clone", x) if copy and made is x else made


def dtype_name_of(argument: Any) -> str | None:
    """Return the type that an argument names, None for a device and the like."""
    text = argument.name if isinstance(argument, Class) else argument
    if isinstance(text, str) and text.endswith("Tensor"):
        last = text.rpartition(".")[2]
        return next((name for name, (title, _) in TITLES.items() if last == f"{title}Tensor"), None)
    if isinstance(argument, str):
        return argument if argument in (*FLOATS, "int64", "int32", "bool", "int", "float") else None
    return dtype_name(None, argument) if isinstance(argument, DType | Class) else None  # type: ignore[arg-type]


@method("is_inference")
def is_inference(run: Run, x: Tensor) -> bool:
    """Return whether the numbers were made in inference mode, where the script has not been in it."""
    if run.inference:
        raise run.refuse("'Tensor.is_inference' after torch.inference_mode() is not part of gradcli")
    return False


@method("is_contiguous")
def is_contiguous(run: Run, x: Tensor) -> bool:
    """Return whether entries stand one after the other in memory."""
    value = x.value
    return not isinstance(value, np.ndarray) or bool(value.flags.c_contiguous)


@method("clone")
@native("torch.clone")
def clone(run: Run, input: Tensor, *, memory_format: Any = None) -> Any:
    """Return a copy, which lies in memory as the tensor does unless it is to be contiguous."""
    made = run.function("clone", input)
    return lay_out(made) if getattr(memory_format, "name", "").endswith("contiguous_format") else made


@method("stride")
def stride(run: Run, x: Tensor, dim: int | None = None) -> Any:
    """Return how far apart in memory neighbours along each axis are."""
    value = np.asarray(x.value)
    steps = tuple(step // value.itemsize for step in value.strides)
    return steps if dim is None else steps[dim]


def data_ptr(run: Run, x: Tensor) -> int:
    """Return where the numbers of a tensor begin: a view's some entries behind those of its base."""
    own, whole = np.asarray(x.value), np.asarray(x.root.value)
    entries = (own.ctypes.data - whole.ctypes.data) // own.itemsize if np.may_share_memory(own, whole) else 0
    return (int(run.call(run.builtin("id"), [x.root])) << 20) + entries * BYTES.get(x.dtype, 1)


def tolist(run: Run, x: Tensor) -> Any:
    """Return the numbers as nested lists."""
    if traced(x) or (x.active and run.held.through):
        return [tolist(run, row) for row in run.iterate(x)] if x.shape else item_of(run, x)
    return printing.cast(doubles(x), x.dtype).tolist()


@method("retain_grad")
def retain_grad(run: Run, x: Tensor) -> None:
    """Keep the gradient of an inner value."""
    if not x.active:
        run.fail("RuntimeError", "can't retain_grad on Tensor that has requires_grad=False")
    if not x.leaf:
        extra_of(x).retains = True
        run.retained[x.node.index] = x


# ---- writes in place that are no function's result
def over(run: Run, x: Tensor, node: Any) -> Any:
    """Return a node in the place of all that a tensor holds: nothing comes through to what made that."""
    return run.f(PUT, x.node, node, key=(...,)) if x.active and x.base is None else node


def filled(run: Run, x: Tensor, node: Any, made_by: str = "NormalBackward0") -> Tensor:
    """Write numbers into a whole tensor."""
    run.refuse_leaf(x)
    run.write(x, node, None, made_by)
    return x


@method("zero_")
def zero(run: Run, x: Tensor) -> Tensor:
    """Write zeros."""
    refuse_stale(run, x)
    run.zeroed(x)
    return filled(run, x, np.zeros(x.shape) if category(x.dtype) == 2 else np.zeros(x.shape, np.int64), "ZeroBackward0")


@method("fill_")
def fill(run: Run, x: Tensor, value: Any) -> Tensor:
    """Write one number everywhere."""
    refuse_stale(run, x)
    if isinstance(value, Tensor) and value.shape and x.library == "torch":
        what = f"fill_ only supports 0-dimension value tensor but got tensor with {len(value.shape)} dimensions."
        run.fail("RuntimeError", what)
    if isinstance(value, Tensor) and value.active:
        return filled(run, x, over(run, x, run.function("expand", value, *x.shape).node), "FillBackward3")
    number, name = (value.value, "FillBackward3") if isinstance(value, Tensor) else (value, "FillBackward2")
    return filled(run, x, np.full(x.shape, float(number)), name)


@method("fill_diagonal_")
def fill_diagonal(run: Run, x: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write one number along the diagonal."""
    fill(run, run.function("diagonal", x), fill_value)
    return x


def reshaping(name: str) -> Any:
    """Return a method that gives a tensor other axes in place."""

    def reshape_here(run: Run, x: Tensor, *arguments: Any) -> Tensor:
        run.refuse_leaf(x)
        made = run.function(name, x, *arguments)
        is_call = isinstance(made.made_by, tuple)
        x.node, x.made_by = made.node, (f"{name}_", *made.made_by[1:]) if is_call else made.made_by
        x.version += 1
        return x

    return reshape_here


METHODS |= {f"{name}_": reshaping(name) for name in ("t", "transpose", "squeeze", "unsqueeze", "swapaxes", "swapdims")}


@method("copy_")
def copy(run: Run, x: Tensor, other: Any, non_blocking: bool = False) -> Tensor:
    """Write another tensor's numbers, with their derivatives."""
    refuse_stale(run, x)
    source = other if isinstance(other, Tensor) else array_of(run, other, "numpy")
    run.refuse_overlap(x, [source], copied=True)
    made = Tensor(source.node, x.dtype)
    if x.active and x.shape == made.shape:
        made = Tensor(over(run, x, made.node), x.dtype)
    write_back(run, x, made, None, "CopyBackwards")
    return x


def grad_of(run: Run, x: Tensor) -> Tensor | None:
    """Return ``.grad``; that a script reads it of a value that it computes, where it is None, is kept for a note."""
    if x.grad is None and not x.leaf and x.active and not run.quiet:
        name = run.name_of(x)
        if name:
            run.noting.inner.setdefault(name)
    return x.grad


ATTRIBUTES |= {
    "shape": lambda run, x: Size(x.shape) if x.library == "torch" else x.shape,
    "dtype": lambda run, x: DType(x.dtype, "torch" if x.library == "torch" else "array"),
    "ndim": lambda run, x: len(x.shape),
    "size": lambda run, x: (
        (lambda run, dim=None: Size(x.shape) if dim is None else x.shape[dim])
        if x.library == "torch"
        else int(np.size(x.value))
    ),
    "itemsize": lambda run, x: BYTES.get(x.dtype, 1),
    "nbytes": lambda run, x: BYTES.get(x.dtype, 1) * int(np.size(x.value)),
    "T": lambda run, x: run.function("permute", x, *reversed(range(len(x.shape)))) if len(x.shape) > 1 else x,
    **dict.fromkeys(("mT", "H", "mH"), lambda run, x: run.function("transpose", x, -2, -1) if len(x.shape) > 1 else x),
    "real": lambda run, x: x,
    "flat": lambda run, x: rows(run, run.function("reshape", x, -1)),
    "grad": grad_of,
    "grad_fn": lambda run, x: None if (name := grad_fn_name(x)) is None else grad_fn_of(run, x.node, name),
    "__class__": lambda run, x: run.type_of(x),
    "requires_grad": lambda run, x: x.active,
    "is_leaf": lambda run, x: x.leaf or not x.active,
    "retains_grad": lambda run, x: x.extra is not None and x.extra.retains,
    "output_nr": lambda run, x: max(getattr(x, "part", 0), 0),
    "_base": lambda run, x: None if isinstance(x, Detached) or x.base is None else x.root,
    "_version": lambda run, x: x.writes,
    "data": lambda run, x: detached(run, x, Data),
    "device": lambda run, x: run.member("torch.device").make(run, "cpu") if x.library == "torch" else "cpu",
    "layout": lambda run, x: run.member("torch.strided"),
    **dict.fromkeys(("is_cuda", "is_sparse", "is_quantized", "is_mps", "is_meta"), lambda run, x: False),
}
METHODS |= {
    **{name: method for name, method in DUNDERS.items() if name not in ("__call__", "__next__")},
    **{name: lambda run, x, dtype=dtype: cast(run, x, dtype) for name, dtype in TORCHS.items()},
    "type_as": lambda run, x, other: cast(run, x, other.dtype),
    **{
        f"{name}_as": lambda run, x, other, name=name: run.function(name, x, *other.shape)
        for name in ("expand", "view", "reshape")
    },
    **dict.fromkeys(("numel", "nelement"), lambda run, x: int(np.size(x.value))),
    **dict.fromkeys(("dim", "ndimension"), lambda run, x: len(x.shape)),
    "is_floating_point": lambda run, x: category(x.dtype) == 2,
    "element_size": lambda run, x: BYTES.get(x.dtype, 1),
    "get_device": lambda run, x: -1,
    "data_ptr": data_ptr,
    **dict.fromkeys(
        ("storage", "untyped_storage"),
        lambda run, x: Instance(Class("torch.storage", [], {"data_ptr": lambda run, me: data_ptr(run, x.root)})),
    ),
    "contiguous": lambda run, x, memory_format=None: x if is_contiguous(run, x) else lay_out(run.function("clone", x)),
    **dict.fromkeys(
        ("cpu", "cuda", "pin_memory", "block_until_ready", "xpu", "share_memory_"), lambda run, x, *_, **__: x
    ),
    "copy": lambda run, x, order="C": run.function("clone", x),
    **dict.fromkeys(("__array__", "asnumpy"), lambda run, x: Tensor(x.node, x.dtype, "numpy")),
    "tolist": tolist,
    "set_": set_data,
    "fill": lambda run, x, value: fill(run, x, value) and None,
}
TORCHS_OWN = {
    "abs", "exp", "log", "sqrt", "sin", "cos", "tanh", "add", "sub", "mul", "div", "pow", "matmul", "numel",
    "dim", "backward", "detach", "requires_grad", "grad", "zero_", "add_", "cpu", "cuda", "to", "float", "long",
    "double", "int", "unsqueeze", "permute", "norm", "relu", "sigmoid", "numpy", "grad_fn", "is_leaf", "data",
    "requires_grad_", "retain_grad", "expand", "softmax", "mm", "t", "neg", "square",
}  # fmt: skip
"""Attributes of PyTorch's tensors that arrays of NumPy's and JAX's do not have."""
FOREIGN_TO |= {"numpy": TORCHS_OWN, "jax": TORCHS_OWN}
