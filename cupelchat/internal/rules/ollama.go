package rules

import (
	"encoding/base64"
	"slices"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// Rules of Ollama alone.
const (
	ruleFieldType = "field-type" // the types of members
	ruleImage     = "image"      // images are in base64
)

// Ollama returns what Ollama's /api/chat refuses: values of another type than
// the server decodes them to. It does not ask for results of calls, and takes
// null for every member.
func Ollama(body []byte) []Violation {
	r, ok := parse(body, "messages")
	if !ok {
		return r.found
	}
	if r.body.at != nil {
		v := r.body.get("messages")
		if !v.IsNull() && !v.IsArray() {
			r.add("messages", ruleListType, "must be an array, got %s", v.Type())
			return r.found
		}
		r.messages = values(v)
	}
	for i, v := range r.messages {
		if v.IsNull() {
			continue
		}
		if o, ok := r.message(i); ok {
			r.ollamaMessage(o, r.path(i))
		}
	}
	return r.found
}

func (r *request) ollamaMessage(o object, path string) {
	r.strings(o, path, "role", "content", "thinking", "tool_name", "tool_call_id")
	images := o.get("images")
	if r.array(images, rawjson.Join(path, "images")) {
		for i, v := range values(images) {
			at := rawjson.Index(rawjson.Join(path, "images"), i)
			if !v.IsString() {
				numbers := v.IsArray() && !slices.ContainsFunc(values(v), func(n rawjson.Value) bool { return !n.IsNumber() && !n.IsNull() })
				if !v.IsNull() && !numbers { // an array of numbers, and of nulls, is taken as bytes
					r.add(at, ruleImage, "an image must be a string in base64, got %s", v.Type())
				}
			} else if _, err := base64.StdEncoding.DecodeString(v.String()); err != nil {
				r.add(at, ruleImage, "an image must be in base64, without the beginning of a data URL: %v", err)
			}
		}
	}
	calls := o.get("tool_calls")
	if r.array(calls, rawjson.Join(path, "tool_calls")) {
		for i, v := range values(calls) {
			r.ollamaCall(v, rawjson.Index(rawjson.Join(path, "tool_calls"), i))
		}
	}
}

func (r *request) ollamaCall(v rawjson.Value, path string) {
	o, ok := r.object(v, path)
	if !ok {
		if !v.IsNull() {
			r.add(path, ruleFieldType, "a call must be an object, got %s", v.Type())
		}
		return
	}
	r.strings(o, path, "id")
	path = rawjson.Join(path, "function")
	f := o.get("function")
	function, ok := r.object(f, path)
	if !ok {
		if !f.IsNull() {
			r.add(path, ruleFieldType, "function must be an object, got %s", f.Type())
		}
		return
	}
	r.strings(function, path, "name")
	if v := function.get("index"); !v.IsNull() && !v.IsNumber() {
		r.add(rawjson.Join(path, "index"), ruleFieldType, "index must be a number, got %s", v.Type())
	}
	if v := function.get("arguments"); !v.IsNull() && !v.IsObject() {
		r.add(rawjson.Join(path, "arguments"), ruleArguments, "arguments must be an object, got %s", v.Type())
	}
}

// strings requires that members are strings, if there are any.
func (r *request) strings(o object, path string, names ...string) {
	for _, name := range names {
		if v := o.get(name); !v.IsNull() && !v.IsString() {
			r.add(rawjson.Join(path, name), ruleFieldType, "%s must be a string, got %s", name, v.Type())
		}
	}
}

// array requires an array, and reports whether there is one.
func (r *request) array(v rawjson.Value, path string) bool {
	if !v.IsNull() && !v.IsArray() {
		r.add(path, ruleFieldType, "must be an array, got %s", v.Type())
	}
	return v.IsArray()
}
