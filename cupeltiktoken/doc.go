// Package cupeltiktoken counts tokens exactly as OpenAI's models do. Its
// [Counter] is a [cupel.TokenCounter], for use with [cupel.NewItemFrom].
//
//	counter, err := cupeltiktoken.ForModel("gpt-4o")
//	item, err := cupel.NewItemFrom(counter, text, cupel.WithKind(cupel.KindDocument))
//
// The vocabularies are compiled in: nothing is downloaded and no file is read.
// All four add about 12 MB to a program. Each is loaded when its first counter
// is created.
//
// # What is counted
//
// Only ordinary text is counted. Special tokens, such as <|endoftext|>, count
// as text, since an item may hold text from users. The few tokens that a chat
// format adds to each message are not counted: they are not part of an item.
// Each invalid UTF-8 sequence counts as the replacement character, which is
// what a model sees.
//
// # How exact it is
//
// Counts equal those of OpenAI's tiktoken, which tests verify. They may differ
// for characters of Unicode 16 or later, which Go does not know yet.
//
// Words of any length are counted exactly, as are runs of punctuation, of emoji
// and of characters without case. For other text of more than 1 MiB, the count
// is an estimate if the text has no place to cut it: no letter next to a
// number, and no letter or number before another character. Examples are digits
// or spaces alone, capitals among small letters, and syllables with marks where
// an encoding ends a token at a mark. Such text is counted in parts of 64 KiB,
// and each cut may change the count by a few tokens. The same text always has
// the same count.
//
// # How long it takes
//
// Time is linear in the length of the text. A megabyte takes well under a
// second even if it is hostile, and a single word at most twice as long as
// prose. Counting needs less than 10 MB for words and prose of any length, and
// up to about 50 MB for 1 MiB of other text without a place to cut it. The
// first text with a word of more than 64 KiB loads the vocabulary a second
// time, which keeps about 20 MB allocated.
package cupeltiktoken
