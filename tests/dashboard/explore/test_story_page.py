"""The story of a home in a real browser: evidence, calendar, path."""

import re

import numpy as np
import pandas as pd
import pytest
from page_driver import MINUTE, Driver
from playwright.sync_api import expect

from core.anomalies.words import q_words
from core.figures.calendar import demand_calendar

pytestmark = pytest.mark.browser

expect.set_options(timeout=MINUTE)


@pytest.fixture(scope="module")
def driver(browser, served):
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(served, timeout=3 * MINUTE)
    driver = Driver(page)
    driver.wait_for_map()
    expect(page.locator("h2").first).to_be_visible(timeout=3 * MINUTE)
    yield driver
    page.close()
    assert errors == []


def find(driver, home):
    """Look for a home by its name."""
    driver.page.get_by_role("combobox", name="Find", exact=True).fill(home)
    driver.page.get_by_role("option", name=home, exact=True).click()
    driver.expect_title(home)


def test_the_story_tells_what_how_sure_and_since_when(driver, anomalies):
    first = anomalies.table.iloc[0]
    driver.expect_title(first["household"])
    page = driver.page
    sure = rf"expected to be ordinary \(q {q_words(first['q'])}\)\. It stays .* in .* of trials"
    expect(page.get_by_text(re.compile(sure))).to_be_visible()
    expect(page.get_by_role("heading", name="Why")).to_be_visible()
    found = anomalies.findings[first["household"]]
    if first["detector"] not in ("event", "rhythm"):
        drawn = driver.source("usual")
        np.testing.assert_allclose(drawn["usual"][:48], found.expected)


def test_the_calendar_shows_every_reading_and_the_change(driver, dataset, anomalies):
    home = driver.title()
    readings = dataset.readings(home)
    calendar = demand_calendar(readings["time"].to_numpy(), readings["kwh"].to_numpy(), 30)
    shape = driver.page.evaluate(
        f"""() => {{{driver.DEFINITIONS}; const source = models.find(model =>
            model.type == 'ColumnDataSource' && model.data.image?.[0]?.length > 1)
            const image = source.data.image[0]
            return [image.shape, Array.from(image).slice(0, {len(calendar.days)})]}}"""
    )
    assert shape[0] == [48, len(calendar.days)]
    np.testing.assert_allclose(shape[1], calendar.kwh[:, 0], rtol=1e-6)


def test_similar_homes_are_drawn_beside_its_week(driver):
    driver.wait_until(
        "models.some(model => model.type == 'ColumnDataSource' && 'day' in model.data"
        " && 'kwh' in model.data && model.data.kwh.length == 336)"
    )


def test_an_ordinary_home_is_called_so(driver, anomalies):
    home = anomalies.table["household"].iat[-1]
    find(driver, home)
    expect(driver.page.get_by_text("Nothing unusual", exact=True)).to_be_visible()
    expect(driver.page.get_by_role("heading", name="Why")).to_be_hidden()
    n = len(anomalies.table)
    expect(driver.page.get_by_text(f"{n - 1} of {n} homes are more unusual.")).to_be_visible()


def test_the_wheel_scrolls_the_story_and_zooms_no_chart(driver):
    page = driver.page
    heading = page.get_by_role("heading", name="Readings")
    heading.scroll_into_view_if_needed()
    before, place = driver.source("time")["time"], heading.bounding_box()
    assert before
    ranges = (
        f"() => {{{driver.DEFINITIONS}; return models.filter(model => model.type == 'Range1d' "
        "&& Object.keys(model.properties).length).map(model => [model.start, model.end])}"
    )
    seen = page.evaluate(ranges)
    page.mouse.move(place["x"] + 150, place["y"] + 90)  # over the chart below the heading
    page.mouse.wheel(0, -160)
    page.wait_for_function(
        "([heading, top]) => heading.getBoundingClientRect().top > top + 50",
        arg=[heading.element_handle(), place["y"]],
    )
    assert page.evaluate(ranges) == seen


def test_the_path_of_the_home_is_on_the_map(driver):
    home = driver.title()
    note = driver.page.get_by_text(f"The line is the path of {home}, week by week.")
    expect(note).to_be_visible(timeout=3 * MINUTE)
    dates = driver.source("date")
    # Mondays of the record, in order; a week with too few readings has no place.
    mondays = pd.date_range("2009-07-13", periods=8, freq="7D").strftime("%-d %b %Y").tolist()
    assert len(dates["date"]) > 4
    assert dates["date"] == [monday for monday in mondays if monday in dates["date"]]


def test_all_homes_are_played_and_the_map_comes_back(driver):
    page = driver.page
    source = "models.find(model => model.name == 'wattfold-homes-over-time')"
    hidden = "plot.renderers.filter(renderer => !renderer.visible).length"
    before = page.evaluate(f"() => {{{driver.DEFINITIONS}; return {hidden}}}")
    driver.button("All homes over time").click()
    slider = page.get_by_role("slider", name="Date")
    expect(slider).to_be_visible()
    driver.wait_until(f"{source}.data.x.length == 60")
    driver.wait_until(f"{hidden} > {before + 1}")
    slider.fill("1.5")
    driver.wait_until(
        f"Math.abs({source}.data.x[4] - ({source}.data.x1[4] + {source}.data.x2[4]) / 2) < 1e-4"
    )
    driver.button("▶ Play").click()
    page.wait_for_function("slider => Number(slider.value) > 2", arg=slider.element_handle())
    driver.button("Back to the map").click()
    expect(slider).to_be_hidden()
    driver.wait_until(f"{hidden} == {before}")
