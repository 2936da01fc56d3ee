"""``wattfold serve``: the page, on this machine."""

import argparse
import os
import subprocess
import sys
import threading
import webbrowser
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
    """Check the dataset, then serve until stopped."""
    path = arguments.dataset or os.environ.get("WATTFOLD_DATA")
    if not path:
        raise InputError("name the dataset to serve, or set WATTFOLD_DATA; wattfold demo makes one")
    Dataset.open(path)
    if not 1 <= arguments.port <= 65535:
        raise InputError(f"--port must be from 1 to 65535, got {arguments.port}")
    address = f"http://localhost:{arguments.port}"
    command = [sys.executable, "-m", "panel", "serve", str(APP), "--index", "app"]
    command += ["--address", "localhost", "--port", str(arguments.port), "--log-level", "warning"]
    server = subprocess.Popen(  # noqa: S603 (our own interpreter and script)
        command, env={**os.environ, "WATTFOLD_DATA": str(Path(path).absolute())}
    )
    print(f"Wattfold is at {address} (Ctrl+C stops it)", file=sys.stderr, flush=True)
    if not arguments.no_browser:
        opening = threading.Timer(2.0, webbrowser.open, [address])
        opening.daemon = True
        opening.start()
    try:
        status = server.wait()
    except KeyboardInterrupt:
        server.terminate()
        server.wait()
        status = 0
    if status not in (0, -15):
        raise InputError(f"the server ended with status {status}; is port {arguments.port} taken?")
    return {"address": address}


def render(result: dict[str, Any]) -> str:
    """Say nothing more: the address was printed when the server started."""
    return ""
