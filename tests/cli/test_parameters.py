"""Options that are read without pydantic: whatever is taken plainly is what typer would have made of it."""

from typing import Annotated, Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.core import TyperOption

from gradcli.cli.app import UNREAD, command_line, plain, processed, read_plainly
from gradcli.cli.options import COMMANDS

DECLARED = typer.Typer()


@DECLARED.command()
def _declared(
    argument: Annotated[str | None, typer.Argument()] = None,
    text: Annotated[str | None, typer.Option()] = None,
    texts: Annotated[list[str] | None, typer.Option()] = None,
    integer: Annotated[int, typer.Option()] = 6,
    flag: Annotated[bool, typer.Option("--flag")] = False,
    real: Annotated[float | None, typer.Option()] = None,
) -> None:
    del argument, text, texts, integer, flag, real


COMMAND: Any = typer.main.get_command(DECLARED)
PARAMETERS = {parameter.name: parameter for parameter in COMMAND.params if parameter.name in _declared.__annotations__}
CONTEXT: Any = typer.Context(COMMAND)

TEXTS = st.one_of(
    st.text(max_size=12),
    st.text(st.characters(categories=["Cs", "Nd", "Ll"]), max_size=4),
    st.integers(-(10**20), 10**20).map(str),
    st.sampled_from(["", "6", "-1", "+1", " 7", "1_0", "007", "6.0", "1e3", "0x1", "²", "٣", "true", "\udcff"]),
)
VALUES = st.one_of(TEXTS, st.none(), st.lists(TEXTS, max_size=3), st.lists(TEXTS, max_size=3).map(tuple), st.integers())


@pytest.mark.parametrize("name", PARAMETERS)
@settings(deadline=None)
@given(value=VALUES)
def test_what_is_taken_plainly_is_what_typer_makes_of_it(name: str, value: Any) -> None:
    parameter = PARAMETERS[name]
    found = plain(parameter.type_descriptor.annotation, value)
    if found is not UNREAD:
        by_typer = type(parameter).process_value(parameter, CONTEXT, value)
        assert (type(found), found) == (type(by_typer), by_typer)


def contexts(group: Any, name: str) -> tuple[Any, Any]:
    """Return the contexts in which typer reads the command line and one of its commands."""
    outer = typer.Context(group, **group.context_settings)
    return outer, typer.Context(group.commands[name], info_name=name, parent=outer)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_parameter_of_every_command_reads_plain_values(name: str) -> None:
    group: Any = command_line(name)
    assert list(group.commands) == [name]
    for context in contexts(group, name):
        parameters = context.command.get_params(context)
        assert parameters
        readers = [parameter.process_value for parameter in parameters]
        assert {reader.func for reader in readers} == {processed}
        assert readers == [parameter.process_value for parameter in context.command.get_params(context)]


def test_a_command_alone_is_the_same_as_among_all() -> None:
    everything: Any = command_line()
    assert list(everything.commands) == list(COMMANDS)
    for name in COMMANDS:
        both = [contexts(group, name)[1] for group in (command_line(name), everything)]
        alone, among = (context.command.get_help(context) for context in both)
        assert alone == among
        assert "-h, --help" in alone


def option(**changes: Any) -> Any:
    return TyperOption(param_decls=["--x"], type_descriptor=PARAMETERS["text"].type_descriptor, **changes)


def test_a_required_value_is_left_to_typer() -> None:
    with pytest.raises(typer.TyperException):
        read_plainly(option(required=True)).process_value(CONTEXT, None)


def test_a_callback_gets_the_value_that_was_read() -> None:
    found = read_plainly(option(callback=lambda _ctx, _parameter, value: value + "!"))
    assert found.process_value(CONTEXT, "x") == "x!"


def test_a_parameter_that_does_not_say_its_type_is_left_to_typer() -> None:
    unknown = option()
    del unknown.type_descriptor
    assert "process_value" not in vars(read_plainly(unknown))
