package policy

import (
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
// policy may use the types of registry; if registry is nil, only the
// built-in ones. Text longer than [MaxBytes] is an error.
//
// Decode fails with a [ValidationError] that lists all mistakes in the document
// and in the policy, so a policy that it returns is valid. When the text is not
// JSON, [errors.Is] matches [cupel.ErrInvalidJSON] as well.
func Decode(registry *Registry, data []byte) (Policy, error) {
	var found problems
	r := &reader{registry: registry, problems: &found}
	s := r.document(data)
	if err := found.err(); err != nil {
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
	p.AnyNumbers = s["anyNumbers"] == true
	p.FullOnly = s["fullOnly"] == true
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

// reader reads a document and collects its problems. A value that cannot be read
// is nil or zero and has a problem.
type reader struct {
	registry   *Registry
	problems   *problems
	strategies strategies
}

func (r *reader) document(data []byte) Settings {
	if len(data) > MaxBytes {
		r.problems.add("", tooLong, nil)
		return nil
	}
	if err := jsonwire.Check(data); err != nil {
		reason := "is malformed: " + err.Error()
		r.problems.add("", reason, &cupel.DecodeError{Reason: reason, Err: err})
		return nil
	}
	s, ok := r.object(whole, data, "", document.Fields, -1)
	if ok {
		newBuilder(Environment{r.registry, stillClock}, r.problems).config(s)
	}
	return s
}

var (
	typeField   = strategy.Field{Name: "type", Type: strategy.Text}
	weightField = strategy.Field{Name: "weight", Type: strategy.Number, Required: true}
)

// strategy reads a strategy. place are the fields that all types have.
func (r *reader) strategy(of *role, raw []byte, at string, depth int, place ...strategy.Field) (s Strategy, weight float64) {
	if reason := r.strategies.exceeds(depth); reason != "" {
		path := at
		if reason == tooMany {
			path = "" // report it once
		}
		r.problems.add(path, reason, nil)
		r.problems.hide(at)
		return s, 0
	}
	members, ok := r.members(raw, at, unknownField)
	if !ok {
		return s, 0
	}
	given := r.values(of, members, at, place, depth)
	if s.Type, ok = given["type"].(string); !ok {
		r.problems.add(field(at, "type"), "is required; want one of "+strings.Join(of.known(r.registry), ", "), nil)
	}
	weight, _ = given["weight"].(float64)
	if d, _, ok := of.find(r.registry, s.Type); ok {
		s.Settings = r.values(of, members, at, d.Fields, depth)
		r.checkNames(members, at, slices.Concat(place, d.Fields))
	}
	return s, weight
}

// object reads an object, and returns false when it is none.
func (r *reader) object(of *role, raw []byte, at string, fields []strategy.Field, depth int) (Settings, bool) {
	members, ok := r.members(raw, at, unknownField)
	if !ok {
		return nil, false
	}
	r.checkNames(members, at, fields)
	return r.values(of, members, at, fields, depth), true
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

// checkNames reports the members that no field describes.
func (r *reader) checkNames(members []jsonwire.Member, at string, fields []strategy.Field) {
	known := namesOf(fields)
	for _, m := range members {
		if !slices.Contains(known, m.Name) && !r.problems.full() {
			r.problems.add(unknownField(at, m.Name), isUnknown(known), nil)
		}
	}
}

// values reads the members that fields describe.
func (r *reader) values(of *role, members []jsonwire.Member, at string, fields []strategy.Field, depth int) Settings {
	var s Settings
	for _, f := range fields {
		i := slices.IndexFunc(members, func(m jsonwire.Member) bool { return m.Name == f.Name })
		if i < 0 {
			if isRequired(f) {
				r.problems.add(field(at, f.Name), "is required", nil)
			}
			continue
		}
		if v := r.value(of.of(f), f, members[i].Value, field(at, f.Name), depth+1); v != nil {
			if s == nil {
				s = make(Settings, len(fields))
			}
			s[f.Name] = v
		}
	}
	return s
}

// value reads a setting, and returns nil when it is wrong.
func (r *reader) value(of *role, f strategy.Field, raw []byte, at string, depth int) any {
	one := func(raw []byte, at string) Strategy {
		s, _ := r.strategy(of, raw, at, depth, typeField)
		return s
	}
	switch f.Type {
	case strategy.Weights:
		members, ok := r.members(raw, at, strategy.Key)
		if !ok {
			return nil
		}
		weights := make(map[string]float64, len(members))
		for _, m := range members {
			weights[m.Name], _ = r.scalar(typeOf[strategy.Number].read, m.Value, strategy.Key(at, m.Name)).(float64)
		}
		return weights
	case strategy.Texts:
		return elements(r, raw, at, func(raw []byte, at string) string {
			text, _ := r.scalar(typeOf[strategy.Text].read, raw, at).(string)
			return text
		})
	case strategy.Object:
		if s, ok := r.object(of, raw, at, f.Fields, depth); ok {
			if s == nil {
				s = Settings{} // an object that is given is not nil
			}
			return s
		}
		return nil
	case strategy.List:
		return elements(r, raw, at, func(raw []byte, at string) Settings {
			s, _ := r.object(of, raw, at, f.Fields, depth)
			return s
		})
	case strategy.Variant, strategy.Child:
		return one(raw, at)
	case strategy.Children:
		return elements(r, raw, at, one)
	case strategy.Parts:
		return elements(r, raw, at, func(raw []byte, at string) (part Weighted) {
			part.Scorer, part.Weight = r.strategy(of, raw, at, depth, typeField, weightField)
			return part
		})
	default:
		return r.scalar(typeOf[f.Type].read, raw, at)
	}
}

// scalar reads a value without parts, and returns nil when it is wrong.
func (r *reader) scalar(read func(*jsonwire.Reader) any, raw []byte, at string) any {
	v, err := jsonwire.Read(raw, read)
	if err != nil {
		r.problems.add(at, err.Error(), nil)
		return nil
	}
	return v
}

// elements reads an array, and returns nil when it is none. read makes an
// element from its text and path. An empty array gives a nil slice. Reading stops
// when the policy has too many strategies or the error is full, since nothing
// more would be reported.
func elements[T any](r *reader, raw []byte, at string, read func(raw []byte, at string) T) any {
	list, err := jsonwire.Elements(raw)
	if err != nil {
		r.problems.add(at, err.Error(), nil)
		return nil
	}
	var all []T
	for i, raw := range list {
		if r.strategies > maxStrategies || r.problems.full() {
			break
		}
		all = append(all, read(raw, strategy.Element(at, i)))
	}
	return all
}

// read returns a reader of values of any type.
func read[T any](value func(*jsonwire.Reader) T) func(*jsonwire.Reader) any {
	return func(r *jsonwire.Reader) any { return value(r) }
}

// duration reads a duration in the form of [time.ParseDuration].
func duration(r *jsonwire.Reader) any {
	text := r.String()
	d, err := time.ParseDuration(text)
	if err != nil {
		r.Fail("", fmt.Sprintf(`must be a duration such as "90s", "1h30m" or "24h", of at most 292 years, got %q`, strategy.Shorten(text)), nil)
	}
	return d
}
