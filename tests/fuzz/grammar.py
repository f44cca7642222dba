"""Programs over the whole language, drawn from its grammar: most run, some are wrong by one step.

Every choice goes through a ``random.Random``, so that a seed, Hypothesis or a coverage-guided fuzzer can make it.
"""

from __future__ import annotations

from random import Random

from gradcli.language.misread import ALIASES
from gradcli.ops import FUNCTIONS, METHODS, SPELLINGS
from gradcli.ops.making import CONSTANTS
from programs import PROGRAMS, VALUES

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
UNARY = ("-", "+", "not ", "~", "--", "-+~")
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
ELEMENTWISE = tuple(
    spelling for function in FUNCTIONS.values() if function.op and function.op.formula and len(function.op.vjps) == 1
    for spelling in function.spellings
)  # fmt: skip
CALLS = tuple(
    program for programs in PROGRAMS.values() for program in programs if "\n" not in program and "=" not in program
)
FAMILIES = (("x", "p", "t", "s"), ("x", "u"), ("S", "S", "s"), ("T", "s"), ("s",), ("b", "s"), ("A",), INPUTS)
"""Variables that broadcast with one another; the last are all, which often do not."""
SHAPES = ("3", "2, 3", "(2, 3)", "-1", "3, 1", "0", "1, 0", "10**6, 10**6", "2.5", "x", "-2", "1, 1, 1, 1, 1, 1, 1")
STEPS = ("", "::2", "::-1", "1:", ":-1", "0:0", "5:1", "::0", "10**9:", "x:", "-1", "0", "7", "...", "None", "...,...")


class Grammar:
    """Draws programs; ``room`` bounds how many parts one program may still grow, ``wrong`` is how often a
    part is one that seldom fits."""

    def __init__(self, rng: Random, room: int = 24, wrong: float = 0.1) -> None:
        self.rng = rng
        self.room = room
        self.wrong = wrong
        self.names = rng.choice(FAMILIES)

    def chance(self, probability: float) -> bool:
        """Return true about so often."""
        return self.rng.random() < probability

    def program(self) -> str:
        """Return a program: a known one, one expression, or statements and an output."""
        if self.chance(0.15):
            return f"sum({self.rng.choice(CALLS)})" if self.chance(0.7) else self.rng.choice(CALLS)
        if self.chance(0.5):
            return self.expression() if self.chance(0.15) else f"sum({self.expression()})"
        lines = [line for _ in range(self.rng.randint(1, 4)) for line in self.statement(0)]
        first = [f"y = {self.expression()}"] if self.chance(1 - self.wrong) else []
        return "\n".join(
            [*first, *lines, self.rng.choice(("sum(y)", "y.sum()", "mean(y*y)", "sum(y**2)", "y", self.expression()))]
        )

    def expression(self) -> str:
        """Return an expression; a leaf where there is no more room."""
        self.room -= 1
        if self.room <= 0 or self.chance(0.3):
            return self.leaf()
        usual = (self.binary, self.binary, self.call, self.call, self.smooth, self.smooth, self.unary, self.choice)
        odd = (self.method, self.subscript, self.display, self.comparison, self.attribute, self.nested)
        return self.rng.choice(odd if self.chance(2 * self.wrong) else usual)()

    def leaf(self) -> str:
        """Return a name or a number, seldom one that the language refuses."""
        if not self.chance(self.wrong):
            return self.rng.choice(self.names) if self.chance(0.75) else self.rng.choice(NUMBERS[:13])
        return self.rng.choice(self.rng.choice((NUMBERS, EXTREME, INPUTS, NAMES, tuple(CONSTANTS), REFUSED, TEXTS)))

    def smooth(self) -> str:
        """Return a call of a function of one argument that takes every shape."""
        return f"{self.rng.choice(ELEMENTWISE)}({self.expression()})"

    def binary(self) -> str:
        """Return two expressions with an operator between them."""
        operator = self.rng.choice(BINARY if self.chance(self.wrong) else BINARY[:7])
        left, right = self.expression(), self.expression()
        return f"({left}){operator}({right})" if self.chance(0.3) else f"{left} {operator} {right}"

    def unary(self) -> str:
        """Return an expression with a sign or a negation."""
        return self.rng.choice(UNARY if self.chance(self.wrong) else UNARY[:2]) + self.expression()

    def comparison(self) -> str:
        """Return a comparison, seldom a chain."""
        parts = [self.expression()]
        for _ in range(1 if self.chance(0.9) else 3):
            parts += [self.rng.choice(COMPARE if self.chance(self.wrong) else COMPARE[:6]), self.expression()]
        return "".join(parts)

    def condition(self) -> str:
        """Return what ``if`` and ``while`` may test."""
        word = self.rng.choice((" and ", " or "))
        one = self.rng.choice((f"all({self.leaf()} > 0)", f"sum({self.leaf()}) > 0.5", f"any({self.expression()} < 1)"))
        return self.comparison() if self.chance(self.wrong) else one if self.chance(0.8) else one + word + one

    def choice(self) -> str:
        """Return ``a if c else b``."""
        return f"({self.expression()} if {self.condition()} else {self.expression()})"

    def display(self) -> str:
        """Return a list or a tuple."""
        items = ", ".join(self.expression() for _ in range(self.rng.randint(0, 4)))
        return f"[{items}]" if self.chance(0.8) else f"({items})"

    def nested(self) -> str:
        """Return an expression in several brackets."""
        depth = self.rng.choice((1, 2, 3, 40))
        left, right = self.rng.choice((("(", ")"), ("[", "]"), ("abs(", ")"), ("sum([", "])")))
        return left * depth + self.expression() + right * depth

    def argument(self) -> str:
        """Return one argument of a call, seldom by its name."""
        value = self.rng.choice((*SHAPES, *TEXTS)) if self.chance(self.wrong) else self.expression()
        return f"{self.rng.choice(KEYWORDS)}={value}" if self.chance(self.wrong / 2) else value

    def arguments(self) -> str:
        """Return arguments of a call."""
        most = 1 if self.chance(0.6) else self.rng.randint(0, 4)
        return ", ".join(self.argument() for _ in range(most))

    def call(self) -> str:
        """Return a call of any function of the vocabulary."""
        if not self.chance(2 * self.wrong):
            return f"sum({self.rng.choice(CALLS)})"
        return f"{self.rng.choice(CALLABLE)}({self.arguments()})"

    def method(self) -> str:
        """Return a call of a method."""
        return f"{self.expression()}.{self.rng.choice(ATTRIBUTES)}({self.arguments() if self.chance(0.5) else ''})"

    def attribute(self) -> str:
        """Return an attribute that is not called."""
        return f"{self.leaf()}.{self.rng.choice(ATTRIBUTES)}"

    def subscript(self) -> str:
        """Return an entry, a slice or a mask."""
        part = lambda: self.rng.choice((*STEPS, self.leaf(), self.comparison(), "[0, 1]"))  # noqa: E731
        return f"{self.leaf()}[{', '.join(part() for _ in range(1 if self.chance(0.7) else 2))}]"

    def target(self) -> str:
        """Return what an assignment writes to."""
        return self.rng.choice(
            ("y", "z", "h", "x", "i", "y[0]", "y[:, 0]", "y[1:]", "y, z", "[y, z]", "y[x > 0]", "e", "sin", "y.T")
        )

    def statement(self, level: int) -> list[str]:
        """Return the lines of a statement at a level of indentation."""
        pad = "    " * level
        kind = self.rng.random()
        if kind < 0.5 or level > 3:
            return [f"{pad}{self.rng.choice(('y', self.target()))} = {self.expression()}"]
        if kind < 0.65:
            target = "y" if self.chance(1 - self.wrong) else self.target()
            return [f"{pad}{target} {self.rng.choice(AUGMENTED)} {self.expression()}"]
        if kind < 0.65 + self.wrong / 3:
            return [pad + self.rng.choice(("pass", "break", "continue", "import os", "return y", "del y", "global x"))]
        return [pad + self.head(), *self.body(level + 1)]

    def head(self) -> str:
        """Return the line that opens a branch or a loop."""
        usual = ("2", "3", "1, 4", "5, 0, -1", "0")
        loop = f"range({self.rng.choice(('10**9', 'x', '1, 2, 0', '-3') if self.chance(self.wrong) else usual)})"
        return self.rng.choice(
            (
                f"if {self.condition()}:", f"if {self.condition()}:", f"while {self.condition()}:", f"for i in {loop}:",
                f"for i in {loop}:", f"for h in {self.leaf()}:" if self.chance(self.wrong) else f"for z in {loop}:",
            )
        )  # fmt: skip

    def body(self, level: int) -> list[str]:
        """Return the lines under a head, at times with an ``else``."""
        lines = [line for _ in range(self.rng.randint(1, 2)) for line in self.statement(level)]
        if self.chance(0.2):
            lines += ["    " * (level - 1) + self.rng.choice(("else:", "elif x > 0:")), *self.statement(level)]
        return lines
