"""README and documentation: what they tell to do is done, and what they point to is there."""

import csv
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from doc_page import read_blocks
from serving import ROOT

from core.demo import make_demo
from core.readings import Dataset

sys.path.insert(0, str(ROOT / "docs"))

import make_reference
import pipeline_picture

DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(DOCS.glob("*.md")),
    *sorted(DOCS.glob("how-to/*.md")),
]
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
WITH_CODE = [
    name
    for name in NAMES
    if any(block.language in ("bash", "python", "indented") for block in read_blocks(ROOT / name))
]
# Pages with indented blocks, whose flags are read but which are not run, and why.
NOT_RUN = {
    "docs/deploy.md": "takes a proxy, systemd and containers; test_serve.py serves",
    "docs/reliability.md": "takes hours, or breaks the machine on purpose",
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The demo data as `wattfold demo` makes them."""
    return make_demo(tmp_path_factory.mktemp("demo") / "demo").path


@pytest.fixture(scope="module")
def own_files(demo, tmp_path_factory):
    """Readings and metadata of thirty households, as a reader may have them."""
    folder = tmp_path_factory.mktemp("own")
    dataset = Dataset.open(demo)
    households = dataset.households["household"].tolist()[:30]
    with gzip.open(folder / "readings.csv.gz", "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["household", "time", "kwh"])
        for household in households:
            readings = dataset.readings(household).head(56 * 48)
            for time, kwh in zip(readings["time"], readings["kwh"], strict=True):
                writer.writerow([household, f"{time:%Y-%m-%d %H:%M}", f"{kwh:.3f}"])
    table = dataset.metadata.assign(household=dataset.households["household"])
    table[table["household"].isin(households)].to_csv(folder / "households.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def follow_page(tmp_path_factory):
    """Do what a page says in a folder, a warning being an error; return what went wrong."""
    reader = subprocess.Popen(
        [sys.executable, "-W", "error", ROOT / "tests" / "support" / "doc_page.py"],
        env={
            **os.environ,
            "WATTFOLD_CACHE": str(tmp_path_factory.mktemp("cache")),
            "PYTHONPATH": str(ROOT),
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )

    def follow_page(folder: Path, page: Path) -> str:
        reader.stdin.write(json.dumps([str(folder), str(page)]) + "\n")
        return json.loads(reader.stdout.readline())

    with reader:
        yield follow_page
        reader.stdin.close()


@pytest.mark.parametrize("name", WITH_CODE)
def test_a_reader_can_do_what_the_page_says(name, demo, own_files, follow_page, tmp_path):
    page = ROOT / name
    shutil.copytree(own_files, tmp_path, dirs_exist_ok=True)
    if "wattfold demo demo" not in page.read_text(encoding="utf-8"):
        shutil.copytree(demo, tmp_path / "demo", copy_function=os.link)
    assert follow_page(tmp_path, page) == ""


def test_no_other_page_has_blocks_that_are_not_run():
    for name in NAMES:
        if any(block.language == "indented" for block in read_blocks(ROOT / name)):
            assert name in NOT_RUN, f"{name}: fence the indented blocks"


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name):
    page = ROOT / name
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    reference = {f"reference/{each}.md" for each in make_reference.pages()}
    for target in re.findall(r"\]\(([^)#]*)[^)]*\)", text):
        if target and not target.startswith(("http:", "https:")):
            path = Path(os.path.normpath(page.parent / target))
            made = path.is_relative_to(DOCS) and path.relative_to(DOCS).as_posix() in reference
            assert made or path.exists(), f"{name} points to {target}, which is not there"


def test_the_documentation_builds_and_asks_no_other_host(tmp_path):
    pytest.importorskip("sphinx", reason="make docs installs it")
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going"]
    # A doctree folder apart from that of `make docs`, which may be older than this checkout.
    built = subprocess.run(
        [*command, "-d", tmp_path / "doctrees", DOCS, tmp_path / "html"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    outside = re.compile(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=\"(?:https?:)?//[^\"]*")
    for page in (tmp_path / "html").rglob("*.html"):
        assert not outside.findall(page.read_text(encoding="utf-8")), page.name


def test_the_reference_tells_of_every_choice():
    from core import BACKENDS, METHODS
    from core.fields import FIELDS

    pages = make_reference.pages()
    for name, field in FIELDS.items():
        assert f"| `{name}` |" in pages["fields"]
        assert field.is_settings or field.flag in pages["commands"]
    for name, registry in (("backends", BACKENDS), ("methods", METHODS)):
        for entry in registry.values():
            assert f"## {entry.name}\n" in pages[name]
            for parameter in entry.parameters:
                assert parameter.help in pages[name]
                assert parameter.flag in pages["commands"]


def modules_of(package: str) -> set[str]:
    """What the folder holds: modules and packages."""
    found = {path.stem for path in (ROOT / package).glob("*.py")} - {"__init__"}
    return found | {path.parent.name for path in (ROOT / package).glob("*/__init__.py")}


@pytest.mark.parametrize("package", ["core", "dashboard"])
def test_the_module_table_is_that_of_the_folders(package):
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    table = text.partition(f"<!-- modules of {package} -->")[2].partition("<!--")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert cells
    named = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(named) == sorted(modules_of(package))


def shares(section: str, score: str) -> dict[str, int]:
    """What a score finds of the faults in Scottish households, in percent: all, and by kind."""
    text = (ROOT / "benchmarks" / "results" / "anomalies.md").read_text(encoding="utf-8")
    table = text.partition("311 Scottish")[2].partition(f"### {section}")[2].partition("###")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    (values,) = [row for row in rows if row[0] == score]
    named = zip(rows[0], values, strict=True)
    return {name: round(100 * float(text.split()[0])) for name, text in named if "±" in text}


def test_the_figures_of_the_readme_are_those_that_were_measured():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    ours, plain = (
        {each: shares(each, score) for each in ("strong, whole", "strong, half", "strong, quarter")}
        | {"medium, quarter": shares("medium, quarter", score)}
        for score in ("wattfold anomalies", "features + LOF")
    )
    for told in (
        " %, ".join(f"{ours['medium, quarter'][kind]}" for kind in ("dead", "stuck"))
        + " % | "
        + " %, ".join(f"{plain['medium, quarter'][kind]}" for kind in ("dead", "stuck")),
        f"{ours['strong, half']['theft']} % | {plain['strong, half']['theft']} %",
        f"{ours['strong, whole']['clock']} % | {plain['strong, whole']['clock']} %",
        " / ".join(f"{ours[each]['found']}" for each in list(ours)[:3]) + " %",
        " / ".join(f"{plain[each]['found']}" for each in list(plain)[:3]) + " %",
    ):
        assert told in text, told


def test_the_times_of_the_readme_are_those_that_were_measured():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    results = ROOT / "benchmarks" / "results"
    weeks = (results / "neighbors.md").read_text(encoding="utf-8").partition("3,639 × 33,600")[2]
    busy = {
        name: float(re.search(rf"\| {name}(?: [^|]*\|){{3}} ([\d.]+) ", weeks)[1])
        for name in ("Wattfold exact", "faiss IndexFlat L1")
    }
    exact, faiss = busy.values()
    assert f"{exact:.1f} processor seconds, {faiss / exact:.0f} times less than faiss" in text
    cube = (results / "cube.md").read_text(encoding="utf-8")
    seconds, memory = re.search(
        r"\| cube \| ([\d.]+) (?:\| [\d.]+ ){2}\| ([\d,]+) \|", cube
    ).groups()
    assert f"{float(seconds):.1f} s, {memory} MB" in text


def test_the_variables_of_the_environment_are_those_of_the_code():
    told = set(re.findall(r"`(WATTFOLD_\w+)`", (DOCS / "reference.md").read_text(encoding="utf-8")))
    used = set()
    for package in ("core", "dashboard"):
        for path in (ROOT / package).rglob("*.py"):
            used |= set(re.findall(r"WATTFOLD_[A-Z_]+", path.read_text(encoding="utf-8")))
    assert told == used


def test_the_picture_of_the_pipeline_is_that_of_the_script():
    assert pipeline_picture.PICTURE.read_text(encoding="utf-8") == pipeline_picture.draw()


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.stem)
def test_the_modules_that_a_page_names_are_there(page):
    named = re.findall(
        r"`((?:core|dashboard|tests|benchmarks|deploy)/[\w./@-]+)`", page.read_text("utf-8")
    )
    assert [name for name in named if not (DOCS.parent / name).exists()] == []
