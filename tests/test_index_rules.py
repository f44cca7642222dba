"""The rules that stand for the formulas of a large Jacobian are true for every entry."""

from __future__ import annotations

import ast
import itertools
import re

import numpy as np
import pytest

import gradcli
from oracles import assert_close
from test_formulas import WORDS, AsArrays, python

SUBSCRIPT = re.compile(r"([A-Za-z_]\w*)\[([^\]]*)\]")
LEFT = re.compile(r"(?:d(\w+)(?:\[([^\]]*)\])?/d(\w+)(?:\[([^\]]*)\])?(?: \([^()]* fixed\))?|J\[([^\]]*)\])")


def letters_of(index):
    return [part.strip() for part in index.split(",")] if index else []


def lengths_of(rule, shapes, both):
    """Return how far each letter of a rule runs: the axes that it indexes say so."""
    found = {}
    for name, index in [*SUBSCRIPT.findall(rule), *both]:
        key = name if name in shapes else name.removeprefix("d")
        for letter, length in zip(letters_of(index), shapes.get(key, ()), strict=False):
            if letter.isalpha():
                found[letter] = max(found.get(letter, 1), length)
    return found


def evaluated(rule, names, output, variable):
    """Return what a rule says of a derivative: the names of its two ends and all its entries."""
    left, _, right = rule.partition(" = ")
    right = re.sub(r"^1 where (.*), else 0$", r"where(\1, 1, 0)", right)
    shapes = {name: np.shape(value) for name, value in names.items()}
    above, rows, below, columns, both = LEFT.fullmatch(left).groups()
    if both:
        depth = len(letters_of(both)) - len(shapes[variable])
        above, below = output, variable
        rows, columns = (", ".join(part) for part in (letters_of(both)[:depth], letters_of(both)[depth:]))
    lengths = lengths_of(right, shapes, [(above, rows), (below, columns)])
    tree = ast.fix_missing_locations(AsArrays().visit(ast.parse(right, mode="eval")))
    code = compile(tree, rule, "eval")
    found = np.zeros(shapes[above] + shapes[below])
    for values in itertools.product(*map(range, lengths.values())):
        at = dict(zip(lengths, values, strict=True))
        place = tuple(at[part] if part in at else int(part) for part in letters_of(rows) + letters_of(columns))
        found[place] += eval(code, {"__builtins__": {}}, {**WORDS, **names, **at})  # noqa: S307
    return (above, below), found.reshape(np.size(names[above]), -1)


def jacobian_of(rules, names, output, variable):
    """Return the matrix that the rules of one Jacobian make together."""
    blocks = {}
    for rule in rules:
        if not rule.startswith("J = "):
            ends, block = evaluated(rule, names, output, variable)
            blocks[ends] = blocks.get(ends, 0) + block
    chain = [rule for rule in rules if rule.startswith("J = ")]
    if not chain:
        [block] = blocks.values()
        return block
    factors = [tuple(part[1:].split("/d")) for part in chain[0].removeprefix("J = ").split(" @ ")]
    return np.linalg.multi_dot([blocks[ends] for ends in factors]) if len(factors) > 1 else blocks[factors[0]]


LONG, SHORT = np.linspace(-1.5, 1.5, 121), np.linspace(0.2, 1.5, 36)
WIDE = np.cos(np.arange(36 * 36)).reshape(36, 36)
PROGRAMS = {
    "x**2 + sin(x)": {"x": LONG},
    "a*tanh(x) + b": {"x": LONG, "a": np.float64(2.0), "b": LONG[::-1]},
    "exp(-x*x)/2": {"x": WIDE},
    "X*w + b": {"X": WIDE, "w": SHORT, "b": SHORT[:, None]},
    "sinc(x) + x": {"x": LONG},
    "x**p + p": {"x": np.abs(LONG), "p": LONG + 2},
    "x**p": {"x": np.where(LONG > 1, 0.0, np.abs(LONG)), "p": np.maximum(np.round(LONG), -1.0)},
    "atan2(y, x)": {"y": np.where(np.abs(LONG) < 0.5, 0.0, LONG), "x": np.where(np.abs(LONG) < 1, 0.0, LONG)},
    "xlogy(x, y)": {"x": np.maximum(LONG, 0.0), "y": np.maximum(LONG, 0.0)},
    "abs(x) + relu(x)": {"x": LONG},
    "outer(x, w)": {"x": SHORT, "w": SHORT},
    "outer(x, x)": {"x": SHORT},
    "W @ x": {"W": WIDE, "x": SHORT},
    "tanh(W @ x)": {"W": WIDE, "x": SHORT},
    "W @ x + b": {"W": WIDE, "x": SHORT, "b": SHORT},
    "A @ B": {"A": WIDE[:6], "B": WIDE[:, :5]},
    "softmax(x)": {"x": LONG},
    "log_softmax(x*2)": {"x": LONG},
    "cumsum(x)*s": {"x": LONG, "s": np.float64(2.0)},
    "sum(x**2)": {"x": np.tile(LONG, 12)},
    "X.sum(dim=1)**2": {"X": WIDE},
    "mean(X, dim=0)": {"X": WIDE},
    "X.mean(dim=1, keepdim=True)": {"X": WIDE},
    "logsumexp(X, dim=1)": {"X": WIDE},
    "X.norm(dim=0)": {"X": WIDE},
    'einsum("ij,jk,k->i", W, V, x)': {"W": WIDE[:4], "V": WIDE, "x": SHORT},
    'einsum("i,j->", x, x)': {"x": np.tile(SHORT, 8)},
    "amax(X, dim=1)": {"X": WIDE},
}


@pytest.mark.parametrize(
    ("program", "name"), [(program, name) for program, given in PROGRAMS.items() for name in given]
)
def test_rules_are_true(program, name):
    inputs = PROGRAMS[program]
    y = gradcli.function(program).value(**inputs)
    found = gradcli.explain(program, v=np.ones(y.shape), inputs=inputs, wrt=[name])
    document = found.to_dict()["jacobian"][name]
    if document["symbolic"] is not None:
        return
    rules, names = document["entries"]["formulas"], dict(inputs)
    assert rules, "a large Jacobian has rules in place of formulas"
    for other, text in document["definitions"].items():
        names[other] = python(text, names)
    names["the output"] = y
    j = found.jacobian[name]
    true = np.zeros(j.matrix_shape)
    true[j.rows, j.columns] = j.values
    with np.errstate(all="ignore"):  # where works out both of its branches, also the one that it does not take
        assert_close(jacobian_of(rules, names, "the output", name), true, 1e-11, f"{rules}")
