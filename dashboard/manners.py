"""Lets the event loop go first, and everybody in it have a turn.

Threads of one process take turns with the interpreter. A thread that makes a page would take half
of it from the loop, and more where the loop calls NumPy or Arrow, which let go of the interpreter
at every call and wait to get it back: a click that costs 24 ms would take 300. So such a thread
looks, some hundred times a second, whether the loop is at work, and sleeps until its turn is over;
while somebody waits for what it makes, only for a moment, or a loop that is always at work would
never let it come to an end.

What twenty people ask for in the same moment takes a second, and a loop does all that it has before
it looks for more. So it is given one thing after the other, and comes back to the rest in between.
"""

import asyncio
import gc
import selectors
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

from numba.core.compiler_lock import global_compiler_lock

_NAP_SECONDS = 0.001
_WAKE_SECONDS = 0.005
# In a row. A thread works for a moment from one look to the next, so that it gets on, and lets go
# of any lock that it holds and the loop may wait for.
_MOST_NAPS = 100
_MOST_NAPS_WHILE_SOMEBODY_WAITS = 4
# New objects from one look to the next, two milliseconds of the making of a page.
_OBJECTS_BETWEEN_LOOKS = 200
# How long the loop waits for the interpreter when a thread has it.
_SWITCH_SECONDS = 0.0001

_thread = threading.local()
_waiting = 0
_awake = False
_queues: WeakKeyDictionary[asyncio.AbstractEventLoop, deque[asyncio.Future[None]]] = (
    WeakKeyDictionary()
)


class _Turns(selectors.DefaultSelector):
    """What a loop waits with for its next turn."""

    at_work = False
    number = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait for something to do."""
        self.at_work = False
        try:
            return super().select(timeout)
        finally:
            self.number += 1
            self.at_work = True


_turns = _Turns()


def make_loop() -> asyncio.AbstractEventLoop:
    """The event loop that others give way to; there is one in a process."""
    gc.callbacks.append(_look)
    young, middle, old = gc.get_threshold()
    # What is not so young is looked through as often as before.
    as_before = young * middle // _OBJECTS_BETWEEN_LOOKS
    gc.set_threshold(_OBJECTS_BETWEEN_LOOKS, as_before, old)
    sys.setswitchinterval(_SWITCH_SECONDS)
    return asyncio.SelectorEventLoop(_turns)


def give_way() -> None:
    """Let the loop go first whenever this thread is at work, from now on."""
    _thread.gives_way = True


def give_way_no_longer() -> None:
    """Let threads go on: the loop has ended, and with it its turn."""
    _turns.at_work = False


@contextmanager
def everybody_awake() -> Iterator[None]:
    """Let nobody sleep; whoever sleeps is the collector's, and no other collection goes on then."""
    global _awake
    _awake = True
    try:
        time.sleep(_WAKE_SECONDS)
        yield
    finally:
        _awake = False


@contextmanager
def somebody_waits() -> Iterator[None]:
    """Let threads take a larger share while somebody waits for one; used in the loop alone."""
    global _waiting
    _waiting += 1
    try:
        yield
    finally:
        _waiting -= 1


def people_waiting() -> int:
    """How many wait for what a thread makes."""
    return _waiting


def _look(phase: str, _: dict[str, int]) -> None:
    """Sleep while a turn of the loop goes on; called by the collector of young objects.

    It comes by wherever Python makes objects. Who waits for Numba's compiler waits for all that is
    compiled: that is not the time to sleep.
    """
    if phase != "stop" or not getattr(_thread, "gives_way", False):
        return
    if global_compiler_lock.is_locked():
        return
    turn = _turns.number
    for _nap in range(_MOST_NAPS_WHILE_SOMEBODY_WAITS if _waiting else _MOST_NAPS):
        if _awake or not _turns.at_work or _turns.number != turn:
            break
        time.sleep(_NAP_SECONDS)


async def take_turn() -> None:
    """Wait until nobody else who waits here goes on in the same turn of the loop."""
    loop = asyncio.get_running_loop()
    queue = _queues.setdefault(loop, deque())
    turn = loop.create_future()
    queue.append(turn)
    if len(queue) == 1:
        loop.call_soon(_let_next_go, queue)
    await turn


def _let_next_go(queue: deque[asyncio.Future[None]]) -> None:
    if not queue[0].done():  # it may have been cancelled
        queue[0].set_result(None)  # and goes on in the loop's next turn
    queue.popleft()
    if queue:
        asyncio.get_running_loop().call_soon(_let_next_go, queue)
