"""Programs that PyTorch refuses forward or backward, or whose backward leaves ``.grad`` None or cannot be called twice.

Their texts are Python with PyTorch's names, and programs of ours, with the output in ``y``; they stand in the files of
``QUESTIONS`` with PyTorch's answers. ``python tests/backward_rows.py`` asks again for all of them, and for the programs
of files that are named, one a line, with ``;`` between statements: torch_none.json=new.txt.
"""

import json
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from oracles import DATA

INPUTS = {"x": [1.5, 2.5, 3.5], "M": [[1.0, 2.0], [3.0, 4.0]], "c": [1.0, 2.0, 3.0], "s": 0.75}
CONSTANT = ("c",)


def torch_functions() -> dict[str, Any]:
    """Return what the names of functions in a row mean in PyTorch."""
    import torch  # it may not be installed

    names = {name: getattr(torch, name) for name in dir(torch) if not name.startswith("_")}
    own = {"F": torch.nn.functional, "sum": torch.sum, "max": torch.max, "abs": torch.abs, "round": torch.round}
    return names | own


def names_of(text: str) -> list[str]:
    """Return the inputs that a row mentions."""
    return [name for name in INPUTS if re.search(rf"\b{name}\b", text)]


def run(text: str, constant: tuple[str, ...] = CONSTANT) -> tuple[Any, dict[str, Any]]:
    """Return y of a row in PyTorch, and its inputs as fresh tensors."""
    import torch  # it may not be installed

    inputs = {
        name: torch.tensor(INPUTS[name], dtype=torch.float64, requires_grad=name not in constant)
        for name in names_of(text)
    }
    names = torch_functions() | inputs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(text, names)  # noqa: S102 - constants of the tests
    return names["y"], inputs


def go_back(y: Any) -> bool:
    """Call backward, and return whether PyTorch raises."""
    import torch  # it may not be installed

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y.backward(torch.ones_like(y))
    except RuntimeError:
        return True
    return False


def refuses(text: str) -> bool:
    """Return whether PyTorch raises on a row, forward or backward."""
    try:
        return go_back(run(text)[0])
    except RuntimeError:
        return True


def raises_twice(text: str) -> bool:
    """Return whether PyTorch raises when backward is called a second time, and not at the first."""
    y, _ = run(text)
    return not go_back(y) and go_back(y)


def left_none(text: str) -> list[str] | None:
    """Return the inputs whose ``.grad`` PyTorch leaves None, or None where its backward raises."""
    y, inputs = run(text, constant=())
    return None if go_back(y) else [name for name, x in inputs.items() if x.grad is None]


QUESTIONS: dict[str, Callable[[str], Any]] = {
    "torch_refusals.json": refuses,
    "torch_second.json": raises_twice,
    "torch_none.json": left_none,
}
"""By file: what PyTorch is asked about its programs."""


def recorded(name: str) -> dict[str, Any]:
    """Return what PyTorch answered, by program."""
    return json.loads((DATA / name).read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def record(*more: str) -> None:
    """Ask again for what is recorded, and for the programs of files."""
    new = dict(one.split("=") for one in more)
    for name, question in QUESTIONS.items():
        lines = Path(new[name]).read_text(encoding="utf-8").splitlines() if name in new else []
        texts = dict.fromkeys([*recorded(name), *(re.sub(r"\s*;\s*", "\n", line) for line in lines)])
        answers = [f" {json.dumps(text)}: {json.dumps(question(text))}" for text in texts]
        (DATA / name).write_text("{\n" + ",\n".join(answers) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    record(*sys.argv[1:])
