"""``check`` of formulas that assign what looks like a derivative, and that nothing is expected of."""

import shlex

import pytest

import gradcli


def unchecked(found):
    return [note.message for note in found.notes if note.kind == "not-checked"]


@pytest.mark.parametrize("program", ["f = x**2; df = 3*x", "f = x**2\ndx = 3*x", "f = x**2; grad = 3*x"])
def test_a_derivative_that_is_not_held_is_said_with_the_way_to_hold_it(cli, program):
    [note] = unchecked(gradcli.check(program, x=3.0))
    words = shlex.split(note.partition(": ")[2].removesuffix(" does that."))
    assert words == ["--of", "f", "--expect", "3 * x"]
    assert cli("check", program, "--x", "3", *words).code == 1


@pytest.mark.parametrize("program", ["h = x**2; h + x", "dx = x**2; y = dx + x; y", "delta = x**2; f = 3*x; f"])
def test_other_names_are_not(program):
    assert unchecked(gradcli.check(program, x=3.0)) == []
