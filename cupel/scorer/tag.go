package scorer

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/ascii"
)

// Tag scores an item by the weights of its tags: their sum divided by the sum
// of all configured weights, at most 1. A tag that the item has several times
// counts each time. Items without tags score 0, and so does every item while
// all weights are 0. Scores are in [0,1].
//
// Tags compare exactly, or with [WithCaseInsensitiveTags] under ASCII case
// folding (R13). Build it with [NewTag].
//
// It implements the TagScorer chapter of the specification.
type Tag struct {
	weights map[string]float64 // by tag, folded if fold; never nil once built
	total   float64
	fold    bool
}

// TagOption is an optional setting of a [Tag] scorer.
type TagOption func(*tagDraft)

// tagDraft is a scorer that is not finished yet. It is a type of its own so
// that nobody can apply an option to a finished one.
type tagDraft Tag

// WithCaseInsensitiveTags compares tags under ASCII case folding. Letters
// beyond ASCII keep their case.
func WithCaseInsensitiveTags() TagOption {
	return func(t *tagDraft) { t.fold = true }
}

// NewTag returns a scorer with the given weights, which are copied. Their sum
// is taken in the order of the sorted tags, so that it is always the same.
//
// It fails with a [cupel.InvalidConfigError] on a weight that is negative,
// infinite or NaN, on weights whose sum is infinite (R9), and where tags
// compare without case, on a tag that is given in two casings.
func NewTag(weights map[string]float64, opts ...TagOption) (*Tag, error) {
	t := &Tag{weights: make(map[string]float64, len(weights))}
	for _, opt := range opts {
		if opt != nil {
			opt((*tagDraft)(t))
		}
	}
	for _, tag := range slices.Sorted(maps.Keys(weights)) {
		weight, key := weights[tag], tag
		if t.fold {
			key = ascii.Lower(tag)
		}
		field := fmt.Sprintf("weights[%q]", tag)
		if _, twice := t.weights[key]; twice {
			return nil, invalid("TagScorer", field, "", "tag is given twice; casing does not tell tags apart here")
		}
		if weight < 0 {
			return nil, invalid("TagScorer", field, number(weight), "Tag weight must be non-negative")
		}
		if !isFinite(weight) {
			return nil, invalid("TagScorer", field, number(weight), "Tag weight must be finite")
		}
		t.weights[key] = weight
		t.total += weight
	}
	if math.IsInf(t.total, 0) {
		return nil, invalid("TagScorer", "weights", "", "the sum of the tag weights must be finite; scale them down")
	}
	return t, nil
}

// Validate reports a scorer that was not built with [NewTag].
func (t *Tag) Validate() error {
	if t == nil || t.weights == nil {
		return notBuilt("TagScorer", "NewTag")
	}
	return nil
}

// Score looks at the item alone; all is ignored.
func (t *Tag) Score(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
	if t == nil || t.total == 0 {
		return 0
	}
	matched := 0.0
	for _, tag := range item.AllTags() {
		matched += t.weight(tag)
	}
	return min(matched/t.total, 1)
}

func (t *Tag) weight(tag string) float64 {
	if !t.fold {
		return t.weights[tag]
	}
	var folded [64]byte // room for most tags, so that the key is not allocated
	return t.weights[string(ascii.AppendLower(folded[:0], tag))]
}

// ScoreAll scores each item in time linear in its tags. It fails only when
// ctx is done or Validate does.
func (t *Tag) ScoreAll(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	if err := t.Validate(); err != nil {
		return err
	}
	return each(ctx, "TagScorer", all, scores, func(item *cupel.ContextItem) float64 { return t.Score(item, all) })
}
