"""New households and new weeks on a map that is not fitted again."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import multivariate_normal
from small_dataset import random_readings, write_dataset

from core.cli import main
from core.demo import make_demo
from core.density.regions import COVERAGES
from core.errors import InputError
from core.placement import SavedMap, place, save_map
from core.placement.new_points import place_vectors
from core.runs import RunConfig, Runner

N_HELD_OUT = 30


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Households of eight weeks, six of them with something wrong."""
    return make_demo(tmp_path_factory.mktemp("demo") / "data", households=130, days=56)


@pytest.fixture(scope="module")
def groups(demo):
    """Planted households, ordinary ones that are held out, and those the map is made of."""
    planted = pd.read_parquet(demo.path / "truth.parquet")["household"].tolist()
    ordinary = [name for name in demo.households["household"] if name not in planted]
    held_out = np.random.default_rng(1).choice(ordinary, N_HELD_OUT, replace=False).tolist()
    return planted, held_out, tuple(name for name in ordinary if name not in held_out)


def make_map(dataset, path, **choices):
    runner = Runner(dataset)
    config = RunConfig(**choices)
    run = runner.run(config)
    save_map(path, run, *runner.inputs(config))
    return run, SavedMap.open(path)


@pytest.fixture(scope="module")
def mapped(demo, groups, tmp_path_factory):
    """A map of the households that are not held out: the run and what was saved of it."""
    return make_map(demo, tmp_path_factory.mktemp("map") / "m", households=groups[2], k=10, bins=50)


def test_a_saved_map_is_its_run(mapped):
    run, saved = mapped
    assert saved.config == run.config
    assert (saved.n, saved.interval_minutes) == (run.n, 30)
    for name in ("density", "level", "rank", "thresholds"):
        np.testing.assert_array_equal(getattr(saved, name), getattr(run.hdr, name))
    np.testing.assert_array_equal(saved.y, run.y)
    np.testing.assert_array_equal(saved.isolation, run.neighbors.distances[:, 9])
    sums = saved.vectors.x.reshape(saved.n, 336, -1).sum(axis=2)
    np.testing.assert_allclose(sums, 1, atol=1e-5)


@pytest.mark.parametrize(
    "choices",
    [
        {"unit": "profiles", "k": 10, "bins": 50},
        {"unit": "households", "rank_by": "isolation", "method": "laplacian", "dim": 3},
        {"unit": "household-slots", "slots": "Mon18:00-20:00", "window": 2, "distance": "tv"},
        {"unit": "slots", "household": "1001", "window": 2, "distance": "js"},
        {"unit": "households", "density": "corrected", "bandwidth": "wide", "dim": 3},
    ],
)
def test_the_maps_own_points_land_on_themselves(demo, groups, tmp_path, choices):
    if choices["unit"] != "slots":
        choices["households"] = groups[2][:60]
    run, saved = make_map(demo, tmp_path / "m", **choices)
    placement = place(saved, demo, households=choices.get("households"))
    np.testing.assert_array_equal(placement.y, run.y)
    np.testing.assert_array_equal(placement.density, run.hdr.density)
    np.testing.assert_array_equal(placement.level, run.hdr.level)
    np.testing.assert_array_equal(placement.rank, run.hdr.rank)
    np.testing.assert_array_equal(placement.isolation, saved.isolation)
    np.testing.assert_array_equal(placement.surprise, saved.expectation.score)
    if run.surprise is not None:
        np.testing.assert_array_equal(placement.surprise, run.surprise.score)
    np.testing.assert_array_equal(placement.known, np.arange(run.n))
    assert (placement.nearest != np.arange(run.n)).all()


def test_alone_or_together_is_the_same(demo, groups, mapped):
    names = tuple(sorted(groups[0] + groups[1][:6]))
    together = place(mapped[1], demo, households=names).table()
    alone = pd.concat(
        [place(mapped[1], demo, households=(name,)).table() for name in names], ignore_index=True
    )
    pd.testing.assert_frame_equal(alone, together, check_exact=True)


@pytest.mark.parametrize("rank", ["isolation_rank", "surprise_rank"])
def test_planted_anomalies_land_as_anomalies(demo, groups, mapped, rank):
    """Among a hundred ordinary households: the median rank, and the first tenth."""
    planted, held_out, _ = groups
    table = place(mapped[1], demo, households=tuple(planted + held_out)).table()
    ranks = table.set_index("household")[rank]
    assert ranks[planted].median() < ranks[held_out].median() / 2
    tenth = mapped[1].n / 10
    assert (ranks[planted] <= tenth).mean() > 2 * (ranks[held_out] <= tenth).mean()
    assert not table["on_map"].any()


def test_surprise_of_a_point_left_out_is_nearly_its_own(demo, groups, mapped):
    """As the map's own where its points are taken for new ones, whose neighbours they know."""
    saved = mapped[1]
    rows = np.arange(0, saved.n, 7)
    vectors = saved.vectors
    strangers = vectors.units.iloc[rows].assign(household="x")
    part = replace(
        vectors,
        x=vectors.x[rows] * np.float32(1 + 1e-6),
        units=strangers,
        sample_size=vectors.sample_size[rows],
        block_sizes=vectors.block_sizes[rows],
    )
    known = place_vectors(saved, replace(part, units=vectors.units.iloc[rows]))
    np.testing.assert_allclose(known.surprise, saved.expectation.score[rows], rtol=0.02, atol=0.02)
    # A stranger is explained by the point that it equals, as far as a single one may.
    assert (place_vectors(saved, part).surprise <= known.surprise + 0.02).mean() > 0.9


def test_scores_are_those_of_an_independent_density(demo, groups, mapped):
    run, saved = mapped
    placement = place(saved, demo, households=tuple(groups[1]))
    expected = [
        multivariate_normal(place, run.hdr.bandwidth).pdf(run.y).mean() for place in placement.y
    ]
    np.testing.assert_allclose(placement.density, expected, rtol=1e-9)
    for point in range(N_HELD_OUT):
        lower = (run.hdr.density < placement.density[point]).sum()
        assert placement.rank[point] == lower + 1
        # In the region of every coverage whose least density is no higher than that of the place.
        inside = [c for c, t in zip(COVERAGES, run.hdr.thresholds, strict=True)
                  if placement.density[point] >= t]  # fmt: skip
        assert placement.labels[point] == (str(inside[0]) if inside else ">99")
        nearest = placement.nearest[point]
        others = np.abs(saved.vectors.x - saved.vectors.x[nearest]).sum(axis=1)
        assert others[nearest] == 0


def test_a_corrected_map_scores_new_points_by_its_own_metric(demo, groups, tmp_path):
    households = groups[2][:60]
    run, saved = make_map(
        demo, tmp_path / "m", households=households, method="laplacian", density="corrected", k=10
    )
    names = tuple(groups[1][:4])
    placement = place(saved, demo, households=names)
    everyone = Runner(demo).inputs(replace(run.config, households=(*households, *names)))[1]
    x = everyone.coordinates()
    apart = cdist(x, x, "cityblock") / 2
    rows = [everyone.units["household"].tolist().index(name) for name in run.units["household"]]
    news = [everyone.units["household"].tolist().index(n) for n in placement.units["household"]]
    for point, new in enumerate(news):
        away = apart[new][rows]
        near = np.argsort(away, kind="stable")[:10]
        dual = saved.metric.at(saved.y, placement.y[[point]], near[None], away[None, near])[0]
        radius = saved.corrected.radius
        kernels = [
            multivariate_normal(centre, radius**2 * shape).pdf(placement.y[point])
            for centre, shape in zip(saved.y, saved.metric.dual, strict=True)
        ]
        expected = np.sqrt(np.linalg.det(dual)) * np.mean(kernels)
        assert placement.density[point] == pytest.approx(expected, rel=1e-4)
    alone = pd.concat(
        [place(saved, demo, households=(name,)).table() for name in names], ignore_index=True
    )
    order = [list(alone["household"]).index(name) for name in placement.units["household"]]
    np.testing.assert_array_equal(alone["density"].to_numpy()[order], placement.density)


def test_places_are_rebuilt_from_the_nearest_points(demo, groups, mapped):
    """Weights of sum one that best rebuild a point, by a plain least squares with a ridge."""
    _, saved = mapped
    from core.cube import recount
    from core.vectors import make_vectors

    cube = recount(demo, edges=saved.edges, bins=50)
    vectors = make_vectors(cube, demo, households=groups[1][:3])
    placement = place_vectors(saved, vectors)
    p = vectors.x.astype(float)
    if vectors.block_weights is not None:
        p *= np.repeat(vectors.block_weights, p.shape[1] // 336)
    for point in range(3):
        distances = np.abs(saved.vectors.x - p[point]).sum(axis=1) / 2
        near = np.argsort(distances, kind="stable")[:10]
        local = saved.vectors.x[near] - p[point]
        gram = local @ local.T
        w = np.linalg.solve(gram + 1e-3 * np.trace(gram) * np.eye(10), np.ones(10))
        np.testing.assert_allclose(
            placement.y[point], (w / w.sum()) @ saved.y[near], rtol=1e-4, atol=1e-6
        )
        assert placement.isolation[point] == pytest.approx(distances[near[-1]], rel=1e-5)


def test_a_household_with_new_weeks_does_not_count_itself(demo, groups, mapped):
    """Its old place stays on the map, but adds nothing to its own density."""
    run, saved = mapped
    name = groups[2][5]
    row = run.units["label"].tolist().index(name)
    moved = replace(saved.vectors, x=saved.vectors.x[[row]] * np.float32(0.999),
                    units=saved.vectors.units.iloc[[row]],
                    sample_size=saved.vectors.sample_size[[row]],
                    block_sizes=saved.vectors.block_sizes[[row]])  # fmt: skip
    known = place_vectors(saved, moved)
    stranger = place_vectors(
        saved, replace(moved, units=moved.units.assign(household="x", label="x"))
    )
    assert known.known[0] == row
    assert stranger.known[0] == -1
    np.testing.assert_array_equal(known.y, stranger.y)
    assert known.density[0] < stranger.density[0]
    assert known.isolation[0] > stranger.isolation[0]
    assert known.nearest[0] != row
    assert stranger.nearest[0] == row


def test_readings_of_another_interval_are_refused(mapped, tmp_path):
    readings = random_readings(households=2, interval_minutes=60)
    other = write_dataset(tmp_path / "d", readings, interval_minutes=60)
    with pytest.raises(InputError, match=r"slots of 30 minutes and .* readings every 60"):
        place(mapped[1], other)


def test_a_map_of_one_household_needs_to_know_which(demo, tmp_path):
    _, saved = make_map(demo, tmp_path / "m", unit="slots", household="1001", window=2)
    others = random_readings(households=2, days=42)
    other = write_dataset(tmp_path / "d", others)
    with pytest.raises(InputError, match="has 2 others; choose one with household"):
        place(saved, other)
    assert place(saved, other, household="H01").table()["on_map"].sum() == 0


def test_what_is_no_map_is_refused(mapped, tmp_path):
    with pytest.raises(InputError, match=r"there is no map at .*--save-map"):
        SavedMap.open(tmp_path / "nowhere")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").touch()
    run, _ = mapped
    with pytest.raises(InputError, match="exists and is no map"):
        save_map(tmp_path / "mine", run, None, None)


def test_a_damaged_map_is_refused(demo, groups, tmp_path):
    make_map(demo, tmp_path / "m", unit="households", households=groups[2][:30], k=5)
    file = tmp_path / "m" / "y.npy"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"cannot be read \(y.npy does not match its checksum\)"):
        SavedMap.open(tmp_path / "m")


def test_the_command(demo, groups, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("WATTFOLD_CACHE", str(tmp_path / "cache"))
    kept, chosen = groups[2][:40], groups[0]
    flags = ["--unit", "households", "--k", "5", "--households", ",".join(kept), "--json"]
    saved = str(tmp_path / "m")
    assert main(["embed", str(demo.path), *flags, "--save-map", saved]) == 0
    assert json.loads(capsys.readouterr().out)["map"] == saved
    out = tmp_path / "placed.csv"
    command = ["place", saved, str(demo.path), "--households", ",".join(chosen), "--out", str(out)]
    assert main([*command, "--n-anomalies", "3", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["n"], result["n_map"], result["on_map"]) == (len(chosen), 40, 0)
    assert sum(result["hdr"].values()) == len(chosen)
    ranks = [row["rank"] for row in result["anomalies"]]
    assert len(ranks) == 3
    assert ranks == sorted(ranks)
    table = pd.read_csv(out, dtype={"household": str, "label": str, "hdr": str})
    assert table["household"].tolist() == sorted(chosen)
    assert table["rank"].min() == ranks[0]
    assert json.loads((tmp_path / "placed.csv.json").read_text())["config"] == result["config"]
    assert main(command) == 0
    assert "placed        6 households on a map of 40" in capsys.readouterr().out
    assert main(["place", str(tmp_path / "none"), str(demo.path)]) == 2
    assert "there is no map" in capsys.readouterr().err


def test_workers_place_as_this_process_does(demo, groups, mapped, tmp_path):
    from core.engine import Dask

    names = tuple(sorted(groups[0] + groups[1]))
    here = place(mapped[1], demo, households=names).table()
    with Dask(tmp_path / "work", n_workers=2) as engine:
        there = place(mapped[1], demo, households=names, engine=engine).table()
        assert engine.computed > 8
    pd.testing.assert_frame_equal(there, here, check_exact=True)
