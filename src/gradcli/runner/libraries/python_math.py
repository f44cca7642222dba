"""Python's ``math``: by Python itself for plain numbers, by gradcli's table for those that are differentiated."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradcli.errors import over_budget
from gradcli.runner.library import TABLE, native
from gradcli.runner.python.builtins import number_of, type_name
from gradcli.runner.python.calls import call_table, find_table
from gradcli.runner.python.containers import take
from gradcli.runner.python.operators import cut, operate, plain, untraced
from gradcli.runner.state import Run
from gradcli.runner.values import UNBOUND, Instance, Tensor

TABLE |= {f"math.{name}": value for name, value in
          (("pi", math.pi), ("e", math.e), ("tau", math.tau), ("inf", math.inf), ("nan", math.nan))}  # fmt: skip

NAMES = (
    "sqrt", "exp", "expm1", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh",
    "cosh", "tanh", "asinh", "acosh", "atanh", "floor", "ceil", "trunc", "fabs", "pow", "hypot", "degrees", "radians",
    "copysign", "fmod", "isnan", "isinf", "isfinite", "isclose", "erf", "erfc", "gamma", "lgamma", "modf", "frexp",
    "ldexp", "remainder", "nextafter", "ulp", "isqrt", "gcd", "lcm",
)  # fmt: skip
"""Functions of numbers, whose errors are Python's own."""
METHODS = {"floor": "__floor__", "ceil": "__ceil__", "trunc": "__trunc__"}


def as_number(run: Run, x: Any) -> Any:
    """Return an argument as a number of Python's; one that is differentiated stays a tensor."""
    x = plain(x)
    if isinstance(x, Tensor) and x.library == "python":
        return x
    x = number_of(run, x)
    if isinstance(x, Instance):
        member = next((m for m in ("__float__", "__index__") if x.kind.find(m) is not UNBOUND), None)
        if member is not None:
            return run.call(run.attribute(x, member))
    if not isinstance(x, int | float | Tensor):
        run.fail("TypeError", f"must be real number, not {type_name(x)}")
    return x


STEPS = {"floor", "ceil", "trunc", "isnan", "isinf", "isfinite", "isclose", "ulp"}
"""Functions whose derivative is 0 wherever they have one."""


def gamma(run: Run, x: Any, made: float) -> Any:
    """Return the gamma function: the size of it by its logarithm."""
    size = run.function("math.exp", run.function("math.lgamma", x))
    return operate(run, "*", size, math.copysign(1.0, made))


def hypotenuse(run: Run, *numbers: Any) -> Any:
    """Return the length of a vector of any number of entries."""
    squares = [operate(run, "*", x, x) for x in numbers[:-1]]
    return run.function("math.sqrt", run.call(run.builtin("sum"), [squares]))


BY_PARTS: dict[str, Callable[..., Any]] = {
    "gamma": gamma,
    "hypot": hypotenuse,
    "ldexp": lambda run, x, i, made: operate(run, "*", x, 2.0**i),
    "frexp": lambda run, x, made: (operate(run, "/", x, 2.0 ** made[1]), made[1]),
    "modf": lambda run, x, made: (operate(run, "-", x, made[1]), made[1]),
    "remainder": lambda run, x, y, made: operate(
        run, "-", x, operate(run, "*", y, round((untraced(x) - made) / untraced(y)))
    ),
    "nextafter": lambda run, x, y, made: operate(run, "+", x, made - untraced(x)),
}
"""Functions of traced numbers that the table does not have, of parts that it has; ``made`` is their value."""


def function_of(name: str) -> Any:
    """Return a function of ``math``."""
    host = getattr(math, name)  # one of the names above

    def run_it(run: Run, *arguments: Any, **named: Any) -> Any:
        if (
            name in METHODS
            and isinstance(arguments[0], Instance)
            and arguments[0].kind.find(METHODS[name]) is not UNBOUND
        ):
            return run.call(run.attribute(arguments[0], METHODS[name]))
        numbers = [as_number(run, argument) for argument in arguments]
        if not any(isinstance(number, Tensor) for number in numbers):
            made = host(*numbers, **named)
            if isinstance(made, int) and made.bit_length() > run.meter.budget.bits:
                raise over_budget("bits", run.meter.budget.bits, "an integer has too many bits")
            return made
        made = host(*map(untraced, numbers), **named)
        if name in STEPS:
            return made
        if name in BY_PARTS:
            return BY_PARTS[name](run, *numbers, made)
        table = find_table(f"math.{name}")
        return cut(run, f"math.{name}", numbers, made) if table is None else call_table(run, table, numbers, named)

    run_it.__name__ = name
    return run_it


TABLE |= {f"math.{name}": function_of(name) for name in NAMES}


@native("math.log")
def log(run: Run, x: Any, base: Any = None) -> Any:
    """Return a logarithm; of another base it is a quotient of two. Raises what Python's own does."""
    x = as_number(run, x)
    if isinstance(x, Tensor):
        math.log(untraced(x))
        made = run.function("math.log", x)
    elif base is None or isinstance(base, Tensor):
        made = math.log(x)
    else:
        return math.log(x, as_number(run, base))
    return made if base is None else operate(run, "/", made, log(run, base))


def whole(run: Run, x: Any) -> int:
    """Return an argument that has to be an integer."""
    x = as_number(run, x)
    if not isinstance(x, int):
        run.fail("TypeError", f"'{type_name(x)}' object cannot be interpreted as an integer")
    return x  # type: ignore[no-any-return]


@native("math.factorial")
def factorial(run: Run, n: Any) -> int:
    """Return a factorial."""
    n = whole(run, n)
    if n > run.meter.budget.bits // 12:
        raise over_budget("bits", run.meter.budget.bits, "an integer has too many bits")
    return math.factorial(n)


def counted(name: str) -> Any:
    """Return ``comb`` or ``perm``: their results are bounded."""
    host = getattr(math, name)  # one of the two names below

    def run_it(run: Run, n: Any, k: Any = None) -> int:
        n = whole(run, n)
        k = n if k is None else whole(run, k)
        if n.bit_length() * min(abs(k), abs(n)) > run.meter.budget.bits * 8:
            raise over_budget("bits", run.meter.budget.bits, "an integer has too many bits")
        return host(n, k)  # type: ignore[no-any-return]

    return run_it


TABLE |= {"math.comb": counted("comb"), "math.perm": counted("perm")}


@native("math.prod")
def prod(run: Run, items: Any, *, start: Any = 1) -> Any:
    """Return the product of items."""
    for item in take(run, items):
        start = operate(run, "*", start, item)
    return start


@native("math.fsum")
def fsum(run: Run, items: Any) -> Any:
    """Return the exact sum of numbers, rounded once."""
    numbers = [as_number(run, item) for item in take(run, items)]
    if any(isinstance(number, Tensor) for number in numbers):
        return run.call(run.builtin("sum"), [numbers, 0.0])
    return math.fsum(numbers)


@native("math.dist")
def dist(run: Run, p: Any, q: Any) -> Any:
    """Return the distance of two points."""
    parts = [operate(run, "**", operate(run, "-", a, b), 2) for a, b in zip(take(run, p), take(run, q), strict=True)]
    total = run.call(run.builtin("sum"), [parts, 0.0])
    if isinstance(total, Tensor):
        return function_of("sqrt")(run, total)
    return math.dist(*[[as_number(run, x) for x in take(run, point)] for point in (p, q)])


@native("math.sumprod")
def sumprod(run: Run, p: Any, q: Any) -> Any:
    """Return the sum of products."""
    parts = [operate(run, "*", a, b) for a, b in zip(take(run, p), take(run, q), strict=True)]
    return run.call(run.builtin("sum"), [parts])
