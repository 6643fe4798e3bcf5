"""Layer 9: a graph of nodes that share a state: reducers, `add_messages`, the step loop.

Mirrors langgraph/graph/{state,message}.py, langgraph/channels, langgraph/pregel
Leaves out states without keys, deferred nodes, retries, caches, timeouts, managed values, static
breakpoints, threads of graphs inside of graphs, the history of a thread, stream modes other than
values and updates, `invoke(stream_mode=)`, `add_messages(format=)`, `destinations=`, sequences of
nodes, `set_entry_point` and `set_finish_point`, schemas of nodes, input and output, coercing the
context, metadata, cancelling what runs beside a node that fails.
"""

import typing
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, count
from typing import Annotated, Any, NamedTuple, Self
from uuid import uuid4

# Pydantic's own dependency: it takes only this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from minilc import branch
from minilc.base import Config, RunnableConfig, _run_to_end, var_child_runnable_config
from minilc.branch import CONF, END, START, Command, PregelTask, RunnableCallable, StateSnapshot
from minilc.messages import AnyMessage, BaseMessage, RemoveMessage, convert_to_messages

REMOVE_ALL_MESSAGES = "__remove_all__"
DEFAULT_RECURSION_LIMIT = 10_007
UPDATES = "updates"


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


def add_messages(left: Any, right: Any) -> list[BaseMessage]:
    """Append the messages of `right` to `left`; a known id replaces, `RemoveMessage` removes.

    Raises:
        ValueError: a message to remove is not there.
    """
    merged = _History(left if isinstance(left, _History) else _coerce_to_messages(left))
    new = _coerce_to_messages(right)
    ids = [message.id for message in new]
    if REMOVE_ALL_MESSAGES in ids:
        return new[len(ids) - ids[::-1].index(REMOVE_ALL_MESSAGES) :]
    for message in new:
        place = merged.places.setdefault(message.id, len(merged))
        if place == len(merged) and isinstance(message, RemoveMessage):
            text = "Attempting to delete a message with an ID that doesn't exist "
            raise ValueError(f"{text}('{message.id}')")
        merged[place : place + 1] = [message]
    # Marks stand now where what they remove stood. One that REMOVE_ALL_MESSAGES left is no mark.
    marks = [id(message) for message in new if isinstance(message, RemoveMessage)]
    removed = {message.id for message in merged if id(message) in marks} if marks else set()
    return [message for message in merged if message.id not in removed] if removed else merged


def _coerce_to_messages(messages: Any) -> list[BaseMessage]:
    coerced = convert_to_messages(messages if isinstance(messages, list) else [messages])
    for message in [message for message in coerced if message.id is None]:
        message.id = str(uuid4())
    return coerced


class MessagesState(TypedDict):
    """A state that is a conversation."""

    messages: Annotated[list[AnyMessage], add_messages]


@dataclass(eq=False, repr=False)
class StateGraph:
    """A builder of graphs: add nodes and edges, then `compile`.

    Args:
        state_schema: a TypedDict, dataclass or pydantic model.
        context_schema: the class of the context that a run is given.
    """

    state_schema: Any
    context_schema: Any = None

    def __post_init__(self) -> None:
        self.nodes: dict[str, RunnableCallable] = {}
        # The starts of an edge, all of which it waits for, and its end.
        self.edges: set[tuple[tuple[str, ...], str]] = set()
        self.branches: defaultdict[str, list[branch.BranchSpec]] = defaultdict(list)
        if not hasattr(schema := self.state_schema, "__annotations__"):
            raise TypeError(f"a state is a TypedDict, dataclass or pydantic model (got {schema!r})")
        hints = typing.get_type_hints(schema, include_extras=True)
        self.channels = {key: branch._get_channel(key, hints[key]) for key in hints}

    def add_node(self, node: Any, action: Any = None) -> Self:
        """Add a node: a name and an action, or an action that has a name.

        Raises:
            ValueError: the name is taken or reserved.
            TypeError: the action cannot be called.
        """
        if not isinstance(node, str):
            node, action = RunnableCallable(node).name or type(node).__name__, node
        if node in self.nodes:
            raise ValueError(f"Node `{node}` already present.")
        if node in (END, START):
            raise ValueError(f"Node `{node}` is reserved.")
        self.nodes[node] = RunnableCallable(action, node)
        return self

    def add_edge(self, start_key: str | list[str], end_key: str) -> Self:
        """Run `end_key` after `start_key`, or once all nodes of a list have run."""
        starts = (start_key,) if isinstance(start_key, str) else tuple(start_key)
        self.edges.add((starts, end_key))
        return self

    def add_conditional_edges(self, source: str, path: Any, path_map: Any = None) -> Self:
        """After `source`, let `path` choose where to go on.

        Args:
            path_map: a dict from what the path returns to nodes, or a list of nodes; by default
                the list in the `Literal` that the path says it returns.
        """
        chooser = RunnableCallable(path)
        ends = chooser.ends if path_map is None else path_map
        named = ends if isinstance(ends, dict) else {name: name for name in ends}
        self.branches[source].append(branch.BranchSpec(chooser, named))
        return self

    def compile(
        self, checkpointer: Any = None, *, store: Any = None, name: str | None = None
    ) -> "CompiledStateGraph":
        """Check the edges and make the graph ready to run.

        Args:
            checkpointer: an InMemorySaver keeps each thread's state between runs.
            store: handed to the nodes.

        Raises:
            ValueError: an edge joins a node that is not there, or none leaves `START`.
        """
        known, specs = self.nodes.keys() | {END}, self.branches.items()
        sources = {start for starts, _ in self.edges for start in starts}.union(self.branches)
        for source in sources - self.nodes.keys() - {START}:
            raise ValueError(f"Found edge starting at unknown node '{source}'")
        if START not in sources:
            text = "Graph must have an entrypoint: add at least one edge from START to another node"
            raise ValueError(text)
        for start, spec in [(start, spec) for start, some in specs for spec in some]:
            for end in [end for end in spec.ends.values() if end not in known]:
                text = f"At '{start}' node, '{spec.path.name}' branch found unknown target '{end}'"
                raise ValueError(text)
        ends = {end for _, end in self.edges}.union(*(node.ends for node in self.nodes.values()))
        for end in ends - known:
            raise ValueError(f"Found edge ending at unknown node `{end}`")
        return CompiledStateGraph(self, checkpointer, store, name or "LangGraph")


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
    checkpointer: "InMemorySaver | None"
    store: Any
    name: str
    config: RunnableConfig = field(default_factory=RunnableConfig)
    workers: branch.Workers = field(default_factory=branch.Workers)

    def invoke(self, input: Any, config: Config = None, *, context: Any = None) -> Any:
        """Run the graph on an input, and return the state at its end."""
        return _run_to_end(PregelLoop(self, config, context).result(input, waits=False))

    async def ainvoke(self, input: Any, config: Config = None, *, context: Any = None) -> Any:
        """`invoke`, awaited."""
        return await PregelLoop(self, config, context).result(input, waits=True)

    def stream(
        self, input: Any, config: Config = None, *, context: Any = None, stream_mode: Any = UPDATES
    ) -> Iterator[Any]:
        """Run the graph, and give out after each step the state ("values") or what nodes wrote."""
        chunks: Any = PregelLoop(self, config, context).run(input, stream_mode, waits=False)
        with suppress(StopAsyncIteration):
            while True:
                yield _run_to_end(chunks.__anext__())

    def astream(
        self, input: Any, config: Config = None, *, context: Any = None, stream_mode: Any = UPDATES
    ) -> AsyncIterator[Any]:
        """`stream`, awaited."""
        return PregelLoop(self, config, context).run(input, stream_mode, waits=True)

    def get_state(self, config: RunnableConfig) -> StateSnapshot:
        """Where a thread stands between two steps."""
        return PregelLoop(self, config).saved or StateSnapshot({}, [], {})

    def with_config(self, config: RunnableConfig) -> Self:
        """The same graph with a config that all its runs get."""
        return replace(self, config=branch._merge_configs(self.config, config))

    def get_graph(self) -> Graph:
        """The nodes, and the edges that are known before a run: a bare path has none."""
        builder, paths = self.builder, self.builder.branches.items()
        edges = {(name, end): Edge(name, end) for starts, end in builder.edges for name in starts}
        labels = [(name, end, end) for name, node in builder.nodes.items() for end in node.ends]
        labels += [(name, *pair) for name, specs in paths for s in specs for pair in s.ends.items()]
        for name, label, end in labels:
            edges[name, end] = Edge(name, end, None if label == end else str(label), True)
        for name in {end for _, end in edges} - {name for name, _ in edges} - {END}:
            edges[name, END] = Edge(name, END)
        return Graph({START: None, **builder.nodes, END: None}, [edges[e] for e in sorted(edges)])


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
        self.config = branch._merge_configs(ambient, graph.config, config)
        self.limit = self.config.get("recursion_limit", DEFAULT_RECURSION_LIMIT)
        conf = self.config[CONF]
        outer = conf.get(branch.CONFIG_KEY_RUNTIME) or branch.Runtime()
        context, store = context or outer.context, graph.store or outer.store
        conf[branch.CONFIG_KEY_RUNTIME] = branch.Runtime(context=context, store=store)
        # Inside a node of another graph; a graph there starts anew whenever the node does.
        self.parent: PregelTask | None = conf.get(branch.CONFIG_KEY_SCRATCHPAD)
        self.saver = None if self.parent else graph.checkpointer
        self.thread = conf.get("thread_id")
        if self.saver and self.thread is None:
            text = "Checkpointer requires one or more of the following 'configurable' keys: "
            raise ValueError(text + "thread_id, checkpoint_ns, checkpoint_id")
        self.saved = self.saver.storage.get(self.thread) if self.saver else None
        channels = self.builder.channels
        empty = {key: channel.initial[0] for key, channel in channels.items() if channel.initial}
        self.values, self.tasks, self.seen = self.saved or (empty, [], {})
        self.interrupts: tuple[branch.Interrupt, ...] = ()
        self.step = 0

    async def result(self, input: Any, waits: bool) -> Any:
        """Run to the end, and return the state there: what `invoke` does."""
        async for _ in self.run(input, (), waits):
            pass
        asked = {branch.INTERRUPT: list(self.interrupts)} if self.interrupts else {}
        return self._lasting() | asked

    async def run(self, input: Any, modes: str | Sequence[str], waits: bool) -> AsyncIterator[Any]:
        """Run step after step, and give out after each what the modes ask for."""
        self.waits = waits
        chunks = self._first(input)
        while True:
            for mode, chunk in chunks:
                if mode in modes:
                    yield chunk if isinstance(modes, str) else (mode, chunk)
            if self.interrupts or not self.tick():
                return
            work = [self._run(task) for task in self.tasks if not task.done]
            await self.graph.workers.gather(work, waits, self.config.get("max_concurrency"))
            chunks = self.after_tick()

    def _first(self, input: Any) -> list[tuple[str, Any]]:
        """Go on where the thread stands if the input says no more than that, else start anew."""
        if isinstance(input, Command) and input.resume is not None:
            if not self.saver:
                raise RuntimeError("Cannot use Command(resume=...) without checkpointer")
            if input.update or input.goto:
                raise ValueError(f"an answer comes without update and goto (got {input!r})")
            branch.answer(self.tasks, input.resume)
        elif input is not None:
            self.tasks = [PregelTask(START, branch._own(input), is_sent=True)]
            return []
        if not self.saved:
            raise branch.EmptyInputError("Received no input for __start__")
        self.step = -1
        return [("values", self._lasting())]

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
            text = branch.create_error_message(text, "GRAPH_RECURSION_LIMIT")
            raise branch.GraphRecursionError(text)
        return bool(self.tasks)

    async def _run(self, task: PregelTask) -> None:
        """Run a node; then its paths, on the state with its writes but without its siblings'."""
        builder, node = self.builder, self.builder.nodes.get(task.name)  # START has none
        task.interrupts, task.interrupt_counter, task.fresh = (), count(), None
        config = self._task_config(task)
        token = var_child_runnable_config.set(config)
        try:
            output = task.arg if task.is_sent else self._read(self.values)
            try:
                output = await self._call(node, output, config) if node else output
            except branch.ParentCommand as signal:  # from a graph inside the node
                output = signal.args[0]
            task.writes = branch._get_updates(output, builder.channels)
            task.goto = branch._control_branch(output)
            for spec in builder.branches.get(task.name, ()):
                task.fresh = task.fresh or self._fold([task])
                target = await self._call(spec.path, self._read(task.fresh), config)
                task.goto += spec._finish(target)
            task.done = True
        except branch.GraphInterrupt as signal:
            task.interrupts = signal.args[0]
        finally:
            var_child_runnable_config.reset(token)

    def _task_config(self, task: PregelTask) -> RunnableConfig:
        conf = {**self.config[CONF], branch.CONFIG_KEY_SCRATCHPAD: self.parent or task}
        conf[branch.CONFIG_KEY_READ_STATE] = partial(self._read, self.values)
        return {**self.config, "configurable": conf}

    async def _call(self, action: RunnableCallable, input: Any, config: RunnableConfig) -> Any:
        return await action.ainvoke(input, config) if self.waits else action.invoke(input, config)

    def _read(self, values: dict[str, Any]) -> Any:
        """The state as an object of its class, of which a TypedDict makes a dict."""
        return self.builder.state_schema(**values)

    def _fold(self, tasks: list[PregelTask]) -> dict[str, Any]:
        """The state with what tasks wrote; a key takes all its updates at once."""
        updates = defaultdict(list)
        for key, value in chain.from_iterable(task.writes for task in tasks):
            updates[key].append(value)
        channels, old = self.builder.channels, self.values
        new = {key: channels[key].update(old, values) for key, values in updates.items()}
        return self._lasting() | new

    def _lasting(self) -> dict[str, Any]:
        """The state without what only the next step may read."""
        channels, values = self.builder.channels, self.values
        return {key: value for key, value in values.items() if not channels[key].is_ephemeral}

    def after_tick(self) -> list[tuple[str, Any]]:
        """Apply what the tasks wrote, and choose the next ones; or stop, if any of them asks."""
        ran = self.tasks
        self.interrupts = tuple(question for task in ran for question in task.interrupts)
        if self.interrupts and self.parent:
            raise branch.GraphInterrupt(self.interrupts)
        self.values = (ran[0].fresh if len(ran) == 1 else None) or self._fold(ran)
        chunks = [(UPDATES, branch.update_of(task)) for task in ran if task.name != START]
        if self.interrupts:
            return [*chunks, ("values", self._lasting() | {branch.INTERRUPT: self.interrupts})]
        goto = self._follow_edges({task.name for task in ran})
        goto += chain.from_iterable(task.goto for task in ran)
        self.tasks = branch.prepare_next_tasks(goto, self.builder.nodes)
        self.step += 1
        return [*chunks, ("values", self._lasting())] if any(t.writes for t in ran) else chunks

    def _follow_edges(self, ran: set[str]) -> list[str | branch.Send]:
        """The ends of the edges whose starts have all run since they were last followed."""
        old, seen = self.seen, dict[Any, frozenset[str]]()
        for edge in self.builder.edges:
            seen[edge] = old.get(edge, frozenset()) | ran.intersection(edge[0])
        self.seen = {edge: names for edge, names in seen.items() if not names.issuperset(edge[0])}
        return [end for _, end in seen.keys() - self.seen.keys()]
