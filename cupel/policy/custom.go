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
// A factory runs whenever a policy that uses it is read, validated or built,
// possibly in several goroutines at once; it should only check and build. Report
// mistakes in the settings with their paths, with [DecodeSettings] and
// [Invalid]. A panic becomes a problem of the policy, and so does a strategy
// that is nil or fails [cupel.ValidateScorer] or its counterpart for the role.
type Factory[S any] func(args Args[S]) (S, error)

// Args is what a [Factory] builds a strategy from.
type Args[S any] struct {
	// Settings is the JSON object in the policy, or nil if there is none.
	// [DecodeSettings] reads it.
	Settings json.RawMessage
	// Children are the built strategies that the new one wraps, in the order of
	// the policy. A factory that needs a certain number of them must check it.
	// A strategy that wraps others should implement [cupel.ScorerWrapper] or
	// [cupel.SlicerWrapper].
	Children []S
	// Clock is [Environment.Clock], or nil if there is none. It is stopped while
	// a policy is read or validated.
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

// factoryError says how a factory misbehaved.
type factoryError struct {
	reason string
	cause  error
}

func (e *factoryError) Error() string { return e.reason }

// Unwrap returns the error that the factory panicked with, or nil.
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

// readSettings returns the members of a custom strategy's settings, or the
// reason why they are invalid.
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

// DecodeSettings reads the settings of a custom strategy into a T, as strictly
// as a policy is read: a field that T, or a struct within it, does not have is
// an error that lists the fields that exist. Names are those of [encoding/json],
// but are compared exactly. A T that is not a struct, such as a map, takes any
// name. Absent (nil) settings give the zero T, and absent fields keep their zero
// values.
//
// It fails with a [ValidationError] that lists all mistakes. A [Factory] can
// return that error unchanged; the policy reports it with full paths.
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

// checkNames reports members, at any depth, that have no field in the structs of
// t. [encoding/json] neither lists the fields that exist nor compares names
// exactly. It skips types that read their own JSON.
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
		members, _ := jsonwire.Members(raw) // decoding reports a value that is not an object
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

// fieldNames returns the JSON names of a struct's fields, in order.
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

// fieldsOf returns the fields of a struct that appear in JSON, including those
// promoted from embedded structs without a JSON name.
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
