package cupelchat

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// ErrAmbiguousFormat is matched by the error of [Detect] for a body with signs of
// two formats.
var ErrAmbiguousFormat = errors.New("cupel: signs of two formats of conversations")

// signs are features that only one format has.
type signs struct {
	request []string // members of a request
	message []string // members of a message
	roles   []string // roles of messages
	parts   []string // types of parts of a message's content
	// element returns the member of a message or a record that shows the
	// format, or "". nil finds none.
	element func(o *rawjson.Object) string
	// over reports whether another format's sign at a path is also a sign of
	// this format. nil means that none is.
	over func(other Format, path string) bool
}

// spot is a value and its path.
type spot struct {
	path  string
	value rawjson.Value
}

// evidence is the signs found in a body.
type evidence struct {
	claims      map[Format]spot // the first sign of each format
	openAI      bool            // has a role or a model of OpenAI
	systemFirst bool            // begins with a system prompt, which Anthropic's API does not have
	claude      bool            // the name of a model
}

func (e *evidence) claim(f Format, path string, v rawjson.Value) {
	if _, ok := e.claims[f]; !ok {
		e.claims[f] = spot{path, v}
	}
}

// Detect finds the formats that a conversation may be in, most likely first, by features
// that no other format has. There is more than one only for plain messages, which several
// formats share. It fails with an [Error] if there are signs of two formats, or if the
// body is something else, such as a response of an API or a stream. The error names what
// the body looks like and what to do.
func Detect(body []byte) ([]Format, error) {
	text, value, elements, err := split(body)
	e := &evidence{claims: map[Format]spot{}}
	list := ""
	switch {
	case isStream(text): // which is no JSON
		return nil, &Error{Line: 1, Reason: "this is an event stream sent by an API; give the messages of the conversation", Err: err}
	case err != nil:
		return nil, err
	case value.IsZero():
	case value.IsArray():
		elements = value.Elements()
	case value.IsObject():
		if list, elements, err = e.request(value); err != nil {
			return nil, err
		}
	default:
		return nil, value.Errorf("", "a conversation must be an array or an object, got %s", value.Type())
	}
	for i, part := range elements {
		if err := e.element(part.Value, rawjson.Index(list, i), i); err != nil {
			return nil, err
		}
	}
	return e.decide()
}

// isStream reports whether a text is a stream of server-sent events.
func isStream(text rawjson.Text) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	return bytes.HasPrefix(text, []byte("data:")) || bytes.HasPrefix(text, []byte("event:"))
}

// lists are the names that the list of messages has in requests.
func lists() []string {
	var names []string
	for _, f := range Formats() {
		if name := formats[f].rules.list; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// request collects the signs of a request's members, and returns its messages.
func (e *evidence) request(v rawjson.Value) (list string, elements []rawjson.Part, err error) {
	o, err := v.Object("")
	if err != nil {
		return "", nil, err
	}
	found := slices.DeleteFunc(lists(), func(name string) bool { return !o.Has(name) })
	if len(found) == 0 {
		if what := foreign(&o); what != "" {
			return "", nil, v.Errorf("", "the object is %s", what)
		}
		if o.Has("role") || o.Has("type") { // one message
			return "", []rawjson.Part{v.Alone()}, nil
		}
		return "", nil, v.Errorf("", "the object is not a conversation: it has none of %q", lists())
	}
	list = found[0]
	for f, known := range formats {
		for _, name := range known.rules.signs.request {
			if o.Has(name) {
				e.claim(f, name, o.Get(name))
			}
		}
		if list != "messages" && known.rules.list == list {
			e.claim(f, list, o.Get(list))
		}
	}
	model := o.Get("model").String()
	e.claude = strings.HasPrefix(model, "claude")
	e.openAI = slices.ContainsFunc([]string{"gpt-", "chatgpt", "o1", "o3", "o4"}, func(name string) bool { return strings.HasPrefix(model, name) })
	e.tools(&o)
	return list, o.Get(list).Elements(), nil
}

// tools collects the signs of the definitions of tools.
func (e *evidence) tools(o *rawjson.Object) {
	for i, part := range o.Get("tools").Elements() {
		path := rawjson.Index("tools", i)
		switch tool, _ := part.Value.Fields(); {
		case tool.Has("input_schema"):
			e.claim(Anthropic, path+".input_schema", tool.Get("input_schema"))
		case tool.Has("function"):
			e.claim(OpenAI, path+".function", tool.Get("function"))
		}
	}
}

// element collects the signs of the message or record at index i.
func (e *evidence) element(v rawjson.Value, path string, i int) error {
	o, err := v.Object(path)
	if err != nil {
		return err
	}
	role := o.Get("role")
	claims := len(e.claims)
	seen := false
	for f, known := range formats {
		s := &known.rules.signs
		if s.element != nil {
			if name := s.element(&o); name != "" {
				seen = true
				e.claim(f, rawjson.Join(path, name), o.Get(name))
			}
		}
		if slices.Contains(s.roles, role.String()) {
			e.claim(f, path+".role", role)
		}
		for _, name := range s.message {
			if o.Has(name) {
				e.claim(f, rawjson.Join(path, name), o.Get(name))
			}
		}
	}
	if role.IsNull() && !seen && len(e.claims) == claims {
		if what := foreign(&o); what != "" {
			return v.Errorf(path, "is %s", what)
		}
		return v.Errorf(path, "is not a message in a known format: it has no role")
	}
	e.openAI = e.openAI || role.String() == "developer"
	e.systemFirst = e.systemFirst || i == 0 && role.String() == "system"
	e.parts(&o, path)
	return nil
}

// parts collects the signs of the parts of a message.
func (e *evidence) parts(o *rawjson.Object, path string) {
	for i, part := range o.Get("content").Elements() {
		p, _ := part.Value.Fields()
		for f, known := range formats {
			if slices.Contains(known.rules.signs.parts, p.Get("type").String()) {
				e.claim(f, rawjson.Index(path+".content", i), part.Value)
			}
		}
	}
}

// decide returns the formats that the signs allow.
func (e *evidence) decide() ([]Format, error) {
	e.prefer()
	claims := slices.Sorted(maps.Keys(e.claims))
	switch {
	case len(claims) > 1:
		one, other := e.claims[claims[0]], e.claims[claims[1]]
		where := other.path
		if line := other.value.Line(); line != one.value.Line() {
			where = fmt.Sprintf("%s (line %d)", where, line)
		}
		return nil, &Error{
			Line: one.value.Line(), Path: one.path, Err: ErrAmbiguousFormat,
			Reason: fmt.Sprintf("is a sign of %s, and %s of %s", formats[claims[0]].rules.name, where, formats[claims[1]].rules.name),
		}
	case len(claims) == 1:
		return claims, nil
	case e.openAI:
		return []Format{OpenAI}, nil
	case e.claude && !e.systemFirst:
		return []Format{Anthropic}, nil
	}
	return []Format{OpenAI, Anthropic}, nil
}

// prefer drops signs of a format that another format shares.
func (e *evidence) prefer() {
	for f := range e.claims {
		if over := formats[f].rules.signs.over; over != nil {
			maps.DeleteFunc(e.claims, func(other Format, sign spot) bool { return over(other, sign.path) })
		}
	}
}

// foreign recognizes texts that are often mistaken for a conversation, and
// returns advice on what to pass instead. It returns "" for anything else.
func foreign(o *rawjson.Object) string {
	kind := o.Get("type").String()
	switch {
	case strings.HasSuffix(o.Get("object").String(), ".chunk"), strings.HasPrefix(kind, "response."),
		strings.HasPrefix(kind, "message_"), strings.HasPrefix(kind, "content_block_"):
		return "an event of an API's stream; give the messages of the conversation"
	case o.Get("choices").IsArray(), o.Get("candidates").IsArray(), o.Get("output").IsArray() && !isResponseItem(kind):
		return "a response of an API; give the messages of the conversation"
	case o.Get("messages").IsArray():
		return "a whole transcript; give one conversation at a time"
	case o.Has("lc") || o.Get("data").IsObject() && slices.Contains([]string{"human", "ai", "system", "tool"}, kind):
		return "a message as LangChain stores it; convert the messages first (convert_to_openai_messages)"
	case o.Get("message").IsObject():
		return `not a message, but contains one as "message"; give that message`
	}
	return ""
}
