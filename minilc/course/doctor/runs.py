"""A run that somebody lets the doctor watch: what was bound, what was sent, and how it ended."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from minilc.course.doctor import graphs
from minilc.course.doctor.reading import Unreadable
from minilc.course.doctor.report import Finding
from minilc.course.draw.look import one_line

# What an error that ended a run means: its type, words of its text, and the finding.
ERRORS: tuple[tuple[str, str, str], ...] = (
    (
        "",
        r"cannot be called from a running event loop|event loop is already running",
        "loop-in-loop",
    ),
    ("", r"mermaid|pygraphviz|grandalf", "drawing-needs-network"),
    ("ImportError", r"", "name-moved"),
    ("", r"'ToolNode' object is not iterable", "tool-undefinable"),
    ("ValidationError", r"tool_call_id", "call-without-id"),
    ("GraphRecursionError", r"Recursion limit of", "recursion-limit"),
    ("", r"does not support sync invocation", "async-only"),
    ("", r"ynchronous implementation of a?wrap_\w+ is not available", "one-sided-middleware"),
    ("KeyError", r"^'?tools'?$", "path-map"),
    ("", r"branch found unknown target", "path-map"),
    ("", r"No messages? found in input|No AIMessage found in input", "messages-key"),
    ("", r"Missing required config key", "outside-graph"),
    ("", r"Cannot inject store into tools", "store-missing"),
    ("", r"Can receive only one value per step", "parallel-writes"),
    ("", r"includes an InjectedToolCallId argument", "injected-by-hand"),
    ("", r"not msgpack serializable", "artifact-not-plain"),
    ("", r"Checkpointer requires one or more", "thread-id-missing"),
    ("", r"without checkpointer|No checkpointer set", "interrupt-without-checkpointer"),
    ("", r"'NoneType' object has no attribute '(?:put|get|search|aput|aget)'", "store-missing"),
    (
        "",
        r"must be followed by tool messages|must be a response to a preceding message",
        "unanswered-call",
    ),
    ("", r"tool_use. ids were found without|matching number of .?tool_result", "unanswered-call"),
    (
        "",
        r"do not have a corresponding ToolMessage|tool_call_ids? did not have response",
        "unanswered-call",
    ),
    ("", r"returned unexpected type|Expected dict, got", "nonsense-returned"),
    ("", r"matching ToolMessage in Command.update", "nonsense-returned"),
    ("", r"got an unexpected keyword argument", "schema-misfits-function"),
    ("", r"missing \d+ required (?:positional|keyword-only) argument", "schema-misfits-function"),
    ("", r"Function must have a docstring", "tool-undefinable"),
    ("PydanticUserError", r"overridden by a non-annotated attribute", "tool-undefinable"),
)
MOST_FRAMES = 40


@dataclass
class Request:
    """What one question to the model consisted of."""

    messages: list[Any]
    tools: list[Any] = field(default_factory=list)


@dataclass
class Watched:
    """A run that was watched: the requests, the result, and the error if it ended with one."""

    requests: list[Request] = field(default_factory=list)
    result: Any = None
    error: BaseException | None = None


def watch(run: Callable[..., Any], model: Any = None) -> Watched:
    """Run `run`, once, and keep what it sends to its models.

    Args:
        run: takes nothing; or one argument, the model to use, in whose place it gets a recording.
        model: what the recording asks; by default it answers with one empty text.
    """
    watched = Watched()
    wanted = graphs.arity(run)
    if wanted > 1:
        raise Unreadable("the function to run", "one of no argument, or of one for the model", run)
    try:
        if wanted == 0:
            with _listening(watched):
                watched.result = _waited(run())
        else:
            recording = _recording(model, watched)
            watched.result = _waited(run(recording))
            if hasattr(recording, "requests"):
                watched.requests += [
                    Request(list(r.messages), list(r.tools or ())) for r in recording.requests
                ]
    except Exception as error:  # how the run ended is what the doctor is asked about
        watched.error = error
    return watched


def _waited(result: Any) -> Any:
    """The result; a stream is run to its end, and what can be awaited is awaited."""
    if inspect.isgenerator(result):
        return list(result)
    if not (inspect.isawaitable(result) or hasattr(result, "__aiter__")):
        return result
    from concurrent.futures import ThreadPoolExecutor

    # In a thread, because a notebook has a loop already; in this context, where we listen.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(copy_context().run, asyncio.run, _finished(result)).result()


async def _finished(result: Any) -> Any:
    if hasattr(result, "__aiter__"):
        return [one async for one in result]
    return await result


def _listening(watched: Watched) -> Any:
    """Keep every request of a LangChain model in this context, whoever makes it."""
    from contextlib import contextmanager
    from contextvars import ContextVar

    from langchain_core.callbacks import BaseCallbackHandler
    from langchain_core.tracers.context import register_configure_hook

    class Listener(BaseCallbackHandler):
        def on_chat_model_start(
            self, serialized: Any, messages: list[list[Any]], **kwargs: Any
        ) -> None:
            params = kwargs.get("invocation_params") or {}
            watched.requests += [
                Request(list(m), list(params.get("tools") or ())) for m in messages
            ]

    current: ContextVar[Any] = ContextVar("minilc_doctor", default=None)
    register_configure_hook(current, inheritable=True)

    @contextmanager
    def listening() -> Iterator[None]:
        token = current.set(Listener())
        try:
            yield
        finally:
            current.reset(token)

    return listening()


def _recording(model: Any, watched: Watched) -> Any:
    """A model that keeps its requests: one with a script does so itself; another is asked."""
    from langchain_core.messages import AIMessage

    from minilc.course.scripted import ScriptedChatModel

    if model is None:
        return ScriptedChatModel(lambda history: AIMessage(""))
    if hasattr(model, "requests"):
        return model
    return ScriptedChatModel(lambda history: model.invoke(history))


def examine(watched: Watched) -> Iterator[Finding]:
    """What the requests and the end of a run say."""
    if any(not request.messages for request in watched.requests):
        yield Finding("no-question", "request", "a request of no messages")
    if watched.requests and not any(request.tools for request in watched.requests):
        evidence = f"requests without tools: {len(watched.requests)}"
        yield Finding("no-tools", "request", evidence)
    if watched.error is not None:
        yield of_error(watched.error)


def of_error(error: BaseException) -> Finding:
    """The finding that an error stands for."""
    kind, text = type(error).__name__, str(error)
    where = f"{kind} in {_tool_in(error)}" if _tool_in(error) else kind
    for name in [kind, *(base.__name__ for base in type(error).__mro__)]:
        if code := _code_of(name, text):
            return Finding(code, where, one_line(text, 140))
    if isinstance(error, NotImplementedError) and not text:
        return Finding("model-cannot-bind", where, "NotImplementedError without a word")
    passed = _passed(error)
    code = "error-ends-run" if any(one.startswith("tool_node.py") for one in passed) else ""
    if any("inject" in one for one in passed) and isinstance(error, KeyError | AttributeError):
        code = "injected-field-missing"
    return Finding(code or "program-failed", where, one_line(f"{kind}: {text}", 140))


def _passed(error: BaseException) -> list[str]:
    """Through which functions the error came up: `tool_node.py:_run_one`."""
    places = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        file = Path(code.co_filename).name
        places.append(f"{file}:{code.co_name}")
        trace = trace.tb_next
    return places


def of_text(where: str, text: str) -> Finding:
    """The finding that the text of an error in a trace stands for."""
    head = text.strip().splitlines()[0] if text.strip() else ""
    for kind in re.findall(r"\b(\w+(?:Error|Exception))\b", text) or [""]:
        if code := _code_of(kind, text):
            return Finding(code, where, one_line(head, 140))
    code = "model-failed" if where.startswith("model ") else "error-ends-run"
    return Finding(code, where, one_line(head, 140))


def _code_of(kind: str, text: str) -> str | None:
    for name, pattern, code in ERRORS:
        if name in ("", kind) and re.search(pattern, text):
            return code
    return None


def _tool_in(error: BaseException) -> str:
    """The function that raised, if it is not a library's."""
    frames: Sequence[Any] = (
        inspect.getinnerframes(error.__traceback__)[-MOST_FRAMES:] if error.__traceback__ else []
    )
    last = frames[-1] if frames else None
    if last is None or "site-packages" in last.filename or last.filename.startswith("<frozen"):
        return ""
    return last.function
