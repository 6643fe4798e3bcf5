"""Where minilc differs from LangChain on purpose: the register.

A difference that has a row here is shown with its reason; any other difference is a fault. Every
row is named by a case or a test that shows both sides.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Divergence:
    """One difference on purpose.

    Args:
        id: its name, in `differs=` of cases and of `twin`.
        layer: the number of the layer.
        upstream: what LangChain does.
        minilc: what minilc does.
        why: the reason.
    """

    id: str
    layer: int
    upstream: str
    minilc: str
    why: str


DIVERGENCES: tuple[Divergence, ...] = (
    Divergence(
        "raw-calls",
        1,
        "Calls that stand in additional_kwargs are read when the message is made.",
        "tool_calls and invalid_tool_calls are the only places for calls.",
        "It serves integrations from before there were tool_calls; a model reads its own answers.",
    ),
    Divergence(
        "missing-call-id",
        1,
        "An answer without tool_call_id is a KeyError, and a UUID is an id.",
        "It is pydantic's error about a missing field, and an id is a text or a number.",
        "pydantic's error names the class and the field.",
    ),
    Divergence(
        "function-message",
        1,
        "The role function makes a FunctionMessage.",
        "It is an unknown role.",
        "It comes from before there were tool calls with ids.",
    ),
    Divergence(
        "usage-metadata",
        1,
        "usage_metadata has three counts of tokens, which are checked.",
        "It is any dict.",
        "The counts matter for a bill and not for a tool call.",
    ),
    Divergence(
        "unknown-keys",
        1,
        "Of a dict that becomes a message, what is no field goes to additional_kwargs.",
        "It stays a field of its own, as on a message that is made by hand.",
        "A message keeps what it does not know; one place for it is enough.",
    ),
    Divergence(
        "pretty-invalid-calls",
        1,
        "pretty_repr lists invalid calls, too, with their errors.",
        "It lists the calls that can run.",
        "invalid_tool_calls and repr show the others, with the whole text that the model wrote.",
    ),
    Divergence(
        "bold-titles",
        1,
        "pretty_print makes titles bold where somebody sits before the interpreter.",
        "It prints pretty_repr, everywhere alike.",
        "What a terminal can do is no part of a message.",
    ),
    Divergence(
        "parameter-called-args",
        2,
        "A plain parameter called args or kwargs is taken for a variadic one and is lost.",
        "It is a parameter like others.",
        "Upstream's way is an accident of names; to rebuild it would teach nothing.",
    ),
    Divergence(
        "pydantic-v1",
        2,
        "It takes models of pydantic.v1, and refuses to mix both generations in one signature.",
        "It knows pydantic's second generation alone.",
        "The first one has been replaced since 2023, and is told apart in many places upstream.",
    ),
    Divergence(
        "positional-only",
        2,
        "Beside a positional-only parameter stands a placeholder, v__positional_only.",
        "There is none.",
        "Arguments come as keywords, so that neither of both can call such a function.",
    ),
    Divergence(
        "unresolved-annotation",
        2,
        "Beside a given args_schema, each annotation of the function is resolved on its own.",
        "One that cannot be resolved is a NameError when the tool is called.",
        "The name that is missing is worth knowing; without it some marks would be passed over.",
    ),
    Divergence(
        "details-of-a-field",
        2,
        "Of a Field its type, bounds, default and description are kept; alias, title, examples go.",
        "All of it is kept, and an alias is the name that the model writes.",
        "What a Field says is for whoever fills it, and the alias that is shown is taken.",
    ),
    Divergence(
        "callbacks",
        3,
        "Parameters called callbacks and run_manager are filled, and a config has callbacks.",
        "They are hidden from the model, as upstream, and never filled.",
        "There are no callbacks and no traces to write to.",
    ),
    Divergence(
        "context-of-a-tool",
        3,
        "Each tool runs in a copy of the context: a context variable that it sets is as before.",
        "A tool that is not awaited runs in the context of its caller.",
        "A copy for each call would cost more than it teaches.",
    ),
    Divergence(
        "config-of-run",
        3,
        "Called by run and not by invoke, without a config, a tool gets None for its config.",
        "It gets a whole config.",
        "invoke and run are one way in.",
    ),
    Divergence(
        "config-argument",
        3,
        "A parameter called config that is no RunnableConfig never gets its argument.",
        "It is a parameter like others.",
        "Upstream takes the name for its own, which is an accident of names.",
    ),
    Divergence(
        "schema-annotation",
        3,
        "A class that annotates its args_schema as BaseModel instead of a type is refused.",
        "It works.",
        "The annotation is for type checkers; what counts is the schema.",
    ),
    Divergence(
        "single-input",
        3,
        "is_single_input says whether a tool takes one argument.",
        "A tool does not say it.",
        "It served agents that wrote one text for a tool; len(tool.args) says it as well.",
    ),
    Divergence(
        "stop-iteration",
        3,
        "A StopIteration out of a tool that is not awaited comes out as it is.",
        "It is a RuntimeError, as it is upstream when the tool is awaited.",
        "Both ways share one coroutine, and no coroutine can raise it.",
    ),
    Divergence(
        "text-for-a-json-schema",
        3,
        "A tool whose args_schema is a JSON schema refuses a text.",
        "The text is passed to the function, as for a tool without a schema.",
        "A JSON schema is checked for nothing else either.",
    ),
    Divergence(
        "typed-dict-schema",
        6,
        "A TypedDict goes through pydantic.v1: no null in Optional, annotations read inside, too.",
        "pydantic's second generation says it: null shows, a TypedDict inside has plain types.",
        "The chain has one generation of pydantic; of a TypedDict the outermost is what is used.",
    ),
    Divergence(
        "tool-dicts",
        6,
        "A dict is checked: its keys, the types of OpenAI's own tools, a strict that contradicts; "
        "for strict an object is also what has properties and does not say its type.",
        "Other keys go along, any type but a schema's is a provider's own tool, the strict that "
        "is asked for wins, and an object says that it is one.",
        "What is written by hand is its writer's; a provider says what it does not take.",
    ),
    Divergence(
        "anthropic-streaming",
        6,
        "eager_input_streaming in the extras of a tool is sent to Anthropic.",
        "It is left out.",
        "It says how arguments are streamed, and nothing is streamed here.",
    ),
    Divergence(
        "given-schema",
        6,
        "A dict that is a JSON schema is sent as it is; one without a title has its own error.",
        "It goes the way of every schema: no references or titles, JSON alone, and one error.",
        "One way for all schemas is easier to know, and a provider takes both.",
    ),
    Divergence(
        "schema-error-advice",
        6,
        "The error about a type that JSON schema cannot say adds the tool's name and advice.",
        "pydantic's error stands alone.",
        "It names the type already, and the advice is a page of text.",
    ),
    Divergence(
        "gemini-inside",
        6,
        "An object inside of an object loses its nullable, and requires what has a default.",
        "It is told as one outside is.",
        "The schema passes a conversion twice, which looks like an accident.",
    ),
    Divergence(
        "gemini-title",
        6,
        "A parameter called title gets its own schema as its description.",
        "It is a parameter like others.",
        "Upstream takes it for the title of the schema, which is an accident of names.",
    ),
    Divergence(
        "gemini-items",
        6,
        "Of a list whose items have several types only the last type is told.",
        "All are told.",
        "What the tool takes is what the model should know.",
    ),
    Divergence(
        "gemini-choices",
        6,
        "Choices that are no texts are refused, by Google's class of a schema.",
        "They are sent as they are.",
        "To refuse them is left to Google; the rest of the conversion needs no such class.",
    ),
    Divergence(
        "bound-model",
        7,
        "bind wraps the model; what it kept is lost when tools are bound to the wrapper.",
        "It gives a copy of the model that keeps more, so that both are sent.",
        "The copy is one line, and who binds a seed and then tools wants both.",
    ),
    Divergence(
        "run-manager",
        7,
        "_generate gets a run_manager, and a model must say its type, _llm_type, for the traces.",
        "It gets none, and need not.",
        "There are no callbacks and no traces to write to.",
    ),
    Divergence(
        "openai-absent-keys",
        7,
        "response_metadata shows what an answer lacks, such as logprobs, as None.",
        "It shows name, id, reason and usage alone, also as None; logprobs and the rest never.",
        "The keys come from the classes of OpenAI's client, which minilc does without.",
    ),
    Divergence(
        "openai-usage-details",
        7,
        "usage_metadata counts cached, spoken and thought tokens apart.",
        "It has the three counts of tokens alone.",
        "They matter for a bill and not for a tool call.",
    ),
    Divergence(
        "openai-content-blocks",
        7,
        "Blocks of other providers are translated or dropped; a developer speaks as one.",
        "Blocks go out as they are; a developer speaks as system.",
        "A tool call needs neither.",
    ),
    Divergence(
        "openai-errors",
        7,
        "Each status has a class of error; a tool_choice of another kind is refused when bound.",
        "One class says the status and the answer, also that it is no completion.",
        "What the endpoint says is what helps; its classes come from OpenAI's client.",
    ),
    Divergence(
        "openai-async",
        7,
        "An awaited question goes over an async connection.",
        "It goes over a sync one, in a thread.",
        "A second client would double the class and change nothing in what is sent.",
    ),
    Divergence(
        "unknown-destination",
        8,
        "A branch that goes to a node that does not exist ends the run; a log line says so.",
        "It raises, and names the node and the ones that exist.",
        "A run that stops halfway and looks finished is the hardest kind of fault to find.",
    ),
    Divergence(
        "update-pairs",
        8,
        "The update of a Command may be a list of pairs of a key and a value.",
        "It is a dict, or an object of the state.",
        "A list of Commands says the same.",
    ),
    Divergence(
        "injected-types",
        8,
        "A parameter called config, writer or store is filled in unless its type is another.",
        "Its name alone decides.",
        "Nothing else could be given to a parameter of a node.",
    ),
    Divergence(
        "send-timeout",
        8,
        "A Send may have a timeout.",
        "It has none.",
        "Timeouts belong to retries and caches, which are left out as well.",
    ),
    Divergence(
        "response-schema",
        8,
        "An Interrupt may say the schema of its answer.",
        "It does not.",
        "The graph does not look at it; it is for whoever shows the question.",
    ),
    Divergence(
        "commands-update-is-checked",
        8,
        "A Command whose update is no update at all writes nothing.",
        "It is the same error as for a node.",
        "An update that is lost without a word is hard to find.",
    ),
    Divergence(
        "custom-stream",
        8,
        'Nodes and tools write to a stream of their own, which stream_mode="custom" shows.',
        "Whoever asks for a writer gets one that does nothing.",
        "It is beside the chain: nothing that is written there comes back to the model.",
    ),
    Divergence(
        "updates-come-together",
        9,
        "A stream of updates shows each node when it is done.",
        "It shows them after the step, in their order.",
        "The order is the same in every run, and the loop needs no queue.",
    ),
    Divergence(
        "awaited-concurrency",
        9,
        "max_concurrency limits how many nodes of a step run at once, awaited or not.",
        "It limits threads; nodes that are awaited all start at once.",
        "What waits on one event loop needs no core; a semaphore in a node limits what it asks.",
    ),
    Divergence(
        "cached-updates",
        9,
        "What was done already when a step is resumed is shown first and marked as cached.",
        "It is shown in its place, as any other.",
        "A mark would need a second kind of chunk.",
    ),
    Divergence(
        "invoke-stream-mode",
        9,
        "invoke takes a stream_mode, and returns a list of chunks.",
        "It returns the state; stream gives the chunks.",
        "Two methods say it better than one with two results.",
    ),
    Divergence(
        "add-messages-format",
        9,
        "add_messages can rewrite contents in the format of OpenAI.",
        "It leaves contents alone.",
        "It is a matter of formats and not of the loop.",
    ),
    Divergence(
        "state-without-keys",
        9,
        "A state may be any type: then a node returns the whole of it.",
        "A state has keys: a TypedDict, dataclass or pydantic model; else it is an error.",
        "The conversation of an agent has keys, and each rule would need a second reading.",
    ),
    Divergence(
        "schemas-of-nodes",
        9,
        "Input, output, nodes and paths may have schemas of their own, and see only those keys.",
        "All of them have the graph's one schema.",
        "Who reads what is one thing less to keep in mind.",
    ),
    Divergence(
        "graph-checks",
        9,
        "More is checked, and sooner: names, paths, reducers, a limit of 0, missing messages.",
        "It shows when the graph is compiled or runs, or not at all.",
        "These mistakes show in the first run; what no run shows, an edge to nowhere, is checked.",
    ),
    Divergence(
        "edges-nobody-reaches",
        9,
        "get_graph shows the edges that can be reached from START.",
        "It shows every edge that is known before a run.",
        "A node that no edge leads to is what a picture should show, with the edges that leave it.",
    ),
    Divergence(
        "nothing-written",
        9,
        "A run in which nothing is ever written returns None.",
        "It returns the state, which is empty.",
        "A caller reads keys from a state, and None has none.",
    ),
    Divergence(
        "nested-graphs-start-anew",
        9,
        "A graph inside a node goes on where it stood, once there is an answer.",
        "It starts anew, as the node around it does, and gets its answers again.",
        "One thread is enough to approve a call, and the rule is the same as for interrupt.",
    ),
    Divergence(
        "answers-come-alone",
        9,
        "A Command with an answer may update the state and go elsewhere as well.",
        "It is an error to say more than the answer.",
        "The node that asked can do both, and then it is in one place.",
    ),
    Divergence(
        "graph-as-tool",
        9,
        "A graph says the schema of its input, so that tool() takes it.",
        "It does not; a function that invokes it becomes a tool.",
        "A function with a docstring tells the model what the graph is for.",
    ),
    Divergence(
        "input-messages-untouched",
        9,
        "Messages of a run's input that have no id get one, also in the caller's own objects.",
        "The state has copies with ids; the caller's messages stay as they were.",
        "What you were given stays as it was, so that it can be given again.",
    ),
    Divergence(
        "writes-of-an-open-step",
        9,
        "While a step waits or has failed, get_state shows what its finished nodes have written.",
        "It shows the state before the step; the writes are kept for when the step goes on.",
        "A state is what stands between two steps; resuming gives the same in both worlds.",
    ),
    Divergence(
        "handler-union-as-text",
        10,
        "An error handler whose parameter is annotated with a union as text, as under `from "
        "__future__ import annotations`, ends the run with an AttributeError.",
        "It covers the types of the union.",
        "Upstream looks at the text where it looks for a union; other annotations it resolves.",
    ),
    Divergence(
        "handler-annotations",
        10,
        "An error handler whose annotation is, or holds, no exception is refused when an error "
        "comes.",
        "It covers the errors that are of the kinds it names; no error is an int.",
        "What it does not cover comes out as it is, so that no error is lost.",
    ),
    Divergence(
        "other-kinds-of-handling",
        10,
        "A handle_tool_errors of another kind, such as 7, is refused when an error comes.",
        "Whatever is true covers all errors, and whatever is false none.",
        "It is how Python reads any flag, and the errors that are covered can still be seen.",
    ),
    Divergence(
        "invocation-error-by-hand",
        10,
        "A ToolInvocationError that is made without filtered_errors shows all that pydantic says.",
        "It cannot be made without them.",
        "Only ToolNode makes such an error, and it always has them.",
    ),
    Divergence(
        "wrapper-errors",
        10,
        "Behind a wrapper, handle_tool_errors covers errors of any type, whatever types it names.",
        "It covers the types that it names, with a wrapper and without.",
        "One rule is easier to know, and a wrapper that only logs changes nothing.",
    ),
    Divergence(
        "errors-without-input",
        10,
        "ToolInvocationError.filtered_errors shows inputs, without the injected arguments in them.",
        "It shows no inputs.",
        "What the model sent stands in tool_kwargs; where no input is shown, no state can be.",
    ),
    Divergence(
        "list-without-fields",
        11,
        "A tool that wants fields of the state, in a ToolNode that is given a list of "
        "messages, is a ValueError that lists the fields.",
        "It is the KeyError of any state that lacks a field.",
        "A list of messages is a state with messages and nothing else; one rule for both.",
    ),
    Divergence(
        "mark-in-a-union",
        11,
        "An InjectedState inside of a union, as in Optional[Annotated[...]], gives the whole "
        "state: the call does not fit, and the model is told no reason.",
        "It gives the field that the mark names.",
        "Where the mark stands does not change what it asks for.",
    ),
    Divergence(
        "several-runtimes",
        11,
        "Of several parameters that ask for a ToolRuntime, or for the store, the last one gets it; "
        "a state that lacks a field is found before a store that is not there.",
        "Each of them gets it; the first parameter that cannot be filled is the error.",
        "All kinds of marks are looked at in one loop over the parameters.",
    ),
    Divergence(
        "runtime-in-a-model",
        11,
        "An args_schema of one's own with a ToolRuntime in it needs arbitrary_types_allowed.",
        "It needs no setting.",
        "A store may be anything here: there is no BaseStore that pydantic could not read.",
    ),
    Divergence(
        "runtime-context-warning",
        11,
        "A ToolRuntime whose context has no declared type makes pydantic warn.",
        "No warning.",
        "Nothing is wrong: upstream dumps the checked arguments, minilc takes them as they are.",
    ),
    Divergence(
        "supplied-tool-errors",
        11,
        "The injected arguments of a tool that a wrapper supplies show in the errors for the "
        "model.",
        "They are filtered out, as those of any tool.",
        "The tool was looked at already, for what to inject; one look serves both.",
    ),
    Divergence(
        "single-call-thread",
        12,
        "ToolNode runs even a single call in a thread of a pool.",
        "The caller's thread runs calls, too, and a single one alone; helpers run the others.",
        "A thread that nobody runs beside costs time and shows nothing.",
    ),
    Divergence(
        "no-thread-ceiling",
        12,
        "A ToolNode runs as many calls at once as the machine has cores, and 4 more; 32 at most.",
        "It runs all at once, or as many as max_concurrency says.",
        "Tools wait more than they compute, and a call that waits needs no core.",
    ),
    Divergence(
        "after-a-failure",
        12,
        "Where max_concurrency makes calls wait, those that have not started when one fails, or "
        "when somebody presses Ctrl+C, are not run.",
        "All calls run before the error is raised, as they do where none waits.",
        "What runs does not depend on how fast the calls before it are.",
    ),
    Divergence(
        "deep-copied-node",
        12,
        "A ToolNode can be copied with copy.deepcopy.",
        "It cannot: it keeps its threads.",
        "Threads that are kept make quick calls cheap; a second node is made of the tools.",
    ),
    Divergence(
        "kept-message",
        12,
        "The content of a ToolMessage that a tool returns is made text in the tool's own object.",
        "A copy gets the text.",
        "What you were given stays as it was.",
    ),
    Divergence(
        "request-assignment",
        12,
        "To assign to a field of a ToolCallRequest gives a DeprecationWarning.",
        "It gives none.",
        "The warning takes more code than the class; `override` is the way in both.",
    ),
    Divergence(
        "parent-sends",
        12,
        "The Sends of several Commands for the parent graph become one Command.",
        "They stay apart, as other Commands for the parent do; the first of them counts.",
        "A graph is left only once; what merges them serves graphs of several agents alone.",
    ),
    Divergence(
        "removing-command",
        12,
        "A Command that removes all messages needs no answer to the call.",
        "It needs one, as every Command does.",
        "It is the one exception to the rule that the layer teaches.",
    ),
    Divergence(
        "command-form",
        12,
        "A Command with a dict for a list of messages, or with a list for a state, is refused.",
        "ToolNode passes it on; a graph refuses a list where its state is to be updated.",
        "What can be written to a state is the state's to say, in one place for all nodes.",
    ),
    Divergence(
        "answer-example",
        12,
        "For a call that was sent alone, the error about a missing answer shows a list as "
        "update, which ToolNode would refuse.",
        "It shows the dict that is needed.",
        "An error's example should work.",
    ),
    Divergence(
        "missing-side-advice",
        13,
        "The error about a side of a hook that is missing, sync or async, goes on with advice.",
        "It says which side is missing.",
        "The name of the missing method is the advice.",
    ),
    Divergence(
        "name-of-a-hook",
        13,
        "The error about a hook that can only be awaited names its method, which in a decorated "
        "one is async_wrapped.",
        "It names the node, as in Audit.before_model.",
        "That is the name which the graph shows, and it says which middleware it is.",
    ),
    Divergence(
        "structured-handlers",
        13,
        "A function for handle_errors of a ToolStrategy is called for any error.",
        "It covers what its annotation names, as a function for handle_tool_errors does.",
        "One rule, and one piece of code, for both places where errors become messages.",
    ),
    Divergence(
        "agent-hooks",
        13,
        "A middleware may also act once around the whole run: before_agent, after_agent.",
        "It acts around each call of a model and of a tool; these two are never called.",
        "They are one more node at each end, and have nothing to do with tool calls.",
    ),
    Divergence(
        "model-request-system-prompt",
        13,
        "A ModelRequest also shows and takes its system message as a text, system_prompt.",
        "It has the system_message alone.",
        "It is a second spelling of one thing.",
    ),
    Divergence(
        "private-state",
        13,
        "A field can be marked as one that a caller may not give, or is not told.",
        "Only jump_to is kept from the caller.",
        "The marks are the business of ready-made middleware.",
    ),
    Divergence(
        "structured-schemas",
        13,
        "The schema of a ToolStrategy may be a union or oneOf: each part becomes a tool.",
        "It is one that layer 6 makes one tool of; a union is refused there.",
        "One schema shows the way from a call to an object; several are a loop around it.",
    ),
    Divergence(
        "structured-error-fields",
        13,
        "An error about a structured answer also carries its tool's name, source and AIMessage.",
        "It carries its text, and its cause.",
        "The text says it all, and the history has the message.",
    ),
    Divergence(
        "model-by-name",
        14,
        "A model may be given as a text; init_chat_model finds the provider's class.",
        "It must be a model, and a text is refused.",
        "To look up classes of packages says nothing about tool calls.",
    ),
    Divergence(
        "unreadable-calls",
        14,
        "A call in the history whose arguments could not be read is answered with an error before "
        "the model is asked.",
        "The history goes to the model as it is, as it did before langchain 1.4.3.",
        "To find such calls the whole history is read before each model call; nothing in the loop "
        "needs it.",
    ),
    Divergence(
        "history-in-place",
        14,
        "What wrap_model_call adds to the list request.messages becomes part of the state.",
        "It is sent to the model in this call only, as with override(messages=...).",
        "A request is a question to the model; the state is changed by what comes back.",
    ),
    Divergence(
        "undeclared-tools",
        14,
        "A tool, or a form of an answer, that only a middleware knows is refused before the call.",
        "The model is offered it; a call that nobody can run is answered as an unknown name is.",
        "The error that the tools node has already is clear to the model and to a reader.",
    ),
    Divergence(
        "structured-without-tools",
        14,
        "Without tools, words are no answer: a third edge asks until the schema is called.",
        "The two edges serve here as well; words end the run, as they do with tools.",
        "It is one edge less to learn, and the model is told to call something either way.",
    ),
)


def row(id: str) -> Divergence:
    """The row with this id.

    Raises:
        LookupError: there is none; the message lists the ids.
    """
    for entry in DIVERGENCES:
        if entry.id == id:
            return entry
    known = ", ".join(entry.id for entry in DIVERGENCES)
    raise LookupError(f"no divergence {id!r}; the register has {known}")
