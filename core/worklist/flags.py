"""Flags on households, as a file that several people can add to.

A worklist is a set of flags, each by somebody at some time. Nothing is changed in it: a second
thought is a later flag. So two files merge into one that holds every flag of both, in whatever
order and however often they are merged.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core import atomic
from core.errors import InputError
from core.worklist.verdicts import MOST_LETTERS, OPEN, VERDICTS, is_decided

FORMAT = "wattfold worklist"
VERSION = 1

# The verdict of a flag that takes a household off the list again.
REMOVED = ""

_FILE_LIMIT = 100_000_000
_MOST_NOTE = 20_000


@dataclass(frozen=True, order=True)
class Flag:
    """What somebody said of a household; the order is that of time.

    Attributes
    ----------
    at : str
        When, in UTC, as ISO 8601 with microseconds.
    by : str
        Who; may be empty.
    household : str
    verdict : str
        One of ``VERDICTS`` or own words; empty takes the household off the list.
    note : str
    """

    at: str
    by: str
    household: str
    verdict: str
    note: str = ""

    def __post_init__(self) -> None:
        if not self.household:
            raise InputError("a flag needs a household")
        if len(self.verdict) > MOST_LETTERS or "\n" in self.verdict:
            raise InputError(
                f"a verdict is one line of at most {MOST_LETTERS} letters; put more into the note"
            )
        if len(self.note) > _MOST_NOTE:
            raise InputError(f"a note has at most {_MOST_NOTE:,} letters, got {len(self.note):,}")
        try:
            f"{self.by}{self.household}{self.verdict}{self.note}".encode()
        except UnicodeEncodeError:  # JSON and browsers can send half a letter
            raise InputError("a flag holds signs that are no letters") from None
        try:
            moment = datetime.fromisoformat(self.at)
            if moment.tzinfo is None:
                raise InputError(
                    f"{self.at!r} has no time zone; write it as 2024-05-03T09:30:00+00:00"
                )
            # One spelling of a moment, so that texts are in the order of time.
            text = moment.astimezone(UTC).isoformat(timespec="microseconds")
        except (ValueError, OverflowError):  # at the ends of the calendar
            raise InputError(f"{self.at!r:.40} is no time in ISO 8601") from None
        object.__setattr__(self, "at", text)


@dataclass(frozen=True)
class Case:
    """A household on the list: its latest verdict, and all that was said of it.

    Attributes
    ----------
    household : str
    verdict : str
    note : str
        The latest note that is not empty.
    by, at : str
        Whose verdict it is, and since when.
    flags : tuple of Flag
        In the order of time.
    disputed : bool
        Whether two people's latest verdicts on it differ.
    """

    household: str
    verdict: str
    note: str
    by: str
    at: str
    flags: tuple[Flag, ...]
    disputed: bool


@dataclass(frozen=True)
class Worklist:
    """All flags on households of a dataset.

    Attributes
    ----------
    flags : frozenset of Flag
    dataset : str
        The digest of the dataset that they belong to; empty where it is not known.
    """

    flags: frozenset[Flag] = field(default_factory=frozenset)
    dataset: str = ""

    def flag(
        self, household: str, verdict: str = OPEN, *, note: str = "", by: str = "", at: str = ""
    ) -> "Worklist":
        """Return the list with one flag more; ``at`` is now by default."""
        moment = at or datetime.now(UTC).isoformat(timespec="microseconds")
        verdict = _spelled(verdict)
        return Worklist(self.flags | {Flag(moment, by, household, verdict, note)}, self.dataset)

    def remove(self, household: str, *, by: str = "", at: str = "") -> "Worklist":
        """Take a household off the list; what was said of it stays in the file."""
        if household not in self.cases():
            raise InputError(f"household {household!r} is not on the worklist")
        return self.flag(household, REMOVED, by=by, at=at)

    def cases(self) -> dict[str, Case]:
        """Return the households on the list, those flagged first at the front."""
        by_household: dict[str, list[Flag]] = {}
        for each in sorted(self.flags):
            by_household.setdefault(each.household, []).append(each)
        found = {}
        for household, flags in by_household.items():
            latest = flags[-1]
            if latest.verdict == REMOVED:
                continue
            opinions = {each.by: each.verdict for each in flags}
            decided = {own for own in opinions.values() if own and is_decided(own)}
            notes = [each.note for each in flags if each.note]
            found[household] = Case(
                household=household,
                verdict=latest.verdict,
                note=notes[-1] if notes else "",
                by=latest.by,
                at=latest.at,
                flags=tuple(flags),
                disputed=len(decided) > 1,
            )
        return found

    def with_verdict(self, verdict: str) -> list[str]:
        """Return the households with a verdict."""
        wanted = _spelled(verdict)
        return [case.household for case in self.cases().values() if case.verdict == wanted]

    def counts(self) -> dict[str, int]:
        """Return how many households have each verdict, the known verdicts first."""
        verdicts = [case.verdict for case in self.cases().values()]
        order = [*VERDICTS, *sorted(set(verdicts) - set(VERDICTS))]
        return {each: verdicts.count(each) for each in order if each in verdicts}

    def to_json(self) -> dict[str, Any]:
        """Return what a file holds."""
        names = ("at", "by", "household", "verdict", "note")
        return {
            "format": FORMAT,
            "version": VERSION,
            "dataset": self.dataset,
            "flags": [{name: getattr(each, name) for name in names} for each in sorted(self.flags)],
        }

    @classmethod
    def from_json(cls, content: Any) -> "Worklist":
        """Read what :meth:`to_json` gave, or say what is wrong with it."""
        if not isinstance(content, Mapping) or content.get("format") != FORMAT:
            raise InputError("it is no worklist")
        if content.get("version") != VERSION:
            raise InputError(
                f"it is a worklist of version {content.get('version')!r:.20}, and this Wattfold "
                f"reads version {VERSION}"
            )
        dataset, rows = content.get("dataset", ""), content.get("flags")
        if not isinstance(dataset, str) or not isinstance(rows, list):
            raise InputError("its dataset or its flags are damaged")
        flags = set()
        for number, row in enumerate(rows, start=1):
            if not isinstance(row, Mapping) or not all(isinstance(v, str) for v in row.values()):
                raise InputError(f"flag {number} is damaged")
            try:
                flags.add(Flag(**{str(name): value for name, value in row.items()}))
            except (TypeError, InputError) as error:
                raise InputError(f"flag {number} is damaged: {error}") from error
        return cls(frozenset(flags), dataset)

    def save(self, path: str | Path) -> None:
        """Write the list, whole or not at all."""
        atomic.write_json(Path(path), self.to_json())


def read_worklist(path: str | Path) -> Worklist:
    """Read a worklist from a file."""
    path = Path(path)
    try:
        if path.stat().st_size > _FILE_LIMIT:
            raise InputError("it is too large")
        return Worklist.from_json(json.loads(path.read_text(encoding="utf-8-sig")))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read as a worklist: {reason}") from error


def merge(lists: Iterable[Worklist]) -> Worklist:
    """Put the flags of several people together; none is lost, and none counts twice."""
    lists = list(lists)
    datasets = {each.dataset for each in lists if each.dataset}
    if len(datasets) > 1:
        raise InputError(
            "the worklists belong to different datasets, whose households may share names by "
            "chance; merge only lists of the same dataset"
        )
    flags = frozenset[Flag]().union(*(each.flags for each in lists))
    return Worklist(flags, next(iter(datasets), ""))


def _spelled(verdict: str) -> str:
    """A known verdict in its own spelling, whatever the case; own words as they are."""
    text = verdict.strip()
    known = {each.lower(): each for each in VERDICTS}
    return known.get(text.lower(), text)
