"""UMAP (McInnes, Healy and Melville 2018) on given neighbours.

Up to ``UMAP_LEARN_UP_TO`` points are laid out by umap-learn, to the same numbers. Beyond, it still
weighs the graph, and our own optimiser lays it out on all threads. All points are laid out, unless
landmarks are asked for: then a sample is laid out by its own neighbours, and the others are placed
by theirs in the sample, each by itself, so that the picture is the same whatever they come with.
"""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from core.embedding import landmarks
from core.embedding.graph import count_components
from core.embedding.laplacian import Laplacian
from core.embedding.method import Embedding, EmbeddingRequest, Method
from core.embedding.spectral import RIDGE
from core.errors import InputError
from core.neighbors import build_index, find_neighbors
from core.progress import Progress, part
from core.registry import Parameter, Value

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# umap-learn is repeatable on one thread only. Above this many points that is the brake.
UMAP_LEARN_UP_TO = 50_000

# Averaging over more landmarks pulls points together; over fewer, it follows single ones.
PLACED_BY = 10
_SECONDS_PER_PLACED = 1.5e-4
_SECONDS_PER_POINT_IN_PARALLEL = 1.6e-4


class UMAP(Method):
    """A fuzzy version of the graph, laid out by attraction and repulsion."""

    name = "umap"
    title = "UMAP"
    seconds_per_point = 7e-4  # of those that are laid out
    help = "Lays out a fuzzy neighbour graph by attraction and repulsion"
    parameters = (
        Parameter(
            name="min_dist",
            default=0.1,
            low=0.0,
            high=1.0,
            help="How tightly points may sit together on the map",
        ),
        Parameter(
            name="epochs",
            default=0,
            low=0,
            high=100_000,
            help="Passes over the edges; 0 takes 500 up to 10,000 points, 200 beyond",
        ),
        Parameter(
            name="repeatable",
            default=False,
            help=f"Take umap-learn's own optimiser also above {UMAP_LEARN_UP_TO:,} points, on one "
            "thread. Both give the same picture for the same seed",
        ),
        Parameter(
            name="landmarks",
            default=0,
            low=0,
            high=100_000_000,
            help="Points to fit when there are more of them than this; the others are placed by "
            "these. 0 fits all",
        ),
    )

    def seconds(self, n: int, p: int, settings: Mapping[str, Value]) -> float:
        """About how long a map of n points with p columns takes."""
        laid_out = min(n, int(settings["landmarks"]) or n)
        each = self.seconds_per_point
        if _in_parallel(laid_out, settings):
            each = _SECONDS_PER_POINT_IN_PARALLEL
        return laid_out * each + (n - laid_out) * _SECONDS_PER_PLACED

    def revision(self, settings: Mapping[str, Value], n: int) -> int:
        """Return 0 for umap-learn's layout; raise the other when our own changes."""
        return 2 if _in_parallel(min(n, int(settings["landmarks"]) or n), settings) else 0

    def fit(self, request: EmbeddingRequest) -> Embedding:
        """Lay out all points, or a sample that places the others."""
        count = int(request.settings["landmarks"]) or request.n
        return self._fit_all(request) if count >= request.n else self._fit_some(request, count)

    def _fit_some(self, request: EmbeddingRequest, count: int) -> Embedding:
        """Fit ``count`` of the points and place the others by those nearest to them."""
        from core.vectors import Vectors

        fitted = landmarks.choose(request.n, count, request.seed)
        others = np.setdiff1d(np.arange(request.n), fitted)
        vectors = request.vectors
        ordered = Vectors.from_array(
            vectors.x[np.concatenate([fitted, others])],
            distance=vectors.distance,
            blocks=vectors.blocks,
            block_weights=vectors.block_weights,
        )
        sample = replace(ordered, x=ordered.x[:count])
        neighbors = find_neighbors(
            sample,
            k=request.k,
            seed=request.seed,
            threads=request.threads,
            progress=part(request.progress, 0.0, 0.1),
        )
        layout = self._fit_all(
            replace(
                request,
                indices=neighbors.indices.astype(np.int64),
                distances=neighbors.distances,
                vectors=sample,
                progress=part(request.progress, 0.1, 0.4),
                checkpoints=None,
            )
        )
        index = build_index(sample, backend="exact")
        nearest = index.query(
            replace(ordered, x=ordered.x[count:]),
            min(PLACED_BY, count),
            threads=request.threads,
            progress=part(request.progress, 0.4, 0.9),
        ).indices
        y = np.empty((request.n, request.dim))
        y[fitted] = layout.y
        y[others] = landmarks.barycentric_places(
            layout.y,
            nearest,
            ordered,
            np.arange(count, request.n),
            np.arange(count),
            ridge=RIDGE,
            threads=request.threads,
            progress=part(request.progress, 0.9, 1.0),
        )
        components = count_components(request.indices)
        notice = (
            f"UMAP laid out {count:,} of {request.n:,} points; the others are placed by the "
            f"{nearest.shape[1]} of these that are nearest: more landmarks show finer detail"
        )
        return replace(
            layout,
            y=y,
            parameters={**layout.parameters, "landmarks": count},
            components=components,
            landmarks=count,
            notices=(notice, *layout.notices),
        )

    def _fit_all(self, request: EmbeddingRequest) -> Embedding:
        """Weigh the graph as umap-learn does, and lay it out."""
        if request.n < request.dim + 2:
            raise InputError(
                f"UMAP in {request.dim} dimensions needs at least {request.dim + 2} points, got "
                f"{request.n}; choose ISOMAP, or take more points"
            )
        request.progress(0.0, "weighing the graph")
        settings = dict(request.settings)
        settings["epochs"] = int(settings["epochs"]) or (500 if request.n <= 10_000 else 200)
        notices = []
        components = count_components(request.indices)
        if components > 1:
            notices.append(
                f"the neighbour graph has {components} components, whose places relative to each "
                "other mean nothing; a larger K may join them"
            )
        lay_out = _lay_out_in_parallel if _in_parallel(request.n, settings) else _lay_out
        y, warned = lay_out(replace(request, settings=settings))
        return Embedding(
            y.astype(np.float64), self.name, settings, components, notices=(*notices, *warned)
        )


def _in_parallel(n: int, settings: Mapping[str, Value]) -> bool:
    """Whether our own optimiser lays out n points."""
    return n > UMAP_LEARN_UP_TO and not settings["repeatable"]


def _weighed_graph(request: EmbeddingRequest, random_state: np.random.RandomState) -> "csr_matrix":
    """The fuzzy union of the neighbour lists, by umap-learn."""
    import numba

    fuzzy_simplicial_set = _umap_learn().fuzzy_simplicial_set
    # umap-learn counts the point itself as its first neighbour.
    indices = np.column_stack([np.arange(request.n), request.indices]).astype(np.int32)
    distances = np.column_stack([np.zeros(request.n), request.distances]).astype(np.float32)
    threads_before = numba.get_num_threads()
    numba.set_num_threads(min(request.threads, threads_before))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # With neighbours given, the rows and the metric are not looked at.
            graph, *_ = fuzzy_simplicial_set(
                request.vectors.x,
                request.k + 1,
                random_state,
                "euclidean",
                {},
                indices,
                distances,
            )
    finally:
        numba.set_num_threads(threads_before)
    return graph


def _umap_learn() -> Any:
    with warnings.catch_warnings():
        # Its optional part wants TensorFlow, which nothing here needs.
        warnings.simplefilter("ignore", ImportWarning)
        from umap import umap_
    return umap_


def _lay_out_in_parallel(request: EmbeddingRequest) -> tuple[np.ndarray, tuple[str, ...]]:
    """Lay out by our own optimiser, from a multilevel spectral start."""
    from core.embedding._multilevel import spectral_start
    from core.embedding._umap_optimiser import drawn_edges, optimise

    epochs = int(request.settings["epochs"])
    a, b = _umap_learn().find_ab_params(1.0, float(request.settings["min_dist"]))
    graph = drawn_edges(_weighed_graph(request, np.random.RandomState(request.seed)), epochs)
    kept = None if request.checkpoints is None else request.checkpoints.load()
    if kept is None:
        starting = part(request.progress, 0.05, 0.1)
        kept = 0, spectral_start(graph, request.dim, seed=request.seed, progress=starting)
    done, start = kept
    y = optimise(
        start,
        graph,
        a=a,
        b=b,
        epochs=epochs,
        seed=request.seed,
        threads=request.threads,
        progress=part(request.progress, 0.1, 1.0),
        checkpoints=request.checkpoints,
        done=done,
    )
    return y, ()


def _lay_out(request: EmbeddingRequest) -> tuple[np.ndarray, tuple[str, ...]]:
    """Take umap-learn's own steps on one thread, so that its numbers are those of ``umap.UMAP``."""
    epochs = int(request.settings["epochs"])
    umap_learn = _umap_learn()
    random_state = np.random.RandomState(request.seed)
    a, b = umap_learn.find_ab_params(1.0, float(request.settings["min_dist"]))
    graph = _weighed_graph(request, random_state)
    request.progress(0.05, "finding a start")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y, _ = umap_learn.simplicial_set_embedding(
            request.vectors.x,
            graph,
            request.dim,
            initial_alpha=1.0,
            a=a,
            b=b,
            gamma=1.0,
            negative_sample_rate=5,
            n_epochs=_Epochs(epochs, request.progress),
            init=_start(graph, epochs, request),
            random_state=random_state,
            metric="euclidean",
            metric_kwds={},
            densmap=False,
            densmap_kwds={},
            output_dens=False,
            parallel=False,
        )
    if any("Spectral initialisation failed" in str(warning.message) for warning in caught):
        return y, ("no spectral start was found; the layout started from random places",)
    return y, ()


def _start(graph: "csr_matrix", epochs: int, request: EmbeddingRequest) -> str | np.ndarray:
    """Let umap-learn find its spectral start, unless the graph falls apart.

    It would place components by eigenvectors of a matrix that is often nearly the identity, for
    which the solver starts again from unseeded random numbers: another picture each time. Instead
    they start as Laplacian eigenmaps, side by side.
    """
    from scipy.sparse.csgraph import connected_components

    # umap-learn drops edges that would not be drawn even once.
    kept = graph.copy()
    kept.data[kept.data < kept.data.max() / epochs] = 0
    kept.eliminate_zeros()
    if connected_components(kept, directed=False, return_labels=False) == 1:
        return "spectral"
    defaults = {parameter.name: parameter.default for parameter in Laplacian.parameters}
    share = part(request.progress, 0.05, 0.1)
    y = Laplacian().fit(replace(request, settings=defaults, progress=share)).y
    # As umap-learn does with its own start: a size of ten, and a little noise that parts points.
    y *= 10 / (np.abs(y).max() or 1.0)
    return y + np.random.default_rng(request.seed).normal(0, 1e-4, y.shape)


class _Epochs(list[int]):
    """The number of epochs, in a form that reports progress.

    umap-learn takes a list of epochs after which to keep a copy of the layout, and asks after
    each epoch whether it is in the list. That question is the one place where its optimiser comes
    back to its caller, which can then report, or raise to stop.
    """

    def __init__(self, epochs: int, progress: Progress) -> None:
        super().__init__([epochs])
        self.progress = progress

    def __contains__(self, epoch: Any) -> bool:
        self.progress(0.1 + 0.9 * (epoch + 1) / self[0], "moving points")
        return False
