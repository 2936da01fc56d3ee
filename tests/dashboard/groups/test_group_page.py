"""Groups in a real browser: drawn on the map, compared, saved, kept."""

import re

import pytest
from page_driver import MINUTE
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

expect.set_options(timeout=MINUTE)


def test_a_box_on_the_map_opens_the_group_and_compares_it(driver):
    page = driver.page
    (x0, x1), (y0, y1) = driver.figure()["x"], driver.figure()["y"]
    driver.tool("Box Select")
    wide, high = x1 - x0, y1 - y0
    # Not from the lower left corner, where a button lies on the map.
    driver.drag((x0 + 0.02 * wide, y1 - 0.02 * high), (x0 + 0.5 * wide, y0 + 0.2 * high))
    expect(page.get_by_role("tab", name=re.compile(r"^Group\d+"))).to_have_attribute(
        "aria-selected", "true"
    )
    expect(
        page.get_by_role("heading", name=re.compile(r"^Chosen homes: \d+ of 60"))
    ).to_be_visible()
    expect(page.get_by_text(re.compile("groups? of these sizes made", re.I))).to_be_visible()
    week = driver.source("mean0")
    assert len(week["mean0"]) == 336


def test_a_saved_group_is_kept_and_colours_the_map(driver):
    page = driver.page
    page.get_by_label("Name", exact=True).fill("left half")
    driver.button("Save").click()
    expect(page.get_by_role("heading", name=re.compile("^Left half: "))).to_be_visible()
    driver.button("Colour by groups").click()
    expect(page.get_by_role("button", name=re.compile("^left half"))).to_be_visible()
    page.reload()
    page.get_by_role("tab", name=re.compile("^Group")).click()
    driver.choose("Choose homes by", "saved group")
    page.get_by_role("combobox", name="Which homes").click()
    page.get_by_role("menuitem", name=re.compile("^left half")).click()
    expect(page.get_by_role("heading", name=re.compile("^Left half: "))).to_be_visible()


def test_a_tap_on_a_home_shows_its_story_again(driver):
    page = driver.page
    page.get_by_role("tab", name=re.compile("^Anomalies")).click()
    expect(page.get_by_text(re.compile("clearly unusual"))).to_be_visible()
    home = page.get_by_role("tab", name="Home")
    for _ in range(2):  # also of the home that is selected
        page.get_by_role("tab", name=re.compile("^Group")).click()
        expect(home).to_have_attribute("aria-selected", "false")
        driver.row(1).click()
        expect(home).to_have_attribute("aria-selected", "true")
        driver.expect_title(driver.row(1).inner_text())
