"""Whose turn it is when more people come than there is room for."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

# Whoever has not asked again for so long has closed the window.
_LEFT_SECONDS = 12.0
# More are no line of people.
_LONGEST = 1_000


@dataclass
class _Place:
    last_asked: float
    # Whoever never shows a ticket is not waited for: a browser without cookies, or a program, would
    # stand in the line once for every time that it asks.
    has_come_back: bool = False


class WaitingLine:
    """People in the order in which they came, known by a ticket that each shows again.

    Parameters
    ----------
    clock : callable, optional
        Tells the seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._places: dict[str, _Place] = {}  # by ticket, first come first

    def lets_in(self, ticket: str | None, room: int) -> bool:
        """Whether somebody has a turn while there is room for so many; they leave the line then."""
        before = self._before(ticket)
        has_turn = sum(place.has_come_back for place in before) < room
        if has_turn:
            self._places.pop(ticket or "", None)
        return has_turn

    def wait(self, ticket: str | None) -> tuple[str, int]:
        """Stay in the line, or join it at its end.

        Returns
        -------
        ticket : str
            What to show the next time.
        before : int
            How many came before.
        """
        before = len(self._before(ticket))
        if ticket is not None and ticket in self._places:
            self._places[ticket] = _Place(self._clock(), has_come_back=True)
        else:
            ticket = secrets.token_urlsafe(16)
            if len(self._places) < _LONGEST:
                self._places[ticket] = _Place(self._clock())
        return ticket, before

    def put_back(self, ticket: str | None) -> None:
        """Let somebody who had a turn and did not wait for the page come first the next time."""
        if ticket is not None:
            self._places = {ticket: _Place(self._clock(), has_come_back=True), **self._places}

    def _before(self, ticket: str | None) -> list[_Place]:
        """The places before somebody's; all of them, if they are not in the line."""
        left = self._clock() - _LEFT_SECONDS
        self._places = {
            each: place for each, place in self._places.items() if place.last_asked > left
        }
        line = list(self._places)
        end = line.index(ticket) if ticket in self._places else len(line)
        return [self._places[each] for each in line[:end]]
