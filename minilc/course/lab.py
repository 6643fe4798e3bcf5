"""`minilc lab`: the course in JupyterLab, on this machine alone."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import minilc

NOTEBOOKS = "notebooks"
FIRST = "00_map.ipynb"


def add_parser(subparsers: Any) -> None:
    """Add the command to minilc's command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "lab",
        help="open the course in JupyterLab",
        description="Open the course in JupyterLab at its map. The server listens on this machine "
        "alone, and asks for a token.",
    )
    parser.add_argument("notebook", nargs="?", help=f"a notebook's name or number; {FIRST} if none")
    add_options(parser)
    parser.set_defaults(run=run)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how JupyterLab is started."""
    parser.add_argument("--port", type=int, help="the port; Jupyter's own choice if none")
    parser.add_argument(
        "--no-browser", action="store_true", help="print the address, open no browser"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the command; the result is the exit status."""
    folder = course_folder()
    notebook = notebook_path(folder, getattr(arguments, "notebook", None))
    trust(sorted((folder / NOTEBOOKS).glob("*.ipynb")))
    return _wait(command(folder, notebook, arguments.port, arguments.no_browser))


def course_folder() -> Path:
    """The folder that holds `notebooks/`: the checkout that minilc runs from, or the current one.

    Raises:
        LookupError: neither has the course.
    """
    candidates = [Path(minilc.__file__).resolve().parent.parent, Path.cwd(), *Path.cwd().parents]
    for folder in candidates:
        if (folder / NOTEBOOKS / FIRST).is_file():
            return folder
    raise LookupError(
        f"the course's notebooks are not here: no {NOTEBOOKS}/{FIRST} in {Path.cwd()} or above it. "
        "Start minilc in the folder that was cloned"
    )


def notebook_path(folder: Path, name: str | None) -> Path:
    """The notebook with this name (`03_base`), number (`3`) or noun (`base`); the map, if None.

    Raises:
        LookupError: there is none, or more than one; the message lists what there is.
    """
    if name is None:
        return folder / NOTEBOOKS / FIRST
    stem = name.removesuffix(".ipynb")
    found = sorted((folder / NOTEBOOKS).glob("*.ipynb"))
    for file in found:
        number, _, noun = file.stem.partition("_")
        if stem in (file.stem, number, noun) or stem.zfill(2) == number:
            return file
    known = ", ".join(file.stem for file in found)
    raise LookupError(f"no notebook {name!r}; there are {known}")


def trust(notebooks: Sequence[Path]) -> None:
    """Sign the notebooks for this user, so that JupyterLab shows their saved drawings.

    It is what `jupyter trust` does: without it, SVG and HTML of a notebook from elsewhere are
    hidden until its cells are run.
    """
    import nbformat
    from nbformat.sign import NotebookNotary

    notary = NotebookNotary()
    for path in notebooks:
        notary.sign(nbformat.read(path, as_version=4))


def command(
    folder: Path, notebook: Path, port: int | None = None, no_browser: bool = False
) -> list[str]:
    """The command that starts JupyterLab on the course."""
    address = notebook.relative_to(folder).as_posix()
    options = [
        "--ip=127.0.0.1",
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.default_url=/lab/tree/{address}",
        "--log-level=WARN",  # the address is printed all the same
        # Nothing is asked of the network: no news, no update, no list of extensions.
        "--LabApp.extension_manager=readonly",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    if port is not None:
        options += [f"--port={port}", "--ServerApp.port_retries=0"]
    if no_browser:
        options.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        # In a container everyone is root, and Jupyter would refuse to start.
        options.append("--allow-root")
    return [sys.executable, "-m", "jupyterlab", *options]


def _wait(started: list[str]) -> int:
    """Run until it ends; Ctrl-C is for the server, which asks and ends by itself."""
    with subprocess.Popen(started) as server:
        while True:
            try:
                return server.wait()
            except KeyboardInterrupt:
                continue
