"""Where input comes from and output goes to, exit codes, and the writing of answers and errors."""

from __future__ import annotations

import contextlib
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum, unique
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, TextIO

from gradcli.errors import GradcliError
from gradcli.records import dataclass, field

if TYPE_CHECKING:
    from gradcli.document.model import Document, Settings
    from gradcli.explanation.explained import Explained
    from gradcli.render.layout import Layout


@unique
class ExitStatus(IntEnum):
    """Why gradcli ended; the numbers are a contract."""

    OK = 0
    """Answered, and the routes agree; also when the reader closed the pipe."""
    DISAGREE = 1
    """Answered, but the routes disagree, only one is finite, or digits are lost; or a script raised."""
    USAGE = 2
    """The command line, program, name, shape, value, file or budget is at fault."""
    NOT_FINITE = 3
    """Answered, but a value or derivative is not finite here on both routes."""
    UNCLEAR = 4
    """Answered, but what is true was not found within the work allowed."""
    INTERNAL = 70
    """A fault of gradcli itself."""
    INTERRUPTED = 130
    """Stopped by Ctrl-C."""


@dataclass(slots=True)
class Environment:
    """The streams and the terminal of a command, passed in so that tests never patch ``sys``.

    ``largest`` are the bytes of a file that is read. ``run`` answers a command line in another environment, for a
    command that asks several.
    """

    stdin: TextIO = field(default_factory=lambda: sys.stdin)
    stdout: TextIO = field(default_factory=lambda: sys.stdout)
    stderr: TextIO = field(default_factory=lambda: sys.stderr)
    variables: Mapping[str, str] = field(default_factory=lambda: os.environ)
    stdin_used: bool = False
    largest: int = 256 * 1024 * 1024
    run: Callable[[Sequence[str], Environment], int] | None = None

    @property
    def stdout_is_terminal(self) -> bool:
        """Whether a person reads standard output; it may be closed."""
        return self.stdout is not None and is_terminal(self.stdout)

    def encoding(self, stream: IO[str] | None) -> str:
        """Return the encoding of a stream."""
        return getattr(stream, "encoding", None) or "ascii"

    def coloured(self, stream: IO[str] | None, color: str | None = None) -> bool:
        """Whether a stream gets colours: as ``--color`` says, else GRADCLI_COLOR, else ``in_color``."""
        said = {"always": True, "never": False}.get(color or self.variables.get("GRADCLI_COLOR", ""))
        return stream is not None and (self.in_color(stream) if said is None else said)

    def in_color(self, stream: IO[str]) -> bool:
        """Whether a stream gets colours where nobody told gradcli: NO_COLOR says no, before all others.

        FORCE_COLOR and CLICOLOR_FORCE ask for them in a pipe too. CLICOLOR=0 and TERM=dumb keep a terminal from them.
        """
        if self.variables.get("NO_COLOR"):
            return False
        if self.variables.get("FORCE_COLOR"):
            return self.variables["FORCE_COLOR"] != "0"
        if self.variables.get("CLICOLOR_FORCE", "0") not in ("", "0"):
            return True
        plain = self.variables.get("CLICOLOR") == "0" or self.variables.get("TERM") == "dumb"
        return is_terminal(stream) and not plain


def is_utf(encoding: str) -> bool:
    """Return whether an encoding has every character."""
    return encoding.lower().replace("-", "").startswith("utf")


def is_terminal(stream: IO[str]) -> bool:
    """Return whether a stream is a terminal."""
    try:
        return stream.isatty()
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Printing:
    """How and where to print."""

    format: str
    output: str | None
    precision: int
    color: str | None
    ascii_only: bool
    width: int | None
    quiet: bool
    full: bool
    code: str | None
    figure: str | None

    @property
    def settings(self) -> Settings:
        """How much of an answer is shown."""
        from gradcli.document.model import Settings

        return Settings(self.precision, self.full)


class ClosedPipe(Exception):
    """The reader of standard output is gone; typer would end a BrokenPipeError with 1."""


NATURAL = 200
"""Columns that a table may take in a pipe, where no screen cuts it."""
NARROW = 40
"""Columns below which tables give way to plain lines."""
TAKEN_AWAY = 100
"""Columns of what is written for no screen."""
MOST_FULL = 100_000
"""Entries of J and of values up to which ``--full`` writes all of them for people."""
EXCERPT = re.compile(r" *\S* \|( |$)")
"""A line of the text at fault, or the margin beside it, which is cut to fit and not broken."""
HANG = " " * len("help: ")


@contextlib.contextmanager
def to_stdout(env: Environment) -> Iterator[None]:
    """Say why standard output takes nothing: the reader is gone, the disk is full, or it was never open."""
    if env.stdout is None:
        raise GradcliError("file", "standard output is closed", hint="-o FILE writes to a file")
    try:
        yield
    except BrokenPipeError:
        raise ClosedPipe from None
    except OSError as error:
        discard(env)
        raise GradcliError("file", f"standard output cannot be written: {error.strerror}") from None


def discard(env: Environment) -> None:
    """Point a standard output that takes nothing at nothing: Python flushes it once more at exit."""
    if env.stdout is sys.__stdout__:
        os.dup2(os.open(os.devnull, os.O_WRONLY), env.stdout.fileno())


def write(env: Environment, text: str, path: str | None = None) -> None:
    """Write text, which gets a newline where it has none at its end, as ``write_parts`` does."""
    write_parts(env, (text if text.endswith("\n") else text + "\n",), path)


def write_parts(env: Environment, parts: Iterable[str | bytes], path: str | None = None) -> None:
    """Write parts in turn to standard output, or to a file that is replaced only when all of it is on the disk.

    For ``-`` standard output gets the bytes that a file would have.
    """
    if path is None or path == "-":
        buffer = None if path is None else getattr(env.stdout, "buffer", None)
        with to_stdout(env):
            if buffer is None:
                env.stdout.writelines(part if isinstance(part, str) else part.decode() for part in parts)
            else:
                env.stdout.flush()
                buffer.writelines(map(as_bytes, parts))
                buffer.flush()
            env.stdout.flush()
        return
    import tempfile

    target = Path(path)
    temporary = None
    try:
        with guarded_write(path):
            handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
            with os.fdopen(handle, "wb") as stream:
                stream.writelines(map(as_bytes, parts))
                stream.flush()
                os.fsync(stream.fileno())
            mask = os.umask(0)
            os.umask(mask)
            Path(temporary).chmod(0o666 & ~mask)
            Path(temporary).replace(target)
    finally:  # whatever ends the writing, an interrupt or an error of a part that is made on the way
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def as_bytes(part: str | bytes) -> bytes:
    """Return a part of what is written as bytes."""
    return part.encode() if isinstance(part, str) else part


@contextlib.contextmanager
def guarded_write(path: str) -> Iterator[None]:
    """Say why the file that ``-o`` names cannot be written."""
    try:
        yield
    except OSError as error:
        raise GradcliError("file", f"-o {path} cannot be written: {error.strerror}") from None
    except ValueError:
        raise GradcliError("file", "the name after -o holds a character that no file name can have") from None


def require_folder(path: str | None) -> None:
    """Raise ``file`` where the folder that ``-o`` is to write into is missing, before there is any work."""
    if path is not None and "\0" not in path and not Path(path).parent.is_dir():
        raise GradcliError("file", f"-o {path} cannot be written: there is no folder {Path(path).parent}")


def write_explanation(env: Environment, answer: Explained, how: Printing) -> None:
    """Write an explanation in the format that was asked for; plain lines where a screen is too narrow for tables."""
    if how.quiet and how.output in (None, "-"):
        return
    width = how.width or terminal_width(env)
    if how.format == "table" and (width is None or width >= NARROW):
        from gradcli.document.sections import document_of

        write_tables(env, document_of(answer, how.settings), how)
    else:
        write_parts(env, written_parts(env, answer, how), how.output)


def written_parts(env: Environment, answer: Explained, how: Printing) -> Iterable[str]:
    """Return an answer in the parts in which it is written, but the tables of a screen."""
    match how.format:
        case "json":
            from gradcli.render.data import document, encoded

            return encoded(partial(document, answer))
        case "page":
            from gradcli.page.assembling import page

            return page(answer)
        case "plain" | "table":
            from gradcli.document.model import EVERYTHING
            from gradcli.errors.inert import inert
            from gradcli.render.plain import plain

            text = plain(answer, EVERYTHING) if how.full else plain(answer)
            return inert(text) if how.ascii_only else text, "\n"
        case "code":
            from gradcli.scripts import script

            return (script(answer, how.code or ""),)
    layout = layout_of(env, how, how.width or TAKEN_AWAY)
    if how.format in ("svg", "dot"):
        from gradcli.render.graph import dot, sheet_of, svg, with_texts
        from gradcli.render.layout import to_ascii

        sheet = sheet_of(answer, how.settings)
        sheet = sheet if layout.unicode else with_texts(sheet, to_ascii)
        return dot(sheet) if how.format == "dot" else svg(sheet), "\n"
    from gradcli.document.sections import document_of
    from gradcli.render import markup, terminal

    if how.format == "latex":
        markup.refuse_numbers(answer)
    shown = document_of(answer, how.settings)
    match how.format:
        case "latex":
            return markup.latex(shown, layout), "\n"
        case "markdown":
            return markup.markdown(shown, layout), "\n"
    return (terminal.figure(shown, layout, how.figure) if how.figure else terminal.picture(shown, layout),)


def refuse_much(answer: Explained, how: Printing) -> None:
    """Raise ``option`` where ``--full`` would write more than anybody reads; JSON has all entries in any case."""
    import numpy as np

    lines = how.format == "plain"  # which leave out what is 0 by structure
    entries = sum(len(j.rows) if lines else math.prod(j.matrix_shape) for j in answer.jacobian.values())
    values = [*answer.inputs.values(), *(value.value for value in answer.values)]
    entries += sum(int(np.size(value)) for value in values)
    if entries > MOST_FULL and how.format != "json":
        raise GradcliError(
            "option", f"--full: J and the values have {entries:,} entries, more than the {MOST_FULL:,} that it shows",
            hint="--row and --column show a part, --json has the entries that can be other than 0",
        )  # fmt: skip


def terminal_width(env: Environment) -> int | None:
    """Return the columns of the terminal, or what COLUMNS says; None for a pipe without it."""
    columns = env.variables.get("COLUMNS", "")
    if columns.isascii() and columns.isdigit() and 0 < int(columns) <= 10_000:
        return int(columns)
    return columns_of(env.stdout) if env.stdout_is_terminal else None


def columns_of(stream: IO[str]) -> int:
    """Return the columns of a terminal, 80 where it does not say."""
    with contextlib.suppress(OSError, ValueError):
        return os.get_terminal_size(stream.fileno()).columns or 80
    return 80


def screen_width(env: Environment, stream: IO[str] | None) -> int | None:
    """Return the columns of the terminal that a stream is, or what COLUMNS says of it; None for a pipe."""
    if stream is None or not is_terminal(stream):
        return None
    return terminal_width(env) or columns_of(stream)


def fitted(env: Environment, stream: IO[str] | None, text: str) -> str:
    """Return sentences broken between words where a screen shows them; a pipe has each in one line."""
    width = screen_width(env, stream)
    if width is None or max(map(len, text.split("\n"))) <= width:
        return text
    from gradcli.render.layout import fold

    lines: list[str] = []
    for line in text.split("\n"):
        words = line.lstrip()
        indent = line[: len(line) - len(words)]
        lines += (
            [line] if EXCERPT.match(line) else [part.plain for part in fold(words, width, indent, HANG[len(indent) :])]
        )
    return "\n".join(lines)


def say(env: Environment, text: str) -> None:
    """Write a sentence to standard output, broken between words where a screen shows it."""
    write(env, fitted(env, env.stdout, text))


def layout_of(env: Environment, how: Printing, width: int | None) -> Layout:
    """Return the room that lines and tables have, and whether more than ASCII can be shown."""
    from gradcli.render.layout import Layout

    unicode = is_utf(env.encoding(env.stdout)) or how.output is not None
    return Layout(width or 100, width or NATURAL, not how.ascii_only and unicode)


def write_tables(env: Environment, document: Document, how: Printing) -> None:
    """Write a document as tables that fit the screen, coloured where standard output is a terminal."""
    from gradcli.render.terminal import console, tables

    text = tables(document, layout_of(env, how, how.width or terminal_width(env)))
    if how.output is not None or not env.coloured(env.stdout, how.color):
        write(env, "\n".join(line.rstrip() for line in text.plain.split("\n")) + "\n", how.output)
        return
    with to_stdout(env):
        console(env.stdout).print(text, soft_wrap=True)
        env.stdout.flush()


def report(env: Environment, error: GradcliError, as_json: bool, color: str | None = None, verdict: str = "") -> None:
    """Write an error: the diagnostic to standard error, and in JSON modes a document to standard output.

    The document says the ``verdict`` of a check whose script ended with an exception.
    """
    if as_json:
        from gradcli.render.data import dump, error_document

        with contextlib.suppress(GradcliError):  # no document where standard output takes none, but the diagnostic
            write(env, dump(error_document(error) | ({"verdict": verdict} if verdict else {})))
    text = error.diagnostic(env.encoding(env.stderr), screen_width(env, env.stderr))
    if not env.coloured(env.stderr, color):
        complain(env, text)
        return
    from gradcli.render.terminal import console, painted

    with contextlib.suppress(OSError):
        console(env.stderr).print(painted(fitted(env, env.stderr, text)), soft_wrap=True)


def complain(env: Environment, text: str) -> None:
    """Write sentences to standard error; where that is closed or full the exit code has to do."""
    if env.stderr is None:
        return
    with contextlib.suppress(OSError):
        env.stderr.write(fitted(env, env.stderr, text) + "\n")
        env.stderr.flush()
