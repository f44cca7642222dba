"""Whole programs: a text checked once, to be evaluated at many points, and the values that it computes on its way."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from gradcli.engine.graph import Graph, LeanGraph, Node
from gradcli.errors import Budget, GivenUp, GradcliError, Place, Span, over_budget
from gradcli.errors.hints import OwnInput, did_you_mean
from gradcli.language import arithmetic
from gradcli.language.compiling import FRAMES, Assigned, Evaluate, Frame
from gradcli.language.source import Spans, assigned, parse
from gradcli.language.statements import Statements, load_of
from gradcli.ops.declare import tensor
from gradcli.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class Program:
    """A checked program: its text, the variables that it needs from outside, and what evaluates it over a frame.

    ``branches`` says that it takes one way or another by values, ``writes`` that it writes to values in place. A
    formula of an answer may be a condition: ``truths`` says that the output may be one. A script says by which inputs
    to differentiate (``wrt``), a formula by all of them. Of a program up to one of its values, ``beside`` are the
    variables of the lines that are left out.
    """

    place: Place
    inputs: dict[str, Span]
    output: Evaluate
    template: Frame
    variables: dict[str, int]
    output_span: Span
    budget: Budget
    result: str | None
    last: Assigned | None
    branches: bool
    writes: bool
    wrt: tuple[str, ...] | None = None
    truths: bool = False
    is_script: bool = False
    beside: frozenset[str] = frozenset()

    def evaluate(
        self,
        values: Mapping[str, object],
        wrt: frozenset[str],
        record: bool = True,
        strict: bool = False,
        graph: Graph | None = None,
    ) -> tuple[Graph, Any, dict[str, Node]]:
        """Run the program and return its graph, its output and the nodes of its inputs.

        ``values`` has an array for each name of ``inputs``; ``strict`` refuses what only one library answers;
        ``graph`` is an empty one to run on, of another kind of arithmetic for example. Raises what a step raises, with
        its place.
        """
        if graph is None:
            graph = Graph(self.budget, strict, story=[]) if record else LeanGraph(self.budget, strict)
        graph.variables, graph.result = self.variables, self.result
        graph.branches = self.branches
        registers = self.frame(graph)
        for name in self.inputs:
            kept = record or name in wrt
            value = values[name] if kept else np.asarray(values[name])
            if self.writes and not kept:
                value = tensor(np.array(value))
            leaf = graph.input(name, value, name in wrt)
            registers[self.variables[name]] = leaf if kept else value
        try:
            with np.errstate(all="ignore"):
                output = arithmetic.as_output(self.run(registers), self.truths)
            if graph.story is not None and self.last is not None:
                graph.story.append((self.last, output, len(graph.bindings)))
            constant = not (isinstance(output, Node) and output.active)
            if graph.writes or graph.broken or constant:
                from gradcli.language.torch_refusals import remark_backward, remark_constant

                remark_backward(graph, output)
                if constant and any(leaf.active for leaf in graph.inputs.values()):
                    remark_constant(graph)
        except MemoryError:
            message, hint = "the program needs more memory than there is", "make it smaller"
            raise GivenUp("budget", message, hint=hint, place=self.place) from None
        except GradcliError as error:
            raise error.at(self.output_span, self.place) from None
        return graph, output, {**graph.inputs}

    def frame(self, graph: Graph) -> Frame:
        """Return a frame for a run on a graph, which is to be given the values of the inputs."""
        frame = list(self.template)
        frame[0] = graph
        return frame

    def run(self, frame: Frame) -> Any:
        """Run the program over a frame and return its output, which may be anything."""
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, FRAMES))
        try:
            return self.output(frame)
        finally:
            sys.setrecursionlimit(limit)


BRANCHES = {ast.If, ast.IfExp, ast.While, ast.BoolOp}
"""Syntax that takes one way or another."""


def compile_program(
    text: str, budget: Budget | None = None, given: frozenset[str] = frozenset(), expression: bool = False
) -> Program:
    """Check a program and return it ready to run.

    ``given`` are names that are variables even where the language has a constant or a function of that name, or where
    a branch that may not run assigns them; ``expression`` refuses all but one expression, with ``value``.
    Raises ``syntax``, ``not-allowed``, ``unknown-function`` and the like, each with its place.
    """
    bounds = budget or Budget()
    tree, place = parse(text, bounds)
    parts = [type(part) for part in ast.walk(tree)]
    if len(parts) > bounds.syntax:
        raise over_budget("syntax", bounds.syntax, "the program has too many parts").at(None, place)
    compiler, last = Statements(tree, place, bounds.depth, given), tree.body[-1]
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, FRAMES))
    try:
        if expression:
            require_expression(tree, compiler)
        output, result = whole(compiler, tree.body), own_result(tree, last)
    except GradcliError as error:
        raise error.at(None, place) from None
    finally:
        sys.setrecursionlimit(limit)
    return Program(
        place,
        compiler.free,
        output,
        compiler.template,
        compiler.variables,
        compiler.spans.of(last),
        bounds,
        result,
        Assigned("", compiler.writer.said(last.value)) if isinstance(last, ast.Expr) else None,
        not BRANCHES.isdisjoint(parts),
        compiler.writes,
    )


def require_expression(tree: ast.Module, compiler: Statements) -> None:
    """Raise ``value`` for the first statement that is not the one expression that a value is."""
    for number, statement in enumerate(tree.body):
        if number or not isinstance(statement, ast.Expr):
            what = "a value is one expression, and no statement"
            hint = None
            if isinstance(statement, ast.Assign):
                what = "a value is one expression, and no assignment"
                hint = "write what stands after the ="
            raise GradcliError("value", what, span=compiler.spans.of(statement), hint=hint)


def whole(compiler: Statements, body: list[ast.stmt]) -> Evaluate:
    """Return what runs all statements of a program and gives its output."""
    *first, last = body
    if isinstance(last, ast.Expr):
        before, output = compiler.runner(compiler.block(first)), compiler.expression(last.value)
        compiler.writer.texts.pop(compiler.spans.of(last.value), None)  # a write that is the output is told as it is
    else:
        before, target = compiler.runner(compiler.block(body)), last_target(last)
        if target is None:
            raise GradcliError(
                "syntax",
                "the last statement must be an expression or assign a variable: it is the output",
                span=compiler.spans.of(last),
                hint="add the variable to show as the last line",
            )
        output = compiler.expression(load_of(target.id, target))

    def run(regs: Frame) -> Any:
        before(regs)
        return output(regs)

    return run


def last_target(statement: ast.stmt) -> ast.Name | None:
    """Return the one variable that a statement assigns, if only an entry of it; of a loop or a branch, the last one.

    It is the last in the text: which assignments run is not known yet.
    """
    if isinstance(statement, ast.For | ast.While | ast.If):
        inner = [*statement.body, *statement.orelse]
        return next(filter(None, map(last_target, reversed(inner))), None)
    target: ast.AST | None = None
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
    if isinstance(statement, ast.AugAssign):
        target = statement.target
    while isinstance(target, ast.Subscript):
        target = target.value
    return target if isinstance(target, ast.Name) else None


def own_result(tree: ast.Module, last: ast.stmt) -> str | None:
    """Return the program's own name for its output: the variable that the last statement assigns, or is."""
    if not isinstance(last, ast.Expr):
        target = last_target(last)
        return None if target is None else target.id
    name = last.value.id if isinstance(last.value, ast.Name) else None
    return name if any(name == one.id for part in ast.walk(tree) for one, _ in assigned(part)) else None


MOST_NAMES = 12
"""Names that an error lists."""


def assigned_names(program: Program) -> dict[str, ast.stmt]:
    """Return the names that a formula assigns, each with the last of its statements that does, in order of the lines.

    A statement of several lines, such as a loop, is one.
    """
    tree, _ = parse(program.place.text, program.budget)
    last: dict[str, ast.stmt] = {}
    for statement in tree.body:
        for part in ast.walk(statement):
            last.update({name.id: statement for name, _ in assigned(part)})
    return last


def with_output(program: Program, name: str, variables: frozenset[str]) -> Program:
    """Return a formula up to the last assignment of one of its names, which is the output.

    Where it writes to values in place all of its lines count: a write to one name may change another. Raises ``option``
    for a name that it does not assign.
    """
    last = assigned_names(program)
    if name not in last:
        names = list(last)
        message = f"'{name}' is an input" if name in program.inputs else f"the program assigns no '{name}'"
        hint = (
            did_you_mean(name, names) or f"it assigns {names_text(names)}" if names else "its last line is the output"
        )
        raise GradcliError("option", message, hint=hint)
    if program.result == name:
        return program
    text = program.place.text
    if not program.writes:
        text = text[: Spans(text).of(last[name])[1]]
    part = compile_program(text, program.budget, variables)
    if part.result != name or program.writes:
        part = compile_program(f"{text}\n{name}", program.budget, variables)
    return replace(part, beside=frozenset(program.inputs.keys() - part.inputs.keys()))


def names_text(names: list[str]) -> str:
    """Return names in a row, and how many more there are."""
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


class Continued(NamedTuple):
    """A program with a formula after it; ``begin`` is where that begins in the text.

    ``meant`` are the variables under whose names the formula has others than the program's: the name that each has as
    an input.
    """

    program: Program
    begin: int
    meant: dict[str, str]


def continue_by(program: Program, formula: str, values: Mapping[str, object], assigned: Sequence[str]) -> Continued:
    """Return a formula as a program; where it uses names that ``program`` assigns, as one that begins with its lines.

    A name of ``values`` means what is given, whatever the program assigns to it on its way.
    """
    alone = compile_program(formula, program.budget, frozenset((*values, *assigned)))
    used = alone.inputs.keys()
    if used.isdisjoint(set(assigned) - values.keys()):
        return Continued(alone, 0, {})
    taken = {*assigned, *program.variables, *values, *used}
    meant = {}
    for name in (name for name in assigned if name in values and name in used):
        meant[name] = next(other for other in map(f"{name}_{{}}".format, count()) if other not in taken)
    before = "\n".join([program.place.text, *(f"{name} = {other}" for name, other in meant.items()), ""])
    whole = before + alone.place.text
    return Continued(compile_program(whole, program.budget, frozenset({*values, *meant.values()})), len(before), meant)


def own_inputs(program: Program) -> list[OwnInput]:
    """Return the variables whose first value depends on no variable and which go on from it, in the order of lines.

    The last line is the output, and no input.
    """
    tree, place = parse(program.place.text, program.budget, any_quotes=True)
    spans = Spans(place.text)
    result: dict[str, OwnInput | None] = {}
    for statement in tree.body[:-1]:
        for node, value in assigned(statement):
            if value is None:
                continue
            name, read = node.id, {part.id for part in ast.walk(value) if isinstance(part, ast.Name)}
            if name in result and name in read:
                continue
            if name in result or not read.isdisjoint(program.variables):
                result[name] = None
                continue
            text = place.text[slice(*spans.of(value))]
            short = "" if "\n" in text or len(text) > LONGEST else text
            line = place.text[slice(*spans.of(statement))].partition("\n")[0]
            shown = line if len(line) <= LONGEST else f"{line[:LONGEST]}..."
            result[name] = OwnInput(name, shown, statement.lineno, short, spans.of(statement))
    return [item for item in result.values() if item is not None]


LONGEST = 60
"""Characters of a statement or value that is quoted."""
