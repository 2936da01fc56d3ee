"""The Compare tab in a real browser: maps come in, one selection, into Explore and back."""

import re
from contextlib import suppress

import numpy as np
import pytest
from page_driver import MINUTE, Driver
from playwright.sync_api import expect

from core.quality import MEASURES
from core.runs import RunConfig, run
from core.study import find_consensus

pytestmark = pytest.mark.browser

expect.set_options(timeout=MINUTE)

METHODS = {"Laplacian eigenmaps": "laplacian", "ISOMAP": "isomap"}
OFF = ("LLE", "Hessian LLE", "t-SNE", "UMAP", "Annoy (50/50)")
SEARCHES = {"Exact": {"neighbors": "exact"}, "k-d tree (ε = 1)": {"neighbors": "kdtree"}}


@pytest.fixture(scope="module")
def runs(dataset):
    """What the maps should be, by method and search."""
    return {
        (method, search): run(
            dataset,
            RunConfig(
                distance="hellinger", method=METHODS[method], **SEARCHES[search], quality=True
            ),
        )
        for search in SEARCHES
        for method in ("ISOMAP", "Laplacian eigenmaps")
    }


class Maps(Driver):
    """Drives the small maps."""

    def card(self, method: str, search: str):
        """The heading of one of them."""
        name = f"Open {method}, neighbours by {search} in Explore"
        return self.page.get_by_role("button", name=name, exact=True)

    def plate(self, method: str, search: str):
        """The picture below a heading."""
        return (
            self.card(method, search)
            .locator("xpath=ancestor::div[@class='card']")
            .locator(".plate")
        )

    def click(self, method: str, search: str, place: tuple[float, float], extent: list[float]):
        """Click on a place of a small map, given in its frame."""
        plate = self.plate(method, search)
        plate.scroll_into_view_if_needed()
        box = plate.bounding_box()
        # As the component fits its frame into the picture, inside the border.
        width, height, margin = box["width"] - 2, box["height"] - 2, 9
        scale = min((width - 2 * margin) / extent[0], (height - 2 * margin) / extent[1])
        x = box["x"] + 1 + (width - scale * extent[0]) / 2 + scale * place[0]
        y = box["y"] + 1 + (height + scale * extent[1]) / 2 - scale * place[1]
        self.page.mouse.click(x, y)

    def marks(self) -> list[list[float]]:
        """The rings of all small maps, the selection's last."""
        return self.page.evaluate(
            "() => Object.values(document.wattfold_marks ?? {}).map(({rings}) => rings.at(-1))"
        )


@pytest.fixture(scope="module")
def driver(browser, served):
    """The page with the Compare tab in sight; at the end, nothing must have gone wrong in it."""
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    errors: list[str] = []
    page.on("console", lambda message: message.type == "error" and errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    driver = Maps(page)
    driver.open(served)
    # What no other test has measured, so that it is not stored.
    driver.mark()
    driver.choose("Distance", "Hellinger")
    driver.wait_for_news()
    page.get_by_role("tab", name="Compare").click()
    yield driver
    page.close()
    assert errors == []


def test_nothing_is_computed_before_it_is_asked_for(driver):
    expect(
        driver.page.get_by_text(re.compile(r"18 maps to compute, 60 points each"))
    ).to_be_visible()
    expect(driver.page.get_by_text("not computed yet")).to_have_count(18)
    for name in OFF:
        driver.button(name).click()
    expect(
        driver.page.get_by_text(re.compile(r"4 maps to compute, 60 points each"))
    ).to_be_visible()
    expect(driver.page.get_by_text("not computed yet")).to_have_count(4)


def test_maps_come_in_and_say_how_good_they_are(driver, runs):
    driver.button("Run").click()
    expect(driver.button("Cancel")).to_be_visible()
    expect(driver.page.get_by_text(re.compile("^4 maps of the same points"))).to_be_visible(
        timeout=3 * MINUTE
    )
    expect(driver.page.locator(".plate.drawn")).to_have_count(6)  # with two graphs
    # Both searches find the same neighbours: their maps are the same, and shown once.
    expect(driver.page.get_by_text(", ".join(SEARCHES), exact=True)).to_be_visible()
    for (method, search), result in runs.items():
        if search != "Exact":
            expect(driver.card(method, search)).to_be_hidden()
            continue
        trust = f"{result.quality.trustworthiness:.3f}".removeprefix("0")
        card = driver.card(method, search).locator("xpath=ancestor::div[@class='card']")
        expect(card).to_contain_text(f"T{trust}")
        recall = "1" if result.recall == 1 else f"{result.recall:.3f}".removeprefix("0")
        expect(card).to_contain_text(f"R{recall}")
        expect(card).to_contain_text(re.compile(r"\d s"))


def test_the_quality_table_has_the_numbers_of_the_runs(driver, runs):
    table = driver.page.locator(".tabulator").filter(has_text="Neighbours by")
    expect(table.locator(".tabulator-row")).to_have_count(4)
    for (method, search), result in runs.items():
        row = table.locator(".tabulator-row").filter(has_text=method).filter(has_text=search)
        for name in MEASURES:
            value = result.quality.measures()[name]
            cell = row.locator(f'.tabulator-cell[tabulator-field="{name}"]')
            expect(cell).to_have_text(f"{value:.3f}")
        recall = row.locator('.tabulator-cell[tabulator-field="recall"]')
        expect(recall).to_have_text(f"{result.recall:.3f}")
    # Those by Laplacian eigenmaps share more neighbours; all read the same trustworthiness.
    values = [result.quality.lcmc for result in runs.values()]
    for value in (min(values), max(values)):
        cell = table.locator('.tabulator-cell[tabulator-field="lcmc"]').filter(
            has_text=f"{value:.3f}"
        )
        expect(cell.first).to_have_css("font-weight", "700" if value == max(values) else "400")


def test_the_consensus_leads_to_a_point(driver, runs):
    found = find_consensus([result.hdr.rank for result in runs.values()], n_top=10)
    labels = next(iter(runs.values())).units["label"]
    table = driver.page.locator(".tabulator:visible").filter(has_text="Found by")
    rows = table.locator(".tabulator-row")
    # Homes that the detectors call unusual come first.
    expect(rows.first.locator('[tabulator-field="found by"]')).not_to_have_text("")
    first = rows.filter(has_text=labels.iat[found.points[0]])
    expect(first.locator('[tabulator-field="runs"]')).to_have_text(
        str(found.count[found.points[0]])
    )
    label = labels.iat[found.points[1]]
    selected = driver.page.get_by_text(re.compile(f"^{label} is selected"))
    for _ in range(5):
        # The table may be drawn anew under a click, when the last map has come in.
        rows.filter(has_text=label).click()
        with suppress(AssertionError):
            expect(selected).to_be_visible(timeout=MINUTE / 20)
            break
    expect(selected).to_be_visible()


def test_a_click_on_a_map_selects_on_all_and_on_explore(driver, runs):
    result = runs["ISOMAP", "Exact"]
    # The first map is not turned; a point with nobody close by, in its own frame.
    sides = np.ptp(result.y, axis=0)
    places = (result.y - result.y.min(axis=0)) / sides.max()
    apart = np.linalg.norm(places[:, None] - places[None], axis=2) + np.diag([9.0] * result.n)
    selected = driver.page.get_by_text(re.compile(r"^\S+ is selected")).inner_text().split()[0]
    lonely = np.argsort(-apart.min(axis=1))
    row = next(int(each) for each in lonely if result.units["label"].iat[each] != selected)
    before = driver.marks()
    driver.click("ISOMAP", "Exact", tuple(places[row]), list(sides / sides.max()))
    label = result.units["label"].iat[row]
    expect(driver.page.get_by_text(re.compile(f"^{label} is selected"))).to_be_visible()
    driver.page.wait_for_function(
        """before => Object.values(document.wattfold_marks)
            .every(({rings}, map) => String(rings.at(-1)) != String(before[map]))""",
        arg=before,
    )
    after = driver.marks()
    assert len(after) == 6
    # In the order in which the maps came in.
    assert any(np.allclose(mark[:2], places[row], atol=1e-5) for mark in after)
    driver.page.get_by_role("tab", name="Explore").click()
    driver.expect_title(label)
    driver.row(1).click()
    other = driver.row(1).inner_text()
    driver.expect_title(other)
    driver.page.get_by_role("tab", name="Compare").click()
    expect(driver.page.get_by_text(re.compile(f"^{other} is selected"))).to_be_visible()


def test_a_heading_opens_its_map_in_explore(driver, runs):
    result = runs["Laplacian eigenmaps", "Exact"]
    driver.card("Laplacian eigenmaps", "Exact").click()
    expect(driver.page.get_by_role("tab", name="Explore")).to_have_attribute(
        "aria-selected", "true"
    )
    x = sorted(result.y[:, 0].tolist())
    driver.wait_until(
        f"markers.data.x.length == 60 && Math.abs(Math.min(...markers.data.x) - {x[0]}) < 1e-9"
        f" && Math.abs(Math.max(...markers.data.x) - {x[-1]}) < 1e-9"
    )
    expect(driver.page.get_by_role("combobox", name="Map by")).to_contain_text(
        "Laplacian eigenmaps"
    )
    # The comparison is as it was: it never asked which of its maps Explore shows.
    driver.page.get_by_role("tab", name="Compare").click()
    expect(driver.page.get_by_text(re.compile("^4 maps of the same points"))).to_be_visible()
