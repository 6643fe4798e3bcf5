"""The capstone: parts that compose, the model that the environment names, the certificate."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import after_model
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from minilc.course import capstone, progress
from minilc.course import exercises as ex
from minilc.course.doctor import diagnose
from minilc.course.scripted import ScriptedChatModel
from minilc.course.wire import completion

ROOT = Path(__file__).parent.parent
QUESTION = "北京今天天气怎么样？"
LOOPBACK = pytest.mark.allow_hosts(["127.0.0.1"])
SOLVED = [ex.solved(id) for id in capstone.PARTS]


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress of the test's own, no proxy, and no socket that ChatOpenAI tries out when made."""
    monkeypatch.setenv("MINILC_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("LANGCHAIN_OPENAI_TCP_KEEPALIVE", "0")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@tool
def get_weather(city: str) -> str:
    """Get current weather for a city."""
    return f"{city}: 晴"


@tool(return_direct=True)
def book_ticket(city: str) -> str:
    """Book a train ticket."""
    return f"a ticket to {city}"


def said(state: Any) -> list[Any]:
    return [(m.type, m.content or [c["args"] for c in m.tool_calls]) for m in state["messages"]]


# --- a server on this machine ---------------------------------------------------------------------


class Server:
    """An HTTP server on loopback that keeps each request and plays its replies.

    A reply is a body, or a status with one. Who asks for a stream gets a completion in pieces.
    """

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.bodies: list[Any] = []
        self.paths: list[str] = []
        self.headers: list[Any] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                server.bodies.append(json.loads(self.rfile.read(length)))
                server.paths.append(self.path)
                server.headers.append(self.headers)
                reply = server.replies.pop(0)
                status, body = reply if isinstance(reply, tuple) else (200, reply)
                streams = status == 200 and server.bodies[-1].get("stream")
                self.send_response(status)
                kind = "text/event-stream" if streams else "application/json"
                self.send_header("content-type", kind)
                self.end_headers()
                text = events(body) if streams else json.dumps(body)
                self.wfile.write(text.encode())

            def log_message(self, *args: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    @property
    def environ(self) -> dict[str, str]:
        return {"OPENAI_BASE_URL": f"{self.address}/v1", "MINILC_MODEL": "local"}


def events(body: Any) -> str:
    """A completion as the events of a stream: names first, then the arguments piece by piece."""
    if "error" in body:
        return f"data: {json.dumps(body)}\n\n"
    (choice,) = body["choices"]
    deltas = list(pieces(choice["message"]))
    chunks = [(delta, None) for delta in deltas] + [({}, choice["finish_reason"])]
    lines = []
    for delta, reason in chunks:
        one = {"index": 0, "delta": delta, "finish_reason": reason}
        chunk = {**body, "object": "chat.completion.chunk", "choices": [one], "usage": None}
        lines.append(f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n")
    return "".join([*lines, "data: [DONE]\n\n"])


def pieces(message: Any) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    for start in range(0, len(message["content"] or ""), 2):
        yield {"content": message["content"][start : start + 2]}
    for index, call in enumerate(message.get("tool_calls", [])):
        function = call["function"]
        first = {"id": call["id"], "type": "function", "function": {"name": function["name"]}}
        first["function"]["arguments"] = ""
        yield {"tool_calls": [{"index": index, **first}]}
        for start in range(0, len(function["arguments"]), 4):
            part = {"arguments": function["arguments"][start : start + 4]}
            yield {"tool_calls": [{"index": index, "function": part}]}


def agent(whose: str, model: Any) -> Any:
    """LangChain's agent, or that of a learner who has solved all exercises."""
    tools = [get_weather, book_ticket]
    if whose == "LangChain's":
        return create_agent(model, tools)
    return capstone.assemble(*SOLVED).agent(model, tools)


both_agents = pytest.mark.parametrize("whose", ["LangChain's", "the learner's"])
both_ways = pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streamed"])


# --- a real client, and a server that speaks as OpenAI's ------------------------------------------


@LOOPBACK
@both_ways
@both_agents
def test_an_agent_on_a_local_server_calls_its_tool(whose: str, streaming: bool) -> None:
    calls = [("get_weather", '{"city": "北京"}'), ("get_weather", '{"city": "上海"}')]
    with Server(completion(tool_calls=calls), completion("都晴。")) as server:
        model, sentence = capstone.choose_model(server.environ)
        assert isinstance(model, ChatOpenAI)
        assert sentence == f"The model is local at {server.address}/v1, as OPENAI_BASE_URL says."
        model.streaming = streaming
        state = capstone.ask(agent(whose, model), QUESTION)
    assert said(state) == [
        ("human", QUESTION),
        ("ai", [{"city": "北京"}, {"city": "上海"}]),
        ("tool", "北京: 晴"),
        ("tool", "上海: 晴"),
        ("ai", "都晴。"),
    ]
    assert [bool(body.get("stream")) for body in server.bodies] == [streaming] * 2
    assert server.paths == ["/v1/chat/completions"] * 2
    names = [one["function"]["name"] for one in server.bodies[0]["tools"]]
    assert names == ["get_weather", "book_ticket"]
    answers = [(one["tool_call_id"], one["content"]) for one in server.bodies[1]["messages"][2:]]
    assert answers == [("call_1", "北京: 晴"), ("call_2", "上海: 晴")]
    assert diagnose(state["messages"], tools=[get_weather, book_ticket]).ok


@LOOPBACK
def test_what_is_streamed_arrives_piece_by_piece() -> None:
    calls = [("get_weather", '{"city": "北京"}')]
    with Server(completion(tool_calls=calls), completion("北京今天晴。")) as server:
        model, _ = capstone.choose_model(server.environ)
        given = {"messages": [("user", QUESTION)]}
        parts = list(create_agent(model, [get_weather]).stream(given, stream_mode="messages"))
    chunks = [one for one, details in parts if details["langgraph_node"] == "model"]
    arguments = [c["args"] for one in chunks for c in getattr(one, "tool_call_chunks", [])]
    assert len(arguments) > 3 and "".join(filter(None, arguments)) == '{"city": "北京"}'
    assert [one.content for one in chunks if one.content] == ["北京", "今天", "晴。"]


# A bracket that nobody quoted is broken both ways. What is only cut off is completed in a stream.
@LOOPBACK
@both_ways
@both_agents
def test_broken_arguments_end_the_run_in_silence(whose: str, streaming: bool) -> None:
    with Server(completion(tool_calls=[("get_weather", '{"city": 北京}')])) as server:
        model, _ = capstone.choose_model(server.environ)
        model.streaming = streaming
        state = capstone.ask(agent(whose, model), QUESTION)
    assert said(state) == [("human", QUESTION), ("ai", [])]
    (bad,) = state["messages"][-1].invalid_tool_calls
    assert (bad["args"], bad["error"] is None) == ('{"city": 北京}', streaming)
    assert diagnose(state["messages"], tools=[get_weather]).codes == ["broken-json"]


@LOOPBACK
@both_ways
def test_the_solution_of_the_drill_mends_a_broken_call(streaming: bool) -> None:
    hook = after_model(can_jump_to=["model"])(ex.solved("capstone-4"))
    replies = [
        completion(tool_calls=[("get_weather", '{"city": 北京}')]),
        completion(tool_calls=[("get_weather", '{"city": "北京"}')]),
        completion("晴。"),
    ]
    replies[1]["choices"][0]["message"]["tool_calls"][0]["id"] = "call_2"
    with Server(*replies) as server:
        model, _ = capstone.choose_model(server.environ)
        model.streaming = streaming
        made = create_agent(model, [get_weather], middleware=[hook])
        state = capstone.ask(made, QUESTION)
    assert [type for type, _ in said(state)] == ["human", "ai", "tool", "ai", "tool", "ai"]
    # The provider gets the broken call and its answer as a pair.
    asking, answer = server.bodies[1]["messages"][1:]
    assert asking["tool_calls"][0]["function"]["arguments"] == '{"city": 北京}'
    assert asking["tool_calls"][0]["id"] == answer["tool_call_id"] == "call_1"
    assert diagnose(state["messages"], tools=[get_weather]).ok


@LOOPBACK
@both_ways
def test_arguments_that_are_cut_off_are_completed_in_a_stream_alone(streaming: bool) -> None:
    replies = [completion(tool_calls=[("get_weather", '{"city": "北')]), completion("?")]
    with Server(*replies) as server:
        model, _ = capstone.choose_model(server.environ)
        model.streaming = streaming
        state = capstone.ask(create_agent(model, [get_weather]), QUESTION)
    assert [call["args"] for call in state["messages"][1].tool_calls] == [
        {"city": "北"}
    ] * streaming


# --- no answer ------------------------------------------------------------------------------------

REFUSED = {
    401: ("it does not accept the key.", False),
    403: ("the key may not use this model.", False),
    404: ("it knows no such address or model; look at the base URL and at MINILC_MODEL.", True),
    400: ("the request is refused.", True),
    429: ("too many requests, or no credit is left.", True),
    503: ("the server has failed.", True),
}


@LOOPBACK
@pytest.mark.parametrize("status", REFUSED)
def test_a_refusal_is_told_in_a_sentence(status: int) -> None:
    hint, speaks = REFUSED[status]
    body = {"error": {"message": "sk-secret is not\nwelcome", "type": "x", "code": "x"}}
    with Server((status, body), (status, body)) as server:
        environ = server.environ | {"OPENAI_API_KEY": "sk-secret"}
        model, _ = capstone.choose_model(environ)
        model = model.model_copy(update={"max_retries": 0})
        with pytest.raises(capstone.NoAnswer) as caught:
            capstone.ask(create_agent(model, []), QUESTION)
    said = " It said: sk-secret is not welcome" if speaks else ""
    where = f"{server.address}/v1/chat/completions"
    assert str(caught.value) == f"{where} answered {status}: {hint}{said}"


@LOOPBACK
def test_a_server_that_is_not_there_is_told_in_a_sentence() -> None:
    with Server() as server:
        pass
    secret = server.environ["OPENAI_BASE_URL"].replace("//", "//me:secret@")
    model, _ = capstone.choose_model(server.environ | {"OPENAI_BASE_URL": secret})
    where = f"{server.address}/v1/chat/completions"
    expected = f"^Nothing answers at {where}: is the server running, and is the address right\\?$"
    with pytest.raises(capstone.NoAnswer, match=expected):
        capstone.ask(create_agent(model, []), QUESTION)


@LOOPBACK
def test_a_stream_that_breaks_off_is_told_in_a_sentence() -> None:
    with Server({"error": {"message": "out of memory"}}) as server:
        model, _ = capstone.choose_model(server.environ)
        model.streaming = True
        with pytest.raises(capstone.NoAnswer, match="completions broke off: out of memory$"):
            capstone.ask(create_agent(model, []), QUESTION)


def test_another_error_is_not_dressed_up() -> None:
    with pytest.raises(ZeroDivisionError):
        capstone.ask(create_agent(ScriptedChatModel(lambda messages: 1 / 0), []), QUESTION)


# --- Anthropic ------------------------------------------------------------------------------------


@LOOPBACK
@both_agents
def test_an_agent_on_anthropics_api_calls_its_tool(whose: str) -> None:
    def reply(reason: str, **block: Any) -> dict[str, Any]:
        usage = {"input_tokens": 1, "output_tokens": 1}
        told = {"id": "msg_1", "type": "message", "role": "assistant", "model": "local"}
        ends = {"stop_reason": reason, "stop_sequence": None, "usage": usage}
        return {**told, "content": [block], **ends}

    given = {"id": "toolu_1", "name": "get_weather", "input": {"city": "北京"}}
    replies = [
        reply("tool_use", type="tool_use", **given),
        reply("end_turn", type="text", text="晴"),
    ]
    with Server(*replies) as server:
        environ = {"ANTHROPIC_API_KEY": "secret", "ANTHROPIC_BASE_URL": server.address}
        model, sentence = capstone.choose_model(environ)
        assert isinstance(model, ChatAnthropic)
        state = capstone.ask(agent(whose, model), QUESTION)
    assert (
        sentence
        == f"The model is {capstone.ANTHROPIC} at {server.address}, as ANTHROPIC_API_KEY says."
    )
    assert [message.type for message in state["messages"]] == ["human", "ai", "tool", "ai"]
    assert state["messages"][-1].text == "晴"
    assert server.paths == ["/v1/messages"] * 2
    # The client's older releases send the key as it is, the newer ones as a bearer token.
    sent = server.headers[0]
    assert (sent["X-Api-Key"] or sent["Authorization"].removeprefix("Bearer ")) == "secret"
    assert [one["name"] for one in server.bodies[0]["tools"]] == ["get_weather", "book_ticket"]
    assert server.bodies[0]["tools"][0]["input_schema"]["required"] == ["city"]
    (result,) = server.bodies[1]["messages"][-1]["content"]
    assert (result["type"], result["tool_use_id"]) == ("tool_result", "toolu_1")
    assert diagnose(state["messages"], tools=[get_weather]).ok


# --- which model ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environ", "kind", "sentence"),
    [
        ({}, ScriptedChatModel, "The model plays a script: no key and no server is named."),
        (
            {"OPENAI_API_KEY": " ", "OPENAI_BASE_URL": "", "ANTHROPIC_API_KEY": ""},
            ScriptedChatModel,
            "The model plays a script: no key and no server is named.",
        ),
        (
            {"OPENAI_API_KEY": "sk-secret"},
            ChatOpenAI,
            f"The model is {capstone.OPENAI} at https://api.openai.com/v1, as OPENAI_API_KEY says.",
        ),
        (
            {"OPENAI_API_KEY": "a", "ANTHROPIC_API_KEY": "b", "MINILC_MODEL": "mine"},
            ChatOpenAI,
            "The model is mine at https://api.openai.com/v1, as OPENAI_API_KEY says.",
        ),
        (
            {"OPENAI_BASE_URL": "http://me:secret@localhost:11434/v1?key=secret"},
            ChatOpenAI,
            f"The model is {capstone.OPENAI} at http://localhost:11434/v1, "
            "as OPENAI_BASE_URL says.",
        ),
        (
            {"OPENAI_BASE_URL": "http://localhost/v1", "OPENAI_API_KEY": "sk-secret"},
            ChatOpenAI,
            f"The model is {capstone.OPENAI} at http://localhost/v1, "
            "as OPENAI_API_KEY and OPENAI_BASE_URL say.",
        ),
        (
            {"ANTHROPIC_API_KEY": "secret", "MINILC_MODEL": "mine"},
            ChatAnthropic,
            "The model is mine at https://api.anthropic.com, as ANTHROPIC_API_KEY says.",
        ),
    ],
)
def test_the_environment_names_the_model(
    environ: dict[str, str], kind: type, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Only what is handed over counts.
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "http://other")
    model, told = capstone.choose_model(environ)
    assert type(model) is kind
    assert told == sentence and "secret" not in told
    if kind is ChatOpenAI:
        assert model.openai_api_base == environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")


# --- the parts ------------------------------------------------------------------------------------


def call(name: str, id: str = "call_1", **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": id, "type": "tool_call"}


BEIJING, SHANGHAI = call("get_weather", city="北京"), call("get_weather", "call_2", city="上海")
TICKET, MISSPELT = call("book_ticket", "call_3", city="上海"), call("get_wether", "call_4")
SCRIPTS: dict[str, list[Any]] = {
    "words": ["你好"],
    "two calls": [[BEIJING, SHANGHAI], "都晴。"],
    "two rounds": [[BEIJING], [SHANGHAI], "都晴。"],
    "a ticket": [[TICKET]],
    "a ticket and the weather": [[TICKET, BEIJING], "好。"],
    "a ticket and a wrong name": [[TICKET, MISSPELT]],
    "a wrong name": [[MISSPELT], "抱歉。"],
    "a wrong argument": [[call("get_weather", town="北京")], [BEIJING], "晴。"],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_the_solved_parts_together_have_the_conversations_of_create_agent(script: Any) -> None:
    def talk(whose: str) -> Any:
        answers = [
            AIMessage("", tool_calls=one) if isinstance(one, list) else one for one in script
        ]
        state = capstone.ask(agent(whose, ScriptedChatModel(answers)), QUESTION)
        return [
            (m.type, getattr(m, "tool_call_id", None), getattr(m, "status", None))
            if getattr(m, "status", None) == "error"
            else (m.type, m.content)
            for m in state["messages"]
        ]

    assert talk("the learner's") == talk("LangChain's")


def stub(id: str) -> Any:
    names: dict[str, Any] = {}
    exec(ex.exercise(id).stub, names)
    return names[ex.exercise(id).function]


def test_the_courses_part_stands_in_for_one_that_is_not_written() -> None:
    parts = capstone.assemble(SOLVED[0], stub("capstone-2"), lambda *parts, limit=25: [])
    assert parts.yours == ["tool_node"]
    assert parts.tool_node is SOLVED[0]
    assert (parts.edges, parts.loop) == (SOLVED[1], SOLVED[2])
    assert repr(parts).splitlines() == [
        "tool_node  yours         Like LangChain in every comparison.",
        "edges      the course's  not written yet",
        "loop       the course's  words end the run, and nothing else is asked",
    ]
    assert progress.load() == {"exercises": {}, "quizzes": {}}


def test_an_agent_has_three_parts() -> None:
    with pytest.raises(ValueError, match="has the parts .*'loop'.*, got 1$"):
        capstone.assemble(SOLVED[0])


# --- the certificate ------------------------------------------------------------------------------


def texts(path: Path) -> list[str]:
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    return [one.text or "" for one in root.iter("{http://www.w3.org/2000/svg}text")]


def test_a_certificate_says_what_is_passed(tmp_path: Path) -> None:
    progress.tried("capstone-1", True)
    progress.tried("capstone-2", False)
    progress.answered("capstone-1", True)
    for one in ex.lesson("base").exercises:
        progress.tried(one.id, True)
    for quiz in ex.lesson("base").quizzes:
        progress.answered(quiz.id, True)
    written = capstone.certificate(tmp_path, name="小明")
    assert written.path == tmp_path / capstone.FILE
    assert written.passed["18_capstone"] == (1, 4, 1, 2)
    found = texts(written.path)
    row = found.index("18_capstone")
    assert found[row - 1 : row + 3] == ["·", "18_capstone", "1 of 4", "1 of 2"]
    assert found[found.index("03_base") - 1] == "✓" and "小明" in found
    assert repr(written).startswith("minilc-certificate.svg: 4 of ")
    assert str(tmp_path) not in repr(written)
    assert [*written.passed] == sorted(written.passed)


def test_a_name_cannot_break_out_of_a_certificate(tmp_path: Path) -> None:
    written = capstone.certificate(tmp_path, name="</text><script>&\x00\ud800" + "长" * 99)
    text = written.path.read_text(encoding="utf-8")
    assert "<script" not in text and "&lt;script&gt;&amp;" in text
    assert max(map(len, texts(written.path))) < 100


def test_a_certificate_is_the_same_but_for_its_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Day(capstone.datetime.date):
        pass

    written = []
    for day in (Day(2030, 1, 1), Day(2030, 1, 2)):
        monkeypatch.setattr(Day, "today", classmethod(lambda cls, day=day: day))
        monkeypatch.setattr(capstone.datetime, "date", Day)
        made = capstone.certificate(tmp_path)
        assert "2030" not in repr(made)
        written.append(made.path.read_text(encoding="utf-8"))
    assert written[0] != written[1] == written[0].replace("2030-01-01", "2030-01-02")


def test_a_certificate_needs_a_folder_that_exists(tmp_path: Path) -> None:
    with pytest.raises(NotADirectoryError, match="^certificate: no folder '.*nowhere'$"):
        capstone.certificate(tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []


def test_no_certificate_is_left_in_the_project() -> None:
    assert [str(one) for one in ROOT.rglob(capstone.FILE)] == []
