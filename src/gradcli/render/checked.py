"""What ``check`` says: one line, or the JSON document.

What a test report shows of a gradient that is not right: the sentence, the place with both numbers, a command.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.document.texts import input_text, list_text, nested, strict
from gradcli.errors import Budget
from gradcli.errors.hints import counted, listed
from gradcli.exact.thresholds import ALL
from gradcli.explanation.checked import DIGITS, EXPECTED
from gradcli.render.data import events_document, head, inputs_document, notes_document

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcli.explanation.checked import Checked, Comparison, Entry, Expectation, FunctionVerdict


def check_line(found: Checked) -> str:
    """Return what a check says, a line for each derivative that was expected, else one: right, or what is wrong."""
    functions = functions_line(found)
    if found.expected:
        lines = [expectation_line(found, one) for one in found.expected]
        lines[-1] += asked_text(found)
        return "\n".join([*lines, *functions]) + routes_line(found)
    return functions[0] if functions and not found.misprints and worst_entry(found) is None else own_line(found)


def functions_line(found: Checked) -> list[str]:
    """Return a last line for functions whose backward is wrong where no gradient that is wrong says so."""
    wrong = [one.sentence for one in found.functions.values() if one.verdict == "wrong"]
    if not wrong or any(one.verdict == "wrong" for one in found.expected):
        return []
    return [f"wrong: {'; '.join(wrong)}"]


def own_line(found: Checked) -> str:
    """Return the line where nothing was expected: how right symbols and reverse mode are."""
    if found.verdict == "wrong":
        return wrong_line(found)
    if not found.value_finite:
        return f"not finite: y is not finite{where_text(found)}"
    if not found.finite:
        return f"not finite: J has an entry that is not finite, by symbols and by reverse mode alike{where_text(found)}"
    if found.verdict == "unclear":
        return f"unclear: {found.reason}{where_text(found)}"
    if not found.digits:
        return f"right: J has no entries{where_text(found)}"
    own = [route for route in found.digits if route != EXPECTED]
    count = digits_text(min(found.digits[route] for route in own))
    agrees = "agrees" if len(own) == 1 else "agree"
    line = f"right: {listed(own, len(own))} {agrees} with the true derivative to {count}"
    return f"{line}{where_text(found)}{asked_text(found)}{read_text(found)}"


def routes_line(found: Checked) -> str:
    """Return a last line where gradcli's own routes are wrong, or not sure, beside what was expected."""
    if found.by_script:
        return ""
    routes = [one for one in found.comparisons if one.routes[0] != EXPECTED and one.wrong]
    if routes or found.misprints:
        return f"\n{wrong_line(found)}"
    if all(one.verdict == "right" for one in found.expected) and not found.finite:
        return f"\nnot finite: {'y' if not found.value_finite else 'J'} is not finite everywhere{where_text(found)}"
    if found.reason and all(one.verdict != "unclear" for one in found.expected):
        return f"\nunclear: {found.reason}{where_text(found)}"
    return ""


def expectation_line(found: Checked, one: Expectation) -> str:
    """Return the line of one expected derivative."""
    if one.verdict == "right":
        held = "reverse mode" if one.inner else "the true derivative"
        agrees = f"right: {one.text} agrees with {held}{by_text(one)} to {digits_text(one.digits)}"
        several = found.wanted or found.points > 1
        where = where_text(found) if not one.fixed else " at the point given" if several else ""
        return f"{agrees}{standard_text(one)}{where}"
    if one.verdict == "unclear":
        word = "not finite" if found.verdict == "not-finite" else "unclear"
        return f"{word}: {one.text}{by_text(one)}: {found.reason or 'its entries could not be decided'}"
    if one.misfit:
        return f"wrong: {one.text} {one.misfit}"
    place = wrong_place(found, one) + standard_text(one)
    why = one.mistake
    if one.first_wrong and one.first_wrong != one.text:
        why = f"{one.text} is wrong because {one.first_wrong} is"
    more = more_text(one) if not why else ""
    point = f"; at {point_text(one.worst)}" if found.wanted and one.worst is not None and not found.reproduce else ""
    return f"wrong: {place}{more}{f': {why}' if why else ''}{point}"


def more_text(one: Expectation) -> str:
    """Return how many other points, or at a single one other entries, are wrong too."""
    if one.points > 1:
        return f" ({counted(one.points - 1, 'more point')} too)"
    return f" ({counted(one.wrong - 1, 'more entry')} too)" if one.wrong > 1 else ""


def standard_text(one: Expectation) -> str:
    """Return to how many digits a derivative is held, where these are not the usual ones."""
    return f" (held to {one.standard})" if one.standard else ""


def by_text(one: Expectation) -> str:
    """Return by which value a derivative is, where its own text does not say it."""
    named = one.variable in one.text and not one.from_file and one.text != EXPECTED
    return "" if named else f" by {one.variable}"


def wrong_place(found: Checked, one: Expectation) -> str:
    """Return the worst entry of a wrong derivative with both numbers, by what the user calls it."""
    if one.worst is None:
        return f"{one.text} is not the derivative{by_text(one)}"
    first, second = one.worst.values
    index = one.entry or one.worst.column.removeprefix(one.worst.variable)
    of_input = one.text in found.inputs or one.text == one.variable  # which is no name of its own derivative
    its_own = (
        NAME.fullmatch(one.text)
        and not (of_input or one.from_file)
        and (found.by_script or not one.text.isidentifier())
    )
    if its_own and (index.startswith("[") or not index):
        return f"{one.text}{index} is {first!r} and truly {second!r}"
    return f"{one.worst.place} is {first!r} by {one.text} and truly {second!r}"


NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+|\[(?:\d+|['\"]\w+['\"])\])*")
"""What a script calls a value: an index after it is an entry."""


def asked_text(found: Checked) -> str:
    """Return how many entries of J were asked for, where these are not all."""
    asked = found.asked
    if asked.how == "all":
        return ""
    told = [f"{asked.single:,} of {counted(asked.entries, 'entry')} one by one"] if asked.single else []
    directions = counted(asked.directions, "random direction")
    told += [f"all {counted(asked.entries, 'entry')} along {directions}"] if asked.directions else []
    return f"; checked {' and '.join(told)}" if told else ""


def read_text(found: Checked) -> str:
    """Return how many formulas and lines of the backward pass give the numbers beside them."""
    lines, read = found.backward_lines, found.backward_read
    told = [counted(found.formulas, "printed formula")] if found.formulas else []
    if lines:
        some = counted(lines, "line") if read == lines else f"{read:,} of {counted(lines, 'line')}"
        told.append(f"{some} of Backward")
    single = found.formulas + lines == 1
    return f"; {' and '.join(told)} {'gives' if single else 'give'} the same numbers" if told else ""


def wrong_line(found: Checked) -> str:
    """Return the line for a route of gradcli's own that is wrong: the worst entry, and both numbers."""
    worst = worst_entry(found)
    if worst is None:
        return f"wrong: a formula of {found.misprints[0]}"
    first, second = worst.values
    point = f"; at {point_text(worst)}" if found.wanted and not found.reproduce else ""
    many = sum(c.wrong for c in found.comparisons if c.routes == worst.routes)
    more = f" ({counted(many - 1, 'more entry')} too)" if many > 1 else ""
    route = "truly" if worst.routes[1] == DIGITS else f"by {worst.routes[1]}"
    return f"wrong: {worst.place} is {first!r} by {worst.routes[0]} and {second!r} {route}{more}{point}"


def digits_text(count: float) -> str:
    """Return how many digits."""
    return "all digits" if count == ALL else counted(int(count), "digit")


def point_text(entry: Entry) -> str:
    """Return the point of an entry as options."""
    return " ".join(f"--{name} {input_text(value)}" for name, value in entry.point.items())


def where_text(found: Checked) -> str:
    """Return at how many points."""
    given = "the point given" if found.points == 1 else f"the {found.points:,} points given"
    if not found.wanted:
        return "" if found.points == 1 else f" at {given}"
    all_of = "" if found.samples == found.wanted else f" of {found.wanted:,}, for which the budget 'work' is enough"
    return f" at {given} and at {counted(found.samples, 'random point')}{all_of} (seed {found.seed})"


def worst_entry(found: Checked) -> Entry | None:
    """Return the wrong entry of a route with the fewest right digits; None where none is wrong."""
    wrong = [c.worst for c in found.comparisons if c.wrong and c.worst is not None and c.routes[0] != EXPECTED]
    return min(wrong, key=lambda entry: entry.digits, default=None)


def failing_entry(found: Checked) -> Entry | None:
    """Return the entry of what was expected that has the fewest right digits, or else of a route; None for none."""
    if found.verdict != "wrong":
        return None
    wrong = [one.worst for one in found.expected if one.wrong and one.worst is not None]
    return min(wrong, key=lambda entry: entry.digits, default=worst_entry(found))


def check_document(found: Checked) -> dict[str, Any]:
    """Return the JSON document of a check."""
    worst = failing_entry(found)
    return {
        **head(found.program),
        "verdict": found.verdict,
        "expected": {one.variable: expectation_document(one) for one in found.expected},
        "inputs": inputs_document(found.inputs, found.differentiated),
        "check": {
            "agree": found.agree,
            "finite": found.finite,
            "routes": found.routes,
            "samples": found.samples,
            "wanted": found.wanted,
            "reason": found.reason or None,
            "needed": found.needed or None,
            "formulas": found.formulas,
            "misprints": found.misprints,
            "backward_lines": found.backward_lines,
            "backward_read": found.backward_read,
            "seed": found.seed,
            "asked": {
                "how": found.asked.how,
                "entries": found.asked.entries,
                "single": found.asked.single,
                "directions": found.asked.directions,
            },
            "points": found.points,
            "worst": None if worst is None else entry_document(worst),
            "comparisons": [comparison_document(c) for c in found.comparisons],
            "hint": found.hint or None,
        },
        "functions": {name: function_document(one) for name, one in found.functions.items()},
        **({} if found.timeline is None else events_document(found.timeline, nested)),
        "agreement": {
            "agree": found.agree,
            "finite": found.finite,
            "verdict": AGREEMENTS[found.verdict],
            "digits": found.digits,
        },
        "notes": notes_document(found.notes),
        "sentence": check_line(found),
        "error": None,
    }


def function_document(found: FunctionVerdict) -> dict[str, Any]:
    """Return the verdict on a function with a backward of the script's own."""
    return {
        "verdict": found.verdict,
        "input": found.inputs[0] if found.inputs else None,
        "inputs": list(found.inputs),
        "reason": found.reason or None,
        "right_here": found.right_here,
        "kink": found.kink,
        "message": found.sentence,
    }


AGREEMENTS = {"right": "agree", "wrong": "differ", "unclear": "unclear", "not-finite": "not-finite"}
"""What the agreement of an answer is called where every answer has one."""


def expectation_document(one: Expectation) -> dict[str, Any]:
    """Return what is said of one expected derivative."""
    return {
        "text": one.text,
        "verdict": one.verdict,
        "digits": strict(one.digits),
        "compared": one.compared,
        "wrong": one.wrong,
        "unclear": one.unclear,
        "inner": one.inner,
        "first_wrong": one.first_wrong or None,
        "mistake": one.mistake or None,
        "misfit": one.misfit or None,
        "standard": one.standard or None,
        "worst": None if one.worst is None else entry_document(one.worst),
    }


def comparison_document(found: Comparison) -> dict[str, Any]:
    """Return one comparison of two routes."""
    return {
        "routes": list(found.routes),
        "compared": found.compared,
        "unclear": found.unclear,
        "wrong": found.wrong,
        "misfit": found.misfit or None,
        "standard": found.standard or None,
        "worst": None if found.worst is None else entry_document(found.worst),
    }


def entry_document(entry: Entry) -> dict[str, Any]:
    """Return one entry by two routes."""
    return {
        "variable": entry.variable,
        "place": entry.place,
        "values": [strict(value) for value in entry.values],
        "error": strict(entry.error),
        "tolerance": strict(entry.tolerance),
        "units": strict(entry.units),
        "digits": strict(entry.digits),
        "point": {name: nested(value) for name, value in entry.point.items()},
    }


# ---- What a test report shows of a gradient that is not right: the sentence, the place with both numbers,

MOST_TYPED = 64
"""Entries of an array that a command has in it; a larger one is named by a file."""
BY_POINT = ("samples", "seed", "points", "inputs")
"""Options that are not needed to ask again at the failing point."""


def assertion_text(check: Checked, sentence: str, program: str | Callable[..., Any], asked: Mapping[str, Any]) -> str:
    """Return the lines of an assertion; ``asked`` are the keywords with which the check was called."""
    lines = [sentence]
    worst = failing_entry(check)
    if worst is not None:
        width = max(map(len, worst.routes))
        rows = [
            f"  {route:<{width}}  {value!r}" for route, value in zip(named(worst.routes), worst.values, strict=True)
        ]
        lines += [f"  {worst.place}:", *rows]
    lines += [f"  note: {note.message}" for note in check.notes]
    point = check.inputs if worst is None else worst.point
    if check.labels:  # of a script, whose values have names that no option has
        point = {}
    options = {key: value for key, value in asked.items() if key not in check.inputs and key not in BY_POINT}
    large = [name for name, value in point.items() if np.size(value) > MOST_TYPED]
    if callable(program):
        return "\n".join([*lines, f"  {call_text(program, point, options, large)}"])
    saved = [f'  np.save("{name}.npy", {name})' for name in large]
    return "\n".join([*lines, *saved, f"  {command_text(check.program, point, options)}"])


def named(routes: tuple[str, str]) -> list[str]:
    """Return what the two numbers are called where nobody has typed an option."""
    names = {"--expect": "expected", "many digits": "truly"}
    return [names.get(route, route) for route in routes]


def command_text(program: str, point: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """Return the command line that checks a program at a point."""
    words = ["gradcli", "check", program.strip()]
    for name, value in point.items():
        text = f"@{name}.npy" if np.size(value) > MOST_TYPED else input_text(value)
        words += [f"--{name}", text] if len(name) == 1 and name != "v" else ["--set", f"{name}={text}"]
    for key, value in options.items():
        words += option_words(f"--{key}", value)
    return shlex.join(words)


def option_words(flag: str, value: Any) -> list[str]:
    """Return an option of ``check`` as words of the command line, none where it says nothing."""
    if value is None or value is False:
        return []
    if value is True:
        return [flag]
    if isinstance(value, Budget):
        changed = {name: getattr(value, name) for name in Budget.__slots__}
        return [
            word
            for name, bound in changed.items()
            if bound != getattr(Budget(), name)
            for word in (flag, f"{name}={bound:.0f}")
        ]
    if isinstance(value, Mapping):
        return [word for name, one in value.items() for word in (flag, f"{name}={text_of(one)}")]
    if isinstance(value, list | tuple) and value and all(isinstance(one, str) for one in value):
        return [flag, ",".join(value)]
    return [flag, text_of(value)]


def text_of(value: Any) -> str:
    """Return a formula, a number or an array as it is typed."""
    return value if isinstance(value, str) else list_text(np.asarray(value, dtype=np.float64))


def call_text(
    function: Callable[..., Any], point: Mapping[str, Any], options: Mapping[str, Any], large: list[str]
) -> str:
    """Return the call of ``check`` that asks for a Python function at a point; large arrays stand by their names."""
    values = {name: name if name in large else list_text(value) for name, value in point.items()}
    others = {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in options.items()}
    taken = [f"{name}={text}" for name, text in values.items()] + [f"{key}={value!r}" for key, value in others.items()]
    return f"gradcli.check({', '.join([getattr(function, '__name__', repr(function)), *taken])})"
