import numpy as np
import pytest

from core.demo import make_demo
from core.neighbors import Neighbors
from core.runs import RunConfig
from core.runs.digests import Digests, hash_graph


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
    assert hash_graph(graph) != hash_graph(other)
