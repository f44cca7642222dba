"""A figure: what is measured of two contestants, the bar that was set for it, and the row of the table it becomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from benchmarks.harness import Sample, Samples, Spread, paired


@dataclass(frozen=True, slots=True)
class Measure:
    """How two numbers of one round become the one that a bar is held against."""

    unit: str
    of: Callable[[float, float], float]
    at_least: bool = False
    reads: tuple[str, str] = ("wall", "processor")


TIMES = Measure("×", lambda ours, theirs: ours / theirs)
FASTER = Measure("× faster", lambda ours, theirs: theirs / ours, at_least=True)
SECONDS = Measure("s", lambda ours, _: ours)
MEMORY = Measure("MiB", lambda ours, _: ours, reads=("memory", "memory"))
MEMORY_TIMES = Measure("× memory", lambda ours, theirs: ours / theirs, reads=("memory", "memory"))


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: the names under which both sides were measured, and the bar where there is one."""

    title: str
    ours: str
    theirs: str
    measure: Measure
    bar: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table. Sides are seconds or MiB; ``value`` is by the wall, ``processor`` by its clock.

    ``share`` is the part of the time on the wall that our side had a processor.
    """

    family: str
    title: str
    contestant: str
    unit: str
    bar: float | None
    at_least: bool
    ours: Spread | None = None
    theirs: Spread | None = None
    value: Spread | None = None
    processor: Spread | None = None
    share: float | None = None
    missing: str = ""
    failed: bool = False

    def verdict(self, clock: str = "wall") -> str:
        """Return ``ok`` or ``falls short``, ``missing`` where nothing could be measured, or nothing without a bar."""
        if self.missing:
            return "missing"
        judged = self.value if clock == "wall" else self.processor
        if self.bar is None or judged is None:
            return ""
        reached = judged.median >= self.bar if self.at_least else judged.median <= self.bar
        return "ok" if reached else "falls short"


@dataclass(frozen=True, slots=True)
class Series:
    """Seconds of the same work at several sizes, for its growth."""

    title: str
    sizes: list[int]
    seconds: list[Spread]


@dataclass(slots=True)
class Findings:
    """What one family of figures found."""

    rows: list[Row] = field(default_factory=list)
    series: list[Series] = field(default_factory=list)


def rows(family: str, figures: Sequence[Figure], samples: Samples) -> list[Row]:
    """Return the row of each figure; one whose contestant gave no answer says so."""
    return [_row(family, figure, samples) for figure in figures]


def _row(family: str, figure: Figure, samples: Samples) -> Row:
    measure, mine, other = figure.measure, samples.get(figure.ours, []), samples.get(figure.theirs, [])
    head = (family, figure.title, figure.theirs, measure.unit, figure.bar, measure.at_least)
    if not _there(mine) or not _there(other):
        return Row(
            *head,
            missing="no answer within its time and memory",
            ours=_side(mine, measure),
            theirs=_side(other, measure),
        )
    wall, processor = (_value(mine, other, measure, name) for name in measure.reads)
    return Row(*head, _side(mine, measure), _side(other, measure), wall, processor, _share(mine))


def _there(samples: Sequence[Sample | None]) -> list[Sample]:
    return [sample for sample in samples if sample is not None]


def _side(samples: Sequence[Sample | None], measure: Measure) -> Spread | None:
    there = _there(samples)
    return Spread.of([getattr(sample, measure.reads[0]) for sample in there]) if there else None


def _share(samples: Sequence[Sample | None]) -> float | None:
    shares = [sample.processor / sample.wall for sample in _there(samples) if sample.wall > 0]
    return Spread.of(shares).median if shares else None


def _value(mine: Sequence[Sample | None], other: Sequence[Sample | None], measure: Measure, name: str) -> Spread | None:
    """Return the spread of the measure; None where a difference of times drowns in the noise and divides by nothing."""
    pairs = paired(mine, other, lambda a, b: (getattr(a, name), getattr(b, name)))
    if measure.unit.startswith("×") and any(min(pair) <= 0 for pair in pairs):
        return None
    return Spread.of([measure.of(*pair) for pair in pairs])


def over(samples: Samples, name: str, base: str) -> list[Sample | None]:
    """Return what ``name`` took over ``base``, round by round; the memory is that of ``name`` alone."""
    return paired(
        samples[name], samples[base], lambda a, b: Sample(a.wall - b.wall, a.processor - b.processor, a.memory)
    )


def failure(family: str, title: str, why: str, unit: str = "", bar: float | None = None) -> Row:
    """Return the row of what could not be measured because a contestant failed; the run ends with 1."""
    return Row(family, title, "", unit, bar, at_least=False, missing=why, failed=True)


def absent(family: str, figure: Figure, why: str) -> Row:
    """Return the row of a figure that could not be measured, so that nothing is left out in silence."""
    measure = figure.measure
    return Row(family, figure.title, figure.theirs, measure.unit, figure.bar, measure.at_least, missing=why)
