"""The embedding methods as one estimator that also places new samples."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from core.embedding import embed, n_neighbors_needed
from core.embedding.landmarks import barycentric_places
from core.embedding.spectral import RIDGE
from core.estimators.metric_vectors import metric_vectors
from core.neighbors import build_index, find_neighbors
from core.parallel import available_cores
from core.progress import silent


class ManifoldMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Maps vectors by a manifold method, and places new ones without fitting again.

    Parameters
    ----------
    method : str
        A name in ``METHODS``.
    n_components : int
        Coordinates wanted.
    n_neighbors : int
        Neighbours of each sample; fewer where there are fewer samples.
    algorithm : str
        The neighbour backend of the fit, a name in ``BACKENDS``, or ``auto``.
    metric : {'euclidean', 'manhattan'}
        As ``StatisticalDistance.metric_`` says.
    method_params, algorithm_params : mapping, optional
        Parameters of the method and of the backend.
    random_state : int, RandomState or None
        Same number, same map.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map.
    n_neighbors_ : int
        Neighbours that new samples are placed by.
    index_ : Index
        The samples, made ready for exact searches, by which new ones are placed.
    n_features_in_ : int
    """

    def __init__(
        self,
        *,
        method: str = "isomap",
        n_components: int = 2,
        n_neighbors: int = 20,
        algorithm: str = "auto",
        metric: str = "euclidean",
        method_params: Mapping[str, Any] | None = None,
        algorithm_params: Mapping[str, Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.method = method
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.algorithm = algorithm
        self.metric = metric
        self.method_params = method_params
        self.algorithm_params = algorithm_params
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Map samples of shape (n_samples, n_features); ``y`` is not used."""
        rows = validate_data(self, X, dtype=(np.float64, np.float32), ensure_min_samples=2)
        vectors = metric_vectors(rows, self.metric)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        settings = dict(self.method_params or {})
        wanted = n_neighbors_needed(self.method, self.n_neighbors, len(rows), settings)
        graph = find_neighbors(
            vectors,
            k=wanted,
            backend=self.algorithm,
            seed=seed,
            **(self.algorithm_params or {}),
        )
        found = embed(self.method, graph, vectors, dim=self.n_components, seed=seed, **settings)
        self.embedding_ = found.y.astype(rows.dtype, copy=False)
        self.index_ = build_index(vectors, backend="exact")
        self.n_neighbors_ = min(self.n_neighbors, len(rows) - 1)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Map samples, and return the map, (n_samples, n_components)."""
        return self.fit(X).embedding_

    def transform(self, X: Any) -> np.ndarray:
        """Place samples on the map, (n_samples, n_components).

        A sample is placed by the weights that best rebuild it from its nearest ones on the map;
        one that equals some of them is placed where they are. It does not depend on the others.
        """
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, dtype=(np.float64, np.float32))
        fitted = self.index_.vectors.x
        n, threads = len(fitted), available_cores()
        near = self.index_.query(
            metric_vectors(rows, self.metric), self.n_neighbors_, threads=threads
        )
        with threadpool_limits(1, user_api="blas"):
            places = barycentric_places(
                np.asarray(self.embedding_, np.float64),
                near.indices,
                metric_vectors(np.concatenate([fitted, rows]), self.metric),
                np.arange(n, n + len(rows)),
                np.arange(n),
                ridge=RIDGE,
                threads=threads,
                progress=silent,
            )
        same = near.distances == 0
        for row in np.flatnonzero(same[:, 0]):
            places[row] = self.embedding_[near.indices[row, same[row]]].mean(axis=0)
        return places.astype(rows.dtype, copy=False)

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
