"""Quality measures against a brute-force co-ranking matrix, scikit-learn and scipy."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist

from core.errors import Cancelled, InputError
from core.quality import MEASURES, measure_embedding, measure_quality, prepare_reference, reference
from core.vectors import Vectors


def as_vectors(x, norm=2, **options):
    n = len(x)
    return Vectors(
        x=x,
        distance={0: "js", 1: "tv", 2: "hellinger"}[norm],
        sample_size=np.full(n, 100),
        units=pd.DataFrame({"label": [str(i) for i in range(n)]}),
        **options,
    )


def rank_matrix(distances):
    """Ranks 1 … n − 1 of every point around every other, by (distance, index); 0 for itself."""
    n = len(distances)
    ranks = np.zeros((n, n), int)
    for i in range(n):
        others = sorted((j for j in range(n) if j != i), key=lambda j: (distances[i, j], j))
        ranks[i, others] = np.arange(1, n)
    return ranks


def brute_force(input_distances, y, k):
    """The measures as their definitions read, through the whole co-ranking matrix."""
    n = len(y)
    rho, r = rank_matrix(input_distances), rank_matrix(cdist(y, y, "sqeuclidean"))
    corank = np.zeros((n, n), int)
    np.add.at(corank, (rho, r), 1)
    corank = corank[1:, 1:]  # the diagonal of rank 0 is each point with itself
    rank = np.arange(1, n)
    norm = n * k * (2 * n - 3 * k - 1) if k < n / 2 else n * (n - k) * (n - k - 1)
    shared = corank[:k, :k].sum()
    q_nx = shared / (k * n)
    h = n * sum(abs(n - 2 * m + 1) / m for m in range(1, k + 1))
    error = np.abs(rank[:, None] - rank[None, :])
    return {
        "trustworthiness": 1 - 2 / norm * (corank[k:, :k] * (rank[k:, None] - k)).sum(),
        "continuity": 1 - 2 / norm * (corank[:k, k:] * (rank[None, k:] - k)).sum(),
        "lcmc": (shared - n * k**2 / (n - 1)) / (n * k),
        "q_nx": q_nx,
        "r_nx": ((n - 1) * q_nx - k) / (n - 1 - k),
        "mrre_n": 1 - (corank[:k] * error[:k] / rank[:k, None]).sum() / h,
        "mrre_v": 1 - (corank[:, :k] * error[:, :k] / rank[None, :k]).sum() / h,
    }


def assert_ranks_agree(quality, expected):
    for name, value in expected.items():
        assert getattr(quality, name) == pytest.approx(value, abs=1e-12), name


@settings(max_examples=40)
@given(
    n=st.integers(4, 30),
    d=st.integers(1, 3),
    norm=st.sampled_from([1, 2]),
    seed=st.integers(0, 10_000),
    data=st.data(),
)
def test_agrees_with_brute_force_co_ranking_on_data_full_of_ties(n, d, norm, seed, data):
    k = data.draw(st.integers(1, n - 2))
    rng = np.random.default_rng(seed)
    # Small integers: distances are exact in float32, and duplicates and ties are everywhere.
    x = rng.integers(0, 3, (n, 5)).astype(np.float32)
    y = rng.integers(0, 4, (n, d)).astype(float)
    quality = measure_quality(as_vectors(x, norm), y, k=k)
    metric = "cityblock" if norm == 1 else "sqeuclidean"
    assert_ranks_agree(quality, brute_force(cdist(x, x, metric), y, k))


def test_agrees_with_scikit_learn_on_euclidean_vectors(rng):
    from sklearn.manifold import trustworthiness

    x = rng.normal(size=(300, 12)).astype(np.float32)
    y = x[:, :2] + 0.3 * rng.normal(size=(300, 2))
    quality = measure_quality(as_vectors(x), y, k=20)
    assert quality.trustworthiness == pytest.approx(trustworthiness(x, y, n_neighbors=20), abs=1e-6)
    # Continuity is the trustworthiness of the way back.
    assert quality.continuity == pytest.approx(trustworthiness(y, x, n_neighbors=20), abs=1e-6)
    assert quality.sample_size is None
    assert not quality.intervals
    assert not quality.notices


def test_weighted_counts_are_measured_in_the_statistical_distance(rng):
    counts = rng.integers(0, 9, (60, 40)).astype(np.uint8)
    weights = np.array([0.5, 0.25, 0.125, 1.0])
    y = rng.normal(size=(60, 2))
    vectors = as_vectors(counts, norm=1, blocks=4, block_weights=weights)
    weighted = counts * np.repeat(weights, 10)
    quality = measure_quality(vectors, y, k=7)
    assert_ranks_agree(quality, brute_force(cdist(weighted, weighted, "cityblock"), y, 7))
    floats = measure_quality(as_vectors(weighted.astype(np.float32), norm=1), y, k=7)
    assert quality.procrustes == pytest.approx(floats.procrustes, abs=1e-5)


def test_jensen_shannon_ranks(rng):
    p = rng.dirichlet(np.full(12, 0.4), 50).astype(np.float32)
    y = rng.normal(size=(50, 2))
    quality = measure_quality(as_vectors(p, norm=0), y, k=6)
    assert_ranks_agree(quality, brute_force(cdist(p, p, "jensenshannon"), y, 6))


@pytest.mark.parametrize("d", [1, 2, 3])
def test_local_procrustes_agrees_with_scipy(rng, d):
    x = rng.normal(size=(80, 6)).astype(np.float32)
    y = rng.normal(size=(80, d))
    neighbors = np.argsort(cdist(x, x), axis=1)[:, 1:11]
    expected = [
        # The disparity is G_i; scipy wants equal widths, and columns of zeros change nothing.
        1 - procrustes(x[near], np.pad(y[near], ((0, 0), (0, 6 - d))))[2]
        for near in neighbors
    ]
    quality = measure_quality(as_vectors(x), y, k=10)
    assert quality.procrustes == pytest.approx(np.mean(expected), abs=1e-5)


def test_a_rotated_and_scaled_copy_is_perfect(rng):
    y = rng.normal(size=(100, 2))
    rotation = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    quality = measure_quality(as_vectors(y.astype(np.float32)), 7 * y @ rotation + 3, k=10)
    for name in set(MEASURES) - {"lcmc"}:
        assert getattr(quality, name) == pytest.approx(1, abs=1e-4), name
    assert quality.lcmc == pytest.approx(1 - 10 / 99, abs=1e-4)


def test_chance_gives_zero_r_nx(rng):
    x, y = rng.normal(size=(600, 5)).astype(np.float32), rng.normal(size=(600, 2))
    quality = measure_quality(as_vectors(x), y, k=20)
    assert abs(quality.r_nx) < 0.02
    assert abs(quality.trustworthiness - 0.5) < 0.05


def test_a_sample_covers_the_whole_with_its_interval(rng):
    x = rng.normal(size=(500, 8)).astype(np.float32)
    vectors, y = as_vectors(x), x[:, :2] + 0.5 * rng.normal(size=(500, 2))
    whole = measure_quality(vectors, y, k=15).measures()
    covered = dict.fromkeys(MEASURES, 0)
    for seed in range(60):
        quality = measure_quality(vectors, y, k=15, sample=80, seed=seed)
        assert quality.sample_size == 80
        for name, (low, high) in quality.intervals.items():
            assert low < getattr(quality, name) < high
            covered[name] += low <= whole[name] <= high
    assert any("80 of 500" in notice for notice in quality.notices)
    # 60 trials of 95 %: fewer than 50 would be a chance of one in a thousand.
    assert all(count >= 50 for count in covered.values()), covered


def test_sums_that_are_not_kept_give_the_same_answer(rng, monkeypatch):
    x = rng.normal(size=(1200, 8)).astype(np.float32)
    vectors, y = as_vectors(x), rng.normal(size=(1200, 2))
    kept = measure_quality(vectors, y, k=9)
    monkeypatch.setattr(reference, "KEEP_BYTES", 0)
    prepared = prepare_reference(vectors, k=9)
    assert prepared.sums is None
    assert len(prepared.blocks) > 1
    assert measure_embedding(prepared, y).measures() == kept.measures()


def test_one_reference_serves_many_embeddings(rng):
    x = rng.normal(size=(120, 8)).astype(np.float32)
    prepared = prepare_reference(as_vectors(x), k=9)
    for _ in range(3):
        y = rng.normal(size=(120, 2))
        shared = measure_embedding(prepared, y)
        assert shared == measure_quality(as_vectors(x), y, k=9)


def test_the_number_of_threads_does_not_matter(rng):
    x, y = rng.normal(size=(900, 8)).astype(np.float32), rng.normal(size=(900, 2))
    one, two = (measure_quality(as_vectors(x), y, k=9, threads=threads) for threads in (1, 2))
    assert one == two


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_few_points_have_no_nan(rng, n):
    quality = measure_quality(
        as_vectors(rng.normal(size=(n, 4)).astype(np.float32)), rng.normal(size=(n, 2)), k=20
    )
    assert quality.k == n - 1
    values = [value for value in quality.measures().values() if value is not None]
    assert np.isfinite(values).all()
    # Every neighbourhood is all the other points: there are no false neighbours to count.
    assert quality.trustworthiness is None
    assert quality.r_nx is None
    assert quality.q_nx == (None if n == 1 else 1)
    assert len(quality.notices) == 2


def test_a_neighbourhood_of_one_point_has_no_shape(rng):
    x, y = rng.normal(size=(9, 4)).astype(np.float32), rng.normal(size=(9, 2))
    quality = measure_quality(as_vectors(x), y, k=1)
    assert quality.procrustes is None
    assert quality.trustworthiness is not None
    assert "procrustes undefined" in quality.notices[0]


@pytest.mark.parametrize("constant", ["x", "y", "both"])
def test_constant_input_or_output_is_finite(rng, constant):
    x, y = rng.normal(size=(30, 4)).astype(np.float32), rng.normal(size=(30, 2))
    if constant in ("x", "both"):
        x[:] = x[0]
    if constant in ("y", "both"):
        y[:] = y[0]
    quality = measure_quality(as_vectors(x), y, k=5)
    assert all(np.isfinite(value) for value in quality.measures().values())
    assert quality.procrustes == (1 if constant == "both" else 0)
    assert ("single point" in " ".join(quality.notices)) == (constant != "x")


def test_bad_input_is_named(rng):
    vectors = as_vectors(rng.normal(size=(10, 3)).astype(np.float32))
    y = rng.normal(size=(10, 2))
    with pytest.raises(InputError, match="10 rows"):
        measure_quality(vectors, y[:9], k=3)
    y[4] = np.nan
    with pytest.raises(InputError, match="not finite, first 4"):
        measure_quality(vectors, y, k=3)
    with pytest.raises(InputError, match="k must be"):
        measure_quality(vectors, y, k=0)
    with pytest.raises(InputError, match="sample must be"):
        measure_quality(vectors, y, k=3, sample=0)


def test_progress_rises_to_one_and_can_cancel(rng):
    x, y = rng.normal(size=(300, 4)).astype(np.float32), rng.normal(size=(300, 2))
    seen = []
    measure_quality(
        as_vectors(x), y, k=5, progress=lambda fraction, message="": seen.append(fraction)
    )
    assert seen == sorted(seen)
    assert seen[-1] == 1

    def cancel(fraction, message=""):
        raise Cancelled

    with pytest.raises(Cancelled):
        measure_quality(as_vectors(x), y, k=5, progress=cancel)


@pytest.fixture
def rng():
    return np.random.default_rng(7)
