"""Lists of the nearest rows found so far, fed by tiles of distances.

The list of row i is ``sums[i]`` (ascending) and ``indices[i]``, ordered by (sum, index), so what
it holds in the end does not depend on the order in which candidates came.
"""

import numpy as np
from numba import njit

# Values looked at before any list is: nearly all strips hold nothing new.
_STRIP = 64


def empty_lists(n: int, length: int, dtype: type) -> tuple[np.ndarray, np.ndarray]:
    """Make lists in which every place is still free: an infinite sum and the index −1."""
    return np.full((n, length), np.inf, dtype=dtype), np.full((n, length), -1, dtype=np.int32)


@njit(cache=True, nogil=True)
def insert(sums, indices, value, index):  # type: ignore[no-untyped-def]
    """Put one candidate into one row's list, dropping the last, if it belongs there."""
    place = len(sums) - 1
    if value > sums[place] or (value == sums[place] and index > indices[place] >= 0):
        return
    while place > 0 and (
        value < sums[place - 1] or (value == sums[place - 1] and index < indices[place - 1])
    ):
        sums[place] = sums[place - 1]
        indices[place] = indices[place - 1]
        place -= 1
    sums[place] = value
    indices[place] = index


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc"})
def _largest_gain(values, own_limit, limits):  # type: ignore[no-untyped-def]
    """How far the best of some values is below the limit of its row or of its column."""
    largest = max(own_limit, limits[0]) - values[0]
    for j in range(1, len(values)):
        largest = max(largest, max(own_limit, limits[j]) - values[j])
    return largest


@njit(cache=True, nogil=True)
def offer_tile(tile, first_row, first_column, sums, indices, limits):  # type: ignore[no-untyped-def]
    """Offer each value of a tile to the list of its row and to that of its column.

    Parameters
    ----------
    tile : ndarray of shape (rows, columns)
        Sums between rows ``first_row`` … and ``first_column`` …; of a tile on the diagonal only
        the part above it is read.
    sums, indices : ndarrays of shape (n, length)
        The lists of all rows.
    limits : ndarray of shape (n,)
        The last sum of each list, side by side.
    """
    rows, columns = tile.shape
    for r in range(rows):
        i = first_row + r
        start = r + 1 if first_row == first_column else 0
        for left in range(start, columns, _STRIP):
            right = min(left + _STRIP, columns)
            values = tile[r, left:right]
            others = limits[first_column + left : first_column + right]
            if _largest_gain(values, limits[i], others) < 0:
                continue
            for c in range(left, right):
                j, value = first_column + c, tile[r, c]
                if value <= limits[i]:
                    insert(sums[i], indices[i], value, j)
                    limits[i] = sums[i, -1]
                if value <= limits[j]:
                    insert(sums[j], indices[j], value, i)
                    limits[j] = sums[j, -1]
