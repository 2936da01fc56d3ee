"""Periods: the days that count.

A period has a first and a last day, both included, and may keep to some months of the year. It is
made of whole days of the local wall clock.
"""

import calendar
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any, Self

import numpy as np

from core.errors import InputError

_DATE = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class Period:
    """Some days of the record; all of them by default.

    Attributes
    ----------
    first, last : date, optional
        The first and the last day, both included; by default those of the record.
    months : tuple of int
        The months of the year that count, from 1 for January, increasing; none stands for all.
    """

    first: date | None = None
    last: date | None = None
    months: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.first is not None and self.last is not None and self.last < self.first:
            raise InputError(
                f"the period is empty: it ends on {self.last}, before it begins on {self.first}; "
                "exchange the two dates"
            )
        if not all(type(month) is int and 1 <= month <= 12 for month in self.months):
            raise InputError(f"months are numbers from 1 to 12, got {self.months!r}")
        months = tuple(sorted(set(self.months)))
        object.__setattr__(self, "months", () if len(months) == len(_MONTHS) else months)

    @classmethod
    def parse(
        cls,
        first: str | None = None,
        last: str | None = None,
        months: str | Iterable[int] | None = None,
    ) -> Self:
        """Read a period from text.

        Parameters
        ----------
        first, last : str, optional
            ISO dates, such as 2013-02-28, both included. A month, such as 2013-02, stands for its
            first day in ``first`` and its last in ``last``.
        months : str or iterable of int, optional
            Numbers from 1 to 12; as text they are joined by commas: ``12,1,2``.
        """
        if isinstance(months, str):
            parts = [part.strip() for part in months.split(",")]
            if not all(part.isascii() and part.isdigit() for part in parts):
                raise InputError(
                    f"cannot read {months!r} as months; write numbers from 1 to 12 joined by "
                    "commas, such as 12,1,2"
                )
            months = [int(part) for part in parts]
        return cls(
            None if first is None else parse_date(first, end=False),
            None if last is None else parse_date(last, end=True),
            tuple(months or ()),
        )

    @classmethod
    def parse_range(cls, text: str) -> Self:
        """Read ``FROM..TO``; one of the two dates may be left out."""
        first, dots, last = text.partition("..")
        if not dots or not (first or last):
            raise InputError(
                f"cannot read {text!r} as a period; write its first and last day as "
                "2012-12-01..2013-02-28"
            )
        return cls.parse(first or None, last or None)

    @property
    def is_whole(self) -> bool:
        """Whether every day counts."""
        return self == WHOLE_RECORD

    def holds(self, days: np.ndarray) -> np.ndarray:
        """Return which days count, (n,) bool.

        Parameters
        ----------
        days : ndarray of int or datetime64[D], shape (n,)
            Whole numbers count from 1 January 1970.
        """
        dates = np.asarray(days).astype("datetime64[D]")
        held = np.ones(dates.shape, dtype=bool)
        if self.first is not None:
            held &= dates >= np.datetime64(self.first)
        if self.last is not None:
            held &= dates <= np.datetime64(self.last)
        if self.months:
            held &= np.isin(dates.astype("datetime64[M]").astype(np.int64) % 12 + 1, self.months)
        return held

    def check(self, first: date, last: date) -> None:
        """Raise unless some day of a record, from its first day to its last, counts."""
        record = f"the readings run from {first} to {last}"
        if self.last is not None and self.last < first:
            raise InputError(f"the period ends on {self.last}, before the first reading; {record}")
        if self.first is not None and self.first > last:
            raise InputError(f"the period begins on {self.first}, after the last reading; {record}")
        days = np.arange(np.datetime64(first), np.datetime64(last) + 1)
        if not self.holds(days).any():
            raise InputError(
                f"no day of the period {self} has readings; {record}: choose other months or dates"
            )

    def to_json(self) -> dict[str, Any]:
        """Return what :meth:`parse` reads as ``first``, ``last`` and ``months``."""
        return {
            "first": None if self.first is None else self.first.isoformat(),
            "last": None if self.last is None else self.last.isoformat(),
            "months": list(self.months),
        }

    def __str__(self) -> str:
        """The period in words, such as ``1 Dec 2012 – 28 Feb 2013``."""
        if self.first is not None and self.last is not None:
            dates = f"{_words(self.first)} – {_words(self.last)}"
        elif self.first is not None:
            dates = f"since {_words(self.first)}"
        elif self.last is not None:
            dates = f"until {_words(self.last)}"
        else:
            dates = ""
        months = ", ".join(_MONTHS[month - 1] for month in _year_order(self.months))
        words = [part for part in (dates, months and f"{months} only") if part]
        return ", ".join(words) or "whole record"


WHOLE_RECORD = Period()


def parse_date(text: str, *, end: bool) -> date:
    """Read a day, or a month, which stands for its first day or, at the ``end``, its last."""
    match = _DATE.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError
        year, month = int(match[1]), int(match[2])
        if match[3] is not None:
            return date(year, month, int(match[3]))
        return date(year, month, calendar.monthrange(year, month)[1] if end else 1)
    except ValueError:
        raise InputError(
            f"{text!r} is no date; write year, month and day, such as 2013-02-28"
        ) from None


def _words(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def _year_order(months: tuple[int, ...]) -> list[int]:
    """Months as people say them: a winter starts in December, after the longest gap."""
    gaps = [(month - months[place - 1]) % 12 for place, month in enumerate(months)]
    start = gaps.index(max(gaps)) if months else 0
    return [*months[start:], *months[:start]]
