#!/bin/sh
# The browser tests drive the system's Chromium; get one where that is possible.
for name in chromium chromium-browser google-chrome; do
  command -v $name >/dev/null && exit 0
done
sh .ci/install_packages.sh "The browser tests need Chromium" chromium
