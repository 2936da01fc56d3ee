"""Maps of the same points laid on top of each other: Procrustes' problem.

A map is known only up to turning, mirroring, scaling and shifting. Of two maps of the same points,
one can be moved to lie as nearly as possible like the other; what then remains is a difference
between the maps and not between the papers they are drawn on.
"""

from dataclasses import dataclass

import numpy as np

from core.errors import InputError


@dataclass(frozen=True, eq=False)
class Alignment:
    """A turn or mirroring, a scale and a shift: ``scale · y @ rotation + shift``.

    Attributes
    ----------
    rotation : float64 ndarray of shape (d, d)
        Orthogonal; its determinant is −1 where it mirrors.
    scale : float
        The same in all directions; 0 where the maps have nothing in common.
    shift : float64 ndarray of shape (d,)
    likeness : float
        The share of the model's variance that the moved map explains, from 0 to 1. It is the same
        whichever of two maps is the model, and is 1 less the disparity that
        :func:`scipy.spatial.procrustes` gives.
    """

    rotation: np.ndarray
    scale: float
    shift: np.ndarray
    likeness: float

    def __call__(self, y: np.ndarray) -> np.ndarray:
        """Move points (m, d)."""
        return self.scale * (y @ self.rotation) + self.shift

    def turn(self, y: np.ndarray) -> np.ndarray:
        """Turn and mirror points (m, d) and leave their size: the shape of a map, to be framed."""
        return y @ self.rotation


def align(y: np.ndarray, model: np.ndarray) -> Alignment:
    """Find how to move a map so that it lies as nearly as possible like a model.

    Of all turns, mirrorings, scales and shifts, those that leave the least sum of squared
    distances between the same points.

    Parameters
    ----------
    y, model : ndarrays of shape (n, d)
        Two maps of the same points. A map whose points are all in one place has no direction: it
        is not turned, and its likeness to any other is 0.
    """
    y, model = np.asarray(y, np.float64), np.asarray(model, np.float64)
    if y.ndim != 2 or y.shape != model.shape or not y.size:
        raise InputError(
            "maps are aligned point by point: both must be (points, axes) and of one shape, got "
            f"{y.shape} and {model.shape}"
        )
    if not (np.isfinite(y).all() and np.isfinite(model).all()):
        raise InputError("a map with NaN or infinity cannot be aligned; every point needs a place")
    centre, model_centre = y.mean(axis=0), model.mean(axis=0)
    # Each by its own size, so that neither squares nor products leave the range of floats.
    (moved, size), (target, model_size) = _unit(y - centre), _unit(model - model_centre)
    left, strengths, right = np.linalg.svd(moved.T @ target)
    rotation = left @ right if size and model_size else np.eye(y.shape[1])
    agreement = float(strengths.sum())
    scale = agreement * model_size / size if size else 0.0
    shift = model_centre - scale * (centre @ rotation)
    return Alignment(rotation, scale, shift, min(agreement**2, 1.0))


def _unit(centred: np.ndarray) -> tuple[np.ndarray, float]:
    """Scale points to a norm of 1, and return the norm they had."""
    largest = float(np.abs(centred).max())
    if largest == 0.0:
        return centred, 0.0
    scaled = centred / largest
    norm = float(np.linalg.norm(scaled))
    return scaled / norm, norm * largest
