"""The widgets themselves: controls on the computations, and what stands there without a kernel."""

from __future__ import annotations

import base64
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import ipywidgets as ipy  # type: ignore[import-untyped]  # it ships no types

from minilc.course import draw
from minilc.course.draw import look
from minilc.course.draw.runs import Run
from minilc.course.widgets import calls, pages, routes, schemas, steps
from minilc.course.widgets.markup import page, text

PLAY_EVERY = 1200  # milliseconds that a step is shown
Static = tuple[str, list[str]]  # what stands there without a kernel: HTML, and lines of text


class Bench(ipy.VBox):  # type: ignore[misc]  # ipywidgets ships no types
    """Controls on a page; a table takes their place where there is no kernel.

    Args:
        caption: what to do with it.
        children: the controls, and what they show.
        static: makes that table.
        drawing: a picture, for viewers that show no HTML.
    """

    def __init__(
        self,
        caption: str,
        children: Sequence[Any],
        static: Callable[[], Static],
        drawing: draw.Drawing | None = None,
    ) -> None:
        top = ipy.HTML(page(f"<b>{text(caption)}</b>"))
        super().__init__([top, *children], layout={"width": "100%"})
        self.static, self.drawing = static, drawing

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        html, lines = self.static()
        data = super()._repr_mimebundle_(**kwargs)
        data |= {"text/plain": look.plain("\n".join(lines)), "text/html": page(html)}
        if self.drawing is None or self.drawing.png is None:
            return data, {}
        data["image/png"] = base64.b64encode(self.drawing.png).decode("ascii")
        return data, {"image/png": self.drawing._repr_mimebundle_()[1]["image/png"]}


def _follow(controls: Sequence[Any], show: Callable[[], str]) -> Any:
    """What stands below the controls: `show` again whenever one of them moves."""
    below = ipy.HTML(show(), layout={"width": "100%"})
    for control in controls:
        control.observe(lambda _: setattr(below, "value", show()), "value")
    return below


# --- the stepper -----------------------------------------------------------------------------


def stepper(run: Run, other: Run | None = None) -> Bench:
    """Go through a recorded run step by step, or through two runs side by side.

    Args:
        run: what `draw.record` gave for a graph or agent of either world.
        other: a second one, to compare.

    Raises:
        TypeError: something else than a recorded run.
    """
    runs = [run] if other is None else [run, other]
    for one in runs:
        if not isinstance(one, Run) or one.graph is None:
            raise TypeError(f"expected a run, as `draw.record(agent, input)` makes it, got {one!r}")
    last = max(len(steps.frames(one)) for one in runs) - 1
    slider = ipy.IntSlider(0, 0, last, description="step")
    back, next_ = _mover(slider, -1, "◀ back"), _mover(slider, 1, "next ▶")
    return Bench(
        "Move the slider, or press Play: ▶ is what has run; marked is what it brought.",
        [
            ipy.HBox([*_player(slider), back, slider, next_], layout={"flex_flow": "row wrap"}),
            _follow([slider], lambda: page(pages.steps_at(runs, slider.value))),
        ],
        lambda: pages.all_steps(runs),
        draw.graph(run.graph, taken=run),
    )


def _player(slider: Any) -> list[Any]:
    """A button that moves a slider to its end.

    ipywidgets' own player has the clock, but its buttons have no words, so it stays hidden.
    """
    clock = ipy.Play(min=slider.min, max=slider.max, interval=PLAY_EVERY, show_repeat=False)
    clock.layout.display = "none"
    button = ipy.ToggleButton(description="Play", icon="play", tooltip="move by itself")
    button.layout.width = "80px"
    ipy.jslink((clock, "value"), (slider, "value"))
    ipy.jslink((clock, "playing"), (button, "value"))
    return [clock, button]


def _mover(slider: Any, by: int, label: str) -> Any:
    button = ipy.Button(description=label, tooltip=f"{label.strip('◀▶ ')} step")
    button.layout.width = "auto"
    button.on_click(
        lambda _: setattr(slider, "value", min(max(slider.value + by, slider.min), slider.max))
    )
    return button


# --- the benches -----------------------------------------------------------------------------


def schema_bench(source: str | Callable[..., Any] | None = None) -> Bench:
    """Edit a function's source, and see what OpenAI, Anthropic and Gemini are sent of it.

    Args:
        source: to begin with: a text, or a function whose source is taken.
    """
    if callable(source):
        source = textwrap.dedent(inspect.getsource(source))
    area = _area("source", schemas.SOURCE if source is None else source)
    return Bench(
        "Edit the source: below is what the model is sent. It runs in your own kernel only.",
        [area, _follow([area], lambda: page(pages.sent(schemas.sent(area.value))))],
        lambda: pages.source_and_sent(area.value),
    )


def _area(description: str, value: str) -> Any:
    rows = max(5, value.count("\n") + 2)
    area = ipy.Textarea(value, description=description, rows=rows, continuous_update=True)
    area.layout = {"width": "auto", "height": "auto"}
    return area


def tool_call_bench(
    tools: calls.Tools | None = None, state: Mapping[str, Any] | None = None
) -> Bench:
    """Type a tool call as JSON, and see what a ToolNode makes of it in both worlds.

    Args:
        tools: functions, or a function that takes a world and returns its tools; the course's
            weather tool and one with an injected argument, if None.
        state: what the state holds beside the messages.

    Raises:
        TypeError: a tool of one world, which the other cannot run.
    """
    given, held = tools or calls.weather_tools, calls.STATE if state is None else state
    names = calls.names_of(given)
    ready = calls.presets(given)
    preset = ipy.Dropdown(options=list(ready), description="preset")
    area = _area("tool call", ready[preset.value])
    preset.observe(lambda change: setattr(area, "value", ready[change.new]), "value")
    about = f"Tools: {', '.join(names)}. The state also has: {dict(held)!r}."
    return Bench(
        "Choose a call or type one: below is what ToolNode makes of it.",
        [
            preset,
            area,
            ipy.HTML(page(text(about))),
            _follow([area], lambda: page(pages.judged(calls.judge(area.value, given, held)))),
        ],
        lambda: pages.preset_table(given, held),
    )


# --- the router ------------------------------------------------------------------------------

STAY = "no"
BOX = {"height": "24px", "width": "262px", "margin": "0"}


def router() -> Bench:
    """Tick calls and answers, and see by which exits both worlds' agents go."""
    boxes = {
        one.name: ipy.Checkbox(
            one.default, description=one.metadata["says"], indent=False, layout=BOX
        )
        for one in fields(routes.Setting)
        if one.metadata
    }
    jump = ipy.Dropdown(options=[STAY, "end", "model", "tools"], description="jump_to")
    jump.layout.width, jump.style.description_width = "180px", "initial"
    columns = [
        ipy.VBox([ipy.HTML(page(f"<b>{text(who)}</b>")), *map(boxes.get, names)])
        for who, names in routes.GROUPS.items()
    ]
    columns[1].children += (jump,)

    def show() -> str:
        ticked = {name: one.value for name, one in boxes.items()}
        jump_to = None if jump.value == STAY else jump.value
        setting = routes.Setting(**ticked, jump_to=jump_to)
        return page(pages.journey(*routes.journeys(setting)))

    return Bench(
        "Tick what happens: below is the exit that each edge takes, and why.",
        [
            ipy.HBox(columns, layout={"flex_flow": "row wrap"}),
            _follow([*boxes.values(), jump], show),
        ],
        pages.exit_table,
    )
