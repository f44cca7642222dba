"""Statements: assignments, compiled into steps, and what is refused."""

from __future__ import annotations

import ast
from typing import Any

from gradcli.errors import GradcliError
from gradcli.errors.counting import counted
from gradcli.errors.suggest import INSTEAD_OF_ATTRIBUTE, INSTEAD_OF_WORD
from gradcli.language import runtime
from gradcli.language.arithmetic import binary, binary_step
from gradcli.language.assigning import (
    before_ndim,
    is_tensor,
    reader,
    refuse_change,
    refuse_shared,
    unpacker,
)
from gradcli.language.flow import Flow, leave, next_turn
from gradcli.language.indexing import Registers, index_items, index_parts, index_reader
from gradcli.language.kinds import is_odd, written_as
from gradcli.language.names import BINARY
from gradcli.language.steps import Step
from gradcli.language.trace import Assigned, Written
from gradcli.ops import OPERATORS
from gradcli.ops.declare import Op
from gradcli.ops.indexing import INDEX, PUT

STATEMENT_WORDS = {
    "ImportFrom": "import",
    "FunctionDef": "def",
    "AsyncFunctionDef": "async",
    "AsyncFor": "async",
    "AsyncWith": "async",
    "ClassDef": "class",
    "Delete": "del",
    "TryStar": "try",
    "AnnAssign": "annotation",
    "TypeAlias": "type",
}
"""The words that begin statements whose syntax nodes have other names."""


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
        match node:
            case ast.Expr():
                self.release([self.expression(node.value)])
            case ast.Assign():
                self._assign(node)
            case ast.AugAssign():
                self._augment(node)
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
            self._store(target, self.expression(node.value), node, node.value)

    def _store(self, target: ast.expr, value: int, node: ast.AST, text: ast.expr, **part: Any) -> None:
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
        words = self.writer.operand(text, "[") if part.get("taken") else self.writer.written(text)
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
        for place, (item, register, text) in enumerate(zip(target.elts, registers, texts, strict=True)):
            self._store(item, register, item, text, place=place, count=count, taken=taken)

    def _put(self, target: ast.Subscript, op: Op | None, given: int, node: ast.Assign | ast.AugAssign) -> None:
        """Compile a write to entries: of the value in register ``given``, or of what ``op`` makes of both."""
        from gradcli.language.versions import remark_write  # noqa: PLC0415

        if not isinstance(target.value, ast.Name):
            raise GradcliError(
                "not-allowed", "only an entry of a variable can be assigned", hint="y[0, 1] = ..., not y[0][1] = ..."
            )
        name = target.value.id
        base = self.expression(target.value)
        items = index_items(target)
        readers = [index_reader(item, [self.expression(part) for part in index_parts(item)]) for item in items]
        single = not isinstance(target.slice, ast.Tuple)
        variables, span = self.variables, self.spans.of(target)
        told = self._told(name, node, self.writer.written(target.slice))

        def run(regs: Registers) -> Any:
            f, before = regs[0], regs[base]
            refuse_shared(name, variables, regs, "indexed assignment")
            x = runtime.array_of(before)
            key = runtime.index_key(f, x, [read(regs) for read in readers], single)
            change = regs[given]
            remark_write(f, name, span, before, change, key)
            if op is not None:
                change = binary(f, op, f(INDEX, x, key=key), change)
            f.wrote(before, name, span, None if op is None else change)
            if is_odd(x) or is_odd(change):
                change = written_as(f, x, int(change) if type(change) is bool else change, not runtime.basic(key), op)
            written = change if is_odd(x) else runtime.as_tensor(change)
            result = f(PUT, x, written, key=key)
            f.bind(name, result, told)
            return result

        self.block.append(Step(self.variables[name], run, span))

    def _augment(self, node: ast.AugAssign) -> None:
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
        variables, span = self.variables, self.spans.of(node)
        combine = binary_step(op, old, change)
        told = self._told(name, node)

        def run(regs: Registers) -> Any:
            before = regs[old]
            array = is_tensor(before)
            refuse_shared(name, variables, regs, "an augmented assignment")
            if before_ndim(before):
                from gradcli.language.versions import remark_write  # noqa: PLC0415

                remark_write(regs[0], name, span, before, regs[change])
            result = combine(regs)
            if is_odd(before) or (array and result.shape != before.shape):
                refuse_change(regs[0], op, before, result, name)
            if array:
                regs[0].wrote(before, name, span, result)
            regs[0].bind(name, result, told)
            return result

        self.block.append(Step(self.variable(name, definite=name in self.definite), run, span))

    def _told(self, name: str, node: ast.Assign | ast.AugAssign, index: Written | None = None) -> Assigned:
        """Return what a run tells of an augmented or indexed assignment."""
        if isinstance(node, ast.Assign):
            return Assigned(name, self.writer.written(node.value), index)
        operator = BINARY[type(node.op)]
        return Assigned(name, self.writer.operand(node.value, operator), index, operator)
