"""Exercises of notebook 16, production: a refusal that helps, a key, and a retry."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from langchain.tools import ToolRuntime

from minilc.course.cases.support import asks, call, user
from minilc.course.exercises import Check, Exercise, Lesson, Option, Quiz, Wrong
from minilc.course.worlds import World

# --- production-1: refuse, and say what would be right --------------------------------------------

ORDERS: dict[str, dict[str, Any]] = {
    "O1": {"user": "小明", "status": "PAID", "left": 3000},
    "O2": {"user": "小明", "status": "CREATED", "left": 3000},
    "O3": {"user": "小红", "status": "PAID", "left": 90000},
    "O4": {"user": "小红", "status": "CREATED", "left": 10},
}


def _refused(order_id: str, user: str, amount: int, lc: World, refusal: Any) -> Any:
    return refusal(ORDERS, order_id, user, amount)


def _no_order(order_id: str) -> str:
    return f"Cannot refund: this customer has no order {order_id}."


def _paid_and_left(order: dict[str, Any], order_id: str, amount: int) -> str | None:
    if order["status"] != "PAID":
        return f"Cannot refund: order {order_id} is {order['status']}, not PAID."
    if amount > order["left"]:
        return f"Cannot refund {amount} fen: {order['left']} fen are left."
    return None


def _any_user(orders: Any, order_id: str, user: str, amount: int) -> str | None:
    if order_id not in orders:
        return _no_order(order_id)
    return _paid_and_left(orders[order_id], order_id, amount)


def _no_look(orders: Any, order_id: str, user: str, amount: int) -> str | None:
    order = orders[order_id]
    return _no_order(order_id) if order["user"] != user else _paid_and_left(order, order_id, amount)


def _tells_that_it_exists(orders: Any, order_id: str, user: str, amount: int) -> str | None:
    if order_id in orders and orders[order_id]["user"] != user:
        return f"Cannot refund: order {order_id} belongs to somebody else."
    return _any_user(orders, order_id, user, amount)


def _user_last(orders: Any, order_id: str, user: str, amount: int) -> str | None:
    refused = _any_user(orders, order_id, user, amount)
    if refused is None and orders[order_id]["user"] != user:
        return _no_order(order_id)
    return refused


def _not_all_of_it(orders: Any, order_id: str, user: str, amount: int) -> str | None:
    if order_id not in orders or orders[order_id]["user"] != user:
        return _no_order(order_id)
    return _paid_and_left(orders[order_id], order_id, amount + 1)


def _says_no_more(orders: Any, order_id: str, user: str, amount: int) -> str | None:
    if order_id not in orders or orders[order_id]["user"] != user:
        return _no_order(order_id)
    refused = _paid_and_left(orders[order_id], order_id, amount)
    return refused and "Cannot refund."


REFUSE = Exercise(
    id="production-1",
    title="Refuse, and say what would be right",
    minutes=10,
    difficulty="easy",
    task="""
        The second validation, for orders in a dict: `orders["O1"]` is
        `{"user": "小明", "status": "PAID", "left": 3000}`. Return None if this user may have
        `amount` fen back, else the text that the model reads:

        - `Cannot refund: this customer has no order O9.`
        - `Cannot refund: order O2 is CREATED, not PAID.`
        - `Cannot refund 5000 fen: 3000 fen are left.`

        A stranger must not learn which orders there are, nor in which state.
        """,
    stub='''
from typing import Any


def refusal(orders: dict[str, Any], order_id: str, user: str, amount: int) -> str | None:
    """Why this refund is refused, or None."""
    raise NotImplementedError
''',
    hints=(
        "In which order do you ask? What may somebody know who has no such order?",
        "An order that is not there and an order of somebody else are one case, with one text. "
        "It comes first.",
        "`orders.get(order_id)` is None for an order that is not there. All that is left may go "
        "back: compare with `>`.",
    ),
    checks=(
        Check(
            "a fair refund",
            partial(_refused, "O1", "小明", 1000),
            "nothing is wrong with this refund, and it must not be refused",
            None,
        ),
        Check(
            "all that is left",
            partial(_refused, "O1", "小明", 3000),
            "what is left may be paid back to the last fen",
            None,
        ),
        Check(
            "no such order",
            partial(_refused, "O9", "小明", 1000),
            "an order that does not exist is the model's mistake: it must read about it, and the "
            "run must not end",
            _no_order("O9"),
        ),
        Check(
            "an order never paid for",
            partial(_refused, "O2", "小明", 1000),
            "the text must say the order's status; *no* alone gives the model nothing to tell",
            "Cannot refund: order O2 is CREATED, not PAID.",
        ),
        Check(
            "more than is left",
            partial(_refused, "O1", "小明", 5000),
            "the text must say how much is left, or the model can only try again and again",
            "Cannot refund 5000 fen: 3000 fen are left.",
        ),
        Check(
            "the order of somebody else",
            partial(_refused, "O3", "小明", 1000),
            "another customer's order is paid back, or the text tells that it exists: it must read "
            "as if there were none",
            _no_order("O3"),
        ),
        Check(
            "the order of somebody else, never paid for",
            partial(_refused, "O4", "小明", 1000),
            "a stranger learns the state of another customer's order: ask first whose it is",
            _no_order("O4"),
        ),
    ),
    wrong_answers=(
        Wrong(_no_look, "the run must not end"),
        Wrong(_any_user, "as if there were none"),
        Wrong(_tells_that_it_exists, "as if there were none"),
        Wrong(_user_last, "ask first whose it is"),
        Wrong(_not_all_of_it, "to the last fen"),
        Wrong(_says_no_more, "the order's status"),
    ),
)


# --- production-2: the key ------------------------------------------------------------------------


def _paid(lc: World, key: Any, *threads: str, ids: tuple[str, ...] = ("call_1",)) -> list[int]:
    """What a bank pays for refunds in these threads; the line is lost after the first payment."""
    receipts: dict[Any, int] = {}
    lost: Iterator[bool] = iter([True])

    @lc.tool
    def create_refund(order_id: str, amount: int, runtime: ToolRuntime) -> str:
        """Refund."""
        made = key(runtime)
        receipts.setdefault(made, amount)
        if next(lost, False):
            raise TimeoutError("no answer from the bank")
        return "paid"

    @lc.wrap_tool_call
    def again(request: Any, handler: Any) -> Any:
        try:
            return handler(request)
        except TimeoutError:
            return handler(request)

    for thread in threads:
        rounds = [asks(lc, call("create_refund", {"order_id": "O1", "amount": 10}, i)) for i in ids]
        saver, model = lc.InMemorySaver(), lc.ScriptedChatModel([*rounds, "done"])
        agent = lc.create_agent(model, [create_refund], middleware=[again], checkpointer=saver)
        agent.invoke(user(), {"configurable": {"thread_id": thread}})
    return list(receipts.values())


def _resumed(lc: World, key: Any) -> list[int]:
    """What is paid if the tool pauses after the payment."""
    receipts: dict[Any, int] = {}

    @lc.tool
    def create_refund(order_id: str, amount: int, runtime: ToolRuntime) -> str:
        """Refund."""
        receipts.setdefault(key(runtime), amount)
        return str(lc.interrupt("a mail?"))

    asked = asks(lc, call("create_refund", {"order_id": "O1", "amount": 10}, "call_1"))
    model, saver = lc.ScriptedChatModel([asked, "done"]), lc.InMemorySaver()
    agent = lc.create_agent(model, [create_refund], checkpointer=saver)
    thread = {"configurable": {"thread_id": "monday"}}
    agent.invoke(user(), thread)
    agent.invoke(lc.Command(resume="yes"), thread)
    return list(receipts.values())


def _new_each_time(runtime: Any) -> str:
    return uuid.uuid4().hex


def _thread_alone(runtime: Any) -> str:
    return str(runtime.config["configurable"]["thread_id"])


def _of_the_order(runtime: Any) -> str:
    (asked,) = runtime.state["messages"][-1].tool_calls
    return f"{_thread_alone(runtime)}/{asked['args']}"


def _of_the_attempt(runtime: Any, seen: list[Any]) -> str:
    """A number that grows: a new one for each time the tool is run."""
    seen.append(runtime)
    return f"{_thread_alone(runtime)}/{runtime.tool_call_id}/{len(seen)}"


def _no_thread(runtime: Any) -> str:
    return f"{len(runtime.state['messages'])}/{runtime.tool_call_id}"


KEY = Exercise(
    id="production-2",
    title="Drill: a receipt, and no money",
    minutes=15,
    difficulty="medium",
    task="""
        Somebody reports: *on Monday the refund of our first customer was paid. The second one
        got a receipt with the same number, and no money.* The bank pays once for each key, and
        this function makes the key. The model's server counts its calls from one in every
        conversation. Mend it. A wish that is run again (a retry, a resumed node) must have the
        same key; another wish must have another, also if it asks for the same amount.
        """,
    stub='''
from typing import Any


def refund_key(runtime: Any) -> str:
    """The key for the bank, from a tool's `ToolRuntime`."""
    return runtime.tool_call_id
''',
    hints=(
        "What do the two customers' calls have in common, and what tells their runs apart?",
        "Each conversation is a thread of the checkpointer. Where in a `ToolRuntime` does the "
        "thread's name stand? Notebook 11, part 9, reads it.",
        'It is in `runtime.config["configurable"]`. The thread alone is not enough, as one '
        "customer may want two refunds; put both into one text.",
    ),
    checks=(
        Check(
            "the line is lost, and the tool tried again",
            lambda lc, key: _paid(lc, key, "monday"),
            "the same wish has two keys: a retry pays a second time",
            [10],
        ),
        Check(
            "a node that is run again",
            _resumed,
            "a resumed node has another key than before the pause: the refund is paid twice",
            [10],
        ),
        Check(
            "two conversations with the same id",
            lambda lc, key: _paid(lc, key, "monday", "tuesday"),
            "calls of two conversations have the same key: the second customer gets the first "
            "one's receipt, and no money",
            [10, 10],
        ),
        Check(
            "two refunds in one conversation",
            lambda lc, key: _paid(lc, key, "monday", ids=("call_1", "call_2")),
            "a second wish of the same customer has the first one's key, and is never paid",
            [10, 10],
        ),
    ),
    wrong_answers=(
        Wrong(_new_each_time, "a retry pays a second time"),
        Wrong(lambda runtime: _of_the_attempt(runtime, ATTEMPTS), "a retry pays a second time"),
        Wrong(_no_thread, "the first one's receipt"),
        Wrong(_thread_alone, "is never paid"),
        Wrong(_of_the_order, "is never paid"),
    ),
)
ATTEMPTS: list[Any] = []


# --- production-3: a retry that is worth it -------------------------------------------------------


def _tried(lc: World, worth_it: Any, most: int, *errors: Any) -> Any:
    """How often the tool runs, and what the model reads."""
    troubles, ran = list(errors), []

    @lc.tool
    def refund(order_id: str) -> str:
        """Refund."""
        ran.append(order_id)
        if troubles:
            raise troubles.pop(0)
        return "paid"

    refund.handle_tool_error = True
    middleware = [lc.wrap_tool_call(worth_it(most))]
    asked = asks(lc, call("refund", {"order_id": "O1"}, "call_1"))
    agent = lc.create_agent(lc.ScriptedChatModel([asked, "done"]), [refund], middleware=middleware)
    answer: Any = None
    try:
        (answer,) = (one for one in agent.invoke(user())["messages"] if one.type == "tool")
    except PermissionError as error:
        return len(ran), str(error)
    return len(ran), answer.tool_call_id, answer.status, answer.content


def _retry(
    request: Any, handler: Any, most: int, errors: Any, status: Any = "error", text: str = ""
) -> Any:
    from langchain_core.messages import ToolMessage

    for _ in range(most):
        try:
            return handler(request)
        except errors:
            continue
    text = text or "unknown after {} tries: look the order up before you ask again"
    call_id = request.tool_call["id"]
    return ToolMessage(text.format(most), tool_call_id=call_id, status=status)


def _everything(most: int) -> Callable[..., Any]:
    return lambda request, handler: _retry(request, handler, most, Exception)


def _one_more(most: int) -> Callable[..., Any]:
    return lambda request, handler: _retry(request, handler, most + 1, _WORTH)


def _succeeds(most: int) -> Callable[..., Any]:
    return lambda request, handler: _retry(request, handler, most, _WORTH, status="success")


def _says_failed(most: int) -> Callable[..., Any]:
    text = "failed after {} tries: please try again"
    return lambda request, handler: _retry(request, handler, most, _WORTH, text=text)


def _raises_at_last(most: int) -> Callable[..., Any]:
    def wrapper(request: Any, handler: Any) -> Any:
        for _ in range(most - 1):
            try:
                return handler(request)
            except _WORTH:
                continue
        return handler(request)

    return wrapper


def _again_on_status(most: int) -> Callable[..., Any]:
    def wrapper(request: Any, handler: Any) -> Any:
        for _ in range(most):
            answer = _retry(request, handler, most, _WORTH)
            if answer.status == "success":
                break
        return answer

    return wrapper


_WORTH = (ConnectionError, TimeoutError)

RETRY = Exercise(
    id="production-3",
    title="A retry that is worth it",
    minutes=10,
    difficulty="medium",
    task="""
        Write `worth_it(most)`. It returns a function for `wrap_tool_call` that runs the tool up
        to `most` times, as long as it raises a `ConnectionError` or a `TimeoutError`. All other
        errors pass; what comes back as an answer, an error or not, is an answer. After the last
        try the answer is a `ToolMessage` with the call's id, the status `error`, and
        `unknown after 3 tries: look the order up before you ask again`.
        """,
    stub='''
from collections.abc import Callable
from typing import Any

from langchain_core.messages import ToolMessage


def worth_it(most: int) -> Callable[[Any, Any], Any]:
    """A wrapper that tries a tool up to `most` times."""
    raise NotImplementedError
''',
    hints=(
        "Which errors may be gone the next time? Only those belong into the `except`.",
        "A loop over `range(most)`, and in it a `try` that returns what the handler returns.",
        "What stands behind the loop is reached only when every try has failed: that is the place "
        "of the ToolMessage.",
    ),
    checks=(
        Check(
            "twice no line",
            lambda lc, worth_it: _tried(lc, worth_it, 3, ConnectionError(), TimeoutError()),
            "the third try succeeds, and its answer is the one that counts",
            (3, "call_1", "success", "paid"),
        ),
        Check(
            "a closed account",
            lambda lc, worth_it: _tried(lc, worth_it, 3, *[PermissionError("closed")] * 5),
            "a closed account is closed at the next try, too: only errors that may be gone are "
            "worth one, and all others must pass",
            (1, "closed"),
        ),
        Check(
            "a refusal",
            lambda lc, worth_it: _tried(lc, worth_it, 3, *[lc.ToolException("not paid")] * 5),
            "the tool has answered *no*; to ask again is no retry, it is nagging",
            (1, "call_1", "error", "not paid"),
        ),
        Check(
            "never a line",
            lambda lc, worth_it: _tried(lc, worth_it, 3, *[TimeoutError()] * 9),
            "after so many tries, and not one more, the call is answered: with an error that says "
            "*unknown*. An exception ends the run, and *failed* makes the model ask again",
            (
                3,
                "call_1",
                "error",
                "unknown after 3 tries: look the order up before you ask again",
            ),
        ),
    ),
    wrong_answers=(
        Wrong(_everything, "all others must pass"),
        Wrong(_again_on_status, "it is nagging"),
        Wrong(_one_more, "not one more"),
        Wrong(_raises_at_last, "ends the run"),
        Wrong(_succeeds, "with an error"),
        Wrong(_says_failed, "makes the model ask again"),
    ),
)


LESSON = Lesson(
    exercises=(REFUSE, KEY, RETRY),
    quizzes=(
        Quiz(
            id="production-1",
            question="A tool pays, and then asks a person with `interrupt`. They say yes. Without "
            "a key, how often is paid?",
            options=(
                Option(
                    "twice",
                    "The node starts again from its beginning, and the payment stands before the "
                    "question.",
                    right=True,
                ),
                Option(
                    "once: the run goes on behind the `interrupt`",
                    "A checkpoint is taken between nodes, not between lines. The tool runs again "
                    "from its first line.",
                ),
                Option(
                    "once, if a checkpointer is there",
                    "Without one there is no resume at all. With one the whole node is run again.",
                ),
                Option(
                    "not at all before they say yes",
                    "The payment stands before the question, and has happened when it is asked.",
                ),
            ),
        ),
        Quiz(
            id="production-2",
            question="A clerk approves a refund, and their program resumes the run with the "
            "clerk's own context. Whose orders does the tool look up?",
            options=(
                Option(
                    "the customer's: the context was saved with the run",
                    "The state is saved. The context is handed over with each invoke.",
                ),
                Option(
                    "those of the user_id in the call",
                    "The tool does not read it; the model wrote it.",
                ),
                Option(
                    "the clerk's",
                    "A context belongs to one invoke. So keep the customer's beside the thread, "
                    "and hand it over when you resume.",
                    right=True,
                ),
            ),
        ),
    ),
)
