"""What a call by itself does in a snippet: it shows something, or may change a value."""

from __future__ import annotations

import ast

from gradcli.errors import GradcliError
from gradcli.language.members import SPECIAL_METHODS
from gradcli.language.names import dotted, near_function
from gradcli.language.snippets.layers import Layers
from gradcli.language.snippets.lines import root_of
from gradcli.language.snippets.scopes import Scope
from gradcli.language.snippets.tables import SETTINGS, SHOWING, SHOWING_METHODS, UNTOUCHED
from gradcli.ops import METHODS, SPELLINGS, find

SORTING = ("sort", "partition")
"""Methods that give a tensor of PyTorch's, and change an array of NumPy's."""


class Effects(Layers):
    """Tells calls that change nothing from others."""

    def refuse_unknown(self, call: ast.Call, scope: Scope) -> None:
        """Refuse a call by itself that may change a value: one that is given values, or is a value's, and not known."""
        root, method = root_of(call.func), getattr(call.func, "attr", "")
        shows = root <= SHOWING or (self.full(call.func, scope) or "").startswith(SETTINGS)
        if shows or method in UNTOUCHED or self.only_shows(call, scope):
            return
        own = isinstance(call.func, ast.Attribute) and any(name in self.fresh.stored for name in root)
        given = [*call.args, *(item.value for item in call.keywords)]
        if own or any(root_of(value) for value in given):
            raise change_unknown(call)

    def only_shows(self, call: ast.Call, scope: Scope) -> bool:
        """Return whether a call by itself changes nothing: a function of the language, or a method that shows."""
        if any(item.arg == "out" for item in call.keywords):
            return False
        func = call.func
        written = self.names.written(func) or dotted(func) or ""
        if isinstance(func, ast.Attribute) and self.full(func, scope) is None:
            method = func.attr
            return method not in SORTING and (
                method in SHOWING_METHODS or method in SPECIAL_METHODS or find(METHODS, method) is not None
            )
        return find(SPELLINGS, written) is not None or self.layer_of(func, scope) is not None


def change_unknown(call: ast.Call) -> GradcliError:
    """Return the error for a call by itself of what may change a value."""
    name = ast.unparse(call.func)
    return GradcliError("not-allowed", f"what {name}(...) changes is not known", hint=near_function(name))
