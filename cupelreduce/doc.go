// Package cupelreduce shortens the texts that agents have in their context to any
// size: JSON, the output of commands, source code, diffs and prose. It uses no model,
// and imports only the standard library.
//
//	short := cupelreduce.To(output, 200) // at most 200 tokens
//
//	text := cupelreduce.Read(output) // for several sizes
//	for _, size := range text.Sizes() {
//		fmt.Println(size.Tokens, size.Worth)
//	}
//	short = text.To(200)
//
// [Read] analyzes a [Text] once. [Text.To] then writes its best form within a number
// of tokens, and [Text.Sizes] gives the worth of each [Size], so that a budget can go
// to the texts that gain most. [Detect] finds the [Kind] of a text.
//
// Parts that let a reader ask for the rest survive longest: errors, ids, paths,
// identifying numbers, declarations. Parts that the reader has already seen, as
// recorded in [Known], leave first.
//
// [Facts] yields the values in a text that name something, and [Find] yields the
// places of one.
//
// # What forms look like
//
// A form of a text with lines has some of its lines, and pieces of long lines, unchanged.
// "… +12" on a line of its own stands for 12 omitted lines, "…" at the end of a line for
// the rest of that line, and "… +320 bytes… " for a piece inside of a line.
//
// JSON becomes lines of key=value, with values spelled as in the document: a line
// for each run of short values in an object, after the key of the object, and "…
// +12" at the end for 12 omitted values or lines. A string that holds JSON or
// several lines is shortened in the same way. When all values are there, larger
// sizes replace these lines with the document itself, from its beginning.
//
// # Guarantees
//
// For any text, and a nearly additive counter: a form never exceeds its size,
// and fills all but a few tokens of it; a larger form has every line and every
// value of a smaller one; the result is valid UTF-8, and deterministic. Reading
// takes time linear in the text, and each form time linear in its parts.
// Nothing panics.
package cupelreduce
