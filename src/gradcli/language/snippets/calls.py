"""Calls of backward in a snippet: which output, by which inputs, with which v, and which calls count."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gradcli.errors import Budget, GradcliError, Place
from gradcli.language.snippets.building import Leaf
from gradcli.language.snippets.derivatives import Asked
from gradcli.language.snippets.expressions import Block
from gradcli.language.snippets.inputs import Inputs
from gradcli.language.snippets.pieces import Piece, Source, join
from gradcli.language.snippets.scopes import Derivative, Scope
from gradcli.language.snippets.signs import asks_for_none, reads_gradient, truth
from gradcli.language.snippets.tables import VALUELESS


@dataclass(frozen=True, slots=True)
class Call:
    """One call of backward: the output and v as expressions, after so many lines.

    - ``text`` is the program of the output: calls with the same text have one output.
    - ``alone`` says that ``.grad`` is empty before it, ``inputs`` are those to differentiate by, None for all.
    - ``error`` says why there is no v.
    """

    output: Piece
    v: Piece | None
    before: int
    number: int
    text: str
    alone: bool = False
    inputs: tuple[str, ...] | None = None
    whole: bool = False
    error: GradcliError | None = None


@dataclass(slots=True)
class Aside:
    """What is left out: lines that show or check something, and lines that come after the first call of backward."""

    shown: list[int] = field(default_factory=list)
    later: list[int] = field(default_factory=list)


class Calls(Inputs):
    """Keeps the calls of backward that are of one output."""

    def __init__(self, source: Source, tree: ast.Module, place: Place, budget: Budget, given: frozenset[str]) -> None:
        super().__init__(source, tree, place, budget, given)
        self.calls: list[Call] = []
        self.aside = Aside()
        self.problems: list[GradcliError] = []
        self.zeroed: set[str] = set()
        self.updated = False
        self.last: tuple[ast.expr, Scope] | None = None

    def write_last(self) -> None:
        """Write the expression by itself that stands before a statement, if it may write to what others see."""
        call, scope = self.last or (None, self.top)
        if call is None or not self.writes([call]):
            return
        block, self.last = Block(), None
        try:
            self.name(self.unused("value"), self.write(call, scope, block), block)
        except GradcliError as error:
            self.problems.append(error.at(self.source.span(call), self.builder.place))
        self.add(block, call.lineno)

    def refuse_written_sources(self, node: ast.stmt) -> None:
        """Note as a problem, before backward, that a statement writes to what has the memory of an input."""
        for error in [] if self.calls else self.sources.refusals(node):
            self.problems.append(error.at(self.source.span(node), self.builder.place))

    @property
    def started(self) -> bool:
        """Whether a call of backward has been read, after which there are no other inputs."""
        return bool(self.calls)

    def record_all(self, asked: Sequence[tuple[ast.Call, Asked]], statement: ast.stmt, scope: Scope) -> None:
        """Record the calls of backward in a statement."""
        for call, found in asked:
            self.record(found, call, statement, scope)

    def record(self, asked: Asked, node: ast.Call, statement: ast.stmt, scope: Scope) -> None:
        """Record a call of backward; one that is another function's, or comes after changes, is left out."""
        if self.updated:
            self.aside.later.append(statement.lineno)
            return
        if any(self.may_change(given) for given in [*node.args, *(item.value for item in node.keywords)]):
            hint = "write to it on a line before"
            raise GradcliError("not-allowed", "a call of backward is given what it writes to", hint=hint)
        block, inputs = Block(), None
        if asked.function is not None:
            output, inputs = self.applied(asked.function, asked.arguments, block, scope, node)
        elif asked.pullback is not None:
            output, inputs = asked.pullback.output, asked.pullback.inputs
        else:
            output = self.write(asked.output, scope, block).on_a_line()
            inputs = self.named_inputs(asked, scope, statement)
        v, error = self.v_of(asked, output, scope, block)
        self.add(block, statement.lineno)
        text = self.builder.written(output).text
        whole = asked.function is not None and asked.function.whole
        call = Call(output, v, len(self.builder.lines), statement.lineno, text, not asked.adds, inputs, whole, error)
        self.accept(call)

    def accept(self, call: Call) -> None:
        """Keep a call of backward that is of the first one's output, and starts from gradients that are known."""
        inputs = {line.leaf for line in self.builder.needed_for(call.output) if line.leaf}
        partly = bool(self.zeroed) and not inputs <= self.zeroed
        if self.calls and (call.text != self.calls[0].text or partly):
            self.aside.later.append(call.number)
            self.updated = self.updated or partly
            return
        before = self.calls[-1] if self.calls else None
        if before is not None and call.alone and before.inputs and call.inputs and text_of(before.v) == text_of(call.v):
            self.calls[-1] = replace(before, inputs=tuple(dict.fromkeys([*before.inputs, *call.inputs])))
            return
        alone = bool(self.calls) and (call.alone or bool(self.zeroed))
        self.calls.append(replace(call, alone=alone))
        self.zeroed = set()

    def v_of(self, asked: Asked, output: Piece, scope: Scope, block: Block) -> tuple[Piece | None, GradcliError | None]:
        """Return the expression of v, or why it has no value."""
        if asked.function is not None and asked.function.whole:
            return join([Piece.at("torch.ones_like(", output.place), output, Piece.at(")", output.place)]), None
        if asked.v is None:
            return None, None
        try:
            return self.write(asked.v, scope, block), None
        except GradcliError as error:
            if error.kind not in VALUELESS:
                raise
            return None, error.at(None, self.builder.place)

    def named_inputs(self, asked: Asked, scope: Scope, statement: ast.stmt) -> tuple[str, ...] | None:
        """Return the names to differentiate by; a value between inputs and output becomes an input."""
        if asked.inputs is None:
            return None
        names = []
        for node in asked.inputs:
            if not isinstance(node, ast.Name):
                raise GradcliError("not-allowed", "gradients are by variables", span=self.source.span(node))
            names.append(scope.written(node.id) or node.id)
            self.cut_at(names[-1], statement)
        return tuple(names)

    def applied(
        self, asked: Derivative, arguments: Sequence[ast.expr], block: Block, scope: Scope, node: ast.expr
    ) -> tuple[Piece, tuple[str, ...]]:
        """Return a function at its arguments as an expression, and the inputs that those to differentiate by become."""
        closure = self.closure_of(asked.function, asked.scope)
        parameters = [item.arg for item in closure.node.args.args] if closure else ["x"]
        inner, names = Scope(scope), []
        for place, (argument, parameter) in enumerate(zip(arguments, parameters, strict=False)):
            value = self.write(argument, scope, block)
            name = value.text
            if not isinstance(argument, ast.Name):
                name = self.fresh.local(parameter, closure.node if closure else ast.Pass())
            if place in asked.arguments and name not in self.builder.leaves:
                if self.calls:
                    raise GradcliError("not-allowed", f"'{name}' is made after the first derivative")
                self.add(block, node.lineno)
                block.lines.clear()
                self.add_leaf(Leaf(name, node.lineno, value, len(self.builder.lines)))
            elif name != value.text:
                self.name(name, value, block)
            inner.names[f"_{place}"] = name
            names.append(name)
        given = [ast.copy_location(ast.Name(f"_{k}", ast.Load()), a) for k, a in enumerate(arguments[: len(names)])]
        inputs = tuple(name for place, name in enumerate(names) if place in asked.arguments)
        if closure is not None:
            call = ast.copy_location(ast.Call(asked.function, list(given), []), node)
            return self.called(closure, call, inner, block), inputs
        function = self.write(asked.function, asked.scope, None)
        return function + Piece.at(f"({', '.join(names)})", function.place), inputs

    def holds(self, test: ast.expr, scope: Scope) -> bool:
        """Return whether a condition holds at the inputs that the snippet gives."""
        if reads_gradient(test):
            if not isinstance(test, ast.Attribute) and not asks_for_none(test):
                raise GradcliError("not-allowed", "a condition on a gradient's numbers is not part of the language")
            negated = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is)
            return bool(self.calls) is not negated
        return bool(self.settled(truth(self.write(test, scope, None)), test.lineno))

    def settled(self, value: Piece, number: int) -> Any:
        """Return the value of an expression that decides which lines are read: inputs that it depends on are fixed."""
        for line in self.builder.needed_for(value):
            if line.leaf:
                leaf = self.builder.leaves[line.leaf]
                self.builder.leaves[line.leaf] = replace(leaf, settles=leaf.settles or number)
        return self.builder.evaluate(value)


def text_of(piece: Piece | None) -> str:
    """Return the text of an expression, empty for none."""
    return "" if piece is None else piece.text
