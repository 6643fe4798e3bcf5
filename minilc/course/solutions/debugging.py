"""Solutions of the clinic, debugging."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from langchain.agents import AgentState, create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph, add_messages
from langgraph.prebuilt import InjectedState, ToolNode, tools_condition
from langgraph.types import interrupt
from typing_extensions import TypedDict


def debugging_1() -> Any:
    """A name that providers take, and a description that says when."""

    @tool
    def query_order(order_id: str) -> str:
        """Look an order up when the user asks about its status or payment."""
        return f"{order_id}: paid"

    return query_order


def debugging_2(model: Any, tools: list[Any]) -> Any:
    """What bind_tools returns is the model that knows the tools."""
    knowing = model.bind_tools(tools)

    def ask(state: Any) -> Any:
        return {"messages": [knowing.invoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", ask)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile()


def debugging_3() -> Any:
    """No name of LangChain's own, and every argument by name."""

    @tool
    def apply_settings(settings_file: str, options: dict[str, str]) -> str:
        """Apply a settings file to the device, with options that go before it."""
        return f"{settings_file} with {options}"

    return apply_settings


class Shop(AgentState):
    """A state that knows whose it is."""

    user_id: str


def debugging_4(model: Any) -> Any:
    """Who the user is comes out of the state, and the state has a place for it."""

    @tool
    def query_order(order_id: str, user_id: Annotated[str, InjectedState("user_id")]) -> str:
        """Query an order of the current user by its order id."""
        return f"{order_id} of {user_id}"

    return create_agent(model, [query_order], state_schema=Shop)


class Chat(TypedDict):
    """A state whose messages have another name."""

    chat_history: Annotated[list[Any], add_messages]


def debugging_5(model: Any, tools: list[Any]) -> Any:
    """The node is told the key, and the edge the node."""
    bound = model.bind_tools(tools)

    def ask(state: Any) -> Any:
        return {"chat_history": [bound.invoke(state["chat_history"])]}

    graph = StateGraph(Chat)
    graph.add_node("model", ask)
    graph.add_node("act", ToolNode(tools, messages_key="chat_history"))
    graph.add_edge(START, "model")
    route = partial(tools_condition, messages_key="chat_history")
    graph.add_conditional_edges("model", route, {"tools": "act", END: END})
    graph.add_edge("act", "model")
    return graph.compile()


def debugging_6(download: Callable[[str], str], adownload: Callable[[str], Any]) -> Any:
    """One tool with a function for each kind of run."""

    def fetch_page(url: str) -> str:
        """Fetch a web page by its url."""
        return download(url)

    async def afetch_page(url: str) -> str:
        return await adownload(url)

    return StructuredTool.from_function(fetch_page, afetch_page)


def debugging_7(messages: list[Any]) -> list[Any]:
    """Behind each AIMessage one answer for each of its calls, and no other answers."""
    healed: list[Any] = []
    for index, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            continue
        healed.append(message)
        behind: dict[Any, ToolMessage] = {}
        for other in messages[index + 1 :]:
            if not isinstance(other, ToolMessage):
                break
            behind[other.tool_call_id] = other
        for call in message.tool_calls if isinstance(message, AIMessage) else ():
            lost = ToolMessage("no result", tool_call_id=call["id"], status="error")
            healed.append(behind.get(call["id"], lost))
    return healed


def debugging_8(model: Any, pay: Callable[[str], str]) -> Any:
    """The question to the human stands outside of the try, and the run can be resumed."""

    @tool
    def create_refund(order_id: str) -> str:
        """Create a refund for an order, once a human has agreed."""
        if interrupt(f"refund {order_id}?") != "yes":
            return f"No refund for {order_id}: a human refused it."
        try:
            return pay(order_id)
        except Exception as error:
            return f"No refund for {order_id}: {error}"

    return create_agent(model, [create_refund], checkpointer=InMemorySaver())
