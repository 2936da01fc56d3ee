"""From a file back to the run that it shows, whoever made the file."""

import io
import json
import zipfile

import numpy as np
import pytest
from export_runs import hostile_dataset
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin

from core.errors import InputError
from core.export import Provenance, read_config, read_provenance
from core.export.figure_views import map_figure, write_figure
from core.export.interactive import write_interactive_map
from core.export.provenance import MAX_BYTES
from core.export.read_back import _in_pdf
from core.export.run_tables import point_table
from core.export.table_files import write_frame, write_zip
from core.runs import RunConfig, run
from core.scene import map_scene


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return hostile_dataset(tmp_path_factory.mktemp("hostile") / "data")


@pytest.fixture(scope="module")
def result(dataset):
    # All ids are in the config, so that every format must carry them unharmed.
    households = tuple(dataset.households["household"])
    return run(dataset, RunConfig(households=households, bins=20, k=4, neighbors="exact"))


@pytest.fixture(scope="module")
def files(result, tmp_path_factory):
    """The same run in every format."""
    directory = tmp_path_factory.mktemp("files")
    told = Provenance.of(result)
    scene = map_scene(result)
    figure = map_figure(scene)
    for suffix in ("png", "svg", "pdf"):
        write_figure(figure, directory / f"map.{suffix}", told)
    write_interactive_map(scene, directory / "map.html", told, title="Map")
    table = point_table(result)
    write_frame(table, directory / "points.parquet", told.to_json())
    write_frame(table, directory / "points.csv", told.to_json())
    write_zip(table, directory / "points.zip", told.to_json())
    return directory


FILES = ("map.png", "map.svg", "map.pdf", "map.html", "points.parquet", "points.csv.json")


@pytest.mark.parametrize("name", [*FILES, "points.zip"])
def test_every_format_gives_its_config_back(files, result, dataset, name):
    told = read_provenance(files / name)
    assert told.config == result.config
    assert told.dataset == dataset.digest
    assert told.version
    assert read_config((files / name).read_bytes()) == result.config


def test_a_csv_is_known_by_the_file_beside_it(files, result):
    assert read_config(str(files / "points.csv")) == result.config


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no file that Wattfold writes"),
        (b"MZ\x90", "no file that Wattfold writes"),
        (b"{}", "names no run"),
        (b'{"config": {"version": 99}}', "version 99"),
        (b'{"config": {"version": 1, "k": -3}}', "k must be"),
        (b'{"config": 5}', "JSON object"),
        (b"{" * 100_000, "cannot be read"),
        (b'{"config":' + b"[" * 50_000, "cannot be read"),
        (b"%PDF-1.4\n/Keywords (abc", "no description"),
        (b"<html><body></body></html>", "no description"),
        (b'<?xml version="1.0"?><svg></svg>', "no description"),
        (b"PAR1" + b"\xff" * 20 + b"PAR1", "no description"),
        (b"PK\x03\x04 nonsense", "no description"),
        (b"\x89PNG\r\n\x1a\n\xff\xff\xff\xfftEXt", "no description"),
    ],
)
def test_what_is_no_export_is_refused_in_words(content, words):
    with pytest.raises(InputError, match=words):
        read_config(content)


def test_a_missing_file_is_refused_in_words(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_config(tmp_path / "none.png")


def test_descriptions_beyond_the_limit_are_refused():
    image = Image.new("RGB", (2, 2))
    facts = PngImagePlugin.PngInfo()
    facts.add_itxt("Description", " " * (MAX_BYTES + 10), zip=True)
    packed = io.BytesIO()
    image.save(packed, "png", pnginfo=facts)
    assert len(packed.getvalue()) < 100_000
    with pytest.raises(InputError, match="at most"):
        read_config(packed.getvalue())

    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.csv.json", b" " * (MAX_BYTES + 10))
    with pytest.raises(InputError, match="at most"):
        read_config(archive.getvalue())


@given(st.text(max_size=200))
def test_any_text_survives_the_strings_of_a_pdf(text):
    from matplotlib.backends.backend_pdf import pdfRepr

    told = json.dumps({"text": text})
    assert json.loads(_in_pdf(b"%PDF-1.4 /Keywords " + pdfRepr(told) + b" >>")) == {"text": text}


@given(st.binary(max_size=400), st.sampled_from([b"", b"{", b"%PDF-1.4 /Keywords (", b"PAR1"]))
def test_any_bytes_are_a_config_or_an_input_error(content, start):
    with pytest.raises(InputError):
        read_config(start + content)


@pytest.mark.parametrize("name", FILES[:5])
def test_a_damaged_file_is_a_config_or_an_input_error(files, name, result):
    content = (files / name).read_bytes()
    rng = np.random.default_rng(3)
    for _ in range(20):
        broken = bytearray(content)
        for place in rng.integers(0, min(len(broken), 20_000), 12):
            broken[place] = rng.integers(256)
        try:
            read_config(bytes(broken))
        except InputError:
            continue


def test_json_in_html_ends_no_element(result):
    text = Provenance.of(result).for_html()
    assert not set(text) & set("<>&")
    assert Provenance.from_json(json.loads(text)).config == result.config
