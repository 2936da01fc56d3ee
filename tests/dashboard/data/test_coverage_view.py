"""Coverage as a picture to zoom into: what is sent to the browser, and what is said about it."""

import holoviews as hv
import numpy as np
import panel as pn
import pytest

from core.readings.coverage import Coverage
from dashboard.data._coverage_view import CoverageView
from dashboard.widgets import PlainText

hv.extension("bokeh")


@pytest.fixture
def view() -> CoverageView:
    """A thousand households of ten days; the later ones lack more of the last day."""
    readings = np.full((1000, 10), 1000, np.uint16)
    readings[:, 9] = np.arange(1000, 0, -1)
    coverage = Coverage(readings, np.full(10, 1000), np.datetime64("2024-01-01"))
    return CoverageView(coverage, np.array([f"H{n:04d}" for n in range(1000)]))


def picture(view: CoverageView, **seen: object) -> hv.Image:
    """Return what the browser is sent when it shows a part of so many pixels."""
    (pane,) = pn.panel(view).select(pn.pane.HoloViews)
    pane.object.event(**{"x_range": None, "y_range": None, "width": 300, "height": 100} | seen)
    return pane.object[()]


def said(view: CoverageView) -> str:
    (text,) = pn.panel(view).select(PlainText)
    return text.text


def test_households_are_pooled_to_the_pixels_there_are(view):
    image = picture(view)
    assert said(view) == "Each cell pools 10 households: zoom in to see them one by one."
    share = image.dimension_values("share", flat=False)
    assert share.shape == (100, 10)
    assert share[0, 0] == 100
    assert share[0, 9] == pytest.approx(np.arange(1000, 990, -1).mean() / 10)


def test_a_look_closer_shows_single_households(view):
    days = np.datetime64("2024-01-08"), np.datetime64("2024-01-11")
    image = picture(view, x_range=days, y_range=(260.5, 199.5))
    assert said(view) == "One row per household, one column per day."
    readings = image.dimension_values("readings", flat=False)
    assert readings.shape == (61, 3)
    assert readings[:, 2].tolist() == list(range(800, 739, -1))


def test_another_order_turns_the_rows(view):
    view.order = "coverage"
    image = picture(view, y_range=(-0.5, 9.5))
    assert image.dimension_values("readings", flat=False)[:, 9].tolist() == list(range(1, 11))


def test_days_are_pooled_where_they_are_narrower_than_a_pixel(view):
    assert picture(view, width=5).dimension_values("share", flat=False).shape == (100, 5)
    assert said(view) == "Each cell pools 10 households × 2 days: zoom in to see them one by one."
