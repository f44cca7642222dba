"""What a script does about exceptions: clauses of ``try`` that fit one, and contexts that ``with`` leaves.

``match``: what a pattern tests and binds.
Statements of a script: from the syntax tree to closures that run over a frame.
A statement gives None, or what leaves the block that it stands in: ``BREAK``, ``NEXT``, or what a function returns in a
tuple of one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from gradcli.errors import GradcliError
from gradcli.language.compiling import BREAK, NEXT, Block, Signal, Step
from gradcli.language.compiling import Frame as compiling_Frame
from gradcli.runner.exceptions import Raised, as_raised, exception_class, of_host, raised, raised_of
from gradcli.runner.names import Yields
from gradcli.runner.python.containers import assigned_again, augmented, delete, put, steady, subscript, take, walk
from gradcli.runner.python.expressions import Expressions, Text
from gradcli.runner.python.operators import equal, plain, sign_of, truth
from gradcli.runner.state import Run
from gradcli.runner.values import UNBOUND, Class, Context, Evaluate, Foreign, Frame, Instance, Tensor, ask, own


def refuses(error: Raised | GradcliError) -> bool:
    """Return whether an error ends the run, whatever the script does about exceptions."""
    return isinstance(error, GradcliError) and as_raised(error) is None


class Handler(NamedTuple):
    """One ``except`` clause: what gives its classes, what binds the exception, and its body."""

    kinds: Evaluate | None
    store: Any
    body: Any


def fitting(regs: Frame, handlers: list[Handler], error: Raised) -> Handler | None:
    """Return the first clause that an exception fits."""
    return next((h for h in handlers if h.kinds is None or fits(error.instance, h.kinds(regs))), None)


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


def fits(instance: Instance, kinds: Any) -> bool:
    """Return whether an exception is of a class, or of one of several."""
    parts = kinds if isinstance(kinds, tuple) else (kinds,)
    return any(isinstance(kind, Class) and instance.kind.is_a(kind) for kind in parts)


class Entered(NamedTuple):
    """A context that was entered: what ``as`` names, and what leaves it."""

    value: Any
    leave: Callable[[Run, Raised | None], bool]


def enter(run: Run, context: Any) -> Entered:
    """Enter what ``with`` is given."""
    if isinstance(context, Context):
        return Entered(context.enter(run), context.leave_by)
    if own(context, "__exit__") is not UNBOUND:

        def leave_object(run: Run, error: Raised | None) -> bool:
            given = (None, None, None) if error is None else (error.instance.kind, error.instance, None)
            return truth(run, ask(run, context, "__exit__", *given))

        return Entered(ask(run, context, "__enter__"), leave_object)
    if isinstance(context, Foreign):
        return Entered(context, lambda run, error: False)
    message = f"'{run.type_name(context)}' object does not support the context manager protocol"
    return run.fail("TypeError", message)  # type: ignore[no-any-return]


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
        if star is None:
            return len(items) == len(parts) and all(part(regs, item) for part, item in zip(parts, items, strict=True))
        end = len(parts) - star - 1
        if len(items) < len(parts) - 1:
            return False
        items = [*items[:star], items[star : len(items) - end], *items[len(items) - end :]]
        return all(part(regs, item) for part, item in zip(parts, items, strict=True))

    return run


def mapping(scope: Any, node: ast.MatchMapping) -> Test:
    """Return a pattern of entries; others are left, or bound together."""
    pairs = [(scope.expression(key), pattern(scope, part)) for key, part in zip(node.keys, node.patterns, strict=True)]
    rest = scope.store(node.rest) if node.rest is not None else None

    def run(regs: Frame, x: Any) -> bool:
        if not isinstance(x, dict):
            return False
        keys = [key(regs) for key, _ in pairs]
        if not all(key in x for key in keys):
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
        from gradcli.runner.python.builtins import is_kind

        of = kind(regs)
        if not is_kind(regs[0], x, of):
            return False
        if by_place and isinstance(of, Class) and of.name in BY_VALUE:
            return len(by_place) == 1 and by_place[0](regs, x)
        names: Any = of.find("__match_args__") if isinstance(of, Class) else UNBOUND
        if names is UNBOUND:
            names = getattr(x, "fields", ()) if not isinstance(x, Instance) else ()
        if not isinstance(names, tuple):
            regs[0].fail("TypeError", f"{of.name}.__match_args__ must be a tuple")
        if len(by_place) > len(names):
            regs[0].fail(
                "TypeError", f"{of.name}() accepts {len(names)} positional sub-patterns ({len(by_place)} given)"
            )
        pairs = [*zip(names, by_place, strict=False), *by_name]
        return all(has(regs, x, name) and part(regs, regs[0].attribute(x, name)) for name, part in pairs)

    return run


def has(regs: Frame, x: Any, name: str) -> bool:
    """Return whether an object has an attribute."""
    return bool(regs[0].call(regs[0].builtin("hasattr"), [x, name]))


def cases(
    scope: Any, node: ast.Match, block: Callable[[list[ast.stmt]], Any]
) -> list[tuple[Test, Evaluate | None, Any]]:
    """Return the cases of a statement: the pattern, what guards it, and its body."""
    return [
        (
            pattern(scope, case.pattern),
            scope.expression(case.guard) if case.guard is not None else None,
            block(case.body),
        )
        for case in node.cases
    ]


# ---- Statements of a script: from the syntax tree to closures that run over a frame

Steps = Generator[Any, Any, Signal]
"""What runs a statement that may yield: it yields what that yields, and returns its signal."""


class Part(NamedTuple):
    """A block within a statement: what runs it, and whether that gives ``Steps`` in the place of a signal."""

    run: Callable[[compiling_Frame], Any]
    yields: bool


def drained(steps: Callable[[compiling_Frame], Steps]) -> Callable[[compiling_Frame], Signal]:
    """Return what runs a statement that nothing yields in."""

    def run(regs: compiling_Frame) -> Signal:
        try:
            next(steps(regs))
        except StopIteration as ended:
            return ended.value
        return None

    return run


def execute(text: Text, block: Block, regs: compiling_Frame) -> Signal:
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
        if not text.listed:
            raise
        found = of_host(error)
        if found is None:
            raise
        found.line = max(regs[0].line, node.lineno)
        raise found from error
    return None


HOST_ERRORS = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError)
"""What numpy raises of values that no check has refused before: exceptions of the script."""


def execute_yielding(text: Text, block: Block, regs: compiling_Frame) -> Steps:
    """Run statements of a generator; what it yields is yielded, and its signal returned."""
    for run, _node, yields in block:
        signal = (yield from run(regs)) if yields else run(regs)
        if signal is not None:
            return signal
    return None


class Statements(Expressions):
    """Compiles the statements of one scope."""

    def body(self, node: Any) -> Block:
        """Return the block of a function; a lambda returns its expression."""
        if isinstance(node, ast.Lambda):
            value = self.expression(node.body)
            return [Step(lambda regs: (value(regs),), ast.copy_location(ast.Pass(), node))]
        return self.block(node.body)

    def yielder(self, block: Block) -> Callable[[compiling_Frame], Iterator[Any]]:
        """Return what runs the block of a generator over a frame."""
        text = self.text
        return lambda regs: execute_yielding(text, block, regs)

    def runner(self, block: Block) -> Callable[[compiling_Frame], Signal]:
        """Return what runs a block; one expression that is returned needs no more."""
        text = self.text
        if len(block) == 1 and isinstance(block[0].node, ast.Return | ast.Pass):
            alone = block[0].run
            return alone if not text.listed else lambda regs: execute(text, block, regs)
        return lambda regs: execute(text, block, regs)

    def block(self, body: list[ast.stmt]) -> Block:
        """Return statements ready to run."""
        steps = []
        for node in body:
            if self.code_yields(node):
                steps.append(Step(self.yielding(node), node, yields=True))
            else:
                steps.append(Step(self.statement(node), node))
        return steps

    def code_yields(self, node: ast.stmt) -> bool:
        """Return whether a statement yields in the function that it is a part of."""
        from gradcli.runner.names import yields

        return self.outer is not None and not isinstance(node, ast.FunctionDef | ast.ClassDef) and yields(node)

    def part(self, body: list[ast.stmt]) -> Part:
        """Return the block of a statement."""
        block, text = self.block(body), self.text
        if any(step.yields for step in block):
            return Part(lambda regs: execute_yielding(text, block, regs), yields=True)
        return Part((lambda regs: execute(text, block, regs)) if block else (lambda regs: None), yields=False)

    def statement(self, node: ast.stmt) -> Callable[[compiling_Frame], Signal]:
        """Return what runs one statement."""
        compound = getattr(self, f"steps_{type(node).__name__}", None)
        if compound is not None:
            return drained(compound(node))
        return super().statement(node)

    def refused(self, node: ast.AST) -> GradcliError:
        """Return the error for syntax that gradcli does not run."""
        if isinstance(node, ast.AsyncFunctionDef):
            return GradcliError("not-allowed", "async functions: not understood", span=self.text.span(node))
        return super().refused(node)

    # ---- simple statements
    def run_Expr(self, node: ast.Expr) -> Any:  # noqa: N802
        """Return what evaluates an expression for its effect."""
        value = self.expression(node.value)

        def run(regs: compiling_Frame) -> None:
            value(regs)

        return run

    def run_Assign(self, node: ast.Assign) -> Any:  # noqa: N802
        """Return what assigns one value to each target."""
        value, targets = self.expression(node.value), [self.target(target) for target in node.targets]
        if len(targets) == 1:
            store = targets[0]
            if self.text.listed and isinstance(node.targets[0], ast.Attribute | ast.Subscript):
                return self.on_its_line(node, lambda regs: store(regs, plain(value(regs))))
            return lambda regs: store(regs, plain(value(regs)))

        def run(regs: compiling_Frame) -> None:
            made = plain(value(regs))
            for store in targets:
                store(regs, made)

        return run

    def on_its_line(self, node: ast.stmt, do: Callable[[compiling_Frame], Any]) -> Callable[[compiling_Frame], Any]:
        """Return what runs a statement that may write to a tensor without a call: its line is noted."""
        line = node.lineno

        def run(regs: compiling_Frame) -> Any:
            regs[0].line = line
            return do(regs)

        return run if self.text.listed else do

    def run_AnnAssign(self, node: ast.AnnAssign) -> Any:  # noqa: N802
        """Return an assignment with a type; a class notes the type."""
        if self.is_class and isinstance(node.target, ast.Name):
            self.annotated[node.target.id] = ast.unparse(node.annotation)
        if node.value is None:
            return lambda regs: None
        value, store = self.expression(node.value), self.target(node.target)
        return lambda regs: store(regs, plain(value(regs)))

    annotated: dict[str, str]

    def run_AugAssign(self, node: ast.AugAssign) -> Any:  # noqa: N802
        """Return what changes a target by an operator, in place where its value can."""
        sign, change, target = sign_of(type(node.op)), self.expression(node.value), node.target
        if isinstance(target, ast.Subscript):
            base, key = self.expression(target.value), self.expression(target.slice)
            told = self.text.told_place(target)

            def run_entry(regs: compiling_Frame) -> None:
                run, owner, place = regs[0], base(regs), key(regs)
                before = subscript(run, owner, place)
                after = augmented(run, sign, before, change(regs))
                if after is not before or not isinstance(before, Tensor) or before.base is None:
                    put(run, owner, place, told(regs, owner, place, after))
                elif isinstance(owner, Tensor) and owner.library == "torch":
                    assigned_again(owner)

            return self.on_its_line(node, run_entry)
        load = self.expression(as_load(target))
        store = self.target(target)

        def run(regs: compiling_Frame) -> None:
            before = load(regs)
            after = augmented(regs[0], sign, plain(before), plain(change(regs)))
            store(regs, after)

        return self.on_its_line(node, run)

    run_Global = run_Nonlocal = Expressions.run_Pass  # noqa: N815

    def run_Return(self, node: ast.Return) -> Any:  # noqa: N802
        """Return what leaves a function with a value."""
        if node.value is None:
            return lambda regs: (None,)
        value = self.expression(node.value)
        return lambda regs: (plain(value(regs)),)

    def run_Delete(self, node: ast.Delete) -> Any:  # noqa: N802
        """Return what deletes variables, items and attributes."""
        parts = [self.deletion(target) for target in node.targets]
        return self.on_its_line(node, lambda regs: [part(regs) for part in parts] and None)

    def deletion(self, target: ast.expr) -> Callable[[compiling_Frame], Any]:
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

    def run_Assert(self, node: ast.Assert) -> Any:  # noqa: N802
        """Return what raises AssertionError where a test does not hold."""
        test, said = self.expression(node.test), self.expression(node.msg) if node.msg else None

        def run(regs: compiling_Frame) -> None:
            if truth(regs[0], test(regs)):
                return
            error = raised("AssertionError", "")
            error.instance.fields["args"] = () if said is None else (said(regs),)
            raise error

        return run

    def run_Raise(self, node: ast.Raise) -> Any:  # noqa: N802
        """Return what raises an exception, or the one that is handled again."""
        what = self.expression(node.exc) if node.exc is not None else None
        cause = self.expression(node.cause) if node.cause is not None else None

        def run(regs: compiling_Frame) -> None:
            if what is None:
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

    def run_Import(self, node: ast.Import) -> Any:  # noqa: N802
        """Return what binds modules to names."""
        from gradcli.runner.names import imported

        parts = [
            (
                item.name if item.asname else item.name.partition(".")[0],
                self.store(item.asname or item.name.partition(".")[0]),
                item.name,
            )
            for item in node.names
        ]

        def run(regs: compiling_Frame) -> None:
            for name, store, whole in parts:
                store(regs, imported(regs[0], name, whole))

        return run

    def run_ImportFrom(self, node: ast.ImportFrom) -> Any:  # noqa: N802
        """Return what binds members of a module to names."""
        from gradcli.runner.names import imported_from

        module = node.module or ""
        if any(item.name == "*" for item in node.names):
            return lambda regs: regs[0].stars.append(module)
        parts = [(item.name, self.store(item.asname or item.name)) for item in node.names]

        def run(regs: compiling_Frame) -> None:
            for name, store in parts:
                store(regs, imported_from(regs[0], module, name))

        return run

    # ---- definitions
    def run_FunctionDef(self, node: ast.FunctionDef) -> Any:  # noqa: N802
        """Return what makes a function, decorates it and binds it."""
        store, make = self.store(node.name), self.function(node, node.name, self.of if self.is_class else None)
        decorators = [self.expression(decorator) for decorator in reversed(node.decorator_list)]

        def run(regs: compiling_Frame) -> None:
            made: Any = make(regs)
            for decorator in decorators:
                made = regs[0].call(decorator(regs), [made])
            store(regs, made)

        return run

    def run_ClassDef(self, node: ast.ClassDef) -> Any:  # noqa: N802
        """Return what runs the body of a class, and makes and binds the class."""
        store, bases = self.store(node.name), [self.expression(base) for base in node.bases]
        holder: list[Class] = []
        inner = type(self)(self.text, node, self, node.name, holder)
        inner.annotated = {}
        block, text = inner.block(node.body), self.text
        code, frees, places = inner.code, inner.code.frees, inner.code.places
        decorators = [self.expression(decorator) for decorator in reversed(node.decorator_list)]
        doc = ast.get_docstring(node, clean=False)
        keywords = [(keyword.arg, self.expression(keyword.value)) for keyword in node.keywords if keyword.arg]

        def run(regs: compiling_Frame) -> None:
            from gradcli.runner.python.calls import make_class

            frame = code.template.copy()
            frame[0], frame[1] = regs[0], regs if regs[1] is None else regs[1]
            for here, there in frees:
                frame[here] = regs[there]
            for place in code.cells:
                frame[place] = [UNBOUND]
            execute(text, block, frame)
            own = {name: frame[k] for name, k in places.items() if name in inner.names.assigned}
            members = {name: value for name, value in own.items() if value is not UNBOUND}
            if doc is not None:
                members.setdefault("__doc__", doc)
            options = {name: value(regs) for name, value in keywords}
            made: Any = make_class(
                regs[0], node.name, [base(regs) for base in bases], members, inner.annotated, options
            )
            if "__class__" in places:
                frame[places["__class__"]][0] = made
            for decorator in decorators:
                made = regs[0].call(decorator(regs), [made])
            store(regs, made)

        return run

    # ---- compound statements
    def steps_Match(self, node: ast.Match) -> Callable[[compiling_Frame], Steps]:  # noqa: N802
        """Return what runs the first case that fits."""

        subject, parts = self.expression(node.subject), cases(self, node, self.part)

        def steps(regs: compiling_Frame) -> Steps:
            value = plain(subject(regs))
            for test, guard, body in parts:
                if test(regs, value) and (guard is None or truth(regs[0], guard(regs))):
                    return (yield from body.run(regs)) if body.yields else body.run(regs)
            return None

        return steps

    def steps_While(self, node: ast.While) -> Callable[[compiling_Frame], Steps]:  # noqa: N802
        """Return a loop that runs while a test holds."""
        test = self.expression(node.test)

        def turns(regs: compiling_Frame) -> Iterator[None]:
            while truth(regs[0], test(regs)):
                yield None

        return self.loop(node, turns, lambda regs, item: None)

    def steps_For(self, node: ast.For) -> Callable[[compiling_Frame], Steps]:  # noqa: N802
        """Return a loop over items."""
        items, store = self.expression(node.iter), self.target(node.target)
        self.code.loops |= {part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)}
        return self.loop(node, lambda regs: steady(regs[0], walk(regs[0], items(regs))), store)

    def loop(
        self, node: ast.For | ast.While, turns: Callable[[compiling_Frame], Any], store: Any
    ) -> Callable[[compiling_Frame], Steps]:
        """Return a loop over what ``turns`` gives, each of which is stored."""
        (body, yields), otherwise = self.part(node.body), self.part(node.orelse)

        def steps(regs: compiling_Frame) -> Steps:
            turn = regs[0].meter.turn
            for item in turns(regs):
                turn()
                store(regs, item)
                signal = (yield from body(regs)) if yields else body(regs)
                if signal is not None and signal is not NEXT:
                    return None if signal is BREAK else signal
            return (yield from otherwise.run(regs)) if otherwise.yields else otherwise.run(regs)

        return steps

    def steps_With(self, node: ast.With) -> Callable[[compiling_Frame], Steps]:  # noqa: N802
        """Return what enters contexts, runs a block and leaves them."""
        first, *rest = node.items
        context = self.expression(first.context_expr)
        store = self.target(first.optional_vars) if first.optional_vars is not None else None
        body = self.part([ast.copy_location(ast.With(rest, node.body), node)] if rest else node.body)

        def steps(regs: compiling_Frame) -> Steps:
            entered = enter(regs[0], context(regs))
            if store is not None:
                store(regs, entered.value)
            try:
                signal = (yield from body.run(regs)) if body.yields else body.run(regs)
            except (Raised, GradcliError) as error:
                found = raised_of(error)
                if found is None or not entered.leave(regs[0], found):
                    raise
                return None
            entered.leave(regs[0], None)
            return signal

        return steps

    def attempt(self, node: ast.Try) -> Callable[[compiling_Frame], Steps]:
        """Return a ``try`` without what comes last."""
        body, otherwise, text = self.part(node.body), self.part(node.orelse), self.text
        handlers = [self.handler(handler) for handler in node.handlers]

        def steps(regs: compiling_Frame) -> Steps:
            try:
                signal = (yield from body.run(regs)) if body.yields else body.run(regs)
            except (Raised, GradcliError, GeneratorExit) as error:
                found = raised("GeneratorExit", "") if isinstance(error, GeneratorExit) else raised_of(error)
                if found is None:
                    raise
                if isinstance(error, GradcliError):
                    found.line = regs[0].line
                handler = fitting(regs, handlers, found)
                if handler is None and isinstance(error, GradcliError):
                    raise found from error
                if handler is None:
                    raise
                with handled(regs, handler, found, text):
                    return (yield from handler.body.run(regs)) if handler.body.yields else handler.body.run(regs)
            if signal is None:
                return (yield from otherwise.run(regs)) if otherwise.yields else otherwise.run(regs)
            return signal

        return steps

    def steps_Try(self, node: ast.Try) -> Callable[[compiling_Frame], Steps]:  # noqa: N802
        """Return what runs a block with its handlers and what comes last."""
        attempt, block = self.attempt(node), self.block(node.finalbody)
        text, yields = self.text, any(step.yields for step in block)
        if not block:
            return attempt

        def steps(regs: compiling_Frame) -> Steps:
            try:
                signal = yield from attempt(regs)
            except (Raised, GradcliError) as error:
                if refuses(error):
                    raise
                error.__context__ = None
                ended = (yield from execute_yielding(text, block, regs)) if yields else execute(text, block, regs)
                if ended is not None:
                    return ended
                raise
            except GeneratorExit:
                for step in block:
                    if not step.yields:
                        step.run(regs)
                raise
            ended = (yield from execute_yielding(text, block, regs)) if yields else execute(text, block, regs)
            return signal if ended is None else ended

        return steps

    def handler(self, node: ast.ExceptHandler) -> Handler:
        """Return one ``except`` clause."""
        kinds = self.expression(node.type) if node.type is not None else None
        return Handler(kinds, self.store(node.name) if node.name else None, self.part(node.body))

    # ---- generators
    def yielding(self, node: ast.stmt) -> Callable[[compiling_Frame], Iterator[Any]]:
        """Return what runs a statement of a generator that yields somewhere in it."""
        text = self.text
        match node:
            case ast.Expr(value=ast.Yield() | ast.YieldFrom() as given) | ast.Assign(value=ast.Yield() as given):
                return self.yield_statement(node, given)
            case ast.Assign(value=ast.YieldFrom() as given):
                return self.yield_statement(node, given)
            case ast.If():
                test, yes, no = self.expression(node.test), self.block(node.body), self.block(node.orelse)
                return lambda regs: execute_yielding(text, yes if truth(regs[0], test(regs)) else no, regs)
        compound = getattr(self, f"steps_{type(node).__name__}", None)
        if compound is not None:
            return compound(node)  # type: ignore[no-any-return]
        return self.yield_within(node)

    def yield_statement(
        self, node: Any, given: ast.Yield | ast.YieldFrom
    ) -> Callable[[compiling_Frame], Iterator[Any]]:
        """Return a statement that yields a value, or those of another generator."""
        value = self.expression(given.value) if given.value is not None else lambda regs: None
        store = self.target(node.targets[0]) if isinstance(node, ast.Assign) else None
        several = isinstance(given, ast.YieldFrom)

        def run(regs: compiling_Frame) -> Iterator[Any]:
            if several:
                sent = yield from walk(regs[0], value(regs))
            else:
                sent = yield plain(value(regs))
            if store is not None:
                store(regs, sent)

        return run

    def yield_within(self, node: ast.stmt) -> Callable[[compiling_Frame], Iterator[Any]]:
        """Return a statement that yields within an expression: what it is sent gets a name of its own first."""
        if not isinstance(node, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return | ast.Assert):
            raise GradcliError("not-allowed", "a yield here is not understood", span=self.text.span(node))
        steps: list[ast.stmt] = []
        changed = Yields(self.names.assigned, steps).visit(ast.parse(ast.unparse(node)).body[0])
        for step in (*steps, changed):
            for part in ast.walk(step):
                ast.copy_location(part, node)
        block, text = self.block([*steps, changed]), self.text
        return lambda regs: execute_yielding(text, block, regs)


def as_load(target: ast.expr) -> ast.expr:
    """Return a target as an expression that reads it."""
    match target:
        case ast.Name(id=name):
            return ast.copy_location(ast.Name(name, ast.Load()), target)
        case ast.Attribute(value=value, attr=name):
            return ast.copy_location(ast.Attribute(value, name, ast.Load()), target)
    return target
