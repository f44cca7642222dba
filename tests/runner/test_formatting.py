"""Formatting beside Python's own: f-strings, the % operator and str.format, texts and errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradcli.errors import GradcliError
from gradcli.runner.formatting import Showing, converted, format_array, format_text, format_value, percent
from oracles import needs_torch

SIMPLE = st.one_of(
    st.integers(-(10**6), 10**6),
    st.floats(),
    st.booleans(),
    st.text("ab'é\n{}%", max_size=4),
    st.none(),
    st.just([1, 2.5]),
    st.just((3, "x")),
    st.just({"a": 1, "b": [5]}),
)
SPECS = st.one_of(
    st.text("<>^=+- #0123,_.bcdeEfFgGnosxX%", max_size=5),
    st.sampled_from([".2f", "8.3f", ">10", "^7", "08.3f", "+.1e", ".3%", ",", "*<8", ""]),
)
FIELDS = (
    *("{", "}", "{}", "{0}", "{1}", "{a}", "{b}", "{a[0]}", "{0[b]}", "{0[1]}", "{:", "{0:", "!r", "!s", ":", ".2f"),
    *(">8", "^10", "x", "%", "[", "]", "a", "{{", "}}", "{:{}}", "{0:{1}}", "{0!r:>{b}}", "[1]", " "),
)
CONVERSIONS = (
    *("%", "%d", "%s", "%r", "%5.2f", "%-8s", "%08.3f", "%x", "%e", "%g", "%%", "%c", "%(a)s", "%(b)d", "%(a", "%*d"),
    *("%.*f", "%+d", "% d", "%#x", "%i", "%5", "%.", "%y", "%ld", "%5%", "abc", "(", "a", ")", " ", "%a", "%.3s"),
)


def templates(parts):
    return st.lists(st.sampled_from(parts), max_size=5).map("".join)


def outcome(call):
    """Return the text of a call, or the error with its words."""
    try:
        return call()
    except GradcliError:
        return None
    except Exception as error:  # noqa: BLE001 - whatever Python raises
        return f"{type(error).__name__}: {error}"


def same(ours, theirs):
    """Return whether Python says the same; what is too wide for gradcli is not asked for."""
    found = outcome(ours)
    return found is None or found == outcome(theirs)


@settings(deadline=None, max_examples=300)
@given(SIMPLE, SPECS)
def test_a_value_is_formatted_as_python_formats_it(value, spec):
    assert same(lambda: format_value(value, spec), lambda: format(value, spec))


@settings(deadline=None, max_examples=400)
@given(templates(FIELDS), st.lists(SIMPLE, max_size=3), st.dictionaries(st.sampled_from("ab"), SIMPLE))
def test_a_template_is_filled_as_python_fills_it(template, args, named):
    assert same(lambda: format_text(template, args, named), lambda: template.format(*args, **named))


@settings(deadline=None, max_examples=400)
@given(templates(CONVERSIONS), st.one_of(SIMPLE, st.lists(SIMPLE, max_size=3).map(tuple)))
def test_a_percent_is_written_as_python_writes_it(template, args):
    assert same(lambda: percent(template, args), lambda: template % args)


FAULTS = [
    "{", "}", "{0[}", "{0[]}", "{0.}", "{0[1]b}", "{0!}", "{0!r", "{0!x}", "{0!rr}", "{:{:{}}}", "{3}", "{x}", "{}{0}",
    "{0}{}", "{a{b}}", "{:d}", "{0[-1]}", "{0[a]}", "{0.a}", "{99999999999999999999999}", "{ 0 }", "{0:{", "{0:}}",
]  # fmt: skip


@pytest.mark.parametrize("template", FAULTS)
def test_a_template_that_is_wrong_raises_as_python_does(template):
    args = ([1.5, 2], 2, 3)
    assert outcome(lambda: format_text(template, args, {})) == outcome(lambda: template.format(*args))


class Of:
    """A value of the script with an attribute, which Python must not see."""

    def __format__(self, spec):
        raise AssertionError("formatted by Python")


class Run(Showing):
    """A run that shows tensors."""

    def text(self, value):
        return "tensor" if isinstance(value, Of) else str(value)

    def quoted(self, value):
        return "quoted" if isinstance(value, Of) else repr(value)

    def kind(self, value):
        return "Tensor" if isinstance(value, Of) else type(value).__name__

    def attribute(self, value, name):
        return {"shape": (2, 3), "grad": 0.5}[name] if isinstance(value, Of) else super().attribute(value, name)

    def number(self, value, conversion):
        return 2.75 if isinstance(value, Of) else super().number(value, conversion)


def test_a_run_says_what_its_values_are():
    x = Of()
    assert (
        format_text("{0} {0!r} {0.grad:.2f} {0.shape[1]} {y.grad}", [x], {"y": x}, Run()) == "tensor quoted 0.50 3 0.5"
    )
    assert percent("%s %r %d %.1f %8s", (x, x, x, x, x), Run()) == "tensor quoted 2 2.8   tensor"
    assert percent("%s", x, Run()) == "tensor"
    assert format_value(x, "", Run()) == "tensor"
    assert converted(x, "r", Run()) == "quoted"
    with pytest.raises(TypeError, match=r"unsupported format string passed to Tensor.__format__"):
        format_value(x, ".2f", Run())


@pytest.mark.parametrize("template", ["{0.__class__}", "{0.__init__.__globals__}", "{0[0].__class__}", "{a.real}"])
def test_no_attribute_is_walked(template):
    with pytest.raises(AttributeError):
        format_text(template, [[1.0]], {"a": 1})


WIDE = [
    lambda: format_value(1.0, "99999999999d"),
    lambda: format_value("a", ".10001"),
    lambda: format_text("{:{}}", [1, 10**9], {}),
    lambda: format_text("{:10000}" * 2000, [1] * 2000, {}),
    lambda: percent("%*d", (10**9, 1)),
    lambda: percent("%-999999999s", "a"),
    lambda: percent("%.123456789f", 1.0),
    lambda: percent("%10000d" * 2000, (1,) * 2000),
]


@pytest.mark.parametrize("call", WIDE)
def test_widths_are_bounded(call):
    with pytest.raises(GradcliError) as error:
        call()
    assert error.value.kind == "budget"


def test_the_widest_is_written():
    assert format_value(1, "10000") == percent("%10000d", 1) == format(1, "10000")


def test_an_array_is_formatted_as_its_library_does():
    several = "unsupported format string passed to {}.__format__"
    assert format_array(0.1, "float32", "", str) == "0.10000000149011612"
    assert format_array(np.array(2), "int64", "03d", str) == "002"
    assert format_array(np.array(0.1), "float32", "", str, library="numpy") == f"{np.float32(0.1)}"
    assert format_array([1.0], "float32", "", lambda: "tensor([1.])") == "tensor([1.])"
    for library, parameter, kind in (
        ("torch", False, "Tensor"),
        ("torch", True, "Parameter"),
        ("numpy", False, "numpy.ndarray"),
        ("jax", False, "numpy.ndarray"),
    ):
        with pytest.raises(TypeError, match=several.format(kind)):
            format_array([1.0, 2.0], "float32", ".2f", str, library=library, parameter=parameter)


@needs_torch
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int64", "bool"])
def test_a_tensor_is_formatted_as_pytorch_formats_it(dtype):
    import torch

    for value in (0.1, 3.0, -1e-7, 0.0) if "float" in dtype else (0, 1):
        for spec in ("", ".2f", "8.3g", "5", "d", "q"):
            tensor = torch.tensor(value, dtype=getattr(torch, dtype))
            for made, parameter in ((tensor, False), (torch.nn.Parameter(tensor, tensor.is_floating_point()), True)):
                ours = outcome(lambda: format_array(value, dtype, spec, lambda: repr(made), parameter=parameter))  # noqa: B023
                assert ours == outcome(lambda: format(made, spec))  # noqa: B023
