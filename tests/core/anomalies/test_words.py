import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.anomalies.day_blocks import best_block, in_block
from core.anomalies.words import (
    clock_words,
    date_words,
    hours_words,
    number_words,
    ratio_words,
    slots_text,
)
from core.slots import parse_slots


@given(arrays(bool, (7, 48), elements=st.booleans()))
def test_slots_read_back(mask):
    mask[0, 0] = True
    text = slots_text(mask.reshape(-1))
    np.testing.assert_array_equal(parse_slots(text, 30), np.flatnonzero(mask))


def test_slots_in_short():
    night = np.tile(np.arange(48) < 8, 7)
    assert slots_text(night) == "all00:00-04:00"
    assert slots_text(np.ones(336, bool)) == "all"
    assert slots_text(np.arange(336) >= 240) == "weekend"


def test_times_and_dates():
    assert clock_words(34, 44) == "17:00–22:00"
    assert clock_words(42, 48) == "21:00–24:00"
    assert clock_words(44, 52) == "22:00–02:00"
    assert hours_words(0, 8) == "every night 00:00–04:00"
    assert hours_words(20, 32) == "every day 10:00–16:00"
    assert hours_words(41, 11) == "every night 20:30–05:30"
    assert date_words(np.datetime64("2009-05-03")) == "3 May"
    assert date_words(np.datetime64("2009-05-03"), year=True) == "3 May 2009"


def test_sizes():
    assert [number_words(x) for x in (31.4, 0.92, 0.04)] == ["31", "0.9", "0.04"]
    assert ratio_words(0.38) == "62 % less than"
    assert ratio_words(1.5) == "50 % more than"
    assert ratio_words(3.12) == "3.1 times as much as"


@given(st.integers(0, 47), st.integers(4, 20))
def test_best_block_finds_a_block(start, length):
    gap = in_block(start, start + length).astype(float)
    assert best_block(gap) == (start, start + length)
