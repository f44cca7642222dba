"""Scripts that nobody would write: recorded ones spoiled, and statements of several in one, at times one that harms."""

import ast
from functools import cache
from random import Random

from fuzz import soup
from fuzz.lines import SMALL, Line
from oracles import cases

FILES = ("scripts.jsonl", "more_scripts.jsonl", "classes_of_scripts.jsonl", "transform_scripts.jsonl")
BOUNDS = SMALL | {
    "turns": 1000, "nodes": 5000, "elements": 20_000, "total": 400_000, "steps": 4_000_000, "items": 100_000,
    "printed": 100_000,
}  # fmt: skip
"""Bounds under which a script costs milliseconds."""
CUT, ADDED, HARM = 0.15, 0.25, 0.1
"""How often a statement is left out, one of another script follows it, and what follows means harm."""


@cache
def sources() -> tuple[str, ...]:
    """Return the recorded scripts."""
    return tuple(row["source"] for name in FILES for row in cases(name))


@cache
def harms() -> tuple[str, ...]:
    """Return the scripts that mean harm, as far as they stand there in one piece."""
    return tuple(row["script"] for row in cases("hostile_scripts.jsonl") if isinstance(row["script"], str))


@cache
def statements(source: str) -> tuple[str, ...]:
    """Return the statements of a script, whole; a paste that is no Python as it stands is one."""
    try:
        return tuple(ast.get_source_segment(source, node) or "" for node in ast.parse(source).body)
    except SyntaxError:
        return (source,)


def mixed(rng: Random) -> str:
    """Return a script of which statements are left out, and others follow."""
    parts = []
    for statement in statements(rng.choice(sources())):
        if rng.random() >= CUT:
            parts.append(statement)
        if rng.random() < ADDED:
            harm = rng.random() < HARM
            parts.append(rng.choice(harms()) if harm else rng.choice(statements(rng.choice(sources()))))
    return "\n".join(parts) + "\n"


def text_of(rng: Random) -> str:
    """Return a script: mixed, or recorded, and at times spoiled."""
    text = mixed(rng) if rng.random() < 0.6 else rng.choice(sources())
    return soup.mutated(rng, text)[:70_000] if rng.random() < 0.5 else text


def line(rng: Random) -> Line:
    """Return a command line that runs a script, or explains it."""
    bounds = [word for name, bound in BOUNDS.items() for word in ("--budget", f"{name}={bound}")]
    words = ("run", "-") if rng.random() < 0.8 else ("explain", "-", "--json")
    return Line((*words, *bounds), text_of(rng))
