"""What is computed from an upload stays in the session's folder, and goes with the session."""

import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from page_turns import PageTurns

from core.readings import Dataset
from core.runs import Store
from dashboard import session as session_module
from dashboard.jobs import WorkerPool, run_jobs
from dashboard.jobs.export_jobs import KINDS
from dashboard.session import Session
from dashboard.widgets import PlainText

pytestmark = [
    # Of the widget library's own, and of Bokeh's use of pandas.
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The inplace keyword"),
]


def readings() -> bytes:
    times = pd.date_range("2021-03-01", periods=48 * 14, freq="30min").strftime("%Y-%m-%d %H:%M")
    names = [f"private-{number:02d}" for number in range(24)]
    table = pd.DataFrame(
        {
            "household": np.repeat(names, len(times)),
            "time": np.tile(times, len(names)),
            "kwh": np.random.default_rng(4).gamma(2, 0.2, len(names) * len(times)).round(3),
        }
    )
    return table.to_csv(index=False).encode()


@pytest.fixture
def shared(tmp_path, monkeypatch) -> Path:
    """The store of all sessions; temporary files are beside it."""
    monkeypatch.setenv("WATTFOLD_CACHE", str(tmp_path / "shared"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return tmp_path / "shared"


@pytest.fixture
def turns() -> PageTurns:
    return PageTurns()


@pytest.fixture
def session(demo_path, shared, turns, monkeypatch):
    pool = WorkerPool(1)
    monkeypatch.setattr(run_jobs, "pool", lambda: pool)
    monkeypatch.setattr(session_module, "schedule_on", lambda doc: turns)
    session = Session()
    session.fill(Dataset.open(demo_path))
    yield session
    pool.close()


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_everything_that_can_be_done_with_an_upload(session, shared, turns, tmp_path):
    # The readings, from the browser's first message on.
    session.data.open()
    content = readings()
    session.data.drop._take({"files": [["mine.csv", len(content)]]})
    while session.data.drop.wanted >= 0:
        start = session.data.drop.wanted
        session.data.drop._take({"data": content[start : start + (1 << 20)]})
    turns.run_until(lambda: session.data.start.visible)
    session.data.start.clicks += 1
    turns.run_until(lambda: session.data.use.visible)
    session.data.use.clicks += 1

    page = session.page
    turns.run_until(lambda: page.explorer.run is not None)
    assert page.explorer.run.n == 24

    # The Data tab.
    page.data.show()
    heading = "Readings in each slot of the week"
    turns.run_until(lambda: heading in [text.text for text in page.data.view.select(PlainText)])

    # The Compare tab.
    page.compare.comparison.param.update(methods=["isomap", "laplacian"], searches=["exact"])
    page.compare.show()
    turns.run_until(lambda: page.compare.run.visible)
    page.compare.run.clicks += 1
    turns.run_until(lambda: len(page.compare.comparison.runs) == 2)

    # Every kind of file.
    page.exporting.open()
    form = page.exporting.form
    for kind in KINDS:
        form.kind.value = kind
        form.scope.value = True
        form.go.clicks += 1
        turns.run_until(lambda: form.job.job is None)
        assert form.job.error.text == "", kind
        assert form.job.status.sentence.text.startswith("Saved as wattfold-"), kind

    # Nothing of it is outside the session's folder.
    assert Store(shared).entries() == []
    (server,) = (tmp_path / "tmp" / f"wattfold-sessions-{os.getuid()}").iterdir()
    (folder,) = (path for path in server.iterdir() if path.is_dir())
    kept = [path for path in files_in(folder) if "store" in path.parts]
    assert {"embedding", "overview", "quality"} <= {path.parts[-3] for path in kept}
    outside = [path for path in files_in(tmp_path) if folder not in path.parents]
    assert not [path for path in outside if b"private-" in path.read_bytes()]
    before = {path for path in outside if path.suffix in (".npy", ".parquet", ".png", ".html")}
    assert before == set()

    session.dispose()
    assert not folder.exists()
