"""How quick the page is, through a real browser.

    python benchmarks/page.py [--dataset DIR] [--unit UNIT] [--method METHOD]
           [--neighbors BACKEND] [--setting "graph k=40"] [--repeats 10]

Serves a dataset as ``wattfold serve`` does and drives Chromium over it: from opening the page to
its first map, then zooming, tapping and colouring on the map of the unit and method asked for,
whose run should be in the store (``wattfold embed`` puts it there; WATTFOLD_CACHE names the store).
Times are from the gesture to the new data in the browser. Prints a table and writes it to
benchmarks/results/page.md.
"""

import argparse
import re
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from chromium import open_chromium  # noqa: E402
from page_driver import Driver  # noqa: E402 (tests drive the page in the same way)
from serving import serving  # noqa: E402

from core.embedding import METHODS  # noqa: E402
from core.neighbors import BACKENDS  # noqa: E402
from core.readings import Dataset  # noqa: E402
from dashboard.state.run_choices import UNIT_TITLES  # noqa: E402

RESULTS = Path(__file__).parent / "results" / "page.md"
_PATIENCE_SECONDS = 600


def seconds(gesture: Callable[[], object], arrived: Callable[[], object]) -> float:
    """From a gesture to what it brings."""
    start = time.perf_counter()
    gesture()
    arrived()
    return time.perf_counter() - start


def open_map(driver: Driver, address: str, arguments: argparse.Namespace) -> dict[str, list[float]]:
    """Open the page and go to the map; seconds to the first map, and to this one."""
    unit, method = arguments.unit, arguments.method

    def drawn() -> None:
        # A map that comes with the page is told of before it is drawn.
        driver.wait_for_map()
        driver.page.wait_for_function("() => Bokeh.index.roots[0]?.is_idle", timeout=120_000)

    first = seconds(lambda: driver.page.goto(address, timeout=120_000), drawn)
    driver.page.wait_for_timeout(3000)
    before = driver.figure()["x"]

    def choose() -> None:
        driver.choose("Each point shows", UNIT_TITLES[unit])
        driver.choose("Map by", METHODS[method].title)
        if arguments.neighbors:
            driver.choose("Neighbours by", BACKENDS[arguments.neighbors].title)
        for setting in arguments.setting:
            name, _, value = setting.partition("=")
            field = driver.page.get_by_role("textbox", name=re.compile(f"^{name}"))
            field.fill(value)
            field.press("Enter")
        run = driver.button("Run")
        driver.page.wait_for_timeout(3000)
        if run.is_visible():
            run.click()

    def changed() -> None:
        limit = 1000 * _PATIENCE_SECONDS
        driver.page.wait_for_function(
            f"() => {{{driver.DEFINITIONS}; return plot.x_range.start != {before[0]!r}}}",
            timeout=limit,
        )
        expect(driver.page.get_by_text(re.compile(r"points(,| in)"))).to_be_visible(timeout=limit)

    same = unit == "profiles" and method == "isomap" and not arguments.neighbors
    second = [] if same else [seconds(choose, changed)]
    return {"open the page, first map": [first], "fetch this map from the store": second}


def measure(driver: Driver, repeats: int) -> dict[str, list[float]]:
    """Seconds of each gesture on the map in view."""
    page = driver.page
    page.wait_for_timeout(3000)
    times: dict[str, list[float]] = {"zoom": [], "tap, all of the detail": [], "colour": []}
    colors = ["Mean demand", "HDR"]
    for turn in range(repeats):
        markers = driver.markers()
        row = turn * 7 % len(markers["x"])
        x, y, label = (markers[name][row] for name in ("x", "y", "label"))
        page.mouse.move(*driver.pixel(x, y))
        driver.mark()
        times["zoom"].append(seconds(lambda: page.mouse.wheel(0, -120), driver.wait_for_news))
        page.wait_for_timeout(700)
        x, y, label = nearest_to_middle(driver)
        if label != driver.title():
            place = driver.pixel(x, y)
            times["tap, all of the detail"].append(
                seconds(
                    lambda place=place: page.mouse.click(*place),
                    lambda label=label: wait_for_detail(driver, label),
                )
            )
        page.wait_for_timeout(500)
        driver.mark()
        page.get_by_role("combobox", name="Colour by").click()
        # The driver waits until the menu has opened; what counts is from the click on.
        page.get_by_role("menuitem", name=colors[turn % 2], exact=True).hover()
        times["colour"].append(seconds(lambda: click(page), driver.wait_for_news))
        page.wait_for_timeout(500)
        if turn % 3 == 2:
            driver.tool("Reset")
            page.wait_for_timeout(1500)
    return times


def click(page: Page) -> None:
    """Click where the mouse is."""
    page.mouse.down()
    page.mouse.up()


def wait_for_detail(driver: Driver, label: str) -> None:
    """Wait until the browser has the last part of a point's detail, and has drawn."""
    driver.page.wait_for_function(
        f"""async label => {{
            {driver.DEFINITIONS}
            const ours = name => models.find(model => model.class_name == name
                && (name != 'PlainText' || model.data.look == 'title'))
            const links = ours('PointLinks')
            if (ours('PlainText')?.data.text != label || links.data.items === window.links)
                return false
            window.links = links.data.items
            await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
            return true
        }}""",
        arg=label,
    )


def nearest_to_middle(driver: Driver) -> tuple[float, float, str]:
    """A point that can be hovered, near the middle of the view."""
    view, markers = driver.figure(), driver.markers()
    (x0, x1), (y0, y1) = view["x"], view["y"]
    middle = ((x0 + x1) / 2, (y0 + y1) / 2)
    apart = [
        abs(x - middle[0]) / (x1 - x0) + abs(y - middle[1]) / (y1 - y0)
        for x, y in zip(markers["x"], markers["y"], strict=True)
    ]
    best = apart.index(min(apart))
    return markers["x"][best], markers["y"][best], markers["label"][best]


def table(points: str, times: dict[str, list[float]]) -> str:
    """The figures as Markdown."""
    lines = [f"## {points}", "", "| | median s | worst s | times |", "|---|---|---|---|"]
    lines += [
        f"| {name} | {statistics.median(values):.2f} | {max(values):.2f} | {len(values)} |"
        for name, values in times.items()
        if values
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", type=Path, default=ROOT / "data" / "demo")
    parser.add_argument("--unit", default="profiles", choices=list(UNIT_TITLES))
    parser.add_argument("--method", default="isomap", choices=list(METHODS))
    parser.add_argument("--neighbors", choices=list(BACKENDS))
    parser.add_argument("--setting", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--repeats", type=int, default=10)
    arguments = parser.parse_args()
    households = len(Dataset.open(arguments.dataset).households)
    with serving(arguments.dataset) as address, open_chromium() as browser:
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        driver = Driver(page)
        times = open_map(driver, address, arguments)
        times |= measure(driver, arguments.repeats)
        text = page.get_by_text(re.compile(r"points(,| in)")).inner_text()
    points = f"{text.split(' points')[0]} points ({arguments.unit}, {arguments.method}), "
    found = table(points + f"{households:,} households", times)
    print(found)
    title = "# The page\n\n`python benchmarks/page.py`, see its head for what is measured.\n\n"
    kept = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else title
    name = found.splitlines()[0]
    others = [part for part in re.split(r"(?m)^(?=## )", kept) if not part.startswith(name)]
    RESULTS.write_text("".join(others).rstrip() + "\n\n" + found + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
