"""Layer 3: the life of one call: `invoke -> run -> _to_args_and_kwargs -> _run -> output`.

Mirrors langchain_core/tools/{base,simple}.py, langchain_core/runnables/config.py
Leaves out callbacks and tracing (`run_manager` and `callbacks` are never filled), the copy of the
context that upstream runs each tool in, what a Runnable has beyond invoke and ainvoke (batch,
stream, pipes, names, `get_input_jsonschema`), what a config has for them (run_name, run_id) and the
sorting of its unknown keys, `is_single_input`, `Tool.from_function` and Tool's arguments by
position, a new look at the schema after `model_copy(update=...)`, models of pydantic.v1, the
refusal of a text for a JSON schema.
"""

import functools
import json
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextvars import ContextVar, copy_context
from typing import Annotated, Any, Literal

from pydantic import BaseModel, SkipValidation, ValidationError
from typing_extensions import TypedDict

from minilc import schema
from minilc.messages import ToolMessage, ToolOutputMixin

# The types of content block that a tool's result may consist of; other lists become JSON.
_BLOCK_TYPES = "text image_url image json search_result custom_tool_call_output document file"
TOOL_MESSAGE_BLOCK_TYPES = tuple(_BLOCK_TYPES.split())


class RunnableConfig(TypedDict, total=False):
    """What travels with a run, from each caller to what it calls."""

    tags: list[str]
    metadata: dict[str, Any]
    max_concurrency: int | None
    recursion_limit: int
    configurable: dict[str, Any]


Config = RunnableConfig | None

# The config of what runs now: whoever is called without a config inherits it.
var_child_runnable_config: ContextVar[Config] = ContextVar("child_runnable_config", default=None)


def ensure_config(config: Config = None) -> RunnableConfig:
    """A new config: the defaults, over them the running config, over that the given one."""
    given: Any = (var_child_runnable_config.get() or {}) | (config or {})
    given = {k: v.copy() if isinstance(v, dict | list) else v for k, v in given.items()}
    return {"tags": [], "metadata": {}, "recursion_limit": 25, "configurable": {}, **given}


class ToolException(Exception):
    """What a tool raises for the model to read, if `handle_tool_error` is set."""


class BaseTool(BaseModel, ABC, arbitrary_types_allowed=True):
    """A name, a description and a schema for the model, and `_run` for the call."""

    name: str
    description: str
    args_schema: Annotated[schema.ArgsSchema | None, SkipValidation()] = None
    return_direct: bool = False
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None
    handle_tool_error: bool | str | Callable[[ToolException], Any] | None = False
    handle_validation_error: bool | str | Callable[[ValidationError], str] | None = False
    response_format: Literal["content", "content_and_artifact"] = "content"
    extras: dict[str, Any] | None = None

    def __init__(self, **kwargs: Any) -> None:
        if not isinstance(given := kwargs.get("args_schema"), dict | type(BaseModel) | None):
            text = "args_schema must be a subclass of pydantic BaseModel or a JSON schema dict."
            raise TypeError(f"{text} Got: {given}.")
        super().__init__(**kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        # What was computed from the fields may not hold any more.
        for memo in self.__dict__.keys() - type(self).model_fields.keys():
            del self.__dict__[memo]

    @property
    def args(self) -> dict[str, Any]:
        """The JSON schema of each argument that the model fills."""
        return schema._json_schema(self.tool_call_schema)["properties"]

    @functools.cached_property
    def tool_call_schema(self) -> schema.ArgsSchema:
        """What the model sees: the schema without the injected arguments."""
        return schema._without_injected(self.name, self.get_input_schema(), self.description)

    def get_input_schema(self, config: Config = None) -> Any:
        """The schema of everything that the tool takes."""
        return self.args_schema or schema.create_schema_from_function(self.name, self._run)

    def invoke(self, input: Any, config: Config = None) -> Any:
        """Run on arguments, on a string, or on a ToolCall, which a ToolMessage answers."""
        return self.run(*_prep_run_args(input, config))

    async def ainvoke(self, input: Any, config: Config = None) -> Any:
        """`invoke`, awaited."""
        return await self.arun(*_prep_run_args(input, config))

    def run(self, tool_input: Any, config: Config = None, tool_call_id: Any = None) -> Any:
        """Validate the input, call `_run`, and format what comes of it."""
        return _run_to_end(self._execute(False, tool_input, config, tool_call_id))

    async def arun(self, tool_input: Any, config: Config = None, tool_call_id: Any = None) -> Any:
        """`run`, awaited."""
        return await self._execute(True, tool_input, config, tool_call_id)

    async def _execute(self, awaited: bool, tool_input: Any, config: Config, id: Any) -> Any:
        """The one body of `run` and `arun`; it waits for nothing if it is not awaited."""
        # From here the config is what runs now, for the tool and for whatever it calls.
        token = var_child_runnable_config.set(ensure_config(config)) if config else None
        artifact, status = None, "success"
        try:
            args, kwargs = self._to_args_and_kwargs(tool_input, id)
            if config_param := self._config_params[awaited]:
                kwargs[config_param] = ensure_config()
            content = await self._arun(*args, **kwargs) if awaited else self._run(*args, **kwargs)
            if self.response_format == "content_and_artifact":
                content, artifact = _two_tuple(content)
        except (ValidationError, ToolException) as error:
            content, status = self._recover(error), "error"
        finally:
            if token:
                var_child_runnable_config.reset(token)
        return content if id is None else _format_output(content, artifact, id, self.name, status)

    def _recover(self, error: ValidationError | ToolException) -> Any:
        """The content that stands for an error, if the tool's settings handle its kind."""
        flag: Any = self.handle_validation_error
        text = "Tool input validation error"
        if isinstance(error, ToolException):
            flag, text = self.handle_tool_error, (*error.args, "Tool execution error")[0]
        if not flag:
            raise error
        return flag(error) if callable(flag) else flag if isinstance(flag, str) else text

    def _to_args_and_kwargs(self, tool_input: Any, tool_call_id: Any) -> tuple[Any, Any]:
        parsed = self._parse_input(tool_input, tool_call_id)
        return ((parsed,), {}) if isinstance(parsed, str) else ((), parsed)

    def _parse_input(self, tool_input: Any, tool_call_id: Any) -> Any:
        """Validate the input against `args_schema`; a string stays as it is."""
        if not isinstance(model_class := self.args_schema, type):
            return tool_input if isinstance(tool_input, str) else {**tool_input}
        if isinstance(tool_input, str):
            # It fills the first argument, if there is one.
            first = dict.fromkeys(list(model_class.model_fields)[:1], tool_input)
            model_class.model_validate(first)
            return tool_input if first else {}
        if self._tool_call_ids:
            if tool_call_id is None:
                text = "When tool includes an InjectedToolCallId argument, tool must always be "
                text += "invoked with a full model ToolCall of the form: {'args': {...}, 'name': "
                raise ValueError(text + "'...', 'type': 'tool_call', 'tool_call_id': '...'}")
            tool_input = tool_input | dict.fromkeys(self._tool_call_ids, tool_call_id)
        # `model_validate` calls this too, after a look at its own arguments.
        made = model_class.__pydantic_validator__.validate_python(tool_input)
        # The fields, and what else a schema that allows it has let through.
        kept = made.__dict__ | more if (more := made.__pydantic_extra__) else made.__dict__.copy()
        # `*args` and `**kwargs` of the function: absent unless the model fills them.
        for key in ("args", "kwargs"):
            if key in kept and key not in made.model_fields_set:
                del kept[key]
        # What is injected passes as it came; a schema that was given may lack it.
        for key in self._injected_args_keys:
            if key in tool_input:
                kept[key] = tool_input[key]
        return kept

    @abstractmethod
    def _run(self, *args: Any, **kwargs: Any) -> Any:
        """What the tool does."""

    async def _arun(self, *args: Any, **kwargs: Any) -> Any:
        return await run_in_executor(self._run, *args, **kwargs)

    def _function(self, awaited: bool = True) -> Any:
        """What runs in the end: its signature says what it is injected."""
        return self._arun if awaited and type(self)._arun is not BaseTool._arun else self._run

    @functools.cached_property
    def _config_params(self) -> list[str | None]:
        return [_get_runnable_config_param(self._function(awaited)) for awaited in (False, True)]

    @functools.cached_property
    def _injected_args_keys(self) -> frozenset[str]:
        return schema._injected_names(None, self._function())

    @functools.cached_property
    def _tool_call_ids(self) -> frozenset[str]:
        return schema._injected_names(self.args_schema, self._function(), schema.InjectedToolCallId)


async def run_in_executor(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The result of a function that runs in a thread, in a copy of the context."""
    # Imported here, so that only who awaits needs it.
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    async def call() -> Any:
        return func(*args, **kwargs)

    # A coroutine, which no StopIteration leaves: a future that gets one hangs.
    task = functools.partial(copy_context().run, _run_to_end, call())
    # A thread of its own, for this call only: the loop's pool has few, and others would wait.
    return await asyncio.get_running_loop().run_in_executor(ThreadPoolExecutor(1), task)


def _run_to_end(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that never waits: its first step is its last."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise RuntimeError("a sync call has awaited something")


def _prep_run_args(value: Any, config: Config) -> tuple[Any, Config, str | None]:
    """What `run` takes; only `"type": "tool_call"` makes a ToolCall of a dict."""
    if isinstance(value, dict) and value.get("type") == "tool_call":
        return value["args"].copy(), config, value["id"]
    return value, config, None


def _two_tuple(response: Any) -> tuple[Any, Any]:
    if isinstance(response, tuple) and len(response) == 2:
        return response
    text = "Since response_format='content_and_artifact' a two-tuple of the message content and "
    text += "raw tool output is expected. Instead, generated response is of type: "
    raise ValueError(f"{text}{type(response)}.")


def _format_output(content: Any, artifact: Any, tool_call_id: Any, name: str, status: str) -> Any:
    """Wrap the content in a ToolMessage that answers the call, if it is none yet."""
    outputs = content if isinstance(content, list) and content else [content]
    if all(isinstance(item, ToolOutputMixin) for item in outputs):
        return content
    if not isinstance(content, str):
        blocks = isinstance(content, Sequence) and all(map(_is_message_content_block, content))
        content = list(content) if blocks else _stringify(content)
    # Fields that say nothing new are left out: a model remembers those that were set.
    plain = artifact is None and status == "success"
    more: dict[str, Any] = {} if plain else {"artifact": artifact, "status": status}
    return ToolMessage(content=content, tool_call_id=tool_call_id, name=name, **more)


def _is_message_content_block(b: Any) -> bool:
    return isinstance(b, str) or isinstance(b, dict) and b.get("type") in TOOL_MESSAGE_BLOCK_TYPES


def _stringify(content: Any) -> str:
    """JSON where there is one, so that the model reads data; else `str`."""
    try:
        return json.dumps(content, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return str(content)


def _get_runnable_config_param(func: Callable[..., Any]) -> str | None:
    """The parameter that is annotated as RunnableConfig."""
    return next((n for n, h in schema._get_type_hints(func).items() if h is RunnableConfig), None)


class _FunctionTool(BaseTool):
    """A tool whose `_run` and `_arun` call a function and a coroutine function."""

    description: str = ""
    func: Callable[..., Any] | None = None
    coroutine: Callable[..., Awaitable[Any]] | None = None

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        if (func := self.func) is None:
            raise NotImplementedError(f"{type(self).__name__} does not support sync invocation.")
        return func(*args, **kwargs)

    async def _arun(self, *args: Any, **kwargs: Any) -> Any:
        return await (self.coroutine or super()._arun)(*args, **kwargs)

    def _function(self, awaited: bool = True) -> Any:
        return (awaited and self.coroutine) or self.func or self.coroutine or self._run


class Tool(_FunctionTool):
    """A tool of one string: `func` is called with it, whatever its parameter is called."""

    @property
    def args(self) -> dict[str, Any]:
        """The JSON schema of the argument: a string, if no schema says otherwise."""
        return {"tool_input": {"type": "string"}} if self.args_schema is None else super().args

    def _to_args_and_kwargs(self, tool_input: Any, tool_call_id: Any) -> tuple[Any, Any]:
        args, kwargs = super()._to_args_and_kwargs(tool_input, tool_call_id)
        if len(all_args := [*args, *kwargs.values()]) != 1:
            text = f"Too many arguments to single-input tool {self.name}.\n{' ' * 16}Consider using"
            raise ToolException(f"{text} StructuredTool instead. Args: {all_args}")
        return all_args, {}
