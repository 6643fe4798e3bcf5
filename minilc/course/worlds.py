"""The two worlds that every comparison runs in: minilc, and the installed LangChain.

A world is a namespace. `lc.tool` is minilc's `tool` in one world and LangChain's in the other, so
one function of one argument `lc` can be run in both.
"""

from __future__ import annotations

import importlib
from typing import Any

# Where LangChain's public API keeps each name. The keys are the names that a world has.
UPSTREAM: dict[str, str] = {
    name: module
    for module, names in {
        "langchain_core.messages": (
            "AIMessage AnyMessage BaseMessage HumanMessage InvalidToolCall RemoveMessage "
            "SystemMessage ToolCall ToolMessage convert_to_messages"
        ),
        "langchain_core.messages.tool": "ToolOutputMixin",
        "langchain_core.tools": (
            "BaseTool InjectedToolArg InjectedToolCallId StructuredTool Tool ToolException tool"
        ),
        "langchain_core.tools.base": "create_schema_from_function",
        "langchain_core.runnables": "RunnableConfig",
        "langchain_core.utils.function_calling": (
            "convert_to_openai_function convert_to_openai_tool"
        ),
        "langchain_core.language_models": "BaseChatModel GenericFakeChatModel",
        "langchain_core.outputs": "ChatGeneration ChatResult",
        "langgraph.graph": "END START MessagesState StateGraph add_messages",
        "langgraph.graph.message": "REMOVE_ALL_MESSAGES",
        "langgraph.graph.state": "CompiledStateGraph",
        "langgraph.types": "Command Interrupt Send interrupt",
        "langgraph.errors": (
            "GraphBubbleUp GraphInterrupt GraphRecursionError InvalidUpdateError ParentCommand"
        ),
        "langgraph.checkpoint.memory": "InMemorySaver",
        "langgraph.runtime": "Runtime",
        "langgraph.prebuilt": "InjectedState InjectedStore ToolNode ToolRuntime tools_condition",
        "langgraph.prebuilt.tool_node": "ToolCallRequest ToolInvocationError",
        "langchain.agents": "AgentState create_agent",
        "langchain.agents.middleware": (
            "AgentMiddleware ModelRequest ModelResponse after_model before_model wrap_model_call "
            "wrap_tool_call"
        ),
        "langchain.agents.structured_output": (
            "MultipleStructuredOutputsError StructuredOutputValidationError ToolStrategy"
        ),
        "langchain_anthropic.chat_models": "convert_to_anthropic_tool",
        "minilc.course.wire": "convert_to_gemini_tool",
        "minilc.course.scripted": "ScriptedChatModel",
    }.items()
    for name in names.split()
}


class World:
    """One of the two worlds; attributes are the names of `UPSTREAM`, imported when first used.

    Raises:
        AttributeError: the name is not one that both worlds have.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute not in UPSTREAM:
            raise AttributeError(f"world {self.name!r} has no {attribute!r}; see worlds.UPSTREAM")
        module = "minilc" if self.name == "minilc" else UPSTREAM[attribute]
        value = getattr(importlib.import_module(module), attribute)
        setattr(self, attribute, value)
        return value

    def __repr__(self) -> str:
        return f"World({self.name!r})"


MINILC = World("minilc")
LANGCHAIN = World("langchain")
