"""Names that look like HTML, formulas or paths pass through the page as the text they are."""

import csv
from pathlib import Path

import pytest
from hostile_names import COLUMN, HTML, NAMES, ingest_hostile
from page_driver import MINUTE, Driver
from playwright.sync_api import expect
from serving import serving

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def driver(browser, tmp_path_factory):
    dataset = ingest_hostile(tmp_path_factory.mktemp("names"))
    page = browser.new_page(viewport={"width": 1366, "height": 768}, accept_downloads=True)
    errors: list[str] = []
    page.on("dialog", lambda dialog: (errors.append("a dialog opened"), dialog.dismiss()))
    page.on("pageerror", lambda error: errors.append(str(error)))
    with serving(dataset.path, cache=tmp_path_factory.mktemp("cache")) as address:
        driver = Driver(page)
        driver.open(address)
        driver.wait_for_map(24)
        yield driver
        page.close()
    assert errors == []


def is_free_of_html(driver: Driver) -> bool:
    """Whether nothing of what the names say has become an element of the page."""
    found = "img[src=x], b[onmouseover], script:not([src]):text('alert(2)')"
    return driver.page.locator(found).count() == 0


def test_every_name_is_on_the_map_and_shown_to_the_letter(driver):
    markers = driver.markers()
    assert set(NAMES) <= set(markers["label"])
    driver.button("Isolated on this map").click()
    expect(driver.row(9)).to_be_attached()
    names = [driver.row(row).inner_text() for row in range(10)]
    driver.row(0).click()
    driver.page.locator("h2").first.click()  # away from the table, which has arrows of its own
    for name in names:
        driver.expect_title(name)
        place = markers["label"].index(name)
        driver.page.mouse.move(*driver.pixel(markers["x"][place], markers["y"][place]))
        driver.page.wait_for_timeout(200)
        driver.page.keyboard.press("ArrowDown")
    assert is_free_of_html(driver)


def test_metadata_is_text_in_legend_table_and_hover(driver):
    driver.choose("Colour by", COLUMN)
    expect(driver.page.locator("button", has_text=HTML).first).to_be_visible(timeout=MINUTE)
    markers = driver.markers()
    driver.page.mouse.move(*driver.pixel(markers["x"][0], markers["y"][0]))
    driver.page.wait_for_timeout(500)
    assert is_free_of_html(driver)


def test_a_download_has_the_names_and_defuses_formulas(driver):
    driver.tool("Box Select")
    view = driver.figure()
    (x0, x1), (y0, y1) = view["x"], view["y"]
    wide, high = (x1 - x0) / 50, (y1 - y0) / 50
    # Not from a corner with buttons on it.
    driver.drag((x0 + wide, y1 - high), (x1 - wide, y0 + high))
    expect(driver.page.get_by_text("24 of 24 points chosen")).to_be_visible(timeout=MINUTE)
    with driver.page.expect_download() as download:
        driver.page.get_by_text("Download CSV").click()
    with Path(download.value.path()).open(encoding="utf-8", newline="") as file:
        labels = {row["label"] for row in csv.DictReader(file)}
    marked = ("=cmd()", "+SUM(1)", "@SUM(A1)")
    assert {f"'{name}" if name in marked else name for name in NAMES} <= labels
