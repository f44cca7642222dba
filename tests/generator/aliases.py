"""Random programs of writes and reads through tensors that share memory, each line tried in PyTorch when it is made."""

import random
from dataclasses import dataclass, field
from typing import Any

from oracles import cases

TABLES = cases("alias_forms.toml")

VIEWS = TABLES["VIEWS"]  # by the number of axes
WRITES = TABLES["WRITES"]
STARTS = TABLES["STARTS"]
VALUES = TABLES["VALUES"]


@dataclass
class Writing:
    """A program that grows, and its variables in PyTorch."""

    chance: random.Random
    torch: Any
    inputs: dict[str, list[float]] = field(init=False)
    scope: dict[str, Any] = field(init=False)
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        numbers = [round(self.chance.uniform(-2, 2), 2) for _ in range(9)]
        self.inputs = {"x": numbers[:6], "c": numbers[6:]}
        self.scope = leaves(self.torch, self.inputs)

    @property
    def names(self) -> list[str]:
        """The program's own variables."""
        return [name for name in "abcuvwz" if name in self.scope and (name != "c" or "a = c" in self.lines[0])]

    def add(self, line: str) -> None:
        """Add a line, if PyTorch runs it; one that it does not run may have changed something, and is forgotten."""
        try:
            exec(line, self.scope)  # noqa: S102 - a text of this module
            self.lines.append(line)
        except (RuntimeError, IndexError, ValueError, TypeError):
            self.scope = leaves(self.torch, self.inputs)
            exec("\n".join(self.lines), self.scope)  # noqa: S102

    def grow(self) -> None:
        """Add a line that makes a view or a copy, or writes, or reads."""
        name = self.chance.choice(self.names)
        y = self.scope[name]
        kind = self.chance.random()
        if 0 in y.shape or 1 in y.shape[-2:] or y.ndim > 2:
            self.add(f"{name} = x[:3]*c")
        elif kind < 0.4:
            shape = {
                "n": y.shape[0] if y.ndim else 1,
                "m": y.shape[-1] if y.ndim else 1,
                "i": self.chance.randint(0, 2),
            }
            self.add(f"{self.chance.choice('abuvwz')} = " + self.chance.choice(VIEWS[y.ndim]).format(y=name, **shape))
        elif kind < 0.85:
            others = [other for other in self.names if self.scope[other].ndim < 2]
            value = self.chance.choice([*VALUES, *others])
            self.add(self.chance.choice(WRITES[y.ndim]).format(y=name, v=value))
        else:
            self.add(
                self.chance.choice([f"w = ({name}*{name}).sum()", f"{name} = {name}*1.5", f"v = {name}.sum()*x[2]"])
            )


def leaves(torch: Any, inputs: dict[str, list[float]]) -> dict[str, Any]:
    """Return the inputs as tensors, of which only x is differentiated."""
    found = {name: torch.tensor(value, requires_grad=name == "x") for name, value in inputs.items()}
    return {"torch": torch, **found}


def random_writes(seed: int, number: int, torch: Any) -> tuple[list[str], str, dict[str, list[float]]]:
    """Return the lines of a program, its last expression, which reads every variable, and its inputs."""
    program = Writing(random.Random(f"{seed} {number}"), torch)  # noqa: S311
    program.add(program.chance.choice(STARTS))
    for _ in range(program.chance.randint(3, 9)):
        program.grow()
    last = " + ".join(f"({name}*{name}*x[{k % 6}]).sum()" for k, name in enumerate(program.names))
    return program.lines, last, program.inputs
