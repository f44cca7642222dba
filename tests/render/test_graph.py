"""The graph as it is drawn: a layout without overlaps, SVG and DOT that are whole, loops folded, what is too large."""

import itertools
import random
import re
import shutil
import subprocess
from xml.etree import ElementTree

import pytest

import gradcli
from gradcli.document.model import Settings
from gradcli.errors import GradcliError
from gradcli.page.assembling import graph_of
from gradcli.render import graph
from gradcli.render.graph import crossings, draw, sheet_of
from oracles import ask

SVG = "{http://www.w3.org/2000/svg}"
NETWORK = ["z = W @ x + b\nh = tanh(z)\nloss = sum((h - t)**2)", "--W", ".1,.2;.3,.4", "--x", "1.,2.",
           "--b", "0.,1", "--t", "0.,0", "--wrt", "W,b"]  # fmt: skip
GRAPHS = [
    ("ab", ["ab"]),
    ("abc", ["ab", "bc", "ac"]),
    ("abcd", ["ac", "bd", "ad", "bc"]),
    ("abcde", ["ae", "bc", "ce"]),
]


def random_graph(seed):
    rng = random.Random(seed)  # noqa: S311 - graphs, no secrets
    names = "abcdefghijkl"[: rng.randint(2, 12)]
    edges = [start + end for start, end in itertools.combinations(names, 2) if rng.random() < 0.3]
    return names, edges


def overlaps(one, other):
    return (
        abs(one.x - other.x) < (one.width + other.width) / 2 - 1e-6
        and abs(one.y - other.y) < (one.height + other.height) / 2 - 1e-6
    )


@pytest.mark.parametrize(("names", "edges"), [*GRAPHS, *(random_graph(seed) for seed in range(30))])
def test_no_box_touches_another_and_every_edge_leads_down(names, edges):
    sizes = {name: (20 + 7 * k, 10 + 3 * k) for k, name in enumerate(names)}
    labels = {(edge[0], edge[1]): (0, 0) if k % 3 == 0 else (15 + k, 8) for k, edge in enumerate(edges)}
    drawing = draw(sizes, labels, (5, 6))
    labelled = [box for ends, way in drawing.routes.items() for box in way[1:-1] if labels[ends][0] and box.width]
    assert len(labelled) == sum(width > 0 for width, _ in labels.values())
    boxes = [*drawing.boxes.values(), *labelled]
    assert not any(overlaps(one, other) for one, other in itertools.combinations(boxes, 2))
    for box in boxes:
        assert box.x - box.width / 2 + 1e-6 >= 0
        assert box.x + box.width / 2 <= drawing.width + 1e-6
        assert 0 <= box.y - box.height / 2 <= box.y + box.height / 2 <= drawing.height + 1e-6
    for (start, end), way in drawing.routes.items():
        assert (way[0], way[-1]) == (drawing.boxes[start], drawing.boxes[end])
        assert all(low.y > high.y for high, low in itertools.pairwise(way))
        for point in way[1:-1]:  # an edge that passes a row keeps clear of its boxes
            assert not any(
                abs(point.x - box.x) < box.width / 2 for box in drawing.boxes.values() if box.row == point.row
            )


def test_crossings_are_few():
    """Two pairs that cross in the order in which they come: the drawing turns one pair round."""
    drawing = draw(dict.fromkeys("abcd", (10, 10)), {("a", "d"): (0, 0), ("b", "c"): (0, 0)}, (5, 5))
    rows = [[], [], []]
    for box in sorted({id(b): b for way in drawing.routes.values() for b in way}.values(), key=lambda box: box.x):
        rows[box.row].append(box)
    assert crossings(rows) == 0


def drawn(*words, tmp_path, suffix=".svg"):
    target = tmp_path / f"graph{suffix}"
    answer = ask("explain", *words, "-o", str(target))
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    return target.read_text(encoding="utf-8")


def test_an_svg_is_whole_and_needs_nothing_from_elsewhere(tmp_path):
    text = drawn(*NETWORK, tmp_path=tmp_path)
    root = ElementTree.fromstring(text)  # noqa: S314 - our own
    assert (root.tag, root.get("role")) == (f"{SVG}svg", "img")
    assert "The graph of z = W @ x + b" in root.findtext(f"{SVG}title")
    assert not re.search(r"(href|src|url|@import|script)\b", text)
    words = {node.text for node in root.iter(f"{SVG}text")}
    assert words >= {
        "W (2, 2)  leaf",
        "x (2,)  constant",
        "= tanh(z)",
        "h (2,)",
        "1 - h**2",
        "outer(z.grad, x)",
        "grad 1",
    }
    boxes = [node for node in root.iter(f"{SVG}g") if node.get("class", "").startswith("box")]
    assert [node.get("class") for node in boxes].count("box leaf") == 2
    assert len([node for node in root.iter(f"{SVG}g") if node.get("class") == "edge"]) == 4
    assert len([node for node in root.iter(f"{SVG}g") if node.get("class") == "edge still"]) == 2
    assert "prefers-color-scheme: dark" in text


def test_dot_says_the_same(tmp_path):
    text = drawn(*NETWORK, tmp_path=tmp_path, suffix=".dot")
    assert '"z" -> "h" [label="1 - h**2"' in text
    assert '"x" -> "z" [label="", tooltip="x → z: constant", style=dashed]' in text
    assert 'label="W (2, 2)  leaf\\n= [[0.1, 0.2],\\n   [0.3, 0.4]]\\ngrad [[' in text
    assert text.count("[") - text.count("\\[") >= 12
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tsvg"], input=text, text=True, check=True, capture_output=True)  # noqa: S607


def test_a_loop_is_its_first_turns_a_count_and_its_last():
    found = gradcli.explain("x = 1.5*w\nfor i in range(300):\n    x = x*1.01\nx", w=2.0)
    sheet = sheet_of(found, Settings())
    assert [box.lines[0] for box in sheet.boxes] == ["w  leaf", "x1", "x2", "… 298 more values", "x301"]
    names = [box.name for box in sheet.boxes]
    assert [(names.index(a), names.index(b)) for a, b in (line.ends for line in sheet.lines)] == [
        (k, k + 1) for k in range(4)
    ]
    assert [line.label for line in sheet.lines] == [["1.5"], ["1.01"], [], []]


def test_a_program_without_names_between_is_drawn_entry_by_entry():
    program = "[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]"
    sheet = sheet_of(gradcli.explain(program, x=[1.0, 2.0], v=[1, 10, 100]), Settings())
    assert [box.name for box in sheet.boxes] == ["x[0]", "x[1]", "y[0]", "y[1]", "y[2]"]
    assert sheet.boxes[0].lines == ["x[0]  leaf", "= 1", "grad 26"]
    assert {line.ends: line.text for line in sheet.lines} == {
        ("x[0]", "y[0]"): "6*x[0] = 6", ("x[0]", "y[1]"): "2*x[0] = 2", ("x[1]", "y[1]"): "6*x[1]**2 = 24",
        ("x[1]", "y[2]"): "10",
    }  # fmt: skip
    large = sheet_of(gradcli.explain("x*sin(x)", x=[1.0] * 9, v=[1.0] * 9), Settings())
    assert [box.name for box in large.boxes] == ["x", "y"]


@pytest.mark.parametrize("program", ["[3*x[0]**2, x[0]*x[1]]", "h = tanh(x)\nh*x"])
def test_the_page_draws_the_same_boxes_and_edges(program):
    found = gradcli.explain(program, x=[1.0, 2.0], v=[1, 10])
    sheet, shown = sheet_of(found, Settings()), graph_of(found)
    assert [box["name"] for box in shown["boxes"]] == [box.name for box in sheet.boxes]
    assert [(edge["from"], edge["to"]) for edge in shown["edges"]] == [line.ends for line in sheet.lines]
    for plan, axis in ((shown["wide"], 0), (shown["tall"], 1)):
        for edge, planned in zip(shown["edges"], plan["edges"], strict=True):
            along = [stop[axis] for stop in planned["stops"]]
            assert along == sorted(along), edge
        for box in plan["boxes"]:
            assert all(box[k] >= 0 and box[k] + box[k + 2] <= plan["size"][k] + 0.2 for k in (0, 1))


def test_a_page_has_no_graph_of_too_many_boxes(monkeypatch):
    monkeypatch.setattr(graph, "MOST_DRAWN", 8)
    assert graph_of(gradcli.explain(many(7), x=0.5)) is None


def many(count):
    lines = [f"v{chr(97 + k // 26)}{chr(97 + k % 26)} = {'sin' if k % 2 else 'cos'}(x + {k})" for k in range(count)]
    return "\n".join([*lines, "sum([" + ", ".join(line.partition(" ")[0] for line in lines) + "])"])


def test_what_is_too_large_is_refused_and_the_old_file_stays(tmp_path, monkeypatch):
    assert graph.MOST_DRAWN == 60
    monkeypatch.setattr(graph, "MOST_DRAWN", 8)
    target = tmp_path / "graph.svg"
    target.write_text("old", encoding="utf-8")
    answer = ask("explain", many(7), "--x", "0.5", "-o", str(target))
    assert answer.code == 2
    assert "a picture has at most 8 boxes, and this would have 9" in answer.err
    assert target.read_text(encoding="utf-8") == "old"
    assert len(sheet_of(gradcli.explain(many(6), x=0.5), Settings()).boxes) == 8
    with pytest.raises(GradcliError, match="boxes"):
        sheet_of(gradcli.explain(many(7), x=0.5), Settings())


def test_what_is_long_is_told_by_its_ends_and_by_its_title():
    sheet = sheet_of(gradcli.explain("h = x*1.23456\nh*h", x=[1.23456789] * 40, v=[1.0] * 40), Settings())
    box = {box.name: box for box in sheet.boxes}["x"]
    assert box.lines[:2] == ["x (40,)  leaf", "= [1.23457, … 1.23457]"]
    assert "= [1.23457, 1.23457, 1.23457, … 1.23457, 1.23457]" in box.title
    program = "a = sin(x)\ny = sin(a)*cos(a + 1)*tanh(a + 2)"
    lines = {line.ends: line for line in sheet_of(gradcli.explain(program, x=1.0), Settings()).lines}
    assert lines["a", "y"].label == ["…"]
    assert "*(1 - tanh(a + 2)**2) - tanh" in lines["a", "y"].title
