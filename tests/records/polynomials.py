"""Polynomials by their coefficients, and convolutions of vectors."""

from records.record import calls

calls(
    {
        "vander": ["{V}", "{V}, 4", "{V}, increasing=True"],
        "linalg.vander": ["{V}", "{M}, N=3"],
        "polyval": ["{V}, {S}", "{V}, {M}"],
        "convolve": ["{V}, [{S}, {S}]", *(f"{{V}}, [{{S}}, {{S}}], {mode!r}" for mode in ("same", "valid"))],
    }
)
