"""A server of the page, started as a user would."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


# Workers that import what a method needs when it is first used: most tests use one, if any.
COLD = "from dashboard.jobs import run_jobs; run_jobs.WARM_METHODS = ()"


def start_server(
    dataset: Path,
    *options: str,
    port: int,
    errors: Path | None = None,
    first: str = "",
    **environment: str,
) -> "subprocess.Popen[bytes]":
    """Start a server as a user would, after the code ``first``.

    Standard error goes to the file ``errors``, if named.
    """
    command = [sys.executable, "-c", f"{first}\nfrom dashboard.cli import main; main()"]
    with ExitStack() as stack:
        return subprocess.Popen(
            [*command, "serve", str(dataset), "--port", str(port), "--no-browser", *options],
            cwd=ROOT,
            stderr=stack.enter_context(errors.open("wb")) if errors else None,
            env={**os.environ, **environment},
        )


@contextmanager
def serving(
    dataset: Path,
    *options: str,
    cache: Path | None = None,
    errors: Path | None = None,
    first: str = "",
    **environment: str,
) -> Iterator[str]:
    """Serve a dataset and yield the address; the cache is the user's unless one is named."""
    port = free_port()
    if cache is not None:
        environment["WATTFOLD_CACHE"] = str(cache)
    first = f"{COLD}; {first}"
    server = start_server(dataset, *options, port=port, errors=errors, first=first, **environment)
    try:
        wait_for(port, server)
        yield f"http://localhost:{port}"
    finally:
        server.terminate()
        server.wait(timeout=30)


def wait_for(port: int, server: "subprocess.Popen[bytes]") -> None:
    """Wait until a server answers that it is alive."""
    health = f"http://localhost:{port}/healthz"
    for _ in range(600):
        assert server.poll() is None, "the server ended"
        try:
            urllib.request.urlopen(health, timeout=60).close()
            return
        except urllib.error.HTTPError:
            return  # below a prefix there is no such page
        except urllib.error.URLError:
            time.sleep(0.2)
    raise AssertionError(f"nobody answers at {health}")
