"""``torch.autograd.Function``: a forward pass that leaves one node, whose derivative is the user's own backward."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES
from gradcli.ops.axes import unbroadcast
from gradcli.ops.declare import Op, value_of
from gradcli.ops.indexing import INDEX
from gradcli.ops.links import Links
from gradcli.ops.parts import Said
from gradcli.ops.shaping import RESHAPE
from gradcli.ops.tracing import Traced, traced
from gradcli.runner.backward import SECOND, Freed
from gradcli.runner.library import TABLE, native
from gradcli.runner.objects import UNBOUND, Class, ClassMethod, Instance, Property, StaticMethod
from gradcli.runner.state import Run
from gradcli.runner.values import Size, Tensor, category, extra_of

LEGACY = (
    "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function with "
    "static forward method. (Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
)
CHANGED = (
    "one of the variables needed for gradient computation has been modified by an inplace operation: "
    "[torch.FloatTensor {}] is at version {}; expected version {} instead. "
    "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
    "torch.autograd.set_detect_anomaly(True)."
)
TWICE = "trying to differentiate twice a function that was marked with @once_differentiable"


# ---- ctx
def save(run: Run, ctx: Instance, *tensors: Any) -> None:
    """Keep tensors for backward, with their versions."""
    for one in tensors:
        if one is not None and not isinstance(one, Tensor):
            from gradcli.runner.builtins import type_name

            run.fail("TypeError", f"save_for_backward can only save variables, but argument is of type {type_name(one)}")
    ctx.fields["_saved"] = tuple([(t, t.root.version if t is not None else 0) for t in tensors])


def saved(run: Run, ctx: Instance) -> tuple[Any, ...]:
    """Return what was kept; raises what PyTorch raises where it is freed or was written to."""
    node = ctx.fields.get("_node")
    if type(getattr(node, "links", None)) is Freed:
        run.fail("RuntimeError", SECOND)
    for tensor, version in ctx.fields.get("_saved", ()):
        if tensor is not None and tensor.root.version != version:
            run.fail("RuntimeError", CHANGED.format(list(tensor.shape), tensor.root.version, version))
    return tuple([tensor for tensor, _ in ctx.fields.get("_saved", ())])


def noting(field: str) -> Any:
    """Return a method that notes tensors in a field of ctx."""

    def note(run: Run, ctx: Instance, *tensors: Any) -> None:
        ctx.fields[field] = tensors

    return note


CONTEXT = Class(
    "FunctionCtx", [],
    {
        "save_for_backward": save, "save_for_forward": noting("_ahead"), "saved_tensors": Property(saved),
        "saved_variables": Property(saved), "mark_non_differentiable": noting("_flat"), "mark_dirty": noting("_dirty"),
        "set_materialize_grads": lambda run, ctx, value: ctx.fields.__setitem__("_materialize", value),
    },
    qualified="torch.autograd.function.FunctionCtx",
)  # fmt: skip


# ---- the call
def apply(run: Run, kind: Class, *arguments: Any) -> Any:
    """Do what ``Function.apply`` does."""
    forward, setup = kind.find("forward"), kind.find("setup_context")
    if not isinstance(forward, StaticMethod):
        run.fail("RuntimeError", LEGACY if forward is not UNBOUND else "You must implement the forward function for custom"
                 " autograd.Function.")  # fmt: skip
    ctx = Instance(Class(f"{kind.name}Backward", [CONTEXT], dict(kind.members), qualified=f"torch.autograd.function.{kind.name}Backward"))
    tensors = [a for a in arguments if isinstance(a, Tensor)]
    ctx.fields["needs_input_grad"] = tuple([isinstance(a, Tensor) and a.active for a in arguments])
    before = run.enable_grad(False)
    try:
        if setup is UNBOUND:
            made = run.call(forward.function, [ctx, *arguments])
        else:
            made = run.call(forward.function, list(arguments))
            run.call(setup, [ctx, tuple(arguments), made])
    finally:
        run.enable_grad(before)
    if not before or not any(t.active for t in tensors):
        return made
    results = list(made) if isinstance(made, tuple | list) else [made]
    flat = [k for k, one in enumerate(results) if any(one is f for f in ctx.fields.get("_flat", ()))]
    for k, one in enumerate(results):
        if isinstance(one, Tensor) and (one.base is not None or any(one is t for t in tensors)):
            results[k] = Tensor(one.node if type(one.node) not in NODES else np.asarray(one.value), one.dtype)
    smooth = [k for k, t in enumerate(results) if isinstance(t, Tensor) and category(t.dtype) == 2 and k not in flat]
    if smooth:
        link(run, kind, ctx, arguments, results, smooth)
    for written in ctx.fields.get("_dirty", ()):
        result = results[0]
        if isinstance(result, Tensor) and result.active:
            run.write(written, result.node, None, result.made_by)
            results[0] = written
    return tuple(results) if isinstance(made, tuple | list) else results[0]


def link(run: Run, kind: Class, ctx: Instance, arguments: tuple[Any, ...], results: list[Any], smooth: list[int]) -> None:
    """Make nodes of the smooth outputs; of several they are parts of one node, so that backward is called once."""
    outputs = [results[k] for k in smooth]
    backward = kind.find("backward")
    backward = kind.find("vjp") if backward is UNBOUND else backward
    shapes = [(t.shape, t.dtype, k in smooth) if isinstance(t, Tensor) else ((), "float32", False) for k, t in enumerate(results)]
    call = Call(run, kind.name, ctx, backward, arguments, shapes)
    op = Op(kind.name, call.value, call.vjp, call.links, index=Said(), torch_saves=("own",))
    inputs = [a.node for a in arguments if isinstance(a, Tensor) and a.active]
    first = outputs[0]
    numbers = first.value if len(outputs) == 1 else np.concatenate([np.ravel(np.asarray(t.value)) for t in outputs])
    numbers = np.asarray(numbers)[()] if np.asarray(numbers).dtype != object else numbers
    call.result = numbers
    node = run.graph.enter(op, tuple(inputs), {}, numbers)
    ctx.fields["_node"] = node
    start = 0
    for place, one in enumerate(outputs):
        if len(outputs) > 1:
            size = math.prod(one.shape)
            part = run.graph(INDEX, node, key=slice(start, start + size))
            part = run.graph(RESHAPE, part, shape=one.shape)
            start += size
        else:
            part = node
        one.node, one.leaf, one.made_by = part, False, f"{kind.name}Backward"
        if place:
            extra_of(one).several = True


class Call:
    """One call of a function of the user's: its derivative runs his backward."""

    def __init__(
        self, run: Run, name: str, ctx: Instance, backward: Any, arguments: tuple[Any, ...], outputs: list[Any]
    ) -> None:
        self.run, self.name, self.ctx, self.backward = run, name, ctx, backward
        self.places = [k for k, a in enumerate(arguments) if isinstance(a, Tensor) and a.active]
        self.tensors = [arguments[k] for k in self.places]
        self.shapes = [t.shape for t in self.tensors]
        self.count = len(arguments)
        self.outputs = outputs
        self.result: Any = None
        self.last: tuple[Any, list[Any]] | None = None
        self.tensors.clear()

    def value(self, *_values: Any) -> Any:
        """Return what the forward pass gave."""
        return self.result

    def vjp(self, k: int) -> Any:
        """Return the rule for the k-th differentiated argument."""

        def rule(g: Any, out: Any, *_values: Any) -> Any:
            if self.last is None or self.last[0] is not g:
                self.last = g, self.gradients(g, again=type(out) is Traced)
            parts = self.last[1]
            if k == len(parts) - 1:
                self.last = None
            return parts[k]

        return rule

    def gradients(self, g: Any, again: bool) -> list[Any]:
        """Return what the user's backward gives for the differentiated arguments."""
        run = self.run
        if self.backward is UNBOUND:
            run.fail("NotImplementedError", "You must implement either the backward or vjp method for your custom "
                     "autograd.Function to use it with backward mode AD.")  # fmt: skip
        before = run.enable_grad(again)
        run.quiet += 1
        line = run.line
        try:
            made = run.call(self.backward, [self.ctx, *self.cotangents(g)])
        finally:
            run.quiet -= 1
            run.line = line
            run.enable_grad(before)
        given = list(made) if isinstance(made, tuple | list) else [made]
        while len(given) > self.count and given[-1] is None:
            given.pop()
        if len(given) != self.count:
            run.fail("RuntimeError", f"function {self.name}Backward returned an incorrect number of gradients (expected "
                     f"{self.count}, got {len(given)})")  # fmt: skip
        parts = []
        for place, shape in zip(self.places, self.shapes, strict=True):
            parts.append(self.checked(place, given[place], shape, again))
        return parts

    def cotangents(self, g: Any) -> list[Any]:
        """Return the cotangents of the outputs as tensors."""
        run = self.run
        node = g.node if type(g) is Traced else g
        alone = sum(smooth for *_, smooth in self.outputs) == 1
        found: list[Any] = []
        start = 0
        bare_ones = not self.ctx.fields.get("_materialize", True)
        for shape, dtype, smooth in self.outputs:
            if not smooth:
                found.append(None if bare_ones else Tensor(np.zeros(shape), dtype if dtype.startswith("float") else "float32"))
                continue
            if alone:
                found.append(Tensor(node if type(node) in NODES else np.array(np.broadcast_to(node, shape)), dtype))
                continue
            size = math.prod(shape)
            if type(node) in NODES:
                part = run.graph(RESHAPE, run.graph(INDEX, node, key=slice(start, start + size)), shape=shape)
            else:
                part = np.array(node[start : start + size]).reshape(shape)
            start += size
            bare = bare_ones and not np.any(value_of(part))
            found.append(None if bare else Tensor(part, dtype))
        return found

    def checked(self, place: int, made: Any, shape: tuple[int, ...], again: bool) -> Any:
        """Return one gradient as the engine takes it; raises what PyTorch raises where its shape does not fit."""
        run = self.run
        if made is None:
            return None
        if not isinstance(made, Tensor):
            run.fail("TypeError", f"expected Variable or None (got {kind_name(made)})")
        if made.shape != shape:
            try:
                fits = np.broadcast_shapes(made.shape, shape) == made.shape
            except ValueError:
                fits = False
            if not fits:
                run.fail("RuntimeError", f"Function {self.name}Backward returned an invalid gradient at index {place} - got "
                         f"{list(made.shape)} but expected shape compatible with {list(Size(shape))}")  # fmt: skip
        if again:
            return traced(run.graph, made.node, value_of(made.node).dtype == object)
        array = np.asarray(made.value)
        return unbroadcast(array if array.dtype == object else array.astype(np.float64), shape)

    def links(self, argument: int, out: Any, _values: Any, _static: Any) -> list[Links]:
        """Return the local Jacobian, row by row."""
        shape = np.shape(out)
        size, width = math.prod(shape), math.prod(self.shapes[argument])
        rows, columns, weights = [], [], []
        for row in range(size):
            g = np.zeros(size)
            g[row] = 1.0
            part = self.gradients(g.reshape(shape), again=False)[argument]
            if part is None:
                continue
            flat = np.ravel(np.asarray(part))
            for column in range(width):
                if flat[column] != 0:
                    rows.append(row)
                    columns.append(column)
                    weights.append(flat[column])
        return [Links(np.array(rows, np.int64), np.array(columns, np.int64), np.array(weights))]


def kind_name(value: Any) -> str:
    """Return what Python calls the type of a value."""
    from gradcli.runner.builtins import type_name

    return type_name(value)


def called(run: Run, *_arguments: Any, **_named: Any) -> Any:
    """Refuse an object of a function: PyTorch did without them."""
    return run.fail("RuntimeError", LEGACY)


FUNCTION = Class(
    "Function", [],
    {"apply": ClassMethod(apply), "__call__": called, "__init__": lambda run, me, *a, **k: None},
    qualified="torch.autograd.function.Function",
)  # fmt: skip
TABLE["torch.autograd.Function"] = TABLE["torch.autograd.function.Function"] = FUNCTION
TABLE["torch.autograd.function.FunctionCtx"] = CONTEXT


@native("torch.autograd.function.once_differentiable")
def once_differentiable(run: Run, function: Any) -> Any:
    """Return a backward that cannot be differentiated: with a graph its results are numbers."""

    def run_it(run: Run, *arguments: Any) -> Any:
        before = run.enable_grad(False)
        try:
            made = run.call(function, list(arguments))
        finally:
            run.enable_grad(before)
        if not before or not any(isinstance(a, Tensor) and a.active for a in arguments[1:]):
            return made
        parents = tuple([a.node for a in arguments if isinstance(a, Tensor) and a.active])

        def refused(*_: Any) -> Any:
            return run.fail("RuntimeError", TWICE)

        results = list(made) if isinstance(made, tuple | list) else [made]
        for k, one in enumerate(results):
            if isinstance(one, Tensor) and not one.active:
                value = np.asarray(one.value)
                op = Op("once_differentiable", lambda *_, value=value: value, lambda k: refused, lambda *_: [], index=Said(),
                        torch_saves=("own",))  # fmt: skip
                results[k] = Tensor(run.graph.enter(op, parents, {}, value[()]), one.dtype, made_by="torch::autograd::ErrorBackward")
        return tuple(results) if isinstance(made, tuple | list) else results[0]

    return run_it
