"""What a grad_fn is called, beside PyTorch: recorded calls, asked again where it is installed.

``python test_backward_names.py`` asks PyTorch for the name of each call that is recorded, and writes it.
"""

# ruff: noqa: E501 - a call is a line
# fmt: off

import ast
import json
import re
import warnings

import numpy as np
import pytest

from gradcli.ops.vocabulary import rows
from gradcli.runner.backward_names import backward_name, index_name, write_name
from oracles import DATA, cases, needs_torch

RECORDED = "torch_backward_names.json"
LENGTHS = {"s": (), "x": (3,), "z": (3,), "M": (3, 3), "A": (2, 3), "T": (2, 3, 3), "I": (2, 3, 4, 4)}
"""Tensors that want a gradient; i, j, m and c are indices and a mask, W and b weights, k a target."""
OTHERS = {"i": ("int", [0, 1]), "j": ("int", 1), "m": ("bool", [True, False, True]), "k": ("int", [0, 2, 1]), "n": ("int", [0, 2]), "K": ("int", np.zeros((2, 3))), "L": ("int", np.zeros((2, 4, 4))), "P": ("float", np.full((3, 3), 1/3)), "W": ("float", np.ones((5, 3))), "b": ("float", np.ones(5)), "e": ("float", np.ones(3))}
NAMED = cases(RECORDED)
"""Each call, and each write, with the name that PyTorch has for it."""


def shape_of(name):
    return LENGTHS[name] if name in LENGTHS else np.shape(OTHERS[name][1])


def is_tensor(node):
    return isinstance(node, ast.Name) and (node.id in LENGTHS or node.id in OTHERS)


def argument(node):
    """Return an argument as the table of names takes it."""
    if is_tensor(node):
        return len(shape_of(node.id))
    if isinstance(node, ast.Call | ast.Subscript) and any(is_tensor(one) for one in ast.walk(node)):
        return len(shape_of(next(one.id for one in ast.walk(node) if is_tensor(one))))
    if isinstance(node, ast.Call) and "ones" in ast.unparse(node):
        return len(node.args)
    if isinstance(node, ast.Constant | ast.Tuple | ast.List):
        try:
            value = ast.literal_eval(node)
        except ValueError:
            return None
        return value if isinstance(value, str | tuple | list) else None
    return None


NAMES = {spelling: row.name for row in rows() for spelling in row.spellings} | {f".{m}": row.name for row in rows() for m in row.methods}


def index_of(node):
    """Return an index as ``index_name`` takes it: arrays for tensors, an int for one without axes."""
    if isinstance(node, ast.Tuple):
        return tuple(map(index_of, node.elts))
    if isinstance(node, ast.Slice):
        return slice(*[part and ast.literal_eval(part) for part in (node.lower, node.upper, node.step)])
    if is_tensor(node) and node.id in OTHERS:
        value = np.array(OTHERS[node.id][1])
        return int(value) if value.ndim == 0 else value
    return np.zeros(1) if isinstance(node, ast.Compare) else ast.literal_eval(node)


def ours(text):
    """Return the name for a call, read from its text."""
    node = ast.parse(text).body[0]
    if isinstance(node, ast.Assign):
        target, = node.targets
        value = argument(node.value)
        return write_name(index_of(target.slice), shape_of(target.value.id), value)
    node = node.value
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call):
        node = node.value  # the first of several results
    if isinstance(node, ast.Subscript):
        return index_name(index_of(node.slice), shape_of(node.value.id))
    if isinstance(node, ast.UnaryOp):
        return backward_name("neg", [argument(node.operand)])
    if isinstance(node, ast.BinOp):
        symbol = {"Sub": "-", "Div": "/", "Pow": "**", "Mod": "%", "FloorDiv": "//", "Add": "+", "Mult": "*", "MatMult": "@"}
        return backward_name(symbol[type(node.op).__name__], [argument(node.left), argument(node.right)])
    spelled, arguments = ast.unparse(node.func), list(map(argument, node.args))
    if not spelled.startswith(("torch.", "F.")):
        arguments = [argument(node.func.value), *arguments]
        spelled = "." + node.func.attr
    named = {one.arg: argument(one.value) for one in node.keywords}
    return backward_name(NAMES.get(spelled, spelled), arguments, named)


def theirs(text):
    """Return what PyTorch calls it: the text that it prints."""
    import torch  # it may not be installed

    env = {"torch": torch, "F": torch.nn.functional}
    env |= {name: (torch.rand(shape) + 0.1).requires_grad_() for name, shape in LENGTHS.items()}
    env |= {name: torch.tensor(value, dtype=getattr(torch, {"int": "int64", "float": "float32", "bool": "bool"}[kind])) for name, (kind, value) in OTHERS.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if " = " in text:
            env |= {name: env[name].clone() for name in ("s", "x", "M")}
            exec(text, env)  # noqa: S102 - constants
            return shown(env[text[0]])
        return shown(eval(text, env))  # noqa: S307 - constants


def shown(tensor):
    name = re.search(r"grad_fn=<(\w+)>", repr(tensor))
    return name[1] if name else ""


@pytest.mark.parametrize("text", NAMED)
def test_a_call_is_named_as_pytorch_names_it(text):
    assert ours(text) == NAMED[text]


@needs_torch
def test_what_is_recorded_is_what_pytorch_says():
    assert {text: theirs(text) for text in NAMED} == NAMED


def test_a_call_that_gives_back_its_argument_has_no_name():
    for name, rank in (("flatten", 1), ("contiguous", 2), ("cpu", 1), ("positive", 1), ("atleast_1d", 1), ("atleast_2d", 3)):
        assert backward_name(name, [rank]) == ""


def test_a_view_that_cannot_be_had_is_a_copy():
    assert backward_name("reshape", [2, None], copied=True) == "UnsafeViewBackward0"
    assert backward_name("flatten", [2], copied=True) == "UnsafeViewBackward0"
    assert backward_name("contiguous", [2], copied=True) == "CloneBackward0"


if __name__ == "__main__":
    (DATA / RECORDED).write_text(json.dumps({text: theirs(text) for text in NAMED}, indent=0) + "\n", encoding="utf-8")
