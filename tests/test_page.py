"""The page in a real browser."""

import re

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

MINUTE = 60_000
expect.set_options(timeout=MINUTE)

# Bokeh draws on a canvas; what it draws can be asked of its models.
AXIS_LABELS = """Bokeh.documents.flatMap(document => [...document._all_models.values()])
    .map(model => model.axis_label)"""


@pytest.fixture(scope="module")
def page(browser, served) -> Page:
    """The page with its first map drawn; at the end, nothing must have gone wrong in it.

    The tests go on where the one before left it, as a person does: opening it is the dear part.
    """
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    errors: list[str] = []
    hosts: set[str] = set()
    page.on("console", lambda message: message.type == "error" and errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: hosts.add(request.url.split("/")[2]))
    page.goto(served, timeout=3 * MINUTE)
    expect(page.get_by_text(re.compile(r"\d+ points in"))).to_be_visible(timeout=3 * MINUTE)
    yield page
    page.close()
    assert errors == []
    assert {host for host in hosts if host} == {served.removeprefix("http://")}


def anomaly(page: Page, row: int):
    """The cell that names an anomaly of the table."""
    return page.locator('.tabulator-row .tabulator-cell[tabulator-field="what"]').nth(row)


def test_the_page_opens_on_the_first_anomaly(page):
    text = re.compile(r"^anomaly rank 1 of \d+ · .* HDR · .* readings$")
    expect(page.get_by_text(text)).to_be_visible()
    label = anomaly(page, 0).inner_text()
    expect(page.get_by_role("heading", name=label, exact=True)).to_be_visible()


def test_a_click_in_the_table_goes_to_the_point(page):
    label = anomaly(page, 1).inner_text()
    anomaly(page, 1).click()
    expect(page.get_by_text(re.compile("^anomaly rank 2 of"))).to_be_visible()
    expect(page.get_by_role("heading", name=label, exact=True)).to_be_visible()


def test_another_method_draws_another_map(page):
    page.get_by_role("combobox", name="Method").click(timeout=MINUTE)
    page.get_by_role("menuitem", name="Laplacian").click()
    page.wait_for_function(AXIS_LABELS + ".includes('Laplacian eigenmaps 1')", timeout=MINUTE)
