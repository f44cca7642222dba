"""Functions of functions: one way to differentiate, by the conventions of ``torch.func``, of JAX and of autograd."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from gradcli.runner.library import TABLE, native
from gradcli.runner.printing import to_repr
from gradcli.runner.python.calls import Parameters, bound_arguments
from gradcli.runner.state import Run
from gradcli.runner.transforms import (
    Call,
    Level,
    Made,
    Spec,
    as_tensors,
    batched,
    first_v,
    flatten,
    jacobian_rows,
    mapped,
    pulled,
    pushed,
    seed_for,
    unflatten,
)
from gradcli.runner.values import Context, Instance, Named, Tensor, category


def shown_type(run: Run, value: Any) -> str:
    """Return what Python shows of a value's class."""
    return to_repr(run, run.type_of(value))


class Convention:
    """What a library takes and gives, and what it raises for anything else.

    ``kind`` says whose values those of a level are; ``ordered`` that keys of dictionaries are sorted; ``bare`` that
    None is a leaf. ``name`` is that of the transformation in all of these.
    """

    kind: str
    library: str
    ordered = bare = False
    places: Callable[[Run, Sequence[Any], Any], list[int]]
    """The places of the arguments to differentiate by, of ``argnums``."""
    taken: Callable[[Run, Any, str], tuple[Tensor, bool]]
    """A leaf of an argument as an array, and whether the function is differentiated by it."""
    beside: Callable[[Run, Any, str], tuple[Any, Any]]
    """What a function gives with ``has_aux``, and what it gives beside."""
    scalar: Callable[[Run, Applied, str], None]
    """Raises what the library raises where a function gives more than one number."""
    tangents: Callable[[Run, Applied, Any], list[Tensor]]
    """v for each input."""
    cotangents: Callable[[Run, Applied, Any], list[Any]]
    """v for each output; raises what the library raises where they are put together in another way."""
    pairs: Callable[[Run, Any, Any], None]
    """Raises what the library raises for primals and tangents that are no tuples."""

    def function(self, run: Run, fun: Any) -> Any:
        """Return what is to be differentiated."""
        del run
        return fun

    def arrays(self, run: Run, tree: Any) -> Any:
        """Return a nest with arrays for its numbers, where the library makes them of these."""
        del run
        return tree

    def output(self, run: Run, leaf: Any, name: str) -> Any:
        """Return a leaf of what a function gives as an array."""
        del run, name
        return leaf

    def part(self, value: Any) -> Any:
        """Return one of several results as it is shown."""
        return value


class Applied:
    """A function called with inputs of its own: what it gave, and what is asked about it."""

    def __init__(
        self, run: Run, ways: Convention, name: str, fun: Any, argnums: Any, arguments: Sequence[Any],
        named: Any = None, has_aux: bool = False, forward: bool = False,
    ) -> None:  # fmt: skip
        self.run, self.ways, self.name, self.fun, self.call = run, ways, name, fun, Call(run, fun)
        self.level = Level(run, ways.kind, forward)
        self.single = not isinstance(argnums, tuple | list)
        self.specs: list[Spec] = []
        self.leaves: list[Tensor] = []
        self.lifted: list[Tensor] = []
        self.names: list[str] = []
        self.has_aux, self.aux = has_aux, None
        with self.level:
            made = run.call(fun, self.lift(ways.places(run, arguments, argnums), arguments), named)
            if has_aux:
                made, rest = ways.beside(run, made, name)
                self.aux = mapped(run, self.level.settled, rest, ways.ordered)
            self.made = made
            leaves, self.spec = flatten(run, made, ways.ordered, ways.bare)
            self.outputs = [ways.output(run, leaf, name) for leaf in leaves]

    def lift(self, places: list[int], arguments: Sequence[Any]) -> list[Any]:
        """Return the arguments with inputs of the level at some places."""
        lifted = list(arguments)
        for place in places:
            leaves, spec = flatten(self.run, arguments[place], self.ways.ordered, self.ways.bare)
            called, inside = self.call.names(place, leaves), []
            taken = [self.ways.taken(self.run, leaf, self.name) for leaf in leaves]
            for (x, differentiated), name in zip(taken, called, strict=True):
                if differentiated:
                    self.leaves.append(x)
                    self.names.append(name)
                    self.lifted.append(self.level.lifted(x, name))
                inside.append(self.lifted[-1] if differentiated else x)
            self.specs.append(spec)
            lifted[place] = unflatten(self.run, spec, inside)
        return lifted

    def together(self, values: Sequence[Any]) -> Any:
        """Return values, one for each input, in the shape of the arguments."""
        if len(values) < sum(spec.count for spec in self.specs):
            raise self.run.refuse("a product with the Jacobian by integers, of type float0, is not part of gradcli")
        whole = self.single and self.specs[0].kind == "leaf"
        rest = iter(values if whole else [self.ways.part(value) for value in values])
        trees = tuple([unflatten(self.run, spec, rest) for spec in self.specs])
        return trees[0] if self.single else trees

    @property
    def value(self) -> Any:
        """What the function gave."""
        return unflatten(self.run, self.spec, [self.level.settled(y) for y in self.outputs])

    def create(self, values: Sequence[Any]) -> bool:
        """Return whether results depend on what an outer level differentiates."""
        return self.level.before and self.level.outer(values)

    def pull(self, vs: Sequence[Any], v: Any = None) -> Any:
        """Return vᵀ·J; ``v`` is what is told of it."""
        run, level = self.run, self.level
        level.line = run.line
        with level:
            if self.outputs:
                self.call.begin(self.outputs[0], v)
            seeds = [seed_for(y, one) for y, one in zip(self.outputs, vs, strict=True)]
            gs = pulled(run, self.outputs, seeds, self.lifted, self.create([*self.outputs, *vs]))
            cotangents = [level.settled(g) for g in as_tensors(gs, self.lifted)]
        self.call.end(cotangents, self.names)
        return self.together(cotangents)

    def push(self, tangents: Any) -> Any:
        """Return J·v."""
        level, library = self.level, self.ways.library
        with level:
            vs = self.ways.tangents(self.run, self, tangents)
            self.call.begin(self.outputs[0] if self.outputs else None, tangents=vs)
            ts = pushed(self.run, level, self.outputs, self.lifted, vs)
            pairs = [(np.zeros(y.shape) if t is None else t, y) for t, y in zip(ts, self.outputs, strict=True)]
            outputs = [level.settled(Tensor(t, y.dtype, library)) for t, y in pairs]
        self.call.end(outputs, self.names)
        return unflatten(self.run, self.spec, outputs)

    def jacobian(self) -> Any:
        """Return the Jacobian: in the structure of the outputs, and within it of the arguments."""
        level, outputs = self.level, self.outputs
        level.line = self.run.line
        with level:
            if outputs:
                self.call.begin(outputs[0], first_v(outputs[0]))
            rows = jacobian_rows(self.run, outputs, self.lifted, self.create(outputs))
            blocks = [[self.ways.part(level.settled(part)) for part in block] for block in rows]
        self.call.end([part for block in blocks for part in block], self.names)
        return unflatten(self.run, self.spec, [self.together(block) for block in blocks])

    def gradient(self) -> Any:
        """Return the gradient of a single number."""
        with self.level:  # an error shows values as they are within
            self.ways.scalar(self.run, self, self.name)
        return self.pull([np.ones(())])

    def beside(self, made: Any) -> Any:
        """Return a result, with what the function gave beside where that is asked for."""
        return (made, self.aux) if self.has_aux else made


def transformation(ways: Convention, name: str, result: Callable[[Applied], Any]) -> Callable[..., Made]:
    """Return a function of functions: what it makes of one is called with inputs of its own, and gives ``result``."""

    return lambda run, fun, argnums=0, has_aux=False: Made(
        lambda run, *arguments, **named: result(Applied(run, ways, name, fun, argnums, arguments, named, has_aux)), fun
    )


def second(outer: Callable[..., Made], inner: Callable[..., Made]) -> Callable[..., Made]:
    """Return one transformation of what another gives: ``hessian`` is the Jacobian of a Jacobian."""
    return lambda run, fun, argnums=0, has_aux=False: outer(run, inner(run, fun, argnums, has_aux), argnums, has_aux)


def taking(ways: Convention, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of functions under the parameters that a library gives it: it takes no others."""
    either, _, alone = TAKES[ways.library][name].partition("*")
    names, by_name = either.split(), alone.split()
    rest = by_name.pop(0) if by_name[:1] == ["primals"] else None
    optional = [one for one in (*names, *by_name) if one not in ("fun", "func", "primals", "tangents")]
    expected = Parameters(names, optional, 0, by_name, rest)

    def make(run: Run, *arguments: Any, **named: Any) -> Any:
        values = bound_arguments(run, name, expected, arguments, named)
        if values.get("holomorphic"):
            raise run.refuse("complex numbers are not part of gradcli")
        options = {key: values[key] for key in ("argnums", "primals", "tangents", "has_aux") if key in values}
        return work(run, ways.function(run, values[names[0]]), **options)

    return make


TAKES = {
    "torch": {
        "grad": "func argnums has_aux", "grad_and_value": "func argnums has_aux", "hessian": "func argnums",
        "jacrev": "func argnums * has_aux chunk_size _preallocate_and_copy", "vjp": "func *primals has_aux",
        "jacfwd": "func argnums has_aux * randomness", "jvp": "func primals tangents * strict has_aux",
        "linearize": "func *primals",
    }, "jax": {
        **dict.fromkeys(("grad", "value_and_grad"), "fun argnums has_aux holomorphic allow_int reduce_axes"),
        **dict.fromkeys(("jacfwd", "hessian"), "fun argnums has_aux holomorphic"),
        "jacrev": "fun argnums has_aux holomorphic allow_int", "jvp": "fun primals tangents has_aux",
        "vjp": "fun *primals has_aux reduce_axes", "linearize": "fun *primals has_aux",
    },
}  # fmt: skip
"""The parameters of functions of functions, by library; those after a star are taken by name alone."""


def pushed_through(
    run: Run, ways: Convention, fun: Any, primals: Sequence[Any], tangents: Any, has_aux: bool = False
) -> tuple[Any, ...]:
    """Return what a function gives, J·v, and with ``has_aux`` what it gives beside."""
    done = Applied(run, ways, "jvp", fun, tuple(range(len(primals))), primals, None, has_aux, forward=True)
    push = done.push(tangents)
    return (done.value, push, done.aux) if has_aux else (done.value, push)


def transformations(ways: Convention) -> dict[str, Callable[..., Any]]:
    """Return the functions of functions that JAX and ``torch.func`` have in common, by name."""

    def jvp(run: Run, function: Any, primals: Any, tangents: Any, has_aux: bool = False) -> Any:
        ways.pairs(run, primals, tangents)
        return pushed_through(run, ways, function, primals, tangents, has_aux)

    def vjp(run: Run, function: Any, primals: Any, has_aux: bool = False) -> Any:
        done = Applied(run, ways, "vjp", function, tuple(range(len(primals))), primals, None, has_aux)
        value = done.value

        def pull(run: Run, *v: Any, cotangents: Any = None, **_: Any) -> Any:
            if ways.library == "jax" and len(v) != 1:
                run.fail_as("jax vjp arguments", Made(pull, function).name, len(v))
            vs = ways.cotangents(run, done, v[0] if v else cotangents)
            done.call = Call(run, function)
            return done.pull(vs, np.asarray(vs[0].value) if vs else None)

        return (value, Made(pull, function), done.aux) if has_aux else (value, Made(pull, function))

    def linearize(run: Run, function: Any, primals: Any, has_aux: bool = False) -> Any:
        made = run.call(function, [ways.arrays(run, primal) for primal in primals])
        push = Made(lambda run, *vs: pushed_through(run, ways, function, primals, vs, has_aux)[1], function)
        return (made[0], push, made[1]) if has_aux else (made, push)

    back, ahead = (transformation(ways, f"jac{e}", lambda done: done.beside(done.jacobian())) for e in ("rev", "fwd"))
    made: dict[str, Callable[..., Any]] = {
        "grad": transformation(ways, "grad", lambda done: done.beside(done.gradient())), "linearize": linearize,
        "jacrev": back, "jacfwd": ahead, "hessian": second(ahead, back), "jvp": jvp, "vjp": vjp,
        "value_and_grad": transformation(ways, "value_and_grad", lambda one: (one.beside(one.value), one.gradient())),
        "grad_and_value": transformation(ways, "grad", lambda done: (done.gradient(), done.beside(done.value))),
    }  # fmt: skip
    return {name: taking(ways, name, made[name]) for name in TAKES[ways.library]}


# ---- torch.func, under functorch's names too
class Torch(Convention):
    """PyTorch's."""

    kind = library = "torch"

    def places(self, run: Run, arguments: Sequence[Any], argnums: Any) -> list[int]:
        """Return the places of the arguments to differentiate by."""
        if not isinstance(argnums, tuple | int):
            run.fail("RuntimeError", f"argnums must be int or Tuple[int, ...], got: {shown_type(run, argnums)}")
        places = list(argnums) if isinstance(argnums, tuple) else [argnums]
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
            calls = {"jvp": "jvp(f, primals, tangents)", "grad": "grad_and_value(f)(*args)"}
            run.fail_as("torch aux", calls.get(name, "vjp(f, *primals)"))
        return made[0], made[1]

    def output(self, run: Run, leaf: Any, name: str) -> Any:
        """Return a leaf of what a function gives: a tensor."""
        if name in ("vjp", "jacrev", "jacfwd") and not isinstance(leaf, Tensor):
            start = "vjp(f, *primals): expected f(*primals)" if name == "vjp" else f"{name}: Expected f"
            run.fail("RuntimeError", f"{start} to return only tensors, got unsupported type {shown_type(run, leaf)}")
        if name == "vjp" and category(leaf.dtype) < 2:
            run.fail_as("vjp floats", leaf.dtype)
        return leaf

    def scalar(self, run: Run, done: Applied, name: str) -> None:
        """Raise what PyTorch raises where a function gives more than one number."""
        y = done.made
        if not isinstance(y, Tensor):
            run.fail_as("grad tensor", shown_type(run, y))
        if y.shape:
            run.fail_as("grad scalar", len(y.shape))

    def tangents(self, run: Run, done: Applied, tangents: Any) -> list[Tensor]:
        """Return v for each input."""
        vs = flatten(run, tangents, False)[0]
        if len(vs) != len(done.lifted):
            run.fail_as("torch jvp tree")
        return vs

    def cotangents(self, run: Run, done: Applied, cotangents: Any) -> list[Any]:
        """Return v for each output."""
        vs, its = flatten(run, cotangents, False)
        if not its.same(done.spec):
            run.fail_as("torch v tree", its.inner(), done.spec.inner())
        return vs

    def pairs(self, run: Run, primals: Any, tangents: Any) -> None:
        """Raise what PyTorch raises for primals that are no tuple."""
        if not isinstance(primals, tuple):
            run.fail_as("jvp tuple")


TORCH = Torch()


@native("torch.func.vmap", "torch.vmap", "functorch.vmap")
def vmap(
    run: Run, func: Any, in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *, chunk_size: Any = None
) -> Made:
    """Return a function that runs once for each entry of a batch."""

    def run_it(run: Run, *arguments: Any, **named: Any) -> Any:
        def checked(value: Any) -> Any:
            if not isinstance(value, Tensor):
                run.fail_as("vmap output", Made(run_it, func).name, shown_type(run, value))
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
                *way, name = path.split(".")
                fields = place_of(run, reduce(run.attribute, way, module), name)
                before.append((fields, name, fields[name]))
                fields[name] = value
        return run.call(module, arguments, kwargs or {})
    finally:
        for fields, name, value in reversed(before):
            fields[name] = value


def place_of(run: Run, owner: Instance, name: str) -> dict[str, Any]:
    """Return the table of a module that has a parameter; raises what PyTorch raises where none has it."""
    for table in ("_parameters", "_buffers"):
        fields = owner.fields.get(table)
        if isinstance(fields, dict) and name in fields:
            return fields
    if name in owner.fields:
        return owner.fields
    return run.fail("AttributeError", f"{owner.kind.name} has no attribute `{name}`")  # type: ignore[no-any-return]


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
        run.fail_as("no dual level")
    return level  # type: ignore[return-value]


@native("torch.autograd.forward_ad.unpack_dual")
def unpack_dual(run: Run, tensor: Tensor) -> Any:
    """Return a tensor's value and its tangent."""
    level = dual_level_of(run)
    inputs = [one for one, _ in run.duals]
    tangent = next((t for one, t in run.duals if one is tensor), None)
    if tangent is None and tensor.active:
        (g,) = pushed(run, level, [tensor], inputs, [t for _, t in run.duals])
        tangent = None if g is None else level.settled(Tensor(g, tensor.dtype))
    return Named("UnpackedDualTensor", {"primal": level.settled(tensor), "tangent": tangent})


for _name, _work in {
    **transformations(TORCH),
    "functionalize": lambda run, func, **_: func,  # writes in place are none of its effects here either
}.items():
    native(f"torch.func.{_name}", f"functorch.{_name}")(_work)
TABLE["functorch.make_fx"] = TABLE["functorch.functionalize"]
for _name in ("dual_level", "enter_dual_level"):
    TABLE[f"torch.autograd.forward_ad.{_name}"] = lambda run: DualLevel()
