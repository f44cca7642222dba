"""Methods that write in place, ``y.mul_(2)``: each is an augmented assignment, or the function of that name."""

from __future__ import annotations

import ast
from collections.abc import Container
from typing import Protocol

from gradcli import ops
from gradcli.language.indexing import Run
from gradcli.language.names import MODULES
from gradcli.language.trace import Assigned, Writer, Written
from gradcli.ops.declare import Op

PLUS = ops.OPERATORS["+", 2]
OPERATORS: dict[str, type[ast.operator]] = {
    "add_": ast.Add,
    "sub_": ast.Sub,
    "mul_": ast.Mult,
    "div_": ast.Div,
    "pow_": ast.Pow,
    "remainder_": ast.Mod,
    "floor_divide_": ast.FloorDiv,
}
FILLS = {"zero_": "zeros_like", "fill_": "full_like", "copy_": "full_like"}
NAMES = (
    "abs_ acos_ asin_ atan_ ceil_ clamp_ clip_ cos_ cosh_ erf_ exp_ exp2_ "
    "expm1_ floor_ log_ log10_ log1p_ log2_ neg_ reciprocal_ relu_ round_ rsqrt_ sigmoid_ "
    "sign_ sin_ sinh_ sqrt_ square_ tan_ tanh_ tril_ triu_ "
    "asinh_ acosh_ atanh_ erfc_ erfinv_ lgamma_ digamma_ sinc_ logit_ frac_ trunc_ fmod_ nan_to_num_ deg2rad_ rad2deg_ "
    "clamp_min_ clamp_max_ lerp_ addcmul_ addcdiv_ addmm_ addmv_ addr_ baddbmm_ addbmm_ cumsum_ cumprod_ hypot_ "
    "atan2_ xlogy_ copysign_ float_power_ renorm_ masked_fill_ masked_scatter_ scatter_ scatter_add_ scatter_reduce_ "
    "index_add_ index_copy_ index_fill_ index_put_ index_reduce_ put_"
)
FUNCTIONS = frozenset(NAMES.split())
"""Methods that write what the function without the underscore gives."""


class Compiler(Protocol):
    """What compiles the statements that a call stands for."""

    writer: Writer
    variables: dict[str, int]

    def named(self, node: ast.expr, wanted: str = "") -> ast.Name:
        """Return the variable that is written to."""

    def emit(self, run: Run, node: ast.AST) -> int:
        """Add a step and return its register."""

    def expression(self, root: ast.expr) -> int:
        """Compile an expression and return the register of its value."""

    def augment(self, node: ast.AugAssign) -> None:
        """Compile an augmented assignment."""

    def change(
        self, told: Assigned, node: ast.AST, combine: Run, operands: tuple[int, int], op: Op, start: int | None = None
    ) -> None:
        """Compile a write to a whole variable."""


def write_in_place(compiler: Compiler, call: ast.Call, wanted: str = "") -> ast.expr:
    """Compile a call of a method that writes in place and return the variable that it wrote to.

    What is called on no variable is called ``wanted``, if the call does not mention that. A call of another method is
    returned as it stands.
    """
    if not (isinstance(call.func, ast.Attribute) and writes_in_place(call, compiler.variables)):
        return call
    base = call.func.value
    if isinstance(base, ast.Attribute) and base.attr == "grad":
        return call
    if any(isinstance(part, ast.Name) and part.id == wanted for part in ast.walk(call)):
        wanted = ""
    inner = write_in_place(compiler, base, wanted) if isinstance(base, ast.Call) else base
    name = compiler.named(inner, wanted)
    loaded = ast.copy_location(ast.Name(name.id, ast.Load()), name)
    if call.func.attr in OPERATORS and len(call.args) == 1 and not call.keywords:
        target = ast.copy_location(ast.Name(name.id, ast.Store()), name)
        compiler.augment(ast.copy_location(ast.AugAssign(target, OPERATORS[call.func.attr](), call.args[0]), call))
        return loaded
    given = [
        *[compiler.writer.written(part).text for part in call.args],
        *[f"{part.arg}={compiler.writer.written(part.value).text}" for part in call.keywords],
    ]
    function: ast.expr
    if call.func.attr in FILLS:
        word, arguments = FILLS[call.func.attr], [loaded, *call.args]
        function, text = ast.Name(word, ast.Load()), f"{word}({', '.join([name.id, *given])})"
    else:
        word, arguments = call.func.attr[:-1], call.args
        function, text = ast.Attribute(loaded, word, ast.Load()), f"{name.id}.{word}({', '.join(given)})"
    new = ast.copy_location(ast.Call(ast.copy_location(function, call.func), arguments, call.keywords), call)
    start = compiler.emit(lambda regs: len(regs[0].nodes), call)
    value, old = compiler.expression(new), compiler.expression(loaded)
    compiler.change(Assigned(name.id, Written(text)), call, lambda regs: regs[value], (old, old), PLUS, start)
    return loaded


def writes_in_place(node: ast.AST, variables: Container[str] = ()) -> bool:
    """Return whether a syntax node is a call of a method that writes in place, and of no module's function."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    base = node.func.value
    if isinstance(base, ast.Name) and base.id in MODULES and base.id not in variables:
        return False
    return is_known(node, node.func.attr)


def is_known(call: ast.Call, method: str) -> bool:
    """Return whether a call is of a method that writes in place."""
    if method in OPERATORS:
        return len(call.args) == 1
    return method in FILLS or method in FUNCTIONS
