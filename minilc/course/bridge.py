"""The bridge between the worlds: minilc's parts inside real LangChain, and the reverse.

    create_agent(bridge.real(my_model), [bridge.real(my_tool)])    # LangChain's, of minilc's parts

`real` makes LangChain's form of what is minilc's, `ours` the reverse. What both worlds have, such
as texts and dicts, stays; what is in it crosses too.

- messages, `Send`, `Command`, runtimes, requests and responses become the object of that name, with
  the fields that both worlds have
- a tool, a model, a middleware or a node becomes one that asks the first; there and back again
  gives the first itself
- an args schema keeps its fields; the marks on them become the other world's
- of a config goes over what both worlds know

Leaves out errors and interrupts, which pass as they are; streams; what a middleware does when it is
awaited, and the fields that it adds to the state; forms of an answer; marks inside of unions; tools
without an args schema.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Callable
from typing import Any, get_origin

from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableBinding
from langchain_core.tools import BaseTool
from pydantic import BaseModel, ConfigDict, create_model

import minilc
from minilc import branch
from minilc.base import RunnableConfig
from minilc.course.worlds import LANGCHAIN, MINILC, World

# What crosses as its fields, and the marks in annotations, by the names that both worlds have.
OBJECTS = frozenset(
    "HumanMessage AIMessage SystemMessage ToolMessage RemoveMessage Send Command Runtime "
    "ToolRuntime ToolCallRequest ModelRequest ModelResponse".split()
)
MARKS = frozenset(
    "InjectedToolArg InjectedToolCallId InjectedState InjectedStore ToolRuntime".split()
)
HOOKS = ("before_model", "after_model", "wrap_model_call", "wrap_tool_call")
OF_A_TOOL = ("name", "description", "args_schema", "return_direct", "response_format", "extras")


def real(value: Any) -> Any:
    """The value in LangChain's form."""
    return _cross(value, LANGCHAIN)


def ours(value: Any) -> Any:
    """The value in minilc's form."""
    return _cross(value, MINILC)


def _cross(value: Any, to: World) -> Any:
    if isinstance(value, dict):
        return _config(value, to) if branch.CONF in value else _items(value, to)
    if isinstance(value, list | tuple):
        items = [_cross(item, to) for item in value]
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, type) and issubclass(value, BaseModel):
        return _schema(value, to)
    name = type(value).__name__
    if name in OBJECTS and not isinstance(value, getattr(to, name)):
        return _object(value, getattr(to, name), to)
    for kinds, wrap in _WRAPPERS[to.name]:
        if isinstance(value, kinds):
            # What has crossed before goes home.
            return value.inner if isinstance(value, _Crossed) else wrap(value)
    return value


def _items(items: dict[Any, Any], to: World) -> dict[Any, Any]:
    return {key: _cross(item, to) for key, item in items.items()}


def _config(config: dict[str, Any], to: World) -> dict[str, Any]:
    """What both worlds know of a config; of a graph's own keys, the runtime and the state."""
    known = {key: config[key] for key in RunnableConfig.__annotations__ if key in config}
    conf = {}
    for key, item in config[branch.CONF].items():
        if key == branch.CONFIG_KEY_READ_STATE and item is not None:
            conf[key] = functools.partial(_read_state, item, to)
        elif key == branch.CONFIG_KEY_RUNTIME or not key.startswith("__"):
            conf[key] = _cross(item, to)
    return {**known, branch.CONF: conf}


def _read_state(read: Callable[[], Any], to: World) -> Any:
    return _cross(read(), to)


def _object(value: Any, target: Any, to: World) -> Any:
    """An object with the fields that both classes have; a message is not told what it lacks."""
    known = _fields(target)
    fields = {name: getattr(value, name) for name in _fields(type(value)) if name in known}
    if isinstance(value, BaseModel):
        fields = {name: item for name, item in fields.items() if item is not None}
    return target(**_items(fields, to))


def _fields(cls: Any) -> list[str]:
    if dataclasses.is_dataclass(cls):
        return [field.name for field in dataclasses.fields(cls)]
    return list(getattr(cls, "model_fields", getattr(cls, "__slots__", ())))


# --- schemas --------------------------------------------------------------------------------------


def _schema(schema: type[BaseModel], to: World) -> type[BaseModel]:
    """The schema with the other world's marks; itself if it has none."""
    fields: dict[str, Any] = {}
    for name, info in schema.model_fields.items():
        field = copy.copy(info)
        field.metadata = [_mark(item, to) for item in info.metadata]
        field.annotation = _mark(info.annotation, to)
        fields[name] = (field.annotation, field)
    if all(_same(schema.model_fields[name], field) for name, (_, field) in fields.items()):
        return schema
    config = ConfigDict(**{**schema.model_config, "arbitrary_types_allowed": True})
    return create_model(schema.__name__, __config__=config, __doc__=schema.__doc__, **fields)


def _same(one: Any, other: Any) -> bool:
    return one.annotation is other.annotation and one.metadata == other.metadata


def _mark(mark: Any, to: World) -> Any:
    """The other world's mark; what is none stays."""
    kind = get_origin(mark) or mark
    name = getattr(kind, "__name__", type(kind).__name__)
    if name not in MARKS:
        return mark
    target = getattr(to, name)
    if isinstance(kind, type):
        return target
    return target(kind.field) if name == "InjectedState" else target()


# --- what asks the other --------------------------------------------------------------------------


class _Crossed:
    """Stands in one world for something of the other, which is `inner`."""

    inner: Any


class RealTool(_Crossed, BaseTool):
    """A tool of LangChain that runs one of minilc."""

    inner: Any

    def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        """Run minilc's tool."""
        return real(self.inner.invoke(ours(input), ours(config)))

    async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        """`invoke`, awaited."""
        return real(await self.inner.ainvoke(ours(input), ours(config)))

    def _run(self, **kwargs: Any) -> Any:
        return self.invoke(kwargs)


class OurTool(_Crossed, minilc.BaseTool):
    """A tool of minilc that runs one of LangChain."""

    inner: Any

    def invoke(self, input: Any, config: Any = None) -> Any:
        """Run LangChain's tool."""
        return ours(self.inner.invoke(real(input), real(config)))

    async def ainvoke(self, input: Any, config: Any = None) -> Any:
        """`invoke`, awaited."""
        return ours(await self.inner.ainvoke(real(input), real(config)))

    def _run(self, **kwargs: Any) -> Any:
        return self.invoke(kwargs)


def _tool(kind: Any, to: World, inner: Any) -> Any:
    return kind(inner=inner, **{name: _cross(getattr(inner, name), to) for name in OF_A_TOOL})


class RealModel(_Crossed, BaseChatModel):
    """A chat model of LangChain that asks one of minilc."""

    inner: Any

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """What minilc's model binds."""
        return real(self.inner.bind_tools(ours(tools), **kwargs))

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        kwargs |= {"stop": stop} if stop else {}
        answer = real(self.inner.invoke(ours(messages), **kwargs))
        return ChatResult(generations=[ChatGeneration(message=answer)])

    @property
    def _llm_type(self) -> str:
        return "minilc"


class OurModel(_Crossed, minilc.BaseChatModel):
    """A chat model of minilc that asks one of LangChain."""

    inner: Any

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """What LangChain's model binds."""
        return ours(self.inner.bind_tools(real(tools), **kwargs))

    def _generate(self, messages: Any, stop: Any = None, **kwargs: Any) -> minilc.ChatResult:
        kwargs |= {"stop": stop} if stop else {}
        answer = ours(self.inner.invoke(real(messages), **kwargs))
        return minilc.ChatResult(generations=[minilc.ChatGeneration(message=answer)])


@dataclasses.dataclass
class RealNode(_Crossed, Runnable[Any, Any]):
    """A node for LangGraph's graphs that runs one of minilc, such as its ToolNode."""

    inner: Any

    def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        """Run minilc's node."""
        return real(self.inner.invoke(ours(input), ours(config)))

    async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        """`invoke`, awaited."""
        return real(await self.inner.ainvoke(ours(input), ours(config)))


@dataclasses.dataclass
class OurNode(_Crossed):
    """A node for minilc's graphs that runs one of LangGraph, such as its ToolNode."""

    inner: Any

    def invoke(self, input: Any, config: Any = None) -> Any:
        """Run LangGraph's node."""
        return ours(self.inner.invoke(real(input), real(config)))

    async def ainvoke(self, input: Any, config: Any = None) -> Any:
        """`invoke`, awaited."""
        return ours(await self.inner.ainvoke(real(input), real(config)))


def _middleware(base: Any, to: World, inner: Any) -> Any:
    """A middleware, of the class `base`, with the hooks of one of the other world."""
    here, there = (real, ours) if to is LANGCHAIN else (ours, real)
    own: Any = minilc.AgentMiddleware if to is LANGCHAIN else AgentMiddleware

    def wraps(hook: Any) -> Any:
        def wrap(_self: Any, request: Any, handler: Any) -> Any:
            def execute(changed: Any) -> Any:
                return there(handler(here(changed)))

            return here(hook(there(request), execute))

        return wrap

    def updates(hook: Any) -> Any:
        def update(_self: Any, state: Any, runtime: Any) -> Any:
            return here(hook(there(state), there(runtime)))

        # Where it may jump to is for whoever draws the edges.
        return minilc.hook_config(can_jump_to=getattr(hook, "__can_jump_to__", ()))(update)

    members: dict[str, Any] = {"inner": inner, "tools": here(getattr(inner, "tools", ()))}
    for name in HOOKS:
        if getattr(type(inner), name) is not getattr(own, name):
            members[name] = (wraps if name.startswith("wrap") else updates)(getattr(inner, name))
    return type(inner.name, (_Crossed, base), members)()


_WRAPPERS: dict[str, list[tuple[Any, Callable[[Any], Any]]]] = {
    LANGCHAIN.name: [
        (minilc.BaseTool, functools.partial(_tool, RealTool, LANGCHAIN)),
        (minilc.BaseChatModel, lambda inner: RealModel(inner=inner)),
        (minilc.AgentMiddleware, functools.partial(_middleware, AgentMiddleware, LANGCHAIN)),
        ((minilc.ToolNode, minilc.CompiledStateGraph, OurNode), RealNode),
    ],
    MINILC.name: [
        (BaseTool, functools.partial(_tool, OurTool, MINILC)),
        ((BaseChatModel, RunnableBinding), lambda inner: OurModel(inner=inner)),
        (AgentMiddleware, functools.partial(_middleware, minilc.AgentMiddleware, MINILC)),
        (Runnable, OurNode),
    ],
}
