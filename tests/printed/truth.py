"""What PyTorch says of a program: each value that it assigns, each cotangent, and J."""

import ast
import re
from collections import Counter
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from generator.in_torch import called, doubles, torch_name, with_output
from gradcli.ops import SPELLINGS

TAKEN = {"log1p", "log2", "log10", "exp2", "atan2", "arctan2", "expm1"}
"""Names with a number that are functions: no value is called so."""


@dataclass(frozen=True)
class Truth:
    """Values by the name that an answer gives them, cotangents by the same names, and J by each input as a matrix."""

    values: dict[str, np.ndarray]
    cotangents: dict[str, np.ndarray]
    jacobian: dict[str, np.ndarray]
    inputs: dict[str, np.ndarray]
    output: np.ndarray
    v: np.ndarray
    outside: list[str]
    """Names of values that no loop assigns."""
    result: str | None
    """What the output is called; None where the program gives it no name."""

    @classmethod
    def of(cls, script) -> "Truth | None":
        """Return the truth about a script; None where PyTorch refuses it or nothing depends on an input."""
        tensors = {name: torch.as_tensor(np.asarray(value, dtype=float)) for name, value in script.inputs.items()}
        leaves = {name: tensors[name].requires_grad_() for name in script.wrt or tensors}
        run = Run({name: tensor.clone() for name, tensor in tensors.items()})
        try:
            y = run.run(script.text)
        except (RuntimeError, ValueError, IndexError, TypeError, NameError, AttributeError, KeyError):
            return None
        if not (isinstance(y, torch.Tensor) and y.requires_grad and y.dtype == torch.float64):
            return None
        called = run.called(script.inputs)
        v = torch.as_tensor(np.asarray(script.v if script.v is not None else 1.0))
        v = (v.sum() if y.numel() == 1 else v).reshape(y.shape)  # J once for each entry of v, as in early PyTorch
        tracked = [(name, value) for name, value in called if isinstance(value, torch.Tensor) and value.requires_grad]
        tensors = [value for _, value in tracked]
        grads = torch.autograd.grad(y, [*tensors, *leaves.values()], v, retain_graph=True, allow_unused=True)
        cotangents = {
            name: np.zeros(t.shape) if g is None else g.numpy()
            for (name, t), g in zip([*tracked, *leaves.items()], grads, strict=True)
        }
        jacobian = {name: np.zeros((y.numel(), leaf.numel())) for name, leaf in leaves.items()}
        for row in range(y.numel()):
            one = torch.zeros(y.numel(), dtype=torch.float64)
            one[row] = 1
            found = torch.autograd.grad(y, leaves.values(), one.reshape(y.shape), retain_graph=True, allow_unused=True)
            for name, g in zip(leaves, found, strict=True):
                if g is not None:
                    jacobian[name][row] = g.numpy().ravel()
        values = {**script.inputs, **{name: numbers(value) for name, value in called}}
        return cls(
            values,
            cotangents,
            jacobian,
            script.inputs,
            y.detach().numpy(),
            v.numpy(),
            run.outside(called),
            run.result(script.text, called),
        )


def numbers(value) -> np.ndarray:
    """Return a value of a run as an array."""
    return value.detach().numpy() if isinstance(value, torch.Tensor) else np.asarray(value)


class Run:
    """Runs a program in PyTorch, and keeps what it assigns; writes in place make new values."""

    def __init__(self, inputs) -> None:
        self.names = {**FUNCTIONS, **inputs, "keep_": self.keep, "put_": put, "at_": at, "of_": of, "list_": as_tensor}
        self.kept: list[tuple[str, object, bool]] = []

    def keep(self, name: str, value, looped: bool):
        """Remember an assignment; what has a name of its own gets a gradient of its own."""
        value = as_tensor(value) if isinstance(value, list | tuple) and not isinstance(value, torch.Size) else value
        value = value.clone() if isinstance(value, torch.Tensor) else value
        self.kept.append((name, value, looped))
        return value

    def run(self, text: str):
        """Run a program, and return the value of its last statement."""
        tree = ast.fix_missing_locations(Keeping().visit(with_output(text)))
        with doubles():
            exec(compile(tree, "program", "exec"), self.names)  # noqa: S102 - programs of the generator
        return as_tensor(self.names["output_"])

    def called(self, inputs) -> list[tuple[str, object]]:
        """Return what each value is called in an answer: numbered where its name is assigned again."""
        names = [name for name, _, _ in self.kept]
        times, turn, taken = Counter(names), Counter(), {*names, *inputs, *TAKEN}
        found = []
        for name, value, _ in self.kept:
            called = name
            if times[name] > 1 or name in inputs:
                turn[name] += 1
                while (called := f"{name}{turn[name]}") in taken:
                    turn[name] += 1
            found.append((called, value))
        return found

    def outside(self, called) -> list[str]:
        """Return the names of values that no loop assigns."""
        return [name for (name, _), (_, _, looped) in zip(called, self.kept, strict=True) if not looped]

    @staticmethod
    def result(text, called) -> str | None:
        """Return what the value of the last statement is called, where that is a name or assigns one."""
        last = ast.parse(text).body[-1]
        if isinstance(last, ast.Expr):
            return last_of(last.value.id, called) if isinstance(last.value, ast.Name) else None
        return called[-1][0]


def last_of(name: str, called) -> str | None:
    """Return what the last value of a name is called; None for an input."""
    return next((given for given, _ in reversed(called) if re.fullmatch(rf"{name}\d*", given)), None)


def output_shape(text: str, inputs) -> tuple[int, ...] | None:
    """Return the shape of the output; None where PyTorch does not run the program."""
    try:
        y = Run({name: torch.tensor(value) for name, value in inputs.items()}).run(text)
    except (RuntimeError, ValueError, IndexError, TypeError, NameError, AttributeError, KeyError):
        return None
    return tuple(y.shape) if isinstance(y, torch.Tensor) else None


class Keeping(ast.NodeTransformer):
    """Rewrites a program so that each assignment is kept, and a write in place makes a new value."""

    def __init__(self) -> None:
        self.depth = 0

    def visit_Assign(self, node):
        """``name = value``, ``a, b = values`` or ``name[place] = value``."""
        node = self.generic_visit(node)
        [target] = node.targets
        if isinstance(target, ast.Name):
            node.value = node.value if target.id == "output_" else self.kept(target.id, node.value)
            return node
        if isinstance(target, ast.Tuple):
            again = [self.assigned(part.id, ast.Name(part.id, ast.Load())) for part in target.elts]
            return [node, *again]
        return self.written(target, node.value)

    def visit_AugAssign(self, node):
        """``name += value`` or ``name[place] += value``."""
        node = self.generic_visit(node)
        before = ast.parse(ast.unparse(node.target), mode="eval").body
        value = ast.BinOp(before, node.op, node.value)
        return (
            self.assigned(node.target.id, value)
            if isinstance(node.target, ast.Name)
            else self.written(node.target, value)
        )

    def visit_For(self, node):
        """A loop; its variable is kept where it runs over an array."""
        return self.looped(node, self.over_array(node))

    def visit_While(self, node):
        """A loop."""
        return self.looped(node, [])

    def looped(self, node, first):
        """Return a loop with ``first`` before each turn."""
        self.depth += 1
        node = self.generic_visit(node)
        node.body = [*(self.assigned(name.id, name) for name in first), *node.body]
        self.depth -= 1
        return node

    @staticmethod
    def over_array(node):
        """Return the variable of a loop over an array."""
        is_range = isinstance(node.iter, ast.Call) and getattr(node.iter.func, "id", "") in ("range", "enumerate")
        return [] if is_range else [ast.Name(node.target.id, ast.Load())]

    def visit_List(self, node):
        """``[a, b]`` stacks."""
        node = self.generic_visit(node)
        return ast.Call(ast.Name("list_", ast.Load()), [node], []) if isinstance(node.ctx, ast.Load) else node

    def visit_Attribute(self, node):
        """A method, of a number too."""
        node.value = ast.Call(ast.Name("of_", ast.Load()), [self.visit(node.value)], [])
        return node

    def visit_Subscript(self, node):
        """``x[place]``, which may go backward."""
        if isinstance(node.ctx, ast.Store):
            return node
        node = self.generic_visit(node)
        return ast.Call(ast.Name("at_", ast.Load()), [node.value, place_of(node.slice)], [])

    def written(self, target, value):
        """Return ``name = put_(name, place, value)``."""
        name = target.value.id
        arguments = [ast.Name(name, ast.Load()), place_of(self.visit(target.slice)), value]
        return self.assigned(name, ast.Call(ast.Name("put_", ast.Load()), arguments, []))

    def assigned(self, name, value):
        """Return an assignment that is kept."""
        return ast.Assign([ast.Name(name, ast.Store())], self.kept(name, value))

    def kept(self, name, value):
        """Return a call that keeps a value."""
        return ast.Call(ast.Name("keep_", ast.Load()), [ast.Constant(name), value, ast.Constant(self.depth > 0)], [])


def place_of(node):
    """Return an index as an expression: slices are calls."""
    if isinstance(node, ast.Slice):
        ends = [part or ast.Constant(None) for part in (node.lower, node.upper, node.step)]
        return ast.Call(ast.Name("slice", ast.Load()), ends, [])
    if isinstance(node, ast.Tuple):
        return ast.Tuple([place_of(part) for part in node.elts], ast.Load())
    return node


def put(array, place, value):
    """Return an array with another value at a place."""
    array = array.clone()
    array[place] = value
    return array


def at(array, place):
    """Return a part of an array; PyTorch's own slices do not go backward."""
    if not isinstance(array, torch.Tensor):
        return array[place]
    places = place if isinstance(place, tuple) else (place,)
    places = tuple(p.long() if isinstance(p, torch.Tensor) and p.dtype == torch.float64 else p for p in places)
    if any(isinstance(p, slice) and p.step is not None and p.step < 0 for p in places):
        positions = torch.arange(array.numel()).reshape(array.shape).numpy()[places].copy()
        return array.reshape(-1)[torch.from_numpy(np.asarray(positions))]
    return array[places]


def of(value):
    """Return what has methods: a number as a tensor, all else as it is."""
    return as_tensor(value) if isinstance(value, int | float) else value


def as_tensor(value):
    """Return a number or a list as a tensor of doubles."""
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, list | tuple):
        parts = [as_tensor(item) for item in value]
        if not parts:
            return torch.tensor([], dtype=torch.float64)
        equal = len({part.shape for part in parts if isinstance(part, torch.Tensor)}) == 1
        return torch.stack([part.to(torch.float64) for part in parts]) if equal else parts
    return torch.tensor(value, dtype=torch.bool if isinstance(value, bool) else torch.float64)


FUNCTIONS = {
    **{name: partial(called, torch_name(name)) for name in SPELLINGS if name.isidentifier() and torch_name(name)},
    "softmax": lambda x, dim=-1: torch.softmax(as_tensor(x), dim),
    "log_softmax": lambda x, dim=-1: torch.log_softmax(as_tensor(x), dim),
    "arange": lambda *ends: torch.arange(*ends).double(), "empty": torch.zeros,
    "flip": lambda x, dims=None: torch.flip(
        as_tensor(x), [int(d) for d in np.ravel(range(as_tensor(x).ndim) if dims is None else dims)]),
    "one_hot": lambda k, count: torch.nn.functional.one_hot(as_tensor(k).long(), int(count)).double(),
    "where": lambda c, *ab: torch.where(as_tensor(c).bool(), *map(as_tensor, ab)),
    "reshape": lambda x, *sizes, shape=(): as_tensor(x).reshape([int(n) for n in np.ravel(sizes or shape)]),
    "expand": lambda x, *shape: as_tensor(x).expand(*[int(n) for n in np.ravel(shape)]),
    "broadcast_to": lambda x, *shape: as_tensor(x).expand(*[int(n) for n in np.ravel(shape)]),
    "permute": lambda x, *axes: as_tensor(x).permute(*[int(n) for n in np.ravel(axes)]),
    "pi": np.pi, "e": np.e, "inf": np.inf, "nan": np.nan,
}  # fmt: skip


class Reader:
    """Evaluates what an answer prints."""

    def __init__(self, names) -> None:
        self.names = {name: torch.from_numpy(np.array(value)) for name, value in names.items()}

    def evaluate(self, text: str, **letters: int) -> np.ndarray:
        """Return the value of a text; ``y.grad`` is a name."""
        text = re.sub(r"\b([^\W\d]\w*)\.grad\b", r"\1__grad", text)
        tree = ast.fix_missing_locations(Keeping().visit(ast.parse(text, mode="eval")))
        names = {**FUNCTIONS, "put_": put, "at_": at, "of_": of, "list_": as_tensor, **self.names, **letters}
        with torch.no_grad(), doubles():
            return numbers(as_tensor(eval(compile(tree, "text", "eval"), names)))  # noqa: S307 - of an answer
