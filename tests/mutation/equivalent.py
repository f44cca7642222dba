"""Mutants that change nothing that can be seen, each with the reason."""

EQUIVALENT: dict[str, str] = {
    "linear_algebra.contraction_links.flat #1": "the terms of a sum of products, all their indices moved on together",
    "matrices.inv_local.at #1": "the entries of an inverse, all their indices moved on together",
    **{f"matrices.det_vjp #{k}": "read where the determinant is not finite: inf and nan either way" for k in (3, 5, 6)},
    "add: vjps swapped": "both rules of a sum are g",
}

SILENT: dict[str, str] = {
    "formulas._Derivation._aligned #1": "a list of zeros, for an argument that has no part in the output",
    "formulas._Derivation._local #1": "a matrix without entries",
    "jacobian.as_sparse #1": "a matrix without entries",
    "jacobian.nothing #1": "a matrix without entries",
}
"""Mutants of expressions that hold no number but 0, each with the reason."""

LABELS: dict[str, str] = {
    "exactly #57": "tells the pieces of bce apart, at x and at x ± h alike, and both have one formula",
}
"""Mutants that give the pieces of an op other labels, each with the reason why no number reads them."""
