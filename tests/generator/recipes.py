"""How each function, operator, index and statement of the language is written, with holes for what is random.

A hole ``{V}`` takes an expression of a shape: ``S`` a number, ``V`` and ``U`` vectors of n and of m entries, ``M`` a
matrix of m by n, ``N`` of n by m, ``Q`` of n by n, ``T`` and ``W`` 2 by m by n and 2 by n by m, ``E`` any shape, the
same one for all holes of a recipe. ``{V:0.2,2}`` asks for entries between two numbers. ``{n}`` and ``{m}`` are the
lengths, ``{c}`` is a short decimal, ``{anywhere}`` a function of any one number, ``{classes}`` m positions below n,
``{mask}`` n truth values. ``{f}`` is a spelling of the function. In a statement ``$a`` is the new variable that is
used further on; ``$b``, ``$i`` and the like are others, and ``$x`` is a vector among the inputs, which gets a new
value. The statements stand in ``data/statements.txt``, each under its name, the recipes in ``data/recipes.toml``.
"""

from oracles import DATA
from records import FUNCTIONS, RANGES, RECIPES

SHAPES = {
    "S": "", "V": "n", "U": "m", "M": "mn", "N": "nm", "Q": "nn", "T": "2mn", "W": "2nm",
}  # fmt: skip

# fmt: off
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
    "{E} % {E:0.5,2}*{E}", "{c} - ({E} + {E})", "-({E} - {E})*{c}", "({E} + {E})*-1 - {c}",
    "{anywhere}({c} - ({E} + {E}))", "{anywhere}(-({V} - {V}))", "{anywhere}(({V} + {V})*-1 - {V})",
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


_STATEMENTS = (DATA / "statements.txt").read_text(encoding="utf-8").split("# ")[1:]
STATEMENTS = {name: body.rstrip("\n") for name, _, body in (part.partition("\n") for part in _STATEMENTS)}
"""The text of each kind of statement by its name."""


def is_anywhere(name, function):
    """Return whether a function works entry by entry on one array of any numbers that are not large."""
    if function.op is None or function.op.formula is None or len(function.op.vjps) != 1:
        return False
    ranges = [tuple(map(float, text.split(","))) for text in RANGES.get(name, ())]
    return name in function.spellings and all(low <= -2 and high >= 2 for low, high in ranges)


ANYWHERE = [name for name, function in FUNCTIONS.items() if is_anywhere(name, function)]


def calls_of(name):
    """Return the recipes of a function: calls with holes, or whole expressions."""
    function, recipes, ranges = FUNCTIONS[name], RECIPES.get(name, ()), RANGES.get(name, ())
    written = [
        text if "{f}" in text else "{f}(" + text + ("" if ")." in text or ")[" in text else ")") for text in recipes
    ]
    if len(ranges) == 2:
        first, second = ranges
        written += [f"{{f}}({{E:{first}}}, {{E:{second}}})", f"{{f}}({{M:{first}}}, {{V:{second}}})"]
    elif function.op is not None and function.op.formula is not None and not recipes:
        domain = ranges[0] if ranges else "-3,3"
        one = len(function.op.vjps) == 1
        written += [f"{{f}}({{E:{domain}}})"] if one else ["{f}({E}, {E})", "{f}({M}, {V})", "{f}({V}, {c})"]
    elif function.op is not None and function.op.step and not recipes:
        written += ["{f}({E})*{E}", "{E} - {f}({E})"]
    return written
