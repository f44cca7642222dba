"""Random functions of pieces at points where the pieces meet, with their slopes in fractions.

Every function is a polynomial with whole coefficients on each of its pieces, and every point has whole coordinates:
in fractions a step is short enough to stay on one piece, and its slope is exact but for a multiple of the step.
"""

import math
import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

NAMES = ("a", "b", "c")
STEP = Fraction(1, 10**9)
NEAR = Fraction(1, 1000)
"""What a slope may differ from its limit: limits are multiples of a half."""
DIRECTIONS = 60

Point = Mapping[str, Fraction]


class Piecewise(NamedTuple):
    """A function as gradcli reads it, and in fractions."""

    text: str
    at: Callable[[Point], Any]


def clip(x, low, high):
    return min(max(x, Fraction(low)), Fraction(high))


FORMS: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("({} + {})", lambda x, y: x + y),
    ("({} - {})", lambda x, y: x - y),
    ("({} * {})", lambda x, y: x * y),
    ("({} % 2)", lambda x: x % 2),
    ("abs({})", abs),
    ("relu({})", lambda x: max(x, Fraction(0))),
    ("sign({})", lambda x: Fraction((x > 0) - (x < 0))),
    ("floor({})", lambda x: Fraction(math.floor(x))),
    ("heaviside({}, 0.5)", lambda x: Fraction(1, 2) if x == 0 else Fraction(int(x > 0))),
    ("clamp({}, 0, 1)", lambda x: clip(x, 0, 1)),
    ("maximum({}, {})", max),
    ("minimum({}, {})", min),
    ("where({} < {}, {}, {})", lambda x, y, yes, no: yes if x < y else no),
    ("({} if {} > {} else {})", lambda yes, x, y, no: yes if x > y else no),
    ("({} == {}) * {}", lambda x, y, z: (x == y) * z),
    ("({} >= {}) * {}", lambda x, y, z: (x >= y) * z),
    ("{} * ({} != {})", lambda z, x, y: z * (x != y)),
    ("sort([{}, {}, {}]).values[1]", lambda x, y, z: sorted((x, y, z))[1]),
)


def draw(rng: random.Random, depth: int = 3) -> Piecewise:
    """Return a random function of forms in forms."""
    if depth == 0 or rng.random() < 0.12:
        leaf = rng.choice([*NAMES, *NAMES, "1", "2"])
        return Piecewise(leaf, (lambda point: point[leaf]) if leaf in NAMES else (lambda _: Fraction(leaf)))
    text, rule = rng.choice(FORMS)
    parts = [draw(rng, depth - 1) for _ in range(text.count("{}"))]
    return Piecewise(f"({text.format(*(part.text for part in parts))})", lambda at: rule(*(p.at(at) for p in parts)))


def slopes(function: Piecewise, point: Point, direction: Point) -> tuple[Fraction, Fraction]:
    """Return the slopes on both sides of a point, along a direction."""
    here, above, below = (
        function.at({name: point[name] + sign * STEP * direction[name] for name in NAMES}) for sign in (0, 1, -1)
    )
    return (here - below) / STEP, (above - here) / STEP


def gradient_of(function: Piecewise, point: Point, rng: random.Random) -> list[Fraction] | None:
    """Return the gradient, None where there is none: slopes differ along an axis, or do not add up along others.

    The steps of a direction have no ratio that is a whole number, so that none stays where pieces meet.
    """
    partials = []
    for axis in NAMES:
        left, right = slopes(function, point, {name: Fraction(int(name == axis)) for name in NAMES})
        if abs(left - right) > NEAR:
            return None
        partials.append(right)
    for _ in range(DIRECTIONS):
        steps = [Fraction(rng.choice((-1, 1)) * rng.randint(10, 10**6), 99_991 + k) for k in range(len(NAMES))]
        expected = sum((partial * step for partial, step in zip(partials, steps, strict=True)), Fraction(0))
        direction = dict(zip(NAMES, steps, strict=True))
        if any(abs(side - expected) > 20 * NEAR for side in slopes(function, point, direction)):
            return None
    return partials
