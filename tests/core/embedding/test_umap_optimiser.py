"""The parallel layout: umap-learn's objective and schedule, whatever the threads do."""

import numpy as np
import pytest
from embedding_points import curved_sheet, neighbors_of, vectors_of
from scipy.sparse import csr_array

from core.embedding import _umap_optimiser as optimiser
from core.embedding import embed
from core.errors import Cancelled
from core.progress import silent

A, B = 1.577, 0.895


@pytest.fixture
def in_parallel(monkeypatch):
    """Lay out few points as many are."""
    monkeypatch.setattr("core.embedding.umap_layout.UMAP_LEARN_UP_TO", 10)


def random_graph(n: int, seed: int = 0) -> csr_array:
    rng = np.random.default_rng(seed)
    half = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.2), 1).astype(np.float32)
    return csr_array(half + half.T)


def lay_out(graph: csr_array, dim: int = 2, threads: int = 2, epochs: int = 30, **options):
    start = options.pop("start", np.random.default_rng(1).normal(size=(graph.shape[0], dim)))
    progress = options.pop("progress", silent)
    return optimiser.optimise(
        start, graph, a=A, b=B, epochs=epochs, seed=4, threads=threads, progress=progress, **options
    )


@pytest.mark.parametrize("blocks", [2, 4, 16])
def test_every_pair_of_blocks_meets_once_and_no_block_is_in_two_places(blocks):
    schedule = optimiser.rounds(blocks)
    met = [pair for pairs in schedule for pair in pairs]
    assert sorted(met) == [(a, b) for a in range(blocks) for b in range(a, blocks)]
    for pairs in schedule:
        taken = [block for pair in pairs for block in set(pair)]
        assert len(taken) == len(set(taken))


def test_every_edge_is_dealt_once_to_the_blocks_of_its_ends():
    graph = random_graph(70)
    tasks = optimiser.deal_edges(graph, seed=3)
    back = np.argsort(tasks.place)
    dealt = np.zeros(graph.shape)
    dealt[back[tasks.head], back[tasks.tail]] = tasks.share
    np.testing.assert_allclose(dealt + dealt.T, (graph / graph.max()).toarray(), rtol=1e-6)
    block = np.arange(70) * optimiser.BLOCKS // 70
    for first in range(optimiser.BLOCKS):
        for second in range(optimiser.BLOCKS):
            at = first * optimiser.BLOCKS + second
            some = slice(tasks.bounds[at], tasks.bounds[at + 1])
            assert (block[tasks.head[some]] == first).all()
            assert (block[tasks.tail[some]] == second).all()
    assert tasks.bounds[0] == 0
    assert tasks.bounds[-1] == len(tasks.head)


def test_gradients_of_the_table_are_those_of_the_formula():
    squared = np.geomspace(2.0**-23, 2.0**13, 5_000).astype(np.float32)
    x = squared.astype(np.float64)
    attraction, repulsion = optimiser.gradient_tables(A, B)
    wanted = (
        (attraction, -2 * A * B * x ** (B - 1) / (1 + A * x**B)),
        (repulsion, 2 * B / ((0.001 + x) * (1 + A * x**B))),
    )
    for table, formula in wanted:
        read = np.array([optimiser._table(table, each) for each in squared])
        np.testing.assert_allclose(read, formula, rtol=2e-4)
        for far in (0.0, 1e-30, 1e30):
            assert np.isfinite(optimiser._table(table, np.float32(far)))


@pytest.mark.filterwarnings("ignore")  # umap-learn would like TensorFlow
def test_edges_are_drawn_as_often_as_by_umap_learn():
    from umap.umap_ import make_epochs_per_sample

    epochs = 200
    weights = np.random.default_rng(0).uniform(1 / epochs, 1, 300).astype(np.float32)
    weights[0] = 1
    per_sample = make_epochs_per_sample(weights, epochs)
    following, theirs = per_sample.copy(), np.zeros(300, int)
    for epoch in range(epochs):
        drawn = following <= epoch
        theirs += drawn
        following[drawn] += per_sample[drawn]
    steps = np.arange(1, epochs, dtype=np.float32)[:, np.newaxis]
    ours = ((steps * weights).astype(int) != ((steps - 1) * weights).astype(int)).sum(axis=0)
    assert np.abs(ours - theirs).max() <= 1  # one of them may round the last draw away
    assert (ours == theirs).mean() > 0.95


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_threads_do_not_show_in_the_result(dim):
    graph = random_graph(90)
    one, four = (lay_out(graph, dim=dim, threads=threads) for threads in (1, 4))
    np.testing.assert_array_equal(one, four)
    assert np.isfinite(one).all()


def slow_twin(start: np.ndarray, graph: csr_array, epochs: int, seed: int) -> np.ndarray:
    """The same layout written as loops over points and numbers, without tables or threads."""
    tasks = optimiser.deal_edges(graph, seed)
    y = np.empty(start.shape)
    span = start.max(axis=0) - start.min(axis=0)
    y[tasks.place] = 10 * (start - start.min(axis=0)) / span
    n = len(y)
    pairs = [pair for some in optimiser.rounds(optimiser.BLOCKS) for pair in some]
    for epoch in range(1, epochs):
        before, step = y.copy(), (1 - (epoch - 1) / epochs) ** 2
        for first, second in pairs:
            at = first * optimiser.BLOCKS + second
            key = (seed * epochs + epoch) * optimiser.BLOCKS**2 + at
            random = int(optimiser._first_random(np.uint64(key)))
            for edge in range(tasks.bounds[at], tasks.bounds[at + 1]):
                share = tasks.share[edge]
                if int(np.float32(epoch) * share) == int(np.float32(epoch - 1) * share):
                    continue
                ends = tasks.head[edge], tasks.tail[edge]
                for i, j in (ends, ends[::-1]):
                    apart = y[i] - y[j]
                    x = apart @ apart
                    factor = -2 * A * B * x ** (B - 1) / (1 + A * x**B) if x > 0 else 0.0
                    move = step * np.clip(factor * apart, -4, 4)
                    y[i] += move
                    y[j] -= move
                    for _ in range(5):
                        for shift in (13, -7, 17):
                            moved = random << shift if shift > 0 else random >> -shift
                            random = (random ^ moved) % 2**64
                        other = (random >> 32) * n >> 32
                        apart = y[i] - before[other]
                        x = apart @ apart
                        if x > 0 and other != i:
                            factor = 2 * B / ((0.001 + x) * (1 + A * x**B))
                            y[i] += step * np.clip(factor * apart, -4, 4)
    return y[tasks.place]


def test_places_are_those_of_a_plain_loop():
    graph = random_graph(40, seed=2)
    start = np.random.default_rng(5).normal(size=(40, 2))
    fast = lay_out(graph, start=start, epochs=3)
    np.testing.assert_allclose(fast, slow_twin(start, graph, 3, seed=4), rtol=0, atol=0.02)


class KeptInMemory:
    """Checkpoints of every epoch."""

    def __init__(self):
        self.kept = {}

    def load(self):
        return max(self.kept.items()) if self.kept else None

    def offer(self, steps, places):
        self.kept[steps] = places()


def test_a_layout_goes_on_from_a_checkpoint_to_the_same_places():
    graph = random_graph(60)
    checkpoints = KeptInMemory()
    whole = lay_out(graph, checkpoints=checkpoints)
    assert set(checkpoints.kept) == set(range(2, 31))
    for done in (2, 17, 30):
        resumed = lay_out(graph, start=checkpoints.kept[done], done=done)
        np.testing.assert_array_equal(resumed, whole)


def test_a_layout_stops_when_it_is_cancelled():
    def stop(fraction, message=""):
        if fraction > 0.5:
            raise Cancelled

    with pytest.raises(Cancelled):
        lay_out(random_graph(60), progress=stop)


def cross_entropy(y: np.ndarray, neighbors) -> float:
    """Of the fuzzy graphs of the points and of the map, per pair."""
    from umap.umap_ import fuzzy_simplicial_set

    n = len(y)
    own = np.arange(n)[:, np.newaxis]
    indices = np.hstack([own, neighbors.indices]).astype(np.int32)
    distances = np.hstack([np.zeros((n, 1)), neighbors.distances]).astype(np.float32)
    p = (
        fuzzy_simplicial_set(
            y, indices.shape[1], np.random.RandomState(0), "euclidean", {}, indices, distances
        )[0]
        .toarray()
        .astype(np.float64)
    )
    squared = ((y[:, np.newaxis] - y[np.newaxis]) ** 2).sum(axis=2)
    q = 1 / (1 + A * squared**B)
    pairs = ~np.eye(n, dtype=bool)
    p, q = (np.clip(each[pairs], 1e-12, 1 - 1e-9) for each in (p, q))
    return float((p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))).mean())


@pytest.mark.filterwarnings("ignore")  # umap-learn remarks on its threads
def test_maps_are_as_faithful_as_those_of_umap_learn(monkeypatch):
    from sklearn.manifold import trustworthiness

    x = curved_sheet(900)
    neighbors, vectors = neighbors_of(x), vectors_of(x)
    theirs = [embed("umap", neighbors, vectors, epochs=200, seed=seed).y for seed in (1, 2)]
    monkeypatch.setattr("core.embedding.umap_layout.UMAP_LEARN_UP_TO", 10)
    ours = [embed("umap", neighbors, vectors, epochs=200, seed=seed).y for seed in (1, 2)]
    for measure, tolerance in (
        (lambda y: trustworthiness(x, y, n_neighbors=12), 0.005),
        (lambda y: -cross_entropy(y, neighbors), 0.005),
    ):
        assert (
            np.mean([measure(y) for y in ours]) > np.mean([measure(y) for y in theirs]) - tolerance
        )


@pytest.mark.usefixtures("in_parallel")
def test_components_and_duplicates_have_places():
    apart = np.concatenate([curved_sheet(40), curved_sheet(30) + 50, np.full((25, 12), -70.0)])
    result = embed("umap", neighbors_of(apart, 6), vectors_of(apart), epochs=30, threads=3)
    assert result.components == 3
    assert np.isfinite(result.y).all()
    assert "3 components" in result.notices[0]
    again = embed("umap", neighbors_of(apart, 6), vectors_of(apart), epochs=30, threads=1)
    np.testing.assert_array_equal(result.y, again.y)
