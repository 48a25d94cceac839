package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/jsonwire"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// MarshalJSON returns the policy as JSON that [Decode] reads and [Schema]
// describes. Fields come in a fixed order, weights sorted by name. Optional
// fields are written only when they are set, so that absent differs from 0 and
// from empty. Settings of custom strategies are written unchanged except that
// white space is removed.
//
// It also writes invalid policies, so that unfinished ones can be saved. It
// fails with a [cupel.EncodeError] when a strategy is missing, a number is not
// finite, text is not UTF-8, or the result is longer than [MaxBytes].
func (p Policy) MarshalJSON() ([]byte, error) {
	if problem := checkSize(p); problem != nil {
		return nil, &cupel.EncodeError{Path: problem.Path, Reason: "cannot be written: " + problem.Reason}
	}
	var w writer
	w.Object(func() {
		if p.Name != "" {
			w.Field("name").String(p.Name)
		}
		if p.Description != "" {
			w.Field("description").String(p.Description)
		}
		w.Field("scorers")
		w.parts(p.Scorers)
		w.Field("slicer")
		w.strategy(slicers, p.Slicer, nil)
		w.Field("placer")
		w.strategy(placers, p.Placer, nil)
		w.Field("deduplicate").Bool(!p.KeepDuplicates)
		if p.FullOnly {
			w.Field("fullOnly").Bool(true)
		}
		w.Field("overflow")
		if p.Overflow > cupel.OverflowProceed {
			w.Fail("must be Throw, Truncate or Proceed, got "+p.Overflow.String(), nil)
		}
		w.String(p.Overflow.String())
	})
	text, err := w.Result()
	if err != nil {
		return nil, &cupel.EncodeError{Path: err.Path, Reason: err.Reason, Err: err.Err}
	}
	if len(text) > MaxBytes {
		return nil, &cupel.EncodeError{Reason: fmt.Sprintf("is longer than %d bytes", MaxBytes)}
	}
	return text, nil
}

// writer writes the parts of a policy.
type writer struct{ jsonwire.Writer }

func (w *writer) number(f float64) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		w.Fail("must be a finite number", nil)
		return
	}
	w.Float(f)
}

func (w *writer) parts(parts []Weighted) {
	w.Array(len(parts), func(i int) {
		w.strategy(scorers, parts[i].Scorer, func() {
			w.Field("weight")
			w.number(parts[i].Weight)
		})
	})
}

// strategy writes a strategy. place, if not nil, writes further members after
// its type.
func (w *writer) strategy(r *role, s Strategy, place func()) {
	if s.Type == "" {
		w.Fail("must be a "+r.name+" with a type", nil)
		return
	}
	w.Object(func() {
		w.Field("type").String(s.Type)
		if place != nil {
			place()
		}
		w.settings(r, r.fields(s.Type), s.Settings)
	})
}

// settings writes the settings that are given, in the order of the fields.
func (w *writer) settings(r *role, fields []strategy.Field, s Settings) {
	for _, f := range fields {
		value, given, wrong := setting(s, f)
		if !given {
			continue
		}
		w.Field(f.Name)
		if wrong != "" && f.Type != strategy.JSON { // writing the JSON reports where it is wrong
			w.Fail(wrong, nil)
			continue
		}
		w.value(r, f, value)
	}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if !slices.Contains(namesOf(fields), name) {
			w.Field(name)
			w.Fail(isUnknown(namesOf(fields)), nil)
		}
	}
}

func (w *writer) value(r *role, f strategy.Field, value any) {
	switch value := value.(type) {
	case float64:
		w.number(value)
	case int:
		w.Int(value)
	case bool:
		w.Bool(value)
	case string:
		w.String(value)
	case time.Duration:
		w.String(durationText(value))
	case map[string]float64:
		names := slices.Sorted(maps.Keys(value))
		w.Map(names, func(i int) { w.number(value[names[i]]) })
	case Strategy:
		if f.Type == strategy.Variant {
			r = variants(f)
		}
		w.strategy(r, value, nil)
	case []Strategy:
		w.Array(len(value), func(i int) { w.strategy(r, value[i], nil) })
	case []Weighted:
		w.parts(value)
	case []Settings:
		w.Array(len(value), func(i int) {
			w.Object(func() { w.settings(r, f.Fields, value[i]) })
		})
	case json.RawMessage:
		w.Any(value)
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
