"""autograd (HIPS): gradients of functions of NumPy's arrays, by functions of functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradcli.runner.arrays import array_of
from gradcli.runner.containers import entry
from gradcli.runner.libraries.jax_custom import linked
from gradcli.runner.library import TABLE, native
from gradcli.runner.state import Run
from gradcli.runner.transforms import (
    Call,
    Level,
    Made,
    as_tensors,
    first_v,
    jacobian_rows,
    name_of_function,
    pulled,
    pushed,
    seed_for,
)
from gradcli.runner.trees import Spec, flatten, unflatten
from gradcli.runner.values import Tensor, category, extra_of

SCALAR = "Grad only applies to real scalar-output functions. Try jacobian, elementwise_grad or holomorphic_grad."


def boxed(run: Run, x: Any) -> Tensor:
    """Return a number or an array of NumPy's to differentiate by; raises what autograd raises for anything else."""
    if type(x) is float:
        return Tensor(np.asarray(x), "float64", "numpy")
    if isinstance(x, Tensor) and category(x.dtype) == 2:
        return x
    from gradcli.runner.builtins import type_of
    from gradcli.runner.strings import to_repr

    kind = to_repr(run, type_of(run, x))
    if isinstance(x, Tensor) and x.shape:
        return Tensor(np.asarray(x.value, np.float64), "float64", "numpy")
    return run.fail("TypeError", f"Can't differentiate w.r.t. type {kind}")  # type: ignore[no-any-return]


class Inputs:
    """The arguments of a function, of which some are inputs of a level."""

    def __init__(self, run: Run, level: Level, call: Call, arguments: Sequence[Any], argnum: Any) -> None:
        self.run, self.arguments = run, list(arguments)
        self.single = isinstance(argnum, int)
        self.places: list[int] = [argnum] if self.single else list(argnum)
        self.specs: list[Spec] = []
        self.leaves: list[Tensor] = []
        self.lifted: list[Tensor] = []
        self.names: list[str] = []
        for place in self.places:
            if not -len(arguments) <= place < len(arguments):
                run.fail("IndexError", "tuple index out of range")
            leaves, spec = flatten(run, arguments[place], False, none_is_leaf=True)
            names = call.names(place, leaves)
            outer = [boxed(run, leaf) for leaf in leaves]
            inside = [level.lifted(x, own) for x, own in zip(outer, names, strict=True)]
            self.specs.append(spec)
            self.leaves += outer
            self.lifted += inside
            self.names += names
            self.arguments[place] = unflatten(run, spec, inside)

    def together(self, values: Sequence[Any]) -> Any:
        """Return values in the shape of the arguments; in a nest a number is an array."""
        rest = iter(
            [as_array(v) if spec.kind != "leaf" else v for v, spec in zip(values, self.of_leaves(), strict=True)]
        )
        trees = tuple([unflatten(self.run, spec, rest) for spec in self.specs])
        if self.single:
            return trees[0]
        return tuple([as_array(t) if isinstance(t, Tensor) else t for t in trees])

    def of_leaves(self) -> list[Spec]:
        """Return the structure that each leaf belongs to."""
        return [spec for spec in self.specs for _ in range(spec.count)]


def as_array(x: Any) -> Any:
    """Return a number as an array without axes, as it is shown."""
    if isinstance(x, Tensor) and not x.shape:
        extra_of(x).several = True
    return x


def output_of(run: Run, made: Any) -> Tensor:
    """Return what a function gives as an array; raises what autograd raises for anything else."""
    if isinstance(made, Tensor):
        return made
    if type(made) is float:
        return Tensor(np.asarray(made), "float64", "numpy")
    from gradcli.runner.builtins import type_of
    from gradcli.runner.strings import to_repr, to_str

    if isinstance(made, tuple | list | dict):
        run.fail("TypeError", SCALAR)
    return run.fail(  # type: ignore[no-any-return]
        "TypeError",
        f"Can't find vector space for value {to_str(run, made)} of type {to_repr(run, type_of(run, made))}.",
    )


class Evaluated:
    """A function called with inputs of its own."""

    def __init__(self, run: Run, fun: Any, argnum: Any, arguments: Any, named: Any, aux: bool = False) -> None:
        self.run, self.call = run, Call(run, fun)
        self.level = Level(run, "boxes")
        self.aux: Any = None
        with self.level:
            self.inputs = Inputs(run, self.level, self.call, arguments, argnum)
            made = run.call(fun, self.inputs.arguments, named)
            if aux:
                made, rest = made
                leaves, spec = flatten(run, rest, False)
                self.aux = unflatten(run, spec, [self.level.settled(leaf) for leaf in leaves])
            self.nest = isinstance(made, tuple | list | dict)
            self.outputs = flatten(run, made, False)[0] if self.nest else [output_of(run, made)]
            self.spec = flatten(run, made, False)[1] if self.nest else None
        self.y = self.outputs[0]

    @property
    def value(self) -> Any:
        """What the function gave."""
        found = [self.level.settled(y) for y in self.outputs]
        return found[0] if self.spec is None else unflatten(self.run, self.spec, found)

    def scalar(self) -> None:
        """Raise what autograd raises where the function gives more than one number."""
        if self.nest or self.y.shape or category(self.y.dtype) < 2:
            self.run.fail("TypeError", SCALAR)

    def pull(self, vs: Sequence[Any], note: bool = True, v: Any = None) -> Any:
        """Return vᵀ·J, and note the call."""
        run, level = self.run, self.level
        level.line, level.before = run.line, run.grad_enabled
        with level:
            create = level.outer([*self.outputs, *[v for v in vs if isinstance(v, Tensor)]])
            self.call.begin(self.y, v)
            seeds = [seed_for(y, one) for y, one in zip(self.outputs, vs, strict=True)]
            gs = pulled(run, self.outputs, seeds, self.inputs.lifted, create)
            found = [level.settled(g) for g in as_tensors(gs, self.inputs.lifted)]
        if note:
            self.call.end(found, self.inputs.names)
        return self.inputs.together(found)


def operator(names: str, run_it: Callable[..., Any]) -> None:
    """Enter a function of functions under its names: ``run_it(run, fun, argnum, arguments, named)`` does its work."""

    def make(run: Run, fun: Any, argnum: Any = 0, *_: Any, **__: Any) -> Made:
        return Made(lambda run, *arguments, **named: run_it(run, fun, argnum, arguments, named), fun)

    for name in names.split():
        TABLE[f"autograd.{name}"] = TABLE[f"autograd.differential_operators.{name}"] = make


def grad(run: Run, fun: Any, argnum: Any, arguments: Any, named: Any) -> Any:
    """Return the gradient."""
    done = Evaluated(run, fun, argnum, arguments, named)
    done.scalar()
    return done.pull([np.ones(())])


def value_and_grad(run: Run, fun: Any, argnum: Any, arguments: Any, named: Any) -> Any:
    """Return the value and the gradient."""
    done = Evaluated(run, fun, argnum, arguments, named)
    if done.nest or done.y.shape:
        run.fail(
            "TypeError",
            "value_and_grad only applies to real scalar-output functions. Try jacobian, elementwise_grad or "
            "holomorphic_grad.",
        )
    return done.value, done.pull([np.ones(())])


def grad_and_aux(run: Run, fun: Any, argnum: Any, arguments: Any, named: Any) -> Any:
    """Return the gradient and what the function gives beside."""
    done = Evaluated(run, fun, argnum, arguments, named, aux=True)
    done.scalar()
    return done.pull([np.ones(())]), done.aux


def elementwise_grad(run: Run, fun: Any, argnum: Any, arguments: Any, named: Any) -> Any:
    """Return the sum of the gradients of all entries."""
    done = Evaluated(run, fun, argnum, arguments, named)
    return done.pull([np.ones(y.shape) for y in done.outputs], v=np.ones(done.y.shape) if done.y.shape else None)


def jacobian(run: Run, fun: Any, argnum: Any, arguments: Any, named: Any) -> Any:
    """Return the Jacobian."""
    done = Evaluated(run, fun, argnum, arguments, named)
    level = done.level
    level.line = run.line
    with level:
        done.call.begin(done.y, first_v(done.y))
        block = jacobian_rows(run, [done.y], done.inputs.lifted, level.outer([done.y]))[0]
        found = [level.settled(part) for part in block]
    done.call.end(found, done.inputs.names)
    return done.inputs.together([as_array(part) for part in found])


def hessian(run: Run, fun: Any, argnum: Any, arguments: Any, named: Any) -> Any:
    """Return the second derivatives."""

    def inner(run: Run, *xs: Any, **options: Any) -> Any:
        return jacobian(run, fun, argnum, xs, options)

    return jacobian(run, Made(inner, fun), argnum, arguments, named)


def make_vjp(run: Run, fun: Any, argnum: Any, arguments: Any, named: Any) -> Any:
    """Return the function that pulls v back, and the value."""
    done = Evaluated(run, fun, argnum, arguments, named)

    def pull(run: Run, v: Any) -> Any:
        done.call = Call(run, fun)
        vs = flatten(run, v, False)[0] if done.nest else [array_of(run, v, "numpy")]
        return done.pull(vs, v=np.asarray(vs[0].value))

    return Made(pull, fun), done.value


def make_jvp(run: Run, fun: Any, argnum: Any, arguments: Any, named: Any) -> Any:
    """Return the function that pushes v forward: it gives the value too."""

    def push(run: Run, v: Any) -> Any:
        done = Evaluated(run, fun, argnum, arguments, named)
        vs = [array_of(run, one, "numpy") for one in flatten(run, v, False)[0]]
        level = done.level
        with level:
            done.call.begin(done.y)
            (t,) = pushed(run, level, [done.y], done.inputs.lifted, vs)
            made = level.settled(Tensor(np.zeros(done.y.shape) if t is None else t, done.y.dtype, "numpy"))
        done.call.end([made], done.inputs.names)
        return done.value, made

    return Made(push, fun)


def product(run: Run, fun: Any, argnum: Any, arguments: Any, named: Any) -> Any:
    """Return H·v: the last argument is v."""
    *xs, v = arguments

    def along(run: Run, *inner: Any, **options: Any) -> Any:
        g = grad(run, fun, argnum, inner, options)
        return run.function("numpy.sum", run.operate("*", g, v))

    return grad(run, Made(along, fun), argnum, xs, named)


def pulled_by_last(run: Run, fun: Any, argnum: Any, arguments: Any, named: Any) -> Any:
    """Return vᵀ·J: the last argument is v."""
    *xs, v = arguments
    done = Evaluated(run, fun, argnum, xs, named)
    return done.pull([array_of(run, v, "numpy")], v=np.asarray(array_of(run, v, "numpy").value))


def deriv(run: Run, fun: Any, argnum: Any, arguments: Any, named: Any) -> Any:
    """Return the derivative by a number."""
    x = boxed(run, arguments[argnum])
    return make_jvp(run, fun, argnum, arguments, named)(run, Tensor(np.ones(x.shape), "float64", "numpy"))[1]


def make_hvp(run: Run, fun: Any, argnum: Any, arguments: Any, named: Any) -> Any:
    """Return the function of v that gives H·v, and the gradient."""
    pull = Made(lambda run, v: product(run, fun, argnum, (*arguments, v), named), fun)
    return pull, grad(run, fun, argnum, arguments, named)


for _names, _work in (
    ("grad", grad),
    ("value_and_grad", value_and_grad),
    ("grad_and_aux", grad_and_aux),
    ("elementwise_grad egrad", elementwise_grad),
    ("jacobian", jacobian),
    ("hessian", hessian),
    ("make_vjp", make_vjp),
    ("make_jvp", make_jvp),
    ("deriv", deriv),
    ("hessian_vector_product hessian_tensor_product", product),
    ("vector_jacobian_product tensor_jacobian_product", pulled_by_last),
    ("make_hvp", make_hvp),
):
    operator(_names, _work)


@native("autograd.holomorphic_grad")
def holomorphic_grad(run: Run, *_: Any, **__: Any) -> Any:
    """Refuse complex numbers."""
    raise run.refuse("complex numbers are not part of gradcli")


@native("autograd.checkpoint")
def checkpoint(run: Run, fun: Any) -> Any:
    """Return the function: what it saves in memory is the same numbers."""
    return fun


@native("autograd.multigrad_dict")
def multigrad_dict(run: Run, fun: Any) -> Made:
    """Return the function that gives a dictionary of the gradients by all parameters."""
    from gradcli.runner.transforms import parameter_names

    def run_it(run: Run, *arguments: Any) -> Any:
        names = parameter_names(fun)[: len(arguments)]
        return dict(zip(names, grad(run, fun, tuple(range(len(arguments))), arguments, {}), strict=True))

    return Made(run_it, fun)


@native("autograd.grad_named")
def grad_named(run: Run, fun: Any, argname: str) -> Made:
    """Return the gradient by the parameter of a name."""
    from gradcli.runner.transforms import parameter_names

    return TABLE["autograd.grad"](run, fun, parameter_names(fun).index(argname))  # type: ignore[no-any-return]


# ---- autograd.extend
class Primitive:
    """A function whose derivatives the user gives."""

    def __init__(self, fun: Any) -> None:
        self.fun = self.wrapped = fun
        self.rules: dict[int, Any] = {}
        self.text = f"<primitive {name_of_function(fun)}>"

    attributes = {"__name__": lambda run, me: name_of_function(me.fun), "fun": lambda run, me: me.fun}  # noqa: RUF012

    @property
    def name(self) -> str:
        """What it is called."""
        return name_of_function(self.fun)

    def __call__(self, run: Run, *arguments: Any, **named: Any) -> Any:
        """Call it."""
        if not any(isinstance(a, Tensor) and a.active for a in arguments):
            return run.call(self.fun, list(arguments), named)
        plain = [
            Tensor(np.asarray(a.value), a.dtype, a.library) if isinstance(a, Tensor) and a.active else a
            for a in arguments
        ]
        made = array_of(run, run.call(self.fun, plain, named), "numpy")
        results: list[Any] = []

        def back(run: Run, again: bool, g: Any) -> list[Any]:
            inside = arguments if again else plain
            ans = results[0] if again else made
            found: list[Any] = []
            for place, a in enumerate(arguments):
                rule = self.rules.get(place)
                if not (isinstance(a, Tensor) and a.active):
                    found.append(None)
                    continue
                if rule is None:
                    run.fail("NotImplementedError", f"VJP of {self.name} wrt argnum 0 not defined")
                found.append(array_of(run, run.call(run.call(rule, [ans, *inside], named), [g]), "numpy"))
            return found

        results += linked(run, self.name, arguments, [made], back, "numpy")
        return results[0]


@native("autograd.extend.primitive", "autograd.primitive", "autograd.core.primitive")
def primitive(run: Run, fun: Any) -> Primitive:
    """Return a function whose derivatives are given by ``defvjp``."""
    return Primitive(fun)


@native("autograd.extend.defvjp", "autograd.core.defvjp")
def defvjp(run: Run, fun: Primitive, *makers: Any, argnums: Any = None) -> None:
    """Give a function its derivatives."""
    for place, maker in zip(argnums if argnums is not None else range(len(makers)), makers, strict=False):
        if maker is not None:
            fun.rules[place] = maker


@native("autograd.extend.defgrad")
def defgrad(run: Run, fun: Primitive, maker: Any, argnum: int = 0) -> None:
    """Give a function its derivative by one argument, as the first versions did."""
    fun.rules[argnum] = maker


@native("autograd.misc.flatten.flatten", "autograd.misc.flatten")
def flatten_it(run: Run, value: Any) -> Any:
    """Return all arrays of a nest as one row, and the function that puts them together again."""
    leaves, spec = flatten(run, value, True)
    arrays = [array_of(run, leaf, "numpy") for leaf in leaves]
    shapes = [x.shape for x in arrays]
    row = run.function("numpy.concatenate", [run.function("numpy.reshape", x, (-1,)) for x in arrays])

    def unravel(run: Run, flat: Tensor) -> Any:
        start, parts = 0, []
        for shape in shapes:
            size = math.prod(shape)
            parts.append(run.function("numpy.reshape", entry(run, flat, slice(start, start + size)), shape))
            start += size
        return unflatten(run, spec, parts)

    return row, unravel


@native("autograd.test_util.check_grads")
def check_grads(run: Run, fun: Any, *_: Any, **__: Any) -> Any:
    """Hold the gradients of a function against central differences."""

    def run_it(run: Run, *arguments: Any) -> None:
        done = Evaluated(run, fun, tuple(range(len(arguments))), arguments, {})
        vs = np.random.RandomState(0).standard_normal(done.y.shape)
        gs = pulled(run, [done.y], [np.asarray(vs)], done.inputs.lifted, False)
        for place, (x, g) in enumerate(zip(done.inputs.leaves, gs, strict=True)):
            flat = np.ravel(np.array(x.value, np.float64))
            for k in range(flat.size):
                ends = []
                for step in (-1e-6, 1e-6):
                    moved = flat.copy()
                    moved[k] += step
                    xs = [
                        Tensor(moved.reshape(x.shape), "float64", "numpy") if j == place else a
                        for j, a in enumerate(arguments)
                    ]
                    ends.append(np.sum(np.asarray(array_of(run, run.call(fun, xs), "numpy").value) * vs))
                if not np.isclose((ends[1] - ends[0]) / 2e-6, np.ravel(g)[k], 1e-4, 1e-6):
                    run.fail(
                        "AssertionError", f"Derivative (VJP) check of {name_of_function(fun)} failed with arg {place}"
                    )

    return run_it
