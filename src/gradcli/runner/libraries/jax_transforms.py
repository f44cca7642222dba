"""``jax.tree_util``: trees of lists, tuples, dictionaries and classes of the script, with arrays as leaves.

``jax.custom_vjp`` and ``jax.custom_jvp``: functions whose derivative the user wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradcli.runner.libraries.jax_arrays import At, array, converted, numbers, put, stopped
from gradcli.runner.libraries.torch_function import Call, note_custom, parts_of_node
from gradcli.runner.libraries.torch_making import lengths
from gradcli.runner.libraries.transformed import Applied, Convention, shown_type, transformations
from gradcli.runner.library import TABLE, always, attributes_of, native
from gradcli.runner.printing import format_template, to_str
from gradcli.runner.python.calls import Parameters, bound_arguments
from gradcli.runner.python.containers import entry, iterate, take
from gradcli.runner.python.operators import truth
from gradcli.runner.state import Run
from gradcli.runner.transforms import (
    Level,
    Made,
    Spec,
    as_tensors,
    batched,
    flatten,
    gathered,
    mapped,
    name_of_function,
    parameter_names,
    parts_at,
    pulled,
    ravelled,
    seed_for,
    unflatten,
)
from gradcli.runner.values import Class, Context, Instance, Tensor, category

# ---- trees
TABLE |= {f"jax.{_module}{_name}": _function for _module in ("tree.", "tree_util.tree_") for _name, _function in {
    "flatten": lambda run, tree, is_leaf=None: flatten(run, tree, is_leaf=is_leaf),
    "leaves": lambda run, tree, is_leaf=None: flatten(run, tree, is_leaf=is_leaf)[0],
    "structure": lambda run, tree, is_leaf=None: flatten(run, tree, is_leaf=is_leaf)[1],
    "all": lambda run, tree: all(truth(run, leaf) for leaf in flatten(run, tree)[0]),
}.items()}  # fmt: skip


@native("jax.tree_util.tree_unflatten", "jax.tree.unflatten")
def tree_unflatten(run: Run, treedef: Spec, leaves: Any) -> Any:
    """Return leaves put together."""
    items = take(run, leaves)
    if len(items) != treedef.count:
        few = "few" if len(items) < treedef.count else "many"
        run.fail("ValueError", f"Too {few} leaves for PyTreeDef; expected {treedef.count}, got {len(items)}")
    return unflatten(run, treedef, items)


@native("jax.tree_util.tree_map", "jax.tree.map", "jax.tree_map", "jax.tree_util.tree_multimap")
def tree_map(run: Run, f: Any, tree: Any, *rest: Any, is_leaf: Any = None) -> Any:
    """Return a nest of what a function gives of each leaf."""
    leaves, spec = flatten(run, tree, is_leaf=is_leaf)
    others = []
    for other in rest:
        parts = parts_at(run, other, spec)
        if parts is None:
            run.fail_as("jax map tree", spec.text, flatten(run, other)[1].text)
        others.append(parts)
    return unflatten(run, spec, [run.call(f, list(each)) for each in zip(leaves, *others, strict=True)])


@native("jax.tree_util.tree_reduce", "jax.tree.reduce")
def tree_reduce(run: Run, function: Any, tree: Any, *start: Any, initializer: Any = None, is_leaf: Any = None) -> Any:
    """Return the leaves put together by a function of two."""
    leaves = flatten(run, tree, is_leaf=is_leaf)[0]
    total = start[0] if start else initializer
    if total is None:
        total, leaves = leaves[0], leaves[1:]
    for leaf in leaves:
        total = run.call(function, [total, leaf])
    return total


@native("jax.tree_util.tree_transpose", "jax.tree.transpose")
def tree_transpose(run: Run, outer_treedef: Spec, inner_treedef: Spec, pytree_to_transpose: Any) -> Any:
    """Return a nest of nests turned inside out."""
    leaves = flatten(run, pytree_to_transpose)[0]
    width = inner_treedef.count
    columns = [unflatten(run, outer_treedef, leaves[k::width]) for k in range(width)]
    return unflatten(run, inner_treedef, columns)


@native("jax.tree_util.register_pytree_node_class")
def register_class(run: Run, kind: Class) -> Class:
    """Say that a class takes its objects apart itself."""
    run.tree_nodes[kind] = (kind.find("tree_flatten"), run.attribute(kind, "tree_unflatten"))
    return kind


@native("jax.tree_util.register_dataclass")
def register_dataclass(run: Run, kind: Any = None, data_fields: Any = None, meta_fields: Any = None, **_: Any) -> Any:
    """Say that the fields of a dataclass are its leaves."""
    if kind is None:
        return lambda run, kind: register_dataclass(run, kind, data_fields, meta_fields)
    annotated = kind.find("__annotations__")
    names = data_fields if data_fields is not None else annotated if isinstance(annotated, list | dict) else []
    own = list(names)
    others = list(meta_fields or [])

    def take_apart(run: Run, one: Any) -> Any:
        return [one.fields[n] for n in own], tuple([one.fields[n] for n in others])

    def put_together(run: Run, rest: Any, parts: Any) -> Any:
        return run.call(kind, [], dict(zip(own, parts, strict=True)) | dict(zip(others, rest, strict=True)))

    run.tree_nodes[kind] = (take_apart, put_together)
    return kind


@native("jax.flatten_util.ravel_pytree")
def ravel_pytree(run: Run, tree: Any) -> Any:
    """Return all leaves as one row, and the function that puts them together again."""
    leaves, spec = flatten(run, tree)
    if not leaves:
        return run.make(np.zeros(0), "float32", "jax"), lambda run, row: unflatten(run, spec, [])
    return ravelled(run, spec, [array(run, leaf) for leaf in leaves], "jax.numpy")


# ---- functions of functions
class Jax(Convention):
    """JAX's."""

    kind = library = "jax"
    ordered = True

    def function(self, run: Run, fun: Any) -> Any:
        """Return a function; raises what JAX raises where none is given."""
        if isinstance(fun, str | int | float | Tensor) or fun is None:
            run.fail("TypeError", f"Expected a callable value, got {to_str(run, fun)}")
        return fun

    def arrays(self, run: Run, tree: Any) -> Any:
        """Return a nest with arrays for its numbers."""
        return every(run, tree)

    def places(self, run: Run, arguments: Sequence[Any], argnums: Any) -> list[int]:
        """Return the places of the arguments to differentiate by."""
        places = list(argnums) if isinstance(argnums, tuple | list) else [argnums]
        for place in places:
            if not isinstance(place, int):
                run.fail_as("argnums type")
            if not -len(arguments) <= place < len(arguments):
                run.fail_as("argnums range", place, max(place, 0) + 1, len(arguments))
        return [place % len(arguments) for place in places]

    def taken(self, run: Run, leaf: Any, name: str) -> tuple[Tensor, bool]:
        """Return a leaf of an argument as an array: of floats, but for products with the Jacobian."""
        x = converted(run, leaf)
        if not isinstance(x, Tensor):
            run.fail_as("jax type", to_str(run, leaf), shown_type(run, leaf))
        differentiated = category(x.dtype) == 2
        if not differentiated and name not in ("vjp", "jvp"):
            run.fail_as("jacfwd inputs" if name == "jacfwd" else "jax inputs", name, x.dtype)
        return x, differentiated

    def beside(self, run: Run, made: Any, name: str) -> tuple[Any, Any]:
        """Return what a function gives, and what it gives beside."""
        if not (isinstance(made, tuple) and len(made) == 2):
            run.fail_as("jax aux", shown_type(run, made), to_str(run, made))
        return made[0], made[1]

    def output(self, run: Run, leaf: Any, name: str) -> Any:
        """Return a leaf of what a function gives as an array."""
        y = converted(run, leaf)
        if name in ("grad", "value_and_grad"):
            return y
        if not isinstance(y, Tensor):
            text = f"function returned a value of type {shown_type(run, leaf)}, which is not a valid JAX type"
            run.fail("TypeError", text)
        if name in ("jacrev", "jacfwd") and category(y.dtype) < 2:
            run.fail_as("jax outputs", name, y.dtype)
        return y

    def scalar(self, run: Run, done: Applied, name: str) -> None:
        """Raise what JAX raises where a function gives more than one number."""
        y = converted(run, done.made)
        if not isinstance(y, Tensor):
            run.fail_as("jax scalar", f"was {to_str(run, done.made)}")
        if y.shape:
            run.fail_as("jax scalar", f"had shape: {to_str(run, tuple(y.shape))}")
        if category(y.dtype) < 2:
            run.fail_as("jax outputs", "grad", y.dtype)

    def tangents(self, run: Run, done: Applied, tangents: Any) -> list[Tensor]:
        """Return v for each input."""
        vs = [v for v in (converted(run, leaf) for leaf in flatten(run, list(tangents))[0]) if isinstance(v, Tensor)]
        for x, v in zip(done.lifted, vs, strict=False):
            if x.dtype != v.dtype:
                run.fail_as("jvp dtypes", x.dtype, v.dtype)
            if x.shape != v.shape:
                run.fail_as("jvp shapes", x.shape, v.shape)
        if len(vs) != len(done.lifted):
            primals = Spec("tuple", done.specs).text
            run.fail_as("jvp tree", primals, flatten(run, tuple(tangents))[1].text)
        return vs

    def cotangents(self, run: Run, done: Applied, cotangents: Any) -> list[Any]:
        """Return v for each output; raises what JAX raises for a v of another structure, shape or type."""
        leaves, its = flatten(run, cotangents)
        if not its.same(done.spec):
            run.fail_as("jax v tree", its.text, done.spec.text)
        vs = [converted(run, v) for v in leaves]
        for v, y in zip(vs, done.outputs, strict=True):
            want, got = (f"{x.dtype}[{','.join(map(str, x.shape))}]" for x in (y, v))
            if want != got:
                run.fail_as("jax v type", got, want)
        return vs

    def pairs(self, run: Run, primals: Any, tangents: Any) -> None:
        """Raise what JAX raises for primals and tangents that are no tuples."""
        if not isinstance(primals, tuple | list) or not isinstance(tangents, tuple | list):
            run.fail_as("jvp tuples", run.type_name(primals), run.type_name(tangents))


JAX = Jax()


@native("jax.vmap")
def vmap(run: Run, fun: Any, in_axes: Any = 0, out_axes: Any = 0, axis_name: Any = None, axis_size: Any = None) -> Made:
    """Return a function that runs once for each entry of a batch."""
    JAX.function(run, fun)

    def run_it(run: Run, *arguments: Any, **named: Any) -> Any:
        given = [tree_of_arrays(run, a) for a in arguments]
        options = {k: tree_of_arrays(run, v) for k, v in named.items()}
        axes = tuple(in_axes) if isinstance(in_axes, list) else in_axes
        return batched(run, fun, given, options, axes, out_axes, lambda y: converted(run, y), jax=True)

    return Made(run_it, fun)


def tree_of_arrays(run: Run, tree: Any) -> Any:
    """Return a nest with arrays of NumPy as JAX's."""
    return mapped(run, lambda leaf: converted(run, leaf) if isinstance(leaf, Tensor) else leaf, tree)


@native("jax.jit")
def jit(
    run: Run, fun: Any = None, /, *, static_argnums: Any = None, static_argnames: Any = None, **options: Any
) -> Any:
    """Return a function that computes with arrays alone: compiled or not, it gives the same numbers."""
    its = "in_shardings out_shardings donate_argnums donate_argnames keep_unused device backend inline compiler_options"
    bound_arguments(run, "jit", Parameters((), its.split(), 0, its.split()), (), options)
    if fun is None:
        return lambda run, fun: jit(run, fun, static_argnums=static_argnums, static_argnames=static_argnames)
    JAX.function(run, fun)
    fixed = [static_argnums] if isinstance(static_argnums, int) else list(static_argnums or ())
    named_fixed = [static_argnames] if isinstance(static_argnames, str) else list(static_argnames or ())
    parameters = parameter_names(fun)
    fixed += [parameters.index(n) for n in named_fixed if n in parameters]

    def run_it(run: Run, *arguments: Any, **named: Any) -> Any:
        count = len(arguments)
        given = [a if k in fixed or k - count in fixed else every(run, a) for k, a in enumerate(arguments)]
        run.traced += 1
        try:
            made = run.call(fun, given, {k: v if k in named_fixed else every(run, v) for k, v in named.items()})
        finally:
            run.traced -= 1
        return every(run, made)

    return Made(run_it, fun)


def every(run: Run, tree: Any) -> Any:
    """Return a nest whose numbers are arrays."""
    return mapped(run, lambda leaf: converted(run, leaf), tree)


SHARED = transformations(JAX)
TABLE |= {
    **{f"jax.{name}": work for name, work in SHARED.items()}, "jax.jacobian": SHARED["jacrev"],
    "jax.linear_transpose": lambda run, fun, *primals: SHARED["vjp"](run, fun, *primals)[1],
    **dict.fromkeys(  # what they save in memory is the same numbers
        ("jax.checkpoint", "jax.remat", "jax.named_call"),
        lambda run, fun=None, **options: fun if fun is not None else lambda run, fun: fun,
    ),
    "jax.eval_shape": lambda run, fun, *arguments, **named: run.call(fun, list(arguments), named),
    **{f"jax.{name}": always(Context()) for name in ("disable_jit", "checking_leaks", "debug_nans")},
    "jax.debug.print": lambda run, fmt, *arguments, ordered=False, **named: run.print(
        format_template(run, fmt, arguments, named) + "\n"
    ),
    "jax.lax.map": lambda run, f, xs, **_: TABLE["jax.lax.scan"](
        run, lambda run, carry, x: (carry, run.call(f, [x])), (), xs
    )[1],
    "jax.tree_util.register_pytree_node": lambda run, kind, flatten_func, unflatten_func, *_: (
        run.tree_nodes.__setitem__(kind, (flatten_func, unflatten_func))
    ),
}  # fmt: skip


# ---- loops and branches
def refuse_dynamic(run: Run, tree: Any) -> None:
    """Raise what JAX raises where a loop of unknown length is differentiated in reverse."""
    level = next((one for one in reversed(run.levels) if isinstance(one, Level)), None)
    if level is None or level.forward:
        return
    if any(isinstance(leaf, Tensor) and leaf.active for leaf in flatten(run, tree)[0]):
        run.fail_as("jax loops")


@native("jax.lax.dynamic_slice")
def dynamic_slice(run: Run, operand: Any, start_indices: Any, slice_sizes: Any) -> Any:
    """Return a part of an array of given lengths."""
    x = array(run, operand)
    return entry(run, x, part_of(run, x, start_indices, lengths(run, slice_sizes)))


def part_of(run: Run, x: Tensor, start_indices: Any, sizes: tuple[int, ...]) -> tuple[slice, ...]:
    """Return the index of a part of an array: it begins so that all of it is within."""
    starts = [int(numbers(s)) for s in iterate(run, start_indices)]
    within = [min(max(s, 0), n - k) for s, n, k in zip(starts, x.shape, sizes, strict=True)]
    return tuple([slice(s, s + k) for s, k in zip(within, sizes, strict=True)])


@native("jax.lax.dynamic_update_slice")
def dynamic_update_slice(run: Run, operand: Any, update: Any, start_indices: Any) -> Any:
    """Return an array with a part of it replaced."""
    x, part = array(run, operand), array(run, update)
    return put(run, At(x, part_of(run, x, start_indices, part.shape)), "set", part)


@native("jax.lax.dynamic_index_in_dim")
def dynamic_index_in_dim(run: Run, operand: Any, index: Any, axis: int = 0, keepdims: bool = True) -> Any:
    """Return the entries at one place of an axis."""
    made = run.function("jax.numpy.take", array(run, operand), int(numbers(index)), axis=axis)
    return run.function("jax.numpy.expand_dims", made, axis) if keepdims else made


@native("jax.lax.fori_loop")
def fori_loop(run: Run, lower: Any, upper: Any, body_fun: Any, init_val: Any, **_: Any) -> Any:
    """Do a loop over integers."""
    value = every(run, init_val)
    for k in range(int(numbers(lower)), int(numbers(upper))):
        value = every(run, run.call(body_fun, [converted(run, k), value]))
        run.meter.turn()
    return value


@native("jax.lax.while_loop")
def while_loop(run: Run, cond_fun: Any, body_fun: Any, init_val: Any) -> Any:
    """Do a loop as long as a condition holds."""
    value = every(run, init_val)
    while truth(run, run.call(cond_fun, [value])):
        value = every(run, run.call(body_fun, [value]))
        run.meter.turn()
    refuse_dynamic(run, value)
    return value


@native("jax.lax.scan")
def scan(
    run: Run, f: Any, init: Any, xs: Any = None, length: int | None = None, reverse: bool = False, unroll: Any = 1,
    **_: Any,
) -> Any:  # fmt: skip
    """Do a loop over the first axis of arrays, and stack what each turn gives."""
    leaves, spec = flatten(run, tree_of_arrays(run, xs))
    leaves = [array(run, leaf) for leaf in leaves]
    sizes = {leaf.shape[0] for leaf in leaves}
    if len(sizes) > 1:
        run.fail_as("scan sizes", ", ".join(str(leaf.shape[0]) for leaf in leaves))
    turns = sizes.pop() if sizes else length
    if turns is None:
        run.fail("ValueError", "scan got no values to scan over and `length` not provided.")
        return None
    carry = every(run, init)
    shape = flatten(run, carry)[1]
    rows: list[list[Any]] = []
    out_spec: Spec | None = None
    order = range(turns)
    for k in reversed(order) if reverse else order:
        run.meter.turn()
        x = unflatten(run, spec, [entry(run, leaf, k) for leaf in leaves])
        made = run.call(f, [carry, x])
        if not (isinstance(made, tuple | list) and len(made) == 2):
            run.fail("TypeError", f"scan body output must be a pair, got {to_str(run, made)}.")
        carry = every(run, made[0])
        if not flatten(run, carry)[1].same(shape):
            run.fail_as("scan carry")
        parts, out_spec = flatten(run, every(run, made[1]))
        rows.append(parts)
    if out_spec is None:
        return carry, None
    if reverse:
        rows.reverse()
    stacked = [gathered(run, [row[place] for row in rows], 0) for place in range(out_spec.count)]
    return carry, unflatten(run, out_spec, stacked)


@native("jax.lax.associative_scan")
def associative_scan(run: Run, fn: Any, elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """Return running results of a function of two."""
    leaves, spec = flatten(run, tree_of_arrays(run, elems))
    count = leaves[0].shape[axis]
    rows = [
        unflatten(run, spec, [entry(run, leaf, (*[slice(None)] * axis, k)) for leaf in leaves]) for k in range(count)
    ]
    if reverse:
        rows.reverse()
    running = [rows[0]]
    for row in rows[1:]:
        running.append(run.call(fn, [running[-1], row]))
    if reverse:
        running.reverse()
    flat = [flatten(run, row)[0] for row in running]
    return unflatten(run, spec, [gathered(run, [row[k] for row in flat], axis) for k in range(spec.count)])


@native("jax.lax.cond")
def cond(run: Run, pred: Any, true_fun: Any, false_fun: Any, *operands: Any, operand: Any = None, **_: Any) -> Any:
    """Call one of two functions."""
    given = [every(run, o) for o in (operands or ((operand,) if operand is not None else ()))]
    return every(run, run.call(true_fun if truth(run, pred) else false_fun, given))


@native("jax.lax.switch")
def switch(run: Run, index: Any, branches: Any, *operands: Any) -> Any:
    """Call one of several functions."""
    place = min(max(int(numbers(index)), 0), len(branches) - 1)
    return every(run, run.call(branches[place], [every(run, o) for o in operands]))


# ---- ``jax.custom_vjp`` and ``jax.custom_jvp``


class Custom:
    """A function with a derivative of its own."""

    def __init__(self, fun: Any, nondiff_argnums: Any = ()) -> None:
        self.fun = self.wrapped = fun
        self.name = name_of_function(fun)
        self.fixed = [nondiff_argnums] if isinstance(nondiff_argnums, int) else list(nondiff_argnums)
        self.rules: tuple[Any, ...] = ()
        self.within = False
        self.text = f"<jax.custom_derivatives object {self.name}>"

    attributes: dict[str, Any] = {  # noqa: RUF012
        "defvjp": lambda run, me: me.define, "defjvp": lambda run, me: me.define,
        "defjvps": lambda run, me: me.define_each, "__name__": lambda run, me: me.name,
        **attributes_of("fun", "__doc__"),
    }  # fmt: skip

    def define(self, run: Run, *rules: Any, **_: Any) -> Any:
        """Give it its derivative."""
        self.rules = rules
        return rules[0]

    def define_each(self, run: Run, *rules: Any) -> None:
        """Give it its derivative by each argument."""

        def rule(run: Run, primals: Any, tangents: Any) -> Any:
            y = run.call(self.fun, list(primals))
            total: Any = None
            for each, t in zip(rules, tangents, strict=True):
                if each is not None:
                    part = run.call(each, [t, y, *primals])
                    total = part if total is None else run.operate("+", total, part)
            return y, total

        self.rules = (rule,)

    def names(self, specs: Sequence[Spec]) -> list[str]:
        """Return the name of the parameter that each leaf belongs to."""
        called = [name for k, name in enumerate(parameter_names(self.fun)) if k not in self.fixed]
        return [name for name, spec in zip(called, specs, strict=False) for _ in range(spec.count)]

    def split(self, run: Run, arguments: Sequence[Any]) -> tuple[list[Any], list[Any], list[Spec]]:
        """Return the fixed arguments, the leaves of the others, and how these are put together."""
        given = [a for k, a in enumerate(arguments) if k not in self.fixed]
        leaves: list[Any] = []
        specs: list[Spec] = []
        for one in given:
            inner, spec = flatten(run, one)
            leaves += [converted(run, leaf) if isinstance(leaf, Tensor | float) else leaf for leaf in inner]
            specs.append(spec)
        return [arguments[k] for k in self.fixed if k < len(arguments)], leaves, specs


def joined(run: Run, specs: Sequence[Spec], leaves: Sequence[Any]) -> list[Any]:
    """Return leaves put together as arguments."""
    rest = iter(leaves)
    return [unflatten(run, spec, rest) for spec in specs]


class CustomVjp(Custom):
    """A function with a backward pass of its own."""

    def __call__(self, run: Run, *arguments: Any, **named: Any) -> Any:
        """Call it."""
        fixed, leaves, specs = self.split(run, arguments)
        if not self.rules:
            run.fail("AttributeError", f"No VJP defined for custom_vjp function {self.name} using defvjp.")
        if self.within or not any(isinstance(leaf, Tensor) and leaf.active for leaf in leaves):
            return run.call(self.fun, list(arguments), named)
        forward, backward = self.rules[:2]
        whole = list(arguments) if self.fixed else joined(run, specs, leaves)
        self.within = True
        try:
            made = run.call(forward, whole)
        finally:
            self.within = False
        if not (isinstance(made, tuple) and len(made) == 2):
            run.fail_as("vjp fwd pair", name_of_function(forward), self.name)
        out, residuals = made
        outputs, out_spec = flatten(run, out)

        def back(run: Run, again: bool, *gs: Any) -> list[Any]:
            kept = residuals if again else mapped(run, lambda leaf: stopped(run, leaf), residuals)
            v = unflatten(run, out_spec, list(gs))
            parts = run.call(backward, [*fixed, kept, v])
            return self.gradients(run, parts, specs, leaves)

        plain = Plain(self.names(specs), lambda: flatten(run, run.call(self.fun, whole))[0])
        return unflatten(run, out_spec, linked(run, self.name, leaves, outputs, back, plain))

    def gradients(self, run: Run, parts: Any, specs: Sequence[Spec], leaves: Sequence[Any]) -> list[Any]:
        """Return the cotangents that the user's rule gives, one for each leaf."""
        if not isinstance(parts, tuple | list):
            run.fail_as("vjp bwd tuple", name_of_function(self.rules[1]), type(parts).__name__)
        if len(parts) != len(specs):
            run.fail_as("vjp bwd length", name_of_function(self.rules[1]), self.name, len(parts), len(specs))
        gradients: list[Any] = []
        for part, spec in zip(parts, specs, strict=True):
            inner = [None] * spec.count if part is None else flatten(run, part, none_is_leaf=True)[0]
            gradients += [g if g is None else converted(run, g) for g in inner]
        return gradients


class CustomJvp(Custom):
    """A function with a product with its Jacobian of its own."""

    def __call__(self, run: Run, *arguments: Any, **named: Any) -> Any:
        """Call it."""
        fixed, leaves, specs = self.split(run, arguments)
        if not self.rules:
            run.fail("AttributeError", f"No JVP defined for custom_jvp function {self.name} using defjvp.")
        if not any(isinstance(leaf, Tensor) and leaf.active for leaf in leaves):
            return run.call(self.fun, list(arguments), named)
        rule, before = self.rules[0], run.enable_grad(False)
        try:
            out = run.call(self.fun, list(arguments), named)
        finally:
            run.enable_grad(before)
        outputs, out_spec = flatten(run, out)

        def back(run: Run, again: bool, *gs: Any) -> list[Any]:
            primals = leaves if again else [stopped(run, leaf) for leaf in leaves]
            floats = [k for k, leaf in enumerate(leaves) if isinstance(leaf, Tensor) and category(leaf.dtype) == 2]
            with Level(run) as level:
                tangents = [level.lifted(Tensor(np.ones(leaves[k].shape), leaves[k].dtype, "jax")) for k in floats]
                whole: list[Any] = [Tensor(np.zeros(np.shape(getattr(x, "value", x)))) for x in leaves]
                for k, t in zip(floats, tangents, strict=True):
                    whole[k] = t
                made = run.call(rule, [*fixed, tuple(joined(run, specs, primals)), tuple(joined(run, specs, whole))])
                pushed = [converted(run, t) for t in flatten(run, made[1])[0]]
                create = again and level.outer([*pushed, *gs])
                found = as_tensors(
                    pulled(run, pushed, [seed_for(y, g) for y, g in zip(pushed, gs, strict=True)], tangents, create),
                    tangents,
                )
            results: list[Any] = [None] * len(leaves)
            for k, g in zip(floats, found, strict=True):
                results[k] = g
            return results

        plain = Plain(self.names(specs), lambda: flatten(run, run.call(self.fun, list(arguments), named))[0])
        return unflatten(run, out_spec, linked(run, self.name, leaves, outputs, back, plain))


class Plain(NamedTuple):
    """A function without the derivative that the user gave it: the names of its arguments, and what it computes."""

    names: list[str]
    outputs: Callable[[], list[Any]]


def linked(
    run: Run, name: str, leaves: Sequence[Any], outputs: list[Any], back: Any, plain: Plain | None = None,
    library: str = "jax",
) -> list[Any]:  # fmt: skip
    """Return outputs as nodes whose derivative is ``back``, or as what is ``plain`` computes where that is recorded."""
    start = run.count
    if run.forwards and plain is not None:
        outputs = plain.outputs()
    made = [converted(run, y) for y in outputs] if library == "jax" else list(outputs)
    smooth = [k for k, y in enumerate(made) if category(y.dtype) == 2]
    fresh = [Tensor(stopped(run, made[k]).node, made[k].dtype, library) for k in smooth]
    ctx = Instance(None)  # type: ignore[arg-type]
    call = Call(run, name, ctx, None, tuple(leaves), [(y.shape, y.dtype) for y in fresh], library)
    call.backward = lambda run, ctx, *gs: tuple(back(run, run.grad_enabled, *gs))
    inputs = tuple([x.node for x in leaves if isinstance(x, Tensor) and x.active])
    if plain is not None:
        note_custom(run, call)
    if run.forwards and plain is not None:
        call.note_forward(plain.names, inputs, [made[k] for k in smooth], start)
        return made
    parts_of_node(run, call, inputs, fresh)
    for k, y in zip(smooth, fresh, strict=True):
        made[k] = y
    return made


def maker(kind: type[Custom]) -> Any:
    """Return what makes functions of one kind, as a decorator too."""
    return lambda run, fun=None, nondiff_argnums=(), **_: (
        kind(fun, nondiff_argnums) if fun is not None else lambda run, fun: kind(fun, nondiff_argnums)
    )


TABLE["jax.custom_vjp"], TABLE["jax.custom_jvp"] = maker(CustomVjp), maker(CustomJvp)
