"""The floor of ``grad``: a command line that imports numpy and prints one word."""

from typing import Annotated

import numpy as np
import typer


def main(
    program: str, x: Annotated[str, typer.Option("--x")] = "", v: Annotated[str, typer.Option("--v")] = ""
) -> None:
    """Print one word."""
    typer.echo("word" if program and x and v and np else "nothing")


typer.run(main)
