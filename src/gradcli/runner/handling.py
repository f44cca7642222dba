"""What a script does about exceptions: clauses of ``try`` that fit one, and contexts that ``with`` leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from gradcli.errors import GradcliError
from gradcli.runner.exceptions import Raised, as_raised
from gradcli.runner.expressions import Text
from gradcli.runner.objects import UNBOUND, Class, Context, Evaluate, Foreign, Frame, Instance, ask, own
from gradcli.runner.operators import truth
from gradcli.runner.state import Run


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
