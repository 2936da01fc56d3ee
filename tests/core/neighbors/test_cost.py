import json
from dataclasses import fields

import numpy as np
import pytest

from core.neighbors import BACKENDS, choose_backend, predict
from core.neighbors.cost import Machine, SearchSize, machine, rates_path
from core.vectors import Vectors

RATES = Machine(
    l1_float=6e-11,
    l1_counts=1e-11,
    difference_pair=3e-9,
    l2_product=2.5e-11,
    product_pair=3e-10,
    offer=3e-10,
    insert=5e-8,
    js=1.5e-8,
    far_row=1.5e-7,
    python_float=4e-8,
)


def vectors_of(n: int, p: int, distance: str, dtype: type = np.float32) -> Vectors:
    """Any number of rows without their memory."""
    x = np.broadcast_to(np.zeros(1, dtype=dtype), (n, p))
    return Vectors(x, distance, x, x)


@pytest.fixture
def rates(monkeypatch):
    monkeypatch.setattr("core.neighbors.machine", lambda: RATES)


def cost(name: str, problem: SearchSize):
    return BACKENDS[name].cost(problem, RATES, **BACKENDS.settings(name, {}))


@pytest.mark.parametrize("name", list(BACKENDS))
@pytest.mark.parametrize("norm", [1, 2])
def test_more_of_anything_never_costs_less(name, norm):
    base = {"n": 5000, "p": 100, "k": 20, "norm": norm, "threads": 2}
    cheap = cost(name, SearchSize(**base))
    assert cheap.seconds > 0
    assert cheap.memory_mb > 0
    for key in ("n", "p", "k"):
        dear = cost(name, SearchSize(**{**base, key: base[key] * 4}))
        assert dear.seconds >= cheap.seconds
        assert dear.memory_mb >= cheap.memory_mb
    assert cost(name, SearchSize(**{**base, "threads": 1})).seconds >= cheap.seconds


def test_exact_counts_pairs():
    once = cost("exact", SearchSize(n=20_000, p=1000, k=20, norm=1)).seconds
    twice = cost("exact", SearchSize(n=40_000, p=1000, k=20, norm=1)).seconds
    assert twice == pytest.approx(4 * once, rel=0.05)
    pair = 1000 * RATES.l1_float + RATES.difference_pair
    assert once == pytest.approx(20_000**2 / 2 * pair, rel=0.05)


def test_counts_are_cheaper_than_floats(rates):
    floats = predict(vectors_of(3639, 33600, "tv"), backend="exact", threads=2)
    counts = predict(vectors_of(3639, 33600, "tv", np.uint8), backend="exact", threads=2)
    assert counts.seconds < floats.seconds
    # Floats of so many columns are compared as bytes first.
    in_floats = 3639**2 / 2 * 33600 * RATES.l1_float / 2
    assert floats.seconds < in_floats / 2


def test_auto_is_exact_while_that_is_quick(rates):
    assert choose_backend(vectors_of(336, 100, "hellinger"), threads=2) == "exact"
    assert choose_backend(vectors_of(3639, 33600, "tv"), threads=2) == "exact"
    assert choose_backend(vectors_of(100_000, 100, "hellinger"), threads=2) == "exact"


def test_auto_gives_way_to_the_cheapest_good_one_at_a_million_points(rates):
    million = vectors_of(1_222_704, 100, "hellinger")
    chosen = choose_backend(million, threads=2)
    assert chosen != "exact"
    good = [name for name, backend in BACKENDS.items() if backend.automatic]
    least = min(predict(million, backend=name, threads=2).seconds for name in good)
    assert predict(million, backend=chosen, threads=2).seconds == least
    assert choose_backend(vectors_of(1_222_704, 100, "js"), threads=2) == "exact"


def test_rates_are_measured_once_and_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("WATTFOLD_CACHE", str(tmp_path / "new"))
    first = machine()
    assert all(getattr(first, field.name) > 0 for field in fields(Machine))
    assert first.l1_counts < first.l1_float < first.js
    monkeypatch.setattr("core.neighbors.cost.measure", lambda: pytest.fail("measured again"))
    assert machine() == first


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"version": 0}', '{"version": 1}', "null"])
def test_kept_rates_that_cannot_be_read_are_measured_anew(monkeypatch, tmp_path, content):
    monkeypatch.setenv("WATTFOLD_CACHE", str(tmp_path))
    monkeypatch.setattr("core.neighbors.cost.measure", lambda: RATES)
    rates_path().write_text(content, encoding="utf-8")
    assert machine() == RATES
    assert json.loads(rates_path().read_text(encoding="utf-8"))["l1_float"] == RATES.l1_float
