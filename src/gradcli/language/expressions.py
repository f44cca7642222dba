"""Expressions: from syntax to steps, without recursion, so that long sums and deep trees cost no stack."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from gradcli.errors import GradcliError, over_budget
from gradcli.errors.suggest import INSTEAD_OF_ATTRIBUTE
from gradcli.language import picking, runtime
from gradcli.language.arithmetic import binary_step, negative, positive
from gradcli.language.calling import calling, reading, remarking
from gradcli.language.calls import bind, library_of, plain_number, refuse_ambiguous, refuse_stars, resolve, written_name
from gradcli.language.indexing import Registers, Run, index_items, index_parts, index_reader
from gradcli.language.kinds import inverted
from gradcli.language.literals import REFUSED, bound_value, literal, refused
from gradcli.language.members import ATTRIBUTES, special_call
from gradcli.language.names import (
    BINARY,
    COMPARE,
    CONSTANTS,
    MASKS,
    NEW_AXIS,
    constant_name,
    find_constant,
)
from gradcli.language.steps import Allocation, Block, execute
from gradcli.language.trace import Branch, tell
from gradcli.ops import OPERATORS, methods


class Expressions(Allocation):
    """Compiles expressions into steps."""

    def expression(self, root: ast.expr) -> int:
        """Compile an expression and return the register of its value."""
        done: dict[ast.AST, int] = {}
        stack: list[tuple[ast.expr, list[ast.expr] | None]] = [(root, None)]
        while stack:
            node, children = stack.pop()
            try:
                if children is None:
                    found = self._children(node)
                    stack.append((node, found))
                    stack.extend((child, None) for child in reversed(found))
                else:
                    operands = [done[child] for child in children]
                    done[node] = EMITTERS[type(node)](self, node, operands)
                    self.release(operands)
            except GradcliError as error:
                raise error.at(self.spans.of(node.func if isinstance(node, ast.Call) else node)) from None
        return done[root]

    def _children(self, node: ast.expr) -> list[ast.expr]:
        match node:
            case ast.BinOp():
                return [node.left, node.right]
            case ast.UnaryOp():
                if isinstance(node.op, ast.Not):
                    self.truths.update(part for part in ast.walk(node) if isinstance(part, ast.BoolOp))
                return [node.operand]
            case ast.Compare():
                return [node.left, *node.comparators]
            case ast.List() | ast.Tuple():
                return list(node.elts)
            case ast.Subscript():
                return [node.value, *(part for item in index_items(node) for part in index_parts(item))]
            case ast.Attribute():
                return [] if constant_name(node, self.variables) else [node.value]
            case ast.Call():
                return self._call_children(node)
            case ast.Constant() | ast.Name() | ast.IfExp() | ast.BoolOp():
                return []
        raise refused(node)

    def _literal(self, node: ast.Constant, _registers: list[int]) -> int:
        return self.constant(literal(node.value))

    def _list(self, node: ast.List | ast.Tuple, registers: list[int]) -> int:
        stack = runtime.stack_items if isinstance(node, ast.List) else runtime.stack_tuple
        return self.emit(lambda regs: stack(regs[0], [regs[i] for i in registers]), node)

    def _name(self, node: ast.Name, _registers: list[int]) -> int:
        name = node.id
        if name in self.definite:
            return self.variables[name]
        if name in self.assigned:
            register = self.variables[name]
            if name in self.given:  # where no branch or turn that ran assigned it, the value from outside counts
                self.free.setdefault(name, self.spans.of(node))
            return self.emit(lambda regs: bound_value(regs[register], name), node)
        if name in CONSTANTS and name not in self.given:
            return self.constant(np.float64(CONSTANTS[name]))
        if name.startswith("__"):
            raise GradcliError("not-allowed", f"the name '{name}' is not allowed")
        self.free.setdefault(name, self.spans.of(node))
        return self.variable(name, definite=True)

    def _binary(self, node: ast.BinOp, registers: list[int]) -> int:
        left, right = registers
        if type(node.op) in REFUSED:
            message, hint = REFUSED[type(node.op)]
            raise GradcliError("not-allowed", message, hint=hint)
        if type(node.op) in MASKS:
            mask = OPERATORS[MASKS[type(node.op)], 2]
            return self.emit(lambda regs: runtime.compare(regs[0], mask, regs[left], regs[right]), node)
        return self.emit(binary_step(OPERATORS[BINARY[type(node.op)], 2], left, right), node)

    def _unary(self, node: ast.UnaryOp, registers: list[int]) -> int:
        [operand] = registers
        if isinstance(node.op, ast.Not):
            return self.emit(lambda regs: not runtime.truth(regs[operand]), node)
        if isinstance(node.op, ast.UAdd):
            return self.emit(lambda regs: positive(regs[operand]), node)
        apply, op = (inverted, OPERATORS["~", 1]) if isinstance(node.op, ast.Invert) else (negative, OPERATORS["-", 1])
        return self.emit(lambda regs: apply(regs[0], op, regs[operand]), node)

    def _compare(self, node: ast.Compare, registers: list[int]) -> int:
        unknown = next((op for op in node.ops if type(op) not in COMPARE), None)
        if unknown is not None:
            raise GradcliError("not-allowed", "'in' and 'is' are not part of the language", hint="write == to compare")
        ops = [OPERATORS[COMPARE[type(op)], 2] for op in node.ops]
        if len(ops) == 1:
            [op], (left, right) = ops, registers
            return self.emit(lambda regs: runtime.compare(regs[0], op, regs[left], regs[right]), node)
        return self.emit(lambda regs: runtime.compare_chain(regs[0], ops, [regs[i] for i in registers]), node)

    def _subscript(self, node: ast.Subscript, registers: list[int]) -> int:
        items, parts = index_items(node), iter(registers[1:])
        readers = [index_reader(item, [next(parts) for _ in index_parts(item)]) for item in items]
        base, single = registers[0], not isinstance(node.slice, ast.Tuple)
        if isinstance(node.value, ast.List | ast.Tuple):
            readers = [partial(picking.read_position, read) for read in readers]
        return self.emit(
            lambda regs: picking.subscript(regs[0], regs[base], [read(regs) for read in readers], single), node
        )

    def _attribute(self, node: ast.Attribute, registers: list[int]) -> int:
        name = constant_name(node, self.variables)
        if name:
            found = None if name in NEW_AXIS else find_constant(name)
            return self.constant(np.float64(found) if isinstance(found, float) else found)
        read, base = ATTRIBUTES.get(node.attr), registers[0]
        if read is None:
            call = f"call it: .{node.attr}()" if node.attr in methods() else ""
            hint = INSTEAD_OF_ATTRIBUTE.get(node.attr, call or f"there are .{', .'.join(ATTRIBUTES)}")
            raise GradcliError("not-allowed", f"unknown attribute '.{node.attr}'", hint=hint)
        return self.emit(lambda regs: read(regs[0], regs[base]), node)

    def in_place(self, node: ast.expr, target: ast.expr | None = None) -> ast.expr:
        """Compile a method that writes in place and return the variable that it wrote to; others stay as they are."""
        raise NotImplementedError

    def _call_children(self, node: ast.Call) -> list[ast.expr]:
        if is_write(node):
            outer, self.waiting = self.waiting, tuple(self.recent)
            variable = self.in_place(node)
            if isinstance(variable, ast.Name):
                self.writer.replace(node, variable.id, said=not self.waiting)
                self.calls[node] = reading_variable
            self.waiting = outer
            if isinstance(variable, ast.Name):
                return [variable]
        special = special_call(node, self.variables)
        if special:
            read, receiver = special
            self.calls[node] = partial(reading, read)
            return [*([] if receiver is None else [receiver]), *node.args]
        function, receivers = resolve(node, self.variables)
        refuse_stars(node, self.spans)
        refuse_ambiguous(function, node)
        arguments = bind(function, node, receivers)
        compiled = partial(calling, function, arguments, library_of(node), written_name(node))
        said = plain_number(function, arguments, node, self.variables)
        self.calls[node] = compiled if said is None else partial(remarking, said, compiled)
        return [child for bound in arguments for child in bound.nodes]

    def _call(self, node: ast.Call, registers: list[int]) -> int:
        # What it means was settled before its arguments were compiled: in np.sum(np) they make np a variable.
        compile_call = self.calls.pop(node)
        return registers[0] if compile_call is reading_variable else self.emit(compile_call(registers), node)

    def sub_block(self, node: ast.expr) -> tuple[Block, int]:
        """Compile an expression that may not run, into a block of its own."""
        outer, self.block = self.block, []
        with self.deeper(node):
            register = self.expression(node)
        block, self.block = self.block, outer
        return block, register

    @contextmanager
    def deeper(self, node: ast.AST) -> Iterator[None]:
        """Count one level of nesting; raises ``budget`` beyond the bound."""
        self.level += 1
        if self.level > self.max_depth:
            raise over_budget("depth", self.max_depth, "branches are nested", self.spans.of(node))
        yield
        self.level -= 1

    def condition(self, node: ast.expr) -> tuple[int, list[int]]:
        """Compile an expression whose truth is wanted; the error for an array points at it.

        Return the register of the truth, and those of the sides of a comparison, which ``release`` lets go.
        """
        self.truths.update(part for part in ast.walk(node) if isinstance(part, ast.BoolOp))
        try:
            if isinstance(node, ast.Compare):
                sides = [self.expression(side) for side in (node.left, *node.comparators)]
                register = self._compare(node, sides)
            else:
                sides, register = [], self.expression(node)
        except GradcliError as error:
            raise error.at(self.spans.of(node)) from None
        return self.emit(lambda regs: runtime.truth(regs[register]), node), sides

    def _choice(self, node: ast.IfExp, _registers: list[int]) -> int:
        condition, sides = self.condition(node.test)
        yes, yes_value = self.sub_block(node.body)
        no, no_value = self.sub_block(node.orelse)
        self.release(sides)
        write = self.writer.written
        branch = Branch("", self.writer.condition(node.test), "else", (write(node.body), write(node.orelse)))

        def run(regs: Registers) -> Any:
            if regs[0].story is not None:
                tell(regs, branch, condition, sides)
            chosen, value = (yes, yes_value) if regs[condition] else (no, no_value)
            execute(chosen, regs)
            return regs[value]

        return self.emit(run, node)

    def _logic(self, node: ast.BoolOp, _registers: list[int]) -> int:
        blocks = [self.sub_block(value) for value in node.values]
        stop_at, as_truth = isinstance(node.op, ast.Or), node in self.truths

        def run(regs: Registers) -> bool:
            for block, value in blocks:
                execute(block, regs)
                found = runtime.truth(regs[value])
                if found is stop_at:
                    break
            if not as_truth and not runtime.is_truth(regs[value]):
                message = "'and' and 'or' give one of their sides in Python, and here a truth value alone"
                raise GradcliError("type", message, hint="write a if c else b")
            return found

        return self.emit(run, node)


def is_write(node: ast.expr) -> bool:
    """Return whether a call may be of a method that writes in place, by its name."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_")


def reading_variable(registers: list[int]) -> Run:
    """Return what reads the variable that a method has written to; an expression reads its register."""
    return lambda regs: regs[registers[0]]


EMITTERS: dict[type[ast.expr], Callable[[Expressions, Any, list[int]], int]] = {
    ast.Constant: Expressions._literal,
    ast.Name: Expressions._name,
    ast.BinOp: Expressions._binary,
    ast.UnaryOp: Expressions._unary,
    ast.Compare: Expressions._compare,
    ast.List: Expressions._list,
    ast.Tuple: Expressions._list,
    ast.Subscript: Expressions._subscript,
    ast.Attribute: Expressions._attribute,
    ast.Call: Expressions._call,
    ast.IfExp: Expressions._choice,
    ast.BoolOp: Expressions._logic,
}
"""What compiles a node whose operands are compiled, by its type; ``_children`` has refused all others."""
