"""Running notebooks from nothing, many at once, with a real kernel's outputs.

A server process imports LangChain and minilc once; each notebook then runs in a fork of it, in the
shell that a Jupyter kernel has, inside a running event loop as there. Where a process cannot fork
(Windows) or should not (macOS, whose libraries may not be used after it), or with
`MINILC_EXECUTOR=kernel`, each notebook runs in a real kernel instead: slower, and with the same
outputs, which a test compares.

Every run gets an environment of its own: no API keys, no network, a fresh folder for progress, a
fixed seed for hashes.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

TIMEOUT = 120  # seconds that one notebook may run
WARM = (  # what takes long to import, if a notebook's text has its name
    "langchain",
    "langchain.agents",
    "langchain_core.tools",
    "langchain_openai",
    "langchain_anthropic",
    "langchain_google_genai",
    "langgraph.prebuilt",
    "ipywidgets",
    "minilc",
    "rich",
)


@dataclass
class Job:
    """A notebook to run: its name, its code cells, and the folder that it runs in.

    A job with `lesson` has no cells: it asks whether that lesson's exercises behave.
    """

    name: str
    cells: list[str] = field(default_factory=list)
    folder: str = "."
    lesson: str | None = None


@dataclass
class Result:
    """What came of a job: the outputs of each cell, and the first error, if there was one."""

    name: str
    outputs: list[list[dict[str, Any]]] = field(default_factory=list)
    seconds: float = 0.0
    error: str | None = None
    failed_cell: int | None = None
    problems: list[str] = field(default_factory=list)


def execute(jobs: Sequence[Job], workers: int | None = None, seed: int = 0) -> Iterator[Result]:
    """Run the jobs, `workers` at a time (as many as there are cores), and yield each when done.

    Args:
        jobs: what to run; results come in the order in which they finish.
        workers: how many at once.
        seed: for the order of sets of strings (`PYTHONHASHSEED`): an output that depends on it
            differs between two seeds.
    """
    if not jobs:
        return
    request = {"workers": workers or os.cpu_count() or 1, "jobs": [asdict(job) for job in jobs]}
    with tempfile.TemporaryDirectory(prefix="minilc-run-") as folder:
        server = subprocess.Popen(
            [sys.executable, "-m", "minilc.course.executor"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_environment(seed, folder),
            text=True,
            encoding="utf-8",
        )
        assert server.stdin is not None and server.stdout is not None
        with server:
            try:
                server.stdin.write(json.dumps(request))
                server.stdin.close()
                missing = {job.name for job in jobs}
                for line in server.stdout:
                    result = Result(**json.loads(line))
                    missing.discard(result.name)
                    yield result
                for name in sorted(missing):
                    yield Result(name, error="the process that runs notebooks died")
            finally:
                server.terminate()


def _environment(seed: int, folder: str) -> dict[str, str]:
    """The environment of every run: nothing of the person's own in it that changes outputs."""
    private = re.compile(
        r"(?i).*(_API_KEY|_TOKEN)|(OPENAI|ANTHROPIC|LANGSMITH|LANGCHAIN|JUPYTER)_.*|COLUMNS|LINES"
    )
    kept = {name: value for name, value in os.environ.items() if not private.fullmatch(name)}
    root = str(Path(__file__).resolve().parents[2])
    return kept | {
        "PYTHONHASHSEED": str(seed),
        "PYTHONPATH": os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])]),
        "PYTHONUTF8": "1",
        "MINILC_DATA": folder,
        "IPYTHONDIR": folder,
        "JUPYTER_NO_CONFIG": "1",
        "LANGSMITH_TRACING": "false",
    }


# --- the server ------------------------------------------------------------------------------


def main() -> None:
    """Read a request from standard input, write one line of JSON for each job that is done."""
    request = json.load(sys.stdin)
    jobs = [Job(**job) for job in request["jobs"]]
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a notebook's own child processes print is no line of ours
    can_fork = hasattr(os, "fork") and sys.platform != "darwin"
    wants_kernels = os.environ.get("MINILC_EXECUTOR") == "kernel"
    run_all = _forked if can_fork and not wants_kernels else _in_kernels
    for result in run_all(jobs, request["workers"]):
        channel.write(json.dumps(asdict(result), ensure_ascii=True) + "\n")
        channel.flush()


def _forked(jobs: list[Job], workers: int) -> Iterator[Result]:
    _warm_up(jobs)
    waiting = list(jobs)
    running: dict[int, tuple[Job, str]] = {}
    while waiting or running:
        while waiting and len(running) < workers:
            job = waiting.pop(0)
            _, path = tempfile.mkstemp(prefix="minilc-result-")
            running[_fork(job, path)] = (job, path)
        process, status = os.wait()
        job, path = running.pop(process)
        yield _collect(job, path, status)


def _warm_up(jobs: list[Job]) -> None:
    """Import what the jobs name, once for all of them."""
    text = "\n".join(cell for job in jobs for cell in job.cells)
    wanted = [name for name in WARM if name in text]
    if any(job.lesson for job in jobs) or "minilc.course" in text:
        wanted += ["langchain.agents", "minilc.course.exercises", "minilc.course.draw"]
    if "schema_bench" in text:  # it asks every provider's package
        wanted += ["minilc.course.widgets", "langchain_anthropic", "langchain_google_genai"]
    for name in ["ipykernel.zmqshell", *wanted]:
        # A module that does not import is reported by the notebook that needs it.
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()


def _fork(job: Job, path: str) -> int:
    process = os.fork()
    if process:
        return process
    signal.alarm(TIMEOUT)
    result = _guarded(job)
    Path(path).write_text(json.dumps(asdict(result)), encoding="utf-8")
    os._exit(0)


def _guarded(job: Job) -> Result:
    """Run a job in this process; whatever happens becomes a result."""
    started = time.perf_counter()
    try:
        _block_network()
        with tempfile.TemporaryDirectory(prefix="minilc-data-") as folder:
            os.environ["MINILC_DATA"] = folder
            result = _check_lesson(job) if job.lesson else _run_cells(job)
    except BaseException as error:  # the child's last line: the server must hear of everything
        result = Result(job.name, error=f"{type(error).__name__}: {error}")
    result.seconds = round(time.perf_counter() - started, 3)
    return result


def _collect(job: Job, path: str, status: int) -> Result:
    text = Path(path).read_text(encoding="utf-8")
    os.unlink(path)
    if text:
        return Result(**json.loads(text))
    late = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM
    reason = f"took more than {TIMEOUT} seconds" if late else f"the process died ({status})"
    return Result(job.name, error=reason)


def _block_network() -> None:
    """Let nothing connect to anything but this machine."""
    connect = socket.socket.connect

    def local_only(self: socket.socket, address: Any) -> None:
        outside = self.family != getattr(socket, "AF_UNIX", None) and address[0] not in (
            "127.0.0.1",
            "localhost",
            "::1",
        )
        if outside:
            raise ConnectionRefusedError("a notebook uses no network when it is built")
        connect(self, address)

    socket.socket.connect = local_only  # type: ignore[method-assign,assignment]  # meant


def _check_lesson(job: Job) -> Result:
    from minilc.course import exercises

    assert job.lesson is not None
    return Result(job.name, problems=exercises.problems(job.lesson))


# --- one notebook in this process, in a kernel's shell ---------------------------------------


def _run_cells(job: Job) -> Result:
    os.chdir(job.folder)
    shell, outputs = _make_shell()
    return asyncio.run(_run_each(job, shell, outputs))


async def _run_each(job: Job, shell: Any, outputs: Outputs) -> Result:
    result = Result(job.name)
    for number, cell in enumerate(job.cells):
        outputs.start()
        done = await _run_one(shell, cell)
        result.outputs.append(outputs.finish())
        error = done.error_before_exec or done.error_in_exec
        if error is not None:
            result.failed_cell = number
            result.error = f"{type(error).__name__}: {error}"
            break
    return result


async def _run_one(shell: Any, cell: str) -> Any:
    """Run a cell as ipykernel does: on the running loop, awaited only if it awaits."""
    transformed = shell.transform_cell(cell)
    if not shell.should_run_async(cell, transformed_cell=transformed):
        return shell.run_cell(cell, store_history=True)
    done = await shell.run_cell_async(cell, store_history=True, transformed_cell=transformed)
    shell.events.trigger("post_execute")
    shell.events.trigger("post_run_cell", done)
    return done


def _make_shell() -> tuple[Any, Outputs]:
    """The shell of a Jupyter kernel whose messages are kept instead of sent."""
    from ipykernel.zmqshell import ZMQInteractiveShell
    from jupyter_client.session import Session
    from traitlets.config import Config

    outputs = Outputs()

    class Recorder(Session):
        def send(
            self, stream: Any, msg_or_type: Any, content: Any = None, *_: Any, **__: Any
        ) -> None:  # type: ignore[override]  # only what shells send
            if isinstance(msg_or_type, dict):
                msg_or_type, content = msg_or_type["header"]["msg_type"], msg_or_type["content"]
            outputs.receive(msg_or_type, json.loads(json.dumps(content, default=str)))

    config = Config()
    config.HistoryManager.enabled = False
    shell = ZMQInteractiveShell.instance(config=config)
    shell.display_pub.session = shell.displayhook.session = Recorder(config=config)
    shell.display_pub.pub_socket = shell.displayhook.pub_socket = object()
    sys.stdout = _Stream(outputs, "stdout")
    sys.stderr = _Stream(outputs, "stderr")
    _divert_output_widgets(outputs)
    return shell, outputs


def _divert_output_widgets(outputs: Outputs) -> None:
    """What is printed inside an Output widget is the widget's, and no output of the cell."""
    from ipywidgets import Output  # type: ignore[import-untyped]  # it ships no types

    enter, leave = Output.__enter__, Output.__exit__

    def entered(self: Output) -> Any:
        outputs.diverted += 1
        return enter(self)

    def left(self: Output, *error: Any) -> Any:
        outputs.diverted -= 1
        return leave(self, *error)

    Output.__enter__, Output.__exit__ = entered, left


class _Stream(io.TextIOBase):
    """Standard output or error of a kernel."""

    encoding = "UTF-8"  # type: ignore[assignment]  # TextIOBase has it as a read-only property
    errors = None

    def __init__(self, outputs: Outputs, name: str) -> None:
        self._outputs = outputs
        self.name = name

    def write(self, text: str) -> int:
        self._outputs.receive("stream", {"name": self.name, "text": text})
        return len(text)

    def writable(self) -> bool:
        return True


class Outputs:
    """The outputs of a cell, put together from a kernel's messages as a front end does."""

    def __init__(self) -> None:
        self._outputs: list[dict[str, Any]] = []
        self._shown: dict[str, list[dict[str, Any]]] = {}
        self._clear_next = False
        self.diverted = 0  # how many Output widgets are open

    def start(self) -> None:
        """Begin a cell."""
        self._outputs = []
        self._clear_next = False

    def finish(self) -> list[dict[str, Any]]:
        """End a cell and return its outputs."""
        return self._outputs

    def receive(self, kind: str, content: dict[str, Any]) -> None:
        """Take one message of a kernel."""
        if self.diverted:
            return
        if kind == "clear_output":
            self._clear_next = bool(content.get("wait"))
            if not self._clear_next:
                self._outputs.clear()
            return
        if kind == "update_display_data":
            for output in self._shown.get(content["transient"]["display_id"], []):
                output.update(data=content["data"], metadata=content["metadata"])
            return
        if self._clear_next:
            self._outputs.clear()
            self._clear_next = False
        if kind == "stream":
            self._outputs.append({"output_type": "stream", **content})
        elif kind in ("display_data", "execute_result"):
            self._show(kind, content)

    def _show(self, kind: str, content: dict[str, Any]) -> None:
        output = {"output_type": kind, "data": content["data"], "metadata": content["metadata"]}
        self._outputs.append(output)
        identifier = (content.get("transient") or {}).get("display_id")
        if identifier is not None:
            self._shown.setdefault(identifier, []).append(output)


# --- one notebook in a kernel of its own -----------------------------------------------------


def _in_kernels(jobs: list[Job], workers: int) -> Iterator[Result]:
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(_in_kernel, jobs)


def _in_kernel(job: Job) -> Result:
    if job.lesson:
        return _guarded(job)
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    started = time.perf_counter()
    cells = [nbformat.v4.new_code_cell(text) for text in job.cells]
    notebook = nbformat.v4.new_notebook(cells=cells)
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT,
        resources={"metadata": {"path": job.folder}},
        extra_arguments=["--IPKernelApp.log_level=40"],
    )
    result = Result(job.name)
    try:
        with tempfile.TemporaryDirectory(prefix="minilc-data-") as folder:
            client.execute(env=os.environ | {"MINILC_DATA": folder})
    except CellExecutionError as error:
        result.error = f"{error.ename}: {error.evalue}"
        result.failed_cell = sum(1 for cell in cells if cell.execution_count is not None) - 1
    except Exception as error:  # a kernel may also die or hang; the others go on
        result.error = f"{type(error).__name__}: {error}"
    result.outputs = [[dict(output) for output in cell.outputs] for cell in notebook.cells]
    result.seconds = round(time.perf_counter() - started, 3)
    return result


if __name__ == "__main__":
    main()
