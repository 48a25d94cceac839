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

// MaxBytes is the largest size of a policy's JSON text: 1 MiB.
const MaxBytes = 1 << 20

// Decode reads a policy from JSON of the form that schema.json describes. The
// policy may use the types of registry; if registry is nil, only the
// built-in ones. Text longer than [MaxBytes] is an error.
//
// Decode fails with a [ValidationError] that lists all mistakes in the document
// and in the policy, so a policy that it returns is valid. When the text is not
// JSON, [errors.Is] matches [cupel.ErrInvalidJSON] as well.
func Decode(registry *Registry, data []byte) (Policy, error) {
	b := newBuilder(Environment{registry, stillClock})
	b.json = true
	s := b.document(data)
	if err := b.problems.err(); err != nil {
		return Policy{}, err
	}
	var p Policy
	p.Name, _ = s["name"].(string)
	p.Description, _ = s["description"].(string)
	p.Scorers, _ = s["scorers"].([]Weighted)
	p.Slicer, _ = s["slicer"].(Strategy)
	p.Placer, _ = s["placer"].(Strategy)
	p.KeepDuplicates = s["deduplicate"] == false
	p.NearDuplicates, _ = s["nearDuplicates"].(float64)
	overflow, _ := s["overflow"].(string)
	p.Overflow = overflowOf(overflow)
	return p, nil
}

// UnmarshalJSON reads a policy as [Decode] does, with only the built-in
// strategies. By convention, null leaves the policy unchanged.
func (p *Policy) UnmarshalJSON(data []byte) error {
	if p == nil {
		return &cupel.DecodeError{Reason: "cannot be read into a nil pointer"}
	}
	if string(data) == "null" {
		return nil
	}
	read, err := Decode(nil, data)
	if err != nil {
		return err
	}
	*p = read
	return nil
}

// raw is the JSON text of a setting that has yet to be read. A document is read as
// it is built, one level at a time: only the type of a strategy tells what its
// settings are.
type raw []byte

// document reads and builds a policy, and returns what it says.
func (b *builder) document(data []byte) Settings {
	if len(data) > MaxBytes {
		b.fail("", tooLong, nil)
		return nil
	}
	if fault := jsonwire.Check(data); fault != nil {
		b.fail("", fault.Reason, (*cupel.DecodeError)(fault))
		return nil
	}
	s, ok := b.members(data, "", unknownField)
	if ok {
		b.config(s)
	}
	return s
}

// read reads a setting, but not the settings inside it. It returns nil or a zero
// value when it is wrong.
func (b *builder) read(r *role, f strategy.Field, text raw, at place) any {
	object := func(text raw, at place) Settings {
		s, _ := b.object(text, at)
		return s
	}
	child := func(text raw, at place) Strategy { return b.part(r, text, at, false).Scorer }
	switch f.Type {
	case strategy.Weights:
		return b.weights(text, at.path)
	case strategy.Texts:
		return elements(b, text, at, func(text raw, at place) string {
			s, _ := b.scalar(strategy.Text, text, at.path).(string)
			return s
		})
	case strategy.Object:
		return object(text, at)
	case strategy.List:
		return elements(b, text, at, object)
	case strategy.Variant, strategy.Child:
		return child(text, at)
	case strategy.Children:
		return elements(b, text, at, child)
	case strategy.Parts:
		return elements(b, text, at, func(text raw, at place) Weighted { return b.part(r, text, at, true) })
	default:
		return b.scalar(f.Type, text, at.path)
	}
}

// part reads a strategy, and its weight if it has one.
func (b *builder) part(r *role, text raw, at place, weighted bool) (part Weighted) {
	s, ok := b.object(text, at)
	if !ok {
		return part
	}
	part.Scorer.Type, _ = b.take(s, "type", strategy.Text, at, "; want one of "+strings.Join(r.known(b.env.Registry), ", ")).(string)
	if weighted {
		part.Weight, _ = b.take(s, "weight", strategy.Number, at, "").(float64)
	}
	if len(s) > 0 {
		part.Scorer.Settings = s
	}
	return part
}

// take reads what a strategy has next to its settings, and removes it from them.
func (b *builder) take(s Settings, name string, t strategy.Type, at place, wanted string) any {
	path := field(at.path, name)
	text, given := s[name].(raw)
	if !given {
		b.fail(path, "is required"+wanted, nil)
		return nil
	}
	delete(s, name)
	return b.scalar(t, text, path)
}

// object reads a strategy or an entry, and returns false when it cannot be read.
func (b *builder) object(text raw, at place) (Settings, bool) {
	if b.count(1, at); b.limits.exceeded {
		return nil, false
	}
	return b.members(text, at.path, unknownField)
}

// members returns the members of an object, and false when it is none. pathOf makes
// the path of a member.
func (b *builder) members(text raw, at string, pathOf func(at, name string) string) (Settings, bool) {
	all := make(Settings)
	fault := jsonwire.Read(text, func(r *jsonwire.Reader) {
		r.Map(func(name string) {
			if _, twice := all[name]; twice {
				b.fail(pathOf(at, name), "is given twice", nil)
			}
			all[name] = raw(r.Value())
		})
	})
	if fault != nil {
		b.fail(at, fault.Reason, nil)
		return nil, false
	}
	return all, true
}

func (b *builder) weights(text raw, at string) any {
	members, _ := b.members(text, at, strategy.Key)
	weights := make(map[string]float64, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		weights[name], _ = b.scalar(strategy.Number, members[name].(raw), strategy.Key(at, name)).(float64)
	}
	return weights
}

// scalar reads a value without parts, and returns nil when it is wrong.
func (b *builder) scalar(t strategy.Type, text raw, at string) any {
	var v any
	fault := jsonwire.Read(text, func(r *jsonwire.Reader) { v = typeOf[t].read(r) })
	if fault != nil {
		b.fail(at, fault.Reason, nil)
		return nil
	}
	return v
}

// elements reads an array, and returns nil when it is none. An empty array gives a
// nil slice. Reading stops when the policy has too many objects or the error is
// full, since nothing more would be reported.
func elements[T any](b *builder, text raw, at place, read func(text raw, at place) T) any {
	var all []T
	fault := jsonwire.Read(text, func(r *jsonwire.Reader) {
		r.Array(func() {
			text := raw(r.Value())
			if !b.limits.exceeded && !b.problems.full() {
				all = append(all, read(text, at.element(len(all))))
			}
		})
	})
	if fault != nil {
		b.fail(at.path, fault.Reason, nil)
		return nil
	}
	return all
}

// anyOf returns a reader of values of any type.
func anyOf[T any](value func(*jsonwire.Reader) T) func(*jsonwire.Reader) any {
	return func(r *jsonwire.Reader) any { return value(r) }
}

// duration reads a duration in the form of [time.ParseDuration].
func duration(r *jsonwire.Reader) any {
	text := r.String()
	d, err := time.ParseDuration(text)
	if err != nil {
		r.Fail("", fmt.Sprintf(`must be a duration such as "90s", "1h30m" or "24h", of at most 292 years, got %q`, strategy.Shorten(text)))
	}
	return d
}
