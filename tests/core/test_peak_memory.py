"""The peak of memory: what a process took, and what it took since it was told to forget."""

import resource

import pytest

from core import peak_memory
from core.peak_memory import forget_peak_memory, peak_memory_mb


def take(megabytes: int) -> None:
    """Fill some memory and give it back."""
    b"x" * (megabytes * 10**6)


def test_the_peak_stays_until_it_is_forgotten():
    forget_peak_memory()
    before = peak_memory_mb()
    take(300)
    peak = peak_memory_mb()
    assert 290 < peak - before < 400
    if not forget_peak_memory():
        pytest.skip("this system does not forget")
    assert peak_memory_mb() < peak - 200
    take(100)
    assert 90 < peak_memory_mb() - before < 250


def test_where_the_system_tells_less_it_is_the_peak_of_all_times(monkeypatch, tmp_path):
    monkeypatch.setattr(peak_memory, "_STATUS", tmp_path / "none")
    monkeypatch.setattr(peak_memory, "_CLEAR", tmp_path / "none" / "none")
    monkeypatch.setattr(peak_memory.sys, "platform", "linux")
    assert not forget_peak_memory()
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert peak_memory_mb() == pytest.approx(kilobytes * 1.024e-3, rel=0.01)
