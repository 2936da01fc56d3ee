"""What several tests need: a served page and a browser to look at it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import open_chromium
from hypothesis import settings
from page_driver import visit
from serving import serving

# How long an example takes says nothing on a busy machine.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# Programs that tests start find the modules of tests/support, too.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(Path(__file__).parent / "support"), *filter(None, [os.environ.get("PYTHONPATH")])]
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest: those of a browser, then all but the core's."""
    browser = {item.path for item in items if item.get_closest_marker("browser")}
    items.sort(key=lambda item: (item.path not in browser, item.nodeid.startswith("tests/core/")))


@pytest.fixture(scope="session")
def demo_path(tmp_path_factory) -> Path:
    """A small demo dataset."""
    from core.demo import make_demo

    return make_demo(tmp_path_factory.mktemp("demo") / "demo", households=60, days=56).path


@pytest.fixture(scope="session")
def dataset(demo_path):
    """The demo dataset, opened."""
    from core.readings import Dataset

    return Dataset.open(demo_path)


@pytest.fixture(scope="session")
def cache(tmp_path_factory) -> Path:
    """The cache of the servers of the demo dataset, with what the page opens with."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def result(dataset, cache):
    """The run that the page opens with."""
    from core.runs import RunConfig, Runner, Store

    return Runner(dataset, store=Store(cache)).run(RunConfig())


@pytest.fixture(scope="session")
def anomalies(dataset, cache):
    """What the page lists as unusual."""
    from core.runs import RunConfig, Store
    from core.runs.anomaly_stage import keep_anomalies

    return keep_anomalies(dataset, RunConfig(), Store(cache))


@pytest.fixture(scope="session")
def served(demo_path, cache, result, anomalies) -> Iterator[str]:
    """The address of a server with the demo dataset, started as a user would."""
    with serving(demo_path, cache=cache) as address:
        yield address


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium."""
    with open_chromium() as chromium:
        yield chromium


@pytest.fixture(scope="module")
def driver(browser, served):
    """The page of the demo dataset, opened once for the tests of a file."""
    with visit(browser, served) as driver:
        yield driver
