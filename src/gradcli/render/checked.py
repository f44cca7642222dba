"""What ``check`` says: a line for each derivative, the JSON document, and what a test report shows of a wrong one."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.document.texts import input_text, list_text, nested
from gradcli.errors import Budget
from gradcli.errors.hints import counted, listed
from gradcli.exact.work import ALL
from gradcli.explanation.checked import DIGITS, EXPECTED
from gradcli.explanation.results import VERDICTS
from gradcli.render.data import events_document, fields, head, inputs_document, notes_document

if TYPE_CHECKING:
    from gradcli.explanation.checked import Checked, Entry, Expectation


def check_line(check: Checked) -> str:
    """Return what a check says, a line for each derivative that was expected, else one: right, or what is wrong."""
    wrong = [one.sentence for one in check.functions.values() if one.verdict == "wrong"]
    if any(one.verdict == "wrong" for one in check.expected):  # which says so of the function too
        wrong = []
    functions = [f"wrong: {'; '.join(wrong)}"] if wrong else []
    if check.expected:
        lines = [expectation_line(check, one) for one in check.expected]
        lines[-1] += asked_text(check)
        return "\n".join([*lines, *functions]) + routes_line(check)
    return functions[0] if functions and not check.misprints and worst_entry(check) is None else own_line(check)


def own_line(check: Checked) -> str:
    """Return the line where nothing was expected: how right symbols and reverse mode are."""
    where = where_text(check)
    if check.verdict == "wrong":
        return wrong_line(check)
    if not check.value_finite:
        return f"not finite: y is not finite{where}"
    if not check.finite:
        return f"not finite: J has an entry that is not finite, by symbols and by reverse mode alike{where}"
    if check.verdict == "unclear":
        return f"unclear: {check.reason}{where}"
    if not check.digits:
        return f"right: J has no entries{where}"
    routes = [route for route in check.digits if route != EXPECTED]
    count = digits_text(min(check.digits[route] for route in routes))
    line = f"right: {listed(routes, len(routes))} agree{'s' * (len(routes) == 1)} with the true derivative {count}"
    return f"{line}{where}{asked_text(check)}{read_text(check)}"


def routes_line(check: Checked) -> str:
    """Return a last line where gradcli's own routes are wrong, or not sure, beside what was expected."""
    if check.by_script:
        return ""
    routes = [one for one in check.comparisons if one.routes[0] != EXPECTED and one.wrong]
    if routes or check.misprints:
        return f"\n{wrong_line(check)}"
    if all(one.verdict == "right" for one in check.expected) and not check.finite:
        return f"\nnot finite: {'y' if not check.value_finite else 'J'} is not finite everywhere{where_text(check)}"
    if check.reason and all(one.verdict != "unclear" for one in check.expected):
        return f"\nunclear: {check.reason}{where_text(check)}"
    return ""


def expectation_line(check: Checked, one: Expectation) -> str:
    """Return the line of one expected derivative."""
    named = one.variable in one.text and not one.from_file and one.text != EXPECTED
    by = "" if named else f" by {one.variable}"
    standard = f" (held to {one.standard})" if one.standard else ""
    if one.verdict == "right":
        truth = "reverse mode" if one.inner else "the true derivative"
        several = check.wanted or check.points > 1
        where = where_text(check) if not one.fixed else " at the point given" if several else ""
        return f"right: {one.text} agrees with {truth}{by} {digits_text(one.digits)}{standard}{where}"
    if one.verdict == "unclear":
        word = "not finite" if check.verdict == "not-finite" else "unclear"
        return f"{word}: {one.text}{by}: {check.reason or 'its entries could not be decided'}"
    if one.misfit:
        return f"wrong: {one.text} {one.misfit}"
    why, more = one.mistake, ""
    if one.first_wrong and one.first_wrong != one.text:
        why = f"{one.text} is wrong because {one.first_wrong} is"
    if not why and one.points > 1:
        more = f" ({counted(one.points - 1, 'more point')} too)"
    elif not why and one.wrong > 1:
        more = f" ({counted(one.wrong - 1, 'more entry')} too)"
    point = f"; at {point_text(one.worst)}" if check.wanted and one.worst is not None and not check.reproduce else ""
    return f"wrong: {wrong_place(check, one, by)}{standard}{more}{f': {why}' if why else ''}{point}"


NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+|\[(?:\d+|['\"]\w+['\"])\])*")
"""What a script calls a value: an index after it is an entry."""


def wrong_place(check: Checked, one: Expectation, by: str) -> str:
    """Return the worst entry of a wrong derivative with both numbers, by what the user calls it."""
    if one.worst is None:
        return f"{one.text} is not the derivative{by}"
    first, second = one.worst.values
    index = one.entry or one.worst.column.removeprefix(one.worst.variable)
    of_input = one.text in check.inputs or one.text == one.variable  # which is no name of its own derivative
    is_named = NAME.fullmatch(one.text) and not (of_input or one.from_file)
    if is_named and (check.by_script or one.text.endswith(".grad")) and (index.startswith("[") or not index):
        return f"{one.text}{index} is {first!r} and truly {second!r}"
    return f"{one.worst.place} is {first!r} by {one.text} and truly {second!r}"


def asked_text(check: Checked) -> str:
    """Return how many entries of J were asked for, where these are not all."""
    asked = check.asked
    if asked.how == "all":
        return ""
    entries = counted(asked.entries, "entry")
    parts = [f"{asked.single:,} of {entries} one by one"] if asked.single else []
    parts += [f"all {entries} along {counted(asked.directions, 'random direction')}"] if asked.directions else []
    return f"; checked {' and '.join(parts)}" if parts else ""


def read_text(check: Checked) -> str:
    """Return how many formulas and lines of the backward pass give the numbers beside them."""
    lines, read = check.backward_lines, check.backward_read
    parts = [counted(check.formulas, "printed formula")] if check.formulas else []
    if lines:
        some = counted(lines, "line") if read == lines else f"{read:,} of {counted(lines, 'line')}"
        parts.append(f"{some} of Backward")
    give = "gives" if check.formulas + lines == 1 else "give"
    return f"; {' and '.join(parts)} {give} the same numbers" if parts else ""


def wrong_line(check: Checked) -> str:
    """Return the line for a route of gradcli's own that is wrong: the worst entry, and both numbers."""
    worst = worst_entry(check)
    if worst is None:
        return f"wrong: a formula of {check.misprints[0]}"
    first, second = worst.values
    point = f"; at {point_text(worst)}" if check.wanted and not check.reproduce else ""
    many = sum(one.wrong for one in check.comparisons if one.routes == worst.routes)
    more = f" ({counted(many - 1, 'more entry')} too)" if many > 1 else ""
    route = "truly" if worst.routes[1] == DIGITS else f"by {worst.routes[1]}"
    return f"wrong: {worst.place} is {first!r} by {worst.routes[0]} and {second!r} {route}{more}{point}"


def digits_text(count: float) -> str:
    """Return to how many digits: near a derivative of 0 rounding may leave none."""
    words = "all digits" if count == ALL else counted(int(count), "digit")
    return f"to {words}" if count >= 1 else "within rounding"


def point_text(entry: Entry) -> str:
    """Return the point of an entry as options."""
    return " ".join(f"--{name} {input_text(value)}" for name, value in entry.point.items())


def where_text(check: Checked) -> str:
    """Return at how many points."""
    points = "the point given" if check.points == 1 else f"the {check.points:,} points given"
    if not check.wanted:
        return "" if check.points == 1 else f" at {points}"
    all_of = "" if check.samples == check.wanted else f" of {check.wanted:,}, for which the budget 'work' is enough"
    return f" at {points} and at {counted(check.samples, 'random point')}{all_of} (seed {check.seed})"


def worst_entry(check: Checked) -> Entry | None:
    """Return the wrong entry of a route with the fewest right digits; None where none is wrong."""
    routes = [one for one in check.comparisons if one.wrong and one.routes[0] != EXPECTED]
    return min((one.worst for one in routes if one.worst), key=lambda entry: entry.digits, default=None)


def failing_entry(check: Checked) -> Entry | None:
    """Return the entry of what was expected that has the fewest right digits, or else of a route; None for none."""
    if check.verdict != "wrong":
        return None
    wrong = [one.worst for one in check.expected if one.wrong and one.worst is not None]
    return min(wrong, key=lambda entry: entry.digits, default=worst_entry(check))


def check_document(check: Checked) -> dict[str, Any]:
    """Return the JSON document of a check."""
    return {
        **head(check.program),
        "verdict": check.verdict,
        "expected": {
            one.variable: {
                **fields(one, nested, "text", "verdict", "digits", "compared", "wrong", "unclear", "inner"),
                **fields(one, nested, "first_wrong", "mistake", "misfit", "standard"),
                "worst": entry_document(one.worst),
            }
            for one in check.expected
        },
        "inputs": inputs_document(check.inputs, check.differentiated),
        "check": {
            **fields(check, nested, "agree", "finite", "routes", "samples", "wanted", "reason"),
            "needed": check.needed or None,
            **fields(check, nested, "formulas", "misprints", "backward_lines", "backward_read", "seed"),
            "asked": fields(check.asked, nested, "how", "entries", "single", "directions"),
            "points": check.points,
            "worst": entry_document(failing_entry(check)),
            "comparisons": [
                {
                    **fields(one, nested, "routes", "compared", "unclear", "wrong", "misfit", "standard"),
                    "worst": entry_document(one.worst),
                }
                for one in check.comparisons
            ],
            **fields(check, nested, "hint"),
        },
        "functions": {
            name: {
                "verdict": one.verdict,
                "input": one.inputs[0] if one.inputs else None,
                **fields(one, nested, "inputs", "reason", "right_here", "kink", message="sentence"),
            }
            for name, one in check.functions.items()
        },
        **({} if check.timeline is None else events_document(check.timeline)),
        "agreement": {
            "agree": check.agree,
            "finite": check.finite,
            "verdict": next(one.word for one in reversed(VERDICTS.values()) if one.of_check == check.verdict),
            "digits": check.digits,
        },
        "notes": notes_document(check.notes),
        "sentence": check_line(check),
        "error": None,
    }


def entry_document(entry: Entry | None) -> dict[str, Any] | None:
    """Return one entry by two routes."""
    names = ("variable", "place", "values", "error", "tolerance", "units", "digits", "point")
    return None if entry is None else fields(entry, nested, *names)


MOST_TYPED = 64
"""Entries of an array that a command has in it; a larger one is named by a file."""
BY_POINT = ("samples", "seed", "points", "inputs")
"""Options that are not needed to ask again at the failing point."""


def assertion_text(check: Checked, sentence: str, program: str | Callable[..., Any], asked: Mapping[str, Any]) -> str:
    """Return what a test report shows: the sentence, the place with both numbers, a command or a call to see more.

    ``asked`` are the keywords with which the check was called.
    """
    lines = [sentence]
    worst = failing_entry(check)
    if worst is not None:
        width = max(map(len, worst.routes))
        names = {"--expect": "expected", "many digits": "truly"}  # nobody has typed an option
        rows = zip(worst.routes, worst.values, strict=True)
        lines += [f"  {worst.place}:", *(f"  {names.get(one, one):<{width}}  {value!r}" for one, value in rows)]
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
        bounds = {name: (getattr(value, name), getattr(Budget(), name)) for name in Budget.__slots__}
        changed = [(flag, f"{name}={bound:.0f}") for name, (bound, usual) in bounds.items() if bound != usual]
        return [word for words in changed for word in words]
    if isinstance(value, Mapping):
        return [word for name, one in value.items() for word in (flag, f"{name}={typed_text(one)}")]
    if isinstance(value, list | tuple) and value and all(isinstance(one, str) for one in value):
        return [flag, ",".join(value)]
    return [flag, typed_text(value)]


def typed_text(value: Any) -> str:
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
