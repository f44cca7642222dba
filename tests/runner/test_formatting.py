"""Formatting beside Python's own: f-strings, the % operator and str.format, texts and errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradcli.errors import GradcliError
from gradcli.runner import script
from gradcli.runner.exceptions import Raised
from gradcli.runner.library import load
from gradcli.runner.printing import format_template, format_value, percent
from oracles import cases, needs_torch

TABLES = cases("formatting.toml")

RUN = script.Run()
load("torch")
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
    except Raised as error:
        return f"{error.name}: {RUN.text(error.instance)}"
    except Exception as error:  # noqa: BLE001 - whatever Python raises
        return f"{type(error).__name__}: {error}"


def same(ours, theirs):
    """Return whether Python says the same; what is too wide for gradcli is not asked for."""
    found = outcome(ours)
    return found is None or found == outcome(theirs)


@settings(deadline=None, max_examples=300)
@given(SIMPLE, SPECS)
def test_a_value_is_formatted_as_python_formats_it(value, spec):
    assert same(lambda: format_value(RUN, value, spec), lambda: format(value, spec))


@settings(deadline=None, max_examples=400)
@given(templates(FIELDS), st.lists(SIMPLE, max_size=3), st.dictionaries(st.sampled_from("ab"), SIMPLE))
def test_a_template_is_filled_as_python_fills_it(template, args, named):
    assert same(lambda: format_template(RUN, template, args, named), lambda: template.format(*args, **named))


@settings(deadline=None, max_examples=400)
@given(templates(CONVERSIONS), st.one_of(SIMPLE, st.lists(SIMPLE, max_size=3).map(tuple)))
def test_a_percent_is_written_as_python_writes_it(template, args):
    assert same(lambda: percent(RUN, template, args), lambda: template % args)


FAULTS = [
    "{", "}", "{0[}", "{0[]}", "{0.}", "{0[1]b}", "{0!}", "{0!r", "{0!x}", "{0!rr}", "{:{:{}}}", "{3}", "{x}", "{}{0}",
    "{0}{}", "{a{b}}", "{:d}", "{0[-1]}", "{0[a]}", "{0.a}", "{99999999999999999999999}", "{ 0 }", "{0:{", "{0:}}",
]  # fmt: skip


@pytest.mark.parametrize("template", FAULTS)
def test_a_template_that_is_wrong_raises_as_python_does(template):
    args = ([1.5, 2], 2, 3)
    assert outcome(lambda: format_template(RUN, template, args, {})) == outcome(lambda: template.format(*args))


def test_a_run_says_what_its_values_are():
    x = RUN.make(np.array([[1.0, 2.0], [3.0, 2.75]]))
    one = RUN.make(np.array(2.75))
    text = "tensor([[1.0000, 2.0000],\n        [3.0000, 2.7500]])"
    assert (
        format_template(RUN, "{0} {0!r} {0.shape[1]} {y.shape}", [x], {"y": x}) == f"{text} {text} 2 torch.Size([2, 2])"
    )
    assert percent(RUN, "%s %r %d %.1f %8s", (x, x, one, one, True)) == f"{text} {text} 2 2.8     True"
    assert percent(RUN, "%s", x) == format_value(RUN, x) == text
    with pytest.raises(Raised) as error:
        format_value(RUN, x, ".2f")
    assert error.value.text == "unsupported format string passed to Tensor.__format__"


@pytest.mark.parametrize(("template", "text"), TABLES["no_attribute_of_the_host_is_walked"])
def test_no_attribute_of_the_host_is_walked(template, text):
    assert outcome(lambda: format_template(RUN, template, [[1.0]], {"a": 1})) == text


WIDE = [
    lambda: format_value(RUN, 1.0, "99999999999d"),
    lambda: format_value(RUN, "a", ".10001"),
    lambda: format_template(RUN, "{:{}}", [1, 10**9], {}),
    lambda: format_template(RUN, "{:10000}" * 2000, [1] * 2000, {}),
    lambda: percent(RUN, "%*d", (10**9, 1)),
    lambda: percent(RUN, "%-999999999s", "a"),
    lambda: percent(RUN, "%.123456789f", 1.0),
    lambda: percent(RUN, "%10000d" * 2000, (1,) * 2000),
]


@pytest.mark.parametrize("call", WIDE)
def test_widths_are_bounded(call):
    with pytest.raises(GradcliError) as error:
        call()
    assert error.value.kind == "budget"


def test_the_widest_is_written():
    assert format_value(RUN, 1, "10000") == percent(RUN, "%10000d", 1) == format(1, "10000")


def test_an_array_is_formatted_as_its_library_does():
    assert format_value(RUN, RUN.make(0.1), "") == "0.10000000149011612"
    assert format_value(RUN, RUN.make(2), "03d") == "002"
    for library, kind in (("torch", "Tensor"), ("numpy", "numpy.ndarray")):
        said = outcome(lambda: format_value(RUN, RUN.make([1.0, 2.0], library=library), ".2f"))  # noqa: B023
        assert said == f"TypeError: unsupported format string passed to {kind}.__format__"


@needs_torch
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int64", "bool"])
def test_a_tensor_is_formatted_as_pytorch_formats_it(dtype):
    import torch

    for value in (0.1, 3.0, -1e-7, 0.0) if "float" in dtype else (0, 1):
        for spec in ("", ".2f", "8.3g", "5", "d", "q"):
            tensor = torch.tensor(value, dtype=getattr(torch, dtype))
            ours = outcome(lambda: format_value(RUN, RUN.make(value, dtype), spec))  # noqa: B023
            assert ours == outcome(lambda: format(tensor, spec))  # noqa: B023
