"""A person in front of the page: looks at what is drawn, and clicks where points are."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Locator, Page, expect

MINUTE = 60_000

# Bokeh draws on a canvas; what it draws, and where, can be asked of its models and views.
_MODELS = "Bokeh.documents.flatMap(document => [...document._all_models.values()])"
_MAP = f"{_MODELS}.find(model => model.type == 'Figure' && model.tags.includes('map'))"


@contextmanager
def visit(browser: Browser, address: str) -> Iterator["Driver"]:
    """Open the page as somebody who was never here; at the end, nothing must have gone wrong."""
    context = browser.new_context(viewport={"width": 1366, "height": 768}, accept_downloads=True)
    errors: list[str] = []
    context.on("weberror", lambda error: errors.append(str(error.error)))
    driver = Driver(context.new_page())
    driver.open(address)
    yield driver
    context.close()
    assert errors == []


class Driver:
    """Drives one page."""

    # In the browser: `models`, all there are, `plot`, the map, and `markers`, its points.
    DEFINITIONS = (
        f"const models = {_MODELS}; const plot = {_MAP}; const markers = models.find("
        "model => model.type == 'ColumnDataSource' && 'hdr' in model.data)"
    )

    def __init__(self, page: Page) -> None:
        self.page = page

    def open(self, address: str) -> None:
        """Open the page and wait until its first map and its first point are drawn."""
        self.page.goto(address, timeout=3 * MINUTE)
        self.wait_for_map()
        # The cover that takes clicks until all is drawn is gone, and the map has its size.
        self.wait_until(
            "markers?.data.label.length > 0 && document.getElementById('loader').checkVisibility() "
            "== false && Bokeh.index.find_one_by_id(plot.id)?.frame?.bbox.width > 0"
        )
        # What is unusual comes last, and the first of it is selected.
        expect(self.row(0)).to_be_visible(timeout=MINUTE)
        self.expect_title(self.row(0).inner_text())
        # And its path over time.
        path = self.page.get_by_text(re.compile("^The line is the path of"))
        expect(path).to_be_visible(timeout=MINUTE)
        expect(self.page.get_by_role("textbox", name="Note")).to_be_visible(timeout=MINUTE)

    def reset(self, *, first: str) -> None:
        """Show the whole map again, all of its points, and the first of the table."""
        self.page.keyboard.press("Escape")
        self.tool("Reset")
        expect(self.row(0)).to_have_text(first, timeout=MINUTE / 2)  # once all are compared again
        self.row(0).click(timeout=MINUTE / 6)
        expect(self.page.locator("h2").first).to_have_text(first, timeout=MINUTE / 6)

    # Looking

    def wait_for_map(self, n: int | None = None) -> None:
        """Wait until a run is on the map."""
        count = r"[\d,]+" if n is None else f"{n:,}"
        expect(
            self.page.get_by_text(re.compile(rf"^{count} (households|half-hours)(,| in)"))
        ).to_be_visible(timeout=3 * MINUTE)
        if n is not None:
            self.wait_until(f"markers?.data.label.length == {n}")

    def title(self) -> str:
        """What the point that is looked at is called."""
        return self.page.locator("h2").first.inner_text()

    def expect_title(self, label: str) -> None:
        """Wait until that point is looked at."""
        expect(self.page.locator("h2").first).to_have_text(label)

    def source(self, column: str) -> dict[str, list[Any]]:
        """The data of the one source that has such a column."""
        found = self.page.evaluate(
            f"""column => {{
                const source = {_MODELS}.find(model => model.type == 'ColumnDataSource'
                    && column in model.data)
                return Object.fromEntries(Object.entries(source.data)
                    .map(([name, values]) => [name, Array.from(values)]))
            }}""",
            column,
        )
        return dict(found)

    def markers(self) -> dict[str, list[Any]]:
        """The markers on the map."""
        return self.source("hdr")

    def figure(self) -> dict[str, Any]:
        """The ranges and the axis label of the map."""
        return dict(
            self.page.evaluate(
                f"""() => {{
                    const plot = {_MAP}
                    return {{x: [plot.x_range.start, plot.x_range.end],
                             y: [plot.y_range.start, plot.y_range.end],
                             label: plot.below[0].axis_label}}
                }}"""
            )
        )

    def map_width(self) -> float:
        """How wide the map is, in pixels."""
        return float(
            self.page.evaluate(f"() => Bokeh.index.find_one_by_id({_MAP}.id).frame.bbox.width")
        )

    def wait_until(self, script: str) -> None:
        """Wait until an expression over `plot`, the map, and `models`, all there are, is true."""
        self.page.wait_for_function(
            f"() => {{{self.DEFINITIONS}; return {script}}}", timeout=MINUTE
        )

    def mark(self) -> None:
        """Remember the points that are drawn now, see :meth:`wait_for_news`."""
        self.page.evaluate(f"() => {{{self.DEFINITIONS}; window.marked = markers.data}}")

    def wait_for_news(self) -> None:
        """Wait until the points that are drawn are no longer those that were marked."""
        self.wait_until("markers.data !== window.marked")

    def wait_for_colors(self, colors: dict[str, str]) -> None:
        """Wait until the markers of these labels have these colours, and there are no others."""
        self.page.wait_for_function(
            f"""colors => {{
                const {{data}} = {_MODELS}.find(model => model.type == 'ColumnDataSource'
                    && 'hdr' in model.data)
                const {{palette}} = {_MODELS}.find(model => model.glyph
                    && model.data_source.data === data).glyph.fill_color.transform
                return data.label.length == Object.keys(colors).length
                    && data.label.every((label, row) => palette[data.color[row]] == colors[label])
            }}""",
            arg=colors,
            timeout=MINUTE,
        )

    def wait_for_medians(self, medians: list[float]) -> None:
        """Wait until the week of the point that is looked at has these medians."""
        self.page.wait_for_function(
            f"""medians => {{
                const {{data}} = {_MODELS}.find(model => model.type == 'ColumnDataSource'
                    && 'median' in model.data)
                return medians.every((median, slot) => Math.abs(data.median[slot] - median) < 1e-9)
            }}""",
            arg=medians,
            timeout=MINUTE,
        )

    # Doing

    def pixel(self, x: float, y: float) -> tuple[float, float]:
        """Where a place of the map is on the screen."""
        found = self.page.evaluate(
            f"""([x, y]) => {{
                const view = Bokeh.index.find_one_by_id({_MAP}.id)
                const box = view.el.getBoundingClientRect()
                return [box.left + view.frame.x_scale.compute(x),
                        box.top + view.frame.y_scale.compute(y)]
            }}""",
            [x, y],
        )
        return found[0], found[1]

    def tap(self, x: float, y: float) -> None:
        """Click on a place of the map, not so soon that Bokeh takes two clicks for one double."""
        self.page.wait_for_timeout(400)
        self.page.mouse.click(*self.pixel(x, y))

    def zoom_in(self, x: float, y: float, steps: int = 1) -> None:
        """Turn the wheel over a place of the map."""
        before = self.figure()["x"]
        self.page.mouse.move(*self.pixel(x, y))
        for _ in range(steps):
            self.page.mouse.wheel(0, -240)
        self.wait_until(f"plot.x_range.end - plot.x_range.start < {0.9 * (before[1] - before[0])}")
        self.page.wait_for_timeout(500)  # the server draws what depends on the view

    def drag(self, *places: tuple[float, float]) -> None:
        """Draw over places of the map with the button held."""
        pixels = [self.pixel(*place) for place in places]
        self.page.mouse.move(*pixels[0])
        self.page.mouse.down()
        for pixel in pixels[1:]:
            self.page.mouse.move(*pixel, steps=4)
        self.page.mouse.up()

    def tool(self, title: str) -> None:
        """Choose a tool of the map."""
        self.page.locator(f'[title="{title}"]').first.click()

    def choose(self, label: str, option: str) -> None:
        """Choose an option of a select, among the settings if it is not in view."""
        select = self.page.get_by_role("combobox", name=label)
        if not select.is_visible():
            self.open_settings()
        select.click(timeout=MINUTE)
        self.page.get_by_role("menuitem", name=option, exact=True).click()

    def open_settings(self) -> None:
        """Unfold the settings, and how the map is made."""
        how = self.page.get_by_role("button", name=re.compile("^Map:"))
        if not how.is_visible():
            self.button("Settings").click()
        if how.get_attribute("aria-expanded") == "false":
            how.click()
        expect(self.page.get_by_role("combobox", name="Map by")).to_be_visible(timeout=MINUTE)

    def button(self, name: str) -> Locator:
        """A button by what it says."""
        return self.page.get_by_role("button", name=name, exact=True)

    def share(self) -> str:
        """The query of a link to what is looked at, from the server."""
        self.button("Share or save").click()
        link = self.page.get_by_role("textbox", name="Link")
        expect(link).to_have_value(re.compile("view="))
        query = link.input_value().partition("?")[2]
        self.page.keyboard.press("Escape")
        expect(link).to_have_count(0)
        return f"?{query}"

    def row(self, number: int) -> Locator:
        """The cell that names a point of the table in view."""
        cells = self.page.locator('.tabulator-row .tabulator-cell[tabulator-field="what"]:visible')
        return cells.nth(number)
