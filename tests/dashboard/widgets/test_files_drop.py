"""Files that are received as one stream, without a browser."""

import os
from types import SimpleNamespace

import pytest

from dashboard.widgets._files_drop import PIECE_BYTES, FilesDrop


class Receiver:
    """A place to drop files on, and a browser that sends what it is asked for."""

    def __init__(self, folder, limit=10**8, **options):
        self.folder, self.received, self.refused = folder / "files", [], []
        self.drop = FilesDrop(
            place=self.place,
            received=self.received.append,
            refused=self.refused.append,
            limit_bytes=limit,
            accept=".csv",
            **options,
        )

    def place(self):
        self.folder.mkdir()
        return self.folder

    def send(self, files):
        self.drop._take({"files": [[name, len(content)] for name, content in files]})
        whole = b"".join(content for _, content in files)
        while self.drop.wanted >= 0:
            self.drop._take({"data": whole[self.drop.wanted :][:PIECE_BYTES]})

    def contents(self):
        return {
            path.relative_to(self.folder).as_posix(): path.read_bytes()
            for path in self.folder.rglob("*")
            if path.is_file()
        }


SIZES = [
    [1],
    [PIECE_BYTES],
    [PIECE_BYTES - 1, 1, 0, 2],
    [0, 3 * PIECE_BYTES + 5, 0, 7],
    [10] * 500,
    [PIECE_BYTES, PIECE_BYTES],
]


@pytest.mark.parametrize("sizes", SIZES, ids=lambda sizes: f"{len(sizes)} files")
def test_files_arrive_whole_whatever_their_sizes(sizes, tmp_path):
    files = [(f"homes/{number}.csv", os.urandom(size)) for number, size in enumerate(sizes)]
    receiver = Receiver(tmp_path)
    receiver.send(files)
    assert receiver.received == [receiver.folder]
    assert receiver.refused == []
    assert receiver.contents() == dict(files)


@pytest.mark.parametrize(("said", "kept"), [
    ("../../etc/passwd.csv", "etc/passwd.csv"), ("/abs/a.csv", "abs/a.csv"),
    ("..\\..\\a.csv", "a.csv"), (".hidden/.a.csv", "hidden/a.csv"), ("a\x00b\n.csv", "ab.csv"),
    ("", "file"), ("...", "file"), ("x" * 400 + ".csv", "x" * 116 + ".csv"),
    ("é" * 200 + ".csv", "é" * 58 + ".csv"), ("<img src=x>.csv", "<img src=x>.csv"),
    ("a/" * 30 + "b.csv", "a/" * 7 + "b.csv"),
])  # fmt: skip
def test_names_stay_below_the_folder(said, kept, tmp_path):
    receiver = Receiver(tmp_path)
    receiver.send([(said, b"text")])
    assert receiver.contents() == {kept: b"text"}
    assert not [path for path in tmp_path.iterdir() if path != receiver.folder]


def test_equal_names_do_not_overwrite_each_other(tmp_path):
    receiver = Receiver(tmp_path)
    receiver.send([("a.csv", b"1"), ("a.csv", b"2"), ("./a.csv", b"3"), ("a.csv/b.csv", b"4")])
    assert sorted(receiver.contents().values()) == [b"1", b"2", b"3", b"4"]


def test_too_much_is_refused_before_it_is_sent(tmp_path):
    receiver = Receiver(tmp_path, limit=5_000_000)
    receiver.drop._take({"files": [["a.csv", 3_000_000], ["b.csv", 3_000_000]]})
    assert receiver.refused == ["at most 5 MB can be taken here, and this is 6 MB"]
    assert receiver.drop.wanted == -1
    assert not receiver.folder.exists()


@pytest.mark.parametrize("data", [b"", b"x", b"x" * 11, b"x" * PIECE_BYTES])
def test_bytes_are_counted_and_not_believed(data, tmp_path):
    receiver = Receiver(tmp_path)
    receiver.drop._take({"files": [["a.csv", 10]]})
    receiver.drop._take({"data": data})
    assert receiver.refused == ["the files changed while they were sent; choose them again"]
    assert receiver.received == []
    receiver.drop._take({"data": b"x" * 10})
    assert receiver.received == []


@pytest.mark.parametrize("files", [
    [None], [["a.csv"]], [["a.csv", -1]], [["a.csv", 1e300]], [["a.csv", "5"]], [[5, 5]],
    [["a.csv", True]], [["a.csv", float("nan")]], [{"name": "a"}],
])  # fmt: skip
def test_what_names_no_files_is_refused(files, tmp_path):
    receiver = Receiver(tmp_path)
    receiver.drop._take({"files": files})
    assert "choose them again" in receiver.refused[0]
    assert not receiver.folder.exists()


def test_other_messages_are_passed_over(tmp_path):
    receiver = Receiver(tmp_path)
    for message in (None, 5, [], {}, {"files": 3}, {"data": "text"}, {"data": b"unasked"}):
        receiver.drop._take(message)
    assert receiver.refused == receiver.received == []
    receiver.drop._take({"files": []})
    receiver.drop._take({"files": [["a.csv", 0]]})
    assert receiver.refused == [
        "there is no table among them; files may end in .csv",
        "the file is empty",
    ]


def test_more_files_than_can_be_are_refused(tmp_path):
    receiver = Receiver(tmp_path)
    receiver.drop._take({"files": [["a.csv", 1]] * 30_000})
    assert receiver.refused == ["at most 20,000 files can be imported at once"]


def test_the_analyst_can_stop_and_begin_again(tmp_path):
    receiver = Receiver(tmp_path)
    receiver.drop._take({"files": [["a.csv", 3 * PIECE_BYTES]]})
    receiver.drop._take({"data": b"x" * PIECE_BYTES})
    receiver.drop._take({"stop": True})
    assert receiver.refused == [""]
    assert receiver.drop.wanted == -1
    receiver.folder = tmp_path / "again"
    receiver.send([("b.csv", b"new")])
    assert receiver.contents() == {"b.csv": b"new"}


def test_what_is_not_finished_does_not_stay(tmp_path):
    """A browser may begin again and again, and never send the end."""
    places = iter(tmp_path / f"restore-{number}" for number in range(9))

    def place():
        folder = next(places)
        folder.mkdir()
        return folder

    drop = FilesDrop(
        place=place, received=lambda _: None, refused=lambda _: None, limit_bytes=10**8, single=True
    )
    for _ in range(3):
        drop._take({"files": [["session.json", 3 * PIECE_BYTES]]})
        drop._take({"data": bytes(PIECE_BYTES)})
    assert [folder.name for folder in tmp_path.iterdir()] == ["restore-2"]
    drop._take({"files": [["empty.json", 0]]})
    assert list(tmp_path.iterdir()) == []


def test_a_place_for_one_file_takes_one(tmp_path):
    receiver = Receiver(tmp_path, single=True)
    receiver.drop._take({"files": [["a.csv", 1], ["b.csv", 1]]})
    assert receiver.refused == ["one file at a time can be taken here"]
    receiver.send([("a.csv", b"text")])
    assert receiver.contents() == {"a.csv": b"text"}


def test_a_full_disk_is_said(tmp_path):
    receiver = Receiver(tmp_path)
    receiver.drop._take({"files": [["a.csv", 3]]})

    def fail(data):
        raise OSError(28, "No space left on device")

    receiver.drop._file.close()
    receiver.drop._file = SimpleNamespace(write=fail, close=lambda: None)
    receiver.drop._take({"data": b"abc"})
    assert receiver.refused == ["the files cannot be kept here: No space left on device"]
