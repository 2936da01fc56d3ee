import numpy as np
import pytest
from embedding_points import curved_sheet, neighbors_of, vectors_of

from core.embedding import METHODS, embed, n_neighbors_needed
from core.embedding._principal import principal_components
from core.embedding._repulsion import exact_gradient
from core.embedding.tsne import _schedule
from core.errors import InputError
from core.progress import silent


def affinities(x, perplexity=8):
    from openTSNE.affinity import PerplexityBasedNN
    from openTSNE.nearest_neighbors import PrecomputedNeighbors

    neighbors = neighbors_of(x, 3 * perplexity)
    index = PrecomputedNeighbors(neighbors.indices, neighbors.distances)
    return PerplexityBasedNN(knn_index=index, perplexity=perplexity)


def test_asks_for_three_neighbours_for_each_of_perplexity():
    assert n_neighbors_needed("tsne", 20, 1000, {}) == 90
    assert n_neighbors_needed("tsne", 20, 1000, {"perplexity": 7.5}) == 23
    assert n_neighbors_needed("tsne", 20, 50, {}) == 49
    assert METHODS["umap"].n_neighbors_needed(20, {}, 10) == 9


def test_perplexity_is_lowered_to_what_the_neighbours_support():
    x = curved_sheet(40)
    result = embed("tsne", neighbors_of(x, 90), vectors_of(x), iterations=20)
    assert result.parameters["perplexity"] == pytest.approx(13)
    assert "with 39 it is lowered to 13" in result.notices[0]


def test_divergence_is_not_above_that_of_opentsne():
    from openTSNE import TSNE
    from openTSNE.kl_divergence import kl_divergence_exact

    x = curved_sheet(200)
    P = affinities(x).P.toarray()
    ours = embed("tsne", neighbors_of(x, 24), vectors_of(x), perplexity=8.0).y
    theirs = TSNE(random_state=1).fit(affinities=affinities(x))
    assert kl_divergence_exact(P, ours) < kl_divergence_exact(P, np.asarray(theirs)) + 0.02


def test_exact_gradient_is_that_of_opentsne_without_approximation():
    from openTSNE.tsne import kl_divergence_bh

    P = affinities(curved_sheet(90)).P
    y = np.random.default_rng(0).normal(size=(90, 3))
    divergence, gradient = kl_divergence_bh(y, P, 1, {"theta": 0.0}, should_eval_error=True)
    ours, our_gradient = exact_gradient(y, P, n_jobs=2)
    assert ours == pytest.approx(divergence)
    np.testing.assert_allclose(our_gradient, gradient, atol=1e-12)


def test_more_dimensions_of_many_points_are_refused(monkeypatch):
    monkeypatch.setattr("core.embedding._repulsion.EXACT_LIMIT", 50)
    x = curved_sheet(60)
    with pytest.raises(InputError, match="at most 3 coordinates, not 4"):
        embed("tsne", neighbors_of(x, 30), vectors_of(x), dim=4, perplexity=10.0)


@pytest.mark.parametrize("iterations", [10, 47, 750])
def test_exaggeration_eases_to_one_and_every_iteration_is_run(iterations):
    factors, steps = zip(*_schedule(iterations, 12.0), strict=True)
    assert sum(steps) == iterations
    assert list(factors) == sorted(factors, reverse=True)
    assert factors[-1] == 1
    assert iterations < 20 or factors[0] == 12


def test_principal_components_are_those_of_scikit_learn():
    from sklearn.decomposition import PCA

    x = curved_sheet(150)
    expected = PCA(2, svd_solver="full").fit_transform(x.astype(np.float64))
    found = principal_components(vectors_of(x), 2, 0, silent)
    signs = np.sign((found * expected).sum(axis=0))
    np.testing.assert_allclose(found * signs, expected, atol=1e-4 * np.abs(expected).max())


def test_principal_components_beyond_the_rank_are_zero():
    found = principal_components(vectors_of(curved_sheet(30, p=2)), 4, 0, silent)
    assert not found[:, 2:].any()
    assert found[:, :2].all()
