package cupelchat

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
)

// Fit returns the parameters of a request with its messages fitted into a budget.
// They are a value that marshals to the format's JSON and back: a request or a
// list of messages of an SDK, a map, or [json.RawMessage]. If everything fits Fit
// returns params itself. Otherwise it returns a copy that shares what did not
// change, such as messages that stay as they are and fields outside of JSON. Only
// messages that change are made from JSON. Fit fails with an [Error] if their type
// does not keep what they say.
func Fit[T any](ctx context.Context, params T, f Format, chooser Chooser, budget cupel.ContextBudget, counter cupel.TokenCounter, opts ...Option) (T, error) {
	body, err := json.Marshal(params)
	if err != nil {
		return params, err
	}
	c, err := Read(body, f, counter, opts...)
	if err != nil {
		return params, err
	}
	w, err := c.Select(ctx, chooser, budget)
	if err != nil {
		return params, err
	}
	smaller, err := w.Body()
	if err != nil {
		return params, err
	}
	return Refit(params, body, smaller)
}

// Refit returns a copy of params, which marshal to the JSON before, that marshals to
// after, and shares what is the same in both, as [Fit] does. It fails with an
// [Error] if the type does not keep what after says.
func Refit[T any](params T, before, after []byte) (T, error) {
	if bytes.Equal(before, after) {
		return params, nil
	}
	fitted := params
	if err := refit(reflect.ValueOf(&fitted).Elem(), before, after); err != nil {
		return params, err
	}
	return fitted, nil
}

// refit makes v, which marshals to before, marshal to after.
func refit(v reflect.Value, before, after []byte) error {
	if v.Kind() == reflect.Interface && !v.IsNil() {
		held := reflect.New(v.Elem().Type()).Elem()
		held.Set(v.Elem())
		err := refit(held, before, after)
		v.Set(held)
		return err
	}
	decoded := reflect.New(v.Type())
	if err := json.Unmarshal(after, decoded.Interface()); err != nil {
		return fmt.Errorf("cupel: %s cannot hold the messages that fit: %w", v.Type(), err)
	}
	// A type may marshal something else than its fields, such as a text that it
	// was made from. What was only decoded is right then.
	merged := reflect.New(v.Type()).Elem()
	merged.Set(decoded.Elem())
	merge(merged, v, before, after)
	var lost string
	for _, candidate := range []reflect.Value{merged, decoded.Elem()} {
		got, err := json.Marshal(candidate.Interface())
		if err != nil {
			return err
		}
		if lost = difference(got, after); lost == "" {
			v.Set(candidate)
			return nil
		}
	}
	return &Error{Path: lost, Reason: fmt.Sprintf("is lost between JSON and the type %s; give its JSON to Read instead, and send what Body returns", v.Type())}
}

// merge puts what is the same before and after from old into the value decoded
// from after. It changes nothing that old refers to.
func merge(decoded, old reflect.Value, before, after []byte) {
	if bytes.Equal(before, after) {
		decoded.Set(old)
		return
	}
	switch decoded.Kind() {
	case reflect.Pointer:
		if !decoded.IsNil() && !old.IsNil() {
			merge(decoded.Elem(), old.Elem(), before, after)
		}
	case reflect.Struct:
		was, is := members(before), members(after)
		if was == nil || is == nil {
			return
		}
		whole := reflect.New(old.Type()).Elem()
		whole.Set(old)
		for i := range old.NumField() {
			field := old.Type().Field(i)
			name, embedded := jsonName(field)
			switch {
			case embedded:
				merge(decoded.Field(i), old.Field(i), before, after)
			case name == "" || bytes.Equal(was[name], is[name]):
				continue
			default:
				merge(decoded.Field(i), old.Field(i), was[name], is[name])
			}
			whole.Field(i).Set(decoded.Field(i))
		}
		decoded.Set(whole)
	case reflect.Map:
		was, is := members(before), members(after)
		if was == nil || is == nil || decoded.Type().Key().Kind() != reflect.String {
			return
		}
		for _, key := range decoded.MapKeys() {
			name := key.String()
			if from := old.MapIndex(key); from.IsValid() && was[name] != nil && is[name] != nil {
				to := reflect.New(from.Type()).Elem()
				to.Set(decoded.MapIndex(key))
				merge(to, from, was[name], is[name])
				decoded.SetMapIndex(key, to)
			}
		}
	case reflect.Interface:
		if decoded.IsNil() || old.IsNil() {
			return
		}
		to := reflect.New(old.Elem().Type())
		if json.Unmarshal(after, to.Interface()) == nil {
			merge(to.Elem(), old.Elem(), before, after)
			decoded.Set(to.Elem())
		}
	case reflect.Slice:
		var was, is []json.RawMessage
		if json.Unmarshal(before, &was) != nil || json.Unmarshal(after, &is) != nil || len(was) != old.Len() || len(is) != decoded.Len() {
			return
		}
		next := 0
		for i := range is {
			for j := next; j < len(was); j++ {
				if bytes.Equal(is[i], was[j]) {
					decoded.Index(i).Set(old.Index(j))
					next = j + 1
					break
				}
			}
		}
	default: // a single value, or one that says itself what it marshals to
	}
}

// members returns the members of an object, or nil if the text is none.
func members(text []byte) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(text, &m) != nil {
		return nil
	}
	return m
}

// jsonName returns the name of a field in JSON, or "" if it has none, and whether
// its own fields are in its place.
func jsonName(field reflect.StructField) (name string, embedded bool) {
	name, _, _ = strings.Cut(field.Tag.Get("json"), ",")
	switch {
	case !field.IsExported() || name == "-":
		return "", false
	case name != "":
		return name, false
	}
	return field.Name, field.Anonymous
}

// difference returns where two texts of JSON say different things, or "". What is
// empty may be missing.
func difference(got, want []byte) string {
	var values [2]any
	for i, text := range [][]byte{got, want} {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&values[i]); err != nil {
			return "body"
		}
	}
	return differ(values[0], values[1], "")
}

func differ(got, want any, path string) string {
	here := strings.TrimPrefix(path, ".")
	if here == "" {
		here = "body"
	}
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok && !omissible(want) {
			return here
		}
		for _, name := range slices.Sorted(maps.Keys(want)) { // the error is the same each time
			if found := differ(object[name], want[name], path+"."+name); found != "" {
				return found
			}
		}
		return ""
	case []any:
		list, ok := got.([]any)
		if !ok && !omissible(want) || len(list) != len(want) {
			return here
		}
		for i, value := range want {
			if found := differ(list[i], value, fmt.Sprintf("%s[%d]", path, i)); found != "" {
				return found
			}
		}
		return ""
	case json.Number:
		number, ok := got.(json.Number)
		if !ok && !omissible(want) || ok && !sameNumber(number, want) {
			return here
		}
		return ""
	}
	if got != want && !(omissible(got) && omissible(want)) {
		return here
	}
	return ""
}

// sameNumber reports whether two numbers are equal. Those that a float64 may not
// tell apart must be spelled in the same way.
func sameNumber(a, b json.Number) bool {
	const exact = 1 << 53
	x, errX := a.Float64()
	y, errY := b.Float64()
	return a == b || errX == nil && errY == nil && x == y && -exact < x && x < exact
}

// omissible reports whether a value is one that omitempty leaves out.
func omissible(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case json.Number:
		return sameNumber(v, "0")
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}
