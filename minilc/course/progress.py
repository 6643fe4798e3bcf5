"""What a learner has done, kept in one small file on their own machine.

The file is `progress.json` in the platform's folder for data, or in the folder that the environment
variable `MINILC_DATA` names. Where it cannot be written the course works all the same.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

EMPTY: dict[str, dict[str, dict[str, Any]]] = {"exercises": {}, "quizzes": {}}


def folder() -> Path:
    """Where the progress is kept."""
    if moved := os.environ.get("MINILC_DATA"):
        return Path(moved).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "minilc"


def file() -> Path:
    """The file that the progress is kept in."""
    return folder() / "progress.json"


def load() -> dict[str, dict[str, dict[str, Any]]]:
    """What is kept; empty where nothing is, or nothing that can be read."""
    try:
        kept = json.loads(file().read_text(encoding="utf-8"))
        return {part: {one: dict(done) for one, done in kept[part].items()} for part in EMPTY}
    except FileNotFoundError:
        pass
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        print(f"progress in {file()} is not readable ({error}); starting anew", file=sys.stderr)
    return {part: {} for part in EMPTY}


def _save(kept: dict[str, dict[str, dict[str, Any]]]) -> None:
    """Write the whole file, or leave the old one: never half of it."""
    try:
        folder().mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder(), prefix="progress-", suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                json.dump(kept, stream, ensure_ascii=False, indent=1, sort_keys=True)
            os.replace(name, file())
        except BaseException:  # an interrupt as well must leave no half file
            os.unlink(name)
            raise
    except OSError as error:
        print(f"progress is not kept: {error}", file=sys.stderr)


def tried(id: str, passed: bool) -> None:
    """Keep that an exercise was checked."""
    kept = load()
    entry = kept["exercises"].setdefault(id, {})
    entry["tries"] = entry.get("tries", 0) + 1
    entry["passed"] = entry.get("passed", False) or passed
    _save(kept)


def hint(id: str, most: int) -> int:
    """Keep that one more hint was seen; return its number, at most `most`."""
    kept = load()
    entry = kept["exercises"].setdefault(id, {})
    entry["hints"] = min(entry.get("hints", 0) + 1, most)
    _save(kept)
    return int(entry["hints"])


def may_see_solution(id: str, hints: int) -> bool:
    """Whether an exercise is solved, or all its hints were seen."""
    entry = load()["exercises"].get(id, {})
    return bool(entry.get("passed")) or entry.get("hints", 0) >= hints


def answered(id: str, right: bool) -> None:
    """Keep that a quiz was answered."""
    kept = load()
    entry = kept["quizzes"].setdefault(id, {})
    entry["tries"] = entry.get("tries", 0) + 1
    entry["right"] = entry.get("right", False) or right
    _save(kept)


def clear() -> None:
    """Forget everything."""
    file().unlink(missing_ok=True)


# --- on the command line ---------------------------------------------------------------------


def add_parser(subparsers: Any) -> None:
    """Add `progress [--clear]` to a command line."""
    text = "show which exercises are done"
    parser = subparsers.add_parser("progress", help=text, description=f"{text} (in {file()})")
    parser.add_argument("--clear", action="store_true", help="forget everything")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the progress, or clear it; return the exit status."""
    if arguments.clear:
        clear()
        print("progress cleared")
        return 0
    from minilc.course import exercises, terminal

    kept = load()
    table = terminal.table("lesson", "exercises", "tries", "hints", "quizzes", numbers=4)
    for name in exercises.lessons():
        table.add_row(name, *_row(exercises.lesson(name), kept))
    shown_on = terminal.console()
    shown_on.print(table)
    shown_on.print(f"kept in {file()}; minilc progress --clear forgets it")
    return 0


def _row(lesson: Any, kept: dict[str, dict[str, dict[str, Any]]]) -> list[str]:
    entries = [kept["exercises"].get(one.id, {}) for one in lesson.exercises]
    quizzes = [kept["quizzes"].get(one.id, {}) for one in lesson.quizzes]
    solved = sum(bool(entry.get("passed")) for entry in entries)
    right = sum(bool(entry.get("right")) for entry in quizzes)
    return [
        f"{solved} of {len(entries)}",
        str(sum(entry.get("tries", 0) for entry in entries)),
        str(sum(entry.get("hints", 0) for entry in entries)),
        f"{right} of {len(quizzes)}",
    ]
