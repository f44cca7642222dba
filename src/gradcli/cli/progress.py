"""A progress bar on standard error, for a person who waits."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from gradcli.cli.environment import is_terminal

if TYPE_CHECKING:
    from gradcli.cli.environment import Environment

EVERY = 0.1
"""Seconds between two movements of the bar."""
Advance = Callable[[int], None]
"""Takes the bytes of a line that was answered."""


def nothing(size: int) -> None:
    """Show nothing."""
    del size


@contextlib.contextmanager
def progress(env: Environment, total: int | None, wanted: bool, every: float = EVERY) -> Iterator[Advance]:
    """Show how much was answered, of ``total`` bytes where that is known; ``wanted`` where answers go elsewhere.

    The bar moves at once, and then when ``every`` seconds are over.
    """
    if not wanted or env.stderr is None or not is_terminal(env.stderr):
        yield nothing
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    known = [BarColumn(), TaskProgressColumn()] if total else [TextColumn("")]
    columns = (TextColumn("{task.fields[records]:,} records"), *known, TimeElapsedColumn())
    with Progress(*columns, console=Console(file=env.stderr), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("", total=total, records=0)
        records, size, shown = 0, 0, 0.0

        def advance(read: int) -> None:
            nonlocal records, size, shown
            records, size = records + 1, size + read
            if time.monotonic() > shown + every:
                shown = time.monotonic()
                bar.update(task, completed=size, records=records)

        yield advance
