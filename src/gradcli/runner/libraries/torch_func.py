"""``torch.func`` and ``torch.vmap``: functions of functions, under functorch's names too; a little of forward mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradcli.runner.libraries.transformed import (
    Applied,
    Convention,
    gradient,
    hessian_maker,
    jacobian_maker,
    pulled_back,
    pushed_through,
    shown_type,
)
from gradcli.runner.library import native
from gradcli.runner.state import Run
from gradcli.runner.transforms import Level, Made, batched, flatten, pushed
from gradcli.runner.values import Context, Instance, Named, Tensor, category


def names(name: str) -> tuple[str, ...]:
    """Return the dotted names of a function."""
    return (f"torch.func.{name}", f"functorch.{name}")


class Torch(Convention):
    """PyTorch's."""

    kind = library = "torch"

    def places(self, run: Run, arguments: Sequence[Any], argnums: Any) -> list[int]:
        """Return the places of the arguments to differentiate by."""
        places = list(argnums) if isinstance(argnums, tuple | list) else [argnums]
        if not places:
            run.fail("RuntimeError", "argnums must be non-empty")
        for place in places:
            if not isinstance(place, int) or not -len(arguments) <= place < len(arguments):
                run.fail("RuntimeError", f"Got argnum={place}, but only {len(arguments)} positional inputs")
        return [place % len(arguments) for place in places]

    def taken(self, run: Run, leaf: Any, name: str) -> tuple[Tensor, bool]:
        """Return a leaf of an argument: a tensor of floats."""
        if not isinstance(leaf, Tensor):
            run.fail("ValueError", f"Thing passed to transform API must be Tensor, got {shown_type(run, leaf)}")
        if category(leaf.dtype) < 2:
            run.fail("RuntimeError", "only Tensors of floating point dtype can require gradients")
        return leaf, True

    def beside(self, run: Run, made: Any, name: str) -> tuple[Any, Any]:
        """Return what a function gives, and what it gives beside."""
        if not (isinstance(made, tuple) and len(made) == 2):
            call = {"jvp": "jvp(f, primals, tangents)", "grad": "grad_and_value(f)(*args)"}.get(
                name, "vjp(f, *primals)"
            )
            text = f"{call}: output of function f should be a tuple: (output, aux) if has_aux is True"
            run.fail("RuntimeError", text)
        return made[0], made[1]

    def output(self, run: Run, leaf: Any, name: str) -> Any:
        """Return a leaf of what a function gives: a tensor."""
        if name in ("vjp", "jacrev", "jacfwd") and not isinstance(leaf, Tensor):
            start = "vjp(f, *primals): expected f(*primals)" if name == "vjp" else f"{name}: Expected f"
            run.fail("RuntimeError", f"{start} to return only tensors, got unsupported type {shown_type(run, leaf)}")
        if name == "vjp" and category(leaf.dtype) < 2:
            run.fail(
                "RuntimeError",
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with "
                f"dtype torch.{leaf.dtype}",
            )
        return leaf

    def scalar(self, run: Run, done: Applied, name: str) -> None:
        """Raise what PyTorch raises where a function gives more than one number."""
        start, y = "grad_and_value(f)(*args): Expected f(*args) to return a", done.made
        if not isinstance(y, Tensor):
            run.fail("RuntimeError", f"{start} Tensor, got {shown_type(run, y)}")
        if y.shape:
            run.fail(
                "RuntimeError",
                f"{start} scalar Tensor, got tensor with {len(y.shape)} dims. Maybe you wanted to use the vjp or "
                "jacrev APIs instead?",
            )

    def tangents(self, run: Run, done: Applied, tangents: Any) -> list[Tensor]:
        """Return v for each input."""
        vs = flatten(run, tangents, False)[0]
        if len(vs) != len(done.lifted):
            run.fail(
                "RuntimeError",
                "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. For "
                "example, if primals is a tuple of 3 tensors, tangents also must be.",
            )
        return vs


TORCH = Torch()


def gradient_maker(with_value: bool) -> Callable[..., Made]:
    """Return ``grad`` or ``grad_and_value``: what they make gives the gradient, and after it the value."""

    def make(run: Run, func: Any, argnums: Any = 0, has_aux: bool = False) -> Made:
        def run_it(run: Run, *arguments: Any, **named: Any) -> Any:
            value, g, aux = gradient(run, TORCH, "grad", func, argnums, arguments, named, has_aux)
            if with_value:
                return (g, (value, aux)) if has_aux else (g, value)
            return (g, aux) if has_aux else g

        return Made(run_it, func)

    return make


def cotangents_of(run: Run, done: Applied, given: Any) -> list[Any]:
    """Return v for each output; raises what PyTorch raises where they are put together in another way."""
    vs, its = flatten(run, given, False)
    if not its.same(done.spec):
        run.fail(
            "RuntimeError",
            "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
            f"function. cotangents: {its.inner()}, primal output: {done.spec.inner()}",
        )
    return vs


@native(*names("vjp"))
def vjp(run: Run, func: Any, *primals: Any, has_aux: bool = False) -> Any:
    """Return what a function gives, and the function that pulls v back."""
    return pulled_back(run, TORCH, func, primals, has_aux, cotangents_of)


@native(*names("jvp"))
def jvp(run: Run, func: Any, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """Return what a function gives, and J·v."""
    if not isinstance(primals, tuple):
        run.fail(
            "RuntimeError",
            "jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to call f(*primals).",
        )
    return pushed_through(run, TORCH, func, primals, tangents, has_aux)


for _name, _make in {
    "grad": gradient_maker(with_value=False), "grad_and_value": gradient_maker(with_value=True),
    "jacrev": jacobian_maker(TORCH, "jacrev"), "jacfwd": jacobian_maker(TORCH, "jacfwd"),
    "hessian": hessian_maker(TORCH),
}.items():  # fmt: skip
    native(*names(_name))(_make)


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
        return pushed_through(run, TORCH, func, primals, tuple(tangents))[1]

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
