"""What a cube is."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from core.periods import WHOLE_RECORD, Period
from core.summary import Summarized


@dataclass(frozen=True, eq=False, repr=False)
class Cube(Summarized):
    """Counts of readings by household, slot and bin. Arrays are read-only.

    Attributes
    ----------
    counts : ndarray of shape (households, slots, n_bins)
        The smallest unsigned integers that hold them.
    sample_sizes : ndarray of int64, shape (households, slots)
        Readings in each slot: ``counts`` summed over bins.
    households : ndarray of int32, shape (households,)
        The households' codes in the dataset, increasing.
    edges : ndarray of float64, shape (n_bins − 1,)
        Increasing, in kWh. Bins are closed on the right; the last is open.
    bins : int
        The bins asked for; ``n_bins`` is smaller where edges coincided.
    n_readings : int
        The reference readings that the edges come from.
    reference : {'dataset', 'selection'}
        Whose readings they are: the whole dataset's, or just those of ``households``.
    interval_minutes : int
        Minutes a slot.
    digest : str
        Identifies the dataset, the bins, the reference and the period.
    notices : tuple of str
        What the user should know.
    period : Period
        The days whose readings are counted.
    """

    counts: np.ndarray
    sample_sizes: np.ndarray
    households: np.ndarray
    edges: np.ndarray
    bins: int
    n_readings: int
    reference: Literal["dataset", "selection"]
    interval_minutes: int
    digest: str
    notices: tuple[str, ...] = ()
    period: Period = WHOLE_RECORD

    def __post_init__(self) -> None:
        for array in (self.counts, self.sample_sizes, self.households, self.edges):
            array.flags.writeable = False

    @property
    def n_bins(self) -> int:
        """The number of bins after merging edges that coincide."""
        return len(self.edges) + 1

    @property
    def n_slots(self) -> int:
        """The number of slots in the week."""
        return int(self.counts.shape[1])


def sample_size_summary(cube: Cube) -> dict[str, Any]:
    """Describe a cube for people: its bins, and how many readings stand behind a slot."""
    m = cube.sample_sizes
    return {
        "bins": cube.bins,
        "n_bins": cube.n_bins,
        "reference": cube.reference,
        "households": len(cube.households),
        "slots": cube.n_slots,
        "sample_size": {
            "min": int(m.min()),
            "median": float(np.median(m)),
            "max": int(m.max()),
        },
        "empty_slots": int((m == 0).sum()),
    }
