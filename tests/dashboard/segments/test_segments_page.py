"""Segments in a real browser: found, named on the map, chosen as a group."""

import re

import pytest
from page_driver import MINUTE
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

expect.set_options(timeout=MINUTE)


def drawn_names(driver):
    return [name.replace("\n", " ") for name in driver.source("segment")["segment"]]


def test_the_colour_by_segments_finds_and_names_them(driver):
    page = driver.page
    driver.choose("Colour by", "Segments")
    expect(page.get_by_role("tab", name="Segments")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_text(re.compile(r"^\d+ segments; "))).to_be_visible()
    driver.wait_until("models.some(model => model.data?.segment?.length > 1)")
    names = page.locator('.tabulator-cell[tabulator-field="name"]:visible').all_inner_texts()
    coarse = drawn_names(driver)
    assert {*coarse} & {*names}
    figure = driver.figure()
    driver.zoom_in(sum(figure["x"]) / 2, sum(figure["y"]) / 2, steps=2)
    driver.page.wait_for_function(
        f"""coarse => {{
            {driver.DEFINITIONS}
            const names = models.find(model => model.data?.segment)?.data.segment ?? []
            return names.some(name => !coarse.includes(name.replaceAll("\\n", " ")))
        }}""",
        arg=coarse,
    )
    driver.tool("Reset")


def test_a_click_on_a_segment_compares_its_homes(driver):
    page = driver.page
    cell = page.locator('.tabulator-cell[tabulator-field="name"]:visible').first
    name = cell.inner_text()
    cell.click()
    title = re.compile(f"^{re.escape(name)}: ", re.I)
    expect(page.get_by_role("heading", name=title)).to_be_visible()
    expect(page.get_by_text(re.compile("at random are"))).to_be_visible()
