"""The stages as scikit-learn estimators, in scikit-learn's own words.

make_pipeline(StatisticalDistance(), ManifoldMap()).fit_transform(samples)
"""

from core.estimators.manifold_map import ManifoldMap
from core.estimators.neighbors_transformer import NeighborsTransformer
from core.estimators.statistical_distance import StatisticalDistance

__all__ = ["ManifoldMap", "NeighborsTransformer", "StatisticalDistance"]
