"""Random programs that PyTorch runs as they stand: names that collide, loops, branches, masks, writes, many shapes."""

import ast
import random
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from oracles import cases

TABLES = cases("script_forms.toml")

NAMES = TABLES["NAMES"]
SHAPES = [(), (), (1,), (2,), (3,), (4,), (6,), (13,), (40,), (1, 1), (3, 1), (2, 3), (1, 4), (3, 3), (2, 3, 4), (0,)]
LARGE = [(), (2,), (3,), (40,), (130,), (12, 12)]
"""Of inputs whose Jacobians are written entry by entry, or by index rules."""


TENSOR = TABLES["TENSOR"]
FORMS = {name: TABLES[name] for name in ("UNARY", "BINARY", "VECTOR", "MATRIX")}
MORE = TABLES["MORE"]
"""Forms beside these whose formulas are read back."""
LOOPS = TABLES["LOOPS"]
ROWS = TABLES["ROWS"]
BRANCHES = TABLES["BRANCHES"]


@dataclass
class Script:
    """A program, its inputs, v, and the names that it is differentiated by: all of them by default."""

    text: str
    inputs: dict[str, np.ndarray]
    v: np.ndarray | None
    wrt: list[str] | None = None


class Writer:
    """Writes one program; ``shapes`` holds what is known by name."""

    def __init__(self, seed: str, shapes, more) -> None:
        self.rng = random.Random(seed)  # noqa: S311 - programs, no secrets
        self.shape = self.rng.choice(shapes)
        self.forms = {name: [*usual, *more.get(name, [])] for name, usual in FORMS.items()}

    def pick(self, items):
        """Return one of the items."""
        return self.rng.choice(items)

    def filled(self, form: str, known: list[str], depth: int) -> str:
        """Return a form with expressions in its places."""
        parts = [self.expression(known, depth) for _ in range(form.count("{}"))]
        return form.format(*(part if part.isidentifier() else f"({part})" for part in parts))

    def expression(self, known: list[str], depth: int) -> str:
        """Return an expression of the inputs' shape."""
        if depth == 0 or self.rng.random() < 0.15:
            return self.pick(known)
        return self.filled(self.pick(self.forms["UNARY" if self.rng.random() < 0.6 else "BINARY"]), known, depth - 1)

    def last(self, known: list[str]) -> str:
        """Return the last expression, of whatever shape."""
        forms = [["{}"], self.forms["VECTOR"], self.forms["MATRIX"], TENSOR][len(self.shape)]
        if self.rng.random() < 0.45:
            return self.expression(known, self.pick([0, 1, 2, 2]))
        return self.filled(self.pick(forms), known, self.pick([0, 0, 1]))


def random_script(seed: int, number: int, shapes=SHAPES, more=MappingProxyType({})) -> Script:
    """Return the program of a number, without a v."""
    writer = Writer(f"{seed}/{number}", shapes, more)
    rng = writer.rng
    names = rng.sample(NAMES, rng.choice([1, 1, 2, 3]))
    values = np.random.default_rng([seed, number])
    scale = rng.choice([1.0, 1.0, 1.0, 100.0, 1e-3])
    inputs = {name: np.round(values.normal(size=writer.shape) * scale, rng.choice([1, 3, 12])) for name in names}
    if rng.random() < 0.15:  # negative zeros and ties
        inputs = {name: np.where(values.random(writer.shape) < 0.4, -0.0, value) for name, value in inputs.items()}
    known, lines = list(names), []
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        lines += [statement(writer, known)]
    if rng.random() < 0.3 and lines:
        target = writer.pick(known)
        lines.append(f"{target} = {writer.last(known)}")
    else:
        lines.append(writer.pick(known) if rng.random() < 0.15 else writer.last(known))
    text = ("; " if rng.random() < 0.1 and not any(":" in line for line in lines) else "\n").join(lines)
    used = {name: value for name, value in inputs.items() if reads(text, name)}
    return Script(text, used, None)


def reads(text: str, name: str) -> bool:
    """Return whether a program reads an input before it assigns the name."""
    for node in ast.parse(text).body:
        loaded = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        if name in loaded or (isinstance(node, ast.AugAssign) and name in stored):
            return True
        if name in stored:
            return False
    return False


def statement(writer: Writer, known: list[str]) -> str:
    """Return a statement, and put what it assigns among the known names."""
    rng, kind = writer.rng, writer.rng.random()
    target = rng.choice(NAMES) if rng.random() < 0.7 else writer.pick(known)
    if kind < 0.5:
        text = f"{target} = {writer.expression(known, rng.choice([1, 1, 2]))}"
    elif kind < 0.58:
        target = writer.pick(known)
        before = f"{target} = {target}*1\n" if rng.random() < 0.8 else ""
        return before + f"{target} {writer.pick(['+=', '*=', '-='])} {writer.expression(known, 1)}"
    elif kind < 0.66 and len(writer.shape) == 1 and writer.shape[0] > 1:
        text = (
            f"{target} = {writer.pick(known)}*1\n{target}[{writer.pick(['0', '1:', '-1'])}] = {writer.pick(known)}[0]*2"
        )
    elif kind < 0.72 and writer.shape:
        text = "s = 0.0\n" + writer.pick(ROWS).format(a=writer.pick(known))
        text += f"\n{target} = {writer.pick(known)}*sum(s)"
    elif kind < 0.86:
        target = writer.pick(known)
        text = writer.pick(LOOPS).format(n=writer.pick([0, 1, 3, 6]), a=target, e=writer.expression(known, 1))
    elif kind < 0.94:
        known_target = writer.pick(known)
        return writer.pick(BRANCHES).format(c=writer.pick(known), t=writer.pick(["0", "0.5", "-1"]), a=known_target,
                                            e=writer.expression(known, 1), g=writer.expression(known, 1))  # fmt: skip
    else:
        other = rng.choice([name for name in NAMES if name != target])
        text = f"{target}, {other} = {writer.expression(known, 1)}, {writer.expression(known, 1)}"
        known.append(other)
    known.append(target)
    return text
