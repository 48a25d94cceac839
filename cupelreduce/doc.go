// Package cupelreduce gives any size of the texts that agents have in their
// context: JSON, the output of commands, source code, diffs and prose. It uses
// no model, and imports the standard library alone.
//
// [Read] takes a text apart once. [Text.To] then writes its best form of so many
// tokens, and [Text.Sizes] gives each size a worth, so that a budget goes to the
// texts that gain most. [To] does it for one size. [Detect] finds the kind of a
// text.
//
// Parts by which a reader can ask for the rest survive first: errors, ids, paths,
// numbers that identify, declarations. Parts that the reader has seen already
// come last, see [Known].
//
// [Facts] yields the values in a text that name something, and [Find] where one stands.
//
// # What forms look like
//
// Of a text of lines, a form has lines and pieces of long lines as they stand in
// the text. "… +12" on a line of its own stands for 12 lines left out, "…" at the end
// of a line for the rest of that line, and "… +320 bytes… " for a piece inside of a line.
//
// JSON becomes lines of key=value, with values spelled as in the document: a
// line for each run of short values in an object, after the key that the object
// stood under, and "… +12" at the end for 12 values or lines left out. A string that holds
// JSON or several lines is taken apart as what it is. When all values stand there,
// larger sizes replace these lines by the document itself, from its beginning on.
//
// # Guarantees
//
// For any text, and a counter that is about additive: a form never exceeds its
// size, and fills all but a few tokens of it; a larger form has every line and
// every value of a smaller one; the result is valid UTF-8, and the same each
// time. Reading takes time linear in the text, and each form time linear in its
// parts. Nothing panics.
package cupelreduce
