"""A file on its way to the browser."""

import base64
from pathlib import Path
from typing import BinaryIO

from panel.custom import JSComponent

# So much at once that neither the event loop nor the browser stops for it.
CHUNK_BYTES = 2 << 20


class Download(JSComponent):
    """Hands files to the browser in pieces, which saves them as if a link had been clicked.

    Through the session's own connection: there is no address that somebody else could ask for.
    """

    _esm = Path(__file__).with_name("download.js")

    def __init__(self) -> None:
        super().__init__(width=0, height=0, margin=0)
        self._file: BinaryIO | None = None
        self._name = ""

    @property
    def busy(self) -> bool:
        """Whether a file is on its way."""
        return self._file is not None

    def start(self, path: Path, name: str) -> None:
        """Begin to send a file under a name; :meth:`step` sends the pieces."""
        self.stop()
        self._file, self._name = path.open("rb"), name

    def step(self) -> None:
        """Send a piece; call it a few times a second."""
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
            self.stop()

    def stop(self) -> None:
        """Send no more of it."""
        if self._file is not None:
            self._file.close()
            self._file = None
            self._send_msg({"name": "", "piece": "", "last": False})
