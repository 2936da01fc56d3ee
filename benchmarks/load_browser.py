"""One real browser on a page that is served; prints what it measured, for load.py."""

import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))
sys.path.insert(0, str(ROOT / "benchmarks"))

from chromium import open_chromium  # noqa: E402
from page import measure  # noqa: E402 (the same gestures as in the benchmark of the page)
from page_driver import Driver  # noqa: E402


def main() -> None:
    """Open the page, use it, and print a line a measurement: name, tab, seconds."""
    address, repeats = sys.argv[1], int(sys.argv[2])
    with open_chromium() as browser:
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.on("pageerror", lambda error: print(f"error\t{error}"))
        start = time.perf_counter()
        page.goto(address, timeout=300_000)
        driver = Driver(page)
        driver.wait_for_map()
        print(f"open the page, first map\t{time.perf_counter() - start}")
        for name, values in measure(driver, repeats).items():
            for value in values:
                print(f"{name}\t{value}")


if __name__ == "__main__":
    main() if len(sys.argv) > 1 else print("see load.py")
