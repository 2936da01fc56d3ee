"""A client that sends what no browser would: every number of the page, far out of its bounds."""

import random
from contextlib import suppress

import pytest
from page_client import PageClient, fetch, models_in, run_alone
from serving import serving

from core.embedding import METHODS
from core.errors import InputError
from core.neighbors import BACKENDS
from core.readings import Dataset
from dashboard.state import Explorer

WILD = [
    # Larger integers end the connection: no browser has them.
    *(-1, 0, 10**6, 2**53, -(2**53), 1e308, -1e308, 0.5, True, None, "10", "<b>", "", [], {}),
    *({"type": "number", "value": special} for special in ("nan", "+inf", "-inf")),
    *([1e308, -1e308], [2**53] * 3, "x" * 100_000),
]


def numbers_of(document):
    """Model and attribute of every number, and every list of numbers, on the page."""
    for model, _, attributes in models_in(document):
        for name, value in attributes.items():
            plain = isinstance(value, int | float) and not isinstance(value, bool)
            if plain or name.startswith("value"):
                yield model, name


MANY = pytest.param(10_000, marks=[pytest.mark.soak, pytest.mark.timeout(3600)])


@pytest.mark.parametrize("patches", [60, MANY])
def test_wild_values_harm_nobody(patches, demo_path, cache, tmp_path):
    chance = random.Random(patches)
    log = tmp_path / "log"

    async def go_wild(host: str) -> int:
        async with PageClient(host) as victim, PageClient(host) as wild:
            targets = list(numbers_of(await wild.pull()))
            for model, attribute in chance.choices(targets, k=patches):
                await wild.patch(model, attribute, chance.choice(WILD))
            # Whoever behaves is served as before, in this session and in the others.
            assert "roots" in await victim.pull()
            assert fetch(host, "/readyz")[0] == 200
            async with PageClient(host) as newcomer:
                assert "roots" in await newcomer.pull()
        return len(targets)

    with serving(demo_path, "--log-level", "info", cache=cache, errors=log) as address:
        sent = run_alone(go_wild(address.removeprefix("http://")))
    assert sent > 100
    # What is refused is logged by its kind, without what was sent.
    assert "xxxx" not in log.read_text()
    assert "MemoryError" not in log.read_text()


NUMBERS = ("bins", "window", "minimum_sample", "k", "n_anomalies")


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_out_of_bounds_do_not_become_choices(name, demo_path):
    explorer = Explorer(Dataset.open(demo_path))
    before = getattr(explorer, name)
    for wild in (-1, 10**6, 10**30, 1e308, float("nan"), float("inf"), 2.5, "10", [], True, None):
        with suppress(ValueError):
            setattr(explorer, name, wild)
            explorer.config()  # what the one lets through, the other must not
            low, high = explorer.param[name].bounds
            assert low <= getattr(explorer, name) <= high
        setattr(explorer, name, before)


@pytest.mark.parametrize("wild", [-1, 10**6, 10**30, 1e308, float("nan"), float("inf"), "10"])
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_out_of_bounds_are_refused_where_they_come_in(name, wild, demo_path):
    """A run would refuse most of them, too; whatever is shown on the way must not meet them."""
    explorer = Explorer(Dataset.open(demo_path))
    before = getattr(explorer, name)
    with pytest.raises(ValueError, match=name):
        setattr(explorer, name, wild)
    assert getattr(explorer, name) == before


@pytest.mark.parametrize("registry", [METHODS, BACKENDS])
def test_settings_out_of_bounds_do_not_make_a_run(registry):
    for name, entry in registry.items():
        for parameter in entry.parameters:
            for wild in (10**30, -(10**30), float("nan"), float("inf"), "10", None, [1]):
                with pytest.raises(InputError):
                    registry.settings(name, {parameter.name: wild})
