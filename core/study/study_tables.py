"""The tables of a study: how faithful the maps are, what they took, what they agree on."""

from collections.abc import Callable

import pandas as pd

from core.embedding import METHODS
from core.neighbors import Neighbors
from core.quality import MEASURES
from core.runs import Run
from core.study.study_runs import Study, StudyRun

# The stages whose time depends on the choice of search and method.
_TIMED = ("neighbors", "embedding")


def trustworthiness_table(study: Study) -> pd.DataFrame:
    """Trustworthiness by method (rows) and search (columns), as in the paper's Tables 1 and 3."""

    def trustworthiness(run: Run) -> float | None:
        return None if run.quality is None else run.quality.trustworthiness

    return _grid(study, trustworthiness)


def seconds_table(study: Study) -> pd.DataFrame:
    """Seconds for neighbours and embedding, by method and search, as in Tables 2 and 4.

    What runs share was computed once and counts in each of them; times are those of when it was
    computed, now or for an earlier study.
    """
    return _grid(study, run_seconds)


def search_table(study: Study) -> pd.DataFrame:
    """One row for each graph: its search, how many neighbours, recall and seconds.

    ``same list`` is the share of points whose list of neighbours is the exact one; recall counts
    neighbours that are just as near as right.
    """
    truth = {
        cell.run.neighbors.k: cell.run.neighbors
        for cell in study.cells
        if cell.run is not None and cell.search == "exact"
    }
    graphs: dict[tuple[str, int], list[StudyRun]] = {}
    for cell in study.cells:
        if cell.run is not None:
            graphs.setdefault((cell.search, cell.run.neighbors.k), []).append(cell)
    rows = [
        {
            "neighbours by": study.plan.search_title(search),
            "k": k,
            "embedded by": ", ".join(METHODS[cell.method].title for cell in cells),
            "recall": run.recall,
            "same list": _same_rows(run.neighbors, truth.get(k)),
            "seconds": run.computed_in.get("neighbors"),
        }
        for (search, k), cells in graphs.items()
        for run in [cell.run for cell in cells[:1] if cell.run is not None]
    ]
    return pd.DataFrame(rows).astype({"recall": float, "same list": float, "seconds": float})


def quality_table(study: Study) -> pd.DataFrame:
    """Every measure of every map; higher is better throughout."""
    rows = []
    for cell in _by_method(study):
        row: dict[str, object] = {
            "method": METHODS[cell.method].title,
            "neighbours by": study.plan.search_title(cell.search),
        }
        quality = None if cell.run is None else cell.run.quality
        measured = dict.fromkeys(MEASURES) if quality is None else quality.measures()
        rows.append({**row, **measured})
    return pd.DataFrame(rows).astype(dict.fromkeys(MEASURES, float))


def score_table(study: Study) -> pd.DataFrame:
    """Every map with what it took and how good it is: recall, seconds and every measure.

    Seconds are those for neighbours and embedding, see :func:`seconds_table`.
    """
    runs = [cell.run for cell in _by_method(study)]
    table = quality_table(study)
    table.insert(2, "recall", [None if run is None else run.recall for run in runs])
    table.insert(3, "seconds", [None if run is None else run_seconds(run) for run in runs])
    return table.astype({"recall": float, "seconds": float})


def run_seconds(run: Run) -> float | None:
    """Seconds that a run's neighbours and embedding took when they were computed, if known."""
    took = [run.computed_in.get(stage) for stage in _TIMED]
    return None if None in took else sum(value for value in took if value is not None)


def rows_table(study: Study) -> pd.DataFrame:
    """One row for every method and search: settings, components, recall, seconds, quality."""
    rows = []
    for cell in study.cells:
        found = cell.to_json()
        row = {
            "method": cell.method,
            "search": cell.search,
            **{f"neighbors_{name}": value for name, value in found["neighbors"].items()},
            "components": found["components"],
            "recall": found["recall"],
            **{f"seconds_{stage}": value for stage, value in found["computed_in"].items()},
            **(found["quality"] or {}),
            "error": found["error"],
        }
        rows.append(row)
    return pd.DataFrame(rows)


def anomaly_table(study: Study) -> pd.DataFrame:
    """The points that the maps name as anomalies, those that most maps agree on first.

    ``featured rank`` is that on the map whose points the figures look at.
    """
    units = study.featured.units
    maps = len(study.runs)
    rows = [
        {
            "label": units["label"].iat[point],
            "maps": count,
            "share": count / maps,
            "median rank": rank,
            "readings": int(units["m"].iat[point]),
            "featured rank": int(study.featured.hdr.rank[point]),
        }
        for point, count, rank in study.agreed_anomalies()
    ]
    columns = ["label", "maps", "share", "median rank", "readings", "featured rank"]
    return pd.DataFrame(rows, columns=columns)


def _grid(study: Study, value: Callable[[Run], float | None]) -> pd.DataFrame:
    plan = study.plan
    values = {
        plan.search_title(search): [
            None if cell.run is None else value(cell.run)
            for cell in (study.cell(method, search) for method in plan.methods)
        ]
        for search in plan.searches
    }
    titles = pd.Index([METHODS[method].title for method in plan.methods], name="method")
    return pd.DataFrame(values, index=titles, dtype=float)


def _by_method(study: Study) -> list[StudyRun]:
    plan = study.plan
    return [study.cell(method, search) for method in plan.methods for search in plan.searches]


def _same_rows(graph: Neighbors, truth: Neighbors | None) -> float | None:
    """The share of points whose list of neighbours is that of the exact search."""
    if truth is None or graph.k == 0:
        return None
    return float((graph.indices == truth.indices).all(axis=1).mean())
