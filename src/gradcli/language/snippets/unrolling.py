"""Loops with calls of backward in them: their turns one after the other, as far as they are of one output."""

from __future__ import annotations

import ast
from contextlib import suppress

from gradcli.errors import GradcliError
from gradcli.language.snippets.expressions import Block
from gradcli.language.snippets.inputs import assigned
from gradcli.language.snippets.lines import line_of
from gradcli.language.snippets.pieces import Piece, join
from gradcli.language.snippets.reader import Reader
from gradcli.language.snippets.scopes import Scope, identifiers, stored

MOST_TURNS = 64


class Left(Exception):
    """Leaves the loop whose turns are taken."""


class Next(Exception):
    """Goes on with the next of its turns."""


class Unrolling(Reader):
    """Takes loops turn by turn."""

    def unroll(self, node: ast.For | ast.While, scope: Scope) -> None:
        """Take the turns of a loop until a change of the inputs makes the rest another computation."""
        if node.orelse:
            raise GradcliError("not-allowed", "'else' of a loop is not part of the language")
        changed = {name for part in node.body for name in stored(part)}
        if isinstance(node, ast.For) and changed & set(identifiers(node.iter)):
            raise GradcliError("not-allowed", "a loop round backward changes what it runs over")
        outer, self.turning = self.turning, True
        with suppress(Left):
            turns = 0
            while not self.updated and self.begin(node, turns, scope):
                if turns == MOST_TURNS:
                    raise GradcliError("not-allowed", f"a loop round backward has more than {MOST_TURNS} turns")
                with suppress(Next):
                    self.take_all(node.body, scope)
                turns += 1
        self.turning = outer

    def take_statement(self, node: ast.stmt, scope: Scope) -> None:
        """Take a statement; ``break`` and ``continue`` are of the loop whose turns are taken."""
        if self.turning and isinstance(node, ast.Break | ast.Continue):
            raise Left if isinstance(node, ast.Break) else Next
        super().take_statement(node, scope)

    def begin(self, node: ast.For | ast.While, turn: int, scope: Scope) -> bool:
        """Return whether there is another turn, after what it gives the variables of the loop."""
        if isinstance(node, ast.While):
            return self.holds(node.test, scope)
        given = self.given_in(turn, node, scope)
        for target, value in given or []:
            self.set(target, value, scope, node)
        return given is not None

    def given_in(
        self, turn: int, node: ast.For | ast.comprehension, scope: Scope
    ) -> list[tuple[ast.expr, Piece]] | None:
        """Return what a turn gives the variables of a loop, None where there are no more turns."""
        call = node.iter
        name = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
        if isinstance(call, ast.Call) and name in ("enumerate", "zip") and isinstance(node.target, ast.Tuple):
            sources = [None, *call.args[:1]] if name == "enumerate" else list(call.args)
            first = self.first_number(call, scope) if name == "enumerate" else 0
            targets = node.target.elts
        else:
            sources, targets, first = [call], [node.target], 0
        rows = [None if source is None else self.row(source, turn, scope) for source in sources]
        if any(row is None and source is not None for row, source in zip(rows, sources, strict=True)):
            return None
        number = Piece.at(str(first + turn), self.source.span(call)[0])
        return [(target, number if row is None else row) for target, row in zip(targets, rows, strict=True)]

    def first_number(self, call: ast.Call, scope: Scope) -> int:
        """Return the number that ``enumerate`` begins with."""
        given = [*call.args[1:2], *(item.value for item in call.keywords if item.arg == "start")]
        return int(self.settled(self.write(given[0], scope, None), call.lineno)) if given else 0

    def row(self, source: ast.expr, turn: int, scope: Scope) -> Piece | None:
        """Return what a loop over ``source`` gives in a turn, None where it has no more."""
        if isinstance(source, ast.List | ast.Tuple):
            return self.write(source.elts[turn], scope, None) if turn < len(source.elts) else None
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "range":
            bounds = [int(self.settled(self.write(bound, scope, None), source.lineno)) for bound in source.args]
            numbers = range(*bounds)
            return Piece.at(str(numbers[turn]), self.source.span(source)[0]) if turn < len(numbers) else None
        rows = self.write(source, scope, None)
        length = join([Piece.at("len(", rows.place), rows, Piece.at(")", rows.place)])
        if turn >= int(self.settled(length, source.lineno)):
            return None
        return rows.bracketed() + Piece.at(f"[{turn}]", rows.place)

    def set(self, target: ast.expr, value: Piece, scope: Scope, node: ast.stmt) -> None:
        """Give a variable of a loop its value; a name for another name stands for it."""
        once = value.text.isidentifier() and self.fresh.stored[value.text] <= 1
        if isinstance(target, ast.Name) and once and self.fresh.stored[target.id] <= 1:
            scope.names[target.id] = value.text
            return
        block = Block()
        written = self.write(target, scope, block)
        self.add(block, node.lineno)
        self.builder.lines.append(line_of(assigned(written.text, value), node.lineno))
