"""Whose turn it is when more people come than pages can be made."""

import secrets
import time
from collections.abc import Callable

# Whoever has not asked again for so long has closed the window.
_LEFT_SECONDS = 12.0
# More are no line of people.
_LONGEST = 1_000


class WaitingLine:
    """People in the order in which they came, known by a ticket that each shows again.

    Parameters
    ----------
    clock : callable, optional
        Tells the seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last_asked: dict[str, float] = {}  # by ticket, first come first

    def lets_in(self, ticket: str | None, room: int) -> bool:
        """Whether somebody has a turn while there is room for so many; they leave the line then."""
        has_turn = self.people_before(ticket) < room
        if has_turn:
            self._last_asked.pop(ticket or "", None)
        return has_turn

    def people_before(self, ticket: str | None) -> int:
        """How many in the line came before somebody; all of them, if they are not in it."""
        left = self._clock() - _LEFT_SECONDS
        self._last_asked = {each: last for each, last in self._last_asked.items() if last > left}
        line = list(self._last_asked)
        return line.index(ticket) if ticket in self._last_asked else len(line)

    def wait(self, ticket: str | None) -> str:
        """Stay in the line, or join it at its end; return the ticket to show the next time."""
        if ticket is None or ticket not in self._last_asked:
            ticket = secrets.token_urlsafe(16)
        if ticket in self._last_asked or len(self._last_asked) < _LONGEST:
            self._last_asked[ticket] = self._clock()
        return ticket
