"""t-SNE (van der Maaten and Hinton 2008) on given neighbours, by openTSNE."""

import math
from collections.abc import Mapping

import numpy as np

from core.embedding.graph import union_graph
from core.embedding.method import Embedding, Method, Request
from core.embedding.principal import principal_components
from core.errors import InputError
from core.progress import Progress, part
from core.registry import Parameter, Value

# Perplexity counts effective neighbours; below one there is nothing to tune.
MIN_POINTS = 4
# Iterations with exaggerated attraction that come before the others (openTSNE's default).
EARLY_ITERATIONS = 250
# openTSNE's own bound between Barnes–Hut and interpolation.
INTERPOLATE_FROM = 10_000


class TSNE(Method):
    """Each point keeps the company it had."""

    name = "tsne"
    title = "t-SNE"
    help = "Keeps who is near whom; searches for 3 × perplexity neighbours of its own"
    parameters = (
        Parameter(
            name="perplexity",
            default=30.0,
            low=1.0,
            high=1000.0,
            help="About how many neighbours each point should keep",
        ),
        Parameter(
            name="iterations",
            default=500,
            low=1,
            high=100_000,
            help=f"Steps of gradient descent, after {EARLY_ITERATIONS} with early exaggeration",
        ),
        Parameter(
            name="early_exaggeration",
            default=12.0,
            low=1.0,
            high=100.0,
            help="How much stronger attraction is at first",
        ),
    )

    def n_neighbors_needed(self, k: int, settings: Mapping[str, Value], n: int) -> int:
        """Three times the perplexity, whatever k is."""
        perplexity = float(settings.get("perplexity", self.parameters[0].default))
        return min(math.ceil(3 * perplexity), n - 1)

    def fit(self, request: Request) -> Embedding:
        """Run openTSNE from principal components."""
        if request.n < MIN_POINTS:
            raise InputError(
                f"t-SNE needs at least {MIN_POINTS} points, got {request.n}; "
                "choose ISOMAP, or take more points"
            )
        if request.dim > 3:
            raise InputError(
                f"t-SNE gives 1, 2 or 3 coordinates, not {request.dim}: its fast gradients exist "
                "only there; lower the dimension or choose another method"
            )
        from openTSNE import TSNEEmbedding
        from openTSNE.affinity import PerplexityBasedNN
        from openTSNE.nearest_neighbors import PrecomputedNeighbors

        settings = dict(request.settings)
        perplexity, notices = _possible_perplexity(float(settings["perplexity"]), request)
        settings["perplexity"] = perplexity
        components, _ = union_graph(request.indices, request.distances).components()
        if components > 1:
            notices.append(
                f"the neighbour graph has {components} components, whose places relative to each "
                "other mean nothing; a larger perplexity may join them"
            )
        start = _start(request)
        request.progress(0.1, "weighing the neighbours")
        affinities = PerplexityBasedNN(
            knn_index=PrecomputedNeighbors(request.indices, request.distances),
            perplexity=perplexity,
            n_jobs=request.threads,
        )
        iterations = int(settings["iterations"])
        embedding = TSNEEmbedding(
            start,
            affinities,
            # Interpolation exists for one and two dimensions only.
            negative_gradient_method="fft"
            if request.n >= INTERPOLATE_FROM and request.dim <= 2
            else "bh",
            n_jobs=request.threads,
            callbacks_every_iters=max(1, min(10, 500_000 // request.n)),
        )
        total = EARLY_ITERATIONS + iterations
        embedding.optimize(
            EARLY_ITERATIONS,
            exaggeration=float(settings["early_exaggeration"]),
            momentum=0.8,
            inplace=True,
            callbacks=_reporter(request.progress, 0, total),
        )
        embedding.optimize(
            iterations,
            momentum=0.8,
            inplace=True,
            callbacks=_reporter(request.progress, EARLY_ITERATIONS, total),
        )
        y = np.array(embedding, dtype=np.float64)
        return Embedding(y, self.name, settings, components, notices=tuple(notices))


def _possible_perplexity(wanted: float, request: Request) -> tuple[float, list[str]]:
    """Lower the perplexity to what the neighbours at hand support, and say so."""
    highest = min((request.n - 1) / 3, request.k / 3)
    # A search for ⌈3 · perplexity⌉ neighbours is enough for it.
    if wanted <= highest or request.k == math.ceil(3 * wanted):
        return wanted, []
    highest = max(highest, 1.0)
    return highest, [
        f"perplexity {wanted:g} needs {math.ceil(3 * wanted)} neighbours of each of the "
        f"{request.n:,} points; with {request.k} it is lowered to {highest:.3g}"
    ]


def _start(request: Request) -> np.ndarray:
    """Principal components, small, with a jitter that parts duplicates (which crash no tree)."""
    share = part(request.progress, 0.0, 0.1)
    y = principal_components(request.vectors, request.dim, request.seed, share)
    spread = y[:, 0].std()
    y *= 1e-4 / spread if spread > 0 else 0.0
    return y + np.random.default_rng(request.seed).normal(0, 1e-6, y.shape)


def _reporter(progress: Progress, before: int, total: int):  # type: ignore[no-untyped-def]
    """Tell progress after some iterations; what it raises stops openTSNE and passes through."""

    def report(iteration: int, error: float, embedding: np.ndarray) -> bool:
        progress(0.1 + 0.9 * (before + iteration) / total, "moving points")
        return False

    return report
