"""HTML for the widgets: a piece takes texts, which it escapes, or HTML of other pieces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from minilc.course.draw import Drawing, look

STYLE = """<style>
.minilc-w{line-height:1.4;font-size:13px;color:var(--jp-ui-font-color1,inherit)}
.minilc-w table{border-collapse:collapse;margin:4px 0;font-size:13px}
.minilc-w caption{text-align:left;font-weight:600;padding:2px 0;color:inherit}
.minilc-w th,.minilc-w td{text-align:left!important;vertical-align:top;padding:2px 8px;
border:1px solid rgba(128,128,128,.4);white-space:normal;max-width:none}
.minilc-w pre,.minilc-w code{font-family:var(--jp-code-font-family,monospace);font-size:12px;
background:none;color:inherit;padding:0}
.minilc-w pre{margin:0;line-height:1.35;white-space:pre-wrap;
overflow-wrap:break-word;word-break:normal}
.minilc-w ul{margin:0!important;padding:0!important;list-style:none}
.minilc-w li{overflow-wrap:break-word;padding:0 4px;margin:0;list-style:none}
.minilc-w .on{background:rgba(219,109,40,.22)}
.minilc-w .row{display:flex;flex-wrap:wrap;gap:8px 20px;align-items:flex-start}
.minilc-w .fit{flex:0 1 auto}.minilc-w .wide{flex:1 1 300px;min-width:0}
.minilc-w .small{flex:1 1 220px;max-width:410px}.minilc-w .small+.wide{flex:3 1 430px}
.minilc-w h4{font-size:13px!important;font-weight:600!important;margin:6px 0 2px!important;
color:inherit}
.minilc-w .good,.minilc-w .bad{padding:1px 8px;margin:2px 0;border-left:4px solid #2da44e}
.minilc-w .bad{border-left-color:#cf222e}
.minilc-w .scroll{max-height:260px;overflow:auto}
</style>"""


def page(*parts: str) -> str:
    """Parts of HTML as one page of a widget."""
    return f'{STYLE}<div class="minilc-w">{"".join(parts)}</div>'


def text(value: object) -> str:
    """A text as HTML that shows it as it is."""
    return escape(look.plain(value))


def code(value: object) -> str:
    """A text of several lines as HTML."""
    return f"<pre>{text(value)}</pre>"


def verdict(equal: bool, words: str) -> str:
    """A line that says what came of a comparison."""
    sign, kind = ("=", "good") if equal else ("≠", "bad")
    return f'<div class="{kind}"><b>{sign}</b> {text(words)}</div>'


def problem(words: str) -> str:
    """A line that says what is wrong."""
    return f'<div class="bad"><b>✗</b> {text(words)}</div>'


def items(lines: Iterable[str], marked: Iterable[int] = (), none: str = "nothing") -> str:
    """Lines as a list, some of them marked."""
    on = set(marked)
    shown = [
        f'<li class="on">{text(line)}</li>' if number in on else f"<li>{text(line)}</li>"
        for number, line in enumerate(lines)
    ]
    return f"<ul>{''.join(shown)}</ul>" if shown else f"<ul><li>{text(none)}</li></ul>"


def table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    marked: Iterable[int] = (),
) -> str:
    """A table; its cells are HTML, its head and caption are texts."""
    on = set(marked)
    top = "".join(f'<th scope="col">{text(one)}</th>' for one in head)
    body = "".join(
        f"<tr{' class=on' * (number in on)}>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>"
        for number, row in enumerate(rows)
    )
    return (
        f"<table><caption>{text(caption)}</caption><thead><tr>{top}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def picture(drawing: Drawing) -> str:
    """A drawing as HTML; its text, where nothing can lay it out."""
    return drawing.svg or code(drawing.text)
