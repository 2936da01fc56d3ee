"""Packages of the system: who is asked, who is not, and that nothing ever waits for nobody."""

import os
import pty
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / ".ci" / "install_packages.sh"


@pytest.fixture
def run(tmp_path):
    """Run the script with programs that only note how they were called."""
    programs, calls = tmp_path / "bin", tmp_path / "calls"
    programs.mkdir()

    def make(name: str, text: str) -> None:
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)

    make("apt-get", f'echo "apt-get $*" >>{calls}')
    make("sudo", f'echo "sudo" >>{calls}; exec "$@"')
    make("env", 'while case $1 in *=*) true;; *) false;; esac; do shift; done; exec "$@"')

    def run(
        *, user: int, answer: str | None = None, piped: str = "", without: str = ""
    ) -> tuple[int, str, str]:
        make("id", f"echo {user}")
        if without:
            (programs / without).unlink()
        ours, theirs = pty.openpty()
        out, into = os.pipe()
        try:
            os.write(into, piped.encode())
            os.close(into)
            os.write(ours, f"{answer}\n".encode())
            result = subprocess.run(
                ["/bin/sh", SCRIPT, "Maps need it", "g++", "make"],
                env={"PATH": str(programs)},
                stdin=out if answer is None else theirs,
                capture_output=True,
                text=True,
                timeout=30,
            )
        finally:
            os.close(ours)
            os.close(theirs)
            os.close(out)
        return result.returncode, result.stderr, calls.read_text() if calls.exists() else ""

    return run


INSTALLED = "apt-get update -qq\napt-get install -y -qq g++ make\n"


@pytest.mark.parametrize("answer", [None, "n"])
def test_the_administrator_is_not_asked(run, answer):
    status, said, calls = run(user=0, answer=answer)
    assert (status, calls) == (0, INSTALLED)
    assert "[y/N]" not in said


@pytest.mark.parametrize("piped", ["", "y\n"])
def test_others_without_a_terminal_get_the_command_and_a_failure(run, piped):
    status, said, calls = run(user=1000, piped=piped)
    assert (status, calls) == (1, "")
    assert "Maps need it: run 'apt-get install g++ make' as administrator" in said


@pytest.mark.parametrize("answer", ["", "n", "no", "what?"])
def test_others_at_a_terminal_may_say_no(run, answer):
    status, said, calls = run(user=1000, answer=answer)
    assert (status, calls) == (1, "")
    assert "install g++ make with sudo? [y/N]" in said
    assert "apt-get install g++ make" in said


def test_others_at_a_terminal_may_say_yes(run):
    status, _, calls = run(user=1000, answer="y")
    assert status == 0
    assert calls.replace("sudo\n", "") == INSTALLED
    assert calls.count("sudo\n") == 2


@pytest.mark.parametrize("without", ["apt-get", "sudo"])
def test_where_a_program_is_missing_nobody_is_asked(run, without):
    status, said, calls = run(user=1000, answer="y", without=without)
    assert (status, calls) == (1, "")
    assert "[y/N]" not in said


def test_nothing_else_installs_packages():
    makefile = (ROOT / "Makefile").read_text()
    assert "apt-get" not in makefile
    assert makefile.count("install_packages.sh") == 2
    assert "apt-get" not in (ROOT / "tests" / "get_chromium.sh").read_text()
