package scorer_test

import (
	"math"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// The pseudocode of the relative and composite chapters, line by line and as
// slow as it reads.

func recencyScore(item *cupel.ContextItem, all items) float64 {
	timestamp, ok := item.Timestamp()
	if !ok {
		return 0.0
	}
	countWithTimestamp, rank := 0, 0
	for i := 0; i <= len(all)-1; i++ {
		other, ok := all[i].Timestamp()
		if !ok {
			continue
		}
		countWithTimestamp++
		if other.Compare(timestamp) < 0 {
			rank++
		}
	}
	if countWithTimestamp <= 1 {
		return 1.0
	}
	return float64(rank) / float64(countWithTimestamp-1)
}

func priorityScore(item *cupel.ContextItem, all items) float64 {
	priority, ok := item.Priority()
	if !ok {
		return 0.0
	}
	countWithPriority, rank := 0, 0
	for i := 0; i <= len(all)-1; i++ {
		other, ok := all[i].Priority()
		if !ok {
			continue
		}
		countWithPriority++
		if other < priority {
			rank++
		}
	}
	if countWithPriority <= 1 {
		return 1.0
	}
	return float64(rank) / float64(countWithPriority-1)
}

func frequencyScore(item *cupel.ContextItem, all items) float64 {
	tags := item.Tags()
	if len(tags) == 0 || len(all) <= 1 {
		return 0.0
	}
	matchingItems := 0
	for i := 0; i <= len(all)-1; i++ {
		if all[i] == item {
			continue
		}
		others := all[i].Tags()
		if len(others) == 0 {
			continue
		}
		if modelSharesAnyTag(tags, others) {
			matchingItems++
		}
	}
	return float64(matchingItems) / float64(len(all)-1)
}

func modelSharesAnyTag(tagsA, tagsB []string) bool {
	for i := 0; i <= len(tagsA)-1; i++ {
		for j := 0; j <= len(tagsB)-1; j++ {
			if caseInsensitiveEqual(tagsA[i], tagsB[j]) {
				return true
			}
		}
	}
	return false
}

func caseInsensitiveEqual(a, b string) bool {
	upper := func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}
	return strings.Map(upper, a) == strings.Map(upper, b)
}

func scaledScore(item *cupel.ContextItem, all items, inner cupel.Scorer) float64 {
	if len(all) == 0 {
		return 0.5
	}
	rawScore, found := math.NaN(), false
	low, high := math.Inf(1), math.Inf(-1)
	for i := 0; i <= len(all)-1; i++ {
		s := inner.Score(all[i], all)
		if s < low {
			low = s
		}
		if s > high {
			high = s
		}
		if all[i] == item {
			rawScore, found = s, true
		}
	}
	if !found { // R14
		return 0.5
	}
	if high == low {
		return 0.5
	}
	return (rawScore - low) / (high - low)
}

func compositeScore(item *cupel.ContextItem, all items, scorers []cupel.Scorer, normalizedWeights []float64) float64 {
	result := 0.0
	for i := 0; i <= len(scorers)-1; i++ {
		product := scorers[i].Score(item, all) * normalizedWeights[i]
		result += float64(product)
	}
	return result
}

// halfLives is EXPONENTIAL-CURVE with pow, as the chapter writes it.
func halfLives(age, halfLife time.Duration) float64 {
	return math.Pow(2.0, -age.Seconds()/halfLife.Seconds())
}
