"""Coordinates in which a cloud of points is round, whatever a few far points do."""

from dataclasses import dataclass

import numpy as np

# A shape is as well known from this many points as from millions.
_ENOUGH_POINTS = 100_000


@dataclass(frozen=True, eq=False)
class Sphering:
    """A map to coordinates in which most of the cloud is round with spread one.

    ``z = (y − centre) @ axes / scales``. Centre and axes are those of the cloud with its outer
    half pulled in to the median distance (a Huber location and a winsorised spatial sign
    covariance, Raymaekers and Rousseeuw 2019), so that no point pulls more than half of the
    others do and a turned embedding gives the same density; the scales are robust as well.
    """

    centre: np.ndarray
    axes: np.ndarray
    scales: np.ndarray

    def __call__(self, y: np.ndarray) -> np.ndarray:
        """Map points (n, d) to round coordinates (n, d)."""
        return turn(y - self.centre, self.axes) / self.scales

    @property
    def volume(self) -> float:
        """How much volume of Y one unit of volume of the round coordinates is."""
        return float(np.prod(self.scales))


def turn(offsets: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Return the coordinates of offsets (n, d) along axes (d, e), each row by itself.

    A matrix product rounds differently with the number of its rows.
    """
    turned = np.zeros((len(offsets), axes.shape[1]))
    for coordinate, axis in zip(offsets.T, axes, strict=True):
        turned += coordinate[:, np.newaxis] * axis
    return turned


def sphere(y: np.ndarray) -> Sphering:
    """Measure centre, axes and scales of a cloud (n, d), whatever a tenth of its points do."""
    y = y[:: -(-len(y) // _ENOUGH_POINTS)]
    centre = _robust_centre(y)
    offsets = y - centre
    pulled = offsets * _pull(offsets)[:, None]
    _, axes = np.linalg.eigh(pulled.T @ pulled)
    axes = axes[:, ::-1]
    scales = np.array([robust_scale(coordinate) for coordinate in (offsets @ axes).T])
    return Sphering(centre, axes, scales)


def robust_scale(values: np.ndarray) -> float:
    """Spread in units of a standard deviation, by the middle 80 % of the values.

    The middle half, which normal-reference rules use, is often a single tight cluster of an
    embedding; the middle 80 % still ignores a tenth of far points on either side. Where it is a
    single value, the spread is the standard deviation.
    """
    low, high = np.quantile(values, [0.1, 0.9])
    middle = float(high - low) / 2.563  # of a normal distribution
    return middle if middle > 0 else float(values.std())


def _robust_centre(y: np.ndarray) -> np.ndarray:
    """Where the offsets of all points, the outer half pulled in, cancel."""
    centre = np.median(y, axis=0)
    for _ in range(100):
        offsets = y - centre
        weights = _pull(offsets)
        shift = weights @ offsets / weights.sum()
        centre = centre + shift
        if np.linalg.norm(shift) <= 1e-12 * np.median(np.linalg.norm(offsets, axis=1)):
            break
    return centre


def _pull(offsets: np.ndarray) -> np.ndarray:
    """Factors that pull offsets beyond the median length in to it."""
    lengths = np.linalg.norm(offsets, axis=1)
    median = np.median(lengths)
    if median == 0:
        return np.ones(len(offsets))
    return median / np.maximum(lengths, median)
