"""What a session writes: private, in one place, and gone with it."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import InputError
from dashboard.catalogue import Catalogue
from dashboard.jobs import SessionFolder, session_folder

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(session_folder.tempfile, "gettempdir", lambda: str(tmp_path))
    return tmp_path / f"wattfold-sessions-{os.getuid()}"


def test_nothing_is_made_before_it_is_needed(root):
    SessionFolder().remove()
    assert not root.exists()


def test_all_folders_are_private_and_removed_together(root):
    folder = SessionFolder()
    paths = [folder.new(purpose) for purpose in ("upload", "export", "export")]
    session = paths[0].parent
    assert len(set(paths)) == 3
    assert {path.parent for path in paths} == {session}
    for path in (root, session.parent, session, *paths):
        assert path.stat().st_mode & 0o077 == 0
    (paths[0] / "file").touch()
    folder.remove()
    assert [path.name for path in session.parent.iterdir()] == [".lock"]


def test_a_session_that_has_ended_writes_nothing_more(root):
    """A message may come after its session was closed."""
    folder = SessionFolder()
    folder.remove()
    with pytest.raises(InputError, match="has ended"):
        folder.new("upload")
    assert not root.exists()


def test_what_could_not_be_removed_is_removed_later(root, monkeypatch):
    """A worker that is being ended may write into a folder while it is removed."""
    first = SessionFolder()
    left = first.new("upload").parent
    with monkeypatch.context() as patch:
        patch.setattr(session_folder.shutil, "rmtree", lambda *_, **__: None)
        first.remove()
    assert left.exists()
    SessionFolder().new("export")
    assert not left.exists()


@pytest.mark.parametrize(
    ("limit", "words"), [("session_bytes", "reload it"), ("all_bytes", "others have closed")]
)
def test_what_sessions_write_is_bounded(monkeypatch, limit, words):
    monkeypatch.setattr(session_folder, limit, lambda: 1000)
    folder = SessionFolder()
    place = folder.new("restore")
    (place / "file").write_bytes(bytes(1001))
    with pytest.raises(InputError, match=words):
        folder.new("restore")
    (place / "file").unlink()
    folder.new("restore")
    folder.remove()


def test_an_upload_cannot_be_named_by_others(demo_path):
    """Not by a link, and not by guessing where it is."""
    first, second = SessionFolder().new("upload"), SessionFolder().new("upload")
    shutil.copytree(demo_path, first / "dataset")
    secrets = [path.parent.name for path in (first, second)]
    assert len(set(secrets)) == 2
    assert min(map(len, secrets)) >= 32
    catalogue = Catalogue(demo_path)
    assert catalogue.open(next(iter(catalogue.paths()))).path == demo_path
    for name in (str(first / "dataset"), first.name, secrets[0], "dataset", "../dataset"):
        for id in (name, hashlib.sha256(name.encode()).hexdigest()[:16]):
            with pytest.raises(InputError, match="no such dataset"):
                catalogue.open(id)


def test_what_a_killed_server_left_is_removed_and_nothing_of_one_that_runs(root):
    code = (
        "import time\n"
        "from dashboard.jobs import SessionFolder\n"
        "print(SessionFolder().new('restore'), flush=True)\n"
        "time.sleep(600)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(root.parent)},
        cwd=ROOT,
    ) as server:
        theirs = Path(server.stdout.readline().strip())
        ours = SessionFolder().new("upload")
        session_folder.remove_abandoned_folders()
        assert theirs.exists()
        assert ours.exists()
        server.kill()
        server.wait()
    session_folder.remove_abandoned_folders()
    assert not theirs.parents[1].exists()
    assert ours.exists()


def test_a_root_that_others_can_read_is_not_used(root):
    root.mkdir()
    root.chmod(0o755)
    with pytest.raises(InputError, match="can be read by others"):
        SessionFolder().new("upload")
