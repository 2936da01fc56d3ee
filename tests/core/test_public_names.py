"""The library as a Python user meets it."""

import subprocess
import sys
from pathlib import Path

import pytest

import core

ROOT = Path(__file__).parents[2]


def test_importing_core_imports_nothing_else():
    lines = "import sys, core; print(sorted(set(sys.modules) & {'numpy', 'pandas', 'numba'}))"
    done = subprocess.run(
        [sys.executable, "-c", lines], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", core.__all__)
def test_every_public_name_is_there(name):
    assert name in dir(core)
    assert getattr(core, name) is not None


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="no attribute 'magic'"):
        _ = core.magic
