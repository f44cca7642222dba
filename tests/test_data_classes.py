"""The data classes of ``gradcli.records`` are Python's own but for what they cost and for assignment."""

import copy
import dataclasses
import pickle
from dataclasses import field

import pytest

from gradcli import records


class Fields:
    x: int
    y: tuple = field(default_factory=tuple)
    told: str = field(default="", repr=False, compare=False)


class Named:
    x: int

    def __repr__(self):
        return f"<{self.x}>"

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 7


OPTIONS = [{}, {"slots": True}, {"frozen": True}, {"frozen": True, "slots": True}, {"slots": True, "eq": False}]


def both(kind, options):
    body = {name: value for name, value in vars(kind).items() if name not in ("__dict__", "__weakref__")}
    return [module.dataclass(**options)(type(kind.__name__, (), dict(body))) for module in (records, dataclasses)]


def behaviour(kind):
    """Return what a class of data does, in plain values."""
    one, equal, told, other = kind(1), kind(1), kind(1, told="no"), kind(2)
    return {
        "text": repr(one),
        "equal": [one == thing for thing in (one, equal, told, other, 1)],
        "hash": hash(one) == hash(told) if kind.__hash__ not in (None, object.__hash__) else kind.__hash__,
        "fields": [item.name for item in dataclasses.fields(kind)],
        "replaced": repr(dataclasses.replace(one, x=5)),
        "copied": repr(copy.deepcopy(one)),
        "slots": hasattr(one, "__dict__"),
        "matched": kind.__match_args__,
    }


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_class_does_what_python_has_it_do(options):
    ours, theirs = both(Fields, options)
    assert behaviour(ours) == behaviour(theirs)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_methods_that_a_class_has_itself_stay(options):
    for kind in both(Named, options):
        assert (repr(kind(1)), kind(1) == kind(2), hash(kind(1))) == ("<1>", True, 7)


@records.dataclass(frozen=True, slots=True)
class Sent:
    x: int


def test_a_frozen_one_goes_from_process_to_process():
    assert pickle.loads(pickle.dumps(Sent(3))) == Sent(3)  # noqa: S301
