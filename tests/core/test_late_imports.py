"""What the command line imports before it is asked to compute anything."""

import subprocess
import sys

import pytest

from core.commands import COMMANDS

# Each takes a tenth of a second or more to import.
HEAVY = {
    *("annoy", "bokeh", "dask", "datashader", "distributed", "duckdb", "hnswlib", "holoviews"),
    *("matplotlib", "numba", "openTSNE", "pandas", "panel", "param", "pyarrow", "pynndescent"),
    *("scipy", "sklearn", "umap"),
}

SCRIPT = """
import sys
from dashboard.cli import main
sys.argv = ["wattfold", *sys.argv[1:], "--help"]
try:
    main()
except SystemExit as end:
    print(end.code, *sorted({name.partition(".")[0] for name in sys.modules}), sep="\\n")
"""


@pytest.mark.parametrize("command", ["", *(each.NAME for each in COMMANDS), "serve"])
def test_help_imports_nothing_heavy(command):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *command.split()], capture_output=True, text=True, check=True
    )
    usage, _, rest = done.stdout.partition("\n0\n")
    assert usage.startswith("usage: wattfold")
    # Only the registries, whose parameters are flags of commands, need NumPy.
    heavy = HEAVY if command else {*HEAVY, "numpy"}
    assert not heavy & set(rest.split())
