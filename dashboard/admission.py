"""No more people than the server can serve: who comes later is told so at once."""

import os
from collections.abc import Callable
from dataclasses import dataclass

from core.errors import InputError
from dashboard.waiting_line import WaitingLine

# Each has a document of some ten megabytes.
DEFAULT_MAXIMUM_SESSIONS = 60
# Who may wait for a page that is not made yet; the others wait in a line. A page takes two seconds,
# and longer while many people are at work: nobody is to look at an empty window for long.
MAXIMUM_WAITING = 3

FULL = "As many people as this server can serve are on it."
CROWDED = "Many people are opening it at this moment."

_ASK_SECONDS = 5
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="{seconds}">
<meta name="viewport" content="width=device-width">
<title>Wattfold is busy</title>
<style>
  body {{font: 17px/1.5 system-ui, sans-serif; max-width: 34em; margin: 18vh auto; padding: 0 1em;
        color-scheme: light dark; background: Canvas; color: CanvasText}}
</style>
<h1>Wattfold is busy</h1>
<p>{why} {place}</p>
<p>This page asks again every {seconds} seconds, and opens when it is your turn.</p>
</html>
"""


def maximum_sessions() -> int:
    """How many sessions there may be at once: WATTFOLD_MAX_SESSIONS, or the default."""
    text = os.environ.get("WATTFOLD_MAX_SESSIONS") or str(DEFAULT_MAXIMUM_SESSIONS)
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise InputError(f"WATTFOLD_MAX_SESSIONS must be a whole number from 1, got {text!r}")
    return int(text)


@dataclass(frozen=True)
class Refusal:
    """Why somebody has no page now, and the ticket that keeps their place until they ask again."""

    why: str
    before: int
    ticket: str
    seconds: int = _ASK_SECONDS

    @property
    def page(self) -> str:
        """What is shown in place of the page; it asks again by itself."""
        people = "1 person" if self.before == 1 else f"{self.before:,} people"
        place = f"{people} came before you." if self.before else "You are the next."
        return _PAGE.format(why=self.why, place=place, seconds=self.seconds)


class Admission:
    """Decides who gets a page.

    Parameters
    ----------
    visitors, waiting : callable
        How many people have a page or will have one, and how many wait for one that is being made.
    maximum : int
        How many may have one.
    """

    def __init__(
        self, *, visitors: Callable[[], int], waiting: Callable[[], int], maximum: int
    ) -> None:
        self._visitors = visitors
        self._waiting = waiting
        self._maximum = maximum
        self.line = WaitingLine()

    def ask(self, ticket: str | None) -> Refusal | None:
        """Let somebody in, or say why not."""
        places = self._maximum - self._visitors()
        if self.line.lets_in(ticket, room=min(places, MAXIMUM_WAITING - self._waiting())):
            return None
        ticket, before = self.line.wait(ticket)
        return Refusal(CROWDED if places > 0 else FULL, before, ticket)
