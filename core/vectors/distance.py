"""Distributions of demand as vectors whose norm differences are statistical distances.

This is the one place that knows that the Hellinger distance is L2 on √(p/2) and that total
variation is ½ L1 on p.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
import pandas as pd

from core.cube import Cube
from core.errors import InputError
from core.fields import FIELDS, Distance, Unit
from core.progress import Progress, silent
from core.readings import Dataset
from core.summary import Summarized
from core.vectors._rows import write_rows
from core.vectors.units import choose_samples

Norm = Literal[0, 1, 2]

_NORMS: dict[Distance, Norm] = {"hellinger": 2, "tv": 1, "js": 0}
_SCALES: dict[Distance, float] = {"hellinger": 1.0, "tv": 0.5, "js": 1.0}

# Pairs are compared in float64 this many numbers at a time.
_PAIR_CELLS = 1 << 20


@dataclass(frozen=True, eq=False, repr=False)
class Vectors(Summarized):
    """One row per unit, such that ``scale · ‖x_i − x_j‖_norm`` is the statistical distance.

    Attributes
    ----------
    x : ndarray of shape (n, p)
        float32, or unsigned integer counts where they give the exact answer.
    distance : {'hellinger', 'tv', 'js'}
        The statistical distance. Jensen–Shannon is no norm: its rows are probabilities, and the
        distance is √JSD in base 2 for a single block and Σ JSD over several.
    sample_size : ndarray of shape (n,)
        How many readings stand behind each row.
    units : DataFrame of n rows
        What each row is: ``label``, ``household`` and, where the unit has one, ``slot``.
    blocks : int
        A row is this many stacked distributions of p / blocks bins (336 for ``profiles``).
    block_weights : ndarray of shape (blocks,), optional
        With counts, what a difference of one in each block is worth (1 / sample size); the norm
        is then taken of the weighted differences.
    block_sizes : ndarray of int, shape (n, blocks), optional
        Readings behind each block; where a block is filled, those of the whole week.
    unit : str
        What a row is, see :func:`make_vectors`.
    left_out : DataFrame, optional
        Units that are not among the rows: ``label``, their sample size ``m`` and the ``reason``.
    filled_slots : int
        Empty slots of profiles that take their household's distribution over the week.
    notices : tuple of str
        What the user should know.
    """

    x: np.ndarray
    distance: Distance
    sample_size: np.ndarray
    units: pd.DataFrame
    blocks: int = 1
    block_weights: np.ndarray | None = None
    block_sizes: np.ndarray | None = None
    unit: Unit = "slots"
    left_out: pd.DataFrame | None = None
    filled_slots: int = 0
    notices: tuple[str, ...] = ()

    @classmethod
    def from_array(
        cls,
        x: np.ndarray,
        *,
        distance: Distance,
        blocks: int = 1,
        block_weights: np.ndarray | None = None,
    ) -> Self:
        """Take rows as they are, already √(p/2) for Hellinger and p (or counts) for the others."""
        return cls(
            x=x,
            distance=distance,
            sample_size=np.ones(len(x), dtype=np.int64),
            units=pd.DataFrame({"label": np.arange(len(x)).astype(str)}),
            blocks=blocks,
            block_weights=block_weights,
        )

    @property
    def norm(self) -> Norm:
        """1 or 2, or 0 for Jensen–Shannon, which is no norm."""
        return _NORMS[self.distance]

    @property
    def scale(self) -> float:
        """Turns the norm into the statistical distance."""
        return _SCALES[self.distance]

    @property
    def is_normed(self) -> bool:
        """Whether the distance is a norm of differences; Jensen–Shannon is not."""
        return self.norm != 0

    @property
    def column_weights(self) -> np.ndarray | None:
        """What a difference of one in each column is worth, (p,); None where that is 1."""
        if self.block_weights is None:
            return None
        return np.repeat(self.block_weights, self.x.shape[1] // self.blocks)

    def coordinates(
        self,
        rows: np.ndarray | slice = slice(None),
        columns: slice = slice(None),
        *,
        dtype: type = np.float64,
    ) -> np.ndarray:
        """Return rows as points: √(p/2) under Hellinger, p under the other distances.

        Parameters
        ----------
        rows : slice, or ndarray of row numbers of any shape
        columns : slice
            Which of the p coordinates; all by default.
        dtype : type
            Of the coordinates.

        Returns
        -------
        ndarray of shape (*rows.shape, columns)
            Without weights and in the type of ``x``, the rows themselves.
        """
        points = self.x[rows, columns]
        weights = self.column_weights
        if weights is None:
            return points.astype(dtype, copy=False)
        points = points.astype(dtype)
        points *= weights[columns].astype(dtype)
        return points

    def without_counts(self) -> Self:
        """Return the same points with float32 coordinates.

        Counts stand for probabilities only beside others of the same sample sizes.
        """
        if self.x.dtype.kind != "u":
            return self
        n, p = self.x.shape
        probabilities = np.empty((n, self.blocks, p // self.blocks), np.float32)
        for row, sizes in enumerate(self.sizes_of_blocks()):
            probabilities[row] = self.x[row].reshape(self.blocks, -1) / sizes[:, None]
        return replace(self, x=probabilities.reshape(n, p), block_weights=None)

    def sizes_of_blocks(self) -> np.ndarray:
        """Return ``block_sizes``, or say that they are not known."""
        if self.block_sizes is None:
            raise InputError("the sample size of every block is not known; make vectors of a cube")
        return self.block_sizes

    def to_distances(self, sums: np.ndarray) -> np.ndarray:
        """Turn sums of ``abs(x_i − x_j)**norm``, or of divergences, into statistical distances."""
        root = self.norm == 2 or (not self.is_normed and self.blocks == 1)
        return self.scale * (np.sqrt(sums) if root else sums)


def make_vectors(
    cube: Cube,
    dataset: Dataset,
    *,
    unit: Unit = "profiles",
    distance: Distance | None = None,
    window: int | None = None,
    households: Sequence[str] | None = None,
    household: str | None = None,
    slots: Sequence[int] | np.ndarray | None = None,
    minimum_sample: int = 20,
    threads: int | None = None,
    progress: Progress = silent,
) -> Vectors:
    """Turn counts into vectors, one row per unit.

    Parameters
    ----------
    cube : Cube
        Counts of the dataset's readings.
    dataset : Dataset
        Where the households' ids come from.
    unit : {'profiles', 'slots', 'households', 'household-slots'}
        What a row is: a household's whole week with its slots side by side, one slot of one
        household's week, all readings of a household, or one slot of any household.
    distance : {'hellinger', 'tv', 'js'}, optional
        By default total variation for profiles and Hellinger for the other units.
    window : int, optional
        A slot's sample takes in this many slots on either side, cyclically over the week and
        before any choice of slots; 1 by default. ``households`` takes none.
    households : sequence of household ids, optional
        All households of the cube by default.
    household : household id, optional
        The one household of unit ``slots``.
    slots : sequence of int, optional
        Slots to use, see :func:`core.slots.parse_slots`; all by default.
    minimum_sample : int
        Units with fewer readings are left out and named.
    threads : int, optional
        All cores by default. The vectors do not depend on them.
    progress : Progress
        Called with the share of the work that is done; may raise to stop it.

    Returns
    -------
    Vectors
    """
    if distance is None:
        distance = FIELDS["distance"].default_of(unit)
    if distance not in _NORMS:
        raise InputError(f"there is no distance {distance!r}; choose one of {', '.join(_NORMS)}")
    samples = choose_samples(
        cube,
        dataset,
        unit=unit,
        window=window,
        households=households,
        household=household,
        slots=slots,
        minimum_sample=minimum_sample,
    )
    sizes = samples.block_sizes
    n, blocks = sizes.shape
    count_type = _count_type(sizes) if distance == "tv" else None
    x = np.empty((n, blocks, cube.n_bins), dtype=count_type or np.float32)
    hellinger = distance == "hellinger"
    write_rows(samples, x, hellinger=hellinger, threads=threads, progress=progress)
    filled = np.argwhere(sizes == 0)
    for row in np.unique(filled[:, 0]):
        pooled = samples.week_counts(row)
        x[row, sizes[row] == 0] = to_coordinates(pooled, pooled.sum(), distance)
    return Vectors(
        x=x.reshape(n, -1),
        distance=distance,
        sample_size=samples.sample_size,
        units=samples.units,
        blocks=blocks,
        block_weights=1 / sizes[0] if count_type else None,
        block_sizes=np.where(sizes > 0, sizes, samples.sample_size[:, None]).astype(np.int32),
        unit=unit,
        left_out=samples.left_out,
        filled_slots=len(filled),
        notices=samples.notices,
    )


def _count_type(sizes: np.ndarray) -> np.dtype | None:
    """Return the type of the counts, if they can stand for the probabilities.

    They can where a block has the same sample size in every row: p and q then differ by a
    difference of counts over that size, and no rounding is left in the rows.
    """
    if sizes.min() == 0 or (sizes != sizes[0]).any() or sizes.max() > np.iinfo(np.uint16).max:
        return None
    return np.min_scalar_type(sizes.max())


def to_coordinates(counts: np.ndarray, sizes: np.ndarray, distance: Distance) -> np.ndarray:
    """Return √(p/2) for Hellinger and p for the others, in float64; empty samples give zeros."""
    p = counts / np.maximum(sizes, 1)[..., None]
    if distance != "hellinger":
        return p
    p /= 2
    return np.sqrt(p, out=p)


def statistical_distance(
    vectors: Vectors, rows_a: np.ndarray | int, rows_b: np.ndarray | int
) -> np.ndarray:
    """Return the distances between pairs of rows, in float64 by direct differences.

    Every pair is summed by itself in one order, so the answer does not depend on the others.

    Parameters
    ----------
    vectors : Vectors
    rows_a, rows_b : int or ndarray of int
        Pairs of row numbers, broadcast against each other.

    Returns
    -------
    ndarray of float64
        Hellinger and total variation between 0 and 1 for a single distribution per row. For a row
        of several blocks: Hellinger (Σ Ĥ²)^½, total variation Σ T̂V, Jensen–Shannon Σ JSD (which
        is no metric, unlike the √JSD of a single block).
    """
    a, b = np.broadcast_arrays(rows_a, rows_b)
    found = np.empty(a.size)
    step = max(1, _PAIR_CELLS // max(1, vectors.x.shape[1]))
    for first in range(0, a.size, step):
        part = slice(first, first + step)
        found[part] = _between(vectors, vectors.x[a.ravel()[part]], vectors.x[b.ravel()[part]])
    return found.reshape(a.shape)


def _between(vectors: Vectors, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = a.astype(np.float64), b.astype(np.float64)
    if not vectors.is_normed:
        from scipy.special import rel_entr

        middle = (a + b) / 2
        divergence = (rel_entr(a, middle) + rel_entr(b, middle)).sum(axis=-1) / (2 * np.log(2))
        return vectors.to_distances(np.maximum(divergence, 0))
    difference = a - b
    if vectors.column_weights is not None:
        difference *= vectors.column_weights
    powers = np.abs(difference) if vectors.norm == 1 else difference**2
    return vectors.to_distances(powers.sum(axis=-1))
