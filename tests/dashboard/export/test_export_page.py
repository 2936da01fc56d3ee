"""Exports in a real browser: downloaded, opened, and brought back."""

import re
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
from page_driver import MINUTE, Driver
from PIL import Image
from playwright.sync_api import expect

from core.export import read_config
from core.export.table_files import read_csv
from dashboard.jobs.export_jobs import FOUND

pytestmark = pytest.mark.browser

NOTE = "ask for the year of its meter"


class Exporter:
    """The dialog, as a person uses it."""

    def __init__(self, driver, directory):
        self.driver = driver
        self.page = driver.page
        self.directory = directory
        self.first = driver.title()
        self.dialog = self.page.get_by_role("dialog").filter(
            has=self.page.get_by_role("tab", name="Restore")
        )

    def open(self, tab="File"):
        if not self.dialog.is_visible():
            self.page.locator("header").get_by_role("button", name=re.compile("^Export")).click()
        self.dialog.get_by_role("tab", name=tab).click()

    def close(self):
        self.page.keyboard.press("Escape")
        expect(self.dialog).to_be_hidden()

    def choose(self, label, option):
        self.dialog.get_by_role("combobox", name=label, exact=True).click()
        self.page.get_by_role("menuitem", name=option, exact=True).click()
        expect(self.dialog.get_by_role("combobox", name=label, exact=True)).to_have_text(option)

    def start(self):
        self.dialog.get_by_role("button", name="Export", exact=True).click()

    def download(self) -> Path:
        with self.page.expect_download(timeout=2 * MINUTE) as download:
            self.start()
        path = self.directory / download.value.suggested_filename
        download.value.save_as(path)
        return path

    def drop(self, path):
        self.open("Restore")
        self.dialog.locator("input[type=file]").set_input_files(path)


@pytest.fixture(scope="module")
def exporter(browser, served, tmp_path_factory):
    """The page with its first map; at the end, nothing must have gone wrong in it."""
    page = browser.new_page(viewport={"width": 1366, "height": 768}, accept_downloads=True)
    errors: list[str] = []
    page.on("console", lambda message: message.type == "error" and errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    driver = Driver(page)
    driver.open(served)
    note = page.get_by_role("textbox", name="Note")
    note.fill(NOTE)
    note.press("Tab")
    yield Exporter(driver, tmp_path_factory.mktemp("downloads"))
    page.close()
    assert errors == []


def test_the_map_as_a_figure(exporter, result):
    exporter.open()
    png = exporter.download()
    assert png.name == "wattfold-map-isomap.png"
    with Image.open(png) as image:
        assert image.size == pytest.approx((16 / 2.54 * 300, 12 / 2.54 * 300), abs=1)
    exporter.choose("Format", "SVG")
    exporter.choose("Unit", "inch")
    width = exporter.dialog.get_by_label("Width")
    expect(width).to_have_value("6.3")
    width.click()
    width.press("Control+a")
    width.press_sequentially("4")
    width.press("Enter")
    svg = exporter.download()
    drawn = ElementTree.parse(svg).getroot().get("width")  # noqa: S314 (our own file)
    assert float(drawn.removesuffix("pt")) == pytest.approx(4 * 72, abs=0.5)
    assert "unusual homes" in svg.read_text()  # as the page marks them
    exporter.choose("Format", "PDF")
    pdf = exporter.download()
    assert pdf.read_bytes().startswith(b"%PDF-")
    assert pdf.read_bytes().rstrip().endswith(b"%%EOF")
    for path in (png, svg, pdf):
        assert read_config(path) == result.config


def test_the_map_to_explore_offline(exporter, browser, result):
    exporter.choose("Format", "HTML, interactive")
    path = exporter.download()
    context = browser.new_context(offline=True)
    page = context.new_page()
    troubles, requests = [], []
    page.on("console", lambda message: message.type == "error" and troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("requestfailed", lambda request: troubles.append(request.url))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_function("window.Bokeh && Bokeh.documents.length && Bokeh.documents[0].is_idle")
    labels = page.evaluate(
        "[...Bokeh.documents[0]._all_models.values()].filter(model => "
        "model.type == 'ColumnDataSource' && 'label' in model.data)"
        ".flatMap(model => Array.from(model.data.label))"
    )
    context.close()
    assert sorted(labels) == sorted(result.units["label"])
    assert troubles == []
    assert len(requests) == 1


def test_the_point_that_is_looked_at(exporter):
    label = exporter.first
    for kind in ("Demand distribution", "Demand by time of week", "Readings"):
        exporter.choose("What", kind)
        path = exporter.download()
        assert path.name.endswith(f"-{label}.png")
        with Image.open(path) as image:
            assert image.width > 1000


def test_tables_come_back_as_they_were(exporter, result, anomalies):
    exporter.choose("What", "Table of points")
    path = exporter.download()
    with zipfile.ZipFile(path) as archive:
        archive.extractall(exporter.directory)
    table = read_csv(exporter.directory / "wattfold-points-isomap.csv")
    places = result.table()
    pd.testing.assert_frame_equal(
        table[places.columns], places, check_dtype=False, check_exact=True
    )
    # What the page lists as unusual, and the notes.
    assert set(table) == {*places.columns, "selected", *FOUND, "note"}
    judged = anomalies.table.set_index("household").loc[places["household"], list(FOUND)]
    judged = judged.replace("", None)
    # Computed in another process: the last digits may differ.
    pd.testing.assert_frame_equal(
        table[list(FOUND)], judged.reset_index(drop=True), check_dtype=False, rtol=1e-9
    )
    assert table.set_index("label")["note"].dropna().to_dict() == {exporter.first: NOTE}
    assert read_config(path) == result.config
    exporter.choose("What", "Table of neighbours")
    exporter.choose("Format", "Parquet")
    edges = pd.read_parquet(exporter.download())
    assert len(edges) == result.neighbors.indices.size
    exporter.choose("What", "Table of distributions")
    shares = pd.read_parquet(exporter.download())
    assert shares["label"].unique().tolist() == [exporter.first]


def test_codes_instead_of_ids(exporter, result):
    exporter.choose("What", "Map")
    exporter.choose("Format", "HTML, interactive")
    exporter.choose("Households", "Codes instead of ids")
    # Without the library, which has numbers of its own.
    text = exporter.download().read_text(encoding="utf-8").rpartition("<body>")[2]
    assert not re.search(rf'"({"|".join(result.units["label"])})"', text)
    assert len(set(re.findall('"h[0-9a-f]{12}"', text))) == result.n
    exporter.choose("Households", "Household ids as they are")


def test_the_report_with_a_note_and_its_cancel(exporter, result):
    exporter.choose("What", "Report")
    exporter.start()
    exporter.dialog.get_by_role("button", name="Cancel").click()
    expect(exporter.dialog.get_by_text("Cancelled.")).to_be_visible(timeout=MINUTE)
    exporter.choose("Compares", "This map's method and neighbours alone")
    exporter.dialog.get_by_label("Your note, for the report").fill("Meters <to> read again.")
    path = exporter.download()
    text = path.read_text(encoding="utf-8")
    assert "Meters &lt;to&gt; read again." in text
    assert read_config(path) == result.config


def test_the_command_to_copy(exporter, demo_path):
    exporter.open("Reproduce")
    field = exporter.dialog.get_by_label("How to reproduce it")
    expect(field).to_have_value(f"wattfold embed {demo_path.name}")
    exporter.dialog.get_by_role("button", name="Python").click()
    expect(field).to_have_value(re.compile(r"RunConfig\("))


def test_a_figure_brings_its_map_back(exporter, result):
    exporter.close()
    driver = exporter.driver
    driver.choose("Map by", "LLE")
    driver.wait_until("plot.below[0].axis_label == 'LLE 1'")
    exporter.drop(exporter.directory / "wattfold-map-isomap.png")
    driver.wait_until("plot.below[0].axis_label == 'ISOMAP 1'")
    expect(exporter.dialog).to_be_hidden(timeout=MINUTE)
    driver.expect_title(exporter.first)


def test_a_file_that_shows_nothing_is_explained(exporter, tmp_path):
    (tmp_path / "empty.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'></svg>")
    exporter.drop(tmp_path / "empty.svg")
    expect(exporter.dialog.get_by_role("alert")).to_contain_text("no description of a run")


def test_it_is_light_and_dark_as_the_page_is(exporter):
    brightest = """element => Math.max(
        ...getComputedStyle(element).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number))"""
    for limit in ("> 200", "< 100"):
        exporter.open("File")
        paper = exporter.page.locator(".MuiDialog-paper:visible").first
        exporter.page.wait_for_function(
            f"element => ({brightest})(element) {limit}", arg=paper.element_handle()
        )
        exporter.close()
        exporter.driver.button("Toggle theme").click()
