// Package conformance runs test vectors of the Cupel specification against an
// implementation and holds this project's own vectors.
//
//	results, err := conformance.Run(ctx, conformance.Vectors(), conformance.WithImplementation(yours))
//	for _, result := range results {
//		fmt.Println(result.Path, result.Failures)
//	}
//
// A vector is a TOML file with inputs, a configuration and the expected result.
// [Run] runs every vector of a file system against an [Implementation], by
// default the engine of module cupel, and returns a [Result] for each. An
// implementation receives each [Pipeline] as plain data. [Vectors]
// returns this project's vectors, in the directories required, optional and units. The
// command cupel-conformance does the same for directories on disk.
//
// The package implements the chapters Conformance Levels, Test Vector Format and Running
// the Suite of the specification. docs/spec/vectors.md in the repository has the
// format.
package conformance
