"""Going back, sharing, and bringing data, in a real browser."""

import json
import re

import pytest
from page_driver import MINUTE, Driver
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

expect.set_options(timeout=MINUTE)


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
    labels = result.units["label"].tolist()
    driver = open_page()
    title = driver.page.locator("h2").first
    expect(title).to_have_text(re.compile("|".join(labels)))
    first = title.inner_text()
    expect(driver.button("Undo (Ctrl+Z)")).to_be_disabled()
    driver.row(2).click()
    expect(title).not_to_have_text(first)
    chosen = title.inner_text()
    assert chosen in labels
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
    other.expect_title(chosen)
    expect(other.page.get_by_role("combobox", name=re.compile("^Colour by"))).to_contain_text(
        "Mean demand"
    )
    for _ in range(300):  # marks of unusual homes come after the map
        if other.markers() == driver.markers():
            break
        other.page.wait_for_timeout(200)
    assert other.markers() == driver.markers()
    expect(other.page.get_by_role("textbox", name="Note")).to_have_value("")
    driver.button("Share or save").click()
    with driver.page.expect_download() as download:
        driver.page.get_by_text("Save session").click()
    download.value.save_as(tmp_path / "session.json")
    driver.button("close").click()
    expect(driver.page.get_by_role("dialog")).to_have_count(0)
    content = json.loads((tmp_path / "session.json").read_text())
    assert content["notes"] == {chosen: "away at weekends <b>?"}

    # Step by step back to the beginning, and forward again.
    colors = driver.page.get_by_role("combobox", name=re.compile("^Colour by"))
    driver.page.keyboard.press("Control+z")
    expect(colors).to_contain_text("HDR")
    driver.page.keyboard.press("Control+z")
    driver.wait_until("plot.below[0].axis_label == 'ISOMAP 1'")
    driver.page.keyboard.press("Control+z")
    driver.expect_title(first)
    expect(driver.button("Undo (Ctrl+Z)")).to_be_disabled()
    driver.button("Redo (Ctrl+Shift+Z)").click()
    driver.expect_title(chosen)

    # And all of it from the file.
    driver.button("Share or save").click()
    driver.page.locator('input[type="file"][accept*=".json"]').set_input_files(
        tmp_path / "session.json"
    )
    driver.wait_until("plot.below[0].axis_label == 'Laplacian eigenmaps 1'")
    driver.expect_title(chosen)
    expect(driver.page.get_by_role("textbox", name="Note")).to_have_value("away at weekends <b>?")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("?view=1-nothing", "the link cannot be read"),
        ("?data=nothing&view=1-nothing", "The data of this link are not on this server"),
    ],
)
def test_a_link_that_is_broken_says_so_and_the_page_works(open_page, query, words):
    driver = open_page(query)
    expect(driver.page.get_by_text(words)).to_be_visible()
