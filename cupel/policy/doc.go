// Package policy describes a pipeline as data, so that a policy can be kept in
// a file, compared, reviewed and chosen by name.
//
// A [Policy] is a plain tree of values: scorers with their weights and
// settings, a slicer, a placer, and how to treat duplicates and overflow. A
// [Strategy] names a type and its settings; packages scorer, slicer and placer
// describe the types.
// [Policy.Validate] reports all mistakes at once, each with the path of its
// field. [Policy.Config] and [Policy.Pipeline] build what a policy describes. A
// policy has no budget: each run gets its own.
//
// Policies are read from and written to JSON. [Decode] is strict: an unknown or
// repeated field, an unknown name, null and a value of the wrong type are
// errors. Errors about unknown names list the valid ones. The file
// schema.json is the JSON Schema of these documents.
//
//	{
//	  "name": "Chat",
//	  "scorers": [
//	    {"type": "recency", "weight": 3},
//	    {"type": "kind", "weight": 1}
//	  ],
//	  "slicer": {"type": "greedy"},
//	  "placer": {"type": "chronological"}
//	}
//
// This program runs such a file:
//
//	p, err := policy.Decode(nil, data)
//	selector, err := p.Pipeline(policy.Environment{Clock: time.Now})
//	window, err := selector.Run(ctx, items, budget)
//
// A [Registry] finds policies by intent; [NewRegistry] returns one with the
// presets, such as [Chat] and [RAG]. It also holds the types of your own
// strategies, which policies then use like the built-in ones: see
// [Registry.RegisterScorer].
//
// The package has no global state, and reads no clock other than the one in
// [Environment]. Do not change a policy while it is in use; registries are safe
// for concurrent use.
package policy
