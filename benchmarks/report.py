"""The findings as a table for the terminal, as JSON, and as a page of the documentation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.figures import Findings, Row, Series
from benchmarks.growth import fit
from benchmarks.harness import Spread
from benchmarks.machine import warnings

SAFE = 0.9
"""The share of a processor below which the clock on the wall measures other people."""
HEAD = ("figure", "gradcli", "against", "its time", "result", "by processor time", "bar", "")
FAMILIES = {
    "startup": "Start-up",
    "symbolic": "Symbolic Jacobian at scale",
    "engine": "Engine in process",
    "batch": "Batch",
    "scripts": "Scripts",
    "checking": "Checks of medium size",
    "growth": "Growth, failed",
}


def document(findings: Findings, compared: list[str], machine: dict[str, Any], how: dict[str, Any]) -> dict[str, Any]:
    """Return everything as JSON; ``read`` is its inverse."""
    rows = [asdict(row) | {"verdict": row.verdict(how["clock"])} for row in findings.rows]
    fits = [fit(one.sizes, medians(one)) for one in findings.series]
    series = [asdict(one) | {"fit": asdict(f) if f else None} for one, f in zip(findings.series, fits, strict=True)]
    return {"schema": 1, "machine": machine, "how": how, "compared": compared, "rows": rows, "growth": series}


def read(found: dict[str, Any]) -> Findings:
    """Return the findings that a document was made of."""
    rows = [_row(row) for row in found["rows"]]
    series = [Series(one["title"], one["sizes"], [Spread(**s) for s in one["seconds"]]) for one in found["growth"]]
    return Findings(rows, series)


def _row(found: dict[str, Any]) -> Row:
    fields: dict[str, Any] = {}
    for name, value in found.items():
        fields[name] = Spread(**value) if isinstance(value, dict) else value
    del fields["verdict"]
    return Row(**fields)


def medians(series: Series) -> list[float]:
    """Return one number for each size."""
    return [spread.median for spread in series.seconds]


def cells(row: Row, clock: str) -> tuple[str, ...]:
    """Return one row as texts, in the order of ``HEAD``."""
    sides = "MiB" if "M" in row.unit or "memory" in row.unit else "s"
    sign = "≥" if row.at_least else "≤"
    bar = "" if row.bar is None else f"{sign} {number(row.bar)} {row.unit}".strip()
    verdict = f"missing: {row.missing}" if row.missing else row.verdict(clock)
    return (
        row.title,
        side(row.ours, sides),
        row.contestant,
        side(row.theirs, sides),
        spread(row.value, row.unit),
        spread(row.processor, row.unit) if sides == "s" else "",
        bar,
        verdict,
    )


def side(value: Spread | None, unit: str) -> str:
    """Return the median of one contestant, seconds in the unit that suits them."""
    if value is None:
        return ""
    if unit == "MiB":
        return f"{value.median:,.0f} MiB"
    scale, name = next(
        (s, u) for s, u in ((1, "s"), (1e3, "ms"), (1e6, "µs")) if abs(value.median) * s >= 1 or u == "µs"
    )
    return f"{number(value.median * scale)} {name}"


def spread(value: Spread | None, unit: str) -> str:
    """Return the median with both quartiles."""
    if value is None:
        return "–"
    if value.low == value.high:
        return f"{number(value.median)} {unit}"
    return f"{number(value.median)} ({number(value.low)}–{number(value.high)}) {unit}"


def number(value: float) -> str:
    """Return three digits of a number."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def growth_cells(series: Series) -> tuple[str, ...]:
    """Return one series as texts: its exponent, the fit's worst point, and the time at every size."""
    points = ", ".join(f"{n:,}: {side(s, 's')}" for n, s in zip(series.sizes, series.seconds, strict=True))
    found = fit(series.sizes, medians(series))
    if found is None:
        return series.title, "–", "", "", "", points
    constant = side(Spread.of([found.constant]), "s")
    return series.title, f"{found.exponent:.2f}", f"{found.first:,}", constant, f"{found.misfit:.0%}", points


GROWTH_HEAD = ("growth of", "exponent", "from n =", "constant part", "worst point misses by", "n: time")


def tables(found: dict[str, Any]) -> list[Any]:
    """Return the document as rich tables and lines."""
    from rich.markup import escape
    from rich.table import Table

    findings, result = read(found), []
    for family, title in FAMILIES.items():
        rows = [row for row in findings.rows if row.family == family]
        if rows:
            result.append(table := Table(*HEAD, title=title, title_justify="left"))
            for row in rows:
                table.add_row(*map(escape, cells(row, found["how"]["clock"])))
    if findings.series:
        result.append(table := Table(*GROWTH_HEAD, title="Growth", title_justify="left"))
        for series in findings.series:
            table.add_row(*map(escape, growth_cells(series)))
    return [*result, *lines(found)]


def lines(found: dict[str, Any]) -> list[str]:
    """Return what to know about the figures, a line each."""
    machine, how = found["machine"], found["how"]
    clock = "clock on the wall" if how["clock"] == "wall" else "time of the processor"
    said = [
        on_what(machine),
        f"{how['rounds']} rounds at most. Results are medians of ratios round by round, with quartiles in brackets. "
        f"The verdict goes by the {clock}.",
    ]
    if found["compared"]:
        said.append(f"Compared first, to a billionth: {'; '.join(found['compared'])}.")
    if how["share"]:
        said.append(f"gradcli's runs had a processor for {how['share']:.0%} of their time on the wall.")
    if 0 < how["share"] < SAFE:
        said.append("Warning: the machine was busy, so times on the wall are unsafe.")
    return said + [f"Warning: {warning}" for warning in warnings(machine["gradcli"])]


def on_what(machine: dict[str, Any]) -> str:
    """Return one sentence about the machine and the versions."""
    packages = ", ".join(f"{name} {version or 'not installed'}" for name, version in machine["packages"].items())
    return (
        f"{machine['date']}, commit {machine['commit']}, gradcli {machine['gradcli']['version']}; "
        f"{machine['processor']}, {machine['cores']} cores, {machine['system']}, "
        f"Python {machine['python']}; {packages}."
    )


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table in Markdown, with its own signs escaped."""
    texts = [[cell.replace("|", r"\|").replace("*", r"\*") for cell in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *texts]]
