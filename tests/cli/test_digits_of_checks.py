"""``--digits`` and ``--tolerance`` beside a script's own gradients, and as keys of a file of checks."""

import pytest

from oracles import DATA

SCRIPT = "import numpy as np\nW = np.array([1., 2.])\nloss = np.sum(W**2)\ndW = 2.0001*W\n"
CHECKS = (DATA / "digits_of_checks.toml").read_text(encoding="utf-8")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.py").write_text(SCRIPT)
    (tmp_path / "checks.toml").write_text(CHECKS)
    return tmp_path


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("words", [[], ["--of", "loss", "--expect", "W=dW"]])
def test_gradients_of_a_script_are_held_to_digits(cli, words):
    assert cli("check", "net.py", *words).code == 1
    assert cli("check", "net.py", *words, "--digits", "3").code == 0
    assert cli("check", "net.py", *words, "--tolerance", "1e-6").code == 1


def test_digits_without_anything_expected(cli, here):
    assert "nothing is" in cli("check", "x**2", "--x", "3", "--digits", "3").err
    (here / "plain.py").write_text("import torch\nx = torch.tensor(3., requires_grad=True)\n(x**2).backward()\n")
    answer = cli("check", "plain.py", "--digits", "3")
    assert (answer.code, "nothing is" in answer.err) == (0, True)


@pytest.mark.usefixtures("here")
def test_a_key_of_a_check_stands_before_that_of_all(cli):
    lines = [line.split()[0] for line in cli("check", "checks.toml").out.splitlines() if line[0] != " "]
    assert lines == ["right", "wrong", "right", "right", "4"]
    lines = [line.split()[0] for line in cli("check", "checks.toml", "--tolerance", "1e-5").out.splitlines()]
    assert [line for line in lines if line != "gradcli"] == ["right", "wrong", "wrong", "wrong", "4"]
