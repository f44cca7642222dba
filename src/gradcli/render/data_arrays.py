"""What the JSON document has for arrays by their names, and for a Jacobian: dense, or by its entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcli.document.texts import Form, nested, reshaped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcli.explanation.jacobians import Jacobian
    from gradcli.ops.declare import Array


def arrays_document(arrays: Mapping[str, Array], form: Form = nested) -> dict[str, Any]:
    """Return arrays by the name of their variable."""
    return {name: form(value) for name, value in arrays.items()}


def jacobian_document(jacobian: Jacobian, definitions: dict[str, str], form: Form = nested) -> dict[str, Any]:
    """Return one Jacobian: dense while it is small, by its entries beyond."""
    numeric = jacobian.numeric
    shared = {
        "shape": list(jacobian.shape),
        "structure": jacobian.structure,
        "nonzeros": len(jacobian.rows) if jacobian.held else None,
        "passes": jacobian.passes,
        "held": jacobian.held,
        "definitions": definitions,
    }
    symbolic = None if numeric is None else dense_formulas(jacobian)
    return {
        **shared,
        "symbolic": symbolic,
        "numeric": None if numeric is None else form(numeric),
        "entries": None if symbolic is not None else entries_document(jacobian, form),
    }


def entries_document(jacobian: Jacobian, form: Form = nested) -> dict[str, Any]:
    """Return a Jacobian that is too large to be written with all its zeros and formulas."""
    if not jacobian.held:
        return {"rows": None, "columns": None, "values": None, "formulas": jacobian.rules or None}
    return {
        "rows": form(jacobian.rows),
        "columns": form(jacobian.columns),
        "values": form(jacobian.values),
        "formulas": jacobian.rules or None,
    }


def dense_formulas(jacobian: Jacobian) -> Any:
    """Return the formulas in the shape of the Jacobian, ``"0"`` where an entry cannot be anything else."""
    if jacobian.formulas is None:
        return None
    rows, columns = jacobian.matrix_shape
    flat = ["0"] * (rows * columns)
    for row, column, text in zip(jacobian.rows, jacobian.columns, jacobian.formulas, strict=True):
        flat[int(row) * columns + int(column)] = text
    return reshaped(flat, jacobian.shape)
