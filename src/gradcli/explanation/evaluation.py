"""A program as a Python function: checked once, evaluated many times."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from gradcli.engine.graph import Graph, Node, Operation
from gradcli.engine.lean import StandIn
from gradcli.engine.reverse import backward
from gradcli.errors import Budget, GradcliError, Place
from gradcli.errors.facts import OwnInputs
from gradcli.language.inputs import all_finite, as_array, read_v, require_finite
from gradcli.language.program import Program, compile_program
from gradcli.ops.declare import Array, value_of
from gradcli.ops.linear_algebra import MATMUL
from gradcli.runner.dialect import is_script


class Evaluation(NamedTuple):
    """One run of a program: its graph, its output (a node, or numbers if it depends on no input) and its inputs."""

    graph: Graph
    output: Any
    leaves: dict[str, Node]

    @property
    def value(self) -> Array:
        """The output as numbers."""
        return np.asarray(value_of(self.output))


class Function:
    """``y = f(inputs)`` with its value, gradient and Jacobian: checked once, evaluated many times.

    - ``program``: a text, or a Python function whose source is read as ``explain`` does; raises ``GradcliError`` where
      it is neither.
    - ``wrt``: the names to differentiate by, all variables by default.
    - ``budget``: what one run may cost.
    - ``given``: names of variables that shadow a constant of the language such as ``e``, or that only a branch assigns.
    - ``asked``: what of a script is answered, where it is not the call that the command answers.

    >>> f = gradcli.function("sum(x**2)")
    >>> f.value(x=[1.0, 2.0]).item(), f.grad(x=[1.0, 2.0])["x"].tolist(), f.jacobian(x=[1.0, 2.0])["x"].tolist()
    (5.0, [2.0, 4.0], [2.0, 4.0])
    """

    def __init__(
        self,
        program: str | Callable[..., Any],
        wrt: Iterable[str] | None = None,
        budget: Budget | None = None,
        given: Iterable[str] = (),
        asked: Any = None,
    ) -> None:
        self.program = read_program(program, budget or Budget(), given, asked, wrt)
        if wrt is not None and self.program.is_script:
            from gradcli.runner.replay import as_identifier

            wrt = [as_identifier(name, {}) for name in wrt]
        self.wrt = self.program.wrt if wrt is None else tuple(wrt)
        for name in self.wrt or ():
            self._require(name)

    @classmethod
    def of_program(cls, program: Any, wrt: Iterable[str]) -> Function:
        """Return a program that was read before as a function, by the inputs of ``wrt``."""
        made = cls.__new__(cls)
        made.program, made.wrt = program, tuple(wrt)
        return made

    @property
    def place(self) -> Place:
        """The text of the program."""
        return self.program.place  # type: ignore[no-any-return]

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the variables that the program needs, in the order in which it uses them."""
        return tuple(self.program.inputs)

    @property
    def labels(self) -> dict[str, str]:
        """What a script calls a variable whose name is an identifier here: ``net.fc1.weight``."""
        return self.program.labels if self.program.is_script else {}

    @property
    def differentiated(self) -> tuple[str, ...]:
        """The names of the variables that are differentiated.

        Raises ``no-variables`` where the program gives all of them itself.
        """
        refuse_own_inputs(self.program)
        return self.wrt if self.wrt is not None else self.inputs

    def _require(self, name: str) -> None:
        if name not in self.program.inputs:
            refuse_own_inputs(self.program)
            from gradcli.explanation.missing import not_an_input  # an error alone needs it

            raise not_an_input(self.program, name)

    def __call__(self, **values: Any) -> Array:
        """Return the value at a point, as ``value`` does.

        >>> gradcli.function("x**2")(x=3.0).item()
        9.0
        """
        return self.value(**values)

    def evaluate(self, values: dict[str, Any], record: bool = True, strict: bool = False) -> Evaluation:
        """Run the program; ``record`` keeps what formulas need and gradients do not.

        ``strict`` refuses what only one of PyTorch and NumPy answers.
        """
        whole = values if self.program.inputs.keys() <= values.keys() else filled(self.program, values)
        arrays = read_arrays(self.program, whole)
        wrt = frozenset(self.wrt if self.wrt is not None else arrays)
        if record:
            arrays = {name: np.array(array)[()] for name, array in arrays.items()}
        late = [
            name
            for name in arrays
            if name in wrt and not record and arrays[name].size >= LATE and not self.program.is_script
        ]
        for name, array in arrays.items():
            if name not in late and not self.program.is_script:
                require_finite(name, array)
        try:
            run = Evaluation(*self.program.evaluate(arrays, wrt, record, strict))
        except GradcliError:
            for name in late:
                require_finite(name, arrays[name])
            raise
        for name in late:
            if not vouched_for(run, run.leaves[name]):
                require_finite(name, arrays[name])
        return run

    def value(self, **inputs: Any) -> Array:
        """Return the output as an array of its own, in its shape; ``inputs`` give every variable."""
        return np.array(self.evaluate(filled(self.program, inputs), record=False).value)

    def grad(self, v: Any = None, **inputs: Any) -> dict[str, Array]:
        """Return vᵀ·J by each variable of ``wrt``, in the variable's shape, by reverse mode.

        v is in the shape of the output, and may be left out where that has one entry; raises ``missing-v`` or
        ``shape``.
        """
        values = filled(self.program, inputs)
        run = self.evaluate(values, record=False)
        if v is None and self.program.is_script and self.program.vs:
            v = summed_v(self.program, run.value.shape)
        return gradients(run, read_v(v, run.value.shape, strict=False).seed, self.differentiated)

    def jacobian(self, **inputs: Any) -> dict[str, Array]:
        """Return the Jacobian by each variable, of shape ``y.shape + x.shape``, by the symbolic route.

        Raises ``budget`` where it would have too many entries.
        """
        from gradcli.jacobian.large import derive

        run = self.evaluate(filled(self.program, inputs))
        names = self.differentiated
        found = derive(run.output, [run.leaves[name] for name in names], self.program.budget.jacobian, run.graph)
        shape = run.value.shape
        return {
            name: found.entries(run.leaves[name]).dense().reshape((*shape, *run.leaves[name].shape)) for name in names
        }

    def __repr__(self) -> str:
        return f"<gradcli function of {', '.join(self.inputs) or 'nothing'}: {self.place.text!r}>"


def gradients(run: Evaluation, seed: Array, names: Iterable[str]) -> dict[str, Array]:
    """Return the reverse-mode gradient by each of ``names``."""
    wanted = list(names)
    return dict(zip(wanted, backward(run.graph, run.output, seed, [run.leaves[name] for name in wanted]), strict=True))


def vouched_for(run: Evaluation, leaf: Node) -> bool:
    """Return whether a product that came out finite says that a matrix is: every entry of it was multiplied.

    By a number other than 0, that is: some libraries leave 0·inf out.
    """
    return any(
        isinstance(node, Operation)
        and node.op is MATMUL
        and any(argument is leaf for argument in node.arguments)
        and node.value.size > 0
        and not isinstance(node.value, StandIn)
        and all_finite(node.value)
        and all(np.all(value_of(argument)) for argument in node.arguments if argument is not leaf)
        for node in run.graph.nodes[: len(run.leaves) + FIRST]
    )


def summed_v(program: Any, shape: tuple[int, ...]) -> Any:
    """Return what the calls of a script add up to since gradients were last set to zero; None for the default."""
    start = max((k for k, reset in enumerate(program.resets) if reset), default=0)
    vs = program.vs[start:]
    return None if all(v is None for v in vs) and len(vs) == 1 else sum(np.ones(shape) if v is None else v for v in vs)


def read_program(
    text: str | Callable[..., Any],
    budget: Budget,
    given: Iterable[str],
    asked: Any = None,
    wrt: Iterable[str] | None = None,
) -> Any:
    """Return a text as a checked program: one of the language, or a script; or the source of a Python function.

    ``asked`` says which call of a script is answered, ``wrt`` by which of its variables.
    """
    if not isinstance(text, str):
        from gradcli.runner.sources import read_function

        if asked is not None and asked.of is not None:
            hint = "return it, or give the lines as a text"
            raise GradcliError("option", "of is for a text, and this is a function", hint=hint)
        return read_function(text, budget, given)
    if not is_script(text):
        if asked is None or asked.of is None:
            return compile_program(text, budget, frozenset(given))
        program = read_up_to(text, budget, frozenset(given), asked.of, frozenset(wrt or ()))
        if program is not None:
            return program
    from gradcli.explanation.scripts import Asked, read_script
    from gradcli.runner.state import bounds_of

    return read_script(text, given, asked or Asked(), None if wrt is None else tuple(wrt), bounds_of(budget))


def read_up_to(text: str, budget: Budget, given: frozenset[str], of: str, wrt: frozenset[str]) -> Program | None:
    """Return a text as a formula whose output is one of its names; None for lines that are run as a script.

    Those are no formula, or give all inputs themselves, or those that are differentiated.
    """
    from gradcli.language.outputs import with_output  # few formulas are asked for another output

    lines = "\n" in text.strip()
    try:
        program = compile_program(text, budget, given)
    except GradcliError:
        if lines:
            return None
        raise
    inputs = program.inputs.keys()
    if lines and (not inputs or not wrt | given <= inputs):
        return None
    return with_output(program, of, given)


def filled(program: Any, values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of all inputs: those that are given, and those of a script for the others.

    A leaf that began with another value has what the script has made of it since. What only lines need that a formula
    is not asked for is left out.
    """
    if program.is_script:
        given = {name: value for name, value in values.items() if name not in program.others}
        return {name: value for name, value in {**program.values, **given}.items() if name not in program.settings}
    return {name: value for name, value in values.items() if name not in program.beside} if program.beside else values


FIRST = 8
"""Operations among which a product is looked for that vouches for an input."""
LATE = 65_536
"""Entries from which an input is looked through after the run, and only if no product vouches for it."""


def read_arrays(program: Program, values: dict[str, Any]) -> dict[str, Array]:
    """Return all inputs as arrays; raises ``missing-input`` or ``unknown-input`` with what to type."""
    if values.keys() == program.inputs.keys():
        return {name: as_array(name, values[name]) for name in program.inputs}
    from gradcli.explanation.missing import compared_with, missing_inputs, not_an_input  # for errors

    missing = [name for name in program.inputs if name not in values]
    if missing:
        what = "variable" if len(missing) == 1 else "variables"
        raise GradcliError(
            "missing-input",
            f"no value for the {what} {', '.join(missing)}",
            span=program.inputs[missing[0]],
            place=program.place,
            facts=missing_inputs(missing, values, compared_with(program, missing[0])),
        )
    raise not_an_input(program, next(name for name in values if name not in program.inputs))


def check_inputs(program: Program, values: dict[str, Any]) -> dict[str, Array]:
    """Return all inputs as arrays of finite numbers; raises ``missing-input``, ``unknown-input`` or ``value``."""
    arrays = read_arrays(program, values)
    for name, array in arrays.items():
        require_finite(name, array)
    return arrays


def refuse_own_inputs(program: Program) -> None:
    """Raise ``no-variables`` for a program that gives all of its inputs itself: which line to leave out, what to give.

    A program that has nothing which could be an input, such as ``zeros(3)``, is a constant, and in order.
    """
    if program.inputs:
        return
    from gradcli.language.own import own_inputs  # an error alone needs it

    own = own_inputs(program)[:MOST_WAYS]
    if own:
        raise GradcliError(
            "no-variables",
            f"the program assigns {' and '.join(found.name for found in own)} itself, "
            "and nothing is left to differentiate",
            span=own[0].span,
            place=program.place,
            facts=OwnInputs(tuple(own)),
        )


MOST_WAYS = 3
"""Lines that a hint offers to leave out."""
