"""What the tests know of an op, in one record, and of a function, in rows of data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradcli.ops import Function, Op


@dataclass(frozen=True)
class Record:
    """What the tests know of an op.

    ``definition(*entries, **options)`` is its value in mpmath, or ``of_arrays`` that of whole arrays.
    ``derivatives`` are those of a smooth elementwise op by each argument, as textbooks have them, and ``value`` its
    value where ``definition`` takes mpmath too long; one that is ``straight`` has no digit to lose. ``options`` are
    those that it is tried with, ``domain`` where, if not in its own. ``cases`` are arguments (shapes or arrays) and
    options of an op that is not elementwise, ``flat`` those of one without a derivative; ``further`` are more points,
    ``pieces`` those on every piece. ``kink`` is a point with a kink and one without, with ``kink_options``; None: that
    of an op of two arguments is where they are equal, and that of others without options at 0. ``within`` bounds the
    hard points at which its digits are counted, ``zeros`` are more of them, ``hard_pairs`` those of two arguments,
    ``hard_options`` their options; none: those that it is tried with. ``called`` names the functions that reach it,
    where they have other names.

    What is data stands in files: calls for random programs in ``data/recipes.toml``, where PyTorch's answer is not the
    best in ``data/more_exact.toml``, short programs with their values in ``data/function_programs.jsonl``, and what
    PyTorch gives at the edge in ``data/torch_edges.jsonl``.
    """

    name: str
    definition: Callable[..., Any] | None = None
    of_arrays: Callable[..., Any] | None = None
    derivatives: tuple[Callable[..., Any], ...] = ()
    value: Callable[..., Any] | None = None
    straight: bool = False
    options: Sequence[dict[str, Any]] = ({},)
    domain: tuple[tuple[float, float], ...] = ()
    cases: Sequence[Any] = ()
    further: Sequence[Any] = ()
    flat: Sequence[Any] = ()
    pieces: Sequence[Any] = ()
    kink: tuple[Any, Any] | None = None
    kink_options: dict[str, Any] = field(default_factory=dict)
    hard_options: Sequence[dict[str, Any]] = ()
    hard_pairs: tuple[Any, ...] = ()
    zeros: Sequence[float] = ()
    within: tuple[float, float] = (float("-inf"), float("inf"))
    called: Sequence[str] = ()


RECORDS: dict[str, Record] = {}


def record(name: str, **fields: Any) -> None:
    """Enter the record of an op or a function."""
    if name in RECORDS:
        raise ValueError(f"{name!r} has two records")
    RECORDS[name] = Record(name, **fields)


def torch_call(function: Function) -> str | None:
    """Return PyTorch's call of a function; None where it has none but a method."""
    return next((name for name in function.spellings if name.startswith(("torch.", "F."))), None)


def has_derivative(op: Op) -> bool:
    """Return whether a derivative of an op is tested as one."""
    return callable(op.vjps) or (any(rule is not None for rule in op.vjps) and not op.step)


def missing_of_op(op: Op, known: Record | None) -> list[str]:
    """Return the fields that the record of an op lacks."""
    if known is None:
        return ["record"]
    smooth = has_derivative(op) and op.formula is not None and not known.cases
    found = {
        "definition": known.definition is None and known.of_arrays is None,
        "cases": has_derivative(op) and op.formula is None and not known.cases,
        "derivatives": smooth
        and not known.straight
        and (not callable(op.vjps) and len(known.derivatives) != len(op.vjps)),
        "options": op.formula is not None and any(set(option) != set(op.text.defaults) for option in known.options),
        "flat": not has_derivative(op) and not known.flat,
        "kink": bool(known.kink_options) and known.kink is None,
        "kink_options": op.kink is not None
        and op.formula is not None
        and set(known.kink_options) != set(op.text.defaults),
    }
    return [name for name, lacks in found.items() if lacks]


def missing_of_function(function: Function, recipes: Sequence[str]) -> list[str]:
    """Return ``recipes`` where a function has none and is no op that is called with numbers alone."""
    plain = function.op is not None and (function.op.formula is not None or function.op.step)
    return [] if recipes or plain else ["recipes"]
