package policy

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/jsonwire"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// typeOf describes the types of settings. read is nil for those that are read
// with their parts, and schema for those whose schema depends on the field.
var typeOf = map[strategy.Type]struct {
	zero   any // of the Go type in Settings
	read   func(*jsonwire.Reader) any
	schema members
}{
	strategy.Number:   {0.0, read((*jsonwire.Reader).Number), members{"type", "number"}},
	strategy.Int:      {0, read((*jsonwire.Reader).Int), members{"type", "integer"}},
	strategy.Bool:     {false, read((*jsonwire.Reader).Bool), members{"type", "boolean"}},
	strategy.Text:     {"", read((*jsonwire.Reader).String), members{"type", "string"}},
	strategy.Kind:     {"", read((*jsonwire.Reader).String), members{"type", "string", "pattern", `\S`}},
	strategy.Enum:     {"", read((*jsonwire.Reader).String), nil},
	strategy.Duration: {time.Duration(0), duration, members{"type", "string", "pattern", `^\+?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`}},
	strategy.Weights:  {map[string]float64(nil), nil, members{"type", "object", "additionalProperties", members{"type", "number", "minimum", 0}}},
	strategy.Texts:    {[]string(nil), nil, members{"type", "array", "items", members{"type", "string"}}},
	strategy.Object:   {Settings(nil), nil, nil},
	strategy.List:     {[]Settings(nil), nil, nil},
	strategy.Variant:  {Strategy{}, nil, nil},
	strategy.Child:    {Strategy{}, nil, nil},
	strategy.Children: {[]Strategy(nil), nil, nil},
	strategy.Parts:    {[]Weighted(nil), nil, members{"$ref", "#/$defs/parts"}},
}

// setting returns a setting with the Go type of its field, false if it is absent,
// and the reason if it is invalid. A field without a type takes any value.
func setting(s Settings, f strategy.Field) (value any, given bool, wrong string) {
	if value, given = s[f.Name]; !given {
		return nil, false, ""
	}
	switch v := value.(type) {
	case int:
		if f.Type == strategy.Number {
			value = float64(v)
		}
	case cupel.ContextKind:
		value = string(v)
	case map[cupel.ContextKind]float64:
		weights := map[string]float64(nil)
		if v != nil {
			weights = make(map[string]float64, len(v))
		}
		for kind, weight := range v {
			weights[string(kind)] = weight
		}
		value = weights
	case fmt.Stringer:
		if f.Type == strategy.Enum {
			value = v.String()
		}
	}
	t := reflect.TypeOf(value)
	if value != nil && t.Kind() == reflect.Map && reflect.ValueOf(value).IsNil() {
		return nil, false, ""
	}
	if want := typeOf[f.Type].zero; f.Type != 0 && t != reflect.TypeOf(want) {
		return nil, true, fmt.Sprintf("must be of type %T, got %T", want, value)
	}
	if name, _ := value.(string); f.Type == strategy.Enum && !slices.Contains(f.Values, name) {
		return nil, true, strconv.Quote(strategy.Shorten(name)) + " " + isUnknown(f.Values)
	}
	return value, true, ""
}

const (
	// maxDepth bounds the nesting of strategies. It is far above practical use,
	// and ends the walk through a slice that contains itself.
	maxDepth = 100
	// maxStrategies bounds the number of strategies in a policy. It ends the walk
	// through a slice that contains itself more than once.
	maxStrategies = 10_000
)

var (
	tooDeep = fmt.Sprintf("strategies are nested more than %d deep", maxDepth)
	tooMany = fmt.Sprintf("a policy has at most %d strategies", maxStrategies)
	tooLong = fmt.Sprintf("is longer than %d bytes", MaxBytes)
)

// strategies counts the strategies of a policy.
type strategies int

// exceeds counts one more strategy. If that is too many or too deep, it returns
// the reason.
func (n *strategies) exceeds(depth int) string {
	*n++
	switch {
	case *n > maxStrategies:
		return tooMany
	case depth > maxDepth:
		return tooDeep
	}
	return ""
}

// copier makes deep copies of settings, up to the limits of a policy.
type copier struct {
	strategies strategies
	objects    int    // maps of settings
	exceeded   string // why it has stopped
}

// copyOf returns a deep copy of a policy, or a problem when it is nested too deep
// or too large, so that no other walk has to check.
func copyOf(p Policy) (Policy, *Problem) {
	var c copier
	p.Scorers = c.value(p.Scorers, 0).([]Weighted)
	at := "scorers"
	if c.exceeded == "" {
		p.Slicer = c.value(p.Slicer, 0).(Strategy)
		at = "slicer"
	}
	if c.exceeded == "" {
		p.Placer = c.value(p.Placer, 0).(Strategy)
		at = "placer"
	}
	if c.exceeded != "" {
		return Policy{}, &Problem{Path: at, Reason: c.exceeded}
	}
	return p, nil
}

// value copies a setting at a depth. It keeps nil apart from empty.
func (c *copier) value(v any, depth int) any {
	if c.exceeded != "" {
		return v
	}
	switch v := v.(type) {
	case Strategy:
		c.exceeded = c.strategies.exceeds(depth)
		v.Settings, _ = c.value(v.Settings, depth).(Settings)
		return v
	case Settings:
		if c.objects++; c.objects > MaxBytes {
			c.exceeded = tooLong
		} else if depth > maxDepth {
			c.exceeded = tooDeep
		}
		v = maps.Clone(v)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			v[name] = c.value(v[name], depth+1)
		}
		return v
	case []Strategy:
		return copyEach(v, func(s *Strategy) { *s = c.value(*s, depth).(Strategy) })
	case []Settings:
		return copyEach(v, func(s *Settings) { *s = c.value(*s, depth).(Settings) })
	case []Weighted:
		return copyEach(v, func(part *Weighted) { part.Scorer = c.value(part.Scorer, depth).(Strategy) })
	case []string:
		return slices.Clone(v)
	case map[string]float64:
		return maps.Clone(v)
	case map[cupel.ContextKind]float64:
		return maps.Clone(v)
	}
	return v // immutable
}

func copyEach[T any](list []T, element func(*T)) []T {
	list = slices.Clone(list)
	for i := range list {
		element(&list[i])
	}
	return list
}
