"""``torch.func`` and ``torch.vmap``: functions of functions, under functorch's names too; a little of forward mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradcli.runner.library import TABLE, native
from gradcli.runner.objects import Context, Instance
from gradcli.runner.state import Run
from gradcli.runner.transforms import (
    Call,
    Level,
    Made,
    as_tensors,
    batched,
    first_v,
    jacobian_rows,
    picked,
    pulled,
    pushed,
    seed_for,
)
from gradcli.runner.trees import Spec, flatten, unflatten
from gradcli.runner.tuples import Named
from gradcli.runner.values import Tensor, category


def names(name: str) -> tuple[str, ...]:
    """Return the dotted names of a function."""
    return (f"torch.func.{name}", f"functorch.{name}")


def shown_type(run: Run, value: Any) -> str:
    """Return what Python shows of a value's class."""
    from gradcli.runner.builtins import type_of
    from gradcli.runner.strings import to_repr

    return to_repr(run, type_of(run, value))


class Inputs:
    """The arguments of a function of which some are inputs of a level."""

    def __init__(self, run: Run, level: Level, arguments: Sequence[Any], argnums: Any, call: Call) -> None:
        self.run, self.arguments = run, list(arguments)
        self.single = not isinstance(argnums, tuple | list)
        if not self.single and not argnums:
            run.fail("RuntimeError", "argnums must be non-empty")
        self.places = picked(run, arguments, argnums, "torch")
        self.given: list[Any] = []
        self.specs: list[Spec] = []
        self.lifted: list[Tensor] = []
        self.names: list[str] = []
        for place in self.places:
            leaves, spec = flatten(run, arguments[place], False)
            for leaf in leaves:
                if not isinstance(leaf, Tensor):
                    run.fail("ValueError", f"Thing passed to transform API must be Tensor, got {shown_type(run, leaf)}")
                if category(leaf.dtype) < 2:
                    run.fail("RuntimeError", "only Tensors of floating point dtype can require gradients")
            called = call.names(place, leaves)
            inside = [level.lifted(leaf, name) for leaf, name in zip(leaves, called, strict=True)]
            self.names += called
            self.given += leaves
            self.specs.append(spec)
            self.lifted += inside
            self.arguments[place] = unflatten(run, spec, inside)

    def together(self, values: Sequence[Any]) -> Any:
        """Return values, one for each input, in the shape of the arguments."""
        rest = iter(values)
        trees = tuple([unflatten(self.run, spec, rest) for spec in self.specs])
        return trees[0] if self.single else trees


def with_aux(run: Run, made: Any, has_aux: bool, name: str) -> tuple[Any, Any]:
    """Return what a function gives, and what it gives beside."""
    if not has_aux:
        return made, None
    if not (isinstance(made, tuple) and len(made) == 2):
        run.fail("RuntimeError", f"{name}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return made[0], made[1]


def settled_tree(run: Run, level: Level, tree: Any) -> Any:
    """Return a nest as it is outside."""
    leaves, spec = flatten(run, tree, False)
    return unflatten(run, spec, [level.settled(leaf) for leaf in leaves])


def gradient_of(run: Run, func: Any, argnums: Any, has_aux: bool, arguments: Any, named: Any) -> tuple[Any, Any, Any]:
    """Return gradient, value and what the function gives beside."""
    call = Call(run, func)
    with Level(run, "torch") as level:
        inputs = Inputs(run, level, arguments, argnums, call)
        made = run.call(func, inputs.arguments, named)
        y, aux = with_aux(run, made, has_aux, "grad_and_value(f)(*args)")
        if not isinstance(y, Tensor):
            run.fail(
                "RuntimeError",
                f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {shown_type(run, y)}",
            )
        if y.shape:
            run.fail(
                "RuntimeError",
                "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
                f"{len(y.shape)} dims. Maybe you wanted to use the vjp or jacrev APIs instead?",
            )
        create = level.before and level.outer([y])
        call.begin(y)
        gs = as_tensors(pulled(run, [y], [np.ones(())], inputs.lifted, create), inputs.lifted)
        gs = [level.settled(g) for g in gs]
        value, aux = level.settled(y), settled_tree(run, level, aux)
    call.end(gs, inputs.names)
    return inputs.together(gs), value, aux


@native(*names("grad"))
def grad(run: Run, func: Any, argnums: Any = 0, has_aux: bool = False) -> Made:
    """Return the function that gives the gradient."""

    def run_it(run: Run, *arguments: Any, **named: Any) -> Any:
        g, _, aux = gradient_of(run, func, argnums, has_aux, arguments, named)
        return (g, aux) if has_aux else g

    return Made(run_it, func)


@native(*names("grad_and_value"))
def grad_and_value(run: Run, func: Any, argnums: Any = 0, has_aux: bool = False) -> Made:
    """Return the function that gives the gradient and the value."""

    def run_it(run: Run, *arguments: Any, **named: Any) -> Any:
        g, value, aux = gradient_of(run, func, argnums, has_aux, arguments, named)
        return (g, (value, aux)) if has_aux else (g, value)

    return Made(run_it, func)


@native(*names("vjp"))
def vjp(run: Run, func: Any, *primals: Any, has_aux: bool = False) -> Any:
    """Return what a function gives, and the function that pulls v back."""
    call = Call(run, func)
    with Level(run, "torch") as level:
        inputs = Inputs(run, level, primals, tuple(range(len(primals))), call)
        made, aux = with_aux(run, run.call(func, inputs.arguments), has_aux, "vjp(f, *primals)")
        outputs, spec = flatten(run, made, False)
        for y in outputs:
            if not isinstance(y, Tensor):
                run.fail(
                    "RuntimeError",
                    f"vjp(f, *primals): expected f(*primals) to return only tensors, got unsupported type "
                    f"{shown_type(run, y)}",
                )
            if category(y.dtype) < 2:
                run.fail(
                    "RuntimeError",
                    "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with "
                    f"dtype torch.{y.dtype}",
                )
        values = [level.settled(y) for y in outputs]
        aux = settled_tree(run, level, aux)

    def pull(run: Run, *cotangents: Any, retain_graph: bool = True, create_graph: Any = None) -> Any:
        given = cotangents[0] if len(cotangents) == 1 else tuple(cotangents)
        vs, its = flatten(run, given, False)
        if not its.same(spec):
            run.fail(
                "RuntimeError",
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
                f"function. cotangents: {pretty(its)}, primal output: {pretty(spec)}",
            )
        level.before = run.grad_enabled
        level.line = run.line
        pulling = Call(run, func)
        with level:
            create = level.before and level.outer([*outputs, *vs])
            seeds = [seed_for(y, v) for y, v in zip(outputs, vs, strict=True)]
            if outputs:
                pulling.begin(outputs[0], vs[0].value)
            gs = as_tensors(pulled(run, outputs, seeds, inputs.lifted, create), inputs.lifted)
            gs = [level.settled(g) for g in gs]
        pulling.end(gs, inputs.names)
        return inputs.together(gs)

    result = unflatten(run, spec, values)
    return (result, Made(pull, func), aux) if has_aux else (result, Made(pull, func))


def pretty(spec: Spec) -> str:
    """Return a structure as PyTorch writes it."""
    return spec.inner()


@native(*names("jvp"))
def jvp(run: Run, func: Any, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """Return what a function gives, and J·v."""
    if not isinstance(primals, tuple):
        run.fail(
            "RuntimeError",
            "jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to call f(*primals).",
        )
    value, push, aux = pushed_through(run, func, tuple(range(len(primals))), has_aux, primals, tangents)
    return (value, push, aux) if has_aux else (value, push)


def pushed_through(
    run: Run, func: Any, argnums: Any, has_aux: bool, arguments: Any, tangents: Any
) -> tuple[Any, Any, Any]:
    """Return what a function gives, J·v, and what it gives beside."""
    call = Call(run, func)
    with Level(run, "torch", forward=True) as level:
        inputs = Inputs(run, level, arguments, argnums, call)
        vs, _ = flatten(run, tangents, False)
        if len(vs) != len(inputs.lifted):
            run.fail(
                "RuntimeError",
                "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. For "
                "example, if primals is a tuple of 3 tensors, tangents also must be.",
            )
        made, aux = with_aux(run, run.call(func, inputs.arguments), has_aux, "jvp(f, primals, tangents)")
        outputs, spec = flatten(run, made, False)
        call.begin(outputs[0] if outputs else None)
        found = pushed(run, level, outputs, inputs.lifted, vs)
        parts = [Tensor(np.zeros(y.shape) if g is None else g, y.dtype) for g, y in zip(found, outputs, strict=True)]
        ts = [level.settled(part) for part in parts]
        value = unflatten(run, spec, [level.settled(y) for y in outputs])
        aux = settled_tree(run, level, aux)
    call.end(ts, inputs.names)
    return value, unflatten(run, spec, ts), aux


def jacobian_of(
    run: Run, func: Any, argnums: Any, has_aux: bool, arguments: Any, named: Any, name: str
) -> tuple[Any, Any]:
    """Return the Jacobian in the structure of the outputs, and what the function gives beside."""
    call = Call(run, func)
    with Level(run, "torch") as level:
        inputs = Inputs(run, level, arguments, argnums, call)
        made, aux = with_aux(run, run.call(func, inputs.arguments, named), has_aux, "vjp(f, *primals)")
        outputs, spec = flatten(run, made, False)
        for y in outputs:
            if not isinstance(y, Tensor):
                run.fail(
                    "RuntimeError",
                    f"{name}: Expected f to return only tensors, got unsupported type {shown_type(run, y)}",
                )
        create = level.before and level.outer(outputs)
        if outputs:
            call.begin(outputs[0], first_v(outputs[0]))
        blocks = jacobian_rows(run, outputs, inputs.lifted, create)
        blocks = [[level.settled(part) for part in block] for block in blocks]
        aux = settled_tree(run, level, aux)
    call.end([part for block in blocks for part in block], inputs.names)
    return unflatten(run, spec, [inputs.together(block) for block in blocks]), aux


def jacobian_maker(name: str) -> Callable[..., Made]:
    """Return ``jacrev`` or ``jacfwd``: they give the same numbers."""

    def make(run: Run, func: Any, argnums: Any = 0, has_aux: bool = False, **_: Any) -> Made:
        def run_it(run: Run, *arguments: Any, **named: Any) -> Any:
            found, aux = jacobian_of(run, func, argnums, has_aux, arguments, named, name)
            return (found, aux) if has_aux else found

        return Made(run_it, func)

    return make


for _name in ("jacrev", "jacfwd"):
    native(*names(_name))(jacobian_maker(_name))


@native(*names("hessian"))
def hessian(run: Run, func: Any, argnums: Any = 0) -> Made:
    """Return the function that gives the second derivatives."""
    inner = TABLE["torch.func.jacrev"](run, func, argnums)
    outer = TABLE["torch.func.jacfwd"](run, inner, argnums)
    return Made(outer.run_it, func)


@native("torch.func.vmap", "torch.vmap", "functorch.vmap")
def vmap(
    run: Run, func: Any, in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *, chunk_size: Any = None
) -> Made:
    """Return a function that runs once for each entry of a batch."""

    def run_it(run: Run, *arguments: Any, **named: Any) -> Any:
        def checked(value: Any) -> Any:
            if not isinstance(value, Tensor):
                run.fail(
                    "ValueError",
                    f"vmap({Made(run_it, func).name}, ...): `{Made(run_it, func).name}` must only return Tensors, "
                    f"got type {shown_type(run, value)}. Did you mean to set out_dims= to None for output?",
                )
            return value

        return batched(run, func, list(arguments), named, in_dims, out_dims, checked, jax=False)

    return Made(run_it, func)


@native("torch.func.functional_call", "torch.nn.utils.stateless.functional_call")
def functional_call(run: Run, module: Any, parameters: Any, args: Any = None, kwargs: Any = None, **_: Any) -> Any:
    """Call a module with other parameters and buffers than it has."""
    tables = list(parameters) if isinstance(parameters, tuple | list) else [parameters]
    arguments = [] if args is None else list(args) if isinstance(args, tuple) else [args]
    before: list[tuple[Any, str, Any]] = []
    try:
        for table in tables:
            for path, value in table.items():
                owner, name = owner_of(run, module, path)
                fields = place_of(run, owner, name, path)
                before.append((fields, name, fields[name]))
                fields[name] = value
        return run.call(module, arguments, kwargs or {})
    finally:
        for fields, name, value in reversed(before):
            fields[name] = value


def owner_of(run: Run, module: Any, path: str) -> tuple[Any, str]:
    """Return the module that has a parameter, and its name there."""
    *way, name = path.split(".")
    for step in way:
        module = run.attribute(module, step)
    return module, name


def place_of(run: Run, owner: Instance, name: str, path: str) -> dict[str, Any]:
    """Return the table of a module that has a parameter; raises what PyTorch raises where none has it."""
    for table in ("_parameters", "_buffers"):
        fields = owner.fields.get(table)
        if isinstance(fields, dict) and name in fields:
            return fields
    if name in owner.fields:
        return owner.fields
    return run.fail("AttributeError", f"{owner.kind.name} has no attribute `{name}`")  # type: ignore[no-any-return]


@native(*names("functionalize"), "functorch.make_fx")
def functionalize(run: Run, func: Any, **_: Any) -> Any:
    """Return the function: writes in place are none of its effects here either."""
    return func


@native("torch.func.stack_module_state")
def stack_module_state(run: Run, models: Any) -> Any:
    """Return the parameters and the buffers of several modules, each stacked."""
    tables = []
    for method in ("named_parameters", "named_buffers"):
        every = [dict(run.call(run.builtin("list"), [run.call(run.attribute(m, method))])) for m in models]
        stacked = {}
        for key in every[0]:
            whole = run.function("torch.stack", [run.call(run.attribute(t[key], "detach")) for t in every])
            stacked[key] = run.call(run.attribute(whole, "requires_grad_")) if method == "named_parameters" else whole
        tables.append(stacked)
    return tuple(tables)


@native("torch.func.linearize")
def linearize(run: Run, func: Any, *primals: Any) -> Any:
    """Return what a function gives, and the function that pushes v forward."""
    value = run.call(func, list(primals))

    def push(run: Run, *tangents: Any) -> Any:
        return pushed_through(run, func, tuple(range(len(primals))), False, primals, tuple(tangents))[1]

    return value, Made(push, func)


# ---- torch.autograd.forward_ad
class DualLevel(Context):
    """``with dual_level()``: inside, tensors may have tangents."""

    def __init__(self) -> None:
        self.level: Level | None = None

    def enter(self, run: Run) -> None:
        """Begin."""
        self.level = Level(run, forward=True)
        run.levels.append(self.level)
        run.duals = []

    def leave(self, run: Run) -> None:
        """End."""
        if self.level in run.levels:
            run.levels.remove(self.level)


@native("torch.autograd.forward_ad.dual_level", "torch.autograd.forward_ad.enter_dual_level")
def dual_level(run: Run) -> DualLevel:
    """Return the context in which tensors have tangents."""
    return DualLevel()


@native("torch.autograd.forward_ad.make_dual")
def make_dual(run: Run, tensor: Tensor, tangent: Tensor) -> Tensor:
    """Return a tensor with a tangent."""
    level = dual_level_of(run)
    made = level.lifted(tensor)
    run.duals.append((made, tangent))
    return made


def dual_level_of(run: Run) -> Level:
    """Return the level that is entered; raises what PyTorch raises outside of one."""
    level = next((one for one in reversed(run.levels) if one.forward), None)
    if level is None:
        run.fail(
            "RuntimeError",
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.",
        )
    return level  # type: ignore[return-value]


@native("torch.autograd.forward_ad.unpack_dual")
def unpack_dual(run: Run, tensor: Tensor) -> Any:
    """Return a tensor's value and its tangent."""
    level = dual_level_of(run)
    inputs = [one for one, _ in run.duals]
    found = next((t for one, t in run.duals if one is tensor), None)
    if found is None and tensor.active:
        (g,) = pushed(run, level, [tensor], inputs, [t for _, t in run.duals])
        found = None if g is None else level.settled(Tensor(g, tensor.dtype))
    return Named("UnpackedDualTensor", {"primal": level.settled(tensor), "tangent": found})
