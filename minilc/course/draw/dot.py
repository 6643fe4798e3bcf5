"""From DOT to SVG without a system package.

`MINILC_DOT` names a program; else graphviz-pure, which the course installs, so that everybody gets
the same bytes; else a system's `dot`; else there is no picture, and the drawing is its text.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import graphviz  # type: ignore[import-untyped]  # it ships no types

from minilc.course.draw import look

# Layout depends on this name: with it, and no other, the renderer takes Chinese characters as wide
# as they are. The list of fonts that viewers may use is put in afterwards.
FONT = "Verdana"
SECONDS = 20  # that a renderer may take
MARGIN = 12
_SVG = "{http://www.w3.org/2000/svg}"


def digraph(**graph_attributes: str) -> graphviz.Digraph:
    """An empty graph in the drawings' look."""
    made = graphviz.Digraph()
    made.attr("graph", fontname=FONT, bgcolor="transparent", pad="0.1", **graph_attributes)
    made.attr("node", fontname=FONT, fontsize="12", fontcolor=look.TEXT, penwidth="1.2")
    made.attr("edge", fontname=FONT, fontsize="11", fontcolor=look.MUTED, color=look.MUTED)
    return made


def text(value: object) -> str:
    """A label that DOT shows as it is: no escape, entity or HTML in it has a meaning."""
    # Not made a plain `str`: its type is what keeps `<b>` from being read as HTML.
    escaped: str = graphviz.escape(look.plain(value).replace("&", "&amp;"))
    return escaped


def programs() -> list[list[str]]:
    """The renderers to try, best first."""
    found = [os.environ.get("MINILC_DOT")]
    beside = [sysconfig.get_path("scripts"), str(Path(sys.executable).parent)]
    for folder in beside:  # a kernel often lacks the environment's scripts on its PATH
        found.append(shutil.which("graphviz-pure", path=folder))
    found += [shutil.which("graphviz-pure"), shutil.which("dot")]
    return [[program, "-q1", "-Tsvg"] for program in dict.fromkeys(found) if program]


def render(source: str, title: str, description: str, note: str = "") -> str | None:
    """Lay out DOT and return it as a described SVG on a card; None if nothing here can.

    Args:
        source: the DOT text.
        title: what the drawing shows.
        description: the same in sentences.
        note: a line below it, such as a legend.
    """
    for command in programs():
        try:
            done = subprocess.run(
                command, input=source.encode("utf-8"), capture_output=True, timeout=SECONDS
            )
        except (OSError, subprocess.TimeoutExpired):
            continue  # the next renderer may do
        if done.returncode == 0 and done.stdout:
            return _on_card(done.stdout, title, description, note)
    return None


def _on_card(svg: bytes, title: str, description: str, note: str) -> str:
    """Take the renderer's drawing without its page, names and sizes, and put it on a card."""
    root = ElementTree.fromstring(svg)
    left, top, wide, high = map(float, root.attrib["viewBox"].split())
    body = "".join(_serialised(child) for child in root)
    needed = max(wide, look.width(note, look.SMALL))
    shift = f"translate({MARGIN - left + (needed - wide) / 2:g} {MARGIN - top:g})"
    group = f'<g transform="{shift}">{body}</g>'
    high += 2 * MARGIN
    if note:
        group += look.label(MARGIN, high + 4, note, look.SMALL, fill=look.MUTED)
        high += 14
    return look.card(group, needed + 2 * MARGIN, high, title, description)


def _serialised(element: ElementTree.Element) -> str:
    """An element as text, without ids (two drawings share a page) and the renderer's own titles."""
    tag = element.tag.removeprefix(_SVG)
    if tag == "title":
        return ""
    kept = {
        name: value
        for name, value in element.attrib.items()
        if name not in ("id", "class", "font-family") and not name.startswith("{")
    }
    inner = escape(element.text or "") if tag == "text" else ""
    if tag == "text":
        kept["xml:space"] = "preserve"
    inner += "".join(_serialised(child) for child in element)
    return f"<{tag}{look.attributes(**kept)}>{inner}</{tag}>"
