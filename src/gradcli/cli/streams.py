"""Bytes from a file or standard input, as they come, and lines to a file or standard output, at once."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradcli.cli.inputs import file_error
from gradcli.cli.output import to_stdout
from gradcli.errors import GradcliError

if TYPE_CHECKING:
    from gradcli.cli.environment import Environment

Read = Callable[[int], bytes]
"""Gives up to so many bytes, none at the end."""
Put = Callable[[bytes], None]
"""Takes a line without its newline."""


@contextlib.contextmanager
def opened(env: Environment, source: str) -> Iterator[tuple[Read, int | None]]:
    """Give how to read a file, or standard input for ``-``, and its bytes where they are known; raises ``file``."""
    if source == "-":
        yield partial(careful, reader(env), "standard input"), None
        return
    with file(source) as stream:
        yield partial(careful, stream.read, source), os.fstat(stream.fileno()).st_size or None


def file(source: str) -> io.FileIO:
    """Return a file to read; raises ``file``."""
    try:
        return io.FileIO(source)
    except IsADirectoryError:
        raise file_error(f"{source} is a directory", "RECORDS") from None
    except FileNotFoundError:
        raise file_error(f"there is no file {source}", "RECORDS") from None
    except OSError as error:
        raise file_error(f"{source} cannot be read: {error.strerror}", "RECORDS") from None
    except ValueError:
        raise file_error("the file's name holds a character that no file name can have", "RECORDS") from None


def careful(read: Callable[[int], bytes | None], name: str, size: int) -> bytes:
    """Return up to ``size`` bytes; raises ``file`` where the system refuses."""
    try:
        return read(size) or b""
    except OSError as error:
        raise file_error(f"{name} cannot be read: {error.strerror}", "RECORDS") from None


def reader(env: Environment) -> Read:
    """Return how to read standard input: below Python's own buffer, whose lock a waiting thread would keep."""
    if env.stdin is None:
        raise file_error("standard input is closed", "RECORDS")
    try:
        return partial(os.read, env.stdin.fileno())
    except (OSError, AttributeError):
        return io.BytesIO(env.stdin.read().encode()).read


@contextlib.contextmanager
def written(env: Environment, output: str | None, source: str, quiet: bool) -> Iterator[Put]:
    """Give how to write a line, so that a reader has it at once: to a file, nowhere, or to standard output."""
    if output is None:
        yield (lambda _: None) if quiet else partial(to_stream, env)
        return
    with target(output, source) as stream:
        yield partial(to_file, stream, output)


def to_stream(env: Environment, line: bytes) -> None:
    """Write a line to standard output; raises ``ClosedPipe`` or ``file``."""
    with to_stdout(env):
        buffer: Any = getattr(env.stdout, "buffer", None)
        if buffer is None:
            env.stdout.write(line.decode("ascii") + "\n")
            return
        buffer.write(line + b"\n")
        buffer.flush()


def target(output: str, source: str) -> io.FileIO:
    """Return a file to write; raises ``file``, also where it is the file that is read."""
    try:
        if source != "-" and Path(output).exists() and Path(output).samefile(source):
            raise GradcliError("file", f"-o {output} is the file that is read", hint="give another name")
        return io.FileIO(output, "w")
    except OSError as error:
        raise GradcliError("file", f"-o {output} cannot be written: {error.strerror}") from None
    except ValueError:
        raise GradcliError("file", "the name after -o holds a character that no file name can have") from None


def to_file(stream: io.FileIO, output: str, line: bytes) -> None:
    """Write a line to a file; raises ``file``."""
    left = memoryview(line + b"\n")
    try:
        while left:
            left = left[stream.write(left) :]
    except OSError as error:
        raise GradcliError("file", f"-o {output} cannot be written: {error.strerror}") from None
