"""Random programs: each has its turn of the vocabulary in it, whatever else chance adds."""

from __future__ import annotations

import ast
import random
import re
from dataclasses import dataclass

import numpy as np

from generator.arrays import array
from generator.duals import IllPosed, require
from generator.growing import MOST_ENTRIES, Scope, put_together
from generator.oracle import Exact, exact, executed
from generator.recipes import INDICES, OPERATORS, calls_of
from generator.statements import STATEMENTS
from records import FUNCTIONS

ATTEMPTS = 1_000
NEW_NAME = re.compile(r"\$(\w)")
NAMES, KINDS = list(FUNCTIONS), list(STATEMENTS.values())
ENDS = ["{}", "y = {}", "y = {}; y", "y = {} + 0\ny[{}] = {}", "y = {}*1\ny += {}", "y = {}*1\ny[{}] *= {}"]
"""Ways to end: the value of the last statement is the output."""


@dataclass(frozen=True)
class Program:
    """A program with a point and v, and what the oracle says of it there."""

    seed: int
    number: int
    text: str
    inputs: dict
    wrt: tuple
    v: np.ndarray
    truth: Exact

    def __str__(self) -> str:
        """Return what reproduces it, and all that it consists of."""
        values = ", ".join(f"{name}={np.asarray(value).tolist()}" for name, value in self.inputs.items())
        return (
            f"python tests/random_programs.py --seed {self.seed} --only {self.number}\n"
            f"{self.text}\nat {values}, wrt {', '.join(self.wrt)}, v={self.v.tolist()}"
        )


def random_program(seed, number):
    """Return the program of this number; the same seed and number always give the same one."""
    for attempt in range(ATTEMPTS):
        try:
            return grown(random.Random(f"{seed}/{number}/{attempt}"), seed, number)  # noqa: S311
        except IllPosed:
            continue
    raise RuntimeError(f"program {number} of seed {seed}: nothing well-posed in {ATTEMPTS} attempts")


def turns(number):
    """Return the recipes that are due in the program of this number."""
    functions = [NAMES[(2 * number + k) % len(NAMES)] for k in range(2)]
    rounds = 2 * number // len(NAMES)
    due = [(name, calls_of(name)[rounds % len(calls_of(name))]) for name in functions]
    return [*due, ("", OPERATORS[number % len(OPERATORS)]), ("", INDICES[number % len(INDICES)])]


def grown(rng, seed, number):
    """Return a program; raises ``IllPosed`` where chance led to none."""
    scope = Scope(rng)
    scope.add_input(rng.choice(["n", "mn", "n", ""]))
    parts = [*turns(number), ("statement", KINDS[number % len(KINDS)])]
    rng.shuffle(parts)
    results = [state(scope, recipe) if name == "statement" else assigned(scope, recipe, name) for name, recipe in parts]
    finish(scope, results)
    text = "\n".join(scope.lines)
    names = used(text, scope.inputs)
    require(names)
    wrt = tuple(names if rng.random() < 0.6 else sorted(rng.sample(names, rng.randint(1, len(names)))))
    inputs = {name: scope.inputs[name] for name in names}
    truth = exact(text, inputs, wrt)
    v = np.array([scope.decimal(-2, 2) for _ in range(truth.value.size)]).reshape(truth.value.shape)
    return Program(seed, number, text, inputs, wrt, v, truth)


def used(text, inputs):
    """Return the inputs that a text names, in order."""
    found = [node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
    return [name for name in inputs if name in found]


def tried(rule):
    """Return the first answer of a rule that is well-posed; raises ``IllPosed`` after some tries."""
    for _ in range(20):
        try:
            return rule()
        except IllPosed:
            continue
    raise IllPosed


def assigned(scope, recipe, name):
    """Add an assignment of a filled recipe and return its variable."""
    depth = scope.rng.choice([0, 1, 1, 2])
    return tried(lambda: run(scope, f"{new(scope, '$a')} = {scope.filled(recipe, name, depth)}"))


def state(scope, recipe):
    """Add a statement and return the variable that it leaves."""
    if "$x" in recipe:
        vectors = [name for name in scope.inputs if name in ("x", "p")]
        recipe = recipe.replace("$x", vectors[0] if vectors else scope.add_input("n"))
    return tried(lambda: run(scope, scope.filled(new(scope, recipe), depth=1)))


def new(scope, recipe):
    """Return a recipe with new names for its own variables."""
    return NEW_NAME.sub(lambda name: spared(name[1], scope.fresh), recipe)


def spared(letter, number):
    """Return a name for a variable that is no function's, as i0 and i1 are."""
    name = f"{letter}{number}"
    return f"{letter}_{number}" if name in NAMES else name


def run(scope, text):
    """Run a statement and keep it; return its variable ``$a``."""
    variables, result = dict(scope.variables), f"a{scope.fresh}"
    executed(ast.parse(text), variables)
    require(not isinstance(variables[result], int | float) and 0 < array(variables[result]).data.size <= MOST_ENTRIES)
    scope.variables, scope.fresh = variables, scope.fresh + 1
    scope.lines.append(text)
    return result


def finish(scope, results):
    """Add the last lines: an output that depends on all results."""
    rng = scope.rng
    letters = rng.choice(["", "n", "n", "mn", "m", "nn"])
    parts = [scope.shaped(result, letters) for result in results]
    text = parts[0]
    for part in parts[1:]:
        text = put_together(
            rng.choice(["{} + {}", "{} + {}", "{} - {}", f"{{}}*{scope.decimal(-1, 1)} + {{}}"]), text, part
        )
    end = rng.choice(ENDS if letters else ENDS[:3])
    where = "0" if len(letters) < 2 else "-1, 0"
    holes = [text, where, scope.expression("", 1)] if "[" in end else [text, scope.expression("", 1)]
    last = put_together(end, *holes[: end.count("{}")])
    executed(ast.parse(last), dict(scope.variables))
    scope.lines.append(last)
