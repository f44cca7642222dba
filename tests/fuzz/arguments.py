"""Calls of every function with every kind of argument: whatever is asked, an answer or one clear error.

A call is drawn from the vocabulary: a spelling, then for each parameter nothing or a value of any kind, by position or
by name. It is run by all readings: reverse mode, symbols and formulas.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import numpy as np

from fuzz.words import TABLES
from gradcli.errors import Budget, GradcliError
from gradcli.explanation.evaluation import Function as Program
from gradcli.interface import explain
from gradcli.language.calls import parameters
from gradcli.ops import FUNCTIONS, Function

INPUTS = {
    "x": np.array([1.5, -0.5, 2.0]), "A": np.array([[2.0, 0.5, 1.0], [0.5, 3.0, -1.0], [1.0, -1.0, 4.0]]),
    "s": np.float64(0.7), "T": np.linspace(-1.0, 2.0, 12).reshape(2, 3, 2), "E": np.zeros(0), "Z": np.zeros((2, 0)),
    "o": np.array([0.25]), "p": np.array([0.2, 0.9, 0.6]),
}  # fmt: skip
ARRAYS = TABLES["ARRAYS"]
PLAIN = TABLES["PLAIN"]
LIKELY = 0.6
"""How often a parameter gets a value of its kind."""
BOUNDS = (
    Budget().changed("seconds", 3).changed("elements", 20_000).changed("total", 400_000).changed("jacobian", 40_000)
)


def call(random: Random, function: Function) -> str:
    """Return a call of a function, most often with an array where it takes one."""
    if any(parameter.name == "spec" for parameter in parameters(function)):
        return contraction(random, function)
    taken, named = [], []
    for parameter in parameters(function):
        if not parameter.required and not parameter.rest and random.random() < 0.5:
            continue
        for _ in range(random.choice((0, 1, 1, 2, 3)) if parameter.rest else 1):
            text = value(random, "Tensor" in parameter.kind, "Tensors" in parameter.kind and not parameter.rest)
            if parameter.rest or (not named and random.random() < 0.7):
                taken.append(text)
            else:
                named.append(f"{parameter.name}={text}")
    if function.methods and taken and random.random() < 0.3:
        return f"({taken[0]}).{random.choice(function.methods)}({', '.join([*taken[1:], *named])})"
    return f"{random.choice(function.spellings or (function.name,))}({', '.join([*taken, *named])})"


AXES = {"s": 0, "x": 1, "o": 1, "E": 1, "A": 2, "Z": 2, "T": 3, "x > 0": 1, "argmax(A, dim=1)": 1}


def contraction(random: Random, function: Function) -> str:
    """Return a sum of products over random letters, most often as many as the arrays have axes."""
    items = random.choices(list(AXES), k=random.choice((0, 1, 1, 2, 2, 2, 3, 4)))
    subs = ["".join(random.choices("iijk", k=AXES[item] + (random.random() < 0.1))) for item in items]
    letters = sorted({letter for sub in subs for letter in sub})
    out = random.choice(
        ("", "->", "->" + "".join(random.sample(letters, random.randint(0, len(letters)))), "->ii", "->z")
    )
    return f"{random.choice(function.spellings)}({', '.join([repr(','.join(subs) + out), *items])})"


def value(random: Random, of_array: bool, of_list: bool) -> str:
    """Return an argument: an array or a plain value, of the wanted kind more often than not."""
    if of_list and random.random() < LIKELY:
        return f"[{', '.join(random.choice(ARRAYS) for _ in range(random.randrange(4)))}]"
    return random.choice(ARRAYS if of_array == (random.random() < LIKELY) else PLAIN)


def program(random: Random, function: Function) -> str:
    """Return a program around a call: alone, in a sum, or combined with another one."""
    text = call(random, function)
    shape = random.choice(
        ("{}", "sum({}*1.0)", "{} + x", "sum(({})*s)", "y = {}\ny", "{}[0]", "({}).values", "where({} > 0, 1, x)")
    )
    return shape.format(text)


@dataclass(frozen=True)
class Outcome:
    """What a program came to: an answer, or the kind of its error; ``fault`` says what no program may come to."""

    kind: str
    fault: str | None = None


def run(text: str, readings: bool) -> None:
    """Evaluate a program and its derivatives, summed over the output."""
    needed = Program(text, budget=BOUNDS, given=INPUTS)
    values = {name: INPUTS[name] for name in needed.inputs if name in INPUTS}
    v = np.ones(needed.evaluate(values, record=False).value.shape)
    needed.grad(v, **values)
    if readings:
        explain(text, v=v, budget=BOUNDS, inputs=values).to_dict()


def outcome(text: str, readings: bool, run: Callable[[str, bool], None] = run) -> Outcome:
    """Run a program by reverse mode, and with ``readings`` by all; a warning is a fault, as is any other exception."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            run(text, readings)
        except GradcliError as error:
            clear = error.kind and error.message and error.kind != "internal" and "Traceback" not in error.message
            return Outcome(error.kind, None if clear else f"an unclear error: {error.message}")
        except Exception as error:  # noqa: BLE001 - this is what is looked for
            return Outcome("fault", f"{type(error).__name__}: {error}")
    return Outcome("answered")


def numbered(seed: int, number: int) -> str:
    """Return program number n of a seed: the functions take turns."""
    random = Random(f"{seed}:{number}")  # noqa: S311
    functions = list(FUNCTIONS.values())
    return program(random, functions[number % len(functions)])


def faults(seed: int, first: int, count: int) -> list[str]:
    """Return what broke, with the number that shows it again; every eighth program is read by all readings."""
    found = []
    for number in range(first, first + count):
        text = numbered(seed, number)
        fault = outcome(text, number % 8 == 0).fault
        if fault is not None:
            found.append(f"#{number} {text!r}: {fault}")
    return found
