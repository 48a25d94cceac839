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
	done
	# The first release has the versions that development began with.
	git diff --quiet -- go.work cupelbeam/go.work ||
		git commit --quiet --message 'Replace the versions of the next release in go.work' go.work cupelbeam/go.work
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
