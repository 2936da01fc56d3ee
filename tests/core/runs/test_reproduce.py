"""The command and the Python lines give the same numbers as the run that they came from."""

import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from export_runs import HOSTILE, hostile_dataset

from core.cli import main
from core.runs import RunConfig, command_line, python_lines, run

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return hostile_dataset(tmp_path_factory.mktemp("hostile") / "my data")


CONFIGS = [
    RunConfig(
        households=HOSTILE[:10], bins=20, k=4, method="lle", method_parameters={"ridge": 0.02}
    ),
    RunConfig(
        unit="slots", household=HOSTILE[0], bins=20, window=3, minimum_sample=1, slots="weekend"
    ),
]


@pytest.mark.parametrize("config", CONFIGS)
def test_the_command_repeats_the_run(dataset, config, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(dataset.path.parent)
    monkeypatch.setenv("WATTFOLD_CACHE", str(tmp_path / "cache"))
    words = shlex.split(command_line(config, dataset.path.name))
    status = main([*words[1:], "--out", str(tmp_path / "a.parquet")])
    assert (words[0], status) == ("wattfold", 0), capsys.readouterr().err
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "a.parquet"), run(dataset, config).table(), check_exact=True
    )


def test_the_python_lines_repeat_the_run(dataset, tmp_path):
    code = ""
    for number, config in enumerate(CONFIGS):
        code += python_lines(config, dataset.path.name)
        code += f"table.to_parquet({str(tmp_path / f'{number}.parquet')!r})\n"
    subprocess.run(
        [sys.executable, "-c", code],
        cwd=dataset.path.parent,
        env={"PYTHONPATH": str(ROOT)},
        check=True,
    )
    for number, config in enumerate(CONFIGS):
        found = pd.read_parquet(tmp_path / f"{number}.parquet")
        # Another process: linear algebra may add in another order, and differ in the last bits.
        expected = run(dataset, config).table()
        exact = [name for name in expected if name != "surprise"]  # which is of float32
        pd.testing.assert_frame_equal(found[exact], expected[exact], rtol=1e-9)
        pd.testing.assert_frame_equal(found, expected, rtol=1e-4, atol=1e-5)
