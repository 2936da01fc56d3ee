"""The worklist in a real browser: flagged by key, judged, kept, printed."""

import re

import pytest
from page_driver import MINUTE, Driver
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

expect.set_options(timeout=MINUTE)


def tab(driver, name):
    return driver.page.get_by_role("tab", name=re.compile(f"^{name}"))


def test_homes_are_flagged_by_key_and_judged_by_click(driver):
    page, first = driver.page, driver.title()
    page.keyboard.press("f")
    expect(tab(driver, "Worklist")).to_have_text("Worklist1")
    page.keyboard.press("ArrowDown")
    expect(page.locator("h2").first).not_to_have_text(first)
    second = driver.title()
    driver.choose("Worklist (F)", "fault")
    expect(tab(driver, "Worklist")).to_have_text("Worklist2")
    tab(driver, "Worklist").click()
    expect(driver.row(0)).to_have_text(first)
    expect(driver.row(1)).to_have_text(second)
    expect(
        page.get_by_text(re.compile("^1 of 2 homes looked into. Right so far: 1 of 1"))
    ).to_be_visible()


def test_a_price_turns_kwh_into_money(driver):
    price = driver.page.get_by_label("Price of a kWh")
    price.fill("£0.30")
    price.press("Enter")
    money = driver.page.locator('.tabulator-cell[tabulator-field="money"]:visible').first
    expect(money).to_have_text(re.compile(r"^[+−]£[\d,]+$"))


def test_the_case_file_is_downloaded(driver):
    with driver.page.expect_download(timeout=2 * MINUTE) as download:
        driver.button("Print case file").click()
    assert download.value.suggested_filename == "wattfold-cases.pdf"
    assert download.value.path().read_bytes().startswith(b"%PDF")


def test_more_like_these_are_listed_and_lead_to_the_homes(driver):
    page = driver.page
    flagged = {driver.row(0).inner_text(), driver.row(1).inner_text()}
    driver.button("More like these").click()
    expect(page.get_by_text(re.compile("^More like .*; in common: "))).to_be_visible()
    alike = driver.row(0)
    expect(alike).not_to_have_text(re.compile("|".join(flagged)))
    home = alike.inner_text()
    alike.click()
    driver.expect_title(home)
    driver.button("Back to the worklist").click()
    expect(driver.row(1)).to_be_visible()


def test_the_browser_keeps_the_list_and_undo_takes_back_this_visit(driver, served):
    page = driver.page
    driver.open(served)
    expect(tab(driver, "Worklist")).to_have_text("Worklist2")
    tab(driver, "Worklist").click()
    # The list, which alone has money, in place of that of unusual homes.
    expect(page.locator('.tabulator-cell[tabulator-field="money"]:visible')).to_have_count(2)
    driver.row(1).click()
    verdict = page.get_by_role("combobox", name="Worklist (F)")
    expect(verdict).to_have_text("fault")
    driver.choose("Worklist (F)", "EV")
    expect(page.get_by_role("option", name="EV")).to_have_count(0)
    page.keyboard.press("Control+z")
    expect(verdict).to_have_text("fault")
    page.keyboard.press("Control+Shift+z")
    expect(verdict).to_have_text("EV")
    page.keyboard.press("Control+z")
    expect(verdict).to_have_text("fault")


def test_two_pages_of_one_browser_share_the_list(driver, served):
    other = Driver(driver.page.context.new_page())
    other.open(served)
    expect(tab(other, "Worklist")).to_have_text("Worklist2")
    page = other.page
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    other.expect_title(other.row(2).inner_text())
    page.keyboard.press("f")
    for each in (other, driver):
        expect(tab(each, "Worklist")).to_have_text("Worklist3")
    driver.choose("Worklist (F)", "theft")
    page.keyboard.press("Control+z")  # of the other page's flag, and of nothing else
    for each in (other, driver):
        expect(tab(each, "Worklist")).to_have_text("Worklist2")
    page.reload()
    expect(tab(other, "Worklist")).to_have_text("Worklist2")
    expect(driver.page.get_by_text(re.compile("^1 of 2 homes"))).to_be_visible()
    page.close()
