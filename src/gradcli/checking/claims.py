"""Which values of a script go together by their names: a value, and what the script calls the derivative by it.

Gradients that a script computes itself: which of its values are the derivative by which, and their numbers.
``dW1 = X.T @ dh`` says that dW1 is the derivative of the loss by W1. A claim is one such pair. It is evaluated as an
expression of the script at its end: in doubles, as the script has it, and in many digits, where the script runs again.
What is said of all gradients of a script: those by inner values too, and of a wrong one which is wrong first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any, cast

import numpy as np

from gradcli.checking.mistakes import Surroundings, find_mistake, squeezed
from gradcli.engine.graph import NODES, Graph, Node
from gradcli.engine.reverse import cotangents
from gradcli.errors import Budget, GradcliError
from gradcli.errors.hints import did_you_mean
from gradcli.exact.real import digits
from gradcli.exact.slopes import Exact
from gradcli.exact.work import ALL, FEWEST, Spent
from gradcli.explanation.checked import REVERSE, Entry, Expectation
from gradcli.explanation.evaluation import Function, filled
from gradcli.explanation.scripts import Asked, derivative_calls
from gradcli.language.program import Program
from gradcli.ops.declare import Array, value_of
from gradcli.records import dataclass, field
from gradcli.runner.reading import LOSSES, is_script
from gradcli.runner.replay import Reached, ScriptProgram, ancestors, as_tensor, program_of
from gradcli.runner.script import (
    Ended,
    ScriptError,
    Story,
    Version,
    compile_text,
    read_given,
    root_of,
    run_script,
    value_at,
)
from gradcli.runner.state import bounds_of
from gradcli.runner.values import Instance, Tensor

MOST_WAYS = 2_000
"""Values of a script among which pairs are looked for."""
DEEPEST = 3
"""Dots and brackets of their names."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A value of the script, and what the script says is the derivative by it: both as the script names them.

    ``whole`` is the pair that it is an entry of, where these are nested lists.
    """

    value: str
    gradient: str
    whole: Pair | None = None


STEMS = tuple(
    re.compile(pattern)
    for pattern in (
        r"d_?(?:L|J|E|C|loss|cost)_?d_?(\w+)", r"d_?(\w+)", r"grad_(?:of_|wrt_)?(\w+)", r"(\w+)_grad(?:ient)?",
        r"nabla_(\w+)", r"g_(\w+)", r"(\w+)_bar", r"(\w+)grad",
    )
)  # fmt: skip
"""What people call the derivative by a value, with the value's name."""
HOLDERS = re.compile(r"(?:.*_)?(?:d_?)?(?:g|grad|grads|gradients|nabla|derivatives|d_?params)(?:_.*)?", re.IGNORECASE)
"""What they call the table of all of them."""
LAST_STEP = re.compile(r"(.*?)(?:\.(\w+)|\[['\"](\w+)['\"]\])\Z", re.DOTALL)
WAY = re.compile(r"[A-Za-z_]\w*(?:\.\w+|\[(?:\d+|'\w+'|\"\w+\")\])*")
"""A variable, or what is in it."""
INDEX = re.compile(r"(?:\[\d+\])*\Z")
"""Which of a list's arrays a way leads to."""
PLURALS = {"w": "weights", "b": "biases", "W": "weights"}
"""What lists of values are called whose gradients have a short name: ``nabla_w`` is by ``weights``."""


def numbers_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is a number or an array of floats among variables, and in what they hold, each by its way.

    Nested lists of floats are arrays.
    """
    return dict(pair for _, pair in zip(range(MOST_WAYS), walk_numbers(values.items(), DEEPEST, set()), strict=False))


def walk_numbers(items: Iterable[tuple[str, Any]], depth: int, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """Yield the numbers among named values, then those in what these hold, each object once."""
    holders: list[tuple[str, Any]] = []
    for way, value in items:
        if is_number(value):
            yield way, value
            if isinstance(value, Tensor) and value.leaf and value.grad is not None:
                yield f"{way}.grad", value.grad
        elif isinstance(value, Instance | dict | list) and id(value) not in seen:
            seen.add(id(value))
            holders.append((way, value))
    for way, holder in holders if depth else ():
        yield from walk_numbers(parts_of(way, holder), depth - 1, seen)


def parts_of(way: str, holder: Any) -> list[tuple[str, Any]]:
    """Return what an object, a dictionary or a list holds, each by its way."""
    if isinstance(holder, Instance):
        fields = holder.fields.items()
        return [(f"{way}.{name}", part) for name, part in fields if name.isidentifier() and not name.startswith("_")]
    if isinstance(holder, dict):
        return [(f"{way}[{key!r}]", part) for key, part in holder.items() if isinstance(key, str)]
    return [(f"{way}[{k}]", part) for k, part in enumerate(holder)]


def is_number(value: Any) -> bool:
    """Return whether a value is a float, an array of floats, or nested lists of floats."""
    if isinstance(value, list):
        are_numbers = all(isinstance(item, list | float) and is_number(item) for item in value)
        return are_numbers and len({np.shape(item) for item in value}) == 1
    return type(value) is float or (isinstance(value, Tensor) and value.dtype.startswith(("float", "bfloat")))


def pairs_of_entries(pair: Pair, value: Any) -> list[Pair]:
    """Return a pair of nested lists as the pairs of their entries, any other as it is."""
    if not isinstance(value, list):
        return [pair]
    places = ["".join(f"[{k}]" for k in place) for place in np.ndindex(np.shape(as_doubles(value)))]
    gradient = pair.gradient if WAY.fullmatch(pair.gradient) else f"({pair.gradient})"
    return [Pair(f"{pair.value}{place}", f"{gradient}{place}", pair) for place in places]


@dataclass(frozen=True, slots=True)
class Stem:
    """By which value a way is the derivative, as far as its name says: what holds that, its name, and an index."""

    holder: str
    name: str
    index: str = ""


def stem_of(way: str) -> Stem | None:
    """Return by which value a way is the derivative; None where its name says nothing.

    >>> [str(stem_of(way)) for way in ("dW1", "grads['W1']", "layer.dW")]
    ["Stem(holder='', name='W1', index='')", "Stem(holder='', name='W1', index='')", \
"Stem(holder='layer.', name='W', index='')"]
    >>> stem_of("x.grad"), stem_of("nabla_w[0]"), stem_of("scores")
    (Stem(holder='x.', name='data', index=''), Stem(holder='', name='w', index='[0]'), None)
    """
    index = way[INDEX.search(way).start() :]  # type: ignore[union-attr] # it matches at the end
    step = LAST_STEP.match(way.removesuffix(index))
    holder, name = (step[1], step[2] or step[3]) if step else ("", way.removesuffix(index))
    if step is not None and step[2] == "grad":
        return Stem(f"{holder}.", "data", index)
    stem = next((match[1] for pattern in STEMS if (match := pattern.fullmatch(name))), None)
    if step is not None and step[3] and HOLDERS.fullmatch(holder.rpartition(".")[2]):
        return Stem("", stem or name, index)
    return None if stem is None else Stem(f"{holder}." if step is not None and step[2] else "", stem, index)


def find_pairs(ways: Sequence[str], numbers: Mapping[str, Any]) -> list[Pair]:
    """Return the pairs of values whose names say that one is the derivative by the other.

    Of several ways to a value of one name the first counts. The same two values by other names, as a loop's variables
    are, count once.
    """
    by_name = by_last_step(ways)
    pairs: dict[str, Pair] = {}
    for way in ways:
        stem = stem_of(way)
        value = None if stem is None else value_of_stem(stem, by_name, numbers)
        if value is not None and value != way:
            pairs.setdefault(value, Pair(value, way))
    first: dict[tuple[int, int], Pair] = {}
    for pair in sorted(pairs.values(), key=lambda pair: ways.index(pair.value)):
        first.setdefault((id(numbers[pair.value]), id(numbers[pair.gradient])), pair)
    return list(first.values())


def by_last_step(ways: Iterable[str]) -> dict[str, list[str]]:
    """Return ways by the name at their end, with the index behind it."""
    by_name: dict[str, list[str]] = {}
    for way in ways:
        index = way[INDEX.search(way).start() :]  # type: ignore[union-attr] # it matches at the end
        step = LAST_STEP.match(way.removesuffix(index))
        by_name.setdefault(f"{step[2] or step[3]}{index}" if step else way, []).append(way)
    return by_name


def ways_beside(stem: Stem) -> tuple[str, ...]:
    """Return what an attribute may be the gradient by: ``layer.W``, and of ``x.grad`` the tensor itself or its data."""
    whole = f"{stem.holder}{stem.name}{stem.index}"
    return (whole, f"{stem.holder}value", stem.holder[:-1]) if stem.name == "data" else (whole,)


def value_of_stem(stem: Stem, by_name: Mapping[str, list[str]], numbers: Mapping[str, Any]) -> str | None:
    """Return the value that a gradient is by: beside it, else the first way to one of its name."""
    if stem.holder:
        return next((way for way in ways_beside(stem) if way in numbers), None)
    names = (stem.name, stem.name.swapcase() if len(stem.name) == 1 else "", PLURALS.get(stem.name, ""))
    ways = (way for name in names for way in by_name.get(f"{name}{stem.index}", ()))
    return next((way for way in ways if stem_of(way) is None), None)


def as_doubles(value: Any) -> Array:
    """Return a number, an array of a script or nested lists as doubles."""
    return np.asarray(value.value if isinstance(value, Tensor) else value, dtype=np.float64)


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
        at = self.at or {}
        is_same = at.keys() == point.keys() and all(np.array_equal(value, point[name]) for name, value in at.items())
        if self.reached is None or not is_same:
            ordinals = self.gradients.ordinals
            values = {ordinals[name]: value for name, value in point.items() if name in ordinals}
            self.reached, self.at = self.gradients.reach(Graph(self.program.budget), values), point
            self.exact = None
            with digits(60), suppress(Spent, GradcliError):
                self.exact = Exact(cast("Program", self.gradients), dict(point), list(self.by_input)).values()
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
    settings = read_given(text, values, asked.wrt, seed=asked.seed, budget=bounds)
    observed = observe(text, settings)
    calls = derivative_calls(observed.ended)
    of = asked.of or output_name(calls, observed.numbers)
    of = of if of is None else observed.pair(of, "").value
    if of is None or (asked.of is None and ((calls and calls[-1].v is not None) or observed.is_long)):
        return None
    if isinstance(expect, str):
        stem = stem_of(expect.strip())
        named = stem and value_of_stem(stem, by_last_step(observed.numbers), observed.numbers)
        value = asked.wrt[0] if len(asked.wrt) == 1 else named
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
    variables = {**ended.run.given, **ended.variables}
    numbers = numbers_of({name: value for name, value in variables.items() if name not in loops})
    local = {way: value for way, value in numbers_of(inside).items() if way not in numbers}
    return Observed(ended, {**numbers, **local}, local, inside)


def trace_claims(
    text: str, of: str, pairs: list[Pair], typed: dict[str, Any], observed: Observed, settings: dict[str, Any],
    strict: bool,
) -> Claims | None:  # fmt: skip
    """Return the claims of a script with the program that they are held against, None where there are none.

    ``strict`` refuses a value that the output is not computed from, which is left out otherwise.
    """
    pairs = [entry for pair in pairs for entry in pairs_of_entries(pair, observed.value(pair.value))]
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
    # A function's own variables are others in each call: they are inputs only where nothing else is. What PyTorch
    # computes from others which it differentiates by is none.
    tensors = {way: value for way in ways if isinstance(value := observed.value(way), Tensor)}
    followed = {way for way, x in tensors.items() if x.library == "torch" and x.active and not x.leaf}
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


def output_name(calls: Sequence[Any], numbers: Mapping[str, Any]) -> str | None:
    """Return the variable that a script differentiates, as far as its name or a call says."""
    if calls and calls[-1].output in numbers:
        return str(calls[-1].output)
    scalars = [name for name, value in numbers.items() if np.size(as_doubles(value)) == 1]
    return next((name for word in LOSSES for name in scalars if name.split(".")[0] == word), None)


def judge_claims(
    claims: Claims, point: Mapping[str, Any], seed: Array, expected: list[Expectation]
) -> list[Expectation]:
    """Return what is said of all gradients of a script in the order in which it computed them, those inside too.

    Of a wrong one it is said which is wrong first. A gradient inside on which a right one depends, or that is found
    by its name where all others are right, stands for something else, such as the cotangent before a division by n: it
    is left out.
    """
    inner = judge_inner(claims, point, seed)
    variables = {pair.value: variable for variable, pair in claims.by_input.items()}
    typed = [one for one in expected if one.variable not in variables]
    expected = [one for one in expected if one.variable in variables]
    nodes = {
        one.variable: frozenset(node.index for node in ancestors(claims.tensor(point, variables[one.variable]).node))
        for one in expected
    }
    trusted = [nodes[one.variable] for one in expected if one.verdict == "right"]
    if not claims.asked_for:
        output = getattr(value_at(claims.reach(point).run.story.last, claims.of), "node", None)
        forward = frozenset(node.index for node in ancestors(output) if node.active or node.op is not None)
        expected = [one for one in expected if one.verdict == "right" or is_meant(one, nodes, trusted, forward)]
    settled = frozenset().union(*(one.nodes for one in inner if one.right))  # a name may stand for a right one's value
    suspects = [one for one in inner if not one.right and not any(one.nodes - settled & used for used in trusted)]
    wrong = suspects if len(trusted) < len(expected) else [one for one in suspects if claims.asked_for]
    placed = [(max(nodes[one.variable], default=-1), one) for one in expected]
    placed = [
        (place, replace(one, first_wrong=first_wrong(claims, wrong, nodes[one.variable], variables[one.variable])))
        if one.verdict == "wrong"
        else (place, one)
        for place, one in placed
    ]
    placed += [(max(one.nodes, default=-1), inner_expectation(one)) for one in inner if one.right or one in wrong]
    return typed + as_wholes(claims, [one for _, one in sorted(placed, key=lambda item: item[0])])


def as_wholes(claims: Claims, expected: list[Expectation]) -> list[Expectation]:
    """Return what is said of entries of nested lists as what is said of the lists."""
    wholes = {pair.value: pair.whole for pair in claims.by_input.values() if pair.whole is not None}
    merged: dict[str, Expectation] = {}
    for one in expected:
        whole = wholes.get(one.variable)
        if whole is None:
            merged[one.variable] = one
            continue
        entry = replace(one, variable=whole.value, text=whole.gradient, entry=one.variable.removeprefix(whole.value))
        if entry.first_wrong == one.text:
            entry = replace(entry, first_wrong=whole.gradient)
        before = merged.get(whole.value)
        merged[whole.value] = entry if before is None else before.beside(entry)
    return list(merged.values())


def is_meant(
    one: Expectation, nodes: Mapping[str, frozenset[int]], trusted: Sequence[frozenset[int]], forward: frozenset[int]
) -> bool:
    """Return whether a gradient that is wrong, and was found by its name alone, is one of the output.

    A right one is not computed from it, and that of an object from what the output is: 0 was there before.
    """
    end = max(nodes[one.variable], default=-1)
    if any(end in used for used in trusted):
        return False
    return bool(nodes[one.variable] & forward) or not one.variable.endswith((".data", ".value"))


def inner_expectation(one: InnerGradient) -> Expectation:
    """Return what is said of the gradient by an inner value."""
    claim, truth = one.claim, one.truth
    count, worst, mistake = max(1, claim.size), None, ""
    wrong = 0 if one.right else count
    if not one.right and claim.shape == truth.shape:
        at = np.unravel_index(int(np.argmax(np.abs(claim - truth))), claim.shape)
        value, gradient = one.pair.value, one.pair.gradient
        column = f"{value}{list(map(int, at)) if claim.shape else ''}".replace(" ", "")
        values = float(claim[at]), float(truth[at]) + 0.0  # no -0
        bound = 10**-FEWEST * np.max(np.abs(truth))
        wrong = int(np.sum(~(np.abs(claim - truth) <= bound)))  # nan is wrong too
        worst = Entry(value, "", column, (gradient, REVERSE), values, one.digits, 0.0)
        mistake = find_mistake(claim, truth, Surroundings(np.zeros(())))
    misfit = "" if claim.shape == truth.shape else f"has shape {claim.shape} and truly {truth.shape}"
    return Expectation(
        one.pair.value, one.pair.gradient, one.digits, count, wrong, 0, worst, mistake,
        misfit=misfit, inner=True, points=int(not one.right),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class InnerGradient:
    """What a script says is the derivative by an inner value, beside the cotangent that comes nearest to it.

    ``nodes`` are those that it was.
    """

    pair: Pair
    claim: Array
    truth: Array
    digits: float
    nodes: frozenset[int]

    @property
    def right(self) -> bool:
        """Whether it is the derivative."""
        return self.digits >= FEWEST


def judge_inner(claims: Claims, point: Mapping[str, Any], seed: Array) -> list[InnerGradient]:
    """Return which inner gradients are the cotangents of reverse mode, in the order in which they were computed.

    A name may have several values, as in a loop: those count that it was given after the last value that it is by.
    """
    reached = claims.reach(point)
    story = reached.run.story
    output = value_at(story.last, claims.of)
    kept: dict[int, Any] = {}
    if not (isinstance(output, Tensor) and type(output.node) in NODES and output.active):
        return []
    kept |= cotangents(reached.graph, output.node, seed, kept)
    judged = []
    for pair in claims.inner:
        one = judge_pair(story, pair, kept)
        if one is not None:
            judged.append(one)
        elif claims.asked_for:
            message = f"'{claims.of}' is not computed from '{pair.value}', or no line assigns {pair.gradient} to a name"
            raise GradcliError("option", message, hint="by a value in between, expect a name that a line assigns")
    return sorted(judged, key=lambda one: min(one.nodes, default=-1))


def judge_pair(story: Story, pair: Pair, cotangents: Mapping[int, Any]) -> InnerGradient | None:
    """Return whether the values of a name are cotangents of the value that it is by; None where there are none."""
    values = versions_of(story, pair.value)
    truths = [np.asarray(cotangents[k]) for version in values for k in nodes_of(version) if k in cotangents]
    forward = max((v.order for v in values if any(k in cotangents for k in nodes_of(v))), default=-1)
    versions = versions_of(story, pair.gradient)
    versions = [version for version in versions if version.order > forward] or versions[-1:]
    if not truths or not versions:
        return None
    nearest = [nearest_truth(version, truths) for version in versions]
    right = [version for version, one in zip(versions, nearest, strict=True) if one[0] >= FEWEST]
    used = {node.index for version in right for node in ancestors(getattr(version.value, "node", None))}
    wrong = [
        (one, version)
        for version, one in zip(versions, nearest, strict=True)
        if one[0] < FEWEST and not any(k in used for k in nodes_of(version))  # a part of a sum that is right
    ]
    if not wrong:
        count, claim, truth = min(nearest, key=lambda one: one[0] if one[0] >= FEWEST else ALL)
        return InnerGradient(pair, claim, truth, count, frozenset(k for v in versions for k in nodes_of(v)))
    (count, claim, truth), _ = wrong[0]
    return InnerGradient(pair, claim, truth, count, frozenset(k for _, version in wrong for k in nodes_of(version)))


def nearest_truth(version: Version, truths: Sequence[Array]) -> tuple[float, Array, Array]:
    """Return how many digits a gradient has right beside the cotangent that is nearest, and both."""
    numbers = [as_doubles(version.value)]
    if version.node is not None:
        numbers.append(np.asarray(value_of(version.node), dtype=np.float64))
    versus = [(right_digits_of(claim, truth), claim, truth) for claim in numbers for truth in truths]
    return max(versus, key=lambda one: (one[0], one[1].shape == one[2].shape))


def nodes_of(version: Version) -> list[int]:
    """Return the nodes of a value: as it was assigned, and as it was written to."""
    later = version.value.node if isinstance(version.value, Tensor) else None
    return [node.index for node in (version.node, later) if isinstance(node, Node)]


def versions_of(story: Story, name: str) -> list[Version]:
    """Return the values that a variable had, or what is at the end of a way."""
    if name in story.versions:
        return list(story.versions[name])
    with suppress(GradcliError):
        return [Version(0, value_at(story.last, name), None)]
    return []


def right_digits_of(claim: Array, truth: Array) -> float:
    """Return how many digits of a gradient are right, beside its largest entry."""
    if squeezed(claim.shape) == squeezed(truth.shape):
        claim = claim.reshape(truth.shape)
    if claim.shape != truth.shape or not np.all(np.isfinite(claim)):
        return 0.0
    size = float(np.max(np.abs(truth), initial=0.0))
    error = float(np.max(np.abs(claim - truth), initial=0.0))
    return ALL if not error else min(ALL, max(0.0, -float(np.log10(error / size)))) if size else 0.0


def first_wrong(claims: Claims, wrong: Sequence[InnerGradient], before: frozenset[int], variable: str) -> str:
    """Return the first gradient that is wrong on the way to a wrong one by an input: an inner one, else itself.

    ``before`` are the nodes that it is computed from, none where it is a constant of the graph.
    """
    on_the_way = (one.pair.gradient for one in wrong if not before or not one.nodes or one.nodes & before)
    return next(on_the_way, claims.by_input[variable].gradient)
