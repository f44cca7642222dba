"""What operators make of masks and integers, as PyTorch and NumPy have it: ``whole`` and ``bits`` of ops."""

from __future__ import annotations

import operator

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.declare import Apply
from gradcli.ops.parts import Bits, Whole
from gradcli.ops.signatures import Array, Forward, Integers, Mask, Number


def only_numpy(f: Apply, what: str, hint: str = "(...).float() makes numbers of them for both") -> None:
    """Remark that PyTorch refuses an operation that NumPy answers."""
    f.remark("numpy-only", f"{what}: this is NumPy's answer, PyTorch refuses; {hint}.")


def as_integers(x: Number | Mask | Integers) -> Number | Integers:
    """Return integers for a mask, and integers as they are."""
    return x if type(x) is int else np.asarray(x).astype(np.int64)[()]


def is_mask(x: object) -> bool:
    """Return whether numbers are truth values."""
    return type(x) is bool or getattr(x, "dtype", None) == np.bool_


def divided(f: Apply, rule: Forward, x: Number | Integers, y: Number | Integers, sign: str) -> Array:
    """Return a quotient or a rest of integers; remarks on one by 0."""
    x, y = as_integers(x), as_integers(y)
    if np.any(np.equal(y, 0)):
        only_numpy(f, f"{sign} of integers by 0", "float division by 0 is inf or nan in both")
    return rule(x, y)


def power(f: Apply, x: Number | Integers, p: Number | Integers) -> Array:
    """Return a power of masks or integers; one below 0 is 0 in PyTorch, but for 1 and -1, and refused by NumPy."""
    if is_mask(x) and type(p) is bool:
        return np.power(as_integers(x), int(p)).astype(np.bool_)
    if is_mask(x) and is_mask(p):
        only_numpy(f, "** of truth values")
    x, p = as_integers(x), as_integers(p)
    if not np.any(np.less(p, 0)):
        return np.power(x, p)
    if type(p) is int:
        raise GradcliError(
            "value", "an array of integers to a negative power: neither PyTorch nor NumPy does that",
            hint="(...).float() makes numbers of it",
        )  # fmt: skip
    f.remark(
        "torch-only",
        "A negative power of integers is rounded towards 0 in PyTorch, and refused by NumPy; (...).float() makes "
        "numbers of them for both.",
    )
    size = np.where(np.abs(x) == 1, np.power(x, np.abs(p)), 0)
    return np.where(np.less(p, 0), size, np.power(x, np.maximum(p, 0)))[()]


# fmt: off
SUM = Whole(operator.add, lambda f, x, y: np.add(x, y))
PRODUCT = Whole(operator.mul, lambda f, x, y: np.multiply(x, y))
DIFFERENCE = Whole(operator.sub, lambda f, x, y: np.subtract(as_integers(x), as_integers(y)),
                   masks="neither", mixed="numpy", beside="numpy")
QUOTIENT = Whole(None, lambda f, x, y: np.true_divide(x, y))
WHOLE_QUOTIENT = Whole(lambda a, b: a // b if b else None,
                       lambda f, x, y: divided(f, np.floor_divide, x, y, "//"), masks="numpy")
REST = Whole(lambda a, b: a % b if b else None,
             lambda f, x, y: divided(f, np.remainder, x, y, "%"), masks="numpy")
POWERS = Whole(lambda a, b: a**b if b >= 0 and (b <= 64 or abs(a) <= 1) else None, power,
               in_place="a power of truth values is an integer in NumPy, which refuses it here")
MATRICES = Whole(None, lambda f, x, y: np.matmul(x, y),
                 masks="numpy", mixed="numpy", beside="numpy", beside_integers="numpy")
# fmt: on

BITS = {
    sign: Bits(rule, ("type", f"'{sign}' joins masks or integers, not floats", f"(x > 0) {sign} (x < 1), or '{word}'"))
    for sign, rule, word in (("&", operator.and_, "and"), ("|", operator.or_, "or"))
}
BITS["^"] = Bits(operator.xor, ("not-allowed", "'^' is not the power", "write **"), of_integers=False)
