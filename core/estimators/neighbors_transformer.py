"""The neighbour backends in the place of scikit-learn's KNeighborsTransformer."""

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from core.errors import InputError
from core.estimators.metric_vectors import metric_scale, metric_vectors
from core.neighbors import build_index, choose_backend
from core.parallel import available_cores


class NeighborsTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Turns vectors into the sparse graph of their nearest neighbours.

    It takes the place of ``KNeighborsTransformer`` before whatever has ``metric="precomputed"``.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of each sample.
    mode : {'distance', 'connectivity'}
        What the graph holds: distances, with one neighbour more since a sample that was fitted is
        its own nearest one; or ones.
    algorithm : str
        A name in ``BACKENDS``, or ``auto``. All but ``annoy`` can be pickled once fitted.
    metric : {'euclidean', 'manhattan'}
        As ``StatisticalDistance.metric_`` says.
    algorithm_params : mapping, optional
        Parameters of the backend.
    random_state : int, RandomState or None
        For backends that draw random numbers.

    Attributes
    ----------
    algorithm_ : str
        The backend that is used.
    index_ : Index
        The samples, made ready for searches.
    n_samples_fit_, n_features_in_ : int
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        mode: Literal["distance", "connectivity"] = "distance",
        algorithm: str = "auto",
        metric: str = "euclidean",
        algorithm_params: Mapping[str, Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.mode = mode
        self.algorithm = algorithm
        self.metric = metric
        self.algorithm_params = algorithm_params
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Make samples of shape (n_samples, n_features) ready for searches; ``y`` is not used."""
        if self.mode not in ("distance", "connectivity"):
            raise InputError(f"mode must be distance or connectivity, got {self.mode!r}")
        rows = validate_data(self, X, dtype=(np.float64, np.float32))
        vectors = metric_vectors(rows, self.metric)
        self.algorithm_ = self.algorithm
        if self.algorithm == "auto":
            self.algorithm_ = choose_backend(vectors, k=self.n_neighbors)
        self.index_ = build_index(
            vectors,
            backend=self.algorithm_,
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            **(self.algorithm_params or {}),
        )
        self.n_samples_fit_ = len(rows)
        return self

    def transform(self, X: Any) -> csr_matrix:
        """Return the graph from samples to those that were fitted, one row per sample."""
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, dtype=(np.float64, np.float32))
        wanted = self.n_neighbors + (self.mode == "distance")
        if wanted > self.n_samples_fit_:
            raise InputError(
                f"{wanted} neighbours need as many samples and {self.n_samples_fit_} were fitted; "
                "lower n_neighbors"
            )
        found = self.index_.query(
            metric_vectors(rows, self.metric), wanted, threads=available_cores()
        )
        values = np.ones(found.indices.shape)
        if self.mode == "distance":
            values = metric_scale(self.metric) * found.distances
        starts = np.arange(0, values.size + 1, wanted)
        return csr_matrix(
            (values.ravel(), found.indices.ravel(), starts), shape=(len(rows), self.n_samples_fit_)
        )

    @property
    def _n_features_out(self) -> int:
        return self.n_samples_fit_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags
