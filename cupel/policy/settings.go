package policy

import (
	"fmt"
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

// limits counts the strategies and entries of a policy.
type limits struct {
	objects  int
	exceeded bool
}

// more counts n strategies or entries at a depth, and returns the reason if that is
// the first time that there are too many or that they are too deep.
func (l *limits) more(n, depth int) string {
	l.objects += n
	switch {
	case l.exceeded:
		return ""
	case l.objects > maxObjects:
		l.exceeded = true
		return tooMany
	case depth > maxDepth:
		l.exceeded = true
		return tooDeep
	}
	return ""
}
