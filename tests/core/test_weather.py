"""Tables of outdoor temperatures."""

from datetime import date

import numpy as np
import pandas as pd
import pytest

from core.errors import InputError
from core.weather import read_weather


def write(path, frame):
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def hourly():
    time = pd.date_range("2013-01-01", periods=72, freq="h")
    return pd.DataFrame({"time": time, "temperature": np.arange(72.0)})


def test_temperatures_are_means_of_days(hourly, tmp_path):
    weather = read_weather(write(tmp_path / "w.csv.gz", hourly))
    np.testing.assert_array_equal(weather.on(weather.days), [11.5, 35.5, 59.5])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="temperature"), "must have one column of temperatures"),
        (lambda f: f.rename(columns={"time": "when"}), "must have one column of times"),
        (lambda f: f[(f.index < 24) | (f.index >= 48)], "no temperature on 2013-01-02"),
        (lambda f: f.assign(temperature="warm"), "holds other things"),
        (lambda f: f.assign(temperature=[*f.temperature[:-1], 9999]), "9999, which is no outdoor"),
        (lambda f: f.assign(time=f.time.dt.strftime("%d/%m/%Y")), "times such as 2013-01-31"),
        (lambda f: f.iloc[:0], "has no temperatures"),
    ],
)
def test_bad_tables_are_explained(hourly, tmp_path, change, message):
    with pytest.raises(InputError, match=message):
        read_weather(write(tmp_path / "w.csv", change(hourly)))


def test_weather_must_cover_the_readings(hourly, tmp_path):
    weather = read_weather(write(tmp_path / "w.csv", hourly))
    weather.check(date(2013, 1, 1), date(2013, 1, 3))
    with pytest.raises(InputError, match="run from 2013-01-01 to 2013-01-03"):
        weather.check(date(2013, 1, 1), date(2013, 1, 4))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_weather(tmp_path / "absent.csv")
