"""What new users typed in their first minutes: each with what is said of it, and the way out.

`docs/first-minutes.md` is the list of these by class.
"""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import gradcli
from gradcli.errors import GradcliError
from gradcli.errors.hints import WRITTEN_AS
from gradcli.language.misread import MEANINGS
from oracles import portion

FILES = {
    "stacked.py": "net = nn.ModuleList([nn.Linear(2, 1), nn.ReLU()])\ny = net(x)\ny.backward()\n",
    "misspelled.py": "act = nn.LeakyRelu()\ny = act(x)\ny.backward()\n",
    "m.csv": "1,2\n3,4\n",
    "j.json": "[2, 4]",
    "prog": "x**2\n",
    "prog.gc": "x**2\n",
    "snippet.py": "x = torch.tensor([1., 2.], requires_grad=True)\ny = x**2\ny.backward(x)\n",
    "unasked.py": "import torch\nx = torch.tensor([1., 2.])\ny = x**2\ny.sum().backward()\n",
    "model.py": "class Net(nn.Module):\n    def forward(self, x):\n        return x\ny = Net()(x)\ny.backward()\n",
    "sheet.ipynb": "{}",
    "raised.txt": 'Traceback (most recent call last):\n  File "a.py", line 2, in <module>\n'
    "RuntimeError: Trying to backward through the graph a second time.\n",
    "quotes.ndjson": "{'program': 'x**2'}\n",
    "words.ndjson": "x**2\n",
}
LISTED = "gradcli explain --help lists what there is"
NUMBER = "write 3, or 1,2,3, or 1,2;3,4, or [[1,2],[3,4]], or @FILE"
MORE = "the program stands by itself: gradcli explain 'x**2' --x 3"
ROWS = [  # of the command line and files: what is typed, what is wrong, what to do
    # options
    ("explain x --x 1 --max-entries 4", "no such option --max-entries", LISTED),
    ("explain x --x 1 --max-entries=4", "no such option --max-entries", LISTED),
    ("explain x --max-entries 4 --x 1", "no such option --max-entries", LISTED),
    ("explain x --x 1 --out-file a.txt", "no such option --out-file", "did you mean '--file'?"),
    (
        "explain x --x 1 --code mxnet",
        "--code 'mxnet' is not known",
        "one of torch, jax, numpy; a variable of this name is given by --set code=mxnet",
    ),
    ("explain x --x 1 --plain", "no such option --plain", "write --format plain"),
    ("explain x --x 1 --no-color", "no such option --no-color", "write --color never"),
    ("explain x --x 1 --digits 3", "no such option --digits", "write --precision 12"),
    ("explain x --x 1 --silent", "no such option --silent", "write -q, and look at the exit code"),
    ("explain x --x 1 --vector 1", "no such option --vector", "--v gives the vector of y.backward(v)"),
    ("grad x --inputs 1", "no such option --inputs", "each variable has an option of its own: --x 1,2"),
    ("explain x --x 1 --jobs 4", "explain has no --jobs", "check and batch have it"),
    ("grad x --x 1 --only grad", "grad has no --only", "batch has it"),
    ("explain x --x 1 -j 4", "-j is no option", "batch has it"),
    ("grad x --x 1 --precison 3", "no such option --precison", "did you mean '--precision'?"),
    ("check x**2 --x 3 --derivative 2*x", "no such option --derivative",
     "--expect '2*x' holds a derivative of your own against the true one"),
    ("explain --program x**2 --x 3", "no such option --program", MORE),
    ("explain -e x**2 --x 3", "-e is no option", "leave out -e: the program stands by itself"),
    ("explain x**2 --x3", "no such option --x3", "write --x 3"),
    ("explain x**2 --x:3", "no such option --x:3", "write --x 3"),
    ("explain x**2 -x=3", "-x=3 is no option", "write --x 3"),
    ("explain x**2 x = 3", "x=3 is no option", "write --x 3"),
    ("explain x=3 x**2", "x=3 is no option", "write --x 3"),
    ("explain weight**2 -weight 3", "-weight is no option", "inputs have two dashes: --weight"),
    ("explain x**2 --x 3 --v --json", "--v needs a value", "for example --v 1,2"),
    ("explain x**2 --x 3 -o --json", "-o needs a value", "for example -o answer.txt"),
    ("explain x**2 --x 3 --width wide", "--width needs an integer", "for example --width 100"),
    ("check x**2 --x 3 --samples 1e3", "--samples needs an integer", "for example --samples 100"),
    ("batch words.ndjson --timeout 1s", "--timeout needs a number", "for example --timeout 10"),
    ("batch --jobs", "--jobs needs a value", "for example --jobs 4"),
    ("batch --foo", "no such option --foo", "gradcli batch --help lists what there is"),
    ("batch --json", "batch has no --json", "leave it out: what it prints is JSON already"),
    ("schema --format json", "schema has no --format", "leave it out: what it prints is JSON already"),
    ("functions --v 3", "functions has no --v", "explain, grad and check have it"),
    ("batch words.ndjson more.ndjson", "'more.ndjson' is one word too many",
     "gradcli batch --help lists what there is"),
    ("functions sin cos", "'cos' is one word too many", "gradcli functions --help lists what there is"),
    ("--hlep", "no such option --hlep", "did you mean '--help'?"),
    ("--usage", "no such option --usage", "gradcli --help lists what there is"),
    ("--install-completion zsh", "--install-completion is for the shell that it runs in",
     "start zsh, and run gradcli --install-completion there"),
    ("--show-completion=fish", "--show-completion is for the shell that it runs in",
     "start fish, and run gradcli --show-completion there"),
    # commands
    ("execute snippet.py", "no such command 'execute'", "did you mean 'run'?"),
    ("jacobian x**2 --x 3", "no such command 'jacobian'", "did you mean 'explain'?"),
    ("diff x**2 --x 3", "no such command 'diff'", "did you mean 'grad'?"),
    ("verify x**2 --x 3", "no such command 'verify'", "did you mean 'check'?"),
    ("EXPLAIN x**2 --x 3", "no such command 'EXPLAIN'", "did you mean 'explain'?"),
    ("sigmoid", "no such command 'sigmoid'", "gradcli functions sigmoid describes the function"),
    ("version", "no such command 'version'", "gradcli --version prints it"),
    ("prog", "no such command 'prog'", "there is such a file: gradcli explain -f prog"),
    ("why", "no such command 'why'", "gradcli --help lists what there is"),
    ("explain help", "'help' is no program", "gradcli explain --help shows its options"),
    ("check -help", "'-help' is no program", "gradcli check --help shows its options"),
    ("--json explain x**2 --x 3", "explain is a command, which stands once, before all options",
     "begin with gradcli explain, and its options after that"),
    # words that the shell has cut, or that stand alone
    ("explain x**2 3", "'3' is a value without a name", "give it to a variable: --x 3"),
    ("explain a*b 1,2", "'1,2' is a value without a name", "give it to a variable: --NAME 1,2"),
    ("explain sin(t) [1,2]", "'[1,2]' is a value without a name", "give it to a variable: --t '[1,2]'"),
    ("explain x**2 --x = 3", "'3' is a value without a name", "give it to a variable: --x 3"),
    ("check x**2 2*x --x 3", "'2*x' is a second program, after 'x**2'",
     "--expect '2*x' holds it against the derivative, if that is what it is"),
    ("check x**2 --x 3 --expect 2 * x", "the shell has cut the value of --expect at a blank",
     "write --expect '2 * x'"),
    ("check x**2 --x 3 --expect 2 m.csv prog x", "the shell has cut the value of --expect at a blank",
     "write --expect '2 * x'"),
    ("explain snippet.py prog", "one program at a time is answered", "batch answers many"),
    ("explain --v 1 --x x**2", "no program is given",
     "--x has taken 'x**2' as its value: give it one before the program"),
    ("explain --jsn x**2", "no such option --jsn", "did you mean '--json'?"),
    ("explain 'x**2 --x 3'", "options are no part of the program",
     "write 'x**2' --x 3, with quotes around the program alone"),
    ("explain 'gradcli grad x**2 --x=3'", "options are no part of the program",
     "write 'x**2' --x=3, with quotes around the program alone"),
    ("explain 'gradcli x**2'", "gradcli is no part of the program", "write x**2"),
    ("explain \"'x**2'\" --x 3", "the program stands in two pairs of quotes", 'one pair is for the shell: "x**2"'),
    ("explain explain x**2 --x 3", "explain is a command, which stands once, before all options",
     "begin with gradcli explain, and its options after that"),
    ("explain x*y --x 1 --y 2 --wrt 'x y'", "--wrt needs commas between names", "write --wrt x,y"),
    ("explain x**2 --x 1,2 --v 1,1 --row 5", "--row '5': y has shape (2,), and no entry there", "the last entry is 1"),
    ("explain x**2 --x 1,2 --v 1,1 --row first",
     "--row 'first': y has shape (2,), and its index is a number for each axis", "for example --row 0"),
    ("explain x**2 --x 1,2 --v 1,1 --column x",
     "--column 'x': x has shape (2,), and its index is a number for each axis", "for example --column 'x[0]'"),
    # files
    ("explain prog --x 3", "no value for the variable prog",
     "add --prog VALUE; or to read the file of this name: -f prog"),
    ("explain ./prog --x 3", "this is not an expression or statement", "to read the file of this name: -f ./prog"),
    ("explain prog.gc --x 3", "unknown attribute '.gc'", "to read the file of this name: -f prog.gc"),
    ("explain .", "PROGRAM: . is a directory", None),
    ("explain snipet.py", "PROGRAM: there is no file snipet.py", "did you mean 'snippet.py'?"),
    ("grad x --x @n.csv", "--x: there is no file n.csv", "did you mean 'm.csv'?"),
    ("grad x --x @", "--x: @ stands before the name of a file", "--x - reads standard input"),
    ("grad x --x @-", "--x: - has no suffix that says how to read it", "--x - reads standard input"),
    ("grad x --x @/dev/stdin", "--x: /dev/stdin has no suffix that says how to read it", "--x - reads standard input"),
    ("grad sheet.ipynb", "sheet.ipynb is no notebook: its JSON has no cells", None),
    ("check x**2 --x 1,2 --expect j.json", "this is the name of a file", "write --expect @j.json"),
]  # fmt: skip
OF_LANGUAGE = [  # each runs always: it takes a branch that little else takes
    # snippets and what stands around them
    ("grad unasked.py", "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
     "nothing that it was computed from requires grad: give an input requires_grad=True, and look for detach(), .data, "
     ".item(), no_grad() or integers on the way; the gradient of a linear function is such a constant too"),
    ("grad model.py", "no value for the variable x", "add --x VALUE"),
    ("grad stacked.py --x 1,2",
     'NotImplementedError: Module [ModuleList] is missing the required "forward" function', None),
    ("grad misspelled.py --x 1,2", "AttributeError: module 'torch.nn' has no attribute 'LeakyRelu'",
     "did you mean 'LeakyReLU'?"),
    ("grad 'y = input(); y*x' --x 1", "unknown function 'input'",
     "give the value with --NAME: nothing is read while a program runs"),
    ("grad 'def f(x): x**2' --x 3", "the function 'f' returns no value", "write return before the value that it has"),
    ("raised.txt", "this is an error of PyTorch, and no program: a first backward has freed what the second one needs",
     "give both as --v V1 --v V2; in PyTorch the first one takes retain_graph=True"),
    # expected derivatives
    ("check x**2 --x 3 --expect 'dy/dx = 2*x'", "the right side alone is what is expected", "write --expect '2*x'"),
    ("check x**2 --x 3 --expect \"y' = 2*x\"", "the right side alone is what is expected", "write --expect '2*x'"),
    ("check x*t --x 3 --t 2 --expect 'x.grad = t'", "the right side alone is what is expected", "write --expect x=t"),
    ("check x*t --x 3 --t 2 --expect 'x=t, t=x'", "these are several formulas", "write --expect x=t --expect t=x"),
    # mathematics
    ("grad sec(x) --x 3", "unknown function 'sec'", "write 1/cos(x)"),
    ("grad torch.cot(x) --x 3", "unknown function 'torch.cot'", "write 1/tan(x)"),
    ("grad x(1) --x 3", "unknown function 'x'", "if x is a variable: x*(...) is a product, x[0] an entry"),
    ("grad Math.sin(x) --x 3", "unknown module 'Math'", "did you mean 'math'?"),
    ("grad 'log(x, 2)' --x 3", "too many arguments: log(x)",
     "write log2(x), log10(x), or log(x)/log(3) for another base"),
    ("grad D(x**2) --x 3", "unknown function 'D'", "give the function itself: gradcli differentiates it"),
    ("grad grad(x**2) --x 3", "unknown function 'grad'",
     "give the function itself: gradcli differentiates it"),
    ("grad integrate(x) --x 3", "unknown function 'integrate'", "there are no integrals here"),
    ("grad 'x_1 + x_2' --x 3,4", "no value for the variables x_1, x_2", "--x was given: its entries are x[0], x[1]"),
    ("grad sinx --x 3", "no value for the variable sinx", "write sin(x)"),
    ("grad 'x**2 = y' --x 3", "the name stands on the left of =", "write y = x**2"),
    ("grad 'let y = x**2' --x 3", "a variable is not declared", "write y = x**2"),
    ("grad 'y := x**2' --x 3", "= assigns", "write y = x**2"),
    ("grad 'x++' --x 3", "there is no ++", "write x = x + 1, or x - 1"),
    ("grad 'x**2 if x>0' --x 3", "a choice has two values", "write x**2 if x>0 else 0"),
    ("grad 'x**2 for x>0' --x 3", "a choice has two values", "write x**2 if x>0 else 0"),
    ("grad 'if x>0: x**2 else: x' --x 3", "a choice in one line has its value first", "write x**2 if x>0 else x"),
    ("grad 'function f(x) { return x*x; }' --x 3", "a function is its value alone here", "write x*x"),
    ("grad 'e^{x}' --x 3", "a set is not part of the language",
     "a list of numbers is written [1, 2], and a power x**2"),
    # values
    ("grad x --x '[1. 2.]'", "numbers need commas between them", "write [1., 2.]"),
    ("grad x --x '[[1. 2.]\n [3. 4.]]'", "numbers need commas between them", "write [[1., 2.], [3., 4.]]"),
    ("grad x --x 'array([1., 2.])'", "array(...) stands around the numbers, as it is printed", "write [1., 2.]"),
    ("grad x --x 'tensor([1., 2.], grad_fn=<AddBackward0>)'",
     "tensor(...) stands around the numbers, as it is printed", "write [1., 2.]"),
    ("grad x --x '[1 2; 3 4]'", "; parts rows outside of brackets", "write 1,2;3,4"),
    ("grad x --x '[1,2'", "'[' is never closed", "write [1,2]"),
    ("grad x --x '[1,2]]'", "']' closes nothing", "write [1,2]"),
    ("grad x --x '{1, 2}'", "braces hold no numbers", "write [1, 2]"),
    ("grad x --x '1,2;'", "a number is missing here", "write 1,2"),
    ("grad x --x nan", "'nan' is not a number", "every entry is a finite number"),
    ("grad x --x True", "True is a truth value, and no number", "write 1 or 0"),
    ("grad x --x 1:5", "a range is a call", "write arange(1, 5)"),
    ("grad x --x 1..5", "a range is a call", "write arange(1, 6)"),
    ("grad x --x 50%", "there is no sign for percent", "write 50/100"),
    ("grad x --x '\"3\"'", "a number or an array is needed here, not text", "write 3"),
    ("grad x --x 1.000.000", "1.000.000 is not a number",
     "the decimal point is a point, and digits are not grouped: write 1234.5"),
    ("grad x --x 3km", "3km is not a number", "write the number alone: 3"),
    ("grad x --x 2j", "complex numbers are not part of the language", NUMBER),
    ("grad x --x 30°", "a value may hold ASCII characters only, not '°', U+00B0 DEGREE SIGN",
     "write *pi/180 after an angle in degrees"),
    ("grad x --x '<m.csv'", "< is for the shell, outside of the quotes",
     "write @m.csv to read a file, or - for standard input"),
    ("grad x --x /dev/fd/63", "a value is no path", "write - to read standard input, or @FILE"),
    ("grad x --x 1,2 --v ones", "ones is a function", "call it: ones(3)"),
    ("grad x --x 1,2 --v sum", "sum is a function, and no number",
     "as v, ones(2) is y.sum() of two entries, ones(2)/2 is y.mean()"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "message", "hint"), [*portion([pytest.param(*row, id=row[0]) for row in ROWS], 4), *OF_LANGUAGE]
)
def test_a_stumble_is_named_with_the_way_out(cli, line, message, hint):
    answer = cli(*shlex.split(line))
    said = [text for text in answer.err.splitlines() if text.startswith(("error: ", "help: "))]
    code = 1 if re.match(r"\w+Error: ", message) else 2  # an exception of the script's own, as PyTorch raises it
    assert (answer.code, said) == (code, [f"error: {message}", *([f"help: {hint}"] if hint else [])])


PAGE = (Path(__file__).parents[2] / "docs" / "first-minutes.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"^\| `gradcli (.*?)` \| `.*?` \| `(.*)` \|$", PAGE, re.MULTILINE)


def test_the_page_has_rows():
    assert len(SHOWN) == PAGE.count("| `gradcli ") >= 40


@pytest.mark.parametrize(("line", "said"), portion([pytest.param(*row, id=row[0]) for row in SHOWN], 4))
def test_the_page_of_the_first_minutes_shows_what_is_said(cli, line, said):
    answer = cli(*shlex.split(line))
    found = re.search(r"^error: (.*)\n(?:.*\|.*\n)*(?:help: (.*)\n)?", answer.err)
    assert (answer.code, f"{found[1]} ({found[2]})" if found[2] else found[1]) == (2, said)


ANSWERED = {  # what is typed in place of a command that there is, and how its answer begins
    "help": "Usage: gradcli [OPTIONS]",
    "help grad": "Usage: gradcli grad",
    "help sigmoid": "sigmoid(x)",
    "-help": "Usage: gradcli [OPTIONS]",
    "-?": "Usage: gradcli [OPTIONS]",
    "-version": f"gradcli {gradcli.__version__}",
    "functions 'softmax(x, dim=0)'": "softmax(x, dim=...)",
    "grad '>>> y = x**2\n>>> y*3\n27.0' --x 3.": "18",
    "grad 'In [1]: y = x**2\n   ...: y*3\nOut[1]: 27.0' --x 3.": "18",
    "grad '```python\nx**2\n```' --x 3.": "6",
}


@pytest.mark.parametrize(("line", "begins"), ANSWERED.items())
def test_what_was_meant_is_done(cli, line, begins):
    answer = cli(*shlex.split(line))
    assert (answer.code, answer.out.startswith(begins)) == (0, True)


SESSION = "x = torch.tensor([1., 2.], requires_grad=True)\ny = x**2\n{}\ny.backward(torch.tensor([1., 10.]))\n"
RAISED = {
    "of Python": 'Traceback (most recent call last):\n  File "<stdin>", line 1, in <module>\n    y.backward()\n'
    "RuntimeError: grad can be implicitly created only for scalar outputs",
    "of IPython": f"{'-' * 75}\nRuntimeError        Traceback (most recent call last)\n<ipython-input> in <module>\n"
    "----> 1 y.backward()\n\nRuntimeError: grad can be implicitly created only for scalar outputs",
    "its last line": "RuntimeError: grad can be implicitly created only for scalar outputs",
}


@pytest.mark.parametrize("raised", RAISED.values(), ids=RAISED)
def test_an_error_between_the_lines_of_a_snippet_is_left_out(raised):
    found = gradcli.explain(SESSION.format(raised))
    assert found.grad["x"].tolist() == [2, 40]


@pytest.mark.parametrize("message", [message for message, _, _ in MEANINGS])
def test_a_message_of_pytorch_is_known_wherever_it_stands(message):
    said = f"RuntimeError: {message.replace('{}', '12')} (see the documentation)."
    with pytest.raises(GradcliError) as caught:
        gradcli.explain(said)
    assert caught.value.message.startswith("this is an error of PyTorch, and no program: ")
    assert caught.value.hint
    assert said[slice(*caught.value.span)] == message.replace("{}", "12")


MPMATH = {  # functions of WRITTEN_AS that mpmath has, and where it is asked
    **dict.fromkeys(("sec", "csc", "cot", "sech", "csch", "coth", "factorial", "gamma"), 0.7),
    **dict.fromkeys(("acot", "asec", "acsc"), 1.7),
}


PROSE = (" for the ", ", of as many ", " or ")
"""What stands in hints that are words, and no one expression."""
CODE = [(name, text) for name, text in WRITTEN_AS.items() if not any(words in text for words in PROSE)]


@pytest.mark.parametrize(("name", "text"), CODE)
def test_what_stands_for_a_function_is_read(name, text):
    import mpmath  # one test needs it

    function = gradcli.function(text)
    assert function.inputs
    if not set(function.inputs) <= {"x", "t"}:
        return  # it is read: what else it needs is of many shapes
    at = MPMATH.get(name, 0.7 if name == "artanh" else [1.7, 0.2] if name == "standardize" else 1.7)
    found = function(**{variable: {"x": at, "t": 0.3}[variable] for variable in function.inputs})
    assert np.all(np.isfinite(found))
    if name in MPMATH:
        np.testing.assert_allclose(found, float(getattr(mpmath, name)(at)), rtol=1e-13)


@pytest.mark.parametrize(("name", "hint"), [
    ("quotes.ndjson", "(help: JSON has double quotes)"),
    ("words.ndjson", '(help: for example {"id": 1, "program": "x**2", "inputs": {"x": 3}})'),
])  # fmt: skip
def test_a_record_that_is_not_json_has_a_hint(cli, name, hint):
    assert hint in cli("batch", name).err
