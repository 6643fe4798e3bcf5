"""Layer 9: a graph of nodes that share a state: reducers, `add_messages`, the step loop.

Mirrors langgraph/graph/{state,message}.py, langgraph/channels, langgraph/pregel
Leaves out deferred nodes, retries, caches, timeouts, managed values, static breakpoints, the
history of a thread, stream modes other than values, updates and custom, `invoke(stream_mode=)`,
`add_messages(format=)`, `destinations=`, sequences of nodes, coercing the context, metadata.
"""

from __future__ import annotations

import asyncio
import re
import typing
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field, is_dataclass, replace
from functools import partial, reduce
from inspect import Parameter, signature
from itertools import count
from typing import Annotated, Any, NamedTuple, TypedDict, get_args, get_origin
from uuid import uuid4

from pydantic import BaseModel, RootModel, create_model

from minilc import branch
from minilc.base import RunnableConfig, _run_to_end, var_child_runnable_config
from minilc.branch import CONF, END, ROOT, START, Command, PregelTask, RunnableCallable, Send
from minilc.messages import AnyMessage, BaseMessage, RemoveMessage, convert_to_messages

REMOVE_ALL_MESSAGES = "__remove_all__"
DEFAULT_RECURSION_LIMIT = 10_007
INTERRUPT = "__interrupt__"
CONFIG_KEY_CHECKPOINTER = "__pregel_checkpointer"
MISSING: Any = object()
Config = RunnableConfig | None


class _History(list[BaseMessage]):
    """Merged messages with the place of each id, so that appending need not reread them.

    A longer history shares the places of the one it grew from. They fit whichever list has as
    many entries: one that is appended to a second time finds them too many, and counts anew.
    """

    def __init__(self, messages: list[BaseMessage]) -> None:
        super().__init__(messages)
        self.places: dict[str | None, int] = getattr(messages, "places", {})
        if len(self.places) != len(messages):
            self.places = {message.id: place for place, message in enumerate(messages)}


def add_messages(left: Any = None, right: Any = None) -> list[BaseMessage]:
    """Append the messages of `right` to `left`; a known id replaces, `RemoveMessage` removes.

    Raises:
        ValueError: one of the two is missing, or a message to remove is not there.
    """
    if left is None or right is None:
        text = "Must specify non-null arguments for both 'left' and 'right'. Only received: "
        raise ValueError(f"{text}'{'left' if left else 'right'}'.")
    merged = _History(left if isinstance(left, _History) else _coerce_to_messages(left))
    new = _coerce_to_messages(right)
    ids = [message.id for message in new]
    if REMOVE_ALL_MESSAGES in ids:
        return new[len(ids) - ids[::-1].index(REMOVE_ALL_MESSAGES) :]
    removed = set()
    for message in new:
        place = merged.places.setdefault(message.id, len(merged))
        is_new = place == len(merged)
        if isinstance(message, RemoveMessage):
            if is_new:
                text = "Attempting to delete a message with an ID that doesn't exist "
                raise ValueError(f"{text}('{message.id}')")
            removed.add(message.id)
        else:
            merged[place : place + 1] = [message]
            removed.discard(message.id)
    return [message for message in merged if message.id not in removed] if removed else merged


def _coerce_to_messages(messages: Any) -> list[BaseMessage]:
    coerced = convert_to_messages(messages if isinstance(messages, list) else [messages])
    for message in coerced:
        if message.id is None:
            message.id = str(uuid4())
    return coerced


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
        """The value after all updates of a step.

        Raises:
            InvalidUpdateError: there are several, and no reducer.
        """
        if self.reducer is not None:
            return reduce(self.reducer, updates if value is MISSING else [value, *updates])
        if len(updates) > 1:
            text = (
                f"At key '{self.key}': Can receive only one value per step. Use an Annotated key "
            )
            code = "INVALID_CONCURRENT_GRAPH_UPDATE"
            raise branch.InvalidUpdateError(
                branch.create_error_message(f"{text}to handle multiple values.", code)
            )
        return updates[0]


def _get_channels(schema: Any) -> dict[str, Channel]:
    hints = {ROOT: schema}
    if hasattr(schema, "__annotations__"):
        hints = typing.get_type_hints(schema, include_extras=True)
    return {key: _get_channel(key, hint) for key, hint in hints.items()}


def _get_channel(key: str, annotation: Any) -> Channel:
    """The last thing in an `Annotated` is the reducer, if it can be called.

    Raises:
        ValueError: it does not take two arguments.
    """
    if get_origin(annotation) in (typing.Required, typing.NotRequired):
        annotation = get_args(annotation)[0]
    *_, reducer = marks = getattr(annotation, "__metadata__", (None,))
    if EphemeralValue in marks or not callable(reducer):
        return Channel(key, is_ephemeral=EphemeralValue in marks)
    kinds = [parameter.kind for parameter in signature(reducer).parameters.values()]
    if kinds.count(Parameter.POSITIONAL_ONLY) + kinds.count(Parameter.POSITIONAL_OR_KEYWORD) != 2:
        text = "Invalid reducer signature. Expected (a, b) -> c. Got "
        raise ValueError(f"{text}{signature(reducer)}")
    while hasattr(annotation, "__origin__"):
        annotation = annotation.__origin__
    try:
        initial = {Sequence: list, Mapping: dict, Set: set}.get(annotation, annotation)()
    except Exception:  # not every type has an empty value, and each refuses in its own way
        initial = MISSING
    return Channel(key, reducer, initial)


class StateNodeSpec(NamedTuple):
    """A node: what it does, what it reads, and where its commands may lead."""

    runnable: RunnableCallable
    input_schema: Any
    ends: tuple[str, ...]


@dataclass(eq=False, repr=False)
class StateGraph:
    """A builder of graphs: add nodes and edges, then `compile`.

    Args:
        state_schema: a TypedDict, dataclass or pydantic model; or the type of a state without keys.
        context_schema: the class of the context that a run is given.
        input_schema: the part of the state that a run's input may write.
        output_schema: the part that it returns.
    """

    state_schema: Any
    context_schema: Any = None
    input_schema: Any = field(default=None, kw_only=True)
    output_schema: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self.nodes: dict[str, StateNodeSpec] = {}
        # The starts of an edge, all of which it waits for, and its end.
        self.edges: set[tuple[tuple[str, ...], str]] = set()
        self.branches: defaultdict[str, dict[str, branch.BranchSpec]] = defaultdict(dict)
        self.schemas: dict[Any, dict[str, Channel]] = {}
        self.channels: dict[str, Channel] = {}
        self.input_schema = self.input_schema or self.state_schema
        self.output_schema = self.output_schema or self.state_schema
        for schema in (self.state_schema, self.input_schema, self.output_schema):
            self._add_schema(schema)

    def _add_schema(self, schema: Any) -> None:
        self.schemas[schema] = _get_channels(schema)
        for key, channel in self.schemas[schema].items():
            known = self.channels.setdefault(key, channel)
            if channel.reducer not in (None, known.reducer):
                raise ValueError(f"Channel '{key}' already exists with a different type")

    def add_node(self, node: Any, action: Any = None, *, input_schema: Any = None) -> StateGraph:
        """Add a node: a name and an action, or an action that has a name.

        Args:
            input_schema: what the node reads; else the class of its first parameter, or the state.

        Raises:
            ValueError: the name is taken or reserved.
            TypeError: the action cannot be called.
        """
        if not isinstance(node, str):
            named = RunnableCallable(node).name
            node, action = named or type(node).__name__, node
        if action is None:
            raise RuntimeError
        if node in self.nodes:
            raise ValueError(f"Node `{node}` already present.")
        if node in (END, START):
            raise ValueError(f"Node `{node}` is reserved.")
        for sign in set("|:").intersection(node):
            text = "is a reserved character and is not allowed in the node names."
            raise ValueError(f"'{sign}' {text}")
        try:
            inferred, ends = branch.read_signature(action)
        except (NameError, TypeError):  # annotations that only people understand
            inferred, ends = None, ()
        schema = input_schema or inferred or self.state_schema
        self.nodes[node] = StateNodeSpec(RunnableCallable(action, node), schema, ends)
        self._add_schema(schema)
        return self

    def add_edge(self, start_key: str | list[str], end_key: str) -> StateGraph:
        """Run `end_key` after `start_key`, or once all nodes of a list have run.

        Raises:
            ValueError: it starts at `END`, ends at `START`, or joins a node that is not there.
        """
        starts = (start_key,) if isinstance(start_key, str) else tuple(start_key)
        if END in starts:
            raise ValueError("END cannot be a start node")
        if end_key == START:
            raise ValueError("START cannot be an end node")
        for name in () if isinstance(start_key, str) else (*starts, end_key):
            if name not in self.nodes and name != END:
                raise ValueError(f"Need to add_node `{name}` first")
        self.edges.add((starts, end_key))
        return self

    def add_conditional_edges(self, source: str, path: Any, path_map: Any = None) -> StateGraph:
        """After `source`, let `path` choose where to go on.

        Args:
            path_map: a dict from what the path returns to nodes, or a list of nodes.

        Raises:
            ValueError: the node has a path of that name.
        """
        runnable = RunnableCallable(path)
        name = None if runnable.name == "<lambda>" else runnable.name
        if (name or "condition") in self.branches[source]:
            raise ValueError(f"Branch with name `{name}` already exists for node `{source}`")
        spec = branch.BranchSpec.from_path(runnable, path_map)
        self.branches[source][name or "condition"] = spec
        self._add_schema(spec.input_schema or self.state_schema)
        return self

    def set_entry_point(self, key: str) -> StateGraph:
        """The same as `add_edge(START, key)`."""
        return self.add_edge(START, key)

    def set_finish_point(self, key: str) -> StateGraph:
        """The same as `add_edge(key, END)`."""
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
        self, checkpointer: Any = None, *, store: Any = None, name: str | None = None
    ) -> CompiledStateGraph:
        """Check the graph and make it ready to run.

        Args:
            checkpointer: an InMemorySaver keeps each thread's state between runs.
            store: handed to the nodes.
        """
        return CompiledStateGraph(self.validate(), checkpointer, store, name or "LangGraph")


class StateSnapshot(NamedTuple):
    """A thread between two steps: the state, what runs next, who arrived at edges that wait."""

    values: Any
    tasks: list[PregelTask]
    seen: dict[Any, set[str]]

    @property
    def next(self) -> tuple[str, ...]:
        """The nodes that have yet to run."""
        return tuple(task.name for task in self.tasks if not task.done)

    @property
    def interrupts(self) -> tuple[branch.Interrupt, ...]:
        """The questions that wait for an answer."""
        return tuple(question for task in self.tasks for question in task.interrupts)


class InMemorySaver:
    """The last checkpoint of each thread, for as long as the process lives."""

    def __init__(self) -> None:
        self.storage: dict[Any, StateSnapshot] = {}


class PregelLoop:
    """A run: `tick` says whether there is a step to run, `after_tick` draws the sum of it.

    All is written once, with `await`. Where `waits` is false nothing ever waits, and the whole
    runs to its end as a plain function would.
    """

    def __init__(self, graph: CompiledStateGraph, config: Config, context: Any = None) -> None:
        self.graph, self.builder = graph, graph.builder
        is_own = bool(config and config.get(CONF, {}).get("thread_id"))
        ambient = None if is_own else var_child_runnable_config.get()
        self.config = _merge_configs(ambient, graph.config, config)
        self.limit = self.config.get("recursion_limit", DEFAULT_RECURSION_LIMIT)
        if self.limit < 1:
            raise ValueError("recursion_limit must be at least 1")
        conf = self.config[CONF]
        self.parent: PregelTask | None = conf.get(branch.CONFIG_KEY_SCRATCHPAD)
        outer = conf.get(branch.CONFIG_KEY_RUNTIME) or branch.Runtime()
        context, store = context or outer.context, graph.store or outer.store
        writer = partial(self._emit, "custom")
        self.runtime = branch.Runtime(context=context, store=store, stream_writer=writer)
        self.saver: InMemorySaver | None = graph.checkpointer or conf.get(CONFIG_KEY_CHECKPOINTER)
        call = self.parent.calls() if self.parent else 0
        self.thread = (conf.get("thread_id"), conf.get("checkpoint_ns"), call)
        self.answers: list[Any] = self.parent.answers if self.parent else []
        if self.saver and self.thread[0] is None:
            text = "Checkpointer requires one or more of the following 'configurable' keys: "
            raise ValueError(text + "thread_id, checkpoint_ns, checkpoint_id")
        self.saved = self.saver.storage.get(self.thread) if self.saver else None
        channels = self.builder.channels
        empty = {key: c.initial for key, c in channels.items() if c.initial is not MISSING}
        start = self.saved or StateSnapshot(empty, [], {})
        self.values, self.tasks, self.seen = start.values, start.tasks, start.seen
        self.chunks: list[Any] = []
        self.interrupts: tuple[branch.Interrupt, ...] = ()
        self.wrote, self.step = False, 0

    async def run(self, input: Any, modes: str | list[str], waits: bool) -> AsyncIterator[Any]:
        """Run step after step, and give out after each what the modes ask for."""
        self.modes, self.waits = modes, waits
        self._first(input)
        while True:
            for mode, chunk in self.chunks:
                if mode in modes:
                    yield (mode, chunk) if isinstance(modes, list) else chunk
            self.chunks.clear()
            if self.interrupts or not self.tick():
                return
            await _gather([self._run(task) for task in self.tasks if not task.done], waits)
            self.after_tick()

    def _first(self, input: Any) -> None:
        """Go on where the thread stands if the input says no more than that, else start anew."""
        if isinstance(input, Command):
            if input.graph == Command.PARENT:
                raise branch.InvalidUpdateError("There is no parent graph")
            if input.resume is not None:
                self._answer(input.resume)
            writes = branch._get_updates(input, self.builder.channels)
            given = PregelTask("", writes=writes, goto=branch._control_branch(input))
            self.values, self.tasks = self._fold([given]), self.tasks + self._next_tasks([given])
        # A graph inside a node has a thread only if that very node has run before.
        if self.saved and (self.parent or input is None or isinstance(input, Command)):
            self.step = -1
            self._emit_values()
        elif input is None:
            raise branch.EmptyInputError("Received no input for __start__")
        else:
            self.tasks = [PregelTask(START, _own(input), is_sent=True)]

    def _answer(self, resume: Any) -> None:
        """Hand answers out: those with an id to their tasks, any other to whoever asks first."""
        if not self.saver:
            raise RuntimeError("Cannot use Command(resume=...) without checkpointer")
        asked = {task.interrupts[0].id: task for task in self.tasks if task.interrupts}
        if isinstance(resume, dict) and all(re.fullmatch("[0-9a-f]{32}", key) for key in resume):
            for interrupt_id in resume.keys() & asked.keys():
                asked[interrupt_id].resume.append(resume[interrupt_id])
        elif len(asked) > 1:
            text = "When there are multiple pending interrupts, you must specify the interrupt id "
            page = "https://docs.langchain.com/oss/python/langgraph/interrupts"
            raise RuntimeError(f"{text}when resuming. Docs: {page}#handling-multiple-interrupts.")
        else:
            self.answers.append(resume)

    def tick(self) -> bool:
        """Whether there is anything to run.

        Raises:
            GraphRecursionError: the steps are used up; seeing that nothing is left takes one too.
        """
        if self.saver:
            self.saver.storage[self.thread] = StateSnapshot(self.values, self.tasks, self.seen)
        if self.step > self.limit:
            text = f"Recursion limit of {self.limit} reached without hitting a stop condition. You "
            text += "can increase the limit by setting the `recursion_limit` config key."
            code = "GRAPH_RECURSION_LIMIT"
            raise branch.GraphRecursionError(branch.create_error_message(text, code))
        return bool(self.tasks)

    async def _run(self, task: PregelTask) -> None:
        """Run a node; then its paths, on the state with its writes but without its siblings'."""
        builder, node = self.builder, self.builder.nodes.get(task.name)  # START has none
        schema = node.input_schema if node else builder.state_schema
        config = self._task_config(task, schema)
        token = var_child_runnable_config.set(config)
        try:
            output = task.arg if task.is_sent else self._read(schema, self.values)
            if node:
                try:
                    output = await self._call(node.runnable, output, config)
                except branch.ParentCommand as signal:  # from a graph inside the node
                    output = signal.args[0]
            keys = builder.channels if node else builder.schemas[builder.input_schema]
            task.writes = branch._get_updates(output, keys)
            task.goto = [*branch._control_branch(output), *self.graph.targets.get(task.name, ())]
            for spec in builder.branches.get(task.name, {}).values():
                task.fresh = task.fresh or self._fold([task])
                state = self._read(spec.input_schema or schema, task.fresh)
                if isinstance(output, dict) and isinstance(state, dict) and not spec.input_schema:
                    state = {**output, **state}
                task.goto += spec._finish(await self._call(spec.path, state, config))
            task.done = True
        except branch.GraphInterrupt as signal:
            task.interrupts = signal.args[0]
        finally:
            var_child_runnable_config.reset(token)

    def _task_config(self, task: PregelTask, schema: Any) -> RunnableConfig:
        task.interrupt_counter, task.calls = count().__next__, count().__next__
        task.interrupts, task.fresh = (), None
        task.answers = self.answers if self.parent or self.step < 0 else []
        conf = {**self.config[CONF], branch.CONFIG_KEY_RUNTIME: self.runtime}
        conf[branch.CONFIG_KEY_SCRATCHPAD] = task
        read_state = partial(self._read, schema, self.values)
        conf[branch.CONFIG_KEY_READ_STATE] = read_state if task.is_sent else None
        if self.saver:
            conf[CONFIG_KEY_CHECKPOINTER] = self.saver
            task.id = conf["checkpoint_ns"] = task.id or uuid4().hex
        return {**self.config, "configurable": conf}

    async def _call(self, action: RunnableCallable, input: Any, config: RunnableConfig) -> Any:
        return await action.ainvoke(input, config) if self.waits else action.invoke(input, config)

    def _read(self, schema: Any, values: dict[str, Any]) -> Any:
        """The keys of a schema as an object of it; for no schema, all keys."""
        keys = self.builder.schemas[schema] if schema else self.builder.channels
        if ROOT in keys:
            return values.get(ROOT)
        state = {key: values[key] for key in keys if key in values}
        return schema(**state) if is_dataclass(schema) or _is_model(schema) else state

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
        """Apply what the tasks wrote, and choose the next ones; or stop, if any of them asks."""
        # Nodes count in the order of their names, then Sends in the order they were made.
        ran = sorted(self.tasks, key=lambda task: task.is_sent)
        self.interrupts = tuple(question for task in ran for question in task.interrupts)
        if self.interrupts and self.parent:
            raise branch.GraphInterrupt(self.interrupts)
        self.values = (ran[0].fresh if len(ran) == 1 else None) or self._fold(ran)
        if "updates" in self.modes:
            for task in self.tasks:
                self._emit_updates(task)
        if self.interrupts or any(task.writes for task in ran):
            self._emit_values()
        if not self.interrupts:
            self.tasks, self.step = self._next_tasks(ran), self.step + 1

    def _next_tasks(self, ran: list[PregelTask]) -> list[PregelTask]:
        """The tasks of the next step: Sends in their order, then nodes by name.

        Raises:
            ValueError: a destination is no node.
        """
        goto = [target for task in ran for target in task.goto if target != END]
        sends = [PregelTask(t.node, t.arg, is_sent=True) for t in goto if isinstance(t, Send)]
        names = {target for target in goto if not isinstance(target, Send)}
        for edge in self.graph.joins:
            arrived = self.seen.get(edge, set()).union(t.name for t in ran if t.name in edge[0])
            self.seen = {**self.seen, edge: arrived}
            if arrived.issuperset(edge[0]):
                names.add(edge[1])
                self.seen[edge] = set()
        nodes = self.builder.nodes
        for name in [*names, *(task.name for task in sends)]:
            if name not in nodes:
                known = [*nodes, END]
                raise ValueError(f"{name!r} is not a node of the graph, go to one of {known}")
        return sends + [PregelTask(name) for name in sorted(names)]

    def _emit(self, mode: str, chunk: Any) -> None:
        self.chunks.append((mode, chunk))

    def _emit_updates(self, task: PregelTask) -> None:
        whole: dict[str, Any] = dict(task.writes)
        parts = [value if key == ROOT else {key: value} for key, value in task.writes]
        if len(whole) == len(parts) and ROOT not in whole:
            parts = [whole or None]
        if task.interrupts:
            self._emit("updates", {INTERRUPT: task.interrupts})
        elif task.name != START:
            self._emit("updates", {task.name: parts if len(parts) > 1 else parts[0]})

    def _emit_values(self) -> None:
        self.wrote = True
        if "values" in self.modes:
            values, asked = self._read(None, self.values), self.interrupts
            self._emit("values", {**values, INTERRUPT: asked} if asked else values)

    async def result(self, input: Any, waits: bool) -> Any:
        """Run to the end, and return the state there: what `invoke` does."""
        async for _ in self.run(input, "", waits):
            pass
        values = self._read(None, self.values)
        keys = self.builder.schemas[self.builder.output_schema]
        if ROOT not in keys:
            values = {key: value for key, value in values.items() if key in keys}
        if self.interrupts:
            return {**values, INTERRUPT: list(self.interrupts)}
        return values if self.wrote else None


def _is_model(schema: Any) -> bool:
    return isinstance(schema, type) and issubclass(schema, BaseModel)


def _own(value: Any) -> Any:
    """The input with copies of messages that have no id: they get one, the caller's must not."""
    if isinstance(value, dict):
        return {key: _own(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_own(item) for item in value]
    return value.model_copy() if isinstance(value, BaseMessage) and value.id is None else value


async def _gather(work: list[Coroutine[Any, Any, None]], waits: bool) -> None:
    """Run tasks at once: a single one here, several as asyncio tasks or in a thread each."""
    if len(work) == 1:
        await work[0]
    elif waits:
        futures = [asyncio.ensure_future(one) for one in work]
        try:
            await asyncio.gather(*futures)
        finally:  # where one fails, nobody waits for the others
            for future in futures:
                future.cancel()
    else:
        with ThreadPoolExecutor(len(work)) as pool:
            runs = [pool.submit(copy_context().run, _run_to_end, one) for one in work]
        for run in runs:
            run.result()


def _merge_configs(*configs: Config) -> RunnableConfig:
    """Later configs win; what is configurable is merged key by key."""
    merged = RunnableConfig(configurable={})
    for config in filter(None, configs):
        merged = {**merged, **config, "configurable": {**merged[CONF], **config.get(CONF, {})}}
    return merged


class Edge(NamedTuple):
    """An edge as it is drawn; `data` is its label."""

    source: str
    target: str
    data: str | None = None
    conditional: bool = False


class Graph(NamedTuple):
    """A graph as it is drawn."""

    nodes: dict[str, Any]
    edges: list[Edge]


@dataclass
class CompiledStateGraph:
    """A graph that runs."""

    builder: StateGraph
    checkpointer: InMemorySaver | None
    store: Any
    name: str
    config: RunnableConfig = field(default_factory=RunnableConfig)

    def __post_init__(self) -> None:
        self.targets: defaultdict[str, list[str]] = defaultdict(list)
        for starts, end in self.builder.edges:
            if len(starts) == 1:
                self.targets[starts[0]].append(end)
        self.joins = [edge for edge in self.builder.edges if len(edge[0]) > 1 and edge[1] != END]

    def invoke(self, input: Any, config: Config = None, *, context: Any = None) -> Any:
        """Run the graph on an input, and return the state at its end."""
        return _run_to_end(PregelLoop(self, config, context).result(input, waits=False))

    async def ainvoke(self, input: Any, config: Config = None, *, context: Any = None) -> Any:
        """`invoke`, awaited."""
        return await PregelLoop(self, config, context).result(input, waits=True)

    def stream(
        self,
        input: Any,
        config: Config = None,
        *,
        context: Any = None,
        stream_mode: Any = "updates",
    ) -> Iterator[Any]:
        """Run the graph, and give out after each step the state ("values") or what nodes wrote."""
        chunks: Any = PregelLoop(self, config, context).run(input, stream_mode, waits=False)
        with suppress(StopAsyncIteration):
            while True:
                yield _run_to_end(chunks.__anext__())

    async def astream(
        self,
        input: Any,
        config: Config = None,
        *,
        context: Any = None,
        stream_mode: Any = "updates",
    ) -> AsyncIterator[Any]:
        """`stream`, awaited."""
        loop = PregelLoop(self, config, context)
        async for chunk in loop.run(input, stream_mode, waits=True):
            yield chunk

    def get_input_schema(self, config: Config = None) -> Any:
        """The model of what a run may be given: with it a graph can become a tool."""
        schema = self.builder.input_schema
        fields: dict[str, Any] = {"root": (schema, ...)}
        name = f"{self.name}Input"
        return schema if _is_model(schema) else create_model(name, __base__=RootModel, **fields)

    def get_state(self, config: RunnableConfig) -> StateSnapshot:
        """Where a thread stands; what is done of a step is in the values already."""
        loop = PregelLoop(self, config)
        values = loop._read(None, loop._fold(loop.tasks)) if loop.saved else {}
        return StateSnapshot(values, loop.tasks, loop.seen)

    def with_config(self, config: RunnableConfig) -> CompiledStateGraph:
        """The same graph with a config that all its runs get."""
        return replace(self, config=_merge_configs(self.config, config))

    def get_graph(self) -> Graph:
        """The nodes, and the edges that are known before a run: a bare path has none."""
        builder, reached = self.builder, [START]
        edges: dict[tuple[str, str], Edge] = {}
        for name in reached:  # grows on the way
            ends = {end: end for end in builder.nodes[name].ends} if name != START else {}
            for spec in builder.branches.get(name, {}).values():
                for label, end in (spec.ends or {}).items():
                    ends[end] = min(str(label), ends.get(end, str(label)))
            for end, label in ends.items():
                edges[name, end] = Edge(name, end, None if label == end else label, True)
            for starts, end in builder.edges:
                if name in starts and end != END and set(starts) <= set(reached):
                    ends[end] = end
                    for start in starts:
                        edges.setdefault((start, end), Edge(start, end))
            reached += [end for end in ends if end not in (*reached, END)]
        found = sorted(edges.values())
        last = {edge.target for edge in found} - {edge.source for edge in found} - {END}
        found += [Edge(name, END) for name in sorted(last)]
        if END not in [edge.target for edge in found]:
            found.append(Edge(reached[-1], END, None, True))
        return Graph({START: None, **builder.nodes, END: None}, found)
