"""Exercises of layer 7, chat_models: what goes to a model over the wire, and what comes back."""

from __future__ import annotations

import json
from typing import Any

from langchain_core.messages import ToolMessage as RealToolMessage

from minilc.course.exercises import Check, Exercise, Lesson, Option, Quiz, Wrong
from minilc.course.wire import Wire, completion, openai_model
from minilc.course.worlds import World
from minilc.messages import AIMessage

_CUT = '{"city": "北'


def _asks(lc: World) -> Any:
    call = {"name": "weather", "args": {"city": "北京"}, "id": "call_1", "type": "tool_call"}
    return lc.AIMessage("", tool_calls=[call])


def _broken(lc: World) -> Any:
    call = {"name": "weather", "args": _CUT, "id": "call_1", "error": "cut"}
    return lc.AIMessage("", invalid_tool_calls=[call])


def _sent(lc: World, *messages: Any) -> Any:
    """The messages of the body that is sent."""
    wire = Wire(completion("晴"))
    openai_model(lc, wire.transport).invoke(list(messages))
    return wire.bodies[0]["messages"]


# --- chat_models-1: a message on the wire ----------------------------------------------------

_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}


def _calls(message: Any, ascii: bool = False, invalid: bool = True) -> Any:
    calls = [*message.tool_calls, *(message.invalid_tool_calls if invalid else [])]
    return [
        {
            "type": "function",
            "id": call["id"],
            "function": {
                "name": call["name"],
                "arguments": call["args"]
                if isinstance(call["args"], str)
                else json.dumps(call["args"], ensure_ascii=ascii),
            },
        }
        for call in calls
    ]


def _on_the_wire(message: Any, **options: Any) -> dict[str, Any]:
    result: dict[str, Any] = {"role": _ROLES[message.type], "content": message.content}
    if message.type == "tool":
        result["tool_call_id"] = message.tool_call_id
    if message.type == "ai" and (calls := _calls(message, **options)):
        result |= {"tool_calls": calls, "content": None}
    return result


def _own_types(message: Any) -> dict[str, Any]:
    return _on_the_wire(message) | {"role": message.type}


def _keeps_dicts(message: Any) -> dict[str, Any]:
    result = _on_the_wire(message)
    for raw, call in zip(
        result.get("tool_calls", []), getattr(message, "tool_calls", []), strict=False
    ):
        raw["function"]["arguments"] = call["args"]
    return result


def _escapes(message: Any) -> dict[str, Any]:
    return _on_the_wire(message, ascii=True)


def _says_it_all(message: Any) -> dict[str, Any]:
    result = _on_the_wire(message)
    if message.type == "tool":
        result |= {"name": message.name, "status": message.status}
    return result


def _no_id(message: Any) -> dict[str, Any]:
    result = _on_the_wire(message)
    result.pop("tool_call_id", None)
    return result


def _forgets_the_broken(message: Any) -> dict[str, Any]:
    return _on_the_wire(message, invalid=False)


def _only_content(message: Any) -> dict[str, Any]:
    return {"role": _ROLES[message.type], "content": message.content}


SEND = Exercise(
    id="chat_models-1",
    title="A message on the wire",
    minutes=10,
    difficulty="medium",
    target="minilc.chat_models:_convert_message_to_dict",
    task="""
        Write what OpenAI gets of a message: a dict with `role` and `content`, and what the message
        has beside these. Think of calls, of broken calls, and of a tool's answer.
        """,
    stub='''
import json
from typing import Any

ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}


def message_to_dict(message: Any) -> dict[str, Any]:
    """A message as OpenAI takes it."""
    raise NotImplementedError
''',
    hints=(
        "Start with role and content. Which two types of message have something more?",
        "A call is `type`, `id`, and a `function` with `name` and `arguments`. The arguments are "
        "JSON text; what does `ensure_ascii` do to 北京?",
        "Of a tool's answer only the id goes along. A broken call's `args` are text already.",
    ),
    checks=(
        Check(
            "a question, instructions and an answer",
            lambda lc: _sent(
                lc, lc.SystemMessage("中文"), lc.HumanMessage("北京？"), lc.AIMessage("晴。")
            ),
            "role and content: OpenAI has its own words for who speaks, user and assistant",
        ),
        Check(
            "a call",
            lambda lc: [
                type(one["arguments"]).__name__ for one in _functions(_sent(lc, _asks(lc)))
            ],
            "the call does not go back to the model, or its arguments are no text: on the wire "
            "they are a JSON string",
        ),
        Check(
            "the arguments of a call",
            lambda lc: _sent(lc, _asks(lc)),
            "a call goes out as type, id and function, its arguments readable (北京, not escapes), "
            "and with null where there is no text beside it",
        ),
        Check(
            "a tool's answer",
            lambda lc: _sent(
                lc,
                _asks(lc),
                lc.ToolMessage("no", tool_call_id="call_1", name="weather", status="error"),
            ),
            "of a tool's answer OpenAI takes the content and the call's id; the id is all that "
            "ties it to its call, and a name or a status is not sent",
        ),
        Check(
            "a broken call",
            lambda lc: _sent(lc, _broken(lc)),
            "a call with broken arguments goes back too, with the text as the model wrote it: else "
            "the answer to it has no call",
        ),
    ),
    wrong_answers=(
        Wrong(_own_types, "user and assistant"),
        Wrong(_only_content, "does not go back to the model"),
        Wrong(_keeps_dicts, "a JSON string"),
        Wrong(_escapes, "not escapes"),
        Wrong(_says_it_all, "a status is not sent"),
        Wrong(_no_id, "the id is all that ties it"),
        Wrong(_forgets_the_broken, "goes back too"),
    ),
)


def _functions(messages: Any) -> Any:
    return [call["function"] for one in messages for call in one.get("tool_calls", [])]


# --- chat_models-2: what a model wrote -------------------------------------------------------


def _read(lc: World, *arguments: str) -> Any:
    """What is read of an answer with a call for each of these arguments."""
    reply = completion(None, [("weather", text) for text in arguments])
    answer = openai_model(lc, Wire(reply).transport).invoke("天气？")
    invalid = [(call["id"], call["name"], call["args"]) for call in answer.invalid_tool_calls]
    return {"tool_calls": answer.tool_calls, "invalid_tool_calls": invalid}


def _reading(message: Any, empty: str = "{}", strict: bool = False) -> AIMessage:
    read: dict[str, Any] = {"tool_calls": [], "invalid_tool_calls": []}
    for raw in message.get("tool_calls") or []:
        text = raw["function"]["arguments"]
        call = {"name": raw["function"]["name"], "args": text, "id": raw["id"]}
        try:
            args = json.loads(text or empty, strict=strict)
            read["tool_calls"].append(call | {"args": args})
        except json.JSONDecodeError as error:
            read["invalid_tool_calls"].append(call | {"error": str(error)})
    return AIMessage(content=message.get("content") or "", **read)


def _raises(message: Any) -> AIMessage:
    for raw in message.get("tool_calls") or []:
        json.loads(raw["function"]["arguments"] or "{}")
    return _reading(message)


def _drops(message: Any) -> AIMessage:
    answer = _reading(message)
    answer.invalid_tool_calls = []
    return answer


def _all_or_nothing(message: Any) -> AIMessage:
    answer = _reading(message)
    if answer.invalid_tool_calls:
        answer.tool_calls = []
    return answer


def _empty_is_broken(message: Any) -> AIMessage:
    return _reading(message, empty="")


def _loses_id(message: Any) -> AIMessage:
    answer = _reading(message)
    for call in answer.invalid_tool_calls:
        call["id"] = None
    return answer


READ = Exercise(
    id="chat_models-2",
    title="Drill: a tool that is called with nothing",
    minutes=10,
    difficulty="medium",
    target="minilc.chat_models:_convert_dict_to_message",
    task="""
        Somebody reports: *once in a while my tool `delete_files(folder: str = "/")` is called
        without arguments, though the model had written a folder*. The fault is in this function,
        which reads OpenAI's answer. Find it and mend it.
        """,
    stub='''
import json
from typing import Any

from minilc import AIMessage


def read_answer(message: dict[str, Any]) -> AIMessage:
    """The answer of the model."""
    calls = []
    for raw in message.get("tool_calls") or []:
        try:
            args = json.loads(raw["function"]["arguments"])
        except json.JSONDecodeError:
            args = {}
        calls.append({"name": raw["function"]["name"], "args": args, "id": raw["id"]})
    return AIMessage(content=message.get("content") or "", tool_calls=calls)
''',
    hints=(
        "Which arguments does a call get if the model's text breaks off after `/tmp`?",
        "A call that cannot be read is no call. `AIMessage` has another list for such calls: "
        "`name`, `args` (the text), `id`, `error`.",
        "An empty text is not broken: a model writes it for a tool without arguments.",
    ),
    checks=(
        Check(
            "a call",
            lambda lc: _read(lc, '{"city": "北京"}'),
            "a good call is no longer read",
        ),
        Check(
            "no arguments",
            lambda lc: _read(lc, "", "{}"),
            "an empty text is what a model writes for no arguments; it is not broken",
        ),
        Check(
            "a call that is cut off",
            lambda lc: _read(lc, _CUT),
            "a call with broken JSON belongs in `invalid_tool_calls`, with its name, its id and "
            "the text as it came: it must not run, must not be lost, and must not stop the run",
        ),
        Check(
            "a good call beside a broken one",
            lambda lc: _read(lc, _CUT, '{"city": "上海"}'),
            "one broken call takes the good one beside it along",
        ),
    ),
    wrong_answers=(
        Wrong(_raises, "must not stop the run"),
        Wrong(_drops, "must not be lost"),
        Wrong(_loses_id, "its id"),
        Wrong(_empty_is_broken, "it is not broken"),
        Wrong(_all_or_nothing, "takes the good one"),
    ),
)


# --- chat_models-3: an answer to what cannot be read -----------------------------------------


def _two_broken(lc: World) -> Any:
    broken = [("weather", _CUT), ("weather", '{"city": "上海"}'), ("tide", "soon")]
    return openai_model(lc, Wire(completion(None, broken)).transport).invoke("天气？")


def _answers(lc: World, answer: Any) -> Any:
    return [(one.tool_call_id, one.status) for one in answer(_two_broken(lc))]


def _told_why(lc: World, answer: Any) -> Any:
    asked = _two_broken(lc)
    pairs = zip(asked.invalid_tool_calls, answer(asked), strict=True)
    return [(call["error"] or "") in one.content for call, one in pairs]


def _second_try(lc: World, answer: Any) -> Any:
    """An agent's loop by hand: what the second request holds."""
    wire = Wire(completion(None, [("weather", _CUT)]), completion("晴"))
    model = openai_model(lc, wire.transport)
    asked = model.invoke("天气？")
    model.invoke([lc.HumanMessage("天气？"), asked, *answer(asked)])
    return [one["role"] for one in wire.bodies[1]["messages"]]


def _nothing_to_say(lc: World, answer: Any) -> Any:
    return answer(lc.AIMessage("晴。"))


def _each(message: Any, calls: Any, status: Any = "error", text: str = "") -> Any:
    return [
        RealToolMessage(text or call.get("error"), tool_call_id=call["id"], status=status)
        for call in calls
    ]


def _answers_all(message: Any) -> Any:
    return _each(message, [*message.invalid_tool_calls, *message.tool_calls], text="broken")


def _first_alone(message: Any) -> Any:
    return _each(message, message.invalid_tool_calls[:1])


def _as_success(message: Any) -> Any:
    return _each(message, message.invalid_tool_calls, status="success")


def _without_why(message: Any) -> Any:
    return _each(message, message.invalid_tool_calls, text="Something went wrong.")


ANSWER = Exercise(
    id="chat_models-3",
    title="An answer to what cannot be read",
    minutes=10,
    difficulty="easy",
    task="""
        A model's call was broken, and the run would end with an empty answer. Write the
        messages that tell the model: a `ToolMessage` for each broken call, with the call's id,
        status `error`, and the call's `error` in its text. Good calls are not your business.
        """,
    stub='''
def tell_broken(message) -> list:
    """An answer to each call that could not be read."""
    raise NotImplementedError
''',
    hints=(
        "Print `invalid_tool_calls` of the agent's last message in section 8. Which keys has it?",
        'A `ToolMessage` takes the text first, then `tool_call_id=...` and `status="error"`.',
    ),
    checks=(
        Check(
            "two broken calls and a good one",
            _answers,
            "each broken call needs exactly one answer with its id and the status error; the good "
            "call will be answered by its tool",
            [("call_1", "error"), ("call_3", "error")],
        ),
        Check(
            "what the model is told",
            _told_why,
            "the model is not told what is wrong with its JSON: the call's `error` says it",
            [True, True],
        ),
        Check(
            "an answer without calls",
            _nothing_to_say,
            "where nothing is broken there is nothing to say: an empty list",
            [],
        ),
        Check(
            "the second request",
            _second_try,
            "the model is not asked again with question, broken call and answer",
            ["user", "assistant", "tool"],
        ),
    ),
    wrong_answers=(
        Wrong(_answers_all, "exactly one answer"),
        Wrong(_first_alone, "exactly one answer"),
        Wrong(_as_success, "the status error"),
        Wrong(_without_why, "the call's `error` says it"),
    ),
)


LESSON = Lesson(
    exercises=(SEND, READ, ANSWER),
    quizzes=(
        Quiz(
            id="chat_models-1",
            question="You write `model.bind_tools([weather])` on a line of its own, then "
            '`model.invoke("hi")`. What is sent?',
            options=(
                Option(
                    "the message and the tool",
                    "The tool is in what `bind_tools` returned, and that was thrown away.",
                ),
                Option(
                    "the message and the tool, and the tool runs if the model wants it",
                    "Neither. Nothing was bound to `model`, and a model never runs a tool.",
                ),
                Option(
                    "the message alone",
                    "`bind_tools` leaves the model as it was. Keep what it returns.",
                    right=True,
                ),
            ),
        ),
        Quiz(
            id="chat_models-2",
            question="A model's arguments break off in the middle of the JSON. What does the agent "
            "do?",
            options=(
                Option(
                    "It ends, and its last message is empty.",
                    "The call is in `invalid_tool_calls`, and the agent looks at `tool_calls`.",
                    right=True,
                ),
                Option(
                    "It raises a `JSONDecodeError` out of `invoke`.",
                    "The error is caught, and kept as text beside the broken call.",
                ),
                Option(
                    "It calls the tool with what could be read.",
                    "Half a JSON text is no arguments. Nothing is called.",
                ),
                Option(
                    "It tells the model, which tries again.",
                    "That would be good, and it is exercise 3. By itself an agent does not.",
                ),
            ),
        ),
    ),
)
