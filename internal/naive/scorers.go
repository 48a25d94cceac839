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
	// construct is the CONSTRUCT function of the scorer's chapter, if it has
	// one, with the chapter's validation.
	construct(f Fault) (scorer, error)
}

type scorer interface {
	// score is the SCORE function of the scorer's chapter.
	score(it *item, all []*item, f Fault) float64
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
	hint         float64
	hasHint      bool
}

func newItems(refs []*cupel.ContextItem) []*item {
	backing := make([]item, len(refs))
	items := make([]*item, len(refs))
	for i, ref := range refs {
		it := &backing[i]
		*it = item{ref: ref, position: i, tokens: ref.Tokens(), kind: string(ref.Kind()), tags: ref.Tags()}
		it.timestamp, it.hasTimestamp = ref.Timestamp()
		it.priority, it.hasPriority = ref.Priority()
		it.hint, it.hasHint = ref.FutureRelevanceHint()
		items[i] = it
	}
	return items
}

// Score is the Score chapter: every item of the list, scored among all of
// them.
func Score(s Scorer, items []*cupel.ContextItem, f Fault) ([]float64, error) {
	constructed, err := constructScorer(s, f)
	if err != nil {
		return nil, err
	}
	return scoreAll(constructed, newItems(items), f), nil
}

func constructScorer(s Scorer, f Fault) (scorer, error) {
	if s == nil {
		return nil, invalid("Scorer must not be null")
	}
	return s.construct(f)
}

func scoreAll(s scorer, all []*item, f Fault) []float64 {
	scores := make([]float64, len(all))
	for i, it := range all {
		scores[i] = s.score(it, all, f)
	}
	return scores
}

// Recency is the RecencyScorer chapter.
type Recency struct{}

func (s Recency) construct(Fault) (scorer, error) { return s, nil }

func (Recency) score(it *item, all []*item, f Fault) float64 {
	if !it.hasTimestamp {
		if f == FaultRecencyAbsentIsHalf {
			return 0.5
		}
		return 0.0
	}
	countWithTimestamp, rank := 0, 0
	for _, other := range all {
		if !other.hasTimestamp {
			continue
		}
		countWithTimestamp++
		if f == FaultNone && other.timestamp.Before(it.timestamp) || f != FaultNone && before(other.timestamp, it.timestamp, f) {
			rank++
		}
	}
	if f == FaultRecencyDenominatorAll {
		countWithTimestamp = len(all)
	}
	if countWithTimestamp <= 1 {
		if f == FaultRecencyLoneIsZero {
			return 0.0
		}
		return 1.0
	}
	if f == FaultRecencyDenominatorWhole {
		return float64(rank) / float64(countWithTimestamp)
	}
	return float64(rank) / float64(countWithTimestamp-1)
}

func before(a, b time.Time, f Fault) bool {
	switch f {
	case FaultRecencyNonStrict:
		return !a.After(b)
	case FaultRecencyOldestFirst:
		return a.After(b)
	case FaultRecencyNanosecondsWrap:
		return a.UnixNano() < b.UnixNano()
	case FaultRecencyWholeSeconds:
		return a.Unix() < b.Unix()
	}
	return a.Before(b)
}

// Priority is the PriorityScorer chapter.
type Priority struct{}

func (s Priority) construct(Fault) (scorer, error) { return s, nil }

func (Priority) score(it *item, all []*item, f Fault) float64 {
	if !it.hasPriority && f != FaultPriorityAbsentIsZero {
		return 0.0
	}
	countWithPriority, rank := 0, 0
	for _, other := range all {
		if !other.hasPriority && f != FaultPriorityAbsentIsZero {
			continue
		}
		countWithPriority++
		switch f {
		case FaultPriorityNonStrict:
			if other.priority <= it.priority {
				rank++
			}
		case FaultPriorityLowestFirst:
			if other.priority > it.priority {
				rank++
			}
		default:
			if other.priority < it.priority {
				rank++
			}
		}
	}
	if f == FaultPriorityDenominatorAll {
		countWithPriority = len(all)
	}
	if countWithPriority <= 1 {
		if f == FaultPriorityLoneIsZero {
			return 0.0
		}
		return 1.0
	}
	if f == FaultPriorityDenominatorWhole {
		return float64(rank) / float64(countWithPriority)
	}
	return float64(rank) / float64(countWithPriority-1)
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

var flatKindWeights = []KindWeight{
	{cupel.KindSystemPrompt, 1.0},
	{cupel.KindMemory, 1.0},
	{cupel.KindToolOutput, 1.0},
	{cupel.KindDocument, 1.0},
	{cupel.KindMessage, 1.0},
}

func (s Kind) construct(f Fault) (scorer, error) {
	for i, w := range s.Weights {
		switch {
		case w.Weight < 0 && f != FaultKindNegativeWeightAllowed:
			return nil, invalid("Weight for kind must be non-negative")
		case !finite(w.Weight) && f != FaultKindInfiniteWeightAllowed:
			return nil, invalid("Weight for kind must be finite")
		case w.Kind.IsBlank() && f != FaultBlankKindAllowed:
			return nil, invalid("kind must not be blank")
		}
		for _, earlier := range s.Weights[:i] {
			if equalFold(string(earlier.Kind), string(w.Kind)) && f != FaultKindTwiceAllowed {
				return nil, invalid("kind given twice")
			}
		}
	}
	if s.Weights == nil || f == FaultKindEmptyIsDefault && len(s.Weights) == 0 {
		s.Weights = defaultKindWeights
		if f == FaultKindDefaultsFlat {
			s.Weights = flatKindWeights
		}
	}
	return s, nil
}

func (s Kind) score(it *item, _ []*item, f Fault) float64 {
	for _, w := range s.Weights {
		if sameName(string(w.Kind), it.kind, f, FaultKindCaseSensitive, FaultKindFoldsUnicode) {
			if f == FaultKindClamped {
				return min(w.Weight, 1.0)
			}
			return w.Weight
		}
	}
	if f == FaultKindUnknownIsHalf {
		return 0.5
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

// tag is a constructed [Tag].
type tag struct {
	weights  map[string]float64
	total    float64
	foldCase bool
}

func (s Tag) construct(f Fault) (scorer, error) {
	c := tag{weights: make(map[string]float64, len(s.Weights)), foldCase: s.FoldCase || f == FaultTagFoldsCase}
	for _, w := range s.Weights {
		switch {
		case w.Weight < 0 && f != FaultTagNegativeWeightAllowed:
			return nil, invalid("Tag weight must be non-negative")
		case !finite(w.Weight) && f != FaultTagInfiniteWeightAllowed:
			return nil, invalid("Tag weight must be finite")
		}
		if _, twice := c.weights[c.key(w.Tag)]; twice && f != FaultTagTwiceAllowed && f != FaultTagFoldsCase {
			return nil, invalid("tag given twice")
		}
		c.weights[c.key(w.Tag)] = w.Weight
	}
	// In the order of the tags, so that the configuration's order never shows
	// (R13).
	for _, t := range slices.Sorted(maps.Keys(c.weights)) {
		c.total += c.weights[t]
	}
	if math.IsInf(c.total, 0) && f != FaultTagInfiniteSumAllowed && f != FaultTagInfiniteWeightAllowed {
		return nil, invalid("Tag weights must have a finite sum")
	}
	return c, nil
}

func (s tag) key(t string) string {
	if s.foldCase {
		return foldCase(t)
	}
	return t
}

func (s tag) score(it *item, _ []*item, f Fault) float64 {
	if s.total == 0.0 || len(it.tags) == 0 {
		if f == FaultTagNothingIsHalf {
			return 0.5
		}
		return 0.0
	}
	matchedSum := 0.0
	for i, t := range it.tags {
		if f == FaultTagDuplicatesOnce && slices.Contains(it.tags[:i], t) {
			continue
		}
		matchedSum += s.weights[s.key(t)]
		if f == FaultTagFirstMatchOnly && matchedSum > 0 {
			break
		}
	}
	if f == FaultTagNotNormalised {
		return min(matchedSum, 1.0)
	}
	if f == FaultTagUnclamped {
		return matchedSum / s.total
	}
	return min(matchedSum/s.total, 1.0)
}

// Frequency is the FrequencyScorer chapter.
type Frequency struct{}

func (s Frequency) construct(Fault) (scorer, error) { return s, nil }

func (Frequency) score(it *item, all []*item, f Fault) float64 {
	if len(it.tags) == 0 || len(all) <= 1 {
		return 0.0
	}
	matchingItems, tagged := 0, 0
	for _, other := range all {
		if other.ref == it.ref && f != FaultFrequencyCountsSelf {
			continue
		}
		if f == FaultFrequencySelfByContent && other.ref.Content() == it.ref.Content() {
			continue
		}
		if len(other.tags) == 0 {
			continue
		}
		tagged++
		if sharesAnyTag(it.tags, other.tags, f) {
			matchingItems++
		}
	}
	switch f {
	case FaultFrequencyDenominatorWhole:
		return float64(matchingItems) / float64(len(all))
	case FaultFrequencyDenominatorTagged:
		return float64(matchingItems) / float64(max(tagged, 1))
	}
	return float64(matchingItems) / float64(len(all)-1)
}

func sharesAnyTag(a, b []string, f Fault) bool {
	if f == FaultFrequencyFirstTagOnly {
		return equalFold(a[0], b[0])
	}
	for _, x := range a {
		for _, y := range b {
			if sameName(x, y, f, FaultFrequencyCaseSensitive, FaultFrequencyFoldsUnicode) {
				return true
			}
		}
	}
	return false
}

// Reflexive is the ReflexiveScorer chapter.
type Reflexive struct{}

func (s Reflexive) construct(Fault) (scorer, error) { return s, nil }

func (Reflexive) score(it *item, _ []*item, f Fault) float64 {
	if !it.hasHint {
		if f == FaultReflexiveAbsentIsHalf {
			return 0.5
		}
		return 0.0
	}
	value := it.hint
	if !finite(value) && f != FaultReflexiveInfinityClamped {
		return 0.0
	}
	switch f {
	case FaultReflexiveNotClampedAbove:
		return max(value, 0.0)
	case FaultReflexiveNotClampedBelow:
		return min(value, 1.0)
	}
	return clamp(value, 0.0, 1.0)
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func clamp(x, lo, hi float64) float64 {
	switch {
	case x < lo:
		return lo
	case x > hi:
		return hi
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

// composite is a constructed [Composite].
type composite struct {
	scorers           []scorer
	normalizedWeights []float64
}

func (s Composite) construct(f Fault) (scorer, error) {
	if len(s.Parts) == 0 && f != FaultCompositeEmptyAllowed {
		return nil, invalid("At least one scorer entry is required")
	}
	var c composite
	totalWeight := 0.0
	for _, p := range s.Parts {
		child, err := constructScorer(p.Scorer, f)
		switch {
		case err != nil:
			return nil, err
		case p.Weight <= 0 && f != FaultCompositeZeroWeightAllowed:
			return nil, invalid("Weight must be positive")
		case !finite(p.Weight) && f != FaultCompositeInfiniteWeightAllowed:
			return nil, invalid("Weight must be finite")
		}
		c.scorers = append(c.scorers, child)
		totalWeight += p.Weight
	}
	if math.IsInf(totalWeight, 0) && f != FaultCompositeInfiniteSumAllowed && f != FaultCompositeInfiniteWeightAllowed {
		return nil, invalid("Weights must have a finite sum")
	}
	for _, p := range s.Parts {
		switch f {
		case FaultCompositeNotNormalised:
			totalWeight = 1.0
		case FaultCompositeUnweighted:
			totalWeight = p.Weight * float64(len(s.Parts))
		}
		c.normalizedWeights = append(c.normalizedWeights, p.Weight/totalWeight)
	}
	return c, nil
}

func (s composite) score(it *item, all []*item, f Fault) float64 {
	result := 0.0
	for i, child := range s.scorers {
		part := child.score(it, all, f)
		if f == FaultCompositeMaximum {
			result = max(result, part)
			continue
		}
		// The conversion keeps the product from being fused into the sum (R9).
		result += float64(part * s.normalizedWeights[i])
	}
	return result
}

// Scaled is the ScaledScorer chapter.
type Scaled struct{ Inner Scorer }

// scaled is a constructed [Scaled].
type scaled struct{ inner scorer }

func (s Scaled) construct(f Fault) (scorer, error) {
	inner, err := constructScorer(s.Inner, f)
	return scaled{inner}, err
}

func (s scaled) score(it *item, all []*item, f Fault) float64 {
	if len(all) == 0 {
		return 0.5
	}
	rawScore := math.NaN()
	lowest, highest := math.Inf(1), math.Inf(-1)
	for _, other := range all {
		score := s.inner.score(other, all, f)
		if score < lowest {
			lowest = score
		}
		if score > highest {
			highest = score
		}
		if other.ref == it.ref || f == FaultScaledSelfByContent && other.ref.Content() == it.ref.Content() {
			rawScore = score
		}
	}
	if f == FaultScaledFromZero {
		lowest = 0
	}
	if highest == lowest {
		switch f {
		case FaultScaledEqualIsZero:
			return 0.0
		case FaultScaledEqualIsOne:
			return 1.0
		}
		return 0.5
	}
	if f == FaultScaledInverted {
		return (highest - rawScore) / (highest - lowest)
	}
	return (rawScore - lowest) / (highest - lowest)
}

// Custom is a scorer of the test's own.
type Custom struct {
	Score func(item *cupel.ContextItem) float64
}

func (s Custom) construct(Fault) (scorer, error) { return s, nil }

func (s Custom) score(it *item, _ []*item, _ Fault) float64 { return s.Score(it.ref) }
