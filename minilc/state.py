"""Layer 9: a graph of nodes that share a state: reducers, `add_messages`, the step loop.

Mirrors langgraph/graph/{state,message}.py, langgraph/channels, langgraph/pregel
Leaves out deferred nodes, retries, caches, timeouts, managed values, static breakpoints, the
history of a thread, stream modes other than values, updates and custom, `add_messages(format=)`,
sequences of nodes, JSON schemas of a graph.
"""

from __future__ import annotations

import asyncio
import typing
from collections import defaultdict
from collections.abc import (
    AsyncIterator,
    Callable,
    Container,
    Coroutine,
    Hashable,
    Iterator,
)
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, is_dataclass, replace
from functools import partial
from inspect import Parameter, signature
from itertools import count
from typing import Annotated, Any, NamedTuple, TypedDict, get_args, get_origin
from uuid import uuid4

from pydantic import BaseModel

from minilc import branch
from minilc.base import RunnableConfig, _run_to_end, var_child_runnable_config
from minilc.branch import CONF, END, START, BranchSpec, Command, InvalidUpdateError, Runtime, Send
from minilc.messages import AnyMessage, BaseMessage, RemoveMessage, convert_to_messages

REMOVE_ALL_MESSAGES = "__remove_all__"
DEFAULT_RECURSION_LIMIT = 10_007
INTERRUPT = "__interrupt__"
ROOT = "__root__"  # the only key of a state that has none
CONFIG_KEY_CHECKPOINTER = "__pregel_checkpointer"
MISSING: Any = object()

Config = RunnableConfig | None
PathMap = dict[Hashable, str] | list[str] | None


class _History(list[BaseMessage]):
    """Merged messages with the place of each id, so that appending need not reread them.

    A longer history shares the index of the one it grew from, which fits whichever list has as
    many entries: an older list that is appended to again finds it too long, and makes its own.
    """

    places: dict[str | None, int]


def add_messages(left: Any = None, right: Any = None) -> list[BaseMessage]:
    """Append the messages of `right` to `left`; a known id replaces, `RemoveMessage` removes.

    Raises:
        ValueError: one of the two is missing, or a message to remove is not there.
    """
    if left is None or right is None:
        only = "left" if left else "right"
        raise ValueError(
            f"Must specify non-null arguments for both 'left' and 'right'. Only received: '{only}'."
        )
    old = left if isinstance(left, _History) else _coerce_to_messages(left)
    new = _coerce_to_messages(right)
    ids = [message.id for message in new]
    if REMOVE_ALL_MESSAGES in ids:
        return new[len(ids) - ids[::-1].index(REMOVE_ALL_MESSAGES) :]
    return _merge(old, new)


def _coerce_to_messages(messages: Any) -> list[BaseMessage]:
    coerced = convert_to_messages(messages if isinstance(messages, list) else [messages])
    for message in coerced:
        if message.id is None:
            message.id = str(uuid4())
    return coerced


def _merge(old: list[BaseMessage], new: list[BaseMessage]) -> list[BaseMessage]:
    merged = _History(old)
    merged.places = getattr(old, "places", {})
    if len(merged.places) != len(old):
        merged.places = {message.id: place for place, message in enumerate(old)}
    removed = set()
    for message in new:
        place = merged.places.get(message.id)
        if place is not None and isinstance(message, RemoveMessage):
            removed.add(message.id)
        elif isinstance(message, RemoveMessage):
            raise ValueError(
                f"Attempting to delete a message with an ID that doesn't exist ('{message.id}')"
            )
        elif place is not None:
            merged[place] = message
            removed.discard(message.id)
        else:
            merged.places[message.id] = len(merged)
            merged.append(message)
    return [m for m in merged if m.id not in removed] if removed else merged


class MessagesState(TypedDict):
    """A state that is a conversation."""

    messages: Annotated[list[AnyMessage], add_messages]


class EphemeralValue:
    """In `Annotated`: a value that is gone after the step that could read it."""


class Channel(NamedTuple):
    """How a key of the state takes updates: through its reducer, or one plain value a step."""

    key: str
    reducer: Callable[[Any, Any], Any] | None = None
    initial: Any = MISSING
    is_ephemeral: bool = False

    def update(self, value: Any, updates: list[Any]) -> Any:
        """The value after the updates of one step.

        Raises:
            InvalidUpdateError: there are several, and no reducer.
        """
        if self.reducer is None and len(updates) > 1:
            message = f"At key '{self.key}': Can receive only one value per step. "
            message += "Use an Annotated key to handle multiple values."
            raise InvalidUpdateError(
                create_error_message(message, "INVALID_CONCURRENT_GRAPH_UPDATE")
            )
        for update in updates:
            merge = self.reducer is not None and value is not MISSING
            value = self.reducer(value, update) if merge else update
        return value


def create_error_message(message: str, error_code: str) -> str:
    """The message, and where upstream explains it."""
    page = "https://docs.langchain.com/oss/python/langgraph/errors/"
    return f"{message}\nFor troubleshooting, visit: {page}{error_code}"


def _get_channels(schema: Any) -> dict[str, Channel]:
    if not hasattr(schema, "__annotations__"):
        return {ROOT: _get_channel(ROOT, schema)}
    hints = typing.get_type_hints(schema, include_extras=True)
    return {name: _get_channel(name, hint) for name, hint in hints.items()}


def _get_channel(name: str, annotation: Any) -> Channel:
    """The last thing in `Annotated`, if it can be called, is the reducer.

    Raises:
        ValueError: it does not take two arguments.
    """
    if get_origin(annotation) in (typing.Required, typing.NotRequired):
        annotation = get_args(annotation)[0]
    metadata = getattr(annotation, "__metadata__", (None,))
    reducer = metadata[-1]
    if EphemeralValue in metadata:
        return Channel(name, is_ephemeral=True)
    if not callable(reducer):
        return Channel(name)
    kinds = [parameter.kind for parameter in signature(reducer).parameters.values()]
    if kinds.count(Parameter.POSITIONAL_ONLY) + kinds.count(Parameter.POSITIONAL_OR_KEYWORD) != 2:
        text = f"Invalid reducer signature. Expected (a, b) -> c. Got {signature(reducer)}"
        raise ValueError(text)
    while hasattr(annotation, "__origin__"):
        annotation = annotation.__origin__
    try:
        return Channel(name, reducer, annotation())
    except Exception:  # not every type has an empty value, and each refuses in its own way
        return Channel(name, reducer)


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
            text = create_error_message(
                f"Expected dict, got {output}", "INVALID_GRAPH_NODE_RETURN_VALUE"
            )
            raise InvalidUpdateError(text)
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
                raise branch.ParentCommand(replace(command, graph=None))
            targets += [command.goto] if isinstance(command.goto, str | Send) else command.goto
    return targets


class StateNodeSpec(NamedTuple):
    """A node: what it does, what it reads, and where its commands may lead."""

    runnable: branch.RunnableCallable
    input_schema: Any
    ends: dict[str, str | None]


class StateGraph:
    """A builder of graphs: add nodes and edges, then `compile`.

    Args:
        state_schema: a TypedDict, dataclass or pydantic model; or the type of a state without keys.
        context_schema: the class of the context that a run is given.
        input_schema: the part of the state that a run's input may write.
        output_schema: the part that it returns.
    """

    def __init__(
        self,
        state_schema: Any,
        context_schema: Any = None,
        *,
        input_schema: Any = None,
        output_schema: Any = None,
    ) -> None:
        self.nodes: dict[str, StateNodeSpec] = {}
        # An edge starts at several nodes if it waits for all of them.
        self.edges: dict[tuple[tuple[str, ...], str], None] = {}
        self.branches: defaultdict[str, dict[str, BranchSpec]] = defaultdict(dict)
        self.schemas: dict[Any, dict[str, Channel]] = {}
        self.channels: dict[str, Channel] = {}
        self.state_schema, self.context_schema = state_schema, context_schema
        self.input_schema = input_schema or state_schema
        self.output_schema = output_schema or state_schema
        for schema in (state_schema, self.input_schema, self.output_schema):
            self._add_schema(schema)

    def _add_schema(self, schema: Any) -> None:
        self.schemas[schema] = _get_channels(schema)
        for key, channel in self.schemas[schema].items():
            known = self.channels.setdefault(key, channel)
            if channel.reducer not in (None, known.reducer):
                raise ValueError(f"Channel '{key}' already exists with a different type")

    def add_node(
        self, node: Any, action: Any = None, *, input_schema: Any = None, destinations: Any = None
    ) -> StateGraph:
        """Add a node: a name and an action, or an action that has a name.

        Args:
            input_schema: what the node reads; else the class of its first parameter, or the state.
            destinations: names, or a dict of names and labels, that `get_graph` draws edges to.

        Raises:
            ValueError: the name is taken or reserved.
            TypeError: the action cannot be called.
        """
        if not isinstance(node, str):
            action, attribute = node, "name" if hasattr(node, "invoke") else "__name__"
            node = getattr(action, attribute, None) or type(action).__name__
        if action is None:
            raise RuntimeError
        if node in self.nodes:
            raise ValueError(f"Node `{node}` already present.")
        if node in (END, START):
            raise ValueError(f"Node `{node}` is reserved.")
        for character in "|:":
            if character in node:
                text = (
                    f"'{character}' is a reserved character and is not allowed in the node names."
                )
                raise ValueError(text)
        try:
            inferred, returns = branch.read_signature(action)
        except (NameError, TypeError):  # annotations that only people understand
            inferred, returns = None, None
        schema = input_schema or inferred or self.state_schema
        ends = destinations or _command_ends(returns)
        ends = ends if isinstance(ends, dict) else dict.fromkeys(ends)
        self.nodes[node] = StateNodeSpec(branch.RunnableCallable(action, node), schema, ends)
        self._add_schema(schema)
        return self

    def add_edge(self, start_key: str | list[str], end_key: str) -> StateGraph:
        """Run `end_key` after `start_key`, or once all nodes of a list have run.

        Raises:
            ValueError: it starts at `END`, ends at `START`, or joins a node that is not there.
        """
        several = not isinstance(start_key, str)
        starts = tuple(start_key) if several else (start_key,)
        for name in (*starts, end_key):
            if name == END and name in starts:
                raise ValueError("END cannot be a start node")
            if (
                several
                and name not in self.nodes
                and (name, end_key) != (END, END)
                and end_key != START
            ):
                raise ValueError(f"Need to add_node `{name}` first")
        if end_key == START:
            raise ValueError("START cannot be an end node")
        self.edges[starts, end_key] = None
        return self

    def add_conditional_edges(self, source: str, path: Any, path_map: PathMap = None) -> StateGraph:
        """After `source`, let `path` choose where to go on.

        Args:
            path_map: what the path may return, and the node that each answer stands for.

        Raises:
            ValueError: the node has a path of that name.
        """
        runnable = branch.RunnableCallable(path)
        name = None if runnable.name == "<lambda>" else runnable.name
        if (name or "condition") in self.branches[source]:
            raise ValueError(f"Branch with name `{name}` already exists for node `{source}`")
        spec = self.branches[source][name or "condition"] = BranchSpec.from_path(runnable, path_map)
        self._add_schema(spec.input_schema or self.state_schema)
        return self

    def set_entry_point(self, key: str) -> StateGraph:
        return self.add_edge(START, key)

    def set_conditional_entry_point(self, path: Any, path_map: PathMap = None) -> StateGraph:
        return self.add_conditional_edges(START, path, path_map)

    def set_finish_point(self, key: str) -> StateGraph:
        return self.add_edge(key, END)

    def validate(self) -> StateGraph:
        """Check the edges.

        Raises:
            ValueError: one joins a node that is not there, or none leaves `START`.
        """
        sources = {start for starts, _ in self.edges for start in starts}.union(self.branches)
        for source in sources - self.nodes.keys() - {START}:
            raise ValueError(f"Found edge starting at unknown node '{source}'")
        if START not in sources:
            text = "Graph must have an entrypoint: add at least one edge from START to another node"
            raise ValueError(text)
        for start, branches in self.branches.items():
            for name, spec in branches.items():
                for end in set((spec.ends or {}).values()) - self.nodes.keys() - {END}:
                    text = f"At '{start}' node, '{name}' branch found unknown target '{end}'"
                    raise ValueError(text)
        ends = {end for _, end in self.edges}.union(*(node.ends for node in self.nodes.values()))
        for end in ends - self.nodes.keys() - {END}:
            raise ValueError(f"Found edge ending at unknown node `{end}`")
        return self

    def compile(
        self,
        checkpointer: InMemorySaver | None = None,
        *,
        store: Any = None,
        name: str | None = None,
    ) -> CompiledStateGraph:
        """Check the graph and make it ready to run.

        Args:
            checkpointer: keeps each thread's state between runs; `interrupt` needs it.
            store: handed to the nodes.
        """
        return CompiledStateGraph(self.validate(), checkpointer, store, name or "LangGraph")


def _command_ends(returns: Any) -> tuple[str, ...]:
    """The names in `Command[Literal[...]]`, alone or in a union."""
    for hint in get_args(returns) if get_origin(returns) is typing.Union else (returns,):
        if get_origin(hint) is Command and get_origin(get_args(hint)[0]) is typing.Literal:
            return get_args(get_args(hint)[0])
    return ()


@dataclass(slots=True)
class PregelTask:
    """A node that runs in a step: what it is given, and what came of it."""

    name: str
    arg: Any = MISSING  # of a `Send`; the others read the state
    scratchpad: branch.PregelScratchpad = field(default_factory=branch.PregelScratchpad)
    config: RunnableConfig = field(default_factory=RunnableConfig)
    writes: list[tuple[str, Any]] = field(default_factory=list)
    goto: list[str | Send] = field(default_factory=list)
    fresh: dict[str, Any] | None = None  # the state with this task's writes and no others
    interrupts: tuple[branch.Interrupt, ...] = ()
    done: bool = False


class Checkpoint(NamedTuple):
    """A thread between two steps: the state, what runs next, what each joining edge has seen."""

    values: dict[str, Any]
    tasks: list[PregelTask]
    seen: dict[Any, set[str]]


class InMemorySaver:
    """The last checkpoint of each thread, for as long as the process lives."""

    def __init__(self) -> None:
        self.storage: dict[Any, Checkpoint] = {}


class StateSnapshot(NamedTuple):
    """A thread as `get_state` shows it."""

    values: Any
    next: tuple[str, ...]
    interrupts: tuple[branch.Interrupt, ...]


class PregelLoop:
    """A run, step by step: `tick` prepares the tasks of a step, `after_tick` draws its sum.

    All is written once, with `await`. Where `waits` is false nothing ever waits, and the whole
    runs to its end as a plain function would.
    """

    def __init__(
        self, graph: CompiledStateGraph, config: Config, context: Any, waits: bool
    ) -> None:
        self.builder, self.waits = graph.builder, waits
        self.config = _merge_configs(var_child_runnable_config.get(), graph.config, config)
        conf = self.config[CONF]
        self.runtime = parent = conf.get(branch.CONFIG_KEY_RUNTIME) or Runtime()
        self.runtime = replace(
            parent,
            context=parent.context if context is None else context,
            store=graph.store or parent.store,
            stream_writer=partial(self._emit, "custom"),
        )
        self.parent: branch.PregelScratchpad | None = conf.get(branch.CONFIG_KEY_SCRATCHPAD)
        self.saver: InMemorySaver | None = graph.checkpointer or conf.get(CONFIG_KEY_CHECKPOINTER)
        self.thread = (conf.get("thread_id"), conf.get("checkpoint_ns", ""))
        if self.saver and self.thread[0] is None:
            text = "Checkpointer requires one or more of the following 'configurable' keys: "
            raise ValueError(text + "thread_id, checkpoint_ns, checkpoint_id")
        self.saved = self.saver.storage.get(self.thread) if self.saver else None
        channels = self.builder.channels.values()
        empty = {c.key: c.initial for c in channels if c.initial is not MISSING}
        self.values, self.tasks, self.seen = self.saved or Checkpoint(empty, [], {})
        self.modes: Container[str] = ()
        self.chunks: list[tuple[str, Any]] = []
        self.answers: list[Any] = []
        self.interrupts: tuple[branch.Interrupt, ...] = ()
        self.wrote, self.step = False, 0

    async def run(self, input: Any, modes: Container[str]) -> AsyncIterator[tuple[str, Any]]:
        """Run all steps; what the modes ask for comes out after each."""
        self.modes = modes
        self._first(input)
        while self.tick():
            todo = [task for task in self.tasks if not task.done]
            await (_in_tasks if self.waits else _in_threads)([self._run(task) for task in todo])
            for task in todo:
                self._emit_task(task)
            self.after_tick()
            for chunk in self.chunks:
                yield chunk if isinstance(modes, list) else chunk[1]
            self.chunks.clear()

    def _first(self, input: Any) -> None:
        """Go on where the thread stands if the input says no more than that, else start anew."""
        self.limit = self.config.get("recursion_limit", DEFAULT_RECURSION_LIMIT)
        if self.limit < 1:
            raise ValueError("recursion_limit must be at least 1")
        if isinstance(input, Command):
            if input.graph == Command.PARENT:
                raise InvalidUpdateError("There is no parent graph")
            self._answer(input.resume)
            writes = _get_updates(input, self.builder.channels)
            given = PregelTask("", writes=writes, goto=_control_branch(input))
            self.values = self._fold([given])
            self.tasks = self.tasks + self._next_tasks([given])
            self._save()
        waiting = self.parent and any(task.interrupts for task in self.tasks)
        if self.saved and (waiting or input is None or isinstance(input, Command)):
            self.step, self.wrote = -1, True
            self._emit("values", self._read(None, self.values))
        elif input is None:
            raise branch.EmptyInputError("Received no input for __start__")
        else:
            self.tasks = [PregelTask(START, _own(input))]

    def _answer(self, resume: Any) -> None:
        """Hand answers out: those with an id to their tasks, any other to the first who asks."""
        asked = {task.interrupts[0].id: task for task in self.tasks if task.interrupts}
        if resume is None:
            return
        if not self.saver:
            raise RuntimeError("Cannot use Command(resume=...) without checkpointer")
        if isinstance(resume, dict) and resume and resume.keys() <= asked.keys():
            for interrupt_id, answer in resume.items():
                asked[interrupt_id].scratchpad.resume.append(answer)
        elif len(asked) > 1:
            text = "When there are multiple pending interrupts, you must specify the interrupt id "
            text += (
                "when resuming. Docs: https://docs.langchain.com/oss/python/langgraph/interrupts"
            )
            raise RuntimeError(text + "#handling-multiple-interrupts.")
        else:
            self.answers.append(resume)

    def _next_answer(self) -> Any:
        if self.answers:
            return self.answers.pop()
        return self.parent.get_null_resume() if self.parent else None

    def tick(self) -> bool:
        """Prepare the tasks of the step, if there are any.

        Raises:
            GraphRecursionError: the steps are used up; seeing that nothing is left takes one too.
        """
        if self.step > self.limit:
            text = f"Recursion limit of {self.limit} reached without hitting a stop condition. You "
            text += "can increase the limit by setting the `recursion_limit` config key."
            raise branch.GraphRecursionError(create_error_message(text, "GRAPH_RECURSION_LIMIT"))
        for task in self.tasks:
            pad = replace(task.scratchpad, interrupt_counter=count().__next__)
            pad.get_null_resume = self._next_answer
            conf = {**self.config[CONF], branch.CONFIG_KEY_RUNTIME: self.runtime}
            conf[branch.CONFIG_KEY_SCRATCHPAD] = task.scratchpad = pad
            conf[branch.CONFIG_KEY_READ_STATE] = None
            if task.arg is not MISSING and task.name != START:
                schema = self.builder.nodes[task.name].input_schema
                conf[branch.CONFIG_KEY_READ_STATE] = partial(self._read, schema, self.values)
            if self.saver:
                conf[CONFIG_KEY_CHECKPOINTER] = self.saver
                conf["checkpoint_ns"] = f"{self.thread[1]}|{task.name}:{pad.task_id}"
            task.config, task.interrupts = {**self.config, "configurable": conf}, ()
        return bool(self.tasks)

    async def _run(self, task: PregelTask) -> None:
        """Run a node; then its paths, on the state with its writes but without its siblings'."""
        builder = self.builder
        token = var_child_runnable_config.set(task.config)
        try:
            if task.name == START:
                output, schema = task.arg, builder.state_schema
                task.writes = _get_updates(output, builder.schemas[builder.input_schema])
            else:
                runnable, schema, _ = builder.nodes[task.name]
                input = self._read(schema, self.values) if task.arg is MISSING else task.arg
                output = await self._call(runnable, input, task.config)
                task.writes = _get_updates(output, builder.channels)
            task.goto = _control_branch(output)
            for spec in builder.branches.get(task.name, {}).values():
                task.fresh = task.fresh or self._fold([task])
                state = self._read(spec.input_schema or schema, task.fresh)
                if isinstance(output, dict) and isinstance(state, dict) and not spec.input_schema:
                    state = {**output, **state}
                task.goto += spec._finish(await self._call(spec.path, state, task.config))
            task.done = True
        except branch.GraphInterrupt as signal:
            task.interrupts = signal.args[0]
        finally:
            var_child_runnable_config.reset(token)

    async def _call(
        self, action: branch.RunnableCallable, input: Any, config: RunnableConfig
    ) -> Any:
        try:
            if self.waits:
                return await action.ainvoke(input, config)
            return action.invoke(input, config)
        except branch.ParentCommand as signal:  # from a graph inside the node
            return signal.args[0]

    def _read(self, schema: Any, values: dict[str, Any]) -> Any:
        """The keys of a schema as an object of it; for no schema, all keys."""
        keys = self.builder.schemas[schema] if schema else self.builder.channels
        if ROOT in keys:
            return values.get(ROOT)
        state = {key: values[key] for key in keys if key in values}
        is_class = is_dataclass(schema) or (
            isinstance(schema, type) and issubclass(schema, BaseModel)
        )
        return schema(**state) if is_class else state

    def _fold(self, tasks: list[PregelTask]) -> dict[str, Any]:
        """The state with what tasks wrote; a key takes all its updates at once."""
        updates = defaultdict(list)
        for task in tasks:
            for key, value in task.writes:
                updates[key].append(value)
        channels, old = self.builder.channels, self.values
        new = {key: channels[key].update(old.get(key, MISSING), u) for key, u in updates.items()}
        return {key: value for key, value in old.items() if not channels[key].is_ephemeral} | new

    def after_tick(self) -> None:
        """Apply what the tasks wrote and choose the next ones; or stop, if any of them asks."""
        # Nodes count in the order of their names, then Sends in the order they were made.
        ran = sorted(self.tasks, key=lambda task: task.arg is not MISSING)
        self.interrupts = tuple(question for task in ran for question in task.interrupts)
        self.answers.clear()
        if self.interrupts and self.parent:
            raise branch.GraphInterrupt(self.interrupts)
        self.values = (ran[0].fresh if len(ran) == 1 else None) or self._fold(ran)
        self.tasks = [] if self.interrupts else self._next_tasks(ran)
        if not self.interrupts:
            self.step += 1
            self._save()
        if any(task.writes for task in ran):
            self.wrote = True
            self._emit("values", self._read(None, self.values))

    def _save(self) -> None:
        if self.saver:
            self.saver.storage[self.thread] = Checkpoint(self.values, self.tasks, self.seen)

    def _next_tasks(self, ran: list[PregelTask]) -> list[PregelTask]:
        """The tasks of the next step.

        Raises:
            ValueError: a destination is no node.
        """
        names, seen = set(), {}
        for edge in self.builder.edges:
            starts, end = edge
            arrived = self.seen.get(edge, set()).union(t.name for t in ran if t.name in starts)
            if arrived.issuperset(starts):
                names.add(end)
            elif arrived:
                seen[edge] = arrived
        self.seen = seen
        goto = [target for task in ran for target in task.goto]
        sends = [PregelTask(target.node, target.arg) for target in goto if isinstance(target, Send)]
        names = names.union(target for target in goto if not isinstance(target, Send)) - {END}
        for name in names.union(task.name for task in sends) - self.builder.nodes.keys():
            raise ValueError(f"Found unknown destination {name!r}: the graph has no such node")
        return sends + [PregelTask(name) for name in sorted(names)]

    def _emit(self, mode: str, chunk: Any) -> None:
        if mode in self.modes:
            self.chunks.append((mode, chunk))

    def _emit_task(self, task: PregelTask) -> None:
        if task.interrupts:
            asked = {INTERRUPT: task.interrupts}
            self._emit("updates", asked)
            self._emit("values", {**self._read(None, self.values), **asked})
        elif task.name != START:
            parts = [value if key == ROOT else {key: value} for key, value in task.writes]
            whole = dict(task.writes)
            if ROOT not in whole and len(whole) == len(parts):
                parts = [whole] if whole else [None]
            self._emit("updates", {task.name: parts[0] if len(parts) == 1 else parts or None})

    def result(self) -> Any:
        """What `invoke` returns."""
        output = self._read_output()
        if self.interrupts:
            return {**output, INTERRUPT: list(self.interrupts)}
        return output if self.wrote else None

    def _read_output(self) -> Any:
        keys = self.builder.schemas[self.builder.output_schema]
        if ROOT in keys:
            return self.values.get(ROOT)
        return {key: self.values[key] for key in keys if key in self.values}


async def _in_threads(work: list[Coroutine[Any, Any, None]]) -> None:
    """Run tasks at once: a single one here, several each in a thread of its own."""
    if len(work) == 1:
        return await work[0]
    with ThreadPoolExecutor(len(work)) as pool:
        futures = [pool.submit(copy_context().run, _run_to_end, one) for one in work]
        for future in futures:
            future.result()


async def _in_tasks(work: list[Coroutine[Any, Any, None]]) -> None:
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


def _own(input: Any) -> Any:
    """The input with copies of its messages that have no id: `add_messages` gives them one."""
    if isinstance(input, dict):
        return {key: _own(value) for key, value in input.items()}
    if isinstance(input, list):
        return [_own(value) for value in input]
    if isinstance(input, BaseMessage) and input.id is None:
        return input.model_copy()
    return input


def _merge_configs(*configs: Config) -> RunnableConfig:
    """Later ones win, key by key of metadata and configurable; tags add up."""
    merged: dict[str, Any] = {CONF: {}}
    for config in configs:
        for key, value in (config or {}).items():
            if isinstance(value, dict):
                value = {**merged.get(key, {}), **value}
            elif key == "tags":
                value = [*merged.get(key, []), *(value or [])]
            if value is not None:
                merged[key] = value
    return merged  # type: ignore[return-value]  # built key by key


class Edge(NamedTuple):
    """An edge of a drawn graph; `data` is its label."""

    source: str
    target: str
    data: str | None = None
    conditional: bool = False


class Graph(NamedTuple):
    """A graph as it is drawn."""

    nodes: dict[str, Any]
    edges: list[Edge]


class CompiledStateGraph:
    """A graph that runs."""

    def __init__(self, builder: StateGraph, checkpointer: Any, store: Any, name: str) -> None:
        self.builder, self.checkpointer, self.store, self.name = builder, checkpointer, store, name
        self.config = RunnableConfig()

    def invoke(
        self, input: Any, config: Config = None, *, context: Any = None, stream_mode: Any = "values"
    ) -> Any:
        """Run the graph on an input, and return the state at its end."""
        loop = PregelLoop(self, config, context, waits=False)
        return _run_to_end(self._invoke(loop, input, stream_mode))

    async def ainvoke(
        self, input: Any, config: Config = None, *, context: Any = None, stream_mode: Any = "values"
    ) -> Any:
        """`invoke`, awaited."""
        loop = PregelLoop(self, config, context, waits=True)
        return await self._invoke(loop, input, stream_mode)

    async def _invoke(self, loop: PregelLoop, input: Any, stream_mode: Any) -> Any:
        modes = () if stream_mode == "values" else stream_mode
        chunks = [chunk async for chunk in loop.run(input, modes)]
        return loop.result() if stream_mode == "values" else chunks

    def stream(
        self,
        input: Any,
        config: Config = None,
        *,
        context: Any = None,
        stream_mode: Any = "updates",
    ) -> Iterator[Any]:
        """Run the graph, giving out the state ("values") or what nodes write after each step."""
        chunks = PregelLoop(self, config, context, waits=False).run(input, stream_mode)
        while True:
            try:
                yield _run_to_end(anext(chunks))
            except StopAsyncIteration:
                return

    async def astream(
        self,
        input: Any,
        config: Config = None,
        *,
        context: Any = None,
        stream_mode: Any = "updates",
    ) -> AsyncIterator[Any]:
        """`stream`, awaited."""
        async for chunk in PregelLoop(self, config, context, waits=True).run(input, stream_mode):
            yield chunk

    def with_config(self, config: RunnableConfig) -> CompiledStateGraph:
        """The same graph with a config that all its runs get."""
        bound = CompiledStateGraph(self.builder, self.checkpointer, self.store, self.name)
        bound.config = _merge_configs(self.config, config)
        return bound

    def get_state(self, config: RunnableConfig) -> StateSnapshot:
        """Where a thread stands."""
        loop = PregelLoop(self, config, None, waits=False)
        asked = tuple(question for task in loop.tasks for question in task.interrupts)
        names = tuple(task.name for task in loop.tasks if not task.done)
        return StateSnapshot(loop._read(None, loop.values) if loop.saved else {}, names, asked)

    def get_graph(self) -> Graph:
        """The nodes, and the edges that are known before a run: a bare path has none."""
        builder, reached = self.builder, [START]
        edges: dict[tuple[str, str], Edge] = {}
        for name in reached:  # grows on the way
            ends = dict(builder.nodes[name].ends) if name != START else {}
            for spec in builder.branches.get(name, {}).values():
                ends |= {end: str(label) for label, end in (spec.ends or {}).items()}
            for end, label in ends.items():
                edges[name, end] = Edge(name, end, None if label == end else label, True)
            for starts, end in builder.edges:
                if name in starts and end != END and set(starts) <= set(reached):
                    ends[end] = None
                    for start in starts:
                        edges.setdefault((start, end), Edge(start, end))
            reached += [end for end in ends if end not in reached and end != END]
        found = sorted(edges.values(), key=lambda edge: edge[:2])
        last = {edge.target for edge in found} - {edge.source for edge in found} - {END}
        found += [Edge(name, END) for name in sorted(last)]
        if END not in [edge.target for edge in found]:
            found.append(Edge(reached[-1], END, None, True))
        nodes = {
            START: None,
            **{name: spec.runnable.action for name, spec in builder.nodes.items()},
        }
        return Graph({**nodes, END: None}, found)
