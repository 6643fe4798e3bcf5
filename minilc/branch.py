"""Layer 8: an answer becomes destinations: conditional edges, path maps, `Send`, `Command`.

Mirrors langgraph/graph/_branch.py, langgraph/types.py, langgraph/errors.py, langgraph/runtime.py
Leaves out timeouts of a `Send`, a response schema for `interrupt`, `Overwrite`, draining a run,
dicts and generators as nodes, nodes that return runnables, notes on errors, and what only a server
fills in (`Runtime` has the fields).
"""

from __future__ import annotations

import asyncio
import typing
from collections.abc import Callable, Container, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, fields, replace
from functools import partial
from inspect import Parameter, iscoroutinefunction, isfunction, ismethod, signature
from itertools import count
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar, get_args, get_origin
from uuid import UUID, uuid4, uuid5

from minilc.base import RunnableConfig, var_child_runnable_config
from minilc.messages import ToolOutputMixin

START = "__start__"
END = "__end__"
ROOT = "__root__"  # the only key of a state that has none

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
class PregelTask:
    """A node that runs in a step: what it is given, and what came of it."""

    name: str
    arg: Any = None  # the input, if the task comes from a `Send`; else it reads the state
    is_sent: bool = False
    # Answers to its interrupts, in order; then one that whoever asks first may take.
    resume: list[Any] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)
    id: str = ""  # given when somebody needs it
    # Counting this way is atomic: tools of one node may interrupt in several threads.
    interrupt_counter: Callable[[], int] = count().__next__
    calls: Callable[[], int] = count().__next__  # of other graphs by the node
    interrupts: tuple[Interrupt, ...] = ()
    writes: Sequence[tuple[str, Any]] = ()
    goto: Sequence[str | Send] = ()
    fresh: dict[str, Any] | None = None  # the state with its own writes and nobody else's
    done: bool = False


def interrupt(value: Any) -> Any:
    """Stop the graph to ask `value`; once it is resumed, return the answer.

    The node starts again from its beginning then: what precedes the call happens twice.

    Raises:
        GraphInterrupt: there is no answer yet.
    """
    task: PregelTask = get_config()[CONF][CONFIG_KEY_SCRATCHPAD]
    index = task.interrupt_counter()
    # 1. Answered before, by its id or in an earlier run of this node.
    if index < len(task.resume):
        return task.resume[index]
    # 2. The answer that came without an id, if nobody else was first.
    if task.answers:
        task.resume.append(task.answers.pop())
        return task.resume[index]
    # 3. Ask. The id stays the same until there is an answer, however often the node runs.
    task.id = task.id or uuid4().hex
    raise GraphInterrupt((Interrupt(value, uuid5(UUID(task.id), str(len(task.resume))).hex),))


@dataclass(kw_only=True, slots=True, frozen=True)
class Runtime(Generic[ContextT]):
    """What a run offers to its nodes besides the state."""

    context: ContextT = None  # type: ignore[assignment]  # upstream's default as well
    store: Any = None
    stream_writer: Callable[[Any], None] = lambda _: None
    execution_info: Any = None
    server_info: Any = None


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
        self.func: Callable[..., Any] | None = action
        self.afunc: Callable[..., Any] | None = None
        self.injected = ["config"]
        if hasattr(action, "invoke"):
            self.func, self.afunc = action.invoke, action.ainvoke
        elif callable(action):
            parameters = signature(action).parameters.values()
            self.injected = [p.name for p in parameters if _is_injected(p)]
            if any(map(iscoroutinefunction, (action, action.__call__))):
                self.func, self.afunc = None, action
        else:
            text = "Expected a Runnable, callable or dict.Instead got an unsupported type: "
            raise TypeError(f"{text}{type(action)}")
        self.action = action
        self.name = name or getattr(action, "__name__", None) or getattr(action, "name", None)

    def invoke(self, input: Any, config: RunnableConfig) -> Any:
        """Call the action.

        Raises:
            TypeError: it can only be awaited.
        """
        if self.func is None:
            text = f'No synchronous function provided to "{self.name}".\nEither initialize with a '
            text += "synchronous function or invoke via the async API (ainvoke, astream, etc.)"
            raise TypeError(text)
        return self.func(input, **self._kwargs(config))

    async def ainvoke(self, input: Any, config: RunnableConfig) -> Any:
        """Await the action; one that blocks gets a thread, so that the others go on."""
        if self.afunc is not None:
            return await self.afunc(input, **self._kwargs(config))
        pool = ThreadPoolExecutor(1)  # the loop's own pool has few threads, and more would wait
        run = partial(copy_context().run, self.invoke, input, config)
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, run)
        finally:
            pool.shutdown(wait=False)

    def _kwargs(self, config: RunnableConfig) -> dict[str, Any]:
        if not self.injected:
            return {}
        runtime: Runtime[Any] = config[CONF][CONFIG_KEY_RUNTIME]
        known = {"config": config, "runtime": runtime}
        known |= {"writer": runtime.stream_writer, "store": runtime.store}
        return {name: known[name] for name in self.injected}


def _is_injected(parameter: Parameter) -> bool:
    """Whether a parameter has a name that the graph fills in, and no annotation of another type."""
    types = {"config": "RunnableConfig", "writer": "StreamWriter", "store": "BaseStore"}
    type_name = (types | {"runtime": ""}).get(parameter.name)
    annotation = parameter.annotation
    return type_name is not None and (annotation is Parameter.empty or type_name in str(annotation))


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
        input_schema, ends = read_signature(path.action)
        if not isinstance(path_map, dict):
            path_map = {name: name for name in (ends if path_map is None else path_map)}
        return cls(path, path_map or None, input_schema)

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
        for result in results:
            if result is None or result == START:
                raise ValueError("Branch did not return a valid destination")
            if isinstance(result, Send) and result.node == END:
                raise InvalidUpdateError("Cannot send a packet to the END node")
        return list(results)


def create_error_message(message: str, error_code: str) -> str:
    """The message, and where upstream explains it."""
    page = "https://docs.langchain.com/oss/python/langgraph/errors/"
    return f"{message}\nFor troubleshooting, visit: {page}{error_code}"


def _get_updates(output: Any, keys: Container[str]) -> list[tuple[str, Any]]:
    """What a node's answer writes; keys that the state does not have are dropped.

    Raises:
        InvalidUpdateError: it is no update.
    """
    # 1. Several answers, some of them commands.
    if isinstance(output, list | tuple) and any(isinstance(part, Command) for part in output):
        return [pair for part in output for pair in _get_updates(part, keys)]
    # 2. A command has its update inside: like any other, or as pairs.
    if isinstance(output, Command):
        output = output.update
        if isinstance(output, list | tuple) and all(isinstance(pair, tuple) for pair in output):
            return [(key, value) for key, value in output if key in keys]
    # 3. Nothing, or no more than a way to go.
    if output is None or isinstance(output, Send):
        return []
    # 4. A state without keys is written as a whole.
    if ROOT in keys:
        return [(ROOT, output)]
    # 5. A part of the state: a dict, or an object, of which counts what was set.
    if not isinstance(output, dict):
        if not hasattr(type(output), "__annotations__"):
            text = f"Expected dict, got {output}"
            raise InvalidUpdateError(create_error_message(text, "INVALID_GRAPH_NODE_RETURN_VALUE"))
        is_set = getattr(output, "model_fields_set", output.__dict__)
        output = {k: v for k, v in output.__dict__.items() if v is not None or k in is_set}
    return [(key, value) for key, value in output.items() if key in keys]


def _control_branch(output: Any) -> list[str | Send]:
    """Where a node's answer sends the run, if it is a command or has some.

    Raises:
        ParentCommand: it is for the graph around this one.
    """
    targets: list[str | Send] = [output] if isinstance(output, Send) else []
    for command in output if isinstance(output, list | tuple) else [output]:
        if isinstance(command, Command):
            if command.graph == Command.PARENT:
                raise ParentCommand(replace(command, graph=None))
            targets += [command.goto] if isinstance(command.goto, str | Send) else command.goto
    return targets


def read_signature(action: Any) -> tuple[Any, tuple[str, ...]]:
    """What annotations say: the class of the first parameter if it has fields, and the ends.

    Ends are the names in a `Literal` that is returned, or in a `Command[Literal]`.
    """
    method = getattr(action, "__call__", None)  # noqa: B004  # of an object that can be called
    function = action if isfunction(action) or ismethod(action) else method
    if not (isfunction(function) or ismethod(function)):
        return None, ()
    hints = typing.get_type_hints(function)
    first = hints.get(next(iter(signature(function).parameters), ""))
    has_fields = isinstance(first, type) and typing.get_type_hints(first)
    returns = hints.get("return")
    commands = [hint for hint in (returns, *get_args(returns)) if get_origin(hint) is Command]
    literals = (returns, *(get_args(command)[0] for command in commands))
    ends = next((get_args(hint) for hint in literals if get_origin(hint) is Literal), ())
    return first if has_fields else None, ends
