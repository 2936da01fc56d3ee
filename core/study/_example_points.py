"""The points that a study shows closely."""

from dataclasses import dataclass

import numpy as np

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


def choose_examples(study: Study) -> list[Example]:
    """The two densest points of the featured map, then the two that most maps call anomalous."""
    run = study.featured
    densest = np.argsort(-run.hdr.density, kind="stable")[:2]
    agreed = [point for point, _, _ in study.agreed_anomalies() if point not in densest][:2]
    labels = run.units["label"]
    return [
        Example(int(point), str(labels.iat[point]), is_typical)
        for chosen, is_typical in ((densest, True), (agreed, False))
        for point in chosen
    ]


def choose_households(study: Study) -> list[Example]:
    """One typical household and two anomalous ones, for figures of a household's whole week."""
    run = study.featured
    households = run.units["household"]
    if households.nunique() == 1:
        return [Example(0, str(households.iat[0]), True)]
    densest_first = np.argsort(-run.hdr.density, kind="stable")
    dense = households.iloc[densest_first].drop_duplicates().head(1)
    agreed = [point for point, _, _ in study.agreed_anomalies()]
    strange = households.iloc[agreed].drop_duplicates()
    strange = strange[~strange.isin(dense)].head(2)
    return [
        Example(int(point), str(household), is_typical)
        for chosen, is_typical in ((dense, True), (strange, False))
        for point, household in chosen.items()
    ]
