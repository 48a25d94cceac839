#!/bin/sh
# Builds the Jaeger for the end-to-end tests, unless it exists, and prints its path. It has no web pages: they
# are not in the module.
set -eu

name=2.13.0 # what Jaeger calls itself
version=v1.76.0 # what its Go module is called
exec "$(dirname "$0")/server.sh" jaeger "$name" github.com/jaegertracing/jaeger "$version" \
	h1:sWCOOF1dr+NL0PLil7mFo3BqqQL8k4WiM7aguFbc14g= ./cmd/jaeger
