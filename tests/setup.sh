#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Has every Debian package that building, `make check` and `make demo` need: installs what is missing as root or through
# sudo, else prints the one command that does, and fails. Does nothing, and needs no network, when all is there.
set -eu

# what must be there:package. A name without a slash is a program.
need="
gcc:gcc make:make pkg-config:pkg-config ld:binutils dot:graphviz bats:bats xz:xz-utils zstd:zstd jq:jq git:git mandoc:mandoc
awk:mawk cmp:diffutils
/usr/include/stdio.h:libc6-dev
/usr/include/libelf.h:libelf-dev
/usr/include/elfutils/libdw.h:libdw-dev
/usr/include/bfd.h:binutils-dev
/usr/lib/*/libopcodes-multiarch.so:binutils-multiarch-dev
/usr/include/zstd.h:libzstd-dev
/usr/include/jansson.h:libjansson-dev
/usr/include/cmocka.h:libcmocka-dev
/usr/include/trace-cmd/trace-cmd.h:libtracecmd-dev
/usr/include/tracefs/tracefs.h:libtracefs-dev
/usr/include/traceevent/event-parse.h:libtraceevent-dev
"

is_there()
{
	case $1 in
	/*) compgen -G "$1" > /dev/null ;;
	*) command -v "$1" > /dev/null ;;
	esac
}

missing=
for pair in $need; do
	is_there "${pair%:*}" || missing="$missing ${pair##*:}"
done
[ -n "$missing" ] || exit 0

sudo=
if [ "$(id -u)" != 0 ]; then
	sudo=sudo
	if ! sudo -n true 2> /dev/null; then
		echo "hottext needs more packages; this installs them:" >&2
		echo "  sudo apt-get install -y --no-install-recommends$missing" >&2
		exit 1
	fi
fi
echo "installing$missing"
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq > /dev/null
# shellcheck disable=SC2086 # a list of words
$sudo apt-get install -y -qq --no-install-recommends $missing > /dev/null
