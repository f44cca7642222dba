"""Write docs/gradcli.1, the page that ``man gradcli`` shows: from the table of options and the commands' own words."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from gradcli import __version__
from gradcli.cli import commands, output
from gradcli.cli.app import SUMMARY
from gradcli.cli.options import COMMANDS, DEFAULTS, HELP, WITH_PROGRAM, Option, options_of

PAGE = Path(__file__).with_name("gradcli.1")
VARIABLES = {
    "NO_COLOR": "No colours, where it is not empty and neither --color nor GRADCLI_COLOR says otherwise.",
    "FORCE_COLOR, CLICOLOR_FORCE": "Colours in a pipe too; FORCE_COLOR=0 means none.",
    "CLICOLOR": "0 means no colours on a terminal.",
    "TERM": "dumb means no colours.",
    "COLUMNS": "The width of the tables.",
}


def escaped(text: str) -> str:
    """Return a text that roff shows as it stands."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return text.replace("^", "\\(ha").replace("~", "\\(ti").replace('"', "\\(dq").replace("ᵀ", "T").replace("·", "*")


def listed(heads: list[str], text: str) -> str:
    """Return an entry of a list: the words in bold, and what they mean below."""
    return f".TP\n{', '.join(heads)}\n{escaped(text)}"


def option(one: Option) -> str:
    """Return the entry of an option, or of an argument."""
    value = f" \\fI{escaped(one.metavar)}\\fR" if one.metavar else ""
    least, most = one.between or (0, 0)
    bounds = "" if not most or f"{least} to {most}" in one.help else f" From {least} to {most:,}."
    default = f" [default: {one.default}]" if one.kind is not bool and one.default not in (None, "") else ""
    heads = [f"\\fB{escaped(flag)}\\fR" for flag in one.flags]
    heads = [*heads[:-1], heads[-1] + value] if heads else [value.strip()]
    return listed(heads, f"{one.help}{bounds}{default}")


def described(name: str) -> Iterator[str]:
    """Yield the section of a command: what it does, its options, and its examples."""
    text = inspect.getdoc(getattr(commands, name)) or ""
    prose, _, examples = text.partition("\b\n")
    options = [*options_of(name).values(), HELP]
    operand = next((one.metavar for one in options if not one.flags), None)
    variable = " [\\fB\\-\\-\\fINAME VALUE\\fR ...]" if name in WITH_PROGRAM else ""
    yield f".SS gradcli {name} [\\fIOPTIONS\\fR]{variable}" + (f" [\\fI{operand}\\fR]" if operand else "")
    yield from ("\n.PP\n".join(escaped(" ".join(part.split())) for part in prose.strip().split("\n\n")),)
    yield from map(option, options)
    if examples:
        yield ".PP\nFor example:\n.PP\n.nf\n.RS 4"
        yield from (escaped(line).replace("...", "\\&...") for line in examples.strip().splitlines())
        yield ".RE\n.fi"


def exit_codes() -> Iterator[str]:
    """Yield the exit codes, each with the line that stands below it in the source."""
    body = ast.parse(inspect.getsource(output.ExitStatus)).body[0].body  # type: ignore[attr-defined]
    for member, line in zip(body[1::2], body[2::2], strict=True):
        yield listed([f"\\fB{member.value.value}\\fR"], line.value.value)


def lines() -> Iterator[str]:
    """Yield the page."""
    yield '.\\" Written by docs/make_man.py from the table of options.'
    yield f'.TH GRADCLI 1 "" "gradcli {__version__}" "User Commands"'
    yield f".SH NAME\ngradcli \\- {escaped(SUMMARY.removesuffix('.')[0].lower() + SUMMARY.removesuffix('.')[1:])}"
    yield ".SH SYNOPSIS\n.B gradcli\n[\\fICOMMAND\\fR] [\\fIOPTIONS\\fR] [\\fIPROGRAM\\fR]\n.br\n.B gradcli \\-\\-version"
    yield ".SH DESCRIPTION"
    yield escaped(
        "Without a command the words are those of explain. A program is a formula, several statements, or the name of "
        "a file; its variables are options: --x 1,2 gives x. A value is numbers, JSON, an expression without variables, "
        "or @FILE (.npy, .npz, .json, .csv, .tsv, .txt); - is standard input."
    )
    yield ".SH COMMANDS"
    for name in COMMANDS:
        yield from described(name)
    yield ".SH EXIT STATUS"
    yield from exit_codes()
    yield ".SH ENVIRONMENT"
    for name, words in DEFAULTS.items():
        flag = name.removeprefix("GRADCLI_").lower()
        yield listed([f"\\fB{name}\\fR"], f"What --{flag} is where it is not given: {', '.join(words)}.")
    yield from (listed([f"\\fB{name}\\fR"], text) for name, text in VARIABLES.items())


def page() -> str:
    """Return the page."""
    return re.sub(r"\n{2,}", "\n", "\n".join(lines())) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
