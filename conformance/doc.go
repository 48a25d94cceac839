// Package conformance runs test vectors of the Cupel specification against an
// implementation and holds this project's own vectors.
//
// A vector is a TOML file with inputs, a configuration and the expected result.
// [Run] runs every vector of a file system against an [Implementation], by
// default the engine of module cupel, and returns which passed. [Vectors]
// returns this project's vectors, in the directories required and optional. The
// command cupel-conformance does the same for directories on disk.
//
// It implements the chapters Conformance Levels, Test Vector Format and Running
// the Suite of the specification. docs/spec/vectors.md in the repository has the
// format.
package conformance
