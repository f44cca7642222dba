"""Python functions as programs: their source is read as a snippet whose inputs are the parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from gradcli.errors import Budget, GradcliError
from gradcli.language.program import Program
from gradcli.language.snippets.building import Leaf
from gradcli.language.snippets.captured import Outside, full_name, kind_of, refuse_wrapper, text_of_value
from gradcli.language.snippets.definitions import no_source
from gradcli.language.snippets.imports import known
from gradcli.language.snippets.lines import leaf_line
from gradcli.language.snippets.pieces import Piece, Source
from gradcli.language.snippets.reading import Finished, defaults_of, guarded
from gradcli.language.snippets.scopes import Closure, identifiers
from gradcli.language.source import parse

MAIN = ""
"""What the function that is asked for is called among those that it calls."""
OUTSIDE = 0
"""The number of a line that is none of the text."""
JITTED = ("PjitFunction", "_lru_cache_wrapper")
"""Types of what gives what the function in it does."""


def read_function(function: object, budget: Budget, given: Iterable[str]) -> Program:
    """Return the program of a Python function, which is not called.

    Its parameters are the inputs, with their defaults as values. What it reads from outside is constant: numbers and
    arrays as they are now, modules of libraries, and functions, whose sources are read too. Values of ``given``
    that are no numbers, or integers that count turns or stand for a default, are constants of the program.
    Raises ``no-source`` for what Python has no source of, and all that ``read_snippet`` raises.
    """
    outside = Outside()
    outside.take_function(MAIN, plain(function))
    if MAIN in outside.errors:
        raise outside.errors[MAIN]
    definitions = outside.definitions
    texts = [f"{name} = {one.text}" if name and one.is_lambda else one.text for name, one in definitions.items()]
    tree, place = parse("\n\n".join(texts), budget, any_quotes=True)
    values = given if isinstance(given, Mapping) else {}
    reader = FromPython(Source(place.text), tree, place, budget, frozenset(given), outside, values)
    return guarded(tree, place, budget, partial(reader.program_of_function, tree))


def plain(function: Any) -> FunctionType:
    """Return a function of Python's own; raises ``no-source`` for what else can be called."""
    while type(function).__name__ in JITTED or hasattr(function, "_torchdynamo_orig_callable"):
        function = getattr(function, "_torchdynamo_orig_callable", None) or function.__wrapped__
    full = full_name(function)
    if full is not None:
        short = next((name for name in (full, full.rpartition(".")[2]) if known(name)), full)
        raise no_source(f"{full} is a function of a library, which is not read", f"{short}(x)")
    if not callable(function):
        raise no_source(f"{kind_of(function)} is no program: a text is, or a function made by def or lambda")
    if type(function) is not FunctionType:
        what = f"the method {function.__qualname__}" if isinstance(function, MethodType) else kind_of(function)
        raise no_source(f"{what} has no source to read, as a function made by def or lambda has")
    refuse_wrapper(function)
    return function


class FromPython(Finished):
    """Reads functions whose names from outside have values."""

    def __init__(self, *given: Any) -> None:
        *usual, self.outside, self.values = given
        super().__init__(*usual)
        self.names.of_python = True

    def program_of_function(self, tree: ast.Module) -> Program:
        """Return the program of the last function in a text, after those that it calls."""
        definitions = self.outside.definitions
        for (name, one), statement in zip(definitions.items(), tree.body, strict=True):
            node = statement.value if isinstance(statement, ast.Assign | ast.Expr) else statement
            if not isinstance(node, ast.FunctionDef | ast.Lambda):
                message = "'async' is not part of the language"
                raise GradcliError("not-allowed", message, span=self.source.span(statement))
            self.take_defaults(node, one.function)
            self.top.held[name] = Closure(name or getattr(node, "name", ""), node, self.top)
        main = self.top.held.pop(MAIN)
        assert isinstance(main, Closure)  # noqa: S101
        self.take_settings(main)
        self.take_outside(tree, main)
        return self.finished(self.call_of_function(main))

    def take_defaults(self, node: ast.FunctionDef | ast.Lambda, function: FunctionType) -> None:
        """Put the values of defaults in the place of the expressions that made them."""
        given = node.args
        places = [item.arg for item in (*given.posonlyargs, *given.args)]
        values = dict(zip(reversed(places), reversed(function.__defaults__ or ()), strict=False))
        values |= function.__kwdefaults__ or {}

        def named(default: ast.expr, name: str) -> ast.expr:
            if isinstance(default, ast.Constant):
                return default
            own = self.fresh.take(f"{name}_default", free=not self.fresh.used[f"{name}_default"])
            self.top.names[own] = own
            self.outside.take(own, values[name])
            return ast.copy_location(ast.Name(own, ast.Load()), default)

        last = places[len(places) - len(given.defaults) :]
        given.defaults = [named(default, name) for default, name in zip(given.defaults, last, strict=True)]
        pairs = zip(given.kw_defaults, given.kwonlyargs, strict=True)
        given.kw_defaults = [default and named(default, item.arg) for default, item in pairs]

    def take_settings(self, main: Closure) -> None:
        """Take the values of parameters that are no numbers, or integers that are counted with."""
        defaults = defaults_of(main.node.args)
        counts = {name for call in ast.walk(main.node) if is_range(call) for name in identifiers(call)}
        for item in ast.walk(main.node.args):
            value = self.values.get(item.arg, 1.0) if isinstance(item, ast.arg) else 1.0
            if not isinstance(item, ast.arg) or text_of_value(value) is None:
                continue
            counted = item.arg in counts or self.is_setting(defaults.get(item.arg))
            if value is None or isinstance(value, str | bool) or (type(value) is int and counted):
                own = self.fresh.take(f"{item.arg}_given", free=not self.fresh.used[f"{item.arg}_given"])
                self.outside.take(own, value)
                self.settings[item.arg] = ast.copy_location(ast.Name(own, ast.Load()), item)

    def is_setting(self, default: ast.expr | None) -> bool:
        """Return whether a default says how a function works, if only by its value."""
        return super().is_setting(default) or (isinstance(default, ast.Name) and default.id in self.outside.texts)

    def take_outside(self, tree: ast.Module, main: Closure) -> None:
        """Make constants of what the functions have from outside, and errors of what cannot be one."""
        outside, lines = self.outside, self.builder.lines
        parameters = {item.arg for item in ast.walk(main.node.args) if isinstance(item, ast.arg)}
        self.names.meanings |= outside.meanings
        self.top.names |= outside.texts
        for name, array in outside.arrays.items():
            own = name
            if name in parameters:
                own = self.top.names[name] = self.fresh.take(name, free=False)
            self.add_leaf(Leaf(own, 1, Piece(), len(lines), fixed=name not in outside.wanted, held=array))
        reads = {part.id: part for part in ast.walk(tree) if isinstance(part, ast.Name)}
        for name, error in outside.errors.items():
            if name not in reads:  # pytest has put it there, for what is asserted
                continue
            span = self.source.span(reads[name])
            lines.append(replace(leaf_line(name, OUTSIDE), leaf="", error=error.at(span, self.builder.place)))


def is_range(node: ast.AST) -> bool:
    """Return whether a part of a syntax tree is a call of ``range``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"
