"""`where`: a name's source in the installed LangChain, and its counterpart in minilc."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import ToolNode

import minilc
from minilc.course import upstream
from minilc.course.upstream import where


def lines(value: Any) -> tuple[int, int]:
    """The first and the last line of an object, as Python itself finds them."""
    source, first = inspect.getsourcelines(value)
    return first, first + len(source) - 1


def test_a_private_method_is_found_with_package_file_and_lines() -> None:
    found = where("ToolNode._execute_tool_sync")
    assert found.upstream.symbol == "ToolNode._execute_tool_sync"
    assert found.upstream.file == "langgraph/prebuilt/tool_node.py"
    assert found.upstream.package.startswith("langgraph-prebuilt ")
    assert (found.upstream.first, found.upstream.last) == lines(ToolNode._execute_tool_sync)
    assert found.minilc is not None
    assert found.minilc.file == "minilc/tool_node.py"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("create_agent", create_agent),
        ("langchain.agents.create_agent", create_agent),
        ("langchain_core.tools.BaseTool", BaseTool),
        ("BaseTool.invoke", BaseTool.invoke),
        ("HumanMessage", HumanMessage),
        ("minilc.messages.HumanMessage", HumanMessage),
        ("_run_one", ToolNode._run_one),
    ],
)
def test_all_ways_to_name_a_thing_lead_to_it(name: str, value: Any) -> None:
    found = where(name)
    assert (found.upstream.first, found.upstream.last) == lines(value)


def test_of_overloads_the_function_itself_is_found() -> None:
    assert where("tool").upstream.source.count("@overload") == 0
    assert where("tool").upstream.last == lines(tool)[1]


def test_a_function_inside_a_function_is_found() -> None:
    found = where("create_agent.model_node")
    assert found.upstream.source.strip().startswith("def model_node(")
    assert where("create_agent.<locals>.model_node") == found


def test_an_inherited_method_is_found_where_it_is_defined() -> None:
    found = where("ToolNode.invoke")
    assert found.upstream.symbol == "RunnableCallable.invoke"
    assert found.minilc is not None and found.minilc.symbol == "ToolNode.invoke"
    assert repr(found).startswith("ToolNode.invoke is RunnableCallable.invoke\n")


def test_objects_of_either_world_are_found() -> None:
    @tool
    def add(a: int) -> int:
        "Add."
        return a

    assert where(add).upstream.symbol == "StructuredTool"
    assert where(add.invoke).upstream.symbol == "BaseTool.invoke"
    assert where(HumanMessage).minilc is not None
    assert where(minilc.HumanMessage).upstream == where(HumanMessage).upstream


def test_what_minilc_lacks_has_no_counterpart() -> None:
    found = where("ToolRetryMiddleware")
    assert found.minilc is None
    assert "has no counterpart" in repr(found)


def test_a_name_of_several_things_lists_them() -> None:
    with pytest.raises(LookupError) as caught:
        where("invoke")
    text = str(caught.value)
    assert "things; say which: langchain_core." in text
    assert "BaseChatModel.invoke" in text


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("AIMessge", "nothing in the installed LangChain is called 'AIMessge'; near: AIMessage"),
        ("ToolNode._runone", "has no 'ToolNode._runone'; near: ToolNode._run_one"),
        ("langchain_core.tools", "'langchain_core.tools' is a module or does not exist"),
        ("langchain_core.nothing.X", "langchain_core has no 'nothing.X'"),
        ("a b", "'a b' is not the name of something in Python"),
        ("", "'' is not the name of something in Python"),
        ("../x", "'../x' is not the name of something in Python"),
    ],
)
def test_an_unknown_name_gives_what_is_near(name: str, message: str) -> None:
    with pytest.raises(LookupError) as caught:
        where(name)
    assert message in str(caught.value)


def test_what_is_neither_of_langchain_nor_of_minilc_is_not_found() -> None:
    with pytest.raises(LookupError):
        where(print)


def test_neither_repr_nor_page_holds_upstreams_text() -> None:
    found = where("ToolNode")
    for text in (repr(found), found._repr_html_()):
        assert "def " not in text
        assert "langgraph/prebuilt/tool_node.py:" in text


def test_show_prints_both_sources(capsys: pytest.CaptureFixture[str]) -> None:
    where("msg_content_output").show()
    shown = capsys.readouterr().out
    assert shown.count("def msg_content_output(") == 2
    assert "langgraph/prebuilt/tool_node.py:" in shown and "minilc/tool_errors.py:" in shown


def test_in_a_notebook_both_sources_are_marked_as_live_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    displayed = []
    monkeypatch.setattr(upstream, "_in_notebook", lambda: True)
    monkeypatch.setattr(
        "IPython.display.display", lambda page, metadata: displayed.append((page.data, metadata))
    )
    where("msg_content_output").show()
    ((page, metadata),) = displayed
    assert metadata == upstream.LIVE_ONLY
    assert page.count("def msg_content_output(") == 2
    assert "-&gt; str" in page
