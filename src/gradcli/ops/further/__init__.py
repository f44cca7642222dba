"""Functions that few programs call: importing this package enters them beside the others."""

from gradcli.ops.further import (
    linear_axes,
    linear_cholesky,
    linear_exponential,
    linear_inverses,
    linear_norms,
    linear_products,
    linear_qr,
    linear_singular,
    linear_spectra,
    linear_triangular,
)

__all__ = [
    "linear_axes",
    "linear_cholesky",
    "linear_exponential",
    "linear_inverses",
    "linear_norms",
    "linear_products",
    "linear_qr",
    "linear_singular",
    "linear_spectra",
    "linear_triangular",
]
