"""Calls of PyTorch's functions: the type of what they give, and what PyTorch says of arguments that do not fit."""

from __future__ import annotations

from typing import Any

from gradcli.errors import GradcliError
from gradcli.language.calls import Parameter
from gradcli.ops import Pair, Parts
from gradcli.ops.declare import value_of
from gradcli.runner.exceptions import KINDS
from gradcli.runner.objects import Foreign, Instance
from gradcli.runner.operators import PRODUCTS, together
from gradcli.runner.state import Run
from gradcli.runner.torch_errors import TYPED, of_integers, of_types, torch_error
from gradcli.runner.values import Tensor, category, kind_of

COUNTS = ("argmax", "argmin", "argsort", "count_nonzero", "nonzero", "bincount", "searchsorted", "bucketize")
"""Functions whose results are numbers of places."""
SUMS = ("sum", "prod", "cumsum", "cumprod", "trace", "nansum")
"""Functions that make integers of 64 bits of smaller ones."""
WITH_NUMBERS = ("add", "sub", "mul", "div", "pow", "where", "fmod", "remainder", "clip", "rsub")
"""Functions for which the types of Python's numbers count."""


def result_type(
    run: Run, name: str, made: Any, tensors: list[Any], numbers: list[Any], library: str, rounds: bool
) -> str:
    """Return the type of a function's result by those of its arguments, as PyTorch has it; a division may round."""
    kind = kind_of(value_of(first_of(made)))
    given = [*tensors, *numbers] if name in WITH_NUMBERS else tensors or numbers
    result = together(run, given, library if library != "python" else "numpy")
    if library != "torch":
        return result
    if name in COUNTS or (name in SUMS and category(result) < 2):
        return "int64"
    if name == "float_power":
        return "float64"
    if kind == "f" and rounds and category(result) < 2:
        return "int64" if result == "bool" else result
    if kind == "b" and name not in SUMS:
        return "bool"
    return "int64" if result == "bool" and kind != "f" and name in ("square", "clip") else result


NUMBERS_FIRST = (
    "add",
    "sub",
    "mul",
    "div",
    "pow",
    "float_power",
    "remainder",
    "xlogy",
    "xlog1py",
    "where",
    "fmod",
    "einsum",
    "rsub",
    "polygamma",
    "multigammaln",
)
"""Functions of PyTorch's whose first argument may be a number."""


def check_tensors(run: Run, full: str, name: str, places: list[Parameter], values: list[Any]) -> None:
    """Raise what PyTorch raises for a number, a list or a text in the place of a tensor."""
    for place, (parameter, value) in enumerate(zip(places, values, strict=False)):
        if place > (1 if name in PRODUCTS else 0):
            return
        if (
            parameter.kind == "Tensor"
            and not parameter.rest
            and name not in NUMBERS_FIRST
            and not isinstance(value, Tensor | Pair)
        ):
            if isinstance(value, Foreign | Instance):
                return
            type_name = run.machine.type_name
            last, called = full.rpartition(".")[2], {"x": "input"}.get(parameter.name, parameter.name)
            run.fail(
                "TypeError",
                f"{last}(): argument '{called}' (position {place + 1}) must be Tensor, not {type_name(value)}",
            )


def in_torch_words(run: Run, name: str, places: list[Parameter], values: list[Any], error: GradcliError) -> None:
    """Raise what PyTorch raises for a call that the table refused, where that is known."""
    if error.kind not in KINDS:
        return
    said = torch_error(name, by_name(places, values))
    if said is not None:
        run.fail(*said)


def by_name(places: list[Parameter], values: list[Any]) -> dict[str, Any]:
    """Return the arguments of a call under the names of the table's parameters, of several under one name a list."""
    given: dict[str, Any] = {}
    for parameter, value in zip(places, values, strict=True):
        if parameter.rest:
            given.setdefault(parameter.name, []).append(value)
        else:
            given[parameter.name] = value
    return given


def refuse_typed(run: Run, name: str, places: list[Parameter], values: list[Any], whole: str | None) -> None:
    """Raise what PyTorch raises for arguments of other types than it takes; ``whole`` is the type of the first."""
    said = of_integers(name, whole) if whole is not None else None
    if said is None and name in TYPED:
        said = of_types(name, by_name(places, values))
    if said is not None:
        run.fail(*said)


def first_of(made: Any) -> Any:
    """Return the first of several results."""
    while isinstance(made, tuple) and made:
        made = made[0]
    return made.values if isinstance(made, Pair) else made[0] if isinstance(made, Parts) else made
