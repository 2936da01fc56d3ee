from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.periods import WHOLE_RECORD, Period

dates = st.dates(date(1960, 1, 1), date(2060, 12, 31))
months = st.lists(st.integers(1, 12), max_size=12)


@given(ends=st.tuples(dates, dates).map(sorted), months=months, first=dates)
def test_the_days_that_count_are_those_a_calendar_names(ends, months, first):
    period = Period(*ends, tuple(months))
    days = [first + timedelta(days=step) for step in range(0, 900, 7)]
    expected = [ends[0] <= day <= ends[1] and (not months or day.month in months) for day in days]
    held = period.holds(np.array(days, dtype="datetime64[D]"))
    assert held.tolist() == expected
    since_1970 = np.array([(day - date(1970, 1, 1)).days for day in days])
    assert period.holds(since_1970).tolist() == expected


@given(ends=st.tuples(dates, dates).map(sorted), months=months)
def test_a_period_is_read_back_from_json(ends, months):
    period = Period(*ends, tuple(months))
    assert Period.parse(**period.to_json()) == period


def test_times_of_day_belong_to_their_day():
    times = np.array(["2013-02-28T23:30", "2013-03-01T00:00"], dtype="datetime64[us]")
    assert Period.parse(last="2013-02-28").holds(times).tolist() == [True, False]


def test_both_ends_are_included_and_months_stand_for_their_ends():
    winter = Period.parse("2011-12", "2012-02")
    assert (winter.first, winter.last) == (date(2011, 12, 1), date(2012, 2, 29))
    assert Period.parse_range("2011-12-01..2012-02-29") == winter
    assert Period.parse_range("2011-12-01..") == Period(first=date(2011, 12, 1))
    assert Period.parse_range("..2011-12") == Period(last=date(2011, 12, 31))
    assert winter.holds(np.array(["2012-02-29"], dtype="datetime64[D]")).all()


def test_all_months_are_the_same_as_none_named():
    assert Period(months=tuple(range(1, 13))) == WHOLE_RECORD
    assert Period(months=tuple(range(1, 13))).is_whole
    assert Period.parse(months="12, 1,2,2").months == (1, 2, 12)


@pytest.mark.parametrize(
    ("period", "words"),
    [
        (Period(), "whole record"),
        (Period.parse("2012-12-01", "2013-02-28"), "1 Dec 2012 – 28 Feb 2013"),
        (Period.parse("2012-12-01"), "since 1 Dec 2012"),
        (Period.parse(None, "2013-02-28"), "until 28 Feb 2013"),
        (Period.parse(months="1,2,12"), "Dec, Jan, Feb only"),
        (Period.parse("2012-12-01", months="6"), "since 1 Dec 2012, Jun only"),
    ],
)
def test_a_period_in_words(period, words):
    assert str(period) == words


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda: Period.parse("2013-03-01", "2013-02-28"), "the period is empty"),
        (lambda: Period.parse("yesterday"), "'yesterday' is no date"),
        (lambda: Period.parse("2013-02-30"), "'2013-02-30' is no date"),
        (lambda: Period.parse("2013-13"), "'2013-13' is no date"),
        (lambda: Period.parse("20130101"), "is no date"),
        (lambda: Period.parse(months="winter"), "cannot read 'winter' as months"),
        (lambda: Period.parse(months="0"), "numbers from 1 to 12"),
        (lambda: Period.parse(months=[13]), "numbers from 1 to 12"),
        (lambda: Period.parse_range("2013"), "first and last day as"),
        (lambda: Period.parse_range(".."), "first and last day as"),
    ],
)
def test_what_cannot_be_read_is_refused(read, message):
    with pytest.raises(InputError, match=message):
        read()


@pytest.mark.parametrize(
    ("period", "message"),
    [
        (Period.parse(last="2012-12-31"), "ends on 2012-12-31, before the first reading"),
        (Period.parse("2013-07-01"), "begins on 2013-07-01, after the last reading"),
        (Period.parse(months="7,8"), "no day of the period Jul, Aug only has readings"),
    ],
)
def test_a_period_without_readings_is_refused(period, message):
    with pytest.raises(InputError, match=message):
        period.check(date(2013, 1, 1), date(2013, 6, 30))
