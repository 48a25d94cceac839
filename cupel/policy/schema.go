package policy

import (
	"bytes"
	_ "embed"
)

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of the documents that
// [Decode] reads without a registry, for editors and for other languages. What
// Decode takes, the schema takes. Decode also refuses what a schema cannot say:
// names that are given twice, requirements above their caps, and the like.
func Schema() []byte { return bytes.Clone(schema) }
