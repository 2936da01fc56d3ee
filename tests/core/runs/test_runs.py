"""Runs: the same numbers as the stages give, each stage computed once, and seen to be."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.anomalies import measure_surprise
from core.cube import build_cube
from core.demo import make_demo
from core.density import hdr_density, learn_metric, neighbors_kept
from core.embedding import embed
from core.errors import Cancelled, InputError
from core.neighbors import BACKENDS, build_index, find_neighbors
from core.quality import MEASURES, measure_quality, prepare_reference
from core.readings import Dataset
from core.runs import (
    STAGES,
    RunConfig,
    Runner,
    Store,
    _pipeline,
    _point_stages,
    command_line,
    python_lines,
    run,
)
from core.runs.digests import Digests
from core.runs.result import join_metadata
from core.vectors import make_vectors

ROOT = Path(__file__).parents[3]
ALL = ["cube", "vectors", "neighbors", "embedding", "density"]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A small demo dataset whose counts are not kept yet."""
    return make_demo(tmp_path_factory.mktemp("demo") / "data", households=30, days=28)


@pytest.fixture
def store(tmp_path):
    """An empty store."""
    return Store(tmp_path / "store")


def config(**fields) -> RunConfig:
    """A quick config: exact neighbours, few of them."""
    return RunConfig(**{"neighbors": "exact", "k": 5, "bins": 20, **fields})


def computed(demo, store, **fields) -> list[str]:
    """Run and return the stages that were computed; the store knows beforehand if there are any."""
    stages: list[str] = []
    stored = Runner(demo, store=store).stored(config(**fields))
    result = run(demo, config(**fields), store=store, computing=stages.append)
    wanted = [stage for stage in STAGES if stage != "quality" or result.config.quality]
    assert set(result.cached) == set(wanted) - set(stages)
    assert stored == (not stages)
    for stage, seconds in result.seconds.items():
        assert (seconds > 0) == (stage in stages)
    return stages


def test_only_what_a_change_touches_is_computed(tmp_path, store):
    demo = make_demo(tmp_path / "data", households=12, days=28)
    assert computed(demo, store) == ALL
    assert computed(demo, store) == []
    assert computed(demo, store, method="laplacian") == ["embedding", "density"]
    assert computed(demo, store, dim=1) == ["embedding", "density"]
    assert computed(demo, store, method="tsne", method_parameters={"iterations": 50}) == [
        "neighbors",  # three times the perplexity of them
        "embedding",
        "density",
    ]
    assert computed(demo, store, k=4) == ["neighbors", "embedding", "density"]
    assert computed(demo, store, rank_by="isolation") == ["density"]
    assert computed(demo, store, n_anomalies=3) == []
    assert computed(demo, store, quality=True) == ["quality"]
    assert computed(demo, store, quality=True) == []
    assert computed(demo, store, quality=True, method="lle") == ["embedding", "quality", "density"]
    assert computed(demo, store, distance="hellinger") == ALL[1:]
    assert computed(demo, store, window=2) == ALL[1:]
    assert computed(demo, store, slots="weekdays") == ALL[1:]
    assert computed(demo, store, slots="Mon-Fri") == []  # the same slots in other words
    assert computed(demo, store, bins=10) == ALL
    # Households that are all of them are no choice.
    everybody = tuple(demo.households["household"])
    assert computed(demo, store, households=everybody) == []
    assert computed(demo, store, households=everybody, reference="selection") == []
    assert computed(demo, store, households=everybody[1:]) == ALL[1:]
    assert computed(demo, store, households=everybody[1:], reference="selection") == ALL


def test_another_epsilon_is_another_graph(demo, store):
    fields = {"unit": "slots", "household": demo.households["household"][0], "window": 3}
    tree = {"neighbors": "kdtree", "neighbors_parameters": {"epsilon": 0.0}}
    loose = {"neighbors": "kdtree", "neighbors_parameters": {"epsilon": 3.0}}
    computed(demo, store, **fields, **tree)
    assert computed(demo, store, **fields, **tree) == []
    assert computed(demo, store, **fields, **loose) == ["neighbors", "embedding", "density"]


def test_another_seed_repeats_only_what_is_drawn_with_it(demo, store):
    fields = {"unit": "slots", "household": demo.households["household"][0], "window": 3}
    fields |= {"quality": True}
    after_graph = ["embedding", "quality", "density"]

    def again(**choice) -> list[str]:
        computed(demo, store, **fields, **choice)
        return computed(demo, store, **fields, **choice, seed=2)

    assert again() == []
    assert again(neighbors="kdtree", neighbors_parameters={"epsilon": 2.0}) == []
    assert again(method="lle") == []
    assert again(method="lle", method_parameters={"landmarks": 100}) == after_graph
    assert again(method_parameters={"landmarks": 100}) == after_graph
    quick = {"perplexity": 3, "iterations": 10}
    assert again(method="tsne", method_parameters=quick) == after_graph
    few = {"n_trees": 1, "search_k": 1}
    assert again(neighbors="annoy", neighbors_parameters=few) == ["neighbors", *after_graph]


def test_what_auto_stands_for_is_one_computation_with_it(demo, store):
    assert "neighbors" in computed(demo, store, neighbors="auto")
    found = run(demo, config(neighbors="auto"), store=store)
    assert found.neighbors.backend in BACKENDS
    assert found.cached == tuple(ALL)
    assert computed(demo, store, neighbors=found.neighbors.backend) == []


def test_rank_by_surprise_is_one_computation_for_all_methods(demo, store, monkeypatch):
    measured = []

    def measure(*arguments, **options):
        measured.append(1)
        return measure_surprise(*arguments, **options)

    monkeypatch.setattr(_pipeline, "measure_surprise", measure)
    first = run(demo, config(), store=store)
    assert first.surprise is None
    assert measured == []
    wanted = {"rank_by": "surprise", "n_anomalies": 5}
    ranked = run(demo, config(**wanted), store=store)
    assert set(ranked.cached) == {"cube", "vectors", "neighbors", "embedding"}
    tsne = config(**wanted, method="tsne", method_parameters={"iterations": 50})
    again = run(demo, tsne, store=store)
    assert len(measured) == 1
    vectors = make_vectors(build_cube(demo, bins=20), demo)
    expected = measure_surprise(vectors, find_neighbors(vectors, k=5, backend="exact"))
    for found in (ranked.surprise, again.surprise):
        for name, array in vars(expected).items():
            np.testing.assert_array_equal(getattr(found, name), array)
    assert list(ranked.hdr.anomalies) == list(np.argsort(-expected.score)[:5])
    np.testing.assert_array_equal(ranked.hdr.level, first.hdr.level)
    told = [row["surprise"] for row in ranked.to_json()["anomalies"]]
    assert told == sorted(told, reverse=True)


def test_without_a_store_everything_is_computed_each_time(demo):
    for _ in range(2):
        stages: list[str] = []
        run(demo, config(), computing=stages.append)
        assert stages in (ALL, ALL[1:])


@pytest.mark.parametrize(
    ("fields", "options"),
    [
        ({}, {"unit": "profiles", "distance": "tv", "window": 1}),
        ({"unit": "slots", "household": 0, "window": 3}, {"unit": "slots", "window": 3}),
        ({"unit": "households", "distance": "js"}, {"unit": "households", "distance": "js"}),
        (
            {"unit": "household-slots", "window": 3, "slots": "Mon"},
            {"unit": "household-slots", "window": 3, "slots": range(48)},
        ),
    ],
)
def test_a_run_gives_the_numbers_of_its_stages_cold_and_warm(demo, store, fields, options):
    if "household" in fields:
        name = demo.households["household"][fields["household"]]
        fields, options = {**fields, "household": name}, {**options, "household": name}
    asked = config(**fields, quality=True)
    cold, warm = (run(demo, asked, store=store) for _ in range(2))
    cube = build_cube(demo, bins=20)
    vectors = make_vectors(cube, demo, **options)
    neighbors = find_neighbors(vectors, k=5, backend="exact")
    embedding = embed("isomap", neighbors, vectors)
    hdr = hdr_density(embedding.y, k=5)
    quality = measure_quality(vectors, embedding.y, k=5)
    for result in (cold, warm):
        assert result.n_bins == cube.n_bins
        np.testing.assert_array_equal(result.neighbors.indices, neighbors.indices)
        np.testing.assert_array_equal(result.neighbors.distances, neighbors.distances)
        np.testing.assert_allclose(result.y, embedding.y)
        assert result.components == embedding.components
        np.testing.assert_allclose(result.hdr.density, hdr.density)
        np.testing.assert_array_equal(result.hdr.rank, hdr.rank)
        np.testing.assert_array_equal(result.hdr.anomalies, hdr.anomalies)
        np.testing.assert_array_equal(result.hdr.typical, hdr.typical)
        np.testing.assert_array_equal(result.hdr.contours.points(), hdr.contours.points())
        assert result.quality.measures() == pytest.approx(quality.measures())
        assert result.recall == 1.0
        assert result.units["label"].tolist() == vectors.units["label"].tolist()
        np.testing.assert_array_equal(result.units["m"], vectors.sample_size)
    assert warm.cached == tuple(STAGES)
    for name in ("notices", "config", "n_bins", "quality"):
        assert getattr(cold, name) == getattr(warm, name)
    pd.testing.assert_frame_equal(cold.table(), warm.table())
    pd.testing.assert_frame_equal(cold.left_out, warm.left_out)
    for part in dataclasses.fields(cold.embedding):
        np.testing.assert_equal(
            getattr(cold.embedding, part.name), getattr(warm.embedding, part.name)
        )


def test_stored_vectors_are_those_that_were_made(demo, store, monkeypatch):
    results = []
    for limit in (0, 10**9):
        monkeypatch.setattr(_point_stages, "KEPT_VECTORS_BYTES", limit)
        other = Store(store.path / str(limit))
        run(demo, config(), store=other)
        stages: list[str] = []
        results.append(run(demo, config(method="lle"), store=other, computing=stages.append))
        # Large vectors are made again of the cube that was kept.
        assert ("vectors" in stages) == (limit == 0)
        assert "cube" not in stages
    np.testing.assert_array_equal(results[0].y, results[1].y)


def test_damaged_entries_are_computed_again(demo, store):
    first = run(demo, config(), store=store)
    for stored in store.entries():
        file = sorted(stored.path.iterdir())[-1]
        file.write_bytes(file.read_bytes()[:-3])
    again = run(demo, config(), store=store)
    assert again.cached == ("cube",)
    pd.testing.assert_frame_equal(first.table(), again.table())
    assert run(demo, config(), store=store).cached == tuple(ALL)


@pytest.mark.parametrize(
    "lost", ["points", "vectors", "neighbors", "embedding", "density", "trust"]
)
def test_any_evicted_entry_is_made_up_for(demo, store, lost):
    first = run(demo, config(), store=store)
    for stored in store.entries():
        if stored.path.parent.name == lost:
            store._remove(stored.path)
    assert Runner(demo, store=store).stored(config()) == (lost == "vectors")  # a shortcut only
    pd.testing.assert_frame_equal(run(demo, config(), store=store).table(), first.table())
    pd.testing.assert_frame_equal(
        run(demo, config(method="lle"), store=store).table(),
        run(demo, config(method="lle")).table(),
    )


@pytest.mark.parametrize("lost", ["choice", "surprise", "quality", "recall"])
def test_a_run_is_stored_only_with_all_it_shows(demo, store, lost):
    wanted = config(neighbors="auto", quality=True, rank_by="surprise")
    if lost == "recall":
        wanted = config(neighbors="annoy", quality=True)
    runner = Runner(demo, store=store)
    assert not runner.stored(wanted)
    runner.run(wanted)
    assert runner.stored(wanted)
    assert not Runner(demo).stored(wanted)
    for stored in store.entries():
        if stored.path.parent.name == lost:
            store._remove(stored.path)
    assert not runner.stored(wanted)


def test_a_store_that_cannot_be_written_is_a_notice(demo, tmp_path):
    (tmp_path / "file").write_text("in the way")
    result = run(demo, config(), store=Store(tmp_path / "file" / "store"))
    assert sum("not kept" in notice for notice in result.notices) == 1


def test_a_runner_keeps_vectors_and_reference_in_memory(demo, monkeypatch):
    prepared = []

    def prepare(*arguments, **options):
        prepared.append(1)
        return prepare_reference(*arguments, **options)

    monkeypatch.setattr(_pipeline, "prepare_reference", prepare)
    runner = Runner(demo)
    stages: list[str] = []
    for method in ("isomap", "lle", "laplacian"):
        runner.run(config(method=method, quality=True), computing=stages.append)
    assert stages.count("vectors") == 1
    assert len(prepared) == 1
    runner.run(config(window=2, quality=True), computing=stages.append)
    assert stages.count("vectors") == 2
    assert len(prepared) == 2


def test_searches_that_differ_in_what_is_asked_share_an_index(demo, monkeypatch):
    built = []

    def build(*arguments, **options):
        built.append(options["backend"])
        return build_index(*arguments, **options)

    monkeypatch.setattr(_pipeline, "build_index", build)
    runner = Runner(demo)
    asked = [
        config(neighbors="annoy", neighbors_parameters={"search_k": 3}),
        config(neighbors="annoy", neighbors_parameters={"search_k": 300}),
        config(neighbors="annoy", k=9),
    ]
    found = [runner.run(each) for each in asked]
    assert built == ["annoy"]
    for each, result in zip(asked, found, strict=True):
        alone = run(demo, each)
        np.testing.assert_array_equal(result.neighbors.indices, alone.neighbors.indices)
        assert result.neighbors.parameters == alone.neighbors.parameters
        # The time to build it counts for each, so that searches can be compared.
        extra = result.computed_in["neighbors"] - result.seconds["neighbors"]
        assert (extra > 0) == (result is not found[0])
    runner.run(config(neighbors="annoy", neighbors_parameters={"n_trees": 3}))
    assert len(built) == len(asked) + 2


def test_progress_goes_up_in_plain_words(demo, store):
    told: list[tuple[float, str]] = []
    run(
        demo,
        config(quality=True),
        store=store,
        progress=lambda fraction, message="": told.append((fraction, message)),
    )
    fractions = [fraction for fraction, _ in told]
    assert fractions == sorted(fractions)
    assert fractions[0] >= 0
    assert fractions[-1] == 1.0
    titles = [title for title, _ in STAGES.values()]
    words = list(dict.fromkeys(message for _, message in told))
    assert words == [title for title in titles if title in words] + ["Done"]
    assert set(titles[1:]) <= set(words)


@pytest.mark.parametrize("when", ["Making", "Finding", "Embedding", "Measuring", "Estimating"])
def test_a_cancel_passes_through_and_what_was_done_stays(demo, store, when):
    def progress(fraction: float, message: str = "") -> None:
        if message.startswith(when):
            raise Cancelled

    with pytest.raises(Cancelled):
        run(demo, config(quality=True), store=store, progress=progress)
    stages: list[str] = []
    run(demo, config(quality=True), store=store, computing=stages.append)
    expected = ["vectors", "neighbors", "embedding", "quality", "density"]
    titles = [STAGES[stage][0] for stage in expected]
    first = next(place for place, title in enumerate(titles) if title.startswith(when))
    assert stages == expected[first:]


# A process that runs a config when told to, and says what it stores: whatever it computes.
ASKER = """
import sys
from core.readings import Dataset
from core.runs import RunConfig, Store, run

class TellingStore(Store):
    def put(self, stage, digest, entry):
        print(stage, digest, flush=True)
        super().put(stage, digest, entry)

dataset, store = Dataset.open(sys.argv[1]), TellingStore(sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
result = run(dataset, RunConfig(neighbors="exact", k=5, bins=20, quality=True), store=store)
print("cube" in result.cached, len(result.units), file=sys.stderr)
"""


def test_two_processes_that_ask_for_the_same_run_compute_it_once(tmp_path, store):
    path = make_demo(tmp_path / "data", households=12, days=28).path
    askers = [
        subprocess.Popen(
            [sys.executable, "-c", ASKER, path, store.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for _ in range(2)
    ]
    for asker in askers:
        assert asker.stdout.readline() == "ready\n"
    for asker in askers:
        asker.stdin.write("\n")
        asker.stdin.flush()
    answers = [asker.communicate() for asker in askers]
    stored = [line for out, _ in answers for line in out.splitlines()]
    assert len(stored) == len(set(stored)) > 5
    assert sorted(err for _, err in answers) == ["False 12\n", "True 12\n"]


def test_a_run_that_waits_for_another_process_can_be_cancelled(demo, store):
    runner = Runner(demo, store=store)
    digest = Digests(demo, config()).vectors

    def cancel(fraction: float, message: str = "") -> None:
        if message.startswith("Waiting"):
            raise Cancelled

    with store.computing("points", digest), pytest.raises(Cancelled):
        runner.run(config(), progress=cancel)


def test_recall_is_known_only_where_it_was_measured(demo, store, monkeypatch):
    fields = {"unit": "slots", "household": demo.households["household"][0], "window": 3}
    tree = {"neighbors": "kdtree", "neighbors_parameters": {"epsilon": 0.0}}
    loose = {"neighbors": "kdtree", "neighbors_parameters": {"epsilon": 5.0}}
    assert run(demo, config(**fields, **tree)).recall is None
    assert run(demo, config(**fields, **tree, quality=True)).recall == 1.0
    first = run(demo, config(**fields, **loose, quality=True), store=store)
    exact = run(demo, config(**fields), store=store).neighbors
    right = first.neighbors.distances <= exact.distances[:, -1:] + 1e-9
    assert first.recall == pytest.approx(right.mean())
    assert 0.5 < first.recall < 1
    assert run(demo, config(**fields, **loose, quality=True), store=store).recall == first.recall
    # Another backend with the same graph, and exact neighbours from the store.
    wide = {**loose, "neighbors_parameters": {"epsilon": 5.0, "leaf_size": 31}}
    assert 0.5 < run(demo, config(**fields, **wide, quality=True), store=store).recall < 1
    monkeypatch.setattr(_pipeline, "ALL_POINTS_LIMIT", 100)
    monkeypatch.setattr(_pipeline, "DEFAULT_SAMPLE", 100)
    sampled = run(demo, config(**fields, **loose, quality=True))
    assert sampled.recall == pytest.approx(first.recall, abs=0.1)
    assert any("estimated on 100 of 336" in notice for notice in sampled.notices)


def test_t_sne_ranks_by_the_kth_neighbour_of_the_config(demo, store):
    fields = {"unit": "households", "rank_by": "isolation"}
    tsne = run(
        demo,
        config(**fields, method="tsne", method_parameters={"perplexity": 4, "iterations": 50}),
        store=store,
    )
    isomap = run(demo, config(**fields), store=store)
    assert (tsne.neighbors.k, isomap.neighbors.k) == (12, 5)
    np.testing.assert_array_equal(tsne.hdr.rank, isomap.hdr.rank)


def test_short_histories_are_told(demo, tmp_path):
    names = demo.households["household"]
    result = run(demo, config(unit="households", households=tuple(names[:4]), k=20))
    assert any("K = 20" in notice and "3 is used" in notice for notice in result.notices)
    assert run(demo, config(unit="households", households=(names[0],))).n == 1
    with pytest.raises(InputError, match="unit slots shows one household"):
        run(demo, config(unit="slots"))
    with pytest.raises(InputError, match="no household 'nobody'"):
        run(demo, config(households=("nobody",)))


def test_the_table_has_the_columns_of_the_unit(demo):
    metadata = list(demo.metadata.columns)
    rest = ["density", "hdr", "rank", "isolation", "distortion", "trust"]
    rest += ["m", "mean_kwh", *metadata]
    table = run(demo, config(dim=3)).table()
    assert list(table) == ["label", "household", "y1", "y2", "y3", *rest]
    assert sorted(table["rank"]) == list(range(1, 31))
    assert set(table["hdr"]) <= {"1", "20", "40", "60", "80", "99", ">99"}
    whose = demo.households.set_index("household")
    assert table["dwelling"].tolist() == whose.loc[table["household"], "dwelling"].tolist()
    table = run(demo, config(unit="household-slots", window=3, slots="Tue")).table()
    assert list(table)[:5] == ["label", "household", "slot", "y1", "y2"]
    assert table["dwelling"].tolist() == whose.loc[table["household"], "dwelling"].tolist()
    assert set(table["slot"]) == set(range(48, 96))
    assert "surprise" in table


def test_distortion_and_trust_are_those_of_the_map_and_its_graph(demo, store):
    first = run(demo, config(method="lle"), store=store)
    near = first.neighbors
    metric = learn_metric(first.y, near.indices, near.distances)
    again = run(demo, config(method="lle", density="corrected"), store=store)
    for result in (first, again):
        np.testing.assert_array_equal(result.trust.distortion, metric.distortion)
        np.testing.assert_array_equal(result.table()["distortion"], metric.distortion)
        np.testing.assert_array_equal(
            result.table()["trust"], neighbors_kept(first.y, near.indices)
        )
    flat = run(demo, config(dim=11))
    assert np.isnan(flat.trust.distortion).all()
    assert np.isfinite(flat.trust.kept).all()


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("bandwidth", ["plug-in", "wide"])
def test_a_corrected_density_is_that_of_the_metric(demo, store, dim, bandwidth):
    wanted = config(density="corrected", bandwidth=bandwidth, dim=dim)
    cold, warm = (run(demo, wanted, store=store) for _ in range(2))
    near = cold.neighbors
    metric = learn_metric(cold.y, near.indices, near.distances)
    expected = hdr_density(cold.y, k=5, metric=metric, bandwidth=bandwidth)
    for result in (cold, warm):
        np.testing.assert_array_equal(result.hdr.density, expected.density)
        np.testing.assert_array_equal(result.hdr.level, expected.level)
        np.testing.assert_array_equal(result.hdr.typical, expected.typical)
    assert warm.cached == tuple(ALL)
    plain = run(demo, config(dim=dim), store=store)
    assert not np.allclose(plain.hdr.density, expected.density)


def test_a_map_of_one_place_is_not_corrected(demo, monkeypatch):
    monkeypatch.setattr("core.runs._pipeline.learn_metric", lambda *_, **__: None)
    result = run(demo, config(density="corrected"))
    assert any("no distortion to correct for" in notice for notice in result.notices)
    assert np.isnan(result.trust.distortion).all()
    assert np.isfinite(result.hdr.density).all()


def test_a_degenerate_map_is_named(demo, monkeypatch):
    from core.embedding import embed

    def collapse(*arguments, **options):
        found = embed(*arguments, **options)
        found.y[:-2] *= 1e-9
        return found

    monkeypatch.setattr("core.runs._pipeline.embed", collapse)
    result = run(demo, config())
    assert any("28 of its 30 points lie in one place" in notice for notice in result.notices)
    # The 1 % region holds its share, whatever ties.
    assert len(result.hdr.typical) == 1


def test_metadata_of_our_names_is_renamed():
    units = pd.DataFrame({"label": ["b", "a"], "household": ["b", "a"], "m": [1, 2]})
    metadata = pd.DataFrame({"rank": ["low", "high"], "region": ["north", "south"]})
    joined = join_metadata(units, pd.Series(["a", "b"]), metadata)
    assert joined["m"].tolist() == [1, 2]
    assert joined["metadata_rank"].tolist() == ["high", "low"]
    assert joined["region"].tolist() == ["south", "north"]


def test_the_python_lines_repeat_the_run(demo):
    asked = config(
        households=tuple(demo.households["household"][:20]),
        method="lle",
        method_parameters={"ridge": 0.01},
    )
    names: dict = {}
    exec(python_lines(asked, demo.path), names)  # noqa: S102 (our own lines)
    assert names["config"] == asked
    pd.testing.assert_frame_equal(names["table"], run(demo, asked).table())


def test_the_command_names_what_is_not_default(demo):
    asked = RunConfig(
        unit="slots", household="-7 b", method="umap", method_parameters={"repeatable": True}
    )
    assert command_line(asked, "my data") == (
        "wattfold embed 'my data' --unit slots '--household=-7 b' --method umap --repeatable"
    )
    assert command_line(RunConfig(), "d") == "wattfold embed d"


def test_measures_have_their_names(demo):
    result = run(demo, config(quality=True))
    assert tuple(result.to_json()["quality"]) == MEASURES
    assert isinstance(Dataset.open(demo.path), Dataset)
