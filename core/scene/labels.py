"""Where labels stand beside points, in pixels, so that none covers another."""

import numpy as np

# Width and height of a label's character in pixels, at 9 points.
LETTER = np.array([6.3, 14.0])

# Directions in order of preference, and distances in pixels from a point's rim.
_ANGLES = np.deg2rad([45, 0, 135, 315, 180, 225, 90, 270, 22, 158, 202, 338])
DISTANCES = (3.0, 9.0, 16.0, 25.0, 37.0, 53.0, 75.0, 105.0, 145.0)
# What covering a point costs, in squared pixels, and how much worse it is to cover a label or a
# named point, or to leave the area.
_COVER = 2.0
_FORBIDDEN = 100.0


def place_labels(
    points: np.ndarray,
    sizes: np.ndarray,
    *,
    area: np.ndarray,
    beside: np.ndarray,
    radius: float,
    distances: tuple[float, ...] = DISTANCES,
    scale: float = 1.0,
    required: bool = True,
) -> np.ndarray:
    """Find a place for each label, the first of them with the most room to choose.

    All in pixels, so that it is the same wherever a view is moved to.

    Parameters
    ----------
    points : ndarray of shape (m, 2)
        The points to name.
    sizes : ndarray of shape (m, 2)
        Width and height of their labels.
    area : ndarray of shape (4,)
        Left, bottom, right and top of where labels may be.
    beside : ndarray of shape (n, 2)
        Points that labels keep off where they can.
    radius : float
        Of a point.
    distances : tuple of float
        From a point's rim to its label, nearest first.
    scale : float
        Pixels of the paper for each pixel of a screen.
    required : bool
        Whether a label is written even if it covers another one or leaves the area.

    Returns
    -------
    ndarray of shape (m, 2)
        From each point to the middle of its label; NaN for one that is not written.
    """
    offsets = np.full((len(points), 2), np.nan)
    taken = [np.concatenate([point - radius, point + radius]) for point in points]
    directions = np.column_stack([np.cos(_ANGLES), np.sin(_ANGLES)])
    for own, (point, size) in enumerate(zip(points, sizes, strict=True)):
        others = np.array(taken[:own] + taken[own + 1 :]).reshape(-1, 4)
        reach = size + radius + scale * distances[-1]
        near = beside[(np.abs(beside - point) <= reach).all(axis=1)]
        best, offset, free = np.inf, np.zeros(2), False
        for distance in distances:
            # The label's nearest edge, not its centre, is at the distance.
            away = directions * (radius + scale * distance + size / 2)
            boxes = np.hstack([point + away - size / 2, point + away + size / 2])
            clash = _overlap(boxes, others).sum(axis=1) + np.prod(size)
            clash -= _overlap(boxes, area[None])[:, 0]
            covered = ((near >= boxes[:, None, :2]) & (near <= boxes[:, None, 2:])).all(axis=2)
            cost = _FORBIDDEN * clash + _COVER * scale**2 * covered.sum(axis=1)
            # Rounded, or places that are as good as each other would be chosen by chance.
            place = int(cost.round(6).argmin())
            if cost[place] < best - 1e-6:
                best, offset, free = cost[place], away[place], clash[place] < 1e-6 * np.prod(size)
            # Farther out, covering less would cost more in telling whose label it is.
            if best <= _COVER * scale**2 * distance / distances[0]:
                break
        if required or free:
            offsets[own] = offset
            middle = point + offset
            taken.append(np.concatenate([middle - size / 2, middle + size / 2]))
    return offsets


def _overlap(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Areas that boxes (a, 4) share with others (b, 4), as (a, b)."""
    low = np.maximum(boxes[:, None, :2], others[:, :2])
    high = np.minimum(boxes[:, None, 2:], others[:, 2:])
    return np.clip(high - low, 0, None).prod(axis=2)
