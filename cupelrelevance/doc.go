// Package cupelrelevance scores items by their relevance to a question, without
// a model: by the words they share with the question, by the items around them,
// and by the names the question mentions.
//
//	index, err := cupelrelevance.NewIndex()
//	relevance, err := cupelrelevance.New(index, "What was decided about the roof?")
//	selector, err := pipeline.New(pipeline.Config{
//		Scorer: relevance,
//		Slicer: slicer.ScoreGreedy{},
//		Placer: placer.Chronological{},
//	})
//	window, err := selector.Run(ctx, items, budget)
//
// [Relevance] is the preset. It combines [Lexical] (BM25 over the content and the tags
// of an item) with BM25 over the items around it, the best item of the group, names and
// dates. Make a scorer for each question, and keep one [Index] for the conversation: it
// follows the list as it changes, and a later question costs a few hundredths of the
// first.
//
// All scorers are immutable and safe for concurrent use, and scores are the same on
// every processor. Package eval measures how much of the evidence for a question a
// selection includes.
//
// # Words
//
// A word is a run of letters, marks and digits, compared in lower case, without
// accents and by its stem. The package detects the languages of a list
// ([WithLanguage] sets them). A word with capitals or underscores inside is an
// identifier. It yields itself without the underscores, and each of its parts:
// parseHTTPHeader yields parsehttpheader, parse, http and header. An identifier in a
// question is compared as written, its parts by their stems. Scripts without spaces
// (such as Chinese, Japanese and Thai) and Korean yield overlapping pairs of
// characters, and an emoji is a word. Invisible characters do not separate words;
// invalid UTF-8 does. Only the first 64 bytes of a word count. Time is linear in the
// length of the text.
package cupelrelevance
