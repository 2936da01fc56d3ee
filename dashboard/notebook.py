"""The page inside a notebook: served by Panel from the notebook's own process, in a frame."""

from functools import cache
from pathlib import Path
from typing import Any

from panel.io.server import Server, get_server

from core.errors import InputError
from core.readings import Dataset
from dashboard.jobs import run_jobs
from dashboard.server.message_guard import guard_messages
from dashboard.session import create_page

HEIGHT = 760  # pixels


def show_page(dataset: Dataset, *, height: int = HEIGHT) -> Any:
    """Return a frame with the page of a dataset, as IPython displays it.

    Parameters
    ----------
    dataset : Dataset
    height : int
        Of the frame, in pixels.
    """
    if not _is_in_notebook():
        raise InputError(
            f"explore shows the page in a notebook; elsewhere, run wattfold serve {dataset.path}"
        )
    from IPython.display import IFrame

    server = _server_of(dataset.path.absolute())
    return IFrame(f"http://localhost:{server.port}/", width="100%", height=height)


def _is_in_notebook() -> bool:
    """Whether IPython runs as the kernel of a notebook, which has the loop that serves."""
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    return getattr(get_ipython(), "kernel", None) is not None


@cache
def _server_of(path: Path) -> Server:
    """Serve a dataset to this machine alone, on a port that is free, until the notebook ends."""
    guard_messages()
    run_jobs.pool()  # so that workers are warm when somebody wants a map
    return get_server(
        lambda: create_page(path),  # Panel calls functions and nothing else
        title="Wattfold",
        address="localhost",
        port=0,
        start=True,
        show=False,
    )
