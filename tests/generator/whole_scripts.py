"""Random scripts as a whole: classes, dictionaries, lists, closures, writes in place, modules, several derivative calls.

``python tests/generator/whole_scripts.py --seed 1 --count 2000 --out FILE`` writes rows that PyTorch recorded
(``script_recorder.py``). At most one script in ten ends with an error. Numbers stay within ``LARGEST``, and what double
precision would leave otherwise is not taken.
"""

# ruff: noqa: E501 - lists of forms
from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

VECTOR, SCALAR = "vector", "scalar"
NAMES = ("x", "y", "z", "a", "b", "w", "u", "h", "out", "tmp", "res", "θ", "y1", "s", "acc", "feat", "e", "q", "state")
LEAVES = ("x", "w", "a", "θ", "u", "w1", "p", "x0")
UNARY = ("torch.sin({})", "torch.tanh({})", "{}.cos()", "{} * {c}", "{c} * {}", "{} + {c}", "{} - {c}", "-{}", "{} ** 2", "{} / {c}",
    "torch.sigmoid({})", "torch.exp(-{} ** 2)", "torch.relu({})", "{}.abs()", "1 - {}", "{}.clone()", "{}.pow(2)", "(0.5 * {}).exp()",
    "torch.nn.functional.softplus({})", "{}.square()", "{}.clamp(-1.5, 1.5)", "torch.log({} ** 2 + 1)", "{} / (1 + {}.detach() ** 2)",
    "torch.sqrt({} ** 2 + 0.5)", "torch.where({} > 0.1, {}, 0.5 * {})", "{}.mul({c}).add({c})", "torch.atan({})")  # fmt: skip
BINARY = ("{} + {}", "{} - {}", "{} * {}", "{} / ({} ** 2 + 1)", "torch.maximum({}, {} * 0.9)", "torch.sin({}) * {}", "{} * {}.detach()",
    "{c} * {} - {}", "torch.add({}, {}, alpha=0.5)", "torch.tanh({} * {})")  # fmt: skip
LENGTHENING = ("{v}.flip(0)", "torch.roll({v}, 1)", "torch.cumsum({v}, dim=0)", "torch.softmax({v}, dim=0)", "{v}[{perm}]",
    "torch.cat([{v}[1:], {v}[:1]])", "{s} * {v}", "{v} * {s}", "{v} - {v}.mean()", "torch.stack([{ss}])", "{s}.expand({n})",
    "torch.outer({v}, {v}).sum(dim=1)", "({m} @ {v})", "{v}.view({n}, 1).squeeze()")  # fmt: skip
REDUCING = ("{v}.sum()", "{v}.mean()", "({v} * {v}).sum()", "{v}[{i}]", "{v} @ {v}", "{v}.norm()", "torch.dot({v}, {v})", "{v}.max()",
    "{v}[-1]", "sum({v})", "({v} ** 2).mean()", "{v}[1:].sum()", "torch.logsumexp({v}, dim=0)", "{v}.prod() * 0.1")  # fmt: skip
MODULES = (
    "torch.nn.Linear({n}, {n})",
    "torch.nn.Sequential(torch.nn.Linear({n}, 4), torch.nn.Tanh(), torch.nn.Linear(4, {n}))",
    "torch.nn.Sequential(torch.nn.Linear({n}, {n}), torch.nn.Sigmoid())",
)
LARGEST, MOST_ERRORS = 1e4, 0.1
NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.\d*(?:e[-+]?\d+)?|inf|nan)(?![\w.])")


@dataclass
class Scope:
    """What can be read where a line is written: names by shape, functions that keep a shape, and parameters."""

    tensors: dict[str, str] = field(default_factory=dict)
    functions: list[str] = field(default_factory=list)
    leaves: list[str] = field(default_factory=list)

    def of(self, shape: str) -> list[str]:
        return [text for text, its in self.tensors.items() if its == shape]


class Writer:
    """Writes one script; each method of ``STATEMENTS`` writes a part that runs on what the scope holds."""

    def __init__(self, seed: str, size: int) -> None:
        self.rng = random.Random(seed)  # noqa: S311 - scripts, no secrets
        self.n = self.rng.choice([2, 3, 3, 4])
        self.size, self.indent = size, 0
        self.lines: list[str] = []
        self.scope, self.matrix, self.used = Scope(), "", set()
        self.lists: dict[str, int] = {}

    # lines and names

    def line(self, text: str) -> None:
        self.lines += ["    " * self.indent + part for part in text.split("\n")]

    def block(self, head: str, body: Callable[[], None]) -> None:
        self.line(head)
        self.indent += 1
        body()
        self.indent -= 1

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def pick(self, items: Any) -> Any:
        return self.rng.choice(list(items))

    def constant(self) -> str:
        return self.pick(["0.5", "2", "1.5", "-0.3", "3", "0.1", "0.25", "-1.2"])

    def fresh(self, *bases: str) -> str:
        base = self.pick(bases or NAMES)
        name = next(text for text in [base, *(f"{base}{k}" for k in range(2, 99))] if text not in self.used)
        self.used.add(name)
        return name

    def numbers(self) -> str:
        return "[" + ", ".join(f"{self.rng.uniform(-2, 2):.2f}" for _ in range(self.n)) + "]"

    # expressions

    def expression(self, shape: str, depth: int) -> str:
        known = self.scope.of(shape)
        if depth <= 0 and known:
            return self.pick(known)
        if shape == SCALAR and (not known or self.chance(0.5)):
            return self.filled(self.pick(REDUCING), depth)
        if self.scope.functions and self.chance(0.15):
            return f"{self.pick(self.scope.functions)}({self.expression(shape, depth - 1)})"
        if shape == VECTOR and self.chance(0.25):
            return self.filled(self.pick(LENGTHENING), depth)
        form = self.pick(UNARY if self.chance(0.6) else BINARY)
        return self.elementwise(form, shape, depth)

    def elementwise(self, form: str, shape: str, depth: int) -> str:
        same = form in UNARY
        part = self.atom(self.expression(shape, depth - 1))
        for _ in range(form.count("{}")):
            form = form.replace("{}", part, 1)
            part = part if same else self.atom(self.expression(shape, depth - 1))
        while "{c}" in form:
            form = form.replace("{c}", self.constant(), 1)
        return form

    def filled(self, form: str, depth: int) -> str:
        vector = self.atom(self.expression(VECTOR, depth - 1))
        if "{m}" in form and not self.matrix:
            form = "{v}.flip(0)"
        scalars = ", ".join(self.expression(SCALAR, min(depth - 1, 1)) for _ in range(self.n)) if "{ss}" in form else ""
        scalar = self.atom(self.expression(SCALAR, depth - 1)) if "{s}" in form else ""
        order = self.rng.sample(range(self.n), self.n)
        return form.format(
            v=vector, s=scalar, ss=scalars, n=self.n, i=self.rng.randrange(self.n), perm=order, m=self.matrix
        )

    @staticmethod
    def atom(text: str) -> str:
        closed = re.fullmatch(r"[\w.]+(\[[^\[\]]*\]|\([^()]*\))?", text)
        return text if closed else f"({text})"

    def any_shape(self) -> str:
        return self.pick([VECTOR, VECTOR, SCALAR])

    def assign(self, shape: str | None = None, depth: int = 2) -> str:
        shape = shape or self.any_shape()
        text = self.expression(shape, depth)
        name = self.pick(self.rebindable()) if self.chance(0.2) and self.rebindable() else self.fresh()
        self.line(f"{name} = {text}")
        self.scope.tensors[name] = shape
        return name

    def rebindable(self) -> list[str]:
        return [name for name in self.scope.tensors if name.isidentifier() and name not in self.scope.leaves]

    # the beginning

    def begin(self) -> None:
        self.line("import torch")
        if self.chance(0.2):
            self.line(
                self.pick(
                    ["import torch.nn as nn", "import math", "import numpy as np", "import torch.nn.functional as F"]
                )
            )
        if self.chance(0.3):
            self.line("")
        for _ in range(self.pick([1, 2, 2, 3])):
            self.leaf()
        if self.chance(0.3):
            self.matrix = self.fresh("W", "M", "A")
            rows = ", ".join(self.numbers() for _ in range(self.n))
            self.line(f"{self.matrix} = torch.tensor([{rows}]" + self.pick([", requires_grad=True)", ")"]))
            if self.lines[-1].endswith("True)"):
                self.scope.leaves.append(self.matrix)
        if not self.scope.of(VECTOR):
            self.scope.tensors[self.leaf(VECTOR)] = VECTOR

    def leaf(self, shape: str | None = None) -> str:
        shape = shape or self.any_shape()
        name = self.fresh(*LEAVES)
        numbers = self.numbers() if shape == VECTOR else f"{self.rng.uniform(-2, 2):.2f}"
        form = self.pick(["torch.tensor({}, requires_grad=True)"] * 3 + ["torch.tensor({}).requires_grad_()",
                         "torch.nn.Parameter(torch.tensor({}))"])  # fmt: skip
        self.line(f"{name} = {form.format(numbers)}")
        self.scope.tensors[name] = shape
        self.scope.leaves.append(name)
        return name

    # statements

    def assignment(self) -> None:
        self.assign(depth=self.pick([1, 2, 2, 3]))

    def function(self) -> None:
        name, outer = self.fresh("f", "g", "act", "step", "layer"), self.scope
        default = self.pick(["", ", k=2.0", ", k=0.5, flip=False", ", *rest"])
        parameter = self.pick(["t", "v", "x", "inp"])

        def body() -> None:
            self.scope = Scope({parameter: VECTOR}, outer.functions[:])
            text = self.elementwise(self.pick(UNARY), VECTOR, 1)
            if "flip" in default:
                self.line(f"if flip:\n    return -{parameter}")
            if "rest" in default:
                self.line(f"{parameter} = {parameter} + len(rest)")
            self.line("return " + text + (" * k" if "k=" in default else ""))

        self.definition(f"def {name}({parameter}{default}):", body)
        self.scope = outer
        self.scope.functions.append(name)

    def definition(self, head: str, body: Callable[[], None]) -> None:
        self.lines += [""] * self.pick([0, 1])
        self.block(head, body)
        self.lines += [""] * self.pick([0, 1])

    def closure(self) -> None:
        maker, name, outer = self.fresh("make", "build"), self.fresh("f", "g", "fn"), self.scope
        kind = self.pick(["count", "total", "list"])
        start = {"count": "n = 0", "total": "total = 0.0", "list": "seen = []"}[kind]

        def inner() -> None:
            self.scope = Scope({"t": VECTOR})
            text = self.elementwise(self.pick(UNARY), VECTOR, 1)
            if kind == "count":
                self.line(f"nonlocal n\nn += 1\nreturn {self.atom(text)} * n * k")
            elif kind == "total":
                self.line(f"nonlocal total\ntotal = total + t * k\nreturn {text} + total")
            else:
                self.line(f"seen.append(t)\nreturn {text} + len(seen) * seen[0] * k")

        def body() -> None:
            self.line(start)
            self.block("def inner(t):", inner)
            self.line("return inner")

        self.definition(f"def {maker}(k={self.constant()}):", body)
        self.scope = outer
        self.line(f"{name} = {maker}({self.pick(['', self.constant(), 'k=' + self.constant()])})")
        if kind == "count":
            self.scope.functions.append(name)
            return
        first = self.assign(VECTOR, 0)  # a total of one shape
        self.line(f"{first} = {name}({first})")
        if self.chance(0.5):
            self.line(f"{first} = {first} + {name}({first} * 0.5)")

    def lambdas(self) -> None:
        name = self.fresh("fs", "acts", "fns")
        parts = [form.replace("{}", "t").replace("{c}", self.constant()) for form in self.rng.sample(UNARY, 2)]
        self.line(f"{name} = [" + ", ".join(f"lambda t: {part}" for part in parts) + self.pick([", torch.tanh]", "]"]))
        target, shape = self.fresh(), self.any_shape()
        self.line(f"{target} = {self.expression(shape, 1)}")
        self.block(f"for fn in {name}:", lambda: self.line(f"{target} = fn({target})"))
        self.scope.tensors[target] = shape

    def make_class(self) -> None:  # noqa: C901 - a class, its methods and its use
        name, it = self.fresh("Model", "Net", "Unit", "Cell"), self.fresh("model", "net", "m", "obj")
        parent, outer = f"{name}Base", self.scope
        own = self.pick(self.leaves_of(VECTOR)) if self.chance(0.4) and self.leaves_of(VECTOR) else None
        inherits = self.chance(0.3)
        method = self.pick(["__call__", "forward", "apply"])

        def start() -> None:
            if inherits:
                self.line("super().__init__(scale)")
            else:
                self.line("self.scale = scale\nself.calls = 0")
            self.line("self.w = w\nself.cache = {}" if self.chance(0.5) else "self.w = w\nself.cache = dict()")

        def run() -> None:
            self.scope = Scope({"t": VECTOR, "self.w": VECTOR})
            self.line(f"self.calls += 1\nh = {self.expression(VECTOR, 2)}")
            self.line("self.cache['h'] = h\nreturn h * self.scale")

        def penalty() -> None:
            self.scope = Scope({"self.w": VECTOR})
            self.line(f"return {self.expression(SCALAR, 1)} * {self.constant()}")

        def members() -> None:
            if self.chance(0.2):
                self.line('"""A model with one weight."""')
            self.block("def __init__(self, w, scale=1.0):", start)
            self.block(f"def {method}(self, t):", run)
            if self.chance(0.4):
                self.line("@property")
                self.block("def penalty(self):", penalty)
                extra.append(f"{it}.penalty")
            if self.chance(0.3):
                self.block("def parameters(self):", lambda: self.line("return [self.w]"))

        extra: list[str] = []
        if inherits:
            self.definition(f"class {parent}:", lambda: self.block(
                "def __init__(self, scale):", lambda: self.line("self.scale = scale\nself.calls = 0")))  # fmt: skip
        self.definition(f"class {name}{f'({parent})' if inherits else self.pick(['', '', '()', '(object)'])}:", members)
        self.scope = outer
        weight = own or f"torch.tensor({self.numbers()}, requires_grad=True)"
        self.line(f"{it} = {name}({weight}{self.pick(['', ', 0.5', ', scale=2.0'])})")
        if own is None:
            self.scope.tensors[f"{it}.w"] = VECTOR
            self.scope.leaves.append(f"{it}.w")
        target = self.fresh()
        called = it if method == "__call__" else f"{it}.{method}"
        self.line(f"{target} = {called}({self.expression(VECTOR, 1)})")
        self.scope.tensors[target] = VECTOR
        self.scope.tensors |= dict.fromkeys(extra, SCALAR) | {f"{it}.cache['h']": VECTOR}
        if self.chance(0.3):
            self.line(f"print({it}.calls, {it}.scale, sorted({it}.cache))")

    def leaves_of(self, shape: str) -> list[str]:
        return [name for name in self.scope.leaves if self.scope.tensors.get(name) == shape]

    def dictionary(self) -> None:
        name = self.fresh("params", "d", "losses", "parts")
        keys = self.rng.sample(["a", "b", "w1", "mse", "reg", "k"], self.pick([2, 3]))
        shape = self.any_shape()
        entries = ", ".join(f"'{key}': {self.expression(shape, 1)}" for key in keys)
        self.line(f"{name} = {{{entries}}}")
        if self.chance(0.3):
            self.line(f"{name}['{self.pick(keys)}'] = {self.expression(shape, 1)}")
        if self.chance(0.3):
            self.line(f"{name}['new'] = {name}['{keys[0]}'] * {self.constant()}")
            keys.append("new")
        if self.chance(0.2):
            self.line(f"{name}.update({keys[0]}={name}.pop('{keys[0]}') + 1)")
        target = self.fresh("total", "tot", "y")
        way = self.pick(["sum", "items", "values"])
        if way == "sum":
            self.line(f"{target} = sum({name}.values())")
        else:
            self.line(f"{target} = 0")
            head = f"for key, val in {name}.items():" if way == "items" else f"for val in {name}.values():"
            self.block(
                head, lambda: self.line(f"{target} = {target} + {self.pick(['val', 'val * 0.5', 'torch.sin(val)'])}")
            )
        self.scope.tensors |= {target: shape, f"{name}['{keys[-1]}']": shape}
        if self.chance(0.2):
            self.line(f"print({{k: v.detach().sum().item() > 0 for k, v in {name}.items()}}, len({name}))")

    def list_of_tensors(self) -> None:
        name, shape = self.fresh("hs", "outs", "items", "ls"), self.any_shape()
        self.line(f"{name} = [{self.expression(shape, 1)}]")
        steps = self.pick([1, 2, 3])
        head = self.pick(
            [
                f"for i in range({steps}):",
                f"for i in range(1, {steps + 1}):",
                f"for i, k in enumerate({[0.5] * steps}):",
            ]
        )
        self.block(
            head,
            lambda: self.line(f"{name}.append({self.pick(['torch.sin', 'torch.tanh', ''])}({name}[-1] * (i + 1)))"),
        )
        if self.chance(0.4):
            alias = self.fresh("other", "same", "ref")
            self.line(f"{alias} = {name}\n{alias}.append({self.expression(shape, 1)})")
        if self.chance(0.3):
            copy = self.fresh("copy", "cp")
            self.line(
                f"{copy} = {name}{self.pick(['[:]', '[::-1]', '.copy()'])}\n{copy}[0] = {self.expression(shape, 1)}"
            )
            self.scope.tensors[f"{copy}[0]"] = shape
        if self.chance(0.2):
            self.line(f"{name}[0], {name}[-1] = {name}[-1], {name}[0]")
        if self.chance(0.2):
            self.line(f"{name}.pop({self.pick(['', '0'])})")
        target = self.fresh()
        ends = [f"sum({name})", f"{name}[-1] + {name}[0]", f"sum(t * k for k, t in enumerate({name}, 1))",
                f"torch.stack({name}).sum(0)", f"sum([t for t in {name} if t.sum() > -50])", f"torch.stack([t * 0.5 for t in {name}]).mean(dim=0)"]  # fmt: skip
        self.line(f"{target} = {self.pick(ends)}")
        self.scope.tensors |= {target: shape, f"{name}[0]": shape}
        if self.chance(0.2):
            self.line(f"print(len({name}), [tuple(t.shape) for t in {name}])")

    def unpacking(self) -> None:
        names = [self.fresh(), self.fresh()]
        shape = self.any_shape()
        values = [self.expression(shape, 1), self.expression(shape, 1)]
        self.line(f"{', '.join(names)} = {', '.join(values)}")
        if self.chance(0.4):
            self.line(f"{names[0]}, {names[1]} = {names[1]}, {names[0]}")
        self.scope.tensors |= dict.fromkeys(names, shape)

    def loop(self) -> None:
        shape = self.any_shape()
        name = self.assign(shape, 1)
        step = self.expression_of(name, shape)
        kind = self.pick(["for", "while", "norm", "zip", "break"])
        if kind == "for":
            self.block(f"for _ in range({self.pick([1, 2, 3, 4])}):", lambda: self.line(f"{name} = {step}"))
        elif kind == "while":
            counter = self.fresh("i", "k", "n_steps")
            self.line(f"{counter} = 0")
            self.block(
                f"while {counter} < {self.pick([1, 2, 3])}:", lambda: self.line(f"{name} = {step}\n{counter} += 1")
            )
        elif kind == "norm":
            self.block(
                f"while {name}.detach().norm() < {self.pick([3, 10])}:",
                lambda: self.line(f"{name} = {name} * 2 + 0.37"),
            )
        elif kind == "zip":
            head = f"for c, d in zip([0.5, 1.5, -1.0], {self.pick(['(1, 2, 3)', 'range(3)', '[2, 0]'])}):"
            self.block(head, lambda: self.line(f"{name} = {name} * c + d * 0.1"))
        else:
            self.block("for i in range(5):", lambda: self.line(
                f"if i == {self.pick([0, 2, 3])}:\n    {self.pick(['break', 'continue'])}\n{name} = {step}"))  # fmt: skip

    def expression_of(self, name: str, shape: str) -> str:
        outer = self.scope
        self.scope = Scope({name: shape})
        text = self.elementwise(self.pick(UNARY), shape, 1)
        self.scope = outer
        return text

    def branch(self) -> None:
        shape = self.any_shape()
        name = self.assign(shape, 1)
        test = self.atom(self.expression(SCALAR, 1)) + self.pick([" > 0.2", " < 0.35", ".item() > -0.4", " > 0"])
        if self.chance(0.3):
            self.line(f"{name} = {self.expression(shape, 1)} if {test} else {self.expression(shape, 1)}")
            return
        first, second = self.expression(shape, 1), self.expression(shape, 1)
        self.block(f"if {test}:", lambda: self.line(f"{name} = {first}"))
        if self.chance(0.6):
            self.block("else:", lambda: self.line(f"{name} = {second}"))

    def write(self) -> None:
        name = self.fresh("y", "buf", "h", "out")
        begin = self.pick(["{} * 1", "{}.clone()", "{} + 0", "torch.zeros({n})", "torch.sin({})"])
        self.line(f"{name} = {begin.format(self.atom(self.expression(VECTOR, 1)), n=self.n)}")
        watched = self.pick(
            [None, None, f"{name}[1:]", f"{name}[:2]", name, f"{name}.view({self.n})", f"{name}.detach()"]
        )
        view = None
        if watched:
            view = self.fresh("v", "alias", "part", "row")
            self.line(f"{view} = {watched}")
        for _ in range(self.pick([1, 1, 2, 3])):
            forms = ["{t}[0] = {s}", "{t}[-1] = {s}", "{t} += {v}", "{t} *= {c}", "{t}.mul_({c})", "{t}.add_({v})", "{t}[{i}] *= {c}",
                     "{t}[1:] = {c}", "{t}[{i}] += {s}", "{t} -= 0.5", "{t}.clamp_(max=3.0)", "{t}[{t} < 0] = 0.25"]  # fmt: skip
            if view and self.chance(0.5):
                forms = ["{w} *= {c}", "{w}.add_({c})", "{w}[0] = {s}", "{w} += 1", "{w}.mul_({c})"]
            form = self.pick(forms)
            self.line(form.format(t=name, w=view, s=self.expression(SCALAR, 1), v=self.expression(VECTOR, 1),
                                  c=self.constant(), i=self.rng.randrange(self.n)))  # fmt: skip
        self.scope.tensors[name] = VECTOR
        if view and self.chance(0.5):
            self.line(f"print({view})")

    def cut(self) -> None:
        shape = self.any_shape()
        name = self.fresh("d", "const", "fixed", "k")
        text = self.atom(self.expression(shape, 1))
        if shape == SCALAR and self.chance(0.5):
            text = self.pick([f"float({text})", f"{text}.item()"])
            other = self.fresh()
            self.line(f"{name} = {text}\n{other} = {self.expression(VECTOR, 0)} * {name}")
            self.scope.tensors[other] = VECTOR
            return
        way = self.pick(["detach", "data", "no_grad"])
        if way == "no_grad":
            self.block("with torch.no_grad():", lambda: self.line(f"{name} = {text}"))
        else:
            self.line(f"{name} = {text}" + {"detach": ".detach()", "data": ".data"}[way])
        self.line(f"{name} = {name} + {self.expression(shape, 0)}")
        self.scope.tensors[name] = shape

    def module(self) -> None:
        name, target = self.fresh("fc", "net", "lin"), self.fresh()
        self.line(f"torch.manual_seed({self.rng.randrange(100)})\n{name} = {self.pick(MODULES).format(n=self.n)}")
        self.line(f"{target} = {name}({self.expression(VECTOR, 1)})")
        self.scope.tensors[target] = VECTOR
        weight = f"{name}.weight" if "Sequential" not in self.lines[-2] else f"{name}[0].weight"
        self.scope.leaves.append(weight)

    def show(self) -> None:
        for _ in range(self.pick([1, 1, 2])):
            name = self.pick(self.scope.tensors)
            forms = ["print({x})", "print('{l}', {x})", "print({x}.shape, {x}.requires_grad)", "print([{x}, {y}])", "print({x}.tolist())",
                     "print('%s' % {x})", "print(f\"{{{x}.sum().item():.3f}}\")", "print({x}.detach().numpy())", "print({x}.is_leaf)",
                     "print('sum', {x}.sum(), sep=': ')", "print(({x},))", "print(round({x}.sum().item(), 2))"]  # fmt: skip
            if "'" in name:
                forms = forms[:1]
            self.line(
                self.pick(forms).format(x=name, y=self.pick(self.scope.tensors), l=self.pick(["y =", "value", "->"]))
            )

    # derivative calls

    def derivative(self) -> None:
        """Write one call, or several on one graph; what it frees is forgotten but for one time in twenty."""
        kind = self.pick(
            ["loss", "loss", "twice", "vector", "grad", "grad", "second", "list", "loop", "caught", "ledger"]
        )
        getattr(self, f"call_{kind}")()
        if self.chance(0.95):
            self.scope.tensors = {
                name: shape for name, shape in self.scope.tensors.items() if name in self.scope.leaves
            }

    def loss(self) -> str:
        whole = [name for name in self.scope.tensors if name not in self.scope.leaves and "'" not in name]
        parts = [name if self.scope.tensors[name] == SCALAR else self.pick(["{}.sum()", "({} ** 2).mean()", "{}.mean()"]).format(name)
                 for name in whole[-3:]]  # fmt: skip
        name = self.fresh("loss", "L", "l", "total")
        used = [leaf for leaf in self.scope.leaves if self.chance(0.6)] or self.scope.leaves[:1]
        parts += [f"({leaf} * {self.constant()}).sum()" for leaf in used[:2] if not parts or self.chance(0.3)]
        self.line(f"{name} = {' + '.join(parts)}")
        return name

    def call_loss(self) -> None:
        loss = self.loss()
        if self.chance(0.2):
            self.line(f"print({loss})")
        self.line(self.pick([f"{loss}.backward()"] * 4 + [f"torch.autograd.backward({loss})"]))
        self.report()

    def call_twice(self) -> None:
        loss = self.loss()
        self.line(f"{loss}.backward(retain_graph=True)")
        if self.chance(0.5):
            self.report()
        if self.chance(0.4):
            self.zero()
        if self.chance(0.3):
            other = self.fresh("l2", "loss2")
            self.line(f"{other} = {loss} * {self.constant()} + {self.expression(SCALAR, 1)}\n{other}.backward()")
        else:
            self.line(f"{loss}.backward()")
        self.report()

    def call_vector(self) -> None:
        name = self.assign(VECTOR, 2)
        v = self.pick([f"torch.tensor({self.numbers()})", f"torch.ones({self.n})", f"torch.ones_like({name})", "v"])
        if v == "v":
            v = self.fresh("v", "vec", "g")
            self.line(f"{v} = torch.tensor({self.numbers()})")
        self.line(f"{name}.backward({self.pick(['', 'gradient='])}{v})")
        self.report()

    def call_grad(self) -> None:
        loss, leaf = self.loss(), self.pick(self.scope.leaves)
        got, more = self.fresh("g", "grads", "dx"), self.pick(["", ", retain_graph=True", ", allow_unused=True"])
        if self.chance(0.4):
            leaves = ", ".join(self.scope.leaves[:2])
            self.line(f"{got} = torch.autograd.grad({loss}, [{leaves}], allow_unused=True)\nprint({got})")
            return
        self.line(f"{got} = torch.autograd.grad({loss}, {leaf}, retain_graph=True, allow_unused=True)[0]" if not more
                  else f"{got}, = torch.autograd.grad({loss}, {leaf}{more})")  # fmt: skip
        self.line(f"print({got})")
        if self.chance(0.3) and more != ", allow_unused=True":
            self.line(f"{loss}.backward()")
            self.report()

    def call_second(self) -> None:
        leaf = self.pick(self.scope.leaves)
        if self.scope.tensors.get(leaf) is None:
            self.call_loss()
            return
        got, loss = self.fresh("g", "gx"), self.fresh("loss", "E")
        inner = self.expression_of(leaf, self.scope.tensors[leaf])
        self.line(f"{loss} = (torch.sin({leaf}) * ({inner})).sum() + ({leaf} ** 3).sum()")
        if self.chance(0.3):
            self.line(f"{loss}.backward(create_graph=True)\n{got} = {leaf}.grad.clone()\n{leaf}.grad = None")
        else:
            self.line(f"{got} = torch.autograd.grad({loss}, {leaf}, create_graph=True)[0]")
        if self.chance(0.5):
            self.line(f"print({got}.detach())")
        end = self.pick([f"({got} ** 2).sum().backward()", f"({loss} + 0.1 * {got}.norm()).backward()",
                         f"print(torch.autograd.grad({got}.sum(), {leaf})[0])"])  # fmt: skip
        self.line(end)
        if "print" not in end:
            self.line(f"print({leaf}.grad)")

    def call_list(self) -> None:
        leaf = next(iter(self.leaves_of(VECTOR)), None)
        if leaf is None:
            self.call_loss()
            return
        name, rows = self.fresh("ys", "y"), self.fresh("rows", "J")
        self.line(f"{name} = {self.expression_of(leaf, VECTOR)} * {leaf}")
        self.line(f"{rows} = []")
        self.block(f"for i in range({self.n}):", lambda: self.line(
            f"{rows}.append(torch.autograd.grad({name}[i], {leaf}, retain_graph=True)[0])"))  # fmt: skip
        self.line(f"print(torch.stack({rows}))")

    def call_loop(self) -> None:
        leaf = self.pick([name for name in self.scope.leaves if name in self.scope.tensors])
        shape, rate = self.scope.tensors[leaf], self.pick(["0.1", "0.05"])
        step = self.expression_of(leaf, shape)
        zero = self.pick([f"{leaf}.grad.zero_()", f"{leaf}.grad = None", f"{leaf}.grad *= 0"])

        def turn() -> None:
            self.line(f"loss = (({step} - {self.constant()}) ** 2).sum()\nloss.backward()")
            if self.chance(0.7):
                self.block("with torch.no_grad():", lambda: self.line(f"{leaf} -= {rate} * {leaf}.grad"))
            else:
                self.line(f"{leaf}.data -= {rate} * {leaf}.grad.data")
            self.line(zero)
            if self.chance(0.3):
                self.line("print(step, loss.item() < 1e3)" if self.chance(0.3) else "print(step, f'{loss.item():.3f}')")

        self.block(f"for step in range({self.pick([2, 3, 4])}):", turn)
        self.line(f"print({leaf})")

    def call_caught(self) -> None:
        loss = self.loss()
        self.line(f"{loss}.backward()")
        wrong = self.pick([f"{loss}.backward()", f"({self.scope.of(VECTOR)[0]} * 2).backward()",
                           f"torch.tensor({self.numbers()}).sum().backward()", f"{self.scope.of(VECTOR)[0]}[0] = 1.0"])  # fmt: skip
        self.block("try:", lambda: self.line(wrong))
        self.block("except RuntimeError as err:", lambda: self.line(
            self.pick(["print('error:', str(err)[:40])", "print(type(err).__name__)", "print(err)"])))  # fmt: skip
        self.report()

    def call_ledger(self) -> None:
        first, second = self.loss(), self.fresh("extra", "reg")
        self.line(f"{second} = sum((p ** 2).sum() for p in [{', '.join(self.scope.leaves[:2])}])")
        self.line(f"{first}.backward({self.pick(['', 'retain_graph=True'])})")
        self.line(f"{second}.backward()")
        self.report()

    def zero(self) -> None:
        leaf = self.pick(self.scope.leaves)
        self.line(self.pick([f"{leaf}.grad = None"] * 2 + [
            f"for p in [{', '.join(self.scope.leaves)}]:\n    p.grad = None",
            f"if {leaf}.grad is not None:\n    {leaf}.grad.zero_()"]))  # fmt: skip

    def report(self) -> None:
        leaves = self.scope.leaves
        self.line(self.pick([
            f"print({', '.join(f'{leaf}.grad' for leaf in leaves[:3])})",
            *[f"print({leaf}.grad)" for leaf in leaves[:2]],
            f"for p in [{', '.join(leaves)}]:\n    print(p.grad)",
            f"print({{i: p.grad for i, p in enumerate([{', '.join(leaves[:2])}])}})",
            f"print([p.grad is None for p in ({leaves[0]},)], {leaves[0]}.grad)"]))  # fmt: skip
        if self.chance(0.25):
            self.zero()

    def script(self) -> str:
        self.begin()
        for _ in range(self.pick(range(1, self.size + 1))):
            kind = self.rng.choices(list(STATEMENTS), list(STATEMENTS.values()))[0]
            getattr(self, kind)()
            if self.chance(0.12):
                self.show()
        self.derivative()
        if self.chance(0.3):
            self.zero()
            self.assignment()
            self.derivative()
        return "\n".join(self.lines) + "\n"


STATEMENTS = {"assignment": 3, "function": 1.5, "closure": 1.2, "lambdas": 1, "make_class": 1.5, "dictionary": 1.5, "list_of_tensors": 2,
    "unpacking": 1, "loop": 2, "branch": 1.5, "write": 2.5, "cut": 1.2, "module": 0.8, "show": 0.7, "derivative": 2}  # fmt: skip
"""What a script is made of, and how often."""


def random_script(seed: int, number: int, size: int = 8) -> str:
    """Return the script of a number, the same in every run."""
    return Writer(f"{seed}/{number}", size).script()


def tame(row: dict[str, Any]) -> bool:
    """Return whether every number that a script prints or leaves is finite and of moderate size."""
    from script_comparison import flat

    numbers = [float(text) for text in NUMBER.findall(row["stdout"])]
    numbers += [number for call in row["calls"] for grad in call["grads"] if grad is not None for number in flat(grad)]
    return all(abs(number) < LARGEST for number in numbers)


def rows(seed: int, count: int, size: int) -> Iterator[dict[str, Any]]:
    """Yield recorded scripts: tame, the same in doubles, one in ten with an error at most."""
    from script_doubles import difference
    from script_recorder import record

    kept = errors = number = 0
    while kept < count:
        source = random_script(seed, number, size)
        row = {"id": f"generated-{seed}-{number}", "source": source, **record(source)}
        number += 1
        fails = row["error"] is not None
        if (fails and errors >= MOST_ERRORS * count) or not (fails or row["calls"]) or not tame(row) or difference(row):
            continue
        kept, errors = kept + 1, errors + fails
        yield row


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--size", type=int, default=8, help="most parts of a script, %(default)s by default")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    import torch

    from script_recorder import write_rows

    torch.set_num_threads(1)
    write_rows(options.out, list(rows(options.seed, options.count, options.size)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
