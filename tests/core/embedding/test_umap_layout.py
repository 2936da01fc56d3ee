import numpy as np
import pytest
from embedding_points import curved_sheet, neighbors_of, vectors_of

from core.embedding import METHODS, embed
from core.errors import InputError


@pytest.mark.filterwarnings("ignore")  # umap-learn remarks on its threads and its index
def test_numbers_are_those_of_umap_learn():
    from umap import UMAP

    x = curved_sheet(150)
    neighbors = neighbors_of(x, 10)
    own = np.arange(150)[:, np.newaxis]
    knn = (
        np.hstack([own, neighbors.indices]),
        np.hstack([np.zeros((150, 1)), neighbors.distances]).astype(np.float32),
    )
    theirs = UMAP(n_neighbors=11, random_state=5, n_epochs=40, precomputed_knn=knn)
    ours = embed("umap", neighbors, vectors_of(x), seed=5, epochs=40)
    np.testing.assert_array_equal(ours.y, theirs.fit_transform(x))


def test_another_seed_gives_another_picture():
    x = curved_sheet(60)
    a, b = (
        embed("umap", neighbors_of(x), vectors_of(x), epochs=20, seed=seed).y for seed in (1, 2)
    )
    assert np.abs(a - b).max() > 0.01


def test_many_points_are_laid_out_in_parallel_unless_umap_learn_is_asked_for(monkeypatch):
    x = curved_sheet(60)
    few = embed("umap", neighbors_of(x), vectors_of(x), epochs=10)
    monkeypatch.setattr("core.embedding.umap_layout.UMAP_LEARN_UP_TO", 50)
    many = embed("umap", neighbors_of(x), vectors_of(x), epochs=10)
    assert many.landmarks is None
    assert many.notices == ()
    assert np.abs(few.y - many.y).max() > 0.01
    asked = embed("umap", neighbors_of(x), vectors_of(x), epochs=10, repeatable=True)
    np.testing.assert_array_equal(asked.y, few.y)


def test_only_maps_that_have_changed_have_another_revision():
    def revision(n, **settings):
        return METHODS["umap"].revision(METHODS.settings("umap", settings), n)

    assert revision(50_000) == revision(60_000, repeatable=True) == 0
    assert revision(1_000_000, landmarks=50_000) == 0
    assert revision(50_001) == revision(1_000_000, landmarks=60_000) == 2


def test_epochs_by_default_are_those_of_umap_learn():
    x = curved_sheet(30)
    assert embed("umap", neighbors_of(x), vectors_of(x)).parameters["epochs"] == 500


def test_many_components_give_the_same_picture_again():
    x = np.concatenate([curved_sheet(12, seed=s) + 50 * s for s in range(7)])
    result = embed("umap", neighbors_of(x, 5), vectors_of(x), epochs=20)
    assert result.components == 7
    assert np.isfinite(result.y).all()
    again = embed("umap", neighbors_of(x, 5), vectors_of(x), epochs=20)
    np.testing.assert_array_equal(result.y, again.y)


def test_two_groups_of_duplicates_are_two_places():
    x = np.repeat(curved_sheet(2), 15, axis=0)
    y = embed("umap", neighbors_of(x, 5), vectors_of(x), epochs=20).y
    assert np.isfinite(y).all()


def test_too_few_points_are_refused():
    x = curved_sheet(4)
    with pytest.raises(InputError, match="at least 5 points, got 4"):
        embed("umap", neighbors_of(x), vectors_of(x), dim=3)


def test_a_sample_places_the_others_near_their_neighbours():
    from sklearn.manifold import trustworthiness

    x = curved_sheet(400)
    neighbors, vectors = neighbors_of(x), vectors_of(x)
    asked = embed("umap", neighbors, vectors, epochs=100, landmarks=100)
    assert (asked.landmarks, asked.parameters["landmarks"]) == (100, 100)
    assert "laid out 100 of 400 points" in asked.notices[0]
    everything = embed("umap", neighbors, vectors, epochs=100)
    assert everything.landmarks is None
    whole, placed = (trustworthiness(x, e.y, n_neighbors=12) for e in (everything, asked))
    assert placed > whole - 0.03


def test_a_place_does_not_depend_on_the_other_points_placed(monkeypatch):
    monkeypatch.setattr("core.embedding.landmarks.choose", lambda n, count, seed: np.arange(count))
    x = curved_sheet(300)
    few, many = (
        embed("umap", neighbors_of(x[:n]), vectors_of(x[:n]), epochs=20, landmarks=90).y
        for n in (120, 300)
    )
    np.testing.assert_array_equal(few, many[:120])
