"""``docs/benchmarks.md``, made of the JSON document: the tables, and how they were made."""

from __future__ import annotations

from typing import Any

from benchmarks.report import FAMILIES, GROWTH_HEAD, HEAD, cells, growth_cells, lines, markdown_table, read

HOW = """\
# Benchmarks

This page is written by the command that measures, from `docs/benchmarks.json`; a test holds one against the other.

```sh
pip install ".[bench]" && python -m benchmarks --json docs/benchmarks.json --markdown docs/benchmarks.md
```

`--only startup,symbolic,engine,batch,scripts,checking,growth` measures some families, `--quick` measures roughly,
`python -m benchmarks --from docs/benchmarks.json` shows the figures again.

All contestants of a figure run once in every round, in an order that changes; a ratio is taken within a round, and the
median of these ratios is shown with both quartiles. gradcli against itself is the noise of the machine. Numbers are
compared before anything is timed, and the command ends with 1 where they differ. Everybody has one thread.

- *Start-up* is a whole process. A bare command is a script with one argument and two options that imports the named
  libraries and prints one word: nothing with these libraries starts faster.
- *Symbolic Jacobian* is a whole process of `gradcli explain`, table included, less the same for a scalar. A peer's time
  is that of its own script, less the same script for a scalar; symbolic peers find J and neither evaluate nor print
  it, PyTorch and JAX find its numbers alone. A peer has a
  minute and 6 GiB.
- *Engine* is one process, with garbage collection off and enough calls for a sample of 30 ms. glibc is told to keep
  large arrays (`MALLOC_MMAP_THRESHOLD_`), since the page faults of fresh ones are noise of the size of the work; rows
  that end in "system's allocator" were taken without.
- *Batch* reads records from a file, on one core. Memory is the peak of the whole process.
- *Scripts* are whole processes of `gradcli run`, beside PyTorch with the same file; the loop is inside one process.
- *Checks of medium size* are whole processes of `gradcli check`, beside PyTorch's `gradcheck` in double precision with
  the same function and the same numbers, which has a minute.
- *Growth* fits t(n) = c + a·nᵖ to the medians, by least squares of relative residuals, with c, a ≥ 0,
  from the size that takes least: below it every entry of J is written out, which costs more.

A dash stands where a time over the scalar case is lost in the noise.
"""


def markdown(found: dict[str, Any]) -> str:
    """Return the page."""
    findings = read(found)
    parts = [HOW.rstrip(), *lines(found)]
    for family, title in FAMILIES.items():
        rows = [cells(row, found["how"]["clock"]) for row in findings.rows if row.family == family]
        if rows:
            parts += [f"## {title}", "\n".join(markdown_table(HEAD, rows))]
    if findings.series:
        parts += ["## Growth", "\n".join(markdown_table(GROWTH_HEAD, [growth_cells(one) for one in findings.series]))]
    return "\n\n".join(parts) + "\n"
