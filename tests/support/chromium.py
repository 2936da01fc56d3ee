"""The system's Chromium, headless, for tests, screenshots and benchmarks."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def open_chromium() -> Iterator[Any]:
    """A headless browser that is closed at the end."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, _NAMES)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_ARGUMENTS)
        yield browser
        browser.close()
