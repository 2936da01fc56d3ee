"""What people install: a wheel that works without the checkout."""

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Every kind of thing that a package may lack: modules, templates, scripts of widgets, types.
TRY = """
import sys
from pathlib import Path
import core, dashboard.widgets, wattfold as wf
here = Path(sys.argv[1])
for package in (core, wf, dashboard.widgets):
    assert Path(package.__file__).is_relative_to(here), package.__file__
assert list(Path(dashboard.widgets.__file__).parent.glob("*.js"))
assert (Path(core.__file__).parent / "study" / "report.html").exists()
dataset = wf.make_demo("demo", households=30, days=28)
result = wf.run(dataset, wf.RunConfig(k=5))
result.plot().savefig("map.png")
print(result)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this checkout, built from a copy of what belongs into it."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    for name in ("core", "dashboard", "wattfold"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", folder, source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_all_that_runs(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    done = subprocess.run(
        [sys.executable, "-c", TRY, tmp_path / "site"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("<Run points: 30 profiles")


def test_the_wheel_says_what_it_is(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (path,) = [name for name in names if name.endswith("METADATA")]
        facts = message_from_string(archive.read(path).decode())
    assert facts["License-Expression"] == "BSD-3-Clause"
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert "Typing :: Typed" in facts.get_all("Classifier")
    assert facts.get_all("Project-URL") is None
    needed = [each for each in facts.get_all("Requires-Dist") if "extra ==" not in each]
    assert not [each for each in needed if each.startswith("hnswlib")]
    # What is below 1.0 may change in any minor version.
    young = [each for each in needed if ">=0." in each]
    assert len(young) >= 5
    assert [each for each in young if "<0." not in each] == []


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_the_wheel_works_in_an_empty_environment(wheel, tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    run = {"cwd": tmp_path, "capture_output": True, "text": True}
    install = [python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", wheel]
    subprocess.run(install, check=True, **run)
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    clean["WATTFOLD_CACHE"] = str(tmp_path / "cache")
    done = subprocess.run([python, "-c", TRY, tmp_path / "venv"], env=clean, check=False, **run)
    assert done.returncode == 0, done.stderr
    command = [tmp_path / "venv" / "bin" / "wattfold", "embed", "demo", "--unit", "households"]
    subprocess.run([*command, "--figure", "again.png"], env=clean, check=True, **run)
    without = subprocess.run([*command, "--neighbors", "hnsw"], env=clean, check=False, **run)
    assert without.returncode == 2
    assert "pip install 'wattfold[hnsw]'" in without.stderr
