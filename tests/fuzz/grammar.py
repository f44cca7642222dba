"""Programs over the whole language, filled in blindly from the recipes of the generator: most run, some are wrong.

Every choice goes through a ``random.Random``, so that a seed, Hypothesis or a coverage-guided fuzzer can make it.
"""

import re
from random import Random

from generator.growing import HOLE, RECEIVER, RECIPES
from generator.recipes import ANYWHERE, STATEMENTS
from gradcli.language.misread import ALIASES
from gradcli.ops import METHODS, SPELLINGS
from gradcli.ops.making import CONSTANTS
from programs import PROGRAMS, VALUES
from records import FUNCTIONS

INPUTS = tuple(VALUES)
NAMES = (*INPUTS, "u", "w", "y", "z", "i", "h", "e", "pi", "sin", "_", "x_1")
NUMBERS = ("0", "1", "2", "3", "0.5", "-1", "1e-3", "0x10", "1_000", ".5", "2.", "1e2", "10**2", "True", "None")
EXTREME = (
    "1e308", "-1e308", "5e-324", "1e-320", "-0.0", "1e999", "9" * 400, "9" * 20, "1" + "0" * 4400, "0x" + "f" * 300,
    "0b1", "2**1023", "10**10**10", "9007199254740993", "1e16", "-1e-16", "1j", "0777", "1__0", "1.2.3", "1e", "0x",
    "inf", "nan", "math.inf", "np.nan", "-(10**18)", "1/0", "2147483648", "9223372036854775808",
)  # fmt: skip
BINARY = ("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>")
COMPARE = ("<", "<=", ">", ">=", "==", "!=", " in ", " is ", " not in ")
AUGMENTED = ("+=", "-=", "*=", "/=", "//=", "%=", "**=", "@=", "|=", "^=")
CALLABLE = tuple(SPELLINGS)
ATTRIBUTES = (
    *METHODS, "T", "mT", "shape", "ndim", "size", "values", "indices", "dim", "numel", "grad", "data", "__class__",
    "_x", "item", "tolist", "numpy", "real", "ctypes", "backward", "dtype", "requires_grad",
)  # fmt: skip
KEYWORDS = tuple(dict.fromkeys((
    *ALIASES, "dim", "keepdim", "p", "reduction", "approximate", "descending", "correction", "beta", "steps", "weight",
)))  # fmt: skip
TEXTS = ("'none'", "'sum'", "'mean'", "'fro'", "'tanh'", "'ij,jk->ik'", "'ii'", "'i,i->'", "'...i->...'", "'ij'", "''")
REFUSED = (
    "lambda a: a", "[a for a in x]", "{1: x}", "{x}", "f'{x}'", "(y := x)", "*x", "await x", "(yield)", "b'x'", "2j",
    "...", "x.__class__.__mro__", "__import__('os')", "open('owned', 'w')", "eval('1')", "print(x)", "(a for a in x)",
)  # fmt: skip
CALLS = tuple(
    program for programs in PROGRAMS.values() for program in programs if "\n" not in program and "=" not in program
)
SHAPES = ("3", "2, 3", "(2, 3)", "-1", "3, 1", "0", "1, 0", "10**6, 10**6", "2.5", "x", "-2", "1, 1, 1, 1, 1, 1, 1")
STEPS = ("", "::2", "::-1", "1:", ":-1", "0:0", "5:1", "::0", "10**9:", "x:", "-1", "0", "7", "...", "None", "...,...")
LEAVES = {
    "S": ("s", "x[0]", "A[0, 1]", "0.7"), "V": ("x", "p", "t"), "U": ("b",), "M": ("A",), "N": ("B",), "Q": ("S",),
    "T": ("[A, A]", "[A*s, -A]"), "W": ("[B, B]", "[B, -B]"), "E": ("x", "A", "s", "S"),
}  # fmt: skip
"""What a hole takes, by its letter: n is 3 here, and m is 2."""
CONSTANT = {"n": ("3",), "m": ("2",), "c": ("0.5", "-1.5", "1e-3", ".5", "2."), "anywhere": tuple(ANYWHERE),
            "classes": ("[0, 2]", "[1, 1]"), "mask": ("[True, False, True]",)}  # fmt: skip
ENDS = ("sum(y)", "y.sum()", "mean(y*y)", "sum(y**2)", "y")
ODD_LINES = (
    "pass",
    "break",
    "import os",
    "return y",
    "del y",
    "global x",
    "y.T[0] = x",
    "e = x",
    "x[0] = s",
    "while s > 0: s = s*2",
)


class Grammar:
    """Draws programs; ``room`` bounds how many parts one may have, ``wrong`` is how often one seldom fits."""

    def __init__(self, rng: Random, room: int = 24, wrong: float = 0.1) -> None:
        self.rng = rng
        self.room = room
        self.wrong = wrong

    def chance(self, probability: float) -> bool:
        """Return true about so often."""
        return self.rng.random() < probability

    def program(self) -> str:
        """Return a program: a known one, one expression, or statements and an output."""
        if self.chance(0.15):
            return f"sum({self.rng.choice(CALLS)})" if self.chance(0.7) else self.rng.choice(CALLS)
        if self.chance(0.5):
            return self.expression("E") if self.chance(0.15) else f"sum({self.expression('E')})"
        lines = [self.statement(number) for number in range(self.rng.randint(1, 3))]
        if self.chance(self.wrong / 3):
            lines.insert(self.rng.randint(0, len(lines)), self.rng.choice(ODD_LINES))
        end = self.rng.choice(ENDS) if self.chance(0.8) else f"{self.leaf('E')} + sum(a0)"
        return "\n".join([*lines, "y = a0*1" if self.chance(0.8) else "y = [a0.sum(), s]", end])

    def statement(self, number: int) -> str:
        """Return a statement that leaves its value as ``a0`` where it is the first."""
        text = self.rng.choice(tuple(STATEMENTS.values())).replace("$x", "x")
        return self.filled(re.sub(r"\$(\w)", rf"\g<1>{number}", text))

    def expression(self, letter: str) -> str:
        """Return a call, an operator or an index with expressions in its holes; a leaf where there is no more room."""
        self.room -= 1
        if self.room <= 0 or self.chance(0.3):
            return self.leaf(letter)
        return self.filled(self.spelled(*self.rng.choice(RECIPES)))

    def spelled(self, name: str, recipe: str) -> str:
        """Return a recipe with a spelling of its function, seldom one of another."""
        if not name:
            return recipe
        if self.chance(self.wrong / 4):
            return recipe.replace("{f}", self.rng.choice(ATTRIBUTES if ".{f}" in recipe else CALLABLE))
        function, receiver = FUNCTIONS[name], RECEIVER.fullmatch(recipe)
        if receiver and function.methods and (not function.spellings or self.chance(0.3)):
            return f"{receiver[1]}.{self.rng.choice(function.methods)}({receiver[2]}"
        return recipe.replace("{f}", self.rng.choice(function.methods if ".{f}" in recipe else function.spellings))

    def filled(self, recipe: str) -> str:
        """Return a recipe with its holes filled, seldom with an option that nobody asked for."""
        text = HOLE.sub(lambda hole: self.hole(hole[1], hole[2], hole[3]), recipe)
        if text.endswith(")") and self.chance(self.wrong / 3):
            return f"{text[:-1]}, {self.rng.choice(KEYWORDS)}={self.rng.choice((*SHAPES, *TEXTS))})"
        return text

    def hole(self, letter: str, low: str | None, high: str | None) -> str:
        """Return what fills a hole, between two numbers where it asks for them."""
        if letter in CONSTANT:
            return self.rng.choice(CONSTANT[letter])
        if self.chance(self.wrong / 2):
            return self.odd()
        text = self.expression(letter) if letter == "E" and self.chance(0.4) else self.leaf(letter)
        if low is None or high is None or self.chance(0.1):
            return text if text.isidentifier() else f"({text})"
        return f"({float(high) - float(low):g}*sigmoid({text}) + {low})"

    def leaf(self, letter: str) -> str:
        """Return a variable of a shape, seldom what has another."""
        return self.odd() if self.chance(self.wrong / 4) else self.rng.choice(LEAVES[letter])

    def odd(self) -> str:
        """Return what seldom fits."""
        one, other = (self.rng.choice(INPUTS) for _ in range(2))
        usual = (f"{one}{self.rng.choice((*BINARY, *COMPARE))}{other}", f"{one}[{self.rng.choice(STEPS)}]", other)
        depth = self.rng.choice((1, 2, 40))
        nested = ("(" * depth + one + ")" * depth, f"{'abs(' * depth}{one}{')' * depth}", f"[{one}, {other}]")
        return self.rng.choice(
            self.rng.choice((usual, nested, NUMBERS, EXTREME, NAMES, tuple(CONSTANTS), REFUSED, TEXTS))
        )
