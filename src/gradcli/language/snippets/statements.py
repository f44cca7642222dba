"""Statements of a snippet in the language: assignments, branches and loops, without what changes no value."""

from __future__ import annotations

import ast
from functools import partial

from gradcli.errors import GradcliError
from gradcli.language.inplace import writes_in_place, written_to
from gradcli.language.names import BINARY, MASKS
from gradcli.language.snippets.effects import not_allowed
from gradcli.language.snippets.expressions import Block
from gradcli.language.snippets.lines import GROWING, is_in_place
from gradcli.language.snippets.lists import (
    as_operation,
    does_nothing,
    given_list,
    joined_lists,
    joins_lists,
)
from gradcli.language.snippets.loops import Body, Loops
from gradcli.language.snippets.pieces import ELSE, Piece, heading, join
from gradcli.language.snippets.scopes import Closure, Scope, parts
from gradcli.language.snippets.tables import IN_PLACE


class Statements(Loops):
    """Writes statements of a snippet in the language."""

    def statements(self, body: list[ast.stmt], scope: Scope, block: Block) -> None:
        """Write statements one after the other."""
        for statement in body:
            self.statement(statement, scope, block)

    def statement(self, node: ast.stmt, scope: Scope, block: Block) -> None:
        """Write a statement; raises ``not-allowed`` for what is not part of the language."""
        outer, self.fixed = self.fixed, block.fixed
        try:
            self.second.refuse(node)
            self.write_statement(node, scope, block)
        except GradcliError as error:
            raise error.at(self.source.span(node)) from None
        finally:
            self.fixed = outer

    def write_statement(self, node: ast.stmt, scope: Scope, block: Block) -> None:
        """Write a statement by its kind."""
        match node:
            case ast.Assign() | ast.AnnAssign():
                self.assign(node, scope, block)
            case ast.AugAssign():
                self.augment(node, scope, block)
            case ast.Expr():
                self.effect(node, scope, block)
            case ast.If():
                self.conditional(node, scope, block)
            case ast.While():
                test = self.write(node.test, scope, None)
                self.loop(node, [Piece.at("while ", test.place), test], scope, block)
            case ast.For():
                self.for_loop(node, scope, block)
            case ast.With():
                self.statements(node.body, scope, self.block_of(node, scope, block))
            case ast.Break() | ast.Continue():
                self.leave(node, block)
            case ast.Import() | ast.ImportFrom():
                self.require_always(scope, block)
                self.names.add(node)
            case _:
                self.write_nothing(node, scope, block)

    def require_always(self, scope: Scope, block: Block) -> None:
        """Refuse what gives a name to no array where it may not run, or run after the name was used."""
        if block.levels > scope.levels:
            message = "a function, a layer or a module gets its name inside of a branch or a loop"
            raise GradcliError("not-allowed", message, hint="give it its name before")

    def write_nothing(self, node: ast.stmt, scope: Scope, block: Block) -> None:
        """Take a statement of which the program has none; raises ``not-allowed`` for what cannot be left out."""
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                if self.full(decorator, scope) not in ("jax.jit", "torch.compile", "torch.jit.script"):
                    raise GradcliError("not-allowed", f"@{ast.unparse(decorator)} is not part of the language")
            self.require_always(scope, block)
            scope.held[node.name] = Closure(node.name, node, scope)
        elif not does_nothing(node):
            raise not_allowed(node)

    def assign(self, node: ast.Assign | ast.AnnAssign, scope: Scope, block: Block) -> None:
        """Write an assignment, or remember what it gives a name that is no array."""
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if node.value is None:
            return
        if len(targets) == 1 and self.remembers(targets[0], node.value, scope):
            self.require_always(scope, block)
            return
        if any(isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store) for part in parts(targets)):
            self.refuse_fixed()
        value = self.value(node.value, scope, block, node)
        if block.fixed and isinstance(targets[0], ast.Tuple | ast.List) and not is_display(node.value):
            self.take_apart(self.write(targets[0], scope, block), value, block)
            return
        value = self.fixed_value(value) if block.fixed else value
        for target in reversed(targets):
            written = self.write(target, scope, block)
            block.add(join([written, Piece.at(" = ", written.place), value]))
            value = written

    def leave(self, node: ast.Break | ast.Continue, block: Block) -> None:
        """Write ``break`` or ``continue``."""
        if not block.looped:
            raise GradcliError("syntax", "break and continue belong inside a loop")
        block.add(self.source.of(node))

    def augment(self, node: ast.AugAssign, scope: Scope, block: Block) -> None:
        """Write an augmented assignment."""
        self.refuse_fixed()
        if isinstance(node.target, ast.Attribute):
            raise GradcliError("not-allowed", "a write to the numbers of an input, past its gradient")
        if isinstance(node.op, ast.Add | ast.Mult) and joins_lists(as_operation(node), self.fresh.lists_in(scope)):
            given = isinstance(node.target, ast.Name) and node.target.id in scope.lists
            raise given_list(ast.unparse(node.target)) if given else joined_lists()
        sign = (BINARY | MASKS).get(type(node.op))
        if sign is None or not self.arrays.immutable or not isinstance(node.target, ast.Name):
            block.add(self.write(node, scope, block))
            return
        name, value = self.write(node.target, scope, block), self.write(node.value, scope, block).on_a_line()
        block.add(join([name, Piece.at(f" = {name.text} {sign} (", name.place), value, Piece.at(")", name.place)]))

    def value(self, node: ast.expr, scope: Scope, block: Block, statement: ast.stmt) -> Piece:
        """Return the right side of an assignment."""
        closure = self.closure_of(node.func, scope) if isinstance(node, ast.Call) else None
        if closure is not None and isinstance(node, ast.Call):
            return self.called(closure, node, scope, block).on_a_line()
        return self.write(node, scope, block, self.source.after_sign(statement, node)).stripped()

    def remembers(self, target: ast.expr, value: ast.expr, scope: Scope) -> bool:
        """Return whether a name now holds what is no array: a function, a layer, or the name of a device."""
        if not isinstance(target, ast.Name):
            return False
        if self.is_device(value):
            self.devices.add(target.id)
            return True
        found = self.closure_of(value, scope) or self.layer(value, scope, target.id if scope.parent is None else "")
        scope.held.pop(target.id, None)
        if found is None:
            return False
        if isinstance(found, Closure) and not found.name:
            found = Closure(target.id, found.node, scope)
        scope.held[target.id] = found
        return True

    def effect(self, node: ast.Expr, scope: Scope, block: Block) -> None:
        """Write an expression by itself where it changes a value; leave it out where it does not."""
        call = node.value
        if not isinstance(call, ast.Call):
            if self.writes([call]):
                self.name(self.unused("value"), self.write(call, scope, block), block)
            return
        if self.switches(call, scope, block):
            return
        closure = self.closure_of(call.func, scope)
        if closure is not None:
            self.run(closure, call, scope, block)
            return
        if self.appends(call, scope):
            block.add(self.grown(call, scope, block))
        elif isinstance(call.func, ast.Attribute):
            self.effect_of_method(call.func, call, scope, block)
        else:
            self.refuse_unknown(call, scope)

    def effect_of_method(self, func: ast.Attribute, call: ast.Call, scope: Scope, block: Block) -> None:
        """Write a call of a method by itself."""
        method, changed = func.attr, func.value
        plain = isinstance(changed, ast.Name) or shows_entries(changed)
        if method in IN_PLACE and plain and len(call.args) == 1 and not call.keywords:
            self.refuse_fixed()
            target = self.write(changed, scope, block)
            change = self.write(call.args[0], scope, block).on_a_line()
            block.add(join([target, Piece.at(f" {IN_PLACE[method]} ", target.place), change]))
        elif writes_in_place(call):
            base = written_to(call)
            name = self.write(base, scope, block).text if isinstance(base, ast.Name) else self.unused("value")
            self.name(name, self.write(call, scope, block), block)
        elif is_in_place(method) or (method in GROWING and self.full(func, scope) is None):
            hint = "write NAME = ... with the new value"
            raise GradcliError("not-allowed", f".{method}() changes a value in place", hint=hint)
        elif any(writes_in_place(part) for part in ast.walk(call)):
            self.name(self.unused("value"), self.write(call, scope, block), block)
        else:
            self.refuse_unknown(call, scope)

    def conditional(self, node: ast.If, scope: Scope, block: Block) -> None:
        """Write a branch with all that belongs to it."""
        test = self.write(node.test, scope, block)
        arms: list[tuple[Piece, Body]] = [(heading("if", test), partial(self.statements, node.body, scope))]
        while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            before = Block()
            test = self.write(node.orelse[0].test, scope, before)
            if before.lines:
                break
            node = node.orelse[0]
            arms.append((heading("elif", test), partial(self.statements, node.body, scope)))
        if node.orelse:
            arms.append((ELSE, partial(self.statements, node.orelse, scope)))
        self.arms(arms, block)

    def called(self, closure: Closure, node: ast.Call, scope: Scope, block: Block | None) -> Piece:
        """Return what a call of the user's function returns, as an expression; its statements go into ``block``."""
        raise NotImplementedError

    def run(self, closure: Closure, node: ast.Call, scope: Scope, block: Block) -> None:
        """Write the statements of a function that is called for what it does."""
        raise NotImplementedError


def is_display(node: ast.expr) -> bool:
    """Return whether an expression is a list or a tuple as it is written."""
    return isinstance(node, ast.List | ast.Tuple)


def is_name(node: ast.expr) -> bool:
    """Return whether an expression is a variable."""
    return isinstance(node, ast.Name)


def shows_entries(node: ast.expr) -> bool:
    """Return whether an expression surely shows entries of a variable: a list or mask as an index makes a copy."""
    if not (isinstance(node, ast.Subscript) and is_name(node.value)):
        return False
    places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return all(
        isinstance(place.operand if isinstance(place, ast.UnaryOp) else place, ast.Slice | ast.Constant)
        for place in places
    )
