"""How each function, operator, index and statement of the language is written, with holes for what is random.

A hole ``{V}`` takes an expression of a shape: ``S`` a number, ``V`` and ``U`` vectors of n and of m entries, ``M`` a
matrix of m by n, ``N`` of n by m, ``Q`` of n by n, ``T`` and ``W`` 2 by m by n and 2 by n by m, ``E`` any shape, the
same one for all holes of a recipe. ``{V:0.2,2}`` asks for entries between two numbers. ``{n}`` and ``{m}`` are the
lengths, ``{c}`` is a short decimal, ``{classes}`` m positions below n, ``{mask}`` n truth values. ``{f}`` is a
spelling of the function. In a statement ``$a`` is the new variable that is used further on; ``$b``, ``$i`` and the
like are others.
"""

from __future__ import annotations

from gradcli.ops import FUNCTIONS

SHAPES = {
    "S": "", "V": "n", "U": "m", "M": "mn", "N": "nm", "Q": "nn", "T": "2mn", "W": "2nm",
}  # fmt: skip

# fmt: off
DOMAINS = {
    "tan": "-1.2,1.2", "asin": "-0.9,0.9", "acos": "-0.9,0.9", "acosh": "1.1,3", "atanh": "-0.9,0.9", "log": "0.2,3",
    "log2": "0.2,3", "log10": "0.2,3", "log1p": "-0.8,3", "sqrt": "0.2,3", "rsqrt": "0.2,3", "cbrt": "0.2,3",
    "reciprocal": "0.3,3", "sinc": "0.2,1.8", "exp": "-3,2", "exp2": "-3,3", "expm1": "-3,2", "sinh": "-2,2",
    "cosh": "-2,2", "tanh": "-3,3", "sigmoid": "-3.5,3.5", "silu": "-3.5,3.5", "logsigmoid": "-3.5,3.5",
    "erf": "-2,2", "square": "-9,9",
}
PAIRS = {
    "div": ("-3,3", "0.3,2"), "remainder": ("-3,3", "0.5,2"), "pow": ("0.2,2", "-2,2"), "hypot": ("0.3,2", "-2,-0.3"),
    "atan2": ("-2,2", "0.3,2"), "xlogy": ("-2,2", "0.2,2"), "logaddexp": ("-3,3", "-3,3"),
}

CALLS = {
    "pow": ["{E:0.2,2}, 1.5", "{E:-2,2}, 3", "{E:0.3,2}, -2", "{c}, {E:-2,2}"],
    "remainder": ["{E}, {c}"],
    "reshape": ["{M}, ({n}, -1)", "{M}, (-1,)", "{T}, (2, {m}*{n})"],
    "ravel": ["{M}", "{T}"],
    "flatten": ["{M}", "{T}, 1", "{T}, 0, 1"],
    "squeeze": ["{V}[None]", "{V}[:, None], 1", "{M}, 0"],
    "unsqueeze": ["{V}, 0", "{V}, -1", "{M}, 1"],
    "permute": ["{M}, (1, 0)", "{T}, (2, 0, 1)"],
    "transpose": ["{M}, 0, 1", "{T}, 0, -1"],
    "t": ["{M}", "{V}"],
    "np.transpose": ["{M}", "{T}, (1, 0, 2)"],
    "expand": ["{V}, ({m}, {n})", "{S}, ({n},)", "{U}[:, None], (-1, {n})"],
    "flip": ["{V}, (0,)", "{M}, (0, 1)", "{M}, 1"],
    "roll": ["{V}, 1", "{M}, (1, -1), (0, 1)", "{M}, 2", "{M}, -1, 1"],
    "repeat": ["{V}, (2,)", "{M}, (2, 1)", "{V}, (2, 1)"],
    "repeat_interleave": ["{V}, 2", "{M}, 2, 0", "{M}, 2"],
    "diag": ["{V}", "{Q}", "{V}, 1", "{M}, -1"],
    "diagonal": ["{Q}", "{M}, 1"],
    "tril": ["{Q}", "{M}, 1", "{T}, -1"],
    "triu": ["{Q}", "{M}, diagonal=1", "{Q}, -1"],
    "clone": ["{E}"],
    "stack": ["[{V}, {V}]", "[{V}, {V}, {V}], dim=1", "[{S}, {S}]", "[{M}, {M}], axis=-1"],
    "cat": ["[{V}, {U}]", "[{M}, {M}], 1", "[{M}, {Q}], dim=0", "[{M}, {V}[None]]"],
    "sum": ["{E}", "{M}, 0", "{M}, dim=1, keepdim=True", "{T}, (0, 2)", "{M}, axis=-1, keepdims=True"],
    "mean": ["{E}", "{M}, 1", "{T}, dim=(1, 2)", "{M}, axis=0, keepdims=True"],
    "prod": ["{V}", "{M}, 1", "{M}, dim=0, keepdim=True", "{M}"],
    "logsumexp": ["{V:-3,3}", "{M:-3,3}, 0", "{M:-3,3}, dim=1, keepdim=True"],
    "cumsum": ["{V}", "{M}, 1", "{T}, dim=0"],
    "cumprod": ["{V}", "{M}, 1", "{M}, dim=0"],
    "np.cumsum": ["{M}", "{M}, axis=1"],
    "var": ["{V}", "{M}, 0", "{M}, dim=1, correction=0", "{V}, unbiased=False", "{T}, (0, 1), keepdim=True"],
    "std": ["{V:-4,4}", "{M:-4,4}, 0", "{M:-4,4}, dim=1, correction=0"],
    "np.var": ["{M}", "{V}, ddof=1", "{M}, axis=1"],
    "np.std": ["{M:-4,4}", "{V:-4,4}, ddof=1", "{M:-4,4}, axis=1"],
    "norm": ["{V}", "{M}, p=3, dim=1", '{M}, "fro"', "{V}, p=1", "{V}, math.inf", "{E}, p=1.5",
        "{M}, dim=0, keepdim=True"],
    "linalg.norm": ["{M}", "{V}, ord=3", "{M}, axis=1", "{V}, np.inf"],
    "matmul": ["{M}, {V}", "{M}, {N}", "{V}, {V}", "{V}, {N}"],
    "mm": ["{M}, {N}", "{Q}, {Q}"],
    "mv": ["{M}, {V}"],
    "bmm": ["{T}, {W}"],
    "inner": ["{V}, {V}"],
    "dot": ["{M}, {V}", "{M}, {N}", "{V}, {V}"],
    "torch.dot": ["{V}, {V}"],
    "outer": ["{V}, {U}"],
    "trace": ["{Q}", "{M}"],
    "einsum": ['"ij,j->i", {M}, {V}', '"ij,jk,k->", {M}, {N}, {U}', '"ij", {M} + 0', '"ii->i", {Q}*1',
        '"ij->j", -{M}', '"aij,jk->aik", {T}, {N}', '"i,j", {V}, {U}', '"ij,ij", {M}, {M}', '"ii", {Q} + {Q}'],
    "det": ["{Q}", "{Q} + 2*eye({n})"],
    "inv": ["{Q:-1,1} + 3*eye({n})", "{Q}"],
    "solve": ["{Q:-1,1} + 3*eye({n}), {V}", "{Q:-1,1} - 3*eye({n}), {N}"],
    "zeros": ["{f}({m}, {n}) + {M}", "{V} - {f}(({n},))"],
    "ones": ["{f}({n})*{S}", "{f}(({m}, {n}))*{V}"],
    "full": ["({m}, {n}), {S}", "({n},), {S}"],
    "eye": ["{f}({n})*{V}", "{f}({m}, {n}) @ {V}", "{Q} - {S}*{f}({n})"],
    "arange": ["{V:0.3,2}**{f}({n})", "{f}(1, {n} + 1)*{V}", "{f}(0, 2, 0.5)*{S}"],
    "linspace": ["{V}*{f}(0, 1, {n})", "{f}(-1, {c}, 4)*{S}"],
    "zeros_like": ["{f}({M}) + {V}"],
    "ones_like": ["{f}({V})*{S}"],
    "full_like": ["{M}, {S}"],
    "float": ["{E}"],
    "double": ["{E}"],
    "as_tensor": ["{f}([0.5, {c}])*{S}", "{f}([[{c}], [2]])*{V}"],
    "detach": ["{E}.{f}()*{E}"],
    "tensor": ["{f}([1.5, {c}])*{S}", "{f}([[{c}], [-0.5]]) + {V}"],
    "softmax": ["{V:-3,3}, 0", "{M:-3,3}, dim=1", "{T:-3,3}, -1", "{V:-3,3}"],
    "log_softmax": ["{V:-3,3}, 0", "{M:-3,3}, dim=0", "{V:-3,3}", "{T:-3,3}, 1"],
    "mse_loss": ["{V}, {V}", '{M}, {M}, reduction="none"', '{M}, {M}, reduction="sum"'],
    "l1_loss": ["{V}, {V}", '{M}, {M}, reduction="none"', '{M}, {M}, reduction="sum"'],
    "huber_loss": ["{V}, {V}", "{M}, {M}, delta=0.4", '{V}, {V}, reduction="none"'],
    "bce": ["{V:0.15,0.85}, {V:0.1,0.9}", '{M:0.15,0.85}, {M:0.1,0.9}, reduction="sum"'],
    "binary_cross_entropy_with_logits": ["{V:-2,2}, {V:0.1,0.9}", '{M:-2,2}, {M:0.1,0.9}, reduction="none"'],
    "nll_loss": ["{f}(log_softmax({M:-3,3}, 1), {classes})", '{M}, {classes}, reduction="none"', "{V}, 0"],
    "cross_entropy": ["{V:-3,3}, 1", "{M:-3,3}, {classes}", "{M:-3,3}, softmax({M:-3,3}, 1)",
        '{M:-3,3}, {classes}, reduction="sum"'],
    "linear": ["{V}, {M}, {U}", "{Q}, {M}, {U}", "{V}, {M}"],
    "layer_norm": ["{V:-4,4}, {n}", "{M:-4,4}, ({n},), {V}, {V}", "{M:-4,4}, ({m}, {n}), eps=0.01",
        "{M:-4,4}, {n}, {V}"],
    "where": ["{E} > {c}, {E}, {E}", "{V} < {V}, 0.5, {V}", "({V} > 0) & ~({V} >= {c}), {V}, {S}",
        "({M} < {c}) | ({V} > 1), {M}, {V}", "{U}[:, None] <= {c}, {M}, {V}"],
    "leaky_relu": ["{E}", "{E}, 0.2", "{E}, negative_slope={c}"],
    "elu": ["{E:-3,3}", "{E:-3,3}, alpha=0.5"],
    "softplus": ["{E:-3,3}", "{E:-3,3}, 2, 1.2", "{E:-3,3}, beta=0.7"],
    "gelu": ["{E:-2,2}", '{E:-2,2}, approximate="tanh"'],
    "clip": ["{E}, -0.5, 0.7", "{V}, min={c}", "{V}, max={V}", "{M}, {V}, 2.5"],
    "clamp_min": ["{E}, 0.1", "{V}, {V}"],
    "clamp_max": ["{E}, 0.6", "{M}, {V}"],
    "max": ["{E}", "{M}, dim=1).values", "{M}, dim=0)[0]", "{V}, {V}", "{M}, dim=1, keepdim=True).values"],
    "min": ["{E}", "{M}, dim=1).values", "{M}, dim=0)[0]", "{V}, {V}", "{M}, dim=0, keepdim=True)[0]"],
    "amax": ["{M}, (0, 1)", "{M}, axis=0", "{V}", "{M}, dim=1, keepdim=True"],
    "amin": ["{M}, (0, 1)", "{M}, axis=0", "{V}", "{T}, dim=(0, 2)"],
    "median": ["{V}", "{M}, dim=1).values", "{M}"],
    "np.median": ["{V}", "{M}, axis=1", "{M}"],
    "sort": ["{V}).values", "{M}, dim=0, descending=True)[0]", "{V}, descending=True).values"],
    "np.sort": ["{M}", "{V}", "{M}, axis=0"],
    "argmax": ["{V}[{f}({V})]", "{V}[{f}({M}, dim=1)]", "{V}*{f}({V})"],
    "argmin": ["{V}[{f}({V})]", "{U}[{f}({N}, dim=1)]"],
    "any": ["{V}*2 if {f}({V} > 0) else {V}", "where({f}({M} > {c}, dim=0), {V}, {S})"],
    "all": ["{V}*2 if {f}({V} > {c}) else {V}", "where({f}({M} < {c}, dim=1), {U}, {S})"],
    "isnan": ["where({f}({V}), 0, {V})"],
    "heaviside": ["{f}({E}, 0.5)*{E}", "{E} - {f}({E}, 1)"],
}

OPERATORS = [
    "{E} + {E}", "{E} - {E}", "{E}*{E}", "{E}/{E:0.3,2}", "{E:0.2,2}**{E:-2,2}", "{E}//{E:0.5,2} + {E}",
    "{E} % {E:0.5,2}", "{M} @ {V}", "-{E}", "+{E}", "{M} + {V}", "{S}*{M}", "{U}[:, None]*{V}", "{V} - {c}",
    "{c}/{E:0.4,2}", "{E}**2", "-{E}**3", "{E:0.3,2}**-2", "{c}**{E:-2,2}", "{V} @ {V}", "{V} @ {N}", "{T} @ {W}",
    "{T} @ {N}", "{M}*{V} - {M}", "{E} % {c}", "7//2*{E}", "2**-1*{E}", "({E} - {E})*{E}",
    "{V} if {S} > {c} else {V}*2", "{V} if 0 < {S} < {c} else -{V}", "{M} @ {N} @ {U}",
    "{V} if {S} > 0 and {S} < 2 or {S} < -1 else {V}/2", "{V} if not {S} > {c} else sin({V:-2,2})",
    "{S} if {S} != {S} else {c}", "[{S}, {S}]", "[{V}, {V}]*{S}", "[[{S}, {c}], [{c}, {S}]] @ [{S}, {S}]",
    "[{S}, 2] + [{c}, {S}]", "{V}*len({V})", "{M}*{M}.shape[0]", "{V}/{M}.size(1)", "{M}.T @ {U}", "{T}.mT",
    "{M}*{M}.numel()", "{V}**{M}.ndim", "pi*{V} + math.e", "{M}.sum(dim=0).mean()", "({V} + {V}).abs().sum()",
    "({V} > {c})*{V}", "{V} + {V}*({M} < {c})", "({M} > {c}).float()*{V}", "sum({V} > {c})*{S}",
    "({M} <= {c}).sum(dim=0)*{V}/{n}", "{V}*(1 - ({V} >= {c}))", "-{V}.T**2", "{V:0.2,2}**{S:-2,2}",
    "{S:0.2,2}**{V:-2,2}", "{M} @ {V} @ {U}", "{V} @ {N} @ {M}", "2**{V:-2,2}**2", "{E}*{E}/{E:0.4,2}",
    "{E}/{E:0.4,2}*{E}", "{E} - ({E} - {E})", "{E}/({E:0.5,1}*{E:0.5,2})", "{E}*-{E}", "(-{E})**3",
    "{E} % {E:0.5,2}*{E}",
]

INDICES = [
    "{V}[0]", "{V}[-1]", "{V}[1:]", "{V}[:-1]", "{V}[::-1]", "{V}[::2]", "{V}[None]", "{V}[:, None]", "{M}[1]",
    "{M}[:, 0]", "{M}[..., -1]", "{M}[-1, :2]", "{M}[0, 1]", "{M}[[0, -1]]", "{M}[[0, 1], [1, 0]]", "{V}[[1, 0, 1]]",
    "{V}[{V} > {c}]", "{M}[{M} > {c}]", "{M}[{U} < {c}]", "{T}[0, ..., 1]", "{M}[None, 1]", "{T}[:, 0, [1, 0]]",
    "{V}[{mask}]", "{M}[0][1]", "{V}[len({V}) - 1]", "{T}[..., None, 0]", "{M}[:, [0, 0]]", "{M}[1:, ::-1]",
    "{V}[{V}.argmax()]", "{M}[:, {V}.argmin()]", "{T}[1]", "{T}[:, :, -1]", "{M}[:, None, :]", "{V}[...]",
    "{M}[...][0]", "{V}[-2:]", "{V}[(0 if {S} > 0 else 1)]", "{M}[:, {mask}]", "{M}[[0, 1], 1:]",
    "{M}[[1, 0]][:, 0]", "{M}[[0, 1], 0]", "{T}[[0, 1], :, [1, 0]]", "{M}[:, {V} > {c}]", "{T}[-1, 1:, None]",
    "{T}[..., [0, 1], :]", "{M}[-2:, -1:]", "{T}[{T} > {c}]", "{T}[[0, 0, 1]]", "{M}.T[0]",
    "{M}[None, ..., None, 0]",
]
# fmt: on


def calls_of(name):
    """Return the recipes of a function: calls with holes, or whole expressions."""
    function = FUNCTIONS[name]
    written = [
        text if "{f}" in text else "{f}(" + text + ("" if ")." in text or ")[" in text else ")")
        for text in CALLS.get(name, [])
    ]
    if name in PAIRS:
        first, second = PAIRS[name]
        written += [f"{{f}}({{E:{first}}}, {{E:{second}}})", f"{{f}}({{M:{first}}}, {{V:{second}}})"]
    elif function.op is not None and function.op.formula is not None and not CALLS.get(name):
        domain = DOMAINS.get(name, "-3,3")
        one = len(function.op.vjps) == 1
        written += [f"{{f}}({{E:{domain}}})"] if one else ["{f}({E}, {E})", "{f}({M}, {V})", "{f}({V}, {c})"]
    elif function.op is not None and function.op.step and not CALLS.get(name):
        written += ["{f}({E})*{E}", "{E} - {f}({E})"]
    if not written:
        raise LookupError(f"{name} has no recipe yet: write one in CALLS")
    return written
