package scorer

import (
	"context"
	"slices"
	"sync"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/engine"
	"github.com/wollax/cupel-go/cupel/internal/value"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Weighted is a scorer and its weight among the parts of a [Composite].
// Weights are positive and finite; only their ratios matter.
type Weighted struct {
	Scorer strategy.Scorer
	Weight float64
}

// Composite scores an item by the weighted average of other scorers. Scores
// are in [0,1] when those of its parts are. Products are rounded before they
// are added, in the order of the parts, so that the bits are the same on every
// processor. Build it with [NewComposite].
//
// It implements the CompositeScorer chapter of the specification.
type Composite struct {
	parts []Weighted // with weights whose sum is 1
}

// NewComposite returns the weighted average of the given parts. Weights are
// divided by their sum: 3 and 1 are the same as 0.75 and 0.25.
//
// It fails with a [cupel.InvalidConfigError] when there are no parts, on a nil
// scorer, on a weight that is not positive and finite, on weights whose sum is
// infinite, when a part or a scorer inside it is not valid, and when a
// scorer contains itself.
func NewComposite(parts ...Weighted) (*Composite, error) {
	return newComposite("entries", ".scorer", parts)
}

// newComposite is [NewComposite] with the names that errors have for the list of
// parts, and for the scorer of one.
func newComposite(list, field string, parts []Weighted) (*Composite, error) {
	wrong := strategy.Problems{Component: "CompositeScorer"}
	if len(parts) == 0 {
		wrong.Add(list, "", noParts)
	}
	total := 0.0
	for i, part := range parts {
		at := strategy.Element(list, i)
		if value.IsNil(part.Scorer) {
			wrong.Add(at+field, "", "Scorer must not be null")
		}
		switch {
		case part.Weight <= 0:
			wrong.Add(at+".weight", number(part.Weight), "Weight must be positive")
		case !isFinite(part.Weight):
			wrong.Add(at+".weight", number(part.Weight), "Weight must be finite")
		default:
			total += part.Weight
		}
	}
	if !isFinite(total) {
		wrong.Add(list, "", "the sum of the weights must be finite; only ratios matter, so scale them down")
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	c := &Composite{slices.Clone(parts)}
	for i := range parts {
		c.parts[i].Weight /= total
	}
	if err := strategy.ValidateScorer(c); err != nil {
		return nil, err
	}
	return c, nil
}

var compositeDescriptor = strategy.Descriptor{
	Name: "composite", Component: "CompositeScorer",
	Doc: "Scores an item by the weighted average of other scorers.",
	Fields: []strategy.Field{
		{Name: "scorers", Type: strategy.Parts, Required: true, Doc: "The scorers and their weights."},
	},
	Build: func(a strategy.Args) (any, error) {
		var parts []Weighted
		for _, part := range strategy.Get[[]strategy.Part](a, "scorers") {
			s, _ := part.Strategy.(strategy.Scorer)
			parts = append(parts, Weighted{s, part.Weight})
		}
		return strategy.Built(newComposite("scorers", "", parts))
	},
	Settings: strategy.Only(func(c *Composite) map[string]any {
		parts := make([]strategy.Part, len(c.parts))
		for i, part := range c.parts {
			parts[i] = strategy.Part{Strategy: part.Scorer, Weight: part.Weight}
		}
		return map[string]any{"scorers": parts}
	}),
}

const noParts = "At least one scorer entry is required"

// Facts has the scorers of the parts, in order. A scorer that was not built with
// [NewComposite] is invalid.
func (c *Composite) Facts() strategy.Facts {
	f := strategy.Facts{Of: c}
	if c == nil || len(c.parts) == 0 {
		f.Invalid = invalid("CompositeScorer", "entries", "", noParts)
		return f
	}
	f.Scorers = make([]strategy.Scorer, len(c.parts))
	for i, part := range c.parts {
		f.Scorers[i] = part.Scorer
	}
	return f
}

var partScores = sync.Pool{New: func() any { return new([]float64) }}

// Score asks each part once for the scores of all items, in order. It fails when
// a part does, when ctx is done, or when the scorer is invalid.
func (c *Composite) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	if c == nil || len(c.parts) == 0 {
		return c.Facts().Invalid
	}
	if err := begin(ctx, c, items, scores); err != nil {
		return err
	}
	memory := partScores.Get().(*[]float64)
	defer partScores.Put(memory)
	own := engine.Resize(*memory, len(items))
	*memory = own
	for _, part := range c.parts {
		if err := strategy.CallScorer(ctx, part.Scorer, items, own); err != nil {
			return err
		}
		for i, score := range own {
			scores[i] += float64(score * part.Weight)
		}
	}
	return nil
}

// Part holds the scores of one part of a [Composite] for a list of items.
type Part struct {
	Scorer strategy.Scorer
	Weight float64   // normalized: the weights of all parts sum to 1
	Scores []float64 // by item; the part contributes Scores[i] * Weight
}

// ScoreParts returns what each part contributes to the scores of all items, to
// explain them. It fails as Score does.
func (c *Composite) ScoreParts(ctx context.Context, items []*cupel.ContextItem) ([]Part, error) {
	if invalid := c.Facts().Invalid; invalid != nil {
		return nil, invalid
	}
	parts := make([]Part, len(c.parts))
	for i, part := range c.parts {
		parts[i] = Part{part.Scorer, part.Weight, make([]float64, len(items))}
		if err := strategy.CallScorer(ctx, part.Scorer, items, parts[i].Scores); err != nil {
			return nil, err
		}
	}
	return parts, nil
}
