"""Fixtures for tests that have one body and run in two worlds, sync and async."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from minilc.course.worlds import LANGCHAIN, MINILC, World


@pytest.fixture(params=[MINILC, LANGCHAIN], ids=lambda world: world.name)
def lc(request: pytest.FixtureRequest) -> World:
    """The world that the test runs in."""
    return request.param


@pytest.fixture(params=["sync", "async"])
def invoke(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`invoke(runnable, *args, **kwargs)`: its `invoke`, or its `ainvoke` run to the end."""
    if request.param == "sync":
        return lambda runnable, *args, **kwargs: runnable.invoke(*args, **kwargs)
    return lambda runnable, *args, **kwargs: asyncio.run(runnable.ainvoke(*args, **kwargs))
