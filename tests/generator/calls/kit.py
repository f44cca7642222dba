"""What calls are made of: tensors, dims, positions, masks and options, each written as PyTorch's documentation does."""

import random
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

Shape = tuple[int, ...]
MOST = 40
"""Entries of one tensor, so that J stays small."""
DOMAINS = {"any": (-2.0, 2.0), "pos": (0.3, 3.0), "unit": (0.06, 0.94), "over": (1.1, 3.0), "open": (-0.94, 0.94)}
INTO = {"pos": "({}.abs() + 0.3)", "unit": "torch.sigmoid({})", "over": "({}**2 + 1.1)", "open": "torch.tanh({})"}
"""What brings the numbers of any tensor into a domain."""
GRID = {
    "any": (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 40.0, -800.0),
    "pos": (0.0, 1.0, 2.0, 0.5, 1e-9, 800.0),
    "unit": (0.0, 1.0, 0.5, 0.25),
    "over": (1.0, 2.0, 3.0),
    "open": (0.0, 1.0, -1.0, 0.5),
}
"""Numbers of programs at the edge: zeros, ties, bounds, saturation."""


class NotTaken(Exception):  # it is no error: another statement is tried
    """PyTorch refuses a statement, or it gives nothing of use: the generator tries another."""


@dataclass
class Kit:
    """A program that grows: ``rng`` decides, ``scope`` holds its values in PyTorch, ``lines`` its text.

    ``mode`` is ``plain``, ``edge`` for numbers of ``GRID``, or ``empty`` for axes without entries.
    """

    rng: random.Random
    mode: str = "plain"
    inputs: dict[str, Any] = field(default_factory=dict)
    scope: dict[str, Any] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    pool: list[str] = field(default_factory=list)

    # --- shapes and numbers ---
    def one(self, items: Sequence[Any]) -> Any:
        return self.rng.choice(items)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def shape(self, low: int = 0, high: int = 3) -> Shape:
        """Return a shape of at most ``MOST`` entries with so many axes."""
        lengths = [1, 2, 2, 3, 3, 4] + [0, 0] * (self.mode == "empty")
        while True:
            found = tuple(self.one(lengths) for _ in range(self.rng.randint(low, high)))
            if np.prod(found) <= MOST:
                return found

    def dim(self, shape: Shape, d: int | None = None) -> str:
        """Return an axis, counted from either end."""
        d = self.axis(shape) if d is None else d
        return str(d if self.chance(0.5) else d - max(len(shape), 1))

    def axis(self, shape: Shape) -> int:
        return self.rng.randrange(len(shape)) if shape else 0

    def dims(self, shape: Shape) -> str:
        """Return one or several axes, as a text."""
        if not shape or self.chance(0.5):
            return self.dim(shape)
        found = self.rng.sample(range(len(shape)), self.rng.randint(1, len(shape)))
        return listed([self.dim(shape, d) for d in found], self.one("[("))

    def number(self, domain: str = "any") -> float:
        if self.mode == "edge":
            return self.one(GRID[domain])
        return round(self.rng.uniform(*DOMAINS[domain]), 3)

    def numbers(self, shape: Shape, domain: str = "any") -> Any:
        return np.array([self.number(domain) for _ in range(int(np.prod(shape)))]).reshape(shape)

    # --- tensors ---
    def t(self, shape: Shape, domain: str = "any") -> str:
        """Return the text of a float tensor of this shape, in a domain: one that is there, or a new input."""
        here = [name for name in self.pool if tuple(self.scope[name].shape) == shape]
        if not here or self.chance(0.4):
            return self.input(shape, domain)
        name = self.one(here)
        if domain == "any":
            return name
        low, high = DOMAINS[domain]
        inside = bool(((self.scope[name] > low) & (self.scope[name] < high)).all())
        return name if inside and self.chance(0.5) else INTO[domain].format(name)

    def input(self, shape: Shape, domain: str = "any") -> str:
        name = f"x{len(self.inputs)}"
        value = self.numbers(shape, domain)
        self.inputs[name] = value
        self.scope[name] = torch.tensor(value, dtype=torch.float64, requires_grad=True)
        self.pool.append(name)
        return name

    def any(self, low: int = 0, high: int = 3, domain: str = "any") -> tuple[str, Shape]:
        """Return a float tensor with so many axes, and its shape."""
        here = [name for name in self.pool if low <= self.scope[name].dim() <= high]
        shape = tuple(self.scope[self.one(here)].shape) if here and self.chance(0.7) else self.shape(low, high)
        return self.t(shape, domain), shape

    def beside(self, shape: Shape, domain: str = "any") -> str:
        """Return a tensor that broadcasts to this shape, or a plain number."""
        if self.chance(0.2):
            return literal(self.number(domain))
        return self.t(self.narrower(shape), domain)

    def narrower(self, shape: Shape) -> Shape:
        found = tuple(1 if self.chance(0.25) else n for n in shape)
        return found[self.rng.randint(0, len(found)) :] if self.chance(0.3) else found

    # --- constants in the text ---
    def mask(self, shape: Shape) -> str:
        if self.chance(0.5):
            return f"({self.t(shape)} {self.one(['>', '<', '>=', '!='])} {literal(self.number())})"
        return tensor(np.array([self.chance(0.5) for _ in range(int(np.prod(shape)))], dtype=bool).reshape(shape))

    def index(self, shape: Shape, length: int, negative: bool = False, once: bool = False) -> str:
        """Return positions below a length as a tensor of integers; with ``once`` no two are the same."""
        if once:
            if int(np.prod(shape)) > length:
                raise NotTaken
            return tensor(np.array(self.rng.sample(range(length), int(np.prod(shape))), dtype=int).reshape(shape))
        if length == 0 and np.prod(shape) > 0:
            raise NotTaken
        low = -length if negative and self.chance(0.5) else 0
        found = [self.rng.randrange(low, length) for _ in range(int(np.prod(shape)))]
        return tensor(np.array(found, dtype=int).reshape(shape))

    def within(self, shape: Shape, dim: int) -> Shape:
        """Return the shape of an index for ``gather``: any length along dim, at most that of x elsewhere."""
        return tuple(
            self.rng.randint(1, 3) if d == dim else self.rng.randint(min(n, 1), n) for d, n in enumerate(shape)
        )

    # --- calls ---
    def call(
        self,
        names: str,
        params: str,
        *values: Any,
        o: Mapping[str, Any] | None = None,
        kw: Mapping[str, Any] | None = None,
    ) -> str:
        """Return a call of one of the names, ``.name`` for a method.

        ``params`` are the names of the arguments. Each option of ``o`` is given or not, by position or by name, each of
        ``kw`` by name alone; a value may be a function that returns it.
        """
        name = self.one(names.split())
        pairs = [(p, str(v)) for p, v in zip(params.split(), values, strict=True)]
        head = name
        if name.startswith("."):
            head = f"{self.receiver(pairs.pop(0)[1])}{name}"
        first_keyword = (
            self.rng.randint(0 if self.chance(0.2) or not pairs else 1, len(pairs)) if self.chance(0.25) else len(pairs)
        )
        said = [v if k < first_keyword else f"{p}={v}" for k, (p, v) in enumerate(pairs)]
        positional = first_keyword == len(pairs) and self.chance(0.5)
        for p, v in (o or {}).items():
            if self.chance(0.5):
                positional = False
                continue
            text = str(v() if callable(v) else v)
            said.append(text if positional else f"{p}={text}")
        said += [f"{p}={v() if callable(v) else v}" for p, v in (kw or {}).items() if self.chance(0.5)]
        return f"{head}({', '.join(said)})"

    def receiver(self, text: str) -> str:
        return text if text.isidentifier() or text.endswith(")") else f"({text})"

    # --- statements ---
    def run(self, text: str) -> Any:
        """Run an expression in PyTorch; raises ``NotTaken`` where that refuses."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return eval(text, {**SCOPE, **self.scope})  # noqa: S307 - a text of the generator
        except Exception as error:  # whatever PyTorch raises
            raise NotTaken(f"{text}: {error}") from error

    def state(self, text: str) -> str:
        """Add the statement that gives the value of a call a name; return the name of a float tensor of it."""
        text, value = self.part(text, self.run(text))
        if isinstance(value, bool | int | float):
            text = f"{text}*{self.t(())}"
        elif not isinstance(value, torch.Tensor) or value.is_complex() or value.numel() > 2 * MOST:
            raise NotTaken
        elif value.dtype == torch.bool and self.chance(0.5):
            shape = tuple(value.shape)
            text = f"torch.where({text}, {self.t(shape)}, {self.t(shape)})"
        elif not value.is_floating_point():
            text = f"{self.t(tuple(value.shape))}*{self.receiver(text)}"
        value = self.run(text)
        if value.dtype != torch.float64:
            raise NotTaken
        name = f"a{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.scope[name] = value
        self.pool.append(name)
        return name

    def part(self, text: str, value: Any) -> tuple[str, Any]:
        """Return one of several values, by its place from either end or by its name."""
        if not isinstance(value, tuple | list):
            return text, value
        if not value:
            raise NotTaken
        fields = [name for name in FIELDS if hasattr(value, name)]
        place = f"[{self.rng.randrange(-len(value), len(value))}]"
        chosen = text + (f".{self.one(fields)}" if fields and self.chance(0.6) else place)
        return self.part(chosen, self.run(chosen))


FIELDS = ("values", "indices", "solution", "Q", "R", "U", "S", "Vh", "sign", "logabsdet", "min", "max")


def literal(number: float) -> str:
    return repr(int(number)) if number == int(number) and abs(number) < 100 else repr(number)


def tensor(array: Any) -> str:
    return (
        f"torch.tensor({array.tolist()})"
        if array.size
        else f"torch.zeros({array.shape}, dtype=torch.{'bool' if array.dtype == bool else 'long'})"
    )


def listed(items: Sequence[str], bracket: str = "[") -> str:
    if bracket == "[":
        return f"[{', '.join(items)}]"
    return f"({', '.join(items)}{',' * (len(items) == 1)})"


SCOPE: dict[str, Any] = {"torch": torch, "F": torch.nn.functional, "nn": torch.nn}
Call = Callable[[Kit], str]
CALLS: dict[str, Call] = {}


def call(make: Call) -> Call:
    """Enter a maker of calls under its name."""
    CALLS[make.__name__.strip("_")] = make
    return make


def of_one_tensor(*rows: tuple[str, tuple[Any, ...], Callable[[Kit, str, Shape], str]]) -> None:
    """Enter makers of calls of one tensor: a name, what ``Kit.any`` is asked, the call by the tensor and its shape."""
    for name, asked, rule in rows:
        CALLS[name] = lambda k, asked=asked, rule=rule: rule(k, *k.any(*asked))
