"""How faithful an embedding is: eight measures from one pass over ranks.

ρ_ij is the rank of j among the neighbours of i in the statistical distance and r_ij its rank in
the embedding, ties by index. U_i and V_i are the K nearest in input and output. Every measure is
a mean over points, so a sample of points estimates it with a confidence interval.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from core.errors import InputError
from core.parallel import run_tasks
from core.progress import Progress, part, silent
from core.quality import ranks
from core.quality.reference import QualityReference, local_grams, prepare_reference
from core.vectors import Vectors

MEASURES = (
    "trustworthiness",
    "continuity",
    "lcmc",
    "q_nx",
    "r_nx",
    "mrre_n",
    "mrre_v",
    "procrustes",
)


@dataclass(frozen=True, kw_only=True)
class Quality:
    """Faithfulness of an embedding; higher is better throughout.

    A measure is None where the number of points leaves it undefined; ``notices`` then says why.

    Attributes
    ----------
    trustworthiness : float, optional
        1 less the penalty for neighbours on the map that are far in truth (Venna and Kaski).
    continuity : float, optional
        1 less the penalty for true neighbours that are far on the map.
    lcmc : float, optional
        Local continuity meta-criterion: the shared part of the neighbourhoods over that of chance.
    q_nx, r_nx : float, optional
        The shared part of the neighbourhoods, and the same rescaled so that chance gives 0.
    mrre_n, mrre_v : float, optional
        1 less the mean relative rank error over true and over mapped neighbours.
    procrustes : float, optional
        Mean agreement of the local shapes after rotation and scaling.
    k : int
        Size of a neighbourhood.
    n : int
        Number of points.
    sample_size : int, optional
        How many points were measured, when not all were.
    intervals : mapping of str to (float, float)
        95 % confidence intervals of the measures, when not all points were measured.
    notices : tuple of str
        What a reader should know.
    """

    trustworthiness: float | None
    continuity: float | None
    lcmc: float | None
    q_nx: float | None
    r_nx: float | None
    mrre_n: float | None
    mrre_v: float | None
    procrustes: float | None
    k: int
    n: int
    sample_size: int | None = None
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    notices: tuple[str, ...] = ()

    def measures(self) -> dict[str, float | None]:
        """Return the measures by name, in the order of `MEASURES`."""
        return {name: getattr(self, name) for name in MEASURES}


def measure_quality(
    vectors: Vectors,
    y: np.ndarray,
    *,
    k: int,
    sample: int | None = None,
    seed: int = 1,
    threads: int | None = None,
    progress: Progress = silent,
) -> Quality:
    """Measure one embedding of ``vectors``.

    For several embeddings of the same vectors, call `prepare_reference` once and
    `measure_embedding` for each.

    Parameters
    ----------
    y : ndarray of shape (n, d)
        The embedding.
    k : int
        Size of a neighbourhood.
    sample : int, optional
        How many points to measure, each against all. By default all of up to 10,000 points, and
        1,000 of more.
    seed : int
        Chooses the sample.
    threads : int, optional
        How many threads; by default one per processor.
    """
    reference = prepare_reference(
        vectors, k=k, sample=sample, seed=seed, threads=threads, progress=part(progress, 0.0, 0.7)
    )
    return measure_embedding(reference, y, threads=threads, progress=part(progress, 0.7, 1.0))


def measure_embedding(
    reference: QualityReference,
    y: np.ndarray,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> Quality:
    """Measure an embedding ``y`` (n, d) against a prepared reference."""
    y = _check_embedding(y, reference.n)
    notices = list(reference.notices)
    if len(y) > 1 and np.all(y == y[0]):
        notices.append("the embedding is a single point: all distances tie, ranks are by index")
    scores: dict[str, np.ndarray] = {}
    if reference.k > 0:
        contributions, neighbors = _score_points(
            reference, y, threads=threads, progress=part(progress, 0.0, 0.9)
        )
        scores = _rank_scores(contributions, n=reference.n, k=reference.k)
        if reference.k > 1:
            grams = reference.grams
            if grams is None:
                grams = local_grams(reference.vectors, neighbors, threads=threads)
            scores["procrustes"] = procrustes_agreement(grams, y[neighbors])
    progress(1.0)
    notices += _explain_undefined(scores, n=reference.n, k=reference.k)
    return Quality(
        **{name: float(scores[name].mean()) if name in scores else None for name in MEASURES},
        k=reference.k,
        n=reference.n,
        sample_size=len(reference.points) if reference.is_sample else None,
        intervals=_intervals(scores, reference.n) if reference.is_sample else {},
        notices=tuple(notices),
    )


def _check_embedding(y: np.ndarray, n: int) -> np.ndarray:
    y = np.asarray(y, np.float64)
    if y.ndim != 2 or len(y) != n:
        raise InputError(f"the embedding must have {n} rows as the vectors have, got {y.shape}")
    bad = np.flatnonzero(~np.isfinite(y).all(axis=1))
    if bad.size:
        raise InputError(f"{bad.size} points of the embedding are not finite, first {bad[0]}")
    return y


def _score_points(
    reference: QualityReference, y: np.ndarray, *, threads: int | None, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """Rank contributions (s, 5) and exact neighbours (s, k) of the measured points."""
    axes = np.ascontiguousarray(y.T)
    contributions = np.empty((len(reference.points), 5))
    known = reference.neighbors is not None
    neighbors = reference.neighbors
    if neighbors is None:
        neighbors = np.empty((len(reference.points), reference.k), np.int64)

    def score(block: slice) -> None:
        ranks.score_rows(
            reference.sum_rows(block),
            reference.points[block],
            axes,
            contributions[block],
            neighbors[block],
            known,
        )

    run_tasks(score, reference.blocks, threads=threads, progress=progress)
    return contributions, neighbors


def _rank_scores(contributions: np.ndarray, *, n: int, k: int) -> dict[str, np.ndarray]:
    """Split each measure that ranks define into what every point contributes to it."""
    scores = {}
    # Venna and Kaski's G_K / 2N: the penalty of a point whose neighbours are the farthest points.
    worst = k * (2 * n - 3 * k - 1) / 2 if k < n / 2 else (n - k) * (n - k - 1) / 2
    if worst > 0:
        scores["trustworthiness"] = 1 - contributions[:, ranks.INTRUSION] / worst
        scores["continuity"] = 1 - contributions[:, ranks.EXTRUSION] / worst
    shared = contributions[:, ranks.SHARED] / k
    scores["lcmc"] = shared - k / (n - 1)
    scores["q_nx"] = shared
    if k < n - 1:
        scores["r_nx"] = ((n - 1) * shared - k) / (n - 1 - k)
    places = np.arange(1, k + 1)
    worst_error = np.sum(np.abs(n - 2 * places + 1) / places)
    scores["mrre_n"] = 1 - contributions[:, ranks.ERROR_INPUT] / worst_error
    scores["mrre_v"] = 1 - contributions[:, ranks.ERROR_OUTPUT] / worst_error
    return scores


def procrustes_agreement(grams: np.ndarray, local_y: np.ndarray) -> np.ndarray:
    """Agreement of each local shape with its image, from 0 to 1, free of rotation and scale.

    ‖X̃ᵀỸ‖_*² / (‖X̃‖²_F ‖Ỹ‖²_F), where ‖X̃ᵀỸ‖_* is the sum of the square roots of the
    eigenvalues of Ỹᵀ X̃X̃ᵀ Ỹ: only the Gram matrix X̃X̃ᵀ is needed, however long the vectors.

    Parameters
    ----------
    grams : ndarray of shape (s, k, k)
        Gram matrices X̃X̃ᵀ of centred neighbourhoods.
    local_y : ndarray of shape (s, k, d)
        The same neighbourhoods in the embedding.

    Returns
    -------
    ndarray of shape (s,)
        A neighbourhood without extent in both spaces agrees fully, in one of them not at all.
    """
    # About the first point: identical points are exactly zero, as in the Gram matrices.
    centred = local_y - local_y[:, :1]
    centred -= centred.mean(axis=1, keepdims=True)
    image_size = np.einsum("skd,skd->s", centred, centred)
    input_size = np.einsum("skk->s", grams, dtype=np.float64)
    flat_input, flat_image = input_size <= 0, image_size <= 0
    cross = centred.transpose(0, 2, 1) @ (grams @ centred)
    eigenvalues = np.linalg.eigvalsh(cross)
    nuclear = np.sqrt(np.clip(eigenvalues, 0, None)).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        agreement = nuclear**2 / (input_size * image_size)
    agreement = np.where(flat_input | flat_image, flat_input & flat_image, agreement)
    return np.clip(agreement, 0.0, 1.0)


def _explain_undefined(scores: Mapping[str, np.ndarray], *, n: int, k: int) -> list[str]:
    missing = [name for name in MEASURES if name not in scores]
    if not missing:
        return []
    if n < 2:
        return ["quality is undefined: a single point has no neighbours"]
    return [
        f"{', '.join(missing)} undefined: with {n} points, a neighbourhood of {k} is "
        + ("all the other points" if k == n - 1 else "a single point")
    ]


def _intervals(scores: Mapping[str, np.ndarray], n: int) -> dict[str, tuple[float, float]]:
    """95 % normal intervals of the means, for a sample drawn without replacement from n points."""
    result = {}
    for name, values in scores.items():
        size = len(values)
        spread = values.std(ddof=1) if size > 1 else np.inf
        margin = 1.96 * spread * np.sqrt((1 - size / n) / size)
        result[name] = (float(values.mean() - margin), min(1.0, float(values.mean() + margin)))
    return result
