"""Comprehensions in a snippet: lists with an entry for each turn, written out."""

from __future__ import annotations

import ast

from gradcli.errors import GradcliError
from gradcli.language.snippets.expressions import Block, Comprehension
from gradcli.language.snippets.pieces import Piece, join
from gradcli.language.snippets.scopes import Scope, identifiers
from gradcli.language.snippets.unrolling import MOST_TURNS, Unrolling


class Comprehensions(Unrolling):
    """Writes comprehensions as lists of their entries."""

    def written_out(self, node: Comprehension, scope: Scope, block: Block | None) -> Piece:
        """Return a comprehension as a list; raises ``not-allowed`` where its turns are not known before it runs."""
        if block is None or block.levels or block.lines:
            self.refuse_undecided(node)
        start, end = self.source.span(node)
        try:
            entries = self.entries_of(node.elt, node.generators, scope, block)
        except GradcliError as error:
            if error.kind != "missing-input":
                raise
            raise GradcliError("not-allowed", "how often this comprehension turns is not known", hint=LOOP) from None
        return join([Piece.at("[", start), join(entries, ", "), Piece.at("]", end - 1)])

    def entries_of(
        self, entry: ast.expr, generators: list[ast.comprehension], scope: Scope, block: Block | None
    ) -> list[Piece]:
        """Return the entries for each turn of the first ``for``, and in it of the others."""
        if not generators:
            return [self.write(entry, scope, block).on_a_line()]
        generator, *rest = generators
        found: list[Piece] = []
        turn = 0
        while (given := self.given_in(turn, generator, scope)) is not None:
            inner = Scope(scope, levels=scope.levels, lists=scope.lists)
            for target, value in given:
                self.stand_for(target, value, inner)
            if all(self.holds(test, inner) for test in generator.ifs):
                found += self.entries_of(entry, rest, inner, block)
            turn += 1
            if max(turn, len(found)) > MOST_TURNS:
                raise GradcliError("not-allowed", f"a comprehension of more than {MOST_TURNS} turns", hint=LOOP)
        return found

    def stand_for(self, target: ast.expr, value: Piece, scope: Scope) -> None:
        """Let a variable of a comprehension stand for its value in a turn."""
        if isinstance(target, ast.Name):
            scope.names[target.id] = value.bracketed().text
            return
        for place, part in enumerate(target.elts if isinstance(target, ast.Tuple | ast.List) else []):
            self.stand_for(part, value.bracketed() + Piece.at(f"[{place}]", value.place), scope)

    def refuse_undecided(self, node: Comprehension) -> None:
        """Refuse turns that depend on a variable which the statements round them may change."""
        own = {name for generator in node.generators for name in identifiers(generator.target)}
        for generator in node.generators:
            changing = self.second.changing if generator.ifs else self.second.growing
            for name in (name for part in (generator.iter, *generator.ifs) for name in identifiers(part)):
                if name not in own and (self.fresh.stored[name] > 1 or name in changing):
                    message = f"how often this comprehension turns depends on '{name}', which changes"
                    raise GradcliError("not-allowed", message, hint=LOOP)


LOOP = "write a loop"
