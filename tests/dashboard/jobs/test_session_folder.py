"""What a session writes: private, in one place, and gone with it."""

import hashlib
import os
import shutil

import pytest

from core.errors import InputError
from dashboard.catalogue import Catalogue
from dashboard.jobs import SessionFolder, session_folder


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
    assert len(set(paths)) == 3
    assert {path.parent.parent for path in paths} == {root}
    for path in (root, paths[0].parent, *paths):
        assert path.stat().st_mode & 0o077 == 0
    (paths[0] / "file").touch()
    folder.remove()
    assert list(root.iterdir()) == []


def test_an_upload_cannot_be_named_by_others(demo_path):
    """Not by a link, and not by guessing where it is."""
    first, second = SessionFolder().new("upload"), SessionFolder().new("upload")
    shutil.copytree(demo_path, first / "dataset")
    secrets = [path.parent.name.partition("-")[2] for path in (first, second)]
    assert len(set(secrets)) == 2
    assert min(map(len, secrets)) >= 32
    catalogue = Catalogue(demo_path)
    assert catalogue.open(next(iter(catalogue.paths()))).path == demo_path
    for name in (str(first / "dataset"), first.name, secrets[0], "dataset", "../dataset"):
        for id in (name, hashlib.sha256(name.encode()).hexdigest()[:16]):
            with pytest.raises(InputError, match="no such dataset"):
                catalogue.open(id)


def test_what_a_dead_server_left_is_removed(root):
    alive = SessionFolder().new("upload")
    abandoned = root / "999999999-abc"
    (abandoned / "upload-x").mkdir(parents=True)
    other = root / "notes"
    other.mkdir()
    session_folder.remove_abandoned_folders()
    assert alive.exists()
    assert other.exists()
    assert not abandoned.exists()


def test_a_root_that_others_can_read_is_not_used(root):
    root.mkdir()
    root.chmod(0o755)
    with pytest.raises(InputError, match="can be read by others"):
        SessionFolder().new("upload")
