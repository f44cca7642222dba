"""Run recorded scripts in doubles: ``python tests/script_doubles.py ROWS.jsonl`` prints what float32 decides in them.

gradcli computes in doubles and shows float32's digits. A row that PyTorch itself leaves otherwise in doubles, with the
same draws, is no test of gradcli. Scripts that name a dtype in words that cannot be exchanged are left out.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import torch

from script_comparison import calls_fault, rows_of, text_fault
from script_recorder import record

SINGLE, DOUBLE = torch.float32, torch.float64
DRAWS = ("randn", "rand", "normal", "randn_like", "rand_like")
SPEAKS_OF_TYPES = re.compile(
    r"float64|double|dtype\b.*print|print.*dtype|bfloat16|\.half\(|float16|import jax|FloatTensor|is_cuda"
)


def drawn_singly(draw: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that draws float32's numbers and gives them as doubles."""

    def call(*args: Any, **options: Any) -> Any:
        args = tuple(value.to(SINGLE) if getattr(value, "dtype", None) == DOUBLE else value for value in args)
        wants_gradient = options.pop("requires_grad", False)
        if draw.__name__ in {"randn", "rand"} or (draw.__name__ == "normal" and "size" in options):
            options["dtype"] = SINGLE
        return draw(*args, **options).to(DOUBLE).requires_grad_(wants_gradient)

    return call


def filled_singly(fill: Callable[..., Any]) -> Callable[..., Any]:
    """Return an in-place draw that takes float32's numbers."""

    def call(tensor: torch.Tensor, *args: Any, **options: Any) -> torch.Tensor:
        if tensor.dtype != DOUBLE:
            return fill(tensor, *args, **options)
        with torch.no_grad():
            return tensor.copy_(fill(torch.empty(tensor.shape, dtype=SINGLE), *args, **options))

    return call


@contextlib.contextmanager
def in_doubles() -> Iterator[None]:
    """Make float64 of everything that is float32."""
    tensor = torch.Tensor
    float_ = tensor.float
    with contextlib.ExitStack() as stack:

        def put(target: Any, name: str, value: Any) -> None:
            stack.enter_context(mock.patch.object(target, name, value))

        for name in DRAWS:
            put(torch, name, drawn_singly(getattr(torch, name)))
        for name in ("uniform_", "normal_"):
            put(tensor, name, filled_singly(getattr(tensor, name)))
        set_default = torch.set_default_dtype
        put(torch, "set_default_dtype", lambda _: set_default(DOUBLE))
        try:
            put(tensor, "float", lambda value: float_(value).to(DOUBLE) if value.dtype != DOUBLE else value)
            put(torch, "float32", DOUBLE)
            put(torch, "float", DOUBLE)
            yield
        finally:
            set_default(SINGLE)


def difference(row: dict[str, Any]) -> str | None:
    """Return what is otherwise in doubles; None too where a script speaks of dtypes."""
    if SPEAKS_OF_TYPES.search(row["source"]) or row["error"]:
        return None
    with in_doubles():
        again = record(row["source"])
    if again["error"]:
        return f"in doubles it ends with {again['error']}"
    fault = text_fault(without_dtype(again["stdout"]), without_dtype(row["stdout"]))
    if fault:
        return fault
    return calls_fault([as_event(call) for call in again["calls"]], row["calls"])


def without_dtype(printed: str) -> str:
    return re.sub(r",\s*dtype=torch\.float64", "", printed).replace("torch.float64", "torch.float32")


def as_event(call: dict[str, Any]) -> dict[str, Any]:
    grads = call["grads"]
    return call | ({"returns": grads} if call["kind"] == "grad" else {"grad": dict(enumerate(grads))})


def main(paths: list[str]) -> int:
    torch.set_num_threads(1)
    rows = [row for path in paths for row in rows_of(Path(path))]
    different = [(row["id"], difference(row)) for row in rows]
    different = [(name, fault) for name, fault in different if fault]
    for name, fault in different:
        print(name, fault, sep="\n    ")  # noqa: T201
    print(f"{len(different)} of {len(rows)} are otherwise in doubles")  # noqa: T201
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
