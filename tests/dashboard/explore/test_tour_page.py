"""A map of three dimensions in a real browser: axes, tour, pause."""

import pytest
from page_driver import MINUTE
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

expect.set_options(timeout=MINUTE)

TOUR = "models.find(model => model.name == 'wattfold-tour')"


@pytest.fixture(scope="module")
def driver(driver):
    driver.open_settings()
    driver.button("Seldom changed").click()
    dimensions = driver.page.get_by_label("Dimensions of the map")
    dimensions.fill("3")
    dimensions.press("Enter")
    expect(driver.button("▶ Tour")).to_be_visible()
    driver.button("Settings").click()
    return driver


def test_another_pair_of_axes_moves_the_points_and_keeps_the_selection(driver):
    title = driver.title()
    driver.mark()
    driver.page.get_by_label("Axes of the map").select_option("axes 2 and 3")
    driver.wait_for_news()
    driver.expect_title(title)


def test_the_tour_moves_points_until_it_is_paused(driver):
    title = driver.title()
    driver.button("▶ Tour").click()
    expect(driver.button("❚❚ Pause")).to_be_visible()
    driver.wait_until(f"{TOUR}.data.c2?.length == 60")
    driver.page.evaluate(f"() => {{{driver.DEFINITIONS}; window.x = {TOUR}.data.x[3]}}")
    driver.wait_until(f"Math.abs({TOUR}.data.x[3] - window.x) > 1e-6")
    driver.mark()
    driver.button("❚❚ Pause").click()
    expect(driver.button("▶ Tour")).to_be_visible()
    driver.wait_for_news()
    # The map shows the points where the tour left them.
    driver.wait_until(f"Math.abs(Math.max(...markers.data.x) - Math.max(...{TOUR}.data.x)) < 1e-3")
    driver.expect_title(title)
