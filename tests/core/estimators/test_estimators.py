"""The estimators against scikit-learn's own checks, its classes, and the library's functions."""

import pickle

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.manifold import Isomap, trustworthiness
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from core import from_samples, map_vectors
from core.embedding import METHODS
from core.errors import InputError
from core.estimators import ManifoldMap, NeighborsTransformer, StatisticalDistance
from core.vectors import statistical_distance

COLUMNS = "a sample may have any number of values, so new ones may have other columns"
ZEROS = "the check has rows of zeros: no counts make no distribution, and such a row is refused"
EXPECTED = {
    False: dict.fromkeys(
        (
            "check_n_features_in_after_fitting",
            "check_transformer_general",
            "check_transformer_general(readonly_memmap=True)",
        ),
        COLUMNS,
    ),
    True: dict.fromkeys(("check_estimators_dtypes", "check_fit2d_1feature"), ZEROS),
}


def expected_failed_checks(estimator):
    return EXPECTED.get(getattr(estimator, "counts", None), {})


@parametrize_with_checks(
    [
        StatisticalDistance(),
        StatisticalDistance(counts=True, distance="tv"),
        NeighborsTransformer(),
        NeighborsTransformer(algorithm="kdtree", metric="manhattan", mode="connectivity"),
        ManifoldMap(random_state=1),
        ManifoldMap(method="laplacian", metric="manhattan", random_state=1),
    ],
    expected_failed_checks=expected_failed_checks,
)
def test_scikit_learn_accepts_the_estimators(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def samples():
    """Sixty samples of different lengths whose distributions lie on a line."""
    rng = np.random.default_rng(1)
    return [rng.gamma(1 + i / 20, 1, size=200 + i) for i in range(60)]


@pytest.mark.parametrize(("distance", "metric"), [("hellinger", "euclidean"), ("tv", "cityblock")])
def test_differences_are_the_statistical_distance(samples, distance, metric):
    vectors = StatisticalDistance(distance=distance, n_bins=30).fit_transform(samples)
    expected = from_samples(dict(enumerate(samples)), distance=distance, bins=30)
    one, other = np.triu_indices(len(samples), 1)
    np.testing.assert_allclose(
        pdist(vectors, metric), statistical_distance(expected, one, other), rtol=1e-5
    )


def test_the_distance_is_that_of_the_formula():
    counts = np.array([[8, 2, 0], [1, 4, 5]])
    p, q = counts / 10
    tv = StatisticalDistance(counts=True, distance="tv").fit_transform(counts)
    hellinger = StatisticalDistance(counts=True).fit_transform(counts)
    assert pdist(tv, "cityblock") == pytest.approx(np.abs(p - q).sum() / 2)
    assert pdist(hellinger) == pytest.approx(np.sqrt(1 - np.sqrt(p * q).sum()))


def test_samples_of_other_lengths_are_counted_in_the_same_bins(samples):
    transformer = StatisticalDistance(n_bins=10).fit(samples)
    alone = transformer.transform([samples[3]])
    np.testing.assert_array_equal(alone[0], transformer.transform(samples)[3])
    assert transformer.n_bins_ == 10
    assert transformer.metric_ == "euclidean"


def test_rows_that_say_nothing_are_refused():
    with pytest.raises(InputError, match="row 1 holds no value"):
        StatisticalDistance().fit([[1.0, 2.0], [np.nan, np.nan]])
    with pytest.raises(InputError, match="row 0 holds no value"):
        StatisticalDistance(counts=True).fit_transform([[0, 0], [1, 2]])
    with pytest.raises(InputError, match="distance must be one of hellinger, tv, got 'js'"):
        StatisticalDistance(distance="js").fit([[1.0, 2.0]])


@pytest.mark.parametrize("mode", ["distance", "connectivity"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_the_graph_is_that_of_scikit_learn(mode, metric):
    x = np.random.default_rng(2).normal(size=(80, 5))
    ours = NeighborsTransformer(n_neighbors=6, mode=mode, metric=metric).fit(x)
    theirs = KNeighborsTransformer(n_neighbors=6, mode=mode, metric=metric).fit(x)
    for rows in (x, x[:9] + 0.1):
        found, expected = ours.transform(rows), theirs.transform(rows)
        np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-5, atol=1e-6)
        assert found.nnz == expected.nnz


def test_it_takes_the_place_of_scikit_learns_in_a_pipeline():
    x = np.random.default_rng(3).normal(size=(70, 4))
    isomap = Isomap(n_neighbors=8, metric="precomputed")
    maps = [
        make_pipeline(graph(n_neighbors=8), clone(isomap)).fit_transform(x)
        for graph in (NeighborsTransformer, KNeighborsTransformer)
    ]
    np.testing.assert_allclose(np.abs(maps[0]), np.abs(maps[1]), rtol=1e-3, atol=1e-4)


def test_too_few_samples_for_a_graph_are_told():
    transformer = NeighborsTransformer(n_neighbors=3).fit(np.eye(3))
    with pytest.raises(InputError, match="4 neighbours need as many samples and 3 were fitted"):
        transformer.transform(np.eye(3))
    with pytest.raises(InputError, match="metric must be one of euclidean, manhattan"):
        NeighborsTransformer(metric="cosine").fit(np.eye(3))


def test_a_pipeline_maps_samples_and_places_new_ones(samples):
    pipeline = make_pipeline(
        StatisticalDistance(n_bins=20), ManifoldMap(n_neighbors=8, random_state=1)
    )
    y = pipeline.fit_transform(samples)
    np.testing.assert_array_equal(pipeline.transform(samples), y)
    # One between two on the line is placed between them.
    between = np.concatenate([samples[30], samples[31], samples[29]])
    (place,) = pipeline.transform([between])
    assert np.linalg.norm(y - place, axis=1).argsort()[:5].mean() == pytest.approx(30, abs=4)
    names = pipeline.get_feature_names_out()
    assert names.tolist() == ["manifoldmap0", "manifoldmap1"]


def test_the_map_is_that_of_the_library(samples):
    vectors = from_samples(dict(enumerate(samples)), bins=20)
    expected = map_vectors(vectors, k=8).y
    y = ManifoldMap(n_neighbors=8).fit_transform(vectors.x)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_maps_and_is_repeatable(method, samples):
    x = StatisticalDistance(n_bins=20).fit_transform(samples)
    estimator = ManifoldMap(method=method, n_neighbors=10, random_state=3)
    y = estimator.fit_transform(x)
    assert trustworthiness(x, y, n_neighbors=10) > 0.8
    np.testing.assert_array_equal(clone(estimator).fit_transform(x), y)


@pytest.mark.parametrize("algorithm", ["annoy", "kdtree"])
def test_a_fitted_map_survives_pickling_whatever_searched(samples, algorithm):
    x = StatisticalDistance(n_bins=20).fit_transform(samples)
    fitted = ManifoldMap(algorithm=algorithm, n_neighbors=8, random_state=1).fit(x)
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301 (our own)
    np.testing.assert_array_equal(again.transform(x + 0.01), fitted.transform(x + 0.01))


def test_parameters_of_method_and_backend_are_checked(samples):
    x = StatisticalDistance().fit_transform(samples)
    with pytest.raises(InputError, match="n_tree"):
        ManifoldMap(algorithm="annoy", algorithm_params={"n_tree": 3}).fit(x)
    with pytest.raises(InputError, match="perplexity"):
        ManifoldMap(method="tsne", method_params={"perplexity": -1}).fit(x)
