"""A study as a directory: a report to read, its figures and its tables.

report.html    everything in one file, which asks no other place for anything
figures/       the figures as PNG and SVG
tables/        the tables as CSV
study.json     the rows, as ``wattfold study --json`` prints them
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from core import atomic
from core.embedding import METHODS
from core.errors import InputError
from core.export import Provenance
from core.export.table_files import defuse
from core.progress import Progress, part, silent
from core.quality import MEASURES
from core.study import _report_text, study_tables
from core.study._report_layout import (
    ABSENT,
    Picture,
    Section,
    Table,
    grid_table,
    list_table,
    number,
)
from core.study._study_figures import GRAPH_POINTS, draw_pictures, study_provenance
from core.study.study_runs import Study

FORMAT = "wattfold study"
REPORT = "report.html"
_MARKER = "study.json"
_TEMPLATE = Path(__file__).with_name("report.html")

# Anomalies listed in the report; the CSV has them all.
_LISTED = 12


def check_destination(path: Path) -> None:
    """Refuse a place that holds anything but an earlier study."""
    is_free = path.is_dir() and (not any(path.iterdir()) or _is_study(path))
    if path.exists() and not is_free:
        raise InputError(f"{path} exists and is no earlier study; choose another place to write to")


def _is_study(path: Path) -> bool:
    try:
        content = json.loads((path / _MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and content.get("format") == FORMAT


def write_study(
    study: Study,
    path: Path,
    *,
    result: Mapping[str, Any],
    command: str,
    progress: Progress = silent,
) -> None:
    """Write a study's directory, whole or not at all.

    Parameters
    ----------
    study : Study
    path : Path
        A new directory, or an earlier study to be replaced.
    result : mapping
        What ``--json`` prints; kept beside the report.
    command : str
        The command that repeats the study.
    progress : Progress
        Called with the share of the work that is done; may raise to stop it.
    """
    check_destination(path)
    with atomic.new_directory(path) as staging:
        (staging / "figures").mkdir()
        (staging / "tables").mkdir()
        pictures = draw_pictures(study, staging / "figures", progress=part(progress, 0.0, 0.9))
        for name, frame in _frames(study).items():
            defuse(frame).to_csv(staging / "tables" / f"{name}.csv", index=False)
        html = render_report(
            study,
            pictures,
            command=command,
            now=datetime.now().astimezone(),
            provenance=study_provenance(study),
        )
        (staging / REPORT).write_text(html, encoding="utf-8")
        marked = {"format": FORMAT, **result}
        text = json.dumps(marked, ensure_ascii=False, allow_nan=False, indent=1)
        (staging / _MARKER).write_text(text, encoding="utf-8")
    progress(1.0)


def render_report(
    study: Study,
    pictures: Mapping[str, Picture],
    *,
    command: str,
    now: datetime,
    remarks: Sequence[Section] = (),
    provenance: Provenance | None = None,
) -> str:
    """Return the report as one HTML page; whatever comes from the data is escaped.

    Parameters
    ----------
    command : str
        The command that repeats the study.
    now : datetime
    remarks : sequence of Section
        What an analyst adds; it comes before all else.
    provenance : Provenance, optional
        Kept in the page, so that the run can be had back from it.
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    return template.render(
        title=_report_text.title(study),
        subtitle=f"{_report_text.subtitle(study)} · {_report_text.day(now)}, {now:%H:%M}",
        found=_report_text.found(study),
        asked=_report_text.asked(study),
        sections=number([*remarks, *_sections(study, pictures)]),
        notices=study.notices,
        failures=study.failures,
        command=command,
        parameters=_report_text.parameters(study),
        versions=_report_text.versions(),
        digest=study.dataset.digest,
        # It holds no character that could end the element.
        provenance=None if provenance is None else Markup(provenance.for_html()),  # noqa: S704
    )


def _frames(study: Study) -> dict[str, pd.DataFrame]:
    return {
        "trustworthiness": study_tables.trustworthiness_table(study).reset_index(),
        "seconds": study_tables.seconds_table(study).reset_index(),
        "searches": study_tables.search_table(study),
        "quality": study_tables.quality_table(study),
        "anomalies": study_tables.anomaly_table(study),
        "rows": study_tables.rows_table(study),
    }


def _sections(study: Study, pictures: Mapping[str, Picture]) -> list[Section]:
    def shown(*names: str) -> list[Picture | Table]:
        return [pictures[name] for name in names if name in pictures]

    return [
        Section(
            "The maps",
            (
                "Points that are close have similar distributions of demand. Axes have no "
                "meaning of their own: a map may be turned, mirrored or stretched.",
            ),
            shown("hdr", "time_of_day"),
        ),
        Section(
            "How faithful they are",
            items=[_trustworthiness(study), _quality(study)],
        ),
        Section(
            "Neighbours and time",
            _not_drawn(study),
            items=[*shown("neighbors"), _searches(study), _seconds(study)],
        ),
        Section(
            "Typical and anomalous",
            (_report_text.featured(study),),
            [*shown("anomalies"), *_anomalies(study), *shown("distributions", "quantile_regions")],
        ),
    ]


def _not_drawn(study: Study) -> list[str]:
    if study.featured.n <= GRAPH_POINTS:
        return []
    return [f"Neighbour graphs of more than {GRAPH_POINTS:,} points are not drawn."]


def _trustworthiness(study: Study) -> Table:
    table = study_tables.trustworthiness_table(study)
    groups = study.search_groups
    shown = table[[study.plan.search_title(group[0]) for group in groups]]
    return grid_table(
        shown.set_axis([study.group_title(group) for group in groups], axis=1),
        caption=f"Trustworthiness at K = {study.plan.config.k} by method and by search for "
        "neighbours; the best of each row in bold. It is 1 less a penalty for neighbours on the "
        "map that are far in truth. Searches that lead to the same maps share a column.",
        best=np.max,
        show=lambda value: f"{value:.3f}",
    )


def _quality(study: Study) -> Table:
    frame = study_tables.quality_table(study)
    title = {
        study.plan.search_title(group[0]): study.group_title(group) for group in study.search_groups
    }
    frame["neighbours by"] = frame["neighbours by"].map(title)
    frame = frame.dropna(subset="neighbours by", ignore_index=True)

    def show(name: str, value: object) -> str:
        if name not in MEASURES:
            return str(value)
        return ABSENT if np.isnan(float(value)) else f"{value:.3f}"  # type: ignore[arg-type]

    frame_shown = frame.assign(method=frame["method"].where(~frame["method"].duplicated(), ""))
    return list_table(
        frame_shown,
        caption="All measures, against the exact neighbours in the statistical distance; higher "
        "is better, the best of each column in bold. Trust is trustworthiness; Q is the share of "
        "neighbours kept, LCMC and R the same beyond chance; W are mean errors of ranks among "
        "true (n) and mapped (ν) neighbours; Procrustes is the agreement of local shapes.",
        header=["Method", "Neighbours by", *_report_text.MEASURE_TITLES.values()],
        show=show,
        best=MEASURES,
        groups=(frame["method"] != frame["method"].shift()).tolist(),
        long=True,
    )


def _searches(study: Study) -> Table:
    def show(name: str, value: object) -> str:
        if name in ("recall", "same list", "seconds"):
            value = float(value)  # type: ignore[arg-type]
            if np.isnan(value):
                return ABSENT
            return _seconds_text(value) if name == "seconds" else f"{value:.4f}"
        return f"{value:,}" if name == "k" else str(value)

    return list_table(
        study_tables.search_table(study),
        caption="The neighbour graphs. Recall is the share of neighbours found that are as near "
        "as the true ones; “same list” is the share of points whose neighbours are exactly those "
        "of the exact search. t-SNE searches for three times its perplexity.",
        header=["Neighbours by", "K", "Embedded by", "Recall", "Same list", "Seconds"],
        show=show,
    )


def _seconds(study: Study) -> Table:
    return grid_table(
        study_tables.seconds_table(study),
        caption="Seconds for finding the neighbours and embedding them; the least of each row in "
        "bold. Work that several runs share was done once and counts in each of them.",
        best=np.min,
        show=_seconds_text,
    )


def _anomalies(study: Study) -> list[Table]:
    frame = study_tables.anomaly_table(study)
    if frame.empty:
        return []
    maps = len(study.runs)

    def show(name: str, value: object) -> str:
        if name == "maps":
            return f"{value} of {maps}"
        return str(value) if isinstance(value, str) else f"{value:,}".removesuffix(".0")

    # Those that the figures mark, too.
    n_top = study.plan.config.n_anomalies
    listed = frame[(frame.index < _LISTED) | (frame["featured rank"] <= n_top)]
    more = (
        f" {len(listed)} of {len(frame)}: the first {_LISTED}, and those marked on the map."
        if len(listed) < len(frame)
        else ""
    )
    featured = METHODS[study.featured_cell.method].title
    return [
        list_table(
            listed.drop(columns="share"),
            caption=f"Points that the maps name among their {n_top} most anomalous, those that "
            f"most maps agree on first.{more}",
            header=["Point", "Named by maps", "Median rank", "Readings", f"Rank by {featured}"],
            show=show,
        )
    ]


def _seconds_text(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:,.1f}"
