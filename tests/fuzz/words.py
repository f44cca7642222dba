"""Words of the language, of Python and of neither, for texts that nobody would type."""

from gradcli.ops import SPELLINGS
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
AUGMENTED = ("+=", "-=", "*=", "/=", "//=", "%=", "**=", "@=", "|=", "^=")
CALLABLE = tuple(SPELLINGS)
TEXTS = ("'none'", "'sum'", "'mean'", "'fro'", "'tanh'", "'ij,jk->ik'", "'ii'", "'i,i->'", "'...i->...'", "'ij'", "''")
REFUSED = (
    "lambda a: a", "[a for a in x]", "{1: x}", "{x}", "f'{x}'", "(y := x)", "*x", "await x", "(yield)", "b'x'", "2j",
    "...", "x.__class__.__mro__", "__import__('os')", "open('owned', 'w')", "eval('1')", "print(x)", "(a for a in x)",
)  # fmt: skip
CALLS = tuple(
    program for programs in PROGRAMS.values() for program in programs if "\n" not in program and "=" not in program
)
STEPS = ("", "::2", "::-1", "1:", ":-1", "0:0", "5:1", "::0", "10**9:", "x:", "-1", "0", "7", "...", "None", "...,...")
