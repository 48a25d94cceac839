package conformance

import (
	"maps"
	"math"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// settings finds the settings of a strategy in its own table and, in the format
// chapter's flat form, in [config].
type settings struct {
	own  table
	flat *table // [config], or nil where every setting is a key of its own table
}

// in returns the table that holds key.
func (s settings) in(key string) table {
	if s.flat != nil && !s.own.has(key) {
		return *s.flat
	}
	return s.own
}

// maxNesting bounds how deep strategies may be nested in a vector.
const maxNesting = 200

var scorerKeys = describedKeys([]string{
	"type", "weight", "inner", "inner_scorer", "children", "weights", "use_default_weights", "tag_weights", "curve", "reference_time", "null_timestamp_score",
	"default_score", "key", "value", "boost",
}, scorer.Descriptors(), "kind", "tag", "composite", "scaled", "metadataTrust", "metadataKey", "decay")

// scorer reads a scorer of the given type.
func (s settings) scorer(kind string, depth int) ScorerSpec {
	spec := ScorerSpec{Type: kind}
	if depth > maxNesting {
		s.own.fail("", "scorers are nested more than %d deep", maxNesting)
		return spec
	}
	switch kind {
	case "kind":
		byDefault := s.in("use_default_weights")
		if s.own.has("weights") { // [config] does not override its own weights
			byDefault = s.own
		}
		if t := s.in("weights"); t.has("weights") && !byDefault.boolean("use_default_weights") {
			spec.Weights = []KindWeight{}
			for _, w := range t.tables("weights") {
				w.knows("kind", "weight")
				spec.Weights = append(spec.Weights, KindWeight{cupel.ContextKind(w.required("kind").text("kind")), w.required("weight").number("weight")})
			}
		}
	case "tag":
		for _, w := range s.in("tag_weights").tables("tag_weights") {
			w.knows("tag", "weight")
			spec.TagWeights = append(spec.TagWeights, TagWeight{w.required("tag").text("tag"), w.required("weight").number("weight")})
		}
	case "composite":
		spec.Children = s.children(depth)
	case "scaled":
		spec.Inner = s.innerScorer(depth)
	case "metadata_trust":
		spec.DefaultScore = optional(s.in("default_score"), "default_score", table.number)
	case "metadata_key":
		spec.Key = s.in("key").required("key").text("key")
		spec.Value = s.in("value").required("value").text("value")
		spec.Boost = s.in("boost").required("boost").number("boost")
	case "decay":
		spec.ReferenceTime = optional(s.in("reference_time"), "reference_time", table.instant)
		spec.NullTimestampScore = optional(s.in("null_timestamp_score"), "null_timestamp_score", table.number)
		if t := s.in("curve"); t.has("curve") {
			spec.Curve = curve(t.table("curve"))
		}
	default:
		spec.Settings = s.described(scorer.Descriptors(), "scorer", kind)
	}
	return spec
}

// described reads the settings of a strategy as its descriptor has them: those
// that are single values.
func (s settings) described(list []strategy.Descriptor, what, kind string) map[string]any {
	d, ok := described(list, kind, vectorName)
	if !ok {
		s.own.fail("", "unknown %s %q", what, kind)
		return nil
	}
	given := make(map[string]any)
	for _, f := range d.Fields {
		key := vectorName(f.Name)
		t := s.in(key)
		if f.Required {
			t.required(key)
		}
		if !t.has(key) {
			continue
		}
		switch f.Type {
		case strategy.Number:
			given[f.Name] = t.number(key)
		case strategy.Int:
			given[f.Name] = t.integer(key)
		case strategy.Bool:
			given[f.Name] = t.boolean(key)
		case strategy.Text, strategy.Kind, strategy.Enum:
			given[f.Name] = t.text(key)
		default:
			t.fail(key, "vectors cannot give a %s", f.Type)
		}
	}
	return given
}

// describedKeys adds the keys of the settings of the types that only their
// descriptors describe: those that are not among known.
func describedKeys(keys []string, list []strategy.Descriptor, known ...string) []string {
	for _, d := range list {
		for _, f := range d.Fields {
			if !slices.Contains(known, d.Name) {
				keys = append(keys, vectorName(f.Name))
			}
		}
	}
	return keys
}

// children reads the parts of a composite: children of its own table, or
// scorers of [config].
func (s settings) children(depth int) []ChildSpec {
	list := s.own.tables("children")
	if s.flat != nil && !s.own.has("children") {
		list = s.flat.tables("scorers")
		s = s.without("scorers")
	}
	var specs []ChildSpec
	for _, t := range list {
		t.knows(scorerKeys...)
		weight := 1.0
		if t.has("weight") {
			weight = t.number("weight")
		}
		part := settings{own: t, flat: s.flat}
		specs = append(specs, ChildSpec{part.scorer(t.required("type").text("type"), depth+1), weight})
	}
	return specs
}

// without returns the settings for strategies inside one that has used a key of
// [config]: the flat form holds only one list of scorers and one inner strategy
// of each kind, so deeper strategies must have their own settings.
func (s settings) without(key string) settings {
	rest := *s.flat
	rest.values = maps.Clone(rest.values)
	delete(rest.values, key)
	return settings{own: s.own, flat: &rest}
}

// innerScorer reads the scorer inside a scaled one, or returns nil.
func (s settings) innerScorer(depth int) *ScorerSpec {
	inner, ok := s.inner("inner_scorer", scorerKeys)
	if !ok {
		return nil
	}
	spec := inner.scorer(inner.own.required("type").text("type"), depth+1)
	return &spec
}

// inner finds the inner strategy: a table or a name, at the key inner or the
// flat key of its own table, or at the flat key of [config].
func (s settings) inner(flatKey string, known []string) (settings, bool) {
	for _, key := range []string{"inner", flatKey} {
		if s.own.has(key) {
			return s.wrapped(s.own, key, s.flat, known), true
		}
	}
	if s.flat == nil || !s.flat.has(flatKey) {
		return settings{}, false
	}
	return s.wrapped(*s.flat, flatKey, s.without(flatKey).flat, known), true
}

func (s settings) wrapped(t table, key string, flat *table, known []string) settings {
	if name, ok := t.values[key].(string); ok {
		return settings{own: t.child(key, map[string]any{"type": name}), flat: flat}
	}
	return settings{own: t.table(key).knows(known...), flat: flat}
}

func curve(t table) *CurveSpec {
	t.knows("type", "half_life_secs", "max_age_secs", "windows")
	c := &CurveSpec{Type: t.required("type").text("type")}
	switch c.Type {
	case "exponential":
		c.HalfLifeSecs = t.required("half_life_secs").number("half_life_secs")
	case "window":
		c.MaxAgeSecs = t.required("max_age_secs").number("max_age_secs")
	case "step":
		for _, w := range t.tables("windows") {
			w.knows("max_age_secs", "score")
			c.Windows = append(c.Windows, WindowSpec{w.required("max_age_secs").number("max_age_secs"), w.required("score").number("score")})
		}
	default:
		t.fail("type", "unknown curve %q", c.Type)
	}
	return c
}

var slicerKeys = describedKeys([]string{"type", "inner", "inner_slicer", "bucket_size", "quotas", "entries", "scarcity_behavior", "exact"},
	slicer.Descriptors(), "knapsack", "quota", "countQuota", "countConstrainedKnapsack")

// slicer reads a slicer of the given type.
func (s settings) slicer(kind string, depth int) SlicerSpec {
	spec := SlicerSpec{Type: kind}
	if depth > maxNesting {
		s.own.fail("", "slicers are nested more than %d deep", maxNesting)
		return spec
	}
	switch kind {
	case "knapsack":
		spec.BucketSize = optional(s.in("bucket_size"), "bucket_size", table.integer)
	case "quota":
		spec.Inner = s.innerSlicer(depth)
		for _, q := range s.in("quotas").tables("quotas") {
			q.knows("kind", "require", "cap")
			quota := QuotaSpec{Kind: cupel.ContextKind(q.required("kind").text("kind")), Require: q.number("require"), Cap: 100}
			if q.has("cap") {
				quota.Cap = q.number("cap")
			}
			spec.Quotas = append(spec.Quotas, quota)
		}
	case "count_quota":
		spec.Inner = s.innerSlicer(depth)
		s.counts(&spec)
	case "count_constrained_knapsack":
		spec.BucketSize = optional(s.in("bucket_size"), "bucket_size", table.integer)
		s.counts(&spec)
	default:
		spec.Settings = s.described(slicer.Descriptors(), "slicer", kind)
	}
	return spec
}

func (s settings) counts(spec *SlicerSpec) {
	for _, e := range s.in("entries").tables("entries") {
		e.knows("kind", "require_count", "cap_count")
		entry := EntrySpec{Kind: cupel.ContextKind(e.required("kind").text("kind")), RequireCount: e.integer("require_count"), CapCount: math.MaxInt}
		if e.has("cap_count") {
			entry.CapCount = e.integer("cap_count")
		}
		spec.Entries = append(spec.Entries, entry)
	}
	t := s.in("scarcity_behavior")
	if !t.has("scarcity_behavior") {
		return
	}
	switch b := t.text("scarcity_behavior"); b {
	case "degrade":
	case "throw":
		spec.Throw = true
	default:
		t.fail("scarcity_behavior", "unknown scarcity behavior %q", b)
	}
}

// innerSlicer reads the inner slicer, by default greedy.
func (s settings) innerSlicer(depth int) *SlicerSpec {
	spec := SlicerSpec{Type: "greedy"}
	if inner, ok := s.inner("inner_slicer", slicerKeys); ok {
		spec = inner.slicer(inner.own.required("type").text("type"), depth+1)
	}
	return &spec
}

// optional returns nil if key is absent, which differs from zero.
func optional[T any](t table, key string, read func(table, string) T) *T {
	if !t.has(key) {
		return nil
	}
	v := read(t, key)
	return &v
}
