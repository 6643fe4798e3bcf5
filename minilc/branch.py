"""Layer 8: an answer becomes destinations and updates: paths, `Send`, `Command`, channels.

Mirrors langgraph/graph/_branch.py, langgraph/types.py, langgraph/errors.py, langgraph/runtime.py
Leaves out timeouts of a `Send`, a response schema for `interrupt`, `Overwrite`, draining a run,
the custom stream, updates as pairs, dicts and generators as nodes, nodes that return runnables,
what a path annotates, names of paths, notes on errors, and what only a server fills in (`Runtime`
has the fields).
"""

import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from inspect import iscoroutinefunction, isroutine, signature
from itertools import count
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar, get_args, get_origin
from uuid import uuid4

from minilc.base import RunnableConfig, _run_to_end, run_in_executor, var_child_runnable_config
from minilc.messages import BaseMessage, ToolOutputMixin

START = "__start__"
END = "__end__"

# Where the config of a running task keeps what the graph hands to its node.
CONF: Literal["configurable"] = "configurable"
CONFIG_KEY_RUNTIME = "__pregel_runtime"
CONFIG_KEY_READ_STATE = "__pregel_read_state"
CONFIG_KEY_SCRATCHPAD = "__pregel_scratchpad"
INJECTED = ("config", "runtime", "writer", "store")  # parameters that the graph fills in

INTERRUPT = "__interrupt__"

T = TypeVar("T")


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
class Command(ToolOutputMixin, Generic[T]):
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
    id: str = ""  # given when somebody asks
    resume: list[Any] = field(default_factory=list)  # the answers to its interrupts, in order
    # Counting this way is atomic: tools of one node may interrupt in several threads.
    interrupt_counter: Iterator[int] = field(default_factory=count)
    interrupts: tuple[Interrupt, ...] = ()
    writes: Sequence[tuple[str, Any]] = ()
    goto: Sequence[str | Send] = ()
    fresh: dict[str, Any] | None = None  # the state with its own writes and nobody else's
    done: bool = False


class StateSnapshot(NamedTuple):
    """A thread between two steps: the state, what runs next, who arrived at edges that wait."""

    values: dict[str, Any]
    tasks: list[PregelTask]
    seen: dict[Any, frozenset[str]]

    @property
    def next(self) -> tuple[str, ...]:
        """The nodes that have yet to run."""
        return tuple(task.name for task in self.tasks if not task.done)


def interrupt(value: Any) -> Any:
    """Stop the graph to ask `value`; once it is resumed, return the answer.

    The node starts again from its beginning then: what precedes the call happens twice.

    Raises:
        GraphInterrupt: there is no answer yet.
    """
    config = var_child_runnable_config.get()
    if config is None:
        raise RuntimeError("Called get_config outside of a runnable context")
    task: PregelTask = config[CONF][CONFIG_KEY_SCRATCHPAD]
    index = next(task.interrupt_counter)
    if index < len(task.resume):
        return task.resume[index]
    task.id = task.id or uuid4().hex  # it stays, however often the node runs
    raise GraphInterrupt((Interrupt(value, task.id),))


@dataclass(kw_only=True, slots=True, frozen=True)
class Runtime(Generic[T]):
    """What a run offers to its nodes besides the state."""

    context: T = None  # type: ignore[assignment]  # upstream's default as well
    store: Any = None
    stream_writer: Callable[[Any], None] = lambda _: None
    execution_info: Any = None
    server_info: Any = None


def _merge_configs(*configs: RunnableConfig | None) -> RunnableConfig:
    """Later configs win; what is configurable is merged key by key."""
    merged = RunnableConfig(configurable={})
    for config in filter(None, configs):
        merged = {**merged, **config, "configurable": {**merged[CONF], **config.get(CONF, {})}}
    return merged


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
        if hasattr(action, "invoke"):
            self.func, self.afunc, self.injected = action.invoke, action.ainvoke, ["config"]
        else:
            _, *others = signature(action).parameters
            self.injected = [name for name in others if name in INJECTED]
            if any(map(iscoroutinefunction, (action, action.__call__))):
                self.func, self.afunc = None, action
        self.name = name or getattr(action, "__name__", None) or getattr(action, "name", None)
        self.ends = read_ends(action)

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
        return await run_in_executor(self.invoke, input, config)

    def _kwargs(self, config: RunnableConfig) -> dict[str, Any]:
        if not self.injected:
            return {}
        runtime: Runtime[Any] = config[CONF][CONFIG_KEY_RUNTIME]
        known = (config, runtime, runtime.stream_writer, runtime.store)
        return {name: known[INJECTED.index(name)] for name in self.injected}


class Workers:
    """Runs coroutines at once: as asyncio tasks, or in threads, which it keeps."""

    def __init__(self) -> None:
        # Makes a thread whenever all it has are busy: tools wait more than they compute.
        self.threads = ThreadPoolExecutor(max_workers=1_000_000)

    async def gather(self, work: list[Any], waits: bool, limit: int | None = None) -> list[Any]:
        """What the coroutines return, in their order.

        Where nothing waits, this thread takes one after the other, and so do helpers as they
        arrive. Whoever takes a first one has called a helper before, for the case that it takes
        long; what is over in no time does not wake a thread each.

        Args:
            limit: how many threads at most; None for as many as there are coroutines.

        Raises:
            Exception: where nothing waits the first error in their order, once all have ended;
                else the first that comes.
        """
        if waits:
            import asyncio  # here, because importing it is slow and a sync run does without

            return await asyncio.gather(*work)
        if len(work) == 1:  # what follows keeps its state until the collector comes
            return [copy_context().run(_run_to_end, work[0])]
        context, futures = copy_context(), [Future[Any]() for _ in work]
        turns = iter([*zip(work, futures, strict=True)])

        def help_out(helpers: int) -> None:
            for taken, (one, future) in enumerate(turns):
                try:
                    if not taken and helpers < (limit or len(work)):
                        self.threads.submit(help_out, helpers + 1)
                    future.set_result(context.copy().run(_run_to_end, one))
                except BaseException as error:  # whatever it is, the caller's thread raises it
                    future.set_exception(error)

        help_out(1)
        wait(futures)
        return [future.result() for future in futures]


class BranchSpec(NamedTuple):
    """A conditional edge: `path` chooses, `ends` turns its choice into names of nodes."""

    path: RunnableCallable
    ends: dict[Any, str]

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
        if None in results or START in results:
            raise ValueError("Branch did not return a valid destination")
        if any(isinstance(r, Send) and r.node == END for r in results):
            raise InvalidUpdateError("Cannot send a packet to the END node")
        return list(results)


def create_error_message(message: str, error_code: str) -> str:
    """The message, and where upstream explains it."""
    page = "https://docs.langchain.com/oss/python/langgraph/errors/"
    return f"{message}\nFor troubleshooting, visit: {page}{error_code}"


def _get_updates(output: Any, keys: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """What a node's answer writes; keys that the state does not have are dropped.

    Raises:
        InvalidUpdateError: it is no update.
    """
    # 1. Several answers, some of them commands.
    if isinstance(output, list | tuple) and any(isinstance(part, Command) for part in output):
        return [pair for part in output for pair in _get_updates(part, keys)]
    # 2. A command has its update inside.
    if isinstance(output, Command):
        output = output.update
    # 3. Nothing, or no more than a way to go.
    if output is None or isinstance(output, Send):
        return []
    # 4. A part of the state: a dict, or an object, of which counts what was set.
    if not isinstance(output, dict):
        if not hasattr(type(output), "__annotations__"):
            text = f"Expected dict, got {output}"
            raise InvalidUpdateError(create_error_message(text, "INVALID_GRAPH_NODE_RETURN_VALUE"))
        is_set = getattr(output, "model_fields_set", output.__dict__)
        output = {k: v for k, v in output.__dict__.items() if v is not None or k in is_set}
    return [(key, value) for key, value in output.items() if key in keys]


class EphemeralValue:
    """In `Annotated`: a value that is gone after the step that could read it."""


class Channel(NamedTuple):
    """How a key of the state takes updates: through its reducer, or one plain value a step."""

    key: str
    reducer: Callable[[Any, Any], Any] | None = None
    initial: tuple[Any, ...] = ()  # the empty value of its type, if there is one
    is_ephemeral: bool = False

    def update(self, old: dict[str, Any], updates: list[Any]) -> Any:
        """The value after all updates of a step.

        Raises:
            InvalidUpdateError: there are several, and no reducer.
        """
        if self.reducer is not None:
            return reduce(self.reducer, [old[self.key], *updates] if self.key in old else updates)
        if len(updates) > 1:
            text = f"At key '{self.key}': Can receive only one value per step. Use an Annotated key"
            text += " to handle multiple values."
            raise InvalidUpdateError(create_error_message(text, "INVALID_CONCURRENT_GRAPH_UPDATE"))
        return updates[0]


def _get_channel(key: str, annotation: Any) -> Channel:
    """The last thing in an `Annotated` is the reducer, if it can be called."""
    if get_origin(annotation) in (typing.Required, typing.NotRequired):
        annotation = get_args(annotation)[0]
    *_, reducer = marks = getattr(annotation, "__metadata__", (None,))
    if EphemeralValue in marks or not callable(reducer):
        return Channel(key, is_ephemeral=EphemeralValue in marks)
    while hasattr(annotation, "__origin__"):
        annotation = annotation.__origin__
    initial: tuple[Any, ...] = ()
    with suppress(Exception):  # not every type has an empty value, and each refuses in its own way
        initial = ({Sequence: list, Mapping: dict, Set: set}.get(annotation, annotation)(),)
    return Channel(key, reducer, initial)


def _own(value: Any) -> Any:
    """The input with copies of messages that have no id: they get one, the caller's must not."""
    if isinstance(value, dict):
        return {key: _own(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_own(item) for item in value]
    return value.model_copy() if isinstance(value, BaseMessage) and value.id is None else value


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


def prepare_next_tasks(goto: Iterable[str | Send], nodes: Iterable[str]) -> list[PregelTask]:
    """The tasks of the next step: nodes by name, each once, then Sends in their order.

    Raises:
        ValueError: a destination is no node.
    """
    names = {target for target in goto if not isinstance(target, Send)} - {END}
    tasks = [PregelTask(name) for name in sorted(names)]
    tasks += [PregelTask(t.node, t.arg, is_sent=True) for t in goto if isinstance(t, Send)]
    for task in tasks:
        if task.name not in nodes:
            known = [*nodes, END]
            raise ValueError(f"{task.name!r} is not a node of the graph, go to one of {known}")
    return tasks


def answer(tasks: Iterable[PregelTask], resume: Any) -> None:
    """Give the tasks that ask their answers: to each by its id, or the only one its answer.

    Raises:
        RuntimeError: several ask, and the answer does not say whom it is for.
    """
    asked = {task.interrupts[0].id: task for task in tasks if task.interrupts}
    is_by_id = isinstance(resume, dict) and resume.keys() <= asked.keys()
    if len(asked) > 1 and not is_by_id:
        text = "When there are multiple pending interrupts, you must specify the interrupt id "
        page = "https://docs.langchain.com/oss/python/langgraph/interrupts"
        raise RuntimeError(f"{text}when resuming. Docs: {page}#handling-multiple-interrupts.")
    for interrupt_id in resume if is_by_id else asked:
        asked[interrupt_id].resume.append(resume[interrupt_id] if is_by_id else resume)


def update_of(task: PregelTask) -> dict[str, Any]:
    """What a stream of updates shows of a task; several updates of a key one by one."""
    if task.interrupts:
        return {INTERRUPT: task.interrupts}
    whole = dict(task.writes)
    is_whole = len(whole) == len(task.writes)
    return {task.name: whole or None if is_whole else [{k: value} for k, value in task.writes]}


def read_ends(action: Any) -> tuple[str, ...]:
    """The destinations that an action says it returns: a `Literal`, or a `Command[Literal]`."""
    # Of an object that can be called, its method says it.
    function = action if isroutine(action) else getattr(action, "__call__", None)  # noqa: B004
    try:
        returns = typing.get_type_hints(function).get("return")
    except (NameError, TypeError):  # annotations that only people understand
        return ()
    hinted = [returns, *get_args(returns)]  # a union lists its parts, a Command its Literal
    hinted += [inner for hint in get_args(returns) for inner in get_args(hint)]
    return next((get_args(hint) for hint in hinted if get_origin(hint) is Literal), ())
