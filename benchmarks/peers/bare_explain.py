"""The floor of ``explain``: a command line with the same libraries that prints one word."""

from typing import Annotated

import numpy as np
import rich.console
import rich.table
import sympy
import typer

LIBRARIES = (np, sympy, rich.table, rich.console)


def main(
    program: str, x: Annotated[str, typer.Option("--x")] = "", v: Annotated[str, typer.Option("--v")] = ""
) -> None:
    """Print one word."""
    typer.echo("word" if program and x and v and LIBRARIES else "nothing")


typer.run(main)
