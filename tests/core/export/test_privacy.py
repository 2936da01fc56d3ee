"""Exports that name nobody: no byte of an id in any of them."""

import base64
import re
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from export_runs import hostile_dataset
from small_dataset import random_readings, write_dataset

from core.cube import build_cube
from core.errors import InputError
from core.export import Provenance, anonymise, read_provenance
from core.export.figure_views import (
    distribution_figure,
    map_figure,
    series_figure,
    week_figure,
    write_figure,
)
from core.export.interactive import write_interactive_map
from core.export.privacy import identifying_columns
from core.export.run_tables import distribution_table, edge_table, point_table
from core.export.table_files import write_frame, write_zip
from core.runs import RunConfig, Store, run
from core.scene import map_scene
from core.study.run_report import Remarks, make_report, report_plan

IDS = tuple(f"ZQ{number:02d}X" for number in range(12))


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    readings = random_readings(households=12, days=35)
    names = dict(zip(sorted(readings["household"].unique()), IDS, strict=True))
    readings["household"] = readings["household"].map(names)
    return write_dataset(tmp_path_factory.mktemp("private") / "data", readings)


CONFIGS = {
    "profiles": RunConfig(bins=20, k=4, households=IDS[:11]),
    "slots": RunConfig(bins=20, k=4, unit="slots", household=IDS[3], minimum_sample=5),
    "household-slots": RunConfig(
        bins=20, k=4, unit="household-slots", households=IDS[:2], slots="Sat", minimum_sample=5
    ),
}


def inner(content: bytes) -> bytes:
    """A file with all that is packed in it."""
    found = [content]
    for stream in re.finditer(rb"stream\r?\n", content):
        unpacking = zlib.decompressobj()
        try:
            found.append(unpacking.decompress(content[stream.end() :]))
        except zlib.error:
            continue
    for packed in re.findall(rb"base64,([A-Za-z0-9+/=]+)", content):
        found.append(base64.b64decode(packed))
    return b"\n".join(found)


def export_all(result, dataset, privacy, directory: Path) -> None:
    anonymous = anonymise(dataset, privacy)
    shown = anonymous.run(result)
    told = Provenance.of(shown, withheld=anonymous.withheld)
    scene = map_scene(shown)
    rows = [int(row) for row in shown.hdr.anomalies[:2]]
    figures = {
        "map": map_figure(scene),
        "demand": distribution_figure(shown, anonymous.dataset, rows),
        "week": week_figure(shown, anonymous.dataset, rows),
        "series": series_figure(shown, anonymous.dataset, rows[0]),
    }
    for (name, figure), suffix in zip(figures.items(), ("png", "svg", "pdf", "svg"), strict=True):
        write_figure(figure, directory / f"{name}.{suffix}", told)
    write_figure(figures["map"], directory / "map.svg", told)
    write_figure(figures["map"], directory / "map.pdf", told)
    write_interactive_map(scene, directory / "map.html", told, title="Map")
    cube = build_cube(dataset, bins=20)
    tables = {
        "points": point_table(shown, by_rank=anonymous.by_rank),
        "edges": edge_table(shown, by_rank=anonymous.by_rank),
        "distributions": distribution_table(shown, anonymous.dataset, cube, rows),
    }
    for name, table in tables.items():
        for suffix in ("csv", "parquet"):
            path = directory / f"{name}.{suffix}"
            write_frame(anonymous.table(table), path, told.to_json())
        write_zip(anonymous.table(table), directory / f"{name}.zip", told.to_json())


@pytest.mark.parametrize(
    ("unit", "privacy"),
    [("profiles", "hash"), ("slots", "hash"), ("household-slots", "drop"), ("profiles", "drop")],
)
def test_no_id_is_in_any_file(dataset, tmp_path, unit, privacy):
    result = run(dataset, CONFIGS[unit])
    export_all(result, dataset, privacy, tmp_path)
    files = sorted(tmp_path.iterdir())
    assert len(files) == 6 + 1 + 3 * 4
    for file in files:
        content = inner(file.read_bytes())
        if file.suffix == ".parquet":
            content += pd.read_parquet(file).to_csv().encode()
        elif file.suffix == ".zip":
            with zipfile.ZipFile(file) as archive:
                content += b"".join(map(archive.read, archive.namelist()))
        for name in IDS:
            assert name.encode() not in content, file
            assert name.encode("utf-16-be") not in content, file
    told = read_provenance(tmp_path / "map.png")
    assert told.withheld
    assert told.config.households is None
    assert told.config == CONFIGS[unit].change(household=None, households=None)


def test_ids_are_there_where_they_are_kept(dataset, tmp_path):
    """The test above can fail: this is what it looks for."""
    export_all(run(dataset, CONFIGS["profiles"]), dataset, "keep", tmp_path)
    for name in ("map.svg", "map.html", "points.csv", "edges.csv", "map.pdf"):
        assert IDS[0].encode() in inner((tmp_path / name).read_bytes())
    assert read_provenance(tmp_path / "map.png").config == CONFIGS["profiles"]


def test_a_report_names_nobody(dataset, tmp_path):
    config = RunConfig(bins=20, k=4, households=IDS[:11], method="lle")
    remarks = Remarks(
        text=f"Look at {IDS[2]}.", notes={IDS[2]: f"like {IDS[4]}"}, pins=(IDS[2], IDS[5])
    )
    path = tmp_path / "report.html"
    make_report(
        dataset,
        config,
        path,
        plan=report_plan(config, backend="exact"),
        remarks=remarks,
        privacy="drop",
        store=Store(tmp_path / "cache"),
    )
    content = inner(path.read_bytes())
    assert b"Look at household " in content
    assert not [name for name in IDS if name.encode() in content]
    assert read_provenance(path).config == config.change(households=None)


def test_a_household_has_one_name_in_an_export_and_another_in_the_next(dataset):
    result = run(dataset, CONFIGS["household-slots"])
    once, again = (anonymise(dataset, "hash").run(result) for _ in range(2))
    assert once.units.groupby(result.units["household"])["household"].nunique().tolist() == [1, 1]
    assert once.units["household"].nunique() == 2
    assert not set(once.units["household"]) & set(again.units["household"])
    slots = [label.split(" ", 1)[1] for label in once.units["label"]]
    assert slots == [label.split(" ", 1)[1] for label in result.units["label"]]


def test_names_do_not_depend_on_the_id_alone(dataset):
    """What an id is called cannot be looked up: the key is new and nobody keeps it."""
    names = {anonymise(dataset, "hash").dataset.households["household"][0] for _ in range(5)}
    assert len(names) == 5


def test_tables_do_not_keep_the_order_of_the_households(dataset):
    result = run(dataset, CONFIGS["profiles"])
    anonymous = anonymise(dataset, "drop")
    table = anonymous.table(point_table(anonymous.run(result), by_rank=anonymous.by_rank))
    assert "household" not in table
    assert table["label"].tolist() == [f"#{rank}" for rank in range(1, 12)]
    np.testing.assert_array_equal(table["y1"], result.y[np.argsort(result.hdr.rank), 0])


def test_readings_are_found_under_the_new_name(dataset):
    anonymous = anonymise(dataset, "hash")
    name = anonymous.dataset.households["household"][4]
    pd.testing.assert_frame_equal(anonymous.dataset.readings(name), dataset.readings(IDS[4]))
    with pytest.raises(InputError):
        anonymous.dataset.readings(IDS[4])


def test_columns_that_identify_are_left_out(tmp_path):
    dataset = hostile_dataset(tmp_path / "data")
    assert identifying_columns(dataset) == ["address", "meter"]
    anonymous = anonymise(dataset, "hash")
    assert list(anonymous.dataset.metadata) == ["=tariff", "rooms"]
    result = anonymous.run(run(dataset, RunConfig(bins=20, k=4)))
    assert "address" not in result.units
    assert "rooms" in result.units
    assert any("2 columns" in each for each in anonymous.withheld)


def test_ids_in_texts_get_their_new_names(dataset):
    anonymous = anonymise(dataset, "hash")
    names = anonymous.dataset.households["household"]
    text = anonymous.text(f"{IDS[1]}, not{IDS[2]}!")
    assert text == f"{names[1]}, not{names[2]}!"
    assert anonymise(dataset, "keep").text(IDS[1]) == IDS[1]


def test_an_unknown_choice_is_refused(dataset):
    with pytest.raises(InputError, match="keep, hash, drop"):
        anonymise(dataset, "secret")
