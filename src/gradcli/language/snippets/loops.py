"""Loops of a snippet in the language, and the blocks of lines that stand under a heading."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Container
from itertools import zip_longest
from typing import NamedTuple

from gradcli.errors import GradcliError
from gradcli.language.snippets.callees import is_of_rows
from gradcli.language.snippets.effects import Effects
from gradcli.language.snippets.expressions import Block
from gradcli.language.snippets.lines import changed_by, root_of
from gradcli.language.snippets.lists import refuse_growth_of_rows
from gradcli.language.snippets.pieces import Piece, join
from gradcli.language.snippets.scopes import Scope, is_list, parts, stored

Body = Callable[[Block], None]


class Turns(NamedTuple):
    """What a loop runs over: the variable of its ``row``, the ``rows``, and the lines that each turn begins with."""

    row: Piece
    rows: Piece
    first: list[Piece]


class Loops(Effects):
    """Writes loops of a snippet in the language."""

    @abstractmethod
    def statements(self, body: list[ast.stmt], scope: Scope, block: Block) -> None:
        """Write statements one after the other."""

    def unused(self, name: str) -> str:
        """Return a name for a value that has none."""
        return self.fresh.take(name, free=not self.fresh.used[name])

    def arms(self, arms: list[tuple[Piece, Body]], block: Block) -> None:
        """Write what stands under each heading, as one statement."""
        lines: list[Piece] = []
        for head, write in arms:
            inner = Block(block.levels + 1, block.fixed, block.looped)
            write(inner)
            if not inner.lines:
                inner.add(Piece.at("pass", head.place))
            lines += [head.indented(block.levels), *inner.lines]
        block.lines.append(join(lines, "\n"))

    def loop(self, node: ast.For | ast.While, head: list[Piece], scope: Scope, block: Block, *first: Piece) -> None:
        """Write a loop, with ``first`` at the beginning of its body."""
        if node.orelse:
            raise GradcliError("not-allowed", "'else' of a loop is not part of the language")

        def body(inner: Block) -> None:
            inner.looped = True
            for line in first:
                inner.add(line)
            self.statements(node.body, scope, inner)

        self.arms([(join([*head, Piece.at(":", head[0].place)]), body)], block)

    def for_loop(self, node: ast.For, scope: Scope, block: Block) -> None:
        """Write a loop over rows; one over pairs takes them apart in its first lines."""
        refuse_growth_of_rows(node, self.fresh.lists)
        if block.fixed:
            self.refuse_new_rows(node.iter, scope)
        if isinstance(node.target, ast.Name):
            turns = self.over_rows(node, scope, block)
        elif is_of_rows(node.iter):
            turns = self.over_several(node, scope, block)
        else:
            target, rows = self.write(node.target, scope, block), self.write(node.iter, scope, block).on_a_line()
            row = Piece.at(self.unused("row"), target.place)
            turns = Turns(row, rows, [assigned(target, row)])
        head = [Piece.at("for ", turns.row.place), turns.row, Piece.at(" in ", turns.row.place), turns.rows]
        self.loop(node, head, scope, block, *turns.first)

    def over_rows(self, node: ast.For, scope: Scope, block: Block) -> Turns:
        """Return the turns of a loop over rows."""
        return Turns(self.write(node.target, scope, block), self.write(node.iter, scope, block).on_a_line(), [])

    def over_several(self, node: ast.For, scope: Scope, block: Block) -> Turns:
        """Return the turns of a loop over ``enumerate`` or ``zip``, by their number."""
        targets, sequences = self.side_by_side(node, scope, block)
        place = targets[0].place
        k = Piece.at(self.unused("k"), place)
        rows = join([Piece.at("range(len(", place), sequences[-1], Piece.at("))", place)])
        first = []
        for target, sequence in zip(targets, sequences, strict=True):
            taken = [sequence, Piece.at("[", place), k, Piece.at("]", place)] if sequence.text else [k]
            first.append(assigned(target, *taken))
        return Turns(k, rows, first)

    def side_by_side(self, node: ast.For, scope: Scope, block: Block) -> tuple[list[Piece], list[Piece]]:
        """Return the variables of a loop, and what each takes its rows from; nothing stands for the turn's number."""
        elements = node.target.elts if isinstance(node.target, ast.Tuple) else []
        targets = [self.write(element, scope, block) for element in elements]
        call, name = node.iter, ast.unparse(getattr(node.iter, "func", node.iter))
        assert isinstance(call, ast.Call)  # noqa: S101
        if call.keywords:
            raise GradcliError("not-allowed", f"{name} takes no names of arguments here")
        written = {root for part in filter(None, map(changed_by, parts(node.body))) for root in root_of(part)}
        of_rows = zip_longest(call.args, elements[name == "enumerate" :])
        rows = [self.rows_of(argument, row, written, scope, block) for argument, row in of_rows if argument is not None]
        found = [Piece(), *rows] if name == "enumerate" else rows
        if len(found) != len(targets) or not rows:
            raise GradcliError("not-allowed", f"{name} gives {len(found)} values, and the loop has {len(targets)}")
        changed = {name for part in node.body for name in stored(part)}
        named = [
            piece
            if not piece.text or (piece.text.isidentifier() and piece.text not in changed)
            else self.name(self.unused("rows"), piece, block)
            for piece in found
        ]
        return targets, named

    def rows_of(
        self, node: ast.expr, row: ast.expr | None, written: Container[str], scope: Scope, block: Block
    ) -> Piece:
        """Return what a variable of a loop takes its rows from: views made at once where the loop writes to them."""
        rows = self.write(node, scope, block)
        is_written = isinstance(row, ast.Name) and row.id in written and isinstance(node, ast.Name)
        if not is_written or is_list(node, self.fresh.lists_in(scope)):
            return rows
        return join([Piece.at("torch.unbind(", rows.place), rows, Piece.at(")", rows.place)])

    def name(self, name: str, value: Piece, block: Block) -> Piece:
        """Write an assignment to a name, and return the name."""
        value = self.fixed_value(value) if block.fixed else value.on_a_line()
        block.add(join([Piece.at(f"{name} = ", value.place), value]))
        return Piece.at(name, value.place)


def assigned(target: Piece, *value: Piece) -> Piece:
    """Return the line that gives a variable its value."""
    return join([target, Piece.at(" = ", target.place), *value])
