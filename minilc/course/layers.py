"""The fourteen layers, in one table: the single source for the command line, the course, the tests.

A layer is one module of the core, one notebook and one test file; their names derive from the row.
The last column maps minilc's symbols to upstream's, so that one can be read beside the other:
`where` follows it, and a test resolves every entry in the installed version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Layer:
    """One step of the chain from a Python function to a tool's answer.

    Args:
        number: its place in the order; a layer's module imports only modules with lower numbers.
        module: the core module, `minilc/<module>.py`.
        title: what the layer is, in a few words.
        question: what a reader asks before this layer and can answer after it.
        mirrors: minilc's symbol -> upstream's dotted path, both possibly private.
        article_a: the sections of article A that it stands next to.
        article_b: the same for article B.
    """

    number: int
    module: str
    title: str
    question: str
    mirrors: Mapping[str, str] = field(repr=False, hash=False)
    article_a: tuple[str, ...] = ()
    article_b: tuple[str, ...] = ()

    @property
    def notebook(self) -> str:
        """The stem of its notebook: `03_base`."""
        return f"{self.number:02}_{self.module}"

    @property
    def test(self) -> str:
        """The name of its test file."""
        return f"test_{self.module}.py"

    @property
    def dotted(self) -> str:
        """The module's import path."""
        return f"minilc.{self.module}"


def _mirrors(table: Mapping[str, str]) -> dict[str, str]:
    """Expand `{upstream module: "Name ours=Theirs.attribute ..."}` to symbol -> dotted path."""
    expanded = {}
    for module, names in table.items():
        for name in names.split():
            ours, _, theirs = name.partition("=")
            expanded[ours] = f"{module}.{theirs or ours}"
    return expanded


LAYERS: tuple[Layer, ...] = (
    Layer(
        1,
        "messages",
        "the protocol",
        "What do a model and a tool say to each other, and where does the call's id go?",
        _mirrors(
            {
                "langchain_core.messages.base": "BaseMessage",
                "langchain_core.messages.human": "HumanMessage",
                "langchain_core.messages.system": "SystemMessage",
                "langchain_core.messages.ai": "AIMessage",
                "langchain_core.messages.tool": (
                    "ToolMessage ToolOutputMixin ToolCall InvalidToolCall"
                ),
                "langchain_core.messages.modifier": "RemoveMessage",
                "langchain_core.messages.utils": "AnyMessage convert_to_messages",
            }
        ),
        ("Overview", "Layer 12"),
        ("3.2", "05"),
    ),
    Layer(
        2,
        "schema",
        "a signature becomes a schema",
        "How does a function's signature become the arguments that a model may fill?",
        _mirrors(
            {
                "langchain_core.tools.base": (
                    "create_schema_from_function InjectedToolArg InjectedToolCallId "
                    "_DirectlyInjectedToolArg _is_injected_arg_type get_all_basemodel_annotations "
                    "FILTERED_ARGS ArgsSchema"
                ),
                "langchain_core.utils.function_calling": "_parse_google_docstring",
            }
        ),
        ("Layer 2",),
    ),
    Layer(
        3,
        "base",
        "one call of one tool",
        "What happens between tool.invoke() and the body of the function?",
        _mirrors(
            {
                "langchain_core.tools.base": (
                    "BaseTool ToolException _prep_run_args _format_output _stringify "
                    "TOOL_MESSAGE_BLOCK_TYPES"
                ),
                "langchain_core.tools.simple": "Tool",
                "langchain_core.runnables.config": (
                    "RunnableConfig ensure_config var_child_runnable_config run_in_executor"
                ),
            }
        ),
        ("Layer 12",),
        ("3.4",),
    ),
    Layer(
        4,
        "structured",
        "a function becomes a tool",
        "Where do a tool's name, description and schema come from?",
        _mirrors({"langchain_core.tools.structured": "StructuredTool"}),
        ("Layer 2",),
    ),
    Layer(
        5,
        "convert",
        "@tool in all its shapes",
        "What does @tool return, for each way of writing it?",
        _mirrors({"langchain_core.tools.convert": "tool"}),
        ("Layer 1",),
    ),
    Layer(
        6,
        "function_calling",
        "a tool becomes JSON",
        "What is it, byte for byte, that a provider is told about a tool?",
        _mirrors(
            {
                "langchain_core.utils.function_calling": (
                    "convert_to_openai_function convert_to_openai_tool"
                ),
                "langchain_anthropic.chat_models": "convert_to_anthropic_tool",
            }
        ),
        ("Layer 4",),
    ),
    Layer(
        7,
        "chat_models",
        "the model's side",
        "What does bind_tools bind, and what goes over the wire and comes back?",
        _mirrors(
            {
                "langchain_core.language_models.chat_models": "BaseChatModel",
                "langchain_core.language_models.fake_chat_models": "GenericFakeChatModel",
                "langchain_core.outputs.chat_generation": "ChatGeneration",
                "langchain_core.outputs.chat_result": "ChatResult",
                "langchain_openai.chat_models.base": "OpenAIChatModel=ChatOpenAI",
            }
        ),
        ("Layer 4",),
        ("3.2",),
    ),
    Layer(
        8,
        "branch",
        "an answer becomes a destination",
        "Who decides where the run goes after an answer?",
        _mirrors(
            {
                "langgraph.constants": "START END",
                "langgraph.types": "Send Command Interrupt interrupt",
                "langgraph.errors": (
                    "GraphBubbleUp GraphInterrupt ParentCommand GraphRecursionError "
                    "InvalidUpdateError"
                ),
                "langgraph.graph._branch": "BranchSpec",
                "langgraph.runtime": "Runtime",
                "langgraph._internal._constants": (
                    "CONF CONFIG_KEY_RUNTIME CONFIG_KEY_SCRATCHPAD "
                    "CONFIG_KEY_READ_STATE=CONFIG_KEY_READ"
                ),
            }
        ),
        ("Layer 5",),
    ),
    Layer(
        9,
        "state",
        "the loop",
        "What is a step, who writes the state, and when does a run stop?",
        _mirrors(
            {
                "langgraph.graph.state": "StateGraph CompiledStateGraph",
                "langgraph.graph.message": "add_messages MessagesState REMOVE_ALL_MESSAGES",
                "langgraph.checkpoint.memory": "InMemorySaver",
            }
        ),
        ("Layer 5",),
        ("02", "3.5"),
    ),
    Layer(
        10,
        "tool_errors",
        "errors the model may read",
        "Which errors become messages, and which end the run?",
        _mirrors(
            {
                "langgraph.prebuilt.tool_node": (
                    "ToolInvocationError INVALID_TOOL_NAME_ERROR_TEMPLATE "
                    "TOOL_CALL_ERROR_TEMPLATE "
                    "TOOL_INVOCATION_ERROR_TEMPLATE msg_content_output _handle_tool_error "
                    "_infer_handled_types _default_handle_tool_errors _filter_validation_errors"
                ),
            }
        ),
        ("Layer 10", "Layer 11"),
        ("05",),
    ),
    Layer(
        11,
        "injection",
        "what the model may not fill",
        "How does a tool get the state, the store and the call's id without asking the model?",
        _mirrors(
            {
                "langgraph.prebuilt.tool_node": (
                    "ToolRuntime InjectedState InjectedStore _get_all_injected_args"
                ),
            }
        ),
        ("Layer 7", "Layer 9", "Layer 11"),
    ),
    Layer(
        12,
        "tool_node",
        "the executor",
        "How does ToolNode find, run and answer one call, and many?",
        _mirrors(
            {
                "langgraph.prebuilt.tool_node": "ToolNode ToolCallRequest tools_condition",
            }
        ),
        ("Layer 7", "Layer 8", "Layer 9", "Layer 10", "Layer 11", "Layer 12", "Layer 13"),
        ("3.3", "05"),
    ),
    Layer(
        13,
        "middleware",
        "hooks around the loop",
        "Where can one's own code stand around a model call and a tool call?",
        _mirrors(
            {
                "langchain.agents.middleware.types": (
                    "AgentState AgentMiddleware ModelRequest ModelResponse wrap_tool_call "
                    "wrap_model_call before_model after_model"
                ),
                "langchain.agents.structured_output": (
                    "ToolStrategy StructuredOutputValidationError MultipleStructuredOutputsError"
                ),
            }
        ),
        ("Layer 10",),
        ("3.5",),
    ),
    Layer(
        14,
        "factory",
        "the agent",
        "What does create_agent build, and along which edges does it run?",
        _mirrors(
            {
                "langchain.agents.factory": (
                    "create_agent _make_model_to_tools_edge _make_tools_to_model_edge "
                    "_fetch_last_ai_and_tool_messages"
                ),
            }
        ),
        ("Layer 3", "Layer 5", "Layer 6", "Layer 13"),
        ("02", "3.1"),
    ),
)


def layer(key: int | str) -> Layer:
    """The layer with this number (`3`, `"3"`, `"03"`), module (`base`) or notebook (`03_base`).

    Raises:
        LookupError: there is no such layer; the message lists them.
    """
    for row in LAYERS:
        if key in (row.number, row.module, row.notebook) or str(key).lstrip("0") == str(row.number):
            return row
    known = ", ".join(f"{row.number} {row.module}" for row in LAYERS)
    raise LookupError(f"no layer {key!r}; the layers are {known}")
