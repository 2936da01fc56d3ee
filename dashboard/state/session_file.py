"""The session file: a view and the notes on points."""

import json
from collections.abc import Mapping

from core.errors import InputError
from core.readings import Dataset
from dashboard.state.view_state import ViewState

VERSION = 1
MAXIMUM_NOTE = 4_000
MAXIMUM_NOTES = 10_000
_FORMAT = "wattfold-session"
_MAXIMUM_BYTES = 16 * 2**20
_MAXIMUM_NAME = 2_000


def write_session(view: ViewState, notes: Mapping[str, str], dataset: Dataset) -> bytes:
    """Return a session file: the view and the notes on points."""
    content = {
        "format": _FORMAT,
        "version": VERSION,
        "dataset": {"name": dataset.path.name, "digest": dataset.digest},
        "scene": view.to_json(),
        "notes": dict(notes),
    }
    return json.dumps(content, ensure_ascii=False, indent=1).encode()


def check_notes(notes: object) -> dict[str, str]:
    """Return notes from outside by the names of points, none longer than it may be."""
    if not isinstance(notes, dict) or len(notes) > MAXIMUM_NOTES:
        raise InputError("the session's notes are damaged; choose another file")
    return {str(name)[:_MAXIMUM_NAME]: str(text)[:MAXIMUM_NOTE] for name, text in notes.items()}


def is_session(content: bytes) -> bool:
    """Whether a file claims to be a session file."""
    return f'"{_FORMAT}"'.encode() in content[:200]


def read_session(content: bytes, dataset: Dataset) -> tuple[ViewState, dict[str, str], str]:
    """Return the view and the notes of a session file, and what the analyst should know.

    A session of other data gives its settings and its notes, without its points.
    """
    if len(content) > _MAXIMUM_BYTES:
        raise InputError(
            f"a session file has at most {_MAXIMUM_BYTES >> 20} MB; this file is larger"
        )
    try:
        found = json.loads(content)
        if found["format"] != _FORMAT:
            raise KeyError
        version, notes = found["version"], found["notes"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(
            "this is not a session file; choose one that was saved with Save session"
        ) from None
    if version != VERSION:
        raise InputError(
            f"the session was saved in version {version!r:.20} of its format and this Wattfold "
            f"reads version {VERSION}; use the Wattfold that saved it"
        )
    view = ViewState.from_json(found.get("scene"))
    notes = check_notes(notes)
    saved = found.get("dataset")
    digest = saved.get("digest") if isinstance(saved, dict) else None
    if digest == dataset.digest:
        return view, notes, ""
    return (
        view.without_points(),
        notes,
        "The session was saved on other data: its points cannot be shown.",
    )
