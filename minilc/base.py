"""Layer 3: the life of one call: `invoke -> run -> _to_args_and_kwargs -> _run -> output`.

Mirrors langchain_core/tools/{base,simple}.py, langchain_core/runnables/config.py
Leaves out callbacks and tracing (`run_manager` is never filled), `verbose`, what every Runnable
has beyond invoke and ainvoke (batch, stream, pipes), pydantic.v1 schemas.
"""

from __future__ import annotations

import asyncio
import functools
import json
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from types import TracebackType
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, SkipValidation, ValidationError
from typing_extensions import TypedDict

from minilc.messages import ToolMessage, ToolOutputMixin
from minilc.schema import (
    InjectedToolCallId,
    _create_subset_model,
    _get_injected_args_keys_from_signature,
    _get_type_hints,
    _is_injected_arg_type,
    create_schema_from_function,
    get_all_basemodel_annotations,
)

ArgsSchema = type[BaseModel] | dict[str, Any]

TOOL_MESSAGE_BLOCK_TYPES = (
    "text",
    "image_url",
    "image",
    "json",
    "search_result",
    "custom_tool_call_output",
    "document",
    "file",
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
    run_id: UUID | None


# The config of what runs now; whoever is called without a config inherits it.
var_child_runnable_config: ContextVar[RunnableConfig | None] = ContextVar(
    "child_runnable_config", default=None
)


def ensure_config(config: RunnableConfig | None = None) -> RunnableConfig:
    """A new config: the defaults, over them the running config, over that the given one."""
    ensured: dict[str, Any] = {
        "tags": [],
        "metadata": {},
        "callbacks": None,
        "recursion_limit": 25,
        "configurable": {},
    }
    for given in (var_child_runnable_config.get(), config):
        for key, value in (given or {}).items():
            if value is None:
                continue
            if key in RunnableConfig.__annotations__:
                ensured[key] = value.copy() if isinstance(value, dict | list) else value
            else:
                ensured["configurable"][key] = value
    return ensured  # type: ignore[return-value]  # built key by key


class ToolException(Exception):
    """What a tool raises for the model to read, if `handle_tool_error` is set."""


class SchemaAnnotationError(TypeError):
    """A subclass annotates `args_schema` as a model instead of a class of models."""


class BaseTool(BaseModel, ABC):
    """A name, a description and a schema for the model, and `_run` for the call."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    name: str
    description: str
    args_schema: Annotated[ArgsSchema | None, SkipValidation()] = Field(
        default=None, description="The tool schema."
    )
    return_direct: bool = False
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None
    handle_tool_error: bool | str | Callable[[ToolException], Any] | None = False
    handle_validation_error: bool | str | Callable[[ValidationError], str] | None = False
    response_format: Literal["content", "content_and_artifact"] = "content"
    extras: dict[str, Any] | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        annotation = cls.__annotations__.get("args_schema")
        if annotation == BaseModel:
            raise SchemaAnnotationError(
                f"Tool definition for {cls.__name__} must include valid type annotations for "
                f"argument 'args_schema' to behave as expected.\nExpected annotation of "
                f"'Type[BaseModel]' but got '{annotation}'.\nExpected class looks like:\n\n"
                "class ChildTool(BaseTool):\n    ...\n"
                "    args_schema: Type[BaseModel] = SchemaClass\n    ..."
            )

    def __init__(self, **kwargs: Any) -> None:
        schema = kwargs.get("args_schema")
        if not (schema is None or isinstance(schema, dict) or _is_model(schema)):
            raise TypeError(
                "args_schema must be a subclass of pydantic BaseModel or a JSON schema dict. "
                f"Got: {schema}."
            )
        super().__init__(**kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in ("name", "description", "args_schema"):
            self.__dict__.pop("_tool_call_schema_memo", None)

    @property
    def args(self) -> dict[str, Any]:
        """The JSON schema of each argument that the model fills."""
        schema = self.args_schema if isinstance(self.args_schema, dict) else self.tool_call_schema
        properties = schema if isinstance(schema, dict) else schema.model_json_schema()
        return properties["properties"]

    @property
    def tool_call_schema(self) -> ArgsSchema:
        """The schema without the injected arguments: what the model sees."""
        if isinstance(self.args_schema, dict):
            text = {"description": self.description} if self.description else {}
            return {**self.args_schema, **text}
        return self._tool_call_schema_memo

    @functools.cached_property
    def _tool_call_schema_memo(self) -> type[BaseModel]:
        full = self.get_input_schema()
        if not full.__pydantic_complete__:
            full.model_rebuild()
        annotations = get_all_basemodel_annotations(full)
        visible = [name for name, type_ in annotations.items() if not _is_injected_arg_type(type_)]
        return _create_subset_model(self.name, full, visible, fn_description=self.description)

    def get_input_schema(self, config: RunnableConfig | None = None) -> type[BaseModel]:
        """The schema of everything that the tool takes."""
        if self.args_schema is None:
            return create_schema_from_function(self.name, self._run)
        return self.args_schema  # type: ignore[return-value]

    def get_input_jsonschema(self, config: RunnableConfig | None = None) -> dict[str, Any]:
        """`get_input_schema` as JSON schema."""
        return self.get_input_schema(config).model_json_schema()

    def invoke(self, input: Any, config: RunnableConfig | None = None) -> Any:
        """Run the tool on arguments, a string or a ToolCall; only a ToolCall gives a ToolMessage."""
        tool_input, config, tool_call_id = _prep_run_args(input, config)
        return self.run(tool_input, config=config, tool_call_id=tool_call_id)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None) -> Any:
        """`invoke`, awaited."""
        tool_input, config, tool_call_id = _prep_run_args(input, config)
        return await self.arun(tool_input, config=config, tool_call_id=tool_call_id)

    def run(
        self,
        tool_input: str | dict[str, Any],
        *,
        config: RunnableConfig | None = None,
        tool_call_id: str | None = None,
    ) -> Any:
        """Validate the input, call `_run`, and format what comes of it."""
        with _Outcome(self, config, tool_call_id) as outcome:
            args, kwargs = outcome.arguments(tool_input, self._run_config_param)
            outcome.response = self._run(*args, **kwargs)
        return outcome.output()

    async def arun(
        self,
        tool_input: str | dict[str, Any],
        *,
        config: RunnableConfig | None = None,
        tool_call_id: str | None = None,
    ) -> Any:
        """`run`, awaited."""
        with _Outcome(self, config, tool_call_id) as outcome:
            args, kwargs = outcome.arguments(tool_input, self._arun_config_param)
            outcome.response = await self._arun(*args, **kwargs)
        return outcome.output()

    @abstractmethod
    def _run(self, *args: Any, **kwargs: Any) -> Any:
        """What the tool does."""

    async def _arun(self, *args: Any, **kwargs: Any) -> Any:
        # A thread of its own: the loop's pool has few, and calls beyond them would wait.
        call = functools.partial(copy_context().run, self._run, *args, **kwargs)
        executor = ThreadPoolExecutor(max_workers=1)
        try:
            return await asyncio.get_running_loop().run_in_executor(executor, call)
        finally:
            executor.shutdown(wait=False)

    @functools.cached_property
    def _run_config_param(self) -> str | None:
        return _get_runnable_config_param(self._run)

    @functools.cached_property
    def _arun_config_param(self) -> str | None:
        own = type(self)._arun is not BaseTool._arun
        return _get_runnable_config_param(self._arun if own else self._run)

    @functools.cached_property
    def _injected_args_keys(self) -> frozenset[str]:
        keys = _get_injected_args_keys_from_signature(self._run)
        return keys or _get_injected_args_keys_from_signature(self._arun)

    @functools.cached_property
    def _tool_call_id_keys(self) -> list[str]:
        annotations = get_all_basemodel_annotations(self.args_schema)  # type: ignore[arg-type]
        return [k for k, v in annotations.items() if _is_injected_arg_type(v, InjectedToolCallId)]

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if _is_model(self.args_schema) and not self.args_schema.model_fields:
            return (), {}
        parsed = self._parse_input(tool_input, tool_call_id)
        if isinstance(parsed, str):
            return (parsed,), {}
        if isinstance(parsed, dict):
            return (), parsed.copy()
        raise TypeError(f"Invalid tool input type: {type(parsed)}")

    def _parse_input(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> str | dict[str, Any]:
        """Validate the input against `args_schema`; a string stays as it is."""
        schema = self.args_schema
        if isinstance(schema, dict) and isinstance(tool_input, str):
            raise ValueError(
                "String tool inputs are not allowed when using tools with JSON schema args_schema."
            )
        if schema is None or isinstance(schema, dict):
            return tool_input
        if isinstance(tool_input, str):
            schema.model_validate({next(iter(schema.model_fields)): tool_input})
            return tool_input
        ids = dict.fromkeys(self._tool_call_id_keys, tool_call_id)
        if ids:
            _require_tool_call_id(tool_call_id)
            tool_input = {**tool_input, **ids}
        result = schema.model_validate(tool_input)
        validated = {**result.__dict__, **(result.model_extra or {})}
        for key in ("args", "kwargs"):
            # Stand for a function's `*args` and `**kwargs`: no arguments unless they are given.
            if key in validated and key not in result.model_fields_set:
                del validated[key]
        for key in self._injected_args_keys:
            if key in tool_input:
                validated[key] = tool_input[key]
            elif key == "tool_call_id":
                validated[key] = _require_tool_call_id(tool_call_id)
        return validated


class _Outcome:
    """What came of one run; the part of `run` and `arun` around the call itself."""

    __slots__ = ("tool", "config", "tool_call_id", "response", "status", "token")

    def __init__(
        self, tool: BaseTool, config: RunnableConfig | None, tool_call_id: str | None
    ) -> None:
        self.tool, self.config, self.tool_call_id = tool, config, tool_call_id
        self.response: Any = None
        self.status = "success"

    def __enter__(self) -> _Outcome:
        self.token = var_child_runnable_config.set(self.config)
        return self

    def arguments(
        self, tool_input: str | dict[str, Any], config_param: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        args, kwargs = self.tool._to_args_and_kwargs(tool_input, self.tool_call_id)
        if config_param:
            kwargs[config_param] = self.config
        return args, kwargs

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        var_child_runnable_config.reset(self.token)
        if isinstance(error, ValidationError) and (flag := self.tool.handle_validation_error):
            text = "Tool input validation error"
            self.response = _handle_error(error, flag, "handle_validation_error", text)
        elif isinstance(error, ToolException) and (flag := self.tool.handle_tool_error):
            text = error.args[0] if error.args else "Tool execution error"
            self.response = _handle_error(error, flag, "handle_tool_error", text)
        else:
            return False
        self.status = "error"
        return True

    def output(self) -> Any:
        content, artifact = self.response, None
        if self.status == "success" and self.tool.response_format == "content_and_artifact":
            if not isinstance(content, tuple) or len(content) != 2:
                raise ValueError(
                    "Since response_format='content_and_artifact' a two-tuple of the message "
                    "content and raw tool output is expected. Instead, generated response is of "
                    f"type: {type(content)}."
                )
            content, artifact = content
        return _format_output(content, artifact, self.tool_call_id, self.tool.name, self.status)


def _handle_error(error: Exception, flag: Any, setting: str, text: str) -> Any:
    """The content that stands for a handled error, as the tool's setting says."""
    if isinstance(flag, bool):
        return text
    if isinstance(flag, str):
        return flag
    if callable(flag):
        return flag(error)
    raise ValueError(
        f"Got unexpected type of `{setting}`. Expected bool, str or callable. Received: {flag}"
    )


def _require_tool_call_id(tool_call_id: str | None) -> str:
    if tool_call_id is None:
        raise ValueError(
            "When tool includes an InjectedToolCallId argument, tool must always be invoked with "
            "a full model ToolCall of the form: {'args': {...}, 'name': '...', 'type': "
            "'tool_call', 'tool_call_id': '...'}"
        )
    return tool_call_id


def _prep_run_args(
    value: Any, config: RunnableConfig | None
) -> tuple[Any, RunnableConfig, str | None]:
    """The tool's input, the whole config, and the id if the value is a ToolCall."""
    if isinstance(value, dict) and value.get("type") == "tool_call":
        return value["args"].copy(), ensure_config(config), value["id"]
    return value, ensure_config(config), None


def _format_output(
    content: Any, artifact: Any, tool_call_id: str | None, name: str, status: str
) -> Any:
    """Wrap the content in a ToolMessage, if there is a call to answer and it is not one yet."""
    if isinstance(content, list) and content:
        if all(isinstance(item, ToolOutputMixin) for item in content):
            return content
    if isinstance(content, ToolOutputMixin) or tool_call_id is None:
        return content
    if not isinstance(content, str):
        blocks = isinstance(content, Sequence) and all(map(_is_message_content_block, content))
        content = list(content) if blocks else _stringify(content)
    return ToolMessage(
        content, artifact=artifact, tool_call_id=tool_call_id, name=name, status=status
    )


def _is_message_content_block(obj: Any) -> bool:
    return isinstance(obj, str) or (
        isinstance(obj, dict) and obj.get("type") in TOOL_MESSAGE_BLOCK_TYPES
    )


def _stringify(content: Any) -> str:
    """JSON where there is one, so that the model reads data; else `str`."""
    try:
        return json.dumps(content, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return str(content)


def _is_model(schema: Any) -> bool:
    return isinstance(schema, type) and issubclass(schema, BaseModel)


def _get_runnable_config_param(func: Callable[..., Any]) -> str | None:
    """The parameter that is annotated as RunnableConfig."""
    for name, type_ in _get_type_hints(func).items():
        if type_ is RunnableConfig:
            return name
    return None


class _FunctionTool(BaseTool):
    """A tool whose `_run` and `_arun` call a function and a coroutine function."""

    description: str = ""
    func: Callable[..., Any] | None = None
    coroutine: Callable[..., Awaitable[Any]] | None = None

    def _run(self, *args: Any, config: RunnableConfig, **kwargs: Any) -> Any:
        if self.func is None:
            kind = "Tool" if isinstance(self, Tool) else "StructuredTool"
            raise NotImplementedError(f"{kind} does not support sync invocation.")
        return self.func(*args, **kwargs, **self._config_for(config))

    async def _arun(self, *args: Any, config: RunnableConfig, **kwargs: Any) -> Any:
        if self.coroutine is None:
            return await super()._arun(*args, config=config, **kwargs)
        return await self.coroutine(*args, **kwargs, **self._config_for(config))

    def _config_for(self, config: RunnableConfig) -> dict[str, Any]:
        return {self._func_config_param: config} if self._func_config_param else {}

    @functools.cached_property
    def _func_config_param(self) -> str | None:
        return _get_runnable_config_param(self.func or self.coroutine)  # type: ignore[arg-type]


class Tool(_FunctionTool):
    """A tool of one string: `func` is called with it, whatever its parameter is called."""

    def __init__(
        self, name: str, func: Callable[..., Any] | None, description: str, **kwargs: Any
    ) -> None:
        super().__init__(name=name, func=func, description=description, **kwargs)

    @classmethod
    def from_function(
        cls,
        func: Callable[..., Any] | None,
        name: str,
        description: str,
        return_direct: bool = False,
        args_schema: ArgsSchema | None = None,
        coroutine: Callable[..., Awaitable[Any]] | None = None,
        **kwargs: Any,
    ) -> Tool:
        """Make a Tool; at least one of `func` and `coroutine` is needed."""
        if func is None and coroutine is None:
            raise ValueError("Function and/or coroutine must be provided")
        kwargs |= {"return_direct": return_direct, "args_schema": args_schema}
        return cls(name, func, description, coroutine=coroutine, **kwargs)

    @property
    def args(self) -> dict[str, Any]:
        """The JSON schema of the argument: a string, if no schema says otherwise."""
        if self.args_schema is not None:
            return super().args
        return {"tool_input": {"type": "string"}}

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        args, kwargs = super()._to_args_and_kwargs(tool_input, tool_call_id)
        all_args = [*args, *kwargs.values()]
        if len(all_args) != 1:
            raise ToolException(
                f"Too many arguments to single-input tool {self.name}.\n"
                f"                Consider using StructuredTool instead. Args: {all_args}"
            )
        return tuple(all_args), {}
