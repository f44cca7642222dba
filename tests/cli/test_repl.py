"""``gradcli repl``: what is typed at a terminal, one line after the other, and what is printed."""

import sys
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from conftest import Screen, text_of
from gradcli.cli import repl
from gradcli.cli.app import run
from gradcli.cli.output import Environment

TO_END = "\x03\x04"  # drops a line that is not at its end, and ends the input
ENTER = "\r"


@pytest.fixture
def screen(tmp_path, monkeypatch):
    """Return what types keys, and gives back the exit code and both streams."""
    monkeypatch.setenv("HOME", str(tmp_path))

    def answered(*lines, keys="", words=()):
        out, err = Screen(), Screen()
        with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
            pipe.send_text("".join(line + ENTER for line in lines) + keys + TO_END)
            env = Environment(stdin=Screen(), stdout=out, stderr=err, variables={"COLUMNS": "80", "NO_COLOR": "1"})
            with ThreadPoolExecutor(1) as alone:  # the tests in a browser leave an event loop in this thread
                code = alone.submit(copy_context().run, run, ["repl", *words], env).result()
        return code, text_of(out), text_of(err)

    return answered


def test_a_line_is_what_explain_takes(screen, cli):
    code, out, err = screen("x**2 + 1 --x 3. --format plain")
    assert (code, err) == (0, "")
    assert out.endswith(cli("x**2 + 1", "--x", "3.", "--format", "plain").out)


def test_values_stay_until_they_are_forgotten(screen):
    function, lines = "grad def f(x): return x**3", ("grad w*x", "w =", "grad w*x")
    _, out, err = screen("x = 1.,2.", "w = 3", "v = 1,10", "grad x**2", function, "\x7f" * 4, *lines)
    assert out.splitlines()[1:] == ["2,40", "3,120", "w=21", "x=3,30"]
    assert err.startswith("error: no value for the variable w\n")


@pytest.mark.parametrize("view", [":tape", "--tape", ":row 0", ":json", ":code numpy", ":wrt x"])
def test_the_last_program_is_asked_again_with_an_option(screen, cli, view):
    _, out, _ = screen("grad x**2 --x 3.", "x = 3.", view)
    assert out.endswith(cli("x**2", "--set", "x=3.", *f"--{view.lstrip(':-')}".split()).out)


def test_an_error_is_shown_with_its_place_and_the_next_line_is_answered(screen):
    code, out, err = screen("x = 2", "grad x**3", "sinn(x)", "grad --wrt x", ":tape 'a", ":nonsense", "x = 1,2;3")
    assert code == 0
    assert out.splitlines()[-1] == "12"
    assert err.split("error: ")[1:] == [
        "unknown function 'sinn'\n  |\n1 | sinn(x)\n  | ^^^^\nhelp: did you mean 'sin'?\n",
        "a quote is not closed\nhelp: for example --x '1, 2'\n",
        "no such option --nonsense\nhelp: gradcli explain --help lists what there is\n",
        err.split("error: ")[4],
    ]
    assert "row" in err.split("error: ")[4]


def test_a_view_needs_a_program(screen):
    assert screen(":tape")[2] == "error: there is no program yet\nhelp: type one, such as x**2\n"


def test_a_block_and_an_open_bracket_go_on(screen):
    _, out, err = screen(
        "x = 2.", "for i in range(2):", "    x = x*3", "\x7f\x7f\x7f\x7fx --format plain", "grad sum([x,", "x])", "quit"
    )
    assert err == ""
    assert "x.grad = 9" in out
    assert out.splitlines()[-1] == "2"


def test_a_line_begins_after_alt_and_enter(screen):
    assert screen("x = 2", "grad y = x*3\x1b\ry*y")[1].splitlines()[-1] == "36"


COMPLETED = {  # what stands before the cursor: the word that Tab completes, some of what may stand there
    "grad softpl": ("softpl", {"softplus"}),
    "sin(wei": ("wei", {"weight", "sin"}),
    "sin(": ("", set()),
    ":ta": (":ta", {":tape", ":quit"}),
    "weight**3 --fo": ("--fo", {"--format", "--weight"}),
    "weight**3 --format ": ("", {"json"}),
    "--row 0 --wrt ": ("", {"a", "b"}),
}


@pytest.mark.parametrize("text", COMPLETED)
def test_tab_completes_functions_values_options_and_their_values(text):
    word, some = COMPLETED[text]
    talk = repl.Talk(Environment(), run, [], "a*b", {"weight": "2."})
    completions = repl.prompter(talk).completer.get_completions(Document(text), CompleteEvent())
    assert talk.completed(text)[0] == word
    assert {one.text for one in completions} >= {name for name in some if name.startswith(word)}


def test_ctrl_c_drops_a_line(screen):
    assert screen("x = 2", keys="sinn(\x03grad x**2\r")[1:] == (f"{GREETING}\n4\n", "")


GREETING = ":help says what a line may be, and :quit ends."


def test_help_and_other_commands(screen):
    _, out, err = screen(":help", "x = 2", "help", "functions softplus", "check x**2", "gradcli check 'x**2' --x 3")
    assert err == ""
    assert "no values yet" in out
    assert "x = 2\n" in out
    assert "softplus(x)" in out
    assert out.count("right: ") + out.count("agree") >= 2


def test_bounds_hold_for_every_line(screen):
    assert "error: " in screen("x = 2", "grad sin(x)*x", words=("--budget", "nodes=1"))[2]


def test_lines_are_remembered(screen, tmp_path):
    screen("x = 2")
    assert "+x = 2" in (tmp_path / repl.HISTORY).read_text()
    assert (tmp_path / repl.HISTORY).stat().st_mode & 0o077 == 0
    assert screen(keys="\x1b[A = 5\r")[1].startswith(GREETING)


def test_a_home_that_takes_no_file_is_no_obstacle(screen, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: Path("/proc/nowhere"))
    assert screen("x = 2", "grad x**2")[1:] == (f"{GREETING}\n4\n", "")


def test_it_is_for_a_terminal(cli):
    answer = cli("repl")
    assert (answer.code, answer.err.splitlines()[0]) == (
        2,
        "error: repl is for a person at a terminal, and here is none",
    )


def test_without_its_extra_it_says_what_to_install(screen, monkeypatch):
    monkeypatch.setitem(sys.modules, "prompt_toolkit", None)
    code, out, err = screen("x = 2")
    assert (code, out) == (2, "")
    assert err == 'error: repl needs prompt_toolkit, which is not installed\nhelp: pip install "gradcli[repl]"\n'
