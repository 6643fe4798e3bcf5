"""Solutions of layer 9, state."""

from __future__ import annotations

from typing import Any

from langgraph.errors import InvalidUpdateError

from minilc.messages import RemoveMessage


def state_1(left: list[Any], right: list[Any]) -> list[Any]:
    """A RemoveMessage takes the place of what it removes, until all is merged."""
    merged = {message.id: message for message in left}
    for message in right:
        if isinstance(message, RemoveMessage) and message.id not in merged:
            text = "Attempting to delete a message with an ID that doesn't exist "
            raise ValueError(f"{text}('{message.id}')")
        merged[message.id] = message
    return [message for message in merged.values() if not isinstance(message, RemoveMessage)]


def state_2(state: dict[str, Any], nodes: dict[str, Any], reducers: dict[str, Any]) -> Any:
    """All nodes read the state from before the step; then their updates are put together."""
    updates = [nodes[name](state) or {} for name in sorted(nodes)]
    new, written = dict(state), set()
    for key, value in [pair for update in updates for pair in update.items()]:
        if key in reducers:
            new[key] = reducers[key](new[key], value)
        elif key in written:
            raise InvalidUpdateError(f"At key '{key}': Can receive only one value per step.")
        else:
            new[key] = value
        written.add(key)
    return new


def state_3(old: dict[str, float], new: dict[str, float]) -> dict[str, float]:
    """The lower of two prices, in a dict of its own."""
    return old | {name: min(price, old.get(name, price)) for name, price in new.items()}
