"""A place to drop files and folders on; they are received in pieces, as one stream."""

import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import param
from panel.custom import JSComponent

from core.errors import InputError, WattfoldError
from dashboard.page_schedule import act

PIECE_BYTES = 1 << 20
_MOST_FILES = 20_000
_MOST_PARTS = 8
_LONGEST_NAME = 120


class FilesDrop(JSComponent):
    """Receives files, from a drop or a dialog, into a folder on the server.

    The browser names the files with their sizes, and then sends their contents, one after the
    other, a piece when it is asked for one: nothing waits in memory, however large it is. Names and
    sizes are what the browser says; bytes are counted here.

    Parameters
    ----------
    place : callable
        Returns the empty folder that files are put into, or raises why not. It is removed again
        unless all of them arrive.
    received : callable
        Called with that folder when all of them are there.
    refused : callable
        Called with the reason if they are not taken; with nothing where the analyst stopped it.
    limit_bytes : int
        What all of them together may have.
    """

    text = param.String(default="", doc="What is said in the place")
    single = param.Boolean(default=False, constant=True, doc="Whether it takes one file only")
    compact = param.Boolean(default=False, doc="Whether to say in a line what was received")
    accept = param.String(default="", doc="How files may end, separated by commas")
    wanted = param.Integer(default=-1, doc="Where the next piece starts; -1 for no piece")
    piece = param.Integer(default=PIECE_BYTES, constant=True, doc="Bytes of a piece")

    _esm = Path(__file__).with_name("files_drop.js")

    def __init__(
        self,
        *,
        place: Callable[[], Path],
        received: Callable[[Path], None],
        refused: Callable[[str], None],
        limit_bytes: int,
        **parameters: Any,
    ) -> None:
        super().__init__(**parameters)
        self._place, self._received, self._refused = place, received, refused
        self._limit = limit_bytes
        self._folder: Path | None = None
        self._waiting: list[tuple[Path, int]] = []  # the files to come, the next one last
        self._file: BinaryIO | None = None
        self._missing = 0  # bytes of the open file
        self._total = 0

    def cancel(self) -> None:
        """Take no more of what is being received."""
        self._close()

    def _handle_msg(self, message: Any) -> None:
        act(lambda: self._take(message))

    def _take(self, message: Any) -> None:
        """Take a message of the browser, which may hold anything."""
        if not isinstance(message, Mapping):
            return
        files, data = message.get("files"), message.get("data")
        if message.get("stop") is True:
            self._give_up("")
        try:
            if isinstance(files, list):
                self._begin(files)
            elif isinstance(data, bytes) and self.wanted >= 0:
                self._add(data)
        except WattfoldError as error:
            self._give_up(str(error))
        except OSError as error:
            self._give_up(f"the files cannot be kept here: {error.strerror or error}")

    def _begin(self, said: list[Any]) -> None:
        self._close()
        files = [_name_and_size(each) for each in said[: _MOST_FILES + 1]]
        if not files:
            raise InputError(f"there is no table among them; files may end in {self.accept}")
        if self.single and len(files) > 1:
            raise InputError("one file at a time can be taken here")
        if len(files) > _MOST_FILES:
            raise InputError(f"at most {_MOST_FILES:,} files can be imported at once")
        self._total = sum(size for _, size in files)
        if self._total > self._limit:
            raise InputError(
                f"at most {self._limit / 1e6:,.0f} MB can be taken here, and this is "
                f"{self._total / 1e6:,.0f} MB"
            )
        if not self._total:
            raise InputError("the file is empty" if len(files) == 1 else "the files are empty")
        self._folder = self._place()
        places = _free_places(self._folder, (name for name, _ in files))
        self._waiting = list(zip(places, (size for _, size in files), strict=True))[::-1]
        self._open_next()
        self.wanted = 0

    def _open_next(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        while self._waiting and not self._missing:
            path, self._missing = self._waiting.pop()
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("wb")
            if not self._missing:
                self._file.close()

    def _add(self, data: bytes) -> None:
        expected = min(PIECE_BYTES, self._total - self.wanted)
        if len(data) != expected:
            raise InputError("the files changed while they were sent; choose them again")
        place = 0
        while place < len(data):
            part = data[place : place + self._missing]
            assert self._file is not None  # noqa: S101 (sizes add up to the total)
            self._file.write(part)
            place += len(part)
            self._missing -= len(part)
            if not self._missing:
                self._open_next()
        if self.wanted + len(data) < self._total:
            self.wanted += len(data)
            return
        folder, self._folder = self._folder, None
        self._close()
        if folder is not None:
            self._received(folder)

    def _give_up(self, reason: str) -> None:
        self._close()
        self._refused(reason)

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._file = self._folder = None
        self._waiting, self._missing, self._total = [], 0, 0
        self.wanted = -1


def _name_and_size(said: Any) -> tuple[str, int]:
    if (
        not isinstance(said, list | tuple)
        or len(said) != 2
        or not isinstance(said[0], str)
        or isinstance(said[1], bool)
        or not isinstance(said[1], int | float)
        or not 0 <= said[1] < 1e15
    ):
        raise InputError("the browser did not say which files these are; choose them again")
    return said[0][:1000], int(said[1])


def _free_places(folder: Path, names: Iterable[str]) -> Iterator[Path]:
    """Yield places below a folder that are named as files are, as far as that is safe."""
    files: set[Path] = set()
    folders: set[Path] = set()
    for name in names:
        parts = [_safe(part) for part in re.split(r"[/\\]", name)]
        parts = [part for part in parts if part][-_MOST_PARTS:] or ["file"]
        path, number = folder.joinpath(*parts), 1
        while path in files or path in folders or files & set(path.parents):
            number += 1
            path = folder / f"{number}-{'-'.join(parts)}"
        files.add(path)
        folders |= set(path.parents)
        yield path


def _safe(part: str) -> str:
    """Return a part of a path without dots at its start and signs that cannot be seen."""
    seen = "".join(sign for sign in part if sign.isprintable()).strip().lstrip(".")
    while len(seen.encode()) > _LONGEST_NAME:
        seen = seen[1:]  # what it ends in says what it is
    return seen
