"""What is known of the points on the map, in words and tables; no widgets."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from core.anomalies import explain
from core.runs import Run
from core.scene.coloring import LEVEL_NAMES, level_text
from core.slots import parse_slots
from dashboard.state.map_colors import BETWEEN, SEGMENTS, MapColors


class PointFacts(MapColors):
    """The run on the map and its colours, and what they tell about a row or some rows."""

    @property
    def interval(self) -> str:
        """What the time of one reading is called."""
        return interval_noun(self.dataset.interval_minutes)

    def label(self, row: int) -> str:
        """The name of a point on this map."""
        return str(self.run.units["label"].iat[row])

    def full_name(self, row: int) -> str:
        """The name of a point on any map: a half-hour is named with its household."""
        label = self.label(row)
        return f"{self.household_of(row)} {label}" if self.run.config.unit == "slots" else label

    def household_of(self, row: int) -> str:
        """The household of a point."""
        return str(self.run.units["household"].iat[row])

    def place(self, row: int) -> str:
        """Where a point stands, in words."""
        unit = self.run.units.iloc[row]
        digits = ".2g" if unit["mean_kwh"] < 99.5 else ",.0f"
        return (
            f"mean {unit['mean_kwh']:{digits}} kWh per {self.interval} · {unit['m']:,} readings\n"
            f"Isolated on this map: rank {self.run.hdr.rank[row]:,} of {self.run.n:,} · "
            f"{level_text(self.run.hdr.labels[row])}"
        )

    def explanation(self, row: int) -> str:
        """How a half-hour differs from what its neighbours suggest, in words."""
        text = explain(self.run.surprise, row)
        return text[0].upper() + text[1:] + "."

    def metadata(self, row: int) -> Mapping[str, str]:
        """What is known of a point's household."""
        household = self.dataset.metadata.iloc[self.dataset.code(self.household_of(row))]
        return {
            str(name): "not known" if pd.isna(value) else f"{value}"
            for name, value in household.items()
        }

    def neighbors_of(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows of a point's K neighbours and their distances, nearest first."""
        k = self.run.config.k
        found = self.run.neighbors
        return found.indices[row, :k], found.distances[row, :k]

    def difference_shares(self, distances: np.ndarray) -> np.ndarray:
        """Distances as shares of the largest that there can be: 1 is nothing in common."""
        config = self.run.config
        blocks = 1
        if config.unit == "profiles":
            minutes = self.dataset.interval_minutes
            blocks = self.dataset.slots_per_week
            if config.slots is not None:
                blocks = len(parse_slots(config.slots, minutes))
        return distances / (blocks**0.5 if config.distance == "hellinger" else blocks)

    def table(self, rows: Sequence[int] | np.ndarray) -> pd.DataFrame:
        """Points with their rank, HDR and what is known of their households."""
        run, rows = self.run, np.asarray(rows, np.int64)
        own = {"label", "household", "slot", "m", "mean_kwh"}
        units = run.units.iloc[rows].reset_index(drop=True)
        table = pd.DataFrame(
            {
                "rank": run.hdr.rank[rows],
                "what": units["label"],
                "density band": [LEVEL_NAMES[level] for level in run.hdr.level[rows]],
                "mean kWh": units["mean_kwh"],
                "readings": units["m"],
            }
        )
        known = units[[name for name in units.columns if name not in own]]
        taken = [*table.columns, "segment"]
        known = known.rename(columns={name: f"{name} (known)" for name in taken})
        if SEGMENTS in self.labels:
            names = [name or BETWEEN for name in self.labels_of(SEGMENTS, rows)]
            known.insert(0, "segment", names)
        return pd.concat([table, known], axis="columns")

    def typical(self) -> int:
        """The most typical point."""
        return int(np.argmax(self.run.hdr.density))

    def rows_of(self, labels: Sequence[str]) -> list[int]:
        """The points of these names, as far as the map has them."""
        return rows_of(self.run, labels)


def point_noun(unit: str, interval_minutes: int, *, n: int = 2) -> str:
    """What n points of a map are, in words."""
    is_home = unit in ("profiles", "households")
    noun = "household" if is_home else interval_noun(interval_minutes)
    return noun if n == 1 else f"{noun}s"


def interval_noun(interval_minutes: int) -> str:
    """What the time of one reading is called."""
    return {30: "half-hour", 60: "hour", 15: "quarter-hour"}.get(interval_minutes, "interval")


def rows_of(run: Run, labels: Sequence[str]) -> list[int]:
    """The points of these names, as far as a run has them."""
    names = run.units["label"].to_numpy()
    found = [np.flatnonzero(names == label) for label in labels]
    return [int(rows[0]) for rows in found if len(rows)]
