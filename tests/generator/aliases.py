"""Random programs of writes and reads through tensors that share memory, each line tried in PyTorch when it is made."""

import random
from dataclasses import dataclass, field
from typing import Any

VIEWS = {  # by the number of axes
    0: ["{y}.view(1)", "{y}[None]", "{y}.detach()", "{y}.clone()", "{y}*1", "{y}"],
    1: [
        "{y}[{i}:]", "{y}[:{i}]", "{y}[::2]", "{y}[...]", "{y}[-1]", "{y}[None]", "{y}", "{y}.view(-1)", "{y}.ravel()",
        "{y}.reshape(-1, 1)", "{y}.detach()", "{y}.T", "{y}.t()", "{y}.flatten()", "{y}.squeeze()", "{y}.unsqueeze(0)",
        "{y}.expand(2, {n})", "{y}.unsqueeze(1).squeeze()", "{y}.view(2, -1)", "{y}.clone()", "{y}*1", "{y}[[0, 1]]",
        "{y}.flip(0)", "{y}[{y} > 0]",
    ],
    2: [
        "{y}[0]", "{y}[-1, ...]", "{y}[0, 1]", "{y}[:, 1]", "{y}[:, 1:]", "{y}[1:].reshape(-1)", "{y}[None]", "{y}",
        "{y}.T", "{y}.t()", "{y}.permute(1, 0)", "{y}.transpose(0, 1)", "{y}.diagonal()", "{y}.detach()", "{y}[0][1:]",
        "{y}.reshape(-1)", "{y}.view(3, 2)", "{y}.reshape(3, 2)", "{y}.T.reshape(-1)", "{y}.T.flatten()", "{y}.ravel()",
        "{y}.T.reshape(2, 3)", "{y}[:, :2].reshape(-1)", "{y}.expand(2, {n}, {m})[1]", "{y}.T*1", "{y}.T.clone()",
        "{y}.clone()", "{y}[[1, 0]]", "{y}[:, [0, 1]]", "{y}.sum(0)",
    ],
}  # fmt: skip
WRITES = {
    0: ["{y} += {v}", "{y} *= {v}", "{y}[...] = {v}", "{y}.mul_({v})", "w = {y}*2 + {y}.add_({v})*{y}"],
    1: [
        "{y} += {v}", "{y} *= {v}", "{y}[0] = {v}", "{y}[1:] = {v}", "{y}[-1] += {v}", "{y}[::2] *= {v}", "{y}.neg_()",
        "{y}[[0, 1]] = {v}", "{y}[{y} > 0] = {v}", "{y}.add_({v})", "{y}[1:].mul_({v})", "{y}[1:][0] = {v}",
        "{y}.view(-1)[0] -= {v}", "{y}[:2].zero_()", "{y}.clamp_(-1., 1.)", "u = {y}.sub_({v})*{y}",
        "{y}[0], {y}[1] = {y}[1], {y}[0]", "{y}[1], {y}[:1] = {y}[0].clone(), {v}", "w = ({y}*1).add_({v})*2",
        "w = {y}[1:]*2 + {y}.neg_()[1:]", "w = torch.stack([{y}[0], {y}.add_({v})[1], {y}[0]])",
    ],
    2: [
        "{y} += {v}", "{y} *= {v}", "{y}[0] = {v}", "{y}[:, 1] = {v}", "{y}[1, 0] = {v}", "{y}[0, 1:] *= {v}",
        "{y}[..., 0] += {v}", "{y}[:] = {v}", "{y}[0][1] = {v}", "{y}.T[0] = {v}", "{y}.T[0][1:] += {v}",
        "{y}.diagonal().mul_({v})", "{y}[1].fill_(0.5)", "{y}.sub_({v})", "{y}[0], {y}[1] = {y}[1], {y}[0]",
        "w = {y}.T[0] + {y}.mul_({v}).T[0]", "u = {y}[0]*({y}[1].add_({v}) + {y}[1].neg_())",
    ],
}  # fmt: skip
STARTS = [
    "a = x*1", "a = (x*2).view(2, 3)", "a = x.view(3, 2).T*1", "a = torch.stack([x[:3], x[3:]])", "a = x[:3]*c",
    "a = torch.zeros(6)", "a = torch.ones(2, 3)", "a = torch.ones(2, 3).T.clone()", "a = x.detach().clone()",
    "a = c", "a = c[1:]",
]  # fmt: skip
VALUES = ["5", "x[0]", "x[1]*2", "c[0]", "-1.5", "x[2:3]"]


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
