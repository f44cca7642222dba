"""Gradients that a script computes itself: which of its values are the derivative by which, and their numbers.

``dW1 = X.T @ dh`` says that dW1 is the derivative of the loss by W1. A claim is one such pair. It is evaluated as an
expression of the script at its end: in doubles, as the script has it, and in many digits, where the script runs again.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gradcli.engine.graph import NODES, Graph, Node
from gradcli.engine.reverse import cotangents
from gradcli.errors import Budget, GradcliError
from gradcli.errors.suggest import did_you_mean
from gradcli.exact.decimals import digits
from gradcli.exact.slopes import Exact
from gradcli.exact.thresholds import ALL, FEWEST
from gradcli.exact.work import Spent
from gradcli.explanation.evaluation import Function, filled
from gradcli.explanation.scripts import LOSSES, Asked, derivative_calls
from gradcli.ops.declare import Array, value_of
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

MOST_WAYS = 2_000
"""Values of a script among which pairs are looked for."""
DEEPEST = 3
"""Dots and brackets of their names."""
SLOT = "value {}"
"""The variable of an expression that is evaluated at the end of a script: no name of Python's."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A value of the script, and what the script says is the derivative by it: both as the script names them.

    ``whole`` is the pair that it is an entry of, where these are nested lists.
    """

    value: str
    gradient: str
    whole: Pair | None = None


# ---- names that go together
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
    return dict(pair for _, pair in zip(range(MOST_WAYS), walk(values.items(), DEEPEST, set()), strict=False))


def walk(items: Iterable[tuple[str, Any]], depth: int, seen: set[int]) -> Iterator[tuple[str, Any]]:
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
        yield from walk(parts_of(way, holder), depth - 1, seen)


def parts_of(way: str, holder: Any) -> list[tuple[str, Any]]:
    """Return what an object, a dictionary or a list holds, each by its way."""
    if isinstance(holder, Instance):
        return [(f"{way}.{name}", part) for name, part in holder.fields.items() if not name.startswith("__")]
    if isinstance(holder, dict):
        return [(f"{way}[{key!r}]", part) for key, part in holder.items() if isinstance(key, str)]
    return [(f"{way}[{k}]", part) for k, part in enumerate(holder)]


def is_number(value: Any) -> bool:
    """Return whether a value is a float, an array of floats, or nested lists of floats."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, list | float) and is_number(item) for item in value)
    return type(value) is float or (isinstance(value, Tensor) and value.dtype.startswith(("float", "bfloat")))


def entries_of(pair: Pair, value: Any) -> list[Pair]:
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


# ---- a script and what it says
@dataclass(slots=True)
class Claims:
    """What a script says of its gradients: of inputs, by their names in ``program``, and of inner values.

    ``names`` are what the gradients by inputs are read from at the end of the script. ``gradients`` is the program
    whose output they are, end to end, ``of`` the output that they are the derivatives of. ``named`` are pairs
    inside that the user asked for. ``typed`` is what is expected
    by inputs and is nothing of the script's: formulas of the language and arrays.
    """

    program: ScriptProgram
    of: str
    by_input: dict[str, Pair]
    inner: list[Pair]
    names: tuple[str, ...]
    gradients: ScriptProgram
    named: list[Pair] = field(default_factory=list)
    typed: dict[str, Any] = field(default_factory=dict)
    reached: Reached | None = None
    at: Mapping[str, Any] | None = None
    exact: list[Decimal] | None = None

    @property
    def function(self) -> Function:
        """The output as a function of the inputs that something is expected by."""
        return Function.of_program(self.program, dict.fromkeys([*self.by_input, *self.typed]))

    @property
    def leaks(self) -> bool:
        """Whether the output is computed from one of the gradients: an update of an input was not seen as one."""
        reached = self.reach(filled(self.program, {}))
        last = reached.run.story.last
        output = value_at(last, self.of)
        before = {node.index for node in ancestors(output.node)} if isinstance(output, Tensor) else set()
        return bool(before & reached.run.story.gradient_nodes)

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
    if not isinstance(text, str) or not (is_script(text) or (asked.of is not None and "\n" in text.strip())):
        return None
    if not isinstance(expect, str | Mapping) and expect:
        return None
    bounds = bounds_of(budget or Budget())
    free = compile_text(text, budget=bounds)[0].text.free(values)
    if free.keys() - values.keys():
        return None
    settings: dict[str, Any] = {
        "seed": asked.seed, "given": {name: value for name, value in values.items() if name in free},
        "others": {name: value for name, value in values.items() if name not in free}, "budget": bounds,
    }  # fmt: skip
    observed = observe(text, settings)
    calls = derivative_calls(observed.ended)
    of = asked.of or output_name(calls, observed.numbers)
    of = of if of is None else observed.pair(of, "").value
    if of is None or (asked.of is None and calls and (not expect or calls[-1].v is not None)):
        return None
    if isinstance(expect, str):
        expect = {value_of_text(expect, observed.numbers): expect}
    typed = {way: item for way, item in (expect or {}).items() if not is_of_script(item, text, observed.local, bounds)}
    if expect:
        pairs = [observed.pair(way, item) for way, item in expect.items() if way not in typed]
        return trace_claims(text, of, pairs, typed, observed, settings, strict=True)
    claims = None
    for ways in (list(observed.numbers), list(observed.numbers)[::-1]):
        ways.sort(key=lambda way: way in observed.local)
        pairs = [pair for pair in find_pairs(ways, observed.numbers) if pair.value != of]
        pairs = [pair for pair in pairs if not asked.wrt or pair.value in asked.wrt]
        claims = trace_claims(text, of, pairs, typed, observed, settings, strict=False)
        if claims is None or not claims.leaks:
            break
    return claims


@dataclass(frozen=True, slots=True)
class Observed:
    """How a script ended, its numbers by their ways, and those of them that are variables of its functions."""

    ended: Ended
    numbers: dict[str, Any]
    local: dict[str, Any]

    def value(self, way: str) -> Any:
        """Return what is at the end of a way; None where nothing is."""
        try:
            return value_at({**self.local, **self.ended.variables}, way) if WAY.fullmatch(way) else None
        except GradcliError:
            return None

    def pair(self, value: str, gradient: str) -> Pair:
        """Return a pair by its names: an object that holds a number stands for its number."""
        if not isinstance(self.value(value), Instance):
            return Pair(value, gradient)
        data = next((way for way in (f"{value}.data", f"{value}.value") if is_number(self.value(way))), None)
        return Pair(value, gradient) if data is None else Pair(data, gradient, Pair(value, gradient))


def observe(text: str, settings: Mapping[str, Any]) -> Observed:
    """Run a script as it is; raises what it raises."""
    story = Story()
    ended = run_script(text, story=story, **settings)
    if ended.refused is not None:
        raise ended.refused
    if ended.raised is not None:
        raise ScriptError(ended)
    local = {
        name: value
        for name, value in story.last.items()
        if root_of(name) not in ended.variables and not name.startswith("self.") and is_number(value)
    }
    return Observed(ended, numbers_of({**ended.variables, **local}), local)


def trace_claims(
    text: str, of: str, pairs: list[Pair], typed: dict[str, Any], observed: Observed, settings: dict[str, Any],
    strict: bool,
) -> Claims | None:  # fmt: skip
    """Return the claims of a script with the program that they are held against, None where there are none.

    ``strict`` refuses a value that the output is not computed from, which is left out otherwise.
    """
    pairs = [entry for pair in pairs for entry in entries_of(pair, observed.value(pair.value))]
    slots = {SLOT.format(k): pair.gradient for k, pair in enumerate(pairs) if pair.gradient not in observed.local}
    gradients = tuple(pair.gradient for pair in pairs)
    watched = frozenset([*gradients, *(pair.value for pair in pairs)])

    def trace(ways: Iterable[str], always: bool = False) -> ScriptProgram:
        return program_of(
            text, -1, [], [], of=of, traced=frozenset(ways), asked=slots, watched=watched, gradients=gradients,
            always=always, **settings,
        )  # fmt: skip

    ways = [*typed, *(pair.value for pair in pairs)]
    local = set() if strict else {way for way in ways if way in observed.local}
    # A function's own variables are others in each call: they are inputs only where nothing else is.
    program, inputs = find_inputs(trace, [way for way in ways if way not in local])
    if not program.ordinals and local:
        program, inputs = find_inputs(trace, ways)
    program.ended = observed.ended
    computed = {*ways} - {*inputs}
    variables = {way: program.input_of(way) for way in ways}
    if strict:
        missing = [way for way in ways if variables[way] is None and way not in computed]
        require_computed(of, missing, observed)
    by_input = {variable: pair for pair in pairs if (variable := variables[pair.value]) is not None}
    expected = {variable: item for way, item in typed.items() if (variable := variables[way]) is not None}
    if not by_input and not expected:
        return None
    by_text = {gradient: slot for slot, gradient in slots.items()}
    names = tuple(by_text.get(pair.gradient, pair.gradient) for pair in by_input.values())
    inner = [pair for pair in pairs if pair.value in computed]
    named = inner if strict else []
    return Claims(program, of, by_input, inner, names, program.of_values(names), named, expected)


def find_inputs(trace: Callable[..., ScriptProgram], ways: list[str]) -> tuple[ScriptProgram, list[str]]:
    """Return those of several values that are computed from none of the others, and the program by them.

    What runs under ``torch.no_grad()`` is recorded where nothing else is.
    """
    program, always = trace(ways), False
    if not program.ordinals:
        program, always = trace(ways, always=True), True
    inputs = [way for way in ways if way not in program.computed]
    return (program if not inputs or inputs == ways else trace(inputs, always)), inputs


def is_of_script(item: Any, text: str, local: Mapping[str, Any], budget: Budget) -> bool:
    """Return whether what is expected is an expression that the script can evaluate at its end, or a local variable."""
    if not isinstance(item, str):
        return False
    if item in local:
        return True
    plain, _ = compile_text(text, budget=budget)
    code, _ = compile_text(text, budget=budget, asked={SLOT.format(0): item})
    return not code.text.free().keys() - plain.text.free().keys()


def require_computed(of: str, missing: Sequence[str], observed: Observed) -> None:
    """Raise ``option`` for a gradient by what the output is not computed from, or what no line assigns."""
    for value in missing:
        if observed.value(value) is None:
            hint = did_you_mean(value, observed.numbers) or f"the script has {', '.join(list(observed.numbers)[:6])}"
            raise GradcliError("option", f"no line of the script assigns a number to '{value}'", hint=hint)
        raise GradcliError("option", f"'{of}' is not computed from '{value}'")


def value_of_text(text: str, numbers: Mapping[str, Any]) -> str:
    """Return the value that a gradient is by, as far as its name says; raises ``option`` where it does not."""
    stem = stem_of(text.strip())
    value = None if stem is None else value_of_stem(stem, by_last_step(numbers), numbers)
    if value is None:
        raise GradcliError("option", "--expect must say by which variable", hint=f"--expect NAME={shlex.quote(text)}")
    return value


def output_name(calls: Sequence[Any], numbers: Mapping[str, Any]) -> str | None:
    """Return the variable that a script differentiates, as far as its name or a call says."""
    if calls and calls[-1].output in numbers:
        return str(calls[-1].output)
    scalars = [name for name, value in numbers.items() if np.size(as_doubles(value)) == 1]
    return next((name for word in LOSSES for name in scalars if name.split(".")[0] == word), None)


def as_doubles(value: Any) -> Array:
    """Return a number, an array of a script or nested lists as doubles."""
    return np.asarray(value.value if isinstance(value, Tensor) else value, dtype=np.float64)


# ---- inner values
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

    A name may have several values, as in a loop: one that fits is enough.
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
        truths = [np.asarray(kept[k]) for k in nodes_of(story, pair.value) if k in kept]
        versions = list(numbers_at(story, pair.gradient))
        if truths and versions:
            nodes = frozenset(nodes_of(story, pair.gradient))
            versus = [(right_digits_of(claim, truth), claim, truth) for claim in versions for truth in truths]
            count, claim, truth = max(versus, key=lambda one: (one[0], one[1].shape == one[2].shape))
            judged.append(InnerGradient(pair, claim, truth, count, nodes))
    return sorted(judged, key=lambda one: min(one.nodes, default=-1))


def nodes_of(story: Story, name: str) -> Iterator[int]:
    """Yield the nodes of the values that a variable had, as they were assigned and as they were written to."""
    for value, before in versions_of(story, name):
        later = value.node if isinstance(value, Tensor) else None
        yield from (node.index for node in (before, later) if isinstance(node, Node))


def versions_of(story: Story, name: str) -> Iterator[tuple[Any, Any]]:
    """Yield the values that a variable had, or what is at the end of a way, each with the node that it had at first."""
    if name in story.versions:
        yield from ((version.value, version.node) for version in story.versions[name])
        return
    with suppress(GradcliError):
        yield value_at(story.last, name), None


def numbers_at(story: Story, name: str) -> Iterator[Array]:
    """Yield the values that a variable had, as they were assigned and as they were written to."""
    for value, before in versions_of(story, name):
        yield as_doubles(value)
        if before is not None:
            yield np.asarray(value_of(before), dtype=np.float64)


def right_digits_of(claim: Array, truth: Array) -> float:
    """Return how many digits of a gradient are right, beside its largest entry."""
    if claim.shape != truth.shape or not np.all(np.isfinite(claim)):
        return 0.0
    size = float(np.max(np.abs(truth), initial=0.0))
    error = float(np.max(np.abs(claim - truth), initial=0.0))
    return ALL if not error else min(ALL, max(0.0, -float(np.log10(error / size)))) if size else 0.0


def ways_to(claims: Claims, point: Mapping[str, Any], variable: str) -> frozenset[int]:
    """Return the nodes that the gradient by an input is computed from, and its own."""
    return frozenset(node.index for node in ancestors(claims.tensor(point, variable).node))


def first_wrong(claims: Claims, wrong: Sequence[InnerGradient], before: frozenset[int], variable: str) -> str:
    """Return the first gradient that is wrong on the way to a wrong one by an input: an inner one, else itself.

    ``before`` are the nodes that it is computed from, none where it is a constant of the graph.
    """
    on_the_way = (one.pair.gradient for one in wrong if not before or one.nodes & before)
    return next(on_the_way, claims.by_input[variable].gradient)
