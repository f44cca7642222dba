"""Nests of lists, tuples, dictionaries and registered objects: what transformations take and give as one value.

Functions of functions: gradients, products with Jacobians, whole Jacobians and batches, one level in another.
A level gives a function inputs of its own. A value that an outer level differentiates goes through a copy, so that what
reaches the copy is this level's gradient, and the gradient depends on the outer one still.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES, Input, swept
from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import ADD, MUL
from gradcli.ops.declare import value_of
from gradcli.ops.joining import STACK
from gradcli.ops.reductions import SUM
from gradcli.ops.shaping import CLONE, RESHAPE
from gradcli.records import dataclass
from gradcli.runner.backward import is_finite, own_array
from gradcli.runner.events import Event
from gradcli.runner.python.containers import entry
from gradcli.runner.python.operators import truth
from gradcli.runner.state import Run, constant
from gradcli.runner.values import Bound, Closure, Instance, Named, Tensor, category, extra_of


@dataclass(slots=True, eq=False)
class Spec:
    """How leaves are put together: ``kind`` is ``leaf``, ``none``, ``list``, ``tuple``, ``dict`` or ``object``.

    ``made_of`` are the keys of a dictionary, a tuple with names as it came, or an object's class with what is no leaf.
    """

    kind: str
    parts: list[Spec]
    made_of: Any = None

    attributes = {  # noqa: RUF012
        "num_leaves": lambda run, me: me.count,
        "unflatten": lambda run, me: lambda run, leaves: unflatten(run, me, leaves),
    }

    @property
    def count(self) -> int:
        """How many leaves there are."""
        return 1 if self.kind == "leaf" else sum(part.count for part in self.parts)

    @property
    def text(self) -> str:
        """What JAX shows."""
        return f"PyTreeDef({self.inner()})"

    def inner(self) -> str:
        """Return the structure as JAX writes it."""
        parts = [part.inner() for part in self.parts]
        if self.kind == "dict":
            parts = [f"{key!r}: {part}" for key, part in zip(self.made_of, parts, strict=True)]
        row, end = ", ".join(parts), "," * (len(parts) == 1)
        made_of = self.made_of if self.kind == "object" else (LEAF, None)
        return {
            "leaf": "*", "none": "None", "list": f"[{row}]", "tuple": f"({row}{end})", "dict": f"{{{row}}}",
            "object": f"CustomNode({getattr(made_of[0], 'name', '')}[{made_of[1]!r}], [{row}])",
        }[self.kind]  # fmt: skip

    def same(self, other: Spec) -> bool:
        """Return whether another nest is built in the same way."""
        names = self.made_of == other.made_of if self.kind == "dict" else True
        alike = self.kind == other.kind and names and len(self.parts) == len(other.parts)
        return alike and all(a.same(b) for a, b in zip(self.parts, other.parts, strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spec) and self.same(other)

    def __hash__(self) -> int:
        return hash(self.kind)


LEAF = Spec("leaf", [])


def children(run: Run, tree: Any, ordered: bool) -> tuple[str, list[Any], Any] | None:
    """Return the kind of a nest, what it consists of, and what else it is made of; None for a leaf.

    ``ordered`` sorts the keys of dictionaries, as JAX does.
    """
    if tree is None:
        return "none", [], None
    if isinstance(tree, list):
        return "list", list(tree), None
    if isinstance(tree, tuple):
        return "tuple", list(tree), tree if isinstance(tree, Named) else None
    if isinstance(tree, dict):
        keys = list(tree)
        if ordered:
            try:
                keys.sort()
            except TypeError:
                run.fail("ValueError", "Comparator raised exception while sorting pytree dictionary keys.")
        return "dict", [tree[key] for key in keys], keys
    if isinstance(tree, Instance) and tree.kind in run.tree_nodes:
        inner, rest = run.call(run.tree_nodes[tree.kind][0], [tree])
        return "object", list(inner), (tree.kind, rest)
    return None


def flatten(
    run: Run, tree: Any, ordered: bool = True, none_is_leaf: bool = False, is_leaf: Any = None
) -> tuple[list[Any], Spec]:
    """Return the leaves of a nest in order, and how they are put together; a function may say what is a leaf."""
    whole = (tree is None and none_is_leaf) or (is_leaf is not None and truth(run, run.call(is_leaf, [tree])))
    nest = None if whole else children(run, tree, ordered)
    if nest is None:
        return [tree], LEAF
    run.meter.turn(1, "the parts of a tree do not end")
    kind, items, made_of = nest
    leaves: list[Any] = []
    parts: list[Spec] = []
    for item in items:
        inner, part = flatten(run, item, ordered, none_is_leaf, is_leaf)
        leaves += inner
        parts.append(part)
    return leaves, Spec(kind, parts, made_of)


def unflatten(run: Run, spec: Spec, leaves: Sequence[Any] | Iterator[Any]) -> Any:
    """Return leaves put together."""
    rest = iter(leaves)
    if spec.kind == "leaf":
        return next(rest)
    if spec.kind == "none":
        return None
    parts = [unflatten(run, part, rest) for part in spec.parts]
    if spec.kind == "list":
        return parts
    if spec.kind == "tuple":
        made = spec.made_of
        return Named(made.name, dict(zip(made.fields, parts, strict=True))) if made is not None else tuple(parts)
    if spec.kind == "dict":
        return dict(zip(spec.made_of, parts, strict=True))
    kind, aux = spec.made_of
    return run.call(run.tree_nodes[kind][1], [aux, tuple(parts)])


def ravelled(run: Run, spec: Spec, arrays: list[Tensor], library: str) -> tuple[Any, Any]:
    """Return arrays as one row, and the function that gives a nest of them from a row."""
    row = run.function(f"{library}.concatenate", [run.function(f"{library}.reshape", x, (-1,)) for x in arrays])

    def unravel(run: Run, flat: Tensor) -> Any:
        ends = list(accumulate(math.prod(x.shape) for x in arrays))
        rows = [entry(run, flat, slice(start, end)) for start, end in pairwise([0, *ends])]
        parts = [run.function(f"{library}.reshape", row, x.shape) for row, x in zip(rows, arrays, strict=True)]
        return unflatten(run, spec, parts)

    return row, unravel


def mapped(run: Run, function: Callable[[Any], Any], tree: Any, ordered: bool = True) -> Any:
    """Return a nest whose leaves a function of the host has changed."""
    leaves, spec = flatten(run, tree, ordered)
    return unflatten(run, spec, [function(leaf) for leaf in leaves])


def parts_at(run: Run, tree: Any, spec: Spec, exact: bool = True) -> list[Any] | None:
    """Return what a nest has at the places of another's leaves; None where it is built in another way.

    One that is not ``exact`` may be cut off above leaves: what stands there is said of all of them.
    """
    if spec.kind == "leaf":
        return [tree]
    node = None if not exact and (tree is None or isinstance(tree, int)) else children(run, tree, True)
    if node is None:
        return None if exact else [tree] * spec.count
    kind, items, made_of = node
    if len(items) != len(spec.parts) or (exact and (kind != spec.kind or (kind == "dict" and made_of != spec.made_of))):
        return None
    parts = [parts_at(run, item, part, exact) for item, part in zip(items, spec.parts, strict=True)]
    return None if None in parts else [one for part in parts for one in part or ()]


# ---- functions of functions


class Level:
    """One level of differentiation, entered by ``with``; ``forward`` says that it asks for no sweep back.

    ``inputs`` are its own, and those of levels that have ended in it. ``kind`` says whose values they are: ``torch``,
    ``jax``, ``boxes`` of autograd, or none of those, where they are no others than outside.
    """

    def __init__(self, run: Run, kind: str = "", forward: bool = False) -> None:
        self.run = run
        self.inputs: set[int] = set()
        self.leaves: list[Tensor] = []
        self.forward = forward
        self.kind = kind
        self.before = True
        self.line = run.line

    def __enter__(self) -> Level:
        run = self.run
        self.before = run.enable_grad(True)
        run.quiet += 1
        run.levels.append(self)
        for leaf in self.leaves:
            run.by_leaf[leaf.node.index] = leaf
        return self

    def __exit__(self, error: object, *_: object) -> None:
        run = self.run
        run.levels.remove(self)
        run.quiet -= 1
        run.line = self.line
        run.enable_grad(self.before)
        for leaf in self.leaves if error is None else ():  # a run that was stopped here is asked for them
            run.by_leaf.pop(leaf.node.index, None)
        if run.levels:
            run.levels[-1].inputs |= self.inputs

    def lifted(self, x: Tensor, name: str | None = None) -> Tensor:
        """Return an array as an input of this level, under a name."""
        if x.active:
            return Tensor(self.run.graph(CLONE, x.node), x.dtype, x.library)
        made = Tensor(np.array(x.value), x.dtype, x.library)
        self.run.enter_leaf(made)
        self.inputs.add(made.node.index)
        self.leaves.append(made)
        if name:
            extra_of(made).name = name
        return made

    def outer(self, values: Sequence[Any]) -> bool:
        """Return whether values depend on inputs that are not this level's."""
        nodes = {v.node.index: v.node for v in values if isinstance(v, Tensor) and v.active}
        seen: set[int] = set()
        for top in sorted(nodes, reverse=True):
            reached = {node.index: node for node in swept(nodes[top])} if top not in seen else {}
            if any(type(node) is Input and index not in self.inputs for index, node in reached.items()):
                return True
            seen |= reached.keys()
        return False

    def settled(self, value: Any) -> Any:
        """Return what a value is outside: numbers where nothing but this level's inputs was differentiated."""
        if not isinstance(value, Tensor) or not value.active or (self.before and self.outer([value])):
            return value
        made = constant(self.run, value.node)
        return Tensor(np.asarray(made) if type(made) not in NODES else made, value.dtype, value.library)


def pulled(
    run: Run, outputs: Sequence[Any], seeds: Sequence[Any], inputs: Sequence[Tensor], create: bool, zeros: bool = True
) -> list[Any]:
    """Return vᵀ·J for each input, of several outputs with their v: a node, or numbers.

    An input that no output depends on gets zeros, or None.
    """
    pairs = [
        (y, v) for y, v in zip(outputs, seeds, strict=True) if isinstance(y, Tensor) and y.active and v is not None
    ]
    if not pairs:
        return [np.zeros(x.shape) if zeros else None for x in inputs]
    targets = {x.node.index for x in inputs}
    done = run.swept([y for y, _ in pairs], [v for _, v in pairs], targets, True, create, list(inputs))
    results: list[Any] = []
    for x in inputs:
        g = done.reaching(x)
        results.append(own_array(g, x.shape) if g is not None else np.zeros(x.shape) if zeros else None)
    return results


def seed_for(y: Any, v: Any) -> Any:
    """Return v as a sweep takes it."""
    node = v.node if isinstance(v, Tensor) else v
    if type(node) in NODES:
        return node
    array = np.asarray(node)
    array = array if array.dtype == object else array.astype(np.float64)
    return np.broadcast_to(array, y.shape) if isinstance(y, Tensor) else array


def as_tensors(gs: Sequence[Any], inputs: Sequence[Tensor]) -> list[Tensor]:
    """Return cotangents as arrays of the kind of the inputs."""
    return [Tensor(g, x.dtype, x.library) for g, x in zip(gs, inputs, strict=True)]


def jacobian_rows(run: Run, outputs: Sequence[Any], inputs: Sequence[Tensor], create: bool) -> list[list[Tensor]]:
    """Return for each output, for each input its Jacobian, of the shape of the output and then of the input."""
    blocks: list[list[Tensor]] = []
    for y in outputs:
        shape = np.shape(y.value) if isinstance(y, Tensor) else ()
        size = math.prod(shape)
        run.meter.charge(size * sum(math.prod(x.shape) for x in inputs))
        rows = [pulled(run, [y], [unit(shape, place)], inputs, create) for place in range(size)]
        blocks.append([stacked(run, [row[k] for row in rows], shape, x) for k, x in enumerate(inputs)])
    return blocks


def unit(shape: tuple[int, ...], place: int) -> Any:
    """Return the v that is 1 at one place and 0 elsewhere."""
    v = np.zeros(math.prod(shape))
    v[place : place + 1] = 1.0
    return v.reshape(shape)


def stacked(run: Run, rows: list[Any], shape: tuple[int, ...], x: Tensor) -> Tensor:
    """Return rows as one array."""
    whole = (*shape, *x.shape)
    if not rows:
        return Tensor(np.zeros(whole), x.dtype, x.library)
    if any(type(row) in NODES for row in rows):
        node = run.graph(RESHAPE, run.graph(STACK, *rows, dim=0), shape=whole)
        return Tensor(node, x.dtype, x.library)
    return Tensor(np.stack([np.asarray(row) for row in rows]).reshape(whole), x.dtype, x.library)


def pushed(
    run: Run, level: Level, outputs: Sequence[Any], inputs: Sequence[Tensor], tangents: Sequence[Tensor]
) -> list[Any]:
    """Return J·v for each output, None for one that is no array of floats.

    The product with vᵀ is linear in v: J·v is what comes back to it. A single number takes one sweep alone.
    """
    create = level.outer([y for y in outputs if isinstance(y, Tensor)] + list(tangents))
    vs = [seed_for(x, t) for x, t in zip(inputs, tangents, strict=True)]
    active = [y for y in outputs if isinstance(y, Tensor) and y.active]
    if sum(math.prod(y.shape) for y in active) == 1:
        return [along(run, y, inputs, vs, create) if any(y is a for a in active) else None for y in outputs]
    seeds = {id(y): run.graph.input("v", np.ones(y.shape)[()] if y.shape else np.float64(1.0), True) for y in active}
    level.inputs |= {seed.index for seed in seeds.values()}
    try:
        back = pulled(run, active, [seeds[id(y)] for y in active], inputs, True)
        carried = [Tensor(g) for g in back]
        if create and not level.outer(carried) and not any(type(v) in NODES for v in vs):
            create = False
        products = pulled(run, carried, vs, [Tensor(seeds[id(y)]) for y in active], create)
    except GradcliError as error:
        if error.kind != "not-allowed" or create:
            raise
        return [by_rows(run, y, inputs, vs) if any(y is a for a in active) else None for y in outputs]
    by_output = {id(y): g for y, g in zip(active, products, strict=True)}
    return [by_output.get(id(y)) for y in outputs]


def along(run: Run, y: Tensor, inputs: Sequence[Tensor], vs: list[Any], create: bool) -> Any:
    """Return J·v of a single number: its gradient times v."""
    total: Any = None
    for g, v in zip(pulled(run, [y], [np.ones(y.shape)], inputs, create), vs, strict=True):
        if type(g) in NODES or type(v) in NODES:
            part = run.graph(SUM, run.graph(MUL, g, v), dim=None, keepdim=False)
        else:
            part = np.sum(np.asarray(g) * np.asarray(v))
        by_graph = type(part) in NODES or type(total) in NODES
        total = part if total is None else run.graph(ADD, total, part) if by_graph else total + part
    if type(total) in NODES:
        return total if not y.shape else run.graph(RESHAPE, total, shape=y.shape)
    return np.reshape(total, y.shape)


def by_rows(run: Run, y: Tensor, inputs: Sequence[Tensor], vs: list[Any]) -> Any:
    """Return J·v by the rows of J, as numbers."""
    values = np.zeros(math.prod(y.shape))
    for place in range(values.size):
        parts = pulled(run, [y], [unit(y.shape, place)], inputs, False)
        values[place] = sum(float(np.sum(g * np.asarray(value_of(v)))) for g, v in zip(parts, vs, strict=True))
    return values.reshape(y.shape)


# ---- values of a level as they are shown and taken
def level_of(run: Run, x: Tensor) -> str:
    """Return whose transformation a value is an input or a result of, an empty text for none."""
    return next((level.kind for level in reversed(run.levels) if level.kind), "") if x.active else ""


def traced_text(run: Run, x: Tensor, kind: str, text: str) -> str:
    """Return a value of a level as its library prints it, around its text."""
    depth: int = sum(level.kind == kind for level in run.levels)
    if kind == "boxes":
        return "Autograd ArrayBox with value " * depth + text
    if kind == "jax":
        shape = ",".join(map(str, x.shape))
        short = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16"}.get(x.dtype, x.dtype)
        return "GradTracer(primal=" * depth + text + f", typeof(tangent)={short}[{shape}])" * depth
    for level in range(1, depth + 1):
        inner = "\n".join(f"    {row}" for row in text.split("\n"))
        text = f"GradTrackingTensor(lvl={level}, value=\n{inner}\n)"
    return text


def refuse_number(run: Run, x: Tensor, function: str = "float") -> None:
    """Raise what the library raises where a value of a level is to be a plain number."""
    kind = level_of(run, x)
    if kind == "boxes":
        run.fail("TypeError", f"{function}() argument must be a string or a real number, not 'ArrayBox'")
    if kind == "jax":
        shape = f"{x.dtype}[{','.join(map(str, x.shape))}]"
        run.fail_as("concrete", shape, function)


# ---- batches
def batched(
    run: Run, function: Any, arguments: list[Any], named: dict[str, Any], axes: Any, out_axes: Any,
    finish: Callable[[Any], Any], jax: bool,
) -> Any:  # fmt: skip
    """Run a function once for each entry of a batch and stack what it gives."""
    per_leaf, spec = batch_axes(run, arguments, axes, jax)
    library = "jax" if jax else "torch"
    leaves, _ = flatten(run, arguments, jax)
    names, named_spec = flatten(run, named, jax)
    mapped = [(leaf, axis) for leaf, axis in zip(leaves, per_leaf, strict=True) if axis is not None]
    mapped += [(leaf, 0) for leaf in names if isinstance(leaf, Tensor)] if jax else []
    sizes = [leaf.shape[axis] for leaf, axis in mapped]
    if not sizes:
        run.fail_as(f"vmap {library} none", function=name_of_function(function), axes=axes)
    if len(set(sizes)) > 1:
        rows = "\n".join(f"  * axis of size {n}" for n in sizes)
        run.fail_as(f"vmap {library} sizes", sizes=sizes, rows=rows)
    if not sizes[0]:
        raise run.refuse("vmap over a batch of no entries is not part of gradcli")
    results: list[list[Any]] = []
    out_spec: Spec | None = None
    run.quiet += 1
    run.batches += 1
    line = run.line
    try:
        for k in range(sizes[0]):
            each = [
                leaf if axis is None else piece(run, leaf, axis, k) for leaf, axis in zip(leaves, per_leaf, strict=True)
            ]
            each_named = [piece(run, leaf, 0, k) if jax and isinstance(leaf, Tensor) else leaf for leaf in names]
            made = run.call(function, unflatten(run, spec, each), unflatten(run, named_spec, each_named))
            values, out_spec = flatten(run, made, jax)
            results.append([finish(one) for one in values])
    finally:
        run.quiet -= 1
        run.batches -= 1
        run.line = line
    if out_spec is None:
        return None
    outs = parts_at(run, out_axes, out_spec, exact=False) or [0] * out_spec.count
    columns = zip(*results, strict=False)
    return unflatten(run, out_spec, [gathered(run, list(c), axis) for c, axis in zip(columns, outs, strict=True)])


def batch_axes(run: Run, arguments: list[Any], axes: Any, jax: bool) -> tuple[list[int | None], Spec]:
    """Return the axis of each leaf along which it is taken apart, None for one that is handed on whole."""
    leaves, spec = flatten(run, arguments, jax)
    library = "jax" if jax else "torch"
    if isinstance(axes, tuple | list) and len(axes) != len(arguments):
        run.fail_as(f"vmap {library} count", count=len(axes), inputs=len(arguments))
    axis_of = parts_at(run, list(axes) if isinstance(axes, tuple) else axes, spec, exact=False)
    if axis_of is None:
        run.fail("ValueError", "vmap in_axes specification must be a tree prefix of the corresponding value")
    per_leaf: list[int | None] = []
    for leaf, axis in zip(leaves, axis_of or [], strict=True):
        if axis is None:
            per_leaf.append(None)
            continue
        if not isinstance(leaf, Tensor):
            run.fail_as(f"vmap {library} number", axes=axes, axis=axis, kind=run.type_name(leaf))
        rank = len(leaf.shape)
        if not -rank <= axis < rank:
            name = f"vmap {library} axis"
            run.fail_as(name, axes=axes, axis=axis, rank=rank, least=axis + 1, shape=leaf.shape)
        per_leaf.append(axis % rank)
    return per_leaf, spec


def piece(run: Run, x: Tensor, axis: int, k: int) -> Any:
    """Return entry k along an axis."""
    return entry(run, x, k if not axis else (*[slice(None)] * axis, k))


def gathered(run: Run, parts: list[Any], axis: Any) -> Any:
    """Return the entries of a batch as one array."""
    if axis is None or not isinstance(parts[0], Tensor):
        return parts[0]
    first = parts[0]
    rank = len(first.shape) + 1
    if len({p.shape for p in parts}) > 1:
        raise run.refuse("what vmap's function gives has another shape for other entries of the batch")
    run.meter.charge(len(parts) * math.prod(first.shape))
    made = run.f(STACK, *[p.node if type(p.node) in NODES else np.asarray(p.node) for p in parts], dim=axis % rank)
    made = np.asarray(made) if type(made) not in NODES else made
    if category(first.dtype) < 2 and type(made) not in NODES:
        made = made.astype(np.bool_ if first.dtype == "bool" else np.int64)
    return Tensor(made, first.dtype, first.library, "stack")


# ---- what the events say of a call
def name_of_function(function: Any) -> str:
    """Return what a function is called."""
    while isinstance(function, Bound):
        function = function.function
    name = getattr(function, "name", None) or getattr(function, "__name__", "")
    return str(name).rpartition(".")[2].strip("_").removeprefix("<lambda>")


def parameter_names(function: Any) -> list[str]:
    """Return the names of a function's parameters, where it is one of the script."""
    while isinstance(function, Bound) or getattr(function, "wrapped", None) is not None:
        function = function.function if isinstance(function, Bound) else function.wrapped
    return list(function.code.positional) if isinstance(function, Closure) else []


class Call:
    """A derivative call of a script: ``begin`` it where its sweep begins, and note what it returned at its end."""

    def __init__(self, run: Run, function: Any) -> None:
        self.run, self.function, self.line = run, function, run.line
        event = Event("grad", run.line, output=name_of_function(function) or None)
        self.event = None if run.quiet > run.batches else event

    def names(self, place: int, leaves: Sequence[Any]) -> list[str]:
        """Return what the leaves of an argument are called: as the caller calls them, else as the function does."""
        if self.event is None:
            return [""] * len(leaves)
        parameters = parameter_names(self.function)
        own = parameters[place] if place < len(parameters) else ""
        return [(self.run.name_of(leaf) if isinstance(leaf, Tensor) else None) or own for leaf in leaves]

    def begin(self, output: Any, v: Any = None, tangents: Sequence[Any] = ()) -> None:
        """Say of which output and by which v the next sweep is, or along which tangents."""
        if self.event is None:
            return
        event = self.event
        event.sweep, event.v = self.run.sweeps, first_v(output) if tangents else v
        event.tangents = [np.asarray(getattr(t, "value", t)) for t in tangents]
        event.value = output.value if isinstance(output, Tensor) else output
        event.node = output.node.index if isinstance(output, Tensor) and type(output.node) in NODES else -1

    def end(self, returns: Sequence[Any], of: Sequence[str]) -> None:
        """Say what was returned, flat, and by what."""
        if self.event is None:
            return
        event = self.event
        event.returns = [t.value if isinstance(t, Tensor) else t for t in returns]
        event.of = list(of)
        event.finite = all(map(is_finite, event.returns))
        if self.run.quiet:
            self.run.log.beside(event)
        else:
            self.run.event(event)


def first_v(y: Any) -> Any:
    """Return the v of the first row of a Jacobian; None for a single number."""
    shape = y.shape if isinstance(y, Tensor) else ()
    return None if math.prod(shape) == 1 else unit(shape, 0)


class Made:
    """A function that a transformation gives: it is called, and shows the function that it is made of."""

    def __init__(self, run_it: Callable[..., Any], wrapped: Any) -> None:
        self.run_it = run_it
        self.wrapped = wrapped
        self.name = name_of_function(wrapped)
        self.text = f"<function {self.name} at 0x7f0000000000>"

    attributes = {  # noqa: RUF012
        "__name__": lambda run, me: me.name,
        "__doc__": lambda run, me: run.attribute(me.wrapped, "__doc__"),
        "__wrapped__": lambda run, me: me.wrapped,
    }

    def __call__(self, run: Run, *arguments: Any, **named: Any) -> Any:
        """Call it."""
        return self.run_it(run, *arguments, **named)
