"""The things you can move: widgets for notebooks, on both worlds.

    widgets.stepper(draw.record(agent, input))    # a run step by step; or two, side by side
    widgets.schema_bench()                        # a function's source, and what a model is sent
    widgets.router()                              # which exit each of create_agent's edges takes
    widgets.tool_call_bench()                     # a tool call, and what ToolNode makes of it

What is typed runs in the reader's own kernel and nowhere else. Each widget also leaves a table, and
text, for where there is no kernel: that is what a committed notebook keeps.
"""

from __future__ import annotations

from minilc.course.widgets.views import router, schema_bench, stepper, tool_call_bench

__all__ = ["router", "schema_bench", "stepper", "tool_call_bench"]
