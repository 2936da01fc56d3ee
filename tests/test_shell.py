"""The window of a session leaves nothing behind."""

import gc
import weakref

import pytest

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
