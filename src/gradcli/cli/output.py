"""Writing answers and errors: to the terminal, to a pipe, to a file.

Answers to take away: a script, LaTeX, Markdown, a picture of the tables or of the graph.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

from gradcli.cli.environment import is_terminal
from gradcli.errors import GradcliError

if TYPE_CHECKING:
    from rich.text import Text

    from gradcli.cli.environment import Environment
    from gradcli.cli.request import Printing
    from gradcli.document.model import Settings
    from gradcli.explanation.explained import Explained
    from gradcli.render.layout import Layout


class ClosedPipe(Exception):
    """The reader of standard output is gone; typer would end a BrokenPipeError with 1."""


NATURAL = 200
"""Columns that a table may take in a pipe, where no screen cuts it."""
NARROW = 40
"""Columns below which tables give way to plain lines."""


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


def write_parts(env: Environment, parts: Iterable[str], path: str | None = None) -> None:
    """Write parts in turn to standard output, or to a file that is replaced only when all of it is on the disk."""
    if path is None:
        with to_stdout(env):
            env.stdout.writelines(parts)
            env.stdout.flush()
        return
    import tempfile

    target = Path(path)
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(parts)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(target)
    except OSError as error:
        raise GradcliError("file", f"-o {path} cannot be written: {error.strerror}") from None
    except ValueError:
        raise GradcliError("file", "the name after -o holds a character that no file name can have") from None
    finally:  # whatever ends the writing, an interrupt or an error of a part that is made on the way
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def require_folder(path: str | None) -> None:
    """Raise ``file`` where the folder that ``-o`` is to write into is missing, before there is any work."""
    if path is not None and "\0" not in path and not Path(path).parent.is_dir():
        raise GradcliError("file", f"-o {path} cannot be written: there is no folder {Path(path).parent}")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_explanation(env: Environment, found: Explained, printing: Printing) -> None:
    """Write an explanation in the format that was asked for."""
    if printing.quiet and printing.output is None:
        return
    width = printing.width or terminal_width(env)
    if printing.format == "json":
        from gradcli.render.data import document, encoded

        write_parts(env, encoded(partial(document, found)), printing.output)
    elif printing.format == "page":
        from gradcli.page.assembling import page

        write_parts(env, page(found), printing.output)
    elif printing.format not in ("table", "plain"):
        write(env, exported(found, printing, settings_of(printing), partial(layout_of, env, printing)), printing.output)
    elif printing.format == "plain" or (width is not None and width < NARROW):
        write(env, lines_of(found, printing), printing.output)
    else:
        write_tables(env, found, printing, width)


def lines_of(found: Explained, printing: Printing) -> str:
    """Return an explanation as plain lines."""
    from gradcli.document.model import EVERYTHING
    from gradcli.errors.inert import inert
    from gradcli.render.plain import plain

    text = plain(found, EVERYTHING) if printing.full else plain(found)
    return inert(text) if printing.ascii_only else text


MOST_FULL = 100_000
"""Entries of J and of values up to which ``--full`` writes all of them for people."""


def refuse_much(found: Explained, printing: Printing) -> None:
    """Raise ``option`` where ``--full`` would write more than anybody reads; JSON has all entries in any case."""
    import numpy as np

    held = [*found.inputs.values(), *(value.value for value in found.values)]
    lines = printing.format == "plain"  # which leave out what is 0 by structure
    entries = sum(len(j.rows) if lines else math.prod(j.matrix_shape) for j in found.jacobian.values())
    entries += sum(int(np.size(value)) for value in held)
    if entries > MOST_FULL and printing.format != "json":
        raise GradcliError(
            "option", f"--full: J and the values have {entries:,} entries, more than the {MOST_FULL:,} that it shows",
            hint="--row and --column show a part, --json has the entries that can be other than 0",
        )  # fmt: skip


def on_terminal(env: Environment) -> bool:
    """Return whether a person reads standard output; it may be closed."""
    return env.stdout is not None and env.stdout_is_terminal


def terminal_width(env: Environment) -> int | None:
    """Return the columns of the terminal, or what COLUMNS says; None for a pipe without it."""
    columns = env.variables.get("COLUMNS", "")
    if columns.isascii() and columns.isdigit() and 0 < int(columns) <= 10_000:
        return int(columns)
    return columns_of(env.stdout) if on_terminal(env) else None


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


EXCERPT = re.compile(r" *\S* \|( |$)")
"""A line of the text at fault, or the margin beside it, which is cut to fit and not broken."""
HANG = " " * len("help: ")


def say(env: Environment, text: str) -> None:
    """Write a sentence to standard output, broken between words where a screen shows it."""
    write(env, fitted(env, env.stdout, text))


def layout_of(env: Environment, printing: Printing, width: int | None) -> Layout:
    """Return the room that lines and tables have, and whether more than ASCII can be shown."""
    from gradcli.render.layout import Layout

    unicode = env.unicode(printing.ascii_only) or (printing.output is not None and not printing.ascii_only)
    return Layout(width or 100, width or NATURAL, unicode)


def settings_of(printing: Printing) -> Settings:
    """Return how much of an answer is shown."""
    from gradcli.document.model import Settings

    return Settings(printing.precision, printing.full)


def write_tables(env: Environment, found: Explained, printing: Printing, width: int | None) -> None:
    """Write tables, coloured where standard output is a terminal."""
    from gradcli.document.sections import document_of
    from gradcli.render.terminal import tables

    document = document_of(found, settings_of(printing))
    write_text(env, tables(document, layout_of(env, printing, width)), printing)


def write_open(env: Environment, found: Explained, printing: Printing) -> None:
    """Write J with v left open."""
    from gradcli.document.sections import open_document
    from gradcli.render.terminal import tables

    layout = layout_of(env, printing, printing.width or terminal_width(env))
    write_text(env, tables(open_document(found, settings_of(printing)), layout), printing)


def write_text(env: Environment, text: Text, printing: Printing) -> None:
    """Write lines that fit the screen as they are, coloured where standard output is a terminal."""
    from gradcli.render.terminal import console, plain_lines

    if printing.output is not None or not env.coloured(env.stdout, printing.color):
        write(env, plain_lines(text), printing.output)
        return
    with to_stdout(env):
        console(env.stdout).print(text, soft_wrap=True)
        env.stdout.flush()


def report(env: Environment, error: GradcliError, as_json: bool, color: str = "auto", verdict: str = "") -> None:
    """Write an error: the diagnostic to standard error, and in JSON modes a document to standard output.

    The document says the ``verdict`` of a check whose script ended with an exception.
    """
    if as_json:
        from gradcli.render.data import dump, error_document

        with contextlib.suppress(GradcliError):  # no document where standard output takes none, but the diagnostic
            write(env, dump(error_document(error) | ({"verdict": verdict} if verdict else {})))
    text = error.diagnostic(getattr(env.stderr, "encoding", None) or "ascii", screen_width(env, env.stderr))
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


# ---- Answers to take away: a script, LaTeX, Markdown, a picture of the tables or of the graph

WIDTH = 100
"""Columns of what is written for no screen."""


def exported(found: Explained, printing: Printing, settings: Settings, layout: Callable[[int | None], Layout]) -> str:
    """Return an answer as a script, or in the format that was asked for; ``layout`` is given the columns."""
    if printing.format == "code":
        from gradcli.scripts.script import script

        return script(found, printing.code or "")
    room = layout(printing.width or WIDTH)
    if printing.format in ("svg", "dot"):
        from gradcli.render.graph import dot, sheet_of, svg, with_texts
        from gradcli.render.layout import to_ascii

        sheet = sheet_of(found, settings)
        sheet = sheet if room.unicode else with_texts(sheet, to_ascii)
        return dot(sheet) if printing.format == "dot" else svg(sheet)
    from gradcli.document.sections import document_of

    if printing.format == "latex":
        from gradcli.render.latex import latex, refuse_numbers

        refuse_numbers(found)
        return latex(document_of(found, settings), room)
    if printing.format == "markdown":
        from gradcli.render.markup import markdown

        return markdown(document_of(found, settings), room)
    from gradcli.render.terminal import figure, picture

    if printing.figure:
        return figure(document_of(found, settings), room, printing.figure)
    return picture(document_of(found, settings), room)
