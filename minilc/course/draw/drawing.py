"""A drawing: what `draw` returns. It shows itself, saves itself, and says itself in words."""

from __future__ import annotations

import base64
import functools
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import graphviz  # type: ignore[import-untyped]  # it ships no types

from minilc.course.draw import look

PNG_SCALE = 2  # pixels of the PNG for one of the SVG, so that it is sharp on a dense screen


@dataclass(repr=False)
class Drawing:
    """A picture with its description.

    Args:
        title: what it shows, in a few words.
        description: the same in sentences, for people who cannot see it.
        text: the drawing as lines of text.
        svg: the picture; None where nothing on this machine can lay out the graph.
        digraph: the graph behind it, for you to change and to `draw.render` again; None for
            drawings that are no graph.
    """

    title: str
    description: str
    text: str
    svg: str | None = None
    digraph: graphviz.Digraph | None = field(default=None, compare=False)

    @functools.cached_property
    def png(self) -> bytes | None:
        """The picture as PNG, for viewers that drop SVG; its bytes depend on fonts."""
        if self.svg is None:
            return None
        import resvg_py

        svg = look.wide_fonts(self.svg)
        return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=PNG_SCALE))

    def save(self, path: str | Path) -> Path:
        """Write the drawing to a `.svg`, `.png`, `.txt` or `.dot` file.

        Raises:
            ValueError: another kind of file, or one that this drawing does not have.
        """
        path = Path(path)
        kinds: dict[str, Any] = {
            ".svg": self.svg,
            ".png": self.png if path.suffix == ".png" else None,
            ".txt": self.text + "\n",
            ".dot": self.digraph.source if self.digraph is not None else None,
        }
        content = kinds.get(path.suffix)
        if content is None:
            raise ValueError(f"cannot save {self.title!r} as {path.name!r}; it has {_has(kinds)}")
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    def _repr_mimebundle_(
        self, include: Any = None, exclude: Any = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        data: dict[str, Any] = {"text/plain": self.text}
        if self.svg is None:
            return data, {}
        data["image/svg+xml"] = self.svg
        if self.png is None:
            return data, {}
        data["image/png"] = base64.b64encode(self.png).decode("ascii")
        # The PNG has more pixels than the page shows: the size is told apart.
        wide, high = re.findall(r'\b(?:width|height)="(\d+)"', self.svg)[:2]
        return data, {
            "image/png": {"alt": self.description, "width": int(wide), "height": int(high)}
        }

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Drawing({self.title!r})"


def _has(kinds: dict[str, Any]) -> str:
    return ", ".join(kind for kind, content in kinds.items() if content is not None)
