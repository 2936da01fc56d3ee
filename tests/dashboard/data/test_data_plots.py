"""The pictures of the Data tab, by the numbers in them."""

import holoviews as hv
import numpy as np
import pandas as pd
import pytest

from core.readings.coverage import Coverage, pool_coverage
from core.runs.overview import ReferenceDistribution
from dashboard.data import _data_plots

hv.extension("bokeh")


def test_the_coverage_picture_shows_shares_and_counts():
    readings = np.array([[0, 24, 48], [48, 48, 0], [48, 0, 46]], np.uint16)
    coverage = Coverage(readings, np.array([48, 48, 46]), np.datetime64("2024-03-29"))
    order = np.array([2, 0, 1])
    pooled = pool_coverage(coverage, order, most_rows=9, most_columns=9)
    picture = _data_plots.coverage_plot(coverage, pooled, ["c", "a", "b"])
    # Values come from the bottom up; the vertical axis is turned, so the first is on top.
    nan = np.nan
    share = picture.dimension_values("share", flat=False)
    np.testing.assert_array_equal(share, [[100, 0, 100], [nan, 50, 100], [100, 100, nan]])
    counts = picture.dimension_values("readings", flat=False)
    assert counts.tolist() == [[48, 0, 46], [-1, 24, 48], [48, 48, -1]]
    left, bottom, right, top = picture.bounds.lbrt()
    assert (bottom, top) == (-0.5, 2.5)
    assert (left, right) == (np.datetime64("2024-03-29"), np.datetime64("2024-04-01"))
    assert hv.render(picture).yaxis[0].axis_label == "household"


def test_one_household_and_one_day_are_a_picture_too():
    coverage = Coverage(np.array([[3]], np.uint16), np.array([4]), np.datetime64("2024-01-01"))
    pooled = pool_coverage(coverage, np.arange(1), most_rows=9, most_columns=9)
    picture = _data_plots.coverage_plot(coverage, pooled, ["only"])
    assert picture.dimension_values("share").tolist() == [75]
    hv.render(picture)


def test_ranges_of_the_axes_are_rows_and_days():
    assert _data_plots.rows_in((-0.5, 9.5)) == (0, 10)
    assert _data_plots.rows_in((9.4, 2.6)) == (3, 10)  # the axis is turned
    assert _data_plots.rows_in(None) is None
    first = np.datetime64("2024-01-01")
    shown = np.datetime64("2024-01-03T06:00"), np.datetime64("2024-01-05T18:00")
    assert _data_plots.days_in(shown, first) == (2, 5)
    assert _data_plots.days_in((None, None), first) is None


def reference(edges: list[float], readings: list[int], lowest: float, highest: float):
    return ReferenceDistribution(np.array(edges), np.array(readings), lowest, highest, bins=4)


def boxes(plot: hv.Rectangles) -> pd.DataFrame:
    return plot.dframe(["left", "high", "top", "share"])


def test_areas_of_the_bins_are_shares_on_a_logarithmic_axis():
    demand = reference([0.1, 0.4, 2.0], [10, 20, 30, 40], 0.0, 4.0)
    assert _data_plots.uses_log_axis(demand)
    drawn = boxes(_data_plots.demand_plot(demand))
    assert drawn["left"].tolist() == [0.05, 0.1, 0.4, 2.0]
    assert drawn["high"].tolist() == [0.1, 0.4, 2.0, 4.0]
    area = drawn["top"] * np.log2(drawn["high"] / drawn["left"])
    np.testing.assert_allclose(area, [10, 20, 30, 40])


@pytest.mark.parametrize("edges", [[0.0, 0.4, 2.0], [-1.0, 0.4, 2.0], [0.5, 0.6, 0.7]])
def test_areas_of_the_bins_are_shares_on_a_linear_axis(edges):
    demand = reference(edges, [10, 20, 30, 40], -2.0, 4.0)
    assert not _data_plots.uses_log_axis(demand)
    drawn = boxes(_data_plots.demand_plot(demand))
    np.testing.assert_allclose(drawn["top"] * (drawn["high"] - drawn["left"]), [10, 20, 30, 40])


def test_a_bin_of_one_value_is_left_out_and_the_rest_drawn():
    drawn = boxes(_data_plots.demand_plot(reference([0.0, 0.4, 2.0], [40, 20, 30, 10], 0.0, 4.0)))
    assert drawn["share"].tolist() == [20, 30, 10]


def test_zeros_have_no_place_on_a_logarithmic_axis():
    demand = reference([0.0, 0.01, 2.0], [40, 20, 30, 10], 0.0, 4.0)
    assert _data_plots.uses_log_axis(demand)
    assert _data_plots.drawn_bins(demand).tolist() == [False, True, True, True]
    drawn = boxes(_data_plots.demand_plot(demand))
    assert drawn["left"].tolist() == [0.005, 0.01, 2.0]
    assert drawn["share"].tolist() == [20, 30, 10]


def test_one_constant_reading_is_drawn_as_nothing():
    plot = _data_plots.demand_plot(reference([0.2], [9, 0], 0.2, 0.2))
    assert len(boxes(plot)) == 0
    hv.render(plot)


def test_ticks_are_plain_numbers():
    assert [label for _, label in _data_plots.decimal_ticks(0.015, 6.0)] == [
        "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5",
    ]  # fmt: skip


def test_sizes_are_drawn_as_steps_over_the_week():
    sizes = np.sort(np.random.default_rng(1).integers(0, 60, (5, 336)), axis=0)
    plot = _data_plots.slot_size_plot(sizes, 30)
    curve = plot.Curve.Median.dframe()
    assert len(curve) == 2 * 336
    np.testing.assert_array_equal(curve["median"][::2], sizes[2])
    np.testing.assert_array_equal(curve["least"][1::2], sizes[0])
    np.testing.assert_allclose(curve["day"][1::2], np.arange(1, 337) / 48)
    assert curve["slot"].iloc[2 * 36] == "Mon 18:00–18:30"
    hv.render(plot)
