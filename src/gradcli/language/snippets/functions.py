"""Calls of the user's functions, written out as the statements of their bodies."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial

from gradcli.errors import GradcliError, over_budget
from gradcli.language.snippets.expressions import Block
from gradcli.language.snippets.pieces import ELSE, Piece, heading
from gradcli.language.snippets.scopes import Closure, Scope, identifiers, is_list, names_of_others, stored
from gradcli.language.snippets.statements import Statements

DEEPEST = 20
"""Functions that call one another, at most."""
Argument = tuple[str, ast.expr, Scope]
"""A parameter, its argument, and the scope in which this is read."""


class Functions(Statements):
    """Writes calls of functions as the statements of their bodies."""

    running: tuple[ast.AST, ...] = ()

    def inlined(self, closure: Closure, node: ast.Call, scope: Scope, block: Block | None) -> Piece:
        """Return the value of a call inside of an expression: by a name, or in brackets."""
        value = self.called(closure, node, scope, block)
        if block is not None and closure.name and not value.text.isidentifier():
            value = self.name(self.fresh.result(closure.name), value, block)
        return Piece.instead(value.bracketed().text, self.source.span(node))

    def called(self, closure: Closure, node: ast.Call, scope: Scope, block: Block | None) -> Piece:
        """Return what a call returns, as an expression; the statements before it go into ``block``.

        Where that is None a function has to be one expression.
        """
        inner = self.enter(closure, node, scope, block)
        try:
            return self.returned(closure, inner, block)
        finally:
            self.running = self.running[:-1]

    def run(self, closure: Closure, node: ast.Call, scope: Scope, block: Block) -> None:
        """Write the statements of a function that is called for what it does."""
        inner = self.enter(closure, node, scope, block)
        try:
            body = closure.body
            last = body[-1:] if body and isinstance(body[-1], ast.Return) else []
            if returns(body[: len(body) - len(last)]):
                raise GradcliError("not-allowed", f"'{closure.name}' returns from its middle")
            self.statements(body[: len(body) - len(last)], inner, block)
        finally:
            self.running = self.running[:-1]

    def enter(self, closure: Closure, node: ast.Call, scope: Scope, block: Block | None) -> Scope:
        """Return the scope of a call, after its arguments; raises where functions call one another without end."""
        if closure.node in self.running:
            raise GradcliError("not-allowed", f"'{closure.name}' calls itself: a function is written out once a call")
        if len(self.running) == DEEPEST:
            raise over_budget("depth", DEEPEST, "functions call one another")
        inner = self.bound(closure, self.arguments(closure, node, scope), block)
        self.running = (*self.running, closure.node)
        return inner

    def returned(self, closure: Closure, inner: Scope, block: Block | None) -> Piece:
        """Return what the body of a function returns, as an expression."""
        body = closure.body
        if block is None and len(body) > 1:
            message = f"'{closure.name}' has several lines, and is called where they may not run, or run often"
            raise GradcliError("not-allowed", message, hint="call it on a line of its own")
        last = body[-1] if body else None
        if isinstance(last, ast.Return) and last.value is not None and not returns(body[:-1]):
            if block is not None:
                self.statements(body[:-1], inner, block)
            alone = isinstance(closure.node, ast.Lambda)
            span = self.source.span(last) if alone else self.source.after_sign(last, last.value)
            return self.write(last.value, inner, block, span).stripped().on_a_line()
        if block is None or not returns(body):
            message = f"'{closure.name}' returns no value"
            raise GradcliError("not-allowed", message, hint="write return before the value that it has")
        result = self.fresh.result(closure.name)
        self.branches(body, inner, result, block)
        return Piece.instead(result, self.source.span(closure.node))

    def bound(self, closure: Closure, arguments: list[Argument], block: Block | None) -> Scope:
        """Return the scope of a call: what stands for each parameter, and how each local name is written."""
        function = closure.node
        body = [function.body] if isinstance(function, ast.Lambda) else function.body
        given = {name for name, node, at in arguments if is_list(node, self.fresh.lists_in(at))}
        lists = frozenset(given - names_of_others(body, given))
        inner = Scope(closure.scope, levels=0 if block is None else block.levels, lists=lists)
        changed = {name for part in body for name in stored(part)}
        for name, node, scope in arguments:
            piece = self.write(node, scope, block)
            plain = name not in changed and isinstance(node, ast.Name | ast.Constant | ast.UnaryOp)
            if block is None or plain:
                inner.names[name] = piece.bracketed().text
            else:
                inner.names[name] = self.name(self.fresh.local(name, function), piece, block).text
        for name in sorted(changed - set(inner.names)):
            inner.names[name] = self.fresh.local(name, function)
        return inner

    def arguments(self, closure: Closure, node: ast.Call, scope: Scope) -> list[Argument]:
        """Return each parameter of a function with its argument, or with its default."""
        given = closure.node.args
        places = [item.arg for item in (*given.posonlyargs, *given.args)]
        order = [*places, *(item.arg for item in given.kwonlyargs)]
        defaults = dict(zip(reversed(places), reversed(given.defaults), strict=False))
        defaults |= {i.arg: value for i, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value}
        for name in (name for value in defaults.values() for name in identifiers(value)):
            if self.fresh.stored[name] > 1:
                message = f"'{name}' is a default of {closure.name or 'a lambda'}, and gets another value"
                raise GradcliError("not-allowed", message, hint="give the argument in the call")
        found: dict[str, tuple[ast.expr, Scope]] = {name: (value, closure.scope) for name, value in defaults.items()}
        by_name = {item.arg or "": item.value for item in node.keywords}
        taken = dict(zip(places, node.args, strict=False))
        starred = given.vararg or given.kwarg or any(isinstance(item, ast.Starred) for item in node.args)
        if starred or len(node.args) > len(places) or not set(by_name) <= set(order) - set(taken):
            raise GradcliError("arguments", f"{closure.name or 'the lambda'} does not take these arguments")
        found |= {name: (value, scope) for name, value in (taken | by_name).items()}
        missing = [name for name in order if name not in found]
        if missing:
            raise GradcliError("arguments", f"{closure.name or 'the lambda'} needs {' and '.join(missing)}")
        return [(name, *found[name]) for name in order]

    def branches(self, body: Sequence[ast.stmt], scope: Scope, result: str, block: Block) -> None:
        """Write a body that returns from its branches: what it returns is assigned to ``result``."""
        for place, statement in enumerate(body):
            if isinstance(statement, ast.Return) and statement.value is not None:
                span = self.source.after_sign(statement, statement.value)
                self.name(result, self.write(statement.value, scope, block, span).stripped(), block)
                return
            if not returns([statement]):
                self.statement(statement, scope, block)
                continue
            if not isinstance(statement, ast.If):
                message = "a 'return' inside of a loop or a 'with', or without a value, is not part of the language"
                raise GradcliError("not-allowed", message, span=self.source.span(statement))
            rest = body[place + 1 :]
            yes, no = ([*arm] if ends(arm) else [*arm, *rest] for arm in (statement.body, statement.orelse))
            test = self.write(statement.test, scope, block)
            arms = [(heading("if", test), yes), (ELSE, no)]
            self.arms([(head, partial(self.branches, arm, scope, result)) for head, arm in arms], block)
            return
        raise GradcliError("not-allowed", "a function returns a value on every way through it, or on none")


def returns(body: Sequence[ast.stmt]) -> bool:
    """Return whether a ``return`` stands somewhere in these statements."""
    return any(
        isinstance(statement, ast.Return)
        or returns(getattr(statement, "body", []))
        or returns(getattr(statement, "orelse", []))
        for statement in body
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef)
    )


def ends(body: Sequence[ast.stmt]) -> bool:
    """Return whether these statements return on every way through them."""
    last = body[-1] if body else None
    return isinstance(last, ast.Return) or (isinstance(last, ast.If) and ends(last.body) and ends(last.orelse))
