"""The course in a real browser: JupyterLab in headless Chromium, every widget moved.

It is skipped where there is no Chromium. `MINILC_BROWSER=required` makes that a failure, so that CI
knows that it ran; `MINILC_CHROMIUM` names a browser that is not on the PATH.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest

from minilc.course import lab, notebooks

try:
    from playwright.sync_api import expect, sync_playwright
except ImportError:  # not every system has a wheel of it
    sync_playwright = None

ROOT = Path(__file__).parent.parent
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
TOKEN = "tests"
REAL = ("00_map.ipynb", "03_base.ipynb")
WIDGETS = "widgets.ipynb"
SECONDS = 120  # that anything on the page may take, on a machine that is busy with other things

SETUP = '''\
from minilc.course import draw, widgets
from minilc.course.worlds import LANGCHAIN, MINILC


def weather_run(lc, said="晴 <b>25</b>"):
    @lc.tool
    def get_weather(city: str) -> str:
        """Get the weather of a city."""
        return f"{city}: {said}"

    call = {"name": "get_weather", "args": {"city": "北京"}, "id": "call_1", "type": "tool_call"}
    script = [lc.AIMessage("", tool_calls=[call]), lc.AIMessage("晴")]
    agent = lc.create_agent(lc.ScriptedChatModel(script), [get_weather])
    return draw.record(agent, {"messages": [("user", "北京今天天气怎么样？")]})


ours, theirs, rainy = weather_run(MINILC), weather_run(LANGCHAIN), weather_run(LANGCHAIN, "雨")
'''
CELLS = [
    SETUP,
    "widgets.stepper(ours, theirs)",
    "widgets.stepper(ours, rainy)",
    "widgets.schema_bench()",
    "widgets.router()",
    "widgets.tool_call_bench()",
]


@dataclass(frozen=True)
class Lab:
    """A JupyterLab that runs: its address, and the folder that it serves."""

    address: str
    folder: Path


def missing(reason: str) -> None:
    """Skip, or fail where a browser is required."""
    if os.environ.get("MINILC_BROWSER") == "required":
        pytest.fail(f"MINILC_BROWSER=required, but {reason}")
    pytest.skip(reason)


@pytest.fixture
def browser() -> Iterator[Any]:
    """Headless Chromium with an empty profile; its pages share a cache."""
    path = os.environ.get("MINILC_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        missing(f"there is no Chromium: none of {', '.join(NAMES)} is on the PATH")
    if sync_playwright is None:
        missing("playwright is not installed")
    expect.set_options(timeout=SECONDS * 1000)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        context = chromium.new_context(viewport={"width": 1300, "height": 1000})
        context.set_default_timeout(SECONDS * 1000)
        yield context
        chromium.close()


@pytest.fixture
def server(browser: Any, tmp_path: Path) -> Iterator[Lab]:
    """JupyterLab on loopback, in folders of its own."""
    made = tmp_path / lab.NOTEBOOKS
    made.mkdir()
    for name in REAL:
        shutil.copy(notebooks.ROOT / name, made)
    shutil.copytree(ROOT / "images", tmp_path / "images")
    write_widgets(made / WIDGETS)
    with started(tmp_path) as address:
        yield Lab(address, tmp_path)


def write_widgets(path: Path, outputs: Sequence[Any] = ((),) * len(CELLS)) -> None:
    """Write a notebook with every widget in it, run or not."""
    cells = [
        nbformat.v4.new_code_cell(text, outputs=list(left))
        for text, left in zip(CELLS, outputs, strict=True)
    ]
    # Without a kernel's name in it, JupyterLab would ask for one.
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), path)


@contextlib.contextmanager
def started(folder: Path) -> Iterator[str]:
    """Start JupyterLab as `minilc lab` does, and end it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    first = folder / lab.NOTEBOOKS / lab.FIRST
    command = lab.command(folder, first, port, no_browser=True)
    command += [
        f"--IdentityProvider.token={TOKEN}",
        "--LabApp.expose_app_in_browser=True",
        f"--LabApp.user_settings_dir={settings(folder)}",
        f"--LabApp.workspaces_dir={folder / 'workspaces'}",
    ]
    log = folder / "lab.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, cwd=folder, env=environment(folder), stdout=out, stderr=subprocess.STDOUT
        )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(address, process, log)
        yield address
    finally:
        process.terminate()
        process.wait(SECONDS)


def settings(folder: Path) -> Path:
    """Settings of JupyterLab: no news, and every cell on the page, seen or not."""
    made = folder / "settings"
    for plugin, values in {
        "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
        "notebook-extension/tracker": {"windowingMode": "none"},
    }.items():
        file = made / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(values), encoding="utf-8")
    return made


def environment(folder: Path) -> dict[str, str]:
    """An environment in which nothing of the person's own is read or written."""
    private = re.compile(r"(?i)JUPYTER.*|IPYTHON.*|.*_API_KEY|.*_TOKEN")
    kept = {name: value for name, value in os.environ.items() if not private.fullmatch(name)}
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    return kept | {
        **{name: str(folder / name.lower()) for name in (*names, "MINILC_DATA")},
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }


def wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server answers."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text(encoding="utf-8", errors="replace")
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"{address}/api/status?token={TOKEN}", timeout=5).close()
            return
        time.sleep(0.1)
    raise AssertionError(log.read_text(encoding="utf-8", errors="replace"))


# --- a notebook in the browser ---------------------------------------------------------------

KERNEL = "window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel"
READY = f"() => {KERNEL}?.connectionStatus === 'connected' && {KERNEL}.status === 'idle'"
CODE = "window.jupyterapp.shell.currentWidget.content.widgets.filter(c => c.model.type === 'code')"
RUN_ALL = "void window.jupyterapp.commands.execute('notebook:run-all-cells')"
OUTPUTS = f"() => {CODE}.map(c => c.model.outputs.toJSON())"
# An empty cell, which a learner fills, is not executed; after an error, none is.
RAN = f"""() => {{
    const cells = {CODE};
    const left = cells.filter(c => !c.model.executionCount && c.model.sharedModel.source.trim());
    const outputs = cells.flatMap(c => c.model.outputs.toJSON());
    return left.length === 0 || outputs.some(o => o.output_type === 'error');
}}"""


def show(browser: Any, server: Lab, name: str) -> Any:
    """Open a notebook in a page of its own, as it was saved."""
    page = browser.new_page()
    page.goto(f"{server.address}/doc/tree/{lab.NOTEBOOKS}/{name}?reset&token={TOKEN}")
    return page


def run(browser: Any, server: Lab, name: str) -> Any:
    """Open a notebook and begin to execute every cell."""
    page = show(browser, server, name)
    page.wait_for_function(READY)
    page.evaluate(RUN_ALL)
    return page


def finished(page: Any) -> Any:
    """A page in which every cell has run, none with an error; it comes to the front."""
    page.bring_to_front()
    page.wait_for_function(RAN)
    page.wait_for_function(READY)
    outputs = [one for cell in page.evaluate(OUTPUTS) for one in cell]
    assert [one for one in outputs if one["output_type"] == "error"] == []
    return page


def output(page: Any, cell: int) -> Any:
    """What stands below a cell."""
    return page.locator(".jp-CodeCell").nth(cell).locator(".jp-OutputArea").first


def the_slider_of_the_stepper_moves_both_runs(page: Any) -> None:
    stepper = output(page, 1)
    ours, theirs = (stepper.get_by_role("region", name=name) for name in ("minilc", "LangChain"))
    expect(stepper).to_contain_text("both runs are equal in every step")
    expect(ours).to_contain_text("minilc: START")
    handle = stepper.get_by_role("slider")
    handle.click()
    handle.press("ArrowRight")
    handle.press("ArrowRight")
    expect(theirs).to_contain_text("LangChain: tools")
    expect(ours.get_by_role("img")).to_contain_text("▶ tools")
    # What a tool says is text: no bold letters came of it.
    expect(ours.locator("li.on")).to_have_text('[2] ToolMessage #call_1 "北京: 晴 <b>25</b>"')
    handle.press("ArrowLeft")
    expect(ours).to_contain_text("#call_1 get_weather: pending: no answer yet")
    stepper.get_by_role("button", name="back").press("Enter")
    expect(ours).to_contain_text("minilc: START")


def play_moves_the_slider_to_the_end(page: Any) -> None:
    stepper = output(page, 2)
    expect(stepper).to_contain_text("they differ first at step 2: ['messages'][2].content: ")
    stepper.get_by_role("button", name="Play").press("Enter")
    expect(stepper).to_contain_text("LangChain: END")


def typed_source_changes_what_the_model_is_sent(page: Any) -> None:
    bench = output(page, 3)
    expect(bench).to_contain_text("Anthropic")
    expect(bench.get_by_text("both worlds send this")).to_have_count(3)
    area = bench.get_by_label("source")
    area.fill('def order(dish: str, runtime: ToolRuntime):\n    """Order <i>it</i>."""')
    expect(bench).to_contain_text('"description": "Order <i>it</i>."')
    expect(bench).to_contain_text("The model is not told of: runtime.")
    area.press("End")
    area.press("(")
    expect(bench).to_contain_text("SyntaxError: ")


def a_ticked_box_changes_the_exits(page: Any) -> None:
    router = output(page, 4)
    expect(router).to_contain_text("exit 4, to tools (1 Send): a call is pending")
    router.get_by_label("answers #call_1 itself").press("Space")
    expect(router).to_contain_text("exit 6, to model")
    router.get_by_label("jump_to").select_option("end")
    expect(router).to_contain_text("exit 1, to END: jump_to is set")
    expect(router).to_contain_text("both worlds take the same exits")
    assert router.locator("tr.on").count() == 1


def a_typed_call_changes_what_the_tool_node_answers(page: Any) -> None:
    bench = output(page, 5)
    expect(bench).to_contain_text("北京: sunny for 3 days")
    bench.get_by_label("preset").select_option("forged injected argument")
    expect(bench).to_contain_text("the orders of 小明 in 北京")
    bench.get_by_label("tool call").fill('{"name": "<b>x</b>", "args": {}, "id": "1"}')
    expect(bench).to_contain_text("Error: <b>x</b> is not a valid tool")
    expect(bench).to_contain_text("both worlds do the same")


def a_notebook_that_was_not_run_shows_what_the_widgets_left(
    browser: Any, server: Lab, outputs: Sequence[Any]
) -> None:
    left = server.folder / lab.NOTEBOOKS / "left.ipynb"
    write_widgets(left, [notebooks.clean(one) for one in outputs])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_DATA_DIR", environment(server.folder)["JUPYTER_DATA_DIR"])
        lab.trust([left])
    saved = show(browser, server, left.name)
    expect(output(saved, 1)).to_contain_text("both runs are equal in every step")
    expect(output(saved, 1).get_by_role("img")).to_have_count(1)
    expect(output(saved, 3)).to_contain_text('"input_schema"')
    expect(output(saved, 4)).to_contain_text("The exits of create_agent's edges")
    expect(output(saved, 5)).to_contain_text("the orders of 小明 in 北京")
    assert saved.get_by_role("slider").count() == 0


# Only this machine: the test, the browser and JupyterLab talk over loopback.
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_notebooks_run_and_every_widget_moves_in_jupyterlab(browser: Any, server: Lab) -> None:
    # One test, because one JupyterLab is to do, also where tests are shared between processes.
    pages = {name: run(browser, server, name) for name in (WIDGETS, *REAL)}
    page = finished(pages[WIDGETS])
    the_slider_of_the_stepper_moves_both_runs(page)
    play_moves_the_slider_to_the_end(page)
    typed_source_changes_what_the_model_is_sent(page)
    a_ticked_box_changes_the_exits(page)
    a_typed_call_changes_what_the_tool_node_answers(page)
    a_notebook_that_was_not_run_shows_what_the_widgets_left(browser, server, page.evaluate(OUTPUTS))
    for name in REAL:
        expect(finished(pages[name]).locator(".jp-RenderedSVG img").first).to_be_visible()
