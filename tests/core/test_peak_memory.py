"""The peak of memory: what a process took, and what it took since it was told to forget."""

import resource
import subprocess
import sys

import pytest

from core import peak_memory
from core.peak_memory import forget_peak_memory, peak_memory_mb

# In a process of its own: elsewhere other threads may give memory back meanwhile.
FILLED_TWICE = """
from core.peak_memory import forget_peak_memory, peak_memory_mb

def take(megabytes):
    b"x" * (megabytes * 10**6)

print(peak_memory_mb())
take(300)
print(peak_memory_mb())
print(forget_peak_memory())
take(100)
print(peak_memory_mb())
"""


def test_the_peak_stays_until_it_is_forgotten():
    program = [sys.executable, "-c", FILLED_TWICE]
    told = subprocess.run(program, check=True, capture_output=True, text=True).stdout
    before, peak, is_forgotten, later = told.split()
    assert 290 < float(peak) - float(before) < 400
    if is_forgotten == "False":
        pytest.skip("this system does not forget")
    assert 90 < float(later) - float(before) < 250


def test_where_the_system_tells_less_it_is_the_peak_of_all_times(monkeypatch, tmp_path):
    monkeypatch.setattr(peak_memory, "_STATUS", tmp_path / "none")
    monkeypatch.setattr(peak_memory, "_CLEAR", tmp_path / "none" / "none")
    monkeypatch.setattr(peak_memory.sys, "platform", "linux")
    assert not forget_peak_memory()
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert peak_memory_mb() == pytest.approx(kilobytes * 1.024e-3, rel=0.01)
