"""What the colours say."""

import numpy as np
import pandas as pd
import pytest

from core.runs import RunConfig, run
from core.scene.coloring import MISSING, MISSING_NAME, choices, color_points, color_values
from core.scene.palette import HDR_COLORS, HDR_COLORS_SAFE


@pytest.fixture(scope="module")
def households(dataset):
    return run(dataset, RunConfig())


@pytest.fixture(scope="module")
def half_hours(dataset):
    household = dataset.households["household"].iat[0]
    return run(dataset, RunConfig(unit="slots", household=household))


def test_levels_have_the_papers_colours_or_safe_ones(households):
    for safe, palette in ((False, HDR_COLORS), (True, HDR_COLORS_SAFE)):
        coloring = color_points(households, "HDR", interval_minutes=30, safe=safe)
        found = [coloring.colors[code] for code in coloring.codes]
        assert found == [palette[level] for level in households.hdr.labels]
        assert coloring.counts.sum() == households.n


def test_levels_are_told_in_words_and_rare_points_are_light_on_dark_paper(households):
    coloring = color_points(households, "HDR", interval_minutes=30)
    assert coloring.names == (
        *("densest 1 %", "1–20 %", "20–40 %", "40–60 %", "60–80 %", "80–99 %", "rarest 1 %"),
    )
    assert coloring.palette()[-1] == "#000000"
    assert coloring.palette(dark=True)[-1] == "#ffffff"
    # Other colours are the same on both.
    tariff = color_points(households, "tariff", interval_minutes=30)
    assert tariff.palette(dark=True) == tariff.palette()


def test_only_half_hours_have_a_time(households, half_hours):
    assert "Time of day" not in choices(households)
    assert {"Time of day", "Day of week", "tariff"} <= set(choices(half_hours))
    day = color_points(half_hours, "Day of week", interval_minutes=30)
    labels = half_hours.units["label"]
    assert day.texts(np.arange(half_hours.n)) == [label[:3] for label in labels]
    time = color_points(half_hours, "Time of day", interval_minutes=30)
    assert time.texts(np.arange(half_hours.n)) == [label[4:9] for label in labels]


def test_time_of_day_is_a_circle(half_hours):
    colors = color_points(half_hours, "Time of day", interval_minutes=30).colors

    def rgb(color):
        return np.array([int(color[place : place + 2], 16) for place in (1, 3, 5)])

    steps = [np.abs(rgb(colors[step]) - rgb(colors[step - 1])).sum() for step in range(len(colors))]
    assert steps[0] <= max(steps[1:])  # from the last of the day to the first


def test_numbers_are_a_scale_that_follows_their_order(households):
    coloring = color_points(households, "Mean demand", interval_minutes=30)
    order = np.argsort(households.units["mean_kwh"].to_numpy())
    assert (np.diff(coloring.codes[order].astype(int)) >= 0).all()
    assert not coloring.names
    assert coloring.texts(order[:1]) == [f"{households.units['mean_kwh'].min():.4g}"]


def test_missing_values_are_shown_as_such():
    words = color_values("tariff", pd.Series(["flat", None, "dual", "flat"]))
    assert words.names == ("dual", "flat", MISSING_NAME)
    assert [words.colors[code] for code in words.codes][1] == MISSING
    numbers = color_values("area", pd.Series([*np.arange(20.0), np.nan]))
    assert numbers.missing == 1
    assert numbers.colors[numbers.codes[-1]] == MISSING
    assert numbers.texts(np.array([20])) == [MISSING_NAME]


def test_many_categories_share_a_colour_in_the_end():
    values = [f"kind {number}" for number in range(40) for _ in range(40 - number)]
    coloring = color_values("kind", pd.Series(values))
    assert len(coloring.colors) == len(set(coloring.colors)) == 20
    assert coloring.names[-1] == "others"
    assert coloring.counts.sum() == len(values)


def test_categories_keep_their_colours_and_can_be_hidden():
    coloring = color_values("tariff", pd.Series(["a", "b", "c", "b"]))
    np.testing.assert_array_equal(coloring.shown(["b"]), [True, False, True, False])
    assert coloring.counts_of(np.array([1, 2, 3])).tolist() == [0, 2, 1]


def test_one_value_for_all_is_no_trouble():
    assert len(set(color_values("x", pd.Series([1.0] * 5)).codes)) == 1
    everything_missing = color_values("x", pd.Series([None, None], dtype="float64"))
    assert everything_missing.names == (MISSING_NAME,)
