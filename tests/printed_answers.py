"""Random programs whose printed answer is read as a reader reads it, and held against PyTorch.

Nothing of gradcli but ``explain`` and the tables is used: the text of the answer is taken apart here, what it says is
evaluated by PyTorch, and so is the program itself, whose values and gradients are the truth.

It needs PyTorch.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TextIO

import numpy as np

import gradcli
from generator.scripts import Script, random_script
from gradcli.errors import GradcliError
from oracles import cases, numbers
from printed.held import Room, hold
from printed.truth import Truth, output_shape
from shown import terminal

WIDTHS = (40, 60, 80, 120, 200)
REFUSALS = ("no-variables", "not-differentiable", "in-place", "unknown-input")
"""What an answer may refuse where this script runs: nothing depends on an input, PyTorch too refuses to write to a
leaf, a name that the program assigns is given as an input."""


def answers(script: Script, precision: int = 6):
    """Yield the room and the text of an answer in every room."""
    found = gradcli.explain(script.text, v=script.v, wrt=script.wrt, inputs=script.inputs)
    for width in WIDTHS:
        # a terminal cuts tables to its own width; a pipe does not
        for unicode, table in ((True, width), (False, width), (True, max(width, 200))):
            room = Room(width, table, unicode, precision)
            yield room, terminal(found, width, table=table, unicode=unicode, precision=precision)


def findings(script: Script, precision: int = 6) -> tuple[int, list[str]]:
    """Return how many statements were read in the answers to a script, and what is wrong; -1 where it is refused."""
    truth = Truth.of(script)
    if truth is None:
        return -1, []
    count, wrong = 0, []
    try:
        for room, text in answers(script, precision):
            held, faults = hold(text, truth, room)
            count += held
            wrong += [f"{room.width} {'unicode' if room.unicode else 'ASCII'}: {fault}" for fault in faults]
    except GradcliError as error:
        if error.kind in REFUSALS or "of no entries" in str(error):
            return -1, []
        return 0, [f"{error.kind}: {error}"]
    return count, wrong


def random_one(seed: int, number: int) -> Script:
    """Return the program of a number, with v in the shape of its output where PyTorch runs it."""
    script = random_script(seed, number)
    shape = output_shape(script.text, script.inputs) if script.inputs else None
    v = None if shape is None else np.round(np.random.default_rng([seed, number]).normal(size=shape), 2)
    return replace(script, v=v)


def known_scripts() -> dict[str, Script]:
    """Return the examples that the project began with, one for each call of backward, and PyTorch's random programs."""
    examples = {
        f"{case['id']}, call {k}": Script(case["expression"], arrays(case["inputs"]), given(call["v"]), case["wrt"])
        for case in cases("seed_cases.json")
        for k, call in enumerate(case["calls"])
    }
    return examples | {
        f"torch {row['id']}": Script(row["expr"], arrays({"x": row["x"]}), given(row["v"]))
        for row in cases("torch_cases.jsonl")
    }


def arrays(inputs) -> dict[str, np.ndarray]:
    """Return the inputs of a case."""
    return {name: np.asarray(numbers(value)) for name, value in inputs.items()}


def given(v) -> np.ndarray | None:
    """Return the v of a case, if it has one."""
    return None if v is None else np.asarray(numbers(v))


def night(seed: int, numbers: Sequence[int], out: TextIO = sys.stdout) -> int:
    """Run many programs, print those whose answer says what is not so, and return how many those are."""
    statements = ran = failed = 0
    for number in numbers:
        script = random_one(seed, number)
        count, wrong = findings(script, (6, 6, 6, 17, 1)[number % 5])
        ran += count > 0
        statements += max(count, 0)
        if wrong:
            failed += 1
            inputs = {name: np.asarray(value).tolist() for name, value in script.inputs.items()}
            print(f"number {number}: {script.text!r} {inputs} v={np.asarray(script.v).tolist()}", file=out)
            for fault in wrong[:2]:
                print(f"    {fault}", file=out)
    print(f"{ran} of {len(numbers)} programs, {statements} statements, {failed} programs with a wrong one", file=out)
    return failed
