"""The page of an answer, in a real browser."""

from dataclasses import dataclass, field

import pytest

import gradcli
from gradcli.page.assembling import page as page_of
from page.browser import FLAGS, REQUIRED, chromium, missing


@pytest.fixture(scope="session")
def chrome():
    """Return a running browser; without one the test is skipped with what to install, or fails where it is required."""
    lacks = missing()
    if lacks and not REQUIRED:
        pytest.skip(f"the page is not tried in a browser: it needs {lacks}")
    assert not lacks, lacks
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        yield running
        running.close()


@dataclass
class Opened:
    """A page that is open, what it has said on its console, and what it has asked for."""

    tab: object
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def text(self, selector):
        return self.tab.locator(selector).inner_text()

    def row(self, label, table=0):
        """Return the numbers of a row below J: ``vᵀ·J``, or that of the gradient."""
        rows = self.tab.locator("table.matrix").nth(table).locator("tfoot tr", has_text=label)
        return [float(text) for text in rows.locator("td[data-column]").all_inner_texts()]

    def fill(self, label, value):
        """Type a number into the field with this label."""
        self.tab.get_by_label(label, exact=True).fill(str(value))


@pytest.fixture
def open_page(chrome, tmp_path):
    """Open the page of an explanation: ``open_page("x**2", x=3.0, v=1, width=360, scheme="dark")``."""
    contexts = []

    def opened(program, *, width=1280, height=800, scheme="light", motion="no-preference", text=None, **given):
        target = tmp_path / f"page{len(contexts)}.html"
        whole = "".join(page_of(gradcli.explain(program, **given))) if text is None else text
        target.write_text(whole, encoding="utf-8")
        context = chrome.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion=motion
        )
        contexts.append(context)
        context.set_default_timeout(5_000)
        found = Opened(context.new_page())
        found.tab.on("console", lambda message: found.said.append(message.text))
        found.tab.on("pageerror", lambda error: found.said.append(str(error)))
        found.tab.on("request", lambda request: found.asked.append(request.url))
        found.tab.goto(target.as_uri())
        return found

    yield opened
    for context in contexts:
        context.close()
