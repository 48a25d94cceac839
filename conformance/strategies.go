package conformance

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// descriptorsOf returns the types of strategies with a role.
func descriptorsOf(role string) []strategy.Descriptor {
	switch role {
	case "scorer":
		return scorer.Descriptors()
	case "slicer":
		return slicer.Descriptors()
	}
	return placer.Descriptors()
}

// described returns the descriptor of a type that vectors call name.
func described(list []strategy.Descriptor, name string) (strategy.Descriptor, bool) {
	name = strings.ReplaceAll(name, "-", "_") // "u-shaped"
	i := slices.IndexFunc(list, func(d strategy.Descriptor) bool { return vectorName(d.Name) == name })
	if i < 0 {
		return strategy.Descriptor{}, false
	}
	return list[i], true
}

// vectorName returns the vectors' name for a name in policies:
// "metadata_trust" for "metadataTrust".
func vectorName(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// settingKey returns the key of a setting in vectors.
func settingKey(d strategy.Descriptor, f strategy.Field) string {
	switch {
	case f.Type == strategy.Parts:
		return "children"
	case f.Type == strategy.Duration:
		return vectorName(f.Name) + "_secs"
	case d.Name == "tag" && f.Name == "weights":
		return "tag_weights"
	case d.Name == "quota" && f.Name == "entries":
		return "quotas"
	case f.Name == "scarcity":
		return "scarcity_behavior"
	}
	return vectorName(f.Name)
}

// place is a table of a vector, with its path for messages.
type place struct {
	path   string
	values map[string]any
}

func (p place) has(key string) bool {
	_, ok := p.values[key]
	return ok
}

func (p place) without(key string) place {
	values := maps.Clone(p.values)
	delete(values, key)
	return place{p.path, values}
}

// reader reads the strategies of a vector. Its error is the first one.
type reader struct {
	strict  bool // unknown keys are mistakes
	err     error
	now     *time.Time // the time of the clock of decay
	refused error      // the error of a strategy that policies cannot express
}

func (r *reader) fail(path, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s: %s", errVector, path, fmt.Sprintf(format, args...))
	}
}

func (r *reader) knows(p place, keys ...string) {
	for _, key := range slices.Sorted(maps.Keys(p.values)) {
		if r.strict && !slices.Contains(keys, key) {
			r.fail(p.path+"."+key, "unknown key")
		}
	}
}

// keysOf returns the keys of all strategies with a role.
func keysOf(role string) []string {
	keys := []string{"type", "weight", "inner_" + role, "reference_time", "use_default_weights"}
	for _, d := range descriptorsOf(role) {
		for _, f := range d.Fields {
			keys = append(keys, settingKey(d, f))
		}
	}
	return keys
}

// nested reads a strategy that is a table, or the name of one, whose settings are
// in the table named.
func (r *reader) nested(role string, v any, path string, named, config place) policy.Strategy {
	if name, ok := v.(string); ok {
		return r.strategy(role, name, named, config)
	}
	own := r.table(path, v)
	r.knows(own, keysOf(role)...)
	return r.strategy(role, r.typeOf(own), own, config)
}

func (r *reader) table(path string, v any) place {
	values, ok := v.(map[string]any)
	if !ok {
		r.fail(path, "must be a table, is %v", v)
	}
	return place{path, values}
}

func (r *reader) typeOf(p place) string {
	name, ok := p.values["type"].(string)
	if !ok {
		r.fail(p.path+".type", "is required, as a string")
	}
	return name
}

// strategy reads a strategy whose settings are in a table of its own and, in the
// format chapter's flat form, in config.
func (r *reader) strategy(role, kind string, own, config place) policy.Strategy {
	d, ok := described(descriptorsOf(role), kind)
	if !ok {
		r.fail(own.path, "unknown %s %q", role, kind)
	}
	in := func(key string) place {
		if own.has(key) {
			return own
		}
		return config
	}
	settings := policy.Settings{}
	for _, f := range d.Fields {
		key := settingKey(d, f)
		at := in(key)
		switch {
		case f.Type == strategy.Child:
			r.inner(settings, role, own, config)
		case f.Type == strategy.Parts && own.has(key):
			settings[f.Name] = r.parts(own, key, config)
		case f.Type == strategy.Parts:
			settings[f.Name] = r.parts(config, "scorers", config.without("scorers"))
		case at.has(key):
			settings[f.Name] = r.setting(d, f, at.path+"."+key, at.values[key])
		}
	}
	switch byDefault := own.values["use_default_weights"]; {
	case d.NeedsClock && in("reference_time").has("reference_time"):
		now := r.instant(in("reference_time"), "reference_time")
		r.now = &now
	case kind == "metadata_trust" && settings["defaultScore"] == nil:
		settings["defaultScore"] = 0.5 // the value that the chapter's examples configure
	case kind == "kind" && (byDefault == true || !own.has("weights") && config.values["use_default_weights"] == true):
		delete(settings, "weights")
	}
	return policy.Strategy{Type: d.Name, Settings: settings}
}

// inner reads the inner strategy: a table or a name, at the key inner or the
// flat key of its own table, or at the flat key of config, which holds no more
// than one. An inner slicer is greedy by default.
func (r *reader) inner(settings policy.Settings, role string, own, config place) {
	flatKey := "inner_" + role
	at, key, rest := own, "inner", config
	if !own.has(key) {
		key = flatKey
	}
	if !own.has(key) || own.path == config.path {
		at, rest = config, config.without(flatKey)
	}
	switch {
	case at.has(key):
		settings["inner"] = r.nested(role, at.values[key], at.path+"."+key, place{path: at.path + "." + key}, rest)
	case role == "slicer":
		settings["inner"] = policy.Strategy{Type: "greedy"}
	}
}

// parts reads the parts of a composite.
func (r *reader) parts(at place, key string, config place) []policy.Weighted {
	var parts []policy.Weighted
	for i, v := range r.list(at.path+"."+key, at.values[key]) {
		path := fmt.Sprintf("%s.%s[%d]", at.path, key, i)
		part := policy.Weighted{Scorer: r.nested("scorer", v, path, place{path: path}, config), Weight: 1}
		if own := r.table(path, v); own.has("weight") {
			part.Weight = r.number(path+".weight", own.values["weight"])
		}
		parts = append(parts, part)
	}
	return parts
}

// list reads an array; an absent one is empty.
func (r *reader) list(path string, v any) []any {
	var list []any
	switch v := v.(type) {
	case nil:
	case []any:
		list = v
	case []map[string]any:
		for _, m := range v {
			list = append(list, m)
		}
	default:
		r.fail(path, "must be an array, is %v", v)
	}
	return list
}

// setting reads a setting in the same way as the settings of policies.
func (r *reader) setting(d strategy.Descriptor, f strategy.Field, path string, v any) any {
	switch f.Type { //nolint:exhaustive // the others are read elsewhere, or not at all
	case strategy.Number:
		return r.number(path, v)
	case strategy.Duration:
		return r.duration(d, f, r.number(path, v))
	case strategy.Int:
		if n, ok := v.(int64); ok {
			return int(n)
		}
	case strategy.Bool:
		if b, ok := v.(bool); ok {
			return b
		}
	case strategy.Text, strategy.Kind:
		if text, ok := v.(string); ok {
			return text
		}
	case strategy.Enum:
		for _, name := range f.Values {
			if v == vectorName(name)[1:] { // "degrade" for "Degrade"
				return name
			}
		}
		r.fail(path, "%q is unknown; want one of %s", v, strings.ToLower(strings.Join(f.Values, ", ")))
	case strategy.Weights:
		return r.weights(d, path, v)
	case strategy.List:
		list := []policy.Settings{}
		for i, element := range r.list(path, v) {
			list = append(list, r.entry(d, f.Fields, r.table(fmt.Sprintf("%s[%d]", path, i), element)))
		}
		return list
	case strategy.Variant:
		own := r.table(path, v)
		variant, known := described(f.Variants, r.typeOf(own))
		if !known {
			r.fail(path, "unknown %s %q", f.Name, own.values["type"])
		}
		return policy.Strategy{Type: variant.Name, Settings: r.entry(variant, variant.Fields, own, "type")}
	}
	r.fail(path, "%v is not of type %s", v, f.Type)
	return nil
}

// weights reads weights by name, because a map silently keeps only one of two
// equal names.
func (r *reader) weights(d strategy.Descriptor, path string, v any) map[string]float64 {
	fields := []strategy.Field{{Name: d.Name, Type: strategy.Text, Required: true}, {Name: "weight", Type: strategy.Number, Required: true}}
	weights := map[string]float64{}
	for i, element := range r.list(path, v) {
		entry := r.entry(d, fields, r.table(fmt.Sprintf("%s[%d]", path, i), element))
		name, _ := entry[d.Name].(string)
		if _, twice := weights[name]; twice {
			r.refused = &cupel.InvalidConfigError{Component: d.Component, Field: "weights", Value: name, Reason: d.Name + " is given twice"}
		}
		weights[name], _ = entry["weight"].(float64)
	}
	return weights
}

// duration rounds to the nearest nanosecond; a value out of range is a
// construction error (R10).
func (r *reader) duration(d strategy.Descriptor, f strategy.Field, secs float64) time.Duration {
	ns := math.Round(secs * float64(time.Second))
	if !(math.Abs(ns) < math.MaxInt64) { // written so that NaN fails
		r.refused = &cupel.InvalidConfigError{Component: d.Component, Field: f.Name, Value: fmt.Sprint(secs), Reason: "must be a number of seconds up to 292 years"}
	}
	return time.Duration(ns)
}

func (r *reader) number(path string, v any) float64 {
	if n, ok := v.(int64); ok { // which may stand for a float (R47)
		return float64(n)
	}
	n, ok := v.(float64)
	if !ok {
		r.fail(path, "must be a number, is %v", v)
	}
	return n
}

func (r *reader) instant(at place, key string) time.Time {
	var t instant
	if err := t.UnmarshalTOML(at.values[key]); err != nil {
		r.fail(at.path+"."+key, "%v", err)
	}
	return time.Time(t)
}

// entry reads the fields of an entry.
func (r *reader) entry(d strategy.Descriptor, fields []strategy.Field, own place, keys ...string) policy.Settings {
	settings := policy.Settings{}
	for _, f := range fields {
		key := settingKey(d, f)
		keys = append(keys, key)
		if own.has(key) {
			settings[f.Name] = r.setting(d, f, own.path+"."+key, own.values[key])
		} else if f.Required && f.Type != strategy.List {
			r.fail(own.path+"."+key, "is required")
		}
	}
	r.knows(own, keys...)
	return settings
}
