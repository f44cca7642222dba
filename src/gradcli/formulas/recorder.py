"""Arrays that write down what numpy does with them: a vjp that is run on them writes itself.

>>> g, y = write("g", np.ones(2)), write("y", np.array([0.5, 0.25]))
>>> (g * (1 - y * y)).expression.text
'g*(1 - y**2)'

The numbers go along, so that a rule takes the branch that it took for them: ``noting_answers`` tells of it. A text may
give fewer entries than the array has, those of a smaller shape that broadcasts to it: ``stands`` is that shape. What
has no text in the language raises ``Unwritable``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from gradcli.formulas import expression as e
from gradcli.formulas.expression import Expression
from gradcli.formulas.texts import TooLarge, constant_text
from gradcli.ops.declare import Array
from gradcli.ops.signatures import Shape
from gradcli.ops.writing import index_text


def called(name: str) -> Callable[..., Expression]:
    """Return the rule of a function that is called."""
    return lambda *parts: e.call(name, *parts)


def between(sign: str, rank: int) -> Callable[..., Expression]:
    """Return the rule of an operator."""
    return lambda left, right: e.infix(sign, rank, left, right)


def compared(sign: str) -> Callable[..., Expression]:
    """Return the rule of a comparison."""
    return lambda left, right: e.compare(sign, left, right)


COMPARISONS = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!="}
CALLED = (
    *("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "expm1", "exp2", "log", "log2", "log10", "log1p", "sqrt"),
    *("cbrt", "hypot", "logaddexp", "maximum", "minimum", "sign", "isnan", "floor", "trunc"),
)
"""Functions that have the same name in both."""
UFUNCS: dict[str, Callable[..., Expression]] = {
    "add": e.add,
    "subtract": e.subtract,
    "multiply": e.multiply,
    "divide": e.divide,
    "negative": e.negate,
    "power": e.raise_to,
    "square": lambda x: e.raise_to(x, e.number(2)),
    "invert": lambda x: Expression(f"~{x.within(e.NEGATED - 1)}", e.NEGATED),
    "logical_not": lambda x: Expression(f"~{x.within(e.NEGATED - 1)}", e.NEGATED),
    "floor_divide": between("//", 70),
    "remainder": between("%", 70),
    "bitwise_and": between("&", 50),
    "bitwise_or": between("|", 40),
    **{name: compared(sign) for name, sign in COMPARISONS.items()},
    "absolute": called("abs"),
    **{f"arc{name}": called(f"a{name}") for name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")},
    **{name: called(name) for name in CALLED},
}
"""What the ufuncs of numpy are in the language."""


FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""What numpy's functions that are no plain ufuncs write, entered by ``recording``."""

ANSWERS: ContextVar[list[Any] | None] = ContextVar("ANSWERS", default=None)


@contextmanager
def noting_answers() -> Iterator[list[Any]]:
    """Give a list of what rules are told about their numbers meanwhile: empty, their texts are those of all numbers."""
    answers: list[Any] = []
    token = ANSWERS.set(answers)
    try:
        yield answers
    finally:
        ANSWERS.reset(token)


class Unwritable(Exception):
    """Something was done with a written array that the language has no text for."""


class Written(np.lib.mixins.NDArrayOperatorsMixin):
    """An array with the expression that gives it, or gives what broadcasts to it from the shape ``stands``."""

    __slots__ = ("expression", "stands", "value")

    def __init__(self, expression: Expression, value: Array, stands: Shape) -> None:
        self.expression = expression if expression.shape is not None else expression._replace(shape=stands)
        self.value = value
        self.stands = () if expression.value is not None else stands

    @property
    def shape(self) -> Shape:
        """The lengths of the axes."""
        return np.shape(self.value)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return np.ndim(self.value)

    def __bool__(self) -> bool:
        raise Unwritable("a branch is taken by a text")

    def __float__(self) -> float:
        raise Unwritable("a number is taken out of a text")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise Unwritable("an array is made of a text")

    def __getitem__(self, key: Any) -> Written:
        if isinstance(key, tuple) and not key:
            return self
        found = self.value[key]
        if not self.stands:
            return Written(self.expression, found, ())
        return Written(e.after(settle(self), f"[{index_text(key)}]"), found, np.shape(found))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            raise Unwritable(f"{ufunc.__name__}.{method}")
        if ufunc in FUNCTIONS:
            return FUNCTIONS[ufunc](*inputs)
        rule = UFUNCS.get(ufunc.__name__)
        if rule is None:
            raise Unwritable(ufunc.__name__)
        parts = [lift(x) for x in inputs]
        value = ufunc(*(part.value for part in parts))
        added = ufunc in (np.add, np.subtract)
        return Written(rule(*(part.expression for part in parts)), value, together(parts, added))

    def __array_function__(self, function: Any, _types: Any, args: Any, options: Any) -> Any:
        if function in (np.shape, np.ndim, np.size):
            return function(*(x.value if isinstance(x, Written) else x for x in args), **options)
        rule = FUNCTIONS.get(function)
        if rule is None:
            raise Unwritable(function.__name__)
        return rule(*args, **options)


def write(text: str, value: Any) -> Written:
    """Return an array under a name."""
    return Written(e.name(text), value, np.shape(value))


def lift(x: Any) -> Written:
    """Return a constant with its text; one of equal entries is a number. Raises ``Unwritable`` for a long one."""
    if isinstance(x, Written):
        return x
    value = np.asarray(x)
    if value.size and (value.ndim == 0 or np.all(value == value.flat[0])):
        return Written(e.number(value.flat[0]), value, ())
    try:
        text = constant_text(value.astype(np.float64) if value.dtype == np.bool_ else value)
    except TooLarge:
        raise Unwritable("a constant is long") from None
    found = e.name(text)
    return Written(e.compare("==", found, e.number(1)) if value.dtype == np.bool_ else found, value, value.shape)


def settle(x: Written) -> Expression:
    """Return an expression that gives the array in its whole shape."""
    if x.stands == x.shape:
        return x.expression
    if is_number(x.expression):
        ones = x.expression.value == 1 and e.FORMS.get()
        return e.name(
            f"ones({', '.join(map(str, x.shape))})" if ones else f"full({lengths(x.shape)}, {x.expression.text})"
        )
    return e.name(f"expand({x.expression.text}, {', '.join(map(str, x.shape))})")


def is_number(what: Expression) -> bool:
    """Return whether an expression is a number, or a fraction of two."""
    return what.value is not None or (bool(what.factors) and all(part.value is not None for _, part in what.factors))


def lengths(shape: Shape) -> str:
    """Return a shape as text."""
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def together(parts: Sequence[Written], added: bool = False) -> Shape:
    """Return the shape that expressions have which are joined entry by entry; a 0 that is ``added`` is left out."""
    return np.broadcast_shapes(*(part.stands for part in parts if not (added and part.expression.value == 0)))
