"""The page in a real browser, on the demo data."""

import csv
import itertools
import re
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from page_driver import MINUTE, Driver
from playwright.sync_api import Error, expect

from core.scene.coloring import color_points
from core.slots import slot_of
from dashboard.state import ViewState

pytestmark = pytest.mark.browser

expect.set_options(timeout=MINUTE)


@pytest.fixture(scope="module")
def unusual(anomalies):
    """The households that the page lists, the most unusual first."""
    return anomalies.table[anomalies.table["household"].isin(list(anomalies.findings))]


@contextmanager
def new_window(browser, served):
    """A window of a browser that was never here; at the end, nothing must have gone wrong in it."""
    context = browser.new_context(
        viewport={"width": 1366, "height": 768}, accept_downloads=True, color_scheme="light"
    )
    errors: list[str] = []
    hosts: set[str] = set()
    context.on("console", lambda message: message.type == "error" and errors.append(message.text))
    context.on("weberror", lambda error: errors.append(str(error.error)))
    context.on("request", lambda request: hosts.add(request.url.split("/")[2]))
    context.on("dialog", lambda dialog: errors.append("a dialog opened"))
    driver = Driver(context.new_page())
    driver.open(served)
    yield driver
    context.close()
    assert errors == []
    assert {host for host in hosts if host} == {served.removeprefix("http://")}


@pytest.fixture
def fresh(browser, served):
    """The page, freshly opened, with its first map drawn."""
    with new_window(browser, served) as driver:
        yield driver


@pytest.fixture(scope="module")
def other(browser, served):
    """A second session, whose settings have not been opened."""
    with new_window(browser, served) as driver:
        yield driver


@pytest.fixture(scope="module")
def opened(browser, served):
    """A page for the tests that only look around on the first map: opening one is the dear part."""
    with new_window(browser, served) as driver:
        yield driver


@pytest.fixture
def driver(opened, served, unusual):
    """That page as it opens: its view reset, or opened anew after a test that failed."""
    yield opened
    try:
        opened.reset(first=unusual["household"].iat[0])
    except (Error, AssertionError):
        opened.page.evaluate("() => localStorage.clear()")
        opened.open(served)


def expected_bars(kwh, low, high):
    """Shares of readings in the bars that are drawn; the last takes the tail."""
    edges = np.array([*low, high[-1]])
    return 100 * np.histogram(np.minimum(kwh, edges[-1]), edges)[0] / len(kwh)


def test_it_opens_on_the_most_unusual_home(driver, unusual):
    driver.expect_title(unusual["household"].iat[0])
    # In the list and as the headline of its story.
    reason = unusual["reason"].iat[0]
    expect(driver.row(0).locator("xpath=..").get_by_text(reason, exact=True)).to_be_visible()
    expect(driver.page.get_by_role("region", name="the selected point")).to_contain_text(reason)
    assert driver.row(0).inner_text() == unusual["household"].iat[0]
    sure = int((unusual["q"] <= 0.1).sum()) or "None"
    counts = re.compile(
        rf"^{sure} of \d+ homes (is|are) clearly unusual.* of the {len(unusual)} to be ordinary"
    )
    expect(driver.page.get_by_text(counts)).to_be_visible()


def test_the_map_marks_what_is_listed(driver, unusual, result):
    def wait_for_marks(labels):
        wanted = ",".join(sorted(labels))
        driver.wait_until(
            "markers.data.label.filter((_, row) => markers.data.marker[row] == 'diamond')"
            f".sort().join() == '{wanted}'"
        )

    wait_for_marks(unusual["household"].head(10))
    driver.button("Isolated on this map").click()
    isolated = result.units["label"].iloc[result.hdr.anomalies]
    wait_for_marks(isolated)
    expect(driver.row(0)).to_have_text(isolated.iat[0])
    driver.button("Unusual homes").click()
    wait_for_marks(unusual["household"].head(10))
    driver.button("by size").click()
    by_size = unusual.sort_values("kwh_per_week", key=abs, ascending=False, kind="stable")
    expect(driver.row(0)).to_have_text(by_size["household"].iat[0])
    wait_for_marks(by_size["household"].head(10))
    driver.button("by evidence").click()
    expect(driver.row(0)).to_have_text(unusual["household"].iat[0])


def test_markers_stand_where_the_run_puts_them(driver, result):
    markers = driver.markers()
    rows = [result.units["label"].tolist().index(label) for label in markers["label"]]
    assert sorted(rows) == list(range(result.n))
    np.testing.assert_allclose(np.column_stack([markers["x"], markers["y"]]), result.y[rows])
    np.testing.assert_array_equal(markers["rank"], result.hdr.rank[rows])


@pytest.mark.parametrize("zoomed", [False, True])
def test_taps_show_the_readings_behind_points(driver, dataset, result, zoomed):
    # Points with nobody close by, so that a tap is not a matter of a pixel.
    apart = np.linalg.norm(result.y[:, None] - result.y[None], axis=2) + np.diag(
        [np.inf] * result.n
    )
    order = np.argsort(-apart.min(axis=1))
    if zoomed:
        driver.zoom_in(*result.y[order[0]])
    view = driver.figure()
    (x0, x1), (y0, y1) = view["x"], view["y"]
    inside = [row for row in order if x0 < result.y[row, 0] < x1 and y0 < result.y[row, 1] < y1]
    assert len(inside) >= 5
    for row in inside[:5]:
        driver.tap(*result.y[row])
        label = result.units["label"].iat[row]
        driver.expect_title(label)
        kwh = dataset.readings(label)["kwh"].to_numpy()
        slots = slot_of(dataset.readings(label)["time"].to_numpy(), 30)
        medians = [float(np.median(kwh[slots == slot])) for slot in range(336)]
        driver.wait_for_medians(medians)
        bars = driver.source("share")
        np.testing.assert_allclose(bars["share"], expected_bars(kwh, bars["low"], bars["high"]))


def test_the_neighbours_are_listed_and_lead_on(driver, result):
    row = result.units["label"].tolist().index(driver.title())
    links = driver.page.locator("ol li button")
    expect(links).to_have_count(20)
    first = int(result.neighbors.indices[row, 0])
    label = result.units["label"].iat[first]
    expect(links.first).to_contain_text(label)
    different = 100 * result.neighbors.distances[row, 0] / 336
    expect(links.first).to_contain_text(f"{different:.0f} % different")
    links.first.click()
    driver.expect_title(label)


def test_a_click_in_the_table_goes_to_the_point_and_back(driver, result, unusual):
    label = driver.row(1).inner_text()
    driver.row(1).click()
    driver.expect_title(label)
    row = result.units["label"].tolist().index(unusual["household"].iat[2])
    driver.tap(*result.y[row])
    driver.expect_title(result.units["label"].iat[row])
    selected = driver.page.locator(".tabulator-row.tabulator-selected:visible")
    expect(selected).to_contain_text(result.units["label"].iat[row])


def test_keys_walk_through_the_list_and_search(driver, result, unusual):
    driver.row(0).click()
    driver.page.locator("h2").first.click()  # away from the table, which has arrows of its own
    driver.page.keyboard.press("ArrowDown")
    driver.expect_title(unusual["household"].iat[1])
    driver.page.keyboard.press("ArrowUp")
    driver.expect_title(unusual["household"].iat[0])
    driver.page.keyboard.press("/")
    expect(driver.page.get_by_role("combobox", name="Find", exact=True)).to_be_focused()
    wanted = result.units["label"].iat[7]
    driver.page.keyboard.type(wanted)
    driver.page.get_by_role("option", name=wanted, exact=True).click()
    driver.expect_title(wanted)


def test_colours_say_what_is_chosen(driver, dataset, result):
    labels = result.units["label"].tolist()
    for by in ("Mean demand", "tariff", "occupants", "Density", "HDR"):
        driver.choose("Colour by", by)
        coloring = color_points(result, by, interval_minutes=30)
        expected = {
            label: coloring.colors[code] for label, code in zip(labels, coloring.codes, strict=True)
        }
        driver.wait_for_colors(expected)
    # The colours changed and nothing else: the view is the same.
    assert driver.figure()["x"][0] < result.y[:, 0].min()


def test_the_legend_hides_levels(driver, result):
    typical = int((result.hdr.labels == "60").sum())
    driver.page.get_by_role("button", name=re.compile("^40–60 %")).click()
    driver.wait_until(
        "models.some(model => model.type == 'ColumnDataSource' && 'hdr' in model.data && "
        f"model.data.label.length == {result.n - typical})"
    )
    driver.page.locator("h2").first.click()
    driver.page.keyboard.press("Escape")
    driver.wait_until(
        "models.some(model => model.type == 'ColumnDataSource' && 'hdr' in model.data && "
        f"model.data.label.length == {result.n})"
    )


def test_layers_are_switched_one_by_one(driver):
    driver.button("contours").click()
    driver.wait_until(
        "models.some(model => model.type == 'ColumnDataSource' && 'xs' in model.data && "
        "'ys' in model.data && model.data.xs.length > 5)"
    )
    driver.button("contours").click()
    driver.wait_until(
        "!models.some(model => model.type == 'ColumnDataSource' && 'xs' in model.data && "
        "'ys' in model.data && model.data.xs.length > 5)"
    )


def test_points_in_a_box_are_listed_and_downloaded(driver, result):
    corner, other = np.quantile(result.y, 0.25, axis=0), np.quantile(result.y, 0.75, axis=0)
    driver.tool("Box Select")
    driver.drag(tuple(corner), tuple(other))
    inside = ((result.y > corner) & (result.y < other)).all(axis=1)
    text = f"{inside.sum():,} of {result.n:,} points chosen"
    expect(driver.page.get_by_text(text)).to_be_visible()
    with driver.page.expect_download() as download:
        driver.page.get_by_text("Download CSV").click()
    with Path(download.value.path()).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["label"] for row in rows} == set(result.units["label"][inside])
    np.testing.assert_allclose(
        [float(row["mean_kwh"]) for row in rows], result.units["mean_kwh"][inside], rtol=1e-9
    )
    driver.page.locator("h2:visible").first.click()
    driver.page.keyboard.press("Escape")
    expect(driver.page.get_by_text(re.compile("points chosen"))).to_have_count(0)
    driver.tool("Lasso Select")
    x, y = result.y[result.hdr.anomalies[0]]
    wide, high = np.ptp(result.y, axis=0) / 30
    driver.drag((x - wide, y - high), (x + wide, y - high), (x, y + 1.5 * high), (x - wide, y))
    expect(driver.page.get_by_text(re.compile(f"^1 of {result.n} points chosen"))).to_be_visible()


def test_pins_are_compared(driver, unusual):
    for number in (0, 1):
        driver.row(number).click()
        driver.expect_title(unusual["household"].iat[number])
        driver.button("Pin").click()
        expect(driver.button("Unpin").nth(number)).to_be_attached()
    pinned = "models.filter(model => model.type == 'Figure' && model.tags.includes('pinned'))"
    ends = f"{pinned}.map(plot => plot.y_range.end)"
    # Of four figures; the distributions share their axis, and so do the weeks.
    driver.wait_until(f"{ends}.length == 4 && new Set({ends}).size == 2")
    driver.button("Unpin").first.click()
    expect(driver.button("Unpin")).to_have_count(1)
    driver.button("Unpin").click()
    expect(driver.button("Unpin")).to_have_count(0)


def test_a_household_opens_into_its_week_and_back(driver, result, unusual):
    driver.row(0).click()
    household = unusual["household"].iat[0]
    driver.expect_title(household)
    driver.button("Open its week").click()
    driver.wait_for_map(336)
    expect(driver.page.locator("h2").first).to_have_text(
        re.compile(r"^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d\d:\d\d–\d\d:\d\d$")
    )
    driver.choose("Colour by", "Time of day")
    driver.choose("Colour by", "Day of week")
    # Days are no colour of the map that one comes back to: it has its own again.
    driver.button("Back to all households").click()
    driver.wait_for_map(result.n)
    driver.expect_title(household)
    expect(driver.page.get_by_role("combobox", name="Colour by")).to_have_text("HDR")


def test_another_method_draws_another_map(driver):
    driver.choose("Map by", "Laplacian eigenmaps")
    driver.wait_until("plot.below[0].axis_label == 'Laplacian eigenmaps 1'")
    driver.choose("Neighbours by", "k-d tree")
    expect(driver.page.get_by_label("Epsilon", exact=True)).to_be_visible()
    driver.choose("Map by", "ISOMAP")
    driver.wait_until("plot.below[0].axis_label == 'ISOMAP 1'")
    driver.choose("Neighbours by", "Automatic")
    expect(driver.page.get_by_label("Epsilon", exact=True)).to_have_count(0)


def test_a_setting_is_typed_and_stepped_within_its_bounds(driver, dataset, result):
    driver.choose("Neighbours by", "k-d tree")
    epsilon = driver.page.get_by_role("spinbutton", name="Epsilon")
    for typed, shown in (("-3", "0.0"), ("0,2", "0.2"), ("many", "0.2")):
        epsilon.fill(typed)
        epsilon.press("Enter")
        expect(epsilon).to_have_value(shown)
    epsilon.press("ArrowUp")
    expect(epsilon).to_have_value("0.3")
    epsilon.fill("1.5")
    epsilon.press("ArrowDown")
    expect(epsilon).to_have_value("1.4")
    leaf_size = driver.page.get_by_role("spinbutton", name="Leaf size")
    leaf_size.fill("1,000")
    leaf_size.press("Enter")
    expect(leaf_size).to_have_value("1000")
    # Faster than the server answers: what is typed stays, and the last of it is what counts.
    for typed in ("2", "0.3", "4", "0.3", "5"):
        epsilon.fill(typed)
        epsilon.press("Enter")
    epsilon.press_sequentially("0", delay=150)
    expect(epsilon).to_have_value("5.00")
    epsilon.press("Enter")
    expect(epsilon).to_have_value("5.0")
    driver.wait_for_map(result.n)
    view = ViewState.from_token(driver.share().removeprefix("?view="), dataset)
    assert view.config.neighbors_parameters == {"epsilon": 5.0, "leaf_size": 1000}
    driver.choose("Neighbours by", "Automatic")
    expect(epsilon).to_have_count(0)


def test_a_setting_says_what_it_is_for(driver):
    driver.choose("Neighbours by", "k-d tree")
    about = driver.page.get_by_text(re.compile(r"^A distance found is at most"))
    expect(about).to_be_hidden()
    driver.button("About Epsilon").press("Enter")
    expect(about).to_be_visible()
    expect(driver.page.get_by_label("Epsilon", exact=True)).to_have_accessible_description(
        re.compile(r"^A distance found is at most")
    )
    driver.choose("Neighbours by", "Automatic")
    expect(about).to_have_count(0)


def test_bad_choices_are_explained_and_the_map_stays(driver, result):
    driver.choose("Distance", "Jensen–Shannon")
    driver.wait_for_map(result.n)
    driver.choose("Neighbours by", "k-d tree")
    expect(driver.page.get_by_role("alert")).to_contain_text("cannot be searched")
    assert len(driver.markers()["x"]) == result.n
    driver.choose("Neighbours by", "Automatic")
    driver.choose("Distance", "Total variation")
    expect(driver.page.get_by_role("alert")).to_have_count(0)


def test_some_households_are_mapped_alone(driver, result):
    driver.choose("Households", "Ten anomalous")
    driver.wait_for_map(10)
    labels = result.units["label"].iloc[result.hdr.anomalies]
    assert set(driver.markers()["label"]) == set(labels)
    driver.choose("Households", "All")
    driver.wait_for_map(result.n)


def test_a_long_run_is_cancelled_and_the_map_stays(driver):
    driver.choose("Map by", "t-SNE")
    driver.wait_until("plot.below[0].axis_label == 't-SNE 1'")
    iterations = driver.page.get_by_role("spinbutton", name=re.compile("^Iterations"))
    iterations.fill("100000")
    iterations.press("Enter")
    before = driver.markers()
    driver.button("Cancel").click()
    expect(driver.page.get_by_text("Cancelled; the map is as before.")).to_be_visible()
    expect(driver.button("Cancel")).to_have_count(0)
    assert driver.markers() == before
    driver.choose("Map by", "ISOMAP")
    driver.wait_until("plot.below[0].axis_label == 'ISOMAP 1'")


def test_the_data_tab_shows_the_health_report(driver):
    width = driver.map_width()
    driver.page.get_by_role("tab", name="Data").click()
    data = driver.page.get_by_role("tabpanel", name="Data")
    expect(data.get_by_text("accepted", exact=False).first).to_be_visible()
    # The map is behind it, out of sight, and keeps its size: nothing has to be laid out again.
    expect(driver.page.get_by_role("tabpanel", name="Explore")).to_have_count(0)
    assert driver.map_width() == width
    driver.page.get_by_role("tab", name="Explore").click()
    expect(data).to_have_count(0)
    expect(driver.page.locator("h2").first).to_be_visible()


def test_dark_and_light(driver):
    background = "() => getComputedStyle(document.querySelector('main') ?? document.body).color"
    light = driver.page.evaluate(background)
    driver.button("Toggle theme").click()
    driver.page.wait_for_function(f"({background})() != '{light}'")
    driver.button("Toggle theme").click()
    driver.page.wait_for_function(f"({background})() == '{light}'")


def test_two_sessions_do_not_disturb_each_other(driver, other):
    before = driver.title()
    other.row(3).click()
    other.expect_title(other.row(3).inner_text())
    assert driver.title() == before


def test_the_address_keeps_the_view_and_goes_back_and_forward(fresh, unusual):
    page, names = fresh.page, unusual["household"].tolist()
    expect(page).to_have_title(re.compile("ISOMAP · total variation · 20 neighbours"))
    for number in (2, 3):
        before = page.url
        fresh.row(number).click()
        fresh.expect_title(names[number])
        page.wait_for_url(lambda url, before=before: "?view=" in url and url != before)
    page.go_back()
    fresh.expect_title(names[2])
    page.go_back()
    fresh.expect_title(names[0])
    page.go_forward()
    fresh.expect_title(names[2])
    page.reload()
    fresh.expect_title(names[2])


def test_notes_pins_and_open_settings_outlive_the_page(fresh, served, unusual):
    fresh.open_settings()
    note = fresh.page.get_by_role("textbox", name="Note")
    note.fill("vacant since May")
    note.press("Tab")
    fresh.button("Pin").click()
    kept = "() => JSON.stringify({...localStorage})"
    name = unusual["household"].iat[0]
    fresh.page.wait_for_function(
        f"name => ({kept})().includes('vacant') && ({kept})().includes(`[\\\\\"${{name}}`)",
        arg=name,
    )
    fresh.open(served)
    expect(note).to_have_value("vacant since May")
    expect(fresh.button("Unpin").first).to_be_visible()
    expect(fresh.page.get_by_role("combobox", name="Each point shows")).to_be_visible()
    expect(fresh.row(0)).to_have_text(unusual["household"].iat[0])


def test_keys_zoom_the_map_and_show_all_of_it(driver):
    def width():
        (low, high) = driver.figure()["x"]
        return high - low

    whole = width()
    driver.page.locator("h2").first.click()
    driver.page.keyboard.press("+")
    driver.wait_until(f"plot.x_range.end - plot.x_range.start < {0.8 * whole}")
    driver.page.keyboard.press("0")
    driver.wait_until(f"Math.abs(plot.x_range.end - plot.x_range.start - {whole}) < {whole / 1000}")


def test_a_period_makes_another_map(driver, dataset):
    driver.open_settings()
    first = driver.page.get_by_role("textbox", name="From")
    whole = dataset.households["first"].min().date().isoformat()
    expect(first).to_have_value(whole)
    middle = (dataset.households["first"].min() + pd.Timedelta(days=28)).date().isoformat()
    for day, chosen in ((middle, middle), (whole, None)):
        driver.mark()
        first.fill(day)
        first.blur()
        driver.wait_for_news()
        view = ViewState.from_token(driver.share().removeprefix("?view="), dataset)
        assert (view.config.first_day, view.config.last_day) == (chosen, None)


@pytest.fixture
def resized(driver):
    """The page, in windows of all sizes."""
    yield driver
    driver.page.set_viewport_size({"width": 1366, "height": 768})


def test_the_map_has_most_of_the_window(other):
    for width, height, least in ((1366, 768, 0.4), (1920, 1080, 0.5)):
        other.page.set_viewport_size({"width": width, "height": height})
        other.wait_until(
            f"(({{width, height}}) => innerWidth == {width} && width * height / (innerWidth * "
            f"innerHeight))(Bokeh.index.find_one_by_id(plot.id).frame.bbox) >= {least}"
        )
        assert other.page.locator("header").bounding_box()["height"] <= 44


@pytest.mark.parametrize("width", [1024, 1366, 3840, 390])
def test_no_pane_covers_another(resized, width):
    page = resized.page
    page.set_viewport_size({"width": width, "height": 844})
    resized.wait_until(f"innerWidth == {width} && Bokeh.index.roots[0].is_idle")
    boxes = [
        page.get_by_role("region", name=name).bounding_box()
        for name in ("the tables", "the selected point")
    ]
    boxes.append(page.locator("header").bounding_box())
    assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    for one, other in itertools.combinations(boxes, 2):
        apart = (
            one["x"] + one["width"] <= other["x"] + 1
            or other["x"] + other["width"] <= one["x"] + 1
            or one["y"] + one["height"] <= other["y"] + 1
            or other["y"] + other["height"] <= one["y"] + 1
        )
        assert apart, (one, other)
    # Nor do the parts of the story.
    titles = ("Its week", "Distribution of demand", "Readings", "Most similar homes")
    places = [page.get_by_text(title, exact=True).locator("visible=true") for title in titles]
    tops = [place.first.bounding_box()["y"] for place in places]
    assert (np.diff(tops) > 100).all()


def test_on_a_phone_what_shares_the_width_is_one_below_the_other(resized):
    page = resized.page
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("tab", name="Data").click()
    data = page.get_by_role("tabpanel", name="Data")
    first, second = (
        data.get_by_text(heading, exact=True)
        for heading in ("What became of the readings", "Households")
    )
    second = second.last  # the first counts them
    expect(second).to_be_visible()
    resized.wait_until("innerWidth == 390 && Bokeh.index.roots[0].is_idle")
    above, below = first.bounding_box(), second.bounding_box()
    assert above["x"] == below["x"]
    assert below["y"] > above["y"] + 100
    for box in (above, below):
        assert box["x"] + box["width"] <= 390
    page.get_by_role("tab", name="Explore").click()
