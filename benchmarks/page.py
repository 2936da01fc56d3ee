"""How quick the page is, through a real browser, from the click to what it brings.

    python benchmarks/page.py [--before CHECKOUT] [--large DIR] [--repeats 10]

Makes the demo data, serves it as ``wattfold serve`` does and drives Chromium over it:

- the first map on a server that has just started and has nothing stored;
- opening the page again, which is then stored: until its frame is painted, until it can be used,
  and until the map is drawn;
- zooming, colouring and tapping on that map;
- going to a tab that was seen before, and back to the map.

``--before`` measures another checkout of this repository, such as an earlier version's
(``git worktree add CHECKOUT COMMIT``), in the same run and with the same Python.

``--large`` opens and drives, on a dataset of many households, the stored map of all of their
half-hours that ``wattfold embed DIR --unit household-slots --neighbors nndescent --graph-k 40
--method umap`` makes; WATTFOLD_CACHE names its store. Prints tables and writes
benchmarks/results/page.md.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from playwright.sync_api import Page

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from chromium import open_chromium  # noqa: E402
from page_driver import MINUTE, Driver  # noqa: E402 (tests drive the page in the same way)
from serving import free_port, wait_for  # noqa: E402

from core.readings import Dataset  # noqa: E402
from core.runs import RunConfig  # noqa: E402
from dashboard.state import ViewState  # noqa: E402

RESULTS = Path(__file__).parent / "results" / "page.md"
WATTFOLD = [sys.executable, "-c", "from dashboard.cli import main; main()"]
WINDOW = {"width": 1366, "height": 768}
OPENINGS = 5

T = TypeVar("T")
Times = dict[str, list[float]]


def seconds(gesture: Callable[[], object], arrived: Callable[[], object]) -> float:
    """From a gesture to what it brings."""
    start = time.perf_counter()
    gesture()
    arrived()
    return time.perf_counter() - start


@contextmanager
def served(checkout: Path, dataset: Path, **environment: str) -> Iterator[str]:
    """Serve a dataset by the code of a checkout; yield the address once the server answers."""
    port = free_port()
    command = [*WATTFOLD, "serve", str(dataset), "--port", str(port), "--no-browser"]
    server = subprocess.Popen(command, cwd=checkout, env={**os.environ, **environment})
    try:
        wait_for(port, lambda: server.poll() is None)
        yield f"http://localhost:{port}"
    finally:
        server.terminate()
        server.wait(timeout=30)


def open_page(driver: Driver, address: str) -> tuple[float, float, float]:
    """Open an address; seconds until something is painted, the bar stands, points are drawn."""
    page, start = driver.page, time.perf_counter()
    page.goto(address, timeout=3 * MINUTE, wait_until="commit")
    page.get_by_role("tab", name="Explore").wait_for(timeout=3 * MINUTE)
    bar = time.perf_counter() - start
    wait_for_points(driver)
    drawn = time.perf_counter() - start
    painted = page.evaluate(
        "performance.getEntriesByName('first-contentful-paint')[0].startTime"  # since the address
    )
    return painted / 1000, bar, drawn


def wait_for_points(driver: Driver) -> None:
    """Wait until the map has its size, has points or a picture of them, and is on the screen."""
    driver.page.wait_for_function(
        f"""() => {{
            if (!window.Bokeh?.documents.length) return false
            {driver.DEFINITIONS}
            const some = plot?.renderers.map(({{data_source}}) => data_source?.data ?? {{}})
                .some(data => data.hdr?.length > 0 || data.image?.[0]?.length > 100)
            return some && Bokeh.index.find_one_by_id(plot.id)?.frame?.bbox.width > 0
        }}""",
        timeout=10 * MINUTE,
    )
    wait_for_frames(driver.page)


def wait_for_frames(page: Page) -> None:
    """Wait until what the browser has is on the screen."""
    page.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


def measure_demo(browser: Any, checkout: Path, repeats: int) -> Times:
    """Seconds on the demo data, by the code of a checkout."""
    with tempfile.TemporaryDirectory() as folder:
        dataset, cache = Path(folder) / "demo", Path(folder) / "cache"
        subprocess.run([*WATTFOLD, "demo", str(dataset)], cwd=checkout, check=True)
        with served(checkout, dataset, WATTFOLD_CACHE=str(cache)) as address:
            *_, cold = drive(browser, lambda driver: open_page(driver, address))
            opened = [
                drive(browser, lambda driver: open_page(driver, address)) for _ in range(OPENINGS)
            ]

            def look_around(driver: Driver) -> Times:
                open_page(driver, address)
                return measure_gestures(driver, repeats)

            gestures = drive(browser, look_around)
    return {
        "first map, nothing stored, server just started": [cold],
        **opening_times(opened),
        **gestures,
    }


def measure_large(browser: Any, dataset: Path, repeats: int) -> Times:
    """Seconds on the stored map of all half-hours."""
    with served(ROOT, dataset) as address:
        link = address + link_to_all_half_hours(dataset)

        *_, first = drive(browser, lambda driver: open_page(driver, link))
        opened = [drive(browser, lambda driver: open_page(driver, link)) for _ in range(OPENINGS)]

        def look_around(driver: Driver) -> Times:
            open_page(driver, link)
            return measure_gestures(driver, repeats)

        gestures = drive(browser, look_around)
    return {"first such map, server just started": [first], **opening_times(opened), **gestures}


def opening_times(opened: list[tuple[float, float, float]]) -> Times:
    """The seconds of some openings of a page, in words."""
    parts = ("its frame is painted", "its bar stands", "its stored map is drawn")
    return {
        f"open the page: {part}": list(times)
        for part, times in zip(parts, zip(*opened, strict=True), strict=True)
    }


def link_to_all_half_hours(folder: Path) -> str:
    """The query of a link to the map of all half-hours."""
    config = RunConfig(
        unit="household-slots",
        neighbors="nndescent",
        neighbors_parameters={"graph_k": 40},
        method="umap",
    )
    return "/?view=" + ViewState(config=config).to_token(Dataset.open(folder))


def drive(browser: Any, work: Callable[[Driver], T]) -> T:
    """Do something in a window of its own, as somebody who was never here."""
    context = browser.new_context(viewport=WINDOW)
    try:
        return work(Driver(context.new_page()))
    finally:
        context.close()


def measure_gestures(driver: Driver, repeats: int) -> Times:
    """Seconds of each gesture on the map in view."""
    page = driver.page
    page.locator("h2").first.wait_for(timeout=3 * MINUTE)  # the story of the first point
    page.wait_for_timeout(3000)
    times: Times = {"zoom": [], "colour": [], "tap: all of the detail": []}
    colors = ["Mean demand", "HDR"]
    for turn in range(repeats):
        x, y, _ = nearest_to_middle(driver)
        page.mouse.move(*driver.pixel(x, y))
        mark(driver)
        times["zoom"].append(
            seconds(
                lambda: page.mouse.wheel(0, -120), lambda: wait_for_picture(driver, zoomed=True)
            )
        )
        page.wait_for_timeout(700)
        x, y, label = nearest_to_middle(driver, other_than=driver.title())
        place = driver.pixel(x, y)
        times["tap: all of the detail"].append(
            seconds(
                lambda place=place: page.mouse.click(*place),
                lambda label=label: wait_for_detail(driver, label),
            )
        )
        page.wait_for_timeout(500)
        mark(driver)
        page.get_by_role("combobox", name="Colour by").click()
        # The menu has opened by then; what counts is from the click on.
        page.get_by_role("menuitem", name=colors[turn % 2], exact=True).hover()
        times["colour"].append(seconds(lambda: click(page), lambda: wait_for_picture(driver)))
        page.wait_for_timeout(500)
        if turn % 3 == 2:
            driver.tool("Reset")
            page.wait_for_timeout(1500)
    return {**times, **measure_tabs(driver, repeats)}


def measure_tabs(driver: Driver, repeats: int) -> Times:
    """Seconds from the click on a tab that was seen before until the page stands still."""
    times: Times = {"to the Data tab": [], "back to the map": []}
    for _ in range(repeats + 1):
        for (what, found), name in zip(times.items(), ("Data", "Explore"), strict=True):
            tab = driver.page.get_by_role("tab", name=name)
            found.append(seconds(tab.click, lambda what=what: wait_for_tab(driver, what)))
            driver.page.wait_for_timeout(2000)
    return {what: found[1:] for what, found in times.items()}  # at first, the tab is made


def wait_for_tab(driver: Driver, what: str) -> None:
    """Wait until the map is out of sight, or in it, and is laid out."""
    driver.wait_until(
        "Bokeh.index.find_one_by_id(plot.id).el.checkVisibility({visibilityProperty: true}) == "
        + str(what == "back to the map").lower()
    )
    wait_for_frames(driver.page)


_PICTURE = """
    const image = plot.renderers.map(({data_source}) => data_source)
        .find(source => source?.data.image?.[0]?.length > 100)  // an empty one is smaller
    const now = {x: plot.x_range.start, image: image?.data, points: markers?.data}
"""


def mark(driver: Driver) -> None:
    """Remember what is drawn now."""
    driver.page.evaluate(f"() => {{{driver.DEFINITIONS}; {_PICTURE}; window.before = now}}")


def wait_for_picture(driver: Driver, *, zoomed: bool = False) -> None:
    """Wait until the map is drawn anew: an image by the server, markers by the browser alone."""
    change = "now.x !== before.x" if zoomed else "now.points !== before.points"
    driver.wait_until(
        f"(() => {{{_PICTURE}; return now.image ? now.image !== before.image : {change}}})()"
    )
    wait_for_frames(driver.page)


def click(page: Page) -> None:
    """Click where the mouse is."""
    page.mouse.down()
    page.mouse.up()


def wait_for_detail(driver: Driver, label: str) -> None:
    """Wait until the browser has the last part of a point's detail, and has drawn."""
    driver.page.wait_for_function(
        f"""label => {{
            {driver.DEFINITIONS}
            const ours = name => models.find(model => model.class_name == name
                && (name != 'PlainText' || model.data.look == 'title'))
            const links = ours('PointLinks')
            if (ours('PlainText')?.data.text != label || links.data.items === window.links)
                return false
            window.links = links.data.items
            return true
        }}""",
        arg=label,
    )
    wait_for_frames(driver.page)


def nearest_to_middle(driver: Driver, *, other_than: str = "") -> tuple[float, float, str]:
    """A point that can be hovered, near the middle of the view."""
    view, markers = driver.figure(), driver.markers()
    (x0, x1), (y0, y1) = view["x"], view["y"]
    middle = ((x0 + x1) / 2, (y0 + y1) / 2)
    apart = [
        abs(x - middle[0]) / (x1 - x0) + abs(y - middle[1]) / (y1 - y0) + (label == other_than)
        for x, y, label in zip(markers["x"], markers["y"], markers["label"], strict=True)
    ]
    best = apart.index(min(apart))
    return markers["x"][best], markers["y"][best], markers["label"][best]


def table(columns: dict[str, Times]) -> str:
    """Median and worst seconds as Markdown, one pair of columns per checkout."""
    heads = [f" {name} median s | worst s |" for name in columns]
    lines = ["| |" + "".join(heads), "|---|" + "---|---|" * len(columns)]
    for what in next(iter(columns.values())):
        found = [times.get(what) or [float("nan")] for times in columns.values()]
        cells = [f" {statistics.median(each):.2f} | {max(each):.2f} |" for each in found]
        lines.append(f"| {what} |" + "".join(cells))
    return "\n".join(lines)


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, metavar="CHECKOUT")
    parser.add_argument("--large", type=Path, metavar="DIR")
    parser.add_argument("--repeats", type=int, default=10)
    arguments = parser.parse_args()
    parts = []
    with open_chromium() as browser:
        columns = {"": measure_demo(browser, ROOT, arguments.repeats)}
        if arguments.before is not None:
            columns["before:"] = measure_demo(browser, arguments.before, arguments.repeats)
        parts.append("## The demo data, 200 households\n\n" + table(columns))
        print(parts[-1])
        if arguments.large is not None:
            times = measure_large(browser, arguments.large.resolve(), arguments.repeats)
            parts.append("## All half-hours of a large dataset\n\n" + table({"": times}))
            print(parts[-1])
    head = (
        "# The page\n\n`python benchmarks/page.py`, see its head for what is measured; "
        f"{os.cpu_count()} cores, load of the machine {os.getloadavg()[0]:.1f}."
    )
    RESULTS.write_text("\n\n".join([head, *parts]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
