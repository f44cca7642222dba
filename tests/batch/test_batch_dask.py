"""The same batch on a cluster of dask's, as docs/batch.md has it, gives the answers of the command line."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from oracles import ask, strict_json

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


def printed():
    """Return the documents of the command line, without the numbers of their lines."""
    found = ask("batch", "-", stdin="".join(json.dumps(record) + "\n" for record in RECORDS))
    documents = [strict_json(line) for line in found.out.splitlines()]
    return [{key: value for key, value in document.items() if key != "line"} for document in documents]


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
