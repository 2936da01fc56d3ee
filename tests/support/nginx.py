"""A real nginx with the configuration of deploy/, in front of servers on this machine."""

import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONFIGURATION = ROOT / "deploy" / "nginx.conf"
PROGRAM = shutil.which(
    "nginx", path=f"/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin:{ROOT}/.venv/nginx/usr/sbin"
)

_MAIN = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
{limits}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/wattfold.conf;
}}
"""


def main_limits() -> str:
    """The lines that the configuration asks to be set in nginx's own file."""
    marked = re.findall(
        r"^#   (worker_rlimit_nofile .*|events .*)$", CONFIGURATION.read_text(), re.M
    )
    assert len(marked) == 2
    return "\n".join(marked)


def adapt(text: str, *, port: int, servers: Sequence[int]) -> str:
    """The configuration for one port of this machine, without TLS, and for other servers."""
    text = re.sub(r"server \{\s+listen 80;.*?\n\}\n", "", text, flags=re.DOTALL)
    text = re.sub(r"listen 443 ssl;", f"listen 127.0.0.1:{port};", text)
    text = re.sub(r"\n\s+ssl_\w+ .*", "", text).replace(" Secure;", "")
    upstream = re.findall(r"    server 127\.0\.0\.1:\d+ .*\n", text)
    lines = "".join(re.sub(r":\d+ ", f":{server} ", upstream[0]) for server in servers)
    return text.replace("".join(upstream), lines)


@contextmanager
def behind_nginx(folder: Path, *, port: int, servers: Sequence[int]) -> Iterator[str]:
    """Put nginx in front of servers; yield its address."""
    assert PROGRAM is not None
    folder.mkdir(exist_ok=True)
    configuration = adapt(CONFIGURATION.read_text(), port=port, servers=servers)
    (folder / "wattfold.conf").write_text(configuration)
    (folder / "nginx.conf").write_text(_MAIN.format(folder=folder, limits=main_limits()))
    command = [PROGRAM, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", "stderr"]
    with subprocess.Popen(command) as process:
        address = f"http://localhost:{port}"
        try:
            while process.poll() is None and not _answers(address):
                time.sleep(0.05)
            assert process.poll() is None, "nginx ended"
            yield address
        finally:
            process.terminate()


def _answers(address: str) -> bool:
    try:
        urllib.request.urlopen(f"{address}/healthz", timeout=10).close()  # noqa: S310 (ours)
    except urllib.error.HTTPError as error:
        return error.code == 403  # as it should for everybody
    except urllib.error.URLError:
        return False
    return True
