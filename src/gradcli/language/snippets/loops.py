"""Loops of a snippet in the language, and the blocks of lines that stand under a heading."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable

from gradcli.errors import GradcliError
from gradcli.language.snippets.callees import is_of_rows
from gradcli.language.snippets.effects import Effects
from gradcli.language.snippets.expressions import Block
from gradcli.language.snippets.lists import refuse_writes_to_rows
from gradcli.language.snippets.pieces import Piece, join
from gradcli.language.snippets.scopes import Scope, stored

Body = Callable[[Block], None]


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
        refuse_writes_to_rows(node, self.fresh.lists)
        first: list[Piece] = []
        if isinstance(node.target, ast.Name):
            head, rows = self.write(node.target, scope, block), self.rows_of(node.iter, scope, block).on_a_line()
            if self.entries.changes(node.iter):
                row = Piece.at(self.unused("row"), head.place)
                first.append(join([head, Piece.at(f" = {row.text}.clone()", head.place)]))
                head = row
        elif not is_of_rows(node.iter):
            target, rows = self.write(node.target, scope, block), self.write(node.iter, scope, block).on_a_line()
            head = Piece.at(self.unused("row"), target.place)
            first.append(join([target, Piece.at(" = ", target.place), head]))
        else:
            targets, sequences = self.side_by_side(node, scope, block)
            head = Piece.at(self.unused("k"), targets[0].place)
            rows = join([Piece.at("range(len(", head.place), sequences[-1], Piece.at("))", head.place)])
            for target, sequence in zip(targets, sequences, strict=True):
                index = [sequence, Piece.at("[", head.place), head, Piece.at("]", head.place)]
                taken = [head] if not sequence.text else index
                if sequence.text in self.entries.stored:
                    taken = [*taken, Piece.at(".clone()", head.place)]
                first.append(join([target, Piece.at(" = ", head.place), *taken]))
        self.loop(node, [Piece.at("for ", head.place), head, Piece.at(" in ", head.place), rows], scope, block, *first)

    def side_by_side(self, node: ast.For, scope: Scope, block: Block) -> tuple[list[Piece], list[Piece]]:
        """Return the variables of a loop, and what each takes its rows from; nothing stands for the turn's number."""
        elements = node.target.elts if isinstance(node.target, ast.Tuple) else []
        targets = [self.write(element, scope, block) for element in elements]
        call, name = node.iter, ast.unparse(getattr(node.iter, "func", node.iter))
        assert isinstance(call, ast.Call)  # noqa: S101
        if call.keywords:
            raise GradcliError("not-allowed", f"{name} takes no names of arguments here")
        rows = [self.rows_of(argument, scope, block) for argument in call.args]
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

    def rows_of(self, node: ast.expr, scope: Scope, block: Block) -> Piece:
        """Return what a loop runs over: of a list whose entries change, a slice is a copy."""
        rows = self.write(node, scope, block)
        part = not isinstance(node, ast.Name) and self.entries.changes(node)
        return rows.bracketed() + Piece.at(".clone()", rows.place) if part else rows

    def name(self, name: str, value: Piece, block: Block) -> Piece:
        """Write an assignment to a name, and return the name."""
        value = self.fixed_value(value) if block.fixed else value.on_a_line()
        block.add(join([Piece.at(f"{name} = ", value.place), value]))
        return Piece.at(name, value.place)
