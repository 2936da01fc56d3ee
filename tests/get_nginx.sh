#!/bin/sh
# The tests of deploy/ put a real nginx before two servers. Debian's is unpacked below .venv: nothing
# is installed and no service starts. Where it cannot be had these tests are skipped, and say so.
to=.venv/nginx
command -v nginx >/dev/null || [ -x $to/usr/sbin/nginx ] && exit 0
command -v apt-get >/dev/null || exit 0
folder=$(mktemp -d)
get() { (cd "$folder" && apt-get download -qq nginx 2>/dev/null); }
get || { [ "$(id -u)" = 0 ] && apt-get update -qq && get; }
dpkg -x "$folder"/nginx_*.deb $to 2>/dev/null || echo "nginx is not to be had: its tests are skipped" >&2
rm -r "$folder"
