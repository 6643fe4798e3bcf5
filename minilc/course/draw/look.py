"""The visual language that every drawing shares: colours, fonts, the width of a text, safe text.

A drawing lies on a light card of its own, so that it reads the same in a light and a dark theme.
No meaning hangs on colour alone: what is dashed, thick or red also says so in words.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

FONTS = (
    "Verdana, 'DejaVu Sans', 'Noto Sans', 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', "
    "'WenQuanYi Micro Hei', sans-serif"
)
WIDE_FONTS = (
    "'Noto Sans CJK SC', 'PingFang SC', 'Hiragino Sans GB', 'Microsoft YaHei', 'SimHei', "
    "'WenQuanYi Micro Hei', 'WenQuanYi Zen Hei', 'Noto Sans SC', sans-serif"
)
CARD, CARD_EDGE = "#ffffff", "#d0d7de"
TEXT, MUTED, FAINT = "#1f2328", "#57606a", "#afb8c1"
TAKEN = "#bc4c00"  # what a run took
WRONG = "#cf222e"
SIZE, SMALL = 12, 10  # of letters
# Wider drawings are shown smaller: JupyterLab cuts off what is wider than the page.
WIDEST = 660


@dataclass(frozen=True)
class Role:
    """How one kind of participant looks: its filling and its outline."""

    fill: str
    edge: str


ROLES = {
    "user": Role("#fff8c5", "#9a6700"),
    "model": Role("#ddf4ff", "#0969da"),
    "tools": Role("#dafbe1", "#1a7f37"),
    "tool": Role("#f0fff4", "#1a7f37"),
    "graph": Role("#f6f8fa", "#57606a"),
    "end": Role("#eaeef2", "#57606a"),
    "other": Role("#fbefff", "#8250df"),
    "pending": Role("#fff8c5", "#9a6700"),
    "wrong": Role("#ffebe9", "#cf222e"),
}


def plain(value: object) -> str:
    """Text that can be shown anywhere: what cannot be printed is written as an escape (`\\x1b`)."""
    text = value if isinstance(value, str) else str(value)
    return "".join(_printable(character) for character in text)


def _printable(character: str) -> str:
    # A zero width joiner holds the parts of an emoji together; it cannot be printed alone.
    if character.isprintable() or character in "\n\u200d":
        return character
    if unicodedata.category(character) == "Zs":
        return " "
    return character.encode("unicode_escape").decode("ascii")


def one_line(value: object, most: int = 60) -> str:
    """`plain` on one line, shortened to `most` characters."""
    text = re.sub(r"\s+", " ", plain(value)).strip()
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def width(text: str, size: float) -> float:
    """About how wide a text is in a drawing's font; rather too wide than too narrow."""
    return sum(_width(character) for character in text) * size


def _width(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if unicodedata.combining(character):
        return 0.0
    if character in "ijl.,:;'|!()[] -":
        return 0.44
    if character in "mwMW@%—…":
        return 0.98
    return 0.74 if character.isupper() else 0.64


def wide_fonts(svg: str) -> str:
    """Name fonts that have Chinese for the texts that hold some.

    A browser looks for each character in the next font of a list; the maker of PNGs takes the first
    font that exists, and some other one for all of a text that it does not cover.
    """

    def named(match: re.Match[str]) -> str:
        if not any(unicodedata.east_asian_width(one) in "WF" for one in match[2]):
            return match[0]
        return f"<text font-family={quoteattr(WIDE_FONTS)}{match[1]}>{match[2]}</text>"

    return re.sub(r"<text\b([^>]*)>([^<]*)</text>", named, svg)


# --- pieces of SVG ---------------------------------------------------------------------------


def attributes(**values: object) -> str:
    """Attributes of an element; `stroke_width=2` becomes `stroke-width="2"`."""
    pairs = ((name.rstrip("_").replace("_", "-"), value) for name, value in values.items())
    return "".join(f" {name}={quoteattr(_number(value))}" for name, value in pairs if value != "")


def _number(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def label(x: float, y: float, text: str, size: float = SIZE, **more: object) -> str:
    """One line of text; a halo in the card's colour keeps it legible on lines."""
    look = {"fill": TEXT, "stroke": CARD, "stroke_width": 4, "paint_order": "stroke"} | more
    place = attributes(x=float(x), y=float(y), font_size=size, **look)
    return f"<text{place}>{escape(text)}</text>"


def box(x: float, y: float, wide: float, high: float, role: Role, **more: object) -> str:
    """A rounded box in a role's colours."""
    look = {"rx": 6, "fill": role.fill, "stroke": role.edge, "stroke_width": 1.2} | more
    place = attributes(x=float(x), y=float(y), width=float(wide), height=float(high), **look)
    return f"<rect{place}/>"


def card(body: str, wide: float, high: float, title: str, description: str) -> str:
    """A whole SVG: the card, what it shows in words, and the drawing on it."""
    ground = box(0.5, 0.5, wide - 1, high - 1, Role(CARD, CARD_EDGE), rx=8, stroke_width=1)
    scale = min(1.0, WIDEST / wide)
    size = attributes(width=round(wide * scale), height=round(high * scale))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img"{size} '
        f'viewBox="0 0 {round(wide)} {round(high)}" style="max-width:100%;height:auto" '
        f"font-family={quoteattr(FONTS)}>"
        f"<title>{escape(plain(title))}</title><desc>{escape(plain(description))}</desc>"
        f"{ground}{body}</svg>"
    )
