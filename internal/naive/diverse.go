package naive

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Diverse is the DiverseSlice section. A From of 0 is the default.
type Diverse struct{ From float64 }

func (s Diverse) construct(f Fault) (slicer, error) {
	if (math.IsNaN(s.From) || s.From < 0 || s.From > 1) && f != FaultDiverseFromUnchecked {
		return nil, invalid("from must be between 0 and 1")
	}
	if s.From == 0 && f != FaultDiverseNoDefault || f == FaultDiverseFromIgnored {
		s.From = 0.3
	}
	return s, nil
}

func (s Diverse) narrow(cupel.ContextKind) slicer { return s }
func (Diverse) leftOver() bool                    { return true }

func (s Diverse) slice(items []entry, budget cupel.SliceBudget, f Fault) (strategy.Selection, error) {
	if budget.TargetTokens <= 0 && f != FaultDiverseZeroTarget {
		return strategy.Selection{}, nil
	}
	var taken []int
	var compared []entry // taken
	if f == FaultDiverseMisfitsCount {
		for _, it := range items {
			if it.Item.Tokens() > budget.TargetTokens {
				compared = append(compared, it)
			}
		}
	}
	for left := budget.TargetTokens; ; {
		best, most := -1, 0.0
		for i, it := range items {
			tokens := it.Item.Tokens()
			if tokens < 0 || tokens > left || slices.Contains(taken, i) {
				continue
			}
			worth := s.worth(it, compared, f)
			order := -1
			if best >= 0 {
				order = byScore(worth, most)
			}
			if order < 0 || order == 0 && f == FaultDiverseTieLast {
				best, most = i, worth
			}
		}
		if best < 0 {
			return strategy.Selection{Indices: taken}, nil
		}
		taken = append(taken, best)
		compared = append(compared, items[best])
		left -= items[best].Item.Tokens()
	}
}

// worth is WORTH.
func (s Diverse) worth(u entry, taken []entry, f Fault) float64 {
	if f == FaultDiverseLastTaken {
		taken = taken[max(0, len(taken)-1):]
	}
	most := 0.0
	for _, t := range taken {
		most = max(most, likeness(u.Item.Content(), t.Item.Content(), f))
	}
	lowered := most > s.From || f == FaultDiverseAtFrom && most == s.From
	if (u.Score > 0 || f == FaultDiverseNegativeScores) && lowered && f != FaultDiverseIgnored {
		return u.Score * ((1 - most) / (1 - s.From))
	}
	return u.Score
}

// likeness is LIKENESS.
func likeness(a, b string, f Fault) float64 {
	wordsOfA, wordsOfB := smallWords(a, f), smallWords(b, f)
	if min(len(wordsOfA), len(wordsOfB)) < 8 && f != FaultDiverseShortTexts {
		return 0
	}
	pairsOfA, pairsOfB := pairsOf(wordsOfA, f), pairsOf(wordsOfB, f)
	m, n := len(pairsOfA), len(pairsOfB)
	if (m > 2*n || n > 2*m) && f != FaultDiverseAnyLength || m+n == 0 {
		return 0
	}
	shared := 0
	for pair := range pairsOfA {
		if pairsOfB[pair] {
			shared++
		}
	}
	likeness := float64(2*shared) / float64(m+n)
	if likeness < 0.25 && f != FaultDiverseAnyLikeness {
		return 0
	}
	return likeness
}

// smallWords are the words of the section, in small letters.
func smallWords(text string, f Fault) []string {
	if f != FaultDiverseMatchesCase {
		text = strings.Map(unicode.ToLower, text)
	}
	return strings.FieldsFunc(text, func(r rune) bool {
		if r == '_' && f == FaultDiverseUnderscores {
			return false
		}
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r)
	})
}

// pair is two words in a row, and with a fault the how many-th of its kind.
type pair struct {
	first, second string
	times         int
}

// pairsOf is PAIRS.
func pairsOf(words []string, f Fault) map[pair]bool {
	pairs := map[pair]bool{}
	for i := 1; i < len(words); i++ {
		p := pair{words[i-1], words[i], 0}
		for f == FaultDiversePairsRepeat && pairs[p] {
			p.times++
		}
		pairs[p] = true
	}
	return pairs
}
