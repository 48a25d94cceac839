package policy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/jsonwire"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// MaxBytes is the largest size of a policy's JSON text: 1 MiB.
const MaxBytes = 1 << 20

// Decode reads a policy from JSON of the form that [Schema] describes. The
// policy may use the custom strategies of registry; if registry is nil, only the
// built-in ones. Text longer than [MaxBytes] is an error.
//
// Decode fails with a [ValidationError] that lists all mistakes in the document
// and in the policy, so a policy that it returns is valid. When the text is not
// JSON, [errors.Is] matches [cupel.ErrInvalidJSON] as well.
func Decode(registry *Registry, data []byte) (Policy, error) {
	var found problems
	r := &reader{registry: registry, problems: &found}
	p := r.document(data)
	if err := found.err(); err != nil {
		return Policy{}, err
	}
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

// reader reads a document and collects its problems. A value that cannot be read
// is nil or zero and has a problem.
type reader struct {
	registry   *Registry
	problems   *problems
	strategies strategies
}

func (r *reader) document(data []byte) Policy {
	if len(data) > MaxBytes {
		r.problems.add("", fmt.Sprintf("is longer than %d bytes", MaxBytes), nil)
		return Policy{}
	}
	if err := jsonwire.Check(data); err != nil {
		reason := "is malformed: " + err.Error()
		r.problems.add("", reason, &cupel.DecodeError{Reason: reason, Err: err})
		return Policy{}
	}
	o, ok := r.object(data, "")
	if !ok {
		return Policy{}
	}
	var p Policy
	p.Name, _ = optional(o, "name", jsonwire.String)
	p.Description, _ = optional(o, "description", jsonwire.String)
	p.Scorers, _ = elements(o, "scorers", func(raw []byte, at string) Weighted { return r.weighted(raw, at, 0) })
	p.Slicer = r.required(o, "slicer", slicers)
	p.Placer = r.required(o, "placer", placers)
	if deduplicate, ok := optional(o, "deduplicate", jsonwire.Bool); ok {
		p.KeepDuplicates = !deduplicate
	}
	p.FullOnly, _ = optional(o, "fullOnly", jsonwire.Bool)
	p.Overflow, _ = optional(o, "overflow", nameOf(cupel.OverflowThrow, cupel.OverflowTruncate, cupel.OverflowProceed))
	o.close()
	(&builder{Environment{r.registry, stillClock}, r.problems}).config(p)
	return p
}

// required reads the strategy of a role that a policy must have.
func (r *reader) required(o *object, name string, of *role) Strategy {
	raw, ok := o.raw(name)
	if !ok {
		o.fail(name, "is required")
		return Strategy{}
	}
	return r.strategy(of, raw, name, 0, nil)
}

// weighted reads a scorer with its weight.
func (r *reader) weighted(raw []byte, at string, depth int) (part Weighted) {
	part.Scorer = r.strategy(scorers, raw, at, depth, func(o *object) {
		var ok bool
		if part.Weight, ok = optional(o, "weight", jsonwire.Number); !ok {
			o.fail("weight", "is required")
		}
	})
	return part
}

// strategy reads a strategy, depth levels below the policy. place, if not nil,
// reads further members, such as the weight.
func (r *reader) strategy(of *role, raw []byte, at string, depth int, place func(*object)) Strategy {
	if reason := r.strategies.exceeds(depth); reason != "" {
		path := at
		if reason == tooMany {
			path = "" // report it once
		}
		r.problems.add(path, reason, nil)
		r.problems.hide(at)
		return Strategy{}
	}
	return r.typed(of, raw, at, depth, place)
}

// typed reads an object with a "type".
func (r *reader) typed(of *role, raw []byte, at string, depth int, place func(*object)) Strategy {
	o, ok := r.object(raw, at)
	if !ok {
		return Strategy{}
	}
	name, ok := optional(o, "type", jsonwire.String)
	if !ok {
		o.fail("type", "is required; want one of "+strings.Join(of.known(r.registry), ", "))
	}
	if place != nil {
		place(o)
	}
	d, ok := of.find(r.registry, name)
	if !ok {
		return Strategy{Type: name} // its settings are unknown
	}
	s := Strategy{name, r.settings(of, o, d.Fields, depth)}
	o.close()
	return s
}

// settings reads the settings of a type.
func (r *reader) settings(of *role, o *object, fields []strategy.Field, depth int) Settings {
	var s Settings
	for _, f := range fields {
		v, ok := r.value(of, o, f, depth)
		if !ok {
			if isRequired(f) {
				o.fail(f.Name, "is required") // ignored if the field has a problem already
			}
			continue
		}
		if s == nil {
			s = make(Settings, len(fields))
		}
		s[f.Name] = v
	}
	return s
}

// value reads a setting, and returns false when it is absent or wrong.
func (r *reader) value(of *role, o *object, f strategy.Field, depth int) (any, bool) {
	switch f.Type {
	case strategy.Number:
		return optional(o, f.Name, read(jsonwire.Number))
	case strategy.Int:
		return optional(o, f.Name, read(jsonwire.Int))
	case strategy.Bool:
		return optional(o, f.Name, read(jsonwire.Bool))
	case strategy.Text, strategy.Kind:
		return optional(o, f.Name, read(jsonwire.String))
	case strategy.Enum:
		return optional(o, f.Name, read(oneOf(f.Values)))
	case strategy.Duration:
		return optional(o, f.Name, read(duration))
	case strategy.JSON:
		return optional(o, f.Name, func(raw []byte) (any, error) { return json.RawMessage(jsonwire.Compact(raw)), nil })
	case strategy.Weights:
		weights, ok := r.weights(o, f.Name)
		return weights, ok
	case strategy.Variant, strategy.Child:
		raw, ok := o.raw(f.Name)
		if !ok {
			return nil, false
		}
		if f.Type == strategy.Variant {
			return r.typed(variants(f), raw, field(o.at, f.Name), depth, nil), true
		}
		return r.strategy(of, raw, field(o.at, f.Name), depth+1, nil), true
	case strategy.Children:
		return anyOf(elements(o, f.Name, func(raw []byte, at string) Strategy { return r.strategy(of, raw, at, depth+1, nil) }))
	case strategy.Parts:
		return anyOf(elements(o, f.Name, func(raw []byte, at string) Weighted { return r.weighted(raw, at, depth+1) }))
	case strategy.List:
		return anyOf(elements(o, f.Name, func(raw []byte, at string) Settings {
			o, ok := r.object(raw, at)
			if !ok {
				return nil
			}
			defer o.close()
			return r.settings(of, o, f.Fields, depth)
		}))
	}
	return nil, false
}

// anyOf returns a value as one of any type.
func anyOf[T any](v T, ok bool) (any, bool) { return v, ok }

// read returns a reader of values of any type.
func read[T any](value func([]byte) (T, error)) func([]byte) (any, error) {
	return func(raw []byte) (any, error) { return value(raw) }
}

// weights reads numbers by name.
func (r *reader) weights(o *object, name string) (map[string]float64, bool) {
	raw, ok := o.raw(name)
	if !ok {
		return nil, false
	}
	at := field(o.at, name)
	members, ok := r.members(raw, at, strategy.Key)
	if !ok {
		return nil, false
	}
	m := make(map[string]float64, len(members))
	for _, member := range members {
		weight, err := jsonwire.Number(member.Value)
		if err != nil {
			r.problems.add(strategy.Key(at, member.Name), err.Error(), nil)
			continue
		}
		m[member.Name] = weight
	}
	return m, true
}

// object is an object that is read field by field.
type object struct {
	reader  *reader
	at      string
	members []jsonwire.Member
	asked   []string // the names asked for, which are the known ones
}

// members returns the members of an object, the first of each name. pathOf
// makes the path of a member.
func (r *reader) members(raw []byte, at string, pathOf func(at, name string) string) ([]jsonwire.Member, bool) {
	all, err := jsonwire.Members(raw)
	if err != nil {
		r.problems.add(at, err.Error(), nil)
		r.problems.hide(at)
		return nil, false
	}
	seen := make(map[string]bool, len(all))
	members := all[:0]
	for _, m := range all {
		if seen[m.Name] {
			r.problems.add(pathOf(at, m.Name), "is given twice", nil)
			continue
		}
		seen[m.Name] = true
		members = append(members, m)
	}
	return members, true
}

func (r *reader) object(raw []byte, at string) (*object, bool) {
	members, ok := r.members(raw, at, unknownField)
	return &object{reader: r, at: at, members: members}, ok
}

// raw returns the text of a field, and makes its name known.
func (o *object) raw(name string) ([]byte, bool) {
	o.asked = append(o.asked, name)
	for _, m := range o.members {
		if m.Name == name {
			return m.Value, true
		}
	}
	return nil, false
}

func (o *object) fail(name, reason string) {
	o.reader.problems.add(field(o.at, name), reason, nil)
}

// close reports the fields that were not asked for.
func (o *object) close() {
	for _, m := range o.members {
		if !slices.Contains(o.asked, m.Name) {
			o.reader.problems.add(unknownField(o.at, m.Name), isUnknown(o.asked), nil)
		}
	}
}

// optional reads a field, and returns false when it is absent.
func optional[T any](o *object, name string, read func([]byte) (T, error)) (v T, ok bool) {
	raw, ok := o.raw(name)
	if !ok {
		return v, false
	}
	v, err := read(raw)
	if err != nil {
		o.fail(name, err.Error())
		return v, false
	}
	return v, true
}

// elements reads an array, and returns false when the field is absent or not an
// array. read makes an element from its text and path. An empty array gives nil.
// Reading stops when the policy has too many strategies or the error is full,
// since nothing more would be reported.
func elements[T any](o *object, name string, read func(raw []byte, at string) T) (all []T, ok bool) {
	list, ok := optional(o, name, jsonwire.Elements)
	for i, raw := range list {
		if o.reader.strategies > maxStrategies || o.reader.problems.full() {
			break
		}
		all = append(all, read(raw, strategy.Element(field(o.at, name), i)))
	}
	return all, ok
}

// nameOf returns a reader of the name of one of the values.
func nameOf[T fmt.Stringer](values ...T) func([]byte) (T, error) {
	return func(raw []byte) (none T, err error) {
		var known []string
		for _, v := range values {
			known = append(known, v.String())
		}
		name, err := oneOf(known)(raw)
		if err != nil {
			return none, err
		}
		return values[slices.Index(known, name)], nil
	}
}

// oneOf returns a reader of one of the names.
func oneOf(known []string) func([]byte) (string, error) {
	return func(raw []byte) (string, error) {
		name, err := jsonwire.String(raw)
		if err == nil && !slices.Contains(known, name) {
			err = fmt.Errorf("%q %s", strategy.Shorten(name), isUnknown(known))
		}
		return name, err
	}
}

// duration reads a duration in the form of [time.ParseDuration].
func duration(raw []byte) (time.Duration, error) {
	text, err := jsonwire.String(raw)
	if err != nil {
		return 0, err
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf(`must be a duration such as "90s", "1h30m" or "24h", of at most 292 years, got %q`, strategy.Shorten(text))
	}
	return d, nil
}
