package conformance

import (
	"embed"
	"io/fs"
)

//go:embed required optional units
var vectors embed.FS

// Vectors returns this project's vectors: the directory required holds those
// that every implementation must pass, the directory optional edge cases, and
// the directory units those of the chapter docs/units.md.
func Vectors() fs.FS { return vectors }
