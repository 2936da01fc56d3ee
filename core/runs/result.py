"""What a run gives: the map, what stands on it, and how it was made."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.anomalies import Surprise
from core.density import HDR, MapTrust
from core.embedding import Embedding
from core.neighbors import Neighbors
from core.quality import IntrinsicDimension, Quality, two_nn
from core.runs.config import RunConfig
from core.summary import Summarized

# Columns of the table that are ours; a metadata column of such a name is renamed.
_OWN_COLUMNS = (
    *("label", "household", "slot", "density", "hdr", "rank", "isolation", "surprise"),
    *("distortion", "trust", "m", "mean_kwh"),
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Run(Summarized):
    """The result of one config on one dataset.

    Attributes
    ----------
    config : RunConfig
        What was asked for.
    dataset_digest : str
        What it was asked of.
    interval_minutes : int
        Minutes from one reading to the next.
    edges : ndarray of float64, shape (n_bins − 1,)
        Of the bins, in kWh, increasing; the last bin is open.
    population : ndarray of int64, shape (n_bins,)
        Readings of all households in each bin.
    units : DataFrame of n rows
        ``label``, ``household``, ``slot`` where the unit has one, ``m`` (the sample size),
        ``mean_kwh`` (the mean of its readings), then the households' metadata.
    left_out : DataFrame
        ``label``, ``m`` and ``reason`` of units that are not on the map.
    neighbors : Neighbors
        The graph that was embedded; t-SNE asks for more than K neighbours.
    embedding : Embedding
        The map.
    hdr : HDR
        Density, levels and ranks.
    surprise : Surprise, optional
        How far every point is from what its neighbours lead one to expect: of half-hours, and
        where it ranks the points.
    trust : MapTrust
        How far to trust the map at every point.
    quality : Quality, optional
        If the config asked for it.
    recall : float, optional
        Share of true neighbours; 1 for the exact backend, else known if quality was asked for.
    seconds : mapping
        By stage; 0 for what was fetched or not asked for.
    computed_in : mapping
        By stage, the seconds it took when it was computed, now or for an earlier run.
    cached : tuple of str
        The stages that were fetched.
    notices : tuple of str
        What the user should know.
    peak_memory_mb : float
        The most that this process took until the run ended, since it began or since
        :func:`core.peak_memory.forget_peak_memory`, which workers call before every job.
    """

    config: RunConfig
    dataset_digest: str
    interval_minutes: int
    edges: np.ndarray
    population: np.ndarray
    units: pd.DataFrame
    left_out: pd.DataFrame
    neighbors: Neighbors
    embedding: Embedding
    hdr: HDR
    surprise: Surprise | None
    trust: MapTrust
    quality: Quality | None
    recall: float | None
    seconds: Mapping[str, float]
    computed_in: Mapping[str, float]
    cached: tuple[str, ...]
    notices: tuple[str, ...]
    peak_memory_mb: float

    @property
    def n_bins(self) -> int:
        """Bins after merging edges that coincide."""
        return len(self.population)

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.units)

    @property
    def y(self) -> np.ndarray:
        """Coordinates, (n, dim)."""
        return self.embedding.y

    @property
    def components(self) -> int:
        """Connected components of the neighbour graph."""
        return self.embedding.components

    @property
    def dimension(self) -> IntrinsicDimension | None:
        """How many dimensions the points have before they are drawn, by TWO-NN."""
        return two_nn(self.neighbors.distances)

    @property
    def isolation(self) -> np.ndarray:
        """The distance of every point to its K-th neighbour, (n,); 0 for a point without any."""
        k = min(self.config.k, self.neighbors.k)
        return self.neighbors.distances[:, k - 1] if k else np.zeros(self.n)

    def plot(self, *, color_by: str = "HDR", interactive: bool = False) -> Any:
        """Draw the map.

        Parameters
        ----------
        color_by : str
            What the colours show: ``HDR``, ``Density``, ``Trust``, ``Mean demand``, a column of
            the households' metadata and others; a wrong one is answered with all there are.
        interactive : bool
            Whether to return a HoloViews object to zoom and hover over, rather than a Matplotlib
            figure.
        """
        from core import plot_map

        return plot_map(self, color_by=color_by, interactive=interactive)

    def summary(self) -> dict[str, Any]:
        """Return what the map is, how it was made and what stands apart."""
        labels = self.units["label"].iloc[self.hdr.anomalies[:3]]
        return {
            "points": f"{self.n:,} {self.config.unit}",
            "distance": self.config.distance,
            "neighbors": f"{self.neighbors.k} by {self.neighbors.backend}",
            "method": self.config.method,
            "first in rank": ", ".join(labels),
            "left out": len(self.left_out),
            "notices": len(self.notices),
        }

    def table(self) -> pd.DataFrame:
        """Return one row per point.

        What it is, ``y1`` …, ``density``, ``hdr``, ``rank``, ``isolation`` (the distance to its
        K-th neighbour), ``surprise`` where it was measured, ``distortion`` (how large the map
        draws what is around it; 1 is typical), ``trust`` (the share of its neighbours that the map
        keeps), ``m``, ``mean_kwh``, then metadata.
        """
        names = [name for name in ("label", "household", "slot") if name in self.units]
        columns = {name: self.units[name] for name in names}
        columns |= {f"y{axis + 1}": self.y[:, axis] for axis in range(self.y.shape[1])}
        columns |= {
            "density": self.hdr.density,
            "hdr": pd.Series(self.hdr.labels, dtype="str"),
            "rank": self.hdr.rank,
            "isolation": self.isolation,
            **self._surprise_of(slice(None)),
            "distortion": self.trust.distortion,
            "trust": self.trust.kept,
            "m": self.units["m"],
            "mean_kwh": self.units["mean_kwh"],
        }
        for name in self.units.columns:
            if name not in (*names, "m", "mean_kwh"):
                columns[name if name not in columns else f"metadata_{name}"] = self.units[name]
        return pd.DataFrame(columns)

    def _surprise_of(self, points: int | slice) -> dict[str, Any]:
        """The column, or the field of one point; nothing where it was not measured."""
        return {} if self.surprise is None else {"surprise": self.surprise.score[points].tolist()}

    def to_json(self) -> dict[str, Any]:
        """Return what ``wattfold embed --json`` prints."""
        labels = self.units["label"]
        levels = self.hdr.labels
        return {
            "n": self.n,
            "n_bins": self.n_bins,
            "unit": self.config.unit,
            "period": None if self.config.period.is_whole else str(self.config.period),
            "distance": self.config.distance,
            "neighbors": {
                "backend": self.neighbors.backend,
                "k": self.neighbors.k,
                **self.neighbors.parameters,
            },
            "method": self.config.method,
            "components": self.components,
            "intrinsic_dimension": None if self.dimension is None else vars(self.dimension),
            "recall": self.recall,
            "quality": self.quality.measures() if self.quality else None,
            "quality_intervals": dict(self.quality.intervals) if self.quality else {},
            "anomalies": [
                {
                    "label": labels.iat[point],
                    "density": float(self.hdr.density[point]),
                    "hdr": str(levels[point]),
                    "rank": int(self.hdr.rank[point]),
                    **self._surprise_of(point),
                }
                for point in self.hdr.anomalies
            ],
            "typical": labels.iloc[self.hdr.typical].tolist(),
            "seconds": {stage: round(value, 4) for stage, value in self.seconds.items()},
            "cached": list(self.cached),
            "peak_memory_mb": round(self.peak_memory_mb, 1),
            "left_out": self.left_out.to_dict("records"),
            "notices": list(self.notices),
            "config": self.config.to_json(),
        }


def join_metadata(
    units: pd.DataFrame, households: pd.Series, metadata: pd.DataFrame
) -> pd.DataFrame:
    """Add each unit's household's metadata; a column of one of our names is renamed."""
    rows = pd.Index(households).get_indexer(units["household"])
    joined = metadata.iloc[rows].reset_index(drop=True)
    renamed = {name: f"metadata_{name}" for name in metadata.columns if name in _OWN_COLUMNS}
    return pd.concat([units, joined.rename(columns=renamed)], axis=1)
