"""How the server bears many people at once.

    python benchmarks/load.py [--dataset DIR] [--sessions 20] [--minutes 10] [--browsers 2]
           [--cycles 200]

Starts ``wattfold serve`` and drives it on loopback: real browsers that open the page and zoom, tap
and colour as a person does, and websocket clients that speak the protocol of the page, open it,
fetch all of it, and change the colours, the view and the method every two to six seconds. One comes
every six seconds; each leaves after two minutes and comes back. Who is told that the server is busy
asks again when told to. All of them give way to the server, as people on machines of their own do.
Meanwhile ``/healthz`` is asked twenty times a second: how long that takes is what anybody waits,
and its answer tells by how much the server's own beat was late, that is for how long the event loop
was blocked. Afterwards pages are opened and closed again and again, and the server's memory is
compared before and after. Writes benchmarks/results/load.md.
"""

import argparse
import asyncio
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from page_client import BusyError, PageClient, fetch, models_in  # noqa: E402 (shared with the tests)
from serving import serving  # noqa: E402

RESULTS = Path(__file__).parent / "results" / "load.md"
_PAUSE_SECONDS = 4.0
_SETTLE_SECONDS = 30.0  # in which the workers of a server that was just started get warm
_ARRIVAL_SECONDS = 6.0  # from one visitor to the next
_STAY_SECONDS = 120.0
_NICENESS = 5
_PROBE_SECONDS = 0.05
_GONE_SECONDS = 40.0
_TIDY_SECONDS = 15.0  # from the end of the last page to the end of what it left

_BLOCKED = "event loop blocked, worst of a minute"
_STILL_WAITING = "in the line when the time was up (websocket client)"
_BUSY = "told that the server is busy (websocket client)"

Times = dict[str, list[float]]


async def probe(host: str, times: Times, stopped: asyncio.Event) -> None:
    """Ask for a sign of life until all is over."""
    while not stopped.is_set():
        start = time.perf_counter()
        status, _, answer = await asyncio.to_thread(fetch, host, "/healthz")
        assert status == 200
        times["sign of life"].append(time.perf_counter() - start)
        times[_BLOCKED].append(json.loads(answer)["longest_delay_seconds"])
        await asyncio.sleep(_PROBE_SECONDS)


def model_with(document: object, **attributes: object) -> str:
    """The first model that has all these attributes."""
    return next(
        model
        for model, _, found in models_in(document)
        if attributes.items() <= {key: found.get(key) for key in attributes}.items()
    )


async def visit(host: str, times: Times, errors: list[str], until: float) -> None:
    """Be one person: open the page, then choose colours, methods and neighbours in turn.

    Who is told that the server is busy asks again when told to, as a browser does.
    """
    came = time.perf_counter()
    ticket = ""
    while time.monotonic() < until:
        asked = time.perf_counter()
        try:
            await use_page(PageClient(host, ticket=ticket), times, errors, until, came)
            return
        except BusyError as busy:
            times[_BUSY].append(time.perf_counter() - asked)
            ticket = busy.ticket
            await asyncio.sleep(busy.seconds)
    times[_STILL_WAITING].append(time.perf_counter() - came)


async def use_page(
    client: PageClient, times: Times, errors: list[str], until: float, came: float
) -> None:
    """Open the page and use it, unless the server is busy."""
    leave = min(time.monotonic() + _STAY_SECONDS, until)
    try:
        start = time.perf_counter()
        async with client as page:
            document = await page.pull()
            await page.tell_ready()
            now = time.perf_counter()
            times["open the page (websocket client)"].append(now - start)
            times["from coming to the page, told to wait or not (websocket client)"].append(
                now - came
            )
            turns = 0
            pauses = random.Random(len(times["open the page (websocket client)"]))
            while time.monotonic() < leave:
                await asyncio.sleep(pauses.uniform(0.5, 1.5) * _PAUSE_SECONDS)
                turns += 1
                name, label, value = (
                    ("colour", "Colour by", ("Density", "HDR")[turns % 2]),
                    ("method", "Map by", ("laplacian", "isomap")[turns % 2]),
                )[turns % 5 == 0]
                start = time.perf_counter()
                answer = await page.patch(model_with(document, label=label), "value", value)
                times[f"{name} (websocket client)"].append(time.perf_counter() - start)
                if answer["msgtype"] != "OK":
                    errors.append(f"{name}: {answer.get('text', answer['msgtype'])}")
    except BusyError:
        raise
    except Exception as error:  # it is what is counted here
        errors.append(f"{type(error).__name__}: {error}")


def browse(address: str, minutes: float) -> str:
    """A real browser that goes on for so long; what it measured, as Markdown lines."""
    repeats = max(2, int(minutes * 60 / 8))
    program = [sys.executable, ROOT / "benchmarks" / "load_browser.py", address, str(repeats)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return done.stdout
    return f"error\t{' '.join(done.stderr[-300:].split())}\n"


def server_process(address: str) -> int:
    """The process that serves an address."""
    port = address.rsplit(":", 1)[1]
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"--no-browser" in command and port.encode() in command:
            return int(folder.name)
    raise LookupError(f"no process serves {address}")


def memory_mb(process: int) -> float:
    """Its resident memory."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]


async def cycle(host: str, times: int, together: int = 2) -> None:
    """Open and close pages."""

    async def once() -> None:
        async with PageClient(host) as page:
            await page.pull()
            await asyncio.sleep(1)

    for _ in range(times // together):
        await asyncio.gather(*(once() for _ in range(together)))


async def measure(address: str, arguments: argparse.Namespace, log: Path) -> list[str]:
    """Put the load on the server and return what came of it, in lines of Markdown."""
    host = address.removeprefix("http://")
    process = server_process(address)
    # Whoever waits for a page waits in a thread; nobody is to wait for a thread.
    threads = ThreadPoolExecutor(max_workers=2 * arguments.sessions + 10)
    asyncio.get_running_loop().set_default_executor(threads)
    await asyncio.sleep(_SETTLE_SECONDS)
    times: Times = defaultdict(list)
    errors: list[str] = []
    stopped = asyncio.Event()
    probing = asyncio.create_task(probe(host, times, stopped))
    until = time.monotonic() + 60 * arguments.minutes

    async def come_and_go() -> None:
        while time.monotonic() < until:
            await visit(host, times, errors, until)

    browsers, visitors = [], []
    for number in range(arguments.sessions):
        if number < arguments.browsers:
            browsing = asyncio.to_thread(browse, address, (until - time.monotonic()) / 60)
            browsers.append(asyncio.create_task(browsing))
        else:
            visitors.append(asyncio.create_task(come_and_go()))
        await asyncio.sleep(_ARRIVAL_SECONDS)
    await asyncio.gather(*visitors)
    for text in await asyncio.gather(*browsers):
        for line in text.splitlines():
            name, _, value = line.partition("\t")
            if name == "error":
                errors.append(value)
            else:
                times[f"{name} (browser)"].append(float(value))
    stopped.set()
    await probing
    lines = ["| | median s | p95 s | worst s | times |", "|---|---|---|---|---|"]
    for name, values in sorted(times.items()):
        p95 = statistics.quantiles(values, n=20)[-1] if len(values) > 1 else values[0]
        lines.append(
            f"| {name} | {statistics.median(values):.2f} | {p95:.2f} | {max(values):.2f} "
            f"| {len(values)} |"
        )
    lines += ["", f"Errors: {len(errors)}. " + "; ".join(sorted(set(errors))[:3])]
    opened = log.read_text().count('"session opened"')
    await asyncio.sleep(_GONE_SECONDS)
    closed = log.read_text().count('"session closed"')
    lines.append(f"Sessions opened: {opened}; gone {_GONE_SECONDS:.0f} s after the last: {closed}.")
    if arguments.cycles:
        await cycle(host, max(10, arguments.cycles // 4))
        await asyncio.sleep(_GONE_SECONDS + _TIDY_SECONDS)
        before = memory_mb(process)
        await cycle(host, arguments.cycles)
        await asyncio.sleep(_GONE_SECONDS + _TIDY_SECONDS)
        after = memory_mb(process)
        lines.append(
            f"{arguments.cycles} pages opened and closed: {before:.0f} MB before, {after:.0f} MB "
            f"after, {(after - before) / arguments.cycles:.2f} MB a page."
        )
    return lines


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", type=Path, default=ROOT / "data" / "demo")
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--browsers", type=int, default=2)
    parser.add_argument("--cycles", type=int, default=200)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "server.log"
        options = ("--log-level", "info", "--max-sessions", "300")
        with serving(arguments.dataset, *options, errors=log) as address:
            os.nice(_NICENESS)  # the browsers are children of this process
            lines = asyncio.run(measure(address, arguments, log))
    title = (
        f"## {arguments.sessions} sessions, {arguments.browsers} of them browsers, "
        f"{arguments.minutes:g} min\n"
    )
    found = "\n".join([title, *lines]) + "\n"
    print(found)
    head = "# Load\n\n`python benchmarks/load.py`, see its head for what is measured.\n\n"
    kept = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else head
    others = [part for part in re.split(r"(?m)^(?=## )", kept) if not part.startswith(title)]
    RESULTS.write_text("".join(others).rstrip() + "\n\n" + found, encoding="utf-8")


if __name__ == "__main__":
    main()
