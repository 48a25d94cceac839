package cupel

import (
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"strconv"
)

// Metadata keys that the specification reserves (MetadataTrustScorer and
// MetadataKeyScorer chapters). Applications must not use the "cupel:" prefix for keys
// of their own.
const (
	// MetadataTrust holds a caller-computed trust in [0,1], as a decimal
	// string or a number. scorer.MetadataTrust reads it.
	MetadataTrust = "cupel:trust"
	// MetadataSourceType labels where an item came from: "user", "tool",
	// "external", "system", or any other word. No scorer reads it.
	MetadataSourceType = "cupel:source-type"
	// MetadataPriority holds a caller's priority signal: "high", "normal",
	// "low", or any other word. It is meant for a scorer.MetadataKey.
	MetadataPriority = "cupel:priority"
)

// Metadata returns a copy of the metadata, one level deep.
// [ContextItem.MetadataValue] does not copy.
func (it *ContextItem) Metadata() map[string]any { return maps.Clone(it.orNone().metadata) }

// MetadataValue returns the metadata value of one key, and false when there is
// none.
func (it *ContextItem) MetadataValue(key string) (any, bool) {
	v, ok := it.orNone().metadata[key]
	return v, ok
}

// MetadataText returns the metadata value of one key when it is a string, of
// any string type but [json.Number].
func (it *ContextItem) MetadataText(key string) (string, bool) {
	raw, _ := it.MetadataValue(key)
	if text, ok := raw.(string); ok {
		return text, true
	}
	if v := reflect.ValueOf(raw); v.Kind() == reflect.String && v.Type() != numberType {
		return v.String(), true
	}
	return "", false
}

var numberType = reflect.TypeFor[json.Number]()

// MetadataInt returns the metadata value of one key when it is a whole number in
// the range of int, of any integer or floating-point type or a [json.Number].
// A number in a string does not count.
func (it *ContextItem) MetadataInt(key string) (int, bool) {
	raw, _ := it.MetadataValue(key)
	if n, ok := raw.(json.Number); ok {
		if whole, err := strconv.Atoi(string(n)); err == nil {
			return whole, true
		}
	}
	switch v := reflect.ValueOf(raw); {
	case v.CanInt() && int64(int(v.Int())) == v.Int():
		return int(v.Int()), true
	case v.CanUint() && v.Uint() <= math.MaxInt:
		return int(v.Uint()), true
	case v.CanInt() || v.CanUint():
		return 0, false
	}
	f, ok := number(reflect.ValueOf(raw))
	// -MinInt is exact as a float64, which MaxInt is not.
	if !ok || f != math.Trunc(f) || f < math.MinInt || f >= -math.MinInt {
		return 0, false
	}
	return int(f), true
}

// number returns v as a float64 when it is a number.
func number(v reflect.Value) (float64, bool) {
	switch {
	case v.CanFloat():
		return v.Float(), true
	case v.IsValid() && v.Type() == numberType:
		f, err := strconv.ParseFloat(v.String(), 64)
		return f, err == nil
	}
	return 0, false
}
