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
	known, ok := formats[f]
	if !ok || known.codec().rules().record {
		return []Violation{{Rule: "format", Message: fmt.Sprintf("no API takes %s", f)}}
	}
	r := newReader(f, nil, settings{})
	r.read(body)
	return r.found
}

// fail keeps why a conversation cannot be read, if nothing was found before.
func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// wrong notes what the API refuses.
func (r *reader) wrong(path, rule, format string, args ...any) {
	r.found = append(r.found, Violation{path, rule, fmt.Sprintf(format, args...)})
}

// broken notes a value that the API refuses and that cannot be read either. The
// value is the subject of the sentence. With the rule "" the API takes it.
func (r *reader) broken(v rawjson.Value, path, rule, format string, args ...any) {
	if r.err == nil {
		r.err = v.Errorf(path, format, args...)
	}
	if rule != "" {
		r.wrong(path, rule, format, args...)
	}
}

// object reads an object, and reports whether v is one. Of a name that is given
// twice the first value counts.
func (r *reader) object(v rawjson.Value, path, rule string) (*rawjson.Object, bool) {
	if !v.IsObject() {
		r.broken(v, path, rule, "must be an object, got %s", v.Type())
		return &rawjson.Object{Value: v}, false
	}
	o, twice := v.Fields()
	for _, m := range twice {
		if r.err == nil {
			r.err = m.Value.Errorf(rawjson.Join(path, m.Name), "is given twice")
		}
		r.wrong(rawjson.Join(path, clip(m.Name)), "name-twice", "is given twice: programs disagree about which value counts")
	}
	return &o, true
}

// inner reads a member that must be an object.
func (r *reader) inner(o *rawjson.Object, path, name, rule string) (*rawjson.Object, bool) {
	v := o.Get(name)
	if v.IsZero() {
		r.broken(o.Value, rawjson.Join(path, name), rule, "must be an object, got null")
		return &rawjson.Object{Value: v}, false
	}
	return r.object(v, rawjson.Join(path, name), rule)
}

// member returns a member that must be a string, which may be empty.
func (r *reader) member(o *rawjson.Object, path, name, rule string) string {
	v := o.Get(name)
	switch {
	case v.IsNull():
		r.broken(o.Value, rawjson.Join(path, name), rule, "is required")
	case !v.IsString():
		r.broken(v, rawjson.Join(path, name), rule, "must be a string, got %s", v.Type())
	}
	return v.String()
}

// optional returns a member that must be a string if it is there.
func (r *reader) optional(o *rawjson.Object, path, name, rule string) string {
	if !o.Has(name) {
		return ""
	}
	return r.member(o, path, name, rule)
}

// want returns a member that the API wants as a string that is not empty, and
// reports whether it is one. Without it the conversation can be read.
func (r *reader) want(o *rawjson.Object, path, name, rule string) (string, bool) {
	v := o.Get(name)
	switch {
	case v.IsNull():
		r.wrong(rawjson.Join(path, name), rule, "is required")
	case !v.IsString():
		r.wrong(rawjson.Join(path, name), rule, "must be a string, got %s", v.Type())
	case v.String() == "":
		r.wrong(rawjson.Join(path, name), rule, "is empty")
	default:
		return v.String(), true
	}
	return "", false
}

// need is want for a member without which the conversation cannot be read.
func (r *reader) need(o *rawjson.Object, path, name, rule string) (string, bool) {
	r.member(o, path, name, "")
	return r.want(o, path, name, rule)
}

// role reads the role of a message, and reports whether it is one of the known.
func (r *reader) role(o *rawjson.Object, path string, known ...string) (string, bool) {
	role := o.Get("role").String()
	r.message().role = role
	switch {
	case slices.Contains(known, role):
		return role, true
	case !o.Get("role").IsString():
		r.member(o, path, "role", "role")
	default:
		r.broken(o.Get("role"), rawjson.Join(path, "role"), "role", "must be one of %s, got %s", strings.Join(known, ", "), quote(role))
	}
	return role, false
}

// spelled checks how a name or an id is spelled.
func (r *reader) spelled(s, path, rule string, f spelling) {
	if n := utf8.RuneCountInString(s); f.most > 0 && n > f.most {
		r.wrong(path, rule, "has %d characters, at most %d are allowed", n, f.most)
	} else if at := strings.IndexFunc(s, func(c rune) bool { return !word(c) && !strings.ContainsRune(f.extra, c) }); at >= 0 {
		c, _ := utf8.DecodeRuneInString(s[at:])
		r.wrong(path, rule, "has the character %q; letters, digits and any of %q are allowed", c, "_-"+f.extra)
	}
}

// openCalls are the calls that results must follow, in their order.
type openCalls struct {
	list []openCall
	at   map[string]int // by id
}

type openCall struct {
	id, path string
	answered bool
}

// open notes a call.
func (c *openCalls) open(id, path string) {
	if c.at == nil {
		c.at = map[string]int{}
	}
	c.at[id] = len(c.list)
	c.list = append(c.list, openCall{id: id, path: path})
}

// has reports whether there is a call of this id.
func (c *openCalls) has(id string) bool {
	_, ok := c.at[id]
	return ok
}

// answer notes the result of a call, whose id is at path. It reports whether it is
// the first.
func (c *openCalls) answer(r *reader, id, path string) bool {
	i, known := c.at[id]
	switch {
	case !known:
		r.wrong(path, "result-without-call", "there is no call %s that waits for its result", quote(id))
	case c.list[i].answered:
		r.wrong(path, "result-twice", "the call %s has a result already", quote(id))
	default:
		c.list[i].answered = true
		return true
	}
	return false
}

// close ends the place for results, where the API wants them.
func (c *openCalls) close(r *reader, wants string) {
	for _, call := range c.list {
		if !call.answered {
			r.wrong(call.path, "call-without-result", "the call %s has no result: %s", quote(call.id), wants)
		}
	}
	*c = openCalls{}
}

// spelling says how an identifier is spelled.
type spelling struct {
	extra string // characters other than ASCII letters, digits, _ and -
	most  int    // length in characters
}

func word(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
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
