"""Calls: what a name stands for, which function a call means, and which argument goes to which parameter.

All of it is settled before the program runs.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Container
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from gradcli.errors import GradcliError
from gradcli.errors.hints import did_you_mean, instead_of
from gradcli.ops import METHODS, SPELLINGS, Function, find, rows, spellings
from gradcli.ops.making import CONSTANTS
from gradcli.records import dataclass

if TYPE_CHECKING:
    from gradcli.language.source import Spans


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
    hint = instead_of("module", module.rpartition(".")[2]) or instead_of("call", name.rpartition(".")[2])
    hint = hint or did_you_mean(module, modules - {""}) or near_function(name)
    hint = hint or "the libraries are torch, numpy, jax and scipy"
    return GradcliError("unknown-function", f"unknown module '{module}'", hint=hint)


def near_function(name: str) -> str | None:
    """Return what to write in place of an unknown function: what is known of it, or the nearest name there is."""
    last = name.rpartition(".")[2]
    if instead_of("call", last):
        return instead_of("call", last)
    written = instead_of("written", last)
    if written:
        return f"write {written}"
    if last != name and any(last == row.name for row in rows()):
        return f"did you mean '{last}'?"
    return did_you_mean(name, [*spellings(), *CONSTANTS])


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a function: its name, what it takes, and whether it may be left out or takes all the rest.

    ``by_name`` says that it is given by its name alone, ``flag`` that it is true or false.
    """

    name: str
    kind: str
    required: bool
    rest: bool
    by_name: bool = False
    flag: bool = False

    @property
    def takes_arrays(self) -> bool:
        """Return whether it takes a list of arrays, or all the rest as one."""
        return self.kind in ("Tensors", "Raws") or (self.rest and self.kind == "Tensor")


@dataclass(frozen=True, slots=True)
class Bound:
    """One parameter with the syntax of its argument; ``several`` where a display's items are taken one by one."""

    parameter: Parameter
    nodes: tuple[ast.expr, ...]
    several: bool


DTYPE = Parameter("dtype", "Static", required=False, rest=False)
"""The type of numbers that a function makes, for those that take it."""
WITHOUT_MEANING = ("device", "layout", "pin_memory", "memory_format", "order")
"""Keywords of functions that make arrays which say where the numbers are kept."""


@cache
def parameters(function: Function) -> tuple[Parameter, ...]:
    """Return the parameters of a function, read from its builder's annotations."""
    if function.build is None:
        return (Parameter("x", "Tensor", required=True, rest=False),)
    result = list(inspect.signature(function.build).parameters.values())[1:]
    return tuple(
        Parameter(
            p.name,
            str(p.annotation),
            p.default is p.empty,
            p.kind is p.VAR_POSITIONAL,
            p.kind is p.KEYWORD_ONLY,
            isinstance(p.default, bool),
        )
        for p in result
        if p.annotation != "Library"
    )


@cache
def asks_library(function: Function) -> bool:
    """Return whether a function wants to know under which library's name it was called."""
    return function.build is not None and "library" in inspect.signature(function.build).parameters


FUNCTIONAL = ("F", "nn.functional", "torch.nn.functional", "jax.nn")


def library_of(node: ast.Call) -> str:
    """Return whose name a call uses: ``np``, ``F``, or ``torch``, as for bare names and methods."""
    prefix = (dotted(node.func) or "").rpartition(".")[0]
    if prefix.partition(".")[0] in ("np", "numpy", "jnp") or prefix.startswith("jax.numpy"):
        return "np"
    return "F" if prefix in FUNCTIONAL else "torch"


def number_note(function: Function, arguments: list[Bound], node: ast.Call, variables: Container[str]) -> str | None:
    """Return what PyTorch refuses of a call by one of its names: a plain number where it takes tensors alone."""
    name = dotted(node.func) or ""
    if not (function.tensors and isinstance(node.func, ast.Attribute)):
        return None
    if in_module(name, variables) and name.partition(".")[0] not in ("torch", "F", "nn"):
        return None
    for bound in arguments:
        if bound.parameter.kind == "Tensor" and is_number_node(bound.nodes[0]):
            text = ast.unparse(bound.nodes[0])
            return (
                f"{function.name} of the plain number {text}: PyTorch takes tensors alone there and refuses; "
                f"torch.tensor({text}) is one."
            )
    return None


def is_number_node(node: ast.expr) -> bool:
    """Return whether a syntax node is a number as it stands, with a sign or without."""
    while isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def written_name(node: ast.Call) -> str:
    """Return the name of a function as a call writes it, without its library: ``clamp`` of ``torch.clamp(x, 0)``."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)


def signature_text(function: Function) -> str:
    """Return how a function is called, for messages: ``softmax(x, dim=...)``."""
    parts = [f"*{p.name}" if p.rest else p.name if p.required else f"{p.name}=..." for p in parameters(function)]
    return f"{function.name.rpartition('.')[2]}({', '.join(parts)})"


def resolve_call(node: ast.Call, variables: Container[str]) -> tuple[Function, tuple[ast.expr, ...]]:
    """Return the function that a call means and its receiver, if it is a method; raises ``unknown-function``."""
    func = node.func
    if isinstance(func, ast.Name):
        function = find(SPELLINGS, func.id)
        if function is None:
            what = "is not a function" if func.id in variables else "unknown function"
            message = f"'{func.id}' {what}" if func.id in variables else f"{what} '{func.id}'"
            hint = near_function(func.id)
            if hint is None and len(func.id) < 3:
                hint = f"if {func.id} is a variable: {func.id}*(...) is a product, {func.id}[0] an entry"
            raise GradcliError("unknown-function", message, hint=hint)
        return function, ()
    if not isinstance(func, ast.Attribute):
        raise GradcliError("not-allowed", "only functions can be called", hint="write * to multiply")
    name = dotted(func)
    if name and in_module(name, variables):
        function = find_function(name)
        if function is not None:
            return function, ()
        raise unknown_function(name)
    if name and is_elsewhere(name.partition(".")[0]) and name.partition(".")[0] not in variables:
        raise unknown_function(name)
    method = find(METHODS, func.attr)
    if method is None:
        raise GradcliError("unknown-function", f"unknown method '.{func.attr}()'", hint=near_function(func.attr))
    return method, (func.value,)


def bind_call(function: Function, node: ast.Call, receiver: tuple[ast.expr, ...]) -> list[Bound]:
    """Return each parameter with its argument; raises ``arguments`` for too many, too few or unknown ones."""
    by_name = {p.name: p for p in parameters(function)}
    bound = by_place(function, [*receiver, *node.args])
    refuse_place(node, bound)
    keywords, dtype = without_type(function, node.keywords)
    for keyword in keywords:
        if keyword.arg == "inplace" and keyword.arg not in by_name:
            if isinstance(keyword.value, ast.Constant) and keyword.value.value is False:
                continue
            message = "inplace=True writes into the argument, which this call does not"
            raise GradcliError("arguments", message, hint="leave inplace out, and assign the result")
        name = keyword.arg
        if name not in by_name:
            from gradcli.language.misread import keyword_name  # few calls use another name than ours

            name = keyword_name(name, by_name, bound)
        if name is None or (bound.get(name) and not by_name[name].rest):
            message = f"{function.name} takes no argument '{keyword.arg}' here: {signature_text(function)}"
            raise GradcliError("arguments", message, hint=instead_of("keyword", keyword.arg or ""))
        bound[name] = [without_python_type(keyword.value) if name == "dtype" else keyword.value]
    missing = [p.name for p in by_name.values() if p.required and not p.rest and p.name not in bound]
    if missing:
        raise GradcliError("arguments", f"{function.name} needs {' and '.join(missing)}: {signature_text(function)}")
    if dtype is not None and function.family != "making":
        first, *rest = next(iter(bound.values()))
        bound[next(iter(bound))] = [as_typed(first, dtype), *rest]
    result = [bind_display(by_name[name], nodes) for name, nodes in bound.items() if nodes]
    made = dtype is not None and function.family == "making"
    return [*result, Bound(DTYPE, (dtype,), several=False)] if made and dtype is not None else result


def by_place(function: Function, positional: list[ast.expr]) -> dict[str, list[ast.expr]]:
    """Return the arguments that stand without a name, by parameter; raises ``arguments`` for too many."""
    bound: dict[str, list[ast.expr]] = {}
    for parameter in parameters(function):
        if parameter.rest:
            bound[parameter.name], positional = list(positional), []
        elif positional and not parameter.by_name:
            first, *positional = positional
            bound[parameter.name] = [without_python_type(first) if parameter.name == "dtype" else first]
    if positional:
        message = f"too many arguments: {signature_text(function)}"
        raise GradcliError("arguments", message, hint=instead_of("more", function.name))
    return bound


BY_NAME = ("keepdim", "ddof")
"""What NumPy's functions take by name: dtype and out stand before it."""


def refuse_place(node: ast.Call, bound: Container[str]) -> None:
    """Refuse an option of a NumPy function that stands where NumPy has another one."""
    name = next((name for name in BY_NAME if name in bound), None)
    if name is None or library_of(node) != "np":
        return
    written = dotted(node.func) or ""
    if "linalg" not in written:
        name = "keepdims" if name == "keepdim" else name
        raise GradcliError("arguments", f"{written} has another argument there", hint=f"write {name}=...")


def without_type(function: Function, keywords: list[ast.keyword]) -> tuple[list[ast.keyword], ast.expr | None]:
    """Return the keywords but ``dtype=`` and those on where numbers are kept, and the type that is wanted, or None."""
    if not function.typed:
        return keywords, None
    dtype = next((without_python_type(keyword.value) for keyword in keywords if keyword.arg == "dtype"), None)
    left_out = ("dtype", *WITHOUT_MEANING) if function.family == "making" else ("dtype",)
    return [keyword for keyword in keywords if keyword.arg not in left_out], dtype


def as_typed(node: ast.expr, dtype: ast.expr) -> ast.expr:
    """Return the call that makes numbers of a type of a value, as reductions do before they reduce."""
    method = ast.copy_location(ast.Attribute(node, "type", ast.Load()), node)
    return ast.copy_location(ast.Call(method, [dtype], []), node)


def without_python_type(node: ast.expr) -> ast.expr:
    """Return the name of a type where it is Python's own, such as ``float``."""
    names = {"float": "float64", "int": "int64", "bool": "bool"}
    if isinstance(node, ast.Name) and node.id in names:
        return ast.copy_location(ast.Constant(names[node.id]), node)
    return node


def bind_display(parameter: Parameter, nodes: list[ast.expr]) -> Bound:
    """Return a bound argument, with a display's items one by one where the parameter wants plain values or a list."""
    single = nodes[0] if len(nodes) == 1 else None
    display = isinstance(single, ast.List | ast.Tuple)
    if display and (
        parameter.takes_arrays or (parameter.kind.startswith("Static") and not _of_tensor(parameter, single))
    ):
        return Bound(parameter, tuple(single.elts), several=True)  # type: ignore[union-attr]
    return Bound(parameter, tuple(nodes), several=parameter.rest)


def _of_tensor(parameter: Parameter, display: ast.expr | None) -> bool:
    if "Tensor" not in parameter.kind or not isinstance(display, ast.List | ast.Tuple):
        return False
    plain = all(isinstance(item, ast.Constant | ast.UnaryOp) for item in display.elts)
    fractions = any(isinstance(part, ast.Constant) and isinstance(part.value, float) for part in ast.walk(display))
    return fractions or not plain  # integers are axes or places, as far as one can see


def refuse_stars(node: ast.Call, spans: Spans) -> None:
    """Refuse ``*values`` and ``**options`` in a call."""
    stars: list[ast.AST] = [argument for argument in node.args if isinstance(argument, ast.Starred)]
    stars += [keyword for keyword in node.keywords if keyword.arg is None]
    if stars:
        message = "a starred argument, or '**' in a call, is not part of the language"
        raise GradcliError("not-allowed", message, span=spans.of(stars[0]))


def refuse_ambiguous(function: Function, node: ast.Call) -> None:
    """Refuse ``max(x, 0)``: PyTorch reads an axis there, plain Python the larger of two numbers."""
    if function.name not in ("max", "min") or not isinstance(node.func, ast.Name) or len(node.args) < 2:
        return
    try:
        number = ast.literal_eval(node.args[1])
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return
    if not isinstance(number, int | float) or isinstance(number, bool):
        return
    name, text = function.name, ast.unparse(node.args[1])
    larger = f"write {name}imum(..., {text})"
    if isinstance(number, float):
        raise GradcliError("ambiguous", f"{name}(..., {text}) takes an axis, and {text} is none", hint=larger)
    raise GradcliError(
        "ambiguous",
        f"{name}(..., {text}) could mean the {name}imum with {text}, or along an axis",
        hint=f"{larger}, or {name}(..., dim={text})",
    )


@cache
def torch_names() -> dict[str, frozenset[str]]:
    """Return the names that modules and classes of PyTorch's have, by their full names."""
    import json  # most programs ask for no such name

    text = Path(__file__).with_name("torch_names.json").read_text(encoding="utf-8")
    return {owner: frozenset(row.split()) for owner, row in json.loads(text).items()}


def lacks(owner: str, name: str) -> bool:
    """Return whether PyTorch itself has no such name in a module or a class, as far as its names are listed."""
    return owner in torch_names() and name not in torch_names()[owner]
