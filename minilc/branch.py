"""Layer 8: an answer becomes destinations: conditional edges, path maps, `Send`, `Command`.

Mirrors langgraph/graph/_branch.py, langgraph/types.py, langgraph/errors.py, langgraph/runtime.py
Leaves out timeouts of a `Send`, a response schema for `interrupt`, `Overwrite`, draining a run,
dicts as nodes, generators as nodes, what only a server fills in (`Runtime` has the fields).
"""

from __future__ import annotations

import asyncio
import typing
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, fields, replace
from functools import partial
from inspect import iscoroutinefunction, isfunction, ismethod, signature
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar, get_args, get_origin
from uuid import UUID, uuid4, uuid5

from minilc.base import RunnableConfig, var_child_runnable_config
from minilc.messages import ToolOutputMixin

START = "__start__"
END = "__end__"

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
    """A node waits for answers to the interrupts in `args[0]`. The outermost graph returns them."""


class ParentCommand(GraphBubbleUp):
    """The `Command` in `args[0]` is on its way to the graph around this one."""


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


@dataclass(slots=True)
class Interrupt:
    """A question from inside a node, and the id by which it can be answered."""

    value: Any
    id: str = "placeholder-id"


@dataclass(slots=True)
class PregelScratchpad:
    """The answers that a task has got so far: each `interrupt` of its node takes the next one."""

    resume: list[Any] = field(default_factory=list)
    task_id: UUID = field(default_factory=uuid4)
    # Gives the answer that came without an id to the first who asks for it, to others None.
    get_null_resume: Callable[[], Any] = lambda: None
    # Counting this way is atomic: tools of one node may interrupt in several threads.
    interrupt_counter: Callable[[], int] = lambda: 0


def interrupt(value: Any) -> Any:
    """Stop the graph to ask `value`; once it is resumed, return the answer.

    The node starts again from its beginning then: what precedes the call happens twice.

    Raises:
        GraphInterrupt: there is no answer yet.
    """
    scratchpad: PregelScratchpad = get_config()[CONF][CONFIG_KEY_SCRATCHPAD]
    index = scratchpad.interrupt_counter()
    # 1. Answered before, by its id or in an earlier run of this node.
    if index < len(scratchpad.resume):
        return scratchpad.resume[index]
    # 2. The next answer that nobody else took.
    if (answer := scratchpad.get_null_resume()) is not None:
        scratchpad.resume.append(answer)
        return answer
    # 3. Ask. The id stays the same until there is an answer, however often the node runs.
    interrupt_id = uuid5(scratchpad.task_id, str(len(scratchpad.resume))).hex
    raise GraphInterrupt((Interrupt(value, interrupt_id),))


@dataclass(kw_only=True, slots=True, frozen=True)
class Runtime(Generic[ContextT]):
    """What a run offers to its nodes besides the state."""

    context: ContextT = None  # type: ignore[assignment]  # upstream's default as well
    store: Any = None
    stream_writer: Callable[[Any], None] = lambda _: None
    execution_info: Any = None
    server_info: Any = None

    def override(self, **overrides: Any) -> Runtime[ContextT]:
        """A copy with some fields replaced."""
        return replace(self, **overrides)


def get_config() -> RunnableConfig:
    """The config of the task that runs here."""
    if config := var_child_runnable_config.get():
        return config
    raise RuntimeError("Called get_config outside of a runnable context")


def get_stream_writer() -> Callable[[Any], None]:
    """The function that writes to the run's custom stream."""
    return get_config()[CONF][CONFIG_KEY_RUNTIME].stream_writer


class RunnableCallable:
    """What a node or a path does, called in one way whatever it is.

    Args:
        action: a function of the state and any of config, runtime, writer and store; or an object
            with `invoke` and `ainvoke`.

    Raises:
        TypeError: it is neither.
    """

    def __init__(self, action: Any, name: str | None = None) -> None:
        self.action, self.is_runnable = action, hasattr(action, "invoke")
        if not (self.is_runnable or callable(action)):
            raise TypeError(
                "Expected a Runnable, callable or dict."
                f"Instead got an unsupported type: {type(action)}"
            )
        self.name = name or getattr(action, "name" if self.is_runnable else "__name__", None)
        self.is_async = iscoroutinefunction(action) or (
            not self.is_runnable and iscoroutinefunction(action.__call__)
        )
        parameters = () if self.is_runnable else signature(action).parameters
        self.injected = [p for p in ("config", "runtime", "writer", "store") if p in parameters]

    def invoke(self, input: Any, config: RunnableConfig) -> Any:
        if self.is_async:
            raise TypeError(
                f'No synchronous function provided to "{self.name}".\nEither initialize with a '
                "synchronous function or invoke via the async API (ainvoke, astream, etc.)"
            )
        return self._call(input, config)

    async def ainvoke(self, input: Any, config: RunnableConfig) -> Any:
        if self.is_runnable:
            return await self.action.ainvoke(input, config)
        if self.is_async:
            return await self._call(input, config)
        # A thread of its own: the loop's pool has few, and nodes beyond them would wait.
        pool = ThreadPoolExecutor(1)
        run = partial(copy_context().run, self._call, input, config)
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, run)
        finally:
            pool.shutdown(wait=False)

    def _call(self, input: Any, config: RunnableConfig) -> Any:
        if self.is_runnable:
            return self.action.invoke(input, config)
        runtime = config[CONF][CONFIG_KEY_RUNTIME]
        known = {"config": config, "runtime": runtime, "writer": runtime.stream_writer}
        known["store"] = runtime.store
        return self.action(input, **{name: known[name] for name in self.injected})


class BranchSpec(NamedTuple):
    """A conditional edge: `path` chooses, `ends` turns its choice into names of nodes."""

    path: RunnableCallable
    ends: dict[Hashable, str] | None
    input_schema: Any = None

    @classmethod
    def from_path(
        cls, path: RunnableCallable, path_map: dict[Hashable, str] | list[str] | None
    ) -> BranchSpec:
        """Take the ends from `path_map`, or from the `Literal` that the path says it returns."""
        input_schema, returns = read_signature(path.action)
        if path_map is None and get_origin(returns) is Literal:
            path_map = list(get_args(returns))
        if isinstance(path_map, list):
            path_map = {name: name for name in path_map}
        return cls(path, path_map, input_schema)

    def _finish(self, result: Any) -> list[str | Send]:
        """The destinations that the path's result stands for.

        Raises:
            KeyError: the path map does not have it.
            ValueError: it names no node.
            InvalidUpdateError: it is a `Send` to `END`.
        """
        results = result if isinstance(result, list | tuple) else [result]
        if self.ends:
            results = [r if isinstance(r, Send) else self.ends[r] for r in results]
        if any(r is None or r == START for r in results):
            raise ValueError("Branch did not return a valid destination")
        if any(isinstance(r, Send) and r.node == END for r in results):
            raise InvalidUpdateError("Cannot send a packet to the END node")
        return list(results)


def read_signature(action: Any) -> tuple[Any, Any]:
    """What annotations say: the class of the first parameter if it has fields, and the return."""
    function = action if isfunction(action) or ismethod(action) else getattr(action, "__call__", 0)  # noqa: B004
    if not (isfunction(function) or ismethod(function)):
        return None, None
    hints = typing.get_type_hints(function)
    first = hints.get(next(iter(signature(function).parameters), ""))
    has_fields = isinstance(first, type) and typing.get_type_hints(first)
    return first if has_fields else None, hints.get("return")
