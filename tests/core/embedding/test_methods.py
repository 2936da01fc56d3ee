import numpy as np
import pytest
from embedding_points import SMALL_SETTINGS, curved_sheet, neighbors_of, vectors_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.embedding import METHODS, Embedding, embed, n_neighbors_needed
from core.errors import Cancelled, InputError
from core.neighbors import Neighbors

ALL = list(METHODS)
SPECTRAL = ["lle", "laplacian", "hessian"]


def run(method: str, x: np.ndarray, *, k: int = 12, neighbors: Neighbors | None = None, **options):
    chosen = SMALL_SETTINGS.get(method, {}) | options
    needed = n_neighbors_needed(
        method, k, len(x), {key: chosen[key] for key in chosen if key == "perplexity"}
    )
    return embed(method, neighbors or neighbors_of(x, needed), vectors_of(x), **chosen)


def test_the_six_methods_are_listed_in_the_order_people_should_see():
    assert ALL == ["isomap", "lle", "laplacian", "hessian", "tsne", "umap"]
    for method in METHODS.values():
        assert method.title and method.help
        for parameter in method.parameters:
            assert parameter.help
            assert parameter.validate(parameter.default) == parameter.default


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("dim", [1, 2, 4])
def test_gives_finite_coordinates_in_any_dimension(method, dim):
    x = curved_sheet(60)
    result = run(method, x, k=16, dim=dim)
    assert isinstance(result, Embedding)
    assert result.y.shape == (60, dim)
    assert result.y.dtype == np.float64
    assert np.isfinite(result.y).all()
    assert (result.y.std(axis=0) > 0).all()
    assert result.components == 1
    assert result.landmarks is None
    assert result.notices == ()
    assert set(result.parameters) == {parameter.name for parameter in METHODS[method].parameters}


@pytest.mark.parametrize("method", ALL)
def test_same_seed_same_picture_whatever_the_threads(method):
    x = curved_sheet(80)
    first, again, one = (run(method, x, seed=3, threads=threads).y for threads in (2, 2, 1))
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, one)


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("landmarks", [0, 50])
def test_another_seed_is_another_picture_where_the_method_says_so(method, landmarks):
    chosen = dict(SMALL_SETTINGS.get(method, {}))
    if "landmarks" in (parameter.name for parameter in METHODS[method].parameters):
        chosen["landmarks"] = landmarks
    x = curved_sheet(80)
    first, second = (run(method, x, seed=seed, **chosen).y for seed in (1, 2))
    seeded = METHODS[method].is_seeded(METHODS.settings(method, chosen), len(x))
    assert seeded != np.array_equal(first, second)


@pytest.mark.parametrize("method", ALL)
def test_the_given_graph_decides(method):
    x = curved_sheet(80)
    needed = n_neighbors_needed(method, 12, 80, {"perplexity": 6.0} if method == "tsne" else {})
    exact = neighbors_of(x, needed)
    # The same points with every list starting at the second neighbour: a worse backend.
    worse = neighbors_of(x, needed + 1)
    worse = Neighbors(worse.indices[:, 1:], worse.distances[:, 1:], "other")
    a, b = (run(method, x, neighbors=neighbors).y for neighbors in (exact, worse))
    assert np.abs(a - b).max() > 1e-3 * np.abs(a).max()


@pytest.mark.parametrize("method", ALL)
def test_progress_only_grows_and_reaches_the_end(method):
    heard = []
    run(method, curved_sheet(60), progress=lambda fraction, message="": heard.append(fraction))
    assert len(heard) >= 4
    assert heard == sorted(heard)
    assert heard[0] == 0
    assert heard[-1] == 1


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("when", [0.0, 0.4])
def test_cancel_reaches_the_caller(method, when):
    def stop(fraction: float, message: str = "") -> None:
        if fraction >= when:
            raise Cancelled("enough")

    with pytest.raises(Cancelled, match="enough"):
        run(method, curved_sheet(60), progress=stop)


@pytest.mark.parametrize("method", ALL)
def test_identical_points_share_one_place_and_it_is_said(method):
    x = np.full((30, 5), 0.2)
    result = run(method, x)
    assert not result.y.any()
    assert "identical" in result.notices[0]


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8])
def test_few_points_give_a_sound_map_or_a_clear_message(method, n):
    x = curved_sheet(n)
    try:
        result = run(method, x, k=20)
    except InputError as error:
        assert method in ("hessian", "tsne", "umap")
        assert "at least" in str(error)
        return
    assert result.y.shape == (n, 2)
    assert np.isfinite(result.y).all()


@pytest.mark.parametrize("method", ALL)
def test_many_duplicates_are_survived(method):
    x = np.repeat(curved_sheet(25), 4, axis=0)
    result = run(method, x)
    assert np.isfinite(result.y).all()
    assert result.y.std() > 0


@pytest.mark.parametrize("method", ALL)
def test_separate_groups_are_counted_said_and_kept_apart(method):
    groups = [curved_sheet(30, seed=s) + 100 * s for s in range(3)]
    x = np.concatenate(groups)
    result = run(method, x, k=8, **({"perplexity": 3.0} if method == "tsne" else {}))
    assert result.components == 3
    assert np.isfinite(result.y).all()
    assert "3 components" in result.notices[0]


@pytest.mark.parametrize("method", SPECTRAL)
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_components_are_packed_without_overlap(method, dim):
    x = np.concatenate([curved_sheet(40, seed=s) + 100 * s for s in range(4)])
    y = run(method, x, dim=dim).y
    plane = y[:, :2]
    boxes = [(part.min(axis=0), part.max(axis=0)) for part in np.split(plane, 4)]
    for i, (low, high) in enumerate(boxes):
        assert (high > low).all()
        for other_low, other_high in boxes[:i]:
            assert ((low > other_high) | (high < other_low)).any()


@pytest.mark.parametrize("method", ["isomap", *SPECTRAL])
def test_landmarks_are_used_when_asked_for_and_said(method):
    x = curved_sheet(150)
    result = run(method, x, landmarks=60)
    assert result.landmarks == 60
    assert "60 landmarks" in result.notices[0]
    assert np.isfinite(result.y).all()
    full = run(method, x, landmarks=150)
    assert full.landmarks is None


@pytest.mark.parametrize("method", ["isomap", *SPECTRAL])
def test_landmarks_are_used_by_themselves_beyond_the_bound(method, monkeypatch):
    monkeypatch.setattr("core.embedding.landmarks.FULL", 100)
    monkeypatch.setattr("core.embedding.landmarks.SPECTRAL_LANDMARKS", 50)
    monkeypatch.setattr("core.embedding.landmarks.GEODESIC_LANDMARKS", 50)
    monkeypatch.setattr("core.embedding.landmarks.GEODESIC_LANDMARKS_MIN", 20)
    assert run(method, curved_sheet(100)).landmarks is None
    assert run(method, curved_sheet(101)).landmarks == 50


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(
    n=st.integers(3, 40),
    distinct=st.integers(2, 10),
    k=st.integers(1, 12),
    dim=st.integers(1, 3),
    seed=st.integers(0, 1000),
    method=st.sampled_from(["isomap", *SPECTRAL]),
)
def test_never_a_nan_whatever_the_duplicates(n, distinct, k, dim, seed, method):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(distinct, 3))[rng.integers(0, distinct, n)]
    try:
        result = run(method, x, k=k, dim=dim)
    except InputError as error:
        assert method == "hessian"
        assert "neighbours" in str(error)
        return
    assert np.isfinite(result.y).all()
    assert result.y.shape == (n, dim)


def test_bad_requests_say_what_is_wrong():
    x = curved_sheet(20)
    vectors, neighbors = vectors_of(x), neighbors_of(x, 5)
    with pytest.raises(InputError, match="no method 'pca'; choose one of isomap"):
        embed("pca", neighbors, vectors)
    with pytest.raises(InputError, match="dim must be a whole number from 1 to 100, got 0"):
        embed("isomap", neighbors, vectors, dim=0)
    with pytest.raises(InputError, match="has no parameter 'perplexity'"):
        embed("isomap", neighbors, vectors, perplexity=3)
    with pytest.raises(InputError, match="must be two arrays of 20 rows"):
        embed("isomap", neighbors_of(x[:10], 5), vectors)
    with pytest.raises(InputError, match="of other points"):
        own = neighbors.indices.copy()
        own[3, 0] = 3
        embed("isomap", Neighbors(own, neighbors.distances, "exact"), vectors)
    with pytest.raises(InputError, match="finite"):
        far = np.full_like(neighbors.distances, np.inf)
        embed("isomap", Neighbors(neighbors.indices, far, "exact"), vectors)
    with pytest.raises(InputError, match="no points"):
        embed("isomap", neighbors_of(x[:0]), vectors_of(x[:0]))


def test_hessian_names_the_neighbours_it_needs():
    x = curved_sheet(40)
    with pytest.raises(InputError, match="got 5; raise K to at least 6"):
        run("hessian", x, k=5)
    assert np.isfinite(run("hessian", x, k=6).y).all()
    with pytest.raises(InputError, match=r"take at least 7 points \(there are 4\)"):
        run("hessian", x[:4], k=20)
