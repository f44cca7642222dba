"""JAX's transformations: gradients, Jacobians, products with them, batches, and loops as functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradcli.runner.containers import entry
from gradcli.runner.libraries.jax_arrays import array, converted, numbers
from gradcli.runner.library import TABLE, native
from gradcli.runner.operators import PLAIN, truth
from gradcli.runner.state import Run
from gradcli.runner.transforms import (
    Call,
    Level,
    Made,
    as_tensors,
    batched,
    first_v,
    gathered,
    jacobian_rows,
    pulled,
    pushed,
    seed_for,
)
from gradcli.runner.trees import Spec, flatten, unflatten
from gradcli.runner.values import Tensor, category

INPUTS = (
    "{} requires real- or complex-valued inputs (input dtype that is a sub-dtype of np.inexact), but got {}. "
    "If you want to "
    "use Boolean- or integer-valued inputs, use vjp or set allow_int to True."
)
FORWARD_INPUTS = (
    "jacfwd requires real-valued inputs (input dtype that is a sub-dtype of np.floating), but got {}. For holomorphic "
    "differentiation, pass holomorphic=True. For differentiation of non-holomorphic functions involving "
    "complex inputs or "
    "integer inputs, use jax.jvp directly."
)
OUTPUTS = (
    "{} requires real-valued outputs (output dtype that is a sub-dtype of np.floating), but got {}. For "
    "differentiation of "
    "functions with integer outputs, use jax.vjp directly."
)
SCALAR = "Gradient only defined for scalar-output functions. Output {}."
LOOPS = (
    "Reverse-mode differentiation does not work for lax.while_loop or lax.fori_loop with dynamic start/stop "
    "values. Try using "
    "lax.scan, or using fori_loop with static start/stop."
)


def checked_function(run: Run, fun: Any) -> None:
    """Raise what JAX raises where no function is given."""
    if isinstance(fun, str | int | float | Tensor) or fun is None:
        from gradcli.runner.strings import to_str

        run.fail("TypeError", f"Expected a callable value, got {to_str(run, fun)}")


class Inputs:
    """The arguments of a function, of which some are inputs of a level."""

    def __init__(
        self, run: Run, level: Level, call: Call, arguments: Sequence[Any], argnums: Any, name: str, text: str = INPUTS
    ) -> None:
        self.run, self.arguments = run, list(arguments)
        self.single = not isinstance(argnums, tuple | list)
        self.leaves: list[Tensor] = []
        self.lifted: list[Tensor] = []
        self.names: list[str] = []
        self.specs: list[Spec] = []
        self.places: list[int] = []
        for place in [argnums] if self.single else argnums:
            if not isinstance(place, int):
                run.fail(
                    "TypeError", "differentiation with respect to argnums requires an integer or a sequence of integers"
                )
            if not -len(arguments) <= place < len(arguments):
                run.fail(
                    "TypeError",
                    f"differentiating with respect to argnums={place} requires at least {max(place, 0) + 1} positional "
                    f"arguments to be passed by the caller, but got only {len(arguments)} positional arguments.",
                )
            self.places.append(place % len(arguments))
        for place in self.places:
            given, spec = flatten(run, arguments[place])
            names = call.names(place, given)
            inside = []
            for leaf, own in zip(given, names, strict=True):
                x = converted(run, leaf)
                if not isinstance(x, Tensor):
                    run.fail(
                        "TypeError",
                        f"Argument '{shown(run, leaf)}' of type {type_of(run, leaf)} is not a valid JAX type.",
                    )
                if category(x.dtype) < 2:
                    if name != "vjp":
                        run.fail("TypeError", text.format(name, x.dtype))
                    inside.append(x)
                    continue
                inner = level.lifted(x, own)
                self.leaves.append(x)
                self.lifted.append(inner)
                self.names.append(own)
                inside.append(inner)
            self.specs.append(spec)
            self.arguments[place] = unflatten(run, spec, inside)

    def together(self, values: Sequence[Any]) -> Any:
        """Return values, one for each input, in the shape of the arguments."""
        rest = iter(values)
        trees = tuple([unflatten(self.run, spec, rest) for spec in self.specs])
        return trees[0] if self.single else trees


def shown(run: Run, value: Any) -> str:
    """Return what ``str`` gives."""
    from gradcli.runner.strings import to_str

    return to_str(run, value)


def type_of(run: Run, value: Any) -> str:
    """Return what Python shows of a value's class."""
    from gradcli.runner.builtins import type_of as kind
    from gradcli.runner.strings import to_repr

    return to_repr(run, kind(run, value))


def with_aux(run: Run, made: Any, has_aux: bool) -> tuple[Any, Any]:
    """Return what a function gives, and what it gives beside."""
    if not has_aux:
        return made, None
    if not (isinstance(made, tuple) and len(made) == 2):
        run.fail(
            "TypeError",
            "expected function with aux output to return a two-element tuple, but got type "
            f"{type_of(run, made)} with value {shown(run, made)}",
        )
    return made[0], made[1]


def outputs_of(run: Run, made: Any) -> tuple[list[Any], Spec]:
    """Return what a function gives as arrays; raises what JAX raises for anything else."""
    leaves, spec = flatten(run, made)
    arrays = []
    for leaf in leaves:
        x = converted(run, leaf)
        if not isinstance(x, Tensor):
            run.fail(
                "TypeError", f"function returned a value of type {type_of(run, leaf)}, which is not a valid JAX type"
            )
        arrays.append(x)
    return arrays, spec


def settled_tree(run: Run, level: Level, tree: Any) -> Any:
    """Return a nest as it is outside."""
    leaves, spec = flatten(run, tree)
    return unflatten(run, spec, [level.settled(leaf) for leaf in leaves])


def scalar(run: Run, made: Any) -> Tensor:
    """Return the one number that a function gives; raises what JAX raises for more."""
    y = converted(run, made)
    if not isinstance(y, Tensor):
        run.fail("TypeError", SCALAR.format(f"was {shown(run, made)}"))
    if y.shape:
        run.fail("TypeError", SCALAR.format(f"had shape: {shown(run, tuple(y.shape))}"))
    if category(y.dtype) < 2:
        run.fail("TypeError", OUTPUTS.format("grad", y.dtype))
    return y  # type: ignore[no-any-return]


def gradient_of(run: Run, fun: Any, argnums: Any, has_aux: bool, arguments: Any, named: Any, name: str) -> Any:
    """Return value, gradient, and what the function gives beside."""
    call = Call(run, fun)
    with Level(run, "jax") as level:
        inputs = Inputs(run, level, call, arguments, argnums, name)
        made, aux = with_aux(run, run.call(fun, inputs.arguments, named), has_aux)
        y = scalar(run, made)
        call.begin(y)
        gs = as_tensors(pulled(run, [y], [np.ones(())], inputs.lifted, level.outer([y])), inputs.lifted)
        gs = [level.settled(g) for g in gs]
        value, aux = level.settled(y), settled_tree(run, level, aux)
    call.end(gs, inputs.names)
    return value, inputs.together(gs), aux


def gradient_maker(name: str, with_value: bool) -> Callable[..., Made]:
    """Return ``grad`` or ``value_and_grad``: what they make gives the gradient, and before it the value."""

    def make(
        run: Run,
        fun: Any,
        argnums: Any = 0,
        has_aux: bool = False,
        holomorphic: bool = False,
        allow_int: bool = False,
        **_: Any,
    ) -> Made:
        checked_function(run, fun)

        def run_it(run: Run, *arguments: Any, **named: Any) -> Any:
            value, g, aux = gradient_of(run, fun, argnums, has_aux, arguments, named, name)
            if with_value:
                return ((value, aux), g) if has_aux else (value, g)
            return (g, aux) if has_aux else g

        return Made(run_it, fun)

    make.__name__ = make.__qualname__ = name  # errors of a call say it
    return make


TABLE["jax.grad"] = gradient_maker("grad", with_value=False)
TABLE["jax.value_and_grad"] = gradient_maker("value_and_grad", with_value=True)


def jacobian_of(run: Run, fun: Any, argnums: Any, has_aux: bool, arguments: Any, named: Any, name: str) -> Any:
    """Return the Jacobian in the structure of the outputs, and what the function gives beside."""
    call = Call(run, fun)
    with Level(run, "jax") as level:
        inputs = Inputs(run, level, call, arguments, argnums, name, FORWARD_INPUTS if name == "jacfwd" else INPUTS)
        made, aux = with_aux(run, run.call(fun, inputs.arguments, named), has_aux)
        outputs, spec = outputs_of(run, made)
        for y in outputs:
            if category(y.dtype) < 2:
                run.fail("TypeError", OUTPUTS.format(name, y.dtype))
        if outputs:
            call.begin(outputs[0], first_v(outputs[0]))
        blocks = jacobian_rows(run, outputs, inputs.lifted, level.outer(outputs))
        blocks = [[level.settled(part) for part in block] for block in blocks]
        aux = settled_tree(run, level, aux)
    call.end([part for block in blocks for part in block], inputs.names)
    return unflatten(run, spec, [inputs.together(block) for block in blocks]), aux


def jacobian_maker(name: str) -> Callable[..., Made]:
    """Return ``jacrev`` or ``jacfwd``: they give the same numbers."""

    def make(run: Run, fun: Any, argnums: Any = 0, has_aux: bool = False, holomorphic: bool = False, **_: Any) -> Made:
        checked_function(run, fun)

        def run_it(run: Run, *arguments: Any, **named: Any) -> Any:
            found, aux = jacobian_of(run, fun, argnums, has_aux, arguments, named, name)
            return (found, aux) if has_aux else found

        return Made(run_it, fun)

    return make


TABLE["jax.jacrev"] = TABLE["jax.jacobian"] = jacobian_maker("jacrev")
TABLE["jax.jacfwd"] = jacobian_maker("jacfwd")


@native("jax.hessian")
def hessian(run: Run, fun: Any, argnums: Any = 0, has_aux: bool = False, holomorphic: bool = False) -> Made:
    """Return the function that gives the second derivatives."""
    inner = TABLE["jax.jacrev"](run, fun, argnums, has_aux)
    return Made(TABLE["jax.jacfwd"](run, inner, argnums, has_aux).run_it, fun)


@native("jax.vjp")
def vjp(run: Run, fun: Any, *primals: Any, has_aux: bool = False, **_: Any) -> Any:
    """Return what a function gives, and the function that pulls v back."""
    checked_function(run, fun)
    call = Call(run, fun)
    with Level(run, "jax") as level:
        inputs = Inputs(run, level, call, primals, tuple(range(len(primals))), "vjp")
        made, aux = with_aux(run, run.call(fun, inputs.arguments), has_aux)
        outputs, spec = outputs_of(run, made)
        values = unflatten(run, spec, [level.settled(y) for y in outputs])
        aux = settled_tree(run, level, aux)

    def pull(run: Run, given: Any) -> Any:
        vs, its = flatten(run, given)
        if not its.same(spec):
            run.fail(
                "ValueError",
                f"unexpected tree structure of argument to vjp function: got {its.text}, but expected to match "
                f"{spec.text}",
            )
        vs = [converted(run, v) for v in vs]
        for v, y in zip(vs, outputs, strict=True):
            check_cotangent(run, v, y)
        pulling = Call(run, fun)
        level.line, level.before = run.line, run.grad_enabled
        with level:
            create = level.outer([*outputs, *vs])
            if outputs:
                pulling.begin(outputs[0], np.asarray(vs[0].value))
            gs = pulled(run, outputs, [seed_for(y, v) for y, v in zip(outputs, vs, strict=True)], inputs.lifted, create)
            found = [level.settled(g) for g in as_tensors(gs, inputs.lifted)]
        pulling.end(found, inputs.names)
        return inputs.together(found)

    return (values, Made(pull, fun), aux) if has_aux else (values, Made(pull, fun))


def check_cotangent(run: Run, v: Any, y: Tensor) -> None:
    """Raise what JAX raises for a v of another shape or type than the output."""
    want, got = (f"{x.dtype}[{','.join(map(str, x.shape))}]" for x in (y, v))
    if v.shape != y.shape or v.dtype != y.dtype:
        run.fail(
            "ValueError",
            f"unexpected JAX type (e.g. shape/dtype) for argument to VJP function: got {got}, but expected {want} "
            f"because the corresponding output of the differentiated function had JAX type {want}",
        )


def pushed_through(run: Run, fun: Any, primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False) -> Any:
    """Return what a function gives, J·v, and what it gives beside."""
    call = Call(run, fun)
    with Level(run, "jax", forward=True) as level:
        inputs = Inputs(run, level, call, primals, tuple(range(len(primals))), "vjp")
        vs = [converted(run, v) for v in flatten(run, list(tangents))[0]]
        vs = [v for v in vs if isinstance(v, Tensor)]
        for x, v in zip(inputs.lifted, vs, strict=False):
            if x.dtype != v.dtype:
                run.fail(
                    "TypeError",
                    "primal and tangent arguments to jax.jvp do not match; dtypes must be equal, or in case of "
                    "int/bool "
                    f"primal dtype the tangent dtype must be float0.Got primal dtype {x.dtype} and so expected "
                    "tangent dtype "
                    f"{x.dtype}, but got tangent dtype {v.dtype} instead.",
                )
            if x.shape != v.shape:
                run.fail(
                    "ValueError",
                    f"jvp called with different primal and tangent shapes;Got primal shape {x.shape} and tangent "
                    f"shape as {v.shape}",
                )
        if len(vs) != len(inputs.lifted):
            run.fail(
                "TypeError",
                "primal and tangent arguments to jax.jvp must have the same tree structure; primals have tree "
                "structure "
                f"{flatten(run, tuple(primals))[1].text} whereas tangents have tree structure "
                f"{flatten(run, tuple(tangents))[1].text}.",
            )
        made, aux = with_aux(run, run.call(fun, inputs.arguments), has_aux)
        outputs, spec = outputs_of(run, made)
        call.begin(outputs[0] if outputs else None)
        found = pushed(run, level, outputs, inputs.lifted, vs)
        parts = [
            Tensor(np.zeros(y.shape) if g is None else g, y.dtype, "jax") for g, y in zip(found, outputs, strict=True)
        ]
        ts = [level.settled(part) for part in parts]
        value = unflatten(run, spec, [level.settled(y) for y in outputs])
        aux = settled_tree(run, level, aux)
    call.end(ts, inputs.names)
    return value, unflatten(run, spec, ts), aux


@native("jax.jvp")
def jvp(run: Run, fun: Any, primals: Any, tangents: Any, has_aux: bool = False) -> Any:
    """Return what a function gives, and J·v."""
    checked_function(run, fun)
    if not isinstance(primals, tuple | list) or not isinstance(tangents, tuple | list):
        run.fail(
            "TypeError",
            f"primal and tangent arguments to jax.jvp must be tuples or lists; found {type_name(run, primals)} and "
            f"{type_name(run, tangents)}.",
        )
    value, push, aux = pushed_through(run, fun, primals, tangents, has_aux)
    return (value, push, aux) if has_aux else (value, push)


def type_name(run: Run, value: Any) -> str:
    """Return what Python calls the type of a value."""
    from gradcli.runner.builtins import type_name as name

    return name(value)


@native("jax.linearize")
def linearize(run: Run, fun: Any, *primals: Any, has_aux: bool = False) -> Any:
    """Return what a function gives, and the function that pushes v forward."""
    checked_function(run, fun)
    made = run.call(
        fun,
        [
            unflatten(run, spec, [converted(run, one) for one in leaves])
            for leaves, spec in (flatten(run, p) for p in primals)
        ],
    )

    def push(run: Run, *tangents: Any) -> Any:
        return pushed_through(run, fun, primals, tangents, has_aux)[1]

    return (made[0], Made(push, fun), made[1]) if has_aux else (made, Made(push, fun))


@native("jax.linear_transpose")
def linear_transpose(run: Run, fun: Any, *primals: Any) -> Any:
    """Return the transposed of a linear function."""
    return vjp(run, fun, *primals)[1]


@native("jax.vmap")
def vmap(
    run: Run, fun: Any, in_axes: Any = 0, out_axes: Any = 0, axis_name: Any = None, axis_size: Any = None, **_: Any
) -> Made:
    """Return a function that runs once for each entry of a batch."""
    checked_function(run, fun)

    def run_it(run: Run, *arguments: Any, **named: Any) -> Any:
        given = [tree_of_arrays(run, a) for a in arguments]
        axes = list(in_axes) if isinstance(in_axes, list) else in_axes
        return batched(
            run,
            fun,
            given,
            {k: tree_of_arrays(run, v) for k, v in named.items()},
            tuple(axes) if isinstance(axes, list) else axes,
            out_axes,
            lambda y: converted(run, y),
            jax=True,
        )

    return Made(run_it, fun)


def tree_of_arrays(run: Run, tree: Any) -> Any:
    """Return a nest with arrays of NumPy as JAX's."""
    leaves, spec = flatten(run, tree)
    return unflatten(run, spec, [converted(run, leaf) if isinstance(leaf, Tensor) else leaf for leaf in leaves])


@native("jax.jit")
def jit(run: Run, fun: Any = None, *, static_argnums: Any = None, static_argnames: Any = None, **_: Any) -> Any:
    """Return a function that computes with arrays alone: compiled or not, it gives the same numbers."""
    if fun is None:
        return lambda run, fun: jit(run, fun, static_argnums=static_argnums, static_argnames=static_argnames)
    checked_function(run, fun)
    fixed = [static_argnums] if isinstance(static_argnums, int) else list(static_argnums or ())
    named_fixed = [static_argnames] if isinstance(static_argnames, str) else list(static_argnames or ())
    parameters = name_list(fun)
    fixed += [parameters.index(n) for n in named_fixed if n in parameters]

    def run_it(run: Run, *arguments: Any, **named: Any) -> Any:
        count = len(arguments)
        given = [a if k in fixed or k - count in fixed else every(run, a) for k, a in enumerate(arguments)]
        made = run.call(fun, given, {k: v if k in named_fixed else every(run, v) for k, v in named.items()})
        return every(run, made)

    return Made(run_it, fun)


def name_list(fun: Any) -> list[str]:
    """Return the names of a function's parameters."""
    from gradcli.runner.transforms import parameter_names

    return parameter_names(fun)


def every(run: Run, tree: Any) -> Any:
    """Return a nest whose numbers are arrays."""
    leaves, spec = flatten(run, tree)
    return unflatten(
        run,
        spec,
        [converted(run, leaf) if isinstance(leaf, Tensor) or type(leaf) in PLAIN else leaf for leaf in leaves],
    )


@native("jax.checkpoint", "jax.remat", "jax.named_call")
def checkpoint(run: Run, fun: Any = None, **options: Any) -> Any:
    """Return a function: what it saves in memory is the same numbers."""
    return fun if fun is not None else lambda run, fun: fun


@native("jax.disable_jit", "jax.checking_leaks", "jax.debug_nans")
def disable_jit(run: Run, *_: Any) -> Any:
    """Return a context that changes no numbers."""
    from gradcli.runner.objects import Context

    class Nothing(Context):
        def enter(self, run: Any) -> None:
            return None

        def leave(self, run: Any) -> None:
            return None

    return Nothing()


@native("jax.debug.print")
def debug_print(run: Run, fmt: str, *arguments: Any, ordered: bool = False, **named: Any) -> None:
    """Print a template."""
    from gradcli.runner.strings import format_template

    run.print(format_template(run, fmt, arguments, named) + "\n")


@native("jax.eval_shape")
def eval_shape(run: Run, fun: Any, *arguments: Any, **named: Any) -> Any:
    """Return what a function gives: its shapes and types are asked for."""
    return run.call(fun, list(arguments), named)


# ---- loops and branches
def refuse_dynamic(run: Run, tree: Any) -> None:
    """Raise what JAX raises where a loop of unknown length is differentiated in reverse."""
    level = next((one for one in reversed(run.levels) if isinstance(one, Level)), None)
    if level is None or level.forward:
        return
    if any(isinstance(leaf, Tensor) and leaf.active for leaf in flatten(run, tree)[0]):
        run.fail("ValueError", LOOPS)


@native("jax.lax.fori_loop")
def fori_loop(run: Run, lower: Any, upper: Any, body_fun: Any, init_val: Any, **_: Any) -> Any:
    """Do a loop over integers."""
    value = every(run, init_val)
    for k in range(int(numbers(lower)), int(numbers(upper))):
        value = every(run, run.call(body_fun, [converted(run, k), value]))
        run.meter.watch()
    return value


@native("jax.lax.while_loop")
def while_loop(run: Run, cond_fun: Any, body_fun: Any, init_val: Any) -> Any:
    """Do a loop as long as a condition holds."""
    value = every(run, init_val)
    while truth(run, run.call(cond_fun, [value])):
        value = every(run, run.call(body_fun, [value]))
        run.meter.watch()
    refuse_dynamic(run, value)
    return value


@native("jax.lax.scan")
def scan(
    run: Run,
    f: Any,
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: Any = 1,
    **_: Any,
) -> Any:
    """Do a loop over the first axis of arrays, and stack what each turn gives."""
    leaves, spec = flatten(run, tree_of_arrays(run, xs))
    leaves = [array(run, leaf) for leaf in leaves]
    sizes = {leaf.shape[0] for leaf in leaves}
    if len(sizes) > 1:
        run.fail(
            "ValueError",
            f"scan got values with different leading axis sizes: {', '.join(str(leaf.shape[0]) for leaf in leaves)}.",
        )
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
        x = unflatten(run, spec, [entry(run, leaf, k) for leaf in leaves])
        made = run.call(f, [carry, x])
        if not (isinstance(made, tuple | list) and len(made) == 2):
            run.fail("TypeError", f"scan body output must be a pair, got {shown(run, made)}.")
        carry = every(run, made[0])
        if not flatten(run, carry)[1].same(shape):
            run.fail(
                "TypeError",
                "scan body function carry input and carry output must have the same pytree structure, but they differ",
            )
        parts, out_spec = flatten(run, every(run, made[1]))
        rows.append(parts)
    if out_spec is None:
        return carry, None
    if reverse:
        rows.reverse()
    stacked = [gathered(run, [row[place] for row in rows], 0) for place in range(out_spec.count)]
    return carry, unflatten(run, out_spec, stacked)


@native("jax.lax.map")
def lax_map(run: Run, f: Any, xs: Any, **_: Any) -> Any:
    """Return what a function gives of each entry along the first axis."""
    return scan(run, lambda run, carry, x: (carry, run.call(f, [x])), (), xs)[1]


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
