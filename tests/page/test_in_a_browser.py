"""What a reader does with the page: sliders, buttons, folds, the keyboard alone, on screens of any width."""

import json

import numpy as np
import pytest

import gradcli
from gradcli.explanation.explaining import ViewRequest, with_views
from gradcli.page.assembling import page as page_of
from oracles import portion
from page.browser import axe_source

THREE = ("[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]", {"x": [1.0, 2.0], "v": [1, 10, 100]})
NETWORK = (
    "z = W1 @ x + b1\nh = tanh(z)\ny = W2 @ h + b2\nloss = sum((y - t)**2)",
    {
        "W1": [[0.1, 0.05], [0.4, 0.6]], "b1": [0.0, 0.1], "W2": [[1.0, -1.0], [0.5, 2.0]], "b2": [0.0, 0.2],
        "x": [1.0, 2.0], "t": [0.0, 1.0], "wrt": ["W1", "b1", "W2", "b2"],
    },
)  # fmt: skip
SIXTY = ("tanh(W @ x)", {"W": np.sin(np.arange(3600.0)).reshape(60, 60) / 9, "x": np.linspace(0, 1, 60),
    "v": np.ones(60), "wrt": ["x"]})  # fmt: skip
DIAGONAL = ("x*x + sin(x)", {"x": np.linspace(0, 1, 2000), "v": np.ones(2000)})
EXAMPLES = {"three": THREE, "network": NETWORK, "sixty": SIXTY, "diagonal": DIAGONAL}
ONES = "v[1], the weight of y[1]"


def explained(example, **changed):
    program, given = example
    return gradcli.explain(program, **{**given, **changed})


def test_v_moves_by_its_slider_and_all_else_follows(open_page):
    page = open_page(THREE[0], **THREE[1])
    assert page.row("vᵀ·J") == page.row("x.grad") == [26, 1240]
    page.tab.get_by_label(f"{ONES}, slider").press("ArrowRight")
    moved = explained(THREE, v=[1, 10.2, 100])
    assert page.row("vᵀ·J") == page.row("x.grad") == moved.grad["x"].tolist() == [26.4, 1244.8]
    assert page.tab.get_by_label("v[1], the weight of y[1]", exact=True).input_value() == "10.2"
    assert page.text("#sums li:first-child").replace("\n", "").startswith("x.grad[0] = 1·6 + 10.2·2 = 26.4")
    assert page.text("#meaning .total").endswith("= 2176.4")
    assert "grad 26.4" in page.tab.locator(".node", has_text="x[0]").text_content()
    page.tab.locator("#said", has_text="x.grad is [26.4, 1244.8]").wait_for(state="attached")
    assert page.said == []


@pytest.mark.parametrize(
    ("button", "v"), [("ones", [1, 1, 1]), ("mean", [1 / 3] * 3), ("row y[1]", [0, 1, 0]), ("as given", [1, 10, 100])]
)
def test_a_button_sets_v(open_page, button, v):
    page = open_page(THREE[0], **THREE[1])
    page.fill(ONES, -7)
    page.tab.get_by_role("button", name=button, exact=True).click()
    wanted = explained(THREE, v=v).grad["x"]
    assert page.row("vᵀ·J") == pytest.approx(wanted, rel=1e-5)
    assert page.tab.locator("button[aria-pressed=true]").all_inner_texts() == [button]


def test_an_input_moves(open_page):
    page = open_page(NETWORK[0], **NETWORK[1])
    page.fill("W2[0,1]", 0.25)
    page.fill("x[0]", -0.5)
    moved = explained(NETWORK, W2=[[1.0, 0.25], [0.5, 2.0]], x=[-0.5, 2.0])
    for k, name in enumerate(NETWORK[1]["wrt"]):
        assert page.row("vᵀ·J", k) == page.row(f"{name}.grad", k) == pytest.approx(moved.grad[name].ravel(), rel=1e-5)
    page.tab.get_by_role("button", name="back to the answer").click()
    assert page.row("vᵀ·J") == pytest.approx(explained(NETWORK).grad["W1"].ravel(), rel=1e-5)


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("y = x\nwhile norm(y) < 9:\n    y = y*2\ny", "a branch or a loop"), ("max(x)*x", "the function max"),
        ("where(x > 0, x**2, -x)", "one way or another"), ("x.detach()*x", "the function detach"),
        ("x*arange(25).sum()*ones(25)[0]", "the function arange"),
    ],
)  # fmt: skip
def test_an_input_stands_still_where_the_formulas_say_nothing_of_other_points(open_page, program, why):
    page = open_page(program, x=[1.5, -0.5], v=[1, 2])
    assert why in page.text("#inputs")
    assert page.tab.locator("#inputs input").count() == 0
    name = page.tab.locator("table.matrix tbody th").first.inner_text()
    page.fill(f"v[0], the weight of {name}", 3)
    assert page.row("vᵀ·J") == pytest.approx(gradcli.explain(program, x=[1.5, -0.5], v=[3, 2]).grad["x"], rel=1e-5)


def test_a_term_lights_its_cell_its_v_and_its_path(open_page):
    page = open_page(THREE[0], **THREE[1])
    term = page.tab.locator("#sums .factor").nth(2)
    term.hover()
    lit = page.tab.locator(".lit").evaluate_all("nodes => nodes.map(node => [node.dataset.row, node.dataset.column])")
    assert {tuple(one) for one in lit} == {("1", None), (None, "x:1"), ("1", "x:1")}
    assert page.tab.locator(".cell.lit").inner_text().replace("\n", " ").endswith("10·24")
    assert page.tab.locator("input.lit").count() == 4  # of v[1], and of x[1]
    assert page.tab.locator(".edge.lit").count() == 1
    page.tab.locator("h1").hover()
    page.tab.mouse.move(5, 5)
    assert page.tab.locator(".lit").count() == 0


def test_the_keyboard_alone_reaches_everything(open_page):
    page = open_page(THREE[0], **THREE[1])
    reached = []
    for _ in range(25):
        page.tab.keyboard.press("Tab")
        reached.append(
            page.tab.evaluate(
                "(n => n.getAttribute('aria-label') || n.className || n.id || n.tagName)(document.activeElement)"
            )
        )
        if reached[-1].startswith("cell") and reached.count(reached[-1]) == 1:
            page.tab.keyboard.press("ArrowRight")
            page.tab.keyboard.press("ArrowDown")
            assert page.tab.evaluate("document.activeElement.dataset") == {"row": "1", "column": "x:1"}
            assert page.tab.locator(".factor.lit").inner_text() == "10·24"
    order = ["skip", "theme", "v[0], the weight of y[0]", "cell", "v[0] times", "x[0]", "lines of Forward"]
    places = [next(k for k, what in enumerate(reached) if what.startswith(name)) for name in order]
    assert places == sorted(places)
    assert [what for what in reached if what.startswith(("x[0], 1", "y[0]"))]  # a node of the picture


def test_folds_open_by_the_keyboard_and_records_that_are_there_are_shown(open_page):
    found = explained(NETWORK)
    text = "".join(page_of(found))
    steps = [{"rule": "power", "of": "z", "value": [1.0, 2.0]}, {"rule": "chain", "formula": "</script><b>"}]
    sent = [{"to": "h", "formula": "y.grad*h", "adds": True, "slope": None}, {"to": "x", "value": [[1.0, "NaN"]]}]
    tape = {"rows": [{"name": "y", "saved": ["h"], "sent": sent}, {"name": "x", "saved": [], "sent": []}], "gap": 0}
    added = json.dumps({"steps": steps, "tape": tape})[1:-1].replace("<", "\\u003c")
    page = open_page("", text=text.replace('{"schema"', f'{{{added}, "schema"', 1))
    asked = [("Steps", "</script><b>"), ("Tape", "to: h; formula: y.grad*h; adds"), ("Names that", "h = tanh(z)")]
    for title, wanted in asked:
        summary = page.tab.locator("summary", has_text=title)
        assert summary.is_visible()
        fold = page.tab.locator("details", has=summary)
        assert not fold.get_by_text(wanted).is_visible()
        summary.press("Enter")
        assert fold.get_by_text(wanted).is_visible()


def seen(page, part):
    """Return the text of a part of the page in one line."""
    return " ".join(page.tab.locator(f"#{part}").inner_text().split())


def test_what_was_asked_for_beside_the_answer_is_on_the_page(open_page):
    found = with_views(
        gradcli.explain("x[0]**2*x[1]*s", x=[1.0, 2.0], s=3.0),
        ViewRequest(rows=True, u={"x": [1.0, 1.0]}, hessian=True, lr=0.01, iterations=2),
    )
    page = open_page("", text="".join(page_of(found)), width=360)
    assert "y [12, 3] 2" in seen(page, "one_hot")
    for part in ("x [1, 1] [12, 3]", "s 0 2", "J·u = 15", "3 forward passes, or 1 backward"):
        assert part in seen(page, "jvp")
    for part in ("x[0], x[0]", "x[1], s", "∂²y/∂s∂s, zero All entries are 0.", "H·u of x = [18, 6]", "H·u of s = 5"):
        assert part in seen(page, "hessian")
    names = page.tab.locator("#hessian tbody tr td:first-child").all_inner_texts()
    values = page.tab.locator("#hessian tbody tr td:last-child").all_inner_texts()
    assert dict(zip(names, map(float, values), strict=True)) == {
        "x[0], x[0]": 12, "x[0], x[1]": 6, "x[1], x[0]": 6, "x[0], s": 4, "x[1], s": 1,
    }  # fmt: skip
    assert [row.split("\t")[:4] for row in page.tab.locator("#descent tbody tr").all_inner_texts()] == [
        ["0", "[1, 2]", "3", "6"], ["1", "[0.88, 1.97]", "2.98", "4.54619"],
        ["2", "[0.776677, 1.94692]", "2.96474", "3.48191"],
    ]  # fmt: skip
    assert page.tab.locator("#descent svg circle").count() == 3
    page.tab.evaluate(axe_source())
    assert page.tab.evaluate("axe.run().then((found) => found.violations.map(({id}) => id))") == []
    assert page.said == []


SCREENS = [
    ("network", 360, "light"), ("three", 360, "light"), ("three", 1280, "light"), ("three", 1920, "dark"),
    ("network", 1280, "light"), ("network", 1920, "dark"), ("sixty", 1920, "dark"), ("sixty", 360, "light"),
    ("diagonal", 360, "dark"), ("diagonal", 1280, "light"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "width", "scheme"), portion([pytest.param(*screen) for screen in SCREENS], 3))
def test_a_page_is_accessible_fits_its_screen_and_says_nothing_on_the_console(open_page, name, width, scheme):
    page = open_page(EXAMPLES[name][0], width=width, scheme=scheme, **EXAMPLES[name][1])
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= width
    assert page.tab.locator("svg").first.is_visible()
    page.tab.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    page.tab.evaluate(axe_source())
    found = page.tab.evaluate("axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'best-practice']})")
    assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found["violations"]] == []
    assert len(found["passes"]) > 20
    assert page.said == []
    assert [url for url in page.asked if not url.startswith(("file:", "data:"))] == []


def test_a_large_matrix_is_searched(open_page):
    page = open_page(DIAGONAL[0], **DIAGONAL[1])
    assert page.tab.locator("td, th").count() < 500
    assert "2,000×2,000 diagonal, 2,000 of 4,000,000 entries, 1 pass" in page.text("#matrices")
    assert "∂y[i]/∂x[i] = 2*x[i] + cos(x[i])" in page.text("#matrices .rules")
    page.tab.get_by_role("searchbox").fill("y[1234]")
    rows = page.tab.locator(".found tbody tr")
    value = gradcli.explain(*DIAGONAL[:1], **DIAGONAL[1]).jacobian["x"].values[1234]
    assert rows.all_inner_texts() == [f"y[1234]\tx[1234]\t\t{value:.6g}\t1\t{value:.6g}"]
    page.tab.get_by_label("entry of y, counted from 0:").fill("1234")
    page.tab.get_by_role("button", name="only this one").click()
    assert page.tab.locator(".leading li").first.inner_text() == f"x[1234] {value:.6g}"
    page.fill("v[1234], the weight of y[1234]", 2)
    assert page.tab.locator(".leading li").first.inner_text() == f"x[1234] {2 * value:.6g}"


HOSTILE = "y = x*2  # </script><script>hacked=1</script><!-- <img src=x onerror=hacked=1> {script} \u2028 ]]>\ny*y"


def test_a_hostile_text_runs_nothing(open_page):
    page = open_page(HOSTILE, x=3.0)
    assert page.tab.evaluate("[typeof hacked, document.images.length, document.scripts.length]") == ["undefined", 0, 2]
    assert page.tab.locator("#program").text_content().startswith(HOSTILE[:40])
    assert page.said == []


def test_the_policy_forbids_requests_and_other_scripts(open_page):
    page = open_page("x**2", x=3.0)
    page.tab.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "hacked = 1";
            document.body.append(script);
            const image = document.createElement("img");
            image.alt = "";
            image.src = "http://127.0.0.1:9/x.png";
            document.body.append(image);
        }"""
    )
    refused = page.tab.evaluate("fetch('http://127.0.0.1:9/').then(() => 'sent', error => error.name)")
    assert (refused, page.tab.evaluate("typeof hacked")) == ("TypeError", "undefined")
    page.tab.wait_for_timeout(50)
    about = [text for text in page.said if "Content Security Policy" in text]
    assert all(any(what in text for text in about) for what in ("inline script", "x.png", "127.0.0.1:9/."))
    assert page.said == about


def visible_parts(page):
    heads = page.tab.locator("main section:visible h2")
    return heads.all_inner_texts()


@pytest.mark.parametrize("width", [360, 1280])
def test_a_lecture_shows_one_part_after_another_and_the_numbers_of_j_when_asked(open_page, width):
    page = open_page(THREE[0], width=width, **THREE[1])
    assert not page.tab.locator("#lectern").is_visible()
    everything = visible_parts(page)
    page.tab.get_by_role("button", name="lecture").press("Enter")
    assert visible_parts(page) == []
    page.tab.keyboard.press("Enter")  # next has the focus
    assert visible_parts(page) == ["Forward"]
    page.tab.keyboard.press("ArrowRight")
    assert visible_parts(page) == ["v beside the rows of J", "Forward"]
    assert set(page.tab.locator("table.matrix .cell .value").all_inner_texts()) == {"?"}
    assert set(page.tab.locator("table.matrix tfoot td[data-column]").all_inner_texts()) == {"?"}
    assert page.text("#lecture-said") == "2 of 8: v beside the rows of J"
    page.tab.evaluate(axe_source())
    assert page.tab.evaluate("axe.run().then((found) => found.violations.map(({id}) => id))") == []
    assert page.tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.tab.get_by_role("button", name="next").click()
    assert page.row("vᵀ·J") == page.row("x.grad") == [26, 1240]
    for _ in range(5):
        page.tab.keyboard.press("ArrowRight")
    assert visible_parts(page) == everything
    assert not page.tab.locator("#lectern").is_visible()
    assert page.said == []
