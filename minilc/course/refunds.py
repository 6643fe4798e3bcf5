"""The refund desk of notebook 16: a bank that counts, thirteen days, and what runs a day.

    desk(tool, *middleware)(DAYS["line lost"])    # "paid 1000, success"
    read(tool, amount=-1000)                      # what the model reads after such a call

The desk runs on the real library; `bank` says what was paid in the last run.
"""

# No `from __future__ import annotations`: with an args_schema, older versions of LangChain do not
# see a ToolRuntime that is written as text, and inject none.

import asyncio
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain.tools import ToolRuntime, tool
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import StructuredTool, ToolException
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from pydantic import BaseModel, Field

from minilc.course.draw import Drawing, sequence
from minilc.course.draw.sequences import PERSON, Say, says
from minilc.course.scripted import ScriptedChatModel

QUESTION: dict[str, Any] = {"messages": [("user", "The cup of order O1 came broken.")]}
ARGS: dict[str, Any] = {"user_id": "小明", "order_id": "O1", "amount": 1000, "reason": "broken"}


def call(name: str, args: dict[str, Any], id: str = "call_1") -> dict[str, Any]:
    """A call as LangChain writes it."""
    return {"name": name, "args": args, "id": id, "type": "tool_call"}


def chat(tool: Any, *middleware: Any, args: dict[str, Any] = ARGS, **options: Any) -> Any:
    """An agent whose model calls the tool once with these arguments, and then speaks."""
    model = ScriptedChatModel([AIMessage("", tool_calls=[call(tool.name, args)]), "好的。"])
    return create_agent(model, [tool], middleware=middleware, **options)


# --- orders and bank -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Order:
    """An order, with the names that article A uses; money is in fen."""

    user: str
    status: str
    remaining_refundable_amount: int


ORDERS = {
    "O1": Order("小明", "PAID", 3000),
    "O2": Order("小明", "CREATED", 3000),
    "O3": Order("小红", "PAID", 90000),
}


def load_order(order_id: str) -> Any:
    """Return the order, or None if there is none of this number."""
    return ORDERS.get(order_id)


class Bank:
    """Pays once for each key; what has no key is paid each time."""

    def __init__(self) -> None:
        self.open()

    def open(self, *troubles: str | Exception) -> None:
        """Begin a day: nothing is paid, and the next payments have these troubles."""
        self.paid: list[tuple[str, float]] = []
        self.receipts: dict[str | None, str] = {}
        self.tries = 0
        self.troubles = list(troubles)

    def pay(self, order_id: str, amount: float, key: str | None = None) -> str:
        """Pay, and return the receipt's number."""
        self.tries += 1
        trouble = self.troubles.pop(0) if self.troubles else None
        if isinstance(trouble, Exception):
            raise trouble
        if key is None or key not in self.receipts:
            self.paid.append((order_id, amount))
            self.receipts[key] = f"R{len(self.paid)}"
        if trouble == "line":  # the money is gone, and the answer is lost
            raise TimeoutError("no answer from the bank")
        return self.receipts[key]

    def total(self, order_id: str | None = None) -> float:
        """What was paid, for one order or for all."""
        return sum(amount for order, amount in self.paid if order_id in (None, order))


bank = Bank()


@tool
def run(user_id: str, order_id: str, amount: float) -> str:
    """Refund."""
    bank.pay(order_id, amount)
    return "success"


# --- the desk ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Context:
    """Who is asking."""

    user_id: str


THREAD: Any = {"configurable": {"thread_id": "1"}}
MING: dict[str, Any] = {"context": Context("小明")}


@dataclass(frozen=True)
class Day:
    """A day at the desk: what should come out, the troubles, the decision, the arguments."""

    right: str
    troubles: tuple[str | Exception, ...]
    decision: str
    args: dict[str, Any]


def day(right: str, *troubles: str | Exception, decision: str = "approve", **args: Any) -> Day:
    """A day with the usual arguments, but for those that are given."""
    return Day(right, troubles, decision, ARGS | args)


FAIR, REFUSED, DOWN = "paid 1000, success", "paid 0, error", ConnectionError("the bank is down")
DAYS = {
    "a fair refund": day(FAIR),
    "not a number": day(REFUSED, amount="ten"),
    "less than nothing": day(REFUSED, amount=-1000),
    "no such order": day(REFUSED, order_id="O9"),
    "never paid for": day(REFUSED, order_id="O2"),
    "more than was paid": day(REFUSED, amount=5000),
    "another's order": day(REFUSED, order_id="O3"),
    "the same, forged": day(REFUSED, order_id="O3", user_id="小红"),
    "bank down twice": day(FAIR, DOWN, DOWN),
    "bank down all day": day(REFUSED, *[DOWN] * 9),
    "line lost": day(FAIR, "line"),
    "line lost, whole sum": day("paid 3000, success", "line", amount=3000),
    "a person says no": day(REFUSED, decision="reject"),
}


def open_desk(tool: Any, *middleware: Any, args: dict[str, Any] = ARGS) -> Any:
    """An agent with a checkpointer, and the user in its context."""
    saver = InMemorySaver()
    return chat(tool, *middleware, args=args, context_schema=Context, checkpointer=saver)


def desk(tool: Any, *middleware: Any) -> Callable[[Day], str]:
    """What a day comes to: the sum that the bank paid, and the status that the model reads."""

    def outcome(day: Day) -> str:
        bank.open(*day.troubles)
        agent = open_desk(tool, *middleware, args=day.args)
        state = agent.invoke(QUESTION, THREAD, **MING)
        if "__interrupt__" in state:
            resume: Any = Command(resume={"decisions": [{"type": day.decision}]})
            state = agent.invoke(resume, THREAD, **MING)
        return f"paid {bank.total():g}, {state['messages'][2].status}"

    return outcome


def answered(tool: Any, *middleware: Any, **args: Any) -> Any:
    """The ToolMessage after a call with these arguments, on a day without trouble."""
    bank.open()
    agent = open_desk(tool, *middleware, args=ARGS | args)
    return agent.invoke(QUESTION, THREAD, **MING)["messages"][2]


def read(tool: Any, **args: Any) -> str:
    """What the model reads after a call with these arguments."""
    return str(answered(tool, **args).content)


# --- what a model has to choose by ---------------------------------------------------------------

HURRIED = {"run": "Refund.", "api": "Search.", "handler": "Query."}
NAMED = {"create_refund": "Refund.", "search_documents": "Search.", "query_order": "Query."}
DESCRIBED = {
    "create_refund": "Give money back when the user wants a refund: broken, wrong or late.",
    "search_documents": "Search the shop's rules when the user asks how long, how, or may I.",
    "query_order": "Query an order when the user asks where a parcel is, or what did they buy.",
}
ASKED = {
    "My cup came broken, give me money back": 0,
    "I want a refund": 0,
    "How long may I return things": 1,
    "Search the rules about pricing": 1,
    "Where is my parcel now": 2,
    "What did I buy, was my order paid": 2,
}


def offered(texts: dict[str, str]) -> list[Any]:
    """Tools with these names and descriptions."""
    return [
        StructuredTool.from_function(lambda order_id: "", name=name, description=text)
        for name, text in texts.items()
    ]


def sent(*tools: Any) -> list[dict[str, Any]]:
    """What the model is sent of the tools, in a request of a real agent."""
    model = ScriptedChatModel(["好的。"])
    agent: Any = create_agent(model, list(tools))
    agent.invoke(QUESTION)
    return [one["function"] for one in model.requests[0].tools or ()]


def words(text: str) -> set[str]:
    """The words of a text."""
    return set(re.findall("[a-z]+", text.lower()))


def chosen(tools: list[Any], asked: str) -> int | None:
    """The place of the tool that shares most words with the question; None is a guess."""
    known = [words(f"{one['name']} {one['description']}") for one in sent(*tools)]
    shared = [len(one & words(asked)) for one in known]
    return shared.index(max(shared)) if shared.count(max(shared)) == 1 else None


def found(texts: dict[str, str]) -> int:
    """How many of the questions find their tool."""
    tools = offered(texts)
    return sum(chosen(tools, asked) == place for asked, place in ASKED.items())


# --- the finished tool ---------------------------------------------------------------------------


class Refund(BaseModel):
    """The arguments of a refund."""

    order_id: str = Field(description="The order's number, such as O1")
    amount: int = Field(gt=0, description="How much to pay back, in fen: 1000 for 10 CNY")
    reason: str = Field(description="Why, in the user's words")


def refund_tool(function: Callable[..., str], arguments: type[BaseModel] = Refund) -> Any:
    """A tool that handles its ToolExceptions."""
    options: Any = {"args_schema": arguments, "description": DESCRIBED["create_refund"]}
    made = tool("create_refund", **options)(function)
    made.handle_tool_error = True
    return made


def left(order_id: str) -> float:
    """What of an order can still be paid back."""
    return float(load_order(order_id).remaining_refundable_amount) - bank.total(order_id)


def validate(order_id: str, amount: int, user: str | None = None) -> None:
    """Raise if this order cannot be refunded, or is not this user's."""
    order = load_order(order_id)
    if order is None or user not in (None, order.user):
        raise ToolException(f"Cannot refund: this customer has no order {order_id}.")
    if order.status != "PAID":
        raise ToolException(f"Cannot refund: order {order_id} is {order.status}, not PAID.")
    if amount > left(order_id):
        raise ToolException(f"Cannot refund {amount} fen: {left(order_id):g} fen are left.")


@refund_tool
def create_refund(order_id: str, amount: int, reason: str, runtime: ToolRuntime[Context]) -> str:
    """Pay once for a call, and say what was done."""
    key = runtime.tool_call_id
    if key not in bank.receipts:
        validate(order_id, amount, runtime.context.user_id)
        bank.pay(order_id, amount, key)
    done = f"Refund {bank.receipts[key]}: {amount} fen of order {order_id} are paid back."
    return f"{done} {left(order_id):g} fen can still be refunded."


# --- tools and middleware that go wrong ----------------------------------------------------------


def asks_late(keyed: bool) -> Any:
    """A tool that pays, and then asks a person whether to send a mail."""

    @refund_tool
    def create_refund(
        order_id: str, amount: int, reason: str, runtime: ToolRuntime[Context]
    ) -> str:
        bank.pay(order_id, amount, runtime.tool_call_id if keyed else None)
        return f"mail: {interrupt('Send a mail?')}"

    return create_refund


def waiting(bell: Event) -> Any:
    """A middleware that lets a call wait for the bell, longer than anybody has patience."""

    @wrap_tool_call
    def slow_bank(request: Any, handler: Any) -> Any:
        bell.wait(10)
        return handler(request)

    return slow_bank


def time_out(pool: ThreadPoolExecutor, text: str) -> Any:
    """A middleware that stops waiting, and answers with this text."""

    @wrap_tool_call
    def impatient(request: Any, handler: Any) -> Any:
        future = pool.submit(handler, request)
        try:
            return future.result(timeout=0.2)
        except TimeoutError:
            return ToolMessage(text, tool_call_id=request.tool_call["id"], status="error")

    return impatient


@tool("create_refund", args_schema=Refund, description=DESCRIBED["create_refund"])
async def awaited(order_id: str, amount: int, reason: str) -> str:
    """A tool that is slow, and awaits."""
    await asyncio.sleep(0.2)
    return bank.pay(order_id, amount)


# --- a person -------------------------------------------------------------------------------------


def decide(decision: dict[str, Any], *middleware: Any, **options: Any) -> Any:
    """Ask for a refund on a day without trouble, and resume with a person's decision."""
    bank.open()
    agent = open_desk(create_refund, *middleware)
    agent.invoke(QUESTION, THREAD, **MING)
    resume: Any = Command(resume={"decisions": [decision]})
    return agent.invoke(resume, THREAD, **(options or MING))


def edited(amount: int) -> dict[str, Any]:
    """The decision to pay another amount."""
    args = ARGS | {"amount": amount}
    return {"type": "edit", "edited_action": {"name": "create_refund", "args": args}}


def with_pause(messages: list[Any], wish: str, decision: str) -> Drawing:
    """The sequence of a run, with its pause where it was: before anything goes to the tools."""
    said = list(says(messages))
    place = next(number for number, one in enumerate(said) if one.target == "ToolNode")
    said[place:place] = [
        Say("graph", PERSON, f"pause: {wish}"),
        Say(PERSON, "graph", f"resume: {decision}", kind="answer"),
    ]
    return sequence(said, title="A refund, with a person before the money")
