"""A person who follows a page of the documentation to the letter.

``python tests/support/doc_page.py`` imports everything once, and takes lines of a folder and a page
as JSON. For each it prints how that went, in words if it failed, after it did in that folder, in a
process of its own, from top to end:

- `bash` blocks line by line. ``wattfold`` runs in that process; ``serve`` checks its data and
  settings and then does not wait for visitors. Other commands are looked up and started.
- `python` blocks, each with the names of those before it.
- `text` blocks are what the block before printed: each line has to be in it, whatever its
  spaces. ``…`` stands for lines that are left out.

A comment ``<!-- not run: why -->`` before a block says that it is not run, and why; flags of
``wattfold`` and targets of ``make`` in it are still looked up. So it is with indented blocks.
"""

import contextlib
import io
import itertools
import json
import multiprocessing
import os
import re
import runpy
import shlex
import socket
import subprocess
import sys
import textwrap
import traceback
from dataclasses import dataclass
from pathlib import Path

import core
from core.cli import build_parser, main
from core.commands import COMMANDS
from dashboard.server import serve

MAKEFILE = Path(__file__).parents[2] / "Makefile"

_COMMANDS = (*COMMANDS, serve)
_FENCE = re.compile(r"^ *```(.*)$")
_NOT_RUN = re.compile(r"^<!-- not run: (.+) -->$")
_LANGUAGES = {"bash", "python", "text", "bibtex", "dockerfile", "ini", "nginx", "{toctree}"}


@dataclass(frozen=True)
class Block:
    """A block of code: its language, text and line, and why it is not run, if it is not."""

    language: str
    text: str
    line: int
    not_run: str = ""

    def commands(self) -> list[str]:
        """The lines of a shell block, those that go on joined, comments left out."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [line for line in lines if line.strip() and not line.startswith("#")]


def read_blocks(page: Path) -> list[Block]:
    """Return the blocks of a page; raise for a language of which nothing is known here."""
    blocks, inside, why = [], None, ""
    lines = page.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        fence = _FENCE.match(line)
        if inside is not None:
            if fence:
                language, start = inside
                text = "\n".join(lines[start : number - 1])
                blocks.append(Block(language, text, start + 1, why))
                inside, why = None, ""
        elif fence:
            if fence[1] not in _LANGUAGES:
                raise ValueError(f"{page.name}, line {number}: nothing is known of {fence[1]!r}")
            inside = (fence[1], number)
        elif note := _NOT_RUN.match(line):
            why = note[1]
        elif line.startswith("    ") and not lines[number - 2].strip():
            rest = itertools.takewhile(lambda each: each.startswith("    "), lines[number - 1 :])
            text = textwrap.dedent("\n".join(rest))
            blocks.append(Block("indented", text, number, "indented blocks are not run"))
    return blocks


def follow(page: Path) -> None:
    """Do what a page says, in the current folder."""
    names: dict = {}
    printed = ""
    for block in read_blocks(page):
        place = f"{page.name}, line {block.line}"
        if block.language == "text":
            expect_lines(block, printed, place)
        elif block.language in ("bash", "indented"):
            printed = "".join(run_command(line, block, place) for line in block.commands())
        elif block.language == "python":
            script = Path(f"line-{block.line}.py")
            script.write_text(block.text, encoding="utf-8")
            with contextlib.redirect_stdout(io.StringIO()) as output:
                names = runpy.run_path(str(script), init_globals=names)
            printed = output.getvalue()
            script.unlink()


def run_command(line: str, block: Block, place: str) -> str:
    """Run a line of a shell block and return what it prints; raise if it fails."""
    if block.not_run and not line.startswith(("wattfold ", "make ")):
        return ""
    words = shlex.split(line, comments=True)
    if words[0] != "wattfold":
        if block.not_run:
            check_target(words, place)
            return ""
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(f"{place}: {line} failed:\n{done.stderr}")
        return done.stdout
    if block.not_run:
        build_parser(_COMMANDS, words[1:]).parse_args(words[1:])
        return ""
    if words[1] == serve.NAME:
        words += ["--check", "--port", str(free_port())]
    errors = io.StringIO()
    with (
        contextlib.redirect_stdout(io.StringIO()) as output,
        contextlib.redirect_stderr(errors),
    ):
        status = main(words[1:], _COMMANDS)
    if status:
        raise AssertionError(f"{place}: {line} ended with {status}: {errors.getvalue()}")
    return output.getvalue()


def check_target(words: list[str], place: str) -> None:
    """Raise for a ``make`` that would find nothing to make."""
    if words[0] == "make" and f"\n{words[1]}:" not in MAKEFILE.read_text(encoding="utf-8"):
        raise AssertionError(f"{place}: the Makefile has no {words[1]}")


def free_port() -> int:
    """A port that nobody listens on: the reader's own may be taken by a page that is open."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


def expect_lines(block: Block, printed: str, place: str) -> None:
    """Raise unless every line of a block was printed."""
    there = {" ".join(line.split()) for line in printed.splitlines()}
    for line in block.text.splitlines():
        if " ".join(line.split()) not in {*there, "…", ""}:
            raise AssertionError(f"{place}: not printed: {line!r}, but\n{printed}")


def follow_apart(folder: str, page: str) -> str:
    """Do what a page says in a fork of this process; return what went wrong."""
    reader, writer = multiprocessing.Pipe(duplex=False)
    if child := os.fork():
        writer.close()
        said = str(reader.recv())
        os.waitpid(child, 0)
        return said
    os.chdir(folder)
    try:
        follow(Path(page))
        writer.send("")
    except BaseException:  # a wrong flag ends the program
        writer.send(traceback.format_exc())
    sys.exit()


if __name__ == "__main__":
    for name in core.__all__:  # each is imported when it is first asked for
        getattr(core, name)
    for line in sys.stdin:
        print(json.dumps(follow_apart(*json.loads(line))), flush=True)
