"""The report of ``wattfold study`` for the run on the page, with what the analyst noted."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from core import atomic
from core.export import Anonymous, Privacy, Provenance, anonymise
from core.export.figure_views import distribution_figure, week_figure
from core.progress import Progress, part, silent
from core.readings import Dataset
from core.registry import Value
from core.runs import Run, RunConfig, Store
from core.study._report_layout import Picture, Section, Table, list_table
from core.study._study_figures import draw_pictures, save_picture
from core.study.report import render_report
from core.study.study_runs import SEARCHES, Study, StudyPlan, run_study


@dataclass(frozen=True, kw_only=True)
class Remarks:
    """What an analyst adds to a report.

    Attributes
    ----------
    text : str
        On the whole; lines are paragraphs.
    notes : mapping of label to text
        On single points.
    pins : sequence of str
        Labels of points to show closely.
    """

    text: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)
    pins: Sequence[str] = ()


def report_plan(config: RunConfig, *, backend: str | None = None) -> StudyPlan:
    """What a report of a config compares.

    Parameters
    ----------
    config : RunConfig
        Its parameters of method and backend are those of the study.
    backend : str, optional
        The backend of the run's neighbours: the study is then of the run's own method and this
        backend alone; by default it is of all methods and the paper's searches.
    """
    # The study measures quality of its own accord, and its command has no flag for it.
    shared = config.change(quality=False, neighbors="auto", method="isomap")
    if backend is None:
        return StudyPlan(config=shared, parameters=_own_parameters(config))
    parameters = dict(config.method_parameters)
    if config.neighbors == backend:
        parameters |= config.neighbors_parameters
    return StudyPlan(
        config=shared, methods=(config.method,), searches=(backend,), parameters=parameters
    )


def _own_parameters(config: RunConfig) -> dict[str, Value]:
    """The parameters of the config, less those that a search of the study sets."""
    parameters = dict(config.method_parameters)
    if any(config.neighbors == search.backend for search in SEARCHES.values()):
        parameters |= config.neighbors_parameters
    return parameters


def make_report(
    dataset: Dataset,
    config: RunConfig,
    path: Path,
    *,
    plan: StudyPlan | None = None,
    remarks: Remarks | None = None,
    privacy: Privacy = "keep",
    view: Mapping[str, Any] | None = None,
    store: Store,
    progress: Progress = silent,
) -> None:
    """Run the study of a config and write its report, whole or not at all.

    Parameters
    ----------
    dataset : Dataset
    config : RunConfig
    path : Path
        The HTML file to write.
    plan : StudyPlan, optional
        What to compare; all methods and searches by default.
    remarks : Remarks, optional
        Come as the first section.
    privacy : {'keep', 'hash', 'drop'}
        What becomes of the ids of households.
    view : mapping, optional
        How the page showed the run, kept in the report.
    store : Store
        Where stages are fetched and kept.
    progress : Progress
        Called with the share of the work that is done; may raise to stop it.
    """
    plan = plan or report_plan(config)
    true = run_study(dataset, plan, store=store, progress=part(progress, 0.0, 0.85))
    anonymous = anonymise(dataset, privacy)
    study = anonymise_study(true, anonymous)
    provenance = Provenance(
        config=anonymous.config(config),
        dataset=dataset.digest,
        version=version("wattfold"),
        withheld=anonymous.withheld,
        view=view or {},
    )
    with tempfile.TemporaryDirectory(prefix="wattfold-report-") as name:
        directory = Path(name)
        pictures = draw_pictures(
            study, directory, provenance=provenance, progress=part(progress, 0.85, 0.97)
        )
        progress(0.97, "Writing the report")
        sections = remark_sections(
            remarks or Remarks(), true.featured, study, anonymous, provenance, directory
        )
        html = render_report(
            study,
            pictures,
            command=study.plan.command_line(dataset.path.resolve().name, "study"),
            now=datetime.now().astimezone(),
            remarks=sections,
            provenance=provenance,
        )
    with atomic.new_file(path) as temporary:
        temporary.write_text(html, encoding="utf-8")
    progress(1.0)


def anonymise_study(study: Study, anonymous: Anonymous) -> Study:
    """The study without the names of households."""
    if anonymous.withheld == ():
        return study
    cells = tuple(
        replace(
            cell,
            run=None if cell.run is None else anonymous.run(cell.run),
            error=None if cell.error is None else anonymous.text(cell.error),
        )
        for cell in study.cells
    )
    plan = replace(study.plan, config=anonymous.config(study.plan.config))
    return Study(anonymous.dataset, plan, cells)


def remark_sections(
    remarks: Remarks,
    true: Run,
    study: Study,
    anonymous: Anonymous,
    provenance: Provenance,
    directory: Path,
) -> list[Section]:
    """The analyst's section: words, a table of the points that are named, and their demand."""
    rows_of = {label: row for row, label in enumerate(true.units["label"])}
    pins = [rows_of[label] for label in remarks.pins if label in rows_of]
    noted = {rows_of[label]: text for label, text in remarks.notes.items() if label in rows_of}
    rows = list(dict.fromkeys((*pins, *noted)))
    lines = [line for line in anonymous.text(remarks.text).splitlines() if line.strip()]
    if not rows and not lines:
        return []
    items: list[Picture | Table] = []
    if rows:
        notes = {row: anonymous.text(text) for row, text in noted.items()}
        items.append(_noted_table(study.featured, rows, notes))
    if pins:
        items += _pictures(study, pins, provenance, directory)
    return [Section("The analyst's notes", lines, items)]


def _noted_table(run: Run, rows: Sequence[int], notes: Mapping[int, str]) -> Table:
    units = run.units.iloc[rows]
    frame = pd.DataFrame(
        {
            "point": units["label"].to_numpy(),
            "rank": run.hdr.rank[rows],
            "hdr": run.hdr.labels[rows],
            "mean": units["mean_kwh"].to_numpy(),
            "note": [notes.get(row, "") for row in rows],
        }
    )

    def show(name: str, value: object) -> str:
        if name == "hdr":
            return f"{value} %"
        return f"{value:,}" if name == "rank" else f"{value:.3f}" if name == "mean" else str(value)

    return list_table(
        frame,
        caption="Points that were pinned or noted.",
        header=["Point", "Anomaly rank", "HDR", "Mean demand, kWh", "Note"],
        show=show,
    )


def _pictures(
    study: Study, pins: Sequence[int], provenance: Provenance, directory: Path
) -> list[Picture]:
    run, dataset = study.featured, study.dataset
    drawn = {
        "pinned_demand": (
            distribution_figure(run, dataset, pins),
            "Demand of the pinned points, with that of the most typical point and of all "
            "households. Anomalous points are black.",
        ),
        "pinned_weeks": (
            week_figure(run, dataset, pins),
            "Demand over the week of the pinned points' households: the regions that hold 50, 75, "
            "95 and 99 % of the readings of each time of the week, and the median.",
        ),
    }
    return [
        save_picture(figure, directory / name, provenance.to_json(), caption=caption, alt=caption)
        for name, (figure, caption) in drawn.items()
    ]
