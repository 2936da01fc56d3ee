import threading
import time

import numpy as np
import pytest

from core import array_files
from core.array_files import load_array, load_arrays


def test_arrays_come_back_as_they_were(tmp_path):
    array = np.arange(12.0).reshape(3, 4)
    np.save(tmp_path / "a.npy", array)
    np.savez(tmp_path / "b.npz", first=array, second=array[0])
    assert np.array_equal(load_array(tmp_path / "a.npy"), array)
    with (tmp_path / "a.npy").open("rb") as file:
        assert np.array_equal(load_array(file), array)
    mapped = load_array(tmp_path / "a.npy", mmap_mode="r")
    assert isinstance(mapped, np.memmap)
    assert np.array_equal(mapped, array)
    found = load_arrays(tmp_path / "b.npz")
    assert sorted(found) == ["first", "second"]
    assert np.array_equal(found["second"], array[0])


def test_nothing_is_unpickled(tmp_path):
    np.save(tmp_path / "a.npy", np.array([object()]), allow_pickle=True)
    with pytest.raises(ValueError, match="pickle"):
        load_array(tmp_path / "a.npy")


def test_no_two_threads_parse_a_header_at_once(tmp_path, monkeypatch):
    np.save(tmp_path / "a.npy", np.arange(3))
    inside, overlaps = [], []
    load = np.load

    def slow_load(*arguments, **options):
        overlaps.append(len(inside))
        inside.append(True)
        time.sleep(0.02)
        inside.pop()
        return load(*arguments, **options)

    monkeypatch.setattr(array_files.np, "load", slow_load)
    threads = [threading.Thread(target=load_array, args=[tmp_path / "a.npy"]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert overlaps == [0, 0, 0, 0]
