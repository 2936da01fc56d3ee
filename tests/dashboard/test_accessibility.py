"""The page for people who use it by keyboard, by ear, or need contrast."""

from typing import Any

import pytest
from page_driver import MINUTE, Driver
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

# What people operate, as assistive technology calls it.
CONTROLS = {
    *("button", "checkbox", "combobox", "link", "radio", "searchbox", "slider", "spinbutton"),
    *("switch", "tab", "textbox"),
}

# Contrast of text with what is behind it, as WCAG 2 has it; large text may have less.
_CONTRAST = """() => {
    const parse = text => {
        const found = text.match(/[\\d.]+/g)?.map(Number) ?? [0, 0, 0, 0]
        if (text.startsWith('color(srgb')) {  // from 0 to 1
            return [...found.slice(0, 3).map(part => 255 * part), found[3] ?? 1]
        }
        return found.length == 3 ? [...found, 1] : found
    }
    const light = ([r, g, b]) => [r, g, b].map(value => value / 255).map(value =>
        value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
        .reduce((sum, value, at) => sum + value * [0.2126, 0.7152, 0.0722][at], 0)
    const over = (top, below) => [0, 1, 2].map(at => top[at] * top[3] + below[at] * (1 - top[3]))
    const parent = node => node.assignedSlot ?? node.parentElement ?? node.getRootNode().host
    const behind = element => {
        const layers = []
        for (let node = element; node; node = parent(node)) {
            const color = parse(getComputedStyle(node).backgroundColor)
            if (color[3] > 0) layers.push(color)
            if (color[3] == 1) break
        }
        return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255])
    }
    const faults = new Map()
    let texts = 0
    const look = root => {
        for (const element of root.querySelectorAll('*')) {
            if (element.shadowRoot) look(element.shadowRoot)
            const own = [...element.childNodes].filter(node => node.nodeType == 3)
                .map(node => node.textContent.trim()).join(' ').trim()
            if (!own || !element.checkVisibility({opacityProperty: true, visibilityProperty: true}))
                continue
            if (element.closest('style, script, svg, :disabled, [aria-disabled=true]'))
                continue
            const box = element.getBoundingClientRect()
            if (box.width < 2 || box.height < 2) continue
            const style = getComputedStyle(element)
            const below = behind(element)
            const shades = [light(over(parse(style.color), below)), light(below)]
            const [a, b] = shades.sort((x, y) => y - x)
            const ratio = (a + 0.05) / (b + 0.05)
            const size = parseFloat(style.fontSize)
            const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700)
            texts += 1
            if (ratio < (large ? 3 : 4.5))
                faults.set(`${style.color} on ${below.map(Math.round)}`,
                           `${ratio.toFixed(2)}: ${own.slice(0, 40)}`)
        }
    }
    look(document)
    return {texts, faults: Object.fromEntries(faults)}
}"""

# Which element has the focus, through all shadow trees: a name to tell it by, or null for none.
_FOCUSED = """() => {
    let focused = document.activeElement
    while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement
    if (!focused || focused == document.body) return null
    const name = focused.getAttribute('aria-label') || focused.labels?.[0]?.innerText
        || focused.title || focused.innerText || ''
    return name.trim().split('\\n').at(-1) || focused.className.toString() || focused.tagName
}"""

# The step buttons of number fields, which their library leaves without a name; the field itself
# has one, and takes arrow keys.
_STEPS = ("button", "")
_FIELDS = ("spinbutton", "searchbox", "checkbox")


@pytest.fixture(scope="module")
def page(browser, served):
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    driver = Driver(page)
    driver.open(served)
    driver.open_settings()
    # The tree of what there is to operate follows the page.
    for _ in range(60):
        names = [name for _, name in controls(page)]
        if all(any(name.startswith(each) for name in names) for each in ("Note", "Map by")):
            break
        page.wait_for_timeout(500)
    yield page
    page.close()


def controls(page: Page) -> list[tuple[str, str]]:
    """Role and name of every control, as the browser tells them to assistive technology."""
    client = page.context.new_cdp_session(page)
    nodes: list[dict[str, Any]] = client.send("Accessibility.getFullAXTree")["nodes"]
    client.detach()
    told = [(node["role"]["value"], node) for node in nodes if not node["ignored"]]
    return [(role, node["name"]["value"].strip()) for role, node in told if role in CONTROLS]


def walk(page: Page, steps: int) -> list[str | None]:
    """Press Tab so many times and return what had the focus after each."""
    focused = []
    for _ in range(steps):
        page.keyboard.press("Tab")
        focused.append(page.evaluate(_FOCUSED))
    return focused


def test_controls_have_names(page):
    found = controls(page)
    names = [name for _, name in found]
    for wanted in (
        "Each point shows",
        "Distance",
        "Neighbours by",
        "Map by",
        "Colour by",
        "Find",
        "Note",
    ):
        assert any(name.startswith(wanted) for name in names), wanted
    # Filters of the table and the switch of colours are the next test's.
    unnamed = [each for each in found if not each[1] and each[0] not in _FIELDS]
    assert set(unnamed) <= {_STEPS}
    assert len(unnamed) == 2 * sum(role == "textbox" and name != "Note" for role, name in found)


def test_fields_have_names(page):
    assert [each for each in controls(page) if each[0] in _FIELDS and not each[1]] == []


def test_tab_leads_from_the_bar_through_the_choices_to_the_map(page):
    page.get_by_role("button", name="Settings").focus()
    focused = walk(page, 80)
    wanted = ("Explore", "Find", "Toggle theme", "Open data", "Seldom changed", "Anomalies")
    assert [name for name in focused if name in wanted] == list(wanted)


def test_tab_leads_through_the_detail(page):
    page.get_by_role("button", name="Pin", exact=True).focus()
    focused = walk(page, 40)
    assert focused[:3] == ["Open its week", "not on the list", "Note"]  # the second is its verdict
    links = page.locator("ol li button")
    assert len([name for name in focused if name and name.startswith("Go to")]) == links.count()


def test_tab_leads_from_the_table_to_the_detail(page):
    page.get_by_role("button", name="by size").focus()
    assert "Pin" in walk(page, 20)


def test_what_has_the_focus_is_outlined(page):
    page.locator("ol li button").first.focus()
    page.keyboard.press("Tab")
    outline = page.locator("ol li button").nth(1).evaluate("link => getComputedStyle(link).outline")
    assert "none" not in outline
    assert "0px" not in outline


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out(page, theme):
    switch = page.get_by_role("button", name="Toggle theme")
    if theme == "dark":
        switch.click()
    # Colours take their time to change.
    for _ in range(20):
        page.wait_for_timeout(500)
        seen = page.evaluate(_CONTRAST)
        if not seen["faults"]:
            break
    if theme == "dark":
        switch.click()
    assert seen["texts"] > 100
    assert seen["faults"] == {}


def test_the_table_tells_what_the_map_shows(page):
    """Who cannot see the map has every point that it marks, and why, as text."""
    headings = page.get_by_role("columnheader").all_inner_texts()
    assert {"Home", "What is unusual"} <= {heading.strip() for heading in headings}
    drawn = Driver(page).markers()
    marked = {
        name
        for name, marker in zip(drawn["label"], drawn["marker"], strict=True)
        if marker == "diamond"
    }
    rows = page.get_by_role("grid").first.locator(".tabulator-row")
    expect(rows.first).to_be_visible()
    listed = rows.locator('[tabulator-field="what"]').all_inner_texts()
    assert marked
    assert marked <= set(listed)


def test_a_dialog_takes_the_focus_and_escape_closes_it(page):
    page.get_by_role("button", name="Share or save").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


@pytest.mark.parametrize("name", ["Export", "Share or save", "Open data"])
def test_a_dialog_that_closes_gives_the_keyboard_back(page, name):
    button = page.get_by_role("button", name=name).first
    button.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_focused(timeout=MINUTE)  # only now does Escape reach it
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0, timeout=MINUTE)
    expect(button).to_be_focused(timeout=MINUTE)
