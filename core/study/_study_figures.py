"""The figures of a study, as files and as pictures of its report."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.embedding import METHODS
from core.export import Provenance
from core.figures import (
    Distribution,
    draw_distributions,
    draw_hdr_map,
    draw_map_grid,
    draw_neighbor_graphs,
    draw_quantile_regions,
    save_figure,
)
from core.figures.demand_summary import week_quantiles
from core.progress import Progress, part, silent
from core.runs import Run
from core.runs.readings_behind import readings_behind, within_period
from core.scene import MapScene, color_times, density_scene, plain_scene
from core.slots import MINUTES_PER_DAY
from core.study._example_points import choose_examples, choose_households
from core.study._report_layout import Picture, embed_picture
from core.study._report_text import search_phrase
from core.study.study_runs import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Lines between more points than this are one grey spot, and take minutes to draw.
GRAPH_POINTS = 20_000


@dataclass(frozen=True)
class _Drawing:
    """A figure to be drawn, and what to say of it."""

    name: str
    draw: Callable[[], "Figure"]
    caption: str
    alt: str


def draw_pictures(
    study: Study,
    directory: Path,
    *,
    provenance: Provenance | None = None,
    progress: Progress = silent,
) -> dict[str, Picture]:
    """Draw every figure into a directory as PNG and SVG; return them for the report, by name."""
    described = (provenance or study_provenance(study)).to_json()
    drawings = list(_drawings(study))
    pictures = {}
    for number, drawing in enumerate(drawings):
        report = part(progress, number / len(drawings), (number + 1) / len(drawings))
        report(0.0, "Drawing")
        figure = drawing.draw()
        report(0.5)
        pictures[drawing.name] = save_picture(
            figure, directory / drawing.name, described, caption=drawing.caption, alt=drawing.alt
        )
    return pictures


def save_picture(
    figure: "Figure", path: Path, described: Mapping[str, Any], *, caption: str, alt: str
) -> Picture:
    """Save a figure as PNG and SVG, at a path without a suffix; return it for the report."""
    svg, png = path.with_name(f"{path.name}.svg"), path.with_name(f"{path.name}.png")
    for file in (svg, png):
        save_figure(figure, file, metadata=described)
    width, height = figure.get_size_inches()
    return embed_picture(svg, png, inches=(width, height), caption=caption, alt=alt)


def study_provenance(study: Study) -> Provenance:
    """What it takes to make the study again."""
    return Provenance(
        config=study.plan.config, dataset=study.dataset.digest, version=version("wattfold")
    )


def _drawings(study: Study) -> Iterator[_Drawing]:
    featured = METHODS[study.featured_cell.method].title
    phrase = search_phrase(study, study.featured_cell.search)
    few = study.plan.config.n_anomalies
    yield _Drawing(
        "hdr",
        lambda: _map_grid(study, lambda run: density_scene(run.y, run.hdr)),
        "Highest density regions on the map of every method (rows) by the search for "
        f"neighbours (columns{_shared(study)}). The densest 1 % of the points are yellow, the "
        f"rarest black; the {few} most anomalous are diamonds. Maps are turned alike.",
        "Grid of maps, methods in rows and searches in columns, coloured by density region",
    )
    yield _Drawing(
        "anomalies",
        lambda: _featured_map(study),
        f"The map of {featured} by {phrase}, its {few} most anomalous points marked and named.",
        f"Map of {featured} with labelled anomalies",
    )
    if "slot" in study.featured.units:
        yield _Drawing(
            "time_of_day",
            lambda: _map_grid(
                study, lambda run: plain_scene(run.y, color_times(_minutes(study, run)))
            ),
            "The same maps, coloured by the time of day, which no method was given.",
            "Grid of maps coloured by time of day",
        )
    if study.featured.n <= GRAPH_POINTS and study.featured.neighbors.k:
        yield _Drawing(
            "neighbors",
            lambda: _neighbor_graphs(study),
            f"Neighbour graphs with K = {study.featured.neighbors.k}, all drawn at the places of "
            f"{featured}'s first map: lines that differ are neighbours that a search took for "
            "others.",
            "Neighbour graphs side by side",
        )
    yield _Drawing(
        "distributions",
        lambda: _distributions(study),
        "Demand of the most typical points (orange, left) and of the most anomalous ones (black, "
        "right, with the most typical dashed).",
        "Histograms and densities of demand",
    )
    households = choose_households(study)
    who = (
        f"household {households[0].label}"
        if len(households) == 1
        else f"typical household {households[0].label} and of anomalous ones, "
        + " and ".join(household.label for household in households[1:])
    )
    yield _Drawing(
        "quantile_regions",
        lambda: _quantile_regions(study),
        f"Demand over the week of {who}: the regions that hold 50, 75, 95 and 99 % of the "
        "readings of each time of the week, and the median.",
        "Quantile regions of demand by time of week",
    )


def _shared(study: Study) -> str:
    several = any(len(group) > 1 for group in study.search_groups)
    return "; searches that lead to the same maps share one" if several else ""


def _map_grid(study: Study, make: Callable[[Run], MapScene]) -> "Figure":
    groups = study.search_groups
    cells = [[study.cell(method, group[0]) for group in groups] for method in study.plan.methods]
    return draw_map_grid(
        [[None if cell.run is None else make(cell.run) for cell in row] for row in cells],
        row_titles=[METHODS[method].title for method in study.plan.methods],
        column_titles=[study.group_title(group).replace(", ", ",\n") for group in groups],
        panel=(2.8, 1.9),
    )


def _featured_map(study: Study) -> "Figure":
    run = study.featured
    return draw_hdr_map(run.y, run.hdr, run.units["label"].to_numpy(), size=(7.6, 5.4))


def _minutes(study: Study, run: Run) -> np.ndarray:
    return run.units["slot"].to_numpy() * study.dataset.interval_minutes % MINUTES_PER_DAY


def _neighbor_graphs(study: Study) -> "Figure":
    graphs = {}
    for group in study.search_groups:
        run = study.cell(study.featured_cell.method, group[0]).run
        if run is not None:
            recall = "" if run.recall is None else f"\nrecall {run.recall:.3f}"
            title = study.group_title(group).replace(", ", ",\n")
            graphs[title + recall] = run.neighbors.indices
    return draw_neighbor_graphs(study.featured.y, graphs, panel=(3.1, 2.7))


def _distributions(study: Study) -> "Figure":
    found = choose_examples(study)
    demand = [readings_behind(study.featured, study.dataset, example.point) for example in found]
    typical = {"most typical": demand[0]}
    panels = [
        Distribution(
            example.label,
            kwh,
            anomalous=not example.is_typical,
            others={} if example.is_typical else typical,
        )
        for example, kwh in zip(found, demand, strict=True)
    ]
    # Typical ones in the left column, anomalous ones in the right one.
    left = [panel for panel in panels if not panel.anomalous]
    right = [panel for panel in panels if panel.anomalous]
    if len(left) == len(right):
        panels = [panel for pair in zip(left, right, strict=True) for panel in pair]
    return draw_distributions(panels)


def _quantile_regions(study: Study) -> "Figure":
    weeks = {}
    for household in choose_households(study):
        readings = within_period(study.featured, study.dataset.readings(household.label))
        kind = "typical" if household.is_typical else "anomalous"
        alone = study.featured.units["household"].nunique() == 1
        title = household.label if alone else f"{household.label} ({kind})"
        weeks[title] = week_quantiles(
            readings["time"].to_numpy(),
            readings["kwh"].to_numpy(),
            study.dataset.interval_minutes,
        )
    return draw_quantile_regions(weeks)
