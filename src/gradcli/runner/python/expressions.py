"""Expressions of a script: from the syntax tree to closures that evaluate them over a frame."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.language.compiling import Compiler, Evaluate, Frame, Store
from gradcli.language.source import Spans
from gradcli.runner.names import Names, names_of, parameters_of, yields
from gradcli.runner.printing import format_value, to_repr, to_str
from gradcli.runner.python.attributes import attribute
from gradcli.runner.python.calls import call
from gradcli.runner.python.containers import subscript, take, unpacked, walk
from gradcli.runner.python.operators import binary, contains, equal, hashable, negative, operate, plain, sign_of, truth
from gradcli.runner.values import UNBOUND, Class, Closure, Code, Super

FIRST = 2
"""Registers that each frame begins with: the run, and the frame of the module."""


class Expressions(Compiler):
    """Compiles the expressions of one scope; ``outer`` is the compiler of the scope round it, None of the module.

    ``text`` is what all scopes of one text share.
    """

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
        if not self.is_class and name in self.names.assigned:
            return self.local(name)
        if not self.is_class and name in self.code.places:
            return self.code.places[name]
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
        told = self.text.told
        if kind == "own":

            def own(regs: Frame, value: Any) -> None:
                regs[k] = value

            def own_told(regs: Frame, value: Any) -> None:
                regs[k] = told(regs, name, value)  # type: ignore[misc]

            return own if told is None else own_told
        if kind == "cell":
            return lambda regs, value: regs[k].__setitem__(0, value if told is None else told(regs, name, value))
        return lambda regs, value: regs[1].__setitem__(k, value if told is None else told(regs, name, value))

    def load(self, node: ast.Name) -> Evaluate:
        """Return what reads a variable, a builtin or a library's name."""
        name = node.id
        kind, k = self.place(name)
        text = self.text
        if kind != "cell" and (kind == "module" or self.outer is None):
            text.read.setdefault(name, node)
        local = kind == "cell" or (kind == "own" and self.outer is not None)

        def absent(regs: Frame) -> Any:
            return text.missing(regs, name) if local else text.outside(regs, name, k, node)

        if kind == "own":

            def own(regs: Frame) -> Any:
                value = regs[k]
                return absent(regs) if value is UNBOUND else value

            return own
        if kind == "cell":

            def cell(regs: Frame) -> Any:
                value = regs[k][0]
                return absent(regs) if value is UNBOUND else value

            return cell

        def module(regs: Frame) -> Any:
            value = regs[1][k]
            return absent(regs) if value is UNBOUND else value

        return module

    of_Name = load  # noqa: N815

    # ---- expressions
    def refused(self, node: ast.AST) -> GradcliError:
        """Return the error for syntax that gradcli does not run."""
        return GradcliError("not-allowed", f"{type(node).__name__} is not understood", span=self.text.span(node))

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

    def of_Constant(self, node: ast.Constant) -> Evaluate:  # noqa: N802
        """Return a number, a text or another constant as it stands."""
        value = node.value
        if isinstance(value, complex):
            raise GradcliError("not-allowed", "complex numbers are not part of gradcli", span=self.text.span(node))
        return lambda regs: value

    def of_BinOp(self, node: ast.BinOp) -> Evaluate:  # noqa: N802
        """Return an operator of two operands."""
        (left, i), (right, j) = self.side(node.left), self.side(node.right)
        return binary(sign_of(type(node.op)), left, right, i, j)

    def of_Compare(self, node: ast.Compare) -> Evaluate:  # noqa: N802
        """Return a comparison; a chain stops at the first that does not hold."""
        parts = [self.expression(part) for part in (node.left, *node.comparators)]
        tests = [comparison(op) for op in node.ops]
        if len(tests) == 1:
            left, right = parts
            test = tests[0]
            return lambda regs: test(regs[0], left(regs), right(regs))

        def chain(regs: Frame) -> Any:
            left: Any = parts[0](regs)
            made: Any = True
            for one, part in zip(tests, parts[1:], strict=True):
                right = part(regs)
                made = one(regs[0], left, right)
                if not truth(regs[0], made):
                    return made
                left = right
            return made

        return chain

    def of_UnaryOp(self, node: ast.UnaryOp) -> Evaluate:  # noqa: N802
        """Return ``not``, or a sign before an operand."""
        value = self.expression(node.operand)
        if isinstance(node.op, ast.Not):
            return lambda regs: not truth(regs[0], value(regs))
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            number = node.operand.value
            if type(number) in (int, float):
                return lambda regs: -number  # type: ignore[operator]
        sign = sign_of(type(node.op))
        return lambda regs: negative(regs[0], value(regs), sign)

    def of_BoolOp(self, node: ast.BoolOp) -> Evaluate:  # noqa: N802
        """Return ``and`` or ``or``: operands are evaluated until one decides."""
        *first, last = [self.expression(part) for part in node.values]
        ends = isinstance(node.op, ast.Or)

        def run(regs: Frame) -> Any:
            for part in first:
                value = part(regs)
                if truth(regs[0], value) is ends:
                    return value
            return last(regs)

        return run

    def of_NamedExpr(self, node: ast.NamedExpr) -> Evaluate:  # noqa: N802
        """Return an assignment within an expression."""
        value = self.expression(node.value)
        store = self.store(node.target.id)

        def run(regs: Frame) -> Any:
            found = plain(value(regs))
            store(regs, found)
            return found

        return run

    def items(self, nodes: list[ast.expr]) -> Callable[[Frame], list[Any]]:
        """Return what evaluates several expressions, stars among them."""
        parts = [
            (isinstance(n, ast.Starred), self.expression(n.value if isinstance(n, ast.Starred) else n)) for n in nodes
        ]
        if not any(starred for starred, _ in parts):
            alone = [part for _, part in parts]
            return lambda regs: [plain(part(regs)) for part in alone]

        def run(regs: Frame) -> list[Any]:
            made: list[Any] = []
            for starred, part in parts:
                value = part(regs)
                made += take(regs[0], value) if starred else [plain(value)]
            return made

        return run

    def of_List(self, node: ast.List) -> Evaluate:  # noqa: N802
        """Return a list display."""
        return self.items(node.elts)

    def of_Tuple(self, node: ast.Tuple) -> Evaluate:  # noqa: N802
        """Return a tuple display."""
        items = self.items(node.elts)
        return lambda regs: tuple(items(regs))

    def of_Set(self, node: ast.Set) -> Evaluate:  # noqa: N802
        """Return a set display."""
        items = self.items(node.elts)
        return lambda regs: {hashable(regs[0], item) for item in items(regs)}

    def of_Dict(self, node: ast.Dict) -> Evaluate:  # noqa: N802
        """Return a dictionary display; ``**`` puts in another one."""
        pairs = [
            (None if key is None else self.expression(key), self.expression(value))
            for key, value in zip(node.keys, node.values, strict=True)
        ]

        def run(regs: Frame) -> dict[Any, Any]:
            made: dict[Any, Any] = {}
            for key, value in pairs:
                if key is None:
                    made.update(value(regs))
                else:
                    place = hashable(regs[0], key(regs))
                    made[place] = plain(value(regs))
            return made

        return run

    def of_Subscript(self, node: ast.Subscript) -> Evaluate:  # noqa: N802
        """Return ``base[key]``."""
        base, key = self.expression(node.value), self.expression(node.slice)
        return lambda regs: subscript(regs[0], base(regs), key(regs))

    def of_Slice(self, node: ast.Slice) -> Evaluate:  # noqa: N802
        """Return a slice of its three bounds."""
        parts = [self.expression(p) if p else (lambda regs: None) for p in (node.lower, node.upper, node.step)]
        return lambda regs: slice(*[part(regs) for part in parts])

    def of_Attribute(self, node: ast.Attribute) -> Evaluate:  # noqa: N802
        """Return what reads an attribute."""
        base, name = self.expression(node.value), node.attr
        return lambda regs: attribute(regs[0], base(regs), name)

    def of_Lambda(self, node: ast.Lambda) -> Evaluate:  # noqa: N802
        """Return what makes a function without a name."""
        return self.function(node, "<lambda>", None)

    def of_Starred(self, node: ast.Starred) -> Evaluate:  # noqa: N802
        """Refuse a star that stands alone."""
        raise GradcliError("syntax", "a star stands here alone", span=self.text.span(node))

    def of_JoinedStr(self, node: ast.JoinedStr) -> Evaluate:  # noqa: N802
        """Return an f-string of its pieces."""
        parts = [self.piece(part) for part in node.values]

        def joined(regs: Frame) -> str:
            texts = [part(regs) for part in parts]
            regs[0].bound(sum(map(len, texts)), "a text is too long")
            return "".join(texts)

        return joined

    def piece(self, node: ast.expr) -> Evaluate:
        """Return what gives one piece of an f-string."""
        if isinstance(node, ast.Constant):
            text = node.value
            return lambda regs: text
        if not isinstance(node, ast.FormattedValue):
            raise GradcliError("not-allowed", "this is not understood in an f-string", span=self.text.span(node))
        value = self.expression(node.value)
        spec = self.expression(node.format_spec) if node.format_spec is not None else lambda regs: ""
        if node.conversion in (ord("r"), ord("a")):
            return lambda regs: format_value(regs[0], to_repr(regs[0], value(regs)), spec(regs))
        if node.conversion == ord("s"):
            return lambda regs: format_value(regs[0], to_str(regs[0], value(regs)), spec(regs))
        return lambda regs: format_value(regs[0], plain(value(regs)), spec(regs))

    def of_Call(self, node: ast.Call) -> Evaluate:  # noqa: N802
        """Return a call; one of the user's own lines is noted."""
        if isinstance(node.func, ast.Name) and node.func.id == "super" and self.of is not None:
            return self.super_call(node)
        function = self.expression(node.func)
        if isinstance(node.func, ast.Name):
            self.text.called.add(node.func.id)
        line, listed = node.lineno, self.text.listed
        starred = any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)
        if starred:
            return self.starred_call(node, function)
        parts = [self.expression(argument) for argument in node.args]
        named = [(str(keyword.arg), self.expression(keyword.value)) for keyword in node.keywords]
        if not listed:
            return lambda regs: call(
                regs[0], function(regs), [plain(p(regs)) for p in parts], {n: plain(v(regs)) for n, v in named}
            )

        def run(regs: Frame) -> Any:
            what = function(regs)
            arguments = [plain(part(regs)) for part in parts]
            options = {name: plain(value(regs)) for name, value in named} if named else {}
            regs[0].line = line
            return call(regs[0], what, arguments, options)

        return run

    def starred_call(self, node: ast.Call, function: Evaluate) -> Evaluate:
        """Return a call with stars among its arguments."""
        items, line = self.items(node.args), node.lineno
        named = [(keyword.arg, self.expression(keyword.value)) for keyword in node.keywords]
        listed = self.text.listed

        def run(regs: Frame) -> Any:
            what, arguments = function(regs), items(regs)
            options: dict[str, Any] = {}
            for name, value in named:
                options |= mapping_of(regs[0], value(regs)) if name is None else {name: plain(value(regs))}
            if listed:
                regs[0].line = line
            return call(regs[0], what, arguments, options)

        return run

    def super_call(self, node: ast.Call) -> Evaluate:
        """Return what ``super()`` gives in a method."""
        holder = self.of if self.of is not None else []
        if len(node.args) == 2:
            kind, owner = map(self.expression, node.args)
            return lambda regs: Super(owner(regs), kind(regs))
        method: Expressions = self
        while method.outer is not None and not method.code.positional and method.outer.of is holder:
            method = method.outer
        first = ast.copy_location(ast.Name(method.code.positional[0], ast.Load()), node)
        me = self.expression(first)
        around = self.expression(ast.copy_location(ast.Name("__class__", ast.Load()), node))
        return lambda regs: Super(me(regs), around(regs))

    def of_Yield(self, node: ast.Yield) -> Evaluate:  # noqa: N802
        """Refuse a yield within an expression."""
        raise GradcliError(
            "not-allowed",
            "a yield within an expression is not understood",
            span=self.text.span(node),
            hint="write it as a statement of its own, or name = yield value",
        )

    # ---- functions and comprehensions
    def function(self, node: Any, name: str, of: list[Class] | None) -> Evaluate:
        """Return what makes a function of its code, with the cells that it shares."""
        inner = type(self)(self.text, node, self, name, of if of is not None else self.of)
        arguments, code = node.args, inner.code
        code.qualified = self.way(name)
        code.positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        code.by_position_alone = len(arguments.posonlyargs)
        code.by_name = [a.arg for a in arguments.kwonlyargs]
        code.rest = arguments.vararg.arg if arguments.vararg else None
        code.options = arguments.kwarg.arg if arguments.kwarg else None
        for parameter in parameters_of(arguments):
            inner.local(parameter)
        code.generator = yields(node) if not isinstance(node, ast.Lambda) else False
        code.span = self.text.span(node)
        code.text = self.text
        code.block = inner.body(node)
        code.run = inner.yielder(code.block) if code.generator else inner.runner(code.block)
        if not isinstance(node, ast.Lambda):
            code.doc = ast.get_docstring(node, clean=False)
        defaults = [self.expression(default) for default in arguments.defaults]
        by_name = [
            (a.arg, self.expression(d)) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d
        ]
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

    body: Callable[..., list[Any]]
    yielder: Callable[..., Callable[[Frame], Any]]

    def entry(self, node: Any) -> Evaluate:
        """Return what a comprehension gives in each turn."""
        if isinstance(node, ast.DictComp):
            key, value = self.expression(node.key), self.expression(node.value)
            return lambda regs: (plain(key(regs)), plain(value(regs)))
        element = self.expression(node.elt)
        return lambda regs: plain(element(regs))

    def comprehension(self, node: Any) -> Evaluate:
        """Return a comprehension: a scope of its own, whose first iterable is evaluated round it."""
        gather = GATHERED.get(type(node))
        inner = type(self)(self.text, node, self, type(node).__name__, None)
        inner.of = self.of
        first = self.expression(node.generators[0].iter)
        entry = inner.entry(node)
        levels = [
            (
                inner.target(one.target),
                [inner.expression(test) for test in one.ifs],
                None if k == 0 else inner.expression(one.iter),
            )
            for k, one in enumerate(node.generators)
        ]
        code, frees = inner.code, inner.code.frees

        def turns(regs: Frame, level: int, items: Any) -> Iterator[Any]:
            store, tests, _ = levels[level]
            run = regs[0]
            for item in walk(run, items):
                run.meter.turn()
                store(regs, item)
                if not all(truth(run, test(regs)) for test in tests):
                    continue
                if level + 1 == len(levels):
                    yield entry(regs)
                else:
                    yield from turns(regs, level + 1, levels[level + 1][2](regs))  # type: ignore[misc]

        def run_it(regs: Frame) -> Any:
            frame = code.template.copy()
            frame[0], frame[1] = regs[0], regs if regs[1] is None else regs[1]
            for place in code.cells:
                frame[place] = [UNBOUND]
            for here, there in frees:
                frame[here] = regs[there]
            items = first(regs)
            made = turns(frame, 0, items)
            return regs[0].over(made, (items,)) if gather is None else gather(regs[0], made)

        return run_it

    of_ListComp = of_SetComp = of_DictComp = of_GeneratorExp = comprehension  # noqa: N815

    # ---- targets
    def target(self, node: ast.expr) -> Store:
        """Return what assigns a value to a target."""
        match node:
            case ast.Name(id=name):
                return self.store(name)
            case ast.Attribute(attr=name):
                from gradcli.runner.python.attributes import assign_attribute

                base = self.expression(node.value)
                told = self.text.told_place(node)

                def assign(regs: Frame, value: Any) -> None:
                    owner = base(regs)
                    assign_attribute(regs[0], owner, name, told(regs, owner, name, value))

                return assign
            case ast.Subscript():
                from gradcli.runner.python.containers import put

                base, key = self.expression(node.value), self.expression(node.slice)
                told = self.text.told_place(node)

                def assign_item(regs: Frame, value: Any) -> None:
                    owner, place = base(regs), key(regs)
                    put(regs[0], owner, place, told(regs, owner, place, value))

                return assign_item
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


GATHERED: dict[type, Callable[[Any, Iterator[Any]], Any]] = {
    ast.ListComp: lambda run, items: list(items),
    ast.SetComp: lambda run, items: {hashable(run, item) for item in items},
    ast.DictComp: lambda run, items: {hashable(run, key): value for key, value in items},
}
"""What comprehensions make of what they give; any other is walked over once."""


def mapping_of(run: Any, value: Any) -> dict[str, Any]:
    """Return what stands behind ``**`` in a call; raises TypeError for what has no names."""
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return value
    if isinstance(value, dict):
        run.fail("TypeError", "keywords must be strings")
    message = f"argument after ** must be a mapping, not {run.type_name(value)}"
    return run.fail("TypeError", message)  # type: ignore[no-any-return]


def comparison(op: ast.cmpop) -> Callable[[Any, Any, Any], Any]:
    """Return what one comparison does."""
    match op:
        case ast.Is():
            return lambda run, a, b: is_same(a, b)
        case ast.IsNot():
            return lambda run, a, b: not is_same(a, b)
        case ast.In():
            return contains
        case ast.NotIn():
            return lambda run, a, b: not contains(run, a, b)
    sign = sign_of(type(op))
    return lambda run, a, b: operate(run, sign, a, b)


def is_same(a: Any, b: Any) -> bool:
    """Return what ``is`` says; small numbers and texts are one object in Python too."""
    return a is b or (type(a) is type(b) and isinstance(a, int | str) and a == b)


class Text:
    """What all scopes of one text share: its places, its module's variables, and what it takes from outside.

    ``listed`` says that it is the user's own. ``told`` is told of each assignment where a run is recorded, and may give
    another value in its place.
    """

    def __init__(self, text: str, listed: bool, told: Callable[..., Any] | None = None) -> None:
        self.positions = Spans(text)
        self.listed = listed
        self.told = told
        self.module: Expressions | None = None
        self.read: dict[str, ast.AST] = {}
        self.last: str | None = None
        self.called: set[str] = set()

    def free(self, given: Collection[str] = ()) -> dict[str, tuple[int, int]]:
        """Return the names that the text takes from outside, with their places: ``given`` and unknown ones.

        A function of a library counts as known only where it is called, as ``t`` may be a variable.
        """
        from gradcli.runner.names import is_known

        own = self.assigned()
        return {
            name: self.span(node)
            for name, node in self.read.items()
            if name not in own and (name in given or not (self.stars or is_known(name, name in self.called)))
        }

    @property
    def stars(self) -> bool:
        """Whether the text imports all names of a module."""
        return any(line.strip().endswith("import *") for line in self.positions.lines)

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return the characters that a node covers."""
        return self.positions.of(node)

    def told_place(self, node: ast.Attribute | ast.Subscript) -> Callable[[Frame, Any, Any, Any], Any]:
        """Return what is told of an assignment to an attribute or an item: its owner, which of it, and the value."""
        told = self.told
        if told is None:
            return lambda regs, owner, key, value: value
        name, base = ast.unparse(node), ast.unparse(node.value)
        fixed = isinstance(node, ast.Attribute) or isinstance(node.slice, ast.Constant)

        def tell(regs: Frame, owner: Any, key: Any, value: Any) -> Any:
            computed = not fixed and isinstance(owner, dict | list) and isinstance(key, str | int)
            return told(regs, f"{base}[{key!r}]" if computed else name, value, (owner, key))

        return tell

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
        from gradcli.runner.names import global_name

        frame, assigned = (regs if regs[1] is None else regs[1]), name in self.assigned()
        value = global_name(regs[0], name, self.span(node) if self.listed else None, assigned)
        if not assigned:
            frame[place] = value
        return value

    def assigned(self) -> set[str]:
        """Return the names that the module assigns."""
        return self.module.names.assigned if self.module is not None else set()


__all__ = ["Expressions", "Text", "equal"]
