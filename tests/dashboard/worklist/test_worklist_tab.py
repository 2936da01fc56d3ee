"""The worklist in the drawer: what it lists and says, and what workers make of it."""

from pathlib import Path

import pytest
from held_jobs import HeldJobs
from page_turns import PageTurns

from core.errors import InputError
from core.progress import silent
from core.runs import RunConfig, Store
from core.runs.anomaly_stage import keep_anomalies
from dashboard.jobs import SessionFolder, SessionPool, worklist_jobs
from dashboard.jobs.worklist_jobs import CaseFileRequest, find_more_like, print_cases
from dashboard.jobs.workspace import Workspace
from dashboard.state import Explorer
from dashboard.worklist import VerdictField, WorklistTab
from dashboard.worklist._sentences import EMPTY

pytestmark = [  # of the widgets, and of Bokeh's tables
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The inplace keyword"),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def anomalies(dataset, store):
    return keep_anomalies(dataset, RunConfig(), store)


class Visit:
    """A page with a map and what is unusual on it."""

    def __init__(self, dataset, store, result, anomalies):
        self.jobs, self.turns = HeldJobs(), PageTurns()
        self.workspace = Workspace(dataset, store, SessionPool(self.jobs, self.turns))
        self.explorer = Explorer(dataset)
        self.folder = SessionFolder()
        self.tab = WorklistTab(self.workspace, self.folder, self.explorer)
        self.verdict = VerdictField(self.explorer)
        self.explorer.show(result)
        self.explorer.show_unusual(anomalies)
        self.tab.show()

    def work(self):
        """Do what workers have to do, and show it."""
        self.jobs.work()
        self.turns.run()

    @property
    def listed(self):
        """The rows of the table in view."""
        name = "alike" if self.tab.alike.visible else "cases"
        return self.tab._tables[name].value


@pytest.fixture
def visit(dataset, store, result, anomalies):
    visit = Visit(dataset, store, result, anomalies)
    yield visit
    visit.folder.remove()


@pytest.fixture(scope="module")
def first(anomalies):
    """The most unusual homes."""
    return anomalies.table["household"].head(4).tolist()


def test_an_empty_list_says_how_to_begin(visit):
    assert visit.tab.sentence.text == EMPTY
    assert not visit.tab.controls.visible


def test_the_selected_home_is_flagged_judged_noted_and_taken_off(visit, first):
    explorer, verdict = visit.explorer, visit.verdict
    verdict.flag()
    assert explorer.flagged.verdict_of(first[0]) == "open"
    assert visit.tab.sentence.text == "0 of 1 home looked into."
    verdict.show()
    verdict.verdict.value = "theft"
    verdict.flag()  # it is there already, and keeps its verdict
    assert explorer.flagged.verdict_of(first[0]) == "theft"
    explorer.write_note(explorer.selected, "bypass <b>")
    verdict.keep_note()
    assert visit.listed["note"].tolist() == ["bypass <b>"]
    verdict.verdict.value = "own words …"
    assert verdict.words.visible
    assert explorer.flagged.verdict_of(first[0]) == "theft"
    verdict.words.value = "holiday let"
    assert visit.listed["verdict"].tolist() == ["holiday let"]
    assert verdict.verdict.value == "holiday let"
    before = explorer.flagged.own
    verdict.verdict.value = "not on the list"
    assert explorer.flagged.progress() == (0, 0)
    explorer.flagged.restore(before)
    assert explorer.flagged.verdict_of(first[0]) == "holiday let"


def test_a_verdict_that_is_too_long_is_said(visit):
    visit.verdict.words.value = "x" * 81
    assert "at most 80 letters" in visit.verdict.error.text
    assert visit.explorer.flagged.progress() == (0, 0)


def test_the_list_is_filtered_counted_and_says_how_often_it_was_right(visit, first):
    flagged = visit.explorer.flagged
    for home, verdict in zip(first, ("fault", "fine", "open", "fault"), strict=True):
        flagged.flag(home, verdict)
    assert visit.listed["what"].tolist() == first  # the most unusual first
    assert list(visit.tab.verdict.options) == ["All (4)", "open (1)", "fault (2)", "fine (1)"]
    assert "3 of 4 homes looked into. Right so far: 2 of 3 (95 %: 21 to 94 %)" in (
        visit.tab.sentence.text
    )
    visit.tab.verdict.value = "fault"
    assert visit.listed["what"].tolist() == [first[0], first[3]]
    flagged.flag(first[0], "EV")
    flagged.flag(first[3], "EV")  # nobody is left with the verdict that was shown
    assert visit.tab.verdict.value == ""
    assert len(visit.listed) == 4


def test_a_price_is_shown_as_money_or_refused_in_a_sentence(visit, first, anomalies):
    visit.explorer.flagged.flag(first[0], "open")
    visit.explorer.flagged.price = "£0.50"
    size = anomalies.table["kwh_per_week"].iat[0]
    sign = "−" if size < 0 else "+"
    assert visit.listed["money"].tolist() == [f"{sign}£{abs(size) * 0.5 * 52.18:,.0f}"]
    visit.explorer.flagged.price = "cheap"
    assert visit.tab.sentence.text.startswith("A price is a number")
    assert visit.listed["money"].tolist() == [""]


def test_a_click_selects_a_home_and_one_that_is_not_on_the_map_is_said(visit, first):
    flagged = visit.explorer.flagged
    flagged.flag(first[2], "open")
    visit.tab._go("cases", 0)
    assert visit.explorer.label(visit.explorer.selected) == first[2]
    flagged.flag("nobody", "open")
    visit.tab._go("cases", 1)
    assert visit.explorer.label(visit.explorer.selected) == first[2]
    assert visit.tab.status.sentence.text == "nobody is not on this map."
    visit.tab._go("cases", 9)  # row numbers come from the browser


def test_more_like_these_are_ranked_by_a_worker(visit, first):
    flagged = visit.explorer.flagged
    flagged.flag(first[0], "fault")
    flagged.flag(first[1], "open")
    visit.tab.verdict.value = "fault"
    visit.tab.find_more()
    assert visit.tab.cancel.visible
    visit.work()
    assert visit.tab.sentence.text.startswith(f"More like {first[0]}; in common: ")
    assert len(visit.listed) == 50
    assert first[0] not in set(visit.listed["what"])
    visit.explorer.flagged.flag(visit.listed["what"].iat[0], "solar")
    assert visit.listed["verdict"].iat[0] == "solar"
    visit.tab.back.clicks += 1
    assert visit.listed["what"].tolist() == [first[0]]


def test_cancel_stops_looking_for_more(visit, first):
    visit.explorer.flagged.flag(first[0], "fault")
    visit.tab.find_more()
    visit.tab.cancel.clicks += 1
    assert visit.jobs.jobs[-1].state == "cancelled"
    assert not visit.tab.cancel.visible


def test_a_case_file_is_printed_by_a_worker(visit, first, store):
    visit.explorer.flagged.flag(first[0], "fault")
    visit.explorer.flagged.flag(first[1], "open")
    visit.tab.verdict.value = "open"
    visit.tab.print_cases()
    (job,) = visit.jobs.jobs
    assert job.task is worklist_jobs.print_cases
    path = Path(print_cases(job.argument, silent))
    assert path.read_bytes().count(b"/Type /Page\n") + path.read_bytes().count(b"/Type /Page ") == 1


def test_an_empty_case_file_and_unknown_homes_are_said(visit, tmp_path):
    request = CaseFileRequest(
        paths=visit.workspace.paths,
        config=RunConfig().to_json(),
        worklist=visit.explorer.flagged.worklist.to_json(),
        directory=str(tmp_path),
    )
    with pytest.raises(InputError, match="worklist is empty"):
        print_cases(request, silent)
    for flagged, problem in (((), "no household is flagged"), (("nobody",), "not among those")):
        with pytest.raises(InputError, match=problem):
            find_more_like((visit.workspace.paths, RunConfig().to_json(), flagged), silent)
