"""A program as a Python function: checked once, evaluated many times.

Variables that have no value, and values that have no variable: what each of them may have meant.
One run of a function with its v, read by both routes: J with vᵀ·J, and the gradient of reverse mode.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradcli.engine.graph import Graph, Node, Operation, StandIn
from gradcli.engine.meter import LARGE
from gradcli.engine.naming import output_name
from gradcli.engine.reverse import backward, cotangents
from gradcli.errors import Budget, GradcliError, Place
from gradcli.errors.hints import MisshapenV, MissingInputs, OwnInputs, did_you_mean, short_array
from gradcli.explanation.explained import Backward, Gradient, Note, sum_of
from gradcli.explanation.notes import note_backward, note_run, refuse_integers
from gradcli.language.program import Program, compile_program
from gradcli.language.values import Cotangent, all_finite, as_array, detached, each_call, read_v, require_finite
from gradcli.ops import spellings
from gradcli.ops.declare import Array, value_of
from gradcli.ops.linear_algebra import MATMUL
from gradcli.records import dataclass, field
from gradcli.runner.reading import is_script

if TYPE_CHECKING:
    from gradcli.explanation.jacobians import Jacobian
    from gradcli.explanation.timeline import Timeline
    from gradcli.formulas.derivation import Formulas
    from gradcli.jacobian.composition import Composition
    from gradcli.jacobian.passes import Passes, Vectors


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
        from gradcli.jacobian.passes import derive

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
    from gradcli.language.program import with_output  # few formulas are asked for another output

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
    from gradcli.language.program import own_inputs  # an error alone needs it

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


# ---- Variables that have no value, and values that have no variable: what each of them may have meant


def compared_with(program: Program, name: str) -> str | None:
    """Return what a line holds against a variable by ``==``, which begins it; None where none does."""
    text = program.place.text
    at, end = program.inputs[name]
    line = text[text.rfind("\n", 0, at) + 1 :].partition("\n")[0]
    found = line.partition("==")
    return found[2].strip() if found[1] and found[0].strip() == text[at:end] == name else None


def missing_inputs(names: list[str], values: Iterable[str], compared: str | None = None) -> MissingInputs:
    """Return what is known of variables without a value: the first that is compared, a function, or misspelled."""
    if compared is not None:
        return MissingInputs(tuple(names), compared=compared)
    numbered = next((given for given in values if all(re.fullmatch(f"{given}_?[0-9]", name) for name in names)), None)
    if numbered:
        return MissingInputs(tuple(names), numbered=numbered)
    for name in names:
        if name in spellings():
            return MissingInputs(tuple(names), function=name)
        argument = next((given for given in values if name.endswith(given)), "")
        if argument and name.removesuffix(argument) in spellings():
            return MissingInputs(tuple(names), joined=(name.removesuffix(argument), argument))
        near = next((given for given in values if did_you_mean(given, [name])), None)
        if near:
            return MissingInputs(tuple(names), near=(near, name))
    return MissingInputs(tuple(names))


def not_an_input(program: Program, name: str) -> GradcliError:
    """Return the error for a variable that the program does not have, or gives a value itself."""
    from gradcli.language.program import own_inputs  # an error alone needs it

    own = next((found for found in own_inputs(program) if found.name == name), None)
    if own is not None:
        hint = f"leave out {own.where}, and the value that is given counts"
        message = f"the program has its own value of '{name}'"
        return GradcliError("unknown-input", message, span=own.span, place=program.place, hint=hint)
    if program.is_script and name in program.variables:
        output = f"'{program.result}'" if program.result else "the output"
        message = f"{output} is not computed from '{name}', or that is no number that can be moved"
        return GradcliError("unknown-input", message, hint=f"it is computed from {', '.join(program.inputs) or 'none'}")
    if name in program.variables and name not in program.inputs:
        message = f"'{name}' is computed by the program, and no input"
        hint = f"its gradient, {name}.grad, stands under Backward; or leave out what computes it, and give it a value"
        return GradcliError("unknown-input", message, hint=hint)
    if not program.is_script and name in program.beside:
        message = f"'{program.result}' is computed without '{name}'"
        return GradcliError("unknown-input", message, hint=f"it is computed from {', '.join(program.inputs) or 'none'}")
    known = tuple(program.inputs or program.variables)
    has = f"the program has {', '.join(known)}" if known else "the program has no variables"
    return GradcliError("unknown-input", f"the program has no variable '{name}'", hint=did_you_mean(name, known) or has)


# ---- One run of a function with its v, read by both routes: J with vᵀ·J, and the gradient of reverse mode


@dataclass(frozen=True)
class Point:
    """One run of a function with the v of every call of backward.

    ``integers`` are the differentiated inputs that came without a fraction, ``resets`` the calls before which
    ``.grad`` is set to zero; ``as_run`` says that every v is that of a script's own calls. ``kept`` are the cotangents
    of the only call, by node index, once a short run has swept.
    """

    function: Function
    run: Evaluation
    names: tuple[str, ...]
    seeds: list[Cotangent]
    integers: list[str]
    resets: frozenset[int] = frozenset()
    as_run: bool = False
    kept: dict[int, Any] = field(default_factory=dict)

    @cached_property
    def name(self) -> str:
        """What y is called."""
        return output_name(self.run.graph, self.run.output)

    @cached_property
    def value(self) -> Array:
        """y as numbers."""
        return self.run.value

    @cached_property
    def leaves(self) -> dict[str, Node]:
        """The nodes of the differentiated inputs."""
        return {name: self.run.leaves[name] for name in self.names}

    @cached_property
    def inputs(self) -> dict[str, Array]:
        """All inputs as numbers."""
        return {name: np.asarray(node.value) for name, node in self.run.leaves.items()}

    @cached_property
    def seed(self) -> Array:
        """v as it counts, in the shape of y, added up over all calls since ``.grad`` was last set to zero."""
        return sum_of([seed.seed for seed in self.counted])

    @cached_property
    def timeline(self) -> Timeline | None:
        """What the script did that the program is a call of; None for a formula."""
        if not self.function.program.is_script:
            return None
        from gradcli.explanation.timeline import timeline_of  # a formula has none

        return timeline_of(self.function.program)

    @property
    def counted(self) -> list[Cotangent]:
        """The v of the calls since ``.grad`` was last set to zero."""
        return self.seeds[max(self.resets, default=0) :]


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
    run: Evaluation | None = None,
) -> Point:
    """Run a function at a point, unless its ``run`` there is at hand, and read every v.

    ``record`` keeps what formulas need and gradients do not.
    """
    try:
        values = filled(function.program, values)
        run = run or function.evaluate(values, record, strict)
        names = function.differentiated
        shape = run.value.shape
        resets: frozenset[int] = frozenset()
        as_run = all(v is None for v in calls) and function.program.is_script and bool(function.program.vs)
        if as_run:
            calls, resets = (
                function.program.vs,
                frozenset(k for k, reset in enumerate(function.program.resets) if reset),
            )
        if record and not strict:
            whole = [each_call(v, shape) for v in calls]
            if any(len(own) > 1 for own in whole):
                run.graph.remark("v-identity", IDENTITY)
            calls = [call for own in whole for call in own]
        seeds = [read_seed(v, run, names, strict) for v in calls]
        if len(calls) > 1 and (record or strict) and not function.program.is_script:
            from gradcli.language.torch_refusals import remark_second_backward

            remark_second_backward(run.graph, run.output)
    except GradcliError as error:
        raise error.at(error.span, function.place) from None
    integers = [name for name in names if np.asarray(detached(values[name])).dtype.kind in "iu"]
    if strict and integers:
        kept = run if record else function.evaluate(values, strict=strict)  # all that the integers are used for
        refuse_integers(integers, kept.graph, kept.leaves)
    return Point(function, run, names, seeds, integers, resets, as_run)


def read_seed(v: object, run: Evaluation, names: Sequence[str], strict: bool) -> Cotangent:
    """Return v for the output of a run; one number for several entries is refused with what it could have meant."""
    try:
        return read_v(v, run.value.shape, strict, output_name(run.graph, run.output))
    except GradcliError as error:
        facts = error.facts
        if not isinstance(facts, MisshapenV) or math.prod(facts.given) != 1 or not names:
            raise
        name, leaf = names[0], run.leaves[names[0]]
        if leaf.value.size > MOST_SPELLED:
            raise
        ones = gradients(run, np.ones(run.value.shape), [name])[name]
        worth = tuple(f"{name}.grad = {short_array(g)}" for g in (ones, ones / run.value.size))
        raise error.about(facts._replace(worth=worth)) from None


MOST_SPELLED = 6
"""Entries of a gradient that an error spells out."""


def compose_at(run: Evaluation, function: Function) -> Composition:
    """Return the Jacobian of a run by the symbolic route, by its entries unless these are too many."""
    from gradcli.jacobian.passes import derive

    leaves = [run.leaves[name] for name in function.differentiated]
    return derive(run.output, leaves, function.program.budget.jacobian, run.graph)


def read_jacobians(point: Point, composition: Composition, formulas: Formulas | None = None) -> dict[str, Jacobian]:
    """Return J by each variable, with its formulas where there are any."""
    from gradcli.explanation.jacobians import Jacobian
    from gradcli.jacobian.sparse import Pattern, nothing

    patterns: dict[str, Any] = formulas.patterns if formulas else {}
    shape, found, sweep = point.value.shape, {}, Sweep(point.run, list(point.leaves.values()))
    for name, leaf in point.leaves.items():
        held = leaf.index in composition.of
        entries = composition.of[leaf.index] if held else nothing(point.value.size, leaf.value.size)
        if name not in patterns:
            patterns[name] = Pattern(entries.rows, entries.columns, entries.shape)
        found[name] = Jacobian(
            shape,
            leaf.shape,
            patterns[name],
            entries.values,
            np.asarray(entries.sizes),
            formulas.jacobians.get(name) if formulas else None,
            formulas.rules.get(name, []) if formulas else [],
            held,
            JacobianMap(sweep, leaf, shape),
        )
    return found


class Sweep:
    """vᵀ·J by all variables, which one pass gives: that of the last v is kept."""

    def __init__(self, run: Evaluation, leaves: Sequence[Node]) -> None:
        self.run = run
        self.leaves = leaves
        self.v: Array | None = None
        self.found: dict[int, Vectors] = {}

    @cached_property
    def passes(self) -> Passes:
        """J as what it makes of vectors."""
        from gradcli.jacobian.passes import Passes  # most Jacobians are held

        return Passes(self.run.output, self.leaves, self.run.graph)

    def back(self, v: Array) -> dict[int, Vectors]:
        """Return vᵀ·J by the index of each variable."""
        if self.v is None or not np.array_equal(self.v, v):
            self.found = self.passes.back(np.reshape(v, (1, -1)))
            self.v = np.array(v)
        return self.found


@dataclass(frozen=True)
class JacobianMap:
    """J by one variable as a ``LinearMap``."""

    sweep: Sweep
    leaf: Node
    output_shape: tuple[int, ...]

    def back(self, v: Array) -> tuple[Array, Array]:
        """Return vᵀ·J and the sizes of its terms, in the shape of the variable."""
        found = self.sweep.back(v)[self.leaf.index]
        return found.values.reshape(self.leaf.shape), found.sizes.reshape(self.leaf.shape)

    def forth(self, u: Array) -> tuple[Array, Array]:
        """Return J·u and the sizes of its terms, in the shape of y."""
        found = self.sweep.passes.forth(self.leaf, np.reshape(u, (1, -1)))
        return found.values.reshape(self.output_shape), found.sizes.reshape(self.output_shape)


def call_backward(point: Point, jacobians: dict[str, Jacobian]) -> list[Backward]:
    """Return every call of backward with what it leaves in ``.grad``."""
    found: list[Backward] = []
    for place, seed in enumerate(point.seeds):
        alone = len(point.seeds) == 1 and point.run.graph.meter.elements < LARGE
        grad = kept_gradients(point) if alone else gradients(point.run, seed.seed, jacobians)
        vjp = {name: jacobian.vjp(seed.seed) for name, jacobian in jacobians.items()}
        total = grad
        if found and place not in point.resets:
            total = {name: sum_of([found[-1].accumulated[name], g]) for name, g in grad.items()}
        found.append(Backward(seed, vjp, grad, total, place in point.resets))
    return found


def kept_gradients(point: Point) -> dict[str, Array]:
    """Return what the only call of backward gives, and keep the cotangents of its sweep: lines are written of them."""
    run, kept = point.run, point.kept
    if isinstance(run.output, Node) and run.output.active:
        kept |= cotangents(run.graph, run.output, point.seed, kept)
    return {
        name: np.array(kept[leaf.index] if leaf.index in kept else np.zeros(leaf.shape), dtype=np.float64)
        for name, leaf in point.leaves.items()
    }


def read_gradient(point: Point) -> Gradient:
    """Return what reverse mode alone answers, ``x.grad`` after the last call."""
    total: dict[str, Array] = {}
    for seed in point.counted:
        for name, g in gradients(point.run, seed.seed, point.names).items():
            total[name] = sum_of([total[name], g]) if name in total else g
    return gather_gradient(point, total)


def gather_gradient(point: Point, grad: dict[str, Array]) -> Gradient:
    """Return an answer that has a gradient and no J."""
    alone = len(point.counted) == 1
    return Gradient(
        point.function.place.text,
        point.value,
        point.counted[0].shown if alone else point.seed,
        point.counted[0].source if alone else "accumulated",
        grad,
        [*note_run(point.run.graph), *note_backward(point.run.graph.nodes, point.run.output), *note_followed(point)],
        point.timeline,
        point.function.labels,
    )


def note_followed(point: Point) -> list[Note]:
    """Say what backward passes of a script's own a gradient follows; nothing of a formula."""
    if not point.function.program.is_script:
        return []
    from gradcli.engine.graph import swept
    from gradcli.explanation.notes import note_own

    output = point.run.output
    return note_own(point.function.program, swept(output)) if isinstance(output, Node) else []
