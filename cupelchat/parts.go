package cupelchat

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// The tokens of media, unless WithMediaTokens is given.
const (
	openAIImageTokens    = 765  // 1024 by 1024 pixels in high detail
	openAILowImageTokens = 85   // in low detail
	geminiImageTokens    = 258  // of a tile of 768 by 768 pixels
	anthropicImageTokens = 1600 // the maximum: larger images are scaled down
	audioTokens          = 600  // a minute
	fileTokens           = 3000 // a page or two of a PDF
)

// content reads the content of a message: null, a text, or a list of parts.
func (r *reader) content(v rawjson.Value, path, rule string, read func(v rawjson.Value, path string)) {
	switch {
	case v.IsNull():
	case v.IsString():
		r.current().words = true
		r.say(v)
	case v.IsArray():
		r.each(v, path, read)
	default:
		r.broken(v, path, rule, "must be a string or an array of parts, got %s", v.Type())
	}
}

// each reads the elements of a list of parts, and returns how many there are. The
// list and the place of each part are kept, so that the writer can change or drop
// them.
func (r *reader) each(list rawjson.Value, path string, read func(v rawjson.Value, path string)) int {
	m := r.message()
	parts := list.Elements()
	m.lists = append(m.lists, parts)
	outer, number := r.place, len(m.lists)-1
	r.depth++
	for i, p := range parts {
		r.place = place{number, i}
		if r.depth > deepest {
			r.unknownPart("part of parts", p.Value)
			continue
		}
		read(p.Value, rawjson.Index(path, i))
	}
	r.place = outer
	r.depth--
	return len(parts)
}

// results reads a message in which each result of a tool is an entry, and
// everything else together is one of the user's.
func (r *reader) results(list rawjson.Value, path string, isResult func(o *rawjson.Object) bool, read func(v rawjson.Value, path string)) {
	own := none // the entry of what is not a result
	var owners []int
	r.each(list, path, func(v rawjson.Value, path string) {
		if o, _ := v.Fields(); isResult(&o) {
			r.entry("tool")
			owners = append(owners, r.at)
			read(v, path)
			return
		}
		if own == none {
			r.entry("user").asks = true
			own = r.at
		}
		owners, r.at = append(owners, own), own
		read(v, path)
	})
	r.message().owners = owners
}

// sayMember adds the words that a member says.
func (r *reader) sayMember(o *rawjson.Object, path, name string) {
	r.member(o, path, name, "part-field")
	r.say(o.Get(name))
}

// sayOptional adds the words that a member says, if it is there and not empty.
func (r *reader) sayOptional(o *rawjson.Object, path, name, rule string) {
	if r.optional(o, path, name, rule) != "" {
		r.say(o.Get(name))
	}
}

// keepMember adds the text of a member that stays as it is.
func (r *reader) keepMember(o *rawjson.Object, path, name, rule string) {
	r.keep(r.member(o, path, name, rule))
}

// tools reads the definitions of tools, which cost some tokens more.
func (r *reader) tools(body *rawjson.Object, more int, names ...string) {
	for _, m := range body.Members {
		if slices.Contains(names, m.Name) && len(m.Value.Elements())+len(m.Value.Members()) > 0 {
			r.beginMember(m, "tools")
			r.spend(more)
			r.keepJSON(m.Value)
		}
	}
}

// system reads a system prompt that is a member of the request.
func (r *reader) system(body *rawjson.Object, read func(m rawjson.Part), names ...string) {
	for _, m := range body.Members {
		if slices.Contains(names, m.Name) && !m.Value.IsNull() {
			r.beginMember(m, "system")
			r.current().words = true
			read(m)
		}
	}
}

// firstOf returns the first of the names that the object has, and its value. It
// returns the first name if there is none.
func firstOf(o *rawjson.Object, names ...string) (string, rawjson.Value) {
	for _, name := range names {
		if o.Has(name) {
			return name, o.Get(name)
		}
	}
	return names[0], rawjson.Value{}
}

// empty returns the error for a message that says nothing.
func empty(o *rawjson.Object, path string) error {
	if o.Get("parts").IsArray() {
		return o.Get("parts").Errorf(rawjson.Join(path, "parts"), "looks like a message of the AI SDK or of Gemini; this format has \"content\": convert the messages first (AI SDK: convertToModelMessages)")
	}
	return o.Value.Errorf(path, "has neither content nor tool calls; remove it")
}

// quoted returns a text as JSON.
func quoted(text string) []byte {
	var b bytes.Buffer
	w := json.NewEncoder(&b)
	w.SetEscapeHTML(false)
	if err := w.Encode(text); err != nil {
		return []byte(`""`) // a string can always be written
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// textBlock returns a part of a type that says a text.
func textBlock(kind, text string) []byte {
	return slices.Concat([]byte(`{"type": "`+kind+`", "text": `), quoted(text), []byte("}"))
}
