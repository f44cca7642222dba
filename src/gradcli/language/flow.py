"""Branches and loops, compiled into steps."""

from __future__ import annotations

import ast
from abc import abstractmethod
from typing import Any

from gradcli.errors import GradcliError
from gradcli.language import picking, runtime
from gradcli.language.assigning import range_of, stored_names
from gradcli.language.expressions import Expressions
from gradcli.language.indexing import Registers
from gradcli.language.kinds import Listed, items_of
from gradcli.language.steps import Block, execute
from gradcli.language.trace import Assigned, Branch, Loop, tell, turns_of


class Break(Exception):
    """Leaves the innermost loop."""


class Continue(Exception):
    """Goes on with the next turn of the innermost loop."""


def leave(_: Registers) -> None:
    """Do what ``break`` does."""
    raise Break


def next_turn(_: Registers) -> None:
    """Do what ``continue`` does."""
    raise Continue


def goes_on(body: Block, registers: Registers) -> bool:
    """Run one turn of a loop and return whether another may follow."""
    try:
        execute(body, registers)
    except Continue:
        return True
    except Break:
        return False
    return True


class Flow(Expressions):
    """Compiles branches and loops."""

    loops = 0

    @abstractmethod
    def statements(self, body: list[ast.stmt]) -> None:
        """Compile a list of statements into the current block."""

    def body(self, statements: list[ast.stmt], node: ast.AST) -> Block:
        """Compile statements that may not run, or run often, into a block of their own."""
        outer, self.block = self.block, []
        known = set(self.definite)
        with self.deeper(node):
            self.statements(statements)
        self.assigned |= self.definite - known
        self.definite = known
        block, self.block = self.block, outer
        return block

    def branch(self, node: ast.If) -> None:
        """Compile an ``if`` with its ``elif`` and ``else``."""
        condition, sides = self.condition(node.test)
        known = set(self.definite)
        yes = self.body(node.body, node)
        no = self.body(node.orelse, node)
        self.release(sides)
        both = stored_names(node.body) & stored_names(node.orelse)
        self.definite = known | both
        other = (self.writer.word(node.orelse[0]) or "else") if node.orelse else ""
        branch = Branch(self.writer.word(node) or "if", self.writer.condition(node.test), other)

        def run(regs: Registers) -> None:
            if regs[0].story is not None:
                tell(regs, branch, condition, sides)
            execute(yes if regs[condition] else no, regs)

        self.emit(run, node)

    def while_loop(self, node: ast.While) -> None:
        """Compile a ``while``."""
        if node.orelse:
            raise GradcliError("not-allowed", "'else' of a loop is not part of the language")
        outer, self.block = self.block, []
        condition, sides = self.condition(node.test)
        test, self.block = self.block, outer
        self.loops += 1
        body = self.body(node.body, node)
        self.loops -= 1
        self.release(sides)
        loop = Loop("", self.writer.condition(node.test))

        def run(regs: Registers) -> None:
            turns, broken = turns_of(regs[0], loop), False
            while not broken:
                execute(test, regs)
                if not regs[condition]:
                    break
                regs[0].meter.turn()
                if turns is not None:
                    turns.begin()
                broken = not goes_on(body, regs)
            if turns is not None:
                turns.end(broken, tuple([regs[i] for i in sides]))

        self.emit(run, node)

    def for_loop(self, node: ast.For) -> None:
        """Compile a ``for``."""
        if node.orelse or not isinstance(node.target, ast.Name):
            raise GradcliError("not-allowed", "a loop is 'for NAME in range(...):' or 'for NAME in an array:'")
        self.loop_arrays.append(self.register())
        items = self.emit(self._items(node.iter, self.loop_arrays[-1]), node.iter)
        name = node.target.id
        target = self.variable(name, definite=False)
        known = name in self.definite
        self.definite.add(name)
        self.loops += 1
        body = self.body(node.body, node)
        self.loops -= 1
        if not known:
            self.definite.discard(name)
        loop, row = Loop(name, None), Assigned(name, self.writer.operand(node.iter, "["), row=True)

        def run(regs: Registers) -> None:
            turns, broken = turns_of(regs[0], loop), False
            for item in regs[items]:
                regs[0].meter.turn()
                regs[target] = item
                if turns is not None:
                    turns.begin(item)
                    if type(item) is not int:
                        regs[0].bind(name, item, row)
                broken = not goes_on(body, regs)
                if broken:
                    break
            if turns is not None:
                turns.end(broken)

        self.emit(run, node)

    def _items(self, node: ast.expr, kept: int) -> Any:
        """Return what reads the items of a loop; register ``kept`` has the array, as writes in the loop change it."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            if node.keywords or not 1 <= len(node.args) <= 3:
                raise GradcliError("arguments", "range takes one to three integers")
            bounds = [self.expression(argument) for argument in node.args]
            return lambda regs: range_of([regs[i] for i in bounds])
        whole = self.expression(node)

        def rows(regs: Registers) -> Any:
            if type(regs[whole]) is tuple:
                return regs[whole]
            if isinstance(regs[whole], Listed):
                return items_of(regs[whole])
            x = runtime.array_of(regs[whole])
            if not x.ndim:
                raise GradcliError("type", "a loop runs over range(...) or over an array, not over one number")
            regs[kept] = x
            return (picking.part_of(regs[0], regs[kept], i) for i in range(x.shape[0]))

        return rows
