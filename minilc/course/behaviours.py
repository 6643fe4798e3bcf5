"""What LangChain itself changed between the supported versions: the behaviour table.

minilc does as the newest supported release. Where an older one does something else, a row says
what, and since which release of which package it is new. This is the only place that looks at
versions: a case or a test names its row, and asks `active`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.metadata import version

from packaging.version import Version


@dataclass(frozen=True)
class Behaviour:
    """One thing that upstream did differently once.

    Args:
        id: its name, in `behaviour=` of cases.
        layer: the number of the layer.
        what: the situation.
        old: what the older release does in it.
        new: what the newer one does, and minilc.
        package: the distribution that decides.
        since: the first of its releases that does the new thing.
    """

    id: str
    layer: int
    what: str
    old: str
    new: str
    package: str
    since: str


BEHAVIOURS: tuple[Behaviour, ...] = (
    Behaviour(
        "tuple-content",
        3,
        "a tool returns a tuple, and was given a ToolCall",
        "the message's content is the tuple as a JSON string",
        "the content is a list",
        "langchain-core",
        "1.4.4",
    ),
    Behaviour(
        "simple-tool-description",
        5,
        "@tool(infer_schema=False), with description= or a docstring",
        "the description is '<name> tool', and a docstring is needed even beside description=",
        "description= or the docstring is kept; either is enough",
        "langchain-core",
        "1.5.5",
    ),
    Behaviour(
        "strict-inside",
        6,
        "strict=True, and an object inside the parameters has properties with defaults",
        "only the outermost object requires all its properties",
        "every object does",
        "langchain-core",
        "1.6.0",
    ),
    Behaviour(
        "strict-given-dict",
        6,
        "strict=True, and the tool is given as a dict",
        "the given dict is changed",
        "the given dict stays as it was",
        "langchain-core",
        "1.8.3",
    ),
    Behaviour(
        "gemini-open-types",
        6,
        "Gemini is told of an argument of any type, or of a bare list",
        "the first is an error, the second has no items",
        "what is open is text",
        "langchain-google-genai",
        "4.4.3",
    ),
    Behaviour(
        "several-questions-link",
        8,
        "one answer is given while several interrupts wait for theirs",
        "the error points to a page of LangGraph's guides that has moved since",
        "it points to the page on interrupts",
        "langgraph",
        "1.2.20",
    ),
    Behaviour(
        "runtime-tools",
        11,
        "a tool reads runtime.tools",
        "ToolRuntime has no such field",
        "the list of all tools of the ToolNode",
        "langgraph-prebuilt",
        "1.0.11",
    ),
    Behaviour(
        "state-of-bare-calls",
        12,
        "a ToolNode is sent a bare list of tool calls",
        "the tool's state is that list itself",
        "the tool's state is read from the graph",
        "langgraph-prebuilt",
        "1.0.12",
    ),
    Behaviour(
        "override-state",
        12,
        "a wrap_tool_call replaces the state with request.override(state=...)",
        "the tool is still injected the first state",
        "the tool is injected the new one",
        "langgraph-prebuilt",
        "1.1.3",
    ),
    Behaviour(
        "wrapper-interrupt",
        12,
        "wrap_tool_call interrupts, and handle_tool_errors=True",
        "the interrupt becomes the text of an error message; the run does not pause",
        "the run pauses",
        "langgraph-prebuilt",
        "1.1.1",
    ),
    Behaviour(
        "list-of-answers",
        12,
        "one call returns a list of ToolMessages or Commands",
        "one message whose content is the list's repr",
        "all of them, if exactly one carries the call's id",
        "langgraph-prebuilt",
        "1.0.11",
    ),
    Behaviour(
        "handled-normalisation",
        12,
        "a tool returns a Command without the call's answer, and handle_tool_errors=True",
        "a ValueError ends the run",
        "the error becomes a message",
        "langgraph-prebuilt",
        "1.0.11",
    ),
    Behaviour(
        "send-payload",
        14,
        "create_agent sends a call to the tools node",
        "the payload is a ToolCallWithContext, with the whole state",
        "the payload is a bare list of the one call",
        "langchain",
        "1.2.16",
    ),
    Behaviour(
        "stale-structured-response",
        14,
        "a second turn's structured answer fails its validation",
        "the run ends with the first turn's object",
        "the model is asked again",
        "langchain",
        "1.3.15",
    ),
    Behaviour(
        "repaired-invalid-calls",
        14,
        "the history has an AIMessage with invalid_tool_calls and no answer to them",
        "the model is sent the history as it is",
        "the model is sent an answer for each, that says that the arguments were malformed; "
        "minilc does as the older release",
        "langchain",
        "1.4.3",
    ),
    Behaviour(
        "redirected-return-direct",
        14,
        "a wrapper redirects a call to a return_direct tool",
        "the model is called again: the requested name decides",
        "the run ends: the answer's name decides",
        "langchain",
        "1.4.2",
    ),
    Behaviour(
        "failed-structured-answer",
        14,
        "a structured-output tool's answer has status 'error'",
        "the run ends",
        "the model is called again",
        "langchain",
        "1.4.3",
    ),
    Behaviour(
        "wrapper-answers-calls",
        14,
        "a wrap_model_call hook answers all calls of the model itself",
        "KeyError: no way leads from the model back to it",
        "the model is called again",
        "langchain",
        "1.4.0",
    ),
)


def row(id: str) -> Behaviour:
    """The row with this id.

    Raises:
        LookupError: there is none; the message lists the ids.
    """
    for entry in BEHAVIOURS:
        if entry.id == id:
            return entry
    known = ", ".join(entry.id for entry in BEHAVIOURS)
    raise LookupError(f"no behaviour {id!r}; the table has {known}")


@cache
def active(id: str) -> bool:
    """Whether the installed release does the new thing.

    Raises:
        LookupError: there is no such row.
    """
    entry = row(id)
    return Version(version(entry.package)) >= Version(entry.since)
