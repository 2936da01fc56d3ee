"""What the page shows and what the analyst has chosen; no widget in it."""

from typing import Any

import numpy as np
import pandas as pd
import param

from core.embedding import METHODS
from core.neighbors import BACKENDS
from core.readings import Dataset
from core.registry import Registry
from core.runs import Run, RunConfig
from core.slots import slot_of
from core.surprise import explain
from core.units import UNITS

UNIT_TITLES = {
    "profiles": "Households, by their whole week",
    "households": "Households, pooled over the week",
    "slots": "The half-hours of one household",
    "household-slots": "The half-hours of several households",
}
DISTANCE_TITLES = {"tv": "Total variation", "hellinger": "Hellinger", "js": "Jensen–Shannon"}
HDR, DENSITY, SAMPLE = "HDR", "density", "sample size"


def _titles(registry: Registry[Any]) -> dict[str, str]:
    return {entry.title: name for name, entry in registry.items()}


class Explorer(param.Parameterized):
    """The choices that make a run, the run on the map, and the point that is looked at."""

    unit: Any = param.Selector(
        default="profiles",
        objects={UNIT_TITLES[unit]: unit for unit in UNITS},
        label="A point is",
        doc="What one point on the map stands for",
    )
    household: Any = param.Selector(default=None, objects=[None], doc="The household of unit slots")
    distance: Any = param.Selector(
        default="tv",
        objects={title: name for name, title in DISTANCE_TITLES.items()},
        doc="How far two distributions of demand are apart",
    )
    neighbors: Any = param.Selector(
        default="auto",
        objects={"Fastest (automatic)": "auto", **_titles(BACKENDS)},
        label="Neighbours by",
        doc="How nearest neighbours are found",
    )
    method: Any = param.Selector(
        default="isomap", objects=_titles(METHODS), doc="How the map is drawn from the neighbours"
    )
    k: Any = param.Integer(
        default=20, bounds=(2, 200), label="Neighbours of each point", doc="K of the graph"
    )
    rank_by: Any = param.Selector(
        default="density",
        objects={
            "low density on the map": "density",
            "distance to the neighbours": "isolation",
            "surprise, given the neighbours": "surprise",
        },
        label="Anomalies by",
        doc="What makes a point anomalous",
    )
    color_by: Any = param.Selector(
        default=HDR, objects=[HDR], label="Colour by", doc="What colours say"
    )

    run: Any = param.ClassSelector(class_=Run, default=None, doc="The run on the map")
    selected: Any = param.Integer(default=None, allow_None=True, doc="The row that is looked at")

    # What makes another run; the rest only changes how it is shown.
    CHOICES = ("unit", "household", "distance", "neighbors", "k", "method", "rank_by")

    def __init__(self, dataset: Dataset, **values: Any) -> None:
        super().__init__(**values)
        self.dataset = dataset
        names = dataset.households["household"].tolist()
        self.param.household.objects = names
        self.household = names[0] if names else None

    @param.depends("unit", watch=True)
    def _use_the_distance_of_the_unit(self) -> None:
        self.distance = "tv" if self.unit == "profiles" else "hellinger"

    def config(self) -> RunConfig:
        """Return the config that the choices make."""
        return RunConfig(
            unit=self.unit,
            household=self.household if self.unit == "slots" else None,
            distance=self.distance,
            neighbors=self.neighbors,
            k=self.k,
            method=self.method,
            rank_by=self.rank_by,
        )

    def show(self, run: Run) -> None:
        """Put a run on the map, keeping the point that is looked at if it is still there."""
        label = None if self.run is None or self.selected is None else self.label(self.selected)
        found = np.flatnonzero((run.units["label"] == label).to_numpy())
        first = [*found, *run.hdr.anomalies, 0][0]
        self.param.color_by.objects = [HDR, DENSITY, SAMPLE, *self.dataset.metadata.columns]
        # Together, so that no view meets the new run with the old row; and even the same row
        # number is news, because it may stand for another point.
        self.param.update(run=run, selected=int(first))
        self.param.trigger("selected")

    def label(self, row: int) -> str:
        """What a point is called."""
        return str(self.run.units["label"].iloc[row])

    def place(self, row: int) -> str:
        """Where a point stands, in words."""
        level = str(self.run.hdr.labels[row])
        region = f"outside the {level[1:]} % HDR" if level[0] == ">" else f"in the {level} % HDR"
        unit = self.run.units.iloc[row]
        return (
            f"anomaly rank {self.run.hdr.rank[row]:,} of {self.run.n:,} · {region} · "
            f"{unit['m']:,} readings"
        )

    def explanation(self, row: int) -> str:
        """When and how a point differs from what its neighbours suggest, in words."""
        text = explain(self.run.surprise, row, interval_minutes=self.dataset.interval_minutes)
        return text[0].upper() + text[1:] + "."

    def colors(self) -> pd.Series:
        """What the points are coloured by, (n,)."""
        run = self.run
        if self.color_by == HDR:
            return pd.Series(run.hdr.labels)
        if self.color_by == DENSITY:
            return pd.Series(run.hdr.density)
        return run.units["m" if self.color_by == SAMPLE else self.color_by].reset_index(drop=True)

    def anomalies(self) -> pd.DataFrame:
        """The anomalies, the most anomalous first, with what is known of their households."""
        run = self.run
        rows = run.hdr.anomalies
        known = run.units.iloc[rows][list(self.dataset.metadata.columns)].reset_index(drop=True)
        table = pd.DataFrame(
            {
                "rank": run.hdr.rank[rows],
                "what": run.units["label"].iloc[rows].to_numpy(),
                "HDR, %": run.hdr.labels[rows],
                "readings": run.units["m"].iloc[rows].to_numpy(),
            }
        )
        return pd.concat([table, known], axis="columns")

    def select_label(self, label: str) -> None:
        """Look at the point of that name."""
        found = np.flatnonzero((self.run.units["label"] == label).to_numpy())
        if len(found):
            self.selected = int(found[0])

    def select_near(self, x: float, y: float, reach: float) -> None:
        """Look at the point nearest to a place on the map, if one is within reach."""
        distance = np.hypot(self.run.y[:, 0] - x, self.run.y[:, 1] - y)
        nearest = int(np.argmin(distance))
        if distance[nearest] <= reach:
            self.selected = nearest

    def readings(self, row: int) -> pd.DataFrame:
        """Return the readings behind a point: those of its household, or of its half-hour."""
        unit = self.run.units.iloc[row]
        readings = self.dataset.readings(str(unit["household"]))
        if "slot" in self.run.units:
            slots = slot_of(readings["time"].to_numpy(), self.dataset.interval_minutes)
            readings = readings[slots == unit["slot"]]
        return readings
