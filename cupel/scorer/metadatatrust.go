package scorer

import (
	"context"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// MetadataTrust scores an item by the trust that the caller wrote into its
// metadata under [cupel.MetadataTrust], clamped to [0,1]. An item without
// the key, or whose value is not a finite number, gets the default score.
//
// The value may be a string or a [json.Number] in decimal syntax ("0.85",
// "8.5e-1"; no hexadecimal, underscores or spaces), or of any integer or
// floating-point type. Any other value gives the default score. Build it with
// [NewMetadataTrust].
//
// It implements the MetadataTrustScorer chapter of the specification.
type MetadataTrust struct {
	defaultScore float64
	built        bool
}

// NewMetadataTrust returns a scorer with the given default score. It fails
// with a [cupel.InvalidConfigError] unless that is in [0,1].
func NewMetadataTrust(defaultScore float64) (*MetadataTrust, error) {
	if !unit(defaultScore) {
		return nil, invalid("MetadataTrustScorer", "defaultScore", number(defaultScore), "defaultScore must be in [0.0, 1.0]")
	}
	return &MetadataTrust{defaultScore, true}, nil
}

var metadataTrustDescriptor = strategy.Descriptor{
	Name: "metadataTrust", Component: "MetadataTrustScorer",
	Doc: "Scores an item by the trust in its metadata.",
	Fields: []strategy.Field{
		{Name: "defaultScore", Type: strategy.Number, Required: true, Range: strategy.Unit, Doc: "The score of items without a readable trust."},
	},
	Build: func(a strategy.Args) (any, error) {
		return strategy.Built(NewMetadataTrust(strategy.Get[float64](a, "defaultScore")))
	},
	Settings: strategy.Only(func(m *MetadataTrust) map[string]any { return map[string]any{"defaultScore": m.defaultScore} }),
}

// Facts reports a scorer that was not built with [NewMetadataTrust] as invalid.
func (m *MetadataTrust) Facts() strategy.Facts {
	return built(m, m != nil && m.built, "MetadataTrustScorer", "NewMetadataTrust")
}

// Score scores each item in O(1). It fails only when ctx is done or the scorer is
// invalid.
func (m *MetadataTrust) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	return each(ctx, m, items, scores, func(item *cupel.ContextItem) float64 {
		raw, _ := item.MetadataValue(cupel.MetadataTrust) // nil, which is unreadable, without the key
		if value, ok := toFloat(raw); ok && isFinite(value) {
			return clamp(value)
		}
		return m.defaultScore
	})
}

func toFloat(raw any) (float64, bool) {
	switch v := raw.(type) {
	case string:
		return parseDecimal(v)
	case json.Number:
		return parseDecimal(string(v))
	}
	switch v := reflect.ValueOf(raw); {
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	case v.CanFloat():
		return v.Float(), true
	default:
		return 0, false
	}
}

// parseDecimal reads digits, a point, signs and an exponent. strconv would also
// read hexadecimal, infinities and NaN, which all need other characters. It
// rejects a number too large for a float64.
func parseDecimal(s string) (float64, bool) {
	if strings.Trim(s, "0123456789+-.eE") != "" {
		return 0, false
	}
	value, err := strconv.ParseFloat(s, 64)
	return value, err == nil
}
