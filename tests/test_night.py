"""The command of the night: which parts it runs, for how long, and how it ends."""

from types import SimpleNamespace

import pytest

import night


def test_a_part_that_is_named_runs_and_else_those_whose_rooms_differ():
    assert night.chosen(["texts"], {"ops"}) == ["texts"]
    assert night.chosen([], None) == list(night.PARTS)
    assert night.chosen([], {"cli"}) == ["texts", "scripts"]
    assert set(night.chosen([], {"ops"})) == set(night.PARTS)
    assert night.chosen([], {"page"}) == []


def test_inputs_follow_until_the_time_is_over():
    times = iter([0.0, 1.0, 2.0, 3.5])
    assert [part[0] for part in night.stretches(3, lambda: next(times))] == [0, 20, 40]


def test_a_fault_ends_with_1(monkeypatch, capsys):
    asked = []
    module = SimpleNamespace(night=lambda seed, numbers: asked.append((seed, list(numbers))) or 1)
    monkeypatch.setattr(night, "import_module", lambda _: module)
    assert night.main(["calls", "--only", "7", "--seed", "3"]) == 1
    assert asked == [(3, [7])]
    assert "calls: 1 calls of PyTorch's vocabulary, by PyTorch, seed 3: 1 faults" in capsys.readouterr().out


def test_a_part_that_is_not_there_is_an_error(capsys):
    with pytest.raises(SystemExit):
        night.main(["nights"])
    assert "no part is called nights" in capsys.readouterr().err
