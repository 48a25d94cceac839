#!/bin/sh
# Builds the Prometheus for the end-to-end tests, unless it exists, and prints its path. It has no web pages,
# which the build tag builtinassets would need Node for, and no service discovery but that of files.
set -eu

name=3.13.5 # what Prometheus calls itself, and its image
version=v0.313.5 # what its Go module is called
program=${1:-prometheus} # or promtool, which tests alert rules
exec "$(dirname "$0")/server.sh" "$program" "$name" github.com/prometheus/prometheus "$version" \
	h1:5/kewqSFNlHQa9NqZxrOkXCBlEuJOvb+8gFOUxSWFv0= "./cmd/$program" \
	-tags remove_all_sd -ldflags "-X github.com/prometheus/common/version.Version=$name"
