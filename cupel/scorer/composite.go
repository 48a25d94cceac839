package scorer

import (
	"context"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Weighted is a scorer and its weight among the parts of a [Composite].
// Weights are positive and finite; only their ratios matter.
type Weighted struct {
	Scorer cupel.Scorer
	Weight float64
}

// Composite scores an item by the weighted average of other scorers. Scores
// are in [0,1] when those of its parts are. Products are rounded before they
// are added, in the order of the parts, so that the bits are the same on every
// processor. Build it with [NewComposite].
//
// It implements the CompositeScorer chapter of the specification.
type Composite struct {
	scorers []cupel.Scorer
	weights []float64 // normalised
}

// NewComposite returns the weighted average of the given parts. Weights are
// divided by their sum: 3 and 1 are the same as 0.75 and 0.25.
//
// It fails with a [cupel.InvalidConfigError] when there are no parts, on a nil
// scorer, on a weight that is not positive and finite, on weights whose sum is
// infinite, when a part or a scorer inside it is not valid, and when a
// scorer contains itself.
func NewComposite(parts ...Weighted) (*Composite, error) {
	wrong := strategy.Problems{Component: "CompositeScorer"}
	c := &Composite{
		scorers: make([]cupel.Scorer, len(parts)),
		weights: make([]float64, len(parts)),
	}
	total := 0.0
	for i, part := range parts {
		at := strategy.Element("entries", i)
		if isNil(part.Scorer) {
			wrong.Add(at+".scorer", "", "Scorer must not be null")
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
		wrong.Add("entries", "", "the sum of the weights must be finite; only ratios matter, so scale them down")
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	for i, part := range parts {
		c.scorers[i] = part.Scorer
		c.weights[i] = part.Weight / total
	}
	if err := cupel.ValidateScorer(c); err != nil {
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
			s, _ := part.Strategy.(cupel.Scorer)
			parts = append(parts, Weighted{s, part.Weight})
		}
		composite, err := NewComposite(parts...)
		if err != nil {
			return nil, renamed(err)
		}
		return composite, nil
	},
	Settings: strategy.Only(func(c *Composite) map[string]any {
		parts := make([]strategy.Part, len(c.scorers))
		for i, s := range c.scorers {
			parts[i] = strategy.Part{Strategy: s, Weight: c.weights[i]}
		}
		return map[string]any{"scorers": parts}
	}),
}

// renamed returns an error of [NewComposite] with the names that policies have
// for its settings: scorers[0] for entries[0].scorer.
func renamed(err error) error {
	wrong := strategy.Problems{Component: "CompositeScorer"}
	for _, err := range strategy.All(err) {
		e, ok := compat.AsType[*cupel.InvalidConfigError](err)
		if ok && e.Component == wrong.Component {
			field := "scorers" + strings.TrimPrefix(strings.TrimSuffix(e.Field, ".scorer"), "entries")
			wrong.Add(field, e.Value, e.Reason)
			continue
		}
		wrong.AddError(err)
	}
	return wrong.Err()
}

func errNoParts() error {
	return invalid("CompositeScorer", "entries", "", "At least one scorer entry is required")
}

// Validate reports a scorer that was not built with [NewComposite]. It does
// not check the parts; [cupel.ValidateScorer] does.
func (c *Composite) Validate() error {
	if c == nil || len(c.scorers) == 0 {
		return errNoParts()
	}
	return nil
}

// Scorers returns the scorers of the parts, in order.
func (c *Composite) Scorers() []cupel.Scorer {
	if c == nil {
		return nil
	}
	return slices.Clone(c.scorers)
}

// Score asks each part for its score of the item, in order.
func (c *Composite) Score(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	if c == nil {
		return 0
	}
	result := 0.0
	for i, s := range c.scorers {
		result += float64(s.Score(item, all) * c.weights[i])
	}
	return result
}

// ScoreAll asks each part once for the scores of all items, in order. It
// fails when a part does, when ctx is done, or when Validate does.
func (c *Composite) ScoreAll(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if err := begin(ctx, "CompositeScorer", all, scores); err != nil {
		return err
	}
	part := borrowFloats(len(all))
	defer part.giveBack()
	clear(scores)
	for i, s := range c.scorers {
		if err := cupel.ScoreAll(ctx, s, all, part.of); err != nil {
			return err
		}
		weight := c.weights[i]
		for j, score := range part.of {
			scores[j] += float64(score * weight)
		}
	}
	return nil
}

// Part holds the scores of one part of a [Composite] for a list of items.
type Part struct {
	Scorer cupel.Scorer
	Weight float64   // normalised: the weights of all parts sum to 1
	Scores []float64 // by item; the part contributes Scores[i] * Weight
}

// ScoreParts returns what each part contributes to the scores of all items, to
// explain them. It fails as ScoreAll does.
func (c *Composite) ScoreParts(ctx context.Context, all []*cupel.ContextItem) ([]Part, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	parts := make([]Part, len(c.scorers))
	for i, s := range c.scorers {
		parts[i] = Part{Scorer: s, Weight: c.weights[i], Scores: make([]float64, len(all))}
		if err := cupel.ScoreAll(ctx, s, all, parts[i].Scores); err != nil {
			return nil, err
		}
	}
	return parts, nil
}
