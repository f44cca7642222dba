"""A program as a Python function, and one run of it with its v: what both routes, and all that is asked later, read."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.engine.graph import Graph, Node, Operation, StandIn, swept
from gradcli.engine.naming import numbered, output_name
from gradcli.engine.reverse import backward, cotangents
from gradcli.errors import Budget, GivenUp, GradcliError, Place
from gradcli.errors.hints import MisshapenV, MissingInputs, OwnInputs, did_you_mean, short_array
from gradcli.explanation.notes import note_backward, note_own, note_run, refuse_integers, wanting_floats
from gradcli.explanation.results import Dust, Gradient, sum_of
from gradcli.language.program import Program, compile_program, own_inputs, with_output
from gradcli.language.values import Cotangent, all_finite, as_array, detached, each_call, read_v, require_finite
from gradcli.ops import spellings
from gradcli.ops.declare import Array, value_of
from gradcli.ops.linear_algebra import MATMUL
from gradcli.records import dataclass, field
from gradcli.runner.reading import is_script

if TYPE_CHECKING:
    from gradcli.explanation.timeline import Timeline
    from gradcli.formulas.derivation import Formulas
    from gradcli.jacobian.composition import Composition


@dataclass(frozen=True)
class Run:
    """One run of a function, with the v of every call of backward once they are read.

    - ``output``: a node, or numbers where it depends on no input. ``variables`` are the nodes of all inputs.
    - ``integers``: the differentiated inputs that came without a fraction.
    - ``resets``: the calls before which ``.grad`` is set to zero.
    - ``as_run``: whether every v is that of a script's own calls.
    - ``kept``: the cotangents of the only call, by node index, once a short run has swept.
    """

    function: Function
    graph: Graph
    output: Any
    variables: dict[str, Node]
    seeds: list[Cotangent] = field(default_factory=list)
    integers: list[str] = field(default_factory=list)
    resets: frozenset[int] = frozenset()
    as_run: bool = False
    kept: dict[int, Any] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The differentiated inputs."""
        return self.function.differentiated

    @cached_property
    def name(self) -> str:
        """What y is called."""
        return output_name(self.graph, self.output)

    @property
    def value(self) -> Array:
        """y as numbers."""
        return np.asarray(value_of(self.output))

    @cached_property
    def leaves(self) -> dict[str, Node]:
        """The nodes of the differentiated inputs."""
        return {name: self.variables[name] for name in self.names}

    @cached_property
    def inputs(self) -> dict[str, Array]:
        """All inputs as numbers."""
        return {name: np.asarray(node.value) for name, node in self.variables.items()}

    @cached_property
    def scale(self) -> float:
        """The size of the largest entry of the differentiated inputs."""
        return max((float(np.max(np.abs(leaf.value), initial=0.0)) for leaf in self.leaves.values()), default=0.0)

    @property
    def active(self) -> bool:
        """Whether a derivative flows to y."""
        return isinstance(self.output, Node) and bool(self.output.active)

    @property
    def counted(self) -> list[Cotangent]:
        """The v of the calls since ``.grad`` was last set to zero."""
        return self.seeds[max(self.resets, default=0) :]

    @cached_property
    def seed(self) -> Array:
        """v as it counts, in the shape of y, added up over all calls since ``.grad`` was last set to zero."""
        return sum_of([seed.seed for seed in self.counted])

    @cached_property
    def named(self) -> dict[int, str]:
        """The names of inputs, of what the program calls by a name, and of y, by node index."""
        names = {node.index: name for name, node in self.variables.items()}
        names |= {node.index: name for name, node in reversed(numbered(self.graph))}
        return names | ({self.output.index: self.name} if isinstance(self.output, Operation) else {})

    @cached_property
    def timeline(self) -> Timeline | None:
        """What the script did that the program is a call of; None for a formula."""
        if not self.function.program.is_script:
            return None
        from gradcli.explanation.timeline import timeline_of  # a formula has none

        return timeline_of(self.function.program)

    def gradients(self, seed: Array, names: Iterable[str] | None = None) -> dict[str, Array]:
        """Return the gradient by reverse mode for each of ``names``, by default the differentiated inputs."""
        wanted = list(self.names if names is None else names)
        nodes = [self.variables[name] for name in wanted]
        return dict(zip(wanted, backward(self.graph, self.output, seed, nodes), strict=True))

    def cotangents(self, seed: Array | None = None) -> dict[int, Any]:
        """Return all that the way back from y gives, by node index: of v, or of another ``seed``."""
        result: dict[int, Any] = {}
        if self.active:
            result |= cotangents(self.graph, self.output, self.seed if seed is None else seed, result)
        return result

    def moved(self, name: str, place: int, step: float) -> Array | None:
        """Return y where one entry of a variable is moved; None where the program has no value there."""
        array = np.array(self.inputs[name], dtype=np.float64)
        array.flat[place] += step
        try:
            return self.function.evaluate({**self.inputs, name: array}, record=False).value
        except GivenUp:
            raise
        except GradcliError:
            return None

    def compose(self) -> Composition:
        """Return the Jacobian by the symbolic route, by its entries unless these are too many."""
        from gradcli.jacobian.passes import derive

        return derive(self.output, list(self.leaves.values()), self.function.program.budget.jacobian, self.graph)


@dataclass(frozen=True)
class Source:
    """What an answer was made from, which all answers that are made of it share, with what was ``computed`` since.

    ``confirmed`` is the dust that more digits have shown, ``parts`` are the names that *Forward* has for parts of long
    lines, by node index.
    """

    run: Run
    formulas: Formulas
    composition: Composition
    confirmed: Mapping[str, Dust] = field(default_factory=dict)
    parts: Mapping[int, str] = field(default_factory=dict)
    computed: dict[str, Any] = field(default_factory=dict)

    @property
    def spare(self) -> dict[int, str]:
        """What formulas call the values that they name, by node index."""
        return {node: name for name, node in self.formulas.nodes.items()}


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
            if name not in self.program.inputs:
                refuse_own_inputs(self.program)
                raise not_an_input(self.program, name)

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

    def __call__(self, **values: Any) -> Array:
        """Return the value at a point, as ``value`` does.

        >>> gradcli.function("x**2")(x=3.0).item()
        9.0
        """
        return self.value(**values)

    def evaluate(self, values: dict[str, Any], record: bool = True, strict: bool = False) -> Run:
        """Run the program; ``record`` keeps what formulas need and gradients do not.

        ``strict`` refuses what only one of PyTorch and NumPy answers. Of a run that keeps little, a large input is
        looked through afterwards, and only where no product vouches for it.
        """
        whole = values if self.program.inputs.keys() <= values.keys() else filled(self.program, values)
        arrays = read_arrays(self.program, whole)
        wrt = frozenset(self.wrt if self.wrt is not None else arrays)
        if record:
            arrays = {name: np.array(array)[()] for name, array in arrays.items()}
        formula = not self.program.is_script
        late = [name for name in arrays if formula and name in wrt and not record and arrays[name].size >= LATE]
        for name, array in arrays.items():
            if formula and name not in late:
                require_finite(name, array)
        try:
            run = Run(self, *self.program.evaluate(arrays, wrt, record, strict))
        except GradcliError:
            for name in late:
                require_finite(name, arrays[name])
            fixed = None if self.wrt is self.program.wrt else self.wrt
            if formula or self.program.whole or not self.program.settle(whole, fixed):
                raise
            self.wrt = fixed or self.program.wrt
            return self.evaluate(values, record, strict)
        for name in late:
            if not vouched_for(run, run.variables[name]):
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
        run = self.evaluate(filled(self.program, inputs), record=False)
        if v is None and self.program.is_script and self.program.vs:
            v = summed_v(self.program, run.value.shape)
        return run.gradients(read_v(v, run.value.shape, strict=False).seed)

    def jacobian(self, **inputs: Any) -> dict[str, Array]:
        """Return the Jacobian by each variable, of shape ``y.shape + x.shape``, by the symbolic route.

        Raises ``budget`` where it would have too many entries.
        """
        run = self.evaluate(filled(self.program, inputs))
        composition, shape = run.compose(), run.value.shape
        return {
            name: composition.entries(leaf).dense().reshape((*shape, *leaf.shape)) for name, leaf in run.leaves.items()
        }

    def __repr__(self) -> str:
        return f"<gradcli function of {', '.join(self.inputs) or 'nothing'}: {self.place.text!r}>"


FIRST = 8
"""Operations among which a product is looked for that vouches for an input."""
LATE = 65_536
"""Entries from which an input is looked through after the run, and only if no product vouches for it."""


def vouched_for(run: Run, leaf: Node) -> bool:
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
        for node in run.graph.nodes[: len(run.variables) + FIRST]
    )


def summed_v(program: Any, shape: tuple[int, ...]) -> Any:
    """Return what the calls of a script add up to since gradients were last set to zero; None for the default."""
    start = max((k for k, reset in enumerate(program.resets) if reset), default=0)
    vs = program.vs[start:]
    return None if all(v is None for v in vs) and len(vs) == 1 else sum(np.ones(shape) if v is None else v for v in vs)


def read_program(
    text: str | Callable[..., Any],
    budget: Budget,
    names: Iterable[str],
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
        of_function = read_function(text, budget, names)
        of_function.settle(names if isinstance(names, Mapping) else {}, wrt)
        return of_function
    if not is_script(text):
        if asked is None or asked.of is None:
            return compile_program(text, budget, frozenset(names))
        program = read_up_to(text, budget, frozenset(names), asked.of, frozenset(wrt or ()))
        if program is not None:
            return program
    from gradcli.explanation.scripts import Asked, read_script
    from gradcli.runner.state import bounds_of

    return read_script(text, names, asked or Asked(), None if wrt is None else tuple(wrt), bounds_of(budget))


def read_up_to(text: str, budget: Budget, names: frozenset[str], of: str, wrt: frozenset[str]) -> Program | None:
    """Return a text as a formula whose output is one of its names; None for lines that are run as a script.

    Those are no formula, or give all inputs themselves, or those that are differentiated.
    """
    lines = "\n" in text.strip()
    try:
        program = compile_program(text, budget, names)
    except GradcliError:
        if lines:
            return None
        raise
    inputs = program.inputs.keys()
    if lines and (not inputs or not wrt | names <= inputs):
        return None
    return with_output(program, of, names)


def filled(program: Any, values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of all inputs: those that are given, and those of a script for the others.

    A leaf that began with another value has what the script has made of it since. What only lines need that a formula
    is not asked for is left out.
    """
    if program.is_script:
        chosen = {name: value for name, value in values.items() if name not in program.others}
        return {name: value for name, value in {**program.values, **chosen}.items() if name not in program.settings}
    return {name: value for name, value in values.items() if name not in program.beside} if program.beside else values


def read_arrays(program: Program, values: dict[str, Any]) -> dict[str, Array]:
    """Return all inputs as arrays; raises ``missing-input`` or ``unknown-input`` with what to type."""
    if values.keys() == program.inputs.keys():
        return {name: as_array(name, values[name]) for name in program.inputs}
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


def compared_with(program: Program, name: str) -> str | None:
    """Return what a line holds against a variable by ``==``, which begins it; None where none does."""
    text = program.place.text
    at, end = program.inputs[name]
    line = text[text.rfind("\n", 0, at) + 1 :].partition("\n")[0]
    left, sign, right = line.partition("==")
    return right.strip() if sign and left.strip() == text[at:end] == name else None


def missing_inputs(names: list[str], values: Iterable[str], compared: str | None = None) -> MissingInputs:
    """Return why variables may have no value: the first is compared, numbered, a function, or misspelled."""
    if compared is not None:
        return MissingInputs(tuple(names), compared=compared)
    numbered = next((value for value in values if all(re.fullmatch(f"{value}_?[0-9]", name) for name in names)), None)
    if numbered:
        return MissingInputs(tuple(names), numbered=numbered)
    for name in names:
        if name in spellings():
            return MissingInputs(tuple(names), function=name)
        argument = next((value for value in values if name.endswith(value)), "")
        if argument and name.removesuffix(argument) in spellings():
            return MissingInputs(tuple(names), joined=(name.removesuffix(argument), argument))
        near = next((value for value in values if did_you_mean(value, [name])), None)
        if near:
            return MissingInputs(tuple(names), near=(near, name))
    return MissingInputs(tuple(names))


def not_an_input(program: Program, name: str) -> GradcliError:
    """Return the error for a variable that the program does not have, or gives a value itself."""
    assigned = next((item for item in own_inputs(program) if item.name == name), None)
    if assigned is not None:
        hint = f"leave out {assigned.where}, and the value that is given counts"
        message = f"the program has its own value of '{name}'"
        return GradcliError("unknown-input", message, span=assigned.span, place=program.place, hint=hint)
    computed = f"it is computed from {', '.join(program.inputs) or 'none'}"
    if program.is_script and name in program.variables:
        output = f"'{program.result}'" if program.result else "the output"
        message = f"{output} is not computed from '{name}', or that is no number that can be moved"
        return GradcliError("unknown-input", message, hint=computed)
    if name in program.variables and name not in program.inputs:
        message = f"'{name}' is computed by the program, and no input"
        hint = f"its gradient, {name}.grad, stands under Backward; or leave out what computes it, and give it a value"
        return GradcliError("unknown-input", message, hint=hint)
    if not program.is_script and name in program.beside:
        return GradcliError("unknown-input", f"'{program.result}' is computed without '{name}'", hint=computed)
    names = tuple(program.inputs or program.variables)
    has = f"the program has {', '.join(names)}" if names else "the program has no variables"
    return GradcliError("unknown-input", f"the program has no variable '{name}'", hint=did_you_mean(name, names) or has)


def check_inputs(program: Program, values: dict[str, Any]) -> dict[str, Array]:
    """Return all inputs as arrays of finite numbers; raises ``missing-input``, ``unknown-input`` or ``value``."""
    arrays = read_arrays(program, values)
    for name, array in arrays.items():
        require_finite(name, array)
    return arrays


MOST_WAYS = 3
"""Lines that a hint offers to leave out."""


def refuse_own_inputs(program: Program) -> None:
    """Raise ``no-variables`` for a program that gives all of its inputs itself: which line to leave out, what to give.

    A program that has nothing which could be an input, such as ``zeros(3)``, is a constant, and in order.
    """
    if program.inputs:
        return
    assigned = own_inputs(program)[:MOST_WAYS]
    if assigned:
        names = " and ".join(item.name for item in assigned)
        message = f"the program assigns {names} itself, and nothing is left to differentiate"
        facts = OwnInputs(tuple(assigned))
        raise GradcliError("no-variables", message, span=assigned[0].span, place=program.place, facts=facts)


IDENTITY = (
    "v is the identity: each of its rows is one call of backward, which adds one row of J to .grad. PyTorch refuses it "
    "as one v."
)


def stand(
    function: Function,
    values: dict[str, Any],
    calls: Sequence[Any],
    strict: bool,
    record: bool = True,
    run: Run | None = None,
) -> Run:
    """Run a function at a point, unless its ``run`` there is at hand, and read every v.

    ``record`` keeps what formulas need and gradients do not.
    """
    program = function.program
    try:
        values = filled(program, values)
        run = run or function.evaluate(values, record, strict)
        moved = without_labels(function, values, run)
        if moved is not function:
            return stand(moved, values, calls, strict, record)
        names, shape = run.names, run.value.shape
        resets: frozenset[int] = frozenset()
        as_run = all(v is None for v in calls) and program.is_script and bool(program.vs)
        if as_run:
            calls, resets = program.vs, frozenset(k for k, reset in enumerate(program.resets) if reset)
        if record and not strict:
            each = [each_call(v, shape) for v in calls]
            if any(len(rows) > 1 for rows in each):
                run.graph.remark("v-identity", IDENTITY)
            calls = [call for rows in each for call in rows]
        seeds = [read_seed(v, run, strict) for v in calls]
        if len(calls) > 1 and (record or strict) and not program.is_script:
            from gradcli.language.torch_refusals import remark_second_backward

            remark_second_backward(run.graph, run.output)
    except GradcliError as error:
        raise error.at(error.span, function.place) from None
    integers = [name for name in names if np.asarray(detached(values[name])).dtype.kind in "iu"]
    if strict and integers:
        whole = run if record else function.evaluate(values, strict=strict)  # all that the integers are used for
        refuse_integers(integers, whole.graph, whole.variables)
    return Run(function, run.graph, run.output, run.variables, seeds, integers, resets, as_run)


def without_labels(function: Function, values: Mapping[str, Any], run: Run | None = None) -> Function:
    """Return a formula by what is no position and no class at a point: integers that only choose are constants."""
    inputs = {name: value for name, value in values.items() if name in function.program.inputs}
    integers = [name for name, value in inputs.items() if np.asarray(detached(value)).dtype.kind in "iu"]
    if function.wrt is not None or function.program.is_script or not integers:
        return function
    try:
        run = run or function.evaluate(filled(function.program, {**values}))
    except GradcliError:  # what evaluates it next says where
        return function
    labels = {*integers} - {*wanting_floats(integers, run.graph, run.variables)}
    rest = [name for name in function.inputs if name not in labels]
    return Function.of_program(function.program, rest) if labels and rest else function


MOST_SPELLED = 6
"""Entries of a gradient that an error spells out."""


def read_seed(v: object, run: Run, strict: bool) -> Cotangent:
    """Return v for the output of a run; one number for several entries is refused with what it could have meant."""
    try:
        return read_v(v, run.value.shape, strict, run.name)
    except GradcliError as error:
        facts = error.facts
        if not isinstance(facts, MisshapenV) or math.prod(facts.given) != 1 or not run.names:
            raise
        name = run.names[0]
        if run.variables[name].value.size > MOST_SPELLED:
            raise
        ones = run.gradients(np.ones(run.value.shape), [name])[name]
        worth = tuple(f"{name}.grad = {short_array(g)}" for g in (ones, ones / run.value.size))
        raise error.about(facts._replace(worth=worth)) from None


def read_gradient(run: Run) -> Gradient:
    """Return what reverse mode alone answers, ``x.grad`` after the last call."""
    total: dict[str, Array] = {}
    for seed in run.counted:
        for name, g in run.gradients(seed.seed).items():
            total[name] = sum_of([total[name], g]) if name in total else g
    return gather_gradient(run, total)


def gather_gradient(run: Run, grad: dict[str, Array]) -> Gradient:
    """Return an answer that has a gradient and no J."""
    first, alone = run.counted[0], len(run.counted) == 1
    notes = [*note_run(run.graph), *note_backward(run.graph.nodes, run.output)]
    if run.function.program.is_script and isinstance(run.output, Node):
        notes += note_own(run.function.program, swept(run.output))
    return Gradient(
        run.function.place.text,
        run.value,
        first.shown if alone else run.seed,
        first.source if alone else "accumulated",
        grad,
        notes,
        run.timeline,
        run.function.labels,
    )
