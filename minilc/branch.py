"""Layer 8: an answer becomes destinations: conditional edges, path maps, `Send`, `Command`.

Mirrors langgraph/graph/_branch.py, langgraph/types.py, langgraph/errors.py, langgraph/runtime.py
Leaves out timeouts of a `Send`, a response schema for `interrupt`, `Overwrite`, draining a run,
what only a server fills in (`Runtime` has the fields), the trace of a branch.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, fields, replace
from inspect import signature
from typing import (
    Any,
    ClassVar,
    Generic,
    Literal,
    NamedTuple,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)
from uuid import uuid4

from minilc.base import RunnableConfig, var_child_runnable_config
from minilc.messages import ToolOutputMixin

START = "__start__"
END = "__end__"
INTERRUPT = "__interrupt__"

# Where the config of a running task keeps what the graph hands to its node.
CONF: Literal["configurable"] = "configurable"
CONFIG_KEY_RUNTIME = "__pregel_runtime"
CONFIG_KEY_READ_STATE = "__pregel_read_state"
CONFIG_KEY_SCRATCHPAD = "__pregel_scratchpad"

N = TypeVar("N")
ContextT = TypeVar("ContextT")


class GraphRecursionError(RecursionError):
    """The graph used up its steps; `recursion_limit` in the config allows more."""


class InvalidUpdateError(Exception):
    """What a node returned cannot be written to the state."""


class EmptyInputError(Exception):
    """There is nothing to run: no input, and nothing saved to go on with."""


class GraphBubbleUp(Exception):
    """A signal to the graph, not a failure: whoever handles errors must let it pass."""


class GraphInterrupt(GraphBubbleUp):
    """A node waits for an answer from outside. The outermost graph turns it into a result."""

    def __init__(self, interrupts: Sequence[Interrupt] = ()) -> None:
        super().__init__(interrupts)


class ParentCommand(GraphBubbleUp):
    """A `Command` on its way to the graph around this one."""

    args: tuple[Command[Any]]

    def __init__(self, command: Command[Any]) -> None:
        super().__init__(command)


@dataclass(slots=True, unsafe_hash=True)
class Send:
    """Run `node` in the next step with `arg` as its input, instead of the state."""

    node: str
    arg: Any


@dataclass(kw_only=True, slots=True, frozen=True, repr=False)
class Command(ToolOutputMixin, Generic[N]):
    """An update of the state and a choice of the next nodes in one value.

    Args:
        graph: None for this graph, `Command.PARENT` for the one around it.
        update: as a node returns it.
        resume: the answer to `interrupt`, or a dict of answers by interrupt id.
        goto: a node's name, a `Send`, or a sequence of them.
    """

    graph: str | None = None
    update: Any | None = None
    resume: Any | None = None
    goto: Any = ()

    PARENT: ClassVar[Literal["__parent__"]] = "__parent__"

    def __repr__(self) -> str:
        values = ((f.name, getattr(self, f.name)) for f in fields(self))
        return f"Command({', '.join(f'{name}={value!r}' for name, value in values if value)})"

    def goto_targets(self) -> Sequence[str | Send]:
        """`goto` as a sequence, whichever way it was written."""
        return [self.goto] if isinstance(self.goto, str | Send) else self.goto


@dataclass(slots=True)
class Interrupt:
    """A question from inside a node, and the id by which it can be answered."""

    value: Any
    id: str = "placeholder-id"


@dataclass(slots=True)
class PregelScratchpad:
    """The answers a task has got so far; each `interrupt` of the task takes the next one.

    Args:
        resume: answers of earlier runs of the same task, in the order of its interrupts.
        get_null_resume: gives this run's answer to the first who asks, then None.
    """

    resume: list[Any] = field(default_factory=list)
    get_null_resume: Callable[[], Any] = lambda: None
    interrupt_id: str = field(default_factory=lambda: uuid4().hex)
    # `next` on a count is atomic: tools of one node may interrupt in several threads.
    interrupt_counter: Callable[[], int] = field(default_factory=lambda: itertools.count().__next__)


def interrupt(value: Any) -> Any:
    """Stop the graph to ask `value`; when it is resumed, return the answer.

    The node starts again from its beginning then, so what precedes the call happens twice.

    Raises:
        GraphInterrupt: there is no answer yet.
    """
    scratchpad: PregelScratchpad = get_config()[CONF][CONFIG_KEY_SCRATCHPAD]
    index = scratchpad.interrupt_counter()
    # 1. Answered in an earlier run of this task.
    if index < len(scratchpad.resume):
        return scratchpad.resume[index]
    # 2. This run brings the answer.
    if (answer := scratchpad.get_null_resume()) is not None:
        scratchpad.resume.append(answer)
        return answer
    # 3. Nobody has answered: ask.
    raise GraphInterrupt((Interrupt(value, scratchpad.interrupt_id),))


@dataclass(kw_only=True, slots=True, frozen=True)
class Runtime(Generic[ContextT]):
    """What a run offers to its nodes besides the state."""

    context: ContextT = None  # type: ignore[assignment]  # upstream's default as well
    store: Any = None
    stream_writer: Callable[[Any], None] = lambda _: None
    previous: Any = None
    execution_info: Any = None
    server_info: Any = None

    def override(self, **overrides: Any) -> Runtime[ContextT]:
        """A copy with some fields replaced."""
        return replace(self, **overrides)


def get_config() -> RunnableConfig:
    """The config of the task that is running."""
    if config := var_child_runnable_config.get():
        return config
    raise RuntimeError("Called get_config outside of a runnable context")


def get_stream_writer() -> Callable[[Any], None]:
    """The function that writes to the run's custom stream."""
    return get_config()[CONF][CONFIG_KEY_RUNTIME].stream_writer


class BranchSpec(NamedTuple):
    """A conditional edge: `path` chooses, `ends` turns its choice into nodes' names."""

    path: Any
    ends: dict[Hashable, str] | None
    input_schema: type[Any] | None = None

    @classmethod
    def from_path(cls, path: Any, path_map: dict[Hashable, str] | list[str] | None) -> BranchSpec:
        """Take the ends from `path_map`, or from a `Literal` that the path's return type is."""
        hints = get_type_hints(path) if hasattr(path, "__annotations__") else {}
        if path_map is None and get_origin(hints.get("return")) is Literal:
            path_map = list(get_args(hints["return"]))
        if isinstance(path_map, list):
            path_map = {name: name for name in path_map}
        return cls(path, path_map, infer_input_schema(path, hints))

    def _finish(self, result: Any) -> list[str | Send]:
        """The destinations that the path's result stands for.

        Raises:
            KeyError: the result is not in the path map.
            ValueError: the result names no node.
            InvalidUpdateError: a `Send` to `END`.
        """
        results = result if isinstance(result, list | tuple) else [result]
        destinations = [
            self.ends[r] if self.ends and not isinstance(r, Send) else r for r in results
        ]
        if any(destination is None or destination == START for destination in destinations):
            raise ValueError("Branch did not return a valid destination")
        if any(isinstance(d, Send) and d.node == END for d in destinations):
            raise InvalidUpdateError("Cannot send a packet to the END node")
        return destinations


def infer_input_schema(function: Any, hints: dict[str, Any]) -> type[Any] | None:
    """The class that annotates the function's first parameter, if it has fields of its own."""
    first = next(iter(signature(function).parameters), None) if hints else None
    hint = hints.get(first) if first else None
    return hint if isinstance(hint, type) and get_type_hints(hint) else None
