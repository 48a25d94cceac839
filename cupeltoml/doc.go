// Package cupeltoml reads Cupel policies from TOML.
//
//	notes, err := cupeltoml.DecodePolicy(policy.NewRegistry(), data)
//	selector, err := notes.Pipeline(policy.Environment{})
//
// A file has the same fields as the JSON document of package policy: see
// [policy.Decode].
//
//	name = "Release notes"
//	overflow = "Truncate"
//	placer = { type = "chronological" }
//
//	[[scorers]]
//	type = "decay"
//	weight = 2
//	curve = { type = "exponential", halfLife = "72h" }
//
//	[[scorers]]
//	type = "tag"
//	weight = 1
//	weights = { breaking = 1, fix = 0.5 }
//
//	[slicer]
//	type = "quota"
//	inner = { type = "greedy" }
//	entries = [{ kind = "ToolOutput", cap = 25 }]
//
// It is a separate module so that the core needs no TOML library.
package cupeltoml
