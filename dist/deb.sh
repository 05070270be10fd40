#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# deb.sh VERSION FOLDER: Debian's source and binary packages, made in FOLDER from the tarball and dist/debian. With
# DEBEMAIL (and DEBFULLNAME) set, as Debian's tools take them, that is who maintains the package.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
version=$1 folder=$2

for program in dpkg-buildpackage dh; do
	command -v $program > /dev/null || { echo "deb: no $program: apt-get install dpkg-dev debhelper" >&2; exit 1; }
done
rm -rf "$folder"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
"$here/tarball.sh" "$version" "$folder/hottext_$version.orig.tar.xz" > /dev/null
tar -C "$folder" -xf "$folder/hottext_$version.orig.tar.xz"
cp -r "$here/debian" "$folder/hottext-$version/debian"
cd "$folder/hottext-$version"
[ -z "${DEBEMAIL:-}" ] || who="${DEBFULLNAME:-$DEBEMAIL} <$DEBEMAIL>" perl -pi -e \
	's/^Maintainer: .*/Maintainer: $ENV{who}/; s/^ -- .*?>/ -- $ENV{who}/' debian/control debian/changelog
unset MAKEFLAGS MFLAGS MAKELEVEL O V SAN prefix DESTDIR
dpkg-buildpackage -us -uc "${DEB_FLAGS:--j$(nproc)}" > ../build.log 2>&1 ||
	{ tail -n 20 ../build.log >&2; echo "deb: the build failed; all of it: $folder/build.log" >&2; exit 1; }
ls -1 "$folder"/*.deb "$folder"/*.dsc
