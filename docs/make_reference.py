"""The pages of the reference that come from the code, commands, functions and JSON: the site has them, the checkout does not."""

from __future__ import annotations

import io
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradcli.cli.app import COMMANDS, run
from gradcli.cli.output import Environment
from gradcli.ops.vocabulary import rows

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

SOURCE = Path(__file__).parent.parent / "src" / "gradcli"


class Stream(io.StringIO):
    """A stream of a terminal's letters."""

    encoding = "utf-8"


def printed(*words: str) -> str:
    """Return what a command line prints on a screen of 80 columns."""
    env = Environment(stdin=io.StringIO(), stdout=Stream(), stderr=Stream(), variables={"COLUMNS": "80"})
    run(list(words), env)
    return env.stdout.getvalue()


def commands() -> Iterator[str]:
    """Yield the page of the commands: what each prints as its help."""
    yield "# Commands\n"
    yield "Each command's `--help`, as it is printed on 80 columns.\n"
    for name in ("", *COMMANDS):
        words = (name, "--help") if name else ("--help",)
        yield f"## gradcli {name}".rstrip() + f"\n\n```text\n{printed(*words).strip()}\n```\n"


def functions() -> Iterator[str]:
    """Yield the page of the functions: by family, with the formula and the derivatives that ``facts.toml`` has."""
    facts = tomllib.loads((SOURCE / "ops" / "facts.toml").read_text(encoding="utf-8"))
    families: dict[str, list[Any]] = {}
    for row in rows():
        families.setdefault(row.family, []).append(row)
    yield "# Functions\n"
    yield "What each function gives, and its derivatives; `gradcli functions NAME` adds an example and the convention at a kink.\n"
    for family, members in families.items():
        yield f"## {family}\n"
        for row in members:
            fact = facts.get(row.name, {})
            yield f"**`{row.signature}`** {row.summary}\n"
            formulas = [fact["formula"]] if fact.get("formula") else []
            lines = [*formulas, *fact.get("derivatives", [])]
            if lines:
                yield "```text\n" + "\n".join(lines) + "\n```\n"


def schema() -> Iterator[str]:
    """Yield the page of the JSON documents: the keys of each, as the schema has them."""
    whole = json.loads((SOURCE / "render" / "schema.json").read_text(encoding="utf-8"))
    yield "# JSON\n"
    yield f"{whole['description']}\n"
    yield "`gradcli schema` prints the schema itself. In the tables, what may be missing stands in italics.\n"
    for name, part in whole["$defs"].items():
        if part.get("type") != "object" or "properties" not in part:
            continue
        yield f"## {name}\n"
        if "description" in part:
            yield f"{part['description']}\n"
        yield "| key | value |\n|---|---|"
        for key, value in part["properties"].items():
            shown = f"`{key}`" if key in part.get("required", ()) else f"*`{key}`*"
            yield f"| {shown} | {kind_of(value)} |"
        yield ""


def kind_of(value: dict[str, Any]) -> str:
    """Return what a key holds, in a cell of a table."""
    if "description" in value:
        return str(value["description"]).replace("|", "\\|")
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return f"{name}"
    if "const" in value or "enum" in value:
        return " or ".join(f"`{json.dumps(one)}`" for one in value.get("enum", [value.get("const")]))
    for several in ("oneOf", "anyOf"):
        if several in value:
            return " or ".join(dict.fromkeys(kind_of(one) for one in value[several]))
    kind = value.get("type", "any")
    if kind == "array" and "items" in value:
        return f"a list of {kind_of(value['items'])}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


PAGES = {"commands.md": commands, "functions.md": functions, "schema.md": schema}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages to those that the site is built from: a hook of mkdocs, see ``hooks`` in mkdocs.yml."""
    from mkdocs.structure.files import File  # the extra ``docs`` has it

    for name, lines in PAGES.items():
        files.append(File.generated(config, name, content="\n".join(lines())))
    return files
