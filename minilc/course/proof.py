"""`minilc`: the articles' weather agent through every layer, in minilc and in real LangChain.

Each step is one layer, taken alone: something goes in, something comes out, and both worlds must
agree. Together they are the way of one question, 北京今天天气怎么样？, to its answer.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from minilc.course.layers import layer
from minilc.course.plain import Record
from minilc.course.terminal import console, progress, table
from minilc.course.twin import Twin, twin
from minilc.course.worlds import World

QUESTION = "北京今天天气怎么样？"
ANSWER = "北京今天晴，28C。"


def add_parser(subparsers: Any) -> None:
    """Add the command to minilc's command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "proof",
        help="take the weather agent through every layer in both worlds",
        description="Take the articles' weather agent through every layer, in minilc and in the "
        "installed LangChain, and show what went in, what came out, and whether it is equal.",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command; the result is the exit status."""
    screen = console()
    with progress(screen) as bar:
        task = bar.add_task("proving", total=len(STEPS))

        def step(done: Step) -> None:
            bar.update(task, advance=1, description=f"layer {done.layer}")

        results = prove(step)
    _print(results, screen)
    return 0 if all(proven(result) for _, result in results) else 1


@dataclass(frozen=True)
class Step:
    """One layer of the proof.

    Args:
        layer: its number.
        goes_in: what goes in, for the eye.
        run: makes what comes out, in a world.
        comes_out: what to show of that; all of it, if None.
    """

    layer: int
    goes_in: str
    run: Callable[[World], Any]
    comes_out: Callable[[Any], Any] | None = None


def prove(step: Callable[[Step], None] = lambda step: None) -> list[tuple[Step, Twin]]:
    """Judge every step; `step` is called after each."""
    results = []
    for taken in STEPS:
        title = f"layer {taken.layer}, {layer(taken.layer).module}"
        results.append((taken, twin(taken.run, title=title)))
        step(taken)
    return results


def proven(result: Twin) -> bool:
    """Whether both worlds agree, and on something: the same error twice proves nothing here."""
    return result.ok and not result.langchain.raised


def _print(results: list[tuple[Step, Twin]], screen: Any) -> None:
    from rich.text import Text

    wide = screen.width >= 100
    columns = ("what went in", "what came out") if wide else ("what went in -> what came out",)
    shown = table("layer", *columns, "", "seconds", numbers=1)
    for taken, result in results:
        row = layer(taken.layer)
        value = result.minilc.result
        out = value if taken.comes_out is None or result.minilc.raised else taken.comes_out(value)
        sides = [taken.goes_in, out if isinstance(out, str) else repr(out)]
        shown.add_row(
            f"{row.number:>2} {row.module}",
            *(map(Text, sides) if wide else [Text("\n-> ".join(sides))]),
            Text(result.verdict.lower(), style="green" if proven(result) else "bold red"),
            f"{result.minilc.seconds + result.langchain.seconds:.3f}",
        )
    screen.print(f"{QUESTION}  One question, in minilc and in LangChain, layer by layer")
    screen.print(shown)
    for _, result in results:
        if not proven(result):
            screen.print(result)
    equal = sum(proven(result) for _, result in results)
    style = "green" if equal == len(results) else "bold red"
    screen.print(f"{equal} of {len(results)} layers equal", style=style)


# The steps. Each makes all that it needs from `lc`, and says nothing about how it is done inside.


def get_weather(city: str) -> str:
    """Get current weather for a city."""
    return f"{city} is sunny, 28C"


def _call(city: str, id: str = "call_1") -> dict[str, Any]:
    return {"name": "get_weather", "args": {"city": city}, "id": id, "type": "tool_call"}


def _asking(lc: World, *calls: dict[str, Any]) -> Any:
    """The model's first answer: it asks for the weather."""
    return lc.AIMessage("", tool_calls=list(calls) or [_call("北京")])


def _messages(lc: World) -> Any:
    return lc.convert_to_messages([("user", QUESTION)])[0]


def _schema(lc: World) -> Any:
    return lc.create_schema_from_function("get_weather", get_weather).model_json_schema()


def _base(lc: World) -> Any:
    class GetWeather(lc.BaseTool):  # type: ignore[name-defined,misc]  # a class of either world
        name: str = "get_weather"
        description: str = "Get current weather for a city."

        def _run(self, city: str) -> str:
            return get_weather(city)

    return GetWeather().invoke(_call("北京"))


def _structured(lc: World) -> Any:
    return lc.StructuredTool.from_function(get_weather)


def _convert(lc: World) -> Any:
    return lc.tool("weather_search")(get_weather)


def _function_calling(lc: World) -> Any:
    return lc.convert_to_openai_tool(lc.tool(get_weather))


def _chat_models(lc: World) -> Any:
    model = lc.ScriptedChatModel([_asking(lc)])
    answer = model.bind_tools([lc.tool(get_weather)]).invoke(QUESTION)
    sent = model.requests[0]
    return {"sent": (sent.messages, sent.tools), "tool_calls": answer.tool_calls}


def _branch(lc: World) -> Any:
    def route(state: dict[str, Any]) -> Any:
        calls = state["messages"][-1].tool_calls
        return [lc.Send("tools", call) for call in calls] or lc.END

    received: list[Any] = []
    graph = lc.StateGraph(lc.MessagesState)
    graph.add_node("model", lambda state: {"messages": [_asking(lc)]})
    graph.add_node("tools", received.append)
    graph.add_edge(lc.START, "model")
    graph.add_conditional_edges("model", route, ["tools", lc.END])
    graph.compile().invoke({"messages": [QUESTION]})
    return {"tools": received}


def _state(lc: World) -> Any:
    def answer(state: dict[str, Any]) -> Any:
        (call,) = state["messages"][-1].tool_calls
        return {"messages": [lc.ToolMessage(get_weather(**call["args"]), tool_call_id=call["id"])]}

    graph = lc.StateGraph(lc.MessagesState)
    graph.add_node("model", lambda state: {"messages": [_asking(lc)]})
    graph.add_node("tools", answer)
    graph.add_edge(lc.START, "model")
    graph.add_edge("model", "tools")
    graph.add_edge("tools", lc.END)
    return list(graph.compile().stream({"messages": [QUESTION]}, stream_mode="values"))


def _in_a_graph(lc: World, node: Any, *calls: dict[str, Any], **state: Any) -> Any:
    """Run a tools node on the calls of a model's answer; a ToolNode needs a graph around it."""

    class State(lc.MessagesState):  # type: ignore[name-defined,misc]  # a class of either world
        user_id: str

    graph = lc.StateGraph(State)
    graph.add_node("tools", node)
    graph.add_edge(lc.START, "tools")
    graph.add_edge("tools", lc.END)
    asking = _asking(lc, *calls)
    return graph.compile().invoke({"messages": [asking], **state})["messages"][1:]


def _tool_errors(lc: World) -> Any:
    incomplete = {**_call("北京"), "args": {"town": "北京"}}
    return _in_a_graph(lc, lc.ToolNode([lc.tool(get_weather)]), incomplete)


def _injection(lc: World) -> Any:
    def get_weather(city: str, user_id: Annotated[str, lc.InjectedState("user_id")]) -> str:
        "Get current weather for a city."
        return f"{city} is sunny, 28C (asked by {user_id})"

    call = _call("北京")
    call["args"]["user_id"] = "forged"
    return _in_a_graph(lc, lc.ToolNode([get_weather]), call, user_id="u-42")


def _tool_node(lc: World) -> Any:
    calls = [_call("北京", "call_1"), _call("上海", "call_2")]
    return _in_a_graph(lc, lc.ToolNode([lc.tool(get_weather)]), *calls)


def _middleware(lc: World) -> Any:
    seen = []

    @lc.wrap_tool_call
    def watch(request: Any, handler: Callable[[Any], Any]) -> Any:
        seen.append(f"before {request.tool_call['name']}")
        answer = handler(request)
        seen.append(f"after: {answer.content}")
        return answer

    _agent(lc, middleware=[watch]).invoke({"messages": [("user", QUESTION)]})
    return seen


def _factory(lc: World) -> Any:
    return _agent(lc).invoke({"messages": [("user", QUESTION)]})["messages"]


def _agent(lc: World, **options: Any) -> Any:
    model = lc.ScriptedChatModel([_asking(lc), lc.AIMessage(ANSWER)])
    prompt = "你是一个会查询天气的助手。"
    return lc.create_agent(model, [lc.tool(get_weather)], system_prompt=prompt, **options)


def _content(messages: Any) -> Any:
    """The contents of some answers; one stands alone."""
    contents = [message.fields["content"] for message in messages]
    return contents[0] if len(contents) == 1 else contents


def _kinds(state: dict[str, Any]) -> str:
    """Whose messages a state holds."""
    return ", ".join(message.kind.removesuffix("Message") for message in state["messages"])


def _conversation(messages: list[Record]) -> str:
    """Who says what, in one line."""
    said = []
    for message in messages:
        calls = [f"{call['name']}({call['args']})" for call in message.fields.get("tool_calls", [])]
        content = message.fields["content"]
        said.append(f"{message.kind.removesuffix('Message')}: {content or ', '.join(calls)}")
    return " -> ".join(said)


CALL = "the call get_weather(city='北京')"

STEPS: tuple[Step, ...] = (
    Step(1, f"('user', '{QUESTION}')", _messages),
    Step(2, "def get_weather(city: str) -> str", _schema, lambda schema: schema["properties"]),
    Step(3, f"{CALL} for a BaseTool with _run", _base),
    Step(
        4,
        "StructuredTool.from_function(get_weather)",
        _structured,
        lambda tool: f"{tool.fields['name']}: {tool.fields['description']}",
    ),
    Step(
        5,
        "@tool('weather_search')",
        _convert,
        lambda tool: f"{tool.kind} {tool.fields['name']}: {tool.fields['description']}",
    ),
    Step(6, "the tool get_weather", _function_calling),
    Step(7, "the question, and the tool bound", _chat_models, lambda out: out["tool_calls"]),
    Step(8, "an answer with one tool call", _branch, lambda out: f"to tools: {out['tools']}"),
    Step(
        9,
        "model -> tools -> END",
        _state,
        lambda states: "state after each step: " + "; ".join(map(_kinds, states)),
    ),
    Step(10, "a call with 'town' instead of 'city'", _tool_errors, _content),
    Step(11, "a call with user_id='forged', a state with 'u-42'", _injection, _content),
    Step(12, "two calls: 北京, 上海", _tool_node, _content),
    Step(13, "wrap_tool_call around the call", _middleware),
    Step(14, "create_agent(model, [get_weather])", _factory, _conversation),
)

if __name__ == "__main__":
    sys.exit(run(argparse.Namespace()))
