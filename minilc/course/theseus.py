"""The ship of Theseus: one conversation, while LangChain's layers are replaced by minilc's.

    voyage = sail()
    assert voyage.arrived
    voyage

At stage 0 all fourteen layers are LangChain's; at stage n the first n are minilc's, which talk to
the rest over the bridge; at stage 14 it is `minilc.create_agent`. Each stage has the same
conversation, and its transcript must be that of stage 0.
"""

# Annotations name a world's marks, which are chosen at run time; so no `annotations` from future.
# mypy: disable-error-code="name-defined, valid-type, misc"

import functools
import operator
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Annotated, Any

from pydantic import create_model

import minilc
from minilc import branch, injection, middleware, tool_errors
from minilc.course import bridge
from minilc.course.bridge import ours, real
from minilc.course.layers import LAYERS
from minilc.course.plain import Difference, first_difference
from minilc.course.scripted import ScriptedChatModel
from minilc.course.twin import SIGNS, Outcome, observe
from minilc.course.worlds import LANGCHAIN, MINILC, World

# --- the conversation -----------------------------------------------------------------------------

PROMPT = "你是一个会查询天气的助手。"
QUESTION = "北京和上海今天天气怎么样？"


def functions(lc: World) -> list[Any]:
    """What the tools do. The marks on their parameters are those of the world."""

    def get_weather(city: str, days: int = 1) -> str:
        """Get current weather for a city."""
        return f"{city}: {', '.join(['sunny, 28C'] * days)}"

    def look_back(
        thought: str, state: Annotated[dict, lc.InjectedState], runtime: lc.ToolRuntime
    ) -> dict[str, Any]:
        """Look back at the conversation."""
        asked = [message.content for message in state["messages"][:1]]
        return {"thought": thought, "asked": asked, "call": runtime.tool_call_id}

    def remember(city: str, call_id: Annotated[str, lc.InjectedToolCallId]) -> Any:
        """Remember a city."""
        answer = lc.ToolMessage(f"remembered {city}", tool_call_id=call_id)
        return lc.Command(update={"cities": [city], "messages": [answer]})

    return [get_weather, look_back, remember]


def answers(lc: World) -> list[Any]:
    """The model's part: two calls at once, two faults, two that are injected, words."""

    def asks(*calls: tuple[str, str, dict[str, Any]]) -> Any:
        made = [{"name": name, "args": args, "id": id} for name, id, args in calls]
        return lc.AIMessage("", tool_calls=made)

    return [
        asks(("get_weather", "c1", {"city": "北京"}), ("get_weather", "c2", TWO_DAYS)),
        asks(("get_weather", "c3", {"town": "北京"}), ("get_wether", "c4", {"city": "北京"})),
        asks(("look_back", "c5", FORGED), ("remember", "c6", {"city": "北京"})),
        lc.AIMessage("北京和上海今天都晴，28 度。"),
    ]


TWO_DAYS = {"city": "上海", "days": "2"}
FORGED = {"thought": "想一想", "state": {"messages": []}}


def hooks(lc: World) -> list[Any]:
    """Two middleware: both sign what tools answer, the first also counts and adds to the prompt."""

    def signed(answer: Any, sign: str) -> Any:
        if isinstance(answer, lc.Command):
            return answer
        return answer.model_copy(update={"content": f"{answer.content} {sign}"})

    class Outer(lc.AgentMiddleware):
        def before_model(self, state: Any, runtime: Any) -> dict[str, Any]:
            return {"asked": 1}

        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            prompt = lc.SystemMessage(f"{request.system_message.content}用中文回答。")
            return handler(request.override(system_message=prompt))

        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            return signed(handler(request), "[outer]")

    class Inner(lc.AgentMiddleware):
        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            return signed(handler(request), "[inner]")

    return [Outer(), Inner()]


def _state(base: Any) -> Any:
    class State(base):
        cities: Annotated[list, operator.add]
        asked: Annotated[int, operator.add]

    return State


# --- the ship -------------------------------------------------------------------------------------


class Ship:
    """An agent whose first `stage` layers are minilc's.

    Args:
        stage: 0 to 14.

    Attributes:
        graph: the agent: LangGraph's, and from stage 9 on minilc's.
        model: the scripted model, which keeps its requests.
    """

    def __init__(self, stage: int) -> None:
        self.stage = stage
        self.model = self._model()
        self.tools = [self._tool(function) for function in functions(self.world(2))]
        self.hooks = hooks(self.world(13))
        self.graph = self._own_agent() if stage >= 14 else self._agent()

    def world(self, layer: int) -> World:
        """Whose this layer is."""
        return MINILC if layer <= self.stage else LANGCHAIN

    def transcript(self) -> dict[str, Any]:
        """Have the conversation: the state at its end, and what the model was sent."""
        given = {"messages": [self.world(1).HumanMessage(QUESTION)]}
        state = self.graph.invoke((ours if self.stage >= 9 else real)(given))
        return {**state, "requests": [request._asdict() for request in self.model.requests]}

    # Layers 1 to 7: what an agent is given.

    def _tool(self, function: Any) -> Any:
        """Layers 2 to 5: the schema, the run, the tool of a function, the decorator."""
        if self.stage < 2:
            return LANGCHAIN.tool(function)
        if self.stage >= 5:
            return MINILC.tool(function)
        name = function.__name__
        schema = MINILC.create_schema_from_function(name, function)
        decorated = LANGCHAIN.tool(args_schema=real(schema))(_crossing(function))
        if self.stage == 2:
            return decorated
        if self.stage == 4:
            return MINILC.StructuredTool.from_function(function, name=decorated.name)
        told = {"name": decorated.name, "description": decorated.description}
        return _Run(**told, args_schema=schema, function=function)

    def _model(self) -> Any:
        """Layers 1, 6 and 7: the messages of the script, the tools as JSON, the model."""
        script = answers(self.world(1))
        if self.stage >= 7:
            return MINILC.ScriptedChatModel(script)
        model: Any = _Binds if self.stage == 6 else ScriptedChatModel
        return model(script)

    def _own_agent(self) -> Any:
        """Layer 14: all of it minilc's, without the bridge."""
        state = _state(MINILC.AgentState)
        given: dict[str, Any] = {"middleware": self.hooks, "state_schema": state}
        return MINILC.create_agent(self.model, self.tools, system_prompt=PROMPT, **given)

    def _agent(self) -> Any:
        """LangChain's agent of these parts; from layer 8 on taken apart, and put together again."""
        tools = [_asks_for_runtime(t) if self.stage >= 11 else real(t) for t in self.tools]
        state = _state(LANGCHAIN.AgentState)
        given: dict[str, Any] = {"middleware": real(self.hooks), "state_schema": state}
        agent = LANGCHAIN.create_agent(real(self.model), tools, system_prompt=PROMPT, **given)
        return agent if self.stage < 8 else self._rebuilt(agent.builder, tools)

    # Layers 8 to 13: what an agent is made of.

    def _rebuilt(self, builder: Any, tools: list[Any]) -> Any:
        """Layers 8 and 9: the same nodes and edges, in a graph of whose layer 9 is."""
        own = self.stage >= 9
        graph = self.world(9).StateGraph(_state(self.world(9).MessagesState))
        for name, node in builder.nodes.items():
            is_replaced = name == "tools" and self.stage >= 10
            action = self._tools_node(tools) if is_replaced else node.runnable
            graph.add_node(name, ours(action) if own else action)
        for start, end in builder.edges:
            graph.add_edge(start, end)
        for start, branches in builder.branches.items():
            for spec in branches.values():
                path = functools.partial(_path, spec) if own else _chosen(spec)
                graph.add_conditional_edges(start, path, spec.ends)
        return graph.compile()

    def _tools_node(self, tools: list[Any]) -> Any:
        """Layers 10 to 13: the errors, what is injected, the ToolNode, the wrappers around it."""
        cross = ours if self.stage >= 12 else real
        wraps = [one.wrap_tool_call for one in cross(self.hooks)]
        wrap = middleware._chain_tool_call_wrappers(wraps) if self.stage >= 13 else _nested(*wraps)
        if self.stage >= 12:
            return MINILC.ToolNode(ours(tools), wrap_tool_call=wrap)
        return LANGCHAIN.ToolNode(tools, wrap_tool_call=wrap, handle_tool_errors=_told)


def _crossing(function: Any) -> Any:
    """A function that knows minilc's objects, for who has LangChain's."""

    @functools.wraps(function)
    def run(**arguments: Any) -> Any:
        return real(function(**ours(arguments)))

    return run


class _Run(minilc.BaseTool):
    """Layer 3 alone: a tool that was given all the rest."""

    function: Any

    def _run(self, **arguments: Any) -> Any:
        return self.function(**arguments)


class _Binds(ScriptedChatModel):
    """Layer 6 alone: LangChain's model, with the tools in minilc's words."""

    def bind_tools(self, tools: Any, *, strict: Any = None, **kwargs: Any) -> Any:
        """Bind the tools as minilc formats them."""
        return self.bind(tools=[MINILC.convert_to_openai_tool(t) for t in ours(tools)], **kwargs)


def _path(spec: Any, state: Any) -> Any:
    """What LangChain's path chooses."""
    return ours(spec.path.invoke(real(state)))


def _chosen(spec: Any) -> Any:
    """Layer 8 alone: minilc makes destinations of what LangChain's path chooses."""
    path = branch.RunnableCallable(functools.partial(_path, spec))
    own = branch.BranchSpec(path, spec.ends)

    def chosen(state: Any) -> Any:
        return real(own._finish(own.path.invoke(ours(state), {})))

    return chosen


def _told(error: LANGCHAIN.ToolInvocationError) -> str:
    """Layer 10 alone: what minilc tells the model about an error of LangChain's ToolNode."""
    given = error.tool_name, error.source, error.tool_kwargs, error.filtered_errors
    own = MINILC.ToolInvocationError(*given)
    return tool_errors._handle_tool_error(own, flag=tool_errors._default_handle_tool_errors)


class _AsksForRuntime(bridge.RealTool):
    """Layer 11 alone: LangChain hands over the runtime, and minilc fills the arguments from it."""

    def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        """Inject, and run minilc's tool."""
        call = ours(input)
        runtime = call["args"].pop("runtime")
        injected = injection._get_all_injected_args(self.inner)
        call = injection._inject_tool_args(call, self.inner, injected, runtime, "messages")
        return super().invoke(call, config)


def _asks_for_runtime(tool: minilc.BaseTool) -> Any:
    shown: Any = tool.tool_call_schema
    schema = create_model(tool.name, __base__=shown, runtime=(LANGCHAIN.ToolRuntime, ...))
    told: dict[str, Any] = {"name": tool.name, "description": tool.description}
    return _AsksForRuntime(inner=tool, **told, args_schema=schema)


def _nested(outer: Any, inner: Any) -> Any:
    """Two wrappers as one, as LangChain composes them."""
    return lambda request, handler: outer(request, lambda changed: inner(changed, handler))


# --- the voyage -----------------------------------------------------------------------------------

STAGES = range(len(LAYERS) + 1)
MARK = {MINILC.name: "●", LANGCHAIN.name: "○"}


def sail(stages: Iterable[int] = STAGES) -> "Voyage":
    """Have the conversation at each stage, and compare it with that of stage 0."""
    first = _run(0)
    runs = {stage: _run(stage) if stage else first for stage in stages}
    return Voyage(
        runs,
        {n: first_difference(run.compared, first.compared) for n, run in runs.items()},
    )


def _run(stage: int) -> Outcome:
    return observe(lambda lc: Ship(stage).transcript(), MINILC)


@dataclass(frozen=True, repr=False)
class Voyage:
    """What came of the conversation at each stage; it shows itself as a table.

    Args:
        runs: the transcript of each stage, or its error.
        differences: the first place where it is not as at stage 0; None if there is none.
    """

    runs: dict[int, Outcome]
    differences: dict[int, Difference | None]

    @property
    def arrived(self) -> bool:
        """Whether every stage has the transcript of stage 0, and that is no error."""
        return not self.other and not self.runs.get(0, next(iter(self.runs.values()))).raised

    @property
    def other(self) -> list[int]:
        """The stages that have another transcript."""
        return [stage for stage, difference in self.differences.items() if difference]

    def _rows(self) -> list[tuple[str, list[str]]]:
        """Each plank with whose it is, stage by stage; last the transcripts."""
        rows = []
        for layer in LAYERS:
            whose = [MINILC if layer.number <= stage else LANGCHAIN for stage in self.runs]
            rows.append((f"{layer.number:>2} {layer.module}", [MARK[one.name] for one in whose]))
        signs = [SIGNS["DIFFERENT" if n in self.other else "EQUAL"] for n in self.runs]
        return [*rows, ("   transcript", signs)]

    @property
    def _said(self) -> list[str]:
        """Where the first stage with another transcript differs."""
        return [f"stage {n}, first at {self.differences[n]}" for n in self.other[:1]]

    def __repr__(self) -> str:
        head = f"{'stage':<20}" + "".join(f"{stage:>3}" for stage in self.runs)
        lines = [f"{name:<20}" + "".join(f"{c:>3}" for c in cells) for name, cells in self._rows()]
        return "\n".join([head, *lines, f"{KEY}.", *self._said])

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{stage}</th>' for stage in self.runs)
        rows = "".join(
            f'<tr><th scope="row" style="text-align:left">{name.strip()}</th>'
            f"{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
            for name, cells in self._rows()
        )
        said = "".join(f"<p>{escape(text)}</p>" for text in self._said)
        return (
            '<table style="border:1px solid currentColor">'
            f'<caption style="text-align:left;color:inherit;white-space:nowrap">{KEY}.</caption>'
            f'<thead><tr><th scope="col" style="text-align:left">stage</th>{head}</tr></thead>'
            f"<tbody>{rows}</tbody></table>{said}"
        )


KEY = (
    f"{MARK[MINILC.name]} minilc's, {MARK[LANGCHAIN.name]} LangChain's; "
    f"{SIGNS['EQUAL']} as at stage 0, {SIGNS['DIFFERENT']} not"
)
