"""The study: every method on every graph, nothing done twice, and a report that stands alone."""

import argparse
import json
import shlex
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from itertools import product

import numpy as np
import pandas as pd
import pytest
from small_dataset import random_readings, write_dataset

from core.cli import main
from core.commands import study as command
from core.errors import Cancelled, InputError
from core.export import read_config
from core.neighbors import BACKENDS, build_index, find_neighbors
from core.quality import prepare_reference
from core.runs import RunConfig, Store, _pipeline, run
from core.runs.readings_behind import readings_behind
from core.study import Study, StudyPlan, run_study, warm_up
from core.study._example_points import choose_examples, choose_households
from core.study._report_layout import ABSENT, grid_table, list_table
from core.study.report import check_destination
from core.study.study_tables import (
    anomaly_table,
    score_table,
    search_table,
    seconds_table,
    trustworthiness_table,
)

HOSTILE = '<script>alert("1")</script>&amp;'
METHODS = ("isomap", "laplacian")
SEARCHES = ("exact", "kdtree-exact", "kdtree")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Two households of hourly readings; the name of one would like to be more than a name."""
    readings = random_readings(households=2, days=28, interval_minutes=60)
    readings["household"] = readings["household"].replace({"H00": HOSTILE})
    readings = readings.sort_values("household", kind="stable", ignore_index=True)
    path = tmp_path_factory.mktemp("study") / "data"
    return write_dataset(path, readings, interval_minutes=60)


@pytest.fixture
def store(tmp_path):
    """An empty store."""
    return Store(tmp_path / "store")


def plan(**changes) -> StudyPlan:
    """Two methods and three searches on two days of one household."""
    config = {"unit": "slots", "household": HOSTILE, "slots": "Mon-Tue", "bins": 10, "k": 8}
    config |= {"minimum_sample": 5, **changes.pop("config", {})}
    given = {"methods": METHODS, "searches": SEARCHES, **changes}
    return StudyPlan(config=RunConfig(**config), **given)


FLAGS = [
    "--unit",
    "slots",
    "--household",
    HOSTILE,
    "--slots",
    "Mon-Tue",
    "--bins",
    "10",
    "--k",
    "8",
]
FLAGS += ["--minimum-sample", "5", "--methods", ",".join(METHODS)]
FLAGS += ["--backends", ",".join(SEARCHES)]


@pytest.fixture
def wattfold(capsys, tmp_path, monkeypatch):
    """Run the command with a store of its own; return status, output and error."""
    monkeypatch.setenv("WATTFOLD_CACHE", str(tmp_path / "cache"))

    def call(*arguments):
        status = main([str(argument) for argument in arguments])
        output = capsys.readouterr()
        return status, output.out, output.err

    return call


# The runs


def test_a_cell_holds_what_its_run_alone_gives(dataset, store):
    asked = plan()
    study = run_study(dataset, asked, store=store)
    places = [(cell.method, cell.search) for cell in study.cells]
    assert sorted(places) == sorted(product(METHODS, SEARCHES))
    trustworthiness = trustworthiness_table(study)
    for cell in study.cells:
        backend = "exact" if cell.search == "exact" else "kdtree"
        parameters = {"kdtree-exact": {"epsilon": 0.0}, "kdtree": {"epsilon": 1.0}}
        alone = run(
            dataset,
            asked.config.change(
                method=cell.method,
                neighbors=backend,
                neighbors_parameters=parameters.get(cell.search, {}),
                quality=True,
            ),
        )
        np.testing.assert_array_equal(cell.run.neighbors.indices, alone.neighbors.indices)
        np.testing.assert_allclose(cell.run.y, alone.y)
        assert cell.run.quality.measures() == pytest.approx(alone.quality.measures())
        row = cell.to_json()
        assert row["recall"] == pytest.approx(alone.recall)
        assert row["neighbors"] == alone.to_json()["neighbors"]
        shown = trustworthiness.loc[
            {"isomap": "ISOMAP", "laplacian": "Laplacian eigenmaps"}[cell.method],
            asked.search_title(cell.search),
        ]
        assert shown == pytest.approx(alone.quality.trustworthiness)


def test_nothing_is_computed_twice(dataset, store, monkeypatch):
    references = []
    monkeypatch.setattr(
        _pipeline,
        "prepare_reference",
        lambda *given, **options: references.append(1) or prepare_reference(*given, **options),
    )
    stages: list[str] = []
    study = run_study(dataset, plan(), store=store, computing=stages.append)
    graphs = {cell.run.neighbors.indices.tobytes() for cell in study.cells}
    counts = Counter(stages)
    assert counts["vectors"] == 1
    assert counts["neighbors"] == len(SEARCHES)
    # Searches that found the same graph share its embeddings.
    assert 1 <= len(graphs) < len(SEARCHES)
    assert counts["embedding"] == counts["density"] == len(graphs) * len(METHODS)
    assert len(references) == 1

    stages.clear()
    again = run_study(dataset, plan(), store=store, computing=stages.append)
    assert stages == []
    # What a stage took is remembered with it.
    pd.testing.assert_frame_equal(seconds_table(again), seconds_table(study))
    assert (seconds_table(again) > 0).all(axis=None)


def test_an_index_is_built_once_however_large(dataset, store, monkeypatch):
    built = []

    def build(*arguments, **options):
        built.append(options["backend"])
        return build_index(*arguments, **options)

    monkeypatch.setattr(_pipeline, "build_index", build)
    monkeypatch.setattr(_pipeline, "KEPT_VECTORS_BYTES", 0)
    searches = ("kdtree-exact", "kdtree", "annoy")
    run_study(dataset, plan(methods=("isomap", "tsne"), searches=searches), store=store)
    assert built == ["kdtree", "annoy"]


@pytest.mark.parametrize("stop_at", [0.05, 0.4, 0.7])
def test_a_study_goes_on_where_it_was_interrupted(dataset, tmp_path, stop_at):
    whole: list[str] = []
    expected = run_study(dataset, plan(), store=Store(tmp_path / "a"), computing=whole.append)

    def stop(fraction: float, message: str = "") -> None:
        if fraction > stop_at:
            raise Cancelled

    store, begun, rest = Store(tmp_path / "b"), [], []
    with pytest.raises(Cancelled):
        run_study(dataset, plan(), store=store, progress=stop, computing=begun.append)
    resumed = run_study(dataset, plan(), store=store, computing=rest.append)
    assert len(begun) > 0
    assert len(rest) < len(whole)
    # Only the stage that was interrupted, and vectors that were in memory, are begun again.
    assert sum((Counter(begun) + Counter(rest) - Counter(whole)).values()) <= 2
    assert trustworthiness_table(resumed).equals(trustworthiness_table(expected))


def test_progress_names_every_run_and_never_steps_back(dataset, store):
    reports = []
    run_study(dataset, plan(), store=store, progress=lambda *told: reports.append(told))
    fractions = [fraction for fraction, _ in reports]
    assert fractions == sorted(fractions)
    assert fractions[-1] == pytest.approx(1.0)
    names = list(dict.fromkeys(message for _, message in reports))
    assert names[0] == "1/6 isomap, exact"
    assert names[-1] == "6/6 laplacian, kdtree"
    assert len(names) == 6


def test_a_run_that_fails_is_a_row_with_its_error(dataset, store):
    asked = plan(methods=("hessian", "isomap"), searches=("exact",), config={"k": 4})
    study = run_study(dataset, asked, store=store)
    failed, fine = study.cells
    assert (failed.method, failed.run) == ("hessian", None)
    assert "Hessian LLE in 2 dimensions needs more than" in failed.to_json()["error"]
    assert failed.to_json()["neighbors"] == {"backend": "exact", "k": 4}
    assert fine.run is not None
    assert fine.to_json()["error"] is None
    assert study.featured is fine.run
    table = trustworthiness_table(study)
    assert np.isnan(table.loc["Hessian LLE", "Exact"])
    assert table.loc["ISOMAP", "Exact"] == fine.run.quality.trustworthiness


def test_an_unexpected_failure_is_a_row_as_well(dataset, store, monkeypatch):
    real = _pipeline.embed

    def fail(method, *given, **options):
        if method == "laplacian":
            raise np.linalg.LinAlgError("did not converge")
        return real(method, *given, **options)

    monkeypatch.setattr(_pipeline, "embed", fail)
    study = run_study(dataset, plan(searches=("exact",)), store=store)
    assert study.cell("laplacian", "exact").error == "LinAlgError: did not converge"
    assert study.cell("isomap", "exact").run is not None


def test_where_every_run_fails_so_does_the_study(dataset, store):
    with pytest.raises(InputError, match="none of 48 slots"):
        run_study(dataset, plan(config={"minimum_sample": 1000}), store=store)


def test_a_distance_that_only_exact_can_search_leaves_the_others_their_error(dataset, store):
    asked = plan(config={"distance": "js"}, methods=("isomap",))
    study = run_study(dataset, asked, store=store)
    errors = {cell.search: cell.error for cell in study.cells}
    assert errors["exact"] is None
    assert "'js' cannot be searched by neighbors 'kdtree'" in errors["kdtree"]
    # What several runs have to say is said once.
    ((error, who),) = study.failures
    assert error == errors["kdtree"]
    assert who == "isomap on kdtree-exact, kdtree"


# The plan


def test_parameters_go_to_whichever_has_them():
    given = {"epsilon": 0.5, "perplexity": 5.0}
    asked = plan(methods=("isomap", "tsne"), parameters=given)
    assert asked.search_settings("kdtree")["epsilon"] == 0.5
    assert asked.search_settings("kdtree-exact")["epsilon"] == 0.0
    assert asked.search_settings("exact") == {}
    assert asked.search_title("kdtree") == "k-d tree (ε = 0.5)"
    assert asked.search_title("kdtree-exact") == "k-d tree (ε = 0)"
    assert asked.config_of("tsne", "exact").method_parameters["perplexity"] == 5.0
    assert "perplexity" not in asked.config_of("isomap", "exact").method_parameters


def test_a_search_can_have_parameters_of_its_own():
    swept = ("kdtree:epsilon=0.5", "kdtree:epsilon=2", "annoy:n_trees=10:search_k=7", "hnsw:m=8")
    asked = plan(searches=("kdtree", *swept), parameters={"epsilon": 0.1})
    assert [asked.search_settings(name).get("epsilon") for name in asked.searches] == [
        *(0.1, 0.5, 2.0),
        *(None, None),
    ]
    assert [asked.search_title(name) for name in swept] == [
        *("k-d tree (ε = 0.5)", "k-d tree (ε = 2)"),
        *("Annoy (10/7)", "HNSW (m = 8)"),
    ]
    assert asked.config_of("isomap", swept[2]) == plan().config_of("isomap", "exact").change(
        neighbors="annoy", neighbors_parameters={"n_trees": 10, "search_k": 7}
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"searches": ("kdtree:eps=1",)}, "'kdtree' has no parameter 'eps' that can be set"),
        ({"searches": ("kdtree-exact:epsilon=1",)}, "it has leaf_size"),
        ({"searches": ("kdtree:epsilon=much",)}, "epsilon must be a number"),
        ({"searches": ("annoy:n_trees=2.5",)}, "n_trees must be a whole number"),
        ({"methods": ("isomap", "pca")}, "there is no method 'pca'"),
        ({"searches": ("exact", "guess")}, "there is no neighbour backend 'guess'"),
        ({"methods": ()}, "at least one method"),
        ({"searches": ("exact", "exact")}, "named twice"),
        ({"parameters": {"perplexity": 5.0}}, "perplexity belongs to no method or backend"),
        ({"parameters": {"epsilon": -1.0}}, "epsilon must be"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(changes, message):
    with pytest.raises(InputError, match=message):
        plan(**changes)


# The examples


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A dozen households of hourly readings, some with gaps."""
    readings = random_readings(households=12, days=15, interval_minutes=60)
    rng = np.random.default_rng(2)
    kept = rng.random(len(readings)) > 0.1 * (readings["household"] > "H06")
    path = tmp_path_factory.mktemp("many") / "data"
    return write_dataset(path, readings[kept].reset_index(drop=True), interval_minutes=60)


@pytest.mark.parametrize(
    "config",
    [
        {"unit": "slots", "household": "H07", "window": 2},
        {"unit": "household-slots", "slots": "Sun", "households": ("H02", "H08")},
        {"unit": "profiles", "slots": "Mon-Tue"},
        {"unit": "profiles"},
        {"unit": "households", "slots": "weekend"},
    ],
)
def test_the_demand_behind_a_point_is_its_sample(many, store, config):
    config = RunConfig(**{"bins": 10, "k": 5, "minimum_sample": 2, **config})
    asked = StudyPlan(config=config, methods=("isomap",), searches=("exact",))
    study = run_study(many, asked, store=store)
    units = study.featured.units
    found = [
        len(readings_behind(study.featured, study.dataset, point))
        for point in range(0, len(units), 3)
    ]
    assert found == units["m"].iloc[::3].tolist()


def test_examples_are_the_densest_and_the_first_of_the_table(many, store):
    config = RunConfig(unit="household-slots", slots="Mon", bins=10, k=5, minimum_sample=2)
    asked = StudyPlan(config=config, methods=("isomap", "laplacian"), searches=("exact",))
    study = run_study(many, asked, store=store)
    hdr, units = study.featured.hdr, study.featured.units
    listed = anomaly_table(study)["label"].tolist()
    points = choose_examples(study)
    assert [example.is_typical for example in points] == [True, True, False, False]
    assert hdr.density[points[0].point] == hdr.density.max()
    assert [example.label for example in points[2:]] == listed[:2]
    assert points[3].label == units["label"][points[3].point]
    homes = choose_households(study)
    assert len({example.label for example in homes}) == 3
    assert homes[0].label == units["household"][hdr.density.argmax()]
    strange = units.set_index("label")["household"].loc[listed].drop_duplicates().tolist()
    strange = [home for home in strange if home != homes[0].label]
    assert [example.label for example in homes[1:]] == strange[:2]


# The tables


def test_scores_are_those_of_the_runs(dataset, store):
    study = run_study(dataset, plan(), store=store)
    table = score_table(study).set_index(["method", "neighbours by"])
    assert len(table) == 6
    run = study.cell("laplacian", "kdtree").run
    row = table.loc[("Laplacian eigenmaps", "k-d tree (ε = 1)")]
    assert row["recall"] == run.recall
    assert row["seconds"] == run.computed_in["neighbors"] + run.computed_in["embedding"]
    for name, value in run.quality.measures().items():
        assert row[name] == value


def test_agreed_anomalies_are_counted_over_all_maps(dataset, store):
    study = run_study(dataset, plan(config={"n_anomalies": 4}), store=store)
    table = anomaly_table(study)
    labels = study.featured.units["label"]
    for row in table.itertuples():
        point = labels.tolist().index(row.label)
        ranks = [cell.run.hdr.rank[point] for cell in study.cells]
        assert row.maps == sum(rank <= 4 for rank in ranks)
        assert row.share == row.maps / 6
        assert row[4] == np.median(ranks)
    assert table["maps"].sum() == 4 * 6
    assert table["maps"].is_monotonic_decreasing


def test_searches_that_lead_to_the_same_maps_are_shown_together(dataset, store):
    study = run_study(dataset, plan(), store=store)
    same = np.array_equal(*(study.cell("isomap", name).run.y for name in ("exact", "kdtree")))
    together = [("exact", "kdtree-exact", "kdtree")]
    assert study.search_groups == (together if same else [("exact", "kdtree-exact"), ("kdtree",)])
    assert study.group_title(("exact", "kdtree-exact")) == "Exact, k-d tree (ε = 0)"
    broken = replace(study.cell("isomap", "kdtree-exact"), run=None, error="no")
    cells = [
        broken if c.search == broken.search and c.method == "isomap" else c for c in study.cells
    ]
    assert Study(dataset, study.plan, tuple(cells)).search_groups[1] == ("kdtree-exact",)


def test_a_search_that_finds_the_truth_has_recall_one_and_the_same_lists(dataset, store):
    table = search_table(run_study(dataset, plan(), store=store)).set_index("neighbours by")
    assert table.index.tolist() == ["Exact", "k-d tree (ε = 0)", "k-d tree (ε = 1)"]
    assert (table.loc[["Exact", "k-d tree (ε = 0)"], ["recall", "same list"]] == 1).all(axis=None)
    assert (table["k"] == 8).all()
    assert (table["embedded by"] == "ISOMAP, Laplacian eigenmaps").all()


def test_the_best_of_a_row_is_marked_as_it_reads():
    frame = pd.DataFrame(
        [[0.9501, 0.9504, 0.8], [0.5, 0.5, 0.5], [np.nan, 0.1, 0.2]],
        index=["a", "b", "c"],
        columns=["x", "y", "z"],
    )
    table = grid_table(frame, caption="", best=np.max, show=lambda value: f"{value:.3f}")
    marked = [[cell.classes for cell in row.cells[1:]] for row in table.rows]
    assert marked == [["best", "best", ""], ["", "", ""], ["absent", "", "best"]]
    assert table.rows[2].cells[1].text == ABSENT


def test_a_list_marks_the_largest_of_each_column():
    frame = pd.DataFrame({"name": ["a", "b"], "score": [1.0, 2.0], "other": [5.0, 4.0]})
    table = list_table(
        frame,
        caption="",
        header=["Name", "Score", "Other"],
        show=lambda name, value: str(value),
        best=("score",),
    )
    assert [[cell.classes for cell in row.cells] for row in table.rows] == [
        ["text", "", ""],
        ["text", "best", ""],
    ]


# The directory


class Page(HTMLParser):
    """What a browser would make of a page: its tags, addresses and words."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.words: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attributes]

    def handle_data(self, data):
        self.words.append(data)


def test_the_command_writes_a_report_that_stands_alone(wattfold, dataset, tmp_path):
    out = tmp_path / "out"
    status, printed, error = wattfold("study", dataset.path, *FLAGS, "--out", out, "--json")
    assert (status, error) == (0, "")
    result = json.loads(printed)
    assert len(result["rows"]) == 6
    assert result["n"] == 48
    for row in result["rows"]:
        assert row["error"] is None
        assert row["neighbors"]["k"] == 8
        assert 0 < row["quality"]["trustworthiness"] <= 1
        assert len(row["anomalies"]) == 10
        assert row["components"] >= 1

    names = {file.relative_to(out).as_posix() for file in out.rglob("*") if file.is_file()}
    assert {"report.html", "study.json"} <= names
    figures = {name for name in names if name.startswith("figures/")}
    stems = {name.rsplit(".", 1)[0] for name in figures}
    assert {"figures/hdr", "figures/neighbors", "figures/distributions"} <= stems
    assert {"figures/time_of_day", "figures/quantile_regions"} <= stems
    assert figures == {f"{stem}.{kind}" for stem in stems for kind in ("png", "svg")}
    for name in figures:
        start = (out / name).read_bytes()[:400]
        assert (
            start.startswith(b"\x89PNG")
            if name.endswith("png")
            else b"<svg" in start or b"<?xml" in start
        )
    table = pd.read_csv(out / "tables" / "rows.csv")
    told = [row["quality"]["trustworthiness"] for row in result["rows"]]
    np.testing.assert_allclose(table["trustworthiness"], told)
    assert json.loads((out / "study.json").read_text(encoding="utf-8"))["rows"] == result["rows"]

    page = Page((out / "report.html").read_text(encoding="utf-8"))
    assert page.tags["link"] == page.tags["iframe"] == 0
    # Nothing that runs: the one script is the config, as JSON.
    assert [value for tag, _, value in page.attributes if tag == "script"] == [
        "application/json",
        "wattfold",
    ]
    assert read_config(out / "report.html") == plan().config
    assert read_config(out / "figures" / "hdr.svg") == plan().config
    assert page.tags["img"] == len(stems)
    for tag, name, value in page.attributes:
        assert not name.startswith("on")
        if name in ("src", "href", "srcset", "data", "action"):
            assert value.startswith("data:image/"), (tag, name, value[:80])
    styles = [words for words in page.words if "font-family" in words]
    assert styles
    assert all("url(" not in words and "@import" not in words for words in styles)
    assert f"The week of household {HOSTILE}" in page.words
    text = " ".join(page.words)
    assert "Figure 1." in text
    assert "Table 1." in text

    # The command in the report makes the same plan.
    (line,) = [words for words in page.words if words.startswith("wattfold study")]
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    assert command.read_plan(parser.parse_args(shlex.split(line)[2:])) == plan()


def test_words_for_people_name_the_report(wattfold, dataset, tmp_path):
    flags = [*FLAGS[:-4], "--methods", "hessian,isomap", "--backends", "exact", "--k", "4"]
    status, printed, _ = wattfold("study", dataset.path, *flags, "--out", tmp_path / "out")
    assert status == 0
    assert "failed: Hessian LLE in 2 dimensions needs" in printed
    assert str(tmp_path / "out" / "report.html") in printed
    page = Page((tmp_path / "out" / "report.html").read_text(encoding="utf-8"))
    assert any("Hessian LLE in 2 dimensions needs" in words for words in page.words)


def test_only_an_earlier_study_is_replaced(wattfold, dataset, tmp_path):
    foreign = tmp_path / "thesis"
    foreign.mkdir()
    (foreign / "chapter.txt").write_text("years of work")
    flags = [*FLAGS[:-4], "--methods", "isomap", "--backends", "exact"]
    status, _, error = wattfold("study", dataset.path, *flags, "--out", foreign)
    assert status == 2
    assert "no earlier study" in error
    assert [file.name for file in foreign.iterdir()] == ["chapter.txt"]

    out = tmp_path / "out"
    assert wattfold("study", dataset.path, *flags, "--out", out)[0] == 0
    (out / "tables" / "stale.csv").write_text("old")
    assert wattfold("study", dataset.path, *flags, "--out", out)[0] == 0
    assert not (out / "tables" / "stale.csv").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "out", "thesis"]


@pytest.mark.parametrize("content", ['{"format": "other"}', "[1]", "{", ""])
def test_a_file_of_the_right_name_makes_no_study(tmp_path, content):
    (tmp_path / "study.json").write_text(content)
    with pytest.raises(InputError, match="no earlier study"):
        check_destination(tmp_path)


def test_a_file_is_no_place_to_write_to(tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(InputError, match="no earlier study"):
        check_destination(file)
    check_destination(tmp_path / "new")
    (tmp_path / "empty").mkdir()
    check_destination(tmp_path / "empty")


def test_first_uses_are_of_more_points_than_a_leaf_holds(monkeypatch):
    """Or the search of a k-d tree would be compiled while it is timed."""
    used = []

    def find(vectors, *, k, backend):
        used.append((len(vectors.x), vectors.x.dtype))
        return find_neighbors(vectors, k=k, backend=backend)

    monkeypatch.setattr(warm_up, "find_neighbors", find)
    told = []
    warm_up.WarmUp("tv").before("isomap", "kdtree", told.append)("neighbors")
    leaf = BACKENDS.settings("kdtree", {})["leaf_size"]
    assert told == ["neighbors"]
    assert all(n > 2 * leaf for n, _ in used)
    assert {dtype.name for _, dtype in used} == {"float32", "uint8"}
