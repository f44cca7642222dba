"""Statements: assignments, compiled into steps, and what is refused."""

from __future__ import annotations

import ast
import re
from itertools import chain, count
from typing import Any

from gradcli.errors import GradcliError
from gradcli.errors.counting import counted
from gradcli.errors.suggest import INSTEAD_OF_ATTRIBUTE, INSTEAD_OF_WORD
from gradcli.language import picking, runtime
from gradcli.language.arithmetic import binary_step
from gradcli.language.assigning import (
    before_ndim,
    changed_entries,
    is_view,
    put_as_kept,
    reader,
    refuse_change,
    refuse_write,
    swap_remark,
    unpacker,
)
from gradcli.language.expressions import is_write
from gradcli.language.flow import Flow, leave, next_turn
from gradcli.language.indexing import Registers, Run, index_items, index_parts, index_reader
from gradcli.language.kinds import is_odd, is_tensor
from gradcli.language.names import BINARY, STATEMENT_WORDS
from gradcli.language.steps import Step
from gradcli.language.trace import Assigned, Written
from gradcli.ops import OPERATORS
from gradcli.ops.declare import Op

UNSAID = Written("")


def name_of(node: ast.expr | None) -> str:
    """Return the name of a variable, nothing for any other expression."""
    return node.id if isinstance(node, ast.Name) else ""


class Statements(Flow):
    """Compiles statements."""

    def statements(self, body: list[ast.stmt]) -> None:
        """Compile a list of statements into the current block."""
        for statement in body:
            try:
                self._statement(statement)
            except GradcliError as error:
                raise error.at(self.spans.of(statement)) from None

    def _statement(self, node: ast.stmt) -> None:
        self.recent.clear()
        match node:
            case ast.Expr():
                self.release([self.expression(self.in_place(node.value))])
            case ast.Assign():
                self._assign(node)
            case ast.AugAssign():
                self.augment(node)
            case ast.If():
                self.branch(node)
            case ast.While():
                self.while_loop(node)
            case ast.For():
                self.for_loop(node)
            case ast.Pass():
                return
            case ast.Break() | ast.Continue():
                if not self.loops:
                    raise GradcliError("syntax", "break and continue belong inside a loop")
                self.emit(leave if isinstance(node, ast.Break) else next_turn, node)
            case _:
                name = type(node).__name__
                word = STATEMENT_WORDS.get(name, name.lower())
                message = f"'{word}' is not part of the language"
                raise GradcliError("not-allowed", message, hint=INSTEAD_OF_WORD.get(word))

    def _assign(self, node: ast.Assign) -> None:
        if len(node.targets) > 1:
            raise GradcliError("not-allowed", "assign to one target at a time")
        target = node.targets[0]
        if isinstance(target, ast.Tuple | ast.List):
            self._unpack(target, node.value)
        elif isinstance(target, ast.Subscript):
            self._put(target, None, self.expression(node.value), node)
        else:
            value = self.in_place(node.value, target)
            if value is node.value:
                self.store(target, self.expression(value), node, value)
            elif name_of(value) != name_of(target):
                self.store(target, self.expression(value), node, Written(name_of(value)))

    def in_place(self, node: ast.expr, target: ast.expr | None = None) -> ast.expr:
        """Compile a method that writes in place and return the variable that it wrote to; others stay as they are.

        What it is called on is given the name of ``target`` where it has none.
        """
        if not (isinstance(node, ast.Call) and is_write(node)):
            return node
        from gradcli.language.inplace import write_in_place

        return write_in_place(self, node, name_of(target))

    def named(self, node: ast.expr, wanted: str = "") -> ast.Name:
        """Return the variable that is written to; what is none is a view that gets a name of its own."""
        if isinstance(node, ast.Name):
            return node
        taken = {*re.findall(r"\w+", self.writer.code), *self.variables}
        names = (name for name in chain(("view",), map("view{}".format, count(2))) if name not in taken)
        name = ast.copy_location(ast.Name(wanted or next(names), ast.Store()), node)
        self.store(name, self.expression(node), node, node)
        return name

    def store(self, target: ast.expr, value: int, node: ast.AST, text: ast.expr | Written, **part: Any) -> None:
        """Compile an assignment of a register to a variable, told by the expression that it holds, or by a text."""
        if not isinstance(target, ast.Name):
            attribute = target.attr if isinstance(target, ast.Attribute) else ""
            raise GradcliError(
                "not-allowed",
                "only a variable or an entry of one can be assigned",
                span=self.spans.of(target),
                hint=INSTEAD_OF_ATTRIBUTE.get(attribute),
            )
        name = target.id
        if name.startswith("__"):
            raise GradcliError("not-allowed", f"the name '{name}' is not allowed", span=self.spans.of(target))
        register = self.variable(name, definite=True)
        if isinstance(text, Written):
            words = text
        else:
            words = self.writer.operand(text, "[") if part.get("taken") else self.writer.said(text)
        told = Assigned(name, words, **part)

        def run(regs: Registers) -> Any:
            found = regs[value]
            regs[0].bind(name, found, told)
            return found

        self.block.append(Step(register, run, self.spans.of(node)))
        self.release([value])

    def _unpack(self, target: ast.Tuple | ast.List, value: ast.expr) -> None:
        count = len(target.elts)
        if isinstance(value, ast.Tuple | ast.List):
            if len(value.elts) != count:
                raise GradcliError("shape", f"{counted(len(value.elts), 'value')} for {counted(count, 'variable')}")
            registers = [self.emit(reader(self.expression(item)), item) for item in value.elts]
            texts, taken = value.elts, False
        else:
            whole = self.expression(value)
            registers = [self.emit(unpacker(whole, i, count), target) for i in range(count)]
            texts, taken = [value] * count, True
        if any(isinstance(item, ast.Subscript) for item in target.elts):
            self._store_in_turn(target, registers, self.writer.said(texts[0]) if not taken else UNSAID)
            return
        for place, (item, register, text) in enumerate(zip(target.elts, registers, texts, strict=True)):
            self.store(item, register, item, text, place=place, count=count, taken=taken)

    def _store_in_turn(self, target: ast.Tuple | ast.List, registers: list[int], first: Written) -> None:
        """Compile assignments of which some write to entries: each may change what the next one gives, if a view.

        So ``a[0], a[1] = a[1], a[0]`` gives the same number twice. ``first`` is the text of the first value.
        """
        span = self.spans.of(target)
        before = [self.register() for _ in registers]
        self.block.extend(Step(kept, reader(given), span) for kept, given in zip(before, registers, strict=True))
        for place, (item, given) in enumerate(zip(target.elts, registers, strict=True)):
            self.waiting = tuple(registers[place + 1 :])
            self.emit(swap_remark(given, before[place], span), item)
            words = UNSAID if place else first
            if isinstance(item, ast.Subscript):
                self._put(item, None, given, words)
            else:
                self.store(item, given, item, words)

    def _put(
        self, target: ast.Subscript, op: Op | None, given: int, node: ast.Assign | ast.AugAssign | Written
    ) -> None:
        """Compile a write to entries: of the value in register ``given``, or of what ``op`` makes of both.

        ``node`` is the statement, or the text of the value.
        """
        from gradcli.language.aliases import write_through  # most programs write to nothing
        from gradcli.language.writes import remark_write

        name = self.named(target.value).id
        base = self.expression(ast.copy_location(ast.Name(name, ast.Load()), target.value))
        if name not in self.variables:
            raise GradcliError("in-place", f"an entry of '{name}' is written to, which is no variable here")
        items = index_items(target)
        readers = [index_reader(item, [self.expression(part) for part in index_parts(item)]) for item in items]
        single = not isinstance(target.slice, ast.Tuple)
        span, index = self.spans.of(target), self.writer.written(target.slice)
        told, target_text = self._told(name, node, index), f"{name}[{index.text}]"
        others = self.others(name)

        def run(regs: Registers) -> Any:
            f, before = regs[0], regs[base]
            refuse_write(f, name, before, "indexed assignment")
            x = runtime.array_of(before)
            key = picking.index_key(f, x, [read(regs) for read in readers], single)
            remark_write(f, name, span, before, regs[given], key, op is None)
            change, first = changed_entries(f, op, x, key, regs[given], target_text)
            f.wrote(before, name, span, first)
            return write_through(regs, others, told, before, put_as_kept(f, op, x, key, change, target_text))

        self.block.append(Step(self.variables[name], run, span))
        if not isinstance(target.value, ast.Name):
            self.block.append(Step(self.variables[name], lambda _: runtime.UNBOUND, span))

    def augment(self, node: ast.AugAssign) -> None:
        """Compile an augmented assignment."""
        if type(node.op) not in BINARY:
            raise GradcliError("not-allowed", "this augmented assignment is not part of the language")
        op = OPERATORS[BINARY[type(node.op)], 2]
        change = self.expression(node.value)
        if isinstance(node.target, ast.Subscript):
            self._put(node.target, op, change, node)
            return
        if not isinstance(node.target, ast.Name):
            raise GradcliError("not-allowed", "only a variable or an entry of one can be assigned")
        name = node.target.id
        old = self.expression(ast.copy_location(ast.Name(name, ast.Load()), node.target))
        told = self._told(name, node)
        self.change(told, node, binary_step(op, old, change), (old, change), op)

    def change(
        self, told: Assigned, node: ast.AST, combine: Run, operands: tuple[int, int], op: Op, start: int | None = None
    ) -> None:
        """Compile a write to a whole variable, which ``told`` names: of what ``combine`` makes of two registers.

        Register ``start`` has the number of nodes before the first that computes it, where an earlier step did so.
        """
        from gradcli.language.aliases import write_through  # most programs write to nothing

        name, (old, change), span = told.name, operands, self.spans.of(node)
        others = self.others(name)

        def run(regs: Registers) -> Any:
            before = regs[old]
            array = is_tensor(before)
            refuse_write(regs[0], name, before, "an augmented assignment")
            if before_ndim(before) or is_view(before):
                from gradcli.language.writes import remark_write

                remark_write(regs[0], name, span, before, regs[change])
            first = len(regs[0].nodes) if start is None else regs[start]
            result = combine(regs)
            if is_odd(before) or (array and result.shape != before.shape):
                refuse_change(regs[0], op, before, result, name)
            if not array:
                regs[0].bind(name, result, told)
                return result
            regs[0].wrote(before, name, span, first)
            return write_through(regs, others, told, before, result)

        self.block.append(Step(self.variable(name, definite=name in self.definite), run, span))

    def _told(self, name: str, node: ast.Assign | ast.AugAssign | Written, index: Written | None = None) -> Assigned:
        """Return what a run tells of an augmented or indexed assignment."""
        if isinstance(node, Written):
            return Assigned(name, node, index)
        if isinstance(node, ast.Assign):
            return Assigned(name, self.writer.said(node.value), index)
        operator = BINARY[type(node.op)]
        return Assigned(name, self.writer.operand(node.value, operator), index, operator)
