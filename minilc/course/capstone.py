"""The capstone: a learner's parts as one agent, a model to run it on, and a certificate.

    parts = assemble(tool_node, edges, loop)
    model, sentence = choose_model(os.environ)
    state = ask(parts.agent(model, tools), question)
    certificate()

Nothing here reads the environment or writes a file unless it is called.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from langchain_core.messages import AIMessage, convert_to_messages

from minilc.course import exercises, progress
from minilc.course.draw import look
from minilc.course.layers import LAYERS
from minilc.course.scripted import ScriptedChatModel

# --- the learner's agent --------------------------------------------------------------------------

PARTS = {"capstone-1": "tool_node", "capstone-2": "edges", "capstone-3": "loop"}


def assemble(*answers: Callable[..., Any]) -> Parts:
    """The learner's three functions as parts; the course's own stands in for one that fails.

    Raises:
        ValueError: they are not the three parts, in their order.
    """
    if len(answers) != len(PARTS):
        raise ValueError(f"an agent has the parts {[*PARTS.values()]!r}, got {len(answers)}")
    judged = {id: exercises.judge(exercises.exercise(id), one) for id, one in _each(answers)}
    taken = {
        PARTS[id]: one if judged[id].passed else exercises.solved(id) for id, one in _each(answers)
    }
    return Parts(**taken, verdicts=tuple(judged.values()))


def _each(answers: Sequence[Any]) -> list[tuple[str, Any]]:
    return list(zip(PARTS, answers, strict=True))


@dataclass(frozen=True, repr=False)
class Parts:
    """The parts of an agent, and what real LangChain said of the learner's."""

    tool_node: Callable[..., Any]
    edges: Callable[..., Any]
    loop: Callable[..., Any]
    verdicts: tuple[exercises.Verdict, ...]

    def agent(self, model: Any, tools: Sequence[Any]) -> Any:
        """An agent of these parts: `invoke` takes a state and returns one, as LangChain's."""
        ask = model.bind_tools(tools).invoke
        node = self.tool_node(tools)
        after_model, after_tools = self.edges(tools)

        def invoke(state: Any) -> Any:
            messages = convert_to_messages(state["messages"])
            return {"messages": self.loop(ask, node, after_model, after_tools, messages)}

        return SimpleNamespace(invoke=invoke)

    @property
    def yours(self) -> list[str]:
        """The parts that are the learner's."""
        return [PARTS[one.exercise.id] for one in self.verdicts if one.passed]

    def __repr__(self) -> str:
        lines = []
        for one in self.verdicts:
            name = PARTS[one.exercise.id]
            whose = "yours" if name in self.yours else "the course's"
            said = "not written yet" if one.unwritten else one.message
            lines.append(f"{name:<10} {whose:<13} {said}")
        return "\n".join(lines)


# --- the model ------------------------------------------------------------------------------------

OPENAI, ANTHROPIC = "gpt-4o-mini", "claude-sonnet-4-6"
ADDRESSES = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}


def choose_model(environ: Mapping[str, str]) -> tuple[Any, str]:
    """The best model that these variables give, and a sentence about it.

    `OPENAI_API_KEY` or `OPENAI_BASE_URL` (a local server needs no key) choose an endpoint that
    speaks as OpenAI's does, `ANTHROPIC_API_KEY` chooses Anthropic's; `MINILC_MODEL` names the
    model. With none of them the model plays a script: a call, and words.
    """
    given = {name: value.strip() for name, value in environ.items() if value.strip()}
    if found := sorted({"OPENAI_API_KEY", "OPENAI_BASE_URL"} & given.keys()):
        return _openai(given, found)
    if "ANTHROPIC_API_KEY" in given:
        return _anthropic(given)
    call = {"name": "get_weather", "args": {"city": "北京"}, "id": "call_1"}
    script = [AIMessage("", tool_calls=[call]), AIMessage("北京今天晴。")]
    return ScriptedChatModel(script), "The model plays a script: no key and no server is named."


def _openai(given: Mapping[str, str], found: list[str]) -> tuple[Any, str]:
    from langchain_openai import ChatOpenAI

    name = given.get("MINILC_MODEL", OPENAI)
    url = given.get("OPENAI_BASE_URL", ADDRESSES["openai"])
    key: Any = given.get("OPENAI_API_KEY", "none")
    model = ChatOpenAI(model=name, api_key=key, base_url=url, max_retries=1)
    return model, _sentence(name, url, found)


def _anthropic(given: Mapping[str, str]) -> tuple[Any, str]:
    from langchain_anthropic import ChatAnthropic

    name = given.get("MINILC_MODEL", ANTHROPIC)
    url = given.get("ANTHROPIC_BASE_URL", ADDRESSES["anthropic"])
    key: Any = given["ANTHROPIC_API_KEY"]
    # Its fields have aliases that mypy does not know.
    model = ChatAnthropic(model=name, api_key=key, base_url=url, max_retries=1)  # type: ignore[call-arg]
    return model, _sentence(name, url, ["ANTHROPIC_API_KEY"])


def _sentence(name: str, url: str, found: list[str]) -> str:
    says = "says" if len(found) == 1 else "say"
    return f"The model is {name} at {_address(url)}, as {' and '.join(found)} {says}."


def _address(url: Any) -> str:
    """An address without what is secret in it: a user, a password, a query."""
    import httpx

    bare = httpx.URL(str(url)).copy_with(userinfo=b"", query=None, fragment=None)
    return look.one_line(bare, 100)


# --- a question -----------------------------------------------------------------------------------


class NoAnswer(RuntimeError):
    """A provider or a server gave no answer; the message says why, and what to look at."""


HINTS = {
    401: "it does not accept the key",
    403: "the key may not use this model",
    404: "it knows no such address or model; look at the base URL and at MINILC_MODEL",
    429: "too many requests, or no credit is left",
}
SECRET = (401, 403)  # what a server says of a key may hold the key


def ask(agent: Any, question: str) -> Any:
    """The state at the end of a run on one question.

    Raises:
        NoAnswer: the provider refused the request, or could not be reached.
    """
    try:
        return agent.invoke({"messages": [("user", question)]})
    except _refusals() as error:
        raise NoAnswer(_why(error)) from error


def _refusals() -> tuple[type[Exception], ...]:
    """What the clients raise. They take long to import, so it is done when something is raised."""
    import anthropic
    import openai

    return openai.APIError, anthropic.APIError


def _why(error: Any) -> str:
    where = _address(error.request.url)
    status = getattr(error, "status_code", None)
    if status is None:
        if "Timeout" in type(error).__name__:
            return f"{where} did not answer in time."
        if "Connection" in type(error).__name__:
            return f"Nothing answers at {where}: is the server running, and is the address right?"
        return f"{where} broke off: {look.one_line(error.message, 160)}"
    hint = HINTS.get(status, "the server has failed" if status >= 500 else "the request is refused")
    said = "" if status in SECRET else f" It said: {look.one_line(_told(error), 160)}"
    return f"{where} answered {status}: {hint}.{said}"


def _told(error: Any) -> Any:
    """What the server itself said, without the client's words around it."""
    body = error.body
    while isinstance(body, dict) and (inner := body.get("error") or body.get("message")):
        body = inner
    return body or error.message


# --- the certificate ------------------------------------------------------------------------------

FILE = "minilc-certificate.svg"
JUDGES = ("langchain", "langchain-core", "langgraph")
NUMBERS = {layer.module: layer.number for layer in LAYERS} | {
    name: number for number, name in enumerate("debugging production articles capstone".split(), 15)
}
WIDTH, LINE, TOP = 620, 22, 128


@dataclass(frozen=True, repr=False)
class Certificate:
    """A certificate that was written: its file, and what is passed of how many, by notebook."""

    path: Path
    passed: Mapping[str, tuple[int, int, int, int]]

    def __repr__(self) -> str:
        solved, tasks, right, questions = map(sum, zip(*self.passed.values(), strict=True))
        counts = f"{solved} of {tasks} exercises, {right} of {questions} quizzes"
        return f"{self.path.name}: {counts}"


def certificate(folder: str | Path = ".", name: str = "") -> Certificate:
    """Write what is passed into the file `minilc-certificate.svg`, which a browser shows.

    Args:
        folder: where it goes; by default where the notebook is.
        name: the learner's name, if it shall stand there.

    Raises:
        NotADirectoryError: there is no such folder.
    """
    if not Path(folder).is_dir():
        raise NotADirectoryError(f"certificate: no folder {str(folder)!r}")
    kept = progress.load()
    lessons = sorted(exercises.lessons(), key=lambda one: (NUMBERS.get(one, 99), one))
    passed = {f"{NUMBERS.get(one, 99):02}_{one}": _counts(one, kept) for one in lessons}
    path = Path(folder) / FILE
    path.write_text(_svg(passed, name), encoding="utf-8", newline="\n")
    return Certificate(path, passed)


def _counts(name: str, kept: Mapping[str, Any]) -> tuple[int, int, int, int]:
    """Exercises solved, exercises, quizzes right, quizzes."""
    lesson = exercises.lesson(name)
    solved = [kept["exercises"].get(one.id, {}).get("passed") for one in lesson.exercises]
    right = [kept["quizzes"].get(one.id, {}).get("right") for one in lesson.quizzes]
    return sum(map(bool, solved)), len(solved), sum(map(bool, right)), len(right)


def _svg(passed: Mapping[str, tuple[int, int, int, int]], name: str) -> str:
    versions = ", ".join(f"{one} {metadata.version(one)}" for one in JUDGES)
    height = TOP + LINE * len(passed) + 70
    texts = [
        _text(32, 48, "A tool call, rebuilt", 24),
        _text(32, 76, look.one_line(name, 40), 16),
        _text(WIDTH - 200, TOP - 18, "exercises", 12),
        _text(WIDTH - 100, TOP - 18, "quizzes", 12),
    ]
    for row, (notebook, (solved, tasks, right, questions)) in enumerate(passed.items()):
        y = TOP + LINE * row + 6
        sign = "✓" if (solved, right) == (tasks, questions) else "·"
        texts += [
            _text(32, y, sign, 14),
            _text(52, y, notebook, 14),
            _text(WIDTH - 200, y, f"{solved} of {tasks}", 14),
            _text(WIDTH - 100, y, f"{right} of {questions}", 14),
        ]
    today = datetime.date.today().isoformat()
    texts += [
        _text(32, height - 46, f"Judged by {versions}", 12),
        _text(32, height - 24, f"minilc, {today}", 12),
    ]
    told = "; ".join(
        f"{one}: {s} of {e} exercises, {r} of {q} quizzes" for one, (s, e, r, q) in passed.items()
    )
    svg = "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" role="img" font-family="{escape(look.FONTS)}" '
            f'fill="{look.TEXT}">',
            "<title>What I passed in minilc</title>",
            f"<desc>{escape(told)}</desc>",
            f'<rect x="1" y="1" width="{WIDTH - 2}" height="{height - 2}" rx="8" '
            f'fill="{look.CARD}" stroke="{look.ROLES["tools"].edge}" stroke-width="2"/>',
            *texts,
            "</svg>",
        ]
    )
    return look.wide_fonts(svg) + "\n"


def _text(x: int, y: int, text: str, size: int) -> str:
    return f'<text x="{x}" y="{y}" font-size="{size}">{escape(text)}</text>'
