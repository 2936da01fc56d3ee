#!/bin/sh
# The browser tests drive the system's Chromium; get one where that is possible.
for name in chromium chromium-browser google-chrome; do
  command -v $name >/dev/null && exit 0
done
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  echo "Installing Chromium for the browser tests ..."
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null && exit 0
fi
echo "The browser tests need Chromium: install it (Debian: apt-get install chromium) and run make test again." >&2
exit 1
