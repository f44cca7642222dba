"""Command lines round a program: values for its variables, v, bounds, and ways to print."""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from random import Random

from fuzz import soup
from fuzz.words import CALLS, NAMES, TABLES
from gradcli.cli.options import WITH_PROGRAM
from gradcli.language.program import compile_program
from oracles import cases
from programs import VALUES

SMALL = {
    "turns": 300, "nodes": 1500, "elements": 2000, "total": 40_000, "jacobian": 20_000, "syntax": 1500, "seconds": 5,
}  # fmt: skip
"""Bounds under which an input costs milliseconds; some inputs get others."""
SHORT = {name: json.dumps(value.tolist()) for name, value in VALUES.items()} | {
    "u": "0.3,-1.2,0.8", "w": "1,2,3", "i": "2", "h": "1,2;3,4", "z": "0.5",
}  # fmt: skip
VALUE_TEXTS = (
    "", "-", "1", "1,", "1,2", "1,2;3,4", "1;2;3", ";", ",", "1,,2", "1;2,3", "[]", "[[]]", "[[1,2],[3]]", "[1,2",
    "pi/2", "sqrt(2),-1", "linspace(0,1,5)", "linspace(0,1,10**9)", "ones(10**12)", "eye(2)", "[0.1]*3", "9**9**9",
    "x", "1e400", "1" * 400, "-0.0", "5e-324", "1e308,-1e308", "nan", "inf", "None", "True", "'a'", "1_000", "0x10",
    "１", "٣", "--1", "zeros(0)", "ones(2,0)", "while True: pass", "y=1; y", "1 2", "\t1", "1\n2", "[1e999]",
    "[NaN]", "[[[[[1]]]]]",
)  # fmt: skip
BUDGETS = (
    "turns=1", "nodes=1", "elements=1", "total=1", "jacobian=1", "seconds=1", "text=1", "depth=1", "syntax=1",
    "digits=1", "turns=0", "turns=-1", "turns=x", "time=1", "=", "", "turns", "turns=" + "9" * 400, "turns=1e3",
    "turns=１", "turns=²", "a=b=c", "jacobian=100_000", "elements=9,999",
)  # fmt: skip
FLAGS = TABLES["FLAGS"]
OPENS = re.compile(r"-[ofF]|--(o|f)[a-z-]*(=|$)|(--?\w+=)?@|--debug$")
"""Words that name a file, which a fuzzed line never does, and the flag that asks for a traceback."""


@cache
def commands() -> tuple[str, ...]:
    """Return the commands that take a program."""
    return (*WITH_PROGRAM, "run")


@dataclass(frozen=True, slots=True)
class Line:
    """A command line and what stands on its standard input."""

    args: tuple[str, ...]
    stdin: str = ""

    @property
    def as_json(self) -> bool:
        """Whether a document is asked for."""
        return "--json" in self.args

    @property
    def reproduction(self) -> str:
        """The line as a shell takes it, or as Python does where a word holds what no shell can be given."""
        words = ("gradcli", *self.args)
        plain = all(word.isascii() and word.isprintable() for word in words)
        before = f"printf %s {shlex.quote(self.stdin)} | " if self.stdin else ""
        return before + shlex.join(words) if plain and self.stdin.isprintable() else repr((words[1:], self.stdin))


TOGETHER = TABLES["TOGETHER"]


def together(rng):
    """Return two known programs put into one."""
    return rng.choice(TOGETHER).format(rng.choice(CALLS), rng.choice(CALLS))


def text_of(rng):
    """Return a program: a known one, several in one, a spoiled one, or none at all."""
    kind = rng.random()
    if kind < 0.35:
        text = f"sum({rng.choice(CALLS)})"
    elif kind < 0.45:
        text = together(rng)
    elif kind < 0.55:
        text = rng.choice(soup.valid_programs())
    elif kind < 0.75:
        text = soup.mutated(rng, rng.choice(soup.valid_programs()))
    elif kind < 0.82:
        text = soup.mutated(rng, together(rng))
    elif kind < 0.92:
        text = soup.token_soup(rng)
    else:
        text = rng.choice((soup.ascii_soup, soup.unicode_soup))(rng)
    return text[:70_000]


def value_text(rng: Random, name: str) -> str:
    """Return what may stand after ``--NAME``."""
    kind = rng.random()
    if kind < 0.93:
        return SHORT.get(name, "0.7")
    if kind < 0.97:
        return rng.choice(VALUE_TEXTS)
    return rng.choice(
        (soup.json_soup, soup.token_soup, soup.unicode_soup, lambda r: soup.mutated(r, r.choice(VALUE_TEXTS)))
    )(rng)


def line(rng: Random) -> Line:
    """Return a whole command line."""
    if rng.random() < 0.01:
        return around(rng)
    text = text_of(rng)
    command = rng.choice(commands())
    words = [*given(rng, text, command), *printed(rng), *bounds(rng)]
    if rng.random() < 0.02:
        words += rng.choice(FLAGS)
    if rng.random() < 0.1:
        return Line((command, "-", *words), text) if not unsafe(words) else line(rng)
    args = [text, *words] if rng.random() < 0.9 else [*words, text]
    return Line((command, *args)) if not unsafe(args) else line(rng)


def unsafe(words: list[str]) -> bool:
    """Return whether a word would name a file, or the program stand behind a flag."""
    return any(OPENS.match(word) for word in words)


def given(rng: Random, text: str, command: str) -> Iterator[str]:
    """Yield values for the names in a text, and v."""
    used = names(text)
    for name in used:
        if rng.random() < 0.99:
            value = value_text(rng, name)
            yield from (f"--{name}", value) if rng.random() < 0.9 else ("--set", f"{name}={value}")
    if rng.random() < 0.02:
        yield from (
            "--set",
            rng.choice((f"{rng.choice(NAMES)}={value_text(rng, 'z')}", soup.unicode_soup(rng), "=", "x")),
        )
    for _ in range(rng.choice((0, 0, 0, 0, 0, 1, 1, 2, 5) if command != "check" else (0, 0, 0, 0, 1, 2))):
        yield from ("--v", value_text(rng, rng.choice(("s", "s", "x", "A", "T", "B"))))
    if used and rng.random() < 0.15:
        yield from ("--wrt", rng.choice((used[0], ",".join(used))))
    elif rng.random() < 0.02:
        yield from ("--wrt", rng.choice(("q", "x,x", soup.unicode_soup(rng), ", ,")))


def names(text: str) -> list[str]:
    """Return the variables of a program; where it is none, the words in it that may be meant."""
    try:
        return list(compile_program(text).inputs)
    except Exception:  # noqa: BLE001 - where it is no GradcliError, the run of the line will show it
        return [name for name in dict.fromkeys(re.findall(r"[A-Za-z_]\w*", text)) if name in SHORT]


def printed(rng: Random) -> Iterator[str]:
    """Yield how to print: JSON half of the time."""
    if rng.random() < 0.5:
        yield "--json"
    elif rng.random() < 0.3:
        yield from rng.choice(FLAGS[:8])


def bounds(rng: Random) -> Iterator[str]:
    """Yield small bounds, at times strange ones behind them."""
    for name, number in SMALL.items():
        yield from ("--budget", f"{name}={number}")
    if rng.random() < 0.02:
        yield from ("--budget", rng.choice(BUDGETS))


def around(rng: Random) -> Line:
    """Return a line that runs no program: another command, or one of the corpus."""
    if rng.random() < 0.5:
        row = rng.choice([row for row in cases("bad_inputs.jsonl") if not unsafe(row["args"])])
        return Line(tuple(row["args"]), row["stdin"] or "")
    words = rng.choice((soup.token_soup, soup.unicode_soup))(rng)
    args = rng.choice((("functions", words), ("functions", "sin", "--json"), (words,), ("--version",), ()))
    return Line(args) if not unsafe(list(args)) else around(rng)
