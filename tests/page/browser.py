"""A real browser for tests: headless Chromium, led by playwright; and why there is none."""

import functools
import os
import shutil
from importlib.util import find_spec

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium():
    """Return the path of Chromium, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def missing():
    """Return what the tests of the page lack on this machine, in words; nothing where they can run."""
    packages = [name for name in ("playwright", "axe_playwright_python") if find_spec(name) is None]
    lacks = [f"the Python packages {' and '.join(packages)} (pip install '.[browser]')"] if packages else []
    lacks += [] if chromium() else ["Chromium (on Debian: apt-get install chromium)"]
    return " and ".join(lacks)


REQUIRED = os.environ.get("GRADCLI_REQUIRE_BROWSER") == "1"
"""Whether a browser that is missing is a failure, as in ``.ci/run``."""


@functools.cache
def axe_source():
    """Return the script of axe-core that the pinned package carries."""
    from importlib.resources import files

    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
