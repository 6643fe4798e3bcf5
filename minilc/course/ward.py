"""The ward of notebook 15: article A's ten problems as patients, and what examines them.

ward = Ward()
ward.run(3, agent)    # runs it, prints the four answers on a line, returns the doctor's codes
ward.route()          # which of the four questions found which problem

visit(run)            # what stands at article A's six places to stop, in one run
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Annotated, Any, TypedDict

from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import START, StateGraph, add_messages
from langgraph.prebuilt import ToolNode, tools_condition
from pydantic import BaseModel, Field

from minilc.course.doctor import KINDS, QUESTIONS, diagnose
from minilc.course.draw import Drawing, dot, look, render
from minilc.course.scripted import ScriptedChatModel

QUESTION: dict[str, Any] = {"messages": [("user", "北京今天天气怎么样？")]}
SIGNS = {"healthy": "yes", "not seen": "-", "suspect": "no?", "broken": "NO"}


@tool
def get_weather(city: str) -> str:
    """Get current weather for a city."""
    return f"{city}: 晴"


def call(name: str, id: str = "call_1", **args: Any) -> dict[str, Any]:
    """A call as LangChain writes it."""
    return {"name": name, "args": args, "id": id, "type": "tool_call"}


def chat(script: list[Any], tools: list[Any], **options: Any) -> tuple[ScriptedChatModel, Any]:
    """A model that plays a script, and an agent with it; a list in the script is calls."""
    answers = [AIMessage("", tool_calls=one) if isinstance(one, list) else one for one in script]
    model = ScriptedChatModel(answers)
    return model, create_agent(model, tools, **options)


def said(agent: Any, question: Any = QUESTION) -> list[str]:
    """The texts of a run, after the question."""
    texts = [message.content for message in agent.invoke(question)["messages"]]
    return [text for text in texts if text][1:]


def names(tools: list[Any]) -> list[str]:
    """The names of tools, of calls, or of what was sent of a tool."""
    return [
        one.get("function", one)["name"] if isinstance(one, dict) else one.name for one in tools
    ]


# --- the patients -------------------------------------------------------------------------------


class SearchArgs(BaseModel):
    """What to search."""

    query: str = Field(description="a question in plain words")
    top_k: int = Field(default=5, ge=1, le=20, description="number of pages")


@tool(args_schema=SearchArgs)
def search_pages(query: str, top_k: int = 5) -> str:
    """Search product documents for pages that answer a question."""
    return f"{top_k} pages"


@tool(args_schema=SearchArgs)
def search_misfit(query: str, limit: int = 5) -> str:
    """Search product documents for pages that answer a question."""
    return f"{limit} pages"


@tool
def pay_bill(amount: int) -> str:
    """Pay a bill of an amount in CNY."""
    raise RuntimeError("the bank is closed")


@wrap_tool_call
def answer_errors(request: Any, handler: Any) -> Any:
    """An error that the model should hear of becomes the answer."""
    try:
        return handler(request)
    except RuntimeError as error:
        return ToolMessage(str(error), tool_call_id=request.tool_call["id"], status="error")


def cached(id: str | None = None) -> Any:
    """A middleware that answers from a cache, with an id; by default with the call's."""

    @wrap_tool_call
    def from_cache(request: Any, handler: Any) -> Any:
        return ToolMessage("北京: 晴", tool_call_id=id or request.tool_call["id"])

    return from_cache


class Chat(TypedDict):
    """A state whose messages are called otherwise."""

    chat_history: Annotated[list[Any], add_messages]


def by_hand(model: Any, tools: list[Any], **options: Any) -> Any:
    """The same agent, drawn by hand; the options are ToolNode's."""
    bound = model.bind_tools(tools)
    graph = StateGraph(Chat)
    graph.add_node("model", lambda state: {"chat_history": [bound.invoke(state["chat_history"])]})
    graph.add_node("tools", ToolNode(tools, **options))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", partial(tools_condition, messages_key="chat_history"))
    graph.add_edge("tools", "model")
    return graph.compile()


def shop(patience: float) -> list[Any]:
    """Two tools; the one that writes an order waits until somebody has read, or loses patience."""
    orders: dict[str, str] = {}
    was_read = threading.Event()

    @tool
    def create_order(order_id: str) -> str:
        """Create an order with an order id."""
        was_read.wait(patience)
        orders[order_id] = "paid"
        return f"{order_id} created"

    @tool
    def query_order(order_id: str) -> str:
        """Query an order by its order id."""
        status = orders.get(order_id, "not found")
        was_read.set()
        return f"{order_id}: {status}"

    return [create_order, query_order]


# --- who examines them --------------------------------------------------------------------------


class Ward:
    """The doctor's findings, each problem's on few lines; `found` keeps their codes."""

    def __init__(self) -> None:
        self.found: dict[int, list[str]] = {}

    def examine(self, problem: int, subject: Any, **options: Any) -> list[str]:
        """Diagnose something; print the four answers and the findings, and return the codes."""
        report = diagnose(subject, **options)
        print(*(f"{number} {SIGNS[report.status(number)]:<5}" for number in QUESTIONS if number))
        for one in report.findings:
            # An address in a repr differs from run to run.
            print(f"  {one.code}: {one.where}: {one.evidence.partition(' at 0x')[0]}")
        self.found.setdefault(problem, []).extend(report.codes)
        return report.codes

    def run(self, problem: int, agent: Any, question: Any = QUESTION) -> list[str]:
        """The same of a run of an agent."""
        return self.examine(problem, lambda: agent.invoke(question))

    def route(self) -> Drawing:
        """The four questions in their order, and what each one found."""
        made = dot.digraph(rankdir="LR", ranksep="0.5", nodesep="0.25")
        told = []
        for number in range(1, 5):
            found = [
                f"{problem}  {code}"
                for problem, codes in self.found.items()
                for code in codes
                if KINDS[code].question == number
            ]
            told.append(f"{number}. {QUESTIONS[number]} no: {', '.join(found)}")
            _box(made, f"q{number}", f"{number}. {QUESTIONS[number]}", "graph")
            _box(made, f"p{number}", "\n".join(found), "wrong")
            made.edge(f"q{number}", f"p{number}", label="  no  ", color=look.ROLES["wrong"].edge)
            if number > 1:
                made.edge(f"q{number - 1}", f"q{number}", label="  yes  ", constraint="false")
        return render(made, "The four questions as a route", "; ".join(told) + ".")


def _box(made: Any, name: str, label: str, role: str) -> None:
    colours = look.ROLES[role]
    # `\l` ends a line that stands at the left.
    text = (
        dot.text(label)
        if "\n" not in label
        else "".join(f"{dot.text(line)}\\l" for line in label.splitlines())
    )
    made.node(
        name, text, shape="box", style="rounded,filled", fillcolor=colours.fill, color=colours.edge
    )


# --- the six places to stop ---------------------------------------------------------------------


def noted(place: str, local: dict[str, Any], value: Any) -> Any:
    """What to look at, among a function's local variables and the value that it returns."""
    match place:
        case "from_function":
            return local["description_"]
        case "tool":
            return value.name, list(value.args)
        case "create_agent":
            return list(local["tool_node"].tools_by_name), names(local["default_tools"])
        case "bind_tools":
            return names(value.kwargs["tools"])
        case "model_to_tools":
            return names(local.get("pending_tool_calls", [])), type(value).__name__
        case "_execute_tool_sync":
            return value.status, value.tool_call_id, value.content


PLACES = "from_function tool create_agent bind_tools model_to_tools _execute_tool_sync".split()


def visit(run: Callable[[], Any], everywhere: bool = True) -> list[tuple[str, Any]]:
    """Run something, and note what stands at the six places each time one of them returns."""
    seen: list[tuple[str, Any]] = []

    def watch(frame: FrameType, event: str, value: Any) -> None:
        name = frame.f_code.co_name
        if event == "return" and name in PLACES:
            seen.append((name, noted(name, frame.f_locals, value)))

    before, before_there = sys.getprofile(), threading.getprofile()
    if everywhere:
        threading.setprofile(watch)  # of threads that begin from now on
    sys.setprofile(watch)
    try:
        run()
    finally:
        sys.setprofile(before)
        threading.setprofile(before_there)
    return seen
