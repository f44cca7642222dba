"""Variables that have no value, and values that have no variable: what each of them may have meant."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gradcli.errors import GradcliError
from gradcli.errors.facts import MissingInputs
from gradcli.errors.suggest import did_you_mean
from gradcli.language.program import Program
from gradcli.ops import spellings


def compared_with(program: Program, name: str) -> str | None:
    """Return what a line holds against a variable by ``==``, which begins it; None where none does."""
    text = program.place.text
    at, end = program.inputs[name]
    line = text[text.rfind("\n", 0, at) + 1 :].partition("\n")[0]
    found = line.partition("==")
    return found[2].strip() if found[1] and found[0].strip() == text[at:end] == name else None


def missing_inputs(names: list[str], values: Iterable[str], compared: str | None = None) -> MissingInputs:
    """Return what is known of variables without a value: the first that is compared, a function, or misspelled."""
    if compared is not None:
        return MissingInputs(tuple(names), compared=compared)
    numbered = next((given for given in values if all(re.fullmatch(f"{given}_?[0-9]", name) for name in names)), None)
    if numbered:
        return MissingInputs(tuple(names), numbered=numbered)
    for name in names:
        if name in spellings():
            return MissingInputs(tuple(names), function=name)
        argument = next((given for given in values if name.endswith(given)), "")
        if argument and name.removesuffix(argument) in spellings():
            return MissingInputs(tuple(names), joined=(name.removesuffix(argument), argument))
        near = next((given for given in values if did_you_mean(given, [name])), None)
        if near:
            return MissingInputs(tuple(names), near=(near, name))
    return MissingInputs(tuple(names))


def not_an_input(program: Program, name: str) -> GradcliError:
    """Return the error for a variable that the program does not have, or gives a value itself."""
    from gradcli.language.own import own_inputs  # an error alone needs it

    own = next((found for found in own_inputs(program) if found.name == name), None)
    if own is not None:
        hint = f"leave out {own.where}, and the value that is given counts"
        message = f"the program has its own value of '{name}'"
        return GradcliError("unknown-input", message, span=own.span, place=program.place, hint=hint)
    if program.is_script and name in program.variables:
        output = f"'{program.result}'" if program.result else "the output"
        message = f"{output} is not computed from '{name}', or that is no number that can be moved"
        return GradcliError("unknown-input", message, hint=f"it is computed from {', '.join(program.inputs) or 'none'}")
    if name in program.variables and name not in program.inputs:
        message = f"'{name}' is computed by the program, and no input"
        hint = f"its gradient, {name}.grad, stands under Backward; or leave out what computes it, and give it a value"
        return GradcliError("unknown-input", message, hint=hint)
    if not program.is_script and name in program.beside:
        message = f"'{program.result}' is computed without '{name}'"
        return GradcliError("unknown-input", message, hint=f"it is computed from {', '.join(program.inputs) or 'none'}")
    known = tuple(program.inputs or program.variables)
    has = f"the program has {', '.join(known)}" if known else "the program has no variables"
    return GradcliError("unknown-input", f"the program has no variable '{name}'", hint=did_you_mean(name, known) or has)
