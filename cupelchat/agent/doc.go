// Package agent is the preset for conversations with an agent: calls of tools
// and their results, sent again at each turn.
//
// It keeps whole what the next step needs first: the pinned items, the newest
// unit, and the units before it in three quarters of the room. Everything older is
// there as an outline, as large as its worth and its age allow: what names
// something (ids, paths, errors, arguments) counts most, what the window says
// already counts next to nothing, and each unit counts .95 of the next newer
// one. A unit is a group of items, such as calls with their results, or an item
// without a group.
//
// README.md of package cupelchat has figures.
package agent
