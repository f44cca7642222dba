"""The contract of ``tests/fuzz`` under Atheris, which looks for inputs that reach new code.

The first byte of an input says what the others are: the choices of the tests' own grammar of command lines, or, in
plain text, a program, a value or a script.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import atheris

HOME = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(HOME / "tests"), str(HOME / "src")]

with atheris.instrument_imports(include=["gradcli"]):
    import gradcli.cli.app
    import gradcli.explanation.explaining
    import gradcli.formulas.derivation
    import gradcli.runner.script  # noqa: F401

from fuzz import scripts  # noqa: E402
from fuzz.audit import Watch  # noqa: E402
from fuzz.contract import outcome  # noqa: E402
from fuzz.lines import SMALL, Line, line  # noqa: E402
from fuzzing import warm_up  # noqa: E402

RUNS = tuple(word for name, number in scripts.BOUNDS.items() for word in ("--budget", f"{name}={number}"))
BOUNDS = tuple(word for name, number in SMALL.items() for word in ("--budget", f"{name}={number}"))
WATCH = Watch()


class Choices(Random):
    """A source of choices that the fuzzer decides; zeros where its bytes are used up."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.left = atheris.FuzzedDataProvider(data)

    def random(self) -> float:
        """Return a number from 0 to 1."""
        return self.left.ConsumeIntInRange(0, 2**16 - 1) / 2**16

    def getrandbits(self, k: int, /) -> int:
        """Return an integer of so many bits."""
        return self.left.ConsumeIntInRange(0, 2**k - 1)


def line_of(data: bytes) -> Line:
    """Return the command line that an input stands for."""
    kind, rest = data[:1], data[1:]
    if kind < b"\x40":
        return line(Choices(rest))
    text = rest.decode("utf-8", "surrogateescape")
    if kind >= b"\xe0":
        return Line(("run", "-", *RUNS), text)
    if kind < b"\xa0":
        words = ("--set", "x=0.5,2", "--set", "A=1,2;3,4", "--set", "s=0.7")
        return Line((("explain", "grad", "check")[kind[0] % 3], *BOUNDS, *words, "--json", "--", text))
    return Line(("grad", *BOUNDS, "--json", "--set", f"x={text.removeprefix('@')}", "--", "sum(x)"))


def test_one_input(data: bytes) -> None:
    """Raise where an input breaks the contract."""
    asked = line_of(data)
    found = outcome(asked, WATCH)
    if found.fault is not None:
        raise AssertionError(f"{found.fault}\n{asked.reproduction}")


def main() -> None:
    """Fuzz until told to stop."""
    warm_up()
    WATCH.install()
    atheris.Setup(sys.argv, test_one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
