"""Going back, sharing, and bringing data, in a real browser."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from page_driver import MINUTE, Driver
from playwright.sync_api import expect
from serving import serving

from core.readings import Dataset
from core.runs import RunConfig, run

pytestmark = pytest.mark.browser

expect.set_options(timeout=MINUTE)

FILE = 'input[type="file"][accept*=".parquet"][accept*=".txt"]'


@pytest.fixture(scope="module")
def served(demo_path, tmp_path_factory):
    """A server that takes files of up to 2 MB, its first run stored."""
    cache = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WATTFOLD_UPLOAD_MB", "2")
        patch.setenv("TMPDIR", str(tmp_path_factory.mktemp("tmp")))
        with serving(demo_path, cache=cache) as address:
            yield address


@pytest.fixture(scope="module")
def result(demo_path):
    return run(Dataset.open(demo_path), RunConfig())


@pytest.fixture
def open_page(browser, served):
    """Open pages that must not complain."""
    errors: list[str] = []
    pages = []

    def open(query: str = "") -> Driver:
        page = browser.new_page(viewport={"width": 1366, "height": 768}, accept_downloads=True)
        pages.append(page)
        page.on("console", lambda message: message.type == "error" and errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("dialog", lambda dialog: errors.append("a dialog opened"))
        page.goto(f"{served}/{query}", timeout=3 * MINUTE)
        driver = Driver(page)
        driver.wait_for_map()
        return driver

    yield open
    for page in pages:
        page.close()
    assert errors == []


def test_undo_link_note_and_session_file(open_page, result, tmp_path):
    labels = result.units["label"].iloc[result.hdr.anomalies].tolist()
    driver = open_page()
    driver.expect_title(labels[0])
    expect(driver.button("Undo (Ctrl+Z)")).to_be_disabled()
    driver.row(2).click()
    driver.expect_title(labels[2])
    driver.choose("Map by", "Laplacian eigenmaps")
    driver.wait_until("plot.below[0].axis_label == 'Laplacian eigenmaps 1'")
    driver.choose("Colour by", "Mean demand")
    driver.page.get_by_role("textbox", name="Note").fill("away at weekends <b>?")
    driver.page.keyboard.press("Tab")

    # The same picture in another browser, by a link and by a file; only the file has the notes.
    query = driver.share()
    for label in labels:
        assert label not in query
    other = open_page(query)
    other.wait_until("plot.below[0].axis_label == 'Laplacian eigenmaps 1'")
    other.expect_title(labels[2])
    expect(other.page.get_by_role("combobox", name=re.compile("^Colour by"))).to_contain_text(
        "Mean demand"
    )
    assert other.markers() == driver.markers()
    expect(other.page.get_by_role("textbox", name="Note")).to_have_value("")
    driver.button("Share or save").click()
    with driver.page.expect_download() as download:
        driver.page.get_by_text("Save session").click()
    download.value.save_as(tmp_path / "session.json")
    driver.button("close").click()
    expect(driver.page.get_by_role("dialog")).to_have_count(0)
    content = json.loads((tmp_path / "session.json").read_text())
    assert content["notes"] == {labels[2]: "away at weekends <b>?"}

    # Step by step back to the beginning, and forward again.
    for _ in range(3):
        driver.page.keyboard.press("Control+z")
        driver.page.wait_for_timeout(700)
    driver.wait_until("plot.below[0].axis_label == 'ISOMAP 1'")
    driver.expect_title(labels[0])
    expect(driver.button("Undo (Ctrl+Z)")).to_be_disabled()
    driver.button("Redo (Ctrl+Shift+Z)").click()
    driver.expect_title(labels[2])

    # And all of it from the file.
    driver.button("Share or save").click()
    driver.page.locator('input[type="file"][accept*=".json"]').set_input_files(
        tmp_path / "session.json"
    )
    driver.wait_until("plot.below[0].axis_label == 'Laplacian eigenmaps 1'")
    driver.expect_title(labels[2])
    expect(driver.page.get_by_role("textbox", name="Note")).to_have_value("away at weekends <b>?")


def test_a_link_that_is_broken_says_so_and_the_page_works(open_page):
    driver = open_page("?view=1-nothing")
    expect(driver.page.get_by_text("the link cannot be read")).to_be_visible()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """What analysts bring: good, dirty, too large, and hostile."""
    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(4)
    times = pd.date_range("2021-03-01", periods=48 * 28, freq="30min").strftime("%Y-%m-%d %H:%M")
    good = pd.DataFrame(
        {
            "household": np.repeat([f"h{number:02d}" for number in range(25)], len(times)),
            "time": np.tile(times, 25),
            "kwh": rng.gamma(2, 0.2, 25 * len(times)).round(3).astype(str),
        }
    )
    good.to_csv(folder / "good.csv", index=False)
    dirty = good.copy()
    dirty.loc[5:59, "kwh"] = "broken"
    dirty.to_csv(folder / "dirty.csv", index=False)
    (folder / "large.csv").write_bytes(b"household,time,kwh\n" + b"x" * 3_000_000)
    hostile = folder / "<img src=x onerror=alert(1)>.csv"
    hostile.write_bytes(b"\x00\x01<script>alert(1)</script>\n" * 100)
    return {"good": folder / "good.csv", "dirty": folder / "dirty.csv",
            "large": folder / "large.csv", "hostile": hostile}  # fmt: skip


def test_files_of_ones_own(open_page, files):
    driver = open_page()
    page = driver.page
    page.get_by_text("Open data").first.click()
    page.locator(FILE).set_input_files(files["large"])
    expect(page.get_by_text("a file may have 2 MB here")).to_be_visible()
    page.locator(FILE).set_input_files(files["hostile"])
    expect(page.get_by_role("alert").get_by_text("<img src=x")).to_be_visible()
    page.locator(FILE).set_input_files(files["dirty"])
    expect(page.get_by_text("55 × unparsable value")).to_be_visible()
    expect(page.get_by_text("dirty.csv, line 7")).to_be_visible()
    page.locator(FILE).set_input_files(files["good"])
    expect(page.get_by_text("33,600 = 33,600 accepted")).to_be_visible()
    driver.button("Explore it").click()
    driver.wait_for_map(25)
    expected = [f"h{number:02d}" for number in range(25)]
    driver.wait_until(
        "models.some(model => model.type == 'ColumnDataSource' && 'hdr' in model.data && "
        f"model.data.label.toSorted().join() == '{','.join(expected)}')"
    )
    expect(page.get_by_text("Your own data")).to_be_visible()
    driver.button("Share or save").click()
    expect(page.get_by_text("There is no link to your own data")).to_be_visible()
