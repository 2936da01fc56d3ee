"""A program killed at any moment of a run leaves nothing half done behind."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest

from core.demo import make_demo
from core.readings import Dataset
from core.runs import RunConfig, Store, run

ROOT = Path(__file__).parents[3]

# A process that has imported and compiled everything, so that programs born of it start at once.
NURSERY = """
import os, sys
sys.path.insert(0, sys.argv[1])
from test_killed_run import asked
from core.readings import Dataset
from core.runs import Store, run
dataset = Dataset.open(sys.argv[2])
run(dataset, asked(0), threads=1)
print("ready", flush=True)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        try:
            run(dataset, asked(int(line)), store=Store(sys.argv[3]), threads=1)
            os._exit(0)
        finally:
            os._exit(1)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def asked(number: int) -> RunConfig:
    """Another run for every number: its own counts, and so everything after them anew."""
    return RunConfig(bins=20 + number, neighbors="exact", k=5, quality=True)


@pytest.mark.parametrize("moments", [10, pytest.param(200, marks=pytest.mark.soak)])
def test_a_run_killed_at_any_moment_is_made_up_for(moments, tmp_path):
    path = make_demo(tmp_path / "data", households=12, days=28).path
    untouched = Dataset.open(shutil.copytree(path, tmp_path / "untouched"))
    store = Store(tmp_path / "store")
    nursery = subprocess.Popen(
        [sys.executable, "-c", NURSERY, Path(__file__).parent, path, store.path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
        cwd=ROOT,
    )
    chance = random.Random(7)
    ends = []
    with nursery:
        assert nursery.stdout.readline() == "ready\n"
        for number in range(moments):
            nursery.stdin.write(f"{number}\n")
            program = int(nursery.stdout.readline())
            time.sleep(chance.uniform(0.0, 0.3))
            with suppress(ProcessLookupError):  # it was faster
                os.kill(program, signal.SIGKILL)
            ends.append(int(nursery.stdout.readline()))
            for stored in store.entries():
                assert store.get(stored.path.parent.name, stored.path.name) is not None
        nursery.stdin.close()
    assert set(ends) <= {0, -signal.SIGKILL}
    assert ends.count(-signal.SIGKILL) > moments / 5  # a fast machine finishes some before that
    dataset = Dataset.open(path)
    for number in range(0, moments, max(1, moments // 5)):
        again = run(dataset, asked(number), store=store)
        pd.testing.assert_frame_equal(again.table(), run(untouched, asked(number)).table())
    run(dataset, asked(moments), store=store)  # one more write, which sweeps
    assert list(store.path.glob("*/.*")) == []
