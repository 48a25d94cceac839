package cupelchat

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/internal/rawjson"
)

// Request is a request that fits, made by [Fit].
type Request[T any] struct {
	// Params are the parameters to send. Do not build on them: append later
	// messages to the parameters that Fit was given, which are complete.
	Params T
	// Body is the JSON of Params, with members in the order of the conversation.
	Body json.RawMessage
	// Report explains why each item is in or out.
	Report *cupel.SelectionReport
	// Notes are the notes of [Conversation.Notes] and of [Window].
	Notes []string
}

// Fit returns a request with the messages of params fitted into a budget. params
// marshal to the format's JSON and back: a request or a list of messages of an SDK, a
// map, or [json.RawMessage]. If everything fits, the request has params themselves.
// Otherwise it has a copy that shares everything unchanged, such as messages that
// stay as they are and fields outside of JSON. Only messages that change are decoded
// from JSON. Fit fails with an [Error] if their type loses content in doing so, and
// as [Read] and [Conversation.Select] do.
func Fit[T any](ctx context.Context, params T, f Format, chooser Chooser, budget cupel.ContextBudget, counter cupel.TokenCounter, opts ...Option) (Request[T], error) {
	var none Request[T]
	body, err := json.Marshal(params)
	if err != nil {
		return none, err
	}
	c, err := Read(body, f, counter, opts...)
	if err != nil {
		return none, err
	}
	w, err := c.Select(ctx, chooser, budget)
	if err != nil {
		return none, err
	}
	smaller, err := w.Body()
	if err != nil {
		return none, err
	}
	fitted, err := Refit(c, params, smaller)
	if err != nil {
		return none, err
	}
	return Request[T]{fitted, smaller, w.Report, append(c.Notes(), w.Notes...)}, nil
}

// Refit returns a copy of params that marshals to the JSON after; params marshal to the
// body that c was read from. The copy shares everything that is equal in both, as in
// [Fit]. Refit fails with an [Error] if the type loses content of after.
func Refit[T any](c *Conversation, params T, after []byte) (T, error) {
	if c.isMissing() {
		return params, errNil
	}
	if bytes.Equal(c.source, after) {
		return params, nil
	}
	m := &merging{made: map[string]reflect.Value{}}
	was, errWas := m.read(c)
	is, errIs := rawjson.Text(after).Value()
	if err := errors.Join(errWas, errIs); err != nil {
		return params, err
	}
	// A type may marshal something other than its fields, such as a text that
	// it was made from. Decoding the whole value is right then.
	var lost string
	deep := *m
	deep.made, deep.deep = map[string]reflect.Value{}, true
	for _, change := range []func(v reflect.Value, before, after rawjson.Value) error{m.merge, deep.merge, replace} {
		fitted := params
		if err := change(reflect.ValueOf(&fitted).Elem(), was, is); err != nil {
			return params, err
		}
		if keeps(m, params, was, is) {
			return fitted, nil
		}
		m.kept = rawjson.Edits{}
		got, err := json.Marshal(fitted)
		if err != nil {
			return params, err
		}
		if lost = difference(got, after); lost == "" {
			return fitted, nil
		}
	}
	return params, &Error{Path: lost, Reason: fmt.Sprintf("is lost between JSON and the type %T; "+instead, params)}
}

// instead is the advice for a type that loses content of its JSON.
const instead = "give its JSON to Read instead, and send what Body returns"

// replace makes v from JSON. The value in an interface keeps its type if the
// type can hold the JSON.
func replace(v reflect.Value, _, after rawjson.Value) error {
	if v.Kind() == reflect.Interface && !v.IsNil() {
		held := reflect.New(v.Elem().Type()).Elem()
		if replace(held, rawjson.Value{}, after) == nil {
			v.Set(held)
			return nil
		}
	}
	decoded := reflect.New(v.Type())
	if err := json.Unmarshal(after.Raw(), decoded.Interface()); err != nil {
		return &Error{Reason: fmt.Sprintf("the type %s cannot hold the messages that fit; "+instead, v.Type()), Err: err}
	}
	v.Set(decoded.Elem())
	return nil
}

// merging makes copies of a value that marshal to other JSON.
type merging struct {
	made  map[string]reflect.Value // elements of lists, by their JSON
	kept  rawjson.Edits            // take the other elements out of the JSON
	again bool                     // only elements that were made are left
	whole bool                     // something was made as a whole after its parts were merged
	deep  bool                     // elements of lists are merged with those in their places

	// The conversation as it was read: the request, and the list of its messages. Both
	// may be of an earlier text, which the conversation continues.
	request, list rawjson.Value
	members       rawjson.Object
	messages      []rawjson.Part
}

// read returns the JSON of a conversation. It takes what Read found there, unless Read
// changed the body.
func (m *merging) read(c *Conversation) (rawjson.Value, error) {
	if c.value.IsZero() || !bytes.Equal(c.source, c.text) {
		return rawjson.Text(c.source).Value()
	}
	m.request, m.list, m.members = c.value, c.value, c.body
	if c.value.IsObject() {
		m.list = c.body.Get(c.rules.list)
	}
	m.messages = make([]rawjson.Part, 0, len(c.messages))
	for i := range c.messages {
		if c.messages[i].member == "" {
			m.messages = append(m.messages, c.messages[i].raw)
		}
	}
	return c.value, nil
}

// same reports whether two values are the same place of a text.
func same(a, b rawjson.Value) bool {
	return !a.IsZero() && !b.IsZero() && &a.Raw()[0] == &b.Raw()[0]
}

// fields returns the members of an object.
func (m *merging) fields(v rawjson.Value) rawjson.Object {
	if same(v, m.request) {
		return m.members
	}
	o, _ := v.Fields()
	return o
}

// parts returns the elements of a list, or nil if they are not needed again.
func (m *merging) parts(list rawjson.Value) []rawjson.Part {
	switch {
	case m.again:
		return nil
	case same(list, m.list):
		return m.messages
	}
	return list.Elements()
}

// keeps reports whether a merged value marshals to the JSON that it should. It skips
// the elements of lists that were kept: they are the same values as before.
func keeps[T any](m *merging, params T, before, after rawjson.Value) bool {
	if m.whole || m.kept.Empty() {
		return false
	}
	small := m.kept.Outer(rawjson.Whole(after))
	is, err := rawjson.Text(small).Value()
	m.again = true
	if err != nil || m.merge(reflect.ValueOf(&params).Elem(), before, is) != nil {
		return false
	}
	got, err := json.Marshal(params)
	return err == nil && difference(got, small) == ""
}

// merge changes v, which marshals to before, where after differs. It changes nothing
// that v refers to, and decodes only the parts that are not there.
func (m *merging) merge(v reflect.Value, before, after rawjson.Value) error {
	if !same(before, m.request) && !same(before, m.list) && bytes.Equal(before.Raw(), after.Raw()) {
		return nil
	}
	objects := before.IsObject() && after.IsObject()
	switch {
	case v.Kind() == reflect.Interface && !v.IsNil():
		held := reflect.New(v.Elem().Type()).Elem()
		held.Set(v.Elem())
		if m.merge(held, before, after) == nil {
			v.Set(held)
			return nil
		}
		m.whole = true
	case v.Kind() == reflect.Pointer && !v.IsNil():
		pointed := reflect.New(v.Type().Elem())
		pointed.Elem().Set(v.Elem())
		v.Set(pointed)
		return m.merge(pointed.Elem(), before, after)
	case v.Kind() == reflect.Struct && objects:
		return m.mergeFields(v, before, after)
	case v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String && objects:
		return m.mergeMap(v, before, after)
	case v.Kind() == reflect.Slice && before.IsArray() && after.IsArray():
		was := m.parts(before)
		if m.again || len(was) == v.Len() {
			return m.mergeList(v, was, after.Elements())
		}
	}
	return replace(v, before, after)
}

func (m *merging) mergeFields(v reflect.Value, before, after rawjson.Value) error {
	was, is := m.fields(before), m.fields(after)
	for i := range v.NumField() {
		name, embedded := jsonName(v.Type().Field(i))
		from, to := was.Get(name), is.Get(name)
		switch {
		case embedded && v.Field(i).Kind() == reflect.Pointer && v.Field(i).IsNil():
			continue // one of the types that the value could have had
		case embedded:
			from, to = before, after
		case name == "":
			continue
		case to.IsZero() && !from.IsZero():
			v.Field(i).SetZero()
			continue
		}
		if err := m.merge(v.Field(i), from, to); err != nil {
			return err
		}
	}
	return nil
}

func (m *merging) mergeMap(v reflect.Value, before, after rawjson.Value) error {
	was := m.fields(before)
	merged := reflect.MakeMap(v.Type())
	for _, member := range after.Members() {
		key := reflect.ValueOf(member.Name).Convert(v.Type().Key())
		value := reflect.New(v.Type().Elem()).Elem()
		change := replace
		if old := v.MapIndex(key); old.IsValid() {
			value.Set(old)
			change = m.merge
		}
		if err := change(value, was.Get(member.Name), member.Value); err != nil {
			return err
		}
		merged.SetMapIndex(key, value)
	}
	v.Set(merged)
	return nil
}

func (m *merging) mergeList(v reflect.Value, was, is []rawjson.Part) error {
	merged, kept := reflect.MakeSlice(v.Type(), len(is), len(is)), make([]bool, len(is))
	places := make(map[uint64][]int, len(is)) // in was, by hashes, which copy no text
	keys := make([]uint64, len(is))
	for i := range is {
		keys[i] = maphash.Bytes(hashes, is[i].Value.Raw())
		places[keys[i]] = nil
	}
	for i := range was {
		key := maphash.Bytes(hashes, was[i].Value.Raw())
		if list, sought := places[key]; sought {
			places[key] = append(list, i)
		}
	}
	next := 0
	for i, key := range keys {
		raw, to := is[i].Value.Raw(), merged.Index(i)
		for len(places[key]) > 0 && places[key][0] < next {
			places[key] = places[key][1:]
		}
		made, again := m.made[string(raw)]
		switch {
		case len(places[key]) > 0 && bytes.Equal(was[places[key][0]].Value.Raw(), raw):
			next, kept[i] = places[key][0]+1, true
			to.Set(v.Index(next - 1))
			continue
		case again && made.Type() == to.Type():
			to.Set(made)
			continue
		}
		var err error
		if m.deep && len(was) == len(is) {
			next = max(next, i+1)
			to.Set(v.Index(i))
			err = m.merge(to, was[i].Value, is[i].Value)
		} else {
			err = replace(to, rawjson.Value{}, is[i].Value)
		}
		if err != nil {
			return err
		}
		m.made[string(raw)] = to
	}
	v.Set(merged)
	m.kept.Drop(is, func(i int) bool { return kept[i] })
	return nil
}

// jsonName returns the name of a field in JSON, or "" if it has none, and whether
// its own fields replace it.
func jsonName(field reflect.StructField) (name string, embedded bool) {
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	switch {
	case !field.IsExported() || name == "-":
		return "", false
	case name != "":
		return name, false
	}
	return field.Name, field.Anonymous || slices.Contains(strings.Split(options, ","), "inline")
}

// difference returns the first place where two texts of JSON differ in meaning,
// or "". Empty values may be missing.
func difference(got, want []byte) string {
	one, errOne := rawjson.Text(got).Value()
	other, errOther := rawjson.Text(want).Value()
	if errOne != nil || errOther != nil {
		return "body"
	}
	return differ(one, other, "")
}

func differ(got, want rawjson.Value, path string) string {
	switch {
	case bytes.Equal(got.Raw(), want.Raw()), omissible(got) && omissible(want):
		return ""
	case got.IsObject() && want.IsObject():
		has, _ := got.Fields()
		for _, m := range want.Members() {
			if found := differ(has.Get(m.Name), m.Value, rawjson.Join(path, m.Name)); found != "" {
				return found
			}
		}
		return ""
	case got.IsArray() && want.IsArray():
		list := got.Elements()
		if len(list) != len(want.Elements()) {
			break
		}
		for i, part := range want.Elements() {
			if found := differ(list[i].Value, part.Value, rawjson.Index(path, i)); found != "" {
				return found
			}
		}
		return ""
	case got.IsString() && want.IsString() && got.String() == want.String(),
		got.IsNumber() && want.IsNumber() && sameNumber(got, want):
		return ""
	}
	return cmp.Or(path, "body")
}

// sameNumber reports whether two numbers are equal. Those that a float64 may not
// tell apart must be spelled in the same way.
func sameNumber(a, b rawjson.Value) bool {
	const exact = 1 << 53
	x, errX := strconv.ParseFloat(string(a.Raw()), 64)
	y, errY := strconv.ParseFloat(string(b.Raw()), 64)
	return errX == nil && errY == nil && x == y && -exact < x && x < exact
}

// omissible reports whether a value is one that omitempty leaves out.
func omissible(v rawjson.Value) bool {
	switch raw := string(v.Raw()); {
	case v.IsNull(), raw == "false", raw == `""`:
		return true
	case v.IsNumber():
		n, err := strconv.ParseFloat(raw, 64)
		return err == nil && n == 0
	}
	return (v.IsArray() || v.IsObject()) && len(v.Elements())+len(v.Members()) == 0
}
