"""Lists of the nearest rows found so far, fed by tiles of distances.

The list of row i is ``sums[i]`` (ascending) and ``indices[i]``, ordered by (sum, index), so what
it holds in the end does not depend on the order in which candidates came. (A reservoir that is
cut down now and then, as other libraries have it, was measured and is slower at these lengths.)
"""

import numpy as np
from numba import njit

# Values looked at before any list is: most strips hold nothing new.
_STRIP = 32


def empty_lists(n: int, length: int, dtype: type) -> tuple[np.ndarray, np.ndarray]:
    """Make lists in which every place is still free: an infinite sum and the index −1."""
    return np.full((n, length), np.inf, dtype=dtype), np.full((n, length), -1, dtype=np.int32)


@njit(cache=True, nogil=True)
def insert(sums, indices, row, value, index):  # type: ignore[no-untyped-def]
    """Put one candidate into a row's list, dropping the last, if it belongs there."""
    place = sums.shape[1] - 1
    if value > sums[row, place] or (value == sums[row, place] and index > indices[row, place]):
        return
    while place > 0 and (
        value < sums[row, place - 1]
        or (value == sums[row, place - 1] and index < indices[row, place - 1])
    ):
        sums[row, place] = sums[row, place - 1]
        indices[row, place] = indices[row, place - 1]
        place -= 1
    sums[row, place] = value
    indices[row, place] = index


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc"})
def _any_within(values, own_limit, limits):  # type: ignore[no-untyped-def]
    """Whether any value is within the limit of its row or of its column."""
    found = np.int32(0)
    for j in range(len(values)):
        found |= np.int32(values[j] <= own_limit) | np.int32(values[j] <= limits[j])
    return found != 0


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
    last = sums.shape[1] - 1
    for r in range(rows):
        i = first_row + r
        start = r + 1 if first_row == first_column else 0
        for left in range(start, columns, _STRIP):
            right = min(left + _STRIP, columns)
            others = limits[first_column + left : first_column + right]
            if not _any_within(tile[r, left:right], limits[i], others):
                continue
            for c in range(left, right):
                j, value = first_column + c, tile[r, c]
                if value <= limits[i]:
                    insert(sums, indices, i, value, j)
                    limits[i] = sums[i, last]
                if value <= limits[j]:
                    insert(sums, indices, j, value, i)
                    limits[j] = sums[j, last]


@njit(cache=True, nogil=True)
def offer_rows(tile, first_column, sums, indices):  # type: ignore[no-untyped-def]
    """Offer each value of a tile to the list of its row alone.

    Parameters
    ----------
    tile : ndarray of shape (rows, columns)
        Sums between rows and the columns ``first_column`` ….
    sums, indices : ndarrays of shape (rows, length)
        The lists of these rows.
    """
    rows, columns = tile.shape
    last = sums.shape[1] - 1
    for r in range(rows):
        for left in range(0, columns, _STRIP):
            right = min(left + _STRIP, columns)
            if tile[r, left:right].min() > sums[r, last]:
                continue
            for c in range(left, right):
                if tile[r, c] <= sums[r, last]:
                    insert(sums, indices, r, tile[r, c], first_column + c)
