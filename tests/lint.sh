#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# lint.sh [PART...]: static analysis; parts are words, shell, cppcheck, tidy and analyzer, all of them without an argument.
# Each says how many files it looked at; a finding, or a tool that is missing, makes the exit status 1.
set -u
[ $# -gt 0 ] || set -- words shell cppcheck tidy analyzer
status=0
mapfile -t sources < <(git ls-files 'lib/*.c' 'collect/*.c' 'analyze/*.c' 'reorder/*.c' 'ldscripts/*.c' hottext.c)
mapfile -t scripts < <(git ls-files '*.sh' '*.bash' .ci/run)
read -r -a flags < <(pkg-config --cflags libelf libdw libzstd jansson libtracecmd libtracefs)
flags+=(-std=gnu11 -D_GNU_SOURCE '-DHOTTEXT_VERSION="0"' '-DHOTTEXT_LIBRARIES="0"' '-DPLUGIN_DIR="/"' -I.)

# Calls that a shell, a race or a hostile name could turn against the user; and text streams that may be cut (lib/mem.h).
words()
{
	! grep -nE '\b(system|popen|tmpnam|tempnam|mktemp|gets|strcat|vsprintf|alloca|strtok|rand)\(' "${sources[@]}" &&
	! grep -nE '\b(malloc|calloc|realloc|strdup|strndup|asprintf|open_memstream)\(' "${sources[@]}" |
		grep -vE '^(lib/(mem|heap)\.c|collect/qemu/)'
}

shell()
{
	shellcheck -S warning "${scripts[@]}"
}

cpp_check()
{
	cppcheck --quiet --std=c11 --enable=warning,portability --inline-suppr --error-exitcode=1 -D_GNU_SOURCE \
		-DHOTTEXT_VERSION='"0"' -DHOTTEXT_LIBRARIES='"0"' -DPLUGIN_DIR='"/"' -I. --template=gcc "${sources[@]}"
}

tidy()
{
	clang-tidy --quiet "${sources[@]}" -- "${flags[@]}" 2> /dev/null
}

analyzer()
{
	local f bad=0 told
	for f in "${sources[@]}"; do
		told=(-include tests/lint.h)
		case $f in lib/error.c|collect/qemu/*) told=() ;; esac
		${CC:-gcc} "${flags[@]}" -O1 "${told[@]}" -fanalyzer -Werror -c -o /dev/null "$f" || bad=1
	done
	return $bad
}

for part; do
	case $part in
	words) words; result=$? nr=${#sources[@]} ;;
	shell) shell; result=$? nr=${#scripts[@]} ;;
	cppcheck) cpp_check; result=$? nr=${#sources[@]} ;;
	tidy) tidy; result=$? nr=${#sources[@]} ;;
	analyzer) analyzer; result=$? nr=${#sources[@]} ;;
	*) echo "no part '$part'"; exit 2 ;;
	esac
	[ $result = 0 ] || status=1
	echo "$part: $nr files, $([ $result = 0 ] && echo clean || echo findings)"
done
exit $status
