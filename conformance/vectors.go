package conformance

import (
	"embed"
	"io/fs"
)

//go:embed required optional
var vectors embed.FS

// Vectors returns this project's vectors: the folder required holds what every
// implementation must pass, the folder optional edge cases.
func Vectors() fs.FS { return vectors }
