import numpy as np
import pandas as pd
import pytest

from core.errors import InputError
from core.groups import compare_groups, household_demand, read_moments
from core.groups.attributes import compare_attributes
from core.runs import RunConfig


@pytest.fixture(scope="module")
def demand(town):
    return household_demand(town.dataset, RunConfig())


@pytest.fixture(scope="module")
def comparison(town, demand):
    return compare_groups(demand, town.evening, town.others, permutations=199)


def mean_kwh(town, households, condition=lambda readings: readings):
    """Mean of the households' means, from the readings themselves."""
    return np.mean([condition(town.dataset.readings(each))["kwh"].mean() for each in households])


def test_a_planted_difference_is_found(comparison):
    assert comparison.p == 1 / 200
    assert comparison.distance > 1.1 * comparison.expected_distance


def test_the_hours_that_differ_are_those_planted(comparison):
    clear = comparison.hours[comparison.hours["p"] <= 0.05]
    expected = {
        f"{kind}{h}:00-{h + 1}:00" for kind in ("weekdays", "weekend") for h in range(17, 22)
    }
    assert set(clear["slots"]) == expected
    assert clear["difference"].to_numpy() == pytest.approx(0.5, abs=0.1)


def test_kwh_a_day_is_that_of_the_readings(town, comparison):
    day = comparison.kwh_per_day
    assert day.first.mean == pytest.approx(48 * mean_kwh(town, town.evening))
    assert day.second.mean == pytest.approx(48 * mean_kwh(town, town.others))
    assert day.low < day.difference < day.high
    assert day.p < 0.05


def test_week_and_distribution(town, comparison):
    assert comparison.week[0].mean.shape == (336,)
    assert (comparison.week[0].low <= comparison.week[0].high).all()
    monday_six = mean_kwh(
        town,
        town.evening,
        lambda r: r[(r["time"].dt.day_of_week == 0) & (r["time"].dt.strftime("%H:%M") == "18:00")],
    )
    assert comparison.week[0].mean[36] == pytest.approx(monday_six)
    np.testing.assert_allclose(comparison.shares.sum(axis=1), 1)


def test_slots_restrict_all_of_it(town):
    night = household_demand(town.dataset, RunConfig(slots="all0:00-6:00"))
    comparison = compare_groups(night, town.evening, town.others, permutations=199)
    assert comparison.p > 0.05
    assert len(comparison.hours) == 12
    expected = mean_kwh(town, town.others, lambda r: r[r["time"].dt.hour < 6])
    assert comparison.kwh_per_day.second.mean == pytest.approx(12 * expected)


def test_a_period_restricts_all_of_it(town):
    week = household_demand(town.dataset, RunConfig(first_day="2024-01-08", last_day="2024-01-14"))
    found = compare_groups(week, town.evening, town.others, permutations=19)
    expected = mean_kwh(
        town, town.others, lambda r: r[r["time"].between("2024-01-08", "2024-01-14 23:59")]
    )
    assert found.kwh_per_day.second.mean == pytest.approx(48 * expected)


def test_moments_restrict_it_to_times_and_measure_each_home_by_itself(town, tmp_path):
    times = pd.date_range("2024-01-01", periods=28 * 48, freq="30min")
    high = (times.day % 5 == 0) & (times.hour >= 17)
    prices = pd.DataFrame({"time": times, "price": np.where(high, "High", "Normal")})
    prices.to_csv(tmp_path / "prices.csv", index=False)
    moments = read_moments(f"{tmp_path / 'prices.csv'}=High")
    assert (moments.times == times[high].to_numpy()).all()
    demand = household_demand(town.dataset, RunConfig(), moments=moments)
    own = town.dataset.readings("H03").assign(high=high)
    own["slot"] = (
        own["time"].dt.day_of_week * 48 + own["time"].dt.hour * 2 + own["time"].dt.minute // 30
    )
    usual = own[~own["high"]].groupby("slot")["kwh"].mean()
    there = own[own["high"] & own["slot"].isin(usual.index)]
    expected = there["kwh"].sum() / usual[there["slot"]].sum()
    assert demand.relative[3] == pytest.approx(expected)
    found = compare_groups(demand, town.evening, town.others, permutations=199)
    assert found.relative.p > 0.05  # nobody answers to the price
    assert found.relative.first.mean == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prices.csv", "as FILE=VALUE"),
        ("none.csv=High", "cannot be read as a table of times"),
        ("one.csv=High", "has 1 columns"),
        ("bad.csv=High", "row 3: 'soon' is no time"),
        ("good.csv=Low", "no row with 'Low'; it has 'High'"),
    ],
)
def test_bad_moments(tmp_path, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.csv").write_text("time\n2024-01-01\n")
    (tmp_path / "bad.csv").write_text("time,price\n2024-01-01 00:00,High\nsoon,High\n")
    (tmp_path / "good.csv").write_text("time,price\n2024-01-01 00:00,High\n")
    with pytest.raises(InputError, match=message):
        read_moments(text)


def test_groups_that_share_a_household(town, demand):
    with pytest.raises(InputError, match="share 1 households, such as H07"):
        compare_groups(demand, town.evening, (*town.others, "H07"))


def test_a_group_that_is_too_small(town, demand):
    with pytest.raises(InputError, match="'group' has 1 households with enough readings"):
        compare_groups(demand, town.evening[:1], town.others)


def test_half_hours_are_no_members(town):
    with pytest.raises(InputError, match="choose unit profiles"):
        household_demand(town.dataset, RunConfig(unit="household-slots"))


def test_attributes_are_tested_as_scipy_does():
    from scipy.stats import fisher_exact, mannwhitneyu

    rng = np.random.default_rng(1)
    first = pd.DataFrame({"gas": ["yes"] * 9 + ["no"], "rooms": rng.normal(5, 1, 10)})
    second = pd.DataFrame({"gas": ["yes"] * 4 + ["no"] * 16, "rooms": rng.normal(4, 1, 20)})
    first["id"], second["id"] = [f"a{i}" for i in range(10)], [f"b{i}" for i in range(20)]
    wide = [frame.loc[frame.index.repeat(3)].reset_index() for frame in (first, second)]
    for frame in wide:
        frame["id"] = frame["id"] + frame.index.astype(str)
    table, notices = compare_attributes(first, second)
    rows = table.set_index(["attribute", "value"])
    assert rows.loc[("gas", "yes"), "p"] == pytest.approx(fisher_exact([[9, 4], [1, 16]]).pvalue)
    assert rows.loc[("gas", "yes"), "first"] == 0.9
    expected = mannwhitneyu(first["rooms"], second["rooms"]).pvalue
    assert rows.loc[("rooms", "median"), "p"] == pytest.approx(expected)
    assert not notices
    _, notices = compare_attributes(*wide)
    assert "'id' has 90 different values" in notices[0]
