"""What several tests need: a served page and a browser to look at it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import serving

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
    with serving(demo_path, cache=tmp_path_factory.mktemp("cache")) as address:
        yield address


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS)
        yield chromium
        chromium.close()
