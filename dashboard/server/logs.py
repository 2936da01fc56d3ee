"""Logs of the server: one line per event, for people or as JSON, without anybody's data.

Readings are never logged. Messages of libraries and errors are logged with their values, except
texts, as `dashboard.failures` has it. Level debug shows all.
"""

import json
import logging
import sys
import time
import traceback
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from tornado.websocket import WebSocketClosedError

from dashboard.failures import describe_error, describe_places, mask

if TYPE_CHECKING:
    from tornado.web import RequestHandler

LEVELS = ("debug", "info", "warning", "error")
Level = Literal["debug", "info", "warning", "error"]

# Our own events hold no ids; who was refused is no secret.
_OURS = ("core", "dashboard", "py.warnings")
_HARMLESS = "Refusing websocket connection"
_HIDDEN = "…"
# Whoever closes a page while the server sends to it: Bokeh warns of everybody who leaves, and Panel
# leaves the error to asyncio.
_LEFT = "Failed sending message as connection was closed"
_NOISY = ("bokeh", "tornado", "panel", "asyncio", "numba", "matplotlib", "fontTools")

_access = logging.getLogger("dashboard.access")
_KNOWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


def fill_in(record: logging.LogRecord) -> str:
    """Return the message of a library with its numbers and errors filled in, and texts hidden."""
    text, values = str(record.msg), record.args
    if not values:
        return mask(text)
    shown: Any
    if isinstance(values, Mapping):
        shown = {name: _Shown.of(value) for name, value in values.items()}
    else:
        shown = tuple(_Shown.of(value) for value in values)
    # The words are the library's, and the values are masked: all lines may be shown.
    return " ".join((text % shown).split())


class _Shown:
    """A value of a message, as it may be shown by ``%s`` and ``%r``."""

    def __init__(self, text: str) -> None:
        self._text = text

    @classmethod
    def of(cls, value: object) -> object:
        """A number as it is, an error by its kind and masked words, anything else hidden."""
        if isinstance(value, int | float):
            return value
        return cls(describe_error(value) if isinstance(value, BaseException) else _HIDDEN)

    def __repr__(self) -> str:
        return self._text


class DiscreetFormatter(logging.Formatter):
    """Formats an event; below debug, without texts that may be ids."""

    def __init__(self, *, as_json: bool, discreet: bool) -> None:
        super().__init__()
        self._as_json = as_json
        self._discreet = discreet

    def format(self, record: logging.LogRecord) -> str:
        """Make one line of a record (more for a traceback at level debug)."""
        foreign = not record.name.startswith(_OURS) and not str(record.msg).startswith(_HARMLESS)
        event: dict[str, Any] = {
            "time": self.formatTime(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": fill_in(record) if self._discreet and foreign else record.getMessage(),
        }
        event |= {name: value for name, value in vars(record).items() if name not in _KNOWN}
        if record.exc_info and record.exc_info[1] is not None:
            event["error"] = self._tell(record.exc_info[1])
        if self._as_json:
            return json.dumps(event, ensure_ascii=False, default=str)
        first = f"{event.pop('time')} {event.pop('level'):7} {event.pop('event')}"
        event.pop("logger")
        return " ".join([first, *(f"{name}={value}" for name, value in event.items())])

    def _tell(self, error: BaseException) -> str:
        if not self._discreet:
            return "".join(traceback.format_exception(error)).rstrip()
        return f"{describe_error(error)} at {describe_places(error)}"

    def formatTime(  # noqa: N802 (the name is logging's)
        self, record: logging.LogRecord, datefmt: str | None = None
    ) -> str:
        """UTC, to the millisecond."""
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        return f"{seconds}.{int(record.msecs):03d}Z"


def is_news(record: logging.LogRecord) -> bool:
    """Whether an event is one for anybody but those who debug."""
    error = record.exc_info[1] if record.exc_info else None
    return record.msg != _LEFT and not isinstance(error, WebSocketClosedError)


class LimitRepeats(logging.Filter):
    """Passes a few of the same event a minute; the next that passes tells how many did not.

    Events are the same if they come from one place in the code: what is wrong again and again, as
    when no connection can be accepted, does not fill a disk.
    """

    def __init__(self, *, burst: int = 20, seconds: float = 60.0) -> None:
        super().__init__()
        self._burst, self._seconds = burst, seconds
        self._seen: dict[tuple[str, int], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to pass an event."""
        place = (record.pathname, record.lineno)
        start, count = self._seen.get(place, (record.created, 0))
        if abs(record.created - start) >= self._seconds:  # or the clock was set back
            if count > self._burst:
                record.left_out = count - self._burst
            start, count = record.created, 0
        self._seen[place] = start, count + 1
        return count < self._burst


def set_up(level: Level, *, as_json: bool | None = None) -> None:
    """Send the logs of this process to standard error.

    As JSON unless a person is looking; libraries only from their warnings on, except at debug.
    """
    from bokeh.util.warnings import BokehUserWarning

    as_json = not sys.stderr.isatty() if as_json is None else as_json
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(DiscreetFormatter(as_json=as_json, discreet=level != "debug"))
    if level != "debug":
        handler.addFilter(is_news)
        handler.addFilter(LimitRepeats())
        # BokehJS takes what the server sends for new until it has sent something itself, and sends
        # it back whole the first time that it mentions it; the server keeps its own.
        warnings.filterwarnings("ignore", "reference already known", BokehUserWarning)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name in _NOISY:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel("INFO" if level == "debug" else max(logging.WARNING, root.level))
    logging.captureWarnings(True)


def log_request(handler: "RequestHandler") -> None:
    """Log a request without its query, which may be a share link with ids in it."""
    status = handler.get_status()
    level = logging.ERROR if status >= 500 and status != 503 else logging.DEBUG
    request = handler.request
    _access.log(
        level,
        "request",
        extra={
            "status": status,
            "method": request.method,
            "path": request.path,
            "milliseconds": round(1000 * request.request_time(), 1),
        },
    )
