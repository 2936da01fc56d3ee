"""Two periods on the page, in a real browser."""

import re

import numpy as np
import pytest
from page_driver import MINUTE, Driver
from playwright.sync_api import expect

from core.over_time import compare_periods
from core.periods import Period
from core.readings import Dataset
from core.runs import RunConfig

pytestmark = pytest.mark.browser

expect.set_options(timeout=MINUTE)

FIRST, SECOND = ("2009-07-13", "2009-08-09"), ("2009-08-10", "2009-09-06")


@pytest.fixture(scope="module")
def driver(browser, served):
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    page.goto(served, timeout=3 * MINUTE)
    driver = Driver(page)
    driver.wait_for_map()
    page.get_by_role("tab", name="Periods").click()
    yield driver
    page.close()


def write(driver, label, text):
    field = driver.page.get_by_label(label, exact=True)
    field.fill(text)
    field.press("Enter")


def compare(driver, first=FIRST, second=SECOND):
    for which, days in (("First", first), ("Second", second)):
        for end, day in zip(("from", "to"), days, strict=True):
            write(driver, f"{which}: {end}", day)
    driver.button("Compare").last.click()


def test_who_moved_most_is_listed_and_every_home_has_an_arrow(driver, demo_path):
    compare(driver)
    found = compare_periods(
        Dataset.open(demo_path),
        RunConfig(first_day=FIRST[0], last_day=FIRST[1]),
        Period.parse(*SECOND),
    )
    share = re.escape(f"{found.season:.2f}")
    expect(
        driver.page.get_by_text(re.compile(rf"The mean shift of all 60 homes.*is {share} of"))
    ).to_be_visible(timeout=3 * MINUTE)
    arrows = driver.page.evaluate(
        f"""() => {{{driver.DEFINITIONS}; return models.filter(model =>
            model.type == 'ColumnDataSource' && 'angle' in model.data).flatMap(model =>
            Array.from(model.data.home).map((home, row) => [home, model.data.x1[row]]))}}"""
    )
    ends = dict(zip(found.households, found.y_second[:, 0], strict=True))
    assert len(arrows) == 61  # and that of the season
    drawn = {home: x for home, x in arrows if home in ends}
    np.testing.assert_allclose([drawn[home] for home in ends], list(ends.values()))
    first = driver.page.locator('.tabulator-cell[tabulator-field="household"]:visible').first
    expect(first).to_have_text(found.table()["household"].iat[0])
    first.click()
    driver.page.get_by_role("tab", name="Explore").click()
    driver.expect_title(found.table()["household"].iat[0])
    driver.page.get_by_role("tab", name="Periods").click()


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (("2009-09-06", "2009-08-10"), "The period is empty"),
        (("2009-08-01", "2009-08-31"), "share days"),
        (("2001-01-01", "2001-02-01"), "before the first reading"),
        (("yesterday", ""), "is no date"),
    ],
)
def test_periods_that_cannot_be_compared_are_explained(driver, second, message):
    compare(driver, second=second)
    expect(driver.page.get_by_role("alert").filter(has_text=message)).to_be_visible()
