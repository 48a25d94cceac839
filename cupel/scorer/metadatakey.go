package scorer

import (
	"context"
	"encoding/json"
	"reflect"
	"strconv"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// MetadataKey scores an item with a boost when its metadata holds a given
// value under a given key, and with 1 otherwise. The scores are multipliers and
// are not clamped; a [Composite] averages them like any other score.
//
// Strings compare exactly. A value of another type compares through its text:
// true or false, an integer in base 10, a floating-point number in the form of
// strconv's 'g' with the fewest digits, a [json.Number] as it is spelled. Other
// types never match. Build it with [NewMetadataKey].
//
// It implements the MetadataKeyScorer chapter of the specification.
type MetadataKey struct {
	key, value string
	boost      float64 // positive once built
}

// NewMetadataKey returns a scorer that scores boost for items whose metadata has
// value under key, and 1 for all others. It fails with a
// [cupel.InvalidConfigError] unless boost is positive and finite.
func NewMetadataKey(key, value string, boost float64) (*MetadataKey, error) {
	if boost <= 0 {
		return nil, invalid("MetadataKeyScorer", "boost", number(boost), "boost must be greater than 0.0")
	}
	if !isFinite(boost) {
		return nil, invalid("MetadataKeyScorer", "boost", number(boost), "boost must be finite")
	}
	return &MetadataKey{key, value, boost}, nil
}

var metadataKeyDescriptor = strategy.Descriptor{
	Name: "metadataKey", Component: "MetadataKeyScorer",
	Doc: "Scores an item with a boost when its metadata has a value, and with 1 otherwise.",
	Fields: []strategy.Field{
		{Name: "key", Type: strategy.Text, Required: true, Doc: "The key of the metadata."},
		{Name: "value", Type: strategy.Text, Required: true, Doc: "The value to match under the key."},
		{Name: "boost", Type: strategy.Number, Required: true, Range: strategy.Positive, Doc: "The score of items that match."},
	},
	Build: func(a strategy.Args) (any, error) {
		return strategy.Built(NewMetadataKey(strategy.Get[string](a, "key"), strategy.Get[string](a, "value"), strategy.Get[float64](a, "boost")))
	},
	Settings: strategy.Only(func(m *MetadataKey) map[string]any {
		return map[string]any{"key": m.key, "value": m.value, "boost": m.boost}
	}),
}

// Facts reports a scorer that was not built with [NewMetadataKey] as invalid.
func (m *MetadataKey) Facts() strategy.Facts {
	return built(m, m != nil && m.boost > 0, "MetadataKeyScorer", "NewMetadataKey")
}

// neutral is the multiplier of items that do not match.
const neutral = 1.0

// Score scores each item in O(1). It fails only when ctx is done or the scorer is
// invalid.
func (m *MetadataKey) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	return each(ctx, m, items, scores, func(item *cupel.ContextItem) float64 {
		raw, _ := item.MetadataValue(m.key) // nil, which has no text, without the key
		if hasText(raw, m.value) {
			return m.boost
		}
		return neutral
	})
}

// hasText reports whether text is the canonical text of raw.
func hasText(raw any, text string) bool {
	switch v := raw.(type) {
	case string:
		return v == text
	case json.Number:
		return string(v) == text
	}
	switch v := reflect.ValueOf(raw); {
	case v.Kind() == reflect.Bool:
		return strconv.FormatBool(v.Bool()) == text
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10) == text
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10) == text
	case v.CanFloat():
		return strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits()) == text
	}
	return false
}
