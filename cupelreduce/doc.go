// Package cupelreduce makes small forms of the texts that agents have in their
// context: JSON, the output of commands, source code, diffs and prose. It uses
// no model, and imports the standard library alone.
//
// [Reduce] fits a text into a number of tokens, and [Forms] gives a ladder of sizes
// with what each is worth, so that a budget can be spent on what says most.
// [Detect] says what a text looks like.
//
// What a reader needs to ask for the rest survives first: ids, paths, numbers
// that identify, errors, declarations. What the reader has seen already can be
// left out, see [Known].
//
// # What outlines look like
//
// JSON stays valid JSON at the larger sizes: long strings end in
// "… 120 bytes more", and long arrays in an element "… 12 more elements". Smaller
// outlines are lines of key=value, with values spelled as in the document: a
// line for each object, after the key that it stood under, and "… +12 values" at
// the end for values left out. A string that holds JSON or several lines is
// taken apart as what it is.
//
// Of other texts, each line of an outline is a line of the text, whole or cut
// at its end with "…", or the marker "…" alone, which stands for lines left
// out. Blank lines, and what follows the head of a block, are left out without a
// marker.
//
// # Guarantees
//
// For any text: the result is valid UTF-8, never longer than the text in bytes,
// the same each time, and takes time linear in the text. Nothing panics.
package cupelreduce
