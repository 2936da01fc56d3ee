"""When a map is computed: never for a mere request, and only on a click if it takes long."""

import pytest
from held_jobs import HeldJobs
from page_turns import PageTurns

from core.readings import Dataset
from core.runs import RunConfig, Store
from dashboard.explore import RunController, run_controller
from dashboard.jobs import SessionPool, run_jobs
from dashboard.jobs.workspace import Workspace
from dashboard.state import Explorer, ViewState

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of the widgets


class Visit:
    """A page that is being made; nothing is scheduled on it before a browser shows it."""

    def __init__(self, dataset: Dataset, store: Store) -> None:
        self.jobs, self.turns = HeldJobs(), PageTurns()
        self.workspace = Workspace(dataset, store, SessionPool(self.jobs, self.turns))
        self.explorer = Explorer(dataset)
        self.controller = RunController(self.workspace, self.explorer)

    def ask(self, config: RunConfig | None = None) -> None:
        """As for a request of an address, with a link or without."""
        if config is not None:
            self.explorer.restore(ViewState(config=config))
        self.controller.follow_settings(wait_seconds=60)


@pytest.fixture
def visit(demo_path, tmp_path):
    return Visit(Dataset.open(demo_path), Store(tmp_path))


@pytest.fixture
def forecast_of(monkeypatch):
    """Set how long runs are expected to take."""

    def set_seconds(seconds: float) -> None:
        class Expected:
            n, faster = 60, None

        Expected.seconds = seconds
        monkeypatch.setattr(run_controller, "kept_machine", lambda: "measured")
        monkeypatch.setattr(run_controller, "forecast", lambda *_, **__: Expected)

    return set_seconds


@pytest.mark.parametrize("config", [None, RunConfig(k=7)])
def test_a_request_alone_computes_nothing(visit, forecast_of, config):
    forecast_of(1.0)
    visit.ask(config)
    assert visit.jobs.jobs == []
    visit.turns.run_until(lambda: visit.jobs.jobs)  # a browser shows the page
    (job,) = visit.jobs.jobs
    assert job.task is run_jobs.compute_run


def test_a_link_to_a_map_that_takes_long_waits_for_a_click(visit, forecast_of):
    forecast_of(1000.0)
    visit.ask(RunConfig(unit="household-slots", method="umap"))
    visit.turns.run_until(lambda: visit.controller.run.visible)
    assert visit.jobs.jobs == []
    visit.controller.run.clicks += 1
    assert len(visit.jobs.jobs) == 1


def test_the_map_that_the_page_opens_with_comes_without_a_click(visit, forecast_of):
    forecast_of(1000.0)
    visit.ask()
    visit.turns.run_until(lambda: visit.jobs.jobs)
    assert not visit.controller.run.visible


@pytest.mark.parametrize(("seconds", "quick"), [(1.0, True), (4.9, True), (30.0, False)])
def test_a_run_of_a_few_seconds_does_not_wait_for_others(visit, monkeypatch, seconds, quick):
    asked = []
    monkeypatch.setattr(run_jobs, "predict_seconds", lambda *_: seconds)
    monkeypatch.setattr(
        visit.jobs, "submit", lambda *a, **options: asked.append(options) or HeldJobs().submit(*a)
    )
    run_jobs.submit(visit.workspace, RunConfig())
    assert asked[0]["quick"] == quick


def test_predicted_seconds_count_readings_and_points(demo_path, monkeypatch):
    from core.neighbors.cost import measure

    dataset, rates = Dataset.open(demo_path), measure()
    monkeypatch.setattr(run_jobs, "kept_machine", lambda: rates)
    small = run_jobs.predict_seconds(dataset, RunConfig())
    large = run_jobs.predict_seconds(dataset, RunConfig(unit="household-slots", method="umap"))
    assert small < 5 < large
    monkeypatch.setattr(run_jobs, "kept_machine", lambda: None)
    assert run_jobs.predict_seconds(dataset, RunConfig()) is None
