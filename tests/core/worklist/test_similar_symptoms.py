from dataclasses import replace

import numpy as np
import pytest

from core.anomalies.faults import plant
from core.errors import InputError
from core.worklist import more_like
from core.worklist.similar_symptoms import similarity_to


def with_faults(weeks, kind, rows):
    kwh = weeks.kwh.copy()
    for row in rows:
        kwh[row] = plant(kwh[row], kind, "strong", "whole", np.random.default_rng(row)).kwh
    return replace(weeks, kwh=kwh)


@pytest.mark.parametrize("kind", ["dead", "stuck", "charging"])
def test_others_with_the_same_fault_come_first(judged, kind):
    rows = [5, 15, 25, 35, 45]
    weeks = with_faults(judged.weeks, kind, rows)
    names = [weeks.households[row] for row in rows]
    found = more_like(weeks, names[:2])
    assert set(found.table["household"].head(5)) >= set(names[2:])
    assert found.in_common
    assert not set(names[:2]) & set(found.table["household"])
    assert len(found.table) == len(weeks.households) - 2
    assert found.table["similarity"].is_monotonic_decreasing


def test_similarity_is_the_cosine():
    rng = np.random.default_rng(1)
    described = rng.gamma(1, 3, (20, 6))
    center = described[[2, 5]].mean(axis=0)
    expected = described @ center / np.linalg.norm(described, axis=1) / np.linalg.norm(center)
    np.testing.assert_allclose(similarity_to(described, np.array([2, 5])), expected)


def test_ordinary_homes_are_not_similar_for_being_ordinary():
    described = np.array([[3.0, 0.0], [0.01, 0.0], [2.0, 0.5]])
    similarity = similarity_to(described, np.array([0]))
    assert similarity[1] < 0.02 < 0.9 < similarity[2]


def test_homes_with_nothing_in_common_are_said(judged):
    ordinary = judged.anomalies.table["household"].tail(2).tolist()
    found = more_like(judged.weeks, ordinary)
    assert "nothing unusual in common" in found.notices[0]


def test_bad_flags(judged):
    with pytest.raises(InputError, match="no household is flagged"):
        more_like(judged.weeks, [])
    with pytest.raises(InputError, match="'nobody' is not among"):
        more_like(judged.weeks, ["nobody"])
