"""Which audit events an input may cause once everything is loaded: those that are listed here, and no other.

* ``ast.parse`` compiles the text of a program to a tree (flag ``PyCF_ONLY_AST``): event ``compile`` with that text,
  from the frame of ``ast.parse``; no code object comes of it. For a text that is no Python its parser looks for the
  line at fault in the file that the text would come from: event ``open`` with the name that gradcli gives, ``""``,
  which is the name of no file.
* typer reads the annotations of the commands anew for each command line: it compiles and runs their text
  (``options.V`` …), which stands in the source of ``gradcli.cli`` and never comes from outside.
* typer asks pydantic to leave its plugins out while it reads a command line: it sets and drops the variable
  ``PYDANTIC_DISABLE_PLUGINS``.
* mpmath writes the loop that sums a hypergeometric series at the first use of each kind of it: event ``compile``, and
  ``exec``, from its ``libhyper.py``; the text follows from how many parameters there are, and of which number classes.
* The file that the command line names is opened to be read, and so are gradcli's own, whose texts a script may need.
* Where a file that is named is not there, the names beside it are read for "did you mean": ``os.listdir`` of ``.``.
* ``sys._getframe``, attribute and id events tell of Python's own bookkeeping.
"""

import os
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import gradcli
from gradcli.cli.options import COMMANDS

BOOKKEEPING = {
    "sys._getframe", "object.__getattr__", "object.__setattr__", "object.__delattr__", "builtins.id", "code.__new__",
    "function.__new__",
}  # fmt: skip

HOME = str(Path(gradcli.__file__).parent) + os.sep


@cache
def annotations() -> frozenset[str]:
    """Return the texts of all annotations of the command line's functions."""
    from gradcli.cli import app

    functions = [found for found in vars(app).values() if isinstance(found, types.FunctionType)]
    functions += [app.callback(name) for name in COMMANDS]
    return frozenset(str(text) for found in functions for text in found.__annotations__.values())


class Watch:
    """Listens to audit events while an input runs; a hook cannot be taken away, so that it sleeps in between."""

    def __init__(self) -> None:
        self.fault: str | None = None
        self.listening = False
        self.file = ""

    def install(self) -> "Watch":
        """Add the hook to this process for good."""
        annotations()
        sys.addaudithook(self._hear)
        return self

    @contextmanager
    def over(self) -> Iterator[None]:
        """Listen while an input runs; ``fault`` names the first event that is not allowed."""
        self.fault, self.listening = None, True
        try:
            yield
        finally:
            self.listening = False

    def _hear(self, event: str, found: tuple[Any, ...]) -> None:
        if self.listening and event not in BOOKKEEPING and self.fault is None:
            self.listening = False
            if not allowed(event, found) and not (event == "open" and self.may_read(found[0], found[2])):
                self.fault = f"audit event {event} {found!r:.200}"
            self.listening = True

    def may_read(self, path: Any, flags: int) -> bool:
        """Return whether a file is only read, and is the one that was named, or one of gradcli's own."""
        writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        return not writes and (path == self.file or str(path).startswith(HOME))


def allowed(event: str, found: tuple[Any, ...]) -> bool:
    """Return whether an event is one of those that are listed above."""
    if event in ("compile", "exec") and called_from("libhyper.py"):
        return True
    if event == "compile":
        return called_from("ast.py") or (of_annotation(found[0]) and called_from("typing.py", "inspect.py"))
    if event == "exec":
        return found[0].co_filename == "<string>" and called_from("typing.py", "inspect.py")
    if event == "open":
        return found[0] == "" and called_from("ast.py")
    if event == "os.listdir":
        return str(found[0]) == "." and called_from("pathlib.py")
    return event in ("os.putenv", "os.unsetenv") and found[0] == b"PYDANTIC_DISABLE_PLUGINS"


def of_annotation(source: Any) -> bool:
    """Return whether a text that is compiled is an annotation of the command line."""
    text = source.decode("utf-8", "replace") if isinstance(source, bytes) else source
    return isinstance(text, str) and text.strip().removeprefix("(").removesuffix(")") in annotations()


def called_from(*places: str) -> bool:
    """Return whether the code that raised the event stands in one of these files."""
    return Path(sys._getframe(3).f_code.co_filename).name in places
