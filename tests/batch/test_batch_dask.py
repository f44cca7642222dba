"""The same batch on a cluster: dask's bag over the Python interface gives the answers of the command line."""

import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import dask.bag
import pytest
from dask.distributed import Client, LocalCluster

import gradcli
from oracles import ask, portion, strict_json

PROGRAMS = ["[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]", "W @ x", "1/x", "where(x > 0, sqrt(x), x)", "sinn(x)"]
RECORDS = [
    {
        "id": k,
        "program": PROGRAMS[k % 5],
        "inputs": {"x": [float(k % 7), -1.5], **({"W": [[1.0, 2.0], [3.0, k]]} if k % 5 == 1 else {})},
        "v": [1.0, 10.0, 100.0][: 3 if k % 5 == 0 else 2],
    }
    for k in range(60)
]
PAGE = (Path(__file__).parents[2] / "docs" / "batch.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("dask"))
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, local_directory=folder
        ) as cluster,
        Client(cluster) as found,
    ):
        yield found


def printed(*args):
    """Return the documents of the command line, without the numbers of their lines."""
    found = ask("batch", "-", *args, stdin="".join(json.dumps(record) + "\n" for record in RECORDS))
    documents = [strict_json(line) for line in found.out.splitlines()]
    return [{key: value for key, value in document.items() if key != "line"} for document in documents]


@pytest.mark.slow
@pytest.mark.parametrize(("options", "args"), portion([
    pytest.param({}, (), id="whole"),
    pytest.param({"symbolic": False}, ("--no-symbolic",), id="no symbols"),
    pytest.param({"only": ["grad", "vjp"]}, ("--only", "grad,vjp"), id="only"),
], 3))  # fmt: skip
def test_a_cluster_gives_the_answers_of_the_command_line(client, options, args):
    bag = dask.bag.from_sequence(RECORDS, npartitions=8)
    found = bag.map(partial(gradcli.answer, **options)).compute(scheduler=client)
    assert found == printed(*args)
    assert [answer["id"] for answer in found] == list(range(60))
    assert {answer["error"]["kind"] for answer in found if answer["error"]} == {"unknown-function"}


@pytest.mark.slow
def test_the_page_shows_what_gives_the_same_answers(tmp_path):
    """The block of docs/batch.md runs as it stands."""
    [block] = re.findall(r"```python\n(import json\n.*?)```", PAGE, re.DOTALL)
    assert "LocalCluster(" in block
    (tmp_path / "records.ndjson").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    (tmp_path / "example.py").write_text(block)
    found = subprocess.run(
        [sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert found.returncode == 0, found.stderr
    files = sorted(tmp_path.glob("answers/*.ndjson"))
    assert [strict_json(line) for path in files for line in path.read_text().splitlines()] == printed()
