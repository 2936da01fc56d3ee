"""The anomalies of a run's households as the page lists them: by row of the map."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from core.anomalies import Anomalies, Finding
from core.runs import Run

BY_EVIDENCE, BY_SIZE = "evidence", "size"
# A list of which a tenth is false is one to act on.
SURE_Q = 0.1
# What the points that a map marks are called where they are these.
UNUSUAL_MARKS = "unusual homes"


@dataclass(frozen=True, eq=False)
class UnusualHomes:
    """What is unusual about the households on a map.

    Attributes
    ----------
    anomalies : Anomalies
    places : ndarray of int, shape (n,)
        The place of each row of the map in the table of the anomalies; −1 where a household was
        not judged.
    rows : ndarray of int
        The rows of the map that are called unusual, the most certain first.
    """

    anomalies: Anomalies
    places: np.ndarray
    rows: np.ndarray

    @classmethod
    def of(cls, run: Run, anomalies: Anomalies) -> Self:
        """Find the households of a map among those that were judged."""
        order = pd.Index(anomalies.table["household"])
        places = order.get_indexer(run.units["household"])
        found = order.isin(list(anomalies.findings))
        rows = np.flatnonzero((places >= 0) & found[places])
        return cls(anomalies, places, rows[np.argsort(places[rows], kind="stable")])

    def ordered(self, by: str) -> np.ndarray:
        """The unusual rows, the most certain or the largest (kWh a week) first."""
        if by == BY_EVIDENCE:
            return self.rows
        size = self.anomalies.table["kwh_per_week"].abs().to_numpy()[self.places[self.rows]]
        return self.rows[np.argsort(-size, kind="stable")]

    @property
    def n_sure(self) -> int:
        """How many of the listed households are the first of a list with few false ones."""
        q = self.anomalies.table["q"].to_numpy()[self.places[self.rows]]
        return int((q <= SURE_Q).sum())

    @property
    def expected_false(self) -> float:
        """How many of the listed households are there by chance."""
        return self.anomalies.expected_false(len(self.rows))

    def judgement(self, row: int) -> dict[str, Any] | None:
        """The table's entry of a row; None if it was not judged."""
        if self.places[row] < 0:
            return None
        found = self.anomalies.table.iloc[self.places[row]].to_dict()
        return {str(name): value for name, value in found.items()}

    def finding(self, row: int) -> Finding | None:
        """What is unusual about a row; None if nothing is."""
        judged = self.judgement(row)
        return None if judged is None else self.anomalies.findings.get(judged["household"])

    def table(self, rows: np.ndarray) -> pd.DataFrame:
        """Rows as they are listed."""
        table = self.anomalies.table.iloc[self.places[rows]].reset_index(drop=True)
        return pd.DataFrame(
            {
                "what": table["household"],
                "headline": table["reason"],
                "size": table["kwh_per_week"],
                "since": table["since"],
                "q": table["q"],
                "detector": table["detector"],
            }
        )
