"""Every place in the source that the articles name, in their order, and where it is here.

Article A's line numbers come from three different releases: langchain-core 0.2.12 for the tools,
langchain 1.3.8 to 1.3.10 for the agent, langgraph-prebuilt 1.1.0 for ToolNode. Article B names
files and functions, of the releases in its header.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from minilc.course.upstream import Place, where

CORE, AGENTS = "langchain-core 0.2.12", "langchain 1.3.8 to 1.3.10"
PREBUILT, B = "langgraph-prebuilt 1.1.0", "langchain 1.2.15, langchain-core 1.3.0, langgraph 1.1.8"

TOOLS = "langchain_core/tools.py"
FACTORY = "langchain/agents/factory.py"
NODE = "langgraph/prebuilt/tool_node.py"


@dataclass(frozen=True)
class Named:
    """A place that an article names.

    Args:
        claim: the claim that it stands in.
        what: the name that the article uses.
        file: the file that it names.
        lines: the lines that it names; empty if it names none.
        release: the release in which they are right.
        symbol: what it is in the installed LangChain.
        note: what became of it, where its name is another one.
    """

    claim: str
    what: str
    file: str
    lines: str
    release: str
    symbol: str
    note: str = ""

    @property
    def is_here(self) -> bool:
        """Whether the installed LangChain has it."""
        try:
            where(self.symbol)
        except LookupError:
            return False
        return True

    @property
    def place(self) -> Place | None:
        """Where it is in the installed LangChain."""
        return where(self.symbol).upstream if self.is_here else None

    @property
    def said(self) -> str:
        """What the article says."""
        return f"{self.file}, {self.lines}" if self.lines else self.file


_TOOL = "langchain_core.tools.convert.tool"
_INNER = "langchain_core.tools.convert.tool._create_tool_factory"

NAMED = (
    Named("A-15", "tool()", TOOLS, "line 977", CORE, _TOOL),
    Named("A-21", "_make_with_name()", TOOLS, "line 1012", CORE, _INNER, "now the inner factory"),
    Named(
        "A-21",
        "_make_tool()",
        TOOLS,
        "line 1013",
        CORE,
        f"{_INNER}._tool_factory",
        "now the factory's inner function",
    ),
    Named(
        "A-30",
        "StructuredTool.from_function()",
        TOOLS,
        "lines 901-974",
        CORE,
        "StructuredTool.from_function",
    ),
    Named("A-42", "the tools of create_agent", FACTORY, "lines 1028-1056", AGENTS, "create_agent"),
    Named(
        "A-49",
        "bind_tools in the model node",
        FACTORY,
        "lines 1334-1378",
        AGENTS,
        "langchain.agents.factory.create_agent._get_bound_model",
    ),
    Named("A-54", "the conditional edges", FACTORY, "lines 1594-1641", AGENTS, "create_agent"),
    Named(
        "A-60",
        "_make_model_to_tools_edge()",
        FACTORY,
        "lines 1815-1865",
        AGENTS,
        "_make_model_to_tools_edge",
    ),
    Named("A-69", "ToolNode.__init__()", NODE, "lines 758-791", PREBUILT, "ToolNode.__init__"),
    Named("A-77", "_parse_input()", NODE, "lines 1224-1266", PREBUILT, "ToolNode._parse_input"),
    Named("A-85", "_func()", NODE, "lines 793-860", PREBUILT, "ToolNode._func"),
    Named("A-85", "_afunc()", NODE, "lines 793-860", PREBUILT, "ToolNode._afunc"),
    Named("A-92", "_run_one()", NODE, "lines 1014-1067", PREBUILT, "ToolNode._run_one"),
    Named(
        "A-99",
        "_execute_tool_sync()",
        NODE,
        "lines 927-1012",
        PREBUILT,
        "ToolNode._execute_tool_sync",
    ),
    Named(
        "A-113",
        "_normalize_tool_response()",
        NODE,
        "lines 1437-1453",
        PREBUILT,
        "ToolNode._normalize_tool_response",
    ),
    Named(
        "A-120",
        "_combine_tool_outputs()",
        NODE,
        "lines 862-887",
        PREBUILT,
        "ToolNode._combine_tool_outputs",
    ),
    Named(
        "A-123",
        "_make_tools_to_model_edge()",
        FACTORY,
        "lines 1895-1928",
        AGENTS,
        "_make_tools_to_model_edge",
    ),
    Named("B-09", "create_agent()", FACTORY, "", B, "create_agent"),
    Named("B-23", "_execute_tool_sync()", NODE, "", B, "ToolNode._execute_tool_sync"),
    Named("B-26", "BaseTool.invoke()", "langchain_core/tools/base.py", "", B, "BaseTool.invoke"),
    Named("B-27", "_prep_run_args()", "langchain_core/tools/base.py", "", B, "_prep_run_args"),
    Named("B-28", "BaseTool.run()", "langchain_core/tools/base.py", "", B, "BaseTool.run"),
    Named(
        "B-28",
        "_to_args_and_kwargs()",
        "langchain_core/tools/base.py",
        "",
        B,
        "BaseTool._to_args_and_kwargs",
    ),
    Named("B-30", "AgentState", FACTORY, "", B, "langchain.agents.middleware.types.AgentState"),
    Named("B-31", "add_messages", "langgraph/graph/message.py", "", B, "add_messages"),
)


def listed(article: str, record: dict[str, Any] | None = None) -> list[tuple[Named, str, str]]:
    """The places of an article: each, where it is here, and whether its body changed.

    Args:
        article: A or B.
        record: what bodies are compared with; its versions name it.

    Raises:
        LookupError: there is no such article.
    """
    found = [one for one in NAMED if one.claim.startswith(article.upper())]
    if not found:
        raise LookupError(f"no article {article!r}; there are A and B")
    return [(one, _here(one), _changed(one, record)) for one in found]


def _here(one: Named) -> str:
    place = one.place
    if place is None:
        return "not here"
    return f"{place} ({one.note})" if one.note else str(place)


def _changed(one: Named, record: dict[str, Any] | None) -> str:
    from minilc.course import record as records

    place = one.place
    if record is None or place is None:
        return ""
    before = record.get(records.BODIES, {}).get(one.symbol)
    if before is None:
        return "new"
    return "same body" if before == records.print_of(place) else "body changed"
