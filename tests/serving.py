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

ROOT = Path(__file__).parents[1]


@contextmanager
def serving(
    dataset: Path, *options: str, cache: Path | None = None, errors: Path | None = None
) -> Iterator[str]:
    """Serve a dataset and yield the address; the cache is the user's unless one is named.

    What the server says on standard error goes to the file ``errors``, if one is named.
    """
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-c", "from dashboard.cli import main; main()"]
    stack = ExitStack()
    server = subprocess.Popen(
        [*command, "serve", str(dataset), "--port", str(port), "--no-browser", *options],
        cwd=ROOT,
        stderr=stack.enter_context(errors.open("wb")) if errors else None,
        env=os.environ if cache is None else {**os.environ, "WATTFOLD_CACHE": str(cache)},
    )
    address = f"http://localhost:{port}"
    try:
        wait_for(port, server)
        yield address
    finally:
        server.terminate()
        server.wait(timeout=30)
        stack.close()


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
