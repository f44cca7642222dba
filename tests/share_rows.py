"""Which results show the memory of an argument, function by function: of one number, of one entry, of no-op arguments.

A row is a call on ``a`` and a shape of it. ``python tests/share_rows.py`` asks PyTorch, by a write to ``a`` after the
call, and writes ``data/torch_shares.json``, so that the rows are tested where it is not installed.
"""

import json
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradcli.ops import FUNCTIONS
from gradcli.ops.vocabulary import load_all
from oracles import DATA, cases

RECORDED = "torch_shares.json"
INPUTS = {"number": 0.7, "entry": [0.7], "cell": [[0.7]], "vector": [0.7, 0.2], "square": [[0.7, 0.2], [0.1, 0.4]]}
ARGUMENTS = cases("share_arguments.toml")["ARGUMENTS"]
MOST = 4
"""Arguments of a function that are tried with each input: the first that the library takes."""


def shares(library: Any, call: str, value: Any) -> bool | None:
    """Return whether a write to a shows in the result of a call, None where the library refuses or gives no array."""
    names = {"torch": library, "np": library, "F": getattr(getattr(library, "nn", None), "functional", None)}
    is_numpy = library is np
    a = np.array(value) if is_numpy else library.tensor(value, dtype=library.float64)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = eval(call, {**names, "a": a})  # noqa: S307 - a text of this file
    except Exception:  # noqa: BLE001 - whatever it is, it is a refusal
        return None
    first = found[0] if isinstance(found, tuple | list) and len(found) else found
    if is_numpy:
        return np.shares_memory(a, first) if isinstance(first, np.ndarray) else None
    if not isinstance(first, library.Tensor) or first.dtype == library.bool or not first.numel():
        return None
    return bool(first.untyped_storage().data_ptr() == a.untyped_storage().data_ptr())


def calls(prefixes: tuple[str, ...], methods: bool) -> Iterator[list[str]]:
    """Yield the calls of each function with all arguments, under its first spelling of the prefixes, or as a method."""
    load_all()
    for function in FUNCTIONS.values():
        forms = [f"a.{name}({{}})" for name in function.methods[:1] if methods]
        forms += [f"{name}(a{{}})" for name in function.spellings if name.startswith(prefixes)][: 1 - len(forms)]
        for form in forms:
            comma = "" if form.startswith("a.") else ", "
            yield [form.format(f"{comma}{arguments}" if arguments else "") for arguments in ARGUMENTS]


def answers(library: Any, prefixes: tuple[str, ...], methods: bool) -> dict[str, dict[str, bool]]:
    """Return for each call which inputs its result shows."""
    found: dict[str, dict[str, bool]] = {}
    for of_one in calls(prefixes, methods):
        for name, value in INPUTS.items():
            texts = [call.replace("torch.tensor", "np.array").replace("torch.", "np.") if library is np else call
                     for call in of_one]  # fmt: skip
            said = [(call, shares(library, call, value)) for call in texts]
            for call, does in [(call, does) for call, does in said if does is not None][:MOST]:
                found.setdefault(call, {})[name] = does
    return found


def of_torch(torch: Any) -> dict[str, dict[str, bool]]:
    """Return what PyTorch answers."""
    return answers(torch, ("torch.", "F."), methods=True)


def recorded() -> dict[str, dict[str, bool]]:
    """Return what PyTorch answered."""
    kept = json.loads((DATA / RECORDED).read_text(encoding="utf-8"))
    return {call: {name: name in shared.split() for name in names.split()} for call, (names, shared) in kept.items()}


def main() -> None:
    """Record PyTorch's answers."""
    import torch  # it may not be installed

    lines = [
        f" {json.dumps(call)}: {json.dumps([' '.join(row), ' '.join(name for name in row if row[name])])}"
        for call, row in of_torch(torch).items()
    ]
    (DATA / RECORDED).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
