"""The section *Tape*: the recorded graph as a table, or a block for each row where that is too wide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gradcli.render.backward import unnumbered
from gradcli.render.folding import shortened
from gradcli.render.glyphs import Anchor, Layout, Section
from gradcli.render.numbers import aligned, input_text
from gradcli.render.rows import INDENT, value_text
from gradcli.render.wrap import wrapped

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.explanation.tape import Sent, Tape, Taped
    from gradcli.render.numbers import Form

AFTER: Anchor = "backward"
TITLE = "Tape: the recorded graph, in the order of the sweep"
MOST_SHOWN = 60
"""Rows that are shown, loops folded: of more, the first and the last."""


class Line(NamedTuple):
    """One line of the table: a value, or a further term that it sends on."""

    name: str
    value: str = ""
    arrives: str = ""
    keeps: str = ""
    sends: str = ""
    term: str = ""
    remark: str = ""


HEADINGS = Line("", "value", "arrives", "keeps", "sends")
NUMBERS = (Line._fields.index("value"), Line._fields.index("arrives"), Line._fields.index("term"))


def document(_: Explained, tape: Tape, form: Form) -> dict[str, Any]:
    """Return the tape."""
    rows = [row_document(row, form) for row in tape.rows]
    return {"tape": {"rows": rows, "left_out": tape.left_out, "gap": tape.gap}}


def sections(_: Explained, tape: Tape, layout: Layout) -> list[Section]:
    """Return the rows of the tape."""
    return [Section(TITLE, tape_lines(tape, layout))]


def lines(_: Explained, tape: Tape) -> list[str]:
    """Return the rows as lines with all digits."""
    told: list[str] = []
    for row in tape.rows:
        told.append(f"tape {equation(row)} ({row.role}) = {input_text(row.value)}")
        told += [f"  keeps {text}" for text in row.saved]
        told += [] if row.cotangent is None else [f"  arrives {input_text(row.cotangent)}"]
        for sent in row.sent:
            after = f" ({remark(sent)})" if remark(sent) else ""
            told.append(f"  sends {sent.to} {sent.text or sent.rule} = {input_text(sent.value)}{after}")
    if told and tape.left_out:
        told.append(f"... and {tape.left_out:,} operations between")
    return told


def row_document(row: Taped, form: Form) -> dict[str, Any]:
    """Return one row of the tape."""
    return {
        "name": row.name,
        "role": row.role,
        "operation": row.operation or None,
        "formula": row.text,
        "shape": list(row.value.shape),
        "value": form(row.value),
        "saved": list(row.saved),
        "cotangent": None if row.cotangent is None else form(row.cotangent),
        "uses": row.uses,
        "sent": [
            {
                "to": sent.to,
                "rule": sent.rule,
                "formula": sent.text,
                "value": form(sent.value),
                "derivative": sent.local,
                "slope": None if sent.slope is None else form(sent.slope),
                "summed": None if sent.summed is None else list(sent.summed),
                "adds": sent.adds,
            }
            for sent in row.sent
        ],
    }


def tape_lines(tape: Tape, layout: Layout) -> list[str]:
    """Return a table of the rows, or a block for each where that is too wide."""
    shown = shortened(with_gap(tape), pattern, "row", MOST_SHOWN)
    lines = [line for row in shown for line in ([row] if isinstance(row, str) else lines_of(row, layout))]
    table = drawn(lines)
    if max(map(len, table)) <= layout.width - INDENT:
        return table
    return [line for row in shown for line in ([row] if isinstance(row, str) else block_of(row, layout))]


def with_gap(tape: Tape) -> list[Taped | str]:
    """Return the rows, with a line that counts where operations are missing."""
    told = [f"…   {tape.left_out:,} operations more"] if tape.left_out else []
    return [*tape.rows[: tape.gap], *told, *tape.rows[tape.gap :]]


def pattern(row: Taped) -> tuple[Any, ...] | None:
    """Return what the rows of a loop's turns have in common; None for an input and the output."""
    if row.role not in ("inner", "constant") or not row.operation:
        return None
    texts = unnumbered(row.name), unnumbered(row.text or ""), *(unnumbered(sent.to) for sent in row.sent)
    return (row.operation, row.role, *texts)


def lines_of(row: Taped, layout: Layout) -> list[Line]:
    """Return the lines of a row in the table, one for each term that is sent on."""
    arrives = "" if row.cotangent is None else value_text(row.cotangent, layout)
    first = Line(equation(row), value_text(row.value, layout), arrives, ", ".join(row.saved))
    if not row.sent:
        return [first._replace(sends=role_text(row))]
    wide = max(len(sent.to) for sent in row.sent)
    signs = ["+=" if sent.adds else " =" for sent in row.sent]
    terms = [
        Line(
            "",
            sends=f"{sent.to:<{wide}} {sign} {sent.text or sent.rule}",
            term=value_text(sent.value, layout),
            remark="" if sent.summed is None else f"summed from {sent.summed}",
        )
        for sent, sign in zip(row.sent, signs, strict=True)
    ]
    return [first._replace(**{k: v for k, v in terms[0]._asdict().items() if v}), *terms[1:]]


def equation(row: Taped) -> str:
    """Return what a value is called and how it was computed."""
    return f"{row.name} = {row.text or row.operation}" if row.operation else row.name


def role_text(row: Taped) -> str:
    """Return the word for what sends nothing on."""
    return f"{row.role}: {row.name}.grad" if row.role == "leaf" else row.role


def remark(sent: Sent) -> str:
    """Return what else is done with a term: it is added, or summed over the axes along which it was repeated."""
    summed = "" if sent.summed is None else f"summed from {sent.summed}"
    return ", ".join(word for word in (summed, "added" if sent.adds else "") if word)


def drawn(lines: Sequence[Line | str]) -> list[str]:
    """Return the table; a text stands between its lines as it is."""
    rows = [line for line in lines if isinstance(line, Line)]
    columns = []
    for k, (heading, *cells) in enumerate(zip(HEADINGS, *rows, strict=True)):
        numbers = k in NUMBERS and not any(cell.startswith("[") for cell in cells)
        body = aligned(cells) if numbers else cells
        wide = max(len(heading), *map(len, body))
        columns.append([heading.rjust(wide) if numbers else heading.ljust(wide), *(cell.ljust(wide) for cell in body)])
    texts = iter(["  ".join(cells).rstrip() for cells in zip(*columns, strict=True)])
    return [next(texts), *(line if isinstance(line, str) else next(texts) for line in lines)]


def block_of(row: Taped, layout: Layout) -> list[str]:
    """Return a row as a block: what it is, and a line for each thing that is known of it."""
    room = layout.width - INDENT
    role = "" if row.role == "inner" else f"   {row.role}"
    told = [("value", value_text(row.value, layout))]
    if row.cotangent is not None:
        uses = f"   ({row.uses:,} uses added up)" if row.uses > 1 else ""
        told.append(("arrives", value_text(row.cotangent, layout) + uses))
    told += [("keeps", ", ".join(row.saved))] if row.saved else []
    lines = wrapped(equation(row) + role, room, 4)
    for word, text in told:
        lines += wrapped(f"  {word:<8} {text}", room, 11)
    for sent in row.sent:
        text = f"  sends    {sent.to}: {sent.text or sent.rule}"
        value = f" = {value_text(sent.value, layout)}" + (f"   {remark(sent)}" if remark(sent) else "")
        fits = len(text + value) <= room
        lines += [text + value] if fits else [*wrapped(text, room, 13), *wrapped(f"{'':<12}{value}", room, 15)]
    return lines
