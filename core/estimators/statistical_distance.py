"""Samples or counts as vectors whose differences are statistical distances."""

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from core.errors import InputError
from core.vectors.distance import to_coordinates
from core.vectors.samples import count_samples, sample_edges

# What turns p and √(p/2) into vectors whose plain norm is the distance.
_SCALES = {"hellinger": 1.0, "tv": 0.5}
_METRICS = {"hellinger": "euclidean", "tv": "manhattan"}


class StatisticalDistance(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Turns samples into vectors whose differences are Hellinger or total-variation distances.

    Parameters
    ----------
    distance : {'hellinger', 'tv'}
        Under ``hellinger`` the Euclidean distance of two vectors is the Hellinger distance of
        their samples, under ``tv`` the Manhattan distance is their total variation.
    n_bins : int
        Bins that values are counted in; each holds an equal share of all values seen by ``fit``.
    counts : bool
        Whether a row is counts by bin already, rather than the values of a sample.

    Attributes
    ----------
    edges_ : ndarray
        Of the bins, one fewer than these, where rows are samples; a value equal to an edge belongs
        to the bin below it.
    n_bins_ : int
        Bins after merging edges that coincide.
    metric_ : {'euclidean', 'manhattan'}
        The metric in which the vectors are to be compared.
    n_features_in_ : int
        Columns of what was fitted.
    """

    def __init__(
        self,
        *,
        distance: Literal["hellinger", "tv"] = "hellinger",
        n_bins: int = 100,
        counts: bool = False,
    ) -> None:
        self.distance = distance
        self.n_bins = n_bins
        self.counts = counts

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the bins.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_values), or sequence of sequences
            A row is a sample: its values in any order, NaN where there are fewer. Samples may also
            come as a list of sequences of any lengths. With ``counts``, the counts by bin.
        y : None
            Not used.
        """
        if self.distance not in _SCALES:
            raise InputError(f"distance must be one of {', '.join(_SCALES)}, got {self.distance!r}")
        rows = self._validate(X, reset=True)
        if not self.counts:
            self.edges_ = sample_edges(rows[~np.isnan(rows)], self.n_bins)
        self.n_bins_ = rows.shape[1] if self.counts else len(self.edges_) + 1
        self.metric_ = _METRICS[self.distance]
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the vectors of samples, one row per sample and one column per bin."""
        check_is_fitted(self)
        rows = self._validate(X, reset=False)
        counts = rows
        if not self.counts:
            counts = count_samples((row[~np.isnan(row)] for row in rows), self.edges_)
        sizes = counts.sum(axis=1)
        vectors = _SCALES[self.distance] * to_coordinates(counts, sizes, self.distance)
        return vectors.astype(rows.dtype, copy=False)

    def _validate(self, X: Any, *, reset: bool) -> np.ndarray:
        """Check rows, and that each says something."""
        checks: dict[str, Any] = {
            "dtype": (np.float64, np.float32),
            "ensure_all_finite": True if self.counts else "allow-nan",
        }
        if self.counts or reset:
            rows = validate_data(self, X if self.counts else pad(X), reset=reset, **checks)
        else:
            # New samples may have any number of values, and so any number of columns.
            rows = check_array(pad(X), estimator=self, **checks)
        if self.counts and (rows < 0).any():
            raise InputError("Negative values in data: counts cannot be below 0")
        empty = ~rows.any(axis=1) if self.counts else np.isnan(rows).all(axis=1)
        if empty.any():
            raise InputError(f"row {np.flatnonzero(empty)[0]} holds no value; leave it out")
        return rows

    @property
    def _n_features_out(self) -> int:
        return self.n_bins_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = not self.counts
        tags.input_tags.positive_only = self.counts
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def pad(samples: Any) -> Any:
    """Turn a list of samples of different lengths into a matrix with NaN at the rows' ends."""
    if not isinstance(samples, list | tuple) or not all(np.ndim(each) == 1 for each in samples):
        return samples
    lengths = [len(each) for each in samples]
    if len(set(lengths)) <= 1:
        return samples
    matrix = np.full((len(samples), max(lengths)), np.nan)
    for row, each in zip(matrix, samples, strict=True):
        row[: len(each)] = each
    return matrix
