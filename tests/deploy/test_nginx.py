"""Two processes behind a real nginx, with the configuration that deploy/ has."""

import asyncio
import json
import re
import shutil
import socket
from contextlib import AsyncExitStack, ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from nginx import PROGRAM, behind_nginx
from page_client import PageClient, fetch, models_in, run_alone
from page_driver import MINUTE, Driver
from playwright.sync_api import expect
from serving import free_port, start_server, stop, wait_for

from core.readings import Dataset
from core.runs import Runner, Store
from core.runs.anomaly_stage import STAGE
from dashboard.state import Explorer

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="nginx is not installed")


class Site:
    """Two processes that share a store, and nginx before them."""

    def __init__(self, stack: ExitStack, dataset: Path, cache: Path, folder: Path) -> None:
        shutil.copytree(cache / STAGE, folder / "cache" / STAGE)
        self.store = Store(folder / "cache")
        self.make_map(Dataset.open(dataset))
        port = free_port()
        self.ports = [free_port(), free_port()]
        self.logs = [folder / f"log-{each}" for each in self.ports]
        options = ("--behind-proxy", "--allow-origin", f"localhost:{port}", "--log-level", "info")
        environment = {"WATTFOLD_CACHE": str(self.store.path), "BOKEH_SECRET_KEY": "of both"}
        self.processes = [
            start_server(dataset, *options, port=each, errors=log, **environment)
            for each, log in zip(self.ports, self.logs, strict=True)
        ]
        for process in self.processes:
            stack.callback(stop, process)
        for process, each in zip(self.processes, self.ports, strict=True):
            wait_for(each, process.is_alive)
        self.address = stack.enter_context(
            behind_nginx(folder / "nginx", port=port, servers=self.ports)
        )
        self.host = self.address.removeprefix("http://")

    def make_map(self, dataset: Dataset, **choices: str) -> None:
        """Have a map in the store, so that no page waits for it."""
        explorer = Explorer(dataset)
        explorer.param.update(**choices)  # a choice can change others, as on the page
        Runner(dataset, store=self.store).run(explorer.config())

    def opened(self) -> list[int]:
        """How many sessions each process has had."""
        return [log.read_text().count('"session opened"') for log in self.logs]

    async def visit_both(self, stack: AsyncExitStack) -> list[PageClient]:
        """Open a page on each process."""
        pages: dict[int, PageClient] = {}
        for number in range(20):
            before = self.opened()
            page = PageClient(self.host, cookie=f"wattfold=visitor-{number}")
            await stack.enter_async_context(page)
            after = self.opened()
            (process,) = [i for i in (0, 1) if after[i] > before[i]]
            pages.setdefault(process, page)
            if len(pages) == 2:
                return [pages[0], pages[1]]
        raise AssertionError("nginx sends everybody to one process")


@pytest.fixture(scope="module")
def site(demo_path, cache, anomalies, tmp_path_factory):
    with ExitStack() as stack:
        yield Site(stack, demo_path, cache, tmp_path_factory.mktemp("site"))


def test_health_is_not_shown_to_visitors(site):
    assert fetch(site.host, "/healthz")[0] == 403
    assert fetch(site.host, "/readyz")[0] == 403


def test_a_session_stays_on_its_process(site):
    async def visit() -> None:
        async with AsyncExitStack() as stack:
            await site.visit_both(stack)
            before = site.opened()
            # Without a cookie at first, as everybody; nginx gives one.
            for _ in range(4):
                page = await stack.enter_async_context(PageClient(site.host))
                assert "wattfold=" in page.cookie
                assert await page.pull()
            # A websocket on the other process would have made another session there.
            assert sum(site.opened()) == sum(before) + 4

    run_alone(visit())


def test_a_thousand_slow_clients_hold_nobody_up(site):
    address = ("localhost", int(site.host.partition(":")[2]))
    with ExitStack() as stack:
        slow = []
        for _ in range(1000):
            slow.append(stack.enter_context(socket.create_connection(address, timeout=10)))
            slow[-1].sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")

        async def visit() -> None:
            async with PageClient(site.host) as page:
                assert "roots" in await page.pull()

        run_alone(visit())
        # None of them has reached a process of Wattfold; nginx gives up on all.
        for port in site.ports:
            assert fetch(f"localhost:{port}", "/healthz")[0] == 200
        assert all(is_given_up(each) for each in slow)


def is_given_up(connection: socket.socket) -> bool:
    connection.settimeout(60)
    try:
        while connection.recv(4096):  # 408, perhaps
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return False
    return True


MARK = "This entry was stored by the test"


def test_both_processes_wait_for_one_computation_and_read_it(site, demo_path):
    """The test computes what both are asked for, and stores the end of it while they wait."""
    before = set(site.store.path.glob("density/*"))
    site.make_map(Dataset.open(demo_path), unit="households")
    (stored,) = set(site.store.path.glob("density/*")) - before
    digest = stored.name
    entry = site.store.get("density", digest)
    marked = replace(entry, facts={**entry.facts, "notices": [MARK]})
    shutil.rmtree(stored)

    async def ask() -> None:
        async with AsyncExitStack() as stack:
            pages = await site.visit_both(stack)
            with site.store.computing("density", digest):
                for page in pages:
                    settings = await find_model(page, "the settings")
                    await page.tell_ready()
                    assert (await page.patch(settings, "open", True))["msgtype"] == "OK"
                    choice = await find_model(page, "Each point shows")
                    answer = await page.patch(choice, "value", "households")
                    assert answer["msgtype"] == "OK"
                for page in pages:
                    await wait_for_text(page, "Waiting for the same computation")
                site.store.put("density", digest, marked)
            for page in pages:
                await wait_for_text(page, MARK)

    run_alone(ask())


async def find_model(page: PageClient, label: str) -> str:
    """Wait until the page has a model with this label, and return its id."""
    async with asyncio.timeout(120):
        while True:
            for model, _, found in models_in(await page.pull()):
                if found.get("label") == label:
                    return model
            await asyncio.sleep(0.2)


async def wait_for_text(page: PageClient, text: str) -> None:
    async with asyncio.timeout(120):
        while text not in json.dumps(await page.pull()):
            await asyncio.sleep(0.2)


@pytest.mark.browser
def test_visitors_of_a_killed_process_are_told_and_served_by_the_other(site, browser):
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    page = context.new_page()
    before = site.opened()
    page.goto(site.address, timeout=3 * MINUTE)
    Driver(page).wait_for_map()
    (mine,) = [i for i in (0, 1) if site.opened()[i] > before[i]]
    site.processes[mine].kill()
    notice = page.get_by_role("alert").filter(has_text=re.compile("connection to the server"))
    expect(notice).to_be_visible(timeout=MINUTE)
    notice.get_by_role("button", name="Reload").click()
    Driver(page).wait_for_map()
    expect(notice).to_have_count(0)
    context.close()
