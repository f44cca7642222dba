"""A snippet from its first line to its last: what is an input, what is differentiated by which v, what is left out."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Sequence

from gradcli.errors import GradcliError
from gradcli.language.snippets.calls import Calls
from gradcli.language.snippets.derivatives import PULLBACKS
from gradcli.language.snippets.effects import change_unknown, not_allowed
from gradcli.language.snippets.expressions import Block
from gradcli.language.snippets.functions import returns
from gradcli.language.snippets.inputs import assigned
from gradcli.language.snippets.lines import line_of, may_write, root_of, unreadable
from gradcli.language.snippets.pieces import Piece
from gradcli.language.snippets.scopes import Closure, Derivative, Layer, Pullback, Scope, identifiers
from gradcli.language.snippets.signs import (
    changes,
    counts_anyway,
    hidden_effect,
    hidden_error,
    is_main,
    leaves,
    pairs_of,
    reads_gradient,
    require_plain_switches,
    returns_nothing,
    updates,
    zeroes_gradients,
)
from gradcli.language.snippets.tables import SETTINGS, SHOWING, VALUELESS


class Reader(Calls):
    """Reads the statements of a snippet in order."""

    turning = False

    def take_all(self, body: Sequence[ast.stmt], scope: Scope) -> None:
        """Take statements in order."""
        for statement in body:
            self.take(statement, scope)

    def take(self, node: ast.stmt, scope: Scope) -> None:
        """Take a statement; one that cannot be read is kept with its error, which counts where its value does."""
        self.write_last()
        self.refuse_written_sources(node)
        hidden = hidden_effect(node, self.names)
        try:
            if hidden is not None:
                raise hidden_error(hidden).at(self.source.span(hidden))
            require_plain_switches(node)
            self.take_statement(node, scope)
        except GradcliError as error:
            self.set_aside(node, error.at(self.source.span(node), self.builder.place), scope, acts=hidden is not None)

    def set_aside(self, node: ast.stmt, error: GradcliError, scope: Scope, *, acts: bool) -> None:
        """Keep a statement that cannot be read: its error counts where it ``acts`` or the output depends on it.

        Which values that are is not known of names that are written otherwise: those of a function, of the turn of a
        loop, of a layer's weights.
        """
        of_layers = any(isinstance(self.top.holds(name), Layer) for name in identifiers(node))
        renamed = scope is not self.top or self.turning or of_layers
        self.builder.lines.append(unreadable(node, error, self.writes([node])))
        if self.calls:
            self.aside.later.append(node.lineno)
            self.updated = self.updated or acts or updates(node)
        elif acts or counts_anyway(node) or self.acts([node], asking=True) or renamed:
            self.problems.append(error)

    def take_statement(self, node: ast.stmt, scope: Scope) -> None:
        """Take a statement by its kind."""
        match node:
            case ast.Import() | ast.ImportFrom():
                self.names.add(node)
            case ast.Expr():
                self.take_expression(node, scope)
            case (
                ast.Assign(targets=[target, *_], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value)
            ):
                self.last = None
                self.take_assignment(target, value, node, scope)
            case ast.If() if is_main(node) or leaves(node) or self.acts([node]):
                chosen = is_main(node) or self.holds(node.test, scope)
                self.take_all(node.body if chosen else node.orelse, scope)
            case ast.For() | ast.While() if self.acts([node]):
                self.unroll(node, scope)
            case ast.With() if self.acts([node]):
                self.take_block(node, scope)
            case ast.Assert():
                self.refuse_writes(node)
                self.aside.shown.append(node.lineno)
            case ast.ClassDef():
                self.problems.append(not_allowed(node).at(self.source.span(node), self.builder.place))
            case _:
                self.last = None
                self.take_plainly(node, scope)

    def take_block(self, node: ast.With, scope: Scope) -> None:
        """Take the statements of a ``with``; raises ``not-allowed`` where no gradient flows in it."""
        if self.block_of(node, scope, Block()).fixed:
            raise GradcliError("not-allowed", "inputs are made or changed where no gradient flows")
        self.take_all(node.body, scope)

    @abstractmethod
    def unroll(self, node: ast.For | ast.While, scope: Scope) -> None:
        """Take a loop turn by turn."""

    def take_plainly(self, node: ast.stmt, scope: Scope) -> None:
        """Take a statement that is one of the language's, once functions are written out."""
        block = Block()
        self.statement(node, scope, block)
        self.add(block, node.lineno)

    def take_expression(self, node: ast.Expr, scope: Scope) -> None:
        """Take an expression by itself: a call that does something, or one that shows something."""
        call = node.value
        asked = list(self.asked_in(call, scope))
        self.record_all(asked, node, scope)
        if asked or isinstance(call, ast.Constant):
            return
        if reads_gradient(call) and not changes(call):
            self.aside.shown.append(node.lineno)
            return
        if isinstance(call, ast.Lambda):
            self.top.held["f"] = Closure("f", call, scope)
            return
        if not isinstance(call, ast.Call):
            self.last = call, scope
            return
        closure = self.closure_of(call.func, scope)
        if closure is not None and (returns_nothing(closure) or self.acts([closure.node])):
            self.take_body(closure, call, scope)
        elif closure is not None:
            self.last = call, scope
        else:
            self.take_call(node, call, scope)

    def take_call(self, node: ast.Expr, call: ast.Call, scope: Scope) -> None:
        """Take the call of a function that is not the user's, by itself."""
        func, full = call.func, self.full(call.func, scope) or ""
        plain = full.endswith("set_grad_enabled") and (self.calls or not self.disables(call))
        if full.startswith(SETTINGS) or self.switches(call, scope, Block()) or plain:
            return
        if isinstance(func, ast.Name) and func.id in SHOWING:
            self.refuse_writes(call)
            self.aside.shown.append(node.lineno)
        elif isinstance(func, ast.Attribute) and full == "" and zeroes_gradients(func):
            self.zero(func, scope)
        elif isinstance(func, ast.Attribute) and func.attr == "requires_grad_" and isinstance(func.value, ast.Name):
            self.want(func.value, self.wants_gradient(call), call, node, scope)
        elif isinstance(func, ast.Attribute) and func.attr == "step":
            raise GradcliError("not-allowed", "a step of an optimizer changes the inputs")
        elif changes(call):
            self.take_plainly(node, scope)
        elif self.only_shows(call, scope):
            self.last = call, scope
        else:
            error = change_unknown(call)
            if full.endswith("set_grad_enabled"):
                self.problems.append(error.at(self.source.span(node), self.builder.place))
            raise error

    def take_body(self, closure: Closure, node: ast.Call, scope: Scope) -> ast.expr | None:
        """Take the statements of a function; return the expression that it returns, where it ends with one."""
        block = Block()
        inner = self.enter(closure, node, scope, block)
        self.add(block, node.lineno)
        try:
            body = closure.body
            if returns(body[:-1]):
                raise GradcliError("not-allowed", f"'{closure.name}' has backward in it, and returns from its middle")
            self.take_all([part for part in body if not isinstance(part, ast.Return)], inner)
            last = body[-1].value if isinstance(body[-1], ast.Return) else None
            self.scope_of_body = inner
            return last
        finally:
            self.running = self.running[:-1]

    def take_assignment(
        self, target: ast.expr, value: ast.expr, node: ast.Assign | ast.AnnAssign, scope: Scope
    ) -> None:
        """Take an assignment: of an input, of a derivative, of a function, or of a value."""
        if isinstance(target, ast.Attribute):
            self.take_attribute(target, value, node, scope)
            return
        asked = list(self.asked_in(value, scope))
        if asked:
            self.record_all(asked, node, scope)
            message = "gradcli does not go on with the numbers of a gradient"
            self.builder.lines.append(
                unreadable(node, GradcliError("not-allowed", message, span=self.source.span(node)))
            )
            return
        if self.keeps(target, value, scope) or (self.full(getattr(value, "func", value), scope) or "").startswith(
            "torch.optim."
        ):
            return
        pairs = pairs_of(target, value)
        if any(self.is_leaf(part, scope) for _, part in pairs):
            for one, part in pairs:
                self.take_assignment(one, part, ast.copy_location(ast.Assign([one], part), node), scope)
        elif isinstance(target, ast.Name):
            self.take_named(target, value, node, scope)
        else:
            self.take_plainly(node, scope)

    def take_named(self, target: ast.Name, value: ast.expr, node: ast.stmt, scope: Scope) -> None:
        """Take the assignment of a value to a name."""
        name = scope.written(target.id) or target.id
        leaf = self.is_leaf(value, scope)
        closure = self.closure_of(value.func, scope) if isinstance(value, ast.Call) else None
        try:
            if leaf:
                self.make_leaf(name, value, scope, node)
            elif closure is not None and isinstance(value, ast.Call) and self.acts([closure.node]):
                self.take_returned(name, closure, value, node, scope)
            else:
                self.take_plainly(node, scope)
        except GradcliError as error:
            written = isinstance(value, ast.Call) and may_write(value)
            if error.kind not in VALUELESS or self.calls or written:
                raise
            self.draw(name, node, error, fixed=not leaf)

    def take_returned(self, name: str, closure: Closure, call: ast.Call, node: ast.stmt, scope: Scope) -> None:
        """Take the statements of a function with backward in it, and the assignment of what it returns."""
        returned = self.take_body(closure, call, scope)
        if returned is None:
            raise GradcliError("not-allowed", f"'{closure.name}' returns no value")
        if self.is_leaf(returned, self.scope_of_body):
            self.make_leaf(name, returned, self.scope_of_body, node)
            return
        block = Block()
        piece = self.write(returned, self.scope_of_body, block)
        self.add(block, node.lineno)
        self.builder.lines.append(line_of(assigned(name, piece), node.lineno))

    def take_attribute(self, target: ast.Attribute, value: ast.expr, node: ast.stmt, scope: Scope) -> None:
        """Take what is assigned to an attribute: whether a gradient is wanted, or that there is none yet."""
        base = target.value
        if target.attr == "requires_grad" and isinstance(base, ast.Name) and isinstance(value, ast.Constant):
            self.want(base, bool(value.value), base, node, scope)
            return
        if target.attr == "grad" and isinstance(value, ast.Constant) and value.value is None:
            self.zero(target, scope)
            return
        error = GradcliError("not-allowed", f"what is assigned to '.{target.attr}' changes an input or its gradient")
        if not self.calls:
            self.problems.append(error.at(self.source.span(node), self.builder.place))
        raise error

    def want(self, base: ast.Name, wanted: bool, value: ast.expr, node: ast.stmt, scope: Scope) -> None:
        """Make a variable an input, or one that is no longer differentiated.

        What is computed from inputs has a gradient: PyTorch lets ``requires_grad_()`` say so, and refuses the rest.
        """
        name = scope.written(base.id) or base.id
        if name not in self.builder.leaves and self.has_gradient(self.write(base, scope, Block())):
            if wanted and isinstance(value, ast.Call):
                return
            message = f"'{name}' is computed from inputs, and PyTorch changes requires_grad of inputs alone"
            raise GradcliError("not-allowed", message, hint=f"{name}.detach() lets no gradient through")
        if wanted:
            self.make_leaf(name, value, scope, node)
        else:
            self.fix(name)

    def keeps(self, target: ast.expr, value: ast.expr, scope: Scope) -> bool:
        """Return whether names now hold what ``jax.grad`` or ``jax.vjp`` makes of a function."""
        if isinstance(target, ast.Name):
            derivative = self.derivative_of(value, scope) if isinstance(value, ast.Call) else None
            if derivative is not None:
                scope.held[target.id] = derivative
            return derivative is not None
        full = self.full(value.func, scope) if isinstance(value, ast.Call) else None
        if full not in PULLBACKS or not isinstance(value, ast.Call) or not isinstance(target, ast.Tuple):
            return False
        first, second = target.elts[:2]
        block = Block()
        found = Derivative(value.args[0], scope, tuple(range(len(value.args) - 1)), whole=False)
        output, inputs = self.applied(found, value.args[1:], block, scope, value)
        self.add(block, value.lineno)
        if isinstance(first, ast.Name):
            name = scope.written(first.id) or first.id
            self.builder.lines.append(line_of(assigned(name, output), value.lineno))
            output = Piece.instead(name, self.source.span(first))
        if isinstance(second, ast.Name):
            scope.held[second.id] = Pullback(output, inputs)
        return True

    def zero(self, node: ast.Attribute, scope: Scope) -> None:
        """Note that gradients are set to zero, of one input or of all."""
        if node.attr == "zero_grad":
            self.zeroed |= set(self.builder.leaves)
            return
        self.zeroed |= {scope.written(name) or name for name in root_of(node)}
