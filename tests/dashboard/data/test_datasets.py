"""Which datasets are offered, and what analysts bring."""

import shutil

import pytest

from core.errors import InputError
from dashboard.catalogue import Catalogue
from dashboard.jobs import uploads


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
