package scorer

import (
	"context"
	"maps"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/ascii"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Kind scores an item by the weight of its kind, and 0 when its kind has none.
// Kinds are compared without ASCII case. Scores are in [0, largest weight]:
// weights above 1 are not clamped.
//
// The zero Kind has the default weights: 1.0 for system prompts, 0.8 for
// memories, 0.6 for tool outputs, 0.4 for documents, 0.2 for messages.
//
// It implements the KindScorer chapter of the specification.
type Kind struct{ weights *kindWeights } // nil: the default weights

type kindWeights struct {
	given map[string]float64 // as they were given, to describe the scorer
	byKey map[string]float64
}

// NewKind returns a scorer with the given weights, which are copied. A nil map
// means the default weights; with an empty one every item scores 0.
//
// It fails with a [cupel.InvalidConfigError] on a weight that is negative,
// infinite or NaN, on a blank kind, and on a kind that is given in two
// casings.
func NewKind(weights map[cupel.ContextKind]float64) (Kind, error) {
	if weights == nil {
		return Kind{}, nil
	}
	given := make(map[string]float64, len(weights))
	for kind, weight := range weights {
		given[string(kind)] = weight
	}
	return newKind(given)
}

func newKind(given map[string]float64) (Kind, error) {
	if given == nil {
		return Kind{}, nil
	}
	wrong := strategy.Problems{Component: "KindScorer"}
	for _, kind := range slices.Sorted(maps.Keys(given)) {
		if cupel.ContextKind(kind).IsBlank() {
			wrong.Add(strategy.Key("weights", kind), "", "kind must not be blank")
		}
	}
	byKey, _ := weightsByKey(&wrong, given, ascii.Lower, "Weight for kind", "kind is given twice; kinds are case-insensitive")
	if err := wrong.Err(); err != nil {
		return Kind{}, err
	}
	return Kind{&kindWeights{maps.Clone(given), byKey}}, nil
}

var kindDescriptor = strategy.Descriptor{
	Name: "kind", Component: "KindScorer",
	Doc: "Scores an item by the weight of its kind.",
	Fields: []strategy.Field{
		{Name: "weights", Type: strategy.Weights, Keys: strategy.Kind, Doc: "Weights by kind; if absent, the default weights."},
	},
	Build: func(a strategy.Args) (any, error) {
		return strategy.Built(newKind(strategy.Get[map[string]float64](a, "weights")))
	},
	Settings: strategy.Only(func(k Kind) map[string]any {
		if k.weights == nil {
			return nil
		}
		return map[string]any{"weights": maps.Clone(k.weights.given)}
	}),
}

// Score scores each item in O(1). It fails only when ctx is done.
func (k Kind) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	return each(ctx, k, items, scores, func(item *cupel.ContextItem) float64 {
		if k.weights == nil {
			return defaultWeight(item.Kind())
		}
		return weightOf(k.weights.byKey, string(item.Kind()))
	})
}

// defaultWeight returns the default weight of a kind, which items spell as the
// constants do.
func defaultWeight(kind cupel.ContextKind) float64 {
	switch kind {
	case cupel.KindSystemPrompt:
		return 1.0
	case cupel.KindMemory:
		return 0.8
	case cupel.KindToolOutput:
		return 0.6
	case cupel.KindDocument:
		return 0.4
	case cupel.KindMessage:
		return 0.2
	}
	return 0
}
