"""Functions of numbers, entry by entry, that few programs call, comparisons, logic and tests by their names.

Special functions: of gamma, of the error function and of the normal distribution.
numpy has none of them: mpmath works their values out entry by entry, in more digits than a double has.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops import exactly
from gradcli.ops.arithmetic import FLOOR_DIVIDE, MUL, without_slope, zero
from gradcli.ops.declare import (
    OPERATORS,
    RULES,
    Keeps,
    Kink,
    Piecewise,
    Text,
    Torch,
    declare,
    in_one_step,
    no_links,
    variant,
)
from gradcli.ops.elementwise import UNLIKE_NUMPY, erfc, normal_density, normal_share
from gradcli.ops.exactly import decided, is_nan, true
from gradcli.ops.links import Array, Forward, Indices, Library, Mask, Static
from gradcli.ops.piecewise import CLIP, TRUNC, step
from gradcli.ops.statistics import ALL_TRUE
from gradcli.ops.tracing import applied, numbers
from gradcli.ops.values import ALL, Axes, Value, require, where
from gradcli.ops.vocabulary import (
    COUNTED,
    KEPT,
    OF_FLOATS,
    OF_NUMBERS,
    Beside,
    Kinds,
    Made,
    Spelled,
    builder,
    elementwise,
    enter,
    function,
)

EVERYWHERE, MASKED = "torch numpy method", Kinds(Made.MASK, Made.MASK)
pointwise = partial(function, family="elementwise")


# --- made of others ---

TURN = variant(MUL, "turn", torch=Torch(saves=((),)))
"""``*`` by a number that PyTorch does not keep: it knows the function."""
LARGEST = float(np.finfo(np.float64).max)


@pointwise("deg2rad radians np.radians numpy.radians math.radians", EVERYWHERE, kinds=UNLIKE_NUMPY)
def deg2rad(x: Value) -> Value:
    """an angle in degrees, in radians"""
    return x.of(TURN, math.pi / 180)


@pointwise("rad2deg degrees math.degrees", EVERYWHERE, kinds=UNLIKE_NUMPY)
def rad2deg(x: Value) -> Value:
    """an angle in radians, in degrees"""
    return x.of(TURN, 180 / math.pi)


@pointwise("frac", "torch method", kinds=OF_FLOATS)
def frac(x: Value) -> Value:
    """x without its integer part, with the sign of x"""
    return x - x.of(TRUNC)


@pointwise("positive real conj", f"{EVERYWHERE} shares", kinds=OF_NUMBERS)
def positive(x: Value, library: Library = "torch") -> Value:
    """x itself, in NumPy a copy"""
    return x if library == "torch" else x.clone()


@pointwise("rsub", "torch", kinds=Kinds(Made.NO, Made.INTEGER))
def rsub(x: Value, other: Value, alpha: float = 1) -> Value:
    """other - x, or other - alpha*x"""
    return other - (x if alpha == 1 else alpha * x)


@pointwise("ldexp", f"{EVERYWHERE} tensors")
def ldexp(x: Value, other: Value) -> Value:
    """x*2**other"""
    return x * 2.0**other


@pointwise("addcmul", "torch method", kinds=OF_NUMBERS)
def addcmul(x: Value, tensor1: Value, tensor2: Value, value: float = 1) -> Value:
    """x + value*tensor1*tensor2"""
    return x + (tensor1 if value == 1 else value * tensor1) * tensor2


@pointwise("addcdiv", "torch method")
def addcdiv(x: Value, tensor1: Value, tensor2: Value, value: float = 1) -> Value:
    """x + value*tensor1/tensor2"""
    return x + (tensor1 if value == 1 else value * tensor1) / tensor2


@pointwise("nan_to_num", "torch method", kinds=KEPT)
def nan_to_num(x: Value, nan: float | None = 0.0, posinf: float | None = None, neginf: float | None = None) -> Value:
    """x with numbers in the place of nan, inf and -inf; there the derivative is 0"""
    fills = 0.0 if nan is None else nan, LARGEST if posinf is None else posinf, -LARGEST if neginf is None else neginf
    values, filled = x.raw, x
    for place, fill in zip((is_nan(values), values == np.inf, values == -np.inf), fills, strict=True):
        if np.any(place):
            filled = where(np.asarray(place, dtype=bool), fill, filled)
    return x.clone() if filled is x else filled


@pointwise("np.nan_to_num numpy.nan_to_num jnp.nan_to_num", "", kinds=KEPT)
def numpy_nan_to_num(
    x: Value, copy: Static = True, nan: float | None = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Value:
    """x with numbers in the place of nan, inf and -inf, as numpy has it: the second argument says where they go"""
    plain, hint = isinstance(copy, bool), "give the number by name: nan=..."
    require(plain, "arguments", f"copy is True or False, not {copy!r}", hint)
    require(copy, "arguments", "copy=False writes into the argument, which this call does not")
    return nan_to_num(x, nan, posinf, neginf)


# --- with a rule of their own ---


def lerp(x: Array, end: Array, weight: Array) -> Array:
    """Return x + weight·(end - x), from the nearer end."""
    return np.where(np.abs(weight) < 0.5, x + weight * (end - x), end - (end - x) * (1 - weight))[()]


def sign_bit(x: Array) -> Mask:
    """Return where a number is below 0 or -0, for numbers of every kind."""
    with np.errstate(divide="ignore"):
        return (x < 0) | ((x == 0) & (1 / np.where(x == 0, x, 1) < 0))


def turn(x: Array, other: Array) -> Indices:
    """Return 1 or -1 as x keeps its sign or changes it for that of ``other``, and 0 where x is 0."""
    return exactly.sign_of(x) * np.where(sign_bit(other), -1, 1)


# fmt: off
LERP = elementwise("lerp", lerp, lambda g, _y, _x, _end, w: g * (1 - w), lambda g, _y, _x, _end, w: g * w,
    lambda g, _y, x, end, _w: g * (end - x), formula=lambda s, x, end, w: x + w * (end - x),
    slopes=lambda s, x, end, w: (1 - w, w, end - x),
    exactly=lambda x, end, w: x + w * (end - x), spelled=None)
elementwise("fmod", np.fmod, lambda g, _y, _a, _b: g, lambda g, _y, a, b: -g * np.trunc(a / b),
    slopes=lambda s, a, b: (s.number(1), -s.trunc(a / b)),
    pieces=Piecewise(lambda a, b: np.trunc(a / b), exactly.rest_of), domain=((0.1, 0.9), (1, 2)),
    spelled=Spelled(EVERYWHERE, "math.fmod", "what is left of x/other, with the sign of x", kinds=KEPT))
elementwise("copysign", np.copysign, lambda g, y, x, _other: np.where(x == 0, 0.0, g * (y / x)), zero,
    slopes=lambda s, x, other: (s.sign(x) * s.copysign(s.number(1), other), s.number(0)),
    pieces=Piecewise(turn, lambda piece, x, other: piece * x),
    kink=Kink(lambda x, other: (x == 0) | (other == 0), "0 is taken where x is 0"),
    splits_zero=lambda k, x, other: (other == 0) & (k == 1),
    spelled=Spelled("torch numpy math method", "", "x with the sign of other"))
elementwise("logaddexp2", np.logaddexp2, lambda g, _y, a, b: g / (1 + np.exp2(b - a)),
    lambda g, _y, a, b: g / (1 + np.exp2(a - b)),
    slopes=lambda s, a, b: (s.sigmoid((a - b) * s.log(2)), s.sigmoid((b - a) * s.log(2))),
    exactly=lambda a, b: np.maximum(a, b) + np.log2(1 + np.exp2(-exactly.gap(a, b))),
    spelled=Spelled("torch numpy method tensors", "", "log2(2**x + 2**other)"))
# fmt: on


@pointwise("lerp", "torch method", op=LERP)
def build_lerp(x: Value, end: Value, weight: Value) -> Value:
    """the point between x and end that weight names, x for 0 and end for 1"""
    return x.of(LERP, end, weight)


# --- operators and comparisons by their names ---

NAMED: dict[str, tuple[str, int, str, str]] = {
    **{
        name: (sign, 2, also, f"whether x {sign} other, entry by entry")
        for name, sign, also in (
            ("eq", "==", "np.equal numpy.equal jnp.equal"),
            ("ne", "!=", "not_equal"),
            ("gt", ">", "greater"),
            ("ge", ">=", "greater_equal"),
            ("lt", "<", "less"),
            ("le", "<=", "less_equal"),
        )
    },
    "bitwise_and": ("&", 2, "", "a mask where both are true, or integers bit by bit"),
    "bitwise_or": ("|", 2, "", "a mask where at least one is true, or integers bit by bit"),
    "bitwise_xor": ("^", 2, "", "a mask where one alone is true, or integers bit by bit"),
    "bitwise_not": ("~", 1, "invert", "a mask turned round, or integers bit by bit"),
}
"""By name: the sign of the operator, the number of its operands, its other names, and what it says."""
for _name, (_sign, _count, _also, _words) in NAMED.items():
    _kinds = Kinds(Made.SAME, Made.SAME, Beside.NO) if _name.startswith("bitwise") else MASKED
    _op = OPERATORS[_sign, _count]
    enter(_name, Spelled(EVERYWHERE, _also, _words, kinds=_kinds), op=_op, build=builder(_op, _count))
_doc = "the quotient, rounded down; flat"
enter("floor_divide", Spelled(EVERYWHERE, "", _doc), op=FLOOR_DIVIDE, build=builder(FLOOR_DIVIDE, 2))


# --- logic of masks and numbers, and tests of numbers ---


def enter_logic(name: str, rule: Callable[..., Mask], words: str, arguments: int = 2) -> None:
    """Declare and enter a function of truth values, which numbers other than 0 are true in."""

    def forward(*values: Array) -> Mask:
        return rule(*map(true, values))

    op = without_slope(name, forward, arguments)
    spelled = Spelled(f"{EVERYWHERE} tensors", "", f"true where {words}", kinds=MASKED)
    enter(name, spelled, op=op, build=builder(op, arguments))


enter_logic("logical_and", np.logical_and, "both are true")
enter_logic("logical_or", np.logical_or, "one is true")
enter_logic("logical_xor", np.logical_xor, "one alone is true")
enter_logic("logical_not", np.logical_not, "it is false", 1)
TESTS: dict[str, tuple[Forward, Callable[..., Mask], str]] = {
    "isfinite": (np.isfinite, lambda x: abs(x) < inf, "an entry is neither infinite nor nan"),
    "isinf": (np.isinf, lambda x: abs(x) == inf, "an entry is inf or -inf"),
    "isposinf": (np.isposinf, lambda x: x == inf, "an entry is inf"),
    "isneginf": (np.isneginf, lambda x: x == -inf, "an entry is -inf"),
    "signbit": (np.signbit, sign_bit, "an entry is below 0, or -0"),
}
for _name, (_forward, _exact, _words) in TESTS.items():
    step(_name, _forward, decided(_exact), Spelled(EVERYWHERE, "", f"true where {_words}", kinds=MASKED))


def close(x: Array, other: Array, rtol: float, atol: float, equal_nan: bool) -> Mask:
    """Return where two numbers differ by no more than atol + rtol·|other|."""
    apart = abs(x - other)
    both_nan = is_nan(x) & is_nan(other) & equal_nan
    return (x == other) | ((apart < inf) & (apart <= atol + abs(rtol * other))) | both_nan


TOLERANCES = {"rtol": 1e-5, "atol": 1e-8, "equal_nan": False}
ISCLOSE = without_slope("isclose", close, 2, text=Text(defaults=TOLERANCES))


@pointwise("isclose", f"{EVERYWHERE} tensors", op=ISCLOSE, kinds=MASKED)
def isclose(x: Value, other: Value, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Value:
    """whether two numbers are nearly equal, entry by entry"""
    require(min(rtol, atol) >= 0, "value", "isclose: a tolerance cannot be negative")
    return x.of(ISCLOSE, other, rtol=rtol, atol=atol, equal_nan=equal_nan)


def in_all(x: Value) -> Value:
    """Return whether all entries are true."""
    return x.of(ALL_TRUE, dim=tuple(range(x.ndim)), keepdim=False)


@function("allclose", f"{EVERYWHERE} tensors", "reductions", kinds=MASKED)
def allclose(x: Value, other: Value, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Value:
    """whether all entries of two arrays are nearly equal"""
    return in_all(isclose(x, other, rtol, atol, equal_nan))


@function("equal np.array_equal numpy.array_equal jnp.array_equal", "torch method tensors", "reductions", kinds=MASKED)
def equal(x: Value, other: Value) -> Value | Mask:
    """whether two arrays have one shape and equal entries (np.equal: entry by entry)"""
    return in_all(x == other) if x.shape == other.shape else np.zeros((), dtype=np.bool_)


# --- counts ---


def count_nonzero(x: Array, dim: Axes, keepdim: bool) -> Array:
    """Return how many entries along some axes are not 0."""
    return np.sum(true(x), axis=dim, keepdims=keepdim, dtype=np.int64)


COUNT = without_slope("count_nonzero", count_nonzero, text=Text(defaults={"keepdim": False}))


@function("count_nonzero", EVERYWHERE, "reductions", op=COUNT, kinds=COUNTED)
def build_count_nonzero(x: Value, dim: Axes = ALL, keepdim: bool = False) -> Value:
    """how many entries are not 0, also along dim"""
    return x.of(COUNT, dim=dim, keepdim=keepdim)


def histc(x: Array, bins: int, low: float, high: float) -> Array:
    """Return how many entries lie in each of ``bins`` equal stretches from low to high, the last with its end."""
    inside = x[np.asarray((x >= low) & (x <= high), dtype=bool)]
    quotients = np.floor((inside - low) * bins / (high - low)).astype(np.float64)
    places = np.minimum(quotients.astype(np.intp), bins - 1)
    return np.bincount(places, minlength=bins).astype(np.float64)


HISTC = declare(
    "histc", histc, (None,), no_links, torch=Torch(raises=True),
    pieces=Piecewise(histc, lambda piece, x, bins, low, high: np.asarray(piece, dtype=object)),
    size=lambda x, bins, low, high: max(bins, np.size(x)), text=Text(words={"low": "min", "high": "max"}),
)  # fmt: skip


@function("histc", "torch method", "reductions", op=HISTC, kinds=OF_FLOATS)
def build_histc(x: Value, bins: int = 100, min: float = 0, max: float = 0) -> Value:
    """how many entries lie in each of equal stretches from min to max, or from the smallest entry to the largest"""
    low, high = min, max
    require(bins > 0 and low <= high, "value", "histc: bins is 1 or more, and min no larger than max")
    if low == high and x.size:
        low, high = float(np.min(x.numbers)), float(np.max(x.numbers))
    finite = np.isfinite(low) and np.isfinite(high)
    require(finite, "value", f"histc: from {low} to {high} is no finite stretch")
    if low == high:
        low, high = low - 1, high + 1
    return x.flat.of(HISTC, bins=bins, low=low, high=high)


# ---- special functions

STEEPEST = 2 / math.sqrt(math.pi)
DIGITS = 30
"""Digits in which a double is worked out."""
MOST_DIGITS = 1_800
"""Digits up to which mpmath has the Bernoulli numbers of Stirling's series in about a second."""
HIGHEST = 170
"""The last n whose n! is a double."""


def by_mpmath(rule: Callable[..., Any]) -> Callable[..., Array]:
    """Return the function of doubles that ``rule(mpmath, *entries)`` is, nan where an entry is or the rule has none."""

    def at(*entries: float) -> float:
        import mpmath

        if any(map(math.isnan, entries)):
            return math.nan
        with mpmath.workdps(DIGITS):
            return float(rule(mpmath, *map(mpmath.mpf, entries)))

    @in_one_step
    def function(*arrays: Array | float) -> Array:
        each = np.frompyfunc(at, len(arrays), 1)
        return np.asarray(each(*(np.asarray(x, dtype=np.float64) for x in arrays)), dtype=np.float64)[()]

    return function


# --- in mpmath's digits ---


def require_few_digits(mp: Any) -> None:
    """Raise ``budget`` where Γ or ψ would take many seconds at one number."""
    if mp.mp.dps > MOST_DIGITS:
        raise GradcliError("budget", f"the gamma function in more than {MOST_DIGITS:,} digits takes too long")


def is_pole(mp: Any, x: Any) -> bool:
    """Return whether Γ has a pole at x, or x is -inf."""
    return bool(x <= 0 and x == mp.floor(x))


def log_gamma(mp: Any, x: Any) -> Any:
    """Return log |Γ(x)|, inf at the poles."""
    require_few_digits(mp)
    if mp.isinf(x) or is_pole(mp, x):
        return mp.inf
    if x > 3:
        return mp.loggamma(x)
    if x < -3:
        return mp.log(mp.pi / abs(mp.sinpi(x - mp.nint(x)))) - mp.loggamma(1 - x)
    if abs(x) < 0.25:
        return mp.log(mp.gamma(1 + x)) - mp.log(abs(x))
    with mp.workdps(2 * mp.mp.dps):  # around its zeros at 1 and 2, where mpmath's loggamma takes seconds
        return -mp.log(abs(mp.rgamma(x)))


def psi(mp: Any, order: Any, x: Any) -> Any:
    """Return a derivative of ψ, nan at the poles; mpmath's own takes a step for each integer up to 0.

    https://dlmf.nist.gov/5.15.E6: ψₙ(x) = (-1)ⁿ·ψₙ(1 - x) - dⁿ/dxⁿ π·cot(πx).
    """
    require_few_digits(mp)
    n = int(order)
    if mp.isinf(x) or is_pole(mp, x):
        return x if mp.isinf(x) and x > 0 and n == 0 else mp.mpf(0) if x > 0 else mp.nan
    if abs(x) < 1:
        return mp.psi(n, 1 + x) - (-1) ** n * mp.factorial(n) / x ** (n + 1)
    if x > 0:
        return mp.psi(n, x)
    part = x - mp.nint(x)
    return (-1) ** n * mp.psi(n, 1 - x) - mp.pi ** (n + 1) * cotangent_slope(n, mp.cospi(part) / mp.sinpi(part))


def cotangent_slope(n: int, c: Any) -> Any:
    """Return the n-th derivative of cot where it is c: a polynomial in c, as that of cⁿ is -n·(cⁿ⁻¹ + cⁿ⁺¹)."""
    powers = [0, 1]
    for _ in range(n):
        slope = [k * a for k, a in enumerate(powers)][1:]
        powers = [-(a + b) for a, b in zip([*slope, 0, 0], [0, 0, *slope], strict=True)]
    return sum(a * c**k for k, a in enumerate(powers))


def polygamma_in_torch(mp: Any, n: Any, x: Any) -> Any:
    """Return the n-th derivative of ψ, at its poles the infinity that PyTorch has there."""
    if not is_pole(mp, x) or mp.isinf(x):
        return psi(mp, n, x)
    if n:
        return (-1) ** (int(n) + 1) * mp.inf
    return mp.nan if x else -mp.inf


erfinv = by_mpmath(lambda mp, x: mp.erfinv(x) if abs(x) <= 1 else mp.nan)
polygamma = by_mpmath(polygamma_in_torch)


@in_one_step
def digamma(x: Array) -> Array:
    """Return ψ(x) = d/dx log Γ(x): ∓inf at ±0, and nan at the poles below."""
    return np.where(x == 0, -1 / x, polygamma(0.0, x))[()]


# --- the error function and the normal distribution ---


# fmt: off
elementwise("erfc", erfc, lambda g, _y, x: -STEEPEST * np.exp(-x * x) * g,
    slopes=lambda s, x: (-2 / s.sqrt(s.pi) * s.exp(-(x**2)),),
    exactly=exactly.in_mpmath(lambda mp, x: mp.erfc(x)),
    spelled=Spelled("torch math special method", "", "1 - erf(x), with its digits where erf(x) is nearly 1"))
elementwise("erfinv", erfinv, lambda g, y, _x: g * (np.exp(y * y) / STEEPEST),
    slopes=lambda s, x: (s.sqrt(s.pi) / 2 * s.exp(s.erfinv(x) ** 2),),
    text=Text(backward=("{g}*sqrt(pi)/2*exp({y}**2)",)), torch=Torch(saves=((0,),)), domain=((-0.9, 0.9),),
    exactly=exactly.in_mpmath(lambda mp, x: mp.erfinv(x) if abs(x) <= 1 else mp.nan),
    spelled=Spelled("torch special method", "", "the number whose erf is x"))
elementwise("ndtr", lambda x: erfc(-x * math.sqrt(0.5)) / 2, lambda g, _y, x: g * normal_density(x),
    slopes=lambda s, x: (s.exp(-(x**2) / 2) / s.sqrt(2 * s.pi),),
    text=Text(backward=("{g}*exp(-{0}**2/2)/sqrt(2*pi)",)),
    torch=Torch(saves=((Keeps.OWN,),), rounding=lambda y, x: (normal_share(x), None)),
    exactly=exactly.in_mpmath(lambda mp, x: mp.ncdf(x)),
    spelled=Spelled("special", "", "the normal distribution function"))
# fmt: on


# --- gamma ---


# fmt: off
elementwise("lgamma", by_mpmath(log_gamma), lambda g, _y, x: g * digamma(x), slopes=lambda s, x: (s.digamma(x),),
    text=Text(backward=("{g}*digamma({0})",)), exactly=exactly.in_mpmath(log_gamma), domain=((0.3, 4),),
    spelled=Spelled("torch special method", "gammaln math.lgamma", "the logarithm of the gamma function"))
DIGAMMA = elementwise("digamma", digamma, lambda g, _y, x: g * polygamma(1, x),
    slopes=lambda s, x: (s.polygamma(s.number(1), x),),
    text=Text(backward=("{g}*polygamma(1, {0})",)), exactly=exactly.in_mpmath(lambda mp, x: psi(mp, 0, x)),
    domain=((0.3, 4),), spelled=Spelled("torch special method", "psi", "the derivative of lgamma"))
POLYGAMMA = elementwise("polygamma", polygamma, None, lambda g, _y, n, x: g * polygamma(n + 1, x),
    slopes=lambda s, n, x: (s.number(0), s.polygamma(n + 1, x)),
    text=Text(backward=("", "{g}*polygamma({0} + 1, {1})")), exactly=exactly.in_mpmath(psi, 2),
    domain=((1, 1), (0.3, 4)), spelled=None)
# fmt: on
RULES[polygamma] = lambda f, n, x: applied(f, POLYGAMMA, np.float64(float(numbers(n))), x)


@function("polygamma", "torch special", "elementwise", op=POLYGAMMA)
def build_polygamma(n: Static, x: Value) -> Value:
    """the n-th derivative of digamma"""
    plain = isinstance(n, int | float) and not isinstance(n, bool)
    fits = plain and 0 <= n <= HIGHEST and n == int(n)  # type: ignore[operator,arg-type] # of a plain one
    require(fits, "value", f"polygamma: n is an integer from 0 to {HIGHEST}, not {n!r}", "polygamma(1, x)")
    return x.of(DIGAMMA) if n == 0 else x.apply(POLYGAMMA, n, x)


# --- logit ---


def logit(x: Array) -> Array:
    """Return log(x/(1 - x)), around its zero at 1/2 by atanh."""
    middle = np.abs(x - 0.5) < 0.25
    return np.where(middle, 2 * np.arctanh(np.where(middle, 2 * x - 1, 0.0)), np.log(x / (1 - x)))[()]


# fmt: off
LOGIT = elementwise("logit", logit, lambda g, _y, x: np.where((x < 0) | (x > 1), np.nan, g / (x * (1 - x))),
    slopes=lambda s, x: (1 / (x * (1 - x)),),
    text=Text(backward=("{g}/({0}*(1 - {0}))",)), exactly=lambda x: np.log(x / (1 - x)), domain=((0.1, 0.9),),
    spelled=None)
# fmt: on


@function("logit", "torch special method", "elementwise", op=LOGIT)
def build_logit(x: Value, eps: float | None = None) -> Value:
    """log(x/(1 - x)), of x between eps and 1 - eps where eps is given"""
    if eps is None:
        return x.of(LOGIT)
    require(eps <= 0.5, "value", f"logit: eps is 0.5 or less, not {eps}")
    return x.of(CLIP, low=eps, high=1 - eps).of(LOGIT)
