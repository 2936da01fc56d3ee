import pytest
from matplotlib.text import Text

from core.anomalies.homes import Homes
from core.anomalies.symptoms import summarize
from core.errors import InputError
from core.worklist import Worklist, case_table, write_case_file
from core.worklist.case_file import draw_case


@pytest.fixture(scope="module")
def cases(judged):
    worklist = Worklist()
    for household in judged.anomalies.table["household"].head(2):
        worklist = worklist.flag(household, "fault", note=f"note on {household}", by="Ann")
    return case_table(worklist, judged.anomalies, price=0.3)


@pytest.fixture(scope="module")
def homes(judged):
    return Homes(summarize(judged.weeks.kwh), judged.weeks.monday)


def test_a_page_for_each_case_and_the_same_file_again(judged, cases, tmp_path):
    path, again = tmp_path / "cases.pdf", tmp_path / "again.pdf"
    for each in (path, again):
        write_case_file(cases, judged.dataset, judged.weeks, each, currency="£")
    content = path.read_bytes()
    assert content.startswith(b"%PDF")
    assert b"/Count 2" in content
    assert again.read_bytes() == content


def test_the_page_says_what_a_field_worker_needs(judged, cases, homes):
    case = cases.to_dict("records")[0]
    figure = draw_case(case, judged.dataset, judged.weeks, homes, page="1 of 2", currency="£")
    said = " ".join(" ".join(each.get_text().split()) for each in figure.findobj(Text))
    for part in (case["household"], case["reason"], "Verdict: fault", case["note"], "1 of 2"):
        assert part in said
    for title in ("Its week", "Its calendar", "similar homes"):
        assert title in said


def test_notes_that_look_like_formulas_are_drawn_as_they_are(judged, cases, homes):
    case = {**cases.to_dict("records")[0], "note": r"$\frac{1}$ <b>", "reason": "from $5 to $6"}
    draw_case(case, judged.dataset, judged.weeks, homes).draw_without_rendering()


def test_a_household_that_was_not_judged_has_a_page(judged, homes):
    case = case_table(Worklist().flag(judged.weeks.households[3])).to_dict("records")[0]
    figure = draw_case(case, judged.dataset, judged.weeks, homes)
    said = " ".join(each.get_text() for each in figure.findobj(Text))
    assert "Not among the households that were judged" in said
    assert "Verdict: ____" in said


def test_nothing_to_print(judged, tmp_path):
    empty = case_table(Worklist(), judged.anomalies)
    with pytest.raises(InputError, match="the worklist is empty"):
        write_case_file(empty, judged.dataset, judged.weeks, tmp_path / "x.pdf")
    assert not (tmp_path / "x.pdf").exists()
