"""Errors that a notebook shows on purpose."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator


@contextlib.contextmanager
def expect_error(kind: type[BaseException], text: str) -> Iterator[None]:
    """Print the error that the block raises; fail if it raises none, or another one.

    Args:
        kind: the error's type, exactly.
        text: its whole message; `...` stands for any text, for what differs between versions.

    Raises:
        AssertionError: nothing was raised, or something else.
    """
    expected = f"{kind.__name__}: {text}"
    try:
        yield
    except BaseException as error:  # a notebook may also show GraphBubbleUp or CancelledError
        actual = f"{type(error).__name__}: {error}"
        if type(error) is not kind or not _matches(text, str(error)):
            raise AssertionError(f"expected {expected}\nbut got  {actual}") from error
        # With `...` the pattern is printed, so that what differs does not reach the output.
        print(expected if "..." in text else actual)
    else:
        raise AssertionError(f"expected {expected}\nbut nothing was raised")


def _matches(text: str, message: str) -> bool:
    pattern = ".*".join(re.escape(part) for part in text.split("..."))
    return re.fullmatch(pattern, message, re.DOTALL) is not None
