"""A server of the page, started as a user would."""

import multiprocessing
import os
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


# Workers that import what a method needs when it is first used: most tests use one, if any.
COLD = "from dashboard.jobs import run_jobs; run_jobs.WARM_UP = ()"
# Each server is a fork of one process that has imported what all of them need.
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["core.commands", "dashboard.cli", "dashboard.server.server"])


def start_server(
    dataset: Path,
    *options: str,
    port: int,
    errors: Path | None = None,
    first: str = "",
    **environment: str,
) -> BaseProcess:
    """Start a server as a user would, its workers cold, after the code ``first``.

    Standard error goes to the file ``errors``, if named.
    """
    words = ["wattfold", "serve", str(dataset), "--port", str(port), "--no-browser", *options]
    # One job at a time, as long as it is not quick: every worker imports for seconds.
    settings = {"WATTFOLD_WORKERS": "1", **os.environ, **environment}
    arguments = words, settings, errors, f"{COLD}; {first}"
    server = _FORKS.Process(target=_serve, args=arguments)
    server.start()
    return server


def _serve(words: list[str], environment: dict[str, str], errors: Path | None, first: str) -> None:
    os.chdir(ROOT)
    os.environ.clear()
    os.environ.update(environment)
    if errors:
        with errors.open("wb") as file:
            os.dup2(file.fileno(), 2)
    sys.argv = words
    exec(first)  # noqa: S102 (of a test)
    from dashboard.cli import main

    main()


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
    server = start_server(dataset, *options, port=port, errors=errors, first=first, **environment)
    try:
        wait_for(port, server.is_alive)
        yield f"http://localhost:{port}"
    finally:
        stop(server)


def stop(server: BaseProcess) -> None:
    """End a server, as its supervisor does."""
    server.terminate()
    server.join(timeout=30)
    assert not server.is_alive(), "the server does not end"


def wait_for(port: int, is_alive: Callable[[], bool]) -> None:
    """Wait until a server answers that it is alive."""
    health = f"http://localhost:{port}/healthz"
    for _ in range(600):
        assert is_alive(), "the server ended"
        try:
            urllib.request.urlopen(health, timeout=60).close()
            return
        except urllib.error.HTTPError:
            return  # below a prefix there is no such page
        except urllib.error.URLError:
            time.sleep(0.2)
    raise AssertionError(f"nobody answers at {health}")
