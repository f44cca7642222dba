"""What people look up about a function: the formula of an entry, its derivatives, and a program to try.

Tests hold each formula against the function and each derivative against J, and run each program.
"""

from __future__ import annotations

from typing import NamedTuple


class Facts(NamedTuple):
    """What is said of one function or operator.

    ``formula`` is an entry of the result, as an equation where one can be written, else in words. ``derivatives`` are
    equations too, with letters for places (``dy[i]/dx[j] = …``, 0 where letters that are equal stand for other places),
    or why there are none. ``program`` is an example with its ``inputs``, and ``v`` where the result is several numbers.
    """

    formula: str
    derivatives: tuple[str, ...]
    program: str
    inputs: dict[str, str]
    v: str = ""


def of_one(text: str, formula: str, derivative: str, x: str = "0.5") -> Facts:
    """Return the facts of a function of one number, written as ``text``."""
    return Facts(f"{text} = {formula}" if formula else "", (f"d/dx {text} = {derivative}",), text, {"x": x})


def of_two(text: str, formula: str, by_x: str, by_other: str, at: tuple[str, str] = ("1.5", "2.5")) -> Facts:
    """Return the facts of a function of two numbers, written as ``text`` in x and other."""
    said = f"d/dx {text} = {by_x}", f"d/dother {text} = {by_other}"
    return Facts(f"{text} = {formula}", said, text, {"x": at[0], "other": at[1]})


def flat(name: str, words: str, x: str = "1.7") -> Facts:
    """Return the facts of a function that is flat wherever it has a derivative."""
    return Facts(f"{name}(x) is {words}", (f"d/dx {name}(x) = 0",), f"{name}(x)*x", {"x": x})


ELEMENTWISE = {
    "add": of_two("add(x, other)", "x + other", "1", "1"),
    "sub": of_two("sub(x, other)", "x - other", "1", "-1"),
    "mul": of_two("mul(x, other)", "x*other", "other", "x"),
    "div": of_two("div(x, other)", "x/other", "1/other", "-x/other**2"),
    "remainder": of_two("remainder(x, other)", "x - other*floor(x/other)", "1", "-floor(x/other)", ("7.5", "2.0")),
    "neg": of_one("neg(x)", "-x", "-1"),
    "pow": of_two("pow(x, other)", "exp(other*log(x))", "other*x**(other - 1)", "x**other*log(x)"),
    "maximum": of_two(
        "maximum(x, other)", "where(x > other, x, other)", "where(x > other, 1, 0)", "where(other > x, 1, 0)"
    ),
    "minimum": of_two(
        "minimum(x, other)", "where(x < other, x, other)", "where(x < other, 1, 0)", "where(other < x, 1, 0)"
    ),
    "fmax": of_two("fmax(x, other)", "where(x > other, x, other)", "where(x >= other, 1, 0)", "where(other > x, 1, 0)"),
    "fmin": of_two("fmin(x, other)", "where(x < other, x, other)", "where(x <= other, 1, 0)", "where(other < x, 1, 0)"),
    "sin": of_one("sin(x)", "cos(x - pi/2)", "cos(x)"),
    "cos": of_one("cos(x)", "sin(x + pi/2)", "-sin(x)"),
    "tan": of_one("tan(x)", "sin(x)/cos(x)", "1 + tan(x)**2"),
    "asin": of_one("asin(x)", "atan2(x, sqrt(1 - x**2))", "1/sqrt(1 - x**2)"),
    "acos": of_one("acos(x)", "pi/2 - asin(x)", "-1/sqrt(1 - x**2)"),
    "atan": of_one("atan(x)", "asin(x/sqrt(1 + x**2))", "1/(1 + x**2)"),
    "sinh": of_one("sinh(x)", "(exp(x) - exp(-x))/2", "cosh(x)"),
    "cosh": of_one("cosh(x)", "(exp(x) + exp(-x))/2", "sinh(x)"),
    "tanh": of_one("tanh(x)", "(exp(x) - exp(-x))/(exp(x) + exp(-x))", "1 - tanh(x)**2"),
    "asinh": of_one("asinh(x)", "log(x + sqrt(x**2 + 1))", "1/sqrt(x**2 + 1)"),
    "acosh": of_one("acosh(x)", "log(x + sqrt(x**2 - 1))", "1/sqrt(x**2 - 1)", "1.5"),
    "atanh": of_one("atanh(x)", "log((1 + x)/(1 - x))/2", "1/(1 - x**2)"),
    "exp": of_one("exp(x)", "e**x", "exp(x)"),
    "expm1": of_one("expm1(x)", "exp(x) - 1", "exp(x)"),
    "exp2": of_one("exp2(x)", "2**x", "log(2)*2**x"),
    "log": of_one("log(x)", "2*atanh((x - 1)/(x + 1))", "1/x"),
    "log2": of_one("log2(x)", "log(x)/log(2)", "1/(x*log(2))"),
    "log10": of_one("log10(x)", "log(x)/log(10)", "1/(x*log(10))"),
    "log1p": of_one("log1p(x)", "log(1 + x)", "1/(1 + x)"),
    "sqrt": of_one("sqrt(x)", "x**0.5", "1/(2*sqrt(x))", "2.25"),
    "rsqrt": of_one("rsqrt(x)", "1/sqrt(x)", "-1/(2*x*sqrt(x))", "2.25"),
    "cbrt": of_one("cbrt(x)", "sign(x)*abs(x)**(1/3)", "1/(3*cbrt(x)**2)", "8.0"),
    "square": of_one("square(x)", "x**2", "2*x"),
    "reciprocal": of_one("reciprocal(x)", "1/x", "-1/x**2"),
    "erf": Facts(
        "erf(x) is 2/sqrt(pi) times the area under exp(-t**2) between 0 and x",
        ("d/dx erf(x) = 2/sqrt(pi)*exp(-x**2)",), "erf(x)", {"x": "0.5"},
    ),
    "sinc": of_one("sinc(x)", "sin(pi*x)/(pi*x)", "(cos(pi*x) - sinc(x))/x"),
    "hypot": of_two("hypot(x, other)", "sqrt(x**2 + other**2)", "x/hypot(x, other)", "other/hypot(x, other)"),
    "atan2": of_two(
        "atan2(x, other)", "2*atan(x/(hypot(x, other) + other))", "other/(x**2 + other**2)", "-x/(x**2 + other**2)"
    ),
    "xlogy": of_two("xlogy(x, other)", "x*log(other)", "log(other)", "x/other"),
    "logaddexp": of_two(
        "logaddexp(x, other)", "log(exp(x) + exp(other))", "1/(1 + exp(other - x))", "1/(1 + exp(x - other))"
    ),
    "abs": of_one("abs(x)", "where(x < 0, -x, x)", "sign(x)", "-1.5"),
    "sigmoid": of_one("sigmoid(x)", "1/(1 + exp(-x))", "sigmoid(x)*(1 - sigmoid(x))"),
    "relu": of_one("relu(x)", "where(x > 0, x, 0)", "where(x > 0, 1, 0)"),
    "logsigmoid": of_one("logsigmoid(x)", "-log(1 + exp(-x))", "sigmoid(-x)"),
    "silu": of_one("silu(x)", "x*sigmoid(x)", "sigmoid(x)*(1 + x*(1 - sigmoid(x)))"),
    "softsign": of_one("softsign(x)", "x/(1 + abs(x))", "1/(1 + abs(x))**2"),
    "clamp_min": of_two(
        "clamp_min(x, other)", "where(x < other, other, x)", "where(x < other, 0, 1)", "where(x < other, 1, 0)"
    ),
    "clamp_max": of_two(
        "clamp_max(x, other)", "where(x > other, other, x)", "where(x > other, 0, 1)", "where(x > other, 1, 0)"
    ),
    "sign": flat("sign", "-1, 0 or 1, as x is below, at or above 0"),
    "floor": flat("floor", "the largest integer that is not above x"),
    "ceil": flat("ceil", "the smallest integer that is not below x"),
    "trunc": flat("trunc", "x without its fraction"),
    "round": flat("round", "the integer next to x, of two the even one"),
    "heaviside": Facts(
        "heaviside(x, other) = where(x == 0, other, where(x > 0, 1, 0))",
        ("none: PyTorch has no derivative of heaviside, and here it is 0",), "heaviside(x, 0.5)*x", {"x": "1.7"},
    ),
    "isnan": Facts(
        "isnan(x) is true where x is nan", ("none: it is true or false",), "where(isnan(x), 0, x)", {"x": "1.5"}
    ),
    "leaky_relu": of_one("leaky_relu(x)", "where(x > 0, x, 0.01*x)", "where(x > 0, 1, 0.01)", "-1.5"),
    "elu": of_one("elu(x)", "where(x > 0, x, exp(x) - 1)", "where(x > 0, 1, exp(x))", "-1.5"),
    "softplus": of_one("softplus(x)", "log(1 + exp(x))", "sigmoid(x)"),
    "gelu": of_one(
        "gelu(x)", "x*(1 + erf(x/sqrt(2)))/2", "(1 + erf(x/sqrt(2)))/2 + x*exp(-x**2/2)/sqrt(2*pi)"
    ),
    "clip": of_one(
        "clip(x, -1, 1)", "where(x < -1, -1, where(x > 1, 1, x))", "where((x < -1) | (x > 1), 0, 1)"
    ),
    "where": Facts(
        "where(x > 1, x, other) is x where the condition holds, and other elsewhere",
        ("d/dx where(x > 1, x, other) = where(x > 1, 1, 0)", "d/dother where(x > 1, x, other) = where(x > 1, 0, 1)"),
        "where(x > 1, x, other)", {"x": "1.5", "other": "2.5"},
    ),
}  # fmt: skip
"""By the name of the function, and below by the sign of the operator: of numbers, entry by entry for arrays."""
OPERATORS = {
    "+": of_two("x + other", "other + x", "1", "1"),
    "-": of_two("x - other", "x + (-other)", "1", "-1"),
    "*": of_two("x*other", "other*x", "other", "x"),
    "/": of_two("x/other", "x*other**-1", "1/other", "-x/other**2"),
    "//": Facts(
        "x//other = floor(x/other)", ("none: PyTorch has no derivative of //, and here it is 0",),
        "x//2*x", {"x": "7.5"},
    ),
    "%": of_two("x % other", "x - other*floor(x/other)", "1", "-floor(x/other)", ("7.5", "2.0")),
    "**": of_two("x**other", "exp(other*log(x))", "other*x**(other - 1)", "x**other*log(x)"),
    "@": Facts(
        "y[i,k] = sum(A[i,:]*B[:,k])", ("dy[i,k]/dA[i,j] = B[j,k]", "dy[i,k]/dB[j,k] = A[i,j]"),
        "A @ B", {"A": "1.5,2;3,4", "B": "1,0;2,1"}, "1,2;3,4",
    ),
    "[...]": Facts(
        "y[i] = x[i + 1], here", ("dy[i]/dx[j] = where(j == i + 1, 1, 0)",),
        "x[1:]", {"x": "1.5,2.5,3.5"}, "1,10",
    ),
}  # fmt: skip
