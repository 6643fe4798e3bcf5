"""Code lines: how long the core is, counted in one way everywhere.

A code line is one that holds code: blank lines, comments and docstrings are not counted, and a
statement over five lines counts five.
"""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path

import minilc
from minilc.course.layers import LAYERS

MODULE_CEILING = 280
TOTAL_CEILING = 1_800

NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def code_lines(source: str) -> int:
    """The number of code lines in a module's text."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        # A text that stands alone as a statement is a docstring, wherever it stands.
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            if isinstance(node.value.value, str):
                lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def core_lines() -> dict[str, int]:
    """The code lines of each module of the core, in the order of the layers."""
    folder = Path(minilc.__file__).parent
    files = {row.module: folder / f"{row.module}.py" for row in LAYERS}
    return {name: code_lines(file.read_text(encoding="utf-8")) for name, file in files.items()}
