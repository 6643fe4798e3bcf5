"""Layer 3: the life of one call: `invoke -> run -> _to_args_and_kwargs -> _run -> output`.

Mirrors langchain_core/tools/{base,simple}.py, langchain_core/runnables/config.py
Leaves out callbacks and tracing (`run_manager` and `callbacks` are never filled), the copy of the
context that upstream runs each tool in, what a Runnable has beyond invoke and ainvoke (batch,
stream, pipes, names), `Tool.from_function`, models of pydantic.v1.
"""

from __future__ import annotations

import asyncio
import functools
import json
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, SkipValidation, ValidationError
from typing_extensions import TypedDict

from minilc.messages import ToolMessage, ToolOutputMixin
from minilc.schema import (
    ArgsSchema,
    _get_injected_args_keys_from_signature,
    _get_type_hints,
    _is_model,
    _json_schema,
    _SchemaPlan,
    _without_injected,
    create_schema_from_function,
)

Arguments = tuple[tuple[Any, ...], dict[str, Any]]

# The types of content block that a tool's result may consist of; other lists become JSON.
TOOL_MESSAGE_BLOCK_TYPES = tuple(
    "text image_url image json search_result custom_tool_call_output document file".split()
)


class RunnableConfig(TypedDict, total=False):
    """What travels with a run, from each caller to what it calls."""

    tags: list[str]
    metadata: dict[str, Any]
    callbacks: Any
    run_name: str
    max_concurrency: int | None
    recursion_limit: int
    configurable: dict[str, Any]
    run_id: Any


# The config of what runs now: whoever is called without a config inherits it.
var_child_runnable_config: ContextVar[RunnableConfig | None] = ContextVar(
    "child_runnable_config", default=None
)


def ensure_config(config: RunnableConfig | None = None) -> RunnableConfig:
    """A new config: the defaults, over them the running config, over that the given one."""
    whole: Any = {"tags": [], "metadata": {}, "callbacks": None, "recursion_limit": 25}
    whole["configurable"] = {}
    for given in (var_child_runnable_config.get(), config):
        for key, value in (given or {}).items():
            if value is not None:
                target = whole if key in RunnableConfig.__annotations__ else whole["configurable"]
                target[key] = value.copy() if isinstance(value, dict | list) else value
    return whole


class ToolException(Exception):
    """What a tool raises for the model to read, if `handle_tool_error` is set."""


class SchemaAnnotationError(TypeError):
    """A subclass annotates `args_schema` as a model where it takes a class of models."""


class BaseTool(BaseModel, ABC):
    """A name, a description and a schema for the model, and `_run` for the call."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    name: str
    description: str
    args_schema: Annotated[ArgsSchema | None, SkipValidation()] = None
    return_direct: bool = False
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None
    handle_tool_error: bool | str | Callable[[ToolException], Any] | None = False
    handle_validation_error: bool | str | Callable[[ValidationError], str] | None = False
    response_format: Literal["content", "content_and_artifact"] = "content"
    extras: dict[str, Any] | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__annotations__.get("args_schema") == BaseModel:
            raise SchemaAnnotationError(
                f"Tool definition for {cls.__name__} must include valid type annotations for "
                "argument 'args_schema' to behave as expected.\n"
                f"Expected annotation of 'Type[BaseModel]' but got '{BaseModel}'.\n"
                "Expected class looks like:\n\nclass ChildTool(BaseTool):\n    ...\n"
                "    args_schema: Type[BaseModel] = SchemaClass\n    ..."
            )

    def __init__(self, **kwargs: Any) -> None:
        schema = kwargs.get("args_schema")
        if not (schema is None or isinstance(schema, dict) or _is_model(schema)):
            text = "args_schema must be a subclass of pydantic BaseModel or a JSON schema dict."
            raise TypeError(f"{text} Got: {schema}.")
        super().__init__(**kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        # What was computed from the fields may not hold any more.
        for memo in self.__dict__.keys() - type(self).model_fields.keys():
            del self.__dict__[memo]

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with some fields changed."""
        copied = super().model_copy(deep=deep)
        for name, value in (update or {}).items():
            setattr(copied, name, value)
        return copied

    @property
    def args(self) -> dict[str, Any]:
        """The JSON schema of each argument that the model fills."""
        return _json_schema(self.tool_call_schema)["properties"]

    @property
    def is_single_input(self) -> bool:
        """Whether the model fills one argument only."""
        return len(self.args.keys() - {"kwargs"}) == 1

    @functools.cached_property
    def tool_call_schema(self) -> ArgsSchema:
        """What the model sees: the schema without the injected arguments."""
        return _without_injected(self.name, self.get_input_schema(), self.description)

    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        """The schema of everything that the tool takes."""
        schema = self.args_schema
        return create_schema_from_function(self.name, self._run) if schema is None else schema

    def get_input_jsonschema(self, config: RunnableConfig | None = None) -> dict[str, Any]:
        """`get_input_schema` as JSON schema."""
        return _json_schema(self.get_input_schema(config))

    def invoke(self, input: Any, config: RunnableConfig | None = None) -> Any:
        """Run on arguments, on a string, or on a ToolCall, which a ToolMessage answers."""
        return self.run(*_prep_run_args(input, config))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None) -> Any:
        """`invoke`, awaited."""
        return await self.arun(*_prep_run_args(input, config))

    def run(
        self, tool_input: Any, config: RunnableConfig | None = None, tool_call_id: str | None = None
    ) -> Any:
        """Validate the input, call `_run`, and format what comes of it."""
        return _run_to_end(self._execute(False, tool_input, config, tool_call_id))

    async def arun(
        self, tool_input: Any, config: RunnableConfig | None = None, tool_call_id: str | None = None
    ) -> Any:
        """`run`, awaited."""
        return await self._execute(True, tool_input, config, tool_call_id)

    async def _execute(
        self, asynchronous: bool, tool_input: Any, config: Any, tool_call_id: str | None
    ) -> Any:
        """The one body of `run` and `arun`; it waits for nothing if it is not asynchronous."""
        method: Callable[..., Any] = self._arun if asynchronous else self._run
        # From here the config is what runs now, for the tool and for whatever it calls.
        token = var_child_runnable_config.set(ensure_config(config)) if config else None
        artifact, status = None, "success"
        try:
            args, kwargs = self._to_args_and_kwargs(tool_input, tool_call_id)
            if config_param := self._config_params[asynchronous]:
                kwargs[config_param] = ensure_config()
            content = method(*args, **kwargs)
            if asynchronous:
                content = await content
            if self.response_format == "content_and_artifact":
                content, artifact = _two_tuple(content)
        except (ValidationError, ToolException) as error:
            content, status = self._recover(error), "error"
        finally:
            if token:
                var_child_runnable_config.reset(token)
        if tool_call_id is None:
            return content
        return _format_output(content, artifact, tool_call_id, self.name, status)

    def _recover(self, error: ValidationError | ToolException) -> Any:
        """The content that stands for an error, if the tool's settings handle its kind."""
        flag: Any = self.handle_validation_error
        text = "Tool input validation error"
        if isinstance(error, ToolException):
            flag, text = self.handle_tool_error, (*error.args, "Tool execution error")[0]
        if not flag:
            raise error
        return flag(error) if callable(flag) else flag if isinstance(flag, str) else text

    @abstractmethod
    def _run(self, *args: Any, **kwargs: Any) -> Any:
        """What the tool does."""

    async def _arun(self, *args: Any, **kwargs: Any) -> Any:
        async def call() -> Any:
            return self._run(*args, **kwargs)

        # A coroutine as in `run`, which no StopIteration leaves: a future that gets one hangs.
        task = functools.partial(copy_context().run, _run_to_end, call())
        # A thread of its own: the loop's pool has few, and calls beyond them would wait.
        executor = ThreadPoolExecutor(max_workers=1)
        try:
            return await asyncio.get_running_loop().run_in_executor(executor, task)
        finally:
            executor.shutdown(wait=False)

    @functools.cached_property
    def _config_params(self) -> list[str | None]:
        """The config parameters of `_run` and of `_arun`."""
        asynchronous = self._run if type(self)._arun is BaseTool._arun else self._arun
        return [_get_runnable_config_param(method) for method in (self._run, asynchronous)]

    @functools.cached_property
    def _injected_args_keys(self) -> frozenset[str]:
        keys = _get_injected_args_keys_from_signature(self._run)
        return keys or _get_injected_args_keys_from_signature(self._arun)

    @functools.cached_property
    def _schema_plan(self) -> _SchemaPlan | None:
        return _SchemaPlan(self.args_schema) if _is_model(self.args_schema) else None

    def _to_args_and_kwargs(self, tool_input: Any, tool_call_id: str | None) -> Arguments:
        parsed = self._parse_input(tool_input, tool_call_id)
        if isinstance(parsed, dict):
            return (), parsed.copy() if parsed is tool_input else parsed
        if isinstance(parsed, str):
            return (parsed,), {}
        raise TypeError(f"Invalid tool input type: {type(parsed)}")

    def _parse_input(self, tool_input: Any, tool_call_id: str | None) -> Any:
        """Validate the input against `args_schema`; a string stays as it is."""
        plan = self._schema_plan
        if plan is None:
            if isinstance(tool_input, str) and self.args_schema is not None:
                text = "String tool inputs are not allowed when using tools with JSON schema"
                raise ValueError(f"{text} args_schema.")
            return tool_input
        if not plan.names:
            return {}
        if isinstance(tool_input, str):
            plan.validate({plan.names[0]: tool_input})
            return tool_input
        if plan.tool_call_ids:
            _require(tool_call_id)
            tool_input = tool_input | dict.fromkeys(plan.tool_call_ids, tool_call_id)
        model = plan.validate(tool_input)
        validated = model.__dict__.copy()
        if model.__pydantic_extra__:
            validated |= model.__pydantic_extra__
        for key in plan.variadic:
            # `*args` and `**kwargs` of the function: absent unless the model fills them.
            if key not in model.model_fields_set:
                del validated[key]
        for key in self._injected_args_keys:
            if key in tool_input:
                validated[key] = tool_input[key]
            elif key == "tool_call_id":
                _require(tool_call_id)
                validated[key] = tool_call_id
        return validated


def _run_to_end(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that never waits: its first step is its last."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise RuntimeError("a sync call has awaited something")


def _prep_run_args(value: Any, config: RunnableConfig | None) -> tuple[Any, Any, str | None]:
    """What `run` takes; only `"type": "tool_call"` makes a ToolCall of a dict."""
    if isinstance(value, dict) and value.get("type") == "tool_call":
        return value["args"].copy(), config, value["id"]
    return value, config, None


def _require(tool_call_id: str | None) -> None:
    if tool_call_id is None:
        raise ValueError(
            "When tool includes an InjectedToolCallId argument, tool must always be invoked with "
            "a full model ToolCall of the form: {'args': {...}, 'name': '...', "
            "'type': 'tool_call', 'tool_call_id': '...'}"
        )


def _two_tuple(response: Any) -> tuple[Any, Any]:
    if isinstance(response, tuple) and len(response) == 2:
        return response
    raise ValueError(
        "Since response_format='content_and_artifact' a two-tuple of the message content and raw "
        f"tool output is expected. Instead, generated response is of type: {type(response)}."
    )


def _format_output(
    content: Any, artifact: Any, tool_call_id: str | None, name: str, status: str
) -> Any:
    """Wrap the content in a ToolMessage, if there is a call to answer and it is none yet."""
    outputs = content if isinstance(content, list) and content else [content]
    if tool_call_id is None or all(isinstance(item, ToolOutputMixin) for item in outputs):
        return content
    if not isinstance(content, str):
        blocks = isinstance(content, Sequence) and all(map(_is_message_content_block, content))
        content = list(content) if blocks else _stringify(content)
    kwargs = {"artifact": artifact, "tool_call_id": tool_call_id, "name": name, "status": status}
    return ToolMessage(content=content, **kwargs)


def _is_message_content_block(obj: Any) -> bool:
    typed = isinstance(obj, dict) and obj.get("type") in TOOL_MESSAGE_BLOCK_TYPES
    return typed or isinstance(obj, str)


def _stringify(content: Any) -> str:
    """JSON where there is one, so that the model reads data; else `str`."""
    try:
        return json.dumps(content, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return str(content)


def _get_runnable_config_param(func: Callable[..., Any]) -> str | None:
    """The parameter that is annotated as RunnableConfig."""
    return next((n for n, hint in _get_type_hints(func).items() if hint is RunnableConfig), None)


class _FunctionTool(BaseTool):
    """A tool whose `_run` and `_arun` call a function and a coroutine function."""

    description: str = ""
    func: Callable[..., Any] | None = None
    coroutine: Callable[..., Awaitable[Any]] | None = None

    # `config` takes away a function's parameter of that name, if it is no RunnableConfig.
    def _run(self, *args: Any, config: Any = None, **kwargs: Any) -> Any:
        if self.func is None:
            kind = "Tool" if isinstance(self, Tool) else "StructuredTool"
            raise NotImplementedError(f"{kind} does not support sync invocation.")
        if config_param := self._function_config_params[0]:
            kwargs[config_param] = ensure_config()
        return self.func(*args, **kwargs)

    async def _arun(self, *args: Any, config: Any = None, **kwargs: Any) -> Any:
        if self.coroutine is None:
            return await super()._arun(*args, **kwargs)
        if config_param := self._function_config_params[1]:
            kwargs[config_param] = ensure_config()
        return await self.coroutine(*args, **kwargs)

    @functools.cached_property
    def _function_config_params(self) -> list[str | None]:
        return [f and _get_runnable_config_param(f) for f in (self.func, self.coroutine)]


class Tool(_FunctionTool):
    """A tool of one string: `func` is called with it, whatever its parameter is called."""

    def __init__(self, name: str, func: Any, description: str, **kwargs: Any) -> None:
        super().__init__(name=name, func=func, description=description, **kwargs)

    @property
    def args(self) -> dict[str, Any]:
        """The JSON schema of the argument: a string, if no schema says otherwise."""
        return {"tool_input": {"type": "string"}} if self.args_schema is None else super().args

    def _to_args_and_kwargs(self, tool_input: Any, tool_call_id: str | None) -> Arguments:
        args, kwargs = super()._to_args_and_kwargs(tool_input, tool_call_id)
        all_args = (*args, *kwargs.values())
        if len(all_args) != 1:
            text = f"Too many arguments to single-input tool {self.name}.\n{' ' * 16}Consider using"
            raise ToolException(f"{text} StructuredTool instead. Args: {list(all_args)}")
        return all_args, {}
