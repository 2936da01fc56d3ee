"""A session leaves nothing behind."""

import gc
import importlib
import pkgutil
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import panel as pn
import panel_material_ui as pmui
import pytest
from bokeh.model import Model

import dashboard
from core.readings import Dataset
from dashboard.session import Session, _make_frame


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of the widget library's own
def test_a_session_that_is_disposed_of_is_forgotten(demo_path):
    session = Session(Dataset.open(demo_path))
    left = [weakref.ref(part) for part in (session.view, session.page, session.page.explorer)]
    session.dispose()
    del session
    gc.collect()
    assert [part() for part in left] == [None, None, None]


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
