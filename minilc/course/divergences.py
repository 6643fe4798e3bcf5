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
        "typed-dict-schema",
        6,
        "A TypedDict goes through pydantic.v1: no null in Optional, annotations read inside, too.",
        "pydantic's second generation says it: null shows, a TypedDict inside has plain types.",
        "The chain has one generation of pydantic; of a TypedDict the outermost is what is used.",
    ),
    Divergence(
        "tool-dicts",
        6,
        "A dict is checked for the types of OpenAI's own tools and for a strict that contradicts.",
        "Any type but a schema's is a provider's own tool, and the strict that is asked for wins.",
        "The list of types grows with each release; the other check meets what nobody writes.",
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
        "What is not there is not shown, and logprobs and the fingerprint never are.",
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
        "input-messages-untouched",
        9,
        "Messages of a run's input that have no id get one, also in the caller's own objects.",
        "The state has copies with ids; the caller's messages stay as they were.",
        "What you were given stays as it was, so that it can be given again.",
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
