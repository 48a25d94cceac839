package naive

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// Scorer is the configuration of a scorer.
type Scorer interface {
	// valid is the validation of the scorer's chapter.
	valid() bool
	// score is the SCORE function of the scorer's chapter.
	score(it *item, all []*item) float64
}

// item is a candidate with its fields at hand.
type item struct {
	ref      *cupel.ContextItem // identity (R1)
	position int                // among the candidates
	tokens   int
	kind     string
	tags     []string

	timestamp    time.Time
	hasTimestamp bool
	priority     int
	hasPriority  bool

	// As a member of a unit.
	unit     *unit
	score    float64
	size     int             // tokens in form 0 of the unit
	start    int             // its variant in form 0 of the unit, from 1; 0 is full
	variants []cupel.Variant // its possible points, largest first
	stale    bool
}

func newItems(refs []*cupel.ContextItem) []*item {
	items := make([]*item, len(refs))
	for i, ref := range refs {
		it := &item{ref: ref, position: i, tokens: ref.Tokens(), size: ref.Tokens(), kind: string(ref.Kind()), tags: ref.Tags()}
		it.timestamp, it.hasTimestamp = ref.Timestamp()
		it.priority, it.hasPriority = ref.Priority()
		items[i] = it
	}
	return items
}

// Score is the Score chapter: every item of the list, scored among all of
// them.
func Score(s Scorer, items []*cupel.ContextItem) ([]float64, error) {
	if !s.valid() {
		return nil, errInvalid
	}
	return scoreAll(s, newItems(items)), nil
}

func scoreAll(s Scorer, all []*item) []float64 {
	scores := make([]float64, len(all))
	for i, it := range all {
		scores[i] = s.score(it, all)
	}
	return scores
}

// rankScore is the share of the other items of a list that come before one.
func rankScore(rank, count int) float64 {
	if count <= 1 {
		return 1.0
	}
	return float64(rank) / float64(count-1)
}

// Recency is the RecencyScorer chapter.
type Recency struct{}

func (Recency) valid() bool { return true }

func (Recency) score(it *item, all []*item) float64 {
	if !it.hasTimestamp {
		return 0.0
	}
	countWithTimestamp, rank := 0, 0
	for _, other := range all {
		if !other.hasTimestamp {
			continue
		}
		countWithTimestamp++
		if other.timestamp.Before(it.timestamp) {
			rank++
		}
	}
	return rankScore(rank, countWithTimestamp)
}

// Priority is the PriorityScorer chapter.
type Priority struct{}

func (Priority) valid() bool { return true }

func (Priority) score(it *item, all []*item) float64 {
	if !it.hasPriority {
		return 0.0
	}
	countWithPriority, rank := 0, 0
	for _, other := range all {
		if !other.hasPriority {
			continue
		}
		countWithPriority++
		if other.priority < it.priority {
			rank++
		}
	}
	return rankScore(rank, countWithPriority)
}

// KindWeight is the weight of one kind.
type KindWeight struct {
	Kind   cupel.ContextKind
	Weight float64
}

// Kind is the KindScorer chapter. Nil weights are the default ones; an empty
// list scores everything 0 (R13).
type Kind struct{ Weights []KindWeight }

var defaultKindWeights = []KindWeight{
	{cupel.KindSystemPrompt, 1.0},
	{cupel.KindMemory, 0.8},
	{cupel.KindToolOutput, 0.6},
	{cupel.KindDocument, 0.4},
	{cupel.KindMessage, 0.2},
}

func (s Kind) valid() bool {
	kindOf := func(w KindWeight) cupel.ContextKind { return w.Kind }
	return validKinds(s.Weights, kindOf) && !slices.ContainsFunc(s.Weights, func(w KindWeight) bool {
		return w.Weight < 0 || !finite(w.Weight)
	})
}

func (s Kind) score(it *item, _ []*item) float64 {
	weights := s.Weights
	if weights == nil {
		weights = defaultKindWeights
	}
	for _, w := range weights {
		if equalFold(string(w.Kind), it.kind) {
			return w.Weight
		}
	}
	return 0.0
}

// TagWeight is the weight of one tag.
type TagWeight struct {
	Tag    string
	Weight float64
}

// Tag is the TagScorer chapter. Tags match exactly unless FoldCase asks for
// ASCII case folding.
type Tag struct {
	Weights  []TagWeight
	FoldCase bool
}

func (s Tag) valid() bool {
	for _, w := range s.Weights {
		if !(w.Weight >= 0) {
			return false
		}
	}
	weights, total := s.weights()
	return len(weights) == len(s.Weights) && finite(total)
}

// weights returns the weights by tag, and their sum: in the order of the tags,
// so that the configuration's order never shows (R13).
func (s Tag) weights() (weights map[string]float64, total float64) {
	weights = map[string]float64{}
	for _, w := range s.Weights {
		weights[s.key(w.Tag)] = w.Weight
	}
	for _, t := range slices.Sorted(maps.Keys(weights)) {
		total += weights[t]
	}
	return weights, total
}

func (s Tag) key(t string) string {
	if s.FoldCase {
		return foldCase(t)
	}
	return t
}

func (s Tag) score(it *item, _ []*item) float64 {
	weights, total := s.weights()
	if total == 0.0 || len(it.tags) == 0 {
		return 0.0
	}
	matchedSum := 0.0
	for _, t := range it.tags {
		matchedSum += weights[s.key(t)]
	}
	return min(matchedSum/total, 1.0)
}

// Frequency is the FrequencyScorer chapter.
type Frequency struct{}

func (Frequency) valid() bool { return true }

func (Frequency) score(it *item, all []*item) float64 {
	if len(it.tags) == 0 || len(all) <= 1 {
		return 0.0
	}
	matchingItems := 0
	for _, other := range all {
		if other.ref != it.ref && sharesAnyTag(it.tags, other.tags) {
			matchingItems++
		}
	}
	return float64(matchingItems) / float64(len(all)-1)
}

func sharesAnyTag(a, b []string) bool {
	for _, x := range a {
		for _, y := range b {
			if equalFold(x, y) {
				return true
			}
		}
	}
	return false
}

// Reflexive is the ReflexiveScorer chapter.
type Reflexive struct{}

func (Reflexive) valid() bool { return true }

func (Reflexive) score(it *item, _ []*item) float64 {
	hint, ok := it.ref.FutureRelevanceHint()
	if !ok || !finite(hint) {
		return 0.0
	}
	return clamp(hint)
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// clamp is CLAMP(x, 0.0, 1.0).
func clamp(x float64) float64 {
	switch {
	case x < 0:
		return 0
	case x > 1:
		return 1
	}
	return x
}

// Weighted is a scorer with its weight in a [Composite].
type Weighted struct {
	Scorer Scorer
	Weight float64
}

// Composite is the CompositeScorer chapter.
type Composite struct{ Parts []Weighted }

func (s Composite) valid() bool {
	for _, p := range s.Parts {
		if !(p.Weight > 0) || !p.Scorer.valid() {
			return false
		}
	}
	return len(s.Parts) > 0 && finite(s.totalWeight())
}

func (s Composite) totalWeight() float64 {
	total := 0.0
	for _, p := range s.Parts {
		total += p.Weight
	}
	return total
}

func (s Composite) score(it *item, all []*item) float64 {
	totalWeight := s.totalWeight()
	result := 0.0
	for _, p := range s.Parts {
		// The conversion keeps the product from being fused into the sum (R9).
		result += float64(p.Scorer.score(it, all) * (p.Weight / totalWeight))
	}
	return result
}

// Scaled is the ScaledScorer chapter.
type Scaled struct{ Inner Scorer }

func (s Scaled) valid() bool { return s.Inner.valid() }

func (s Scaled) score(it *item, all []*item) float64 {
	rawScore := math.NaN()
	lowest, highest := math.Inf(1), math.Inf(-1)
	for _, other := range all {
		score := s.Inner.score(other, all)
		if score < lowest {
			lowest = score
		}
		if score > highest {
			highest = score
		}
		if other.ref == it.ref {
			rawScore = score
		}
	}
	if highest == lowest {
		return 0.5
	}
	return (rawScore - lowest) / (highest - lowest)
}

// Custom is a scorer of the test's own.
type Custom struct {
	Score func(item *cupel.ContextItem) float64
}

func (Custom) valid() bool { return true }

func (s Custom) score(it *item, _ []*item) float64 { return s.Score(it.ref) }
