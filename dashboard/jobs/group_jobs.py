"""What workers find out about groups of households."""

import json
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pandas as pd

from core.export.file_names import file_name
from core.export.table_files import defuse
from core.figures.files import save_figure
from core.figures.group_figure import draw_groups
from core.groups import GroupComparison, compare_groups, household_demand
from core.groups.demand import Demand
from core.progress import Progress, part
from core.runs import RunConfig
from dashboard.jobs._job import Limits
from dashboard.jobs.session_pool import FollowedJob
from dashboard.jobs.workspace import Workspace, WorkspacePaths

_LIMITS = Limits(seconds=900.0, memory_mb=8_000.0)
_QUEUE = "groups"


@dataclass(frozen=True, kw_only=True)
class Sides:
    """Two groups to compare.

    Attributes
    ----------
    first, second : tuple of str
        Ids of households.
    names : (str, str)
    attribute : str
        The attribute that made the first group, which is not compared; empty for none.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    names: tuple[str, str]
    attribute: str = ""


def submit_comparison(workspace: Workspace, config: RunConfig, sides: Sides) -> FollowedJob:
    """Have two groups compared; the result is a :class:`core.groups.GroupComparison`."""
    argument = workspace.paths, json.dumps(config.to_json()), sides
    key = ("groups", *argument)
    return workspace.pool.submit(key, compare, argument, queue=_QUEUE, limits=_LIMITS)


def compare(argument: tuple[WorkspacePaths, str, Sides], progress: Progress) -> GroupComparison:
    """Compare two groups by what their households use."""
    paths, config, sides = argument
    progress(0.0, "Looking at what homes use")
    demand = _demand(paths, config)
    return compare_groups(
        demand,
        sides.first,
        sides.second,
        names=sides.names,
        seed=RunConfig.from_json(json.loads(config)).seed,
        without_attributes=(sides.attribute,) if sides.attribute else (),
        progress=part(progress, 0.3, 1.0),
    )


@lru_cache(maxsize=1)
def _demand(paths: WorkspacePaths, config: str) -> Demand:
    """What the homes of a map use: kept for the next group on the same map."""
    dataset, store = paths.open()
    return household_demand(dataset, RunConfig.from_json(json.loads(config)), store=store)


def submit_export(
    workspace: Workspace, comparison: GroupComparison, sides: Sides, directory: str
) -> FollowedJob:
    """Have a comparison written to a file; the result is its path."""
    key, argument = ("export group", directory), (comparison, sides, directory)
    return workspace.pool.submit(key, export, argument, queue=_QUEUE, limits=_LIMITS, quick=True)


def export(argument: tuple[GroupComparison, Sides, str], progress: Progress) -> str:
    """Write a zip: who is in which group, the figure, and all numbers."""
    comparison, sides, directory = argument
    progress(0.1, "Drawing")
    members = pd.DataFrame(
        [
            (household, name)
            for name, own in zip(sides.names, (sides.first, sides.second), strict=True)
            for household in own
        ],
        columns=["household", "group"],
    )
    contents = {
        "groups.csv": defuse(members).to_csv(index=False),
        "hours.csv": defuse(comparison.hours).to_csv(index=False),
        "attributes.csv": defuse(comparison.attributes).to_csv(index=False),
        "comparison.json": json.dumps(comparison.to_json(), indent=1, ensure_ascii=False),
    }
    figure = Path(directory) / "groups.png"
    save_figure(draw_groups(comparison), figure)
    path = Path(directory) / file_name("group", suffix=".zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.write(figure, figure.name)
        for name, content in contents.items():
            file.writestr(name, content)
    return str(path)
