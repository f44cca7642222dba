"""Answers as each voice prints them: the one place where tests meet the modules that lay an answer out."""

from gradcli.document.model import Document, Settings
from gradcli.document.sections import document_of
from gradcli.records import replace
from gradcli.render.layout import Layout
from gradcli.render.terminal import tables

INDENT = 3


def terminal(answer, width=80, *, table=None, unicode=True, precision=6, full=False):
    """Return what a terminal of so many columns shows; ``table`` is the room of tables where they have more."""
    return styled(answer, width, table=table, unicode=unicode, precision=precision, full=full).plain


def styled(answer, width=80, *, table=None, unicode=True, precision=6, full=False):
    """Return the same with its colours."""
    return shown(document_of(answer, Settings(precision, full)), width, table=table, unicode=unicode)


def shown(document: Document, width=80, *, table=None, unicode=True):
    """Return a document as a terminal shows it."""
    return tables(document, Layout(width, table, unicode))


def sections(answer, name, precision=6, full=False):
    """Return the sections of a name."""
    return [one for one in document_of(answer, Settings(precision, full)).sections if one.name == name]


def lines_of(answer, name, width=80, *, unicode=True, precision=6, full=False):
    """Return the lines of the sections of a name, without their titles and their indent."""
    bare = tuple(replace(one, title="") for one in sections(answer, name, precision, full) if one.parts)
    text = shown(Document(bare, Settings(precision, full)), width, unicode=unicode).plain
    return [line[INDENT:] for line in text.split("\n") if line]
