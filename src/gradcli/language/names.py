"""Names and operators: how operators are written, what a dotted name stands for or may have meant."""

from __future__ import annotations

import ast
from collections.abc import Container

from gradcli.errors import GradcliError
from gradcli.errors.suggest import INSTEAD_OF_CALL, INSTEAD_OF_MODULE, WRITTEN_AS, did_you_mean
from gradcli.ops import SPELLINGS, Function, find, rows, spellings
from gradcli.ops.making import CONSTANTS

MODULES = {"torch", "np", "numpy", "jnp", "math", "F", "nn", "linalg", "special", "jax", "scipy"}
"""Names that stand for a library unless a program gives them a value."""
SAME_AS = {
    "jnp": "np",
    "jax.numpy": "jnp",
    "jax.nn": "F",
    **dict.fromkeys(("jnp.linalg", "jax.numpy.linalg", "scipy.linalg", "jax.scipy.linalg"), "np.linalg"),
    **dict.fromkeys(("scipy.special", "sp.special", "jax.scipy.special", "jsp.special"), "special"),
}
"""A module whose functions mean what another's of the same name mean, where it has none of its own."""
ELSEWHERE = {
    *("tf", "tensorflow", "keras", "cupy", "mxnet", "sympy", "autograd", "anp", "flax", "optax"),
    *("pd", "pandas", "plt", "sklearn", "cmath", "onp"),
}
"""Names of libraries that are not read, as programs import them."""
NEW_AXIS = {f"{prefix}.newaxis" for prefix in ("np", "numpy", "jnp", "jax.numpy", "torch")}
"""Names of None in an index."""
BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
}
MASKS: dict[type[ast.operator], str] = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


BITS = "float64 float32 float16 double int64 int32 int16 int8 uint8 bool"
TYPES = {
    f"{prefix}.{name}": name
    for prefix, more in (
        ("torch", "float half bfloat16 long int short"),
        ("torch", "FloatTensor DoubleTensor HalfTensor LongTensor IntTensor BoolTensor"),
        *((numpy, "single int_ intp bool_") for numpy in ("np", "numpy", "jnp")),
    )
    for name in f"{BITS} {more}".split()
}
"""Names of types of numbers; each stands for a text."""


def dotted(node: ast.expr) -> str | None:
    """Return ``a.b.c`` for an attribute chain on a name, None for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def in_module(name: str, variables: Container[str]) -> bool:
    """Return whether a dotted name begins with that of a library, and not with a variable."""
    return name.partition(".")[0] not in variables and (
        name.partition(".")[0] in MODULES or name.rpartition(".")[0] in SAME_AS
    )


def is_elsewhere(name: str) -> bool:
    """Return whether a name without a value is that of a library that is not read, or of one written in capitals."""
    return name in ELSEWHERE or (name not in MODULES and name.lower() in MODULES and len(name) > 1)


def find_function(name: str) -> Function | None:
    """Return the function of a name, or the one that it means in another module; None where there is none."""
    function = find(SPELLINGS, name)
    module, _, last = name.rpartition(".")
    while function is None and module in SAME_AS:
        module = SAME_AS[module]
        function = find(SPELLINGS, f"{module}.{last}")
    return function


def find_constant(name: str) -> float | str | None:
    """Return the number or the type of numbers that a name stands for, here or in another module; None for none."""
    module, _, last = name.rpartition(".")
    while name not in CONSTANTS and name not in TYPES and module in SAME_AS:
        module = SAME_AS[module]
        name = f"{module}.{last}"
    return TYPES.get(name, CONSTANTS.get(name))


def constant_name(node: ast.Attribute, variables: Container[str]) -> str | None:
    """Return the name of a library's constant or type of numbers, None for an attribute of a value.

    Raises ``unknown-name``.
    """
    name = dotted(node)
    if not name or not in_module(name, variables):
        return None
    if name in TYPES or name in NEW_AXIS or find_constant(name) is not None:
        return name
    if find_function(name):
        raise GradcliError("unknown-name", f"'{name}' is a function", hint=f"call it: {name}(x)")
    raise GradcliError("unknown-name", f"unknown name '{name}'", hint=near_function(name))


def unknown_function(name: str) -> GradcliError:
    """Return the error for a dotted name that is no function, or whose module is none."""
    module = name.rpartition(".")[0]
    modules = {spelling.rpartition(".")[0] for spelling in spellings()} | {*SAME_AS}
    if any(one == module or one.startswith(f"{module}.") for one in modules):
        return GradcliError("unknown-function", f"unknown function '{name}'", hint=near_function(name))
    hint = INSTEAD_OF_MODULE.get(module.rpartition(".")[2]) or INSTEAD_OF_CALL.get(name.rpartition(".")[2])
    hint = hint or did_you_mean(module, modules - {""}) or near_function(name)
    hint = hint or "the libraries are torch, numpy, jax and scipy"
    return GradcliError("unknown-function", f"unknown module '{module}'", hint=hint)


def near_function(name: str) -> str | None:
    """Return what to write in place of an unknown function: what is known of it, or the nearest name there is."""
    last = name.rpartition(".")[2]
    if last in INSTEAD_OF_CALL:
        return INSTEAD_OF_CALL[last]
    if last in WRITTEN_AS:
        return f"write {WRITTEN_AS[last]}"
    if last != name and any(last == row.name for row in rows()):
        return f"did you mean '{last}'?"
    return did_you_mean(name, [*spellings(), *CONSTANTS])


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
