"""autograd (HIPS): gradients of functions of NumPy's arrays, by functions of functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gradcli.runner.converting import array_of
from gradcli.runner.libraries.jax_transforms import Plain, linked
from gradcli.runner.libraries.transformed import Applied, Convention, second, shown_type, transformation
from gradcli.runner.library import TABLE, native
from gradcli.runner.printing import to_str
from gradcli.runner.state import Run
from gradcli.runner.transforms import Call, Made, flatten, name_of_function, parameter_names, pulled, ravelled
from gradcli.runner.values import Tensor, category, extra_of


class Boxes(Convention):
    """autograd's."""

    kind, library = "boxes", "numpy"
    bare = True

    def places(self, run: Run, arguments: Sequence[Any], argnums: Any) -> list[int]:
        """Return the places of the arguments to differentiate by."""
        places = [argnums] if isinstance(argnums, int) else list(argnums)
        if not all(-len(arguments) <= place < len(arguments) for place in places):
            run.fail("IndexError", "tuple index out of range")
        return places

    def taken(self, run: Run, leaf: Any, name: str) -> tuple[Tensor, bool]:
        """Return a number or an array of NumPy's to differentiate by."""
        if type(leaf) is float or (isinstance(leaf, Tensor) and leaf.shape and category(leaf.dtype) < 2):
            return Tensor(np.asarray(getattr(leaf, "value", leaf), np.float64), "float64", "numpy"), True
        if isinstance(leaf, Tensor) and category(leaf.dtype) == 2:
            return leaf, True
        kind = shown_type(run, leaf)
        return run.fail("TypeError", f"Can't differentiate w.r.t. type {kind}")  # type: ignore[no-any-return]

    def beside(self, run: Run, made: Any, name: str) -> tuple[Any, Any]:
        """Return what a function gives, and what it gives beside."""
        value, rest = made
        return value, rest

    def output(self, run: Run, leaf: Any, name: str) -> Any:
        """Return a leaf of what a function gives as an array."""
        if isinstance(leaf, Tensor):
            return leaf
        if type(leaf) is float:
            return Tensor(np.asarray(leaf), "float64", "numpy")
        kind = shown_type(run, leaf)
        return run.fail("TypeError", f"Can't find vector space for value {to_str(run, leaf)} of type {kind}.")

    def scalar(self, run: Run, done: Applied, name: str) -> None:
        """Raise what autograd raises where a function gives more than one number."""
        with_value = name == "value_and_grad"
        if done.spec.kind != "leaf" or (y := done.outputs[0]).shape or (category(y.dtype) < 2 and not with_value):
            run.fail_as("boxes scalar", name if with_value else "Grad")

    def tangents(self, run: Run, done: Applied, tangents: Any) -> list[Tensor]:
        """Return v for each input."""
        return arrays_of(run, tangents)

    def part(self, value: Any) -> Any:
        """Return a number as an array without axes, as it is shown."""
        if isinstance(value, Tensor) and not value.shape:
            extra_of(value).several = True
        return value


BOXES = Boxes()


def arrays_of(run: Run, tree: Any) -> list[Tensor]:
    """Return the leaves of a nest as arrays."""
    return [array_of(run, leaf, "numpy") for leaf in flatten(run, tree, False)[0]]


GRADIENT = transformation(BOXES, "grad", lambda done: done.gradient())
JACOBIAN = transformation(BOXES, "jacobian", lambda done: done.jacobian())


def elementwise_grad(done: Applied) -> Any:
    """Return the sum of the gradients of all entries."""
    vs = [np.ones(y.shape) for y in done.outputs]
    return done.pull(vs, vs[0] if vs[0].shape else None)


def make_vjp(done: Applied) -> Any:
    """Return the function that pulls v back, and the value."""

    def pull(run: Run, v: Any) -> Any:
        done.call = Call(run, done.fun)
        vs = arrays_of(run, v) if done.spec.kind != "leaf" else [array_of(run, v, "numpy")]
        return done.pull(vs, np.asarray(vs[0].value))

    return Made(pull, done.fun), done.value


PULL = transformation(BOXES, "make_vjp", make_vjp)


def make_jvp(run: Run, fun: Any, argnum: Any, arguments: Any, named: Any) -> Any:
    """Return the function that pushes v forward: it gives the value too."""

    def push(run: Run, v: Any) -> Any:
        done = Applied(run, BOXES, "make_jvp", fun, argnum, arguments, named)
        made = done.push(v)
        return done.value, made

    return Made(push, fun)


def product(run: Run, fun: Any, argnum: Any, arguments: Any, named: Any) -> Any:
    """Return H·v: the last argument is v."""
    *xs, v = arguments

    def along(run: Run, *inner: Any, **options: Any) -> Any:
        g = GRADIENT(run, fun, argnum)(run, *inner, **options)
        return run.function("numpy.sum", run.operate("*", g, v))

    return GRADIENT(run, Made(along, fun), argnum)(run, *xs, **named)


def deriv(run: Run, fun: Any, argnum: Any, arguments: Any, named: Any) -> Any:
    """Return the derivative by a number."""
    x, _ = BOXES.taken(run, arguments[argnum], "deriv")
    return make_jvp(run, fun, argnum, arguments, named)(run, Tensor(np.ones(x.shape), "float64", "numpy"))[1]


def make_hvp(run: Run, fun: Any, argnum: Any, arguments: Any, named: Any) -> Any:
    """Return the function of v that gives H·v, and the gradient."""
    pull = Made(lambda run, v: product(run, fun, argnum, (*arguments, v), named), fun)
    return pull, GRADIENT(run, fun, argnum)(run, *arguments, **named)


def operator(work: Callable[..., Any]) -> Callable[..., Made]:
    """Return a function of functions: ``work(run, fun, argnum, arguments, named)`` does what it gives."""
    return lambda run, fun, argnum: Made(lambda run, *arguments, **named: work(run, fun, argnum, arguments, named), fun)


OPERATORS: dict[str, Callable[..., Made]] = {
    "grad": GRADIENT, "jacobian": JACOBIAN, "hessian": second(JACOBIAN, JACOBIAN), "make_vjp": PULL,
    "value_and_grad": transformation(BOXES, "value_and_grad", lambda done: (done.value, done.gradient())),
    "grad_and_aux": lambda run, fun, argnum: transformation(
        BOXES, "grad", lambda done: (done.gradient(), done.aux)
    )(run, fun, argnum, has_aux=True),
    **dict.fromkeys(("elementwise_grad", "egrad"), transformation(BOXES, "elementwise_grad", elementwise_grad)),
    "make_jvp": operator(make_jvp), "make_hvp": operator(make_hvp), "deriv": operator(deriv),
    **dict.fromkeys(("hessian_vector_product", "hessian_tensor_product"), operator(product)),
    **dict.fromkeys(
        ("vector_jacobian_product", "tensor_jacobian_product"),
        operator(lambda run, fun, argnum, arguments, named: (
            PULL(run, fun, argnum)(run, *arguments[:-1], **named)[0](run, arguments[-1])
        )),
    ),
}  # fmt: skip
for _name, _operator in OPERATORS.items():
    native(f"autograd.{_name}", f"autograd.differential_operators.{_name}")(
        lambda run, fun, argnum=0, *, work=_operator: work(run, fun, argnum)
    )


# ---- autograd.extend
class Primitive:
    """A function whose derivatives the user gives."""

    def __init__(self, fun: Any) -> None:
        self.fun = self.wrapped = fun
        self.name = name_of_function(fun)
        self.rules: dict[int, Any] = {}
        self.text = f"<primitive {self.name}>"

    attributes = {"__name__": lambda run, me: me.name, "fun": lambda run, me: me.fun}  # noqa: RUF012

    def __call__(self, run: Run, *arguments: Any, **named: Any) -> Any:
        """Call it."""
        if not any(isinstance(a, Tensor) and a.active for a in arguments):
            return run.call(self.fun, list(arguments), named)
        plain = [
            Tensor(np.asarray(a.value), a.dtype, a.library) if isinstance(a, Tensor) and a.active else a
            for a in arguments
        ]
        with run.graph.apart():
            made = array_of(run, run.call(self.fun, plain, named), "numpy")
        results: list[Any] = []

        def back(run: Run, again: bool, g: Any) -> list[Any]:
            inside = arguments if again else plain
            ans = results[0] if again else made
            result: list[Any] = []
            for place, a in enumerate(arguments):
                rule = self.rules.get(place)
                if not (isinstance(a, Tensor) and a.active):
                    result.append(None)
                    continue
                if rule is None:
                    run.fail("NotImplementedError", f"VJP of {self.name} wrt argnum 0 not defined")
                result.append(array_of(run, run.call(run.call(rule, [ans, *inside], named), [g]), "numpy"))
            return result

        rest = Plain(
            parameter_names(self.fun), lambda: [array_of(run, run.call(self.fun, list(arguments), named), "numpy")]
        )
        results += linked(run, self.name, arguments, [made], back, rest, "numpy")
        return results[0]


TABLE |= {
    **{f"autograd.{name}": lambda run, fun: Primitive(fun) for name in (
        "extend.primitive", "primitive", "core.primitive",
    )},
    "autograd.checkpoint": lambda run, fun: fun,
}  # fmt: skip


@native("autograd.extend.defvjp", "autograd.core.defvjp")
def defvjp(run: Run, fun: Primitive, *makers: Any, argnums: Any = None) -> None:
    """Give a function its derivatives."""
    for place, maker in zip(argnums if argnums is not None else range(len(makers)), makers, strict=False):
        if maker is not None:
            fun.rules[place] = maker


@native("autograd.misc.flatten.flatten", "autograd.misc.flatten")
def flatten_it(run: Run, value: Any) -> Any:
    """Return all arrays of a nest as one row, and the function that puts them together again."""
    leaves, spec = flatten(run, value, True)
    return ravelled(run, spec, [array_of(run, leaf, "numpy") for leaf in leaves], "numpy")


@native("autograd.test_util.check_grads")
def check_grads(run: Run, fun: Any, *_: Any, **__: Any) -> Any:
    """Hold the gradients of a function against central differences."""

    def run_it(run: Run, *arguments: Any) -> None:
        done = Applied(run, BOXES, "check_grads", fun, tuple(range(len(arguments))), arguments)
        vs = np.random.RandomState(0).standard_normal(done.outputs[0].shape)
        gs = pulled(run, done.outputs, [np.asarray(vs)], done.lifted, False)
        for place, (x, g) in enumerate(zip(done.leaves, gs, strict=True)):
            flat = np.ravel(np.array(x.value, np.float64))
            for k in range(flat.size):
                ends = []
                for step in (-1e-6, 1e-6):
                    moved = flat + step * (np.arange(flat.size) == k)
                    xs = list(arguments)
                    xs[place] = Tensor(moved.reshape(x.shape), "float64", "numpy")
                    ends.append(np.sum(np.asarray(array_of(run, run.call(fun, xs), "numpy").value) * vs))
                if not np.isclose((ends[1] - ends[0]) / 2e-6, np.ravel(g)[k], 1e-4, 1e-6):
                    run.fail_as("boxes check", name_of_function(fun), place)

    return run_it


# ---- autograd.misc.optimizers: descents that call the script's own gradient once for each step
Steps = Iterator[Any]
"""What yields the point of each step, and is sent the gradient there."""


def momentum(run: Run, x: Any, step_size: float = 0.1, mass: float = 0.9) -> Steps:
    """Yield the points of gradient descent with momentum."""
    o, velocity = run.operate, 0.0
    while True:
        g = yield x
        velocity = o("-", o("*", mass, velocity), o("*", 1.0 - mass, g))
        x = o("+", x, o("*", step_size, velocity))


def root_mean_square(run: Run, x: Any, step_size: float = 0.1, gamma: float = 0.9, eps: float = 10**-8) -> Steps:
    """Yield the points of RMSprop."""
    o, average = run.operate, 1.0
    while True:
        g = yield x
        average = o("+", o("*", average, gamma), o("*", o("**", g, 2), 1 - gamma))
        x = o("-", x, o("/", o("*", step_size, g), o("+", o("**", average, 0.5), eps)))


def adaptive(
    run: Run, x: Any, step_size: float = 0.001, b1: float = 0.9, b2: float = 0.999, eps: float = 10**-8
) -> Steps:
    """Yield the points of Adam."""
    o, first, second, power = run.operate, 0.0, 0.0, 0
    while True:
        g = yield x
        power += 1
        first = o("+", o("*", 1 - b1, g), o("*", b1, first))
        second = o("+", o("*", 1 - b2, o("**", g, 2)), o("*", b2, second))
        root = o("**", o("/", second, 1 - b2**power), 0.5)
        x = o("-", x, o("/", o("*", step_size, o("/", first, 1 - b1**power)), o("+", root, eps)))


def optimizer(steps: Callable[..., Any], name: str, turns: int) -> Callable[..., Any]:
    """Return an optimizer of nests of arrays, which takes so many turns by default."""

    def optimize(run: Run, grad: Any, x0: Any, callback: Any = None, num_iters: int = turns, *options: Any,
                 **named: Any) -> Any:  # fmt: skip
        x, unflatten = flatten_it(run, x0)
        walk = steps(run, x, *options, **named)
        x = next(walk)
        for turn in range(num_iters):
            given = run.call(unflatten, [x])
            g = flatten_it(run, run.call(grad, [given, turn]))[0]
            if callback is not None:
                run.call(callback, [given, turn, run.call(unflatten, [g])])
            x = walk.send(g)
        return run.call(unflatten, [x])

    optimize.__name__ = optimize.__qualname__ = name  # errors of a call say it
    return optimize


TABLE |= {
    f"autograd.misc.optimizers.{name}": optimizer(steps, name, turns)
    for name, steps, turns in (("sgd", momentum, 200), ("rmsprop", root_mean_square, 100), ("adam", adaptive, 100))
}
