package assertions

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// reader collects the mistakes in a file.
type reader struct {
	globs    Globs
	problems []Problem
}

// maxProblems bounds the size of the error for a hostile file.
const maxProblems = 1000

func (r *reader) fail(path, format string, args ...any) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, Problem{path, fmt.Sprintf(format, args...)})
	}
}

func (r *reader) table(values map[string]any, at string) *table {
	return &table{reader: r, at: at, values: values}
}

// table reads a TOML table name by name, and keeps track of the names it read to
// report the unknown ones.
type table struct {
	*reader
	at     string
	values map[string]any
	read   []string // the names that were read, in order
}

func (t *table) path(name string) string {
	name = shorten(name, maxShown)
	plain := name != ""
	for _, c := range name {
		plain = plain && ('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-')
	}
	switch {
	case !plain:
		return t.at + "[" + strconv.Quote(name) + "]"
	case t.at == "":
		return name
	}
	return t.at + "." + name
}

func (t *table) fail(name, format string, args ...any) { t.reader.fail(t.path(name), format, args...) }

// names returns the names that the table has.
func (t *table) names() []string { return sortedNames(t.values) }

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// get returns a value, or nil if it is absent.
func (t *table) get(name string) any {
	if !slices.Contains(t.read, name) {
		t.read = append(t.read, name)
	}
	return t.values[name]
}

// need is get for a required value.
func (t *table) need(name string) any {
	v := t.get(name)
	if v == nil {
		t.fail(name, "is required here")
	}
	return v
}

// end reports the unknown names.
func (t *table) end() {
	for _, name := range t.names() {
		if slices.Contains(t.read, name) {
			continue
		}
		t.fail(name, "is unknown; want one of %s", strings.Join(t.read, ", "))
	}
}

func (t *table) mistyped(name, want string, got any) {
	t.fail(name, "must be %s, got %s", want, describe(got))
}

// asText reads a text that is not blank.
func (t *table) asText(name string, v any) (string, bool) {
	text, ok := v.(string)
	switch {
	case v == nil:
	case !ok:
		t.mistyped(name, "text", v)
	case strings.TrimSpace(text) == "":
		t.fail(name, "must not be blank")
		ok = false
	}
	return text, ok
}

// asContent reads a text that is not empty. A content may be blank, for example
// a newline.
func (t *table) asContent(name string, v any) (string, bool) {
	text, ok := v.(string)
	switch {
	case v == nil:
	case !ok:
		t.mistyped(name, "text", v)
	case text == "":
		t.fail(name, "must not be empty")
		ok = false
	}
	return text, ok
}

func (t *table) text(name string) string {
	text, _ := t.asText(name, t.get(name))
	return text
}

func (t *table) requiredText(name string) (string, bool) { return t.asText(name, t.need(name)) }

func (t *table) asInt(name string, v any) (int, bool) {
	n, ok := v.(int64)
	switch {
	case v == nil:
	case !ok:
		t.mistyped(name, "an integer", v)
	case int64(int(n)) != n:
		t.fail(name, "is too large, got %d", n)
		ok = false
	}
	return int(n), ok
}

func (t *table) integer(name string) int {
	n, _ := t.asInt(name, t.need(name))
	return n
}

func (t *table) optionalInt(name string) *int {
	if n, ok := t.asInt(name, t.get(name)); ok {
		return &n
	}
	return nil
}

// atLeast reads a required integer.
func (t *table) atLeast(name string, least int, otherwise string) int {
	n, ok := t.asInt(name, t.need(name))
	if ok && n < least {
		t.fail(name, "must be at least %d, got %d%s", least, n, otherwise)
	}
	return n
}

func (t *table) asFloat(name string, v any) (float64, bool) {
	f, ok := v.(float64)
	if n, isInt := v.(int64); isInt {
		f, ok = float64(n), true
	}
	switch {
	case v == nil:
	case !ok:
		t.mistyped(name, "a number", v)
	case math.IsNaN(f) || math.IsInf(f, 0):
		t.fail(name, "must be a finite number, got %v", f)
		ok = false
	}
	return f, ok
}

func (t *table) optionalFloat(name string) *float64 {
	if f, ok := t.asFloat(name, t.get(name)); ok {
		return &f
	}
	return nil
}

// table returns a table inside this one, or nil if it is absent.
func (t *table) table(name string) *table {
	v := t.get(name)
	values, ok := v.(map[string]any)
	if !ok {
		if v != nil {
			t.mistyped(name, "a table", v)
		}
		return nil
	}
	return t.reader.table(values, t.path(name))
}

// tables returns the tables of a list.
func (t *table) tables(name string) []*table {
	v := t.get(name)
	var list []any
	switch v := v.(type) {
	case nil:
	case []any:
		list = v
	case []map[string]any:
		for _, values := range v {
			list = append(list, values)
		}
	default:
		t.mistyped(name, "a list of tables", v)
	}
	var found []*table
	for i, v := range list {
		at := t.path(name) + "[" + strconv.Itoa(i) + "]"
		values, ok := v.(map[string]any)
		if !ok {
			t.reader.fail(at, "must be a table, got %s", describe(v))
			continue
		}
		found = append(found, t.reader.table(values, at))
	}
	return found
}

// texts reads a required list of texts.
func (t *table) texts(name string) []string {
	v := t.need(name)
	list, ok := v.([]any)
	switch {
	case v == nil:
		return nil
	case !ok:
		t.mistyped(name, "a list of texts", v)
		return nil
	case len(list) == 0:
		t.fail(name, "must not be empty: nothing could fail")
	}
	texts := make([]string, len(list))
	for i, v := range list {
		at := t.path(name) + "[" + strconv.Itoa(i) + "]"
		switch texts[i], ok = v.(string); {
		case !ok:
			t.reader.fail(at, "must be text, got %s", describe(v))
		case texts[i] == "":
			t.reader.fail(at, "must not be empty: every item has content")
		}
	}
	return texts
}

// describe names the type of a value.
func describe(v any) string {
	switch v.(type) {
	case string:
		return "text"
	case bool:
		return "a boolean"
	case int64:
		return "an integer"
	case float64:
		return "a number"
	case time.Time:
		return "a date or time"
	case map[string]any:
		return "a table"
	case []any, []map[string]any:
		return "a list"
	}
	return fmt.Sprintf("a %T", v)
}

// show formats a value as TOML, truncating long texts.
func show(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(shorten(v, maxShown))
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []any:
		parts := make([]string, len(v))
		for i, part := range v {
			parts[i] = show(part)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		var parts []string
		for _, name := range sortedNames(v) {
			parts = append(parts, name+"="+show(v[name]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(v)
}

// The maximum characters shown of a text from the file, and of an error of the
// TOML library, which may quote such texts.
const (
	maxShown  = 60
	maxReason = 1000
)

func shorten(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "…"
}
