"""Exercises (to come)."""

from __future__ import annotations


def lessons() -> list[str]:
    """The names of the layers that have exercises."""
    return []


def problems(lesson: str) -> list[str]:
    """What is wrong with a lesson's exercises; empty if they behave."""
    return []
