// Package agent is the preset for conversations with an agent: calls of tools
// and their results, sent again at each turn.
//
// Pinned items are whole. The newest units have a fifth of the room that these
// leave: whole units, and the part of the next one that fits. The rest goes to all
// units, in the order of what each further line is worth for its tokens: what names
// something (ids, paths, errors, arguments) counts most, what the window says
// already counts next to nothing, and each unit counts .95 of the next newer one.
// As that order hardly depends on the room, a larger budget keeps what a smaller one
// keeps, and the window is full to the last few tokens. A unit is a group of items,
// such as calls with their results, or an item without a group.
//
// [Preset.Remember] is for many choices from one conversation, such as one for each
// budget, and [Preset.About] for a question that the conversation does not say.
//
// docs/benchmarks.md in the repository has figures.
package agent
