"""Which datasets are offered, and what analysts bring."""

import os
import shutil
from types import SimpleNamespace

import pytest

from core.errors import InputError
from dashboard.catalogue import Catalogue
from dashboard.jobs import uploads
from dashboard.widgets._file_drop import PIECE_BYTES, FileDrop


def test_one_dataset_needs_no_id(demo_path):
    catalogue = Catalogue(demo_path)
    assert list(catalogue.paths().values()) == [demo_path]
    assert catalogue.open().path == demo_path


def test_a_folder_of_datasets_is_opened_by_id(demo_path, tmp_path):
    for name in ("b", "a"):
        shutil.copytree(demo_path, tmp_path / name)
    (tmp_path / "empty").mkdir()
    catalogue = Catalogue(tmp_path)
    paths = catalogue.paths()
    assert [path.name for path in paths.values()] == ["a", "b"]
    assert catalogue.open().path.name == "a"
    assert [catalogue.open(id).path.name for id in paths] == ["a", "b"]
    for wrong in ("b", "../b", str(tmp_path / "b"), "", "0" * 16):
        with pytest.raises(InputError, match="no such dataset"):
            catalogue.open(wrong)


def test_a_folder_without_any_says_so(tmp_path):
    with pytest.raises(InputError):
        Catalogue(tmp_path).open()


@pytest.mark.parametrize(("text", "bytes"), [("", 2_000_000_000), ("0", 0), ("7", 7_000_000)])
def test_the_limit_of_uploads(monkeypatch, text, bytes):
    monkeypatch.setenv("WATTFOLD_UPLOAD_MB", text)
    assert uploads.maximum_bytes() == bytes


@pytest.mark.parametrize("text", ["-1", "many", "1.5", "٣"])
def test_a_limit_that_is_none(monkeypatch, text):
    monkeypatch.setenv("WATTFOLD_UPLOAD_MB", text)
    with pytest.raises(InputError, match="WATTFOLD_UPLOAD_MB"):
        uploads.maximum_bytes()


class Receiver:
    """A place to drop files on, without a browser."""

    def __init__(self, folder, limit):
        self.received, self.refused = [], []
        self.folder = folder
        self.drop = FileDrop(
            place=self.place,
            received=lambda path: self.received.append(path.read_bytes()),
            refused=self.refused.append,
            limit_bytes=limit,
        )

    def place(self, name):
        self.folder.mkdir(exist_ok=True)
        return self.folder / "received"

    def send(self, content, size=PIECE_BYTES):
        self.drop._take({"name": "file.csv"})
        while self.drop.wanted >= 0:
            self.drop._take({"data": content[self.drop.wanted :][:size]})


@pytest.mark.parametrize("size", [1, PIECE_BYTES - 1, PIECE_BYTES, 2 * PIECE_BYTES + 5])
def test_a_file_arrives_whole_in_pieces(tmp_path, size):
    content = os.urandom(size)
    receiver = Receiver(tmp_path, 10**8)
    receiver.send(content)
    assert receiver.received == [content]
    assert receiver.refused == []


def test_what_is_not_finished_does_not_stay(tmp_path):
    """A browser may begin a file again and again, and never send its end."""
    places = iter(tmp_path / f"restore-{number}" for number in range(9))

    def place(name: str):
        folder = next(places)
        folder.mkdir()
        return folder / "file"

    drop = FileDrop(
        place=place, received=lambda path: None, refused=lambda reason: None, limit_bytes=10**8
    )
    for _ in range(3):
        drop._take({"name": "session.json"})
        drop._take({"data": bytes(PIECE_BYTES)})
    assert [folder.name for folder in tmp_path.iterdir()] == ["restore-2"]
    drop._take({"name": "empty.json"})
    drop._take({"data": b""})
    assert list(tmp_path.iterdir()) == []


def test_bytes_are_counted_here_and_not_believed(tmp_path):
    receiver = Receiver(tmp_path, PIECE_BYTES + 10)
    receiver.send(b"x" * (3 * PIECE_BYTES))
    assert receiver.received == []
    assert "a file may have 1 MB here" in receiver.refused[0]
    assert not (tmp_path / "received").exists()
    receiver.drop._take({"data": b"more"})
    assert receiver.received == []


def test_what_is_no_piece_is_passed_over(tmp_path):
    receiver = Receiver(tmp_path, 100)
    for message in (None, 5, [], {}, {"name": 3}, {"data": "text"}, {"data": b"unasked"}):
        receiver.drop._take(message)
    receiver.drop._take({"name": "file.csv"})
    receiver.drop._take({"data": None})
    receiver.send(b"")
    assert receiver.received == []
    assert receiver.refused == ["the file is empty"]


def test_a_full_disk_is_said(tmp_path, monkeypatch):
    receiver = Receiver(tmp_path, 100)
    receiver.drop._take({"name": "file.csv"})

    def fail(data):
        raise OSError(28, "No space left on device")

    receiver.drop._file.close()
    receiver.drop._file = SimpleNamespace(write=fail, close=lambda: None)
    receiver.drop._take({"data": b"abc"})
    assert receiver.refused == ["the file cannot be kept here: No space left on device"]
