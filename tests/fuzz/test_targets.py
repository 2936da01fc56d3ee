"""The corpus of each fuzz target, in every run; the fuzzer itself in ``make soak``."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import targets

SECONDS = 1200


@pytest.mark.parametrize("name", targets.TARGETS)
def test_the_corpus_finds_nothing(name):
    inputs = list(targets.seeds(name))
    assert inputs
    for data in inputs:
        targets.TARGETS[name](data)


@pytest.mark.soak
@pytest.mark.timeout(2 * SECONDS)
@pytest.mark.skipif(find_spec("atheris") is None, reason="atheris is not installed: .[fuzz]")
@pytest.mark.parametrize("name", targets.TARGETS)
def test_fuzzing_finds_nothing(name, tmp_path):
    program = Path(targets.__file__).with_name("fuzz.py")
    found = subprocess.run(
        [sys.executable, program, name, "--seconds", str(SECONDS), "--corpus", tmp_path / "corpus"],
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr[-5000:]
    assert not list(tmp_path.glob("corpus/found-*"))
