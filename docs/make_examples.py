"""Write the examples of the pages anew: what each command prints stands below it, as tests/test_readme.py holds."""

from __future__ import annotations

import io
import os
import re
import shlex
from pathlib import Path

from gradcli.cli.app import run
from gradcli.cli.output import Environment

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
BLOCK = re.compile(r"(```console\n\$ gradcli (.*?)\n)(.*?)(```)", re.DOTALL)


class Stream(io.StringIO):
    """A stream of a terminal's letters."""

    encoding = "utf-8"


def printed(command: str) -> str:
    """Return what a command prints on a screen of 80 columns, errors last."""
    env = Environment(stdin=io.StringIO(), stdout=Stream(), stderr=Stream(), variables={"COLUMNS": "80"})
    run(shlex.split(command), env)
    return f"{env.stdout.getvalue()}{env.stderr.getvalue()}"


def main() -> None:
    """Write all pages."""
    os.chdir(ROOT)
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        page.write_text(BLOCK.sub(lambda block: block[1] + printed(block[2]) + block[4], text), encoding="utf-8")


if __name__ == "__main__":
    main()
