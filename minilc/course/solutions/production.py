"""Solutions of notebook 16, production."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import ToolMessage


def production_1(orders: dict[str, Any], order_id: str, user: str, amount: int) -> str | None:
    """First whose it is, then its status, then the sum."""
    order = orders.get(order_id)
    if order is None or order["user"] != user:
        return f"Cannot refund: this customer has no order {order_id}."
    if order["status"] != "PAID":
        return f"Cannot refund: order {order_id} is {order['status']}, not PAID."
    if amount > order["left"]:
        return f"Cannot refund {amount} fen: {order['left']} fen are left."
    return None


def production_2(runtime: Any) -> str:
    """The call's id tells the wishes of a conversation apart, the thread the conversations."""
    return f"{runtime.config['configurable']['thread_id']}/{runtime.tool_call_id}"


def production_3(most: int) -> Callable[[Any, Any], Any]:
    """A wrapper that tries a tool up to `most` times."""

    def wrapper(request: Any, handler: Any) -> Any:
        for _ in range(most):
            try:
                return handler(request)
            except (ConnectionError, TimeoutError):
                continue
        text = f"unknown after {most} tries: look the order up before you ask again"
        return ToolMessage(text, tool_call_id=request.tool_call["id"], status="error")

    return wrapper
