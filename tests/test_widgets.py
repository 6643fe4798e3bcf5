"""The widgets without a browser: what they compute and show, and what they leave with no kernel."""

from __future__ import annotations

import inspect
import re
from html.parser import HTMLParser
from typing import Annotated, Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import TypedDict

from minilc import factory
from minilc.course import draw, notebooks, widgets
from minilc.course.widgets import calls, markup, pages, routes, schemas, steps
from minilc.course.worlds import LANGCHAIN, MINILC, World

QUESTION = {"messages": [("user", "北京今天天气怎么样？")]}
CALL = {"name": "get_weather", "args": {"city": "北京"}, "id": "call_1", "type": "tool_call"}
EVIL = "</pre></td><script>alert(1)</script><img src=x onerror=alert(1)>&amp;\u202e"
FUZZ = settings(max_examples=40, deadline=None)


class Counter(TypedDict):
    n: int
    messages: list[str]


def weather_run(lc: World, said: str = "晴", script: Any = None) -> draw.Run:
    @lc.tool
    def get_weather(city: str) -> str:
        """Get the weather of a city."""
        return f"{city}: {said}"

    script = script or [lc.AIMessage("", tool_calls=[CALL]), lc.AIMessage("晴")]
    return draw.record(lc.create_agent(lc.ScriptedChatModel(script), [get_weather]), QUESTION)


def shown(widget: Any) -> str:
    """The HTML of a widget and of what is in it."""
    inner = "".join(shown(one) for one in getattr(widget, "children", []))
    return inner + (widget.value if type(widget).__name__ == "HTML" else "")


def controls(widget: Any, kind: str) -> list[Any]:
    """The controls of one kind in a widget, in order."""
    own = [widget] if type(widget).__name__ == kind else []
    return own + [one for each in getattr(widget, "children", []) for one in controls(each, kind)]


# --- the stepper -----------------------------------------------------------------------------


def test_a_run_has_a_frame_for_its_input_each_step_and_its_end(lc: World) -> None:
    told = steps.frames(weather_run(lc))
    assert [one.active for one in told] == [
        ["__start__"],
        ["model"],
        ["tools"],
        ["model"],
        ["__end__"],
    ]
    assert [one.new for one in told] == [[0], [1], [2], [3], []]
    assert [one.changes for one in told] == [
        ["messages: + HumanMessage"],
        ["messages: + AIMessage"],
        ["messages: + ToolMessage"],
        ["messages: + AIMessage"],
        [],
    ]
    assert [pages.open_(one) for one in told] == [
        [],
        ["#call_1 get_weather: pending: no answer yet"],
        [],
        [],
        [],
    ]
    assert "Now at tools." in steps.drawing(weather_run(lc), told[2]).text


def test_a_paused_run_ends_with_what_it_waits_for(lc: World) -> None:
    builder = lc.StateGraph(lc.MessagesState)
    builder.add_node("ready", lambda state: {})
    builder.add_node("ask", lambda state: {"messages": [lc.interrupt("may I?")]})
    builder.add_edge(lc.START, "ready")
    builder.add_edge("ready", "ask")
    graph = builder.compile(checkpointer=lc.InMemorySaver())
    run = draw.record(graph, QUESTION, {"configurable": {"thread_id": "1"}})
    told = steps.frames(run)
    assert [one.active for one in told] == [["__start__"], ["ready"], []]
    assert told[-1].changes == ["it waits for an answer to 'may I?'"]
    assert pages.all_steps([run])[1][-1] == "2. paused: it waits for an answer to 'may I?'"
    assert "LangChain: paused" in pages.steps_at([run], 2).replace("minilc: ", "LangChain: ")


def test_a_graph_without_messages_can_be_stepped_through(lc: World) -> None:
    builder = lc.StateGraph(Counter)
    builder.add_node("add", lambda state: {"n": state["n"] + 1, "messages": ["no message"]})
    builder.add_edge(lc.START, "add")
    told = steps.frames(draw.record(builder.compile(), {"n": 1}))
    assert [one.changes for one in told] == [
        ["n: absent → 1"],
        ["n: 1 → 2", "messages: + 'no message'"],
        [],
    ]
    assert [one.messages for one in told] == [[], [], []]


def test_a_change_of_any_key_is_told(lc: World) -> None:
    old = {"messages": [lc.HumanMessage("a", id="1"), lc.AIMessage("b", id="2")], "n": 1}
    assert steps.changes(old, old) == []
    assert steps.changes(old, old | {"n": 2, "new": [1]}) == ["n: 1 → 2", "new: + 1"]
    assert steps.changes(old, {"messages": old["messages"][1:]}) == [
        "messages: 2 → 1, not only appended",
        "n: 1 → absent",
    ]


def test_equal_runs_of_both_worlds_do_not_differ() -> None:
    assert steps.differs(weather_run(MINILC), weather_run(LANGCHAIN)) is None


def test_the_first_place_where_two_runs_differ_is_found() -> None:
    ours = weather_run(MINILC)
    number, where = steps.differs(ours, weather_run(LANGCHAIN, said="雨")) or (None, None)
    assert (number, where.path) == (2, ("['messages']", "[2]", ".content"))
    assert (where.ours, where.theirs) == ("北京: 晴", "北京: 雨")
    number, where = steps.differs(ours, weather_run(MINILC, script=["晴"])) or (None, None)
    assert (number, where.path) == (1, ("['messages']", "[1]", ".content"))
    assert pages.difference(where) == "['messages'][1].content: minilc '', LangChain '晴'"


def test_a_run_that_stops_early_differs() -> None:
    long, short = weather_run(MINILC), weather_run(MINILC)
    short.steps, short.states = short.steps[:2], short.states[:3]
    number, where = steps.differs(long, short) or (None, None)
    assert (number, where.path) == (3, ("['nodes']",))


def test_runs_are_called_by_their_worlds_or_by_number() -> None:
    ours, theirs = weather_run(MINILC), weather_run(LANGCHAIN)
    assert steps.labels([ours, theirs]) == ["minilc", "LangChain"]
    assert steps.labels([theirs, theirs]) == ["LangChain, run 1", "LangChain, run 2"]


def test_the_slider_moves_the_page() -> None:
    stepper = widgets.stepper(weather_run(MINILC), weather_run(LANGCHAIN))
    (slider,) = controls(stepper, "IntSlider")
    assert (slider.value, slider.max) == (0, 4)
    assert "minilc: START" in shown(stepper) and "both runs are equal" in shown(stepper)
    slider.value = 2
    assert "LangChain: tools" in shown(stepper)
    back, next_ = controls(stepper, "Button")
    for _ in range(3):
        next_.click()
    assert slider.value == 4 and "minilc: END" in shown(stepper)
    back.click()
    assert slider.value == 3 and "minilc: model" in shown(stepper)


def test_only_a_recorded_run_can_be_stepped_through() -> None:
    with pytest.raises(TypeError) as caught:
        widgets.stepper([])
    assert str(caught.value) == ("expected a run, as `draw.record(agent, input)` makes it, got []")


# --- the schema bench ------------------------------------------------------------------------


def test_each_provider_is_sent_the_same_by_both_worlds() -> None:
    made = schemas.sent(schemas.SOURCE)
    assert made.error is None and made.hidden == []
    assert {name: one.verdict for name, one in made.twins.items()} == {
        "OpenAI": "EQUAL",
        "Anthropic": "EQUAL",
        "Gemini": "EQUAL",
    }
    openai = made.twins["OpenAI"].langchain.result
    assert openai["function"]["parameters"]["required"] == ["city"]
    assert made.twins["Anthropic"].langchain.result["input_schema"]["required"] == ["city"]
    assert made.twins["Gemini"].langchain.result["parameters"]["type"] == "OBJECT"


INJECTED = '''
from langchain_core.tools import InjectedToolCallId as Id, tool
from langgraph.prebuilt import InjectedState

@tool(parse_docstring=True)
def f(x: int, id: Annotated[str, Id], runtime: ToolRuntime, s: Annotated[dict, InjectedState]):
    """Do.

    Args:
        x: how often
    """
'''


def test_a_pasted_source_gets_the_names_of_each_world_and_hides_injected_arguments() -> None:
    made = schemas.sent(INJECTED)
    assert made.hidden == ["id", "runtime", "s"]
    assert [one.verdict for one in made.twins.values()] == ["EQUAL"] * 3
    parameters = made.twins["OpenAI"].minilc.result["function"]["parameters"]
    assert parameters["properties"] == {"x": {"description": "how often", "type": "integer"}}


@pytest.mark.parametrize(
    ("source", "error"),
    {
        "def f(:": "SyntaxError: invalid syntax (<schema bench>, line 1)",
        "def f(x): ...": (
            "ValueError: Function must have a docstring if description not provided."
        ),
        "def f(x: Foo): 'd'": "NameError: name 'Foo' is not defined",
        "x = 1 / 0": "ZeroDivisionError: division by zero",
        "": "ValueError: no function or tool is defined here",
        "import os": "ValueError: no function or tool is defined here",
        "\nwhile True: pass": (
            "ValueError: line 2: only imports, definitions and assignments, got 'while True:'"
        ),
        "open('x', 'w')": (
            "ValueError: line 1: only imports, definitions and assignments, got \"open('x', 'w')\""
        ),
    }.items(),
)
def test_a_wrong_source_says_what_is_wrong(source: str, error: str) -> None:
    assert schemas.sent(source).error == error
    assert markup.text(error) in pages.sent(schemas.sent(source))


def test_where_the_worlds_differ_both_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(schemas.PROVIDERS, "Gemini", lambda lc, tool: {"world": lc.name})
    made = schemas.sent(schemas.SOURCE)
    assert made.twins["Gemini"].verdict == "DIFFERENT"
    assert "<h4>minilc</h4>" in pages.sent(made)
    assert "different: first at [&#x27;world&#x27;]: minilc" in pages.sent(made)
    lines = pages.sent_lines(made)
    assert lines[-2:] == [
        'Gemini, minilc: {"world": "minilc"}',
        'Gemini, LangChain: {"world": "langchain"}',
    ]


def test_classes_can_be_types_of_parameters() -> None:
    source = """
class Book(BaseModel):
    title: str

def read(book: Book, how: Literal["fast", "slow"] = "fast"):
    'Read a book.'
"""
    parameters = schemas.sent(source).twins["OpenAI"].langchain.result["function"]["parameters"]
    assert parameters["properties"]["book"]["properties"] == {"title": {"type": "string"}}
    assert schemas.sent(source.partition("def")[0]).error == (
        "ValueError: no function or tool is defined here"
    )


def test_an_async_function_hides_its_injected_arguments_too() -> None:
    made = schemas.sent("async def f(x: int, runtime: ToolRuntime):\n    'Do.'\n")
    assert made.hidden == ["runtime"]


def test_what_is_typed_is_sent_at_once() -> None:
    bench = widgets.schema_bench()
    (area,) = controls(bench, "Textarea")
    area.value = area.value.replace("days", "nights")
    assert "nights" in shown(bench) and "&quot;days&quot;" not in shown(bench)
    area.value = "def f("
    assert "SyntaxError" in shown(bench)


def test_a_function_of_the_reader_s_own_can_be_put_on_the_bench() -> None:
    def order(dish: str) -> str:
        """Order a dish."""
        return dish

    (area,) = controls(widgets.schema_bench(order), "Textarea")
    assert area.value.startswith("def order(dish: str) -> str:\n")


# --- the router ------------------------------------------------------------------------------


@pytest.mark.parametrize("exit", routes.EXAMPLES, ids=lambda one: f"{one[0]}-{one[1]}")
def test_every_exit_has_an_example_that_takes_it_in_both_worlds(exit: tuple[str, int]) -> None:
    ours, theirs = routes.journeys(routes.EXAMPLES[exit])
    assert ours.exits == theirs.exits
    assert exit in [(one.edge, one.number) for one in theirs.exits]
    assert ours.error is theirs.error is None
    assert ours.run.steps == theirs.run.steps


def test_the_exits_are_those_of_the_source() -> None:
    for name, numbered in routes.EXITS.items():
        source = inspect.getsource(getattr(factory, f"_make_{name}_edge"))
        assert re.findall(r"# (\d)\. ", source) == [str(number) for number in numbered]
    assert [(edge, number) for edge in routes.EXITS for number in routes.EXITS[edge]] == [
        *routes.EXAMPLES
    ]


def test_an_exit_that_the_source_does_not_number_is_shown_as_such() -> None:
    unknown = routes.Exit(routes.MODEL_TO_TOOLS, None, "END")
    assert pages.path([unknown]) == ["1. the edge out of the model, exit ?, to END: ?"]
    assert "▶" not in pages.exits(routes.MODEL_TO_TOOLS, [unknown])


def test_the_way_says_which_calls_are_pending() -> None:
    _, theirs = routes.journeys(routes.EXAMPLES[routes.MODEL_TO_TOOLS, 4])
    assert pages.path(theirs.exits) == [
        "1. the edge out of the model, exit 4, to tools (1 Send): "
        "a call is pending: it has no answer yet (#call_1)",
        "2. the edge out of the tools, exit 4, to model: none of these",
        "3. the edge out of the model, exit 3, to END: the last AIMessage calls nothing",
    ]


def test_an_orphan_answer_answers_nothing() -> None:
    ours, theirs = routes.journeys(routes.Setting(orphan=True))
    assert ours.exits == theirs.exits
    assert (theirs.exits[0].number, theirs.exits[0].to) == (4, "tools (1 Send)")


def test_a_run_that_ends_in_an_error_says_so_in_both_worlds() -> None:
    ours, theirs = routes.journeys(routes.Setting(remove=True, jump_to="tools"))
    assert ours.error == theirs.error == "ValueError: No message found in input"
    assert "No message found in input" in pages.journey(ours, theirs)


@FUZZ
@given(setting=st.builds(routes.Setting, jump_to=st.sampled_from([None, "end", "model", "tools"])))
def test_whatever_is_ticked_both_worlds_take_the_same_exits(setting: routes.Setting) -> None:
    ours, theirs = routes.journeys(setting)
    assert (ours.exits, ours.error) == (theirs.exits, theirs.error)


def test_a_ticked_box_moves_the_page() -> None:
    router = widgets.router()
    boxes = {one.description: one for one in controls(router, "Checkbox")}
    assert "exit 4, to tools (1 Send)" in shown(router)
    boxes["calls get_time (#call_2)"].value = True
    assert "exit 4, to tools (2 Sends)" in shown(router)
    (jump,) = controls(router, "Dropdown")
    jump.value = "end"
    assert "exit 1, to END: jump_to is set" in shown(router)


# --- the tool-call bench ---------------------------------------------------------------------

READS = {
    "right": "北京: sunny for 3 days",
    "wrong name": ("Error: get_wether is not a valid tool, try one of [get_weather, my_orders]."),
    "missing argument": (
        "Error invoking tool 'get_weather' with kwargs {'days': 3} with error:\n"
        " city: Field required\n Please fix the error and try again."
    ),
    "invented argument": "北京: sunny for 1 days",
    "forged injected argument": "the orders of 小明 in 北京",
    "broken JSON": "nothing",
}


@pytest.mark.parametrize("name", calls.PRESETS)
def test_both_worlds_make_the_same_of_every_preset(name: str) -> None:
    result = calls.judge(calls.PRESETS[name])
    assert result.difference is None
    assert result.minilc == result.langchain
    if name in READS:
        assert result.langchain.reads == READS[name]


def test_the_kinds_of_outcomes_are_told_apart() -> None:
    kinds = {name: calls.judge(text).langchain.kind for name, text in calls.PRESETS.items()}
    assert kinds["right"] == "ToolMessage, status 'success'"
    assert kinds["wrong type"] == "ToolMessage, status 'error'"
    assert kinds["missing id"] == kinds["the function fails"] == "the run ends in an error"
    assert kinds["broken JSON"] == "no answer: ToolNode sees no call"


@pytest.mark.parametrize(
    ("text", "why"),
    {
        "{": "JSONDecodeError: Expecting property name enclosed in double quotes: "
        "line 1 column 2 (char 1)",
        "[1]": "ValueError: a call is a JSON object, got [1]",
        "5": "ValueError: a call is a JSON object, got 5",
    }.items(),
)
def test_what_is_no_json_object_is_an_invalid_call(text: str, why: str) -> None:
    result = calls.judge(text)
    assert result.broken == why
    assert result.langchain.answers == () and result.difference is None


def test_the_reader_s_own_functions_get_presets_of_their_own() -> None:
    def order(dish: str, count: int) -> str:
        """Order a dish."""
        return f"{count} × {dish}"

    bench = widgets.tool_call_bench([order])
    (preset,) = controls(bench, "Dropdown")
    assert preset.options == (
        *("right", "wrong name", "missing id", "missing argument", "wrong type"),
        *("invented argument", "broken JSON"),
    )
    assert "1 × 北京" in shown(bench)
    preset.value = "wrong type"
    assert "count: Input should be a valid integer" in shown(bench)


def test_tools_of_each_world_and_a_state_can_be_given() -> None:
    def tools(lc: World) -> list[Any]:
        def order(dish: str, table: Any) -> str:
            """Order a dish."""
            return f"{dish} for table {table}"

        order.__annotations__ = {"dish": str, "table": Annotated[int, lc.InjectedState("table")]}
        return [lc.tool(order)]

    bench = widgets.tool_call_bench(tools, {"table": 7})
    assert "北京 for table 7" in shown(bench)
    (preset,) = controls(bench, "Dropdown")
    preset.value = "forged injected argument"
    assert "北京 for table 7" in shown(bench)


def test_a_tool_of_one_world_is_refused() -> None:
    (tool, _) = calls.weather_tools(LANGCHAIN)
    with pytest.raises(TypeError, match="a tool belongs to one world; give functions, or a"):
        widgets.tool_call_bench([tool])


def test_a_typed_call_moves_the_page() -> None:
    bench = widgets.tool_call_bench()
    (area,) = controls(bench, "Textarea")
    area.value = '{"name": "get_weather", "args": {"city": "上海"}, "id": "x"}'
    assert "上海: sunny for 1 days" in shown(bench)
    area.value = "{"
    assert "not a call: JSONDecodeError" in shown(bench)


# --- on the page -----------------------------------------------------------------------------


class Tags(HTMLParser):
    """The tags and attributes that an HTML text has."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def harmless(html: str) -> None:
    """Nothing in it acts, or loads anything."""
    parsed = Tags(html)
    assert not parsed.tags & {"script", "img", "iframe", "a", "object", "link", "form", "input"}
    assert not {name for name in parsed.attributes if name.startswith("on") or "href" in name}
    assert "src" not in parsed.attributes
    assert "\u202e" not in html


def test_what_a_model_or_a_tool_says_is_text() -> None:
    call = {"name": EVIL, "args": {EVIL: EVIL}, "id": EVIL, "type": "tool_call"}
    script = [LANGCHAIN.AIMessage(EVIL, tool_calls=[CALL, call]), EVIL]
    run = weather_run(LANGCHAIN, said=EVIL, script=script)
    for number in range(5):
        harmless(markup.page(pages.steps_at([run, run], number)))
    harmless(markup.page(pages.all_steps([run])[0]))


def test_what_is_typed_is_text() -> None:
    source = f'def f(x: str = """{EVIL}"""):\n    """{EVIL}"""'
    for typed in (source, EVIL, f"raise ValueError('''{EVIL}''')", f"x: '{EVIL}' = {{}}['{EVIL}']"):
        harmless(markup.page(pages.sent(schemas.sent(typed))))
        harmless(markup.page(pages.source_and_sent(typed)[0]))
    for typed in (EVIL, calls._json(EVIL, {}), calls._json("get_weather", {"city": EVIL, EVIL: 1})):
        harmless(markup.page(pages.judged(calls.judge(typed))))


@FUZZ
@given(typed=st.text(max_size=80))
def test_any_text_can_be_typed(typed: str) -> None:
    harmless(markup.page(pages.judged(calls.judge(typed))))
    harmless(markup.page(pages.sent(schemas.sent(f"x = {typed!r}\n{typed}"))))


WIDGETS: dict[str, Any] = {
    "stepper": lambda: widgets.stepper(weather_run(MINILC)),
    "stepper of two": lambda: widgets.stepper(weather_run(MINILC), weather_run(LANGCHAIN)),
    "schema bench": widgets.schema_bench,
    "router": widgets.router,
    "tool-call bench": widgets.tool_call_bench,
}
TOLD = {
    "stepper": '1. model: AIMessage get_weather(city="北京") #call_1; '
    "#call_1 get_weather: pending: no answer yet",
    "stepper of two": "both runs are equal in every step\nminilc and LangChain\n0. START: ",
    "schema bench": "Gemini, both worlds: {",
    "router": "out of the tools | 2 | every tool that ran has return_direct | END | "
    "calls get_weather (#call_1), get_weather has return_direct | = equal",
    "tool-call bench": "the orders of 小明 in 北京 | = equal",
}


@pytest.mark.parametrize("name", WIDGETS)
def test_without_a_kernel_a_table_and_text_are_left_and_no_view(name: str) -> None:
    data, metadata = WIDGETS[name]()._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    output = {"output_type": "display_data", "data": data, "metadata": metadata}
    (kept,) = notebooks.clean([output])
    assert {*kept.data} - {"image/png"} == {"text/plain", "text/html"}
    assert ("image/png" in kept.data) == name.startswith("stepper")
    assert TOLD[name] in kept.data["text/plain"]
    assert "<table>" in kept.data["text/html"] or name == "schema bench"
    harmless(kept.data["text/html"])
    cell = nbformat.v4.new_code_cell("x", outputs=[kept])
    assert notebooks.inspect("x", nbformat.v4.new_notebook(cells=[cell])) == []


@pytest.mark.parametrize("name", WIDGETS)
def test_what_is_left_is_the_same_every_time(name: str) -> None:
    first, second = (WIDGETS[name]()._repr_mimebundle_()[0] for _ in range(2))
    for kind in ("text/plain", "text/html"):
        assert first[kind] == second[kind]


@pytest.mark.parametrize("name", WIDGETS)
def test_every_control_has_words(name: str) -> None:
    widget = WIDGETS[name]()
    kinds = ("IntSlider", "Button", "ToggleButton", "Checkbox", "Dropdown", "Textarea")
    found = [one for kind in kinds for one in controls(widget, kind)]
    assert found and all(one.description for one in found)
