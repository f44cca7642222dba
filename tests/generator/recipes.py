"""How each function, operator, index and statement of the language is written, with holes for what is random.

A hole ``{V}`` takes an expression of a shape: ``S`` a number, ``V`` and ``U`` vectors of n and of m entries, ``M`` a
matrix of m by n, ``N`` of n by m, ``Q`` of n by n, ``T`` and ``W`` 2 by m by n and 2 by n by m, ``E`` any shape, the
same one for all holes of a recipe. ``{V:0.2,2}`` asks for entries between two numbers. ``{n}`` and ``{m}`` are the
lengths, ``{c}`` is a short decimal, ``{anywhere}`` a function of any one number, ``{classes}`` m positions below n,
``{mask}`` n truth values. ``{f}`` is a spelling of the function. In a statement ``$a`` is the new variable that is
used further on; ``$b``, ``$i`` and the like are others, and ``$x`` is a vector among the inputs, which gets a new
value. The statements stand in ``data/statements.txt``, each under its name, the recipes in ``data/recipes.toml``.
"""

from oracles import DATA, cases
from records import FUNCTIONS, RANGES, RECIPES

TABLES = cases("expressions.toml")

SHAPES = {
    "S": "", "V": "n", "U": "m", "M": "mn", "N": "nm", "Q": "nn", "T": "2mn", "W": "2nm",
}  # fmt: skip

# fmt: off
OPERATORS = TABLES["OPERATORS"]

INDICES = TABLES["INDICES"]
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
