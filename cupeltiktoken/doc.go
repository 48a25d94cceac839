// Package cupeltiktoken counts tokens exactly as the models of OpenAI do, for
// [cupel.NewItemFrom] and for whoever needs a number. It is a
// [cupel.TokenCounter].
//
//	counter, err := cupeltiktoken.ForModel("gpt-4o")
//	item, err := cupel.NewItemFrom(counter, text, cupel.WithKind(cupel.KindDocument))
//
// The vocabularies are part of the program: nothing is downloaded and no file
// is read. They make it about 12 MB larger, all four together; one is loaded
// when the first counter for it is made.
//
// # What is counted
//
// Ordinary text. The names of special tokens, such as <|endoftext|>, are text
// like any other, as in everything that a user may have written. The few tokens
// that a chat format adds to each message are not counted: they are not part of
// an item. Invalid UTF-8 is counted as if each invalid sequence were the
// replacement character, which is what a model gets to see.
//
// # How exact it is
//
// Counts are those of OpenAI's tiktoken, and tests compare them with its own. They
// may differ for characters that came with Unicode 16 or later, which Go does
// not know yet.
//
// A word of more than 1 MiB is an estimate, and so is other text of that length
// in which no letter or number ends: it is counted in parts of 64 KiB, and each
// cut between two of them may change the count by a few tokens. The same text
// always has the same count.
//
// # How long it takes
//
// Time grows in proportion to the text, whatever it is; that of a single word
// of up to 1 MiB or a run of blank lines by a logarithm faster. A megabyte takes
// well under a second, hostile or not. Memory is that of a part of the text: up
// to some 50 MB for a word of 1 MiB, less than 10 MB for words that are shorter
// than 64 KiB, however long the text.
package cupeltiktoken
