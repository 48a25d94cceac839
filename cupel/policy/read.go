package policy

import (
	"fmt"
	"slices"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/jsonwire"
)

// MaxBytes is how long the text of a policy may be: 1 MiB.
const MaxBytes = 1 << 20

// Decode reads a policy from JSON, with the custom strategies of registry, or
// with the built-in ones alone when that is nil. The document is the one that
// [Schema] describes; text that is longer than [MaxBytes] is refused.
//
// It fails with a [ValidationError] that has everything that is wrong with the
// document, and with the policy that it describes: a policy that Decode returns
// is valid. When the text is not JSON at all, [errors.Is] matches
// [cupel.ErrInvalidJSON] as well.
func Decode(registry *Registry, data []byte) (Policy, error) {
	var found problems
	r := &reader{registry: registry, problems: &found}
	p := r.document(data)
	if err := found.err(); err != nil {
		return Policy{}, err
	}
	return p, nil
}

// UnmarshalJSON reads a policy as [Decode] does with the built-in strategies
// alone. As is the custom, null leaves the policy as it is.
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

// reader reads a document, and collects what is wrong with it. What cannot be
// read is nil or zero, and there is a problem that says so.
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
	p.Scorers = r.parts(o, 0)
	p.Slicer = child(o, "slicer", 0, r.slicer)
	p.Placer = child(o, "placer", 0, r.placer)
	if deduplicate, ok := optional(o, "deduplicate", jsonwire.Bool); ok {
		p.KeepDuplicates = !deduplicate
	}
	p.Overflow, _ = optional(o, "overflow", nameOf(cupel.OverflowThrow, cupel.OverflowTruncate, cupel.OverflowProceed))
	o.close()
	p.validate(r.registry, r.problems)
	return p
}

// object is an object that is read field by field.
type object struct {
	reader  *reader
	at      string
	members []jsonwire.Member
	asked   []string // the names that were asked for: those that are known
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

// close reports the fields that nobody asked for.
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

// required reads a field that must be there.
func required[T any](o *object, name string, read func([]byte) (T, error)) T {
	v, ok := optional(o, name, read)
	if !ok {
		o.fail(name, "is required") // unless something else is said of it already
	}
	return v
}

// pointer reads a field whose absence is not the same as zero.
func pointer[T any](o *object, name string, read func([]byte) (T, error)) *T {
	v, ok := optional(o, name, read)
	if !ok {
		return nil
	}
	return &v
}

// elements reads an array; read makes an element of each text and its path. An
// empty array is read as nil. Once the policy has too many strategies or the
// error is full, nothing more would be said, and nothing more is read.
func elements[T any](o *object, name string, read func(raw []byte, at string) T) []T {
	list, _ := optional(o, name, jsonwire.Elements)
	var all []T
	for i, raw := range list {
		if o.reader.strategies > maxStrategies || o.reader.problems.full() {
			break
		}
		all = append(all, read(raw, index(field(o.at, name), i)))
	}
	return all
}

// nameOf returns a reader of the name of one of the values.
func nameOf[T fmt.Stringer](values ...T) func([]byte) (T, error) {
	return func(raw []byte) (none T, err error) {
		name, err := jsonwire.String(raw)
		if err != nil {
			return none, err
		}
		var known []string
		for _, v := range values {
			if v.String() == name {
				return v, nil
			}
			known = append(known, v.String())
		}
		return none, fmt.Errorf("%q %s", shorten(name), isUnknown(known))
	}
}

// duration reads what [time.ParseDuration] reads.
func duration(raw []byte) (time.Duration, error) {
	text, err := jsonwire.String(raw)
	if err != nil {
		return 0, err
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf(`must be a duration such as "90s", "1h30m" or "24h", of at most 292 years, got %q`, shorten(text))
	}
	return d, nil
}

// kind reads a kind, in the casing that it has.
func kind(raw []byte) (cupel.ContextKind, error) {
	name, err := jsonwire.String(raw)
	return cupel.ContextKind(name), err
}
