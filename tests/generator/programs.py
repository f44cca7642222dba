"""Random programs: each has its turn of the vocabulary in it, whatever else chance adds.

Those of an odd number are in PyTorch's words, so that most of them are programs of PyTorch too.
"""

import ast
import random
import re
from dataclasses import dataclass

import numpy as np

import gradcli
from generator.growing import LARGEST, MOST_ENTRIES, IllPosed, Scope, is_of_torch, put_together, require
from generator.recipes import INDICES, OPERATORS, STATEMENTS, calls_of
from records import FUNCTIONS

ATTEMPTS = 1_000
NEW_NAME = re.compile(r"\$(\w)")
NAMES, KINDS = list(FUNCTIONS), list(STATEMENTS.values())
OF_TORCH = [name for name in NAMES if is_of_torch(name)]
ENDS = ["{}", "y = {}", "y = {}; y", "y = {} + 0\ny[{}] = {}", "y = {}*1\ny += {}", "y = {}*1\ny[{}] *= {}"]
"""Ways to end: the value of the last statement is the output."""


@dataclass(frozen=True)
class Program:
    """A program with a point and v; ``seed`` and ``number`` reproduce it."""

    seed: int
    number: int
    text: str
    inputs: dict
    wrt: tuple
    v: np.ndarray

    def __str__(self) -> str:
        """Return what reproduces it, and all that it consists of."""
        values = ", ".join(f"{name}={np.asarray(value).tolist()}" for name, value in self.inputs.items())
        return (
            f"python tests/night.py programs --seed {self.seed} --only {self.number}\n"
            f"{self.text}\nat {values}, wrt {', '.join(self.wrt)}, v={self.v.tolist()}"
        )


def random_program(seed, number):
    """Return the program of this number; the same seed and number always give the same one."""
    for attempt in range(ATTEMPTS):
        try:
            return grown(random.Random(f"{seed}/{number}/{attempt}"), seed, number)  # noqa: S311
        except IllPosed:
            continue
    raise RuntimeError(f"program {number} of seed {seed}: nothing of use in {ATTEMPTS} attempts")


def turns(number):
    """Return the recipes that are due in the program of this number."""
    names = NAMES if number % 2 == 0 else OF_TORCH
    functions = [names[(number + k) % len(names)] for k in range(2)]
    rounds = number // len(names)
    due = [(name, calls_of(name)[rounds % len(calls_of(name))]) for name in functions]
    return [*due, ("", OPERATORS[number % len(OPERATORS)]), ("", INDICES[number % len(INDICES)])]


def grown(rng, seed, number):
    """Return a program; raises ``IllPosed`` where chance led to none."""
    scope = Scope(rng, of_torch=number % 2 == 1)
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
    shape = shape_where_smooth(text, wrt, inputs)
    v = np.array([scope.decimal(-2, 2) for _ in range(int(np.prod(shape)))]).reshape(shape)
    return Program(seed, number, text, inputs, wrt, v)


def shape_where_smooth(text, wrt, inputs):
    """Return the shape of y; raises ``IllPosed`` where it is refused, or where a number of y or of J is far out."""
    try:
        function = gradcli.function(text, wrt=wrt)
        y = function.value(**inputs)
        require(0 < y.size <= MOST_ENTRIES)
        arrays = [y, *function.grad(v=np.ones(y.shape), **inputs).values()]
    except gradcli.GradcliError as error:
        raise IllPosed from error
    require(all(np.all(np.abs(array) < LARGEST) for array in arrays))
    return y.shape


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
    """Run a statement and keep what it leaves; return its variable ``$a``."""
    result = f"a{scope.fresh}"
    stores = [node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name) and is_stored(node)]
    names = sorted({result, *(name for name in stores if name in scope.variables)})
    values = {name: scope.value(f"{text}\n{name}", MOST_ENTRIES) for name in names}
    scope.variables, scope.fresh = scope.variables | values, scope.fresh + 1
    scope.lines.append(text)
    return result


def is_stored(node):
    return isinstance(node.ctx, ast.Store)


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
    scope.lines.append(last)
