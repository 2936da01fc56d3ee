import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.slots import check_slots, parse_slots, slot_label, slot_labels, slot_of, slots_per_week

INTERVALS = (5, 10, 15, 30, 60)


def labels(text: str, interval: int = 30) -> list[str]:
    return slot_labels(parse_slots(text, interval), interval)


@pytest.mark.parametrize(("interval", "count"), [(15, 672), (30, 336), (60, 168)])
def test_slots_per_week(interval, count):
    assert slots_per_week(interval) == count


@pytest.mark.parametrize("interval", [0, -30, 7, 50, 2880])
def test_an_interval_that_does_not_divide_the_day_is_refused(interval):
    with pytest.raises(InputError, match="does not divide the day"):
        slots_per_week(interval)


def test_labels_name_the_day_and_both_ends():
    assert slot_label(0, 30) == "Mon 00:00–00:30"
    assert slot_label(36, 30) == "Mon 18:00–18:30"  # the paper's tow 37
    assert slot_label(335, 30) == "Sun 23:30–24:00"
    assert slot_label(671, 15) == "Sun 23:45–24:00"
    assert slot_label(24, 60) == "Tue 00:00–01:00"


@pytest.mark.parametrize("slot", [-1, 336])
def test_a_slot_outside_the_week_has_no_label(slot):
    with pytest.raises(InputError, match="336 slots"):
        slot_label(slot, 30)


@given(
    seconds=st.integers(-4_000_000_000, 4_000_000_000),
    interval=st.sampled_from(INTERVALS),
)
def test_slot_of_agrees_with_the_calendar(seconds, interval):
    stamp = pd.Timestamp(seconds, unit="s")
    expected = (stamp.weekday() * 1440 + stamp.hour * 60 + stamp.minute) // interval
    assert slot_of(np.array([stamp.to_datetime64()]), interval).tolist() == [expected]


@given(interval=st.sampled_from(INTERVALS), data=st.data())
def test_a_label_reads_back_as_its_slot(interval, data):
    slot = data.draw(st.integers(0, slots_per_week(interval) - 1))
    assert parse_slots(slot_label(slot, interval), interval).tolist() == [slot]


@pytest.mark.parametrize("interval", INTERVALS)
def test_weekdays_and_weekend_share_out_the_week(interval):
    day = slots_per_week(interval) // 7
    assert parse_slots("weekdays", interval).tolist() == list(range(5 * day))
    assert parse_slots("weekend", interval).tolist() == list(range(5 * day, 7 * day))
    assert parse_slots("weekdays,weekend", interval).tolist() == list(range(7 * day))
    assert parse_slots("all", interval).tolist() == list(range(7 * day))


@pytest.mark.parametrize("interval", INTERVALS)
def test_evenings_run_from_five_to_midnight_every_day(interval):
    slots = parse_slots("evenings", interval)
    starts = slots * interval % 1440
    assert len(slots) == 7 * 7 * 60 // interval
    assert starts.min() == 17 * 60
    assert starts.max() == 1440 - interval


def test_evenings_of_wide_slots_hold_only_whole_slots():
    assert labels("evenings", 180)[:2] == ["Mon 18:00–21:00", "Mon 21:00–24:00"]


def test_days_with_times():
    assert labels("Mon18:00-19:00,Tue") == labels("mon 18-19") + labels("Tue")
    assert labels("Mon18:00-19:00") == ["Mon 18:00–18:30", "Mon 18:30–19:00"]
    assert len(labels("weekdays 7:00-9:00")) == 5 * 4
    assert labels("18:00-18:30") == [
        f"{day} 18:00–18:30" for day in ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    ]
    assert labels("Mon-Wed 00:00-0:30") == ["Mon 00:00–00:30", "Tue 00:00–00:30", "Wed 00:00–00:30"]
    assert labels("Sun-Mon 0-0:30") == ["Mon 00:00–00:30", "Sun 00:00–00:30"]


def test_a_time_may_cross_midnight_and_the_week():
    assert labels("Sun23:30-00:30") == ["Mon 00:00–00:30", "Sun 23:30–24:00"]


def test_overlapping_parts_count_once():
    assert parse_slots("Mon,weekdays,Mon18:00-20:00", 30).tolist() == list(range(240))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "such as weekdays"),
        ("Mon,", "such as weekdays"),
        ("Mon18:00", "such as weekdays"),
        ("Monday", "Mon, Tue"),
        ("weekdays-Sat", "a range such as"),
        ("Mon18:10-20:00", "use 18:00 or 18:30"),
        ("Mon18:00-25:00", "no time of day"),
        ("Mon18:75-20:00", "no time of day"),
        ("Mon18:00-18:00", "holds no slot"),
        ("Mon24:00-02:00", "holds no slot"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_way_out(text, message):
    with pytest.raises(InputError, match=message):
        parse_slots(text, 30)


def test_check_slots_sorts_and_checks():
    assert check_slots(None, 60).tolist() == list(range(168))
    assert check_slots([5, 3, 5], 60).tolist() == [3, 5]
    for wrong in ([], [168], [-1], [1.5]):
        with pytest.raises(InputError):
            check_slots(wrong, 60)
