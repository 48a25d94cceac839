package cupeltoml

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// converter writes TOML values as JSON. Values that JSON cannot express, and
// floats where an integer belongs, become null, which no policy accepts.
type converter struct {
	json     []byte
	integers map[string]bool // the names of the settings that are integers
	nulls    map[string]any  // the values that became null, by their paths
}

// value writes the value v at a path.
func (c *converter) value(v any, at string) {
	switch v := v.(type) {
	case map[string]any:
		c.json = append(c.json, '{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				c.json = append(c.json, ',')
			}
			c.text(name)
			c.json = append(c.json, ':')
			c.value(v[name], member(at, name))
		}
		c.json = append(c.json, '}')
	case []map[string]any:
		array(c, v, at)
	case []any:
		array(c, v, at)
	case string:
		c.text(v)
	case bool:
		c.json = strconv.AppendBool(c.json, v)
	case int64:
		c.json = strconv.AppendInt(c.json, v, 10)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) || v == math.Trunc(v) && c.isInteger(at) {
			c.null(v, at)
			return
		}
		c.json = append(c.json, floatText(v)...)
	default: // a date or a time
		c.null(v, at)
	}
}

func array[T any](c *converter, list []T, at string) {
	c.json = append(c.json, '[')
	for i, v := range list {
		if i > 0 {
			c.json = append(c.json, ',')
		}
		c.value(v, at+"["+strconv.Itoa(i)+"]")
	}
	c.json = append(c.json, ']')
}

// null writes null in place of a value.
func (c *converter) null(v any, at string) {
	c.json = append(c.json, "null"...)
	c.nulls[at] = v
}

func (c *converter) text(s string) {
	if text, err := json.Marshal(s); err == nil { // no string fails
		c.json = append(c.json, text...)
	}
}

// isInteger reports whether a policy has an integer at a path. JSON has one
// type of numbers, in which 100.0 is an integer; TOML has two.
func (c *converter) isInteger(at string) bool {
	return c.integers[at[strings.LastIndexByte(at, '.')+1:]]
}

// integers returns the names of the settings that are integers in all types.
func integers(registry *policy.Registry) map[string]bool {
	names := make(map[string]bool)
	var add func(fields []strategy.Field)
	add = func(fields []strategy.Field) {
		for _, f := range fields {
			others, known := names[f.Name]
			names[f.Name] = f.Type == strategy.Int && (others || !known)
			add(f.Fields)
			for _, variant := range f.Variants {
				add(variant.Fields)
			}
		}
	}
	scorers, slicers, placers := registry.Descriptors()
	for _, d := range slices.Concat(scorers, slicers, placers) {
		add(d.Fields)
	}
	return names
}

// floatText returns a float as TOML writes it, with a fraction or an exponent.
func floatText(f float64) string {
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

// timeText returns a time as TOML writes it. The TOML library marks those
// without an offset by their locations.
func timeText(t time.Time) string {
	layout := time.RFC3339Nano
	switch t.Location().String() {
	case "datetime-local":
		layout = "2006-01-02T15:04:05.999999999"
	case "date-local":
		layout = time.DateOnly
	case "time-local":
		layout = "15:04:05.999999999"
	}
	return t.Format(layout)
}

// member returns the path of a member, as package policy writes it.
func member(at, name string) string {
	plain := name != "" && !strings.HasSuffix(at, ".weights") // whose members are kinds and tags
	for _, r := range name {
		plain = plain && ('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-')
	}
	switch {
	case !plain:
		return at + "[" + strconv.Quote(name) + "]"
	case at == "":
		return name
	}
	return at + "." + name
}

// withoutNull returns the reason of a problem. TOML has no null: it replaces a
// value that the policy cannot accept, so the reason names that value.
func (c *converter) withoutNull(problem policy.Problem) string {
	reason, ok := strings.CutSuffix(problem.Reason, "got null")
	if !ok {
		return problem.Reason
	}
	return reason + "got " + describe(c.nulls[problem.Path])
}

// describe describes a value that has no JSON form.
func describe(v any) string {
	switch v := v.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(v, 'g', -1, 64), "+"))
		}
		return "the float " + floatText(v)
	case time.Time:
		return "the date or time " + timeText(v)
	}
	return "nan, inf, or a date or time"
}
