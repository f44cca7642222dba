"""The JSON document, schema 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcli.explanation.explained import sum_vjps
from gradcli.render.head import head, inputs_document, notes_document
from gradcli.render.numbers import Form, nested, reshaped, strict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gradcli.explanation.events import Value
    from gradcli.explanation.explained import Agreement, Backward, Explained, Gradient, Jacobian
    from gradcli.ops.declare import Array


def document(found: Explained, form: Form = nested) -> dict[str, Any]:
    """Return an explanation as plain lists, dictionaries and strict JSON numbers; ``form`` says what arrays become."""
    shape = list(found.output.shape)
    return {
        **head(found.program),
        "inputs": inputs_document(found.inputs, found.differentiated, form),
        "output": {
            "shape": shape,
            "value": form(found.output),
            "symbolic": None if found.output_formulas is None else reshaped(found.output_formulas, found.output.shape),
        },
        "forward": [value_document(value, form) for value in found.values],
        "v": {"shape": list(found.v.shape), "value": form(found.v), "source": found.v_source},
        "jacobian": {name: jacobian_document(j, found.definitions, form) for name, j in found.jacobian.items()},
        "vjp": arrays_document(found.vjp, form),
        "grad": arrays_document(found.grad, form),
        "backward": [call_document(call, form) for call in found.backward],
        "stages": [
            {"name": stage.name, "shape": list(stage.cotangent.shape), "cotangent": form(stage.cotangent)}
            for stage in found.stages
        ],
        "agreement": agreement_document(found.agreement),
        "notes": notes_document(found.notes),
        "error": None,
    }


def value_document(value: Value, form: Form = nested) -> dict[str, Any]:
    """Return one value of the program."""
    return {
        "name": value.name,
        "role": value.role,
        "shape": list(value.value.shape),
        "value": form(value.value),
        "formula": value.formula,
        "text": value.text,
        "turns": list(value.turns),
    }


def call_document(call: Backward, form: Form = nested) -> dict[str, Any]:
    """Return one call of backward."""
    return {
        "v": form(call.v.shown),
        "vjp": arrays_document(call.vjp, form),
        "grad": arrays_document(call.grad, form),
        "accumulated": arrays_document(call.accumulated, form),
    }


def arrays_document(arrays: Mapping[str, Array], form: Form = nested) -> dict[str, Any]:
    """Return arrays by the name of their variable."""
    return {name: form(value) for name, value in arrays.items()}


def agreement_document(agreement: Agreement) -> dict[str, Any]:
    """Return whether the routes agree."""
    return {
        "agree": agreement.agree,
        "max_abs_error": strict(agreement.max_abs_error),
        "finite": agreement.finite,
        "verdict": agreement.verdict,
        "digits": agreement.digits,
    }


def gradient_document(found: Gradient, form: Form = nested) -> dict[str, Any]:
    """Return a gradient: the document of an explanation without J; ``form`` says what arrays become."""
    return {
        **head(found.program),
        "output": {"shape": list(found.output.shape), "value": form(found.output)},
        "v": {"shape": list(found.v.shape), "value": form(found.v), "source": found.v_source},
        "grad": arrays_document(found.grad, form),
        "notes": notes_document(found.notes),
        "error": None,
    }


def numbers_document(backward: Sequence[Backward], agreement: Agreement) -> dict[str, Any]:
    """Return what the symbolic route adds to a gradient without any formula."""
    return {
        "vjp": arrays_document(sum_vjps(backward)),
        "backward": [call_document(call) for call in backward],
        "agreement": agreement_document(agreement),
    }


def jacobian_document(jacobian: Jacobian, definitions: dict[str, str], form: Form = nested) -> dict[str, Any]:
    """Return one Jacobian: dense while it is small, by its entries beyond."""
    numeric = jacobian.numeric
    shared = {
        "shape": list(jacobian.shape),
        "structure": jacobian.structure,
        "nonzeros": len(jacobian.rows),
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
