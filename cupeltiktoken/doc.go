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
// Words are counted exactly whatever their length, and so is any run of
// punctuation, of emoji or of characters without case. Other text is an estimate
// where no letter next to a number, and no letter or number before something else,
// comes for more than 1 MiB: digits or spaces alone, capitals among small letters,
// syllables with marks where an encoding ends a token at a mark. It is counted in
// parts of 64 KiB, and each cut between two of them may change the count by a few
// tokens. The same text always has the same count.
//
// # How long it takes
//
// Time grows in proportion to the text, whatever it is. A megabyte takes well
// under a second, hostile or not, and a single word at most twice as long as
// prose. Memory beyond the text is less than 10 MB for words and prose of any
// length, and up to some 50 MB where 1 MiB of other text has no place to be cut.
// The first text with a word of more than 64 KiB loads the vocabulary a second
// time, which takes some 20 MB for good.
package cupeltiktoken
