package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/jsonwire"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// MarshalJSON returns the policy as JSON that [Decode] reads. Fields come in a
// fixed order, weights sorted by name. Optional fields are written only when they
// are set, so that absent differs from 0 and from empty. Settings of registered
// types are sorted by name.
//
// It also writes invalid policies, so that unfinished ones can be saved. It
// fails with a [cupel.EncodeError] when a strategy is missing, a number is not
// finite, text is not UTF-8, or the result is longer than [MaxBytes].
func (p Policy) MarshalJSON() ([]byte, error) {
	text, err := jsonwire.Write(func(c *jsonwire.Codec) {
		w := writer{Codec: c}
		w.Object(func() { w.settings(whole, document.Fields, p.settings()) })
	})
	if err != nil {
		return nil, &cupel.EncodeError{Path: err.Path, Reason: err.Reason, Err: err.Err}
	}
	if len(text) > MaxBytes {
		return nil, &cupel.EncodeError{Reason: tooLong}
	}
	return text, nil
}

// writer writes the parts of a policy.
type writer struct {
	*jsonwire.Codec
	limits limits
	depth  int
}

// object writes a strategy or an entry.
func (w *writer) object(members func()) {
	if reason := w.limits.more(1, w.depth); reason != "" {
		w.W.Fail("cannot be written: "+reason, nil)
	}
	w.depth++
	w.Object(members)
	w.depth--
}

// strategy writes a strategy, with its weight if it has one.
func (w *writer) strategy(r *role, s Strategy, weight *float64) {
	if s.Type == "" {
		w.W.Fail("must be a "+r.name+" with a type", nil)
		return
	}
	d, _ := strategy.Find(r.types, s.Type)
	w.object(func() {
		jsonwire.Text(&s.Type, w.Required("type"))
		if weight != nil {
			w.Required("weight")
			w.W.Any(*weight)
		}
		w.settings(r, d.Fields, s.Settings)
	})
}

// settings writes the settings that are given, in the order of the fields. Those
// without a field, such as all of a registered type, follow by name.
func (w *writer) settings(r *role, fields []strategy.Field, s Settings) {
	known := namesOf(fields)
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if !slices.Contains(known, name) {
			fields = append(slices.Clip(fields), strategy.Field{Name: name})
		}
	}
	for _, f := range fields {
		value, given, wrong := setting(s, f)
		if !given {
			continue
		}
		w.Required(f.Name)
		if wrong != "" {
			w.W.Fail(wrong, nil)
		}
		w.value(r.of(f), f.Fields, value)
	}
}

func (w *writer) value(r *role, fields []strategy.Field, value any) {
	switch value := value.(type) {
	case time.Duration:
		w.W.String(durationText(value))
	case fmt.Stringer: // a name
		w.W.String(value.String())
	case map[string]float64:
		names := slices.Sorted(maps.Keys(value))
		w.W.Map(names, func(i int) { w.W.Any(value[names[i]]) })
	case []string:
		w.W.Array(len(value), func(i int) { w.W.String(value[i]) })
	case Strategy:
		w.strategy(r, value, nil)
	case []Strategy:
		w.W.Array(len(value), func(i int) { w.strategy(r, value[i], nil) })
	case []Weighted:
		w.W.Array(len(value), func(i int) { w.strategy(r, value[i].Scorer, &value[i].Weight) })
	case Settings:
		w.object(func() { w.settings(r, fields, value) })
	case []Settings:
		w.W.Array(len(value), func(i int) { w.value(r, fields, value[i]) })
	default:
		w.W.Any(value)
	}
}

// durationText formats a duration as [time.Duration.String] does, without
// trailing zero parts: "24h", not "24h0m0s".
func durationText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
