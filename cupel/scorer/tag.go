package scorer

import (
	"context"
	"maps"
	"slices"

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

// NewTag returns a scorer with the given weights, which are copied. Their sum
// is taken in the order of the sorted tags, so that it is always the same.
//
// It fails with a [cupel.InvalidConfigError] on a weight that is negative,
// infinite or NaN, on weights whose sum is infinite, and where tags
// compare without case, on a tag that is given in two casings.
func NewTag(weights map[string]float64, opts ...TagOption) (*Tag, error) {
	t := &Tag{weights: make(map[string]float64, len(weights))}
	for _, opt := range opts {
		if opt != nil {
			opt((*tagDraft)(t))
		}
	}
	wrong := strategy.Problems{Component: "TagScorer"}
	seen := make(map[string]string, len(weights)) // field by key
	for _, tag := range slices.Sorted(maps.Keys(weights)) {
		weight, key := weights[tag], tag
		if t.fold {
			key = ascii.Lower(tag)
		}
		field := strategy.Key("weights", tag)
		earlier, twice := seen[key]
		switch {
		case weight < 0:
			wrong.Add(field, number(weight), "Tag weight must be non-negative")
		case !isFinite(weight):
			wrong.Add(field, number(weight), "Tag weight must be finite")
		case twice:
			wrong.Repeated(field, "", "tag is given twice; tags are case-insensitive here", earlier)
		}
		if !twice {
			seen[key] = field
		}
		t.weights[key] = weight
		t.total += weight
	}
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

// Validate reports a scorer that was not built with [NewTag].
func (t *Tag) Validate() error {
	if t == nil || t.weights == nil {
		return notBuilt("TagScorer", "NewTag")
	}
	return nil
}

// Score uses only the item; it ignores all.
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
