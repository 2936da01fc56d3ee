"""The session file: a view, the notes on points, the worklist and the saved groups."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from core.errors import InputError
from core.readings import Dataset
from core.worklist import Worklist
from dashboard.state.saved_groups import check_groups, whole_letters
from dashboard.state.view_state import ViewState

VERSION = 1
MAXIMUM_NOTE = 4_000
MAXIMUM_NOTES = 10_000
_FORMAT = "wattfold-session"
_MAXIMUM_BYTES = 16 * 2**20
_MAXIMUM_NAME = 2_000


@dataclass(frozen=True)
class SavedSession:
    """What a session file holds.

    Attributes
    ----------
    view : ViewState
    notes : mapping
        Texts by the names of points.
    worklist : Worklist
    groups : mapping
        Households of the saved groups, by the groups' names.
    problem : str
        What the analyst should know; empty where all of it fits the data.
    """

    view: ViewState
    notes: Mapping[str, str] = field(default_factory=dict)
    worklist: Worklist = field(default_factory=Worklist)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    problem: str = ""


def write_session(
    view: ViewState,
    notes: Mapping[str, str],
    dataset: Dataset,
    *,
    worklist: Worklist | None = None,
    groups: Mapping[str, tuple[str, ...]] | None = None,
) -> bytes:
    """Return a session file."""
    content = {
        "format": _FORMAT,
        "version": VERSION,
        "dataset": {"name": dataset.path.name, "digest": dataset.digest},
        "scene": view.to_json(),
        "notes": dict(notes),
        "worklist": (worklist or Worklist(dataset=dataset.digest)).to_json(),
        "groups": {name: list(own) for name, own in (groups or {}).items()},
    }
    return json.dumps(content, ensure_ascii=False, indent=1).encode()


def check_notes(notes: object) -> dict[str, str]:
    """Return notes from outside by the names of points, none longer than it may be."""
    if not isinstance(notes, dict) or len(notes) > MAXIMUM_NOTES:
        raise InputError("the session's notes are damaged; choose another file")
    return {
        whole_letters(str(name)[:_MAXIMUM_NAME]): whole_letters(str(text)[:MAXIMUM_NOTE])
        for name, text in notes.items()
    }


def is_session(content: bytes) -> bool:
    """Whether a file claims to be a session file."""
    return f'"{_FORMAT}"'.encode() in content[:200]


def read_session(content: bytes, dataset: Dataset) -> SavedSession:
    """Read a session file.

    A session of other data gives its settings and its notes, without its points and lists.
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
    if digest != dataset.digest:
        problem = "The session was saved on other data: its points cannot be shown."
        return SavedSession(view.without_points(), notes, problem=problem)
    worklist = found.get("worklist")
    return SavedSession(
        view,
        notes,
        Worklist() if worklist is None else _read_worklist(worklist, dataset),
        check_groups(found.get("groups", {}), dataset),
    )


def _read_worklist(content: object, dataset: Dataset) -> Worklist:
    try:
        worklist = Worklist.from_json(content)
    except InputError as error:
        raise InputError(f"the session's worklist is damaged: {error}") from error
    if worklist.dataset not in ("", dataset.digest):
        raise InputError("the session's worklist is damaged: it is of other data")
    return worklist
