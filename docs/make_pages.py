"""Draw docs/page/*.png: the page of three programs, light and dark, on a projector and on a phone.

It takes what the tests of the page take: ``pip install '.[browser]'`` and Chromium.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, sync_playwright

import gradcli
from gradcli.page.assembling import page

DOCS = Path(__file__).parent
PROGRAMS: dict[str, tuple[str, dict[str, Any]]] = {
    "three": ("[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]", {"x": [1.0, 2.0], "v": [1, 10, 100]}),
    "network": (
        (DOCS / "network.txt").read_text(encoding="utf-8"),
        {
            "W1": [[0.1, 0.05], [0.4, 0.6]], "b1": [0.0, 0.1], "W2": [[1.0, -1.0], [0.5, 2.0]], "b2": [0.0, 0.2],
            "x": [1.0, 2.0], "t": [0.0, 1.0], "wrt": ["W1", "b1", "W2", "b2"],
        },
    ),
    "sixty": ("sin(3*x)*flip(x, 0)", {"x": np.linspace(-1.0, 1.5, 60), "v": np.ones(60)}),
}  # fmt: skip
SCREENS = {"projector": (1920, 1080, 1), "phone": (360, 740, 2)}
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars"]


def main() -> None:
    """Write the pictures, and for the README one of a laptop with a term that is looked at."""
    target = DOCS / "page"
    target.mkdir(exist_ok=True)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        path = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        for name, (program, given) in PROGRAMS.items():
            file = Path(folder) / f"{name}.html"
            file.write_text("".join(page(gradcli.explain(program, **given))), encoding="utf-8")
            for scheme in ("light", "dark"):
                for screen, size in SCREENS.items():
                    draw(browser, file, target / f"{name}-{screen}-{scheme}.png", scheme, size)
        draw(
            browser, Path(folder) / "three.html", target / "three-laptop.png", "light", (1180, 1010, 1), "#sums .factor"
        )
        browser.close()


def draw(
    browser: Browser, file: Path, target: Path, scheme: Any, size: tuple[int, int, int], looked_at: str | None = None
) -> None:
    """Write a picture of what a screen shows of a page."""
    width, height, scale = size
    context = browser.new_context(
        viewport={"width": width, "height": height}, device_scale_factor=scale, color_scheme=scheme
    )
    tab = context.new_page()
    tab.goto(file.as_uri())
    if looked_at is not None:
        tab.locator(looked_at).nth(1).hover()
    tab.wait_for_timeout(300)
    tab.screenshot(path=target)
    context.close()


if __name__ == "__main__":
    main()
