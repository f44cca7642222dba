"""The public interface: its names and signatures, every parameter and field described, every example true."""

import dataclasses
import doctest
import inspect
import sys

import numpy as np
import pytest
from docs import make_interface as interface

import gradcli

PUBLIC = interface.public()


def docs(name):
    return "\n\n".join(interface.docs_of(getattr(gradcli, name)))


def described(name):
    """Return what a public name takes or holds, and so must describe."""
    thing = getattr(gradcli, name)
    if dataclasses.is_dataclass(thing):
        return [field.name for field in dataclasses.fields(thing)]
    fields = getattr(thing, "_fields", None)
    return list(fields) if fields else [one for one in interface.parameters(thing) if one != "message"]


def test_what_is_public_is_said_in_one_place():
    assert sorted([*PUBLIC, "__version__"]) == sorted(gradcli.__all__)
    assert [name for name in gradcli.__all__ if not hasattr(gradcli, name)] == []


def test_the_page_has_the_names_signatures_and_words_of_the_code():
    assert interface.PAGE.read_text(encoding="utf-8") == interface.page(), "run python docs/make_interface.py"


@pytest.mark.parametrize("name", PUBLIC)
def test_every_parameter_and_field_is_described(name):
    text = docs(name)
    assert [one for one in described(name) if f"``{one}``" not in text] == []


@pytest.mark.parametrize("name", [name for name in PUBLIC if inspect.isclass(getattr(gradcli, name))])
def test_every_method_and_property_is_described(name):
    assert [member for member, _, doc in interface.members(getattr(gradcli, name)) if len(doc) < 10] == []


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_an_example_that_is_true(name):
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    example = parser.get_doctest(docs(name), {"gradcli": gradcli, "np": np}, name, None, 0)
    assert example.examples
    assert runner.run(example, out=sys.stderr.write).failed == 0


@pytest.mark.parametrize("name", ["explain", "check", "assert_gradient", "answer", "function"])
def test_what_is_public_stays_callable_as_it_was(name):
    """The parameters that callers may name, in order: a change here is a change for them."""
    assert (
        interface.parameters(getattr(gradcli, name))
        == {
            "explain": ["program", "v", "calls", "wrt", "of", "strict", "budget", "inputs", "variables"],
            "check": [
                *("program", "v", "expect", "wrt", "of", "samples", "seed", "points", "digits"),
                *("tolerance", "strict", "budget"),
                *("inputs", "variables"),
            ],
            "assert_gradient": ["program", "asked"],
            "answer": ["record", "symbolic", "only", "budget"],
            "function": ["program", "wrt", "budget"],
        }[name]
    )


class Unwilling:
    """What numpy cannot look at."""

    def __array__(self, *_, **__):
        raise OverflowError


NO_NUMBERS = [[[1.0], [2.0, 3.0]], [1.0, None], "1, 2", 1j, [True], {"x": 1.0}, b"1", Unwilling()]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda value: type(value).__name__)
def test_what_is_no_array_of_numbers_is_refused_by_its_name(value):
    for ask in (gradcli.explain, gradcli.check, lambda program, x: gradcli.function(program).value(x=x)):
        with pytest.raises(gradcli.GradcliError, match="x is not an array of real numbers") as raised:
            ask("sum(x)", x=value)
        assert raised.value.kind == "value"
