"""The doctor: known patients, every form of a history, and nothing that it cannot survive."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.load import dumpd
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    ToolMessage,
    convert_to_openai_messages,
    messages_to_dict,
)

from minilc.course import cli, notebooks
from minilc.course.doctor import KINDS, QUESTIONS, Unreadable, corpus, diagnose, reading
from minilc.course.upstream import where
from minilc.course.worlds import LANGCHAIN, World

PATIENTS = [(one, lc) for one in corpus.PATIENTS for lc in one.worlds]


@pytest.mark.parametrize(
    ("one", "lc"), PATIENTS, ids=[f"{one.name}-{lc.name}" for one, lc in PATIENTS]
)
def test_an_illness_is_found_and_health_is_left_alone(one: corpus.Patient, lc: World) -> None:
    report = one.report(lc)
    if one.illness is None:
        assert report.codes == []
    else:
        assert one.illness in report.codes[:3]
        worst = {KINDS[code].question for code in report.codes}
        assert {n for n in QUESTIONS if report.status(n) in ("broken", "suspect")} == worst


# What people report, and the patients that have it.
REPORTED = {
    "a tool without a docstring, or with an empty description": "no_docstring empty_description",
    "a partial function as a tool": "partial_function",
    "a subclass of BaseTool without annotations": "subclass_without_annotations",
    "args_schema and function do not fit": "field_that_the_function_lacks "
    "parameter_that_the_schema_lacks",
    "a parameter called config, callbacks or run_manager": "parameter_called_config "
    "parameter_called_run_manager",
    "a fake model without bind_tools": "model_without_bind_tools",
    "a model that was bound before": "agent_with_a_bound_model bound_to_fewer_tools",
    "a schema that one provider refuses": "integer_literal",
    "tools_condition and the node's name": "map_without_tools",
    "broken JSON in the arguments": "arguments_cut_off arguments_cut_off_in_openai_form",
    "which errors are caught": "tool_raises refused_by_tool_node",
    "an async tool in a sync run": "async_tool_in_a_sync_run",
    "a middleware with one side": "sync_middleware_in_an_async_run",
    "ToolNode outside of a graph": "tool_node_alone",
    "messages under another key": "other_key",
    "parallel calls in an assumed order": "argument_stands_for_an_answer reads_what_is_written",
    "an injected tool called by hand": "call_id_by_hand",
    "state or runtime declared the wrong way": "plain_state optional_runtime",
    "an injected field that is not set": "misspelt_field field_that_is_not_set",
    "state changed in place": "state_changed_in_place",
    "calls without an id": "id_is_none id_is_empty",
    "a call without an answer": "no_answer answer_with_a_wrong_id",
    "a call in additional_kwargs or in the text": "call_in_additional_kwargs call_as_text",
    "an interrupt that does not pause": "broad_except nothing_to_resume",
    "an artifact and a checkpointer": "object_as_artifact",
    "two Commands write one field": "field_without_reducer",
    "drawing without network": "drawing_in_ascii",
    "asyncio.run in a cell": "asyncio_run_in_a_cell",
    "names that moved": "imports_the_old_executor",
}


@pytest.mark.parametrize("report", REPORTED)
def test_what_people_report_is_found(report: str) -> None:
    found = {one.name: one for one in corpus.PATIENTS}
    for name in REPORTED[report].split():
        for lc in found[name].worlds:
            assert found[name].illness in found[name].report(lc).codes[:3]


def test_every_kind_of_finding_has_a_patient() -> None:
    assert {one.illness for one in corpus.PATIENTS} == {*KINDS, None}


@pytest.mark.parametrize("code", KINDS)
def test_a_finding_points_to_source_and_a_notebook_that_are_there(code: str) -> None:
    kind = KINDS[code]
    assert where(kind.symbol).upstream.first > 0
    assert kind.notebook in notebooks.names()
    assert kind.question in QUESTIONS
    assert kind.title and kind.why and kind.fix


# --- forms --------------------------------------------------------------------------------------


def history() -> list[Any]:
    call = {"name": "get_weather", "args": {"city": "北京"}, "id": "call_1", "type": "tool_call"}
    return [
        HumanMessage("北京今天天气怎么样？"),
        AIMessage("", tool_calls=[call]),
        ToolMessage("晴", tool_call_id="call_9", name="get_weather"),
        AIMessage("晴。"),
    ]


def openai_form(messages: list[Any]) -> list[Any]:
    return convert_to_openai_messages(messages)


def anthropic_form(_: list[Any]) -> list[Any]:
    used = {"type": "tool_use", "id": "call_1", "name": "get_weather", "input": {"city": "北京"}}
    result = {"type": "tool_result", "tool_use_id": "call_9", "content": "晴"}
    return [
        {"role": "user", "content": "北京今天天气怎么样？"},
        {"role": "assistant", "content": [used]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": "晴。"},
    ]


def trace_form(messages: list[Any]) -> dict[str, Any]:
    child = {"name": "get_weather", "run_type": "tool", "error": None, "child_runs": []}
    outputs = {"messages": [dumpd(one) for one in messages]}
    return {"id": "1", "name": "LangGraph", "outputs": outputs, "child_runs": [child]}


FORMS: dict[str, Any] = {
    "objects": lambda messages: messages,
    "a state": lambda messages: {"messages": messages},
    "plain dicts": lambda messages: [one.model_dump() for one in messages],
    "messages_to_dict": messages_to_dict,
    "LangChain's dumps": lambda messages: [dumpd(one) for one in messages],
    "OpenAI": openai_form,
    "a request body": lambda messages: {"model": "m", "messages": openai_form(messages)},
    "Anthropic": anthropic_form,
    "a LangGraph thread": lambda messages: {
        "values": {"messages": [one.model_dump() for one in messages]},
        "next": [],
    },
    "a trace": trace_form,
    "a checkpoint": lambda messages: {
        "v": 1,
        "channel_values": {"messages": [one.model_dump() for one in messages]},
    },
    "a history of states": lambda messages: [
        {"values": {"messages": [one.model_dump() for one in messages[:count]]}, "next": []}
        for count in (4, 2, 1)
    ],
    "a trace of a model's call": lambda messages: {
        "name": "ChatOpenAI",
        "inputs": {"messages": [[dumpd(one) for one in messages[:-1]]]},
        "outputs": {"generations": [[{"text": "", "message": dumpd(messages[-1])}]]},
    },
    "an answer of OpenAI's": lambda messages: {
        "messages": openai_form(messages[:-1]),
        "choices": [{"index": 0, "message": openai_form(messages[-1:])[0]}],
    },
    "a batch": lambda messages: [[one.model_dump() for one in messages]],
    "inputs and outputs": lambda messages: {
        "inputs": {"messages": [messages[0].model_dump()]},
        "outputs": {"messages": [one.model_dump() for one in messages]},
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_a_history_is_read_in_every_form(form: str, tmp_path: Path) -> None:
    given = FORMS[form](history())
    report = diagnose(given)
    assert report.codes == ["wrong-id"]
    (finding,) = report.findings
    assert "'call_1'" in finding.evidence and "'call_9'" in finding.evidence
    if form not in ("objects", "a state"):
        saved = tmp_path / "run.json"
        saved.write_text(json.dumps(given, ensure_ascii=False), encoding="utf-8")
        assert diagnose(saved).findings == report.findings


def test_lines_of_messages_and_lines_of_states_are_read(tmp_path: Path) -> None:
    plain = [one.model_dump() for one in history()]
    lines = tmp_path / "messages.jsonl"
    lines.write_text("\n".join(map(json.dumps, plain)), encoding="utf-8")
    states = tmp_path / "states.jsonl"
    grown = [{"messages": plain[: n + 1]} for n in range(len(plain))]
    states.write_text("\n\n".join(map(json.dumps, grown)), encoding="utf-8")
    assert diagnose(lines).codes == diagnose(states).codes == ["wrong-id"]


def test_what_print_shows_is_read(tmp_path: Path) -> None:
    saved = tmp_path / "printed.txt"
    for shown in (history(), {"messages": history()}):
        saved.write_text(repr(shown), encoding="utf-8")
        assert diagnose(saved).findings == diagnose(shown).findings
    saved.write_text(
        "[AIMessage(content=__import__('os').system('x')), HumanMessage('a')]", "utf-8"
    )
    (chart,) = reading.read_file(saved)
    assert [one.type for one in chart.messages] == ["ai", "human"]
    saved.write_text("[AIMessage(content='a'", encoding="utf-8")
    with pytest.raises(
        Unreadable, match="unreadable: printed.txt, line 1: expected printed messages"
    ):
        diagnose(saved)


def test_several_conversations_are_all_looked_at(tmp_path: Path) -> None:
    healthy = [{"role": "user", "content": text} for text in "abc"]
    cut = [{"role": "tool", "tool_call_id": "c1", "content": "18C"}, healthy[0]]
    saved = tmp_path / "two.jsonl"
    lines = [{"messages": healthy}, {"event": "start"}, {"messages": cut}, {"messages": []}]
    saved.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    report = diagnose(saved)
    assert report.subject == (
        "two.jsonl, 5 messages in 2 conversations (1 part skipped: line 2 no message)"
    )
    assert [(one.code, one.where) for one in report.findings] == [
        ("trimmed-pair", "line 3, messages[0]")
    ]
    assert diagnose([{"messages": healthy}, {"messages": cut}]).codes == ["trimmed-pair"]


def test_messages_a_line_may_begin_with_the_tools(tmp_path: Path) -> None:
    tool = {"type": "function", "function": {"name": "get_tide", "description": "Tide of a sea."}}
    saved = tmp_path / "log.jsonl"
    lines = [{"tools": [tool]}, *openai_form(history())]
    saved.write_text("\n".join(map(json.dumps, lines)) + '\n{"role": "us', encoding="utf-8")
    assert diagnose(saved).codes == ["unknown-tool", "wrong-id"]


def test_what_a_stream_gave_is_one_conversation() -> None:
    first, asked, answer, last = (one.model_dump() for one in history())
    chunks: list[Any] = [
        ["updates", {"model": {"messages": [asked]}}],
        [["outer:1"], {"tools": {"messages": [answer]}}],
        {"model": {"messages": [last]}},
    ]
    assert diagnose(chunks).codes == ["wrong-id"]
    assert diagnose([{"messages": [first]}, *chunks]).codes == ["wrong-id"]
    plain = [first, asked, answer, last]
    events = [{"event": "values", "data": {"messages": plain[:n]}} for n in range(1, 5)]
    assert diagnose(events).codes == ["wrong-id"]


def test_a_pause_and_a_crash_are_told_from_the_tasks() -> None:
    call = {"name": "f", "args": {}, "id": "c1", "type": "tool_call"}
    values = {"messages": [HumanMessage("?"), AIMessage("", tool_calls=[call])]}
    paused = {"values": values, "tasks": [{"name": "tools", "interrupts": [{"value": "?"}]}]}
    assert diagnose(paused).codes == []
    crashed = {"values": values, "tasks": [{"name": "tools", "error": "ValueError('x')"}]}
    assert diagnose(crashed).codes == ["error-ends-run", "pending-call"]


def test_an_error_is_told_once_where_it_is_deepest() -> None:
    inner = {"name": "get_weather", "run_type": "tool", "error": "ValueError('x')"}
    middle = {"name": "tools", "error": "ValueError('x')", "child_runs": [inner]}
    outer = {"name": "LangGraph", "error": "ValueError('x')", "child_runs": [middle]}
    (finding,) = diagnose(outer).findings
    assert (finding.code, finding.where) == (
        "error-ends-run",
        "get_weather (in tools, in LangGraph)",
    )
    handled = outer | {"error": None, "outputs": {"messages": history()[:1]}}
    assert diagnose(handled).ok


def test_a_run_may_stream_or_be_awaited() -> None:
    def make() -> Any:
        call = {"name": "get_weather", "args": {"town": "x"}, "id": "c1", "type": "tool_call"}
        model = LANGCHAIN.ScriptedChatModel([AIMessage("", tool_calls=[call]), "?"])

        def get_weather(city: str) -> str:
            """Get the weather of a city."""
            return city

        return LANGCHAIN.create_agent(model, [get_weather])

    question = {"messages": [("user", "?")]}
    for run in (
        lambda: make().invoke(question),
        lambda: make().ainvoke(question),
        lambda: make().stream(question),
        lambda: make().astream(question, stream_mode="values"),
    ):
        report = diagnose(run)
        assert report.codes == ["call-arguments-refused", "call-arguments-dropped"]
        assert report.seen[1] == "2 requests, tools ['get_weather']"
    with pytest.raises(Unreadable, match="expected one of no argument, or of one for the model"):
        diagnose(lambda one, two: None)


def test_nothing_is_healthy_that_was_not_looked_at() -> None:
    report = diagnose([HumanMessage("?"), AIMessage("!")])
    assert [report.status(number) for number in (1, 2, 3, 4)] == ["not seen"] * 4
    assert "not seen (there are no calls)" in repr(report)
    assert diagnose(lambda: None).status(1) == "not seen"


def test_a_place_is_that_of_the_saved_message() -> None:
    (finding,) = diagnose({"values": {"messages": history()}}).findings
    assert finding.where == "values.messages[2]"


def test_the_tools_of_a_request_body_are_looked_at() -> None:
    tool = {"type": "function", "function": {"name": "get tide", "description": "Tide of a sea."}}
    report = diagnose({"messages": openai_form(history()), "tools": [tool]})
    assert report.codes == ["name-refused", "unknown-tool", "wrong-id"]


def test_an_error_in_a_trace_is_a_finding() -> None:
    error = "GraphRecursionError('Recursion limit of 25 reached without hitting a stop condition')"
    trace = trace_form(history()[:1]) | {"error": error}
    assert diagnose(trace).codes == ["recursion-limit"]


# --- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "unreadable: run.json: expected JSON, got ''"),
        (
            '{"messages": [',
            "unreadable: run.json, line 1, column 15: expected the rest of the JSON",
        ),
        (
            '{"a": 1}',
            "unreadable: run.json, the top: expected messages (there are the keys a; save",
        ),
        ("3", "unreadable: run.json, the top: expected messages, got 3"),
        (
            '[{"role": "user", "content": "x"}, {"text": "x"}]',
            "unreadable: run.json, messages[1]: expected a message with a role or a type",
        ),
        (
            '[{"role": "assistant", "tool_calls": 5}]',
            "unreadable: run.json, messages[0].tool_calls: expected a list, got 5",
        ),
        ('{"role": "user"}\n{"role": \n{"role": "user"}', "unreadable: run.json, line 2: expected"),
        ("[" * 100_000, "unreadable: run.json"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place(
    text: str, message: str, tmp_path: Path, capsys: Any
) -> None:
    path = tmp_path / "run.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Unreadable) as caught:
        diagnose(path)
    assert str(caught.value).startswith(message)
    assert cli.main(["doctor", str(path)]) == 2
    assert capsys.readouterr().err.startswith(f"minilc: {message}")


def test_a_file_that_is_no_text_or_not_there_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Unreadable, match="unreadable: x.bin: expected a UTF-8 text file"):
        diagnose(tmp_path / "x.bin")
    with pytest.raises(Unreadable, match="unreadable: nowhere.json: expected a file, got 'No such"):
        diagnose(tmp_path / "nowhere.json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                "messages role type content tool_calls id name args function arguments lc "
                "kwargs data tool_call_id status error tools child_runs additional_kwargs "
                "input".split()
            )
            | st.text(max_size=4),
            inner
            | st.sampled_from("human ai tool user assistant system tool_use tool_result".split()),
            max_size=6,
        )
    ),
    max_leaves=25,
)


@given(JSON)
@settings(max_examples=400, deadline=None)
def test_anything_is_survived(value: Any) -> None:
    try:
        report = diagnose(json.loads(json.dumps(value)))
    except Unreadable as error:
        assert str(error).startswith("unreadable: ")
    else:
        assert json.loads(report.as_json())
        assert repr(report) and report._repr_html_()


def test_a_long_history_is_read_in_one_pass() -> None:
    messages: list[Any] = []
    for number in range(25_000):
        call = {"name": "get_weather", "args": {"city": "北京"}, "id": f"c{number}"}
        messages += [HumanMessage("?"), AIMessage("", tool_calls=[call])]
        messages += [ToolMessage("晴", tool_call_id=f"c{number}"), AIMessage("晴。")]
    assert len(messages) == 100_000
    assert diagnose(messages).ok


# --- what it says -------------------------------------------------------------------------------


def test_text_of_others_is_escaped() -> None:
    evil = "<script>alert(1)</script>\x1b[31m"
    call = {"name": evil, "args": {evil: evil}, "id": evil, "type": "tool_call"}
    report = diagnose([HumanMessage(evil), AIMessage("", tool_calls=[call]), HumanMessage(evil)])
    assert report.codes == ["unanswered-call"]
    assert "<script>" not in report._repr_html_()
    assert "&lt;script&gt;" in report._repr_html_()
    assert "\x1b" not in repr(report) + report._repr_html_()


def test_the_questions_stand_in_their_order_with_their_status() -> None:
    report = diagnose(history())
    statuses = [report.status(n) for n in (1, 2, 3, 4)]
    assert statuses == ["not seen", "healthy", "not seen", "broken"]
    text = repr(report)
    assert [text.index(QUESTIONS[n]) for n in (1, 2, 3, 4)] == sorted(
        text.index(QUESTIONS[n]) for n in (1, 2, 3, 4)
    )


def test_many_findings_of_a_kind_are_counted() -> None:
    calls = [{"name": "f", "args": {}, "id": f"c{n}", "type": "tool_call"} for n in range(9)]
    report = diagnose([AIMessage("", tool_calls=calls), HumanMessage("?")])
    assert len(report.findings) == 9
    assert "and 4 more" in repr(report) and "and 4 more" in report._repr_html_()


def test_a_tool_is_never_called() -> None:
    called: list[str] = []

    def look_up(query: str) -> str:
        """Look up a query in the manual."""
        called.append(query)
        return query

    tool = LANGCHAIN.tool(look_up)
    agent = LANGCHAIN.create_agent(LANGCHAIN.ScriptedChatModel(["hi"]), [tool])
    call = {"name": "look_up", "args": {"query": "x"}, "id": "c1", "type": "tool_call"}
    messages = [HumanMessage("?"), AIMessage("", tool_calls=[call])]
    for subject in (tool, [look_up], agent, messages):
        diagnose(subject)
    diagnose(messages, tools=[tool])
    assert called == []


def test_a_run_is_given_a_recording_model() -> None:
    def get_weather(city: str) -> str:
        """Get the weather of a city."""
        return city

    def ask(model: Any) -> Any:
        agent = LANGCHAIN.create_agent(model, [get_weather])
        return agent.invoke({"messages": [("user", "?")]})

    report = diagnose(ask)
    (request,) = report.requests
    assert report.ok
    assert [one["function"]["name"] for one in request.tools] == ["get_weather"]
    assert [one.type for one in request.messages] == ["human"]


def test_a_run_without_arguments_is_listened_to() -> None:
    agent = LANGCHAIN.create_agent(LANGCHAIN.ScriptedChatModel(["hi"]), [])
    report = diagnose(lambda: agent.invoke({"messages": [("user", "?")]}))
    assert report.codes == ["no-tools"]
    assert len(report.requests) == 1


# --- the command --------------------------------------------------------------------------------


def test_the_command_prints_and_ends_as_it_says(
    tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    bad, good = tmp_path / "bad.json", tmp_path / "good.json"
    bad.write_text(json.dumps(openai_form(history())), encoding="utf-8")
    good.write_text(json.dumps(openai_form(history()[:1])), encoding="utf-8")
    assert cli.main(["doctor", str(good)]) == 0
    assert "good.json, 1 message: nothing found" in capsys.readouterr().out
    (tmp_path / "cut.json").write_text("[", encoding="utf-8")
    assert cli.main(["doctor", str(tmp_path / "cut.json"), str(good)]) == 2
    assert "good.json, 1 message: nothing found" in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.StringIO(bad.read_text(encoding="utf-8")))
    assert cli.main(["doctor", "-"]) == 1
    capsys.readouterr()
    assert cli.main(["doctor", str(good), str(bad)]) == 1
    assert "[wrong-id] An answer carries another id than its call" in capsys.readouterr().out
    assert cli.main(["doctor", "--json", str(bad)]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [one["code"] for one in told["findings"]] == ["wrong-id"]
    assert [one["status"] for one in told["questions"]][3] == "broken"


def test_the_codes_are_listed(capsys: Any) -> None:
    assert cli.main(["doctor", "--codes"]) == 0
    printed = capsys.readouterr().out
    assert all(code in printed for code in KINDS)


def test_the_examination_prints_its_figures(monkeypatch: Any, capsys: Any) -> None:
    chosen = [one for one in corpus.PATIENTS if one.name in ("no_answer", "one_round")]
    monkeypatch.setattr(corpus, "PATIENTS", chosen)
    assert cli.main(["doctor", "--examine"]) == 0
    assert "recall 2/2 illnesses" in capsys.readouterr().out
    wrong = corpus.Patient("healthy_in_truth", chosen[1].make, "no-tools", (LANGCHAIN,))
    monkeypatch.setattr(corpus, "PATIENTS", [*chosen, wrong])
    assert cli.main(["doctor", "--examine"]) == 1
    assert "healthy_in_truth in langchain: no-tools, found nothing" in capsys.readouterr().out


def test_a_file_is_data(tmp_path: Path) -> None:
    # A serialized object of LangChain's names a class; it is read, never built.
    made = {"lc": 1, "type": "constructor", "id": ["os", "system", "HumanMessage"], "kwargs": {}}
    ((message,),) = (chart.messages for chart in reading.read([made]))
    assert (message.type, message.content) == ("human", None)
