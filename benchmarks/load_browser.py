"""One real browser on a page that is served; prints what it measured, for load.py."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))
sys.path.insert(0, str(ROOT / "benchmarks"))

from chromium import open_chromium  # noqa: E402
from page import WINDOW, measure_gestures, open_page  # noqa: E402 (the same as in page.py)
from page_driver import Driver  # noqa: E402


def main() -> None:
    """Open the page, use it, and print a line a measurement: name, tab, seconds."""
    address, repeats = sys.argv[1], int(sys.argv[2])
    with open_chromium() as browser:
        page = browser.new_page(viewport=WINDOW)
        page.on("pageerror", lambda error: print(f"error\t{error}"))
        driver = Driver(page)
        *_, drawn = open_page(driver, address)
        print(f"open the page, first map\t{drawn}")
        for name, values in measure_gestures(driver, repeats).items():
            for value in values:
                print(f"{name}\t{value}")


if __name__ == "__main__":
    main() if len(sys.argv) > 1 else print("see load.py")
