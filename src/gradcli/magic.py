"""``%gradcli`` and ``%%gradcli`` in a notebook: the line or the cell is the program, in the notebook's variables."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

from gradcli.errors import Budget, GradcliError
from gradcli.explanation.evaluation import Function
from gradcli.interface import explain
from gradcli.language.values import read_value

if TYPE_CHECKING:
    from gradcli.interface import Explanation

GIVES = re.compile(r"(?:--)?([A-Za-z_]\w*)(?:=(.*))?", re.DOTALL)
"""A word that gives a variable a value, with the value or before it."""


def explain_line(line: str, variables: dict[str, Any]) -> Explanation:
    """Return the explanation of a program on one line, with values after it: ``W @ x --x 1,2 --v 1,10``."""
    program, *begins = re.split(r"\s(?=--[A-Za-z_])", line, maxsplit=1)
    return explain_cell("".join(begins), program, variables)


def explain_cell(line: str, cell: str, variables: dict[str, Any]) -> Explanation:
    """Return the explanation of a cell.

    ``line`` gives variables, v and names to differentiate by: ``x=1,2 v=1,10 wrt=x``, or ``--x 1,2 --v 1,10`` as on the
    command line. A value that is a name is a variable of the notebook, ``variables``; so is any variable that the line
    leaves out and no line of the cell assigns.
    """
    texts = given_values(line)
    v, wrt = texts.pop("v", None), texts.pop("wrt", None)
    values = {name: value_of(text, name, variables) for name, text in texts.items()}
    program = Function(cell, given=values).program
    needed = program.free if program.is_script else program.inputs
    values |= {name: variables[name] for name in needed if name not in values and name in variables}
    names = None if wrt is None else [name.strip() for name in wrt.split(",")]
    return explain(cell, v=None if v is None else value_of(v, "v", variables), wrt=names, inputs=values)


def given_values(line: str) -> dict[str, str]:
    """Return what a line gives, by name; raises ``option``."""
    hint = "for example %%gradcli x='1, 2' v=1,10"
    try:
        words = iter(shlex.split(line))
    except ValueError:
        raise GradcliError("option", "a quote is not closed", hint=hint) from None
    result: dict[str, str] = {}
    for word in words:
        gives = GIVES.fullmatch(word)
        text = None if gives is None else gives[2] or (next(words, None) if word.startswith("--") else None)
        if gives is not None and not text and word.startswith("--"):
            message = f"{word[:40]} has no value, and a magic has no other options"
            raise GradcliError("option", message, hint=f"{hint}; for the others !gradcli")
        if gives is None or not text:
            raise GradcliError("option", f"'{word[:40]}' is not NAME=VALUE", hint=hint)
        result[gives[1]] = text
    return result


def value_of(text: str, name: str, variables: dict[str, Any]) -> Any:
    """Return the value of a text: a variable of the notebook, or numbers."""
    return variables[text] if text in variables else read_value(text, name, Budget())


class CellError(Exception):
    """What is wrong with a cell: a notebook shows it by itself, without the lines of gradcli that it came through."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


def load(shell: Any) -> None:
    """Enter ``%gradcli`` and ``%%gradcli`` in an IPython shell; what is wrong is raised as a ``CellError``."""
    from IPython.core.magic import no_var_expand  # the shell has it

    @no_var_expand
    def run(line: str, cell: str | None = None) -> Explanation:
        try:
            return explain_line(line, shell.user_ns) if cell is None else explain_cell(line, cell, shell.user_ns)
        except GradcliError as error:
            raise CellError(error) from None

    shell.register_magic_function(run, magic_kind="line_cell", magic_name="gradcli")
