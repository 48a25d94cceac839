// Package agent is the preset for conversations with an agent: tool calls and their
// results, sent again at each turn.
//
//	preset := agent.New(cupel.HeuristicCounter{})
//	request, err := cupelchat.Fit(ctx, params, cupelchat.Anthropic, preset, budget, cupel.HeuristicCounter{})
//
// A [Preset] is a chooser for package cupelchat and package cupelsession. Pinned items
// stay whole. A fifth of the remaining room goes to the newest units: whole units, and
// the part of the next one that fits. The rest goes to lines of all units, best worth
// per token first. Lines with ids, paths, errors and arguments are worth most, and lines
// that repeat the window almost nothing. Each unit weighs .95 of the next newer one. A
// larger budget therefore keeps nearly everything that a smaller one keeps, and the
// window is full to the last few tokens. A unit is a group of items, such as calls with
// their results, or an item without a group.
//
// Use [Preset.Remember] to choose several times from one conversation, such as once for
// each budget, and [Preset.About] for a task that the conversation does not state.
//
// docs/benchmarks.md in the repository has figures.
package agent
