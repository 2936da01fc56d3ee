import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.segments.naming import name_segments


def weeks(level, **hours):
    """Thirty households: a level, and what is added in some hours of the day."""
    rng = np.random.default_rng(round(100 * level))
    week = np.full((30, 7, 24), level) * rng.lognormal(0, 0.1, (30, 7, 24))
    for start, kwh in hours.values():
        week[:, :, start : start + 4] += kwh
    return week


def test_names_say_what_sets_segments_apart():
    week = np.concatenate([weeks(0.1), weeks(0.4), weeks(0.4, evening=(18, 1.0))])
    names = name_segments(week, np.repeat([0, 1, 2], 30))
    assert names[0].startswith(("low", "very low"))
    assert "evening peak" in names[2]
    assert "evening peak" not in names[1]


def test_quiet_weekends():
    quiet = weeks(0.4)
    quiet[:, 5:] *= 0.5
    names = name_segments(np.concatenate([weeks(0.4), quiet]), np.repeat([0, 1], 30))
    assert "quiet weekends" in names[1]


@pytest.mark.parametrize("count", [2, 5])
def test_equal_segments_have_different_names(count):
    week = np.tile(weeks(0.4), (count, 1, 1))
    names = name_segments(week, np.repeat(np.arange(count), 30))
    assert len(set(names)) == count


@given(
    label=st.lists(st.integers(-1, 6), min_size=20, max_size=60),
    seed=st.integers(0, 1000),
    dead=st.booleans(),
)
def test_no_name_is_given_twice(label, seed, dead):
    label = np.unique(label, return_inverse=True)[1] - (min(label) < 0)
    if label.max() < 0:
        label = label + 1
    week = np.random.default_rng(seed).gamma(0.5, 0.3, (len(label), 7, 24))
    if dead:
        week[: len(label) // 2] = 0
    names = name_segments(week, label)
    assert len(names) == len(set(names)) == label.max() + 1
