"""Texts with no grammar, and grammatical ones spoiled: token soup, bytes, look-alikes, mutations."""

import json
import re
from functools import cache
from random import Random

from fuzz import words
from fuzz.words import AUGMENTED, BINARY, CALLABLE, COMPARE, EXTREME, NAMES, NUMBERS, REFUSED, STEPS, TEXTS
from oracles import cases
from programs import PROGRAMS

WORDS = words.TABLES["WORDS"]
MARKS = words.TABLES["MARKS"]
STRANGE = (
    *(chr(code) for code in (*range(9), 11, 12, 13, *range(14, 32), 127, *range(0x80, 0xA0))),
    "\u00a0", "\u00ad", "\u200b", "\u200e", "\u202e", "\u2028", "\u2029", "\u2066", "\ufeff", "\ufffd", "\uffff",
    "\ud800", "\udcff", "\U000e0041", "\U0010ffff", "𝐱", "𝑠𝑖𝑛", "ｘ", "ﬁ", "ſ", "ℯ", "π", "ª", "x²", "½", "١", "１",
    "Ⅷ", "é", "e\u0301", "ß", "İ", "−", "×", "÷", "·", "“", "’", "（", "；", "日本", "🙂", "👩\u200d👩\u200d👧",
    "\x1b[31m", "\x1b]0;owned\x07", "\x9b2J", "[red]", "[/]", "[link=file:///]x[/link]", ":smile:", "%s", "{0}",
    "\\x1b",
)  # fmt: skip
TOKEN = re.compile(r"\s+|[A-Za-z_]\w*|\d[\w.]*|\*\*|//|[<>=!]=|.", re.DOTALL)
NUMBER = re.compile(r"\d[\w.]*")


@cache
def valid_programs() -> tuple[str, ...]:
    """Return the programs that the tests know, good and bad."""
    known = [program for several in PROGRAMS.values() for program in several]
    known += [case["expression"] for case in cases("seed_cases.json")]
    known += [case["expr"] for case in cases("torch_cases.jsonl")]
    known += [code for case in cases("torch_conventions.json")["cases"] for code in case["code"].values()]
    known += [word for row in cases("bad_inputs.jsonl") for word in row["args"][1:2]]
    return tuple(known)


def token(rng: Random) -> str:
    """Return one token of the language or of Python."""
    pool = rng.choice((WORDS, MARKS, MARKS, NAMES, NAMES, NUMBERS, EXTREME, BINARY, COMPARE, AUGMENTED, CALLABLE,
                       REFUSED, TEXTS, STEPS))  # fmt: skip
    return rng.choice(pool)


def token_soup(rng: Random) -> str:
    """Return tokens in no order."""
    return rng.choice(("", " ")).join(token(rng) for _ in range(rng.randint(0, 30)))


def ascii_soup(rng: Random) -> str:
    """Return printable ASCII at random."""
    return "".join(chr(rng.randint(32, 126)) for _ in range(rng.randint(0, 60)))


def unicode_soup(rng: Random) -> str:
    """Return code points at random, control characters and lone surrogates among them."""
    most = rng.choice((0x1F, 0x7F, 0xFF, 0x2FFF, 0xFFFF, 0x10FFFF))
    return "".join(chr(rng.randint(0, most)) for _ in range(rng.randint(0, 30)))


def strange(rng: Random, text: str) -> str:
    """Return a text with a character inside that a terminal would obey or a reader take for another."""
    at = rng.randint(0, len(text))
    return text[:at] + rng.choice(STRANGE) + text[at:]


def mutated(rng: Random, text: str) -> str:
    """Return a text with one of its tokens, or a few, deleted, doubled, swapped, inserted, or made extreme."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        text = rng.choice(MUTATIONS)(rng, text)
    return text


def _tokens(text: str) -> list[str]:
    return TOKEN.findall(text) or [""]


def _delete(rng: Random, text: str) -> str:
    parts = _tokens(text)
    del parts[rng.randrange(len(parts))]
    return "".join(parts)


def _double(rng: Random, text: str) -> str:
    parts = _tokens(text)
    at = rng.randrange(len(parts))
    return "".join([*parts[:at], parts[at] * rng.choice((2, 2, 3, 50)), *parts[at + 1 :]])


def _swap(rng: Random, text: str) -> str:
    parts = _tokens(text)
    i, j = rng.randrange(len(parts)), rng.randrange(len(parts))
    parts[i], parts[j] = parts[j], parts[i]
    return "".join(parts)


def _insert(rng: Random, text: str) -> str:
    parts = _tokens(text)
    parts.insert(rng.randint(0, len(parts)), token(rng))
    return "".join(parts)


def _extreme(rng: Random, text: str) -> str:
    found = list(NUMBER.finditer(text))
    if not found:
        return _insert(rng, text)
    number = rng.choice(found)
    return text[: number.start()] + rng.choice(EXTREME) + text[number.end() :]


def _wrap(rng: Random, text: str) -> str:
    left, right = rng.choice((("(", ")"), ("[", "]"), ("sin(", ")"), ("-", ""), ("(", ""), ("x[", "]"), ("not ", "")))
    depth = rng.choice((1, 5, 99, 101, 2000))
    return left * depth + text + right * depth


def _repeat(rng: Random, text: str) -> str:
    return rng.choice(("+", "\n", ";", ",", "*", "**", "@", "<", " if x else ", "")).join(
        [text] * rng.choice((2, 3, 40, 1500 if len(text) < 12 else 40))
    )


def _splice(rng: Random, text: str) -> str:
    other = rng.choice(valid_programs())
    return text[: rng.randint(0, len(text))] + other[rng.randint(0, len(other)) :]


def _cut(rng: Random, text: str) -> str:
    return text[: rng.randint(0, len(text))]


def _strange(rng: Random, text: str) -> str:
    return strange(rng, text)


MUTATIONS = (_delete, _double, _swap, _insert, _extreme, _extreme, _wrap, _repeat, _splice, _cut, _strange)


def json_soup(rng: Random) -> str:
    """Return JSON that is almost an array of numbers."""
    item = lambda: rng.choice(  # noqa: E731
        ("1", "-2.5", "1e400", "1" * 5000, "NaN", "-Infinity", "null", "true", '"1"', "{}", '{"a": 1, "a": 2}', "[]",
         "[1, 2]", "[[1], [2, 3]]", "01", "+1", ".5", "1.", "1/3", "[" * 40 + "]" * 40, json.dumps(rng.choice(STRANGE)))
    )  # fmt: skip
    return "[" + ", ".join(item() for _ in range(rng.randint(0, 4))) + rng.choice(("]", "]", "]]", ",]", ""))
