"""The map of an explorer, without a browser: what goes to it and what comes from it."""

import numpy as np
import pytest

from core.readings import Dataset
from core.runs import RunConfig, run
from dashboard.explore.map_view import MapView
from dashboard.state import Explorer


@pytest.fixture
def view(demo_path):
    dataset = Dataset.open(demo_path)
    view = MapView(Explorer(dataset))
    view.explorer.show(run(dataset, RunConfig()))
    view.pane.get_root()
    return view


def seen(view):
    x, y = view.figure.x_range, view.figure.y_range
    return x.start, x.end, y.start, y.end


def test_what_is_asked_for_is_shown_and_all_of_it_by_default(view):
    whole = seen(view)
    view.zoom(2)
    np.testing.assert_allclose(np.subtract(*seen(view)[:2]), np.subtract(*whole[:2]) / 2)
    view.explorer.ranges = None
    np.testing.assert_allclose(seen(view), whole)


def test_what_the_browser_shows_is_noted_and_not_sent_back(view):
    """Its figure here may be behind: what is sent back would undo what was done since."""
    whole = seen(view)
    view.streams.ranges.event(x_range=(0.0, 1.0), y_range=(0.0, 1.0))
    assert view.explorer.ranges == (0.0, 1.0, 0.0, 1.0)
    assert seen(view) == whole
