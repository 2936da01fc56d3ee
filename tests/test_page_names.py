"""Names that look like HTML, formulas or paths pass through the page as the text they are."""

import csv
from pathlib import Path

import pandas as pd
import pytest
from page_driver import MINUTE, Driver
from playwright.sync_api import expect
from serving import serving
from small_dataset import random_readings

from core.readings import ingest

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)>"
NAMES = [HOSTILE, "../x", "=cmd()", "007", "émeu", "e\u0301meu", "\u202eabc", "🔌 plug", "**a**"]
COLUMN = "<b onmouseover=alert(2)>tariff</b>"


@pytest.fixture(scope="module")
def driver(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    readings = random_readings(households=24, days=56)
    names = {f"H{number:02d}": name for number, name in enumerate(NAMES)}
    readings["household"] = readings["household"].replace(names)
    readings.to_csv(folder / "readings.csv", index=False)
    ids = readings["household"].unique()
    pd.DataFrame({"household": ids, COLUMN: [HOSTILE, "flat"] * 12}).to_csv(
        folder / "households.csv", index=False
    )
    dataset = ingest(
        [folder / "readings.csv"], folder / "dataset", metadata=folder / "households.csv"
    )
    page = browser.new_page(viewport={"width": 1366, "height": 768}, accept_downloads=True)
    errors: list[str] = []
    page.on("dialog", lambda dialog: (errors.append("a dialog opened"), dialog.dismiss()))
    page.on("pageerror", lambda error: errors.append(str(error)))
    with serving(dataset.path, cache=tmp_path_factory.mktemp("cache")) as address:
        page.goto(address, timeout=3 * MINUTE)
        driver = Driver(page)
        driver.wait_for_map(24)
        page.wait_for_timeout(3000)
        yield driver
        page.close()
    assert errors == []


def test_every_name_is_shown_to_the_letter(driver):
    markers = driver.markers()
    assert set(NAMES) <= set(markers["label"])
    for name in NAMES:
        place = markers["label"].index(name)
        driver.tap(markers["x"][place], markers["y"][place])
        if driver.page.locator("h2").first.inner_text() != name:
            # Another point may lie on top: the search finds it by name.
            driver.page.get_by_role("combobox", name="Find").fill(name)
            driver.page.get_by_role("option", name=name, exact=True).click()
        expect(driver.page.locator("h2").first).to_have_text(name)
        driver.page.mouse.move(*driver.pixel(markers["x"][place], markers["y"][place]))
        driver.page.wait_for_timeout(200)
    assert driver.page.locator("img[src=x]").count() == 0


def test_metadata_is_text_in_legend_table_and_hover(driver):
    driver.choose("Colour by", COLUMN)
    button = driver.page.locator("button", has_text=HOSTILE)
    expect(button.first).to_be_visible()
    markers = driver.markers()
    driver.page.mouse.move(*driver.pixel(markers["x"][0], markers["y"][0]))
    driver.page.wait_for_timeout(500)
    assert driver.page.locator("img[src=x]").count() == 0
    assert driver.page.locator("b[onmouseover]").count() == 0


def test_a_download_has_the_names_and_defuses_formulas(driver):
    driver.tool("Box Select")
    view = driver.figure()
    (x0, x1), (y0, y1) = view["x"], view["y"]
    wide, high = (x1 - x0) / 50, (y1 - y0) / 50
    driver.drag((x0 + wide, y0 + high), (x1 - wide, y1 - high))
    expect(driver.page.get_by_text("24 of 24 points chosen")).to_be_visible()
    with driver.page.expect_download() as download:
        driver.page.get_by_text("Download CSV").click()
    with Path(download.value.path()).open(encoding="utf-8", newline="") as file:
        labels = {row["label"] for row in csv.DictReader(file)}
    assert {"'=cmd()" if name == "=cmd()" else name for name in NAMES} <= labels
