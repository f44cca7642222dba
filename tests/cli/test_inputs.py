"""Inputs that a program lacks or gives itself: what is said names the flags of the command that was typed."""

import pytest

from gradcli import GradcliError, function
from gradcli.batch.answers import answer
from oracles import cases

TABLES = cases("inputs.toml")

ITSELF = TABLES["ITSELF"]


@pytest.mark.parametrize("command", ["explain", "grad", "check"])
@pytest.mark.parametrize(("program", "given", "message", "hint"), ITSELF)
def test_a_program_that_gives_its_own_inputs_is_told_which_line_to_leave_out(
    cli, command, program, given, message, hint
):
    found = cli(command, program, *given)
    assert (found.code, found.out) == (2, "")
    assert message in found.err.splitlines()[0]
    assert hint in found.err.splitlines()[-1]


@pytest.mark.parametrize("program", ["3*4", "zeros(2).sum()", "y = 5", "x = 1\nx = 2\ny = x*x\ny"])
def test_a_constant_without_a_line_to_leave_out_is_in_order(cli, program):
    for command in ("explain", "grad", "check"):
        assert cli(command, program).code == 0


def test_what_is_said_can_be_done(cli):
    program = "n = 3\nx = torch.tensor([1., 2.])\ny = x**n\nsum(y)"
    for number, words in ((0, ("--n", "3")), (1, ("--x", "torch.tensor([1., 2.])"))):
        lines = program.split("\n")
        del lines[number]
        assert cli("check", "\n".join(lines), *words).code == 0


FLAGS = TABLES["FLAGS"]


@pytest.mark.parametrize(("command", "program", "given", "hint"), FLAGS)
def test_a_missing_input_is_asked_for_by_a_flag_that_the_command_takes_for_it(cli, command, program, given, hint):
    found = cli(command, program, *given)
    assert found.code == 2
    assert found.err.splitlines()[-1] == f"help: {hint}"


def test_other_interfaces_hear_no_flags():
    for program in ("seed*x", "x = 3\nx*2", "3*theta"):
        with pytest.raises(GradcliError) as caught:
            function(program).grad(thetta=1)
        assert "--" not in f"{caught.value.message} {caught.value.hint}"
        error = answer({"program": program, "inputs": {"thetta": 1}})["error"]
        assert error["hint"]
        assert "--" not in f"{error['message']} {error['hint']}"


def test_a_formula_of_expect_is_told_what_it_may_use(cli):
    assert "--q" not in cli("check", "x**2", "--x", "3", "--expect", "2*q").err


EXPECTED = TABLES["EXPECTED"]


@pytest.mark.parametrize(("text", "message"), EXPECTED)
def test_expect_for_a_name_that_is_no_variable_is_refused_with_those_there_are(cli, text, message):
    found = cli("check", "x**2 + c", "--x", "3", "--c", "1", "--wrt", "x", "--expect", text)
    assert (found.code, found.out) == (2, "")
    assert message in found.err.splitlines()[0]
    assert found.err.splitlines()[-1] == "help: there is x"


RIGHT = ["x=2*x", "2*x", "h = 2*x; h", "h = x\nh*2", "6", "x=6", "6\n"]


@pytest.mark.parametrize("text", RIGHT)
def test_expect_may_name_its_variable_or_be_a_program(cli, text):
    assert cli("check", "x**2", "--x", "3", "--expect", text).code == 0


@pytest.mark.parametrize(
    ("text", "code"), [("1,2;3,4", 0), ("x=1,2;3,4", 0), ("1,2;3,5", 1), ("1,2\n3,4", 2), ("1,2;3", 2)]
)
def test_expect_reads_rows_of_numbers_as_a_matrix(cli, text, code):
    assert cli("check", "A @ x", "--A", "1,2;3,4", "--x", "1,1", "--wrt", "x", "--expect", text).code == code


@pytest.mark.parametrize("expect", ["x=s=norm(x); g*x/s", "x=n=norm(x); d=g*x; d/n", "g=s=norm(x); s"])
def test_a_name_before_several_statements_is_the_variable(cli, expect):
    """The formula may use the variable that it is by, too."""
    assert cli("check", "norm(x)*g", "--x", "3,4", "--g", "2", "--v", "1", "--expect", expect).code == 0
    assert cli("check", "norm(x)*g", "--x", "3,4", "--g", "2", "--v", "1", "--expect", f"{expect}*2").code == 1
