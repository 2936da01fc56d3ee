"""The density of a map as a function of the place, at its points and anywhere else."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.density.kde import (
    BinnedDensity,
    Sphering,
    binned_density,
    exact_density,
    exact_density_at,
    plug_in_bandwidth,
    sphere,
    turn,
)
from core.fields import Bandwidth
from core.progress import Progress, silent
from core.summary import Summarized

# The lowest densities are evaluated exactly, so that isolated points are ordered by more than
# their place in a grid cell.
EXACT_POINTS = 1_000

# A cloud flatter than this share of its length is a line.
_FLAT = 1e-6

# The kernel of R's hdrcde, which the paper's figures use, as a share of the map's range on each
# axis: 20 bins over 1.3 ranges, and a biweight of 5 bins on either side, whose deviation is 1.9.
_WIDE = 1.3 / 20 * (5**2 / 7 + 1 / 12) ** 0.5

_CONTOUR_CELLS = 256


@dataclass(frozen=True, eq=False, repr=False)
class Contours(Summarized):
    """The density on a regular grid over the map, for contour lines.

    ``density[a, b]`` is that at ``origin + a · steps[0] + b · steps[1]`` (one index for 1-D).
    """

    density: np.ndarray
    origin: np.ndarray
    steps: np.ndarray

    def points(self) -> np.ndarray:
        """Coordinates of the grid's points, of the density's shape and d more."""
        index = np.moveaxis(np.indices(self.density.shape), 0, -1)
        return self.origin + index @ self.steps


@dataclass(frozen=True, eq=False)
class Plane:
    """The coordinates that a map shows: those of the embedding, or two principal components.

    ``axes`` is (dim, 2), or None where the embedding has one axis or two.
    """

    centre: np.ndarray
    axes: np.ndarray | None

    @classmethod
    def of(cls, y: np.ndarray) -> "Plane":
        """Choose the plane of an embedding (n, dim)."""
        centre = y.mean(axis=0)
        if y.shape[1] <= 2:
            return cls(centre, None)
        centred = y - centre
        _, vectors = np.linalg.eigh(centred.T @ centred)
        return cls(centre, vectors[:, :-3:-1])

    def __call__(self, y: np.ndarray) -> np.ndarray:
        """Map points of the embedding (n, dim) to the plane, (n, 1) or (n, 2)."""
        return y if self.axes is None else turn(y - self.centre, self.axes)

    @property
    def notices(self) -> tuple[str, ...]:
        """What to say about it."""
        if self.axes is None:
            return ()
        dim = len(self.axes)
        return (f"the density is that of the first two principal components of {dim} axes",)


def map_plane(y: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Give the coordinates that a map shows, (n, 1) or (n, 2), and what to say about them."""
    plane = Plane.of(y)
    return plane(y), list(plane.notices)


def _round_coordinates(plane: np.ndarray) -> tuple[Sphering, np.ndarray, list[str]]:
    """Coordinates for the kernel; a line has one, whatever plane it lies in."""
    sphering = sphere(plane)
    length = float(sphering.scales.max())
    if length == 0:
        if len(plane) > 1:
            notices = ["all points of the embedding coincide: every density is the same"]
        else:
            notices = ["a single point has no density"]
        one = Sphering(sphering.centre, sphering.axes[:, :1], np.ones(1))
        return one, one(plane), notices
    extended = sphering.scales > _FLAT * length
    notices = []
    if not extended.all():
        notices.append("the embedding is a line: the density is that along it")
        sphering = Sphering(sphering.centre, sphering.axes[:, extended], sphering.scales[extended])
    return sphering, sphering(plane), notices


@dataclass(frozen=True, eq=False)
class Landscape:
    """The density of a map, at its points and anywhere else.

    Attributes
    ----------
    plane : Plane
        The coordinates that the density is of.
    sphering : Sphering
        Makes them round.
    points : ndarray of shape (n, 1) or (n, 2)
        The map's points in round coordinates.
    binned : BinnedDensity
        In round coordinates.
    notices : tuple of str
        What a reader should know.
    """

    plane: Plane
    sphering: Sphering
    points: np.ndarray
    binned: BinnedDensity
    notices: tuple[str, ...]

    @property
    def kernel(self) -> np.ndarray:
        """Axes of the kernel on the map, (d, e), as long as its standard deviations."""
        return self.sphering.axes * (self.sphering.scales * self.binned.bandwidth)

    def contours(self) -> Contours:
        """The grid thinned to what a picture can show, in the coordinates of the map."""
        grid = self.binned.grid
        stride = max(1, -(-max(grid.shape) // _CONTOUR_CELLS))
        thinned = self.binned.on_grid[tuple(slice(None, None, stride) for _ in grid.shape)]
        back = (self.sphering.axes * self.sphering.scales).T
        return Contours(
            density=(thinned / self.sphering.volume).astype(np.float32),
            origin=self.sphering.centre + grid.origin @ back,
            steps=stride * grid.step * back,
        )

    def at_points(
        self, *, threads: int | None = None, progress: Progress = silent
    ) -> tuple[np.ndarray, np.ndarray]:
        """Leave-one-out density at every point, and which of them (indices) are exact."""
        density = self.binned.at_points.copy()
        off_grid = np.isnan(density)
        density[off_grid] = -1
        # Identical points have identical densities: none of them is left behind.
        exact = np.flatnonzero(density <= self.exact_up_to)
        density[exact] = exact_density(
            self.points, self.binned.bandwidth, exact, threads=threads, progress=progress
        )
        return density / self.sphering.volume, exact

    @cached_property
    def exact_up_to(self) -> float:
        """Binned densities that are no higher, in round coordinates, are evaluated exactly."""
        if len(self.points) <= EXACT_POINTS:
            return np.inf
        density = np.nan_to_num(self.binned.at_points, nan=-1.0)
        off_grid = int((density < 0).sum())
        last = max(EXACT_POINTS, off_grid) - 1
        return float(np.partition(density, last)[last])

    def at(
        self,
        y: np.ndarray,
        *,
        left_out: np.ndarray,
        threads: int | None = None,
    ) -> np.ndarray:
        """Density at other places of the map, found as that at its points is.

        Parameters
        ----------
        y : ndarray of shape (q, dim)
            The places, in the embedding's coordinates.
        left_out : int ndarray of shape (q,)
            The point of the map that does not count at each place; −1 where all do.

        Returns
        -------
        ndarray of shape (q,)
            Per unit area of the map; that at a place does not depend on the others.
        """
        places = self.sphering(self.plane(y))
        density = self.binned.at(places, self.points, left_out)
        exact = np.flatnonzero(np.isnan(density) | (density <= self.exact_up_to))
        density[exact] = exact_density_at(
            self.points,
            self.binned.bandwidth,
            places[exact],
            left_out=left_out[exact],
            threads=threads,
        )
        return density / self.sphering.volume


def survey(y: np.ndarray, *, bandwidth: Bandwidth = "plug-in") -> Landscape:
    """Measure the shape of an embedding (n, dim), choose a bandwidth and bin the density.

    Parameters
    ----------
    bandwidth : {"plug-in", "wide"}
        ``plug-in`` follows clusters and arms; ``wide`` is that of the paper's figures, an eighth
        of the map's range on each axis.
    """
    plane = Plane.of(y)
    sphering, points, width, notices = choose_kernel(plane(y), bandwidth)
    binned = binned_density(points, width)
    if binned.bandwidth > width * (1 + 1e-9):
        notices.append(
            f"the embedding is so wide that its bandwidth was raised "
            f"{binned.bandwidth / width:.3g} times"
        )
    return Landscape(plane, sphering, points, binned, (*plane.notices, *notices))


def choose_kernel(
    y: np.ndarray, bandwidth: Bandwidth
) -> tuple[Sphering, np.ndarray, float, list[str]]:
    """Choose the kernel of points (n, d) with any number of axes.

    Returns
    -------
    sphering : Sphering
        Coordinates in which the kernel is round.
    points : ndarray of shape (n, e)
        The points in them; e is less than d where the points are on a line.
    width : float
        The kernel's standard deviation there.
    notices : list of str
        What to say about them.
    """
    sphering, points, notices = _round_coordinates(y)
    if bandwidth == "plug-in":
        return sphering, points, plug_in_bandwidth(points), notices
    d, e = sphering.axes.shape
    axes = np.eye(d) if e == d else sphering.axes
    lengths = np.ptp(turn(y - sphering.centre, axes), axis=0)
    wide = Sphering(sphering.centre, axes, np.where(lengths > 0, _WIDE * lengths, 1.0))
    return wide, wide(y), 1.0, notices
