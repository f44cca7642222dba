"""Sums with products, chains and powers of matrices, products that pair axes."""

from records.record import calls

calls(
    {
        "addmm": ["{Q}, {N}, {M}", "{V}, {N}, {M}, beta={c}", "{S}, {M}, {N}, alpha={c}, beta=2"],
        "addmv": ["{U}, {M}, {V}", "{S}, {M}, {V}, beta={c}, alpha=3"],
        "multi_dot": ["{f}([{M}, {N}, {M}])", "{f}([{U}, {M}, {V}])", "{f}([{M}, {N}])"],
        "matrix_power": ["{Q}, 2", "{Q:-1,1}, 3", "{Q:-1,1} + 3*eye({n}), -2", "{Q}, 1", "{Q}, 0"],
        "tensordot": [
            "{M}, {N}, 1",
            "{T}, {M}",
            "{V}, {U}, dims=0",
            "{M}, {N}, dims=([0], [1])",
            "{T}, {W}, ([0, 2], [0, -2])",
        ],
        "kron": ["{V}, {U}", "{V}, {M}", "{S}, {M}"],
        "cross": ["[{S}, {S}, {S}], [{S}, {S}, {S}]", "[{V}, {V}, {V}], [{V}, {V}, {V}], dim=0"],
        "linalg.cross": ["[{S}, {S}, {S}], [{S}, {S}, {S}]", "[{V}, {V}, {V}], [{V}, {V}, {V}], dim=0"],
        "np.cross": ["[{S}, {S}, {S}], [{S}, {S}, {S}]", "[{V}, {V}, {V}], [{V}, {V}, {V}], axis=0"],
        "vecdot": ["{V}, {V}", "{M}, {V}", "{M}, {M}, dim=0"],
        "vdot": ["{V}, {V}"],
    }
)
