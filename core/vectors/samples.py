"""Any samples of numbers, not only of demand, as vectors."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from core.cube.partition import edge_ranks
from core.errors import InputError
from core.fields import Distance
from core.vectors.distance import Vectors, to_coordinates


def from_samples(
    samples: Mapping[Hashable, Any] | pd.DataFrame,
    *,
    id: str | None = None,
    value: str | None = None,
    distance: Distance = "hellinger",
    bins: int = 100,
    minimum_sample: int = 20,
) -> Vectors:
    """Turn samples into vectors whose differences are statistical distances.

    Each sample is the distribution of its values over bins that hold equal shares of all values
    together, as households are the distributions of their demand.

    Parameters
    ----------
    samples : mapping of id to values, or DataFrame
        Each id's values, in any number and order; or a long table with one value per row. Missing
        values are left out.
    id, value : str, optional
        Of a table with more than two columns, which hold ids and values.
    distance : {'hellinger', 'tv', 'js'}
    bins : int
        Bins that the values are counted in.
    minimum_sample : int
        Samples with fewer values are left out and named.

    Returns
    -------
    Vectors
        For :func:`core.map_vectors`, or stage by stage for :func:`core.find_neighbors` and
        :func:`core.embed`.
    """
    if isinstance(samples, pd.DataFrame):
        samples = _split_table(samples, id, value)
    named = {str(name): _numbers(str(name), values) for name, values in samples.items()}
    if len(named) < len(samples):
        raise InputError("two samples have the same name; give each its own")
    sizes = np.array([len(values) for values in named.values()], np.int64)
    few = sizes < max(minimum_sample, 1)
    if few.all():
        raise InputError(
            f"none of {len(named)} samples has {max(minimum_sample, 1)} values; lower "
            "minimum_sample, or give more values"
        )
    labels = np.array(list(named), object)
    kept = [named[name] for name in labels[~few]]
    counts = count_samples(kept, sample_edges(np.concatenate(kept), bins))
    return Vectors(
        x=to_coordinates(counts, sizes[~few], distance).astype(np.float32),
        distance=distance,
        sample_size=sizes[~few],
        units=pd.DataFrame({"label": labels[~few]}),
        block_sizes=sizes[~few, None].astype(np.int32),
        unit="households",
        left_out=pd.DataFrame(
            {"label": labels[few], "m": sizes[few], "reason": f"fewer than {minimum_sample} values"}
        ),
        notices=(f"{few.sum()} samples have fewer than {minimum_sample} values",)
        if few.any()
        else (),
    )


def sample_edges(values: np.ndarray, bins: int) -> np.ndarray:
    """Return the edges of bins that hold equal shares of the values, without those that coincide.

    They are the order statistics ⌈k·r/T⌉, as those of demand; see :mod:`core.cube.partition`.
    """
    if bins < 1:
        raise InputError(f"bins must be at least 1, got {bins}")
    ranks = edge_ranks(len(values), bins)
    # The largest value is no edge: nothing is beyond it.
    edges = np.unique(np.sort(values)[ranks - 1])
    return edges[edges < values.max()]


def count_samples(samples: Iterable[np.ndarray], edges: np.ndarray) -> np.ndarray:
    """Return how many values of each sample are in each bin, (n, len(edges) + 1) int64."""
    bins = len(edges) + 1
    return np.array(
        [np.bincount(np.searchsorted(edges, values), minlength=bins) for values in samples]
    )


def _split_table(table: pd.DataFrame, id: str | None, value: str | None) -> dict[Hashable, Any]:
    names: Sequence[str] = list(table.columns)
    if id is None and value is None and len(names) == 2:
        id, value = names
    for wanted, what in ((id, "id"), (value, "value")):
        if wanted is None or wanted not in names:
            raise InputError(
                f"say which column holds the {what}s: {what}= one of {', '.join(map(str, names))}"
            )
    return {name: group[value] for name, group in table.groupby(id, sort=True)}


def _numbers(name: str, values: Any) -> np.ndarray:
    try:
        numbers = np.asarray(values, np.float64).ravel()
    except (TypeError, ValueError):
        raise InputError(f"the values of {name!r} are not all numbers") from None
    numbers = numbers[~np.isnan(numbers)]
    if np.isinf(numbers).any():
        raise InputError(f"the values of {name!r} hold an infinite one; leave it out")
    return numbers
