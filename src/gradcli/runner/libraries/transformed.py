"""Functions of functions: one way to differentiate, by the conventions of ``torch.func``, of JAX and of autograd."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradcli.runner.state import Run
from gradcli.runner.transforms import (
    Call,
    Level,
    Made,
    Spec,
    as_tensors,
    first_v,
    flatten,
    jacobian_rows,
    mapped,
    pulled,
    pushed,
    seed_for,
    unflatten,
)
from gradcli.runner.values import Tensor


def shown_type(run: Run, value: Any) -> str:
    """Return what Python shows of a value's class."""
    from gradcli.runner.printing import to_repr
    from gradcli.runner.python.builtins import type_of

    return to_repr(run, type_of(run, value))


class Convention:
    """What a library takes and gives, and what it raises for anything else.

    ``kind`` says whose values those of a level are; ``ordered`` that keys of dictionaries are sorted; ``bare`` that
    None is a leaf. ``name`` is that of the transformation in all of these.
    """

    kind: str
    library: str
    ordered = bare = False

    def places(self, run: Run, arguments: Sequence[Any], argnums: Any) -> list[int]:
        """Return the places of the arguments to differentiate by."""
        raise NotImplementedError

    def taken(self, run: Run, leaf: Any, name: str) -> tuple[Tensor, bool]:
        """Return a leaf of an argument as an array, and whether the function is differentiated by it."""
        raise NotImplementedError

    def beside(self, run: Run, made: Any, name: str) -> tuple[Any, Any]:
        """Return what a function gives with ``has_aux``, and what it gives beside."""
        raise NotImplementedError

    def output(self, run: Run, leaf: Any, name: str) -> Any:
        """Return a leaf of what a function gives as an array."""
        del run, name
        return leaf

    def scalar(self, run: Run, done: Applied, name: str) -> None:
        """Raise what the library raises where a function gives more than one number."""
        raise NotImplementedError

    def tangents(self, run: Run, done: Applied, tangents: Any) -> list[Tensor]:
        """Return v for each input."""
        raise NotImplementedError

    def part(self, value: Any) -> Any:
        """Return one of several results as it is shown."""
        return value


class Applied:
    """A function called with inputs of its own: what it gave, and what is asked about it."""

    def __init__(
        self,
        run: Run,
        ways: Convention,
        name: str,
        fun: Any,
        argnums: Any,
        arguments: Sequence[Any],
        named: Any = None,
        has_aux: bool = False,
        forward: bool = False,
    ) -> None:
        self.run, self.ways, self.name, self.call = run, ways, name, Call(run, fun)
        self.level = Level(run, ways.kind, forward)
        self.single = not isinstance(argnums, tuple | list)
        self.specs: list[Spec] = []
        self.leaves: list[Tensor] = []
        self.lifted: list[Tensor] = []
        self.names: list[str] = []
        self.aux: Any = None
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
            found = [level.settled(g) for g in as_tensors(gs, self.lifted)]
        self.call.end(found, self.names)
        return self.together(found)

    def push(self, tangents: Any) -> Any:
        """Return J·v."""
        level, library = self.level, self.ways.library
        with level:
            vs = self.ways.tangents(self.run, self, tangents)
            self.call.begin(self.outputs[0] if self.outputs else None, tangents=vs)
            ts = pushed(self.run, level, self.outputs, self.lifted, vs)
            parts = [np.zeros(y.shape) if t is None else t for t, y in zip(ts, self.outputs, strict=True)]
            found = [level.settled(Tensor(t, y.dtype, library)) for t, y in zip(parts, self.outputs, strict=True)]
        self.call.end(found, self.names)
        return unflatten(self.run, self.spec, found)

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


def gradient(
    run: Run, ways: Convention, name: str, fun: Any, argnums: Any, arguments: Any, named: Any, has_aux: bool = False
) -> tuple[Any, Any, Any]:
    """Return what a function gives, its gradient, and what it gives beside."""
    done = Applied(run, ways, name, fun, argnums, arguments, named, has_aux)
    with done.level:  # an error shows values as they are within
        ways.scalar(run, done, name)
    g = done.pull([np.ones(())])
    return done.value, g, done.aux


def jacobian_maker(ways: Convention, name: str) -> Callable[..., Made]:
    """Return ``jacrev`` or ``jacfwd``: they give the same numbers."""

    def make(run: Run, fun: Any, argnums: Any = 0, has_aux: bool = False, *_: Any, **__: Any) -> Made:
        def run_it(run: Run, *arguments: Any, **named: Any) -> Any:
            done = Applied(run, ways, name, fun, argnums, arguments, named, has_aux)
            found = done.jacobian()
            return (found, done.aux) if has_aux else found

        return Made(run_it, fun)

    return make


def hessian_maker(ways: Convention) -> Callable[..., Made]:
    """Return ``hessian``: the Jacobian of a Jacobian."""

    def make(run: Run, fun: Any, argnums: Any = 0, has_aux: bool = False, *_: Any) -> Made:
        inner = jacobian_maker(ways, "jacrev")(run, fun, argnums, has_aux)
        return Made(jacobian_maker(ways, "jacfwd")(run, inner, argnums, has_aux).run_it, fun)

    return make


def pushed_through(
    run: Run, ways: Convention, fun: Any, primals: Sequence[Any], tangents: Any, has_aux: bool = False
) -> tuple[Any, ...]:
    """Return what a function gives, J·v, and with ``has_aux`` what it gives beside."""
    done = Applied(run, ways, "jvp", fun, tuple(range(len(primals))), primals, None, has_aux, forward=True)
    push = done.push(tangents)
    return (done.value, push, done.aux) if has_aux else (done.value, push)


def pulled_back(
    run: Run,
    ways: Convention,
    fun: Any,
    primals: Sequence[Any],
    has_aux: bool,
    cotangents: Callable[[Run, Applied, Any], list[Any]],
) -> tuple[Any, ...]:
    """Return what a function gives, the function that pulls v back, and with ``has_aux`` what it gives beside."""
    done = Applied(run, ways, "vjp", fun, tuple(range(len(primals))), primals, None, has_aux)
    value = done.value

    def pull(run: Run, *given: Any, **_: Any) -> Any:
        vs = cotangents(run, done, given[0] if len(given) == 1 else tuple(given))
        done.call = Call(run, fun)
        return done.pull(vs, np.asarray(vs[0].value) if vs else None)

    return (value, Made(pull, fun), done.aux) if has_aux else (value, Made(pull, fun))
