"""What the doctor can find: every kind of finding, with its code, its reason, its fix and its page.

A code is stable: scripts may look for it in `minilc doctor --json`.
"""

from __future__ import annotations

from dataclasses import dataclass

QUESTIONS = {
    0: "Does the program come to the agent at all?",
    1: "Does the model know the tool?",
    2: "Is the call right?",
    3: "Does ToolNode find the tool?",
    4: "Did the answer become a ToolMessage with the call's id?",
}

HEALTHY, SUSPECT, BROKEN = "healthy", "suspect", "broken"


@dataclass(frozen=True)
class Kind:
    """A kind of finding.

    Args:
        code: its name in reports; it stays.
        question: which of the four questions it answers with no; 0 is what comes before them.
        severity: BROKEN where something fails for certain, SUSPECT where it depends.
        title: what is wrong, in a sentence.
        why: why LangChain behaves so.
        fix: what to do, as code.
        symbol: where in LangChain's source to look, for `where`.
        notebook: the notebook that teaches it.
    """

    code: str
    question: int
    severity: str
    title: str
    why: str
    fix: str
    symbol: str
    notebook: str


_ROWS = [
    # --- 0. Before the questions ---------------------------------------------------------------
    Kind(
        "name-moved",
        0,
        BROKEN,
        "A name is not where it is imported from",
        "Names moved with the releases: the agents of LangChain 0.3 left langchain.agents, and "
        "tools' helpers live in langchain.tools and langgraph.prebuilt.",
        "minilc where create_agent  # tells the module that has it here",
        "create_agent",
        "17_articles",
    ),
    Kind(
        "model-failed",
        0,
        BROKEN,
        "The model's endpoint refused the request, or failed",
        "What a provider answers with an error comes out as that client's exception; no tool was "
        "reached.",
        "model = ChatOpenAI(..., max_retries=3)  # for limits and time-outs; a 400 needs another "
        "request",
        "BaseChatModel.invoke",
        "07_chat_models",
    ),
    Kind(
        "program-failed",
        0,
        BROKEN,
        "The program failed outside of the tools",
        "The exception comes from the program or a library, and from no tool that ToolNode ran.",
        "# read the traceback from its end: the first line of your own code is the place",
        "create_agent",
        "14_factory",
    ),
    Kind(
        "thread-id-missing",
        0,
        BROKEN,
        "The graph has a checkpointer, and the run names no thread",
        "A checkpointer keeps each conversation under the thread_id of the config.",
        "agent.invoke(input, {'configurable': {'thread_id': 'user-42'}})",
        "langgraph.checkpoint.memory.InMemorySaver",
        "09_state",
    ),
    Kind(
        "no-question",
        0,
        BROKEN,
        "The model was asked with no messages at all",
        "A key that the state does not have is dropped without a word. The question never reaches "
        "the model.",
        "agent.invoke({'messages': [{'role': 'user', 'content': question}]})  # not 'input'",
        "create_agent",
        "14_factory",
    ),
    Kind(
        "loop-in-loop",
        0,
        BROKEN,
        "asyncio.run is called where a loop runs already",
        "A notebook's cell runs inside of an event loop; another cannot be started in it.",
        "result = await agent.ainvoke(...)",
        "StructuredTool.ainvoke",
        "03_base",
    ),
    Kind(
        "drawing-needs-network",
        0,
        BROKEN,
        "Drawing the graph as PNG asks a service in the network, or a package that is not there",
        "draw_mermaid_png sends the graph to a web service; draw_png and draw_ascii need packages "
        "of their own.",
        "from minilc.course import draw\n\ndraw.graph(agent)",
        "langchain_core.runnables.graph.Graph.draw_mermaid_png",
        "08_branch",
    ),
    # --- 1. Does the model know the tool? ----------------------------------------------------
    Kind(
        "no-tools",
        1,
        BROKEN,
        "No tool reaches the model",
        "Tools are bound to the model only if the list is not empty; a model that was sent no "
        "tools cannot ask for one.",
        "agent = create_agent(model, tools=[my_tool])",
        "create_agent",
        "14_factory",
    ),
    Kind(
        "tool-undefinable",
        1,
        BROKEN,
        "LangChain cannot make a tool of this",
        "The decorator reads the name, the docstring and the type hints of a real function. What "
        "lacks one of them is refused when the tool is made.",
        'def look_up(query: str) -> str:\n    """Say when the model should use this."""\n    ...',
        "langchain_core.tools.convert.tool",
        "05_convert",
    ),
    Kind(
        "schema-fails",
        1,
        BROKEN,
        "The tool has no JSON schema, so it cannot be bound to a model",
        "What the model is sent is a JSON schema of the arguments. A type that pydantic cannot "
        "describe in JSON raises when the tools are bound.",
        "def my_tool(query: str, runtime: ToolRuntime) -> str:  # not Optional[ToolRuntime]\n"
        "    ...",
        "BaseTool.tool_call_schema",
        "02_schema",
    ),
    Kind(
        "duplicate-tool-name",
        1,
        BROKEN,
        "Two tools have the same name",
        "ToolNode keeps its tools in a dict by name: the last one wins and nobody is told. The "
        "model is sent both.",
        '@tool("another_name")\ndef my_tool(...): ...',
        "ToolNode.tools_by_name",
        "12_tool_node",
    ),
    Kind(
        "name-refused",
        1,
        BROKEN,
        "Providers refuse this tool name",
        "LangChain takes any text as a name. OpenAI and Anthropic take letters, digits, _ and -, "
        "at most 64 of them, and answer 400 to the whole request.",
        '@tool("query_order")\ndef my_tool(...): ...',
        "convert_to_openai_tool",
        "06_function_calling",
    ),
    Kind(
        "name-says-nothing",
        1,
        SUSPECT,
        "The tool's name does not say what it does",
        "The model chooses by name and description alone. It never sees the function.",
        '@tool("query_order")  # a verb and what it works on\ndef my_tool(...): ...',
        "BaseTool",
        "16_production",
    ),
    Kind(
        "description-missing",
        1,
        BROKEN,
        "The tool has no description",
        "An empty description is accepted everywhere and sent as it is. The model has only the "
        "name to go by.",
        'def my_tool(query: str) -> str:\n    """Search the manual when somebody asks how ..."""',
        "StructuredTool.from_function",
        "04_structured",
    ),
    Kind(
        "description-says-nothing",
        1,
        SUSPECT,
        "The description does not say when to use the tool",
        "The description is all that the model reads about the tool. A word or two, or the name "
        "again, tell it nothing about when to call.",
        'def my_tool(query: str) -> str:\n    """Search the manual when somebody asks how ..."""',
        "StructuredTool.from_function",
        "16_production",
    ),
    Kind(
        "parameter-undescribed",
        1,
        SUSPECT,
        "A parameter tells the model nothing",
        "The model fills a parameter from its name, type and description. A vague name without a "
        "description, or a type without contents, makes it guess.",
        'query: Annotated[str, "what to search for, in the user\'s words"]',
        "create_schema_from_function",
        "02_schema",
    ),
    Kind(
        "provider-refuses-schema",
        1,
        BROKEN,
        "One provider takes this schema and another refuses it",
        "Each provider package rewrites the JSON schema in its own way, and not every type can be "
        "said in each.",
        'unit: Literal["1", "2"]  # text, numbers, booleans, list[T], models: these go everywhere',
        "convert_to_openai_tool",
        "06_function_calling",
    ),
    Kind(
        "model-cannot-bind",
        1,
        BROKEN,
        "The model has no bind_tools",
        "The base class's bind_tools raises NotImplementedError without a word. create_agent "
        "builds, and fails at its first run.",
        "class MyModel(BaseChatModel):\n"
        "    def bind_tools(self, tools, **kwargs):\n"
        "        return self.bind(tools=[convert_to_openai_tool(t) for t in tools], **kwargs)",
        "BaseChatModel.bind_tools",
        "07_chat_models",
    ),
    Kind(
        "offered-not-executable",
        1,
        BROKEN,
        "The model is offered a tool that nobody can run",
        "What is bound to the model and what ToolNode has are two lists. A model that was bound "
        "before, or bound by hand, may offer other tools than those of the agent.",
        "agent = create_agent(model, tools=[...])  # the plain model; the agent binds",
        "create_agent",
        "14_factory",
    ),
    Kind(
        "executable-not-offered",
        1,
        BROKEN,
        "The agent has a tool that the model was not sent",
        "A tool that is not in the request does not exist for the model.",
        "model_with_tools = model.bind_tools(tools)  # the same list as ToolNode(tools)",
        "create_agent",
        "14_factory",
    ),
    # --- 2. Is the call right? -----------------------------------------------------------------
    Kind(
        "broken-json",
        2,
        BROKEN,
        "The call's arguments are broken JSON: nobody runs it, and the run ends without an error",
        "Arguments that do not parse go to invalid_tool_calls and tool_calls stays empty. "
        "create_agent and tools_condition look at tool_calls alone, so the run ends as if the "
        "model had finished.",
        "last = result['messages'][-1]\n"
        "if last.invalid_tool_calls:  # often a token limit that cut the answer\n"
        "    ...  # answer each with a ToolMessage(status='error') and ask again",
        "InvalidToolCall",
        "07_chat_models",
    ),
    Kind(
        "call-only-in-text",
        2,
        SUSPECT,
        "The call stands in the text, and in no tool_calls",
        "Routing looks at tool_calls alone. Text that reads like a call, or a call in "
        "additional_kwargs alone, is no call. Mostly the endpoint does not support tool calling, "
        "or its parser for this model is off.",
        "assert answer.tool_calls, answer.content  # else: switch on the server's tool parser",
        "tools_condition",
        "07_chat_models",
    ),
    Kind(
        "call-without-id",
        2,
        BROKEN,
        "A call has no id",
        "The answer is matched by the call's id. Without one the tool returns plain text, which "
        "ToolNode refuses, or an answer that fits no call.",
        'call["id"] = call["id"] or f"call_{uuid4().hex}"  # before the tools run',
        "BaseTool.invoke",
        "01_messages",
    ),
    Kind(
        "call-arguments-refused",
        2,
        BROKEN,
        "The call's arguments do not fit the tool's schema",
        "The arguments are validated before the function runs. By default ToolNode tells the "
        "model what is wrong; the function does not run.",
        "# say it in the schema; for example:\n"
        'amount: Annotated[float, Field(gt=0, description="in CNY")]',
        "ToolInvocationError",
        "10_tool_errors",
    ),
    Kind(
        "call-arguments-dropped",
        2,
        SUSPECT,
        "The call has arguments that the tool does not know; they are dropped without a word",
        "Validation keeps the fields of the schema. Extra ones are ignored, and neither the model "
        "nor you are told.",
        'class Args(BaseModel):\n    model_config = ConfigDict(extra="forbid")',
        "BaseTool._parse_input",
        "03_base",
    ),
    Kind(
        "forged-argument",
        2,
        SUSPECT,
        "The model fills in an argument that is injected",
        "Injected parameters are not in what the model sees. A value that it sends anyway is "
        "replaced: look at why it knows the name (an old prompt, a description).",
        "print(tool.tool_call_schema.model_json_schema())  # what the model sees",
        "InjectedToolArg",
        "11_injection",
    ),
    Kind(
        "config-parameter",
        2,
        BROKEN,
        "A parameter has a name that LangChain keeps for itself",
        "`config`, `callbacks` and `run_manager` belong to the run. The model may be asked for "
        "them, and its value never reaches the function.",
        "def apply_settings(settings_file: str) -> str: ...  # another name",
        "BaseTool.run",
        "03_base",
    ),
    Kind(
        "kwargs-stay-empty",
        2,
        BROKEN,
        "**kwargs or *args of the function stay empty",
        "The schema has one field for each named parameter. What the model sends besides is "
        "dropped before the call.",
        "def my_tool(query: str, filters: dict[str, str]) -> str: ...  # name them",
        "create_schema_from_function",
        "02_schema",
    ),
    Kind(
        "schema-misfits-function",
        2,
        BROKEN,
        "args_schema and the function's parameters do not fit",
        "Nobody compares them when the tool is made. A field that the function does not take is "
        "a TypeError at the first call; a parameter that the schema lacks is never filled.",
        "@tool  # without args_schema: the schema comes from the signature",
        "BaseTool._to_args_and_kwargs",
        "04_structured",
    ),
    Kind(
        "identity-from-model",
        2,
        SUSPECT,
        "The model is asked who the user is",
        "A model fills every visible parameter with whatever fits, also with what a user typed. "
        "Identity and secrets belong to the run.",
        "def query_order(order_id: str, runtime: ToolRuntime[Context]) -> str:\n"
        "    user_id = runtime.context.user_id",
        "ToolRuntime",
        "11_injection",
    ),
    Kind(
        "state-not-injected",
        2,
        BROKEN,
        "A parameter looks injected, and is not: the model is asked to fill it",
        "Only Annotated[..., InjectedState], InjectedStore, or ToolRuntime are filled by "
        "ToolNode. A parameter that is only called state, or annotated with the state's class, is "
        "an ordinary one.",
        "state: Annotated[dict, InjectedState]   # or: runtime: ToolRuntime",
        "InjectedState",
        "11_injection",
    ),
    Kind(
        "injected-by-hand",
        2,
        BROKEN,
        "A tool with injected arguments was called outside of a graph",
        "ToolNode fills injected arguments; the tool itself does not.",
        "graph = StateGraph(State).add_node('tools', ToolNode([my_tool]))  # test through a graph",
        "ToolNode._inject_tool_args",
        "11_injection",
    ),
    Kind(
        "injected-field-missing",
        2,
        BROKEN,
        "A tool wants a field of the state that may not be there",
        "A missing field raises KeyError, which no setting of ToolNode handles, unless the "
        "parameter has a default.",
        'branch: Annotated[str | None, InjectedState("branch")] = None',
        "ToolNode._inject_tool_args",
        "11_injection",
    ),
    Kind(
        "store-missing",
        2,
        BROKEN,
        "A tool wants the store, and the graph has none",
        "The store is what the graph was compiled with.",
        "create_agent(model, tools, store=InMemoryStore())",
        "InjectedStore",
        "11_injection",
    ),
    # --- 3. Does ToolNode find the tool? --------------------------------------------------------
    Kind(
        "unknown-tool",
        3,
        BROKEN,
        "The model called a tool that does not exist",
        "ToolNode looks a tool up by its exact name, and tells the model which names there are.",
        "print([t.name for t in tools])  # compare with call['name'], letter by letter",
        "ToolNode._validate_tool_call",
        "12_tool_node",
    ),
    Kind(
        "async-only",
        3,
        BROKEN,
        "An async tool was called by a sync run",
        "A tool made of an async function has no sync side; invoke raises NotImplementedError. "
        "The other way round works.",
        "result = await agent.ainvoke(...)\n"
        "# or give it both: StructuredTool.from_function(func=..., coroutine=...)",
        "StructuredTool._run",
        "03_base",
    ),
    Kind(
        "one-sided-middleware",
        3,
        BROKEN,
        "A middleware has only one side, sync or async, and the run needs the other",
        "Hooks that wrap a call have no bridge between sync and async.",
        "class Friendly(AgentMiddleware):\n"
        "    def wrap_tool_call(self, request, handler): ...\n"
        "    async def awrap_tool_call(self, request, handler): ...",
        "AgentMiddleware.awrap_tool_call",
        "13_middleware",
    ),
    Kind(
        "messages-key",
        3,
        BROKEN,
        "ToolNode looks for the messages under another key than the state has",
        "ToolNode and tools_condition each read state['messages'] unless told another key.",
        "ToolNode(tools, messages_key='chat_history')\n"
        "partial(tools_condition, messages_key='chat_history')",
        "ToolNode._parse_input",
        "12_tool_node",
    ),
    Kind(
        "path-map",
        3,
        BROKEN,
        "The conditional edge does not lead to the tools",
        "tools_condition returns 'tools' or '__end__'. A path map must have just these keys; a "
        "wrong one shows only at the first call.",
        "graph.add_conditional_edges('model', tools_condition, {'tools': 'my_tools', END: END})",
        "tools_condition",
        "08_branch",
    ),
    Kind(
        "tools-unreachable",
        3,
        BROKEN,
        "No edge leads to the tools node",
        "A node that nothing leads to never runs, and nobody complains.",
        "graph.add_conditional_edges('model', tools_condition)",
        "StateGraph.add_conditional_edges",
        "08_branch",
    ),
    Kind(
        "outside-graph",
        3,
        BROKEN,
        "ToolNode was invoked outside of a graph",
        "The graph puts its runtime into the config; ToolNode needs it.",
        "StateGraph(MessagesState).add_node('tools', ToolNode(tools)).add_edge(START, 'tools')",
        "ToolNode",
        "12_tool_node",
    ),
    Kind(
        "recursion-limit",
        3,
        BROKEN,
        "The run used up its steps",
        "The limit counts steps of the graph, not calls: one round of model and tools is two, and "
        "every hook node is one more. Often the model repeats a call whose answer does not help.",
        "agent.invoke(input, {'recursion_limit': 50})  # after you have seen why it goes round",
        "GraphRecursionError",
        "09_state",
    ),
    # --- 4. Did the answer become a ToolMessage with the call's id? ------------------------------
    Kind(
        "unanswered-call",
        4,
        BROKEN,
        "A call has no answer",
        "Every call of the history needs a ToolMessage with its id before the model is asked "
        "again. create_agent does not check it; the provider answers 400.",
        "# directly behind the AIMessage, at its index i\n"
        "answer = ToolMessage('not executed', tool_call_id=call['id'], status='error')\n"
        "history.insert(i + 1, answer)",
        "_make_model_to_tools_edge",
        "08_branch",
    ),
    Kind(
        "pending-call",
        4,
        SUSPECT,
        "The history ends with a call that nobody has answered",
        "The run stopped between the model and the tools: a pause, a crash, a limit, or an agent "
        "that has no such tool.",
        "agent.invoke(Command(resume=answer), config)  # if it waits for somebody\n"
        "agent.invoke(None, config)  # else: goes on where the thread stopped",
        "_make_model_to_tools_edge",
        "08_branch",
    ),
    Kind(
        "wrong-id",
        4,
        BROKEN,
        "An answer carries another id than its call",
        "Calls and answers are matched by id alone. The call counts as unanswered and the answer "
        "belongs to nobody.",
        "ToolMessage(content, tool_call_id=call['id'])",
        "ToolMessage",
        "01_messages",
    ),
    Kind(
        "orphan-answer",
        4,
        BROKEN,
        "An answer fits no call",
        "Providers refuse a history in which a tool's answer has no call before it.",
        "messages = [m for m in messages if m is not orphan]",
        "ToolMessage",
        "01_messages",
    ),
    Kind(
        "trimmed-pair",
        4,
        BROKEN,
        "The history was cut between a call and its answer",
        "Trimming by count or tokens knows no pairs unless it is told where it may start.",
        "trim_messages(messages, start_on='human', end_on=('human', 'tool'), ...)",
        "trim_messages",
        "01_messages",
    ),
    Kind(
        "duplicate-answer",
        4,
        BROKEN,
        "A call has several answers",
        "Providers take one answer a call.",
        "RemoveMessage(id=second_answer.id)",
        "ToolMessage",
        "01_messages",
    ),
    Kind(
        "answer-before-call",
        4,
        BROKEN,
        "An answer stands before its call",
        "The order of the history is what providers read; an answer fits only a call before it.",
        "# put the ToolMessage directly behind the AIMessage that has its call",
        "ToolMessage",
        "01_messages",
    ),
    Kind(
        "duplicate-id",
        4,
        BROKEN,
        "Several calls have one id",
        "Answers are matched by id alone: one answer counts for all calls of that id. Some "
        "providers refuse such a history.",
        "call['id'] = f'call_{uuid4().hex}'  # and the same id in its answer",
        "ToolMessage",
        "01_messages",
    ),
    Kind(
        "answer-too-late",
        4,
        BROKEN,
        "Another message stands between a call and its answer",
        "Providers want the answers directly after the message that calls.",
        "# put the ToolMessages right behind the AIMessage, then the rest",
        "ToolNode._parse_input",
        "12_tool_node",
    ),
    Kind(
        "error-ends-run",
        4,
        BROKEN,
        "An error in the tool ended the run",
        "By default ToolNode answers wrong arguments alone. Any other exception of a tool goes "
        "up, a ToolException too unless the tool handles it.",
        "@wrap_tool_call\n"
        "def answer_errors(request, handler):\n"
        "    try:\n"
        "        return handler(request)\n"
        "    except ValueError as error:  # what the model can do something about\n"
        "        id = request.tool_call['id']\n"
        "        return ToolMessage(str(error), tool_call_id=id, status='error')",
        "_default_handle_tool_errors",
        "10_tool_errors",
    ),
    Kind(
        "same-error-again",
        4,
        SUSPECT,
        "The same call fails in the same way again and again",
        "The model reads the error and finds nothing in it that it could do better.",
        "raise ToolException('days must be 1 to 7; ask the user for another range')",
        "ToolException",
        "10_tool_errors",
    ),
    Kind(
        "answer-says-nothing",
        4,
        SUSPECT,
        "The answer tells the model nothing",
        "The model goes on from the text of the answer. An empty one, or a bare success, leaves it "
        "to invent the rest, or to call again.",
        "# say what happened and what follows; for example:\n"
        "return f'Refund {refund_id} created for order {order_id}, status: pending approval'",
        "_format_output",
        "16_production",
    ),
    Kind(
        "answer-is-repr",
        4,
        SUSPECT,
        "The answer is the repr of a Python object",
        "What JSON cannot write becomes str(value).",
        "# return what the model needs, as text or plain data; for example:\n"
        "return {'order_id': order.id, 'status': order.status}",
        "_stringify",
        "03_base",
    ),
    Kind(
        "content-list",
        4,
        SUSPECT,
        "The answer's content is a list that not every provider takes",
        "A list of texts or of content blocks is passed on as it is. Some endpoints take only "
        "text in an answer of a tool, or only text blocks.",
        "return json.dumps(items, ensure_ascii=False)",
        "_format_output",
        "03_base",
    ),
    Kind(
        "artifact-not-plain",
        4,
        SUSPECT,
        "The artifact is an object that a checkpointer cannot save",
        "A checkpointer writes the whole message. The error that comes names the ToolMessage, not "
        "the artifact.",
        "return text, {'path': str(file)}  # plain data, or where to find it",
        "ToolMessage",
        "03_base",
    ),
    Kind(
        "interrupt-swallowed",
        4,
        BROKEN,
        "A tool catches the interrupt that should pause the run",
        "interrupt() raises. An `except Exception` around it takes the signal for an error.",
        "except GraphBubbleUp:\n    raise\nexcept Exception as error:\n    ...",
        "GraphBubbleUp",
        "10_tool_errors",
    ),
    Kind(
        "interrupt-without-checkpointer",
        4,
        BROKEN,
        "A tool asks a human, and the graph cannot go on afterwards",
        "A paused run is resumed from its checkpoint; without a checkpointer there is none.",
        "create_agent(model, tools, checkpointer=InMemorySaver())",
        "interrupt",
        "09_state",
    ),
    Kind(
        "order-assumed",
        4,
        SUSPECT,
        "Calls of one message depend on each other",
        "The calls of one message run at the same time. Their answers stand in the order of the "
        "calls, which looks as if they had run one after the other.",
        "model.bind_tools(tools, parallel_tool_calls=False)  # or one tool for both steps",
        "ToolNode",
        "12_tool_node",
    ),
    Kind(
        "parallel-writes",
        4,
        SUSPECT,
        "Two calls in one step would write the same field of the state",
        "A field without a reducer takes one value a step. One call works; two at once raise "
        "InvalidUpdateError.",
        "notes: Annotated[list, operator.add]",
        "InvalidUpdateError",
        "09_state",
    ),
    Kind(
        "state-mutated",
        4,
        SUSPECT,
        "A tool changes the injected state in place",
        "What is injected is the state as it was before the step. Only what a tool returns is "
        "written; a change in place is lost, or leaks past the reducers.",
        "return Command(update={'mood': 'happy', 'messages': [ToolMessage(..., tool_call_id=id)]})",
        "Command",
        "11_injection",
    ),
    Kind(
        "return-direct-error",
        4,
        BROKEN,
        "A return_direct tool failed, and the user gets the error as the answer",
        "return_direct ends the run after the tool, whatever its answer is; the model has no "
        "chance to mend its arguments.",
        "@tool  # without return_direct: the model reads the error and tries again",
        "_make_tools_to_model_edge",
        "14_factory",
    ),
    Kind(
        "nonsense-returned",
        4,
        BROKEN,
        "A tool or a node returned something that cannot go into the state",
        "ToolNode takes a ToolMessage, a Command, or a list of them from a tool; a node writes a "
        "part of the state.",
        "return Command(update={'messages': [ToolMessage('done', tool_call_id=tool_call_id)]})",
        "ToolNode._run_one",
        "12_tool_node",
    ),
]

KINDS = {kind.code: kind for kind in _ROWS}
