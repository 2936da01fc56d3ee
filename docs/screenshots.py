"""The pictures of README and documentation: ``make screenshots``.

Serves a dataset of the demo as a user would, does in a real browser what the text says, and
writes what is to be seen there to ``docs/images/``. With a second folder,

    python docs/screenshots.py DATASET FOLDER

it writes PNG pictures of twelve main states of the page to that folder instead, to be looked at
after a change: large and small windows, light and dark, each tab and each pane.
"""

import io
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pandas as pd
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from chromium import open_chromium
from page_driver import MINUTE, Driver
from playwright.sync_api import Page, ViewportSize, expect
from serving import serving

IMAGES = Path(__file__).parent / "images"
SIZE: ViewportSize = {"width": 1366, "height": 768}
_WINDOWS: dict[str, tuple[int, int, Literal["light", "dark"]]] = {
    "09-dark": (1920, 1080, "dark"),
    "10-narrow": (1024, 768, "light"),
    "11-phone": (390, 844, "light"),
    "12-large": (3840, 2160, "light"),
}

# Plots arrive a moment after the numbers that they show.
_SETTLE = 4000
# As long as the maps of the Compare tab may take, one after the other.
_MAPS = 5 * MINUTE


def main(dataset: Path) -> None:
    """Take all pictures of one dataset."""
    truth = pd.read_parquet(dataset / "truth.parquet").set_index("kind")["household"]
    IMAGES.mkdir(exist_ok=True)
    expect.set_options(timeout=MINUTE)
    with tempfile.TemporaryDirectory() as cache, serving(dataset, cache=Path(cache)) as address:
        with opened(address) as page:
            find_the_planted(page, str(truth["weekly-event"]))
        with opened(address) as page:
            look_around(page)


@contextmanager
def opened(
    address: str, *, size: ViewportSize = SIZE, scheme: Literal["light", "dark"] = "light"
) -> Iterator[Page]:
    """Open the page in a browser, its first map drawn."""
    with open_chromium() as browser:
        page = browser.new_page(viewport=size, color_scheme=scheme)
        page.goto(address, timeout=3 * MINUTE)
        Driver(page).wait_for_map()
        yield page


def show_states(dataset: Path, folder: Path) -> None:
    """Take pictures of the main states of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=MINUTE)

    def take(page: Page, name: str) -> None:
        page.wait_for_timeout(_SETTLE)
        page.screenshot(path=folder / f"{name}.png")

    with serving(dataset) as address:
        with opened(address) as page:
            walk_through(page, lambda name: take(page, name))
        for name, (width, height, scheme) in _WINDOWS.items():
            window: ViewportSize = {"width": width, "height": height}
            with opened(address, size=window, scheme=scheme) as page:
                expect(page.get_by_text("Its calendar").first).to_be_attached()
                take(page, name)


def walk_through(page: Page, take: Callable[[str], None]) -> None:
    """Each pane and each tab in turn."""
    driver = Driver(page)
    expect(page.get_by_text("Its calendar").first).to_be_visible()
    take("01-opened")
    heading = page.get_by_role("heading", name=re.compile("^Most similar"))
    heading.evaluate("place => place.scrollIntoView()")
    take("02-story-below")
    driver.open_settings()
    take("03-settings")
    driver.button("Settings").click()
    view = driver.figure()
    (left, right), (low, high) = view["x"], view["y"]
    driver.tool("Box Select")
    driver.drag(
        (left + 0.2 * (right - left), low + 0.2 * (high - low)),
        (left + 0.5 * (right - left), low + 0.8 * (high - low)),
    )
    expect(page.get_by_text(re.compile("^Mean week")).first).to_be_visible()
    take("04-group")
    page.get_by_role("tab", name="Worklist").click()
    take("05-worklist-empty")
    for number, tab in enumerate(("Compare", "Periods", "Data"), start=6):
        page.get_by_role("tab", name=tab, exact=True).click()
        take(f"{number:02}-{tab.lower()}")


def find_the_planted(page: Page, household: str) -> None:
    """The tutorial's way from the first list to the fault of one household."""
    driver = Driver(page)
    row = page.locator(".tabulator-row:visible", has_text=household).first
    expect(row).to_be_visible()
    expect(page.get_by_text("Its calendar").first).to_be_visible()
    save(page, "page")
    row.locator('[tabulator-field="what"]').click()
    driver.expect_title(household)
    save(page, "find-1-household")
    page.get_by_text("Its calendar").first.evaluate("place => place.scrollIntoView()")
    save(page, "find-2-calendar")
    driver.button("Open its week").click()
    driver.wait_for_map(336)
    driver.choose("Colour by", "Time of day")
    save(page, "find-3-half-hours")


def look_around(page: Page) -> None:
    """The export dialog and the other tabs."""
    page.get_by_role("button", name=re.compile("^Export")).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    save(page, "export")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("tab", name="Data").click()
    expect(page.get_by_text("What became of the readings")).to_be_visible()
    expect(page.locator("canvas:visible").first).to_be_visible()
    save(page, "data")
    page.get_by_role("tab", name="Compare").click()
    page.get_by_role("button", name="Run", exact=True).click()
    cancel = page.get_by_role("button", name="Cancel", exact=True)
    expect(cancel).to_be_visible()
    expect(cancel).to_have_count(0, timeout=_MAPS)
    save(page, "compare")


def save(page: Page, name: str) -> None:
    """Write what is seen."""
    page.mouse.move(2, SIZE["height"] - 2)  # off everything that would light up or explain itself
    page.wait_for_timeout(_SETTLE)
    seen = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    path = IMAGES / f"{name}.webp"
    seen.save(path, lossless=True, method=6)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        show_states(Path(sys.argv[1]), Path(sys.argv[2]))
    else:
        main(Path(sys.argv[1]))
