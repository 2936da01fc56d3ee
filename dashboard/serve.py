"""``wattfold serve``: the page, on this machine."""

import argparse
import os
import socket
import sys
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.progress import Progress
from core.readings import Dataset

NAME = "serve"
HELP = "serve the page that explores a dataset"
APP = Path(__file__).with_name("app.py")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument(
        "dataset", nargs="?", metavar="DIR", help="a dataset directory (default: WATTFOLD_DATA)"
    )
    parser.add_argument("--port", type=int, default=5006, help="the port to listen on (5006)")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")


def run(arguments: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """Check the dataset, then become the server; comes back only with an error."""
    path = arguments.dataset or os.environ.get("WATTFOLD_DATA")
    if not path:
        raise InputError("name the dataset to serve, or set WATTFOLD_DATA; wattfold demo makes one")
    Dataset.open(path)
    if not 1 <= arguments.port <= 65535:
        raise InputError(f"--port must be from 1 to 65535, got {arguments.port}")
    _check_free(arguments.port)
    print(f"Wattfold is at http://localhost:{arguments.port} (Ctrl+C stops it)", flush=True)
    command = [sys.executable, "-m", "panel", "serve", str(APP), "--index", "app"]
    command += ["--address", "localhost", "--port", str(arguments.port), "--log-level", "warning"]
    # The page is made once before anybody asks for it: that imports all it needs.
    command.append("--warm")
    if not arguments.no_browser:
        command.append("--show")
    # The server takes this process's place, so that whoever stops one stops the other.
    environment = {**os.environ, "WATTFOLD_DATA": str(Path(path).absolute())}
    os.execve(command[0], command, environment)  # noqa: S606 (our own interpreter and script)


def _check_free(port: int) -> None:
    """Say that a port is taken before the server does so at length."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("localhost", port))
        except OSError as error:
            raise InputError(
                f"port {port} cannot be used: {error.strerror}; choose another with --port"
            ) from error


def render(result: dict[str, Any]) -> str:
    """Never reached: the server has taken the place of the command."""
    return ""
