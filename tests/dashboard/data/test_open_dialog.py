"""Files of one's own, from the drop to the map, in a real browser."""

import os
import re
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from page_driver import MINUTE, Driver
from playwright.sync_api import Locator, Page, WebSocketRoute, expect
from serving import serving

pytestmark = pytest.mark.browser

expect.set_options(timeout=MINUTE)

SAMPLES = Path(__file__).parents[3] / "data" / "samples"


@pytest.fixture(scope="module")
def temporary(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("tmp")


@pytest.fixture(scope="module")
def abandoned(temporary) -> Path:
    """What a killed server left behind."""
    root = temporary / f"wattfold-sessions-{os.getuid()}"
    root.mkdir(mode=0o700)
    file = root / "server" / "session" / "upload-1" / "files" / "a.csv"
    file.parent.mkdir(parents=True)
    file.touch()
    (root / "server" / ".lock").touch()
    return file


@pytest.fixture(scope="module")
def served(demo_path, cache, result, anomalies, temporary, abandoned):
    """A server that takes files of up to 20 MB and ends sessions soon after their page."""
    soon = (
        "from dashboard.server import server; "
        "server.CHECK_SESSIONS_MILLISECONDS, server.UNUSED_SESSION_MILLISECONDS = 500, 5_000"
    )
    environment = {"WATTFOLD_UPLOAD_MB": "20", "TMPDIR": str(temporary)}
    with serving(demo_path, cache=cache, first=soon, **environment) as address:
        yield address


class Dialog:
    """The dialog as a person uses it."""

    def __init__(self, page: Page, errors: list[str] | None = None) -> None:
        self.page = page
        self.errors = [] if errors is None else errors
        self.driver = Driver(page)
        self.driver.open_settings()
        page.get_by_role("button", name="Open data").first.click(timeout=3 * MINUTE)
        self.box = page.get_by_role("dialog")
        self.start = self.button("Import")

    def button(self, name: str) -> Locator:
        return self.box.get_by_role("button", name=name, exact=True)

    def give(self, *files: Path) -> None:
        """Choose files, or a folder."""
        inputs = self.box.locator("input[type=file]")
        folder = files[0].is_dir()
        inputs.nth(1 if folder else 0).set_input_files(files[0] if folder else list(files))

    def field(self, label: str) -> Locator:
        return self.box.get_by_label(label, exact=True)

    def shown(self, label: str) -> str:
        """What a select shows."""
        return self.field(label).evaluate("select => select.selectedOptions[0].textContent")

    def expect_no_errors(self) -> None:
        """Nothing went wrong in the browser so far."""
        # Bokeh measures the plots behind the dialog before they are laid out.
        assert [error for error in self.errors if "top_panel" not in error] == []

    def expect_text(self, text: str | re.Pattern[str]) -> None:
        expect(self.box.get_by_text(text).first).to_be_visible()


@pytest.fixture(scope="module")
def dialog(browser, served):
    """One page for all tests: whatever files it was given last, it takes others."""
    errors: list[str] = []
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    page.on("console", lambda message: message.type == "error" and errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("dialog", lambda opened: errors.append("a dialog opened"))
    page.goto(served, timeout=3 * MINUTE)
    yield Dialog(page, errors)
    page.close()


@pytest.fixture(scope="module")
def homes() -> pd.DataFrame:
    """Demand of 25 homes in four weeks, a row per half-hour."""
    rng = np.random.default_rng(4)
    times = pd.date_range("2021-03-01", periods=48 * 28, freq="30min")
    values = rng.gamma(2, 0.2, (len(times), 25)).round(3)
    return pd.DataFrame(values, times, [f"h{number:02d}" for number in range(25)])


def long_table(homes: pd.DataFrame, factor: float = 1.0) -> pd.DataFrame:
    table = (homes * factor).round(3).rename_axis("time").reset_index()
    return table.melt("time", var_name="household", value_name="value")


def test_a_question_is_a_choice_and_a_change_is_seen_at_once(dialog, homes, tmp_path):
    long_table(homes, 1000).to_csv(tmp_path / "unnamed.csv", index=False)
    dialog.give(tmp_path / "unnamed.csv")
    question = dialog.box.get_by_role("group", name="Question")
    expect(question).to_contain_text("names no unit")
    expect(dialog.start).to_be_disabled()
    dialog.box.get_by_label(re.compile("^they are Wh")).check()
    expect(question).to_have_count(0)
    expect(dialog.start).to_be_enabled()
    expect(dialog.field("Unit")).to_have_value("Wh")
    dialog.field("Unit").select_option("kWh")
    dialog.expect_text("Homes use 0.5 to 200: check the unit.")
    dialog.field("Unit").select_option("Wh")
    expect(dialog.box.get_by_text("check the unit")).to_have_count(0)

    # A field that cannot be is said, and the others stay.
    dialog.field("Time zone").fill("Mars/Base")
    dialog.field("Time zone").press("Enter")
    dialog.field("Time zone").blur()
    dialog.expect_text(re.compile("no time zone 'Mars/Base'"))
    dialog.field("Time zone").fill("Europe/Dublin")
    dialog.field("Time zone").blur()
    expect(dialog.box.get_by_text(re.compile("no time zone"))).to_be_hidden()
    expect(dialog.start).to_be_enabled()
    assert "--" not in dialog.box.inner_text()
    dialog.start.click()
    dialog.expect_text(re.compile("demand in Wh"))
    dialog.expect_text(re.compile(r"33,600\s+accepted"))


def test_a_format_that_does_not_fit_can_be_taken_back(dialog):
    dialog.give(SAMPLES / "lcl.csv")
    expect(dialog.start).to_be_enabled()
    dialog.field("Format").select_option("cer")
    expect(dialog.box.get_by_role("alert")).to_contain_text("no line of meter")
    expect(dialog.start).to_be_disabled()
    dialog.field("Format").select_option("auto")
    dialog.expect_text(re.compile("^Low Carbon London"))
    expect(dialog.start).to_be_enabled()


def test_a_folder_is_one_dataset_and_columns_can_be_left_out(dialog, homes, tmp_path):
    folder = tmp_path / "homes"
    folder.mkdir()
    for name in homes.columns[:12]:
        table = homes[[name]].rename_axis("time").rename(columns={name: "kWh"})
        table.to_csv(folder / f"{name}.csv")
    (folder / "picture.png").write_bytes(b"png")
    dialog.give(folder)
    dialog.expect_text(re.compile("12 files · One reading per row · 12 households"))
    expect(dialog.start).to_be_enabled()

    homes.iloc[:, :3].rename_axis("time").to_csv(tmp_path / "wide.csv")
    dialog.give(tmp_path / "wide.csv")
    dialog.expect_text(re.compile("One column per household · 3 households"))
    dialog.button("Leave out h01").click()
    dialog.expect_text(re.compile("One column per household · 2 households"))
    dialog.button("Take back: Left out: h01").click()
    dialog.expect_text(re.compile("One column per household · 3 households"))


def test_several_files_and_a_workbook_of_several_sheets(dialog, homes, tmp_path):
    for name in homes.columns[:2]:
        homes[[name]].rename_axis("time").rename(columns={name: "kWh"}).to_csv(
            tmp_path / f"{name}.csv"
        )
    dialog.give(tmp_path / "h00.csv", tmp_path / "h01.csv")
    dialog.expect_text(re.compile("2 files · One reading per row · 2 households"))
    with pd.ExcelWriter(tmp_path / "book.xlsx") as book:
        homes.iloc[:200, :2].to_excel(book, sheet_name="March")
        homes.iloc[200:400, :2].to_excel(book, sheet_name="April")
    dialog.give(tmp_path / "book.xlsx")
    dialog.box.get_by_label("all of them").check()
    dialog.expect_text(re.compile("800 readings looked at"))
    expect(dialog.start).to_be_enabled()


def test_what_cannot_be_read_is_said_and_shown_as_text(dialog, tmp_path):
    hostile = tmp_path / "<img src=x onerror=alert(1)>.csv"
    hostile.write_bytes(b"\x00\x01<script>alert(1)</script>\n" * 100)
    dialog.give(hostile)
    expect(dialog.box.get_by_role("alert")).to_contain_text("<img src=x")
    names = "<b>id</b>,time,<i>kwh</i>\n"
    rows = [f"<u>{h}</u>,2024-01-{d:02d} {t:02d}:00,1" for h in "ab" for d in (1, 2, 3)
            for t in range(24)]  # fmt: skip
    hostile.write_text(names + "\n".join(rows))
    dialog.give(hostile)
    expect(dialog.box.get_by_role("columnheader").nth(0)).to_contain_text("<b>id</b>")
    expect(dialog.box.get_by_role("cell").nth(0)).to_have_text("<u>a</u>")
    large = tmp_path / "large.csv"
    large.write_bytes(b"household,time,kwh\n" + b"x" * 21_000_000)
    dialog.give(large)
    dialog.expect_text("at most 20 MB can be taken here, and this is 21 MB")


def uploads_in(folder: Path) -> list[Path]:
    return list(folder.glob("wattfold-sessions-*/*/*/upload-*/files/*"))


def test_a_lost_connection_leaves_nothing_and_one_can_begin_again(
    browser, served, temporary, abandoned, homes, tmp_path
):
    assert not abandoned.exists()
    large = tmp_path / "large.csv"
    large.write_bytes(b"household,time,kwh\n" + b"x" * 19_000_000)
    page = browser.new_page()
    sockets: list[WebSocketRoute] = []

    def pass_on(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        socket.connect_to_server()

    page.route_web_socket(re.compile("/ws"), pass_on)
    page.goto(served, timeout=3 * MINUTE)
    before = set(uploads_in(temporary))
    dialog = Dialog(page)
    dialog.give(large)
    deadline = time.monotonic() + 60
    while not set(uploads_in(temporary)) - before and time.monotonic() < deadline:
        page.wait_for_timeout(20)
    [partial] = set(uploads_in(temporary)) - before
    sockets[0].close()
    dialog.expect_text(re.compile("connection is lost. Reload the page, then choose"))
    deadline = time.monotonic() + 60
    while partial.exists() and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not partial.exists()

    page.close()
    again = browser.new_page()
    again.goto(served, timeout=3 * MINUTE)
    dialog = Dialog(again)
    long_table(homes).rename(columns={"value": "kWh"}).to_csv(tmp_path / "a.csv", index=False)
    dialog.give(tmp_path / "a.csv")
    expect(dialog.start).to_be_enabled()
    again.close()


def test_receiving_can_be_stopped(dialog, tmp_path):
    large = tmp_path / "large.csv"
    large.write_bytes(b"household,time,kwh\n" + b"x" * 19_000_000)
    dialog.give(large)
    dialog.button("Stop").click()
    expect(dialog.button("Choose files")).to_be_visible()
    dialog.give(SAMPLES / "power.csv")
    expect(dialog.start).to_be_enabled()


def test_what_is_recognised_is_reviewed_imported_and_explored(dialog, homes, tmp_path):
    rows = long_table(homes).astype(str)
    rows.loc[5:59, "value"] = "broken"
    rows.rename(columns={"value": "kWh"}).to_csv(tmp_path / "dirty.csv", index=False)
    dialog.give(tmp_path / "dirty.csv")
    expect(dialog.start).to_be_enabled()
    dialog.expect_text(re.compile(r"One reading per row · 25 households"))
    assert dialog.shown("Unit") == "Automatic: kWh (the column's name 'kWh')"
    assert dialog.shown("Household") == "Automatic: household"
    dialog.expect_text("55 × unparsable value")
    dialog.expect_text(re.compile(r"dirty\.csv, line 7"))
    dialog.expect_text(re.compile(r"The median household uses [\d.]+ kWh a day"))
    first = dialog.box.get_by_role("row").nth(1).get_by_role("cell")
    assert first.nth(1).inner_text() == "h00"

    # The account after the import is that of all rows.
    dialog.start.click()
    dialog.expect_text("Of 33,600 readings")
    dialog.expect_text(re.compile(r"33,545\s+accepted"))
    dialog.expect_no_errors()
    dialog.button("Explore it").click()
    expect(dialog.page.get_by_text(re.compile("^25 households(,| in)"))).to_be_visible()
    # The models of the map before are there, too, until Bokeh forgets them.
    expected = ",".join(homes.columns)
    dialog.driver.wait_until(
        "models.some(model => model.type == 'ColumnDataSource' && 'hdr' in model.data && "
        f"model.data.label.toSorted().join() == '{expected}')"
    )
