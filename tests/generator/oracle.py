"""Programs run by Python itself, over duals: their values and Jacobians with 40 digits, and what rounding may do."""

from __future__ import annotations

import ast
from dataclasses import dataclass

import numpy as np

from generator.arrays import Array, array
from generator.duals import Dual, forty_digits, require
from generator.vocabulary import NAMES

OUTPUT = "_output"


@dataclass(frozen=True)
class Exact:
    """What a program gives: values with the noise of each, and J by each variable with sizes and drifts."""

    value: np.ndarray
    noise: np.ndarray
    jacobian: dict
    size: dict
    drift: dict


class Displays(ast.NodeTransformer):
    """Makes each list of a program one that adds and multiplies as an array does."""

    def visit_List(self, node):
        """Wrap a list unless it is a target."""
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Store):
            return node
        wrapper = ast.copy_location(ast.Name("Display", ast.Load()), node)
        return ast.copy_location(ast.Call(wrapper, [node], []), node)


def with_output(tree):
    """Return a syntax tree that leaves the value of its last statement under a name."""
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        tree.body[-1] = ast.Assign([ast.Name(OUTPUT, ast.Store())], last.value)
        return ast.fix_missing_locations(tree)
    target = last.targets[0] if isinstance(last, ast.Assign) else last.target
    while isinstance(target, ast.Subscript):
        target = target.value
    tree.body.append(ast.Assign([ast.Name(OUTPUT, ast.Store())], ast.Name(target.id, ast.Load())))
    return ast.fix_missing_locations(tree)


def executed(tree, variables):
    """Run a syntax tree over arrays of duals; ``variables`` changes as its names do."""
    code = compile(Displays().visit(tree), "<program>", "exec")
    exec(code, {"__builtins__": {}, **NAMES}, variables)  # noqa: S102 - text of our own generator


def leaf(value, first=None):
    """Return an input as an array of duals; ``first`` is the column of its first entry, None for a constant."""
    numbers = np.asarray(value, dtype=np.float64)
    flat = np.empty(numbers.size, dtype=object)
    for i, x in enumerate(numbers.ravel()):
        one = Dual.field.mpf(1)
        flat[i] = Dual(Dual.field.mpf(float(x)), 0.0, None if first is None else {first + i: (one, 1.0, 0.0)})
    return Array(flat.reshape(numbers.shape))


def exact(text, inputs, wrt):
    """Return what a program gives at a point; raises ``IllPosed`` where that is next to a kink or a pole."""
    with forty_digits():
        variables, first, columns = {}, 0, {}
        for name, value in inputs.items():
            variables[name] = leaf(value, first if name in wrt else None)
            if name in wrt:
                columns[name] = (first, variables[name].shape)
                first += variables[name].data.size
        executed(with_output(ast.parse(text)), variables)
        output = array(variables[OUTPUT])
        require(output.data.dtype == object)
        return read(output.data, columns)


def read(data, columns):
    """Return the numbers of an array of duals."""
    entries = data.ravel()
    tables = [{}, {}, {}]
    for name, (first, shape) in columns.items():
        size = int(np.prod(shape))
        for kind, table in enumerate(tables):
            rows = [[float(y.slopes.get(first + i, (0, 0, 0))[kind]) for i in range(size)] for y in entries]
            table[name] = np.array(rows).reshape(data.shape + shape)
    value = np.array([float(y.value) for y in entries]).reshape(data.shape)
    return Exact(value, np.array([y.noise for y in entries]).reshape(data.shape), *tables)
