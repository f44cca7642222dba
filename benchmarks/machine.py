"""What was measured, and on what: facts about the machine and the installed gradcli, without a path."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.processes import ROOT, answer

PACKAGES = ("numpy", "sympy", "typer", "rich", "torch", "jax", "autograd", "casadi", "symengine")
STATE = """
import importlib.util, json, pathlib
home = pathlib.Path(importlib.util.find_spec("gradcli").origin).parent
modules = sorted(home.rglob("*.py"))
cached = [importlib.util.cache_from_source(str(path)) for path in modules]
print(json.dumps([str(home), len(modules), sum(map(pathlib.Path.exists, map(pathlib.Path, cached)))]))
"""


def facts() -> dict[str, Any]:
    """Return what the figures depend on."""
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "commit": commit(),
        "gradcli": installation(),
    }


def processor() -> str:
    """Return the model of the processor, where the system names it."""
    found = Path("/proc/cpuinfo")
    lines = found.read_text(encoding="utf-8").splitlines() if found.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def version(name: str) -> str | None:
    """Return the version of an installed package, or None."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def commit() -> str | None:
    """Return the commit of the project, with a plus sign where files have changed since."""
    try:
        name = _git("rev-parse", "--short", "HEAD").strip()
        return name + ("+" if _git("status", "--porcelain") else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(*words: str) -> str:
    line = ["git", *words]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def installation() -> dict[str, Any]:
    """Return how gradcli is installed for this Python: version, bytecode, and whether it is the code of this tree."""
    home, modules, compiled = json.loads(answer([sys.executable, "-c", STATE]))
    return {
        "version": version("gradcli"),
        "modules": modules,
        "compiled": compiled,
        "editable": "site-packages" not in home,
        "as_in_tree": sources(Path(home)) == sources(ROOT / "src" / "gradcli"),
    }


def sources(home: Path) -> dict[str, bytes]:
    """Return the text of every module below a folder."""
    return {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*.py")}


def warnings(installed: dict[str, Any]) -> list[str]:
    """Return what makes the figures worth less than they could be."""
    found = []
    if installed["editable"]:
        found.append("gradcli runs from a source tree, not from an installation.")
    if installed["compiled"] < installed["modules"]:
        found.append(
            f"Only {installed['compiled']} of {installed['modules']} modules of gradcli have bytecode, so every start "
            "compiles the others. Install it without -e and without PYTHONDONTWRITEBYTECODE."
        )
    if not installed["as_in_tree"]:
        found.append("The installed gradcli is not the code of this tree.")
    return found
