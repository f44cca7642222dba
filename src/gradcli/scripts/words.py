"""What a library has in the place of the language's functions, displays and attributes: ``words.toml``, and Dialect."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np

from gradcli.ops import Function
from gradcli.scripts import helpers


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


PLAIN_SYNTAX = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.IfExp, ast.Compare, ast.operator, ast.unaryop, ast.cmpop,
    ast.Name, ast.Load, ast.expr_context)  # fmt: skip
"""What plain numbers of Python are made of."""
DEFAULT = "default "
"""Marks the default of a parameter, whose name follows: nobody gave it."""


def names_of(template: str) -> set[str]:
    """Return the names in a template, those of parameters among them."""
    return {node.id for node in ast.walk(expression(template)) if isinstance(node, ast.Name)}


def without_defaults(node: ast.expr) -> ast.expr:
    """Return an expression whose calls leave out what nobody gave and the library takes for granted, too.

    That is None and False, an option of the same name, and any default of a function that the script brings along.
    """
    for call in [part for part in ast.walk(node) if isinstance(part, ast.Call)]:
        own = isinstance(call.func, ast.Name)
        call.keywords = [word for word in call.keywords if not is_left_out(word.value, own, word.arg)]
        while call.args and is_left_out(call.args[-1], own):
            call.args.pop()
    return node


def is_left_out(node: ast.expr, own: bool, name: str | None = None) -> bool:
    """Return whether nobody gave an argument, and the function called has the same default."""
    if not isinstance(node, ast.Constant) or not (node.kind or "").startswith(DEFAULT):
        return False
    return own or node.value is None or node.value is False or node.kind == f"{DEFAULT}{name}"


def leaves_of(node: ast.List | ast.Tuple) -> Iterator[ast.expr]:
    """Yield the items of a display that are no displays."""
    for item in node.elts:
        if isinstance(item, ast.List | ast.Tuple):
            yield from leaves_of(item)
        else:
            yield item


def as_list(node: ast.expr) -> ast.expr:
    """Return a display as lists."""
    if isinstance(node, ast.List | ast.Tuple):
        return ast.List([as_list(item) for item in node.elts], ast.Load())
    return node


def floats(node: ast.expr) -> ast.expr:
    """Return numbers with every integer as the double that it is in the language."""
    if isinstance(node, ast.List | ast.Tuple):
        return ast.List([floats(item) for item in node.elts], ast.Load())
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return ast.Constant(float(node.value))
    if isinstance(node, ast.UnaryOp):
        return ast.UnaryOp(node.op, floats(node.operand))
    return node


@cache
def helper_texts(module: str = "np") -> dict[str, str]:
    """Return the text of each helper by its name, with ``module`` in the place of ``np``."""
    source = Path(helpers.__file__).read_text(encoding="utf-8")
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            text = ast.get_source_segment(source, node) or ""
            text = re.sub(r"(\w+): (?:Any|Array|int|bool|str|float)\b(?: (=) )?", r"\1\2", text)
            found[node.name] = re.sub(r"\) -> \w+:", "):", text)
    found["Pair"] = 'Pair = namedtuple("Pair", "values indices")'
    return {name: re.sub(r"\bnp\.", f"{module}.", text) for name, text in found.items()}


def spelled_in_numpy(function: Function) -> str | None:
    """Return the name that numpy has for a function; the table of spellings holds what jax and PyTorch have, too."""
    for name in function.spellings:
        parts = name.split(".")
        if parts[0] == "np" and all(part.isidentifier() for part in parts):
            home = np.linalg if parts[1:-1] == ["linalg"] else np
            if len(parts) == 2 + (home is np.linalg) and hasattr(home, parts[-1]):
                return name
    return None


def in_jax(text: str) -> str:
    """Return a text of numpy's with the name that jax has for it."""
    return re.sub(r"\bnp\.", "jnp.", text)


def spelled_in_jax(function: Function) -> str | None:
    """Return the name that jax.numpy has for a function."""
    own = spelled_in_numpy(function)
    return None if own is None else in_jax(own)


def spelled_in_torch(function: Function) -> str | None:
    """Return the name that PyTorch has for a function, the shortest there is."""
    first = ("F.", "torch.", "F.") if function.family == "neural" else ("torch.", "F.")
    own = [name for prefix in first for name in function.spellings if name.startswith(prefix)]
    return WORDS["torch"]["names"].get(function.name) or next(iter(own), None)


WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
OPTIONS = frozenset((
    "axis", "axes", "keepdims", "k", "ddof", "decimals", "axis1", "axis2", "n", "m", "offset", "rtol", "atol",
    "equal_nan", "bins", "prepend", "append", "UPLO", "dx", "ord", "num", "right", "side", "nan", "posinf", "neginf",
    "mode", "method", "weights", "indices_or_sections", "hermitian", "rcond", "constant_values",
))  # fmt: skip
NUMPY = Dialect(
    "numpy",
    "np",
    ("import numpy as np",),
    WORDS["numpy"]["templates"],
    spelled_in_numpy,
    WORDS["numpy"]["keywords"],
    WORDS["numpy"]["attributes"],
    options=OPTIONS,
    lacks=frozenset(("meshgrid", "ldexp", "np.gradient", "pinv", "lstsq")),
)
JAX = replace(
    NUMPY,
    library="jax",
    module="jnp",
    imports=("import jax", "import jax.numpy as jnp"),
    templates={name: in_jax(text) for name, text in NUMPY.templates.items()} | WORDS["jax"]["templates"],
    spelled=spelled_in_jax,
    array="jnp.array(x)",
    stacked="jnp.array(x)",
    listed=False,
    lacks=NUMPY.lacks | {"linalg.svd", "svd"},
)
TORCH = Dialect(
    "torch",
    "torch",
    ("import torch", "import torch.nn.functional as F"),
    WORDS["torch"]["templates"],
    spelled_in_torch,
    WORDS["torch"]["keywords"],
    WORDS["torch"]["attributes"],
    wraps=True,
    array="torch.tensor(x)",
    stacked="torch.stack(x)",
    integers="x.long()",
    lacks=frozenset(("meshgrid", "floor_divide", "FloatTensor", "LongTensor", "BoolTensor")),
)
