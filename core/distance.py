"""Distributions of demand as vectors whose norm differences are statistical distances.

This is the one place that knows that the Hellinger distance is L2 on √(p/2) and that total
variation is ½ L1 on p.
"""

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
import pandas as pd

Distance = Literal["hellinger", "tv", "js"]


@dataclass(frozen=True, eq=False)
class Vectors:
    """One row a unit, such that ``scale · ‖x_i − x_j‖_norm`` is the statistical distance.

    Attributes
    ----------
    x : ndarray of shape (n, p)
        float32, or unsigned integer counts where they give the exact answer.
    norm : {0, 1, 2}
        The norm; 0 stands for Jensen–Shannon, which is no norm: rows are then probabilities.
    scale : float
        Turns the norm into the statistical distance.
    distance : str
        The name of the statistical distance.
    sample_size : ndarray of shape (n,)
        How many readings stand behind each row.
    units : DataFrame of n rows
        What each row is: ``label``, ``household`` and, where the unit has one, ``slot``.
    blocks : int
        A row is this many stacked distributions of p / blocks bins (336 for ``profiles``).
    block_weights : ndarray of shape (blocks,), optional
        With counts, what a difference of one in each block is worth (1 / sample size); the norm
        is then taken of the weighted differences.
    """

    x: np.ndarray
    norm: Literal[0, 1, 2]
    scale: float
    distance: Distance
    sample_size: np.ndarray
    units: pd.DataFrame
    blocks: int = 1
    block_weights: np.ndarray | None = None

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
        norms: dict[Distance, Literal[0, 1, 2]] = {"hellinger": 2, "tv": 1, "js": 0}
        return cls(
            x=x,
            norm=norms[distance],
            scale=0.5 if distance == "tv" else 1.0,
            distance=distance,
            sample_size=np.ones(len(x), dtype=np.int64),
            units=pd.DataFrame({"label": np.arange(len(x)).astype(str)}),
            blocks=blocks,
            block_weights=block_weights,
        )
