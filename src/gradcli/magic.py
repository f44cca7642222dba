"""``%%gradcli`` in a notebook: the cell is the program, its variables are those of the notebook."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from gradcli.errors import Budget, GradcliError
from gradcli.explanation.evaluation import Function
from gradcli.interface import explain
from gradcli.language.values import read_value

if TYPE_CHECKING:
    from gradcli.interface import Explanation


def explain_cell(line: str, cell: str, variables: dict[str, Any]) -> Explanation:
    """Return the explanation of a cell.

    ``line`` gives variables, v and names to differentiate by, as the command line has them: ``x=1,2 v=1,10 wrt=x``.
    A value that is a name is a variable of the notebook, ``variables``; so is any variable that the line leaves out.
    """
    try:
        texts = dict(word.partition("=")[::2] for word in shlex.split(line))
    except ValueError:
        raise GradcliError("option", "a quote is not closed", hint="for example %%gradcli x='1, 2' v=1,10") from None
    wrong = next((name for name, text in texts.items() if not (name.isidentifier() and text)), None)
    if wrong is not None:
        raise GradcliError("option", f"'{wrong[:40]}' is not NAME=VALUE", hint="for example %%gradcli x=1,2 v=1,10")
    v, wrt = texts.pop("v", None), texts.pop("wrt", None)
    values = {name: value_of(text, name, variables) for name, text in texts.items()}
    needed = Function(cell, given=values).inputs
    values |= {name: variables[name] for name in needed if name not in values and name in variables}
    names = None if wrt is None else [name.strip() for name in wrt.split(",")]
    return explain(cell, v=None if v is None else value_of(v, "v", variables), wrt=names, inputs=values)


def value_of(text: str, name: str, variables: dict[str, Any]) -> Any:
    """Return the value of a text: a variable of the notebook, or numbers."""
    return variables[text] if text in variables else read_value(text, name, Budget())


class CellError(Exception):
    """What is wrong with a cell: a notebook shows it by itself, without the lines of gradcli that it came through."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


def load(shell: Any) -> None:
    """Enter ``%%gradcli`` in an IPython shell; a cell raises ``CellError``."""

    def run(line: str, cell: str) -> Explanation:
        try:
            return explain_cell(line, cell, shell.user_ns)
        except GradcliError as error:
            raise CellError(error) from None

    shell.register_magic_function(run, magic_kind="cell", magic_name="gradcli")
