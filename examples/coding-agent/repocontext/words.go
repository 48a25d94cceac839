package repocontext

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The shortest name that may become a tag by being mentioned: shorter ones are
// words of the language more often than names.
const minMention = 4

// eachWord calls yield with every run of letters, digits and underscores in
// text, and with whether it stands in a Markdown code span or block.
func eachWord(text string, yield func(word string, code bool)) {
	code := false
	start := -1
	for i, r := range text {
		if r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			yield(text[start:i], code)
			start = -1
		}
		if r == '`' {
			// Three of them, at a block, change it as one does.
			code = !code
		}
	}
	if start >= 0 {
		yield(text[start:], code)
	}
}

// namesIn returns the words of prose that look like names in code, and how
// often they occur: words in code spans, and words with a capital inside. A
// capital in front may just begin a sentence.
func namesIn(text string) map[string]int {
	names := make(map[string]int)
	eachWord(text, func(word string, code bool) {
		if len(word) >= minMention && (code || hasInnerCapital(word)) {
			names[word]++
		}
	})
	return names
}

func hasInnerCapital(word string) bool {
	_, size := utf8.DecodeRuneInString(word)
	return strings.IndexFunc(word[size:], unicode.IsUpper) >= 0 &&
		strings.IndexFunc(word, unicode.IsLower) >= 0
}

// topics returns the telling words of a short text, such as a heading, in lower
// case and each once.
func topics(text string) []string {
	var list []string
	eachWord(text, func(word string, _ bool) {
		word = strings.ToLower(word)
		if telling(word) && !slices.Contains(list, word) {
			list = append(list, word)
		}
	})
	return list
}

// telling reports whether a word in lower case may say what a text is about.
func telling(word string) bool {
	return utf8.RuneCountInString(word) >= 3 && !slices.Contains(stopWords, word)
}

// stopWords are words of three letters and more that say nothing about a topic.
var stopWords = []string{
	"all", "and", "any", "are", "but", "can", "did", "for", "get", "had", "has", "how", "its", "may", "new", "not",
	"now", "off", "one", "our", "out", "put", "see", "the", "too", "two", "use", "was", "way", "who", "why", "you",
	"about", "after", "also", "another", "because", "been", "before", "being", "between", "both", "could", "does",
	"done", "each", "every", "from", "give", "given", "have", "here", "into", "just", "know", "like", "make", "makes",
	"many", "more", "most", "much", "must", "need", "needs", "only", "other", "over", "same", "should", "show", "some",
	"such", "tell", "than", "that", "their", "them", "then", "there", "these", "they", "this", "those", "through",
	"used", "uses", "very", "want", "were", "what", "when", "where", "which", "while", "whose", "will", "with",
	"without", "would", "your",
}
