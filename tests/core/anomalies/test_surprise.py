"""Surprise: points that their neighbours do not explain, and when they differ."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear
from scipy.spatial.distance import cdist

from core.anomalies import Surprise, explain, measure_surprise
from core.anomalies.surprise import _by_chance, _nearest_mixture, _scan
from core.errors import Cancelled, InputError
from core.neighbors import Neighbors
from core.vectors import Vectors

BLOCKS, BINS = 24, 12


def distributions(n: int, rng: np.random.Generator, *, habits: float = 0.0) -> np.ndarray:
    """Points on a curved sheet, (n, blocks, bins): a level and the hour of its peak.

    ``habits`` is how far every block of a point is off the sheet, as a share of the bins.
    """
    level, peak = rng.uniform(0.3, 0.6, n), rng.uniform(8, 16, n)
    hours, bins = np.arange(BLOCKS), np.linspace(0, 1, BINS)
    bump = np.exp(-(((hours - peak[:, None]) / 4) ** 2) / 2)
    centre = level[:, None] * (0.5 + bump) + habits * rng.normal(size=bump.shape)
    weights = np.exp(-(((bins - centre[..., None]) / 0.15) ** 2) / 2)
    return weights / weights.sum(axis=2, keepdims=True)


def sample(p: np.ndarray, sizes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Counts of samples of the given sizes, (n,)."""
    return rng.multinomial(np.repeat(sizes[:, None], p.shape[1], axis=1), p)


def make_vectors(counts: np.ndarray, distance: str = "tv") -> Vectors:
    sizes = counts.sum(axis=2)
    p = counts / sizes[..., None]
    x = (np.sqrt(p / 2) if distance == "hellinger" else p).reshape(len(p), -1)
    bare = Vectors.from_array(x.astype(np.float32), distance=distance, blocks=p.shape[1])
    return replace(bare, block_sizes=sizes, sample_size=sizes.sum(axis=1))


def exact_neighbors(vectors: Vectors, k: int) -> Neighbors:
    distances = cdist(vectors.x, vectors.x, "cityblock")
    np.fill_diagonal(distances, np.inf)
    indices = np.argsort(distances, axis=1, kind="stable")[:, :k].astype(np.int32)
    return Neighbors(indices, np.take_along_axis(distances, indices, axis=1), "exact")


@pytest.fixture
def ordinary(rng):
    """Counts of 90 ordinary points with 200 readings in every block."""
    return sample(distributions(90, rng), np.full(90, 200), rng)


@pytest.fixture
def rng():
    return np.random.default_rng(4)


def test_a_short_event_is_found_with_its_time_and_direction(ordinary):
    counts = ordinary.copy()
    event = np.array([22, 23, 0])  # over the end of the cycle
    counts[7, event] = np.roll(counts[7, event], 5, axis=1)
    vectors = make_vectors(counts)
    surprise = measure_surprise(vectors, exact_neighbors(vectors, 12))
    assert surprise.score.argmax() == 7
    assert surprise.score[7] > 2 * np.sort(surprise.score)[-2]
    assert set(event) <= set(surprise.window(7)) or set(surprise.window(7)) <= set(event)
    assert set(np.argsort(-surprise.excess[7])[:3]) == set(event)
    assert surprise.window_shift(7) > 0.2
    assert np.abs(surprise.shift[7, 5:20]).max() < 0.1


def test_a_slight_change_all_week_is_found_by_the_longest_window(ordinary):
    counts = ordinary.copy()
    # An eighth of all readings is one and the same, as of a meter that is stuck for a while.
    counts[7] = 7 * counts[7]
    counts[7, :, 3] += 200
    vectors = make_vectors(counts)
    surprise = measure_surprise(vectors, exact_neighbors(vectors, 12))
    assert surprise.score.argmax() == 7
    assert surprise.length[7] == BLOCKS


def test_a_few_of_a_kind_do_not_explain_each_other(ordinary, rng):
    counts = ordinary.copy()
    event = np.arange(4, 8)
    kind = distributions(1, rng)[0]
    kind[event] = np.roll(kind[event], 5, axis=1)
    counts[:3] = sample(np.stack([kind] * 3), np.full(3, 200), rng)
    vectors = make_vectors(counts)
    neighbors = exact_neighbors(vectors, 12)
    assert set(neighbors.indices[0, :2]) == {1, 2}
    surprise = measure_surprise(vectors, neighbors)
    assert set(np.argsort(-surprise.score)[:3]) == {0, 1, 2}


def test_points_at_the_end_of_the_sheet_are_far_away_but_no_surprise(rng):
    p = distributions(90, rng)
    # Three more levels beyond the others, at growing steps, as the largest consumers are.
    hours, bins = np.arange(BLOCKS), np.linspace(0, 1, BINS)
    for step, level in enumerate((0.68, 0.7, 0.72, 0.74)):
        centre = level * (0.5 + np.exp(-(((hours - 12) / 4) ** 2) / 2))
        weights = np.exp(-(((bins - centre[:, None]) / 0.15) ** 2) / 2)
        p[step] = weights / weights.sum(axis=1, keepdims=True)
    counts = sample(p, np.full(90, 200), rng)
    counts[50, 3:6] = np.roll(counts[50, 3:6], 5, axis=1)
    vectors = make_vectors(counts)
    neighbors = exact_neighbors(vectors, 12)
    far = np.argsort(-neighbors.distances[:, -1])
    assert set(far[:4]) == {0, 1, 2, 3}
    surprise = measure_surprise(vectors, neighbors)
    assert surprise.score.argmax() == 50
    assert surprise.score[50] > 2 * surprise.score[:4].max()


def test_small_samples_are_no_surprise(rng):
    small = np.arange(8)
    sizes = np.full(90, 400)
    sizes[small] = 40
    counts = sample(distributions(90, rng, habits=0.05), sizes, rng)
    vectors = make_vectors(counts)
    neighbors = exact_neighbors(vectors, 12)
    honest = measure_surprise(vectors, neighbors)
    unaware = measure_surprise(replace(vectors, block_sizes=np.full((90, BLOCKS), 400)), neighbors)
    assert len(set(np.argsort(-unaware.score)[:8]) & set(small)) >= 6
    assert len(set(np.argsort(-honest.score)[:8]) & set(small)) <= 2


@pytest.mark.parametrize("m", [20, 77, 231, 2000])
def test_chance_is_what_samples_differ_by(m, rng):
    q = rng.dirichlet(np.full(100, 0.5))
    samples = rng.multinomial(m, q, size=3000) / m
    simulated = np.abs(samples - q).sum(axis=1).mean() / 2
    chance = _by_chance(q[None, None], np.array([[1 / m]]))[0, 0]
    assert 0.99 * simulated < chance < 1.15 * simulated


def test_counts_probabilities_and_roots_are_the_same(ordinary):
    probabilities = make_vectors(ordinary)
    neighbors = exact_neighbors(probabilities, 12)
    expected = measure_surprise(probabilities, neighbors)
    as_counts = replace(
        Vectors.from_array(
            ordinary.reshape(90, -1).astype(np.uint8),
            distance="tv",
            blocks=BLOCKS,
            block_weights=np.full(BLOCKS, 1 / 200),
        ),
        block_sizes=probabilities.block_sizes,
    )
    for other in (as_counts, make_vectors(ordinary, "hellinger")):
        found = measure_surprise(other, neighbors)
        np.testing.assert_allclose(found.excess, expected.excess, atol=1e-5)
        np.testing.assert_allclose(found.score, expected.score, atol=1e-3)


def test_the_order_of_the_points_does_not_matter(ordinary, rng):
    order = rng.permutation(90)
    vectors, shuffled = make_vectors(ordinary), make_vectors(ordinary[order])
    expected = measure_surprise(vectors, exact_neighbors(vectors, 12))
    found = measure_surprise(shuffled, exact_neighbors(shuffled, 12))
    np.testing.assert_allclose(found.score, expected.score[order], atol=1e-4)
    np.testing.assert_allclose(found.excess, expected.excess[order], atol=1e-6)


def test_only_the_k_nearest_count(ordinary):
    vectors = make_vectors(ordinary)
    few = measure_surprise(vectors, exact_neighbors(vectors, 8))
    many = exact_neighbors(vectors, 30)
    np.testing.assert_array_equal(measure_surprise(vectors, many.nearest(8)).score, few.score)
    assert (measure_surprise(vectors, many).score != few.score).any()


def test_threads_do_not_matter_and_progress_is_told(ordinary, monkeypatch):
    vectors = make_vectors(ordinary)
    neighbors = exact_neighbors(vectors, 12)
    monkeypatch.setattr("core.anomalies.surprise.GATHER", 12 * BLOCKS * BINS * 5)  # 18 pieces
    told: list[float] = []
    alone = measure_surprise(
        vectors, neighbors, threads=1, progress=lambda fraction, message="": told.append(fraction)
    )
    assert len(told) == 18
    assert told == sorted(told)
    assert told[-1] == 1
    both = measure_surprise(vectors, neighbors, threads=2)
    np.testing.assert_array_equal(both.score, alone.score)

    def cancel(fraction: float, message: str = "") -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        measure_surprise(vectors, neighbors, threads=1, progress=cancel)


def test_one_block_a_row(rng):
    p = distributions(120, rng)[:, 12:13]
    p[7] = np.roll(p[7], 6, axis=1)
    vectors = make_vectors(sample(p, np.full(120, 500), rng), "hellinger")
    surprise = measure_surprise(vectors, exact_neighbors(vectors, 12))
    assert surprise.score.argmax() == 7
    assert (surprise.length == 1).all()
    np.testing.assert_allclose(np.median(surprise.score), 0, atol=1e-12)
    np.testing.assert_allclose(np.quantile(surprise.score, 0.9), 1)


def test_degenerate_points():
    one = make_vectors(np.ones((1, 2, 3), int))
    nobody = Neighbors(np.empty((1, 0), np.int32), np.empty((1, 0)), "exact")
    assert measure_surprise(one, nobody).score.tolist() == [0]
    counts = np.zeros((10, 2, 3), int)
    counts[:, :, 0] = 40
    same = make_vectors(counts)
    assert measure_surprise(same, exact_neighbors(same, 4)).score.tolist() == [0] * 10
    counts[3] = [[0, 0, 40], [40, 0, 0]]
    other = make_vectors(counts)
    surprise = measure_surprise(other, exact_neighbors(other, 4))
    assert np.isfinite(surprise.score).all()
    assert surprise.score.argmax() == 3


def test_missing_inputs_are_named(ordinary):
    vectors = make_vectors(ordinary)
    neighbors = exact_neighbors(vectors, 5)
    with pytest.raises(InputError, match="sample size of every block"):
        measure_surprise(replace(vectors, block_sizes=None), neighbors)
    with pytest.raises(InputError, match="90 points need neighbours of each, got those of 89"):
        measure_surprise(
            vectors, Neighbors(neighbors.indices[1:], neighbors.distances[1:], "exact")
        )


@settings(max_examples=60)
@given(
    st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 20), st.sampled_from([1.0, 0.5, 0.2])
)
def test_the_mixture_is_the_nearest(seed, k, dim, most):
    most = max(most, 1 / k)
    rng = np.random.default_rng(seed)
    towards = rng.normal(size=(k, dim)) + rng.normal(size=dim)
    towards[rng.integers(k)] = towards[0]  # a duplicate
    (weights,) = _nearest_mixture((towards @ towards.T)[None], most)
    assert ((weights >= 0) & (weights <= most)).all()
    assert weights.sum() == pytest.approx(1)
    # Bounded least squares, with a heavy row that makes the weights sum to one.
    heavy = 1e4
    independent = lsq_linear(
        np.vstack([towards.T, np.full(k, heavy)]),
        np.r_[np.zeros(dim), heavy],
        bounds=(0, most),
        method="bvls",
    ).x
    independent /= independent.sum()
    least = ((independent @ towards) ** 2).sum()
    scale = (towards**2).sum(axis=1).min()
    assert ((weights @ towards) ** 2).sum() <= least * (1 + 1e-4) + 1e-5 * scale


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 20))
def test_the_scan_tries_every_window(seed, blocks):
    excess = np.random.default_rng(seed).normal(size=(12, blocks)).astype(np.float32)
    score, first, length = _scan(excess)
    lengths = [size for size in (2, 4, 8) if size <= blocks / 2] + [blocks]
    means = {
        (size, start): np.take(excess, np.arange(start, start + size), axis=1, mode="wrap").mean(1)
        for size in lengths
        for start in range(blocks)
    }
    best = {size: np.max([means[size, start] for start in range(blocks)], 0) for size in lengths}
    for point in range(12):
        chosen = means[int(length[point]), int(first[point])][point]
        assert chosen == pytest.approx(best[length[point]][point], abs=1e-5)
    strengths = [
        (values - np.median(values)) / (np.quantile(values, 0.9) - np.median(values))
        for values in best.values()
    ]
    np.testing.assert_allclose(score, np.max(strengths, axis=0), atol=1e-3)


@pytest.mark.parametrize(
    ("shift", "words"),
    [
        (0.3, "uses more than similar ones"),
        (-0.3, "uses less than similar ones"),
        (0.01, "uses about as much as similar ones, but in a different pattern"),
    ],
)
def test_the_difference_in_words(shift, words):
    # Of the window alone: the rest of the week is the other way round.
    week = np.full((1, 336), -shift, np.float32)
    week[0, 84:96] = shift
    surprise = Surprise(np.ones(1), np.array([84]), np.array([12]), week, week)
    assert explain(surprise, 0) == words
