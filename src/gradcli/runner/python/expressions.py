"""Expressions of a script: from the syntax tree to closures that evaluate them over a frame.

A method ``of_Name`` returns what evaluates a node of that name.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.language.compiling import Compiler, Evaluate, Frame, Store
from gradcli.language.source import Spans
from gradcli.runner.names import Names, global_name, is_known, names_of, parameters_of, yields
from gradcli.runner.printing import format_value, to_repr, to_str
from gradcli.runner.python.attributes import assign_attribute, attribute
from gradcli.runner.python.calls import call
from gradcli.runner.python.containers import put, subscript, take, unpacked, walk
from gradcli.runner.python.operators import SIGNS, binary, contains, hashable, negative, operate, plain, truth
from gradcli.runner.values import UNBOUND, Class, Closure, Code, Super, new_frame

FIRST = 2
"""Registers that each frame begins with: the run, and the frame of the module."""


class Expressions(Compiler):
    """Compiles the expressions of one scope; ``outer`` is the compiler of the scope round it, None of the module.

    ``text`` is what all scopes of one text share.
    """

    body: Callable[..., list[Any]]
    yielder: Callable[..., Callable[[Frame], Any]]

    def __init__(self, text: Text, node: ast.AST, outer: Expressions | None, name: str, of: list[Class] | None) -> None:
        self.text = text
        self.outer = outer
        self.of = of
        self.names: Names = names_of(node)
        self.is_class = isinstance(node, ast.ClassDef)
        self.code = Code(name, template=[None] * FIRST, listed=text.listed)
        if outer is not None:
            for shared in sorted(self.names.shared):
                self.code.cells.append(self.local(shared))

    # ---- places of variables
    def slot(self, value: Any = UNBOUND) -> int:
        """Return a new register, which holds ``value`` when a frame begins."""
        self.code.template.append(value)
        return len(self.code.template) - 1

    def local(self, name: str) -> int:
        """Return the register of a variable of this scope."""
        if name not in self.code.places:
            self.code.places[name] = self.slot()
        return self.code.places[name]

    def place(self, name: str) -> tuple[str, int]:
        """Return where a variable is: ``own``, in a ``cell``, or in the frame of the ``module``."""
        if self.outer is None:
            return "own", self.local(name)
        if name in self.names.globals:
            return "module", self.text.module_place(name)
        if name in self.names.assigned:
            return ("cell" if name in self.names.shared else "own"), self.local(name)
        if name in self.code.places:
            return "cell", self.code.places[name]
        there = self.outer.cell(name)
        if there is None:
            return "module", self.text.module_place(name)
        here = self.local(name)
        self.code.frees.append((here, there))
        return "cell", here

    def cell(self, name: str) -> int | None:
        """Return the register of the cell that a scope in this one shares, None for a variable of the module."""
        if self.outer is None:
            return None
        if self.is_class and name == "__class__":
            if name not in self.code.places:
                self.code.cells.append(self.local(name))
            return self.local(name)
        if not self.is_class and (name in self.names.assigned or name in self.code.places):
            return self.local(name)
        there = self.outer.cell(name)
        if there is None:
            return None
        here = self.slot()
        self.code.places.setdefault(name, here)
        self.code.frees.append((here, there))
        return here

    def store(self, name: str) -> Store:
        """Return what assigns a variable."""
        kind, k = self.place(name)
        tell = self.text.tell

        def own(regs: Frame, value: Any) -> None:
            regs[k] = value

        def run(regs: Frame, value: Any) -> None:
            if tell is not None:
                value = tell(regs, name, value)
            if kind == "cell":
                regs[k][0] = value
            else:
                (regs if kind == "own" else regs[1])[k] = value

        return own if kind == "own" and tell is None else run

    def load(self, node: ast.Name) -> Evaluate:
        """Return what reads a variable, a builtin or a library's name."""
        name = node.id
        kind, k = self.place(name)
        text = self.text
        if kind == "module" or (kind == "own" and self.outer is None):
            text.read.setdefault(name, node)
        local = kind == "cell" or (kind == "own" and self.outer is not None)

        def absent(regs: Frame) -> Any:
            return text.missing(regs, name) if local else text.outside(regs, name, k, node)

        def own(regs: Frame) -> Any:
            value = regs[k]
            return absent(regs) if value is UNBOUND else value

        def cell(regs: Frame) -> Any:
            value = regs[k][0]
            return absent(regs) if value is UNBOUND else value

        def module(regs: Frame) -> Any:
            value = regs[1][k]
            return absent(regs) if value is UNBOUND else value

        return {"own": own, "cell": cell, "module": module}[kind]

    of_Name = load

    # ---- expressions
    def refused(self, node: ast.AST, what: str = "", hint: str | None = None) -> GradcliError:
        """Return the error for syntax that gradcli does not run."""
        message = what or f"{type(node).__name__} is not understood"
        return GradcliError("not-allowed", message, span=self.text.span(node), hint=hint)

    def optional(self, node: ast.expr | None) -> Evaluate:
        """Return what evaluates an expression, None where it is left out."""
        return self.expression(node) if node is not None else lambda regs: None

    def test(self, node: ast.If | ast.IfExp | ast.While) -> Callable[[Frame], bool]:
        """Return what says whether the condition of a branch or of a loop holds."""
        value = self.expression(node.test)
        return lambda regs: truth(regs[0], value(regs))

    def side(self, node: ast.expr) -> tuple[Evaluate | None, int]:
        """Return an operand: nothing and its register for a number, else an expression."""
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            value = node.value
            return None, self.slot(np.float64(value) if type(value) is float else value)
        return self.expression(node), 0

    def of_Constant(self, node: ast.Constant) -> Evaluate:
        value = node.value
        if isinstance(value, complex):
            raise self.refused(node, "complex numbers are not part of gradcli")
        return lambda regs: value

    def of_BinOp(self, node: ast.BinOp) -> Evaluate:
        (left, i), (right, j) = self.side(node.left), self.side(node.right)
        return binary(SIGNS[type(node.op)], left, right, i, j)

    def of_Compare(self, node: ast.Compare) -> Evaluate:
        parts = [self.expression(part) for part in (node.left, *node.comparators)]
        tests = [comparison(op) for op in node.ops]
        if len(tests) == 1:
            (left, right), test = parts, tests[0]
            return lambda regs: test(regs[0], left(regs), right(regs))

        def chain(regs: Frame) -> Any:
            left: Any = parts[0](regs)
            made: Any = True
            for one, part in zip(tests, parts[1:], strict=True):
                right = part(regs)
                made = one(regs[0], left, right)
                if not truth(regs[0], made):
                    break
                left = right
            return made

        return chain

    def of_UnaryOp(self, node: ast.UnaryOp) -> Evaluate:
        value = self.expression(node.operand)
        if isinstance(node.op, ast.Not):
            return lambda regs: not truth(regs[0], value(regs))
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            number = node.operand.value
            if type(number) in (int, float):
                return lambda regs: -number  # type: ignore[operator]
        sign = SIGNS[type(node.op)]
        return lambda regs: negative(regs[0], value(regs), sign)

    def of_BoolOp(self, node: ast.BoolOp) -> Evaluate:
        *first, last = [self.expression(part) for part in node.values]
        ends = isinstance(node.op, ast.Or)

        def run(regs: Frame) -> Any:
            for part in first:
                value = part(regs)
                if truth(regs[0], value) is ends:
                    return value
            return last(regs)

        return run

    def of_NamedExpr(self, node: ast.NamedExpr) -> Evaluate:
        value = self.expression(node.value)
        store = self.store(node.target.id)

        def run(regs: Frame) -> Any:
            made = plain(value(regs))
            store(regs, made)
            return made

        return run

    def items(self, nodes: list[ast.expr]) -> Callable[[Frame], list[Any]]:
        """Return what evaluates several expressions, stars among them."""
        starred = [isinstance(node, ast.Starred) for node in nodes]
        parts = [self.expression(node.value if isinstance(node, ast.Starred) else node) for node in nodes]
        if not any(starred):
            return lambda regs: [plain(part(regs)) for part in parts]

        def run(regs: Frame) -> list[Any]:
            made: list[Any] = []
            for several, part in zip(starred, parts, strict=True):
                value = part(regs)
                if several and isinstance(value, int | float | None):
                    what = f"Value after * must be an iterable, not {regs[0].type_name(value)}"
                    regs[0].fail("TypeError", what)
                made += take(regs[0], value) if several else [plain(value)]
            return made

        return run

    def of_List(self, node: ast.List) -> Evaluate:
        return self.items(node.elts)

    def of_Tuple(self, node: ast.Tuple) -> Evaluate:
        items = self.items(node.elts)
        return lambda regs: tuple(items(regs))

    def of_Set(self, node: ast.Set) -> Evaluate:
        items = self.items(node.elts)
        return lambda regs: {hashable(regs[0], item) for item in items(regs)}

    def of_Dict(self, node: ast.Dict) -> Evaluate:
        keys = [None if key is None else self.expression(key) for key in node.keys]
        pairs = list(zip(keys, map(self.expression, node.values), strict=True))

        def run(regs: Frame) -> dict[Any, Any]:
            made: dict[Any, Any] = {}
            for key, value in pairs:
                if key is None:
                    other = value(regs)
                    if not isinstance(other, dict):
                        regs[0].fail("TypeError", f"'{regs[0].type_name(other)}' object is not a mapping")
                    made.update(other)
                else:
                    place = hashable(regs[0], key(regs))
                    made[place] = plain(value(regs))
            return made

        return run

    def of_Subscript(self, node: ast.Subscript) -> Evaluate:
        base, key = self.expression(node.value), self.expression(node.slice)
        return lambda regs: subscript(regs[0], base(regs), key(regs))

    def of_Slice(self, node: ast.Slice) -> Evaluate:
        parts = [self.optional(part) for part in (node.lower, node.upper, node.step)]
        return lambda regs: slice(*[part(regs) for part in parts])

    def of_Attribute(self, node: ast.Attribute) -> Evaluate:
        base, name = self.expression(node.value), node.attr
        return lambda regs: attribute(regs[0], base(regs), name)

    def of_Lambda(self, node: ast.Lambda) -> Evaluate:
        return self.function(node, "<lambda>", None)

    def of_Starred(self, node: ast.Starred) -> Evaluate:
        raise GradcliError("syntax", "a star stands here alone", span=self.text.span(node))

    def of_JoinedStr(self, node: ast.JoinedStr) -> Evaluate:
        parts = [self.piece(part) for part in node.values]

        def joined(regs: Frame) -> str:
            texts = [part(regs) for part in parts]
            regs[0].bound(sum(map(len, texts)), "a text is too long")
            return "".join(texts)

        return joined

    def piece(self, node: ast.expr) -> Evaluate:
        """Return what gives one piece of an f-string."""
        if isinstance(node, ast.Constant):
            return self.of_Constant(node)
        if not isinstance(node, ast.FormattedValue):
            raise self.refused(node, "this is not understood in an f-string")
        value = self.expression(node.value)
        spec = self.expression(node.format_spec) if node.format_spec is not None else lambda regs: ""
        show = {"r": to_repr, "a": to_repr, "s": to_str}.get(chr(max(node.conversion, 0)), lambda run, x: plain(x))
        return lambda regs: format_value(regs[0], show(regs[0], value(regs)), spec(regs))

    def of_Call(self, node: ast.Call) -> Evaluate:
        if isinstance(node.func, ast.Name) and node.func.id == "super" and self.of is not None:
            return self.super_call(node)
        function = self.expression(node.func)
        if isinstance(node.func, ast.Name):
            self.text.called.add(node.func.id)
        line, listed, items = node.lineno, self.text.listed, self.items(node.args)
        named = [(keyword.arg, self.expression(keyword.value)) for keyword in node.keywords]

        def run(regs: Frame) -> Any:
            what, arguments = function(regs), items(regs)
            options: dict[str, Any] = {}
            for name, value in named:
                if name is None:
                    options |= mapping_of(regs[0], value(regs))
                else:
                    options[name] = plain(value(regs))
            if listed:
                regs[0].line = line
            return call(regs[0], what, arguments, options)

        return run

    def super_call(self, node: ast.Call) -> Evaluate:
        """Return what ``super()`` gives in a method."""
        if len(node.args) == 2:
            kind, owner = map(self.expression, node.args)
            return lambda regs: Super(owner(regs), kind(regs))
        method: Expressions = self
        while method.outer is not None and not method.code.positional and method.outer.of is self.of:
            method = method.outer
        names = (method.code.positional[0], "__class__")
        me, around = (self.load(ast.copy_location(ast.Name(name, ast.Load()), node)) for name in names)
        return lambda regs: Super(me(regs), around(regs))

    def of_Yield(self, node: ast.Yield) -> Evaluate:
        hint = "write it as a statement of its own, or name = yield value"
        raise self.refused(node, "a yield within an expression is not understood", hint)

    # ---- functions and comprehensions
    def function(self, node: Any, name: str, of: list[Class] | None) -> Evaluate:
        """Return what makes a function of its code, with the cells that it shares."""
        inner = type(self)(self.text, node, self, name, of if of is not None else self.of)
        arguments, code, is_lambda = node.args, inner.code, isinstance(node, ast.Lambda)
        code.qualified = self.way(name)
        code.positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        code.by_position_alone = len(arguments.posonlyargs)
        code.by_name = [a.arg for a in arguments.kwonlyargs]
        code.rest = arguments.vararg.arg if arguments.vararg else None
        code.options = arguments.kwarg.arg if arguments.kwarg else None
        for parameter in parameters_of(arguments):
            inner.local(parameter)
        code.generator = not is_lambda and yields(node)
        code.span, code.text = self.text.span(node), self.text
        code.block = inner.body(node)
        code.run = inner.yielder(code.block) if code.generator else inner.runner(code.block)
        code.doc = None if is_lambda else ast.get_docstring(node, clean=False)
        defaults = [self.expression(default) for default in arguments.defaults]
        pairs = zip(code.by_name, arguments.kw_defaults, strict=True)
        by_name = [(parameter, self.expression(default)) for parameter, default in pairs if default]
        frees = code.frees

        def make(regs: Frame) -> Closure:
            return Closure(
                code,
                [regs[there] for _, there in frees],
                [plain(default(regs)) for default in defaults],
                {name: plain(default(regs)) for name, default in by_name},
                regs if regs[1] is None else regs[1],
            )

        return make

    def way(self, name: str) -> str:
        """Return the qualified name of what this scope defines: ``A.f``, ``outer.<locals>.inner``."""
        parts, scope = [name], self
        while scope.outer is not None:
            parts += [scope.code.name] if scope.is_class else ["<locals>", scope.code.name]
            scope = scope.outer
        return ".".join(reversed(parts))

    def comprehension(self, node: Any) -> Evaluate:
        """Return a comprehension: a scope of its own, whose first iterable is evaluated round it."""
        gather = GATHERED.get(type(node))
        inner = type(self)(self.text, node, self, type(node).__name__, None)
        inner.of = self.of
        first = self.expression(node.generators[0].iter)
        is_dict = isinstance(node, ast.DictComp)
        entry = inner.items([node.key, node.value] if is_dict else [node.elt])
        levels = [
            (
                inner.target(one.target),
                [inner.expression(test) for test in one.ifs],
                None if k == 0 else inner.expression(one.iter),
            )
            for k, one in enumerate(node.generators)
        ]
        code = inner.code

        def turns(regs: Frame, level: int, items: Any) -> Iterator[Any]:
            store, tests, _ = levels[level]
            run = regs[0]
            for item in walk(run, items):
                run.meter.turn()
                store(regs, item)
                if not all(truth(run, test(regs)) for test in tests):
                    continue
                if level + 1 < len(levels):
                    yield from turns(regs, level + 1, levels[level + 1][2](regs))  # type: ignore[misc]
                else:
                    yield entry(regs) if is_dict else entry(regs)[0]

        def run_it(regs: Frame) -> Any:
            frame = new_frame(code, regs)
            items = first(regs)
            made = turns(frame, 0, items)
            return regs[0].over(made, (items,)) if gather is None else gather(regs[0], made)

        return run_it

    of_ListComp = of_SetComp = of_DictComp = of_GeneratorExp = comprehension

    # ---- targets
    def target(self, node: ast.expr) -> Store:
        """Return what assigns a value to a target."""
        match node:
            case ast.Name(id=name):
                return self.store(name)
            case ast.Attribute() | ast.Subscript():
                is_item = isinstance(node, ast.Subscript)
                base, key = (
                    self.expression(node.value),
                    self.expression(node.slice) if isinstance(node, ast.Subscript) else None,
                )
                assign, attr, tell = (
                    put if is_item else assign_attribute,
                    getattr(node, "attr", ""),
                    self.note_place(node),
                )

                def run(regs: Frame, value: Any) -> None:
                    owner = base(regs)
                    place = attr if key is None else key(regs)
                    assign(regs[0], owner, place, value if tell is None else tell(regs, owner, place, value))

                return run
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                return self.several(elts)
        raise GradcliError("syntax", "this cannot be assigned to", span=self.text.span(node))

    def several(self, nodes: list[ast.expr]) -> Store:
        """Return what unpacks a value into several targets."""
        star = next((k for k, node in enumerate(nodes) if isinstance(node, ast.Starred)), None)
        parts = [self.target(node.value if isinstance(node, ast.Starred) else node) for node in nodes]

        def run(regs: Frame, value: Any) -> None:
            for part, item in zip(parts, unpacked(regs[0], value, len(parts), star), strict=True):
                part(regs, item)

        return run

    def note_place(self, node: ast.Attribute | ast.Subscript) -> Callable[[Frame, Any, Any, Any], Any] | None:
        """Return what notes an assignment to an attribute or an item: its owner, which of it, and the value."""
        note = self.text.tell
        if note is None:
            return None
        name, base = ast.unparse(node), ast.unparse(node.value)
        fixed = isinstance(node, ast.Attribute) or isinstance(node.slice, ast.Constant)

        def tell(regs: Frame, owner: Any, key: Any, value: Any) -> Any:
            computed = not fixed and isinstance(owner, dict | list) and isinstance(key, str | int)
            return note(regs, f"{base}[{key!r}]" if computed else name, value, (owner, key))

        return tell


GATHERED: dict[type, Callable[[Any, Iterator[Any]], Any]] = {
    ast.ListComp: lambda run, items: list(items),
    ast.SetComp: lambda run, items: {hashable(run, item) for item in items},
    ast.DictComp: lambda run, items: {hashable(run, key): value for key, value in items},
}
"""What comprehensions make of what they give; any other is walked over once."""


def mapping_of(run: Any, value: Any) -> dict[str, Any]:
    """Return what stands behind ``**`` in a call; raises TypeError for what has no names."""
    if not isinstance(value, dict):
        run.fail("TypeError", f"argument after ** must be a mapping, not {run.type_name(value)}")
    if not all(isinstance(key, str) for key in value):
        run.fail("TypeError", "keywords must be strings")
    return value  # type: ignore[no-any-return]


def comparison(op: ast.cmpop) -> Callable[[Any, Any, Any], Any]:
    """Return what one comparison does; small numbers and texts are one object for ``is``, as in Python."""

    def same(run: Any, a: Any, b: Any) -> bool:
        return a is b or (type(a) is type(b) and isinstance(a, int | str) and a == b)

    if isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn):
        test = same if isinstance(op, ast.Is | ast.IsNot) else contains
        return (lambda run, a, b: not test(run, a, b)) if isinstance(op, ast.IsNot | ast.NotIn) else test
    sign = SIGNS[type(op)]
    return lambda run, a, b: operate(run, sign, a, b)


class Text:
    """What all scopes of one text share: its places, its module's variables, and what it takes from outside.

    ``listed`` says that it is the user's own. ``tell`` notes each assignment where a run is recorded, and may give
    another value in its place.
    """

    def __init__(self, text: str, listed: bool, tell: Callable[..., Any] | None = None) -> None:
        self.positions = Spans(text)
        self.listed = listed
        self.tell = tell
        self.module: Expressions | None = None
        self.read: dict[str, ast.AST] = {}
        self.last: str | None = None
        self.called: set[str] = set()
        self.stars = any(line.strip().endswith("import *") for line in self.positions.lines)
        self.span = self.positions.of

    def free(self, given: Collection[str] = ()) -> dict[str, tuple[int, int]]:
        """Return the names that the text takes from outside, with their places: ``given`` and unknown ones.

        A function of a library counts as known only where it is called, as ``t`` may be a variable.
        """
        own = self.assigned()
        return {
            name: self.span(node)
            for name, node in self.read.items()
            if name not in own and (name in given or not (self.stars or is_known(name, name in self.called)))
        }

    def module_place(self, name: str) -> int:
        """Return the register of a variable in the frame of the module."""
        assert self.module is not None  # noqa: S101
        return self.module.local(name)

    def missing(self, regs: Frame, name: str) -> Any:
        """Raise the exception for a local variable without a value."""
        text = f"cannot access local variable '{name}' where it is not associated with a value"
        return regs[0].fail("UnboundLocalError", text)

    def outside(self, regs: Frame, name: str, place: int, node: ast.AST) -> Any:
        """Return what a name stands for that the module does not assign: a builtin or a library's name."""
        frame, assigned = (regs if regs[1] is None else regs[1]), name in self.assigned()
        value = global_name(regs[0], name, self.span(node) if self.listed else None, assigned)
        if not assigned:
            frame[place] = value
        return value

    def assigned(self) -> set[str]:
        """Return the names that the module assigns."""
        return self.module.names.assigned if self.module is not None else set()
