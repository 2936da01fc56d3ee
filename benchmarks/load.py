"""How the server bears many people at once.

    python benchmarks/load.py [--sessions 20] [--minutes 10]          one process
    python benchmarks/load.py --processes 2 --sessions 50             two of them behind nginx
    python benchmarks/load.py --minutes 0 --pages 500                 memory alone

Starts ``wattfold serve`` and drives it on loopback: real browsers that open the page and zoom, tap
and colour as a person does, and websocket clients that speak the protocol of the page, open it,
fetch all of it, and choose a colour or a home every two to six seconds. One comes every six
seconds; each leaves after two minutes and comes back. All of them have a lower priority than the
server, as if on machines of their own. Meanwhile ``/healthz`` is asked twenty times a second: how
long that takes is what anybody waits, and its answer tells for how long the event loop was blocked.
Afterwards pages are opened and closed, and the memory after all of them is compared with that after
the first fifty. Writes benchmarks/results/load.md.
"""

import argparse
import asyncio
import json
import os
import random
import re
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from nginx import behind_nginx  # noqa: E402 (shared with the tests)
from page_client import BusyError, PageClient, fetch, models_in  # noqa: E402
from serving import free_port, wait_for  # noqa: E402

RESULTS = Path(__file__).parent / "results" / "load.md"
_PAUSE_SECONDS = 4.0
_SETTLE_SECONDS = 30.0  # in which the workers of a server that was just started get warm
_ARRIVAL_SECONDS = 6.0  # from one visitor to the next
_STAY_SECONDS = 120.0
_NICENESS = 5
_PROBE_SECONDS = 0.05
# From the last page that is closed to the end of its session, and of what is left of it.
_GONE_SECONDS = 55.0
_FIRST_PAGES = 50

_OPEN = "open the page (websocket client)"
_BLOCKED = "event loop blocked, worst of a minute"
_REFUSED = "refused: as many as allowed are on it (websocket client)"
# The 95th percentile of what people wait for, in seconds.
_GOALS = {
    "zoom (browser)": 1.0,
    "tap: all of the detail (browser)": 1.0,
    "colour (browser)": 1.0,
    "colour (websocket client)": 1.0,
    _OPEN: 4.0,
}


@dataclass(frozen=True)
class Site:
    """The processes that serve, and where people find them."""

    address: str
    processes: list["subprocess.Popen[bytes]"]
    ports: list[int]
    logs: list[Path]

    @property
    def host(self) -> str:
        """Host and port that people ask."""
        return self.address.removeprefix("http://")

    def count(self, event: str) -> int:
        """How often an event is in the logs."""
        return sum(log.read_text().count(f'"{event}"') for log in self.logs)

    def memory_mb(self) -> float:
        """What the processes have resident, their workers not counted."""
        found = (Path(f"/proc/{process.pid}/status").read_text() for process in self.processes)
        return sum(int(re.search(r"VmRSS:\s+(\d+)", text)[1]) for text in found) / 1024  # type: ignore[index]


@dataclass
class Findings:
    """What was measured."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)

    def as_markdown(self) -> list[str]:
        """A table of times, then errors and facts."""
        lines = [
            "| | median s | p95 s | worst s | times | goal, p95 |",
            "|---|---|---|---|---|---|",
        ]
        for name, values in sorted(self.seconds.items()):
            p95 = statistics.quantiles(values, n=20)[-1] if len(values) > 1 else values[0]
            goal = _GOALS.get(name)
            verdict = "" if goal is None else f"{goal:g} s: {'met' if p95 <= goal else 'missed'}"
            lines.append(
                f"| {name} | {statistics.median(values):.2f} | {p95:.2f} | {max(values):.2f} "
                f"| {len(values)} | {verdict} |"
            )
        examples = "; ".join(sorted(set(self.errors))[:3])
        return [*lines, "", f"Errors: {len(self.errors)}. {examples}".rstrip(), *self.facts]


def start(arguments: argparse.Namespace, stack: ExitStack) -> Site:
    """Start the processes, and nginx before them if they are several."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    ports = [free_port() for _ in range(arguments.processes)]
    front = ports[0] if len(ports) == 1 else free_port()
    logs = [folder / f"{port}.log" for port in ports]
    secret = secrets.token_hex(16)
    options = ["--log-level", "info", "--max-sessions", "300"]
    if len(ports) > 1:
        options += ["--behind-proxy", "--allow-origin", f"localhost:{front}"]
    program = [sys.executable, "-c", "from dashboard.cli import main; main()", "serve"]
    processes = []
    for port, log in zip(ports, logs, strict=True):
        command = [*program, arguments.dataset, "--port", str(port), "--no-browser", *options]
        with log.open("wb") as errors:
            environment = {**os.environ, "BOKEH_SECRET_KEY": secret}
            process = subprocess.Popen(command, cwd=ROOT, stderr=errors, env=environment)
        processes.append(process)
    for process in processes:
        stack.callback(process.wait, timeout=60)
        stack.callback(process.terminate)
    for process, port in zip(processes, ports, strict=True):
        wait_for(port, lambda process=process: process.poll() is None)
    if len(ports) > 1:
        stack.enter_context(behind_nginx(folder / "nginx", port=front, servers=ports))
    return Site(f"http://localhost:{front}", processes, ports, logs)


async def probe(port: int, found: Findings, stopped: asyncio.Event) -> None:
    """Ask a process for a sign of life until all is over."""
    while not stopped.is_set():
        start = time.perf_counter()
        status, _, answer = await asyncio.to_thread(fetch, f"localhost:{port}", "/healthz")
        assert status == 200
        found.seconds["sign of life"].append(time.perf_counter() - start)
        found.seconds[_BLOCKED].append(json.loads(answer)["longest_delay_seconds"])
        await asyncio.sleep(_PROBE_SECONDS)


def model_with(document: object, **attributes: object) -> str:
    """The first model that has all these attributes."""
    return next(
        model
        for model, _, found in models_in(document)
        if attributes.items() <= {key: found.get(key) for key in attributes}.items()
    )


def homes_in(document: object) -> list[str]:
    """What the search field of a page offers."""
    search = model_with(document, label="Find")
    return next(
        list(found["options"]) for model, _, found in models_in(document) if model == search
    )


async def visit(site: Site, found: Findings, until: float) -> None:
    """Be one person: open the page, then choose colours and look at homes in turn."""
    leave = min(time.monotonic() + _STAY_SECONDS, until)
    start = time.perf_counter()
    try:
        async with PageClient(site.host) as page:
            document = await page.pull()
            await page.tell_ready()
            found.seconds[_OPEN].append(time.perf_counter() - start)
            pauses = random.Random(len(found.seconds[_OPEN]))
            colors = model_with(document, label="Colour by")
            search, homes = model_with(document, label="Find"), homes_in(document)
            turns = 0
            while time.monotonic() < leave:
                await asyncio.sleep(pauses.uniform(0.5, 1.5) * _PAUSE_SECONDS)
                turns += 1
                name, model, value = (
                    ("colour", colors, ("Mean demand", "HDR")[turns % 2]),
                    ("a home", search, pauses.choice(homes)),
                )[turns % 3 == 0]
                start = time.perf_counter()
                answer = await page.patch(model, "value", value)
                found.seconds[f"{name} (websocket client)"].append(time.perf_counter() - start)
                if answer["msgtype"] != "OK":
                    found.errors.append(f"{name}: {answer.get('text', answer['msgtype'])}")
    except BusyError as busy:
        found.seconds[_REFUSED].append(time.perf_counter() - start)
        await asyncio.sleep(busy.seconds)
    except Exception as error:  # it is what is counted here
        found.errors.append(f"{type(error).__name__}: {error}")


def browse(address: str, minutes: float) -> str:
    """A real browser that goes on for so long; what it measured, as lines."""
    repeats = max(2, int(minutes * 60 / 8))
    program = [sys.executable, ROOT / "benchmarks" / "load_browser.py", address, str(repeats)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return done.stdout
    return f"error\t{' '.join(done.stderr[-300:].split())}\n"


async def use_together(site: Site, arguments: argparse.Namespace, found: Findings) -> None:
    """Have many people on the page for some minutes."""
    stopped = asyncio.Event()
    probing = [asyncio.create_task(probe(port, found, stopped)) for port in site.ports]
    until = time.monotonic() + 60 * arguments.minutes

    async def come_and_go() -> None:
        while time.monotonic() < until:
            await visit(site, found, until)

    browsers, visitors = [], []
    for number in range(arguments.sessions):
        if number < arguments.browsers:
            browsing = asyncio.to_thread(browse, site.address, (until - time.monotonic()) / 60)
            browsers.append(asyncio.create_task(browsing))
        else:
            visitors.append(asyncio.create_task(come_and_go()))
        await asyncio.sleep(_ARRIVAL_SECONDS)
    await asyncio.gather(*visitors)
    for text in await asyncio.gather(*browsers):
        for line in text.splitlines():
            name, _, value = line.partition("\t")
            if name == "error":
                found.errors.append(value)
            else:
                found.seconds[f"{name} (browser)"].append(float(value))
    stopped.set()
    await asyncio.gather(*probing)
    opened = site.count("session opened")
    await asyncio.sleep(_GONE_SECONDS)
    closed = site.count("session closed")
    found.facts.append(f"Sessions opened: {opened}; closed {_GONE_SECONDS:.0f} s later: {closed}.")


async def open_and_close(site: Site, pages: int, found: Findings) -> None:
    """Open and close pages, two at a time, and compare the memory afterwards."""

    async def once() -> None:
        async with PageClient(site.host) as page:
            await page.pull()
            await page.tell_ready()

    async def repeat(times: int) -> float:
        for _ in range(times // 2):
            await asyncio.gather(once(), once())
        await asyncio.sleep(_GONE_SECONDS)
        return site.memory_mb()

    first = min(_FIRST_PAGES, pages // 2)
    before = await repeat(first)
    after = await repeat(pages - first)
    found.facts.append(
        f"Memory after {first} pages opened and closed: {before:.0f} MB; after {pages}: "
        f"{after:.0f} MB, {after / before:.2f} times as much (goal: at most 1.3, 50 and 500 pages)."
    )


async def measure(site: Site, arguments: argparse.Namespace) -> Findings:
    """Put the load on the server and return what came of it."""
    # Whoever waits for a page waits in a thread; nobody is to wait for a thread.
    threads = ThreadPoolExecutor(max_workers=2 * arguments.sessions + 10)
    asyncio.get_running_loop().set_default_executor(threads)
    await asyncio.sleep(_SETTLE_SECONDS)
    found = Findings()
    if arguments.minutes:
        await use_together(site, arguments, found)
    if arguments.pages:
        await open_and_close(site, arguments.pages, found)
    return found


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", type=Path, default=ROOT / "data" / "demo")
    parser.add_argument("--processes", type=int, default=1, help="more than one: behind nginx")
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=10, help="0: no sessions at once")
    parser.add_argument("--browsers", type=int, default=2, help="so many of the sessions")
    parser.add_argument("--pages", type=int, default=0, help="opened and closed, for the memory")
    parser.add_argument("--no-write", action="store_true", help="only print what was measured")
    arguments = parser.parse_args()
    with ExitStack() as stack:
        site = start(arguments, stack)
        os.nice(_NICENESS)  # the browsers are children of this process
        found = asyncio.run(measure(site, arguments))
    where = "one process" if arguments.processes == 1 else f"{arguments.processes} behind nginx"
    people = f"{arguments.sessions} sessions, {arguments.browsers} of them browsers"
    what = (
        f"{people}, {arguments.minutes:g} min" if arguments.minutes else "pages opened and closed"
    )
    title = f"## {what}, {where}\n"
    text = "\n".join([title, *found.as_markdown()]) + "\n"
    print(text)
    if arguments.no_write:
        return
    head = "# Load\n\n`python benchmarks/load.py`, see its head for what is measured.\n\n"
    kept = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else head
    others = [part for part in re.split(r"(?m)^(?=## )", kept) if not part.startswith(title)]
    RESULTS.write_text("".join(others).rstrip() + "\n\n" + text, encoding="utf-8")


if __name__ == "__main__":
    main()
