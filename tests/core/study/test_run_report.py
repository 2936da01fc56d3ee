"""The report of a run with the analyst's notes."""

from html.parser import HTMLParser

import pytest
from export_runs import hostile_dataset

from core.errors import Cancelled
from core.export import Provenance, anonymise, read_provenance
from core.runs import RunConfig, Store
from core.study import SEARCHES, run_study
from core.study.run_report import Remarks, make_report, remark_sections, report_plan

CONFIG = RunConfig(
    bins=20, k=4, method="lle", method_parameters={"ridge": 0.01}, neighbors="kdtree",
    neighbors_parameters={"epsilon": 0.5},
)  # fmt: skip


class Words(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.words, self.tags = [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return hostile_dataset(tmp_path_factory.mktemp("hostile") / "data")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("cache"))


def test_remarks_come_first_and_as_text(dataset, store, tmp_path):
    path = tmp_path / "report.html"
    labels = dataset.households["household"].tolist()
    remarks = Remarks(
        text="First line.\n<script>alert(1)</script>",
        notes={labels[0]: "<b>bold</b> & more", "no such point": "nowhere"},
        pins=(labels[1],),
    )
    make_report(
        dataset, CONFIG, path, plan=report_plan(CONFIG, backend="kdtree"), remarks=remarks,
        store=store,
    )  # fmt: skip
    page = Words(path.read_text(encoding="utf-8"))
    assert page.tags.count("script") == 1  # the config
    text = "\n".join(page.words)
    for words in ("First line.", "<script>alert(1)</script>", "<b>bold</b> & more"):
        assert words in page.words
    assert "nowhere" not in text
    assert text.index("The analyst's notes") < text.index("The maps")
    assert {labels[0], labels[1]} <= set(page.words)
    assert page.tags.count("img") >= 6
    told = read_provenance(path)
    assert told.config == CONFIG
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_without_remarks_there_is_no_such_section(dataset, store, tmp_path):
    study = run_study(dataset, report_plan(CONFIG, backend="kdtree"), store=store)
    anonymous, told = anonymise(dataset), Provenance.of(study.featured)
    for remarks in (Remarks(), Remarks(text=" \n "), Remarks(pins=("no such point",))):
        assert not remark_sections(remarks, study.featured, study, anonymous, told, tmp_path)


def test_cancel_leaves_nothing(dataset, store, tmp_path):
    def stop(fraction, message=""):
        if fraction > 0.9:
            raise Cancelled

    with pytest.raises(Cancelled):
        make_report(
            dataset, CONFIG, tmp_path / "a.html", plan=report_plan(CONFIG, backend="kdtree"),
            store=store, progress=stop,
        )  # fmt: skip
    assert not list(tmp_path.iterdir())


def test_the_plan_is_that_of_the_settings():
    whole = report_plan(CONFIG)
    assert whole.searches == tuple(SEARCHES)
    assert whole.method_settings("lle")["ridge"] == 0.01
    assert whole.search_settings("kdtree")["epsilon"] == 0.5
    assert whole.search_settings("kdtree-exact")["epsilon"] == 0.0
    own = report_plan(CONFIG, backend="kdtree")
    assert (own.methods, own.searches) == (("lle",), ("kdtree",))
    assert own.config_of("lle", "kdtree") == CONFIG.change(quality=True)
    automatic = RunConfig(method="umap")
    assert report_plan(automatic, backend="exact").searches == ("exact",)
