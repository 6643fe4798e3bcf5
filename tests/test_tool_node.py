"""Layer 12: how ToolNode finds the calls, runs them, checks what comes back, and answers.

Without `from __future__ import annotations`, so that annotations may name a world's classes.
"""

import asyncio
import contextvars
import copy
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from minilc.course.behaviours import active
from minilc.course.worlds import LANGCHAIN, MINILC, World

Invoke = Callable[..., Any]
LONG = 10  # seconds that a thread waits for another one before the test fails
WHO: contextvars.ContextVar[str] = contextvars.ContextVar("who", default="nobody")


def call(name: str, id: Any = "call_1", **args: Any) -> dict[str, Any]:
    """A ToolCall."""
    return {"name": name, "args": args, "id": id, "type": "tool_call"}


def by_hand(lc: World, **fields: Any) -> dict[str, Any]:
    """What a graph puts into the config; `fields` are the config's own."""
    return {"configurable": {"__pregel_runtime": lc.Runtime()}, **fields}


def asking(lc: World, *calls: dict[str, Any]) -> list[Any]:
    """Messages of which the last asks for the calls."""
    return [lc.HumanMessage("hi"), lc.AIMessage("", tool_calls=list(calls))]


def weather(city: str) -> str:
    """Get the weather of a city."""
    return f"{city} is sunny"


def sunny(lc: World, city: str = "北京", id: str = "call_1") -> Any:
    """The answer of `weather`."""
    return lc.ToolMessage(f"{city} is sunny", name="weather", tool_call_id=id)


def giving(value: Callable[[], Any]) -> Callable[[], Any]:
    """A tool's function that returns `value()`."""

    def give() -> Any:
        """Give something."""
        return value()

    return give


def error_of(action: Callable[[], Any]) -> tuple[str, str]:
    """The type and the whole text of the error that the action ends in."""
    with pytest.raises(Exception) as failure:
        action()
    return type(failure.value).__name__, str(failure.value)


def new(lc: World, behaviour: str) -> bool:
    """Whether this world does the new thing: minilc always, LangChain since the row's release."""
    return lc is MINILC or active(behaviour)


# The registry


def test_tools_are_found_by_their_names(lc: World) -> None:
    renamed = lc.tool("forecast")(weather)
    node = lc.ToolNode([weather, renamed])
    assert list(node.tools_by_name) == ["weather", "forecast"]
    assert node.tools_by_name["forecast"] is renamed
    assert node.tools_by_name["weather"].description == "Get the weather of a city."
    assert node.name == "tools"
    assert lc.ToolNode([weather], name="sky").name == "sky"


def test_of_two_tools_with_one_name_the_last_counts(lc: World, invoke: Invoke) -> None:
    other = lc.tool("weather", description="Lie about the weather.")(lambda city: f"{city}: rain")
    node = lc.ToolNode([weather, other])
    [answer] = invoke(node, asking(lc, call("weather", city="北京")), by_hand(lc))
    assert answer.content == "北京: rain"


def test_what_cannot_be_a_tool_is_refused_at_once(lc: World) -> None:
    def silent(city: str) -> str:
        return city

    assert error_of(lambda: lc.ToolNode([silent])) == (
        "ValueError",
        "Function must have a docstring if description not provided.",
    )
    assert error_of(lambda: lc.ToolNode([{"type": "web_search"}])) == (
        "ValueError",
        "The first argument must be a string or a callable with a __name__ for tool decorator. "
        "Got <class 'dict'>",
    )
    kind, text = error_of(lambda: lc.ToolNode([weather], "sky"))
    assert kind == "TypeError"
    assert text.endswith("takes 2 positional arguments but 3 were given")


# The input


def test_a_state_is_answered_with_an_update_of_the_state(lc: World, invoke: Invoke) -> None:
    @dataclass
    class Data:
        messages: list

    class Model(BaseModel):
        messages: list

    messages = asking(lc, call("weather", city="北京"))
    for state in ({"messages": messages}, Data(messages), Model(messages=messages)):
        answer = invoke(lc.ToolNode([weather]), state, by_hand(lc))
        assert answer == {"messages": [sunny(lc)]}


def test_messages_alone_are_answered_with_messages_alone(lc: World, invoke: Invoke) -> None:
    messages = asking(lc, call("weather", city="北京"))
    assert invoke(lc.ToolNode([weather]), messages, by_hand(lc)) == [sunny(lc)]


def test_calls_alone_are_answered_with_an_update(lc: World, invoke: Invoke) -> None:
    calls = [call("weather", city="北京"), call("weather", "call_2", city="上海")]
    answer = invoke(lc.ToolNode([weather]), calls, by_hand(lc))
    assert answer == {"messages": [sunny(lc), sunny(lc, "上海", "call_2")]}


def test_a_call_may_bring_its_state_along(lc: World, invoke: Invoke) -> None:
    def who(user: Annotated[str, lc.InjectedState("user")]) -> str:
        """Say who it is."""
        return user

    payload = {"__type": "tool_call_with_context", "tool_call": call("who"), "state": {"user": "u"}}
    [answer] = invoke(lc.ToolNode([who]), payload, by_hand(lc))["messages"]
    assert answer.content == "u"


def test_calls_alone_have_no_state_if_no_graph_has_one(lc: World, invoke: Invoke) -> None:
    def look(state: Annotated[Any, lc.InjectedState]) -> str:
        """Look at the state."""
        return repr(state)

    if new(lc, "state-of-bare-calls"):
        [answer] = invoke(lc.ToolNode([look]), [call("look")], by_hand(lc))["messages"]
        assert answer.content == "{}"


def test_the_last_ai_message_counts_even_if_others_follow(lc: World, invoke: Invoke) -> None:
    earlier = lc.AIMessage("", tool_calls=[call("weather", city="上海")])
    messages = [earlier, *asking(lc, call("weather", city="北京")), sunny(lc), lc.HumanMessage("?")]
    # A call that has its answer is run again: what is pending is the graph's business.
    assert invoke(lc.ToolNode([weather]), messages, by_hand(lc)) == [sunny(lc)]


def test_no_calls_are_no_answers(lc: World, invoke: Invoke) -> None:
    node = lc.ToolNode([weather])
    assert invoke(node, {"messages": [lc.AIMessage("hi")]}, by_hand(lc)) == {"messages": []}
    assert invoke(node, [lc.AIMessage("hi")], by_hand(lc)) == []


@pytest.mark.parametrize(
    ("state", "error"),
    [
        ({}, ("ValueError", "No message found in input")),
        ({"messages": []}, ("ValueError", "No message found in input")),
        ({"chat": ["AI"]}, ("ValueError", "No message found in input")),
        ({"messages": ["human"]}, ("ValueError", "No AIMessage found in input")),
        (["human"], ("ValueError", "No AIMessage found in input")),
        ([], ("IndexError", "list index out of range")),
        (None, ("ValueError", "No message found in input")),
        (
            [{"name": "weather", "args": {}, "id": "1"}],
            ("ValueError", "No AIMessage found in input"),
        ),
    ],
    ids=["{}", "no messages", "other key", "no AIMessage", "human", "[]", "None", "untyped call"],
)
def test_an_input_without_calls_is_an_error(
    lc: World, invoke: Invoke, state: Any, error: tuple[str, str]
) -> None:
    made = {"human": lc.HumanMessage("hi"), "AI": lc.AIMessage("hi")}

    def filled(value: Any) -> Any:
        if isinstance(value, dict) and "name" not in value:
            return {key: filled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [made[item] if isinstance(item, str) else item for item in value]
        return value

    assert error_of(lambda: invoke(lc.ToolNode([weather]), filled(state), by_hand(lc))) == error


def test_messages_may_have_another_key(lc: World, invoke: Invoke) -> None:
    node = lc.ToolNode([weather], messages_key="chat")
    state = {"chat": asking(lc, call("weather", city="北京"))}
    assert invoke(node, state, by_hand(lc)) == {"chat": [sunny(lc)]}
    assert invoke(node, [call("weather", city="北京")], by_hand(lc)) == {"chat": [sunny(lc)]}


def test_the_input_stays_as_it_was(lc: World, invoke: Invoke) -> None:
    def careless(xs: list, state: Annotated[dict, lc.InjectedState]) -> list:
        """Change what it gets."""
        xs.append(3)
        return xs

    state = {"messages": asking(lc, call("careless", xs=[1, 2]))}
    [answer] = invoke(lc.ToolNode([careless]), state, by_hand(lc))["messages"]
    assert answer.content == "[1, 2, 3]"
    assert state == {"messages": asking(lc, call("careless", xs=[1, 2]))}


# The runtime


def test_without_a_graph_there_is_no_runtime(lc: World, invoke: Invoke) -> None:
    state = {"messages": asking(lc, call("weather", city="北京"))}
    for config in (None, {}, {"configurable": {}}):
        assert error_of(lambda c=config: invoke(lc.ToolNode([weather], name="sky"), state, c)) == (
            "ValueError",
            "Missing required config key 'N/A' for 'sky'.",
        )


# Many calls


def test_calls_run_at_the_same_time_and_are_answered_in_their_order(
    lc: World, invoke: Invoke
) -> None:
    second_is_done = threading.Event()
    finished = []

    def slow(x: int) -> int:
        """Wait for the other one."""
        assert second_is_done.wait(LONG)
        finished.append("slow")
        return x

    def quick(x: int) -> int:
        """Do not wait."""
        finished.append("quick")
        second_is_done.set()
        return x

    calls = [call("slow", "call_1", x=1), call("quick", "call_2", x=2)]
    answers = invoke(lc.ToolNode([slow, quick]), asking(lc, *calls), by_hand(lc))
    assert finished == ["quick", "slow"]
    assert [(answer.tool_call_id, answer.content) for answer in answers] == [
        ("call_1", "1"),
        ("call_2", "2"),
    ]


def test_async_calls_wait_for_one_another(lc: World) -> None:
    event = asyncio.Event()

    @lc.tool
    async def slow(x: int) -> int:
        """Wait for the other one."""
        await asyncio.wait_for(event.wait(), LONG)
        return x

    @lc.tool
    async def quick(x: int) -> int:
        """Do not wait."""
        event.set()
        return x

    calls = [call("slow", "call_1", x=1), call("quick", "call_2", x=2)]
    answers = asyncio.run(lc.ToolNode([slow, quick]).ainvoke(asking(lc, *calls), by_hand(lc)))
    assert [answer.content for answer in answers] == ["1", "2"]


def test_an_async_tool_cannot_be_run_in_sync(lc: World) -> None:
    @lc.tool
    async def fetch() -> str:
        """Fetch a page."""
        return "page"

    node = lc.ToolNode([fetch])
    assert error_of(lambda: node.invoke(asking(lc, call("fetch")), by_hand(lc))) == (
        "NotImplementedError",
        "StructuredTool does not support sync invocation.",
    )


def test_more_calls_run_at_once_than_the_machine_has_cores() -> None:
    # The row "no-thread-ceiling": upstream has cores + 4 threads, 32 at most: it would hang here.
    barrier = threading.Barrier(100)

    def meet(x: int) -> int:
        """Wait for everybody."""
        barrier.wait(LONG)
        return x

    node = MINILC.ToolNode([meet])
    calls = [call("meet", f"call_{x}", x=x) for x in range(100)]
    for _ in range(2):
        answers = node.invoke(asking(MINILC, *calls), by_hand(MINILC))
        assert [answer.content for answer in answers] == [str(x) for x in range(100)]


def test_runs_of_one_node_at_the_same_time_do_not_take_each_others_threads() -> None:
    barrier = threading.Barrier(20)
    answers: dict[int, Any] = {}

    def meet(x: int) -> int:
        """Wait for everybody, of both runs."""
        barrier.wait(LONG)
        return x

    node = MINILC.ToolNode([meet])

    def run(offset: int) -> None:
        calls = [call("meet", f"call_{x}", x=x) for x in range(offset, offset + 5)]
        answers[offset] = node.invoke(asking(MINILC, *calls), by_hand(MINILC))

    threads = [threading.Thread(target=run, args=(offset,)) for offset in (0, 100, 200, 300)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert {
        offset: [message.content for message in messages] for offset, messages in answers.items()
    } == {offset: [str(offset + x) for x in range(5)] for offset in (0, 100, 200, 300)}


def test_a_tool_may_run_the_node_that_runs_it(lc: World) -> None:
    def count(x: int, runtime: lc.ToolRuntime[None, list]) -> int:
        """Count down, twice at each step."""
        if x == 0:
            return 1
        calls = [call("count", f"call_{n}", x=x - 1) for n in range(2)]
        # A config that is given as it is: the runtime of the graph is in it.
        answers = node.invoke(asking(lc, *calls), runtime.config)
        return sum(int(answer.content) for answer in answers)

    node = lc.ToolNode([count])
    [answer] = node.invoke(asking(lc, call("count", x=2)), by_hand(lc))
    assert answer.content == "4"


@pytest.mark.parametrize("limit", [1, 2])
def test_max_concurrency_limits_how_many_run_at_once(lc: World, limit: int) -> None:
    lock = threading.Lock()
    running: list[int] = []
    most = []

    def work(x: int) -> int:
        """Take a moment."""
        with lock:
            running.append(x)
            most.append(len(running))
        threading.Event().wait(0.01)
        with lock:
            running.remove(x)
        return x

    calls = [call("work", f"call_{x}", x=x) for x in range(6)]
    answers = lc.ToolNode([work]).invoke(asking(lc, *calls), by_hand(lc, max_concurrency=limit))
    assert max(most) == limit
    assert [answer.content for answer in answers] == [str(x) for x in range(6)]


def test_calls_that_wait_when_one_fails(lc: World) -> None:
    """Row "after-a-failure": upstream does not start them, minilc runs them all."""
    ran = []

    def work(x: int) -> int:
        """Fail at the first."""
        ran.append(x)
        threading.Event().wait(0.01)
        return 1 // x

    calls = [call("work", f"call_{x}", x=x) for x in range(20)]
    with pytest.raises(ZeroDivisionError):
        lc.ToolNode([work]).invoke(asking(lc, *calls), by_hand(lc, max_concurrency=1))
    assert ran == list(range(20)) if lc.name == "minilc" else len(ran) < 20


def test_a_single_call_runs_on_the_callers_thread_in_minilc_alone() -> None:
    # The row "single-call-thread".
    def thread_of_a_call(lc: World) -> str:
        def where() -> str:
            """Name the thread."""
            return str(threading.get_ident())

        return lc.ToolNode([where]).invoke(asking(lc, call("where")), by_hand(lc))[0].content

    assert thread_of_a_call(MINILC) == str(threading.get_ident())
    assert thread_of_a_call(LANGCHAIN) != str(threading.get_ident())


def test_a_node_with_its_threads_cannot_be_copied_deeply_in_minilc() -> None:
    # The row "deep-copied-node".
    assert copy.deepcopy(LANGCHAIN.ToolNode([weather])).name == "tools"
    assert error_of(lambda: copy.deepcopy(MINILC.ToolNode([weather])))[0] == "TypeError"


@pytest.mark.parametrize("calls", [1, 3])
def test_each_call_has_a_copy_of_the_callers_context(lc: World, invoke: Invoke, calls: int) -> None:
    def who(x: int) -> str:
        """Say who calls, and change it."""
        before = WHO.get()
        WHO.set(f"tool {x}")
        return before

    token = WHO.set("caller")
    try:
        requested = [call("who", f"call_{x}", x=x) for x in range(calls)]
        answers = invoke(lc.ToolNode([who]), asking(lc, *requested), by_hand(lc))
        assert [answer.content for answer in answers] == ["caller"] * calls
        assert WHO.get() == "caller"
    finally:
        WHO.reset(token)


@pytest.mark.parametrize("calls", [1, 3])
def test_an_awaited_call_leaves_the_callers_context_alone(lc: World, calls: int) -> None:
    async def who(x: int) -> str:
        """Say who calls, and change it."""
        before = WHO.get()
        WHO.set(f"tool {x}")
        return before

    async def ask() -> Any:
        requested = [call("who", f"call_{x}", x=x) for x in range(calls)]
        WHO.set("caller")
        answers = await lc.ToolNode([who]).ainvoke(asking(lc, *requested), by_hand(lc))
        return [answer.content for answer in answers], WHO.get()

    assert asyncio.run(ask()) == (["caller"] * calls, "caller")


def test_of_several_errors_the_first_call_s_is_raised(lc: World) -> None:
    second_failed = threading.Event()

    def fail(x: int) -> int:
        """Fail, the first after the second."""
        if x == 1:
            second_failed.wait(LONG)
        else:
            second_failed.set()
        raise ValueError(f"call {x}")

    calls = [call("fail", f"call_{x}", x=x) for x in (1, 2)]
    node = lc.ToolNode([fail])
    assert error_of(lambda: node.invoke(asking(lc, *calls), by_hand(lc))) == (
        "ValueError",
        "call 1",
    )


def test_a_call_that_fails_leaves_the_others_to_end(lc: World) -> None:
    ended = []
    failed = threading.Event()

    def fail() -> str:
        """Fail."""
        failed.set()
        raise ValueError("failed")

    def work() -> str:
        """Go on after the other has failed."""
        assert failed.wait(LONG)
        ended.append("work")
        return "done"

    node = lc.ToolNode([fail, work])
    calls = [call("work"), call("fail", "call_2")]
    assert error_of(lambda: node.invoke(asking(lc, *calls), by_hand(lc))) == (
        "ValueError",
        "failed",
    )
    assert ended == ["work"]


# The wrapper


def test_a_wrapper_sees_each_call_and_what_belongs_to_it(lc: World, invoke: Invoke) -> None:
    seen = []

    def watch(request: Any, execute: Any) -> Any:
        seen.append(request)
        return execute(request)

    node = lc.ToolNode([weather], wrap_tool_call=watch)
    state = {"messages": asking(lc, call("weather", city="北京"), call("sky", "call_2"))}
    answer = invoke(node, state, by_hand(lc))
    unknown = "Error: sky is not a valid tool, try one of [weather]."
    assert answer["messages"] == [
        sunny(lc),
        lc.ToolMessage(unknown, name="sky", tool_call_id="call_2", status="error"),
    ]
    first, second = sorted(seen, key=lambda request: request.tool_call["id"])
    assert first.tool_call == call("weather", city="北京")
    assert (first.tool, second.tool) == (node.tools_by_name["weather"], None)
    assert first.state is first.runtime.state is state
    assert first.runtime.tool_call_id == "call_1"


def test_a_wrapper_may_change_the_call_repeat_it_or_answer_itself(
    lc: World, invoke: Invoke
) -> None:
    def change(request: Any, execute: Any) -> Any:
        changed = {**request.tool_call, "args": {"city": "上海"}}
        return execute(request.override(tool_call=changed))

    def repeat(request: Any, execute: Any) -> Any:
        execute(request)
        return execute(request)

    def answer(request: Any, execute: Any) -> Any:
        return lc.ToolMessage("from the cache", tool_call_id=request.tool_call["id"])

    runs = []

    @lc.tool("weather")
    def counted(city: str) -> str:
        """Get the weather, and count."""
        runs.append(city)
        return f"{city} is sunny"

    for wrapper, content, cities in (
        (change, "上海 is sunny", ["上海"]),
        (repeat, "北京 is sunny", ["北京", "北京"]),
        (answer, "from the cache", []),
    ):
        runs.clear()
        node = lc.ToolNode([counted], wrap_tool_call=wrapper)
        [message] = invoke(node, asking(lc, call("weather", city="北京")), by_hand(lc))
        assert (message.content, runs) == (content, cities)


def test_what_a_wrapper_returns_is_not_checked(lc: World, invoke: Invoke) -> None:
    for value in ("text", None):
        node = lc.ToolNode([weather], wrap_tool_call=lambda request, execute, v=value: v)
        assert invoke(node, asking(lc, call("weather", city="北京")), by_hand(lc)) == [value]


def test_a_wrapper_for_async_runs_is_used_by_them_alone(lc: World) -> None:
    def wrap(request: Any, execute: Any) -> Any:
        return lc.ToolMessage("sync", tool_call_id="call_1")

    async def awrap(request: Any, execute: Any) -> Any:
        message = await execute(request)
        return message.model_copy(update={"content": f"async {message.content}"})

    messages = asking(lc, call("weather", city="北京"))

    def answers(**wrappers: Any) -> tuple[str, str]:
        node = lc.ToolNode([weather], **wrappers)
        [first] = node.invoke(messages, by_hand(lc))
        [second] = asyncio.run(node.ainvoke(messages, by_hand(lc)))
        return first.content, second.content

    assert answers(wrap_tool_call=wrap, awrap_tool_call=awrap) == ("sync", "async 北京 is sunny")
    assert answers(awrap_tool_call=awrap) == ("北京 is sunny", "async 北京 is sunny")
    assert answers(wrap_tool_call=wrap) == ("sync", "sync")


def test_a_request_is_copied_not_changed(lc: World) -> None:
    request = lc.ToolCallRequest(tool_call=call("weather"), tool=None, state={"a": 1}, runtime=None)
    other = request.override(tool_call=call("sky"))
    assert (request.tool_call["name"], other.tool_call["name"]) == ("weather", "sky")
    assert (other.tool, other.state, other.runtime) == (None, {"a": 1}, None)
    kind, text = error_of(lambda: request.override(colour="red"))
    assert kind == "TypeError"
    assert text.endswith("__init__() got an unexpected keyword argument 'colour'")


def test_assigning_to_a_request_warns_upstream_alone() -> None:
    # The row "request-assignment".
    def request(lc: World) -> Any:
        return lc.ToolCallRequest(tool_call=call("weather"), tool=None, state={}, runtime=None)

    ours, theirs = request(MINILC), request(LANGCHAIN)
    ours.state = {"a": 1}
    with pytest.warns(DeprecationWarning, match="^Setting attribute 'state' on ToolCallRequest is"):
        theirs.state = {"a": 1}
    assert ours.state == theirs.state == {"a": 1}


# What a tool may return


def test_the_content_of_an_answer_is_text_or_blocks(lc: World, invoke: Invoke) -> None:
    block = {"type": "text", "text": "晴"}
    for value, content in (
        ("晴", "晴"),
        ({"天气": "晴"}, '{"天气": "晴"}'),
        (None, "null"),
        ([block], [block]),
        (["a", "b"], '["a", "b"]'),
    ):
        node = lc.ToolNode([giving(lambda v=value: v)])
        [answer] = invoke(node, asking(lc, call("give")), by_hand(lc))
        assert answer == lc.ToolMessage(content, name="give", tool_call_id="call_1")


def test_a_tool_may_make_its_answer_itself(lc: World, invoke: Invoke) -> None:
    made = lc.ToolMessage(["a", "b"], tool_call_id="call_1", artifact=28)
    node = lc.ToolNode([giving(lambda: made.model_copy())])
    [answer] = invoke(node, asking(lc, call("give")), by_hand(lc))
    assert answer == lc.ToolMessage('["a", "b"]', tool_call_id="call_1", artifact=28)


def test_a_message_that_a_tool_keeps_stays_as_it_is_in_minilc_alone(invoke: Invoke) -> None:
    # The row "kept-message".
    def content_of_the_kept(lc: World) -> Any:
        kept = lc.ToolMessage(["a", "b"], tool_call_id="call_1")
        invoke(lc.ToolNode([giving(lambda: kept)]), asking(lc, call("give")), by_hand(lc))
        return kept.content

    assert content_of_the_kept(MINILC) == ["a", "b"]
    assert content_of_the_kept(LANGCHAIN) == '["a", "b"]'


def test_a_call_without_an_id_cannot_be_answered(lc: World, invoke: Invoke) -> None:
    messages = asking(lc, call("weather", None, city="北京"))
    node = lc.ToolNode([weather])
    assert error_of(lambda: invoke(node, messages, by_hand(lc))) == (
        "TypeError",
        "Tool weather returned unexpected type: <class 'str'>",
    )


def test_a_list_of_answers_needs_exactly_one_for_the_call(lc: World, invoke: Invoke) -> None:
    if not new(lc, "list-of-answers"):
        return

    def message(id: str) -> Any:
        return lc.ToolMessage(["x"], tool_call_id=id)

    def answer(*items: Any, **options: Any) -> Any:
        node = lc.ToolNode([giving(lambda: list(items))], **options)
        return invoke(node, {"messages": asking(lc, call("give"))}, by_hand(lc))

    text = '["x"]'
    assert answer(message("call_1"), message("other")) == {
        "messages": [
            lc.ToolMessage(text, tool_call_id="call_1"),
            lc.ToolMessage(text, tool_call_id="other"),
        ]
    }
    nested = lc.Command(update={"messages": [lc.ToolMessage("in", tool_call_id="call_1")]})
    named = lc.Command(
        update={"messages": [lc.ToolMessage("in", name="give", tool_call_id="call_1")]}
    )
    plain = lc.Command(update={"mood": "sunny"})
    assert answer(nested, plain) == [named, plain]
    for items, count in (
        ((message("other"),), 0),
        ((message("call_1"), message("call_1")), 2),
        ((message("call_1"), nested), 2),
        ((plain, plain), 0),
    ):
        error = (
            "ValueError",
            f"Tool give returned a list with {count} messages bound to tool_call_id 'call_1'; "
            "expected exactly one terminating ToolMessage.",
        )
        assert error_of(lambda i=items: answer(*i)) == error
        [refused] = answer(*items, handle_tool_errors=True)["messages"]
        assert refused.status == "error"


# Commands


def commanding(lc: World, invoke: Invoke, command: Any, *, form: str = "dict") -> Any:
    """What a ToolNode makes of a tool that returns the command."""
    node = lc.ToolNode([giving(lambda: command)])
    messages = asking(lc, call("give"))
    state = {"dict": {"messages": messages}, "list": messages, "calls": [call("give")]}[form]
    return invoke(node, state, by_hand(lc))


def test_a_command_passes_with_the_answer_that_it_carries(lc: World, invoke: Invoke) -> None:
    def command(name: str | None, messages: Any = None) -> Any:
        answer = lc.ToolMessage("moved", name=name, tool_call_id="call_1")
        return lc.Command(update={"messages": [answer], "city": "北京"}, goto="sky")

    given = command(None)
    for form in ("dict", "calls"):
        assert commanding(lc, invoke, given, form=form) == [command("give")]
    # The tool's own command stays as it was.
    assert given == command(None)


def test_a_command_for_a_list_has_a_list(lc: World, invoke: Invoke) -> None:
    command = lc.Command(update=[lc.ToolMessage("moved", tool_call_id="call_1")], goto="sky")
    named = lc.Command(
        update=[lc.ToolMessage("moved", name="give", tool_call_id="call_1")], goto="sky"
    )
    assert commanding(lc, invoke, command, form="list") == [named]


def test_a_command_without_messages_to_check_passes(lc: World, invoke: Invoke) -> None:
    for command in (lc.Command(goto="sky"), lc.Command(update=(("city", "北京"),))):
        assert commanding(lc, invoke, command) == [command]


def test_a_command_without_messages_need_not_be_copied(lc: World, invoke: Invoke) -> None:
    command = lc.Command(goto=[lc.Send("sky", threading.Lock())])
    assert commanding(lc, invoke, command) == [command]


def test_a_command_may_have_its_messages_in_a_tuple(lc: World, invoke: Invoke) -> None:
    def moved(name: str | None) -> Any:
        message = lc.ToolMessage("moved", name=name, tool_call_id="call_1")
        return lc.Command(update={"messages": (message,)})

    assert commanding(lc, invoke, moved(None)) == [moved("give")]


def test_a_command_that_removes_all_messages_needs_an_answer_in_minilc_alone(
    invoke: Invoke,
) -> None:
    # The row "removing-command".
    def removing(lc: World) -> Any:
        return lc.Command(update={"messages": [lc.RemoveMessage(id=lc.REMOVE_ALL_MESSAGES)]})

    assert commanding(LANGCHAIN, invoke, removing(LANGCHAIN)) == [removing(LANGCHAIN)]
    kind, text = error_of(lambda: commanding(MINILC, invoke, removing(MINILC)))
    assert kind == "ValueError"
    assert text.startswith("Expected to have a matching ToolMessage in Command.update for tool ")


def test_a_command_for_the_parent_needs_no_answer(lc: World, invoke: Invoke) -> None:
    command = lc.Command(graph=lc.Command.PARENT, update={"city": "北京"}, goto="sky")
    assert commanding(lc, invoke, command) == [command]


def test_messages_in_a_command_may_be_dicts(lc: World, invoke: Invoke) -> None:
    message = {"role": "tool", "content": "moved", "tool_call_id": "call_1"}
    command = lc.Command(update={"messages": [message]})
    assert commanding(lc, invoke, command) == [command]


@pytest.mark.parametrize(
    ("form", "example"),
    [
        ("dict", '{"messages": [ToolMessage("Success", tool_call_id=tool_call_id), ...]}'),
        ("list", '[ToolMessage("Success", tool_call_id=tool_call_id), ...]'),
    ],
)
def test_a_command_that_leaves_the_call_unanswered_is_an_error(
    lc: World, invoke: Invoke, form: str, example: str
) -> None:
    for messages in ([], [lc.HumanMessage("hi")], [lc.ToolMessage("x", tool_call_id="other")]):
        update = messages if form == "list" else {"messages": messages}
        command = lc.Command(update=update)
        assert error_of(lambda c=command: commanding(lc, invoke, c, form=form)) == (
            "ValueError",
            "Expected to have a matching ToolMessage in Command.update for tool 'give', "
            f"got: {messages}. Every tool call (LLM requesting to call a tool) in the message "
            "history MUST have a corresponding ToolMessage. You can fix it by modifying the tool "
            f"to return `Command(update={example}, ...)`.",
        )


def test_the_example_in_that_error_fits_calls_alone_in_minilc_alone(invoke: Invoke) -> None:
    # The row "answer-example".
    def example(lc: World) -> str:
        update = lc.Command(update={"messages": []})
        _, text = error_of(lambda: commanding(lc, invoke, update, form="calls"))
        return text.split("to return ")[1]

    answers = '[ToolMessage("Success", tool_call_id=tool_call_id), ...]'
    assert example(MINILC) == f'`Command(update={{"messages": {answers}}}, ...)`.'
    assert example(LANGCHAIN) == f"`Command(update={answers}, ...)`."


def test_a_command_in_the_other_form_is_an_error_upstream_alone(invoke: Invoke) -> None:
    # The row "command-form".
    answer = MINILC.ToolMessage("x", tool_call_id="call_1")
    for value, form in (({"messages": [answer]}, "list"), ([answer], "dict"), ([answer], "calls")):
        [passed] = commanding(MINILC, invoke, MINILC.Command(update=value), form=form)
        assert type(passed.update) is type(value)
    lc, update = LANGCHAIN, {"city": "北京"}
    command = lc.Command(update=update)
    assert error_of(lambda: commanding(lc, invoke, command, form="list")) == (
        "ValueError",
        "Tools can provide a dict in Command.update only when using dict with 'messages' key as "
        "ToolNode input, got: {'city': '北京'} for tool 'give'",
    )
    update = [lc.ToolMessage("x", tool_call_id="call_1")]
    command = lc.Command(update=update)
    for form in ("dict", "calls"):
        assert error_of(lambda f=form: commanding(lc, invoke, command, form=f)) == (
            "ValueError",
            "Tools can provide a list of messages in Command.update only when using list of "
            f"messages as ToolNode input, got: {update} for tool 'give'",
        )


def test_an_error_in_a_command_may_be_handled(lc: World, invoke: Invoke) -> None:
    node = lc.ToolNode([giving(lambda: lc.Command(update={}))], handle_tool_errors="no")
    state = {"messages": asking(lc, call("give"))}
    if new(lc, "handled-normalisation"):
        refused = lc.ToolMessage("no", name="give", tool_call_id="call_1", status="error")
        assert invoke(node, state, by_hand(lc)) == {"messages": [refused]}
    else:
        assert error_of(lambda: invoke(node, state, by_hand(lc)))[0] == "ValueError"


# All answers together


def test_beside_a_command_every_answer_is_an_update_of_its_own(lc: World, invoke: Invoke) -> None:
    command = lc.Command(goto="sky")
    node = lc.ToolNode([weather, giving(lambda: command)])
    calls = [
        call("weather", city="北京"),
        call("give", "call_2"),
        call("weather", "call_3", city="上海"),
    ]
    first, last = sunny(lc), sunny(lc, "上海", "call_3")
    for state, expected in (
        ({"messages": asking(lc, *calls)}, [{"messages": [first]}, command, {"messages": [last]}]),
        (asking(lc, *calls), [[first], command, [last]]),
        (calls, [{"messages": [first]}, command, {"messages": [last]}]),
    ):
        assert invoke(node, state, by_hand(lc)) == expected


def test_sends_to_the_parent_go_together_in_upstream_alone(invoke: Invoke) -> None:
    # The row "parent-sends".
    def answers(lc: World) -> Any:
        def visit(city: str) -> Any:
            """Send somebody to a city."""
            return lc.Command(graph=lc.Command.PARENT, goto=[lc.Send("visit", city)])

        calls = [call("visit", f"call_{n}", city=c) for n, c in enumerate(("北京", "上海"))]
        return invoke(lc.ToolNode([visit]), {"messages": asking(lc, *calls)}, by_hand(lc))

    def command(lc: World, *cities: str) -> Any:
        return lc.Command(graph=lc.Command.PARENT, goto=[lc.Send("visit", c) for c in cities])

    assert answers(LANGCHAIN) == [command(LANGCHAIN, "北京", "上海")]
    assert answers(MINILC) == [command(MINILC, "北京"), command(MINILC, "上海")]


# tools_condition


def test_the_last_message_decides_where_to_go(lc: World) -> None:
    @dataclass
    class Data:
        messages: list

    class Model(BaseModel):
        messages: list

    asked = asking(lc, call("weather"))
    for messages, target in ((asked, "tools"), ([*asked, lc.HumanMessage("hi")], "__end__")):
        for state in (messages, {"messages": messages}, Data(messages), Model(messages=messages)):
            assert lc.tools_condition(state) == target
        assert lc.tools_condition({"chat": messages}, messages_key="chat") == target
    assert lc.tools_condition([lc.AIMessage("hi")]) == lc.END


def test_without_messages_there_is_nothing_to_decide_by(lc: World) -> None:
    for state in ({}, {"messages": []}, {"chat": [lc.HumanMessage("hi")]}):
        assert error_of(lambda s=state: lc.tools_condition(s)) == (
            "ValueError",
            f"No messages found in input state to tool_edge: {state}",
        )
    assert error_of(lambda: lc.tools_condition([])) == ("IndexError", "list index out of range")


# Inside a graph


def graph_of(lc: World, node: Any, *, send: bool = False, **options: Any) -> Any:
    """A graph that goes to the node by an edge, or by a `Send` for each call."""

    class State(lc.MessagesState):
        mood: str

    builder = lc.StateGraph(State)
    builder.add_node("tools", node)
    if send:
        builder.add_conditional_edges(
            lc.START, lambda s: [lc.Send("tools", [c]) for c in s["messages"][-1].tool_calls]
        )
    else:
        builder.add_edge(lc.START, "tools")
    return builder.compile(**options)


def test_answers_join_the_messages_of_the_graph(lc: World, invoke: Invoke) -> None:
    calls = [call("weather", city="北京"), call("weather", "call_2", city="上海")]
    for send in (False, True):
        graph = graph_of(lc, lc.ToolNode([weather]), send=send)
        messages = invoke(graph, {"messages": asking(lc, *calls)})["messages"]
        assert [message.type for message in messages] == ["human", "ai", "tool", "tool"]
        assert [message.content for message in messages[2:]] == ["北京 is sunny", "上海 is sunny"]


def test_a_call_that_is_sent_alone_sees_the_whole_state(lc: World, invoke: Invoke) -> None:
    def feel(
        mood: Annotated[str, lc.InjectedState("mood")], state: Annotated[dict, lc.InjectedState]
    ) -> str:
        """Say how it feels."""
        return f"{mood} {sorted(state)}"

    graph = graph_of(lc, lc.ToolNode([feel]), send=True)
    state = {"messages": asking(lc, call("feel")), "mood": "sunny"}
    if new(lc, "state-of-bare-calls"):
        assert invoke(graph, state)["messages"][-1].content == "sunny ['messages', 'mood']"
    else:
        assert error_of(lambda: invoke(graph, state)) == (
            "ValueError",
            "Invalid input to ToolNode. Tool feel requires graph state dict as input. "
            "State should contain fields mood.",
        )


def test_a_tool_may_update_the_state_with_a_command(lc: World, invoke: Invoke) -> None:
    def cheer(tool_call_id: Annotated[str, lc.InjectedToolCallId]) -> Any:
        """Cheer up."""
        answer = lc.ToolMessage("cheered", tool_call_id=tool_call_id)
        return lc.Command(update={"messages": [answer], "mood": "sunny"})

    node = lc.ToolNode([cheer, weather])
    calls = [call("cheer"), call("weather", "call_2", city="北京")]
    for send in (False, True):
        state = {"messages": asking(lc, *calls), "mood": "grey"}
        result = invoke(graph_of(lc, node, send=send), state)
        assert result["mood"] == "sunny"
        assert [message.content for message in result["messages"][2:]] == [
            "cheered",
            "北京 is sunny",
        ]


def test_a_tool_may_ask_a_human_and_gets_the_answer(lc: World) -> None:
    def ask(question: str) -> str:
        """Ask a human."""
        return f"answer: {lc.interrupt(question)}"

    node = lc.ToolNode([ask], handle_tool_errors=True)
    graph = graph_of(lc, node, checkpointer=lc.InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    paused = graph.invoke({"messages": asking(lc, call("ask", question="sure?"))}, config)
    assert [question.value for question in paused["__interrupt__"]] == ["sure?"]
    resumed = graph.invoke(lc.Command(resume="yes"), config)
    assert resumed["messages"][-1].content == "answer: yes"


def test_a_failing_run_leaves_the_messages_as_they_were(lc: World, invoke: Invoke) -> None:
    def fail() -> str:
        """Fail."""
        raise ValueError("failed")

    messages = asking(lc, call("fail"), call("weather", "call_2", city="北京"))
    before = [message.model_copy(deep=True) for message in messages]
    graph = graph_of(lc, lc.ToolNode([fail, weather]))
    with pytest.raises(ValueError, match="^failed"):
        invoke(graph, {"messages": messages})
    assert [message.content for message in messages] == [message.content for message in before]
    assert messages[-1].tool_calls == before[-1].tool_calls
