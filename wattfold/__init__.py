"""Maps of smart-meter demand, and of any other samples.

    import wattfold as wf

    dataset = wf.read("readings.csv")
    wf.run(dataset).plot()
    wf.find_anomalies(dataset)

All public names of ``core`` are here, and these few that are for people at a keyboard. Modules are
imported when a name of theirs is first used, so that ``import wattfold`` costs nothing.
"""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import core

if TYPE_CHECKING:
    from core import *  # noqa: F403 (what __getattr__ finds)

_KEPT: list[tempfile.TemporaryDirectory[str]] = []

__all__ = [*core.__all__, "explore", "open", "read"]


def read(
    *sources: str | Path,
    to: str | Path | None = None,
    metadata: str | Path | None = None,
    **options: Any,
) -> "core.Dataset":
    """Read files of meter readings.

    Parameters
    ----------
    *sources : paths
        Files, folders and archives that make one dataset together.
    to : path, optional
        The dataset directory to write, for :func:`open` to find another time; by default one that
        is removed when the program ends.
    metadata : path, optional
        A table with one row per household.
    **options
        The fields of :class:`core.IngestOptions`, for what cannot be found out from the files.
    """
    if to is None:
        _KEPT.append(tempfile.TemporaryDirectory(prefix="wattfold-"))
        to = Path(_KEPT[-1].name) / "dataset"
    chosen = core.IngestOptions(**options)
    return core.ingest(list(sources), to, options=chosen, metadata=metadata)


def open(path: str | Path) -> "core.Dataset":
    """Open a dataset directory that :func:`read`, ``wattfold ingest`` or ``wattfold demo`` made."""
    return core.Dataset.open(path)


def explore(dataset: "core.Dataset") -> Any:
    """Show the page of a dataset in a notebook.

    The page is served to this machine alone, until the notebook ends; it waits while a cell runs.

    Parameters
    ----------
    dataset : Dataset
    """
    from dashboard.notebook import show_page

    return show_page(dataset)


def __getattr__(name: str) -> Any:
    if name in core.__all__:
        return getattr(core, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
