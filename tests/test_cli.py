"""The command line: its commands, its status, its output on any terminal and none."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from minilc.course import cli, lab, proof
from minilc.course.layers import LAYERS
from minilc.course.twin import twin

ROOT = Path(__file__).parent.parent


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run minilc in a process of its own, without a terminal."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "minilc.course.cli", *arguments],
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, **environment},
        timeout=120,
    )


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    for command in ("proof", "lab", "check", "where", "--no-lab", "--version"):
        assert command in shown


@pytest.mark.parametrize("command", ["proof", "lab", "check", "where"])
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main([command, "--help"])
    assert ended.value.code == 0
    assert f"usage: minilc {command}" in capsys.readouterr().out


def test_the_line_of_a_command_is_the_one_in_its_own_module() -> None:
    made = cli.parser(["proof", "lab", "check", "where"])
    (commands,) = [a for a in made._actions if hasattr(a, "_choices_actions")]
    lines = {action.dest: action.help for action in commands._choices_actions}
    for name in ("proof", "lab", "check", "where"):
        assert lines[name] == cli.COMMANDS[name][1]


def test_version_names_both_sides(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    for package in ("minilc ", "langchain ", "langchain-core ", "langgraph ", "Python "):
        assert package in shown


def test_an_unknown_command_ends_with_2_and_the_known_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["chekc"])
    assert ended.value.code == 2
    assert "check" in capsys.readouterr().err


def test_where_prints_places(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["where", "create_agent", "BaseTool.invoke"]) == 0
    shown = capsys.readouterr().out
    assert "langchain/agents/factory.py:" in shown and "minilc/factory.py:" in shown
    assert "langchain_core/tools/base.py:" in shown and "minilc/base.py:" in shown


def test_where_ends_with_2_if_there_is_no_such_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["where", "no_such_name"]) == 2
    assert capsys.readouterr().err.startswith("minilc: nothing in the installed LangChain")


def test_the_user_may_stop_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(step: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(proof, "prove", stop)
    assert cli.main(["proof"]) == 130


# The proof


def test_the_proof_has_one_step_for_each_layer() -> None:
    assert [step.layer for step in proof.STEPS] == [row.number for row in LAYERS]


@pytest.mark.parametrize("step", proof.STEPS, ids=lambda step: f"layer_{step.layer}")
def test_both_worlds_agree_in_every_step(step: proof.Step) -> None:
    result = twin(step.run).assert_equal()
    assert proof.proven(result)


def test_the_same_error_twice_proves_nothing() -> None:
    def fails(lc: Any) -> None:
        raise ValueError("x")

    assert twin(fails).ok
    assert not proof.proven(twin(fails))


def test_the_proof_shows_real_values_on_a_narrow_and_a_wide_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for columns in ("80", "160"):
        monkeypatch.setenv("COLUMNS", columns)
        assert cli.main(["proof"]) == 0
        shown = capsys.readouterr().out
        assert "14 of 14 layers equal" in shown
        assert proof.QUESTION in shown
        assert max(map(len, shown.splitlines())) <= int(columns)
        for row in LAYERS:
            assert row.module in shown


def test_without_a_terminal_it_ends_after_the_proof_and_says_how_to_go_on() -> None:
    ended = run()
    assert ended.returncode == 0, ended.stderr.decode()
    shown = ended.stdout.decode("utf-8")
    assert "14 of 14 layers equal" in shown
    assert shown.rstrip().endswith("Open the course with: minilc lab")
    assert "\x1b" not in shown
    assert ended.stderr == b""


@pytest.mark.parametrize("code_page", ["cp1252", "ascii", "gbk"])
def test_a_code_page_that_lacks_a_character_does_not_stop_it(code_page: str) -> None:
    ended = run("proof", PYTHONIOENCODING=code_page, PYTHONUTF8="0")
    assert ended.returncode == 0, ended.stderr.decode(code_page, "replace")
    shown = ended.stdout.decode(code_page)
    assert "14 of 14 layers equal" in shown
    assert ("北京" in shown) == (code_page == "gbk")


def test_a_reader_that_has_enough_is_no_error() -> None:
    if os.name == "nt":
        pytest.skip("a shell with head is needed")
    command = f'"{sys.executable}" -m minilc.course.cli proof | head -n 1'
    ended = subprocess.run(command, shell=True, capture_output=True, cwd=ROOT, timeout=120)
    assert ended.stderr == b""


def test_tracing_is_off_whatever_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    monkeypatch.setattr(proof, "run", lambda arguments: 0)
    cli.main(["proof"])
    assert os.environ["LANGSMITH_TRACING"] == "false"


# The course in JupyterLab


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small course, and no checkout around minilc."""
    import nbformat

    for name in ("00_map", "01_messages", "03_base"):
        path = tmp_path / "notebooks" / f"{name}.ipynb"
        path.parent.mkdir(exist_ok=True)
        nbformat.write(nbformat.v4.new_notebook(), path)
    monkeypatch.setattr("minilc.__file__", str(tmp_path / "elsewhere" / "minilc" / "__init__.py"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    return tmp_path


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """The commands that were started, instead of starting them."""
    commands: list[Sequence[str]] = []

    def wait(command: Sequence[str]) -> int:
        commands.append(command)
        return 0

    monkeypatch.setattr(lab, "_wait", wait)
    return commands


def test_lab_opens_the_map_on_this_machine_alone(
    course: Path, started: list[Sequence[str]]
) -> None:
    assert cli.main(["lab", "--no-browser", "--port", "9999"]) == 0
    ((python, dash_m, module, *options),) = started
    assert (python, dash_m, module) == (sys.executable, "-m", "jupyterlab")
    assert "--ip=127.0.0.1" in options
    assert "--LabApp.default_url=/lab/tree/notebooks/00_map.ipynb" in options
    assert f"--ServerApp.root_dir={course}" in options
    assert "--no-browser" in options and "--port=9999" in options
    assert not any("token" in option.lower() for option in options)  # Jupyter's own stays on


@pytest.mark.parametrize("name", ["3", "03", "base", "03_base", "03_base.ipynb"])
def test_lab_opens_a_notebook_by_any_of_its_names(
    name: str, course: Path, started: list[Sequence[str]]
) -> None:
    assert cli.main(["lab", name]) == 0
    assert "--LabApp.default_url=/lab/tree/notebooks/03_base.ipynb" in started[0]


def test_lab_trusts_the_notebooks_first(course: Path, started: list[Sequence[str]]) -> None:
    import nbformat
    from nbformat.sign import NotebookNotary

    # A notebook without outputs needs no signature, so this one gets an output.
    path = course / "notebooks" / "01_messages.ipynb"
    output = nbformat.v4.new_output("display_data", {"text/html": "<b>1</b>"})
    cell = nbformat.v4.new_code_cell("1", outputs=[output])
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path)
    read = nbformat.read(path, as_version=4)
    assert not NotebookNotary().check_signature(read)
    cli.main(["lab"])
    assert NotebookNotary().check_signature(read)


def test_lab_in_a_folder_below_finds_the_course(
    course: Path, started: list[Sequence[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(course / "notebooks")
    assert cli.main(["lab"]) == 0
    assert f"--ServerApp.root_dir={course}" in started[0]


def test_lab_without_a_course_says_where_it_looked(
    course: Path,
    started: list[Sequence[str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (course / "notebooks" / "00_map.ipynb").unlink()
    assert cli.main(["lab"]) == 2
    assert "the course's notebooks are not here" in capsys.readouterr().err
    assert started == []


def test_an_unknown_notebook_lists_those_that_there_are(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["lab", "99"]) == 2
    assert capsys.readouterr().err == (
        "minilc: no notebook '99'; there are 00_map, 01_messages, 03_base\n"
    )


def test_on_a_terminal_the_course_opens_after_the_proof(
    course: Path, started: list[Sequence[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr(proof, "run", lambda arguments: 0)
    assert cli.main([]) == 0
    assert len(started) == 1
    assert cli.main(["--no-lab"]) == 0
    assert len(started) == 1
