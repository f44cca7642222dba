"""Statements of a script: from the syntax tree to closures that run over a frame.

A method ``run_Name`` returns what runs a simple statement, ``steps_Name`` a compound one. A statement gives None, or
what leaves the block that it stands in: ``BREAK``, ``NEXT``, or what a function returns in a tuple of one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from gradcli.errors import GradcliError
from gradcli.language.compiling import BREAK, NEXT, Block, Signal, Step, Store
from gradcli.runner.exceptions import Raised, exception_class, of_host, raised, raised_of
from gradcli.runner.names import Yields, imported, imported_from, yields
from gradcli.runner.python.builtins import is_kind
from gradcli.runner.python.calls import make_class
from gradcli.runner.python.containers import CHANGING, augmented, delete, put, steady, subscript, take, walk
from gradcli.runner.python.expressions import Expressions, Text
from gradcli.runner.python.operators import SIGNS, equal, plain, truth
from gradcli.runner.state import Run
from gradcli.runner.values import (
    UNBOUND,
    Class,
    Context,
    Evaluate,
    Foreign,
    Frame,
    Instance,
    Tensor,
    ask,
    new_frame,
    own,
)

Steps = Generator[Any, Any, Signal]
"""What runs a statement that may yield: it yields what that yields, and returns its signal."""
HOST_ERRORS = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError)
"""What numpy raises of values that no check has refused before: exceptions of the script."""


class Part(NamedTuple):
    """A block within a statement: what runs it, and whether that gives ``Steps`` in the place of a signal."""

    run: Callable[[Frame], Any]
    yields: bool

    def steps(self, regs: Frame) -> Steps:
        """Run it as a part of a statement that may yield."""
        return (yield from self.run(regs)) if self.yields else self.run(regs)


class Handler(NamedTuple):
    """One ``except`` clause: what gives its classes, what binds the exception, and its body."""

    kinds: Evaluate | None
    store: Any
    body: Part

    def fits(self, regs: Frame, error: Raised) -> bool:
        """Return whether an exception is of its classes."""
        return self.kinds is None or fits(error.instance, self.kinds(regs))


def fits(instance: Instance, kinds: Any) -> bool:
    """Return whether an exception is of a class, or of one of several."""
    parts = kinds if isinstance(kinds, tuple) else (kinds,)
    return any(isinstance(kind, Class) and instance.kind.is_a(kind) for kind in parts)


@contextmanager
def handled(regs: Frame, handler: Handler, error: Raised, text: Text) -> Iterator[None]:
    """Note that an exception is handled, and give it its name, while a clause runs."""
    run: Run = regs[0]
    error.__context__ = None  # the host follows all that are handled at once whenever it raises another
    if text.listed:
        run.caught(error)
    run.handling.append(error)
    try:
        if handler.store is not None:
            handler.store(regs, error.instance)
        yield
    except Raised as another:
        if another.instance is not error.instance:
            another.instance.fields.setdefault("__context__", error.instance)
        raise
    finally:
        run.handling.pop()
        if handler.store is not None:
            handler.store(regs, UNBOUND)


def enter(run: Run, context: Any) -> tuple[Any, Callable[[Run, Raised | None], bool]]:
    """Enter what stands behind ``with``, and return what ``as`` names and what leaves it."""
    if isinstance(context, Context):
        return context.enter(run), context.leave_by
    if own(context, "__exit__") is not UNBOUND:

        def leave(run: Run, error: Raised | None) -> bool:
            parts = (None, None, None) if error is None else (error.instance.kind, error.instance, None)
            return truth(run, ask(run, context, "__exit__", *parts))

        return ask(run, context, "__enter__"), leave
    if isinstance(context, Foreign):
        return context, lambda run, error: False
    message = f"'{run.type_name(context)}' object does not support the context manager protocol"
    return run.fail("TypeError", message)  # type: ignore[no-any-return]


def execute(text: Text, block: Block, regs: Frame) -> Signal:
    """Run statements; an error gets the place of the user's own statement where it arose."""
    node: Any = None
    try:
        for run, node, _ in block:  # noqa: B007
            signal = run(regs)
            if signal is not None:
                return signal
    except GradcliError as error:
        if text.listed:
            error.at(text.span(node))
        raise
    except Raised as error:
        if text.listed and not error.line:
            error.line = node.lineno if not isinstance(node, ast.Expr | ast.Assign) else max(regs[0].line, node.lineno)
        raise
    except HOST_ERRORS as error:
        made = of_host(error) if text.listed else None
        if made is None:
            raise
        made.line = max(regs[0].line, node.lineno)
        raise made from error
    return None


def execute_yielding(block: Block, regs: Frame) -> Steps:
    """Run statements of a generator; what it yields is yielded, and its signal returned."""
    for run, _node, yields_ in block:
        signal = (yield from run(regs)) if yields_ else run(regs)
        if signal is not None:
            return signal
    return None


def drained(steps: Callable[[Frame], Steps]) -> Callable[[Frame], Signal]:
    """Return what runs a statement that nothing yields in."""

    def run(regs: Frame) -> Signal:
        try:
            next(steps(regs))
        except StopIteration as ended:
            return ended.value
        return None

    return run


class Statements(Expressions):
    """Compiles the statements of one scope."""

    annotated: dict[str, str]

    def body(self, node: Any) -> Block:
        """Return the block of a function; a lambda returns its expression."""
        if isinstance(node, ast.Lambda):
            value = self.expression(node.body)
            return [Step(lambda regs: (value(regs),), ast.copy_location(ast.Pass(), node))]
        return self.block(node.body)

    def yielder(self, block: Block) -> Callable[[Frame], Iterator[Any]]:
        """Return what runs the block of a generator over a frame."""
        return lambda regs: execute_yielding(block, regs)

    def runner(self, block: Block) -> Callable[[Frame], Signal]:
        """Return what runs a block; one expression that is returned needs no more."""
        text = self.text
        if len(block) == 1 and isinstance(block[0].node, ast.Return | ast.Pass) and not text.listed:
            return block[0].run
        return lambda regs: execute(text, block, regs)

    def block(self, body: list[ast.stmt]) -> Block:
        """Return statements ready to run."""
        steps = []
        for node in body:
            defines = self.outer is None or isinstance(node, ast.FunctionDef | ast.ClassDef)
            of_generator = not defines and yields(node)
            steps.append(Step(self.yielding(node) if of_generator else self.statement(node), node, of_generator))
        return steps

    def part(self, body: list[ast.stmt]) -> Part:
        """Return the block of a statement."""
        block, text = self.block(body), self.text
        if any(step.yields for step in block):
            return Part(lambda regs: execute_yielding(block, regs), yields=True)
        return Part((lambda regs: execute(text, block, regs)) if block else (lambda regs: None), yields=False)

    def statement(self, node: ast.stmt) -> Callable[[Frame], Signal]:
        """Return what runs one statement."""
        compound = getattr(self, f"steps_{type(node).__name__}", None)
        return super().statement(node) if compound is None else drained(compound(node))

    def run_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        raise self.refused(node, "async functions: not understood")

    # ---- simple statements
    def run_Expr(self, node: ast.Expr) -> Any:
        value = self.expression(node.value)

        def run(regs: Frame) -> None:
            value(regs)

        return run

    def run_Assign(self, node: ast.Assign) -> Any:
        value, targets = self.expression(node.value), [self.target(target) for target in node.targets]
        if len(targets) == 1:
            store = targets[0]
            is_place = isinstance(node.targets[0], ast.Attribute | ast.Subscript)
            return self.on_its_line(node, lambda regs: store(regs, plain(value(regs))), is_place)

        def run(regs: Frame) -> None:
            made = plain(value(regs))
            for store in targets:
                store(regs, made)

        return run

    def on_its_line(self, node: ast.stmt, do: Callable[[Frame], Any], noted: bool = True) -> Callable[[Frame], Any]:
        """Return what runs a statement that may write to a tensor without a call: its line is noted."""
        line = node.lineno

        def run(regs: Frame) -> Any:
            regs[0].line = line
            return do(regs)

        return run if noted and self.text.listed else do

    def run_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if self.is_class and isinstance(node.target, ast.Name):
            self.annotated[node.target.id] = ast.unparse(node.annotation)
        if node.value is None:
            return lambda regs: None
        value, store = self.expression(node.value), self.target(node.target)
        return lambda regs: store(regs, plain(value(regs)))

    def run_AugAssign(self, node: ast.AugAssign) -> Any:
        sign, change, target = SIGNS[type(node.op)], self.expression(node.value), node.target
        if isinstance(target, ast.Subscript):
            base, key = self.expression(target.value), self.expression(target.slice)
            tell = self.note_place(target)

            def run_entry(regs: Frame) -> None:
                run, owner, place = regs[0], base(regs), key(regs)
                before = subscript(run, owner, place)
                after = augmented(run, sign, before, change(regs))
                if after is not before or not isinstance(before, Tensor) or before.base is None:
                    put(run, owner, place, after if tell is None else tell(regs, owner, place, after))
                elif isinstance(owner, Tensor) and owner.library == "torch":
                    owner.root.version += 1  # PyTorch changes entries, and then assigns them to themselves
                    _ = owner.node

            return self.on_its_line(node, run_entry)
        load, store = self.expression(as_load(target)), self.target(target)

        def run(regs: Frame) -> None:
            before = load(regs)
            store(regs, augmented(regs[0], sign, plain(before), plain(change(regs))))

        return self.on_its_line(node, run)

    def run_Global(self, _node: ast.Global | ast.Nonlocal) -> Any:
        return lambda regs: None

    run_Nonlocal = run_Global

    def run_Return(self, node: ast.Return) -> Any:
        value = self.optional(node.value)
        return lambda regs: (plain(value(regs)),)

    def run_Delete(self, node: ast.Delete) -> Any:
        parts = [self.deletion(target) for target in node.targets]
        return self.on_its_line(node, lambda regs: [part(regs) for part in parts] and None)

    def deletion(self, target: ast.expr) -> Callable[[Frame], Any]:
        """Return what deletes one target; a variable without a value raises what reading it does."""
        match target:
            case ast.Subscript():
                base, key = self.expression(target.value), self.expression(target.slice)
                return lambda regs: delete(regs[0], base(regs), key(regs))
            case ast.Attribute(attr=name):
                owner = self.expression(target.value)
                return lambda regs: regs[0].delete_attribute(owner(regs), name)
            case ast.Name(id=name):
                load, store = self.expression(as_load(target)), self.store(name)
                return lambda regs: (load(regs), store(regs, UNBOUND))
        parts = [self.deletion(part) for part in target.elts]  # type: ignore[attr-defined]  # ``del (a, b)``
        return lambda regs: [part(regs) for part in parts]

    def run_Assert(self, node: ast.Assert) -> Any:
        test, message = self.expression(node.test), self.expression(node.msg) if node.msg else None

        def run(regs: Frame) -> None:
            if not truth(regs[0], test(regs)):
                raise raised("AssertionError", *(() if message is None else (message(regs),)))

        return run

    def run_Raise(self, node: ast.Raise) -> Any:
        what, cause = self.optional(node.exc), self.expression(node.cause) if node.cause is not None else None

        def run(regs: Frame) -> None:
            if node.exc is None:
                if not regs[0].handling:
                    regs[0].fail("RuntimeError", "No active exception to reraise")
                raise regs[0].handling[-1]
            made = what(regs)
            if isinstance(made, Class):
                made = regs[0].call(made)
            if not isinstance(made, Instance) or not made.kind.is_a(exception_class("BaseException")):
                regs[0].fail("TypeError", "exceptions must derive from BaseException")
            if cause is not None:
                because = cause(regs)
                made.fields["__cause__"] = regs[0].call(because) if isinstance(because, Class) else because
            raise Raised(made)

        return run

    def run_Import(self, node: ast.Import) -> Any:
        names = [(item.name, item.name if item.asname else item.name.partition(".")[0]) for item in node.names]
        stores = [self.store(item.asname or name) for item, (_, name) in zip(node.names, names, strict=True)]

        def run(regs: Frame) -> None:
            for store, (whole, name) in zip(stores, names, strict=True):
                store(regs, imported(regs[0], name, whole))

        return run

    def run_ImportFrom(self, node: ast.ImportFrom) -> Any:
        module = node.module or ""
        if any(item.name == "*" for item in node.names):
            names = ["matplotlib.pyplot", "numpy", "numpy.random"] if module.endswith("pylab") else [module]
            return lambda regs: regs[0].stars.extend(names)
        parts = [(item.name, self.store(item.asname or item.name)) for item in node.names]

        def run(regs: Frame) -> None:
            for name, store in parts:
                store(regs, imported_from(regs[0], module, name))

        return run

    # ---- definitions
    def decorated(self, nodes: list[ast.expr], store: Store, make: Evaluate) -> Callable[[Frame], None]:
        """Return what makes a function or a class, decorates it and binds it."""
        decorators = [self.expression(decorator) for decorator in reversed(nodes)]

        def run(regs: Frame) -> None:
            made = make(regs)
            for decorator in decorators:
                made = regs[0].call(decorator(regs), [made])
            store(regs, made)

        return run

    def run_FunctionDef(self, node: ast.FunctionDef) -> Any:
        store, make = self.store(node.name), self.function(node, node.name, self.of if self.is_class else None)
        return self.decorated(node.decorator_list, store, make)

    def run_ClassDef(self, node: ast.ClassDef) -> Any:
        store, bases = self.store(node.name), [self.expression(base) for base in node.bases]
        inner = type(self)(self.text, node, self, node.name, [])
        inner.annotated = {}
        block, text, code, places = inner.block(node.body), self.text, inner.code, inner.code.places
        doc = ast.get_docstring(node, clean=False)
        keywords = [(keyword.arg, self.expression(keyword.value)) for keyword in node.keywords if keyword.arg]

        def make(regs: Frame) -> Class:
            frame = new_frame(code, regs)
            execute(text, block, frame)
            values = {name: frame[k] for name, k in places.items() if name in inner.names.assigned}
            members = {name: value for name, value in values.items() if value is not UNBOUND}
            if doc is not None:
                members.setdefault("__doc__", doc)
            options = {name: value(regs) for name, value in keywords}
            kinds = [base(regs) for base in bases]
            made = make_class(regs[0], node.name, kinds, members, inner.annotated, options)
            if "__class__" in places:
                frame[places["__class__"]][0] = made
            return made

        return self.decorated(node.decorator_list, store, make)

    # ---- compound statements
    def steps_Match(self, node: ast.Match) -> Callable[[Frame], Steps]:
        subject = self.expression(node.subject)
        cases = [
            (pattern(self, case.pattern), self.expression(case.guard) if case.guard else None, self.part(case.body))
            for case in node.cases
        ]

        def steps(regs: Frame) -> Steps:
            value = plain(subject(regs))
            for test, guard, body in cases:
                if test(regs, value) and (guard is None or truth(regs[0], guard(regs))):
                    return (yield from body.steps(regs))
            return None

        return steps

    def steps_While(self, node: ast.While) -> Callable[[Frame], Steps]:
        test = self.test(node)

        def turns(regs: Frame) -> Iterator[None]:
            while test(regs):
                yield None

        return self.loop(node, turns, lambda regs, item: None)

    def steps_For(self, node: ast.For) -> Callable[[Frame], Steps]:
        iterable, store = self.expression(node.iter), self.target(node.target)
        self.code.loops |= {part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)}

        def turns(regs: Frame) -> Any:
            items = walk(regs[0], iterable(regs))
            return steady(regs[0], items) if isinstance(items, CHANGING) else items

        return self.loop(node, turns, store)

    def loop(self, node: ast.For | ast.While, turns: Callable[[Frame], Any], store: Any) -> Callable[[Frame], Steps]:
        """Return a loop over what ``turns`` gives, each of which is stored."""
        (body, of_generator), otherwise = self.part(node.body), self.part(node.orelse)

        def steps(regs: Frame) -> Steps:
            turn = regs[0].meter.turn
            for item in turns(regs):
                turn()
                store(regs, item)
                signal = (yield from body(regs)) if of_generator else body(regs)
                if signal is not None and signal is not NEXT:
                    return None if signal is BREAK else signal
            return (yield from otherwise.steps(regs))

        return steps

    def steps_With(self, node: ast.With) -> Callable[[Frame], Steps]:
        first, *rest = node.items
        context = self.expression(first.context_expr)
        store = self.target(first.optional_vars) if first.optional_vars is not None else None
        body = self.part([ast.copy_location(ast.With(rest, node.body), node)] if rest else node.body)

        def steps(regs: Frame) -> Steps:
            value, leave = enter(regs[0], context(regs))
            if store is not None:
                store(regs, value)
            try:
                signal = yield from body.steps(regs)
            except (Raised, GradcliError) as error:
                exception = raised_of(error)
                if exception is None or not leave(regs[0], exception):
                    raise
                return None
            leave(regs[0], None)
            return signal

        return steps

    def attempt(self, node: ast.Try) -> Callable[[Frame], Steps]:
        """Return a ``try`` without what comes last."""
        body, otherwise, text = self.part(node.body), self.part(node.orelse), self.text
        handlers = [
            Handler(
                self.expression(one.type) if one.type is not None else None,
                self.store(one.name) if one.name else None,
                self.part(one.body),
            )
            for one in node.handlers
        ]

        def steps(regs: Frame) -> Steps:
            try:
                signal = yield from body.steps(regs)
            except (Raised, GradcliError, GeneratorExit) as error:
                made = raised("GeneratorExit", "") if isinstance(error, GeneratorExit) else raised_of(error)
                if made is None:
                    raise
                if isinstance(error, GradcliError):
                    made.line = regs[0].line
                handler = next((one for one in handlers if one.fits(regs, made)), None)
                if handler is None and isinstance(error, GradcliError):
                    raise made from error
                if handler is None:
                    raise
                with handled(regs, handler, made, text):
                    return (yield from handler.body.steps(regs))
            return (yield from otherwise.steps(regs)) if signal is None else signal

        return steps

    def steps_Try(self, node: ast.Try) -> Callable[[Frame], Steps]:
        attempt, last = self.attempt(node), self.part(node.finalbody)
        if not node.finalbody:
            return attempt

        def steps(regs: Frame) -> Steps:
            try:
                signal = yield from attempt(regs)
            except (Raised, GradcliError) as error:
                if raised_of(error) is None:
                    raise
                error.__context__ = None
                ended = yield from last.steps(regs)
                if ended is not None:
                    return ended
                raise
            except GeneratorExit:
                if not last.yields:
                    last.run(regs)
                raise
            ended = yield from last.steps(regs)
            return signal if ended is None else ended

        return steps

    # ---- generators
    def yielding(self, node: ast.stmt) -> Callable[[Frame], Iterator[Any]]:
        """Return what runs a statement of a generator that yields somewhere in it."""
        if isinstance(node, ast.Expr | ast.Assign) and isinstance(node.value, ast.Yield | ast.YieldFrom):
            return self.yield_statement(node, node.value)
        if isinstance(node, ast.If):
            test, yes, no = self.test(node), self.block(node.body), self.block(node.orelse)
            return lambda regs: execute_yielding(yes if test(regs) else no, regs)
        compound = getattr(self, f"steps_{type(node).__name__}", None)
        return self.yield_within(node) if compound is None else compound(node)

    def yield_statement(
        self, node: ast.Expr | ast.Assign, yielded: ast.Yield | ast.YieldFrom
    ) -> Callable[[Frame], Iterator[Any]]:
        """Return a statement that yields a value, or those of another generator."""
        value, several = self.optional(yielded.value), isinstance(yielded, ast.YieldFrom)
        store = self.target(node.targets[0]) if isinstance(node, ast.Assign) else None

        def run(regs: Frame) -> Iterator[Any]:
            if several:
                sent = yield from walk(regs[0], value(regs))
            else:
                sent = yield plain(value(regs))
            if store is not None:
                store(regs, sent)

        return run

    def yield_within(self, node: ast.stmt) -> Callable[[Frame], Iterator[Any]]:
        """Return a statement that yields within an expression: what it is sent gets a name of its own first."""
        if not isinstance(node, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return | ast.Assert):
            raise self.refused(node, "a yield here is not understood")
        steps: list[ast.stmt] = []
        changed = Yields(self.names.assigned, steps).visit(ast.parse(ast.unparse(node)).body[0])
        for step in (*steps, changed):
            for part in ast.walk(step):
                ast.copy_location(part, node)
        block = self.block([*steps, changed])
        return lambda regs: execute_yielding(block, regs)


def as_load(target: ast.expr) -> ast.expr:
    """Return a target as an expression that reads it."""
    match target:
        case ast.Name(id=name):
            return ast.copy_location(ast.Name(name, ast.Load()), target)
        case ast.Attribute(value=value, attr=name):
            return ast.copy_location(ast.Attribute(value, name, ast.Load()), target)
    return target


# ---- ``match``: what a pattern tests and binds
Test = Callable[[Frame, Any], bool]
"""Whether a value fits a pattern; names of the pattern are bound on the way."""
BY_VALUE = ("bool", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple")
"""Classes whose one positional pattern is the value itself."""


def pattern(scope: Any, node: ast.pattern) -> Test:
    """Return what tests a pattern."""
    match node:
        case ast.MatchValue():
            value = scope.expression(node.value)
            return lambda regs, x: equal(regs[0], x, value(regs))
        case ast.MatchSingleton():
            return lambda regs, x: x is node.value
        case ast.MatchSequence():
            return sequence(scope, node.patterns)
        case ast.MatchMapping():
            return mapping(scope, node)
        case ast.MatchClass():
            return of_class(scope, node)
        case ast.MatchOr():
            parts = [pattern(scope, part) for part in node.patterns]
            return lambda regs, x: any(part(regs, x) for part in parts)
    return named(scope, node)


def named(scope: Any, node: Any) -> Test:
    """Return a pattern that binds a name, or nothing."""
    inner = pattern(scope, node.pattern) if isinstance(node, ast.MatchAs) and node.pattern is not None else None
    store = scope.store(node.name) if node.name is not None else None

    def run(regs: Frame, x: Any) -> bool:
        if inner is not None and not inner(regs, x):
            return False
        if store is not None:
            store(regs, x)
        return True

    return run


def sequence(scope: Any, nodes: list[ast.pattern]) -> Test:
    """Return a pattern of items, one of which may stand for any number."""
    star = next((k for k, node in enumerate(nodes) if isinstance(node, ast.MatchStar)), None)
    parts = [pattern(scope, node) for node in nodes]

    def run(regs: Frame, x: Any) -> bool:
        if not isinstance(x, list | tuple | range | Tensor):
            return False
        items = take(regs[0], x)
        more = len(items) - len(parts)
        if more < 0 and (star is None or more < -1):
            return False
        if star is not None:
            items = [*items[:star], items[star : star + more + 1], *items[star + more + 1 :]]
        return len(items) == len(parts) and all(part(regs, item) for part, item in zip(parts, items, strict=True))

    return run


def mapping(scope: Any, node: ast.MatchMapping) -> Test:
    """Return a pattern of entries; others are left, or bound together."""
    pairs = [(scope.expression(key), pattern(scope, part)) for key, part in zip(node.keys, node.patterns, strict=True)]
    rest = scope.store(node.rest) if node.rest is not None else None

    def run(regs: Frame, x: Any) -> bool:
        keys = [key(regs) for key, _ in pairs]
        if not isinstance(x, dict) or not all(key in x for key in keys):
            return False
        if not all(part(regs, subscript(regs[0], x, key)) for key, (_, part) in zip(keys, pairs, strict=True)):
            return False
        if rest is not None:
            rest(regs, {key: value for key, value in x.items() if key not in keys})
        return True

    return run


def of_class(scope: Any, node: ast.MatchClass) -> Test:
    """Return a pattern of an object and its attributes."""
    kind = scope.expression(node.cls)
    by_place = [pattern(scope, part) for part in node.patterns]
    by_name = [(name, pattern(scope, part)) for name, part in zip(node.kwd_attrs, node.kwd_patterns, strict=True)]

    def run(regs: Frame, x: Any) -> bool:
        run, of = regs[0], kind(regs)
        if not is_kind(run, x, of):
            return False
        if by_place and isinstance(of, Class) and of.name in BY_VALUE:
            return len(by_place) == 1 and by_place[0](regs, x)
        names: Any = of.find("__match_args__") if isinstance(of, Class) else UNBOUND
        if names is UNBOUND:
            names = getattr(x, "fields", ()) if not isinstance(x, Instance) else ()
        if not isinstance(names, tuple):
            run.fail("TypeError", f"{of.name}.__match_args__ must be a tuple")
        if len(by_place) > len(names):
            what = f"{of.name}() accepts {len(names)} positional sub-patterns ({len(by_place)} given)"
            run.fail("TypeError", what)
        pairs = [*zip(names, by_place, strict=False), *by_name]
        has = run.builtin("hasattr")
        return all(run.call(has, [x, name]) and part(regs, run.attribute(x, name)) for name, part in pairs)

    return run
