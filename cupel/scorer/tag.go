package scorer

import (
	"context"
	"maps"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/ascii"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Tag scores an item by the weights of its tags: their sum divided by the sum
// of all configured weights, at most 1. A tag that the item has several times
// counts each time. Items without tags score 0, and so does every item while
// all weights are 0. Scores are in [0,1].
//
// Tags are compared exactly, or with [WithCaseInsensitiveTags] without ASCII
// case. Build it with [NewTag].
//
// It implements the TagScorer chapter of the specification.
type Tag struct {
	weights map[string]float64 // by tag, folded if fold; never nil once built
	total   float64
	fold    bool
}

// TagOption is an optional setting of a [Tag] scorer.
type TagOption func(*tagDraft)

// tagDraft is an unfinished scorer. It is a separate type so that options
// cannot change a finished one.
type tagDraft Tag

// WithCaseInsensitiveTags compares tags without the case of ASCII letters. The
// case of other letters counts.
func WithCaseInsensitiveTags() TagOption {
	return func(t *tagDraft) { t.fold = true }
}

// NewTag returns a scorer with the given weights, which are copied. They are added
// in the order of the sorted tags, so that their sum is always the same.
//
// It fails with a [cupel.InvalidConfigError] on a weight that is negative,
// infinite or NaN, on weights whose sum is infinite, and where tags
// compare without case, on a tag that is given in two casings.
func NewTag(weights map[string]float64, opts ...TagOption) (*Tag, error) {
	t := &Tag{}
	for _, opt := range opts {
		if opt != nil {
			opt((*tagDraft)(t))
		}
	}
	wrong := strategy.Problems{Component: "TagScorer"}
	key := strings.Clone
	if t.fold {
		key = ascii.Lower
	}
	t.weights, t.total = weightsByKey(&wrong, weights, key, "Tag weight", "tag is given twice; tags are case-insensitive here")
	if wrong.Len() == 0 && !isFinite(t.total) {
		wrong.Add("weights", "", "the sum of the tag weights must be finite; scale them down")
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	return t, nil
}

var tagDescriptor = strategy.Descriptor{
	Name: "tag", Component: "TagScorer",
	Doc: "Scores an item by the weights of its tags.",
	Fields: []strategy.Field{
		{Name: "weights", Type: strategy.Weights, Keys: strategy.Text, Required: true, Doc: "Weights by tag."},
		{Name: "caseInsensitive", Type: strategy.Bool, Default: false, Doc: "Compare tags without ASCII case."},
	},
	Build: func(a strategy.Args) (any, error) {
		var opts []TagOption
		if strategy.Get[bool](a, "caseInsensitive") {
			opts = append(opts, WithCaseInsensitiveTags())
		}
		return strategy.Built(NewTag(strategy.Get[map[string]float64](a, "weights"), opts...))
	},
	Settings: strategy.Only(func(t *Tag) map[string]any {
		return map[string]any{"weights": maps.Clone(t.weights), "caseInsensitive": t.fold}
	}),
}

// Facts reports a scorer that was not built with [NewTag] as invalid.
func (t *Tag) Facts() strategy.Facts {
	return built(t, t != nil && t.weights != nil, "TagScorer", "NewTag")
}

// Score scores each item in time linear in its tags. It fails only when ctx is
// done or the scorer is invalid.
func (t *Tag) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	return each(ctx, t, items, scores, func(item *cupel.ContextItem) float64 {
		if t.total == 0 {
			return 0
		}
		matched := 0.0
		for _, tag := range item.AllTags() {
			if t.fold {
				matched += weightOf(t.weights, tag)
			} else {
				matched += t.weights[tag]
			}
		}
		return min(matched/t.total, 1)
	})
}
