"""A file on its way to the browser."""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from panel.custom import JSComponent

from dashboard.page_schedule import act

# So much at once that neither the event loop nor the browser stops for it.
CHUNK_BYTES = 2 << 20


class Download(JSComponent):
    """Sends a file to the browser piece by piece, which saves it as if a link had been clicked.

    The browser asks for each piece. The file goes through the session's own connection: there is
    no address that somebody else could open.
    """

    _esm = Path(__file__).with_name("download.js")

    def __init__(self) -> None:
        super().__init__(width=0, height=0, margin=0)
        self._file: BinaryIO | None = None
        self._name = ""
        self._sent: Callable[[], None] = lambda: None

    def start(self, path: Path, name: str, *, sent: Callable[[], None]) -> None:
        """Send a file under a name, and call ``sent`` after the last piece."""
        self.stop()
        self._file, self._name, self._sent = path.open("rb"), name, sent
        self._send_piece()

    def _handle_msg(self, message: Any) -> None:
        # Messages come from the browser: any of them asks for the next piece of the file.
        act(self._send_piece)

    def _send_piece(self) -> None:
        if self._file is None:
            return
        piece = self._file.read(CHUNK_BYTES)
        is_last = len(piece) < CHUNK_BYTES
        message = {
            "name": self._name,
            "piece": base64.b64encode(piece).decode(),
            "last": is_last,
        }
        self._send_msg(message)
        if is_last:
            self._close()
            self._sent()

    def stop(self) -> None:
        """Send no more of it."""
        if self._file is not None:
            self._close()
            self._send_msg({"name": "", "piece": "", "last": False})

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
