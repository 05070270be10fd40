# SPDX-License-Identifier: GPL-3.0-or-later
# What is handed out: the tarball, Debian's packages, and the tests of both.

dist:
	$(Q)dist/tarball.sh $(VERSION) $(O)/hottext-$(VERSION).tar.xz

deb:
	$(Q)dist/deb.sh $(VERSION) $(O)/deb

# Installs, packages, and builds once more elsewhere: the same bytes. Takes two whole builds.
check-dist: all
	$(Q)tests/run.sh tests/dist.bats

# A stranger's first hour: README's two commands in a fresh Debian (CI=1: .ci/run up to the kernel). ROOT: kept there.
check-stranger:
	$(Q)dist/stranger.sh $(ROOT)

.PHONY: check-dist check-stranger deb dist
