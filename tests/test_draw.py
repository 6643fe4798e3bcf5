"""The drawings: the same edges as the graph, complete and harmless labels, something to read."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typing_extensions import TypedDict

from minilc.course import draw, images
from minilc.course.draw import dot, look
from minilc.course.draw.graphs import parts
from minilc.course.worlds import LANGCHAIN, World

SVG = "{http://www.w3.org/2000/svg}"
QUESTION = {"messages": [{"role": "user", "content": "北京今天天气怎么样？"}]}


def call(number: int, name: str = "get_weather", **arguments: Any) -> dict[str, Any]:
    arguments = arguments or {"city": "北京"}
    return {"name": name, "args": arguments, "id": f"call_{number}", "type": "tool_call"}


def weather_agent(lc: World, *answers: Any) -> Any:
    @lc.tool
    def get_weather(city: str) -> str:
        """查询指定城市的天气"""
        return f"{city}今天晴，25°C"

    script = answers or (
        lc.AIMessage("", tool_calls=[call(1), call(2, city="上海")]),
        lc.AIMessage("今天北京天气晴"),
    )
    return lc.create_agent(lc.ScriptedChatModel(list(script)), [get_weather])


def texts(svg: str) -> list[str]:
    return ["".join(one.itertext()) for one in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def state_graph(lc: World, names: list[str]) -> Any:
    """A compiled graph that runs its nodes one after another."""
    builder = lc.StateGraph(lc.MessagesState)
    for name in names:
        builder.add_node(name, lambda state: {})
    for one, other in zip([lc.START, *names], [*names, lc.END], strict=True):
        builder.add_edge(one, other)
    return builder.compile()


def grown(left: list[int], right: list[int]) -> list[int]:
    """A reducer that changes what it is given."""
    left.extend(right)
    return left


class Seen(TypedDict):
    seen: Annotated[list[int], grown]


# --- the graph -------------------------------------------------------------------------------


def test_the_graph_has_the_edges_of_get_graph(lc: World) -> None:
    agent = weather_agent(lc)
    _, edges = parts(agent)
    assert {(one.source, one.target, one.conditional) for one in edges} == {
        ("__start__", "model", False),
        ("model", "tools", True),
        ("model", "__end__", True),
        ("tools", "model", True),
    }
    drawing = draw.graph(agent)
    lines = re.findall(r"n(\d) -> n(\d)", drawing.digraph.source)
    names = list(parts(agent)[0])
    assert {(names[int(a)], names[int(b)]) for a, b in lines} == {
        (edge.source, edge.target) for edge in edges
    }


def test_the_route_of_a_run_is_numbered_by_step(lc: World) -> None:
    agent = weather_agent(lc)
    run = draw.record(agent, QUESTION)
    assert run.steps == [["model"], ["tools", "tools"], ["model"]]
    assert str(draw.graph(agent, taken=run)).splitlines()[1:] == [
        "* START ──> model  step 1",
        "* model --> END  step 4",
        "* model --> tools  step 2 (2×)",
        "* tools --> model  step 3",
    ]


def test_a_run_keeps_the_state_before_its_first_step_and_after_each(lc: World) -> None:
    run = draw.record(weather_agent(lc), QUESTION)
    kinds = [[message.type for message in state["messages"]] for state in run.states]
    assert kinds == [
        ["human"],
        ["human", "ai"],
        ["human", "ai", "tool", "tool"],
        ["human", "ai", "tool", "tool", "ai"],
    ]
    assert run.states[-1] is run.state
    assert draw.graph(run.graph, taken=run).text == draw.graph(weather_agent(lc), taken=run).text


def test_a_step_that_changes_nothing_has_the_state_of_the_step_before(lc: World) -> None:
    run = draw.record(state_graph(lc, ["a", "b", "c"]), QUESTION)
    assert run.steps == [["a"], ["b"], ["c"]]
    assert [len(state["messages"]) for state in run.states] == [1, 1, 1, 1]


def test_no_later_step_changes_a_kept_state(lc: World) -> None:
    builder = lc.StateGraph(Seen)
    for number, name in enumerate("ab", 1):
        builder.add_node(name, lambda state, number=number: {"seen": [number]})
    builder.add_edge(lc.START, "a")
    builder.add_edge("a", "b")
    run = draw.record(builder.compile(), {"seen": [0]})
    assert [state["seen"] for state in run.states] == [[0], [0, 1], [0, 1, 2]]


def test_a_graph_is_drawn_as_it_is_in_the_middle_of_a_run(lc: World) -> None:
    agent = weather_agent(lc)
    drawing = draw.graph(agent, taken=["model", "tools"], active=["tools"])
    assert drawing.text.splitlines()[1:] == [
        "* START ──> model  step 1",
        "  model --> END",
        "* model --> tools  step 2",
        "  tools --> model",
        "Now at tools.",
    ]
    assert drawing.description.endswith("The run went through model, then tools. Now at tools.")
    assert [text for text in texts(drawing.svg) if "▶" in text] == ["▶ tools"]
    begun = draw.graph(agent, taken=[], active=["__start__"])
    assert "*" not in begun.text and "▶ START" in texts(begun.svg)
    ended = draw.graph(agent, taken=["model"], active=["__end__"])
    assert "* model --> END  step 2" in ended.text.splitlines()


def test_messages_and_names_tell_a_route_too(lc: World) -> None:
    agent = weather_agent(lc)
    run = draw.record(agent, QUESTION)
    by_run = draw.graph(agent, taken=run).text
    assert draw.graph(agent, taken=run.messages).text == by_run
    assert draw.graph(agent, taken={"messages": run.messages}).text == by_run
    assert draw.graph(agent, taken=["model"]).text.splitlines()[1] == "* START ──> model  step 1"
    assert "step" not in draw.graph(agent, taken=["model"], steps=False).text.partition("\n")[2]


def test_a_route_through_an_unknown_node_is_refused(lc: World) -> None:
    with pytest.raises(ValueError) as caught:
        draw.graph(weather_agent(lc), taken=["model", "nope"])
    assert str(caught.value) == (
        "the route goes through ['nope']; the graph has ['__end__', '__start__', 'model', 'tools']"
    )


def test_a_goto_that_no_edge_declares_is_drawn_as_one(lc: World) -> None:
    builder = lc.StateGraph(lc.MessagesState)
    builder.add_node("a", lambda state: lc.Command(goto="b"))
    builder.add_node("b", lambda state: {})
    builder.add_edge(lc.START, "a")
    graph = builder.compile()
    drawing = draw.graph(graph, taken=draw.record(graph, QUESTION))
    assert "* a ~~> b  step 2" in drawing.text.splitlines()
    assert "goto · 2" in "".join(texts(drawing.svg))


def test_an_interrupted_run_says_that_it_paused_and_what_it_asks(lc: World) -> None:
    builder = lc.StateGraph(lc.MessagesState)
    builder.add_node("ready", lambda state: {})
    builder.add_node("ask", lambda state: {"messages": [lc.interrupt("may I?")]})
    builder.add_edge(lc.START, "ready")
    builder.add_edge("ready", "ask")
    graph = builder.compile(checkpointer=lc.InMemorySaver())
    run = draw.record(graph, QUESTION, {"configurable": {"thread_id": "1"}})
    assert run.paused and run.asked == ["may I?"]
    assert run.steps == [["ready"]]
    assert [list(state) for state in run.states] == [["messages"], ["messages"]]


def test_a_changed_digraph_can_be_drawn_again() -> None:
    drawing = draw.graph(state_graph(LANGCHAIN, ["a"]))
    drawing.digraph.node("extra", "mine")
    assert "mine" in texts(draw.render(drawing.digraph).svg)


# --- sequence and ledger ---------------------------------------------------------------------


def test_the_sequence_says_who_says_what_to_whom(lc: World) -> None:
    run = draw.record(weather_agent(lc), QUESTION)
    assert str(draw.sequence(run)).splitlines() == [
        "Sequence of 5 messages",
        ' 1. user -> graph [0]: HumanMessage "北京今天天气怎么样？"',
        " 2. graph -> model: history of 1 message, tools' schemas",
        ' 3. model -> graph [1]: AIMessage get_weather(city="北京") #call_1',
        ' 4. model -> graph [1]: AIMessage get_weather(city="上海") #call_2',
        " 5. graph -> ToolNode: #call_1 has no answer yet: to the tools",
        " 6. graph -> ToolNode: #call_2 has no answer yet: to the tools",
        ' 7. ToolNode -> get_weather: invoke({"city": "北京"})',
        ' 8. get_weather -> ToolNode: "北京今天晴，25°C"',
        ' 9. ToolNode -> graph [2]: ToolMessage #call_1 "北京今天晴，25°C"',
        '10. ToolNode -> get_weather: invoke({"city": "上海"})',
        '11. get_weather -> ToolNode: "上海今天晴，25°C"',
        '12. ToolNode -> graph [3]: ToolMessage #call_2 "上海今天晴，25°C"',
        " 13. graph -> model: history of 4 messages, tools' schemas".lstrip(),
        '14. model -> graph [4]: AIMessage "今天北京天气晴"',
        "15. graph -> user: the state, with every message",
    ]


def test_a_tool_that_does_not_exist_is_never_called(lc: World) -> None:
    wrong = lc.AIMessage("", tool_calls=[call(1, "get_wether")])
    run = draw.record(weather_agent(lc, wrong, lc.AIMessage("sorry")), QUESTION)
    people = {line.split()[1] for line in str(draw.sequence(run)).splitlines()[1:]}
    assert people == {"user", "graph", "model", "ToolNode"}
    assert 'ToolMessage status="error" #call_1 "Error: get_wether' in str(draw.sequence(run))


def test_the_ledger_pairs_calls_and_answers_by_id(lc: World) -> None:
    broken = {"name": "f", "args": '{"city": "北', "id": "call_4", "error": None}
    history = [
        lc.HumanMessage("北京？"),
        lc.AIMessage(
            "",
            tool_calls=[call(1), call(2), call(3)],
            invalid_tool_calls=[broken | {"type": "invalid_tool_call"}],
        ),
        lc.ToolMessage("晴", tool_call_id="call_1"),
        lc.ToolMessage("晴", tool_call_id="call_1"),
        lc.ToolMessage("boom", tool_call_id="call_3", status="error"),
        lc.ToolMessage("for nobody", tool_call_id="call_9"),
    ]
    assert [(entry.id, entry.verdict) for entry in draw.entries(history)] == [
        ("call_1", "duplicate: 2 answers to one call"),
        ("call_2", "pending: no answer yet"),
        ("call_3", "answered with an error"),
        ("call_4", "invalid: arguments that do not parse: nobody runs it, nobody answers"),
        ("call_9", "orphan: no call has this id"),
    ]
    drawing = draw.ledger(history)
    assert drawing.title == "Ledger of 5 tool calls, 4 of them not in order"
    assert "pending: no answer yet" in texts(drawing.svg)


def test_one_id_for_two_calls_is_a_duplicate(lc: World) -> None:
    history = [
        lc.AIMessage("", tool_calls=[call(1), call(1)]),
        lc.ToolMessage("a", tool_call_id="call_1"),
        lc.ToolMessage("b", tool_call_id="call_1"),
    ]
    assert [entry.verdict for entry in draw.entries(history)] == [
        "duplicate: 2 calls have this id",
        "duplicate: 2 calls have this id",
    ]


def test_a_history_without_calls_has_an_empty_ledger(lc: World) -> None:
    assert "no tool call in this history" in texts(draw.ledger([lc.HumanMessage("hi")]).svg)


# --- the lanes -------------------------------------------------------------------------------


def test_lanes_show_the_order_of_beginnings_and_ends_and_no_time() -> None:
    lanes = draw.Lanes()
    with lanes.run("北京"), lanes.run("上海"):
        pass
    assert (lanes.began, lanes.ended) == (["北京", "上海"], ["上海", "北京"])
    drawing = lanes.drawing("Two calls", answers=["北京", "上海"])
    assert str(drawing).splitlines() == [
        "Two calls",
        "1. 北京 begins",
        "2. 上海 begins",
        "3. 上海 ends",
        "4. 北京 ends",
        "answer 1: 北京",
        "answer 2: 上海",
    ]
    assert {"北京", "上海", "answer 1", "answer 2", "1", "4"} <= set(texts(drawing.svg))
    boxes = [
        (float(box.get("x", 0)), float(box.get("width", 0)))
        for box in ElementTree.fromstring(drawing.svg or "").iter(f"{SVG}rect")
    ][1:]
    (long, short) = sorted(boxes, key=lambda box: -box[1])
    assert long[0] < short[0] and sum(long) > sum(short)  # the one lies within the other


def test_a_lane_may_fail_or_still_run() -> None:
    lanes = draw.Lanes()
    with pytest.raises(KeyError), lanes.run("北京"):
        raise KeyError
    unfinished = lanes.run("上海")
    unfinished.__enter__()
    assert repr(lanes).splitlines()[1:] == ["1. 北京 begins", "2. 北京 fails", "3. 上海 begins"]
    assert {"fails", "still runs"} <= set(texts(lanes.drawing().svg or ""))
    unfinished.__exit__(None, None, None)
    assert lanes.ended == ["北京", "上海"]


def test_lanes_without_a_run_are_a_picture_too() -> None:
    assert draw.Lanes().drawing().svg is not None


# --- any label -------------------------------------------------------------------------------

NASTY = st.one_of(
    st.text(min_size=1, max_size=30),
    st.sampled_from(
        [
            '"];x->y;"',
            "<b>bold</b>",
            "</text><script>alert(1)</script>",
            "&lt;&amp;&#39;",
            "a:b:c",
            "\\N\\G\\l\\r\\\\",
            "]]>",
            "--><!--",
            "<<table>>",
            "北京今天天气怎么样？",
            "👩‍👩‍👧 é ñ",
            "\x00\x1b[31m\u202e",
            "subgraph",
            "node [label=x]",
            "line\nbreak",
            "'\"`${}",
        ]
    ),
)
FUZZ = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@FUZZ
@given(names=st.lists(NASTY, min_size=2, max_size=3, unique=True), condition=NASTY)
def test_any_name_is_a_complete_label_of_a_graph(names: list[str], condition: str) -> None:
    edge = SimpleNamespace(source=names[0], target=names[1], data=condition, conditional=True)
    graph = SimpleNamespace(nodes={name: None for name in names}, edges=[edge])
    svg = draw.graph(graph, taken=[names[0], names[1]]).svg
    assert svg is not None
    shown = squeezed("".join(texts(svg)))
    for label in [*names, condition]:
        assert squeezed(look.plain(label)) in shown
    only_drawings(svg)


@FUZZ
@given(name=NASTY)
def test_any_name_is_text_in_a_lane(name: str) -> None:
    lanes = draw.Lanes()
    with lanes.run(name):
        pass
    svg = lanes.drawing(name, answers=[name]).svg
    assert svg is not None
    shown = look.one_line(name, 24)
    assert not shown or shown in map(str.strip, texts(svg))
    only_drawings(svg)


@FUZZ
@given(name=NASTY, value=NASTY, identifier=NASTY, content=NASTY)
def test_any_message_is_text_in_a_sequence_and_a_ledger(
    name: str, value: str, identifier: str, content: str
) -> None:
    lc = LANGCHAIN
    asked = {"name": name, "args": {"x": value}, "id": identifier, "type": "tool_call"}
    history = [
        lc.HumanMessage(content),
        lc.AIMessage("", tool_calls=[asked]),
        lc.ToolMessage(content, tool_call_id=identifier),
    ]
    for drawing in (draw.sequence(history), draw.ledger(history)):
        only_drawings(drawing.svg)
        shown = squeezed("".join(texts(drawing.svg)))
        assert squeezed(look.one_line(content, 46)) in shown
        assert f"#{squeezed(look.plain(identifier))}"[:20] in shown


def only_drawings(svg: str) -> None:
    """The SVG parses, is described, and holds nothing that acts."""
    root = ElementTree.fromstring(svg)
    tags = {one.tag.removeprefix(SVG) for one in root.iter()}
    assert tags <= {
        *("svg", "title", "desc", "g", "rect", "line", "text", "path", "polygon", "polyline"),
        "ellipse",
    }
    for element in root.iter():
        assert not [name for name in element.attrib if name.startswith("on") or "href" in name]
    assert root.attrib["role"] == "img"
    assert [one.tag for one in root[:2]] == [f"{SVG}title", f"{SVG}desc"]
    assert all("".join(one.itertext()).strip() for one in root[:2])


@pytest.mark.parametrize(
    "label", ["北京今天天气怎么样", "查询指定城市的天气工具节点", "WWWWWWWWMMMM"]
)
def test_a_label_fits_its_box(label: str) -> None:
    graph = SimpleNamespace(nodes={label: None}, edges=[])
    root = ElementTree.fromstring(draw.graph(graph).svg)
    (node,) = [one for one in root.iter(f"{SVG}path")]
    across = [float(x) for x in re.findall(r"(-?[\d.]+),-?[\d.]+", node.attrib["d"])]
    em = 1.0 if ord(label[0]) > 255 else 0.95
    assert len(label) * 12 * em < max(across) - min(across)


def test_a_wide_drawing_is_shown_at_the_width_of_a_page() -> None:
    graph = SimpleNamespace(nodes={f"{'long' * 20}{number}": None for number in range(5)}, edges=[])
    root = ElementTree.fromstring(draw.graph(graph).svg)
    assert root.attrib["width"] == str(look.WIDEST)
    assert float(root.attrib["viewBox"].split()[2]) > look.WIDEST


# --- the drawing itself ----------------------------------------------------------------------


def test_a_notebook_gets_svg_png_and_text_with_words_for_who_cannot_see(lc: World) -> None:
    drawing = draw.graph(weather_agent(lc))
    data, details = drawing._repr_mimebundle_()
    assert list(data) == ["text/plain", "image/svg+xml", "image/png"]
    assert data["image/png"].startswith("iVBORw0KGgo")
    assert details["image/png"]["alt"] == drawing.description
    assert f'width="{details["image/png"]["width"]}"' in drawing.svg
    assert drawing.description == (
        "A graph of 4 nodes. Edges: START to model; model to END (conditional); "
        "model to tools (conditional); tools to model (conditional)."
    )


def test_both_worlds_give_the_same_picture() -> None:
    from minilc.course.worlds import MINILC

    ours, theirs = (draw.record(weather_agent(lc), QUESTION) for lc in (MINILC, LANGCHAIN))
    assert draw.sequence(ours).svg == draw.sequence(theirs).svg
    assert draw.ledger(ours).svg == draw.ledger(theirs).svg
    agents = [weather_agent(lc) for lc in (MINILC, LANGCHAIN)]
    lines = [sorted(draw.graph(agent).text.splitlines()) for agent in agents]
    assert lines[0] == lines[1]


def test_a_drawing_saves_itself_by_the_ending_of_the_name(tmp_path: Path) -> None:
    drawing = draw.graph(state_graph(LANGCHAIN, ["a"]))
    assert drawing.save(tmp_path / "a.svg").read_text(encoding="utf-8") == drawing.svg
    assert drawing.save(tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    assert drawing.save(tmp_path / "a.txt").read_text(encoding="utf-8") == f"{drawing.text}\n"
    assert "digraph" in drawing.save(tmp_path / "a.dot").read_text(encoding="utf-8")
    with pytest.raises(ValueError) as caught:
        drawing.save(tmp_path / "a.gif")
    assert str(caught.value) == "cannot save 'Graph of a' as 'a.gif'; it has .svg, .txt, .dot"


def test_without_a_renderer_the_dot_text_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dot, "programs", lambda: [["no-such-program"], ["false"]])
    drawing = draw.graph(state_graph(LANGCHAIN, ["a"]))
    assert drawing.svg is None
    data, details = drawing._repr_mimebundle_()
    assert list(data) == ["text/plain"] and details == {}
    assert "* " not in drawing.text and "digraph" in drawing.text


def test_graphviz_pure_is_found_beside_python_without_a_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    assert "graphviz-pure" in dot.programs()[0][0]
    monkeypatch.setenv("MINILC_DOT", "mine")
    assert dot.programs()[0] == ["mine", "-q1", "-Tsvg"]


def test_the_pictures_in_images_are_up_to_date() -> None:
    assert images.stale() == []
