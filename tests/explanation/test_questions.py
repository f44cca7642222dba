"""The 28 questions that people ask about ``backward``: a command for each, and the lines that answer it."""

import re
import shlex
from dataclasses import dataclass

import pytest

from oracles import DATA


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, the command line that answers, with which exit code, and the lines that do, spaces aside.

    A line of the answer that ends in the middle of a sentence goes on in the next one.
    """

    number: int
    asks: str
    command: str
    lines: tuple[str, ...]
    code: int = 0


BLOCK = re.compile(r"^## (\d+)\. (.*)\n\$ gradcli ((?s:.*?))\n(?:exit: (\d)\n)?((?:> .*\n)+)", re.MULTILINE)
QUESTIONS = [
    Question(int(number), asks, command, tuple(re.findall(r"> (.*)", lines)), int(code or 0))
    for number, asks, command, code, lines in BLOCK.findall((DATA / "questions.txt").read_text(encoding="utf-8"))
]


def test_all_of_the_28_questions_are_asked():
    assert {question.number for question in QUESTIONS} == set(range(1, 29))


@pytest.mark.parametrize("question", QUESTIONS, ids=[f"{q.number}: {q.asks}" for q in QUESTIONS])
def test_an_answer_has_the_line_that_answers(cli, question):
    answer = cli(*shlex.split(question.command))
    said = spaced(answer.out + answer.err)
    assert answer.code == question.code
    assert [line for line in question.lines if line not in said] == []


def spaced(text):
    """Return a text with single spaces."""
    return re.sub(r"\s+", " ", text)
