"""The Data tab: its states, and the whole in a real browser."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import holoviews as hv
import numpy as np
import pandas as pd
import pytest
from flawed_dataset import FILE, HOSTILE, flawed_readings, ingest_flawed
from held_jobs import HeldJobs
from page_turns import PageTurns
from playwright.sync_api import Page, expect
from serving import ROOT

from core.readings import Dataset
from core.runs import Store
from core.runs.overview import make_overview
from dashboard.data import DataTab
from dashboard.jobs import SessionPool
from dashboard.jobs.workspace import Workspace
from dashboard.widgets import PlainText

hv.extension("bokeh")

MINUTE = 60_000
APP = """
import os
import holoviews as hv, panel as pn, panel_material_ui as pmui
from core.readings import Dataset
from dashboard.data import DataTab
from dashboard.jobs import SessionPool, run_jobs
from dashboard.jobs.workspace import Workspace
from dashboard.page_schedule import schedule_on
hv.extension("bokeh")
pn.extension("tabulator")
run_jobs.WARM_UP = ()
pool = SessionPool(run_jobs.pool(), schedule_on(pn.state.curdoc))
tab = DataTab(Workspace.of_server(Dataset.open(os.environ["WATTFOLD_DATA"]), pool))
pn.state.onload(tab.show)
pmui.Page(title="Data", main=[tab.view]).servable()
"""


@pytest.fixture(scope="module")
def readings() -> pd.DataFrame:
    return flawed_readings()


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Dataset:
    return ingest_flawed(tmp_path_factory.mktemp("flawed"))


# States

# Bokeh's data sources still ask pandas for it.
bokeh_on_pandas = pytest.mark.filterwarnings("ignore:The inplace keyword")


@pytest.fixture
def workers() -> HeldJobs:
    return HeldJobs()


@pytest.fixture
def turns() -> PageTurns:
    return PageTurns()


@pytest.fixture
def tab(dataset, workers, turns, tmp_path) -> DataTab:
    return DataTab(Workspace(dataset, Store(tmp_path), SessionPool(workers, turns)))


def texts(tab: DataTab) -> str:
    return "\n".join(text.text for text in tab.view.select(PlainText))


@bokeh_on_pandas
def test_nothing_is_computed_before_the_tab_is_shown(tab, workers, turns):
    assert turns.run() == 0
    assert texts(tab) == ""
    tab.show()
    tab.show()
    turns.run_until(lambda: workers.jobs)
    assert len(workers.jobs) == 1


@bokeh_on_pandas
def test_a_failure_is_told_and_can_be_tried_again(tab, workers, turns):
    tab.show()
    turns.run_until(lambda: workers.jobs)
    workers.change(workers.jobs[0], position=3)
    turns.run()
    assert "Number 3 in the queue" in texts(tab)
    workers.change(workers.jobs[0], state="running", fraction=0.4, message="Counting readings")
    turns.run()
    assert "Counting readings" in texts(tab)
    workers.change(workers.jobs[0], error="the disk is on fire", state="failed")
    turns.run()
    assert "the disk is on fire" in texts(tab)
    # Somebody else had it computed meanwhile.
    make_overview(tab.dataset, store=tab.workspace.store)
    (again,) = (part for part in tab.view.select() if getattr(part, "label", "") == "Try again")
    again.clicks += 1
    turns.run_until(lambda: "Readings in each slot of the week" in texts(tab))
    assert "the disk is on fire" not in texts(tab)
    assert len(workers.jobs) == 1


# In a browser


@pytest.fixture(scope="module")
def served(dataset, tmp_path_factory) -> Iterator[str]:
    """The address of a page with nothing but the tab."""
    folder: Path = tmp_path_factory.mktemp("app")
    (folder / "app.py").write_text(APP)
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "panel", "serve", str(folder / "app.py"), "--port", str(port)],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "WATTFOLD_DATA": str(dataset.path),
            "WATTFOLD_CACHE": str(folder / "cache"),
        },
    )
    address = f"http://localhost:{port}/app"
    try:
        for _ in range(600):
            assert server.poll() is None, "the server ended"
            try:
                urllib.request.urlopen(address, timeout=60).close()
                break
            except urllib.error.URLError:
                time.sleep(0.2)
        yield address
    finally:
        server.terminate()
        server.wait(timeout=30)


@pytest.fixture(scope="module")
def page(browser, served) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    errors: list[str] = []
    page.on("console", lambda message: message.type == "error" and errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(served, timeout=3 * MINUTE)
    left_out = page.get_by_role("heading", name="Households that maps leave out")
    expect(left_out).to_be_visible(timeout=3 * MINUTE)
    yield page
    page.close()
    assert errors == []


MODELS = "Bokeh.documents.flatMap(document => [...document._all_models.values()])"
IMAGE = (
    MODELS + ".filter(model => model.type == 'GlyphRenderer' && model.glyph.type == 'Image').at(-1)"
)

# Where on the screen a place of the picture is, once it has been scrolled there.
PLACE = """({x, y}) => {
    const figure = MODELS.find(model => model.type == "Figure"
        && model.renderers.some(renderer => renderer.glyph?.type == "Image"))
    const view = Bokeh.index.find_one(figure)
    view.el.scrollIntoView({block: "center"})
    const {left, top} = view.canvas_view.el.getBoundingClientRect()
    return [left + view.frame.x_scale.compute(x), top + view.frame.y_scale.compute(y)]
}""".replace("MODELS", MODELS)


@pytest.mark.browser
def test_the_browser_is_given_the_counts(page, readings):
    by_day = readings.groupby(["household", readings["time"].dt.floor("D")]).size()
    table = by_day.unstack(fill_value=0).sort_index().to_numpy()
    drawn = np.array(page.evaluate(f"Array.from({IMAGE}.data_source.data.readings[0])"))
    drawn = drawn.reshape(table.shape)
    # Where a household is not metered, −1 says so.
    np.testing.assert_array_equal(np.maximum(drawn, 0), table)
    assert (drawn < 0).sum() == (28 - 3) + (28 - 1)


@pytest.mark.browser
def test_axes_have_names_and_units(page):
    labels = page.evaluate(MODELS + ".map(model => model.axis_label).filter(label => label)")
    assert {"day", "household", "readings of a household in a slot", "time of week"} <= set(labels)
    assert "demand per interval, kWh (logarithmic)" in labels


@pytest.mark.browser
def test_names_of_users_are_text(page):
    names = page.locator('.tabulator-cell[tabulator-field="household"]')
    expect(names.get_by_text(HOSTILE, exact=True)).to_be_visible()
    expect(page.get_by_text(FILE).first).to_be_visible()
    expect(page.get_by_text("H00, 2024-02-01 00:00:00, <b>bold</b>")).to_be_visible()
    assert page.evaluate("window.hacked") is None


@pytest.mark.browser
def test_hovering_tells_household_day_and_readings(page):
    # H02, the fourth from the top: "<" comes before "H" in the order of ids.
    x, y = page.evaluate(PLACE, {"x": pd.Timestamp("2024-01-20 12:00").timestamp() * 1000, "y": 3})
    page.mouse.move(x - 3, y)
    page.mouse.move(x, y)
    told = page.locator(".bk-tooltip-content").first
    expect(told).to_contain_text("H02")
    expect(told).to_contain_text("Sat, 20 Jan 2024")
    expect(told).to_contain_text(re.compile(r"readings:\s*0\s*expected:\s*48"))


@pytest.mark.browser
def test_households_can_be_sorted_by_coverage(page):
    page.get_by_role("combobox", name="Sort households").click()
    page.get_by_role("menuitem", name="least covered first").click()
    first = f"{IMAGE}.data_source.data.readings[0]"
    # H06, with ten readings of one night, comes first.
    page.wait_for_function(f"{first}[0] == 10 && {first}[1] == -1", timeout=MINUTE)
    expect(page.get_by_text(re.compile("^One row per household"))).to_be_visible()
