"""What a library has in the place of the language's functions, displays and attributes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gradcli.ops import Function


@dataclass(frozen=True, slots=True)
class Dialect:
    """The words of a library.

    - ``library``: its name on the command line; ``module``: how a script calls it.
    - ``imports``: the first lines of a script.
    - ``templates``: calls by the name of the language's function, in which its parameters stand for its arguments:
      ``"np.linalg.norm(x, ord=p)"``. One that takes all the rest is a tuple.
    - ``spelled``: the library's own name of any other function, None where it has none.
    - ``keywords``: parameters that the library calls otherwise; ``attributes``: as templates of ``x``.
    - ``wraps``: whether functions refuse plain numbers.
    - ``array``, ``stacked``, ``integers``: templates for numbers, for items that are computed, for positions.
    - ``listed``: whether an index may be a list.
    - ``options``: keywords that its functions have; empty: all that the language has.
    - ``lacks``: functions that it has under this name, and that mean something else there.
    """

    library: str
    module: str
    imports: tuple[str, ...]
    templates: Mapping[str, str]
    spelled: Callable[[Function], str | None]
    keywords: Mapping[str, str] = field(default_factory=dict)
    attributes: Mapping[str, str] = field(default_factory=dict)
    wraps: bool = False
    array: str = "np.array(x)"
    stacked: str = "np.array(x)"
    integers: str = "x.astype(int)"
    listed: bool = True
    options: frozenset[str] = frozenset()
    lacks: frozenset[str] = frozenset()


def expression(text: str) -> ast.expr:
    """Return the syntax of an expression of our own."""
    return ast.parse(text, mode="eval").body


class Fill(ast.NodeTransformer):
    """Puts arguments in the place of the names of parameters."""

    def __init__(self, arguments: Mapping[str, ast.expr]) -> None:
        self.arguments = arguments

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return the argument of a name; any other name is one of the library's."""
        return self.arguments.get(node.id, node)


def filled(template: str, **arguments: ast.expr) -> ast.expr:
    """Return a template with arguments in the place of its names."""
    return Fill(arguments).visit(expression(template))  # type: ignore[no-any-return]
