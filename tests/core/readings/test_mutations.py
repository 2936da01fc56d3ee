"""Damaged files and datasets: a clear error or a right result, never anything else."""

import hashlib
import json
import random
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from mutations import mutate
from test_ingestion import assert_accounts

from core.cube import build_cube
from core.errors import InputError
from core.readings import Dataset, ingest
from core.readings.formats import FORMATS
from core.readings.options import IngestOptions

SAMPLES = Path(__file__).parents[3] / "data" / "samples"
READINGS = sorted(
    path.name
    for path in SAMPLES.iterdir()
    if path.is_file() and path.name not in ("households.csv", "cer-allocation.csv")
)
MUTATIONS = [4, pytest.param(500, marks=[pytest.mark.soak, pytest.mark.timeout(3600)])]


def ingest_or_explain(file: Path, to: Path, **options: object) -> Dataset | None:
    """Ingest; an error must be one that a person can act upon, and leave nothing behind."""
    try:
        dataset = ingest([file], to, threads=1, **options)
    except InputError as error:
        text = str(error)
        assert text
        assert len(text) < 2000
        assert not to.exists()
        assert not list(to.parent.glob(".*partial*"))
        return None
    assert_accounts(dataset)
    dataset.verify()
    return dataset


@pytest.mark.parametrize("times", MUTATIONS)
@pytest.mark.parametrize("name", READINGS)
def test_damaged_readings(name, times, tmp_path):
    content = (SAMPLES / name).read_bytes()
    for number in range(times):
        chance = random.Random(f"{name} {number}")
        file = tmp_path / f"{number}-{name}"
        file.write_bytes(mutate(content, name, chance))
        to = tmp_path / "dataset"
        if ingest_or_explain(file, to) is not None:
            shutil.rmtree(to)
        file.unlink()


@pytest.mark.parametrize("times", MUTATIONS)
@pytest.mark.parametrize("name", ["households.csv", "cer-allocation.csv"])
def test_damaged_tables_beside_the_readings(name, times, tmp_path):
    content = (SAMPLES / name).read_bytes()
    for number in range(times):
        chance = random.Random(f"{name} {number}")
        file = tmp_path / f"{number}-{name}"
        file.write_bytes(mutate(content, name, chance))
        to = tmp_path / "dataset"
        if name == "households.csv":
            made = ingest_or_explain(SAMPLES / "cer.txt", to, metadata=file)
        else:
            options = IngestOptions(allocation=str(file))
            made = ingest_or_explain(SAMPLES / "cer.txt", to, options=options)
        if made is not None:
            shutil.rmtree(to)


@pytest.mark.parametrize("times", [40, *MUTATIONS[1:]])
def test_a_damaged_dataset(times, tmp_path):
    whole = ingest([SAMPLES / "lcl.csv"], tmp_path / "whole")
    right = build_cube(whole, bins=10)
    for number in range(times):
        chance = random.Random(number)
        damaged = Path(shutil.copytree(whole.path, tmp_path / f"damaged-{number}"))
        file = chance.choice([path for path in sorted(damaged.rglob("*")) if path.is_file()])
        file.write_bytes(mutate(file.read_bytes(), file.name, chance))
        try:
            dataset = Dataset.open(damaged)
            dataset.verify()
            cube = build_cube(dataset, bins=10)
        except InputError as error:
            assert str(error)
        else:
            assert (cube.counts == right.counts).all()
        shutil.rmtree(damaged)


@pytest.mark.parametrize(
    "name", ["../secret", "/etc/passwd", "a/b", "", ".hidden", "x" * 300, "a\0"]
)
def test_a_manifest_names_no_file_but_its_own(name, tmp_path):
    dataset = ingest([SAMPLES / "sgsc.csv"], tmp_path / "dataset")
    (tmp_path / "secret").write_bytes(b"other")
    manifest = json.loads((dataset.path / "manifest.json").read_text())
    manifest["files"][name] = {"bytes": 5, "sha256": hashlib.sha256(b"other").hexdigest()}
    (dataset.path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match="is incomplete"):
        Dataset.open(dataset.path)


CORPUS = [
    (SAMPLES / name).read_bytes()[:3000]
    for name in READINGS
    if not name.endswith((".gz", ".zip", ".parquet", ".xlsx"))
]


def seeds(test):
    """Give a test the beginnings of all samples as its first examples."""
    for text in CORPUS:
        test = example(content=text, format="auto")(test)
    # Found by longer searches: ends of a line for Unicode, and for no one else.
    return example(content=b"\x1c", format="auto")(test)


LINES = st.lists(
    st.one_of(
        st.sampled_from([line for text in CORPUS for line in text.splitlines()[:20]]),
        st.binary(max_size=60),
        st.text(max_size=60).map(lambda text: text.encode()),
    ),
    max_size=40,
)


@seeds
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(content=LINES.map(b"\n".join), format=st.sampled_from(["auto", *FORMATS]))
def test_any_bytes_at_all(content, format, tmp_path):
    check_any_bytes(content, format, tmp_path)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@settings(
    max_examples=3000,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(content=LINES.map(b"\n".join), format=st.sampled_from(["auto", *FORMATS]))
def test_any_bytes_at_all_for_long(content, format, tmp_path):
    check_any_bytes(content, format, tmp_path)


def check_any_bytes(content: bytes, format: str, folder: Path) -> None:
    file, to = folder / "readings.csv", folder / "dataset"
    file.write_bytes(content)
    if ingest_or_explain(file, to, options=IngestOptions(format=format)) is not None:
        shutil.rmtree(to)
