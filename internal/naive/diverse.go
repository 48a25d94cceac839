package naive

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Diverse is the DiverseSlice section. A From of 0 means the default.
type Diverse struct{ From float64 }

func (s Diverse) valid() bool { return isShare(s.From) }

func (s Diverse) slice(items []entry, budget cupel.SliceBudget) (strategy.Selection, error) {
	if budget.TargetTokens <= 0 {
		return strategy.Selection{}, nil
	}
	var taken []int
	for left := budget.TargetTokens; ; {
		best, most := -1, 0.0
		for i, it := range items {
			tokens := it.Item.Tokens()
			if tokens < 0 || tokens > left || slices.Contains(taken, i) {
				continue
			}
			worth := s.worth(i, taken, items)
			if best < 0 || byScore(worth, most) < 0 {
				best, most = i, worth
			}
		}
		if best < 0 {
			return strategy.Selection{Indices: taken}, nil
		}
		taken = append(taken, best)
		left -= items[best].Item.Tokens()
	}
}

// worth is WORTH of the item at a position.
func (s Diverse) worth(i int, taken []int, items []entry) float64 {
	from, score := cmp.Or(s.From, 0.3), items[i].Score
	most := 0.0
	for _, t := range taken {
		most = max(most, likeness(items[i].Item.Content(), items[t].Item.Content()))
	}
	if score > 0 && most > from {
		return score * ((1 - most) / (1 - from))
	}
	return score
}

// likeness is LIKENESS.
func likeness(a, b string) float64 {
	wordsOfA, wordsOfB := smallWords(a), smallWords(b)
	if min(len(wordsOfA), len(wordsOfB)) < 8 {
		return 0
	}
	pairsOfA, pairsOfB := pairsOf(wordsOfA), pairsOf(wordsOfB)
	m, n := len(pairsOfA), len(pairsOfB)
	if m > 2*n || n > 2*m {
		return 0
	}
	shared := 0
	for pair := range pairsOfA {
		if pairsOfB[pair] {
			shared++
		}
	}
	likeness := float64(2*shared) / float64(m+n)
	if likeness < 0.25 {
		return 0
	}
	return likeness
}

// smallWords are the words of the section, in small letters.
func smallWords(text string) []string {
	text = strings.Map(unicode.ToLower, text)
	return strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r)
	})
}

// pairsOf is PAIRS.
func pairsOf(words []string) map[[2]string]bool {
	pairs := map[[2]string]bool{}
	for i := 1; i < len(words); i++ {
		pairs[[2]string{words[i-1], words[i]}] = true
	}
	return pairs
}
