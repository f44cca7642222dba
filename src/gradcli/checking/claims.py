"""Gradients that a script computes itself: which of its values are the derivative by which, and their numbers.

``dW1 = X.T @ dh`` says that dW1 is the derivative of the loss by W1. A claim is one such pair. It is evaluated as an
expression of the script at its end: in doubles, as the script has it, and in many digits, where the script runs again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gradcli.checking.pairs import (
    WAY,
    Pair,
    as_doubles,
    by_last_step,
    entries_of,
    find_pairs,
    is_number,
    numbers_of,
    stem_of,
    value_of_stem,
)
from gradcli.engine.graph import Graph, Node
from gradcli.errors import Budget, GradcliError
from gradcli.errors.suggest import did_you_mean
from gradcli.exact.decimals import digits
from gradcli.exact.slopes import Exact
from gradcli.exact.work import Spent
from gradcli.explanation.evaluation import Function, filled
from gradcli.explanation.scripts import LOSSES, Asked, derivative_calls
from gradcli.records import dataclass, field
from gradcli.runner.dialect import is_script
from gradcli.runner.objects import Instance
from gradcli.runner.replay import Reached, ScriptProgram, ancestors, as_tensor, program_of
from gradcli.runner.script import Ended, ScriptError, compile_text, run_script
from gradcli.runner.state import bounds_of
from gradcli.runner.story import Story, root_of, value_at
from gradcli.runner.values import Tensor

if TYPE_CHECKING:
    from gradcli.language.program import Program

LONG = 100_000
"""Calls of functions and turns of loops of a script up to which its own gradients are looked for unasked."""
SLOT = "value {}"
"""The variable of an expression that is evaluated at the end of a script: no name of Python's."""


@dataclass(slots=True)
class Claims:
    """What a script says of its gradients: of inputs, by their names in ``program``, and of inner values.

    ``names`` are what the gradients by inputs are read from at the end of the script. ``gradients`` is the program
    whose output they are, end to end, ``of`` the output that they are the derivatives of. ``asked_for`` says that
    the user named the pairs, which were found by their names otherwise. ``typed`` is what is expected by inputs and is
    nothing of the script's: formulas of the language and arrays.
    """

    program: ScriptProgram
    of: str
    by_input: dict[str, Pair]
    inner: list[Pair]
    names: tuple[str, ...]
    gradients: ScriptProgram
    asked_for: bool = False
    typed: dict[str, Any] = field(default_factory=dict)
    reached: Reached | None = None
    at: Mapping[str, Any] | None = None
    exact: list[Decimal] | None = None

    @property
    def function(self) -> Function:
        """The output as a function of the inputs that something is expected by."""
        return Function.of_program(self.program, dict.fromkeys([*self.by_input, *self.typed] or self.program.inputs))

    @property
    def leaks(self) -> bool:
        """Whether the output is computed from one of the gradients: an update of an input was not seen as one."""
        reached = self.reach(filled(self.program, {}))
        last = reached.run.story.last
        output = value_at(last, self.of)
        before = {node.index for node in ancestors(output.node)} if isinstance(output, Tensor) else set()
        gradients = (as_tensor(reached.run, value_at(last, name)).node for name in self.names)
        final = {node.index for node in gradients if isinstance(node, Node)}  # a value on the way may be a derivative
        return bool(before & (reached.run.story.gradient_nodes - final))

    def reach(self, point: Mapping[str, Any]) -> Reached:
        """Return the run of the script at a point, to its end."""
        if self.reached is None or self.at is None or not same_point(self.at, point):
            ordinals = self.gradients.ordinals
            values = {ordinals[name]: value for name, value in point.items() if name in ordinals}
            self.reached, self.at = self.gradients.reach(Graph(self.program.budget), values), point
            self.exact = many_digits(self.gradients, point, list(self.by_input))
        return self.reached

    def tensor(self, point: Mapping[str, Any], variable: str) -> Tensor:
        """Return the gradient by an input as the script has it."""
        reached = self.reach(point)
        name = self.names[list(self.by_input).index(variable)]
        return as_tensor(reached.run, value_at(reached.run.story.last, name))

    def in_many_digits(self, point: Mapping[str, Any], variable: str) -> list[Decimal] | None:
        """Return the gradient by an input in flat order in many digits; None where the script cannot be run so."""
        place = list(self.by_input).index(variable)
        sizes = [int(np.size(self.tensor(point, name).value)) for name in self.by_input]
        return None if self.exact is None else self.exact[sum(sizes[:place]) : sum(sizes[: place + 1])]


def same_point(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two points have the same numbers."""
    return one.keys() == other.keys() and all(np.array_equal(value, other[name]) for name, value in one.items())


def many_digits(program: ScriptProgram, point: Mapping[str, Any], names: Sequence[str]) -> list[Decimal] | None:
    """Return the output of a script in many digits; None where it cannot be run so within the work allowed."""
    with digits(60):
        try:
            return Exact(cast("Program", program), dict(point), names).values()
        except (Spent, GradcliError):
            return None


def read_claims(
    text: Any, asked: Asked, expect: Any, values: Mapping[str, Any], budget: Budget | None
) -> Claims | None:
    """Return what a script says of its own gradients; None for a formula, and where a script's call is checked.

    ``expect`` has what is expected by the value that it is the derivative by: an expression of the script, a formula of
    the language, or an array; a text alone is by the value that its name says. Where it is empty, names that go
    together are looked for, in a script that makes no derivative call or where ``asked`` names the output. Raises what
    the script raises, and ``option`` for a value that the output is not computed from.
    """
    if not isinstance(expect, str | Mapping) and expect:
        return None
    bounds = bounds_of(budget or Budget())
    free = compile_text(text, budget=bounds)[0].text.free(values)
    if free.keys() - values.keys() or (free and not is_script(text)):
        return None
    settings: dict[str, Any] = {
        "seed": asked.seed, "given": {name: value for name, value in values.items() if name in free},
        "others": {name: value for name, value in values.items() if name not in free}, "budget": bounds,
    }  # fmt: skip
    observed = observe(text, settings)
    calls = derivative_calls(observed.ended)
    of = asked.of or output_name(calls, observed.numbers)
    of = of if of is None else observed.pair(of, "").value
    if of is None or (asked.of is None and ((calls and calls[-1].v is not None) or observed.is_long)):
        return None
    if isinstance(expect, str):
        value = asked.wrt[0] if len(asked.wrt) == 1 else value_of_text(expect, observed.numbers)
        if value is None:
            return None
        expect = {value: expect}
    if expect:
        typed = {way: item for way, item in expect.items() if not is_of_script(item, text, observed, settings, free)}
        pairs = [observed.pair(way, item) for way, item in expect.items() if way not in typed]
        return trace_claims(text, of, pairs, typed, observed, settings, strict=True)
    claims = None
    for ways in (list(observed.numbers), list(observed.numbers)[::-1]):
        ways.sort(key=lambda way: (way in observed.local, not observed.is_by_hand(way)))
        pairs = [pair for pair in find_pairs(ways, observed.numbers) if pair.value != of]
        pairs = [pair for pair in pairs if not asked.wrt or pair.value in asked.wrt]
        if asked.of is None and calls and not any(observed.is_by_hand(pair.gradient) for pair in pairs):
            return None
        claims = trace_claims(text, of, pairs, {}, observed, settings, strict=False)
        if claims is None or not claims.leaks:
            break
    return claims


@dataclass(frozen=True, slots=True)
class Observed:
    """How a script ended, its numbers by their ways, and those of them that are in its functions.

    ``inside`` are all variables of its functions.
    """

    ended: Ended
    numbers: dict[str, Any]
    local: dict[str, Any]
    inside: dict[str, Any]

    def value(self, way: str) -> Any:
        """Return what is at the end of a way; None where nothing is."""
        try:
            return value_at({**self.inside, **self.ended.variables}, way) if WAY.fullmatch(way) else None
        except GradcliError:
            return None

    @property
    def is_long(self) -> bool:
        """Whether the script is too long to be run again and again where nobody has asked for it."""
        return self.ended.run.calls + self.ended.run.meter.turns > LONG

    def is_by_hand(self, way: str) -> bool:
        """Return whether a gradient is none that a derivative call of the script has returned or left."""
        value, calls = self.value(way), derivative_calls(self.ended)
        if way.endswith(".grad") and isinstance(self.value(way.removesuffix(".grad")), Tensor):
            return False
        returned = (np.asarray(one) for event in calls for one in event.returns if one is not None)
        return is_number(value) and not any(np.array_equal(as_doubles(value), one) for one in returned)

    def pair(self, value: str, gradient: str) -> Pair:
        """Return a pair by its names: an object that holds a number stands for its number."""
        if not isinstance(self.value(value), Instance):
            return Pair(value, gradient)
        data = next((way for way in (f"{value}.data", f"{value}.value") if is_number(self.value(way))), None)
        return Pair(value, gradient) if data is None else Pair(data, gradient, Pair(value, gradient))


def observe(text: str, settings: Mapping[str, Any]) -> Observed:
    """Run a script as it is; raises what it raises."""
    story = Story()
    story.parameters = True
    ended = run_script(text, story=story, **settings)
    if ended.refused is not None:
        raise ended.refused
    if ended.raised is not None:
        raise ScriptError(ended)
    inside = {
        name: value
        for name, value in story.last.items()
        if root_of(name) not in ended.variables and root_of(name) != "self"
    }
    loops = ended.run.frames[0][0].loops if ended.run.frames else frozenset()  # these name the last of many values
    numbers = numbers_of({name: value for name, value in ended.variables.items() if name not in loops})
    local = {way: value for way, value in numbers_of(inside).items() if way not in numbers}
    return Observed(ended, {**numbers, **local}, local, inside)


def trace_claims(
    text: str, of: str, pairs: list[Pair], typed: dict[str, Any], observed: Observed, settings: dict[str, Any],
    strict: bool,
) -> Claims | None:  # fmt: skip
    """Return the claims of a script with the program that they are held against, None where there are none.

    ``strict`` refuses a value that the output is not computed from, which is left out otherwise.
    """
    pairs = [entry for pair in pairs for entry in entries_of(pair, observed.value(pair.value))]
    slots = {SLOT.format(k): pair.gradient for k, pair in enumerate(pairs) if pair.gradient not in observed.local}
    watched = frozenset(name for pair in pairs for name in (pair.value, pair.gradient))

    def trace(ways: Iterable[str], always: bool = False, scoped: bool = True) -> ScriptProgram:
        traced = frozenset(ways)
        gradients = tuple(pair.gradient for pair in pairs if pair.value in traced)
        return program_of(
            text, -1, [], [], of=of, traced=traced, asked=slots, watched=watched, gradients=gradients, always=always,
            scoped=scoped, **settings,
        )  # fmt: skip

    ways = [*typed, *(pair.value for pair in pairs)]
    local = set() if strict else {way for way in ways if way in observed.local}
    # A function's own variables are others in each call: they are inputs only where nothing else is.
    followed = {way for way in ways if is_followed(observed.value(way))}
    outer, every = ([way for way in ways if way not in left_out] for left_out in (local | followed, followed))
    program, inputs = find_inputs(trace, outer)
    for candidates in (outer, every):
        if not program.ordinals and candidates:
            program, inputs = find_inputs(partial(trace, scoped=False), candidates)
    program.ended = observed.ended
    computed = {*ways} - {*inputs}
    variables = {way: program.input_of(way) for way in ways}
    if strict:
        missing = [way for way in ways if variables[way] is None and way not in computed]
        require_computed(of, missing, observed)
    by_input = {variable: pair for pair in pairs if (variable := variables[pair.value]) is not None}
    expected = {variable: item for way, item in typed.items() if (variable := variables[way]) is not None}
    inner = [pair for pair in pairs if pair.value in computed]
    if not by_input and not expected and not (strict and inner and program.inputs):
        return None
    by_text = {gradient: slot for slot, gradient in slots.items()}
    names = tuple(by_text.get(pair.gradient, pair.gradient) for pair in by_input.values())
    return Claims(program, of, by_input, inner, names, program.of_values(names), strict, expected)


def is_followed(value: Any) -> bool:
    """Return whether PyTorch computes a value from others which it differentiates by: it is none of the inputs."""
    return isinstance(value, Tensor) and value.library == "torch" and value.active and not value.leaf


def find_inputs(trace: Callable[..., ScriptProgram], ways: list[str]) -> tuple[ScriptProgram, list[str]]:
    """Return those of several values that are computed from none of the others, and the program by them.

    What runs under ``torch.no_grad()`` is recorded where nothing else is.
    """
    program, always = trace(ways), False
    if not program.ordinals:
        program, always = trace(ways, always=True), True
    inputs = [way for way in ways if way not in program.computed]
    return (program if not inputs or inputs == ways else trace(inputs, always)), inputs


def is_of_script(
    item: Any, text: str, observed: Observed, settings: Mapping[str, Any], free: Mapping[str, Any]
) -> bool:  # fmt: skip
    """Return whether what is expected is an expression that the script can evaluate at its end, or a local variable.

    ``free`` are the names that the script takes from outside: one that is none of them is unknown to it.
    """
    if not isinstance(item, str):
        return False
    if item in observed.local:
        return True
    slots, bounds = {SLOT.format(0): item}, settings["budget"]
    code, _ = compile_text(text, budget=bounds, asked=slots)
    if code.text.free(free).keys() - free.keys():
        return False
    return WAY.fullmatch(item) is not None or run_script(text, asked=slots, **settings).raised is None


def require_computed(of: str, missing: Sequence[str], observed: Observed) -> None:
    """Raise ``option`` for a gradient by what the output is not computed from, or what no line assigns."""
    for value in missing:
        if observed.value(value) is None:
            hint = did_you_mean(value, observed.numbers) or f"the script has {', '.join(list(observed.numbers)[:6])}"
            raise GradcliError("option", f"no line of the script assigns a number to '{value}'", hint=hint)
        raise GradcliError("option", f"'{of}' is not computed from '{value}'")


def value_of_text(text: str, numbers: Mapping[str, Any]) -> str | None:
    """Return the value that a gradient is by, as far as its name says; None where it does not."""
    stem = stem_of(text.strip())
    return None if stem is None else value_of_stem(stem, by_last_step(numbers), numbers)


def output_name(calls: Sequence[Any], numbers: Mapping[str, Any]) -> str | None:
    """Return the variable that a script differentiates, as far as its name or a call says."""
    if calls and calls[-1].output in numbers:
        return str(calls[-1].output)
    scalars = [name for name, value in numbers.items() if np.size(as_doubles(value)) == 1]
    return next((name for word in LOSSES for name in scalars if name.split(".")[0] == word), None)
