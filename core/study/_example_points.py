"""The points that a study shows closely, and the demand behind them."""

from dataclasses import dataclass

import numpy as np

from core.runs.readings_behind import readings_behind
from core.study.study_runs import Study


@dataclass(frozen=True, eq=False)
class Example:
    """One point of the map.

    Attributes
    ----------
    point : int
        Its row.
    label : str
        What it is.
    is_typical : bool
        Whether it is shown as typical or as an anomaly.
    """

    point: int
    label: str
    is_typical: bool


def choose_examples(study: Study, *, typical: int, anomalous: int) -> list[Example]:
    """The densest points of the featured map, then those that most maps call anomalous."""
    run = study.featured
    densest = np.argsort(-run.hdr.density, kind="stable")[:typical]
    agreed = [point for point, _, _ in study.agreed_anomalies() if point not in densest]
    first = agreed[:anomalous]
    labels = run.units["label"]
    return [Example(int(point), str(labels.iat[point]), True) for point in densest] + [
        Example(int(point), str(labels.iat[point]), False) for point in first
    ]


def choose_households(study: Study, *, typical: int, anomalous: int) -> list[Example]:
    """Examples of different households, for figures of a household's whole week."""
    run = study.featured
    households = run.units["household"]
    if households.nunique() == 1:
        return [Example(0, str(households.iat[0]), True)]
    densest_first = np.argsort(-run.hdr.density, kind="stable")
    dense = households.iloc[densest_first].drop_duplicates().head(typical)
    agreed = [point for point, _, _ in study.agreed_anomalies()]
    strange = households.iloc[agreed].drop_duplicates()
    strange = strange[~strange.isin(dense)].head(anomalous)
    return [
        Example(int(point), str(household), is_typical)
        for chosen, is_typical in ((dense, True), (strange, False))
        for point, household in chosen.items()
    ]


def demand_of(study: Study, point: int) -> np.ndarray:
    """The readings (kWh) that a point's distribution was made of."""
    return readings_behind(study.featured, study.dataset, point)
