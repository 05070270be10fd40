# SPDX-License-Identifier: GPL-3.0-or-later
# What is handed out: `make install`, `make dist`, `make deb`, and a second build elsewhere that gives the same bytes.
# Run by `make check-dist`, from the repository root, in a tree that is built.
bats_require_minimum_version 1.5.0
TOP=$PWD
HOTTEXT=$(realpath "${HOTTEXT:-$BATS_TEST_DIRNAME/../hottext}")

setup_file() {
	# The make that runs these tests must not reach those that they run.
	unset MAKEFLAGS MAKELEVEL MFLAGS O V SAN prefix DESTDIR
	export DEBIAN_FRONTEND=noninteractive
}

jobs() { echo "-j$(nproc)"; }

@test "the tarball: everything that git knows, a folder of its own, twice the same" {
	cd "$BATS_FILE_TMPDIR"
	"$TOP/dist/tarball.sh" 0.1 "$PWD/one.tar.xz"
	"$TOP/dist/tarball.sh" 0.1 "$PWD/two.tar.xz"
	cmp one.tar.xz two.tar.xz
	tar -tf one.tar.xz > list
	[ "$(sed 's,/.*,,' list | sort -u)" = hottext-0.1 ]
	for f in README.md Makefile hottext.c dist/debian/rules samples/linux-6.1-x86_64/vmlinux.xz tests/dist.bats; do
		grep -qxF "hottext-0.1/$f" list
	done
	run ! grep -E '^hottext-0.1/(build|hottext$|hottext-ld|hottext-qemu)|\.o$' list
	# From the unpacked tarball, where git knows nothing, comes the same one.
	tar -xf one.tar.xz
	GIT_CEILING_DIRECTORIES=$PWD hottext-0.1/dist/tarball.sh 0.1 "$PWD/three.tar.xz"
	cmp one.tar.xz three.tar.xz
}

@test "the same sources in another folder give the same program, plugin and completion" {
	cd "$BATS_FILE_TMPDIR"
	[ -e one.tar.xz ] || "$TOP/dist/tarball.sh" 0.1 "$PWD/one.tar.xz"
	for where in here some/where/else; do
		mkdir -p "$where"
		tar -C "$where" -xf one.tar.xz
	done
	make -s -C here/hottext-0.1 "$(jobs)" all
	make -s -C some/where/else/hottext-0.1 "$(jobs)" O="$PWD/objects" all
	for f in hottext hottext-qemu.so; do
		cmp "here/hottext-0.1/$f" "some/where/else/hottext-0.1/$f"
	done
	cmp here/hottext-0.1/build/hottext.bash objects/hottext.bash
	run ! grep -qaF "$BATS_FILE_TMPDIR" here/hottext-0.1/hottext
}

@test "make install: the programs, the plugin, every page and the completion, and it runs from there" {
	cd "$BATS_FILE_TMPDIR"
	[ -e here/hottext-0.1/hottext ]
	make -s -C here/hottext-0.1 install DESTDIR="$PWD/root" prefix=/opt/hottext
	cd root/opt/hottext
	[ "$(ls bin)" = "hottext
hottext-ld" ]
	[ "$(readlink bin/hottext-ld)" = hottext ]
	[ -e lib/hottext/hottext-qemu.so ]
	for page in "$TOP"/doc/*.[15]; do
		[ -e "share/man/man${page##*.}/${page##*/}" ]
	done
	bash -n share/bash-completion/completions/hottext
	bin/hottext --version | grep -q "plugin     /opt/hottext/lib/hottext/hottext-qemu.so"
	[ "$(bin/hottext-ld --version)" = "$(ld --version)" ]
	# Without the tree that it was built in.
	echo 'hottext-profile 1' | bin/hottext collect -q - > empty.hot
}

@test "the Debian packages build from the tarball, and lintian finds no error" {
	for program in dpkg-buildpackage dh lintian; do
		command -v $program > /dev/null || skip "no $program: apt-get install debhelper dpkg-dev lintian"
	done
	cd "$BATS_FILE_TMPDIR"
	"$TOP/dist/deb.sh" 0.1 "$PWD/deb"
	dpkg-deb -c deb/hottext_0.1-1_*.deb | awk '{ print $6 }' > files
	for f in ./usr/bin/hottext ./usr/bin/hottext-ld ./usr/share/man/man1/hottext-optimize.1.gz \
		./usr/share/bash-completion/completions/hottext; do
		grep -qxF "$f" files
	done
	grep -q '^./usr/lib/.*/hottext/hottext-qemu.so$' files
	[ -e deb/hottext_0.1-1.dsc ] && [ -e deb/hottext_0.1-1.debian.tar.xz ]
	run lintian --fail-on error --allow-root deb/hottext_0.1-1_*.changes
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output != *"E: "* ]]
	mkdir unpacked
	dpkg-deb -x deb/hottext_0.1-1_*.deb unpacked
	unpacked/usr/bin/hottext --version | grep -qE 'plugin     /usr/lib/[a-z0-9_]+-linux-gnu[a-z0-9]*/hottext/'
}
