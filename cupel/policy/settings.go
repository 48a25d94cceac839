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

// typeOf describes the types of settings. read is nil for those that are read with
// their parts.
var typeOf = map[strategy.Type]struct {
	zero any // of the Go type in Settings
	read func(*jsonwire.Reader) any
}{
	strategy.Number:   {0.0, anyOf((*jsonwire.Reader).Number)},
	strategy.Int:      {0, anyOf((*jsonwire.Reader).Int)},
	strategy.Bool:     {false, anyOf((*jsonwire.Reader).Bool)},
	strategy.Text:     {"", anyOf((*jsonwire.Reader).String)},
	strategy.Kind:     {"", anyOf((*jsonwire.Reader).String)},
	strategy.Enum:     {"", anyOf((*jsonwire.Reader).String)},
	strategy.Duration: {time.Duration(0), duration},
	strategy.Weights:  {map[string]float64(nil), nil},
	strategy.Texts:    {[]string(nil), nil},
	strategy.Object:   {Settings(nil), nil},
	strategy.List:     {[]Settings(nil), nil},
	strategy.Variant:  {Strategy{}, nil},
	strategy.Child:    {Strategy{}, nil},
	strategy.Children: {[]Strategy(nil), nil},
	strategy.Parts:    {[]Weighted(nil), nil},
}

// setting returns a setting with the Go type of its field, false if it is absent,
// and the reason if it is invalid. A field without a type takes any value.
func setting(s Settings, f strategy.Field) (value any, given bool, wrong string) {
	value, given = s[f.Name]
	if m := reflect.ValueOf(value); !given || m.Kind() == reflect.Map && m.IsNil() {
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
		weights := make(map[string]float64, len(v))
		for kind, weight := range v {
			weights[string(kind)] = weight
		}
		value = weights
	case fmt.Stringer:
		if f.Type == strategy.Enum {
			value = v.String()
		}
	}
	if want := typeOf[f.Type].zero; f.Type != 0 && reflect.TypeOf(value) != reflect.TypeOf(want) {
		return nil, true, fmt.Sprintf("must be of type %T, got %T", want, value)
	}
	if name, _ := value.(string); f.Type == strategy.Enum && !slices.Contains(f.Values, name) {
		return nil, true, strconv.Quote(strategy.Shorten(name)) + " " + isUnknown(f.Values)
	}
	return value, true, ""
}

const (
	// maxDepth bounds the nesting of settings. It is far above practical use, and
	// ends the walk through a slice that contains itself.
	maxDepth = 100
	// maxObjects bounds the number of strategies and entries in a policy. It ends the
	// walk through a slice that contains itself more than once.
	maxObjects = 10_000
)

var (
	tooDeep = fmt.Sprintf("strategies are nested more than %d deep", maxDepth)
	tooMany = fmt.Sprintf("a policy has at most %d strategies and entries", maxObjects)
	tooLong = fmt.Sprintf("is longer than %d bytes", MaxBytes)
)

// objects counts the strategies and entries of a policy.
type objects int

// exceeds counts one more. If that is too many or too deep, it returns the reason.
func (n *objects) exceeds(depth int) string {
	*n++
	switch {
	case *n > maxObjects:
		return tooMany
	case depth > maxDepth:
		return tooDeep
	}
	return ""
}

// copier makes deep copies of settings, up to the limits of a policy.
type copier struct {
	objects  objects
	at       string // the field of the policy
	exceeded *Problem
}

// copyOf returns a deep copy of a policy, or a problem when it is nested too deep
// or too large, so that no other walk has to check.
func copyOf(p Policy) (Policy, *Problem) {
	c := copier{at: "scorers"}
	p.Scorers = c.value(p.Scorers, 0).([]Weighted)
	c.at = "slicer"
	p.Slicer = c.strategy(p.Slicer, 0)
	c.at = "placer"
	p.Placer = c.strategy(p.Placer, 0)
	return p, c.exceeded
}

func (c *copier) strategy(s Strategy, depth int) Strategy {
	return Strategy{s.Type, c.settings(s.Settings, depth)}
}

func (c *copier) settings(s Settings, depth int) Settings {
	if c.exceeded != nil {
		return nil
	}
	if reason := c.objects.exceeds(depth); reason != "" {
		c.exceeded = &Problem{Path: c.at, Reason: reason}
		return nil
	}
	s = maps.Clone(s)
	for _, name := range slices.Sorted(maps.Keys(s)) {
		s[name] = c.value(s[name], depth+1)
	}
	return s
}

// value copies a setting at a depth. It keeps nil apart from empty.
func (c *copier) value(v any, depth int) any {
	switch v := v.(type) {
	case Strategy:
		return c.strategy(v, depth)
	case Settings:
		return c.settings(v, depth)
	case []Strategy:
		return copyEach(v, func(s Strategy) Strategy { return c.strategy(s, depth) })
	case []Settings:
		return copyEach(v, func(s Settings) Settings { return c.settings(s, depth) })
	case []Weighted:
		return copyEach(v, func(part Weighted) Weighted { return Weighted{c.strategy(part.Scorer, depth), part.Weight} })
	case []string:
		return slices.Clone(v)
	case map[string]float64:
		return maps.Clone(v)
	case map[cupel.ContextKind]float64:
		return maps.Clone(v)
	}
	return v // immutable
}

func copyEach[T any](list []T, copied func(T) T) []T {
	list = slices.Clone(list)
	for i := range list {
		list[i] = copied(list[i])
	}
	return list
}
