"""What the colours of the map say: what its run knows, saved groups, or segments; no widgets."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import param

from core.readings import Dataset
from core.runs import Run
from core.runs.anomaly_stage import UNITS
from core.scene import Coloring, color_points
from core.scene.coloring import HDR, choices, color_values
from core.segments.naming import BETWEEN
from dashboard.state.run_choices import Choices
from dashboard.state.saved_groups import SavedGroups, group_labels

# What colours can say beside what the map itself knows.
GROUPS, SEGMENTS = "Saved groups", "Segments"
IN_NO_GROUP = "in no group"
_UNLABELLED = {GROUPS: IN_NO_GROUP, SEGMENTS: BETWEEN}
_NOT_FOUND = "not found yet"


class MapColors(Choices):
    """The run on the map, and how its points are coloured."""

    color_by: Any = param.Selector(
        default=HDR, objects=[HDR], label="Colour by", doc="What colours say"
    )
    safe_colors: Any = param.Boolean(
        default=False, label="Colour-blind safe", doc="HDR from yellow to blue, without red"
    )
    hidden: Any = param.List(default=[], doc="Categories that are switched off in the legend")
    run: Any = param.ClassSelector(class_=Run, default=None, doc="The run on the map")
    labels: Any = param.Dict(
        default={}, doc="What homes are called besides their attributes: by title, then by home"
    )

    def __init__(self, dataset: Dataset, **values: Any) -> None:
        super().__init__(dataset, **values)
        self.dataset = dataset
        self.groups = SavedGroups()
        self.groups.param.watch(self._label_groups, "groups")
        self._colorings: dict[tuple[str, bool], Coloring] = {}

    def forget_colors(self) -> None:
        """Make the colours anew, as for another run."""
        self._colorings.clear()

    def coloring(self) -> Coloring:
        """How the points are coloured; kept until there is another run."""
        what = (self.color_by, self.safe_colors)
        if what not in self._colorings:
            self._colorings[what] = self._make_coloring()
        return self._colorings[what]

    def _make_coloring(self) -> Coloring:
        by, minutes = self.color_by, self.dataset.interval_minutes
        if by not in _UNLABELLED:
            return color_points(self.run, by, interval_minutes=minutes, safe=self.safe_colors)
        missing_name = _UNLABELLED[by] if by in self.labels else _NOT_FOUND
        labels = self.labels_of(by, np.arange(self.run.n))
        return color_values(by, pd.Series(labels, dtype="object"), missing_name=missing_name)

    def label_coloring(self) -> Coloring | None:
        """The colours of labels, of which the run knows nothing; None for other colours."""
        return self.coloring() if self.color_by in self.labels else None

    def labels_of(self, title: str, rows: np.ndarray) -> list[str | None]:
        """What the homes of some points are called; None where they have no label."""
        labels = self.labels.get(title, {})
        return [labels.get(home) for home in self.run.units["household"].iloc[rows]]

    def color_choices(self, run: Run) -> list[str]:
        """What the points of a run can be coloured by, labels included."""
        if run.config.unit not in UNITS:
            return choices(run)
        return [*choices(run), *([GROUPS] if GROUPS in self.labels else []), SEGMENTS]

    def _label_groups(self, event: param.parameterized.Event) -> None:
        self.label_homes(GROUPS, group_labels(event.new))

    def label_homes(self, title: str, labels: Mapping[str, str]) -> None:
        """Let homes be coloured by labels; none take the choice away."""
        others = {name: own for name, own in self.labels.items() if name != title}
        self.labels = {**others, title: dict(labels)} if labels else others
        self._colorings = {what: own for what, own in self._colorings.items() if what[0] != title}
        if self.run is None:
            return
        self.param.color_by.objects = self.color_choices(self.run)
        if self.color_by == title:
            if title in self.param.color_by.objects:
                self.param.trigger("color_by")
            else:
                self.color_by = HDR

    def choose_category(self, name: str) -> None:
        """Choose all points that have the colour of a category."""
        coloring = self.coloring()
        if name in coloring.names:
            self.chosen = np.flatnonzero(coloring.codes == coloring.names.index(name))
