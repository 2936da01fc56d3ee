"""What several tests need: a served page and a browser to look at it."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CHROMIUM_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def demo_path(tmp_path_factory) -> Path:
    """A small demo dataset."""
    from core.demo import make_demo

    return make_demo(tmp_path_factory.mktemp("demo") / "demo", households=60, days=56).path


@pytest.fixture(scope="session")
def served(demo_path, tmp_path_factory) -> Iterator[str]:
    """The address of a server with the demo dataset, started as a user would."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-c", "from dashboard.cli import main; main()"]
    server = subprocess.Popen(
        [*command, "serve", str(demo_path), "--port", str(port), "--no-browser"],
        cwd=ROOT,
        env={**os.environ, "WATTFOLD_CACHE": str(tmp_path_factory.mktemp("cache"))},
    )
    address = f"http://localhost:{port}"
    try:
        for _ in range(600):
            assert server.poll() is None, "the server ended"
            try:
                urllib.request.urlopen(address, timeout=60).close()
                break
            except urllib.error.URLError:
                time.sleep(0.2)
        yield address
    finally:
        server.terminate()
        server.wait(timeout=30)


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS)
        yield chromium
        chromium.close()
