"""Consensus, against counting by hand and SciPy's ranks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from core.errors import InputError
from core.study import find_consensus


@pytest.fixture
def ranks():
    rng = np.random.default_rng(1)
    return [rng.permutation(30) + 1 for _ in range(7)]


def test_counts_are_those_of_a_loop(ranks):
    found = find_consensus(ranks, n_top=5)
    for point in range(30):
        own = [int(rank[point]) for rank in ranks]
        assert found.count[point] == sum(place <= 5 for place in own)
        assert found.median_rank[point] == np.median(own)
        assert (found.best_rank[point], found.worst_rank[point]) == (min(own), max(own))
    assert found.count.sum() == 7 * 5
    assert (found.runs, found.rankings, found.n_top) == (7, 7, 5)


def test_groups_add_up(ranks):
    found = find_consensus(ranks, n_top=5, by=["a", "b", "a", "c", "c", "a", "b"])
    assert dict(found.sizes) == {"a": 3, "b": 2, "c": 2}
    np.testing.assert_array_equal(sum(found.by.values()), found.count)
    np.testing.assert_array_equal(
        found.by["a"], find_consensus([ranks[0], ranks[2], ranks[5]], n_top=5).count
    )


def test_those_that_most_agree_on_come_first():
    first, second = np.array([1, 2, 3, 4]), np.array([2, 1, 4, 3])
    third = np.array([1, 3, 2, 4])
    found = find_consensus([first, second, third], n_top=2)
    # Point 0 is always in; 1 twice, 2 once, 3 never.
    assert found.points.tolist() == [0, 1, 2]
    assert found.agreed.tolist() == [0]
    table = found.table(["w", "x", "y", "z"])
    assert table["label"].tolist() == ["w", "x", "y"]
    assert table["row"].tolist() == [0, 1, 2]
    assert table["runs"].tolist() == [3, 2, 1]
    np.testing.assert_allclose(table["share"], [1, 2 / 3, 1 / 3])
    assert table["median rank"].tolist() == [1, 2, 3]
    assert table["best"].tolist() == [1, 1, 2]
    assert table["worst"].tolist() == [2, 3, 4]
    assert "all" not in table


def test_the_table_tells_groups_apart():
    found = find_consensus([[1, 2, 3], [3, 2, 1]], n_top=1, by=["isomap", "lle"])
    table = found.table(["x", "y", "z"]).set_index("label")
    assert table.loc["x", ["isomap", "lle"]].tolist() == [1, 0]
    assert table.loc["z", ["isomap", "lle"]].tolist() == [0, 1]
    assert "y" not in table.index


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.integers(0, 4), min_size=6, max_size=6), min_size=1, max_size=5),
    st.integers(0, 8),
    st.sampled_from(["min", "average", "max", "dense"]),
)
def test_ties_are_in_or_out_together_however_they_are_numbered(scores, n_top, numbered):
    ranks = [rankdata(run, method=numbered) for run in scores]
    found = find_consensus(ranks, n_top=n_top)
    expected = sum(rankdata(run, method="min") <= n_top for run in scores)
    np.testing.assert_array_equal(found.count, expected)


def test_criteria_of_different_scales_can_be_mixed():
    density = np.array([1, 2, 3, 4])
    surprise = np.array([400.0, 10.0, 20.0, 30.0])
    found = find_consensus([density, surprise], n_top=2, by=["density", "surprise"])
    assert found.by["surprise"].tolist() == [0, 1, 1, 0]
    assert found.count.tolist() == [1, 2, 1, 0]


def test_runs_with_the_same_order_are_one_ranking():
    found = find_consensus([[1, 2, 3], [1, 2, 3], [10, 20, 30], [2, 1, 3]], n_top=1)
    assert (found.runs, found.rankings) == (4, 2)
    assert found.count.tolist() == [3, 1, 0]


def test_the_top_of_few_points_is_all_of_them():
    assert find_consensus([[2, 1]], n_top=10).count.tolist() == [1, 1]


def test_nothing_is_the_top_of_none():
    found = find_consensus([[2, 1]], n_top=0)
    assert found.points.tolist() == []
    assert len(found.table(["x", "y"])) == 0


@pytest.mark.parametrize(
    ("ranks", "options", "message"),
    [
        ([], {}, "no runs"),
        ([[1, 2], [1, 2, 3]], {}, "runs of 2 and 3 points"),
        ([[1, np.nan]], {}, "NaN"),
        ([[1, 2]], {"n_top": -1}, "got -1"),
        ([[1, 2]], {"by": ["a", "b"]}, "got 2 for 1 runs"),
    ],
)
def test_what_cannot_be_counted_is_said(ranks, options, message):
    with pytest.raises(InputError, match=message):
        find_consensus(ranks, **options)
