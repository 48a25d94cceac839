package repocontext

import (
	"math"

	"github.com/wollax/cupel-go/cupel"
)

// tagWeights says which of the items' tags a question speaks about, for a
// TagScorer. A tag counts by the share of its words that occur in the question;
// a word counts the less, the more items have it in a tag. Words are compared
// without case and without the endings of English. The result is empty, not
// nil, when no tag fits.
func tagWeights(question string, items []*cupel.ContextItem) map[string]float64 {
	asked := make(map[string]int) // stem: the items that have it in a tag
	eachWord(question, func(word string, _ bool) {
		for _, part := range parts(word) { // of a name in the question, too
			if telling(part) {
				asked[stem(part)] = 0
			}
		}
	})
	if len(asked) == 0 {
		return map[string]float64{}
	}

	stems := make(map[string][]string) // of the words of a tag
	for _, it := range items {
		seen := make(map[string]bool)
		for _, tag := range it.AllTags() {
			if _, ok := stems[tag]; !ok {
				words := parts(tag)
				for i, word := range words {
					words[i] = stem(word)
				}
				stems[tag] = words
			}
			for _, s := range stems[tag] {
				if n, ok := asked[s]; ok && !seen[s] {
					asked[s] = n + 1
					seen[s] = true
				}
			}
		}
	}

	weights := make(map[string]float64)
	for tag, words := range stems {
		weight := 0.0
		for _, s := range words {
			if n := asked[s]; n > 0 {
				weight += 1 / math.Sqrt(float64(n))
			}
		}
		if weight > 0 {
			weights[tag] = weight / float64(len(words))
		}
	}
	return weights
}
