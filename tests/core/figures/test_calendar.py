from datetime import date

import numpy as np
import pandas as pd
import pytest

from core.errors import InputError
from core.figures import demand_calendar, draw_calendar
from core.figures.calendar import GAP


@pytest.mark.parametrize("interval", [15, 30, 60])
def test_every_reading_stands_at_its_day_and_time(interval):
    times = pd.date_range("2023-10-28", periods=3 * 1440 // interval, freq=f"{interval}min")
    times = times.delete(5)
    kwh = np.random.default_rng(1).gamma(2, 0.2, len(times))
    order = np.random.default_rng(2).permutation(len(times))
    calendar = demand_calendar(times.to_numpy()[order], kwh[order], interval)
    table = pd.Series(kwh, times)
    expected = table.groupby([times.normalize(), times - times.normalize()]).first().unstack()
    np.testing.assert_array_equal(calendar.kwh, expected)
    assert np.isnan(calendar.kwh).sum() == 1
    assert calendar.kwh.shape == (3, 1440 // interval)
    assert calendar.days.tolist() == [date(2023, 10, 28), date(2023, 10, 29), date(2023, 10, 30)]
    assert calendar.hours[-1] == 24 - interval / 60


def test_a_repeated_hour_shows_the_mean_and_absent_days_are_gaps():
    times = np.array(["2023-10-29T01:00", "2023-10-29T01:00", "2023-11-02T01:00"], "datetime64[m]")
    calendar = demand_calendar(times, np.array([0.2, 0.4, 1.0]), 60)
    assert calendar.kwh[0, 1] == pytest.approx(0.3)
    assert calendar.kwh.shape == (5, 24)
    assert np.isnan(calendar.kwh[1:4]).all()


def test_the_figure_shows_gaps_in_grey_and_the_change():
    times = np.arange("2023-01-01", "2023-02-01", 30, dtype="datetime64[m]")
    kwh = np.full(len(times), 0.1)
    kwh[700] = 9.0
    gap = (times >= np.datetime64("2023-01-10")) & (times < np.datetime64("2023-01-12"))
    calendar = demand_calendar(times[~gap], kwh[~gap], 30)
    figure = draw_calendar(calendar, change=date(2023, 1, 20), title="H $1$")
    axes, bar = figure.axes
    (image,) = axes.images
    assert image.get_array().mask.sum() == 96
    assert image.get_clim() == (0.0, pytest.approx(0.101, abs=0.002))
    assert image.get_extent() == [*axes.get_xlim(), 24.0, 0.0]
    (line,) = axes.lines
    assert line.get_xdata()[0] == (date(2023, 1, 20) - date(1970, 1, 1)).days
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "no reading",
        "change on 2023-01-20",
    ]
    assert bar.get_ylabel() == "kWh per 30 minutes"
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3]
    grey = tuple(int(GAP[place : place + 2], 16) for place in (1, 3, 5))
    assert (pixels == grey).all(axis=-1).sum() > 1000


def test_no_readings_are_refused():
    with pytest.raises(InputError, match="no readings"):
        demand_calendar(np.array([], "datetime64[m]"), np.array([]), 30)
