#!/bin/sh
# Releases modules at the versions of versions.yaml, with multimod:
#
#	scripts/release.sh prepare   # writes the versions where modules require one another, and commits that
#	scripts/release.sh tag       # makes the signed tags of all sets at HEAD
set -eu
cd "$(dirname "$0")/.."
multimod() { GOWORK=off go -C tools tool -modfile=multimod.mod multimod "$@"; }

multimod verify
case "${1-}" in
prepare)
	multimod prerelease --all-module-sets --skip-go-mod-tidy --commit-to-different-branch=false
	# multimod knows no go.work, which replaces the versions that are not released yet.
	awk '$1 == "version:" { version = $2 } $1 == "-" { print $2, version }' versions.yaml | while read -r module version; do
		sed -i "s|^\(\t$module\) v[^ ]* =>|\1 $version =>|" go.work cupelbeam/go.work
		case $module in
		*/cupelotel) sed -i "s|^const Version = .*|const Version = \"${version#v}\"|" cupelotel/doc.go ;;
		*/cupelbeam) sed -i "s|\(wollax/cupel-beam:\)v[0-9.]*|\1$version|" cupelbeam/README.md ;;
		esac
	done
	# The first release has the versions that development began with.
	git diff --quiet || git commit --quiet --all --message 'Name the versions of the next release'
	;;
tag)
	for set in $(sed -n 's/^  \([a-z]*\):$/\1/p' versions.yaml); do
		multimod tag --module-set-name "$set" --commit-hash HEAD --print-tags
	done
	;;
*)
	echo "usage: scripts/release.sh prepare | tag" >&2
	exit 2
	;;
esac
