"""The ``doctor`` command's work: what gradcli runs on, what its output can show, and which extras are missing."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib import metadata
from typing import Any

from gradcli import __version__
from gradcli.cli.options import DEFAULTS, refuse_value
from gradcli.cli.output import Environment, is_terminal, is_utf, terminal_width
from gradcli.errors import GradcliError
from gradcli.errors.inert import inert

PACKAGES = ("typer", "rich", "numpy", "sympy", "mpmath")
EXTRAS = {
    "repl": ("prompt_toolkit", "lines one after the other, with history and completion"),
    "notebook": ("ipython", "%gradcli and %%gradcli in a notebook"),
    "dask": ("dask", "gradcli.answer on a cluster"),
    "torch": ("torch", "what --code torch prints can be run"),
    "jax": ("jax", "what --code jax prints can be run"),
}
"""The extras with the package that each of them brings, and what it adds."""
SHOWN = (*DEFAULTS, "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "TERM", "COLUMNS")
"""Variables of the environment that change what is printed."""
LONGEST = 40


def version_of(package: str) -> str | None:
    """Return the version of a package that is installed, None for one that is not."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def problems(env: Environment) -> Iterator[str]:
    """Yield what is wrong with the variables that stand for options."""
    for variable, words in DEFAULTS.items():
        try:
            refuse_value(variable, env.variables.get(variable) or words[0], words)
        except GradcliError as error:
            yield f"{error.message}: {error.hint}"


def examined(env: Environment) -> dict[str, Any]:
    """Return the JSON document of what was found."""
    encoding = env.encoding(env.stdout)
    return {
        "schema": 1,
        "version": __version__,
        "python": {"version": platform.python_version(), "implementation": platform.python_implementation()},
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
        "packages": {name: version_of(name) for name in PACKAGES},
        "output": {
            "terminal": env.stdout_is_terminal,
            "columns": terminal_width(env),
            "colors": env.coloured(env.stdout),
            "encoding": encoding,
            "unicode": is_utf(encoding),
        },
        "input": {"terminal": env.stdin is not None and is_terminal(env.stdin)},
        "variables": {name: env.variables[name] for name in SHOWN if env.variables.get(name)},
        "problems": list(problems(env)),
        "extras": [
            {"name": name, "package": package, "version": version_of(package), "adds": adds}
            for name, (package, adds) in EXTRAS.items()
        ],
        "error": None,
    }


def report_lines(document: dict[str, Any]) -> Iterator[str]:
    """Yield what was found in lines."""
    python, output = document["python"], document["output"]
    yield f"gradcli {document['version']}, {python['implementation']} {python['version']}, {document['platform']}"
    yield ", ".join(f"{name} {version or 'missing'}" for name, version in document["packages"].items())
    columns = "any width" if output["columns"] is None else f"{output['columns']} columns"
    colors = "colours" if output["colors"] else "no colours"
    letters = output["encoding"] + ("" if output["unicode"] else ", so ASCII alone")
    yield f"output: {'a terminal' if output['terminal'] else 'no terminal'}, {columns}, {colors}, {letters}"
    values = [f"{name}={inert(value[:LONGEST], '')}" for name, value in document["variables"].items()]
    yield f"variables: {', '.join(values) or 'none'}"
    yield from (f"wrong: {inert(problem, '')}" for problem in document["problems"])
    for extra in document["extras"]:
        missing = "" if extra["version"] else f'; pip install "gradcli[{extra["name"]}]"'
        yield f"extra {extra['name']} ({extra['version'] or 'missing'}): {extra['adds']}{missing}"
