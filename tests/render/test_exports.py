"""LaTeX, Markdown, HTML and SVG of an answer: they say what the tables say, and no text escapes from its place."""

import ast
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import numpy as np
import pytest

import gradcli
from gradcli.explanation.rereading import Reader
from gradcli.render.layout import Layout
from gradcli.render.markup import Columns, formula
from gradcli.render.terminal import picture
from oracles import cases, portion

TABLES = cases("exports.toml")

EXAMPLE = ("[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]", {"x": [1.0, 2.0]}, [1, 10, 100])
NETWORK = ("z = W @ x + b\nh = tanh(z)\nloss = sum((h - t)**2)",
    {"W": [[1.0, 2.0], [3.0, 4.0]], "x": [0.1, 0.2], "b": [0.0, 0.1], "t": [1.0, 0.0]}, None)  # fmt: skip
LOOP = ("y = x\nwhile y < 9: y = y*2\ny if y > 2 else x", {"x": 1.0}, None)
HOSTILE = (
    "h_0 = x**2  # </pre></div><script>alert(1)</script> \\end{document}\\input{/etc/passwd} ``` | ~~ $$ & % ]]>\n"
    "y_ = h_0*2  # ``` ```` <img src=x onerror=alert(1)> \\verb|x| {{ }} ^^5c\ny_",
    {"x": [3.0, 1.0]}, [1, 10],
)  # fmt: skip
WRITERS = {
    "latex": lambda found: found.to_latex(),
    "markdown": lambda found: found.to_markdown(),
    "html": lambda found: found._repr_html_(),
    "picture": lambda found: picture(found.document(), Layout(100)),
}
SEEDS = [(case["expression"], case["inputs"], case["calls"][0]["v"]) for case in cases("seed_cases.json")]
TORCH = [(row["expr"], {"x": row["x"]}, row["v"]) for row in cases("torch_cases.jsonl")]
PLAIN_TAGS = {"div", "p", "pre", "table", "thead", "tbody", "tr", "th", "td"}


def explained(case):
    program, inputs, v = case
    return gradcli.explain(program, inputs=inputs, v=v)


@pytest.mark.parametrize("name", ["latex", "markdown", "html"])
def test_a_network_looks_like_this(name, snapshot):
    assert WRITERS[name](explained(NETWORK)) == snapshot


class Tags(HTMLParser):
    """Collects tags and attributes, and the text between them."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.attributes, self.text = set(), [], set(), ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("case", [EXAMPLE, NETWORK, LOOP, HOSTILE], ids=lambda case: case[0][:20])
def test_html_is_tables_and_paragraphs_alone(case):
    found = Tags(explained(case)._repr_html_())
    assert found.open == []
    assert found.tags <= PLAIN_TAGS
    assert found.attributes <= {"class", "style", "scope"}
    assert case[0] in found.text.replace("y = [3", "[3")


@pytest.mark.parametrize("case", [EXAMPLE, HOSTILE], ids=lambda case: case[0][:20])
def test_a_picture_is_a_document_that_loads_nothing(case):
    text = picture(explained(case).document(), Layout(100))
    tags = {node.tag.rpartition("}")[2] for node in ET.fromstring(text).iter()}  # noqa: S314 - it is our own
    assert tags <= {"svg", "style", "defs", "clipPath", "rect", "g", "text", "circle"}
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "@font-face" not in text


def fences(text):
    """Return what stands outside of fenced code, read as CommonMark reads it."""
    outside, fence = [], ""
    for line in text.split("\n"):
        opened = re.match(r"(`{3,})", line)
        if not fence and opened:
            fence = opened[1]
        elif fence and re.fullmatch(r"`{3,}\s*", line) and len(line.strip()) >= len(fence):
            fence = ""
        elif not fence:
            outside.append(line)
    assert fence == ""
    return "\n".join(outside)


@pytest.mark.parametrize("case", [EXAMPLE, NETWORK, LOOP, HOSTILE], ids=lambda case: case[0][:20])
def test_markdown_keeps_code_in_its_fences(case):
    outside = fences(explained(case).to_markdown())
    assert "script" not in outside
    assert "onerror" not in outside
    tables = re.findall(r"(?:^\|.*\n?)+", outside, re.MULTILINE)
    assert tables or "J has one row here" in outside
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table.strip().split("\n")}) == 1


LATEX_CASES = [EXAMPLE, NETWORK, LOOP, HOSTILE, *portion(SEEDS, 28), *portion(TORCH, 100)]


@pytest.mark.long
@pytest.mark.parametrize("case", LATEX_CASES, ids=lambda case: case[0][:40])
def test_latex_compiles(case, tmp_path):
    """By TeX where it is installed; elsewhere groups and environments are counted."""
    text = explained(case).to_latex()
    body = re.sub(r"\\[\\{}$&#%_^~]", "", text)
    assert body.count("{") == body.count("}")
    begun, ended = (sorted(re.findall(rf"\\{word}\{{(\w+)\}}", text)) for word in ("begin", "end"))
    assert begun == ended
    assert text.count("\\end{document}") == 1
    assert len(re.findall(r"(?<!\\)%", text)) == 0
    if shutil.which("pdflatex") is None:
        return
    (tmp_path / "a.tex").write_text(text, encoding="utf-8")
    words = ("pdflatex", "-halt-on-error", "-interaction=nonstopmode", "-no-shell-escape", "a.tex")
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-600:]
    assert (tmp_path / "a.pdf").exists()


@pytest.mark.parametrize(("text", "written"), TABLES["an_expression_is_written_as_mathematics"])
def test_an_expression_is_written_as_mathematics(text, written):
    reader = Reader(
        {"M": np.ones((2, 2)), "C": np.ones((2, 1)), "u": np.ones(2), "x_9": np.ones(()), "x9": np.ones(())}, {}
    )
    assert formula(text, lambda part: getattr(reader.evaluate(part), "shape", None)) == written


@pytest.mark.parametrize("text", [
    "x @ W", "x @ y", "(x @ W) @ y", "(X @ W + x) @ V", "maximum(x, W) @ V", "tanh(W @ x) @ V", "x @ W * x @ y",
    "x.T @ W", "2*x @ (W + y)", "(x * X) @ y", "x @ (X @ W + y)", "(x @ y) * x @ W", "-x @ W @ V", "(X[0] + x) @ W",
    "X @ (x @ W)", "maximum(x * x, minimum(x[-1], -0.5)) * X[:, 1]", "X[0] @ W", "W[:1] @ X @ x",
    "sum(X, 0) @ W", "sum(X, 0) * X @ y", "sum(X) * x @ W", "X**2 @ W", "x[:, None] * y", "x[:, None] - y",
])  # fmt: skip
def test_a_product_is_turned_only_where_its_numbers_stay(text):
    arrays = {name: np.random.default_rng(place).normal(size=(2, 2)) for place, name in enumerate("XWV")}
    arrays |= {"x": np.array([1.0, -2.0]), "y": np.array([0.5, 3.0])}
    reader = Reader(arrays, {})
    shown = Columns(lambda part: getattr(reader.evaluate(part), "shape", None)).visit(ast.parse(text, mode="eval"))
    in_rows = type("Ones", (), {"__matmul__": lambda _, row: np.tile(row, (2, 1)), "T": np.ones((1, 2))})()
    names = (
        arrays | {word: getattr(np, word) for word in ("tanh", "minimum", "maximum", "sum")} | {r"\mathbf{1}": in_rows}
    )
    value = eval(compile(ast.fix_missing_locations(shown), "shown", "eval"), names)  # noqa: S307 - the test's own text
    np.testing.assert_allclose(value, eval(text, names), rtol=1e-13)  # noqa: S307


@pytest.mark.parametrize(("program", "inputs", "v"), [
    EXAMPLE, NETWORK, ("x @ W", {"x": [1.0, 2.0], "W": [[1.0, 2.0, 0.5], [3.0, 4.0, 0.25]]}, [1, 1, 2]),
    ("y = [x[0]*x[1], x[0]]\ny*x", {"x": [1.0, 2.0]}, [1, 1]), ("x*2", {"x": [1.5]}, None),
    ("x*ones(3, 1)", {"x": [[1.0], [2.0], [4.0]]}, [[1], [1], [1]]), ("x*2", {"x": [[1.0, 2.0]]}, [[1, 1]]),
])  # fmt: skip
def test_a_vector_is_a_column_wherever_its_numbers_stand(program, inputs, v):
    found = gradcli.explain(program, inputs=inputs, v=v)
    lines = re.findall(r"^(\S+) &= (.*?)(?: \\\\)?$", found._repr_latex_(), re.MULTILINE)
    shapes = {one.name: np.shape(one.value) for one in found.values}
    seen = 0
    for name, side in lines:
        shape = shapes.get(name.removeprefix(r"\bar{").removesuffix("}"))
        for inside in re.findall(r"\\begin\{pmatrix\} (.*?) \\end\{pmatrix\}", side):
            rows = [row.split(" & ") for row in inside.split(r" \\ ")]
            assert (len(rows), len(rows[0])) == (shape if len(shape) == 2 else (*shape, 1)), (name, side)
            seen += 1
    assert seen >= 2


def test_a_notebook_gets_equations_or_nothing():
    found = explained(NETWORK)
    text = found._repr_latex_()
    assert text.count("$$") == 6
    assert r"\bar{z} &= \bar{h} \odot \left(1 - {h}^{2}\right)" in text


def test_latex_of_numbers_alone_is_refused():
    program = "y = x\nfor i in range(45): y = sin(y) @ A\ny"
    found = gradcli.explain(program, x=np.ones(9) / 9, A=np.eye(9) + 0.01, v=np.ones(9), wrt=["A"])
    assert "numeric-only" in {note.kind for note in found.notes}
    with pytest.raises(gradcli.GradcliError, match="9 by 81 numbers alone"):
        found.to_latex()
    assert found._repr_latex_() is None
