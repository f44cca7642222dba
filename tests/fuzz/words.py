"""Words of the language, of Python and of neither, for texts that nobody would type."""

from gradcli.ops import SPELLINGS
from oracles import cases
from programs import PROGRAMS, VALUES

TABLES = cases("fuzz_words.toml")

INPUTS = tuple(VALUES)
NAMES = (*INPUTS, *TABLES["NAMES"])
NUMBERS = TABLES["NUMBERS"]
EXTREME = (
    "1e308", "-1e308", "5e-324", "1e-320", "-0.0", "1e999", "9" * 400, "9" * 20, "1" + "0" * 4400, "0x" + "f" * 300,
    "0b1", "2**1023", "10**10**10", "9007199254740993", "1e16", "-1e-16", "1j", "0777", "1__0", "1.2.3", "1e", "0x",
    "inf", "nan", "math.inf", "np.nan", "-(10**18)", "1/0", "2147483648", "9223372036854775808",
)  # fmt: skip
BINARY = TABLES["BINARY"]
COMPARE = TABLES["COMPARE"]
AUGMENTED = TABLES["AUGMENTED"]
CALLABLE = tuple(SPELLINGS)
TEXTS = TABLES["TEXTS"]
REFUSED = TABLES["REFUSED"]
CALLS = tuple(
    program for programs in PROGRAMS.values() for program in programs if "\n" not in program and "=" not in program
)
STEPS = TABLES["STEPS"]
