"""Single lines and short programs as notebooks have them, and what PyTorch, NumPy, SciPy and JAX make of them.

``tests/data/notebook_lines.jsonl`` has a line for each: the program, who was asked, y and the gradients for the v of
``seed_of``. PyTorch gives its own gradients; of the others they are differences of four values, good for six digits.
``python tests/notebook_lines.py`` asks again for all, and for the programs of files that are named, one a line. The
texts are evaluated by Python: they are constants of the tests.
"""

import ast
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from oracles import DATA, by_python, by_torch

RECORDED = DATA / "notebook_lines.jsonl"
INPUTS: dict[str, Any] = {
    "x": [0.3, -0.5, 1.2], "z": [0.4, 0.6, 0.9], "s": 0.7, "b": [0.1, 0.2],
    "W": [[1.0, 2.0, 0.5], [3.0, 4.0, -1.0]], "A": [[2.0, 1.0], [0.5, 3.0]],
    "B": [[1.2, 0.3, -0.5], [0.7, 2.1, 0.4], [-0.2, 0.6, 1.5]],
    "M": [[0.3, 1.1, -0.4, 2.0], [1.5, -0.7, 0.2, 0.9], [-1.2, 0.6, 1.7, 0.1]],
    "T": (np.arange(12).reshape(2, 3, 2) / 7 + 0.01).tolist(),
    "I": np.round(np.sin(np.arange(32) * 1.3).reshape(1, 2, 4, 4), 2).tolist(),
    "K": [[[[0.5, -1.0], [0.25, 2.0]], [[-0.75, 1.5], [0.1, -0.3]]]],
    "I4": np.round(np.cos(np.arange(16) * 0.9).reshape(1, 4, 2, 2), 2).tolist(),
}  # fmt: skip
STEP = 1e-3


def names_of(program: str) -> list[str]:
    """Return the inputs that a program names."""
    found = {node.id for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Name)}
    return [name for name in INPUTS if name in found]


def seed_of(shape: tuple[int, ...]) -> Any:
    """Return the v that is given to y."""
    return (np.cos(np.arange(np.prod(shape, dtype=int)) * 1.7 + 0.3) + 0.2).reshape(shape)


def of_torch(program: str) -> tuple[Any, dict[str, Any]]:
    """Return y and the gradients of PyTorch."""
    return by_torch(program, {name: INPUTS[name] for name in names_of(program)}, seed_of)


def by_differences(program: str, modules: dict[str, Any], array: Callable[[Any], Any]) -> tuple[Any, dict[str, Any]]:
    """Return y of a library that differentiates nothing here, and its slopes along v."""
    point = {name: np.array(INPUTS[name], dtype=np.float64) for name in names_of(program)}

    def value(**moved: Any) -> Any:
        return np.asarray(by_python(program, {**modules, **{k: array(x) for k, x in (point | moved).items()}}))

    y = value()
    if y.dtype.kind not in "fib":
        raise TypeError(f"numbers of kind {y.dtype}")
    v, slopes = seed_of(y.shape), {name: np.zeros(x.shape) for name, x in point.items()}
    for name, x in point.items():
        for place in np.ndindex(x.shape):
            unit = np.zeros(x.shape)
            unit[place] = STEP
            near, far = (
                np.sum(v * (value(**{name: x + h * unit}) * 1.0 - value(**{name: x - h * unit}))) for h in (1, 2)
            )
            slopes[name][place] = (8 * near - far) / (12 * STEP)
    return y * 1.0, slopes


def by_numpy(program: str) -> tuple[Any, dict[str, Any]]:
    """Return y of NumPy and SciPy, and its slopes."""
    import scipy.linalg
    import scipy.special

    return by_differences(program, {"np": np, "scipy": scipy}, np.copy)


def by_jax(program: str) -> tuple[Any, dict[str, Any]]:
    """Return y of JAX, and its slopes."""
    import jax
    import jax.scipy.linalg
    import jax.scipy.special

    jax.config.update("jax_enable_x64", True)
    return by_differences(program, {"np": np, "jnp": jax.numpy, "jax": jax}, jax.numpy.asarray)


ASKED = {"torch": of_torch, "numpy": by_numpy, "jax": by_jax}


def short(x: Any) -> Any:
    """Return numbers with the digits that are compared."""
    return [short(part) for part in x] if isinstance(x, list) else float(f"{x:.13g}")


def line_of(program: str, by: str) -> str:
    """Return the line of a program that was asked for."""
    y, slopes = ASKED[by](program)
    figures = {"y": short(y.tolist()), "grad": {name: short(x.tolist()) for name, x in slopes.items()}}
    return json.dumps({"program": program, "by": by, **figures})


def recorded() -> list[dict[str, Any]]:
    """Return what was recorded."""
    return [json.loads(line) for line in RECORDED.read_text(encoding="utf-8").splitlines()]


def record(paths: list[str]) -> None:
    """Ask again for what is recorded, and for programs of files whose names begin with who is asked: torch-a.txt."""
    known = {row["program"]: row["by"] for row in recorded()} if RECORDED.exists() else {}
    for path in paths:
        texts = Path(path).read_text(encoding="utf-8").splitlines()
        known |= {text.replace("\\n", "\n"): Path(path).stem.partition("-")[0] for text in texts if text}
    RECORDED.write_text("".join(f"{line_of(program, by)}\n" for program, by in known.items()), encoding="utf-8")


if __name__ == "__main__":
    record(sys.argv[1:])
