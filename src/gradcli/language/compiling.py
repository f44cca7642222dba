"""From a syntax tree to closures over a frame: what formulas and scripts have in common.

An expression becomes what evaluates it, a statement what runs it. A statement gives None, or what leaves the block that
it stands in: ``BREAK``, ``NEXT``, or what a function returns in a tuple of one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from gradcli.errors import GradcliError

Frame = list[Any]
"""The registers of one run of a text: first what it runs on, the graph of a formula, or the run of a script."""


class Unbound:
    """Marks a variable without a value."""

    def __repr__(self) -> str:
        return "<unbound>"


UNBOUND = Unbound()
Evaluate = Callable[[Frame], Any]
Store = Callable[[Frame, Any], None]
Signal = Any
BREAK, NEXT = ("break",), ("next",)
FRAMES = 30_000
"""Calls of the host that the depth of a text may take."""


class Step(NamedTuple):
    """One statement: what runs it, its node, and whether it may yield."""

    run: Callable[[Frame], Signal]
    node: ast.stmt
    yields: bool = False


Block = list[Step]


class Compiler:
    """Compiles the syntax that formulas and scripts share; a dialect adds what its values do."""

    def refused(self, node: ast.AST) -> GradcliError:
        """Return the error for syntax that the dialect leaves out."""
        raise NotImplementedError

    def test(self, node: ast.If | ast.IfExp | ast.While) -> Callable[[Frame], bool]:
        """Return what says whether the condition of a branch or of a loop holds."""
        raise NotImplementedError

    def walked(self, node: ast.expr) -> Callable[[Frame], Iterable[Any]]:
        """Return what gives the items of a loop."""
        raise NotImplementedError

    def loop_target(self, node: ast.For) -> Store:
        """Return what gives the variable of a loop an item."""
        raise NotImplementedError

    def turns(self, node: ast.For | ast.While) -> Callable[[Frame], Any]:
        """Return what makes what is told of the turns of a loop; that is None where nobody asks for them."""
        del node
        return lambda regs: None

    def runner(self, block: Block) -> Callable[[Frame], Signal]:
        """Return what runs a block over a frame."""
        raise NotImplementedError

    # ---- expressions
    def expression(self, node: ast.expr) -> Evaluate:
        """Return what evaluates an expression."""
        compile_one = getattr(self, f"of_{type(node).__name__}", None)
        if compile_one is None:
            raise self.refused(node)
        return compile_one(node)  # type: ignore[no-any-return]

    def of_IfExp(self, node: ast.IfExp) -> Evaluate:  # noqa: N802
        """Return a conditional expression: only the side that is taken is evaluated."""
        test, yes, no = self.test(node), self.expression(node.body), self.expression(node.orelse)
        return lambda regs: yes(regs) if test(regs) else no(regs)

    # ---- statements
    def statement(self, node: ast.stmt) -> Callable[[Frame], Signal]:
        """Return what runs one statement."""
        compile_one = getattr(self, f"run_{type(node).__name__}", None)
        if compile_one is None:
            raise self.refused(node)
        return compile_one(node)  # type: ignore[no-any-return]

    def block(self, body: list[ast.stmt]) -> Block:
        """Return statements ready to run."""
        return [Step(self.statement(node), node) for node in body]

    def run_block(self, body: list[ast.stmt]) -> Callable[[Frame], Signal]:
        """Return what runs several statements."""
        return self.runner(self.block(body)) if body else lambda regs: None

    def run_Pass(self, node: ast.stmt) -> Callable[[Frame], Signal]:  # noqa: N802
        """Return what does nothing."""
        del node
        return lambda regs: None

    def run_Break(self, node: ast.Break) -> Callable[[Frame], Signal]:  # noqa: N802
        """Return what leaves a loop."""
        del node
        return lambda regs: BREAK

    def run_Continue(self, node: ast.Continue) -> Callable[[Frame], Signal]:  # noqa: N802
        """Return what begins the next turn of a loop."""
        del node
        return lambda regs: NEXT

    def run_If(self, node: ast.If) -> Callable[[Frame], Signal]:  # noqa: N802
        """Return what runs one of two blocks."""
        test, yes, no = self.test(node), self.run_block(node.body), self.run_block(node.orelse)
        return lambda regs: yes(regs) if test(regs) else no(regs)

    def run_While(self, node: ast.While) -> Callable[[Frame], Signal]:  # noqa: N802
        """Return a loop that runs while a test holds."""
        test = self.test(node)

        def held(regs: Frame) -> Iterator[None]:
            while test(regs):
                yield None

        return self.loop(node, held, lambda regs, item: None)

    def run_For(self, node: ast.For) -> Callable[[Frame], Signal]:  # noqa: N802
        """Return a loop over items."""
        return self.loop(node, self.walked(node.iter), self.loop_target(node))

    def loop(
        self, node: ast.For | ast.While, items: Callable[[Frame], Iterable[Any]], store: Store
    ) -> Callable[[Frame], Signal]:
        """Return a loop that runs once for each item."""
        told, body, otherwise = self.turns(node), self.run_block(node.body), self.run_block(node.orelse)

        def run(regs: Frame) -> Signal:
            turn, turns = regs[0].meter.turn, told(regs)
            ended: Signal = None
            for item in items(regs):
                turn()
                if turns is not None:
                    turns.begin(item)
                store(regs, item)
                ended = body(regs)
                if ended is not None and ended is not NEXT:
                    break
            else:
                ended = None
            if turns is not None:
                turns.end(regs, broken=ended is not None)
            return otherwise(regs) if ended is None else None if ended is BREAK else ended

        return run
