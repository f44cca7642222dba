"""``jax.custom_vjp`` and ``jax.custom_jvp``: functions whose derivative the user wrote."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradcli.runner.libraries.jax_arrays import converted, stopped
from gradcli.runner.libraries.torch_function import Call, note_custom, parts_of_node
from gradcli.runner.library import TABLE, attributes_of, native
from gradcli.runner.state import Run
from gradcli.runner.transforms import (
    Level,
    Spec,
    as_tensors,
    flatten,
    mapped,
    name_of_function,
    parameter_names,
    pulled,
    seed_for,
    unflatten,
)
from gradcli.runner.values import Instance, Tensor, category


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


@native("jax.custom_gradient")
def custom_gradient(run: Run, fun: Any) -> Any:
    """Return a function that gives its backward pass along with its value."""
    made = CustomVjp(lambda run, *xs: run.call(fun, list(xs))[0])

    def backward(run: Run, pull: Any, g: Any) -> Any:
        parts = run.call(pull, [g])
        return parts if isinstance(parts, tuple) else (parts,)

    made.rules = (lambda run, *xs: tuple(run.call(fun, list(xs))), backward)
    return made
