#!/bin/sh
# Install packages of the system: sh .ci/install_packages.sh 'what needs them' PACKAGE...
#
# The administrator gets them at once. Anybody else is asked first if a terminal is there; without
# one nothing is installed and nothing waits: the command is printed, and the status is 1.
why=$1
shift
command="apt-get install $*"

give_up() {
  echo "$why: run '$command' as administrator, or install the same with your system's tool; then run make again." >&2
  exit 1
}

install_with() {
  "$@" apt-get update -qq && "$@" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $packages >/dev/null
}

packages=$*
command -v apt-get >/dev/null || give_up
if [ "$(id -u)" = 0 ]; then
  echo "$why: installing $packages ..." >&2
  install_with env || give_up
elif [ -t 0 ] && command -v sudo >/dev/null; then
  printf '%s: install %s with sudo? [y/N] ' "$why" "$packages" >&2
  read -r answer
  case $answer in
    y | Y | yes) install_with sudo || give_up ;;
    *) give_up ;;
  esac
else
  give_up
fi
