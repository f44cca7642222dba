"""The derivatives of elementwise ops as text, for people who look a function up."""

from __future__ import annotations

import inspect

from gradcli.formulas.printing import formula_text
from gradcli.jacobian import functions as s
from gradcli.ops.declare import Op


def derivatives(op: Op) -> list[tuple[str, str]]:
    """Return for each argument of an elementwise op its name and the derivative by it."""
    assert op.formula is not None  # noqa: S101
    static = op.defaults
    names = [name for name in list(inspect.signature(op.formula).parameters)[1:] if name not in static]
    symbols = [s.symbol(name) for name in names]
    value = s.as_expression(op.formula(s, *symbols, **static))
    return [(name, formula_text(value.diff(symbol))) for name, symbol in zip(names, symbols, strict=True)]
