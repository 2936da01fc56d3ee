"""The window of a session leaves nothing behind."""

import gc
import importlib
import pkgutil
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from bokeh.model import Model

import dashboard
from core.readings import Dataset
from dashboard.shell import Shell


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of the widget library's own
def test_a_window_that_is_closed_is_forgotten(demo_path):
    shell = Shell(Dataset.open(demo_path))
    left = [weakref.ref(part) for part in (shell.view, shell.page, shell.page.explorer)]
    shell.end()
    del shell
    gc.collect()
    assert [part() for part in left] == [None, None, None]


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
