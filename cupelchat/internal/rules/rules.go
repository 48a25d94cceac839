// Package rules knows what the APIs of language models refuse in a conversation.
//
// There is a function for each API. The rules, with what each API answers and
// where that is written, are in docs/chat-rules.md. The package looks at JSON
// only; it shares no code with what reads and writes conversations.
package rules

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// Violation is one thing that an API refuses.
type Violation struct {
	Path    string // of the value, such as "messages[3].role", or "" for the body
	Rule    string // its name in docs/chat-rules.md
	Message string // what is wrong, and what the API wants
}

// The rules that are the same for every API. Those of one API are in its file.
const (
	ruleSyntax       = "syntax"        // the body is JSON
	ruleNameTwice    = "name-twice"    // names of an object are unique
	ruleBodyType     = "body-type"     // the body is a request or its messages
	ruleListRequired = "list-required" // there are messages
	ruleListType     = "list-type"     // the messages are an array
	ruleListEmpty    = "list-empty"    // there is at least one
	ruleMessageType  = "message-type"  // a message is an object
)

// The rules that several APIs have.
const (
	ruleRole              = "role"
	ruleFirstRole         = "first-role"
	ruleLastRole          = "last-role"
	ruleAlternation       = "alternation"
	ruleContentRequired   = "content-required"
	ruleContentType       = "content-type"
	ruleContentEmpty      = "content-empty"
	rulePartType          = "part-type"
	rulePartField         = "part-field"
	rulePartRole          = "part-role"
	ruleTextEmpty         = "text-empty"
	ruleTextBlank         = "text-blank"
	ruleCallForm          = "call-form"
	ruleCallID            = "call-id"
	ruleCallName          = "call-name"
	ruleArguments         = "arguments"
	ruleCallIDTwice       = "call-id-twice"
	ruleCallsEmpty        = "calls-empty"
	ruleCallWithoutResult = "call-without-result"
	ruleResultWithoutCall = "result-without-call"
	ruleResultTwice       = "result-twice"
	ruleResultID          = "result-id"
	ruleResultContent     = "result-content"
	ruleCacheLimit        = "cache-limit"
	ruleSystem            = "system"
)

// request is a body that is being checked.
type request struct {
	found    []Violation
	list     string // the name of the member that holds the messages
	body     object // the members of a request, or the zero object
	messages []rawjson.Value
}

// add notes a violation.
func (r *request) add(path, rule, format string, args ...any) {
	r.found = append(r.found, Violation{path, rule, fmt.Sprintf(format, args...)})
}

// object is a JSON object. If a name is given twice, its first value counts.
type object struct {
	members []rawjson.Part
	at      map[string]int
}

// get returns a member, or the zero value, which is null.
func (o object) get(name string) rawjson.Value {
	if i, ok := o.at[name]; ok {
		return o.members[i].Value
	}
	return rawjson.Value{}
}

// has reports whether there is a member that is not null.
func (o object) has(name string) bool { return !o.get(name).IsNull() }

// first returns the first of the names that the object has, and its value. It
// returns the first name if there is none.
func (o object) first(names ...string) (string, rawjson.Value) {
	for _, name := range names {
		if o.has(name) {
			return name, o.get(name)
		}
	}
	return names[0], rawjson.Value{}
}

// object reads an object, and reports whether v is one.
func (r *request) object(v rawjson.Value, path string) (object, bool) {
	if !v.IsObject() {
		return object{}, false
	}
	o := object{members: v.Members()}
	o.at = make(map[string]int, len(o.members))
	for i, m := range o.members {
		if _, twice := o.at[m.Name]; twice {
			r.add(rawjson.Join(path, clip(m.Name)), ruleNameTwice, "the name is given twice: programs disagree about which value counts")
			continue
		}
		o.at[m.Name] = i
	}
	return o, true
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

// parse reads a body: a request whose member list holds the messages, an array
// of messages, or one message per line. It returns false if there is nothing
// more to check.
func parse(body []byte, list string) (*request, bool) {
	r := &request{list: list}
	text, err := rawjson.NewText(body)
	if err != nil {
		r.add("", ruleSyntax, "%v", err)
		return r, false
	}
	v, err := text.Value()
	if err != nil {
		lines, linesErr := text.Lines()
		if linesErr != nil || len(lines) == 0 {
			r.add("", ruleSyntax, "%v", err)
			return r, false
		}
		for _, l := range lines {
			r.messages = append(r.messages, l.Value)
		}
		return r, true
	}
	if v.IsArray() {
		r.messages = values(v)
		return r, true
	}
	o, ok := r.object(v, "")
	if !ok {
		r.add("", ruleBodyType, "the body must be an object or an array of messages, got %s", v.Type())
		return r, false
	}
	r.body = o
	return r, true
}

// readList reads the messages of a request, and reports whether there are any.
func (r *request) readList() bool {
	if r.body.at != nil {
		v := r.body.get(r.list)
		switch {
		case v.IsNull():
			r.add(r.list, ruleListRequired, "the list of messages is missing")
			return false
		case !v.IsArray():
			r.add(r.list, ruleListType, "must be an array, got %s", v.Type())
			return false
		}
		r.messages = values(v)
	}
	if len(r.messages) == 0 {
		r.add(r.list, ruleListEmpty, "at least one message is required")
		return false
	}
	return true
}

// path returns the path of a message.
func (r *request) path(i int) string { return rawjson.Index(r.list, i) }

// message reads a message of the list.
func (r *request) message(i int) (object, bool) {
	o, ok := r.object(r.messages[i], r.path(i))
	if !ok {
		r.add(r.path(i), ruleMessageType, "a message must be an object, got %s", r.messages[i].Type())
	}
	return o, ok
}

// role reads the role of a message, and reports whether it is one of the known.
func (r *request) role(o object, path string, known ...string) (string, bool) {
	v := o.get("role")
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
	r.add(rawjson.Join(path, "role"), ruleRole, "the role must be one of %s, got %s", strings.Join(known, ", "), got)
	return role, false
}

// str requires a string that is not empty.
func (r *request) str(o object, path, name, rule string) (string, bool) {
	v := o.get(name)
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

// form says how an identifier is spelled.
type form struct {
	extra string // characters other than ASCII letters, digits, _ and -
	most  int    // length in characters
}

// id requires a string of that form.
func (r *request) id(o object, path, name, rule string, f form) (string, bool) {
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
