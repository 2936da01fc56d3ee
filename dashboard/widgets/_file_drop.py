"""A place to drop a file on; the file is received in pieces."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import panel as pn
import param
from panel.custom import JSComponent

from core.errors import WattfoldError

PIECE_BYTES = 1 << 20


class FileDrop(JSComponent):
    """Receives one file at a time, from a drop or a dialog, into a file on the server.

    The browser sends one piece when it is asked for it, so a file never waits in memory. Bytes are
    counted here, whatever size the browser gives.

    Parameters
    ----------
    place : callable
        Given the name of a file, says where it is to be put, or raises why not.
    received : callable
        Called with that place when all of it is there.
    refused : callable
        Called with the reason if it is not taken.
    limit_bytes : int
        What a file may have.
    """

    text = param.String(default="", doc="What is said in the place")
    accept = param.String(default="", doc="How files may end, as the browser wants it")
    wanted = param.Integer(default=-1, doc="Where the next piece starts; -1 for no piece")
    piece = param.Integer(default=PIECE_BYTES, constant=True, doc="Bytes of a piece")

    _esm = Path(__file__).with_name("file_drop.js")

    def __init__(
        self,
        *,
        place: Callable[[str], Path],
        received: Callable[[Path], None],
        refused: Callable[[str], None],
        limit_bytes: int,
        **parameters: Any,
    ) -> None:
        super().__init__(**parameters)
        self._place, self._received, self._refused = place, received, refused
        self._limit = limit_bytes
        self._path: Path | None = None
        self._file: BinaryIO | None = None
        self._count = 0

    def _handle_msg(self, message: Any) -> None:
        # Scheduled: Panel hands messages on without the lock that changing Bokeh models needs.
        pn.state.execute(lambda: self._take(message), schedule=True)

    def _take(self, message: Any) -> None:
        """Take a message of the browser, which may hold anything."""
        if not isinstance(message, Mapping):
            return
        name, data = message.get("name"), message.get("data")
        try:
            if isinstance(name, str):
                self._begin(name[:1000])
            elif isinstance(data, bytes) and self._file is not None:
                self._add(data)
        except WattfoldError as error:
            self._give_up(str(error))
        except OSError as error:
            self._give_up(f"the file cannot be kept here: {error.strerror or error}")

    def _begin(self, name: str) -> None:
        self._discard()
        self._path = self._place(name)
        self._file = self._path.open("wb")
        self._count = 0
        self.wanted = 0

    def _add(self, data: bytes) -> None:
        assert self._file is not None  # noqa: S101 (checked by the caller)
        self._count += len(data)
        if self._count > self._limit:
            self._give_up(f"a file may have {self._limit / 1e6:,.0f} MB here; this one has more")
            return
        self._file.write(data)
        if len(data) == PIECE_BYTES:
            self.wanted = self._count
            return
        if self._count == 0:
            self._give_up("the file is empty")
            return
        path = self._path
        self._close()
        if path is not None:
            self._received(path)

    def _give_up(self, reason: str) -> None:
        self._discard()
        self._refused(reason)

    def _discard(self) -> None:
        """Remove what was received of a file that is not complete, and the folder made for it."""
        path = self._path
        self._close()
        if path is not None:
            path.unlink(missing_ok=True)
            with suppress(OSError):  # other things are in it
                path.parent.rmdir()

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file = self._path = None
        self.wanted = -1
