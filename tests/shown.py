"""Answers as each voice prints them: the one place where tests meet the modules that lay an answer out."""

from __future__ import annotations

from gradcli.document.model import Document, Section, Settings
from gradcli.document.sections import document_of
from gradcli.records import replace
from gradcli.render.layout import Layout
from gradcli.render.terminal import tables

INDENT = 3
WIDE = Layout(100)


def terminal(answer, width=80, *, table=None, unicode=True, precision=6, full=False):
    """Return what a terminal of so many columns shows; ``table`` is the room of tables where they have more."""
    return tables(document_of(answer, Settings(precision, full)), Layout(width, table, unicode)).plain


def sections(answer, name, precision=6, full=False):
    """Return the sections of a name."""
    return [one for one in document_of(answer, Settings(precision, full)).sections if one.name == name]


def shown_section(section: Section, width=80, *, unicode=True, precision=6, full=False):
    """Return the lines of a section without its title and its indent."""
    document = Document((replace(section, title=""),), Settings(precision, full))
    lines = tables(document, Layout(width, None, unicode)).plain.split("\n")
    return [line[INDENT:] for line in lines if line] if section.parts else []


def lines_of(answer, name, width=80, *, unicode=True, precision=6, full=False):
    """Return the lines of the sections of a name, without their titles and their indent."""
    shown = sections(answer, name, precision, full)
    return [
        line
        for one in shown
        for line in shown_section(one, width, unicode=unicode, precision=precision, full=full)
    ]
