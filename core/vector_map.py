"""A map of vectors of any origin: neighbours, embedding and density in one call."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.density import HDR, hdr_density
from core.embedding import Embedding, embed, n_neighbors_needed
from core.neighbors import Neighbors, find_neighbors
from core.progress import Progress, part, silent
from core.summary import Summarized
from core.vectors import Vectors


@dataclass(frozen=True, eq=False, repr=False)
class VectorMap(Summarized):
    """Points on a map, and how usual each place is.

    Attributes
    ----------
    vectors : Vectors
        What was mapped.
    neighbors : Neighbors
        The graph that was embedded.
    embedding : Embedding
        The map.
    hdr : HDR
        Density, levels and ranks.
    """

    vectors: Vectors
    neighbors: Neighbors
    embedding: Embedding
    hdr: HDR

    @property
    def y(self) -> np.ndarray:
        """Coordinates, (n, dim)."""
        return self.embedding.y

    def table(self) -> pd.DataFrame:
        """Return one row per point: ``label``, ``y1`` …, ``density``, ``hdr``, ``rank``, ``m``."""
        return self.vectors.units.assign(
            **{f"y{axis + 1}": self.y[:, axis] for axis in range(self.y.shape[1])},
            density=self.hdr.density,
            hdr=self.hdr.labels,
            rank=self.hdr.rank,
            m=self.vectors.sample_size,
        )

    def plot(self, *, title: str | None = None, interactive: bool = False) -> Any:
        """Draw the map by its density, with the names of the points that stand apart.

        Parameters
        ----------
        title : str, optional
        interactive : bool
            Whether to return a HoloViews object to zoom and hover over, rather than a Matplotlib
            figure.
        """
        from core.figures import draw_map
        from core.plots.interactive import map_plot
        from core.scene import density_scene

        scene = density_scene(self.y, self.hdr, self.vectors.units["label"].to_numpy())
        if not interactive:
            return draw_map(scene, title=title)
        facts = {"hdr": self.hdr.level, "rank": self.hdr.rank, "m": self.vectors.sample_size}
        return map_plot(scene.with_(facts=facts))

    def summary(self) -> dict[str, Any]:
        """Return what the map is, and what stands apart on it."""
        labels = self.vectors.units["label"].iloc[self.hdr.anomalies[:3]]
        return {
            "points": f"{len(self.y):,}",
            "distance": self.vectors.distance,
            "neighbors": f"{self.neighbors.k} by {self.neighbors.backend}",
            "method": self.embedding.method,
            "first in rank": ", ".join(map(str, labels)),
        }


def map_vectors(
    vectors: Vectors,
    *,
    method: str = "isomap",
    k: int = 20,
    neighbors: str = "auto",
    dim: int = 2,
    seed: int = 1,
    n_anomalies: int = 10,
    threads: int | None = None,
    progress: Progress = silent,
    **settings: Any,
) -> VectorMap:
    """Map vectors.

    Parameters
    ----------
    vectors : Vectors
        Such as :func:`core.from_samples` and :func:`core.make_vectors` give.
    method : str
        A name in ``METHODS``.
    k : int
        Neighbours of each point.
    neighbors : str
        A name in ``BACKENDS``, or ``auto``.
    dim : int
        Coordinates wanted.
    seed : int
        Same seed, same picture.
    n_anomalies : int
        How many points of the lowest density are named.
    threads : int, optional
        All cores by default.
    progress : Progress
        Called with the share of the work that is done; may raise to stop it.
    **settings
        The method's parameters.
    """
    wanted = n_neighbors_needed(method, k, len(vectors.x), settings)
    graph = find_neighbors(
        vectors,
        k=wanted,
        backend=neighbors,
        seed=seed,
        threads=threads,
        progress=part(progress, 0.0, 0.5),
    )
    embedding = embed(
        method,
        graph,
        vectors,
        dim=dim,
        seed=seed,
        threads=threads,
        progress=part(progress, 0.5, 0.9),
        **settings,
    )
    hdr = hdr_density(embedding.y, n_anomalies=n_anomalies, k=k, threads=threads)
    progress(1.0, "Done")
    return VectorMap(vectors, graph, embedding, hdr)
