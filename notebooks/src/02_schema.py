# %% [markdown] lang="en"
# # How does a model know which arguments a tool takes?
#
# We write a function: a name, some parameters, a docstring. The model never sees it. Still it sends arguments that fit, most of the time. What did it get to read?
#
# |  |  |
# |---|---|
# | **Time** | 30 minutes, and 30 for the exercises |
# | **Difficulty** | medium |
# | **Before** | [01_messages](01_messages.ipynb): what a call is |
# | **Articles** | A: layers 1 and 2, debugging problem 4; B: section 3.2 |
# | **We build** | layer 2, `minilc/schema.py` |
#
# This is where the real thing stands in *your* installation: file and lines.

# %% tags=["version"]
# %load_ext minilc.course.listings
from minilc.course import exercises as ex
from minilc.course.expect import expect_error
from minilc.course.probe import Probe
from minilc.course.trace import trace
from minilc.course.twin import twin
from minilc.course.upstream import where

for name in ["create_schema_from_function", "_parse_google_docstring", "InjectedToolArg"]:
    print(f"{name:<28}", where(name).upstream)

# %% [markdown] lang="en"
# ## 1. The real thing
#
# A function with two parameters, and what a model reads of them. It is JSON, and it goes along with every request.

# %%
import inspect
from langchain_core.tools import InjectedToolArg, StructuredTool, tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, Field, ValidationError, create_model


def as_tool(function):
    return StructuredTool.from_function(function, description="Ask.")


def seen(function):
    return convert_to_openai_tool(as_tool(function))["function"]["parameters"]


def weather(city: str, days: int = 1):
    return f"{city}: {days}"


seen(weather)

# %% [markdown] lang="en"
# Two names, two types, one default, and a list of what must be there. All of it stood in the signature.
#
# The same thing has a second use. When the model's arguments arrive, they are checked by it.

# %%
checker = as_tool(weather).args_schema
assert dict(checker.model_validate({"city": "北京", "days": "2"})) == {"city": "北京", "days": 2}
with expect_error(ValidationError, "1 validation error for weather\ncity\n  Field required ..."):
    checker.model_validate({"days": 2})

# %% [markdown] lang="en"
# **What the model reads and what checks its answer are one schema, made of our signature.** So a careless signature is felt twice.
#
# ## 2. The naive version
#
# What would we write ourselves? Python can list the parameters of a function. All of them are required, that is safe.


# %%
def schema_v0(function):
    names = list(inspect.signature(function).parameters)
    return {"properties": {name: {} for name in names}, "required": names, "type": "object"}


schema_v0(weather)["properties"]

# %% [markdown] lang="en"
# A city and a number look the same. The model must guess.
#
# ### The probe
#
# Ten functions. After each step we ask what a model sees of them, in our version and in LangChain. The last one has a secret; it has to wait for part 7.

# %%
from typing import Annotated, Any, Literal, get_args, get_origin


def text(city: str): ...
def number(days: int): ...
def nothing_said(city): ...
def with_default(days: int = 1): ...
def may_be_null(city: str | None = None): ...
def list_of_texts(cities: list[str]): ...
def one_of_two(unit: Literal["C", "F"]): ...
def called_title(title: str): ...
def described(city: Annotated[str, "城市名"]): ...
def injected(city: str, user: Annotated[str, InjectedToolArg]): ...


plain = [text, number, nothing_said, with_default, may_be_null, list_of_texts, one_of_two]
functions = [*plain, called_title, described, injected]

# %%
probe = Probe(seen, {function.__name__.replace("_", " "): function for function in functions})
result = probe(schema_v0)
assert result.score == 1
result

# %% [markdown] lang="en"
# One of ten: where nothing was said, there is nothing to say.
#
# ## 3. Types
#
# JSON has its own names for types. We need a small table.

# %%
TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def schema_v1(function):
    schema = schema_v0(function)
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.annotation in TYPES:
            schema["properties"][name] = {"type": TYPES[parameter.annotation]}
    return schema


# %%
result = probe(schema_v1)
assert result.score == 4
result

# %% [markdown] lang="en"
# *nothing said* stays `{}`, in LangChain too. That does not mean text; it means anything. A dict passes as a city.

# %%
whatever = as_tool(nothing_said).args_schema.model_validate({"city": {"no": ["city"]}})
whatever.city

# %% [markdown] lang="en"
# ## 4. What may be left out
#
# A parameter with a default may be left out. The model is told the default as well.


# %%
def schema_v2(function):
    schema = schema_v1(function)
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.default is not parameter.empty:
            schema["properties"][name]["default"] = parameter.default
            schema["required"].remove(name)
    return {key: value for key, value in schema.items() if value}


# %%
result = probe(schema_v2)
assert result.score == 5
result

# %% [markdown] lang="en"
# **Wait a minute.** `str | None`, or `Optional[str]`: isn't that what makes a parameter optional? Look at one that has no default.


# %%
def forecast(city: str | None, unit: str | None = None): ...


assert seen(forecast)["required"] == ["city"]
seen(forecast)["properties"]

# %% [markdown] lang="en"
# It is not. `Optional` only allows `null`: `city` must be sent, and may be null. Only a default lets the model leave something out.
#
# A list as a default is a trap in Python: all calls share it. Do the calls of a tool? And what does a model see of a `default_factory`?

# %%
no_days, made_new = [], Field(default_factory=list)


def collect(day: int, days: list[int] = no_days, tags: list[str] = made_new):
    days.append(day)
    return len(days)


collector = as_tool(collect)
assert [collector.invoke({"day": day}) for day in [1, 2, 3]] == [1, 1, 1]
seen(collect)

# %% [markdown] lang="en"
# They do not: the list is copied for each call. `[]` is shown as a default. A factory makes its parameter optional too, and shows nothing.
#
# ## 5. Let pydantic do it
#
# Our table of types would get long. Pydantic has it already. We make a model with a field for each parameter, and ask for its JSON schema.


# %%
def fields_of(function):
    fields = {}
    for name, one in inspect.signature(function).parameters.items():
        annotation = Any if one.annotation is one.empty else one.annotation
        fields[name] = (annotation, ... if one.default is one.empty else one.default)
    return fields


create_model("Text", **fields_of(text)).model_json_schema()

# %% [markdown] lang="en"
# Pydantic adds a `title` to everything. Models do not need it, so we drop that key wherever it is.


# %%
def without_titles(schema):
    if not isinstance(schema, dict):
        return schema
    return {key: without_titles(value) for key, value in schema.items() if key != "title"}


def schema_v3(function):
    return without_titles(create_model("Args", **fields_of(function)).model_json_schema())


# %%
result = probe(schema_v3)
assert result.score == 7
result

# %% [markdown] lang="en"
# Three more are right, and one is lost. **Wait a minute.** *called title* has no parameter any more! Our broom was too wide. A title is a text; a parameter called title is a dict.


# %%
def without_title_texts(schema):
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if (key, type(value)) != ("title", str)}
    return {key: without_title_texts(value) for key, value in kept.items()}


def schema_v4(function):
    return without_title_texts(create_model("Args", **fields_of(function)).model_json_schema())


assert probe(schema_v4).score == 8


# %% [markdown] lang="en"
# Eight of ten. Now every type that pydantic knows has a schema. Here are those that people ask about. Which ones tell the model least?

# %%
import enum


class Unit(enum.Enum):
    C = "celsius"
    F = "fahrenheit"


class Place(BaseModel):
    city: str


def takes(x): ...


for kind in [int | str, Unit, dict[str, int], tuple[int], Place, dict, list, Any]:
    takes.__annotations__ = {"x": kind}
    shown = str(kind) if get_args(kind) else kind.__name__
    print(f"{shown:<16}", seen(takes)["properties"]["x"])

takes.__annotations__ = {"x": int | str}
assert as_tool(takes).args_schema.model_validate({"x": "5"}).x == "5"

# %% [markdown] lang="en"
# The last three lines. Article A says it too: of `payload: dict` the model knows that there is a payload, and nothing of what is in it. So it guesses, and nothing checks the guess. The first line has a trap of its own: where `int | str` is allowed, `"5"` stays a text.


# %%
class Order(BaseModel):
    order_id: str
    top: Annotated[int, Field(ge=1, le=20)] = 5


def query_loose(payload: dict):
    return payload


def query(order: Order):
    return order


assert as_tool(query_loose).invoke({"payload": {"ordre": "7"}}) == {"ordre": "7"}
assert type(as_tool(query).invoke({"order": {"order_id": "7"}})) is Order
with expect_error(ValidationError, "1 validation error for query\norder.order_id\n..."):
    as_tool(query).invoke({"order": {"ordre": "7"}})
seen(query)["properties"]

# %% [markdown] lang="en"
# With a pydantic class the model reads the fields and their bounds. Our function gets an `Order`, and a wrong field is named.
#
# This is the finished function in minilc, and the one that makes each field for it. They also do what parts 6 and 7 add.

# %% source="minilc.schema:create_schema_from_function, _field_of_parameter"
from minilc.schema import _field_of_parameter, create_schema_from_function

# %% [markdown] lang="en"
# ## 6. Describe it
#
# A type is not a meaning. Pydantic does not look at a text in `Annotated`; it wants a `Field`. We make one of the other.


# %%
def with_description(annotation):
    texts = [extra for extra in get_args(annotation)[1:] if isinstance(extra, str)]
    if get_origin(annotation) is Annotated and texts:
        return Annotated[annotation, Field(description=texts[0])]
    return annotation


def schema_v5(function):
    fields = {name: (with_description(a), b) for name, (a, b) in fields_of(function).items()}
    return without_title_texts(create_model("Args", **fields).model_json_schema())


# %%
result = probe(schema_v5)
assert result.score == 9
[row.input for row in result.rows if not row.equal]

# %% [markdown] lang="en"
# There are three ways to describe a parameter, and one of them in two places. Here is a function that uses them all. Which of the four texts reach their parameter?


# %%
def report(
    city: Annotated[str, "from a text"],
    days: Annotated[int, Field(description="from a Field")],
    unit: str = Field("C", description="from the default"),
    style: str = "short",
):
    """Report the weather.

    Args:
        style: from the docstring
    """
    return unit


for name, shown in tool(report).args.items():
    print(name, shown.get("description"))

# %% [markdown] lang="en"
# Three do. The docstring's stays where it is: the whole docstring becomes the tool's description, indented lines and all. Only `parse_docstring=True` takes it apart.

# %%
parsed = tool(parse_docstring=True)(report)
assert parsed.args["style"]["description"] == "from the docstring"
print(tool(report).description)
print(tool(report).args_schema.__doc__)

# %% [markdown] lang="en"
# The first is what the model reads, with blanks in front of `Args:`. The first line of a docstring has none, so Python's `dedent` finds nothing to take away. The second belongs to the schema, and is cleaned.
#
# **Wait a minute.** `unit` has a `Field` for a default. What if we call the function ourselves?

# %%
type(report("北京", 1)).__name__

# %% [markdown] lang="en"
# We get the `FieldInfo` itself. So write `Annotated[str, Field(...)] = "C"`: it works in both.
#
# A docstring that does not fit is an error, but only if it is parsed. A name that is misspelt, no `Args:` at all, no blank line before it:

# %%
MISSPELT = "Ask.\n\nArgs:\n    town: where"
UNDOCUMENTED = "Ask."
NO_BLANK_LINE = "Ask.\nArgs:\n    city: where"

text.__doc__ = MISSPELT
with expect_error(ValueError, "Arg town in docstring not found in function signature."):
    tool(parse_docstring=True)(text)
for text.__doc__ in [UNDOCUMENTED, NO_BLANK_LINE]:
    with expect_error(ValueError, "Found invalid Google-Style docstring."):
        tool(parse_docstring=True)(text)
tool(parse_docstring=True, error_on_invalid_docstring=False)(text).description

# %% [markdown] lang="en"
# The last one is told to be patient: it takes all for the description. Here is how minilc reads a docstring. If a parameter has a text in `Annotated` too, the docstring wins.

# %% source="minilc.schema:_parse_google_docstring"
from minilc.schema import _parse_google_docstring

# %% [markdown] lang="en"
# ## 7. Hide it
#
# Whose weather is it? The user's id must not come from the model, which could make one up. A mark on the parameter says so.


# %%
def is_injected(annotation):
    return InjectedToolArg in get_args(annotation)[1:]


def schema_v6(function):
    fields = {name: (with_description(a), b) for name, (a, b) in fields_of(function).items()}
    shown = {name: field for name, field in fields.items() if not is_injected(field[0])}
    return without_title_texts(create_model("Args", **shown).model_json_schema())


# %%
result = probe(schema_v6)
assert result.score == len(functions)
result

# %% [markdown] lang="en"
# Ten of ten. But the function still needs its `user`. So a tool shows its schema in two ways: `tool_call_schema` for the model, and `args_schema`, the whole one, for the check.

# %%
assert list(as_tool(injected).tool_call_schema.model_fields) == ["city"]
assert list(as_tool(injected).args_schema.model_fields) == ["city", "user"]
with expect_error(ValidationError, "1 validation error for injected\nuser\n  Field required ..."):
    as_tool(injected).invoke({"city": "北京"})

# %% [markdown] lang="en"
# Whoever runs the tool adds the value. In an agent that is the tool node: [11_injection](11_injection.ipynb).
#
# Our `is_injected` knows one mark. The finished one knows instances, subclasses, and types that need no `Annotated`.

# %% source="minilc.schema:InjectedToolCallId, _is_injected_arg_type"
from minilc.schema import InjectedToolCallId, _is_injected_arg_type

# %% [markdown] lang="en"
# ## 8. Names that mean something
#
# Some names are taken. `callbacks` and `run_manager` are never shown. `config` is worse: the model is asked for it, and its answer is thrown away.


# %%
def apply(config: str, callbacks: str = ""): ...


assert list(seen(apply)["properties"]) == ["config"]
with expect_error(TypeError, "apply() missing 1 required positional argument: 'config'"):
    as_tool(apply).invoke({"config": "a.toml"})

# %% [markdown] lang="en"
# LangChain keeps that name for a `RunnableConfig`. Call yours `settings`.
#
# `*args` and `**kwargs` are shown as two parameters. A model may fill them. Do the values arrive?


# %%
def anything(city: str, *args: int, **kwargs: str):
    return city, args, kwargs


assert list(seen(anything)["properties"]) == ["city", "args", "kwargs"]
for more in [{"unit": "C"}, {"args": [1, 2]}, {"kwargs": {"unit": "C"}}]:
    print(more, "->", as_tool(anything).invoke({"city": "北京"} | more))

# %% [markdown] lang="en"
# Never as we mean it. A free key is dropped, and `args` and `kwargs` land inside `kwargs`. A tool needs names.
#
# Annotations may be texts: we wrote quotes, or `from __future__ import annotations`. LangChain looks the names up among the globals of the function's module. A class inside a function is not there.


# %%
def visit(place: "Place", user: "Annotated[str, InjectedToolArg]"): ...


def made_inside():
    class Local(BaseModel):
        city: str

    def visit_local(place: "Local"): ...

    return visit_local


assert list(seen(visit)["properties"]) == ["place"]
with expect_error(NameError, "name 'Local' is not defined"):
    as_tool(made_inside())

# %% [markdown] lang="en"
# ## 9. The judge
#
# One tool in both worlds, and all that the model reads of it.


# %%
def booking(lc):
    @lc.tool
    def book(city: Annotated[str, "城市名"], user: Annotated[str, lc.InjectedToolArg]) -> str:
        """Book a room."""
        return city

    return lc.convert_to_openai_tool(book)


result = twin(booking, title="what the model reads")
assert result.verdict == "EQUAL"
result

# %% [markdown] lang="en"
# Try it: write `return False` as the first line of `_is_injected_arg_type` in part 7, run it, and run the judge. Then put it back.
#
# Here are all comparisons of this layer, errors included.

# %% tags=["version"]
from minilc.course import cases, check
from minilc.course.layers import layer

(checked,) = check.check([layer("schema")], cases.load(["schema"]))
assert checked.ok
checked.counts

# %% [markdown] lang="en"
# ## 10. The picture
#
# When does all this happen? Once, while the tool is made. This is a run of LangChain's `tool`; the numbers give the order.

# %%
chain = "from_function create_schema_from_function _infer_arg_descriptions _parse_google_docstring"
steps = trace(lambda: tool(parse_docstring=True)(report), chain.split())
assert steps.names == chain.split()
steps

# %% [markdown] lang="en"
# ## 11. Left out
#
# What minilc does not have here, and what depends on LangChain's version.

# %%
from minilc.course.register import left_out

left_out("schema")

# %% [markdown] lang="en"
# ## 12. Exercises
#
# In the first one your function takes its place inside minilc, and real LangChain judges it. Stuck? `ex.hint("schema-1")` helps, one step at a time.

# %%
ex.show("schema-1")

# %% stub="schema-1"

# %% [markdown] lang="en"
# The second one goes on where part 7 stopped.

# %%
ex.show("schema-2")

# %% stub="schema-2"

# %% [markdown] lang="en"
# The third begins with a bug report.

# %%
ex.show("schema-3")

# %% stub="schema-3"

# %% [markdown] lang="en"
# ## 13. Recap
#
# A signature becomes a schema. The model reads it, without what is injected, and its answer is checked with it. Types say what fits, descriptions say what is meant, and only a default lets the model leave something out.
#
# Our weather question so far: the model has been told what it may ask for. Two questions to end with; `ex.answer("schema-1", "a")` says why an option is right or wrong.

# %%
from IPython.display import display

display(ex.quiz("schema-1"), ex.quiz("schema-2"))

# %% [markdown] lang="en"
# Next: [03_base](03_base.ipynb). What happens in one call of a tool?
