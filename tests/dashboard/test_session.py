"""A session leaves nothing behind."""

import gc
import importlib
import pkgutil
import subprocess
import sys
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import panel as pn
import panel_material_ui as pmui
import pytest
from bokeh.document import Document
from bokeh.model import Model
from bokeh.models import ImportedStyleSheet
from panel.io.state import set_curdoc

import dashboard
from core.demo import make_demo
from core.errors import InputError
from core.readings.dataset import DatasetChangedError
from dashboard.session import Session, _make_frame, create_page, dispose_all_sessions

_MAKE_AND_DISPOSE = """
import gc, sys, weakref
from types import SimpleNamespace
from bokeh.document import Document
from core.readings import Dataset
from core.runs import RunConfig, Runner
from dashboard.session import Session

dataset = Dataset.open(sys.argv[1])
run = Runner(dataset).run(RunConfig())

def make_and_dispose():
    session, document = Session(), Document()
    session.fill(dataset)
    session.page.explorer.show(run)
    session.view.server_doc(document)
    assert session.page.map.figure is not None
    document.models.destroy()  # Bokeh does so first
    for ended in document.session_destroyed_callbacks:
        ended(SimpleNamespace(id="", _document=document))
    session.dispose()
    return [weakref.ref(part) for part in (session.view, session.page, session.page.explorer)]

left = make_and_dispose()
make_and_dispose()  # HoloViews keeps the last plot
gc.collect()
print([part() is None for part in left])
"""


def test_a_session_that_is_disposed_of_is_forgotten(demo_path):
    # In a process of its own: what other tests left running may hold on to anything.
    program = [sys.executable, "-c", _MAKE_AND_DISPOSE, str(demo_path)]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[-2] == "[True, True, True]"


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_page_that_nobody_asked_for_by_its_address_has_our_style_sheets(demo_path):
    """As that of a session which is made anew when its browser connects too late."""
    document = Document()
    with set_curdoc(document):
        create_page(demo_path).server_doc(document)
    addresses = [model.url for model in document.models if isinstance(model, ImportedStyleSheet)]
    assert len(addresses) > 2
    assert all(url.startswith("static/extensions/panel/") for url in addresses)
    dispose_all_sessions()


@pytest.fixture
def session(tmp_path):
    session = Session()
    session.fill(make_demo(tmp_path / "demo", households=12, days=21, seed=1))
    yield session
    session.dispose()


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_data_that_are_replaced_are_told_and_a_reload_is_offered(session):
    session.look_at_dataset()
    assert session.notice.text == ""
    make_demo(session.page.dataset.path, households=12, days=21, seed=2)
    session.look_at_dataset()
    assert "were replaced, moved or changed" in session.notice.text
    assert session.notice.offers_reload
    # A worker does not compute on the new data for a page that shows the old.
    with pytest.raises(DatasetChangedError, match="reload the page"):
        session.page.workspace.paths.open()


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_failure_is_told_by_a_number_that_the_log_has(session, caplog):
    error = KeyError("Smith")
    session.tell_failure(error)
    (record,) = caplog.records
    assert record.reference in session.notice.text
    assert record.exc_info[1] is error
    assert "Smith" not in session.notice.text
    session.tell_failure(InputError("there is no household 'Smith'"))
    assert session.notice.text == "there is no household 'Smith'"  # theirs, and of use to them
    assert len(caplog.records) == 1


def test_a_page_that_cannot_be_made_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(*_: Any) -> None:
        raise KeyError("any")

    dataset = make_demo(tmp_path / "demo", households=12, days=21, seed=1)
    monkeypatch.setattr(Session, "_make_page", fail)
    session = Session()
    with pytest.raises(KeyError):
        session.fill(dataset)
    folder = session.folder.new("export")
    session.dispose()
    assert not folder.exists()


def busy_watchers() -> int:
    return len(pn.state.param.watchers.get("busy", {}).get("value", []))


def test_a_frame_has_no_tie_to_what_all_sessions_share():
    before = busy_watchers()
    _make_frame()
    assert busy_watchers() == before


def test_the_tie_has_still_to_be_cut():
    """When this fails, holoviz/param#963 is mended: `_make_frame` need not set `busy` any more."""
    frame = weakref.ref(pmui.Page(title="any"))
    gc.collect()
    assert frame() is not None
    _make_frame()  # takes nothing of other frames away
    for watcher in list(pn.state.param.watchers["busy"]["value"]):
        if getattr(watcher.fn, "__self__", None) is frame().param:
            pn.state.param.unwatch(watcher)


def models_in(value: Any) -> Iterator[Model]:
    if isinstance(value, Model):
        yield value
    elif isinstance(value, Mapping):
        yield from models_in(list(value.values()))
    elif isinstance(value, list | tuple | set | frozenset):
        for part in value:
            yield from models_in(part)


def test_no_model_is_shared_by_pages():
    """A model knows all that listens to it: one that stays would keep every page it was on."""
    names = [name for _, name, _ in pkgutil.walk_packages(dashboard.__path__, "dashboard.")]
    names.remove("dashboard.app")  # a script, which makes a page
    assert len(names) > 50
    shared = {
        f"{name}.{key}": model
        for name in names
        for key, value in vars(importlib.import_module(name)).items()
        for model in models_in(value)
    }
    assert shared == {}
