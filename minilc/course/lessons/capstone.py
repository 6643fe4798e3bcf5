"""Exercises of notebook 18, capstone: the parts of an agent, and a call that came broken.

What is expected is asked of the real ToolNode, of the edges of `create_agent`, and of its runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import after_model
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.errors import GraphRecursionError
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from pydantic import ValidationError

from minilc.course.doctor import diagnose
from minilc.course.exercises import Check, Exercise, Lesson, Option, Quiz, Wrong, solved
from minilc.course.scripted import ScriptedChatModel
from minilc.course.worlds import World

QUESTION = HumanMessage("北京今天天气怎么样？")


def _call(name: str, id: str = "call_1", **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": id, "type": "tool_call"}


def _asks(*calls: dict[str, Any], text: str = "") -> AIMessage:
    return AIMessage(text, tool_calls=list(calls))


BEIJING, SHANGHAI = (
    _call("get_weather", id, city=city) for id, city in [("call_1", "北京"), ("call_2", "上海")]
)
TICKET = _call("book_ticket", "call_3", city="上海")
MISSPELT = _call("get_wether", "call_4", city="北京")
TOWN = _call("get_weather", "call_5", town="北京")


def _tools() -> list[BaseTool]:
    """One tool for the model, and one whose answer is the last word."""

    @tool
    def get_weather(city: str) -> str:
        """Get current weather for a city."""
        if city == "Atlantis":
            raise LookupError("there is no such city")
        return f"{city}: 晴"

    @tool(return_direct=True)
    def book_ticket(city: str) -> str:
        """Book a train ticket."""
        return f"a ticket to {city}"

    return [get_weather, book_ticket]


# --- capstone-1: the smallest ToolNode ------------------------------------------------------------

Maker = Callable[..., Any]


def _real_node(tools: Sequence[BaseTool]) -> Callable[[Any], Any]:
    """LangGraph's ToolNode; it runs in a graph only, so the update is what the graph adds."""
    builder = StateGraph(MessagesState).add_node("tools", ToolNode(tools))
    graph = builder.add_edge(START, "tools").compile()

    def run(state: Any) -> Any:
        return {"messages": graph.invoke(state)["messages"][len(state["messages"]) :]}

    return run


def _compared(
    title: str, wrong: str, calls: Sequence[Any], view: Callable[[Any], Any], before: Any = ()
) -> Check:
    """A check that gives the same calls to the learner's node and to ToolNode."""

    def observed(make: Maker) -> Any:
        state = {"messages": [QUESTION, *before, _asks(*calls)]}
        answers = make(_tools())(state)["messages"]
        return [view(m) if isinstance(m, ToolMessage) else type(m).__name__ for m in answers]

    return Check(title, lambda lc, make: observed(make), wrong, lambda lc: observed(_real_node))


def _last(make: Maker) -> Any:
    answer = make(_tools())({"messages": [QUESTION, _asks(BEIJING)]})["messages"][-1]
    return [type(answer).__name__, getattr(answer, "content", answer)]


def _says(*words: str) -> Callable[[Any], Any]:
    """How an error looks: its words are free, but for some that help the model."""

    def view(message: Any) -> Any:
        told = {word: word in str(message.content) for word in words}
        return {"id": message.tool_call_id, "status": message.status, "says": told}

    return view


def _content(message: Any) -> Any:
    return message.content


def _by_name(tools: Any) -> dict[str, Any]:
    return {one.name: one for one in tools}


def _gives_values(tools: Any) -> Any:
    def run(state: Any) -> Any:
        calls = state["messages"][-1].tool_calls
        return {"messages": [_by_name(tools)[one["name"]].invoke(one["args"]) for one in calls]}

    return run


def _with(answer: Callable[[Any, Any], Any], slice_: slice = slice(None)) -> Any:
    """A node that answers each call of the last message with `answer(tools, call)`."""

    def make(tools: Any) -> Any:
        def run(state: Any) -> Any:
            calls = state["messages"][-1].tool_calls[slice_]
            return {"messages": [answer(_by_name(tools), one) for one in calls]}

        return run

    return make


def _first_alone(tools: Any) -> Any:
    return _with(lambda by_name, one: by_name[one["name"]].invoke(one), slice(1))(tools)


def _gives_the_history(tools: Any) -> Any:
    def run(state: Any) -> Any:
        answers = _with(lambda by_name, one: by_name[one["name"]].invoke(one))(tools)(state)
        return {"messages": [*state["messages"], *answers["messages"]]}

    return run


def _runs_old_calls(tools: Any) -> Any:
    def run(state: Any) -> Any:
        calls = [one for m in state["messages"] if m.type == "ai" for one in m.tool_calls]
        return {"messages": [_by_name(tools)[one["name"]].invoke(one) for one in calls]}

    return run


def _trusts_names(tools: Any) -> Any:
    return _with(lambda by_name, one: by_name[one["name"]].invoke(one))(tools)


def _told(text: str, call: Any) -> ToolMessage:
    return ToolMessage(text, tool_call_id=call["id"], status="error")


def _known(by_name: Any, one: Any) -> Any:
    if one["name"] not in by_name:
        return _told(f"Error: only {', '.join(by_name)}.", one)
    return by_name[one["name"]].invoke(one)


def _trusts_arguments(tools: Any) -> Any:
    return _with(_known)(tools)


def _says_little(tools: Any) -> Any:
    def answer(by_name: Any, one: Any) -> Any:
        try:
            return _known(by_name, one)
        except ValidationError:
            return _told("Error: wrong arguments.", one)

    return _with(answer)(tools)


def _catches_all(tools: Any) -> Any:
    def answer(by_name: Any, one: Any) -> Any:
        try:
            return _known(by_name, one)
        except Exception as error:
            return _told(f"Error: {error}", one)

    return _with(answer)(tools)


TOOL_NODE = Exercise(
    id="capstone-1",
    title="The smallest ToolNode",
    minutes=15,
    difficulty="medium",
    task="""
        Write what makes a node of `tools`. The node takes a state, runs each call of its last
        message, and returns an update, `{"messages": [...]}`, with an answer for each. A wrong name
        and wrong arguments are told to the model, in your own words. Every other error passes.
        """,
    stub='''
from langchain_core.messages import ToolMessage
from pydantic import ValidationError


def tool_node(tools):
    """A node that runs the calls of the last message."""

    def run(state):
        raise NotImplementedError

    return run
''',
    hints=(
        "`tool.invoke(call)` checks the arguments, runs the function, and answers with a "
        "`ToolMessage` that has the id. What is left for the node? To find the tool.",
        "A dict from names to tools. A name that is not in it is answered with a `ToolMessage` of "
        "your own: the call's id, `status='error'`, and the names that exist.",
        "Wrong arguments come out of `invoke` as pydantic's `ValidationError`; its text says which "
        "argument is missing. Catch this one, and no other.",
    ),
    checks=(
        Check(
            "the answer to a call",
            lambda lc, make: _last(make),
            "a call is answered with a ToolMessage: give the tool the whole call, not its "
            "arguments alone",
            lambda lc: _last(_real_node),
        ),
        _compared(
            "what is in the update",
            "an update holds what is new and nothing else: the graph puts it behind the history",
            [BEIJING],
            _content,
        ),
        _compared(
            "the ids of two calls",
            "each call of the message gets an answer with its own id, in the order of the calls",
            [BEIJING, SHANGHAI],
            lambda message: message.tool_call_id,
        ),
        _compared(
            "after an older call",
            "older calls have their answers already: only those of the last message are run",
            [SHANGHAI],
            lambda message: message.tool_call_id,
            before=[_asks(BEIJING), ToolMessage("北京: 晴", tool_call_id="call_1")],
        ),
        _compared(
            "a wrong name",
            "a name that nobody has must not end the run: the model gets an error with the call's "
            "id, and reads which names there are",
            [MISSPELT],
            _says("get_weather", "book_ticket"),
        ),
        _compared(
            "a wrong argument",
            "a missing argument must not end the run: the model gets an error that names the "
            "argument",
            [TOWN],
            _says("city"),
        ),
        _compared(
            "a tool that fails",
            "what fails inside of a tool is the program's own error: ToolNode lets it pass",
            [_call("get_weather", city="Atlantis")],
            _content,
        ),
    ),
    wrong_answers=(
        Wrong(_gives_values, "is answered with a ToolMessage"),
        Wrong(_first_alone, "each call of the message"),
        Wrong(_gives_the_history, "nothing else"),
        Wrong(_runs_old_calls, "older calls"),
        Wrong(_trusts_names, "a name that nobody has"),
        Wrong(_trusts_arguments, "a missing argument"),
        Wrong(_says_little, "names the argument"),
        Wrong(_catches_all, "lets it pass"),
    ),
)


# --- capstone-2: the two edges --------------------------------------------------------------------


def _real_edges(tools: Sequence[BaseTool]) -> Any:
    """The two edges of `create_agent`; each `Send` goes to the tools."""
    branches = create_agent(ScriptedChatModel([]), list(tools)).builder.branches

    def edge(name: str) -> Callable[[Any], Any]:
        (spec,) = branches[name].values()

        def goes(state: Any) -> Any:
            target: Any = spec.path.invoke(state)
            return target if isinstance(target, str) else target[0].node

        return goes

    return edge("model"), edge("tools")


def _routed(title: str, wrong: str, *messages: Any) -> Check:
    """A check of the edge that comes next: after an answer that of the tools."""

    def goes(make: Maker) -> Any:
        state = {"messages": [QUESTION, *messages]}
        to_tools, to_model = make(_tools())
        return (to_model if messages[-1].type == "tool" else to_tools)(state)

    return Check(title, lambda lc, make: goes(make), wrong, lambda lc: goes(_real_edges))


def _after(*calls: dict[str, Any]) -> list[Any]:
    """Calls and their answers."""
    answers = [ToolMessage("ok", name=one["name"], tool_call_id=one["id"]) for one in calls]
    return [_asks(*calls), *answers]


def _to_tools(state: Any) -> str:
    return "tools" if state["messages"][-1].tool_calls else END


def _called(state: Any) -> list[str]:
    *_, asking = [message for message in state["messages"] if message.type == "ai"]
    return [call["name"] for call in asking.tool_calls]


def _direct(tools: Any) -> set[str]:
    return {one.name for one in tools if one.return_direct}


def _looks_at_the_text(tools: Any) -> Any:
    return lambda state: END if state["messages"][-1].content else "tools", lambda state: "model"


def _never_ends(tools: Any) -> Any:
    return lambda state: "tools", lambda state: "model"


def _always_back(tools: Any) -> Any:
    return _to_tools, lambda state: "model"


def _any_is_enough(tools: Any) -> Any:
    def back(state: Any) -> str:
        return END if _direct(tools) & set(_called(state)) else "model"

    return _to_tools, back


def _counts_wrong_names(tools: Any) -> Any:
    def back(state: Any) -> str:
        return END if set(_called(state)) <= _direct(tools) else "model"

    return _to_tools, back


def _nothing_is_all(tools: Any) -> Any:
    def back(state: Any) -> str:
        known = set(_called(state)) & {one.name for one in tools}
        return END if known <= _direct(tools) else "model"

    return _to_tools, back


EDGES = Exercise(
    id="capstone-2",
    title="The two edges",
    minutes=15,
    difficulty="medium",
    task="""
        Write both edges of an agent. Each takes a state and says where to go. `after_model` chooses
        between `"tools"` and `END`, `after_tools` between `"model"` and `END`. The run ends behind
        the tools if every tool that exists and was called has `return_direct=True`.
        """,
    stub='''
from langgraph.graph import END


def edges(tools):
    """The way after the model, and the way after the tools."""

    def after_model(state):
        raise NotImplementedError

    def after_tools(state):
        raise NotImplementedError

    return after_model, after_tools
''',
    hints=(
        "For `after_model` one thing of the last message counts, and it is not the text.",
        "Behind the tools the last messages are answers. The calls stand in the last message of "
        "type `ai`: look from the end.",
        "Keep the calls whose names exist. What does `all` say of an empty list, and what should "
        "the edge say?",
    ),
    checks=(
        _routed("words alone", "a message without calls ends the run", AIMessage("晴。")),
        _routed("a call", "a message with a call goes to the tools", _asks(BEIJING)),
        _routed(
            "a call beside words",
            "a message with a call goes to the tools, whatever its text says: models like to "
            "announce what they do",
            _asks(BEIJING, text="我来查一下。"),
        ),
        _routed(
            "after a plain tool",
            "the answer of a plain tool goes back to the model",
            *_after(BEIJING),
        ),
        _routed(
            "after a ticket",
            "`return_direct` means that the user reads the answer: the model is not asked again",
            *_after(TICKET),
        ),
        _routed(
            "after a ticket and the weather",
            "one plain tool is enough for the model to speak again",
            *_after(TICKET, BEIJING),
        ),
        _routed(
            "after a ticket and a wrong name",
            "a name that does not exist has no say: of the tools that exist, all are direct",
            *_after(TICKET, MISSPELT),
        ),
        _routed(
            "after a wrong name",
            "no tool that exists was called, and the model has to read its mistake",
            *_after(MISSPELT),
        ),
        _routed(
            "a ticket in an older round",
            "the calls of the last AIMessage count, not those of older ones",
            *_after(BEIJING),
            *_after(TICKET),
        ),
    ),
    wrong_answers=(
        Wrong(_looks_at_the_text, "whatever its text says"),
        Wrong(_never_ends, "without calls ends the run"),
        Wrong(_always_back, "the model is not asked again"),
        Wrong(_any_is_enough, "one plain tool is enough"),
        Wrong(_counts_wrong_names, "has no say"),
        Wrong(_nothing_is_all, "has to read its mistake"),
    ),
)


# --- capstone-3: the loop -------------------------------------------------------------------------

ROUNDS = 50  # what a loop that never asks the model may do, before it is stopped


class _Talk:
    """One conversation, had by a learner's loop or by `create_agent`."""

    def __init__(self, *script: Any) -> None:
        self.model = ScriptedChatModel(script)
        self.given = [QUESTION]
        self.turns = 0

    def by(self, loop: Callable[..., Any] | None, limit: int = 25) -> Any:
        """All messages of the run; None stands for LangChain."""
        if loop is None:
            agent = create_agent(self.model, _tools())
            # A round is two steps, and a run needs one more.
            config: Any = {"recursion_limit": 2 * limit}
            state: Any = {"messages": self.given}
            return agent.invoke(state, config)["messages"]
        ask = self.model.bind_tools(_tools()).invoke
        after_model, after_tools = solved("capstone-2")(_tools())
        node = solved("capstone-1")(_tools())
        return loop(ask, self._counted(node), after_model, after_tools, self.given, limit=limit)

    def _counted(self, node: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def run(state: Any) -> Any:
            self.turns += 1
            if self.turns > ROUNDS:
                raise RuntimeError(f"the tools ran {ROUNDS} times")
            return node(state)

        return run


def _spoken(messages: Any) -> Any:
    return [one.content or [call["id"] for call in one.tool_calls] for one in messages]


def _looped(title: str, wrong: str, view: Callable[[Any, Any], Any], *script: Any) -> Check:
    return Check(
        title,
        lambda lc, loop: view(_Talk(*script), loop),
        wrong,
        lambda lc: view(_Talk(*script), None),
    )


def _run(talk: _Talk, loop: Any) -> Any:
    return _spoken(talk.by(loop))


def _sent(talk: _Talk, loop: Any) -> Any:
    talk.by(loop)
    return [_spoken(request.messages) for request in talk.model.requests]


def _kept(talk: _Talk, loop: Any) -> Any:
    talk.by(loop)
    return _spoken(talk.given)


def _limited(talk: _Talk, loop: Any) -> Any:
    """What becomes of a run of three requests where only two are allowed."""
    try:
        return _spoken(talk.by(loop, limit=2))
    except GraphRecursionError:
        return "GraphRecursionError"


def _just_enough(talk: _Talk, loop: Any) -> Any:
    return _spoken(talk.by(loop, limit=2))


def _one_answer(
    ask: Any, run_tools: Any, after_model: Any, after_tools: Any, messages: Any, limit: int = 25
) -> Any:
    return [*messages, ask(messages)]


def _one_round(
    ask: Any, run_tools: Any, after_model: Any, after_tools: Any, messages: Any, limit: int = 25
) -> Any:
    messages = [*messages, ask(messages)]
    if after_model({"messages": messages}) == END:
        return messages
    messages += run_tools({"messages": messages})["messages"]
    return messages if after_tools({"messages": messages}) == END else [*messages, ask(messages)]


def _loops(
    copy: bool = True, whole: bool = True, ends: bool = True, stops: bool = True, spare: int = 0
) -> Any:
    """A loop that has one thing wrong."""

    def loop(
        ask: Any, run_tools: Any, after_model: Any, after_tools: Any, messages: Any, limit: int = 25
    ) -> Any:
        messages = list(messages) if copy else messages
        for _ in range(limit + spare if stops else 1000):
            messages.append(ask(messages if whole else messages[-1:]))
            if after_model({"messages": messages}) == END:
                return messages
            messages += run_tools({"messages": messages})["messages"]
            if ends and after_tools({"messages": messages}) == END:
                return messages
        raise GraphRecursionError

    return loop


def _gives_up_quietly(*parts: Any, limit: int = 25) -> Any:
    try:
        return _loops()(*parts, limit=limit)
    except GraphRecursionError:
        return parts[4]


def _named(name: str, function: Any) -> Any:
    function.__name__ = name
    return function


LOOP = Exercise(
    id="capstone-3",
    title="The loop",
    minutes=15,
    difficulty="medium",
    task="""
        Join the parts: ask the model, and go where the edges say, until one of them says `END`.
        Return all messages. `ask` takes the messages and returns the model's; `run_tools` is the
        node of exercise 1. Who asks the model more than `limit` times gets a `GraphRecursionError`.
        """,
    stub='''
from langgraph.errors import GraphRecursionError
from langgraph.graph import END


def loop(ask, run_tools, after_model, after_tools, messages, limit=25):
    """All messages of a run, from the first to the last."""
    raise NotImplementedError
''',
    hints=(
        "The state of this agent is `{'messages': messages}`. The node and the edges take it, the "
        "model takes the list.",
        "One round: ask, and add what comes; look at `after_model`; run the tools, and add what "
        "comes; look at `after_tools`. Which of the four may end the run?",
        "Take a list of your own first, so that the caller's stays as it was. A `for` over "
        "`range(limit)` counts the requests; what stands behind it is the error.",
    ),
    checks=(
        _looped("words alone", "words end the run, and nothing else is asked", _run, "你好"),
        _looped(
            "one call",
            "a call goes to the tools, and the model has to read the answer",
            _run,
            _asks(BEIJING),
            "晴。",
        ),
        _looped(
            "two rounds",
            "the model may ask again and again: one round is not enough",
            _run,
            _asks(BEIJING),
            _asks(SHANGHAI),
            "都晴。",
        ),
        _looped(
            "a ticket",
            "behind the tools the edge said END, and the model was asked all the same",
            _run,
            _asks(TICKET),
        ),
        _looped(
            "what the model is sent",
            "the model remembers nothing: each request holds the whole history",
            _sent,
            _asks(BEIJING),
            "晴。",
        ),
        _looped(
            "the messages that were given",
            "the list that you were given has changed: work on a list of your own",
            _kept,
            _asks(BEIJING),
            "晴。",
        ),
        _looped(
            "two requests, where two are allowed",
            "the run needs two requests and may have two; do not stop before that",
            _just_enough,
            _asks(BEIJING),
            "晴。",
        ),
        _looped(
            "three requests, where two are allowed",
            "a model that asks for ever must not be asked for ever: more than `limit` requests are "
            "a GraphRecursionError",
            _limited,
            _asks(BEIJING),
            _asks(SHANGHAI),
            "都晴。",
        ),
    ),
    wrong_answers=(
        Wrong(_one_answer, "a call goes to the tools"),
        Wrong(_one_round, "one round is not enough"),
        Wrong(_named("_never_ends_behind_tools", _loops(ends=False)), "was asked all the same"),
        Wrong(_named("_forgets", _loops(whole=False)), "the whole history"),
        Wrong(_named("_changes_the_list", _loops(copy=False)), "a list of your own"),
        Wrong(_named("_one_too_few", _loops(spare=-1)), "do not stop before that"),
        Wrong(_named("_no_limit", _loops(stops=False)), "asked for ever"),
        Wrong(_gives_up_quietly, "asked for ever"),
    ),
)


# --- capstone-4: a call that came broken ----------------------------------------------------------

CUT = '{"city": "北京'


def _broken(*good: dict[str, Any]) -> AIMessage:
    """An answer with a call that is no JSON, as it comes when it is streamed: without an error."""
    bad = {"name": "get_weather", "args": CUT, "id": "call_9", "error": None}
    return AIMessage(
        "", tool_calls=list(good), invalid_tool_calls=[{**bad, "type": "invalid_tool_call"}]
    )


def _mended(mend: Any, *script: Any) -> tuple[Any, Any]:
    """The messages of a run with the learner's hook, and the model."""
    model = ScriptedChatModel(script)
    hook = after_model(can_jump_to=["model"])(mend)
    agent = create_agent(model, _tools(), middleware=[hook])
    return agent.invoke({"messages": [QUESTION]})["messages"], model


def _shown(messages: Any) -> Any:
    """Who spoke, and what; of an error the id alone, since its words are free."""
    shown = []
    for one in messages[1:]:
        failed = one.type == "tool" and one.status == "error"
        shown.append((one.type, f"error for {one.tool_call_id}" if failed else one.content))
    return shown


def _words(lc: World, mend: Any) -> Any:
    return _shown(_mended(mend, "晴。")[0])


def _repaired(lc: World, mend: Any) -> Any:
    return _shown(_mended(mend, _broken(), _asks(BEIJING), "晴。")[0])


def _readable(lc: World, mend: Any) -> Any:
    _, model = _mended(mend, _broken(), "晴。")
    return CUT in model.requests[1].messages[-1].content


def _beside(lc: World, mend: Any) -> Any:
    return _shown(_mended(mend, _broken(SHANGHAI), "晴。")[0])


def _blessed(lc: World, mend: Any) -> Any:
    return diagnose(_mended(mend, _broken(), "晴。")[0], tools=_tools()).codes


def _errors(last: Any, text: str = "Error: {args} is no JSON", status: Any = "error") -> list[Any]:
    return [
        ToolMessage(text.format(**one), name=one["name"], tool_call_id=one["id"], status=status)
        for one in last.invalid_tool_calls
    ]


def _jumps_always(state: Any, runtime: Any) -> Any:
    return {"messages": _errors(state["messages"][-1]), "jump_to": "model"}


def _never_jumps(state: Any, runtime: Any) -> Any:
    return {"messages": _errors(state["messages"][-1])}


def _jumps_over_calls(state: Any, runtime: Any) -> Any:
    answers = _errors(state["messages"][-1])
    return {"messages": answers, "jump_to": "model"} if answers else None


def _calls_it_a_success(state: Any, runtime: Any) -> Any:
    answers = _errors(state["messages"][-1], status="success")
    return {"messages": answers, "jump_to": "model"} if answers else None


def _passes_the_error_on(state: Any, runtime: Any) -> Any:
    last = state["messages"][-1]
    answers = _errors(last, "Error: {error}")
    jump = {} if last.tool_calls else {"jump_to": "model"}
    return {"messages": answers, **jump} if answers else None


MEND = Exercise(
    id="capstone-4",
    title="Drill: the agent stops in the middle, and later it never stops",
    minutes=15,
    difficulty="hard",
    task="""
        A report: *with my local model the agent sometimes stopped without an answer, because a
        call's JSON was broken. So I wrote a hook that runs after the model. Now the agent asks for
        ever, even when nothing is broken. The model reads "Error: None". And of two calls, a good
        one and a broken one, the good one never runs.* Mend the hook.
        """,
    stub='''
from langchain_core.messages import ToolMessage


def mend(state, runtime):
    """Tell the model that a call was broken, and ask it again."""
    answers = []
    for call in state["messages"][-1].invalid_tool_calls:
        text = f"Error: {call['error']}"
        answers.append(ToolMessage(text, tool_call_id=call["id"], status="error"))
    return {"messages": answers, "jump_to": "model"}
''',
    hints=(
        "A hook that returns None changes nothing. When should it?",
        "`error` is filled in when the answer comes in one piece, and None when it was streamed. "
        "Which key is always there, and shows the model what it wrote?",
        "`jump_to` goes past the edge, and so past the tools. Leave it out if there is a good call "
        "in the message: then the edge sends that one, and the model is asked afterwards.",
    ),
    checks=(
        Check(
            "words alone",
            _words,
            "nothing was broken, and the model is asked again: without a broken call there is "
            "nothing to do",
            [("ai", "晴。")],
        ),
        Check(
            "a broken call",
            _repaired,
            "the broken call is answered with an error, and the model is asked again; the edge "
            "alone would end the run here",
            [
                ("ai", ""),
                ("tool", "error for call_9"),
                ("ai", ""),
                ("tool", "北京: 晴"),
                ("ai", "晴。"),
            ],
        ),
        Check(
            "a good call beside a broken one",
            _beside,
            "the good call never runs: a jump goes past the edge that would send it",
            [("ai", ""), ("tool", "error for call_9"), ("tool", "上海: 晴"), ("ai", "晴。")],
        ),
        Check(
            "what the model reads",
            _readable,
            "the model must see the arguments that it wrote; `error` is None when they were "
            "streamed",
            True,
        ),
        Check(
            "what the doctor finds in the history",
            _blessed,
            "the doctor still finds something in the history",
            [],
        ),
    ),
    wrong_answers=(
        Wrong(_jumps_always, "nothing to do"),
        Wrong(_never_jumps, "would end the run here"),
        Wrong(_calls_it_a_success, "is answered with an error"),
        Wrong(_jumps_over_calls, "past the edge"),
        Wrong(_passes_the_error_on, "the arguments that it wrote"),
    ),
)


LESSON = Lesson(
    exercises=(TOOL_NODE, EDGES, LOOP, MEND),
    quizzes=(
        Quiz(
            id="capstone-1",
            question="Your loop and `create_agent` had the same conversations. What can "
            "`create_agent` do that no `while` loop can?",
            options=(
                Option(
                    "answer a wrong name with an error that the model reads",
                    "Your node does that too. It is in the node, not in what runs the node.",
                ),
                Option(
                    "stop in the middle, and go on tomorrow",
                    "Its state is a dict between two steps, and can be kept. A loop has its state "
                    "on the stack.",
                    right=True,
                ),
                Option(
                    "decide, by itself, which tool fits the question best",
                    "Only the model decides that, in both agents.",
                ),
            ),
        ),
        Quiz(
            id="capstone-2",
            question="A local model ends a run: its last message has no text and no `tool_calls`. "
            "Where do you look first?",
            options=(
                Option(
                    "at the `recursion_limit`",
                    "It ends a run with a GraphRecursionError, not in silence.",
                ),
                Option(
                    "at the ToolNode and its register of names",
                    "It did not run: without `tool_calls` the edge goes to END.",
                ),
                Option(
                    "at the last message's `invalid_tool_calls`",
                    "A call whose JSON is broken lands there. The edge looks at `tool_calls` "
                    "alone, so the run ends without an error.",
                    right=True,
                ),
                Option(
                    "at the key, which may have run out of credit in the middle of the answer",
                    "A provider says so with an HTTP error, and the client raises it.",
                ),
            ),
        ),
    ),
)
