"""The versions that a result belongs to."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("langchain", "langchain-core", "langgraph", "langgraph-prebuilt")


def versions(packages: tuple[str, ...] = PACKAGES) -> dict[str, str]:
    """The installed version of each package; `missing` if it is not installed."""
    return {package: _version(package) for package in packages}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"
