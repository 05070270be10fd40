# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# Loaded by tests of the linker wrapper, behind kernel.bash.

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	unset HOTTEXT_PLAN HOTTEXT_PROFILE HOTTEXT_LD CROSS_COMPILE LINK SCRIPT
}

# plan < FRAGMENT: a plan that is no more than that.
plan() {
	mkdir -p plan
	cat > plan/hottext.ld
}

need_lld() {
	command -v ld.lld-19 > lld || skip "no ld.lld-19"
}

# first_helper KERNEL: the size of the static helper() that comes first, which tells the two apart.
first_helper() {
	nm -n -S "$1" | awk '$4 == "helper" { print $2; exit }'
}

# none_named PATTERN...: no file here has such a name.
none_named() {
	local left name
	for name; do
		left=$(find . -name "$name")
		[ -z "$left" ] || { echo "left: $left"; return 1; }
	done
}

no_temporaries() {
	none_named '*hottext-*'
}

# nothing_left [OUTPUT]: a link that did not end left neither its output nor anything of the wrapper's.
nothing_left() {
	none_named '*hottext-*' '.hottext*' "${1:-vmlinux}"
}
