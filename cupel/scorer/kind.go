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
type Kind struct {
	weights *kindWeights                  // nil: the default weights
	given   map[cupel.ContextKind]float64 // the same as they were given, to describe the scorer
}

// kindWeights keeps the well-known kinds, which items spell as the constants
// do, out of the map.
type kindWeights struct {
	systemPrompt, memory, toolOutput, document, message float64

	others map[string]float64 // by folded kind
}

var defaultKindWeights = kindWeights{systemPrompt: 1.0, memory: 0.8, toolOutput: 0.6, document: 0.4, message: 0.2}

// NewKind returns a scorer with the given weights, which are copied. A nil map
// means the default weights; with an empty one every item scores 0.
//
// It fails with a [cupel.InvalidConfigError] on a weight that is negative,
// infinite or NaN, on a blank kind, and on a kind that is given in two
// casings.
func NewKind(weights map[cupel.ContextKind]float64) (*Kind, error) {
	if weights == nil {
		return &Kind{}, nil
	}
	w := &kindWeights{others: make(map[string]float64)}
	wrong := strategy.Problems{Component: "KindScorer"}
	seen := make(map[string]string, len(weights)) // field by folded kind
	for _, kind := range slices.Sorted(maps.Keys(weights)) {
		weight := weights[kind]
		field := strategy.Key("weights", string(kind))
		switch earlier, twice := seen[kind.Key()]; {
		case kind.IsBlank():
			wrong.Add(field, "", "kind must not be blank")
		case weight < 0:
			wrong.Add(field, number(weight), "Weight for kind must be non-negative")
		case !isFinite(weight):
			wrong.Add(field, number(weight), "Weight for kind must be finite")
		case twice:
			wrong.Repeated(field, "", "kind is given twice; kinds are case-insensitive", earlier)
		}
		if _, twice := seen[kind.Key()]; !twice {
			seen[kind.Key()] = field
		}
		w.set(kind, weight)
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	return &Kind{w, maps.Clone(weights)}, nil
}

var kindDescriptor = strategy.Descriptor{
	Name: "kind", Component: "KindScorer",
	Doc: "Scores an item by the weight of its kind.",
	Fields: []strategy.Field{
		{Name: "weights", Type: strategy.Weights, Keys: strategy.Kind, Doc: "Weights by kind; if absent, the default weights."},
	},
	Build: func(a strategy.Args) (any, error) {
		given := strategy.Get[map[string]float64](a, "weights")
		if given == nil {
			return strategy.Built(NewKind(nil))
		}
		weights := make(map[cupel.ContextKind]float64, len(given))
		for kind, weight := range given {
			weights[cupel.ContextKind(kind)] = weight
		}
		return strategy.Built(NewKind(weights))
	},
	Settings: func(s any) (map[string]any, bool) {
		k, ok := s.(Kind)
		if p, isPointer := s.(*Kind); isPointer && p != nil {
			k, ok = *p, true
		}
		if k.given == nil {
			return nil, ok
		}
		weights := make(map[string]float64, len(k.given))
		for kind, weight := range k.given {
			weights[string(kind)] = weight
		}
		return map[string]any{"weights": weights}, ok
	},
}

func (w *kindWeights) set(kind cupel.ContextKind, weight float64) {
	switch kind.Canonical() {
	case cupel.KindSystemPrompt:
		w.systemPrompt = weight
	case cupel.KindMemory:
		w.memory = weight
	case cupel.KindToolOutput:
		w.toolOutput = weight
	case cupel.KindDocument:
		w.document = weight
	case cupel.KindMessage:
		w.message = weight
	default:
		w.others[kind.Key()] = weight
	}
}

func (w *kindWeights) get(kind cupel.ContextKind) float64 {
	switch kind {
	case cupel.KindSystemPrompt:
		return w.systemPrompt
	case cupel.KindMemory:
		return w.memory
	case cupel.KindToolOutput:
		return w.toolOutput
	case cupel.KindDocument:
		return w.document
	case cupel.KindMessage:
		return w.message
	}
	if len(w.others) == 0 {
		return 0
	}
	var folded [64]byte // room for most kinds, so that the key is not allocated
	return w.others[string(ascii.AppendLower(folded[:0], string(kind)))]
}

// Score uses only the item; it ignores all.
func (k Kind) Score(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
	if k.weights == nil {
		return defaultKindWeights.get(item.Kind())
	}
	return k.weights.get(item.Kind())
}

// ScoreAll scores each item in O(1). It fails only when ctx is done.
func (k Kind) ScoreAll(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	return each(ctx, "KindScorer", all, scores, func(item *cupel.ContextItem) float64 {
		return k.Score(item, all)
	})
}
