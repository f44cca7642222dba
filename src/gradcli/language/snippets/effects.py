"""What a call by itself does in a snippet: it shows something, or may change a value."""

from __future__ import annotations

import ast
from collections.abc import Container, Sequence

from gradcli.errors import GradcliError
from gradcli.errors.suggest import INSTEAD_OF_WORD
from gradcli.language.members import SPECIAL_METHODS
from gradcli.language.names import STATEMENT_WORDS, dotted, near_function
from gradcli.language.snippets.callees import callee_of, is_of_rows, may_be_given
from gradcli.language.snippets.expressions import Block
from gradcli.language.snippets.layers import Layers, is_constant
from gradcli.language.snippets.lines import CHANGING, changed_by, has_place, may_write, own_names, root_of
from gradcli.language.snippets.lists import given_list
from gradcli.language.snippets.pieces import Piece, join, without_gradient
from gradcli.language.snippets.scopes import Closure, Scope, identifiers, parts
from gradcli.language.snippets.tables import (
    SETTINGS,
    SHOWING,
    SHOWING_METHODS,
    UNTOUCHED,
    WITH_GRADIENT,
    WITHOUT_GRADIENT,
)
from gradcli.ops import methods, spellings

SORTING = ("sort", "partition")
"""Methods that give a tensor of PyTorch's, and change an array of NumPy's."""


class Effects(Layers):
    """Tells calls that change nothing from others."""

    def refuse_unknown(self, call: ast.Call, scope: Scope) -> None:
        """Refuse a call by itself that may change a value: one that is given values, or is a value's, and not known."""
        root, method = root_of(call.func), getattr(call.func, "attr", "")
        shows = root <= SHOWING or (self.full(call.func, scope) or "").startswith(SETTINGS)
        self.refuse_writes(call)
        if shows or method in UNTOUCHED or self.only_shows(call, scope):
            return
        own = isinstance(call.func, ast.Attribute) and any(name in self.fresh.stored for name in root)
        given = [*call.args, *(item.value for item in call.keywords)]
        if own or any(root_of(value) for value in given):
            raise change_unknown(call)

    def writes(self, nodes: Sequence[ast.AST], seen: tuple[ast.AST, ...] = ()) -> bool:
        """Return whether statements may change a value that others see, or call a function of the snippet that may."""
        own = own_names(nodes)
        for part in parts(nodes):
            changed = changed_by(part)
            if changed is not None and not (root_of(changed) and root_of(changed) <= own):
                return True
            func = part.func if isinstance(part, ast.Call) else None
            if isinstance(func, ast.Attribute) and func.attr == "append" and not root_of(func) <= own:
                return True
            held = self.top.holds(func.id) if isinstance(func, ast.Name) else None
            if isinstance(held, Closure) and held.node not in seen and self.writes([held.node], (*seen, held.node)):
                return True
        return False

    def appends(self, call: ast.Call, scope: Scope) -> bool:
        """Return whether a call appends an entry to a list of the snippet's; raises where another function has it."""
        func = call.func
        if not isinstance(func, ast.Attribute) or func.attr != "append" or not isinstance(func.value, ast.Name):
            return False
        if func.value.id in scope.lists:
            raise given_list(func.value.id)
        return func.value.id in self.fresh.lists and len(call.args) == 1 and not call.keywords

    def grown(self, call: ast.Call, scope: Scope, block: Block) -> Piece:
        """Return the statement that gives a list an entry more."""
        assert isinstance(call.func, ast.Attribute)  # noqa: S101
        self.refuse_fixed()
        name, entry = self.write(call.func.value, scope, block), self.write(call.args[0], scope, block).on_a_line()
        opening = [name, Piece.at(" = torch.cat([", name.place), name, Piece.at(", [", name.place)]
        return join([*opening, entry, Piece.at("]])", name.place)])

    def fixed_value(self, value: Piece) -> Piece:
        """Return what a value is under no_grad: names, which stay what they are, or one without a gradient.

        Raises ``not-allowed`` where it may be either.
        """
        node = ast.parse(value.text.strip(), mode="eval").body
        entries = node.elts if isinstance(node, ast.List | ast.Tuple) and node.elts else [node]
        if all(isinstance(entry, ast.Name) for entry in entries):
            return value
        if may_be_given(node, self.fresh.maybe_lists):
            raise there_already()
        return without_gradient(value)

    def take_apart(self, target: Piece, value: Piece, block: Block) -> None:
        """Write that variables get the entries of a value under no_grad, each without a gradient unless it is there.

        Raises ``not-allowed`` where it may be either.
        """
        block.add(join([target, Piece.at(" = ", target.place), value]))
        node = ast.parse(value.text.strip(), mode="eval").body
        if isinstance(node, ast.Name) and node.id in self.fresh.lists:
            return
        if isinstance(node, ast.Name) or may_be_given(node, self.fresh.maybe_lists):
            raise there_already()
        for name in identifiers(ast.parse(target.text.strip(), mode="eval")):
            block.add(Piece.at(f"{name} = {name}.detach()", target.place))

    def refuse_new_rows(self, node: ast.expr, scope: Scope) -> None:
        """Refuse that a loop under no_grad runs over what it makes: its rows have no gradient, others keep theirs."""
        for rows in node.args if is_of_rows(node) and isinstance(node, ast.Call) else [node]:
            numbers = isinstance(rows, ast.Call) and callee_of(rows.func) in ("range", "detach", "tolist")
            entries = rows.elts if isinstance(rows, ast.List | ast.Tuple) else []
            named = bool(entries) and all(isinstance(entry, ast.Name | ast.Constant) for entry in entries)
            if not (numbers or named or is_in(rows, self.fresh.lists_in(scope))):
                raise there_already()

    def refuse_writes(self, node: ast.Call | ast.Assert) -> None:
        """Refuse what may write to a value where that is shown or checked."""
        if self.may_change(node):
            what = "a value is shown or checked here that this line may write to"
            raise GradcliError("not-allowed", what, hint="write to it on a line before")

    def may_change(self, node: ast.AST) -> bool:
        """Return whether an expression, or a call of its, may change a value."""
        return self.writes([node]) or any(self.is_change(part) for part in ast.walk(node) if isinstance(part, ast.Call))

    def is_change(self, call: ast.Call) -> bool:
        """Return whether a call may change what it is given, or the value that it is a method of."""
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if isinstance(call.func, ast.Attribute) and method in CHANGING:
            of_array = method not in SORTING or self.arrays.holds_array(call.func.value)
            return of_array and self.names.full(call.func) is None
        return method.startswith("__") or may_write(call)

    def block_of(self, node: ast.With, scope: Scope, block: Block) -> Block:
        """Return where the statements of a ``with`` go: the same block, without a gradient where it says so."""
        fixed = block.fixed
        for item in node.items:
            context = item.context_expr
            full = self.full(context.func if isinstance(context, ast.Call) else context, scope) or ""
            if full not in WITHOUT_GRADIENT and not full.startswith(WITH_GRADIENT):
                raise not_allowed(node)
            if (fixed and full not in WITHOUT_GRADIENT) or (full == "torch.inference_mode" and has_arguments(context)):
                raise GradcliError("not-allowed", "whether a gradient flows is switched inside of no_grad")
            fixed = fixed or full in WITHOUT_GRADIENT or self.disables(context)
        return Block(block.levels, fixed, block.looped, block.lines)

    def disables(self, context: ast.expr) -> bool:
        """Return whether ``set_grad_enabled(False)`` begins a block; raises ``not-allowed`` for what is not plain."""
        if not isinstance(context, ast.Call) or not ast.unparse(context.func).endswith("set_grad_enabled"):
            return False
        value = context.args[0] if context.args else None
        if not isinstance(value, ast.Constant) or not isinstance(value.value, bool):
            raise GradcliError("not-allowed", "set_grad_enabled takes True or False here")
        return not value.value

    def only_shows(self, call: ast.Call, scope: Scope) -> bool:
        """Return whether a call by itself changes nothing: a function of the language, or a method that shows."""
        if has_place(call) or any(
            item.arg == "out" or (item.arg == "inplace" and not is_constant(item.value, False))
            for item in call.keywords
        ):
            return False
        func = call.func
        written = self.names.written(func) or dotted(func) or ""
        if isinstance(func, ast.Attribute) and self.full(func, scope) is None:
            method = func.attr
            return method not in SORTING and (
                method in SHOWING_METHODS or method in SPECIAL_METHODS or method in methods()
            )
        layer = self.layer_of(func, scope)
        return written in spellings() if layer is None else not layer.writes


def is_in(node: ast.expr, lists: Container[str]) -> bool:
    """Return whether an expression is one of some lists."""
    return isinstance(node, ast.Name) and node.id in lists


def there_already() -> GradcliError:
    """Return the error for a value under no_grad of which it is not known whether it is new."""
    message = "under no_grad a value that is there already keeps its gradient, and a new one has none"
    return GradcliError("not-allowed", message, hint="give the value its name before no_grad, or .detach()")


def has_arguments(node: ast.expr) -> bool:
    """Return whether an expression is a call with arguments."""
    return isinstance(node, ast.Call) and bool(node.args or node.keywords)


def change_unknown(call: ast.Call) -> GradcliError:
    """Return the error for a call by itself of what may change a value."""
    name = ast.unparse(call.func)
    asked = next((item.arg for item in call.keywords if item.arg in ("inplace", "out")), None)
    hint = f"leave {asked}=... out, and assign the result" if asked else near_function(name)
    return GradcliError("not-allowed", f"what {name}(...) changes is not known", hint=hint)


def not_allowed(node: ast.stmt) -> GradcliError:
    """Return the error for a statement that is not part of the language."""
    name = type(node).__name__
    word = STATEMENT_WORDS.get(name, name.lower())
    return GradcliError("not-allowed", f"'{word}' is not part of the language", hint=INSTEAD_OF_WORD.get(word))
