import json

import numpy as np
import pytest
from small_dataset import random_readings, write_dataset

from core.cli import main
from core.errors import InputError
from core.export.figure_views import calendar_figure, week_figure
from core.periods import Period
from core.runs import RunConfig, Store, run
from core.runs.readings_behind import readings_behind
from core.runs.reproduce import command_line

PERIOD = {"first_day": "2024-01-10", "last_day": "2024-02-06"}


@pytest.fixture(scope="module")
def readings():
    return random_readings(households=8, days=70)


@pytest.fixture(scope="module")
def dataset(readings, tmp_path_factory):
    return write_dataset(tmp_path_factory.mktemp("periods") / "d", readings)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("store"))


def test_a_run_of_a_period_counts_its_days_alone(readings, dataset, store):
    config = RunConfig(unit="households", k=3, **PERIOD)
    result = run(dataset, config, store=store)
    inside = readings[config.period.holds(readings["time"].to_numpy())]
    by_household = inside.groupby("household")["kwh"]
    assert result.units["m"].tolist() == by_household.size().tolist() == [28 * 48] * 8
    np.testing.assert_allclose(result.units["mean_kwh"], by_household.mean())
    np.testing.assert_array_equal(
        np.sort(readings_behind(result, dataset, 2)),
        np.sort(inside.loc[inside["household"] == "H02", "kwh"]),
    )
    whole = run(dataset, config.change(first_day=None, last_day=None), store=store)
    np.testing.assert_array_equal(whole.edges, result.edges)
    assert whole.units["m"].tolist() == [70 * 48] * 8
    assert not np.array_equal(whole.y, result.y)
    assert result.to_json()["period"] == "10 Jan 2024 – 6 Feb 2024"
    again = run(dataset, config, store=store)
    np.testing.assert_array_equal(again.y, result.y)
    assert set(again.cached) >= {"neighbors", "embedding", "density"}


def test_figures_say_the_period(dataset, store):
    result = run(dataset, RunConfig(unit="households", k=3, **PERIOD), store=store)
    (axes,) = week_figure(result, dataset, [2]).axes
    assert axes.get_title() == "H02, 10 Jan 2024 – 6 Feb 2024"
    calendar = calendar_figure(result, dataset, 2)
    assert calendar.axes[0].images[0].get_array().shape == (48, 70)


def test_dates_and_months_have_one_form():
    config = RunConfig(first_day="2024-02", last_day="2024-02", months="3, 2")
    assert (config.first_day, config.last_day, config.months) == ("2024-02-01", "2024-02-29", "2,3")
    assert config.period == Period.parse("2024-02-01", "2024-02-29", "2,3")
    assert RunConfig.from_token(config.to_token()) == config
    assert RunConfig(months="1,2,3,4,5,6,7,8,9,10,11,12") == RunConfig()
    words = command_line(config, "d")
    assert words == "wattfold embed d --from 2024-02-01 --to 2024-02-29 --months 2,3"
    with pytest.raises(InputError, match="the period is empty"):
        RunConfig(first_day="2024-02-02", last_day="2024-02-01")


def test_the_command_takes_a_period(dataset, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("WATTFOLD_CACHE", str(tmp_path))
    arguments = ["embed", str(dataset.path), "--unit", "households", "--k", "3", "--json"]
    assert main([*arguments, "--from", "2024-01-10", "--to", "2024-02-06"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["period"] == "10 Jan 2024 – 6 Feb 2024"
    assert result["config"]["first_day"] == "2024-01-10"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--from", "2024-03-01", "--to", "2024-02-01"], "the period is empty"),
        (["--to", "2023-12-31"], "before the first reading; the readings run from 2024-01-03"),
        (["--from", "2025-01-01"], "after the last reading"),
        (["--months", "7"], "no day of the period Jul only has readings"),
        (["--from", "soon"], "'soon' is no date"),
    ],
)
def test_a_wrong_period_is_one_clear_line(dataset, capsys, monkeypatch, tmp_path, flags, message):
    monkeypatch.setenv("WATTFOLD_CACHE", str(tmp_path / "cache"))
    assert main(["embed", str(dataset.path), *flags]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
