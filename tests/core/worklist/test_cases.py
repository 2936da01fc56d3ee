import numpy as np
import pytest
from scipy.stats import norm

from core.errors import InputError
from core.worklist import Worklist, case_table, precision_by_detector


@pytest.fixture(scope="module")
def worklist(judged):
    """The five most unusual, four of them looked at."""
    worklist = Worklist()
    names = judged.anomalies.table["household"].head(5)
    for household, verdict in zip(names, ("fault", "fine", "open", "EV", "own words"), strict=True):
        worklist = worklist.flag(household, verdict, note=f"note on {household}", by="Ann")
    return worklist


def test_cases_carry_everything_of_the_anomalies(judged, worklist):
    table = case_table(worklist, judged.anomalies, price=0.25)
    assert set(judged.anomalies.table.columns) <= set(table.columns)
    assert table["rank"].tolist() == [1, 2, 3, 4, 5]
    expected = table["kwh_per_week"] * 0.25 * 365.25 / 7
    np.testing.assert_allclose(table["money_per_year"], expected, rtol=1e-3)
    assert table["history"][0].endswith(f"Ann: fault (note on {table['household'][0]})")


def test_without_anomalies_it_is_the_list_alone(worklist):
    assert list(case_table(worklist).columns)[:3] == ["household", "verdict", "note"]
    assert case_table(Worklist()).empty


@pytest.mark.parametrize("price", [0.0, -1.0, float("inf"), float("nan")])
def test_prices_that_are_none(judged, worklist, price):
    with pytest.raises(InputError, match="a price is a number above 0"):
        case_table(worklist, judged.anomalies, price=price)


def test_precision_so_far_by_detector(judged, worklist):
    cases = case_table(worklist, judged.anomalies)
    found = precision_by_detector(cases).set_index("detector")
    assert found.loc["all", "looked"] == 4
    assert found.loc["all", "hits"] == 3
    z, n, p = norm.ppf(0.975), 4, 0.75
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    assert found.loc["all", "low"] == pytest.approx(middle - reach)
    assert found.loc["all", "high"] == pytest.approx(middle + reach)
    assert found["looked"].drop("all").sum() == 4


def test_nobody_has_looked(judged):
    cases = case_table(Worklist().flag(judged.weeks.households[0]), judged.anomalies)
    [row] = precision_by_detector(cases).to_dict("records")
    assert (row["detector"], row["looked"], row["low"], row["high"]) == ("all", 0, 0, 1)
