package policy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/internal/jsonwire"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Factory builds a custom strategy: S is [cupel.Scorer], [cupel.Slicer] or
// [cupel.Placer].
//
// A factory is called whenever a policy that uses it is read, validated or
// built, from several goroutines at once; it should do nothing but check and
// build. Mistakes in the settings are best reported as [DecodeSettings] and
// [Invalid] do, with their paths. A panic becomes a problem of the policy, and
// so does a strategy that is nil or does not pass [cupel.ValidateScorer] or its
// like.
type Factory[S any] func(args Args[S]) (S, error)

// Args is what a [Factory] builds a strategy from.
type Args[S any] struct {
	// Settings is the JSON object that stands in the policy, or nil when there
	// is none. [DecodeSettings] reads it.
	Settings json.RawMessage
	// Children are the strategies that the new one wraps, in the order of the
	// policy. They are built already; a factory that wants a certain number of
	// them checks that. A strategy that wraps others shows them, as
	// [cupel.ScorerWrapper] and [cupel.SlicerWrapper] say.
	Children []S
	// Clock is [Environment.Clock], nil when there is none. While a policy is
	// read or validated it stands still.
	Clock func() time.Time
}

// described returns the description of the strategies that a factory builds.
func described[S any](role, name string, build Factory[S]) strategy.Descriptor {
	return strategy.Descriptor{
		Name:   name,
		Fields: customFields,
		Build: func(args strategy.Args) (any, error) {
			var children []S
			for _, child := range strategy.Get[[]any](args, "children") {
				children = append(children, child.(S))
			}
			settings := bytes.Clone(strategy.Get[json.RawMessage](args, "settings"))
			s, err := call(build, Args[S]{settings, children, args.Clock})
			if err == nil && isNil(s) {
				err = &factoryError{fmt.Sprintf("the factory of %q returned no %s", name, role), nil}
			}
			return s, err
		},
		Settings: func(any) (map[string]any, bool) { return nil, false },
	}
}

// call calls a factory, and turns its panic into an error.
func call[S any](build Factory[S], args Args[S]) (strategy S, err error) {
	defer func() {
		if v := recover(); v != nil {
			cause, _ := v.(error)
			err = &factoryError{fmt.Sprintf("the factory panicked: %v", v), cause}
		}
	}()
	strategy, err = build(args)
	if err != nil && isNil(err) { // a nil pointer of some error type, whose methods may panic
		return strategy, &factoryError{fmt.Sprintf("the factory failed with a nil %T", err), nil}
	}
	return strategy, err
}

// factoryError is what a factory did instead of building.
type factoryError struct {
	reason string
	cause  error
}

func (e *factoryError) Error() string { return e.reason }

// Unwrap returns what the factory panicked with, if that is an error.
func (e *factoryError) Unwrap() error { return e.cause }

// isNil reports whether v is nil, or a nil pointer, map, slice or function.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan:
		return r.IsNil()
	default:
		return false
	}
}

// readSettings returns the members of the settings of a custom strategy, or
// what is wrong with them.
func readSettings(settings json.RawMessage) ([]jsonwire.Member, string) {
	if settings == nil {
		return nil, ""
	}
	if err := jsonwire.Check(settings); err != nil {
		return nil, "is malformed: " + err.Error()
	}
	members, err := jsonwire.Members(settings)
	if err == nil {
		_, err = jsonwire.Any(settings) // for names that are given twice
	}
	if err != nil {
		return nil, err.Error()
	}
	return members, ""
}

// DecodeSettings reads the settings of a custom strategy into a struct, as
// strictly as a policy itself is read: a field that T, or a struct within it,
// does not have is an error that lists those that it has, and names are
// compared exactly, at any depth. Fields
// are named as [encoding/json] names them. A T that is no struct, such as a map,
// takes any name. Settings that are absent, nil, leave
// the zero T, and so does each field that is absent.
//
// It fails with a [ValidationError] with everything that is wrong. A [Factory]
// returns that as it is, and the policy shows it with the whole path.
func DecodeSettings[T any](settings json.RawMessage) (T, error) {
	var found problems
	value := decodeSettings[T](settings, &found)
	if err := found.err(); err != nil {
		var zero T
		return zero, err
	}
	return value, nil
}

func decodeSettings[T any](settings json.RawMessage, found *problems) (value T) {
	members, reason := readSettings(settings)
	if reason != "" {
		found.add("", reason, nil)
		return value
	}
	t := reflect.TypeFor[T]()
	known := fieldNames(t)
	checkNames(t, settings, "", found)
	for _, m := range members {
		if t.Kind() == reflect.Struct && !slices.Contains(known, m.Name) {
			continue
		}
		// One member at a time, so that one mistake does not hide another.
		var w jsonwire.Writer
		w.Map([]string{m.Name}, func(int) { w.Raw(m.Value) })
		text, _ := w.Result()
		decoder := json.NewDecoder(bytes.NewReader(text))
		if err := decoder.Decode(&value); err != nil {
			path, reason := unknownField("", m.Name), strings.TrimPrefix(err.Error(), "json: ")
			if mistyped, ok := compat.AsType[*json.UnmarshalTypeError](err); ok {
				path, reason = mistyped.Field, fmt.Sprintf("must be %s, got a JSON %s", mistyped.Type, mistyped.Value)
			}
			found.add(path, reason, err)
		}
	}
	return value
}

// checkNames reports the members, at any depth, that the structs of t do not
// have; [encoding/json] would neither list those that they have nor compare
// names exactly. Types that read their own JSON are left to themselves.
func checkNames(t reflect.Type, raw []byte, at string, found *problems) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if at != "" && reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		known := fieldNames(t)
		members, _ := jsonwire.Members(raw) // what is no object is an error of decoding
		for _, m := range members {
			i := slices.Index(known, m.Name)
			if i < 0 {
				found.add(unknownField(at, m.Name), isUnknown(known), nil)
				continue
			}
			checkNames(fieldsOf(t)[i].Type, m.Value, unknownField(at, m.Name), found)
		}
	case reflect.Map:
		members, _ := jsonwire.Members(raw)
		for _, m := range members {
			checkNames(t.Elem(), m.Value, strategy.Key(at, m.Name), found)
		}
	case reflect.Slice, reflect.Array:
		list, _ := jsonwire.Elements(raw)
		for i, element := range list {
			checkNames(t.Elem(), element, strategy.Element(at, i), found)
		}
	default: // nothing inside has a name
	}
}

// fieldNames returns the names that JSON has for the fields of a struct, in
// their order.
func fieldNames(t reflect.Type) []string {
	if t.Kind() != reflect.Struct {
		return nil
	}
	var names []string
	for _, f := range fieldsOf(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, cmp.Or(name, f.Name))
	}
	return names
}

// fieldsOf returns the fields of a struct that JSON has, with those of structs
// that are embedded without a name of their own.
func fieldsOf(t reflect.Type) []reflect.StructField {
	var fields []reflect.StructField
	for _, f := range reflect.VisibleFields(t) {
		tag := f.Tag.Get("json")
		promotes := f.Anonymous && tag == "" && (f.Type.Kind() == reflect.Struct || f.Type.Kind() == reflect.Pointer)
		hidden := !f.IsExported() || tag == "-" || promotes
		for n := 1; n < len(f.Index); n++ {
			hidden = hidden || t.FieldByIndex(f.Index[:n]).Tag.Get("json") != ""
		}
		if !hidden {
			fields = append(fields, f)
		}
	}
	return fields
}
