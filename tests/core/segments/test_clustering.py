import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from core.errors import InputError
from core.segments.clustering import _matched, cluster_weeks
from core.segments.week_points import WeekPoints

PARTS, CLASSES, WEEKS = 6, 5, 12


def kinds_of_weeks(sizes, *, spread=200.0, seed=1, mixed=0):
    """Weeks of clear kinds of households, and of some that are half one kind, half another."""
    rng = np.random.default_rng(seed)
    kinds = rng.dirichlet(np.full(CLASSES, 0.7), size=(len(sizes), PARTS))
    truth = np.concatenate([np.repeat(np.arange(len(sizes)), sizes), np.full(mixed, -1)])
    means = [kinds[kind] if kind >= 0 else kinds[:2].mean(axis=0) for kind in truth]
    shares = np.stack(
        [
            [[rng.dirichlet(spread * part + 0.01) for part in mean] for _ in range(WEEKS)]
            for mean in means
        ]
    )
    names = tuple(f"h{row}" for row in range(len(truth)))
    return WeekPoints(names, shares, np.ones(shares.shape[:2], bool), ()), truth


def test_the_number_of_kinds_is_found_and_who_they_are():
    points, truth = kinds_of_weeks([40, 25, 20, 15])
    found = cluster_weeks(points)
    assert found.found == 4
    assert adjusted_rand_score(truth, found.label) == 1
    assert np.bincount(found.label).tolist() == [40, 25, 20, 15]
    assert found.agreement[4] == 1


def test_a_few_homes_between_kinds_are_in_none():
    points, truth = kinds_of_weeks([40, 40], mixed=3)
    found = cluster_weeks(points)
    assert (found.stays[truth >= 0] > 0.95).all()
    assert (found.label[truth < 0] == -1).all()
    assert (found.label[truth >= 0] >= 0).all()


def test_other_seeds_find_the_same():
    points, _ = kinds_of_weeks([30, 30, 30], spread=20.0)
    labels = [cluster_weeks(points, seed=seed).label for seed in (1, 2, 3)]
    assert (
        adjusted_rand_score(labels[0], labels[1]) == adjusted_rand_score(labels[0], labels[2]) == 1
    )


def test_detail_asks_for_more_or_fewer():
    points, _ = kinds_of_weeks([40, 25, 20, 15])
    assert cluster_weeks(points, detail=-2).label.max() == 1
    assert cluster_weeks(points, detail=-10).label.max() == 1
    assert cluster_weeks(points, detail=-2).found == 4


def test_parts_are_those_that_the_weeks_agree_on():
    points, truth = kinds_of_weeks([40, 25, 20, 15])
    whole = cluster_weeks(points)
    assert (whole.part == whole.label).all()
    coarse = cluster_weeks(points, detail=-2)
    assert adjusted_rand_score(truth, coarse.part) == 1
    assert adjusted_rand_score(truth, coarse.label) < 1


def test_a_household_with_weeks_in_one_half_only_has_a_segment():
    points, _ = kinds_of_weeks([30, 30])
    points.known[0, 1:] = False
    assert cluster_weeks(points).label[0] == 0


def test_too_few_households():
    points, _ = kinds_of_weeks([5, 5])
    with pytest.raises(InputError, match="10 households with enough weeks are too few"):
        cluster_weeks(points)


def test_clusters_are_matched_whatever_they_are_called():
    label = np.array([0, 0, 1, 1, 2, 2])
    other = np.array([2, 2, 0, 0, 1, -1])
    assert _matched(label, other).tolist() == [0, 0, 1, 1, 2, -1]
