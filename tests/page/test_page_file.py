"""The page as a file: complete, safe, small, and written whole or not at all."""

import json
import re
from base64 import b64encode
from hashlib import sha256

import numpy as np
import pytest

import gradcli
from gradcli.page.assembling import page

POLICY = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]*)"')
ANSWER = re.compile(r'<script type="application/json" id="answer">(.*?)</script>', re.DOTALL)


def text_of(program, **given):
    return "".join(page(gradcli.explain(program, **given)))


def test_a_page_needs_nothing_else():
    text = text_of("[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]", x=[1.0, 2.0], v=[1, 10, 100])
    addresses = set(re.findall(r"https?://[^\s\"']+", text))
    assert addresses == {"http://www.w3.org/1998/Math/MathML", "http://www.w3.org/2000/svg"}  # names, never fetched
    assert set(re.findall(r"(?:src|href)=\"([^\"]*)\"", text)) == {"data:,", "#matrix"}
    assert len(text.encode()) < 300_000


@pytest.mark.parametrize("tag", ["style", 'script type="module"'])
def test_the_policy_allows_the_page_s_own_script_and_style_alone(tag):
    text = text_of("x**2", x=3.0)
    own = text.partition(f"<{tag}>")[2].partition(f"</{tag.split()[0]}>")[0]
    kind = tag.split()[0]
    policy = dict(part.strip().split(" ", 1) for part in POLICY.search(text)[1].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy[f"{kind}-src"] == f"'sha256-{b64encode(sha256(own.encode()).digest()).decode()}'"


@pytest.mark.parametrize(
    "comment", ["</script><script>hacked()</script>", "<!--", "<!-- <script>", "]]>", "\u2028\u2029", "&lt;{script}"]
)
def test_the_document_stands_on_the_page_as_it_is(comment):
    program = f"x**2  # {comment}"
    text = text_of(program, x=3.0)
    found = ANSWER.search(text)[1]
    assert json.loads(found)["program"] == gradcli.explain(program, x=3.0).to_dict()["program"]
    assert not set(found) & set("<>&\u2028\u2029")
    assert text.count("<script") == 2


def test_the_page_has_what_the_document_has():
    found = gradcli.explain("h = tanh(W @ x); h*h", W=[[1.0, 2.0], [3.0, 4.0]], x=[0.1, 0.2], v=[1, 2])
    shown = json.loads(ANSWER.search("".join(page(found)))[1])
    whole = found.to_dict()
    left_out = {"effect", "backward"}
    del shown["graph"]
    for own in shown["jacobian"].values():
        del own["rules"]
    assert {**shown, **dict.fromkeys(left_out)} == {**whole, **dict.fromkeys(left_out)}
    assert shown["effect"]["nudge"] == whole["effect"]["nudge"]


@pytest.mark.parametrize(
    ("size", "budget", "message"),
    [
        (4000, gradcli.Budget(), None), (1_000_001, gradcli.Budget(), "J has 1,000,001 entries"),
        (40, gradcli.Budget(jacobian=30), "J by x is 40 by 40 and is not held"),
    ],
)  # fmt: skip
def test_a_large_matrix_is_refused_clearly(size, budget, message):
    found = gradcli.explain("x**2", x=np.linspace(0.0, 1.0, size), v=np.ones(size), budget=budget)
    if message is None:
        assert len("".join(page(found))) < 1_500_000
        return
    with pytest.raises(gradcli.GradcliError) as error:
        "".join(page(found))
    assert (error.value.kind, error.value.message) == ("format", f"{message}: a page holds at most 1,000,000 entries")


def test_a_page_is_written_whole_or_not_at_all(cli, tmp_path):
    target = tmp_path / "page.html"
    target.write_text("before")
    few = ("--budget", "jacobian=30")
    large = cli("explain", "x**2", "--x", "linspace(0,1,40)", "--v", "ones(40)", *few, "-o", str(target))
    assert (large.code, large.out) == (2, "")
    assert large.err.startswith("error: J by x is 40 by 40 and is not held: a page holds at most")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert target.read_text() == "before"
