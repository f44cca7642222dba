"""``torch.autograd.Function``: a forward pass that leaves one node, whose derivative is the user's own backward."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES
from gradcli.errors import GradcliError
from gradcli.ops.declare import Entries, Exactly, Keeps, Op, Piecewise, Said, Text, Torch, value_of
from gradcli.ops.joining import INDEX
from gradcli.ops.links import At, Links
from gradcli.ops.shaping import CLONE, RESHAPE
from gradcli.ops.tracing import Traced, traced
from gradcli.ops.values import unbroadcast
from gradcli.records import dataclass
from gradcli.runner.backward import Freed
from gradcli.runner.exceptions import Raised
from gradcli.runner.library import TABLE, native, quietly
from gradcli.runner.state import Run, constant
from gradcli.runner.transforms import parameter_names
from gradcli.runner.values import (
    UNBOUND,
    Class,
    ClassMethod,
    Instance,
    Property,
    Size,
    StaticMethod,
    Tensor,
    category,
    extra_of,
)


# ---- ctx
def save(run: Run, ctx: Instance, *tensors: Any) -> None:
    """Keep tensors for backward, with their versions."""
    for one in tensors:
        if one is not None and not isinstance(one, Tensor):
            run.fail_as("save tensors", run.type_name(one))
    ctx.fields["_saved"] = tuple([(t, t.root.version if t is not None else 0) for t in tensors])


def saved(run: Run, ctx: Instance) -> tuple[Any, ...]:
    """Return what was kept; raises what PyTorch raises where it is freed or was written to."""
    node = ctx.fields.get("_node")
    if type(getattr(node, "links", None)) is Freed:
        run.fail_as("second time")
    for tensor, version in ctx.fields.get("_saved", ()):
        if tensor is not None and tensor.root.version != version:
            run.fail_as("changed in place", list(tensor.shape), tensor.root.version, version)
    return tuple([tensor for tensor, _ in ctx.fields.get("_saved", ())])


def noting(field: str) -> Any:
    """Return a method that notes tensors in a field of ctx."""
    return lambda run, ctx, *tensors: ctx.fields.__setitem__(field, tensors)


CONTEXT = Class(
    "FunctionCtx",
    [],
    {
        "save_for_backward": save, "saved_tensors": Property(saved), "saved_variables": Property(saved),
        "save_for_forward": noting("_ahead"), "mark_non_differentiable": noting("_flat"),
        "mark_dirty": noting("_dirty"),
        "set_materialize_grads": lambda run, ctx, value: ctx.fields.__setitem__("_materialize", value),
    },
    qualified="torch.autograd.function.FunctionCtx",
)  # fmt: skip


# ---- the call
def apply(run: Run, kind: Class, *arguments: Any) -> Any:
    """Do what ``Function.apply`` does."""
    forward, setup = kind.find("forward"), kind.find("setup_context")
    if forward is UNBOUND:
        run.fail("NotImplementedError", "You must implement the forward function for custom autograd.Function.")
    forward = forward.function if isinstance(forward, StaticMethod) else forward
    name = f"{kind.name}Backward"
    ctx = Instance(Class(name, [CONTEXT], dict(kind.members), qualified=f"torch.autograd.function.{name}"))
    tensors = [a for a in arguments if isinstance(a, Tensor)]
    inputs = tuple([t.node for t in tensors if t.active])  # forward may write to them
    ctx.fields["needs_input_grad"] = tuple([isinstance(a, Tensor) and a.active for a in arguments])
    before, through, start = run.enable_grad(False), run.held.through, run.count
    linked = before and any(t.active for t in tensors)
    run.held.through = through or (run.forwards and linked)
    try:
        if setup is UNBOUND:
            made = run.call(forward, [ctx, *arguments])
        else:
            made = run.call(forward, list(arguments))
            run.call(setup, [ctx, tuple(arguments), made])
    finally:
        run.held.through = through
        run.enable_grad(before)
    if not linked:
        return made
    flat = ctx.fields.get("_flat", ())
    results = results_of(run, made, tensors, flat)
    smooth = [t for t in results if isinstance(t, Tensor) and category(t.dtype) == 2 and not any(t is f for f in flat)]
    if smooth:
        every = [t for t in results if isinstance(t, Tensor)]
        backward = kind.find("backward")
        backward = kind.find("vjp") if backward is UNBOUND else backward
        call = Call(run, kind.name, ctx, backward, arguments, [(t.shape, t.dtype) for t in smooth])
        call.every = [next((k for k, y in enumerate(smooth) if y is t), (t.shape, t.dtype)) for t in every]
        note_custom(run, call)
        if run.forwards:
            for one in smooth:
                one.leaf, one.made_by = False, f"{call.name}Backward"
            call.note_forward(parameter_names(forward)[setup is UNBOUND :], inputs, smooth, start)
            keep_numbers(run, ctx, [*arguments, *every])
        else:
            parts_of_node(run, call, tuple([t.node for t in tensors if t.active]), smooth)
    for written in ctx.fields.get("_dirty", ()):
        result = results[0]
        if isinstance(result, Tensor) and result.active:
            run.write(written, result.node, None, result.made_by)
            results[0] = written
    return tuple(results) if isinstance(made, tuple | list) else results[0]


def results_of(run: Run, made: Any, tensors: list[Tensor], flat: tuple[Any, ...]) -> list[Any]:
    """Return the results of a forward pass, of memory of their own; those that are ``flat`` have no derivative."""
    results = list(made) if isinstance(made, tuple | list) else [made]
    for k, one in enumerate(results):
        if isinstance(one, Tensor) and (one.base is not None or any(one is t for t in tensors)):
            node = run.graph(CLONE, one.node) if run.forwards else one.node
            results[k] = Tensor(node if run.forwards or type(node) not in NODES else np.asarray(node.value), one.dtype)
        if run.forwards and any(one is t for t in flat):
            one.node = constant(run, one.node)
    return results


def note_custom(run: Run, call: Call) -> None:
    """Note a call of a function with a backward of the script's own in a run that is recorded, but in a backward."""
    if run.replay is not None and not run.inside:
        run.customs.append(call)


def keep_numbers(run: Run, ctx: Instance, outside: list[Any]) -> None:
    """Cut off what ctx keeps of a forward pass that is recorded, but for arguments and outputs: no history is there."""

    def held(value: Any) -> Any:
        inner = isinstance(value, Tensor) and value.active and not any(value is one for one in outside)
        if not inner:
            return value
        made = Tensor(constant(run, value.node), value.dtype, value.library)
        made.version = value.root.version
        return made

    for name, value in ctx.fields.items():
        ctx.fields[name] = held(value)
    ctx.fields["_saved"] = tuple([(held(t), version) for t, version in ctx.fields.get("_saved", ())])


def parts_of_node(run: Run, call: Call, inputs: tuple[Any, ...], outputs: list[Tensor]) -> None:
    """Make outputs of a call parts of one node."""
    first = outputs[0]
    numbers = first.value if len(outputs) == 1 else np.concatenate([np.ravel(np.asarray(t.value)) for t in outputs])
    numbers = np.asarray(numbers)[()] if np.asarray(numbers).dtype != object else numbers
    call.result = numbers
    node = run.graph.apply(OWN, inputs, {"call": call}, [value_of(x) for x in inputs])
    call.ctx.fields["_node"] = node
    start = 0
    for place, one in enumerate(outputs):
        if len(outputs) > 1:
            size = math.prod(one.shape)
            part = run.graph(INDEX, node, key=slice(start, start + size))
            part = run.graph(RESHAPE, part, shape=one.shape)
            start += size
        else:
            part = node
        one.node, one.leaf, one.made_by = part, False, f"{call.name}Backward"
        if place:
            extra_of(one).several = True


@dataclass(frozen=True, slots=True)
class Forward:
    """A forward pass that was recorded: its differentiated arguments and outputs, its nodes, and what they are called.

    The nodes are those from number ``start`` to the one before ``end``; an output may be numbers alone.
    """

    inputs: tuple[Any, ...]
    outputs: list[Any]
    start: int
    end: int
    names: list[str]


NOT_RECORDED = Forward((), [], 0, 0, [])


class Call:
    """One call of a function of the user's: its derivative runs his backward."""

    def __init__(
        self, run: Run, name: str, ctx: Instance, backward: Any, arguments: tuple[Any, ...], outputs: list[Any],
        library: str = "torch",
    ) -> None:  # fmt: skip
        self.run, self.name, self.ctx, self.backward = run, name, ctx, backward
        self.places = [k for k, a in enumerate(arguments) if isinstance(a, Tensor) and a.active]
        self.shapes = [arguments[k].shape for k in self.places]
        self.library = library
        self.count = len(arguments)
        self.outputs = outputs
        self.every: list[Any] = list(range(len(outputs)))
        self.result: Any = None
        self.last: tuple[Any, list[Any]] | None = None
        self.forward = NOT_RECORDED

    def note_forward(self, names: list[str], inputs: tuple[Any, ...], outputs: list[Tensor], start: int) -> None:
        """Note the nodes of a forward pass that was recorded; ``names`` are those of its parameters."""
        called = [names[k] if k < len(names) else f"argument {k + 1}" for k in self.places]
        self.forward = Forward(inputs, [y.node for y in outputs], start, self.run.count, called)

    def saved(self) -> list[Any] | None:
        """Return the nodes and arrays that the forward has saved; None where ctx is none of PyTorch's."""
        tensors = self.ctx.fields.get("_saved", () if self.library == "torch" else None)
        return None if tensors is None else [tensor.node for tensor, _ in tensors if tensor is not None]

    def part(self, k: int, g: Any, again: bool) -> Any:
        """Return the gradient by the k-th differentiated argument: the user's backward runs once for all of them."""
        if self.last is None or self.last[0] is not g:
            self.last = g, self.gradients(g, again)
        parts = self.last[1]
        if k == len(parts) - 1:
            self.last = None
        return parts[k]

    def rows(self, k: int, shape: tuple[int, ...]) -> Any:
        """Return the Jacobian by the k-th differentiated argument, from one-hot cotangents."""
        size, width = math.prod(shape), math.prod(self.shapes[k])
        rows = []
        with Aside(self.run):
            for row in range(size):
                g = np.zeros(size)
                g[row] = 1.0
                try:
                    part = self.gradients(g.reshape(shape), again=False)[k]
                except Raised as error:
                    why = f"{error.name}: {error.text}" if error.text else error.name
                    text = f"the backward of {self.name} raises {why} for a one-hot v, and has no J"
                    raise GradcliError("not-differentiable", text) from None
                rows.append(np.zeros(width) if part is None else np.ravel(np.asarray(part)))
        return np.array(rows).reshape(size, width)

    def gradients(self, g: Any, again: bool) -> list[Any]:
        """Return what the user's backward gives for the differentiated arguments."""
        run = self.run
        if self.backward is UNBOUND:
            run.fail_as("no backward")
        run.inside += 1
        try:
            with quietly(run, grad=again):
                gs = self.cotangents(g)
                every = [gs[k] if isinstance(k, int) else self.zeros(*k) for k in self.every]
                made = run.call(self.backward, [self.ctx, *every])
        finally:
            run.inside -= 1
        given = list(made) if isinstance(made, tuple | list) else [made]
        while len(given) > self.count and given[-1] is None:
            given.pop()
        if len(given) != self.count:
            run.fail_as("gradient count", self.name, self.count, len(given))
        places = zip(self.places, self.shapes, strict=True)
        return [self.checked(place, given[place], shape, again) for place, shape in places]

    def zeros(self, shape: tuple[int, ...], dtype: str) -> Any:
        """Return the cotangent of an output that no derivative flows to."""
        if not self.ctx.fields.get("_materialize", True):
            return None
        return self.run.make(np.zeros(shape), dtype, self.library)

    def cotangents(self, g: Any) -> list[Any]:
        """Return the cotangents of the outputs as tensors."""
        run = self.run
        node = g.node if type(g) is Traced else g
        if len(self.outputs) == 1:
            shape, dtype = self.outputs[0]
            whole = node if type(node) in NODES else np.array(np.broadcast_to(node, shape))
            return [Tensor(whole, dtype, self.library)]
        result: list[Any] = []
        start = 0
        for shape, dtype in self.outputs:
            size = math.prod(shape)
            if type(node) in NODES:
                part = run.graph(RESHAPE, run.graph(INDEX, node, key=slice(start, start + size)), shape=shape)
            else:
                part = np.array(node[start : start + size]).reshape(shape)
            start += size
            bare = not self.ctx.fields.get("_materialize", True) and not np.any(value_of(part))
            result.append(None if bare else Tensor(part, dtype, self.library))
        return result

    def checked(self, place: int, made: Any, shape: tuple[int, ...], again: bool) -> Any:
        """Return one gradient as the engine takes it; raises what PyTorch raises where its shape does not fit."""
        run = self.run
        if made is None:
            return None
        if not isinstance(made, Tensor):
            run.fail("TypeError", f"expected Variable or None (got {run.type_name(made)})")
        if made.shape != shape and not broadcasts(shape, made.shape):
            run.fail_as("gradient shape", self.name, place, list(made.shape), list(Size(shape)))
        if again:
            return traced(run.graph, made.node, value_of(made.node).dtype == object)
        array = np.asarray(made.value)
        return unbroadcast(array if array.dtype == object else array.astype(np.float64), shape)


def broadcasts(shape: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Return whether a shape broadcasts to another."""
    try:
        return np.broadcast_shapes(other, shape) == other
    except ValueError:
        return False


class Aside:
    """Keeps what runs within out of what a recorded run tells: its nodes, names and decisions."""

    def __init__(self, run: Run) -> None:
        self.run = run
        lists = [getattr(run.graph, name, None) for name in ("nodes", "bindings", "decisions")]
        self.lists = [one for one in lists if one is not None]

    def __enter__(self) -> None:
        self.lengths = [len(one) for one in self.lists]

    def __exit__(self, *_: object) -> None:
        for one, length in zip(self.lists, self.lengths, strict=True):
            del one[length:]


def local_links(at: At) -> list[Links]:
    """Return the local Jacobian of a function of the user's, entry by entry where it is not 0."""
    jacobian = at.static["call"].rows(at.argument, np.shape(at.out))
    rows, columns = np.nonzero(jacobian)
    return [Links(rows, columns, jacobian[rows, columns])]


class Tangent:
    """A function of the user's at one point: beside it, it goes on as its backward pass says."""

    def __init__(self, call: Call, values: tuple[Any, ...]) -> None:
        self.call, self.values = call, values
        self.rows: dict[int, Any] = {}

    def at(self, values: tuple[Any, ...]) -> Any:
        """Return the value at another point."""
        result = np.asarray(self.call.result)
        total = np.ravel(result)
        for k, (there, here) in enumerate(zip(values, self.values, strict=True)):
            step = np.ravel(np.asarray(there)) - np.ravel(np.asarray(here))
            if any(step):
                if k not in self.rows:
                    self.rows[k] = self.call.rows(k, result.shape)
                total = total + self.rows[k].dot(step)
        return total.reshape(result.shape)


def tangent(*values: Any, call: Call) -> Any:
    """Return a function of the user's at one point."""
    return Tangent(call, values)


OWN = Op(
    "function",
    lambda *_values, call: call.result,
    lambda k: lambda g, out, *_values, call: call.part(k, g, type(out) is Traced),
    local_links,
    exact=Exactly(pieces=Piecewise(tangent, lambda piece, *values, call: piece.at(values), held=True)),
    entries=Entries(index=Said()),
    torch=Torch(saves=((Keeps.OWN,),)),
    text=Text(write=lambda call: f"{call.name}({', '.join(call.texts)})", spelled="{call.name}"),
)
"""A call of a function with a backward pass of the user's. In many digits too it is followed, right or wrong."""


FUNCTION = Class(
    "Function",
    [],
    {
        "apply": ClassMethod(apply), "__init__": lambda run, me, *a, **k: None,
        "__call__": lambda run, *_, **__: run.fail_as("legacy function"),  # PyTorch did without objects of functions
    },
    qualified="torch.autograd.function.Function",
)  # fmt: skip
TABLE |= {
    **dict.fromkeys(("torch.autograd.Function", "torch.autograd.function.Function"), FUNCTION),
    "torch.autograd.function.FunctionCtx": CONTEXT,
}


@native("torch.autograd.function.once_differentiable")
def once_differentiable(run: Run, function: Any) -> Any:
    """Return a backward that cannot be differentiated: with a graph its results are numbers."""

    def run_it(run: Run, *arguments: Any) -> Any:
        before = run.grad_enabled
        with quietly(run, grad=False):
            made = run.call(function, list(arguments))
        if not before or not any(isinstance(a, Tensor) and a.active for a in arguments[1:]):
            return made
        parents = tuple([a.node for a in arguments if isinstance(a, Tensor) and a.active])

        results = list(made) if isinstance(made, tuple | list) else [made]
        for k, one in enumerate(results):
            if isinstance(one, Tensor) and not one.active:
                value = np.asarray(one.value)
                op = Op(
                    "once_differentiable", lambda *_, value=value: value,
                    lambda k: lambda *_: run.fail_as("differentiated twice"), lambda *_: [],
                    entries=Entries(index=Said()), torch=Torch(saves=((Keeps.OWN,),)),
                )  # fmt: skip
                results[k] = Tensor(
                    run.graph.enter(op, parents, {}, value[()]), one.dtype, made_by="torch::autograd::ErrorBackward"
                )
        return tuple(results) if isinstance(made, tuple | list) else results[0]

    return run_it
