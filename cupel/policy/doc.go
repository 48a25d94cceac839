// Package policy says with data how a pipeline selects, so that a policy can be
// kept in a file, compared, reviewed and chosen by name.
//
// A [Policy] is a plain tree of values: scorers with their weights and
// settings, a slicer, a placer, what happens to duplicates and on overflow. A
// [Strategy] is the name of a type with settings, which packages scorer, slicer
// and placer describe.
// [Policy.Validate] finds everything that is wrong with it at once, each
// mistake with the path of its field. [Policy.Config] and [Policy.Pipeline]
// build what it describes. A policy has no budget: that is given to each run.
//
// Policies are JSON in both directions. [Decode] is strict: a field or a name
// that is not known, a name that is given twice, null and a value of another
// type are errors, and those about names list what is known. [Schema] is the
// JSON Schema of these documents.
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
// A [Registry] finds policies by intent; [NewRegistry] has the presets, such as
// [Chat] and [Rag]. It also holds factories for strategies of your own, which
// policies then use like the built-in ones: see [Registry.RegisterScorer].
//
// Nothing here is global, and nothing reads a clock unless it is given one.
// Policies are values that nobody changes in use; registries are safe for
// concurrent use.
package policy
