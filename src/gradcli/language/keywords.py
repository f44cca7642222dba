"""Names of arguments: what PyTorch and NumPy call a parameter. Imported where a call uses another name than ours."""

from __future__ import annotations

from collections.abc import Container

ALIASES = {
    "axis": ("dim", "axes", "dims"),
    "axis1": ("dim1", "dim0"),
    "axis2": ("dim2", "dim1"),
    "axis0": ("dim0",),
    "arr": ("x",),
    "ary": ("x",),
    "array": ("x",),
    "tensor": ("x", "other"),
    "dimension": ("dim",),
    "chunk_size": ("split_size_or_sections",),
    "split_sizes": ("split_size_or_sections",),
    "split_size": ("split_size_or_sections",),
    "indices": ("index", "indices_or_sections"),
    "sections": ("indices_or_sections",),
    "v": ("values", "x"),
    "src": ("source",),
    "bins": ("boundaries",),
    "axes": ("dims", "dim"),
    "dims": ("dim", "shape", "reps"),
    "dim": ("dims",),
    "keepdims": ("keepdim",),
    "input": ("x", "A", "values"),
    "A": ("x",),
    "a": ("x", "A", "data", "sorted_sequence"),
    "a1": ("x",),
    "a2": ("other",),
    "b": ("other", "B"),
    "m": ("x",),
    "mat2": ("other",),
    "vec": ("other",),
    "vec2": ("other",),
    "values": ("other",),
    "dividend": ("x",),
    "divisor": ("other",),
    "equation": ("spec",),
    "tup": ("tensors",),
    "object": ("data",),
    "prototype": ("x",),
    "self": ("x",),
    "y": ("other",),
    "exponent": ("other",),
    "ord": ("p",),
    "p": ("ord",),
    "k": ("diagonal", "offset"),
    "ddof": ("correction",),
    "a_min": ("min",),
    "a_max": ("max",),
    "size": ("shape",),
    "arrays": ("tensors",),
    "newshape": ("shape",),
    "mask": ("condition",),
    "stop": ("end",),
    "num": ("steps",),
    "N": ("n",),
    "M": ("m",),
    "shift": ("shifts",),
    "operands": ("tensors",),
}
"""Parameters that a keyword may mean, by what PyTorch or NumPy call it."""


def keyword_name(written: str | None, known: Container[str], bound: Container[str] = ()) -> str | None:
    """Return the parameter that a keyword means under the names of numpy and PyTorch, of several one that is free."""
    found = [name for name in ALIASES.get(written or "", ()) if name in known]
    return next((name for name in found if name not in bound), found[0] if found else None)
