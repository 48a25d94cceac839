// Package cupelrelevance scores items by what a question is about, without a
// model: by the words that they share with it, by what stands next to them, and
// by the names that it mentions.
//
//	index, err := cupelrelevance.NewIndex()
//	relevance, err := cupelrelevance.New(index, "What was decided about the roof?")
//	pipeline, err := cupel.New(cupel.Config{
//		Scorer: relevance,
//		Slicer: slicer.ScoreGreedy{},
//		Placer: placer.Chronological{},
//	})
//	window, err := pipeline.Run(ctx, items, budget)
//
// [Relevance] is the preset. It is made of [Lexical] (BM25 over the fields of an
// item), [Passages] (the same over the items around it) and [Mentions] (names);
// [Neighbours] and [Grouped] spread the scores of any other scorer in the same
// way. A scorer is made for one question, and an [Index] is kept for as long as
// the conversation is: it reads a list of items once, and later questions about
// the same list cost a hundredth of that.
//
// All scorers are immutable and safe for concurrent use, and have a batch form
// with the same bits as the single one. Scores are the same on every processor.
// Package eval measures how much of the evidence for a question a selection
// holds.
//
// # Words
//
// A word is a run of letters, marks and digits, compared in small letters, and
// by its stem where the language of the index has one. A word with capitals or
// underscores inside is an identifier, and gives itself without the underscores
// and each of its parts: parseHTTPHeader gives parsehttpheader, parse, http and
// header. Scripts without spaces (Chinese, Japanese, Thai and others, and Korean)
// give overlapping pairs of characters. What does not show separates nothing;
// bytes that are not UTF-8 separate. The first 64 bytes of a word count. Every
// text takes time linear in its length.
package cupelrelevance
