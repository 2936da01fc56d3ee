from types import SimpleNamespace

import numpy as np
import pytest

from core.demo import make_demo
from core.neighbors import Neighbors
from core.runs import RunConfig
from core.runs.digests import Digests


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return make_demo(tmp_path_factory.mktemp("digests") / "demo", households=8, days=14, seed=1)


@pytest.fixture
def graph() -> Neighbors:
    indices = np.array([[1, 2], [0, 2], [0, 1]], np.int32)
    return Neighbors(indices, np.array([[0.1, 0.2], [0.1, 0.3], [0.2, 0.3]]), "exact")


def test_every_choice_that_makes_other_vectors_is_in_their_digest(dataset):
    first = dataset.households["household"].iat[0]
    configs = [
        RunConfig(),
        RunConfig(bins=50),
        RunConfig(unit="households"),
        RunConfig(unit="slots", household=first),
        RunConfig(distance="hellinger"),
        RunConfig(window=3),
        RunConfig(minimum_sample=7),
        RunConfig(slots="weekend"),
        RunConfig(households=(first,)),
        RunConfig(households=(first,), reference="selection"),
    ]
    assert len({Digests(dataset, config).vectors for config in configs}) == len(configs)


def test_choices_of_later_stages_are_not(dataset):
    others = [
        RunConfig(k=7),
        RunConfig(method="umap"),
        RunConfig(neighbors="kdtree"),
        RunConfig(seed=5),
        RunConfig(n_anomalies=3),
        RunConfig(rank_by="surprise"),
        # All of them by name are all of them.
        RunConfig(households=tuple(dataset.households["household"])),
    ]
    plain = Digests(dataset, RunConfig()).vectors
    assert {Digests(dataset, config).vectors for config in others} == {plain}


def test_shards_matter_to_approximate_searches_alone(dataset):
    digests = Digests(dataset, RunConfig())
    for backend, differ in (("exact", False), ("nndescent", True)):
        one, again, four = (digests.neighbors(backend, {}, 5, n) for n in (1, 1, 4))
        assert one == again
        assert (one != four) == differ


def test_a_seed_matters_where_something_is_drawn(dataset, graph):
    def of(seed: int, **choices) -> tuple[str, str]:
        digests = Digests(dataset, RunConfig(seed=seed, **choices))
        return digests.neighbors(choices["neighbors"], {}, 5), digests.embedding(graph)

    exact, isomap = of(1, neighbors="exact"), of(2, neighbors="exact")
    assert exact == isomap
    annoy = [of(seed, neighbors="annoy", method="umap") for seed in (1, 2)]
    assert annoy[0][0] != annoy[1][0]
    assert annoy[0][1] != annoy[1][1]


def test_maps_belong_to_the_graph_not_to_who_found_it(dataset, graph):
    same = Neighbors(graph.indices.copy(), graph.distances.copy(), "kdtree", {"epsilon": 0.0})
    other = Neighbors(graph.indices, graph.distances + 1e-9, "exact")
    digests = Digests(dataset, RunConfig())
    assert digests.embedding(graph) == digests.embedding(same)
    assert digests.embedding(graph) != digests.embedding(other)
    assert graph.digest != other.digest


# Digests and tokens that version 0.1 gave: what it stored is found, what it linked to opens.
FIRST_VERSION = [
    (
        {},
        "1-eNqrrgUAAXUA-Q",
        ["a609ecc3e65660e0972781c2d557f007", "ac29866aec0ad0565fa81b8dce86a6dc"],
        ["3e77d50c3df9bee1c0175717855af88c", "d074e6b21a115d3e0f01e2cfc495c57a"],
        ["e90cfb179d04f0cff19e5413e57099b7", "800a5aefd69dae46b7355868bc5300ed"],
    ),
    (
        {"unit": "slots", "household": "h1", "window": 2, "bins": 20},
        "1-eNqrVirNyyxRslIqzskvKVbSUcrILy1OzcjPSQGKZRgCBZIy84qVrIwMdJTKM_NS8suB7FoA5kwRLg",
        ["8188b88e7d52ef19a1a4f6fbdb3e3254", "0fec2a2c064740a6502c8d15482dca79"],
        ["2784116f05d1b2dd6496ca9601a66ce6", "cf7415d7e3e7e700f4b609d673f60367"],
        ["4573386d45f48d819c48c356a984fd70", "800a5aefd69dae46b7355868bc5300ed"],
    ),
    (
        {
            "unit": "households",
            "households": ["h1", "h2"],
            "reference": "selection",
            "slots": "weekend",
            "minimum_sample": 5,
            "distance": "tv",
        },
        "1-eNpNyTEOgzAMRuG7eM5CpS5cpaoqRH4Uq4lTxQ4MiLtj1IXxfW-nLmw0UqpdkWqOSuEe44vScNGD3oE0V3OjDfh"
        "ContktUlmONrq3bCg4Q-KjNm4inth4dLLR6fyyz6fxwnztymI",
        ["45547693a220b4a609a63128f9a3e4d9", "7db840c2d2801e8fc87e879e7bfa7586"],
        ["339a6c200e61c641984d87f62a363dd3", "22b7ad29a67ff4b8fe3aa31c3c23130d"],
        ["e9f9213ff53c7b2c05718403db2f4848", "800a5aefd69dae46b7355868bc5300ed"],
    ),
    (
        {
            "neighbors": "annoy",
            "neighbors_parameters": {"n_trees": 3},
            "k": 7,
            "method": "tsne",
            "method_parameters": {"perplexity": 5},
            "dim": 3,
            "seed": 9,
            "rank_by": "surprise",
            "n_anomalies": 3,
            "quality": True,
        },
        "1-eNpdjtEKwjAMRf_lPgcRRMT-TOlYcGVrWtMWHGP_bhyI4FtyDye5G4TjYxqyVjgEkbyCfpkvQUPixh-8QXxTZhsvO2G"
        "GuxEMTnk0t1VhfPc_r7CWhV-xrXDX09nkMSa7QqjMJt8Jzx6WgzftbA18kJwsOr4RNMjsB8OoXYvGytjfB3xAjA",
        ["a609ecc3e65660e0972781c2d557f007", "ac29866aec0ad0565fa81b8dce86a6dc"],
        ["e6aaf3b5f342a239d6460d68ef48f722", "37a86f0f87917969bd057f3712d993ff"],
        ["4362c45606d1a27be0e89fa23c094383", "e984ce64c4b1605339603ec558001abc"],
    ),
]


@pytest.mark.parametrize(("fields", "token", "points", "maps", "measures"), FIRST_VERSION)
def test_what_the_first_version_stored_is_found(graph, fields, token, points, maps, measures):
    ids = [f"h{i}" for i in range(6)]
    data = SimpleNamespace(digest="0" * 32, households=ids, interval_minutes=30, code=ids.index)
    config = RunConfig(**fields)
    assert RunConfig.from_token(token) == config
    digests = Digests(data, config)
    backend = "exact" if config.neighbors == "auto" else config.neighbors
    neighbors = digests.neighbors(backend, config.neighbors_parameters, 5)
    assert [digests.cube, digests.vectors] == points
    assert [neighbors, digests.embedding(graph)] == maps
    assert [digests.measured("x", 3), digests.density("y")] == measures
