// Package conformance runs test vectors of the Cupel specification against an
// implementation and holds this project's own vectors.
//
// A vector is a TOML file with inputs, a configuration and what must come out.
// [Run] reads every vector of a file system, runs each against an
// [Implementation], by default the engine of the module cupel, and says which
// passed. [Vectors] are those of this project, in the folders required and
// optional. The command cupel-conformance does the same for folders on disk.
//
// Beyond what a vector expects, each must give the same result twice, with and
// without somebody looking, and a report whose totals agree with its lists.
//
// It implements the chapters Conformance Levels, Test Vector Format and
// Running the Suite of the specification, with the keys that the
// README of this module adds.
package conformance
