"""What is wrong is said on the page."""

import re

import pytest
from page_driver import MINUTE, Driver
from playwright.sync_api import expect
from serving import serving

from core.demo import make_demo

pytestmark = pytest.mark.browser


def test_replaced_data_and_a_lost_connection_are_said(browser, tmp_path):
    data = make_demo(tmp_path / "demo", households=12, days=21, seed=1).path
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    notice = page.get_by_role("alert").filter(has_text=re.compile("were replaced, moved"))
    lost = page.get_by_role("alert").filter(has_text=re.compile("connection to the server"))
    often = "from dashboard import session; session._LOOK_MILLISECONDS = 500"
    with serving(data, cache=tmp_path / "cache", first=often) as address:
        page.goto(address, timeout=3 * MINUTE)
        Driver(page).wait_for_map(12)
        expect(notice).to_have_count(0)
        make_demo(data, households=13, days=21, seed=2)
        expect(notice).to_be_visible(timeout=MINUTE)
        notice.get_by_role("button", name="Reload").click()
        Driver(page).wait_for_map(13)
        expect(notice).to_have_count(0)
        expect(lost).to_have_count(0)
    expect(lost).to_be_visible(timeout=MINUTE)
    expect(lost.get_by_role("button", name="Reload")).to_be_visible()
    page.close()
