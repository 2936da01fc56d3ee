"""A server that is gone is told, and not left to be guessed from silence."""

import re

import pytest
from page_driver import MINUTE
from playwright.sync_api import expect
from serving import serving

pytestmark = pytest.mark.browser


def test_a_lost_connection_is_told(browser, demo_path, tmp_path):
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    notice = page.get_by_role("alert").filter(has_text=re.compile("connection to the server"))
    with serving(demo_path, cache=tmp_path) as address:
        page.goto(address, timeout=3 * MINUTE)
        expect(page.get_by_role("button", name="Export")).to_be_visible(timeout=MINUTE)
        expect(notice).to_have_count(0)
    expect(notice).to_be_visible(timeout=MINUTE)
    expect(notice.get_by_role("button", name="Reload")).to_be_visible()
    page.close()
