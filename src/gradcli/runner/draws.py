"""PyTorch's generator of random numbers: the very numbers that its CPU kernels draw, from numpy's Mersenne Twister.

The kernels are compiled with fused multiply-adds and round once where Python rounds twice, and the single precision
normals come from a polynomial of their own. Both are done over here, so that the last bit is PyTorch's too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcli.runner.values import rounded

Doubles = NDArray[np.float64]
Singles = NDArray[np.float32]
Integers = NDArray[np.int64]
Words = NDArray[np.uint64]
Shape = tuple[int, ...]

DEFAULT_SEED = 67280421310721
"""The seed of ``torch.Generator()``."""
BLOCK = 16
"""So many normals are drawn at once, and one by one where there are fewer."""
WIDE = 2**28
"""Integers from a range of so many and more take two words each."""
DIGITS = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}
BITS = {"int64": 63, "int32": 31, "int16": 15, "int8": 7, "uint8": 8, "bool": 1}
"""What ``random_`` draws for a type of integers."""


@dataclass(frozen=True)
class State:
    """Where a generator stands: its seed, the Mersenne Twister and the normal that is left of a pair."""

    seed: int
    twister: Any
    spare: float | None


class Generator:
    """A ``torch.Generator`` on the CPU. Arguments are not checked: their errors are those of the functions of PyTorch.

    A result has the values that ``dtype`` has, as float64, int64 or bool.
    """

    def __init__(self, seed: int = 0) -> None:
        self._twister = np.random.MT19937(0)
        self.manual_seed(seed)

    def manual_seed(self, seed: int) -> Generator:
        """Begin anew, as ``torch.manual_seed`` does: a negative seed counts from 2**64, and 32 bits of it matter."""
        if not -(2**63) <= seed < 2**64:
            raise ValueError("Overflow when unpacking long long")
        self.seed = seed % 2**64
        seeded: Any = np.random.RandomState(self.seed % 2**32).get_state(legacy=False)
        self._twister.state = seeded
        self._spare: float | None = None
        return self

    def initial_seed(self) -> int:
        """Return the seed that it began with."""
        return self.seed

    def state(self) -> State:
        """Return what ``restore`` takes: the numbers that follow are drawn once more."""
        return State(self.seed, self._twister.state, self._spare)

    def restore(self, state: State) -> None:
        """Go back to a state."""
        self.seed, self._twister.state, self._spare = state.seed, state.twister, state.spare

    # --- words and uniform numbers ---

    def _words(self, n: int) -> Words:
        return self._twister.random_raw(n)

    def _long_words(self, n: int) -> Words:
        words = self._words(2 * n)
        return (words[::2] << np.uint64(32)) | words[1::2]

    def _doubles(self, n: int) -> Doubles:
        return (self._long_words(n) & np.uint64(2**53 - 1)).astype(np.float64) * 2.0**-53

    def _singles(self, n: int) -> Singles:
        return ((self._words(n) & np.uint64(2**24 - 1)) * 2.0**-24).astype(np.float32)

    def rand(self, shape: Shape, dtype: str = "float32") -> Doubles:
        """Draw ``torch.rand``."""
        return self.uniform(shape, 0.0, 1.0, dtype)

    def uniform(self, shape: Shape, low: float = 0.0, high: float = 1.0, dtype: str = "float32") -> Doubles:
        """Draw ``Tensor.uniform_``: half types draw singles, and what they round to ``high`` is ``low``."""
        n = math.prod(shape)
        if dtype == "float64":
            drawn = fused(self._doubles(n), high - low, low)
        else:
            bottom, top = np.float32(low), np.float32(high)
            drawn = stored(fused_singles(self._singles(n), top - bottom, bottom), dtype)
        bottom, top = stored(np.array([low, high]), dtype)
        return np.where(drawn == top, bottom, drawn).reshape(shape)

    # --- normal numbers ---

    def randn(self, shape: Shape, dtype: str = "float32") -> Doubles:
        """Draw ``torch.randn``."""
        return self.normal(shape, 0.0, 1.0, dtype)

    def normal(
        self, shape: Shape, mean: Any = 0.0, std: Any = 1.0, dtype: str = "float32", *, contiguous: bool = True
    ) -> Doubles:
        """Draw ``Tensor.normal_``, or ``torch.normal`` where ``mean`` or ``std`` is an array.

        ``contiguous`` says that the memory is written in one piece: other tensors are drawn one number at a time.
        """
        scaled = not isinstance(std, np.ndarray)
        if scaled and not isinstance(mean, np.ndarray):
            return self._normal(shape, mean, std, dtype, contiguous=contiguous)
        drawn = self._normal(shape, 0.0, std if scaled else 1.0, dtype, contiguous=contiguous)
        if not scaled:
            drawn = stored(drawn * stored(std, dtype), dtype)
        return stored(drawn + stored(np.asarray(mean), dtype), dtype)

    def _normal(self, shape: Shape, mean: float, std: float, dtype: str, *, contiguous: bool) -> Doubles:
        n = math.prod(shape)
        if n < BLOCK or not contiguous:
            return stored(self._one_by_one(n, mean, std), dtype).reshape(shape)
        double = dtype == "float64"
        uniform: Callable[[int], NDArray[Any]] = self._doubles if double else self._singles
        blocks: Callable[..., NDArray[Any]] = double_blocks if double else single_blocks
        whole = n - n % BLOCK
        drawn = uniform(whole if dtype in {"float16", "bfloat16"} else n)
        result = np.empty(n, drawn.dtype)
        result[:whole] = blocks(drawn[:whole], mean, std)
        if whole < n:  # the last block is drawn anew
            result[-BLOCK:] = blocks(uniform(BLOCK), mean, std)
        return stored(result, dtype).reshape(shape)

    def _one_by_one(self, n: int, mean: float, std: float) -> Doubles:
        """Draw pairs in doubles: what is left of a pair is the next of these that is drawn."""
        spare = [] if self._spare is None or not n else [self._spare]
        pairs = (n - len(spare) + 1) // 2
        angle, length = self._doubles(2 * pairs).reshape(pairs, 2).T
        radius = np.sqrt(-2.0 * libm(math.log1p, -length))
        angle = 2.0 * math.pi * angle
        both = np.stack([radius * libm(math.cos, angle), radius * libm(math.sin, angle)], axis=-1)
        drawn = np.concatenate([spare, both.ravel()])
        if n:
            self._spare = float(drawn[n]) if len(drawn) > n else None
        return fused(drawn[:n], std, mean)

    def log_normal(self, shape: Shape, mean: float = 1.0, std: float = 2.0, dtype: str = "float32") -> Doubles:
        """Draw ``Tensor.log_normal_``."""
        drawn = self._one_by_one(math.prod(shape), mean, std)
        return stored(libm(lambda x: math.exp(x) if x < math.log(2.0) * 1024 else inf, drawn), dtype).reshape(shape)

    # --- integers ---

    def randint(self, low: int, high: int, shape: Shape, dtype: str = "int64") -> NDArray[Any]:
        """Draw ``torch.randint``, and ``Tensor.random_`` with its bounds."""
        if dtype in DIGITS:
            low, high = lowest(low, DIGITS[dtype]), highest(high, DIGITS[dtype])
        n = math.prod(shape)
        words = self._words(n) if high - low < WIDE else self._long_words(n)
        drawn = (words % np.uint64(high - low) + np.uint64(low % 2**64)).view(np.int64)
        return stored(drawn, dtype).reshape(shape)

    def random(self, shape: Shape, dtype: str = "int64") -> NDArray[Any]:
        """Draw ``Tensor.random_()``: all integers from 0 on that the type has."""
        n = math.prod(shape)
        count = 2 ** DIGITS[dtype] + 1 if dtype in DIGITS else 2 ** BITS[dtype]
        words = self._long_words(n) if dtype in {"int64", "float64"} else self._words(n)
        return stored((words % np.uint64(count)).view(np.int64), dtype).reshape(shape)

    def randperm(self, n: int) -> Integers:
        """Draw ``torch.randperm``: every place in turn swaps with itself or a later one."""
        order = list(range(n))
        steps = np.arange(n, 1, -1, dtype=np.uint64)
        for place, step in enumerate((self._words(len(steps)) % steps).tolist()):
            order[place], order[place + step] = order[place + step], order[place]
        return np.array(order, np.int64)

    # --- chances ---

    def bernoulli(self, chances: Any, dtype: str = "float32") -> Doubles:
        """Draw ``torch.bernoulli(p)``; ``dtype`` is that of ``p``."""
        chances = stored(np.asarray(chances), dtype)
        drawn = self._doubles(chances.size) if dtype == "float64" else self._singles(chances.size)
        return np.asarray(drawn.reshape(chances.shape) < chances, np.float64)

    def bernoulli_scalar(self, shape: Shape, chance: float = 0.5) -> Doubles:
        """Draw ``Tensor.bernoulli_(p)`` and ``torch.bernoulli(x, p)`` with one number ``p``, whatever the type."""
        return (self._doubles(math.prod(shape)) < chance).astype(np.float64).reshape(shape)

    def dropout(self, shape: Shape, chance: float = 0.5, dtype: str = "float32") -> Doubles:
        """Draw what ``F.dropout`` multiplies with while it trains: 0, or 1/(1 - p)."""
        if chance in {0.0, 1.0}:
            return np.full(shape, 1.0 - chance)
        kept = 1.0 - chance
        factor: Doubles = stored(1.0 / stored(np.array(kept), dtype, half=False), dtype)
        return self.bernoulli_scalar(shape, kept) * factor

    def poisson(self, rates: Doubles) -> Doubles:
        """Draw ``torch.poisson``, for each rate in turn."""
        return np.array([self._count(rate) for rate in rates.ravel().tolist()]).reshape(rates.shape)

    def _count(self, rate: float) -> int:
        """Draw a count: small rates multiply uniform numbers, others transform one and reject it (Hörmann, 1993)."""
        if rate < 10:
            drawn, product = 0, float(self._doubles(1)[0]) if rate else 0.0
            while product > math.exp(-rate):
                drawn += 1
                product *= float(self._doubles(1)[0])
            return drawn
        b = 0.931 + 2.53 * math.sqrt(rate)
        a = -0.059 + 0.02483 * b
        while True:
            u, v = (self._doubles(2) - (0.5, 0.0)).tolist()
            side = 0.5 - abs(u)
            count: int = math.floor((2 * a / side + b) * u + rate + 0.43)
            if side >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2):
                return count
            if count < 0 or (side < 0.013 and v > side):
                continue
            left = math.log(v) + math.log(1.1239 + 1.1328 / (b - 3.4)) - math.log(a / (side * side) + b)
            if left <= -rate + count * math.log(rate) - math.lgamma(count + 1):
                return count

    def exponential(self, shape: Shape, rate: float = 1.0, dtype: str = "float32") -> Doubles:
        """Draw ``Tensor.exponential_``; ``F.gumbel_softmax`` adds ``-log`` of it to the logits."""
        drawn = -1.0 / rate * libm(math.log1p, -self._doubles(math.prod(shape)))
        return stored(drawn, dtype).reshape(shape)

    def geometric(self, shape: Shape, chance: float, dtype: str = "float32") -> NDArray[Any]:
        """Draw ``Tensor.geometric_``."""
        drawn = np.ceil(libm(math.log, self._doubles(math.prod(shape))) / math.log1p(-chance))
        return stored(drawn, dtype).reshape(shape)

    def cauchy(self, shape: Shape, median: float = 0.0, sigma: float = 1.0, dtype: str = "float32") -> Doubles:
        """Draw ``Tensor.cauchy_``."""
        drawn = libm(math.tan, math.pi * (self._doubles(math.prod(shape)) - 0.5))
        return stored(fused(drawn, sigma, median), dtype).reshape(shape)

    def multinomial(self, weights: Any, n: int, *, replacement: bool = False, dtype: str = "float32") -> Integers:
        """Draw ``torch.multinomial``: positions in the last axis; ``dtype`` is that of ``weights``."""
        weights = stored(np.asarray(weights), dtype)
        if not replacement or n == 1:
            race = stored(weights / self.exponential(weights.shape, 1.0, dtype), dtype)
            return np.argsort(-race, axis=-1, kind="stable")[..., :n]
        totals: NDArray[Any] = np.cumsum(weights, axis=-1, dtype=np.float64 if dtype == "float64" else np.float32)
        shares = totals / totals[..., -1:]
        shares[..., -1] = 1.0
        rows = [np.searchsorted(row, self._doubles(n)) for row in shares.reshape(-1, shares.shape[-1]).astype(float)]
        return np.array(rows, np.int64).reshape(*shares.shape[:-1], n)


def stored(array: NDArray[Any], dtype: str, *, half: bool = True) -> NDArray[Any]:
    """Return numbers as a type has them; half types get theirs by way of a single, and without ``half`` keep that."""
    if dtype in BITS:
        return array.astype(dtype).astype(np.bool_ if dtype == "bool" else np.int64)
    return np.asarray(rounded(array.astype(np.float64), dtype if half or dtype == "float64" else "float32"))


def lowest(low: int, digits: int) -> int:
    """Return the first integer from ``low`` on that a float of so many digits is."""
    after = rounded_integer(low + 1, digits)
    return after + 2 ** (abs(low + 1).bit_length() - digits) if after < low else low


def highest(high: int, digits: int) -> int:
    """Return the end of the integers below ``high`` that remain so in a float of so many digits."""
    before = rounded_integer(high - 1, digits)
    return before - 2 ** (abs(high - 1).bit_length() - digits) if before >= high else high


def rounded_integer(number: int, digits: int) -> int:
    """Return an integer with so many binary digits, the nearest, and of two the even one."""
    unit: int = 2 ** max(abs(number).bit_length() - digits, 0)
    return round(number / unit) * unit


# --- what is rounded as PyTorch's kernels round ---


def libm(function: Callable[[float], float], array: Doubles) -> Doubles:
    """Apply a function of the C library, which PyTorch asks as well: numpy has others, which differ in the last bit."""
    return np.fromiter(map(function, array.tolist()), np.float64, len(array))


def two_sum(x: Any, y: Any) -> tuple[Any, Any]:
    """Return the sum of doubles, and what is missing from it."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def odd_sum(x: Any, y: Any) -> Doubles:
    """Return the sum of doubles; one that is not exact ends in an odd bit, so that rounding it once more is right."""
    total, missing = two_sum(x, y)
    bits = np.asarray(total).view(np.int64)
    step = np.where((missing > 0) == (total > 0), 1, -1)
    return np.where((np.abs(missing) > 0) & (bits & 1 == 0), bits + step, bits).view(np.float64)


def halves(x: Any) -> tuple[Any, Any]:
    """Return a double as a sum of two with 26 digits each."""
    far = x * (2.0**27 + 1)
    upper = far - (far - x)
    return upper, x - upper


def fused(x: Doubles, y: float, z: float) -> Doubles:
    """Return ``x*y + z`` of doubles, rounded once."""
    product = x * y
    if not abs(y) + abs(z) < 2.0**960:  # what is missing would overflow
        return product + z
    (upper_x, lower_x), (upper_y, lower_y) = halves(x), halves(y)
    missing = lower_x * lower_y - (((product - upper_x * upper_y) - lower_x * upper_y) - upper_x * lower_y)
    first, second = two_sum(z, missing)
    third, fourth = two_sum(product, first)
    return np.asarray(third + odd_sum(second, fourth), np.float64)


def fused_singles(x: Singles, y: Any, z: Any) -> Singles:
    """Return ``x*y + z`` of singles, rounded once."""
    return odd_sum(x.astype(np.float64) * y, np.float64(z)).astype(np.float32)


def double_blocks(uniform: Doubles, mean: float, std: float) -> Doubles:
    """Return normals for uniform doubles: the first eight of a block and the other eight make pairs."""
    first, second = uniform.reshape(-1, 2, BLOCK // 2).transpose(1, 0, 2).reshape(2, -1)
    radius = np.sqrt(-2.0 * libm(math.log, 1.0 - first))
    angle = 2.0 * math.pi * second
    return in_blocks(*(fused(radius * libm(wave, angle), std, mean) for wave in (math.cos, math.sin)))


def single_blocks(uniform: Singles, mean: float, std: float) -> Singles:
    """Return normals for uniform singles."""
    first, second = uniform.reshape(-1, 2, BLOCK // 2).transpose(1, 0, 2).reshape(2, -1)
    radius = np.sqrt(np.float32(-2.0) * log_singles(np.float32(1.0) - first))
    waves = cos_sin_singles(np.float32(2.0 * math.pi) * second)
    return in_blocks(*(fused_singles(radius * wave, np.float32(std), np.float32(mean)) for wave in waves))


def in_blocks(*halves_of_blocks: NDArray[Any]) -> NDArray[Any]:
    """Return the cosines and sines in the places of the uniform numbers."""
    return np.stack([half.reshape(-1, BLOCK // 2) for half in halves_of_blocks], axis=1).ravel()


LOG = (
    7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
    2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
)  # fmt: skip
SIN = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
COS = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
"""The polynomials of the Cephes library that PyTorch's single precision kernels use, highest power first."""
LOG_2 = (-2.12194440e-4, 0.693359375)
QUARTER_TURN = (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)
"""Numbers with few digits that add up to log 2 and to -π/4."""


def polynomial(coefficients: tuple[float, ...], x: Singles) -> Singles:
    """Evaluate a polynomial by Horner's rule."""
    total = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        total = fused_singles(total, x, np.float32(coefficient))
    return total


def log_singles(x: Singles) -> Singles:
    """Return logarithms of singles in (0, 1]."""
    x, exponent = np.frexp(x)
    small = x < np.float32(math.sqrt(0.5))
    power = (exponent - small).astype(np.float32)
    x = (x - np.float32(1.0)) + np.where(small, x, np.float32(0.0))
    square = x * x
    tail = fused_singles(polynomial(LOG, x) * x, square, power * np.float32(LOG_2[0]))
    tail = fused_singles(square, np.float32(-0.5), tail)
    return fused_singles(power, np.float32(LOG_2[1]), x + tail)


def cos_sin_singles(angle: Singles) -> tuple[Singles, Singles]:
    """Return cosines and sines of singles in [0, 2π)."""
    eighth = ((angle * np.float32(4.0 / math.pi)).astype(np.int32) + 1) & ~1
    for part in QUARTER_TURN:
        angle = fused_singles(eighth.astype(np.float32), np.float32(part), angle)
    square = angle * angle
    half = square * np.float32(-0.5)
    cosine = fused_singles(polynomial(COS, square) * square, square, half) + np.float32(1.0)
    sine = fused_singles(polynomial(SIN, square) * square, angle, angle)
    swapped = eighth & 2 != 0
    return (
        np.where(swapped, sine, cosine) * np.where((eighth - 2) & 4, np.float32(1), np.float32(-1)),
        np.where(swapped, cosine, sine) * np.where(eighth & 4, np.float32(-1), np.float32(1)),
    )
