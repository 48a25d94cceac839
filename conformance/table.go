package conformance

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// table is a TOML table that is read key by key. The first error sticks: later
// reads return zero, and err says where it was.
type table struct {
	path   string // where the table stands, for messages
	values map[string]any
	err    *error          // shared by all tables of a vector
	strict bool            // unknown keys are mistakes
	known  map[string]bool // keys that this place in the schema knows
}

// errVector matches every error in a vector itself.
var errVector = errors.New("invalid vector")

func (t table) fail(key, format string, args ...any) {
	if *t.err == nil {
		*t.err = fmt.Errorf("%w: %s: %s", errVector, t.at(key), fmt.Sprintf(format, args...))
	}
}

func (t table) at(key string) string {
	switch {
	case t.path == "":
		return key
	case key == "":
		return t.path
	}
	return t.path + "." + key
}

// knows declares the keys of this table, and in strict mode fails for any
// other.
func (t table) knows(keys ...string) table {
	for _, k := range keys {
		t.known[k] = true
	}
	if !t.strict {
		return t
	}
	for _, k := range slices.Sorted(maps.Keys(t.values)) {
		if !t.known[k] {
			t.fail(k, "unknown key")
		}
	}
	return t
}

// only returns t without unknown keys: in strict mode they are errors,
// otherwise they are ignored.
func (t table) only(keys ...string) table {
	t.knows(keys...)
	known := make(map[string]any, len(keys))
	for _, k := range keys {
		if v, ok := t.values[k]; ok {
			known[k] = v
		}
	}
	t.values = known
	return t
}

func (t table) has(key string) bool {
	_, ok := t.values[key]
	return ok
}

func (t table) child(key string, values map[string]any) table {
	return table{path: t.at(key), values: values, err: t.err, strict: t.strict, known: map[string]bool{}}
}

// table returns the table at key; an absent one is empty.
func (t table) table(key string) table {
	return t.child(key, value(t, key, as[map[string]any], "a table"))
}

// tables returns the array of tables at key, or nil when it is absent.
func (t table) tables(key string) []table {
	v, ok := t.values[key]
	if !ok {
		return nil
	}
	list, ok := v.([]map[string]any)
	if !ok {
		elements, isArray := v.([]any)
		for _, e := range elements {
			m, isTable := e.(map[string]any)
			isArray = isArray && isTable
			list = append(list, m)
		}
		if !isArray {
			t.fail(key, "must be an array of tables, is %s", typeOf(v))
			return nil
		}
	}
	out := make([]table, len(list))
	for i, m := range list {
		out[i] = t.child(fmt.Sprintf("%s[%d]", key, i), m)
	}
	return out
}

func (t table) text(key string) string { return value(t, key, as[string], "a string") }

func (t table) texts(key string) []string { return elements(t, key, as[string], "strings") }

func (t table) boolean(key string) bool { return value(t, key, as[bool], "a boolean") }

func (t table) integer(key string) int { return value(t, key, asInt, "an integer in range") }

func (t table) integers(key string) []int { return elements(t, key, asInt, "integers") }

// required fails when key is absent, and returns t for the reading of it.
func (t table) required(key string) table {
	if !t.has(key) {
		t.fail(key, "is required")
	}
	return t
}

// number reads a float, which may be written as an integer (R47).
func (t table) number(key string) float64 { return value(t, key, asFloat, "a number") }

func (t table) numbers(key string) []float64 { return elements(t, key, asFloat, "numbers") }

// instant reads a date-time. One without an offset is in UTC.
func (t table) instant(key string) time.Time {
	at := value(t, key, as[time.Time], "a date-time")
	// The TOML library gives date-times without an offset the local location;
	// here they are in UTC.
	switch at.Location().String() {
	case "time-local":
		t.fail(key, "must be a date-time, is a time without a date")
	case "datetime-local", "date-local":
		at = time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC)
	}
	return at.UTC()
}

// value reads the value at key; an absent one is the zero value.
func value[T any](t table, key string, as func(any) (T, bool), what string) T {
	var none T
	v, ok := t.values[key]
	if !ok {
		return none
	}
	of, ok := as(v)
	if !ok {
		t.fail(key, "must be %s, is %s", what, typeOf(v))
	}
	return of
}

func elements[T any](t table, key string, as func(any) (T, bool), what string) []T {
	v, ok := t.values[key]
	if !ok {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		// An empty array may come as an array of tables.
		if tables, isTables := v.([]map[string]any); isTables && len(tables) == 0 {
			return []T{}
		}
		t.fail(key, "must be an array of %s, is %s", what, typeOf(v))
		return nil
	}
	out := make([]T, len(list))
	for i, e := range list {
		if out[i], ok = as(e); !ok {
			t.fail(fmt.Sprintf("%s[%d]", key, i), "must be one of %s, is %s", what, typeOf(e))
		}
	}
	return out
}

func as[T any](v any) (T, bool) {
	of, ok := v.(T)
	return of, ok
}

func asInt(v any) (int, bool) {
	n, ok := v.(int64)
	return int(n), ok && n >= math.MinInt && n <= math.MaxInt
}

func asFloat(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case int64:
		return float64(n), true
	}
	return 0, false
}

func typeOf(v any) string {
	switch v := v.(type) {
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case int64:
		return fmt.Sprintf("the integer %d", v)
	case float64:
		return "a float"
	case time.Time:
		return "a date-time"
	case map[string]any:
		return "a table"
	default:
		return "an array"
	}
}
