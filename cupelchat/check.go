package cupelchat

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// Violation is something in the body of a request that the API refuses.
type Violation struct {
	// Path is where it is, such as "messages[3].tool_calls[0].id". It is empty
	// for the body as a whole.
	Path string
	// Rule is the name of the rule, such as "call-without-result". The rules of
	// each API, what it answers, and where that is written are in
	// docs/chat-rules.md.
	Rule string
	// Message says what is wrong and what the API wants.
	Message string
}

// String returns the violation on one line.
func (v Violation) String() string {
	if v.Path == "" {
		return fmt.Sprintf("%s (%s)", v.Message, v.Rule)
	}
	return fmt.Sprintf("%s: %s (%s)", v.Path, v.Message, v.Rule)
}

// Check returns what the API of a format refuses in a body: a request, an array
// of its messages, or one message per line. It looks at the conversation and the
// system prompt, not at parameters such as the model; what an API knows but a
// body does not show, such as whether a signature is genuine, it takes. It
// returns nothing for a body that the API takes, and takes time linear in the
// size of the body. A format that only records have is never sent, and its only
// violation is that.
//
// Every result of [Window.Body] passes, unless the conversation that was read
// fails for the same rule.
func Check(body []byte, f Format) []Violation {
	api, ok := formats[f].codec.(checked)
	if !ok {
		return []Violation{{Rule: "format", Message: fmt.Sprintf("no API takes %s", f)}}
	}
	r := &checker{list: api.list()}
	if r.parse(body) {
		api.check(r)
	}
	return r.found
}

// checked is a codec of an API, which refuses some conversations.
type checked interface {
	codec
	check(r *checker)
}

// checker is a body that is being checked.
type checker struct {
	found    []Violation
	list     string         // the name of the member that holds the messages
	body     rawjson.Object // the request, or the zero Object for a list of messages
	messages []rawjson.Value
}

// add notes a violation.
func (r *checker) add(path, rule, format string, args ...any) {
	r.found = append(r.found, Violation{path, rule, fmt.Sprintf(format, args...)})
}

// object reads an object, and reports whether v is one. Of a name that is given
// twice the first value counts.
func (r *checker) object(v rawjson.Value, path string) (*rawjson.Object, bool) {
	o, twice := v.Fields()
	for _, m := range twice {
		r.add(rawjson.Join(path, clip(m.Name)), "name-twice", "the name is given twice: programs disagree about which value counts")
	}
	return &o, v.IsObject()
}

// values returns the elements of an array.
func values(v rawjson.Value) []rawjson.Value {
	parts := v.Elements()
	list := make([]rawjson.Value, len(parts))
	for i, p := range parts {
		list[i] = p.Value
	}
	return list
}

// parse reads a body, and reports whether there is more to check.
func (r *checker) parse(body []byte) bool {
	_, v, lines, err := split(body)
	switch {
	case err != nil:
		r.add("", "syntax", "%v", err)
		return false
	case v.IsZero():
		for _, l := range lines {
			r.messages = append(r.messages, l.Value)
		}
	case v.IsArray():
		r.messages = values(v)
	case v.IsObject():
		o, _ := r.object(v, "")
		r.body = *o
	default:
		r.add("", "body-type", "the body must be an object or an array of messages, got %s", v.Type())
		return false
	}
	return true
}

// isRequest reports whether the body is a request, and not its messages alone.
func (r *checker) isRequest() bool { return !r.body.Value.IsZero() }

// readList reads the messages of a request, and reports whether there are any.
func (r *checker) readList() bool {
	if r.isRequest() {
		v := r.body.Get(r.list)
		switch {
		case v.IsNull():
			r.add(r.list, "list-required", "the list of messages is missing")
			return false
		case !v.IsArray():
			r.add(r.list, "list-type", "must be an array, got %s", v.Type())
			return false
		}
		r.messages = values(v)
	}
	if len(r.messages) == 0 {
		r.add(r.list, "list-empty", "at least one message is required")
		return false
	}
	return true
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

// path returns the path of a message.
func (r *checker) path(i int) string { return rawjson.Index(r.list, i) }

// message reads a message of the list.
func (r *checker) message(i int) (*rawjson.Object, bool) {
	o, ok := r.object(r.messages[i], r.path(i))
	if !ok {
		r.add(r.path(i), "message-type", "a message must be an object, got %s", r.messages[i].Type())
	}
	return o, ok
}

// role reads the role of a message, and reports whether it is one of the known.
func (r *checker) role(o *rawjson.Object, path string, known ...string) (string, bool) {
	v := o.Get("role")
	role := v.String()
	if slices.Contains(known, role) {
		return role, true
	}
	got := "none"
	if v.IsString() {
		got = quote(role)
	} else if !v.IsNull() {
		got = v.Type()
	}
	r.add(rawjson.Join(path, "role"), "role", "the role must be one of %s, got %s", strings.Join(known, ", "), got)
	return role, false
}

// str requires a string that is not empty.
func (r *checker) str(o *rawjson.Object, path, name, rule string) (string, bool) {
	v := o.Get(name)
	switch {
	case v.IsNull():
		r.add(rawjson.Join(path, name), rule, "%s is required", name)
	case !v.IsString():
		r.add(rawjson.Join(path, name), rule, "%s must be a string, got %s", name, v.Type())
	case v.String() == "":
		r.add(rawjson.Join(path, name), rule, "%s is empty", name)
	default:
		return v.String(), true
	}
	return "", false
}

// spelling says how an identifier is spelled.
type spelling struct {
	extra string // characters other than ASCII letters, digits, _ and -
	most  int    // length in characters
}

// id requires a string of that form.
func (r *checker) id(o *rawjson.Object, path, name, rule string, f spelling) (string, bool) {
	s, ok := r.str(o, path, name, rule)
	if !ok {
		return "", false
	}
	path = rawjson.Join(path, name)
	if n := utf8.RuneCountInString(s); f.most > 0 && n > f.most {
		r.add(path, rule, "%s has %d characters, at most %d are allowed", name, n, f.most)
	} else if at := strings.IndexFunc(s, func(c rune) bool { return !word(c) && !strings.ContainsRune(f.extra, c) }); at >= 0 {
		c, _ := utf8.DecodeRuneInString(s[at:])
		r.add(path, rule, "%s has the character %q; letters, digits, _, -%s are allowed", name, c, spaced(f.extra))
	}
	return s, true
}

func word(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

func spaced(characters string) string {
	var b strings.Builder
	for _, c := range characters {
		b.WriteString(", ")
		b.WriteRune(c)
	}
	return b.String()
}

// blank reports whether a text has white space only.
func blank(text string) bool { return strings.TrimSpace(text) == "" }

// quote quotes a text that the body holds, which may be long.
func quote(text string) string { return fmt.Sprintf("%q", clip(text)) }

// clip shortens a text for a path or a message.
func clip(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
