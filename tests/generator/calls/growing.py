"""Random programs of the calls, each statement tried in PyTorch when it is made."""

import random
import re
from typing import Any

import numpy as np

from generator.calls import entries, linear, neural, shapes
from generator.calls.kit import CALLS, Kit, NotTaken, Shape
from generator.in_torch import REFUSED
from generator.judges import Truth, of_pytorch

NAMES = sorted(CALLS)
MODULES = (entries, linear, neural, shapes)
"""They enter their calls when they are imported."""
ATTEMPTS = 15


def grown(seed: Any, number: int, mode: str = "plain") -> tuple[Truth | None, Kit]:
    """Return the program of a number, in whose turn its first call is, and the kit that it grew in.

    The program is None where PyTorch takes no call of that turn, or differentiates nothing. The same seed, number and
    mode always give the same one.
    """
    kit = Kit(random.Random(f"{seed}/{mode}/{number}"), mode)  # noqa: S311
    if not statement(kit, NAMES[number % len(NAMES)]):
        return None, kit
    for _ in range(kit.one([0, 0, 1, 2])):
        statement(kit, kit.one(NAMES))
    last = combined(kit, [name for name in kit.pool if name.startswith("a")])
    text = "\n".join([*kit.lines, last])
    inputs = {name: x for name, x in kit.inputs.items() if re.search(rf"\b{name}\b", text)}

    def v_of(shape: Shape) -> Any:
        return np.array([round(kit.rng.uniform(-2, 2), 2) for _ in range(int(np.prod(shape)))]).reshape(shape)

    try:
        return of_pytorch(text, inputs, v_of), kit
    except REFUSED:  # it has no derivative, or its last line no value
        return None, kit


def statement(kit: Kit, name: str) -> bool:
    """Add a statement of a call; return whether PyTorch took one."""
    for _ in range(ATTEMPTS):
        before = dict(kit.inputs), list(kit.pool), dict(kit.scope)
        try:
            kit.state(CALLS[name](kit))
        except NotTaken:
            kit.inputs, kit.pool, kit.scope = before
        else:
            return True
    return False


def combined(kit: Kit, results: list[str]) -> str:
    """Return the output: the last result, or what depends on all of them."""
    *others, last = results
    if kit.chance(0.4):
        return last if kit.chance(0.5) else f"{last}*{kit.t(tuple(kit.scope[last].shape))}"
    terms = [
        f" + {name}.sum()" if kit.chance(0.5) else f" - {name}.mean()*0.5" for name in others if kit.scope[name].numel()
    ]
    rest = "".join(terms)
    return kit.one([f"{last}{rest}", f"({last}**2).sum(){rest}", f"torch.sin({last}){rest}"])
