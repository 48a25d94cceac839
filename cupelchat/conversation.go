package cupelchat

import (
	"fmt"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/internal/rawjson"
)

// Error says what is wrong with a conversation and where: its Line, from 1, its
// Path, such as messages[3].role, and the Reason.
type Error = rawjson.Error

// Conversation is a conversation with its items. It never changes, and may be
// shared between goroutines.
type Conversation struct {
	settings
	format   Format
	codec    codec
	counter  cupel.TokenCounter
	text     []byte         // as it was given
	value    rawjson.Value  // a list of messages or a request; zero if there is a message on each line
	body     rawjson.Object // of a request
	messages []message
	entries  []entry
	groups   [][]int // entries that are in or out together
	groupOf  []int   // of each entry
	asked    int     // the first entry in which the user says something, or none
	items    []*cupel.ContextItem
	notes    []string
}

// Read reads a conversation: a list of messages, a request with such a list, or
// one message on each line. The counter counts what the messages say, such as
// [cupel.HeuristicCounter] or the exact ones of module cupeltiktoken. Read keeps
// body, which must not change afterwards. It takes linear time.
//
// It fails with an [Error] where the body is not what the format says or cannot be
// selected from, with an [OptionError], or with an error of the counter.
func Read(body []byte, f Format, counter cupel.TokenCounter, opts ...Option) (*Conversation, error) {
	known, ok := formats[f]
	if !ok {
		return nil, &Error{Reason: fmt.Sprintf("the format %d is unknown", uint8(f))}
	}
	c := &Conversation{format: f, codec: known.codec, counter: counter, text: body, asked: none}
	c.first, c.last = true, true
	for _, opt := range opts {
		if opt == nil {
			continue
		}
		if err := opt(&c.settings); err != nil {
			return nil, err
		}
	}
	r := &reader{settings: c.settings, codec: c.codec, counter: counter, pending: map[string]pendingCalls{}, server: map[string]int{}}
	if err := c.readMessages(r); err != nil {
		return nil, err
	}
	r.joinCalls()
	r.unanswered()
	c.messages, c.entries = r.messages, r.entries
	c.groups, c.groupOf = r.links.groups(len(c.entries))
	if err := c.makeItems(); err != nil {
		return nil, err
	}
	c.notes = r.allNotes()
	return c, nil
}

// Items returns the items of the conversation: one for each message, and one for
// each tool result, in the order of the conversation; definitions of tools and the
// system prompt come first. docs/conversations.md says what they have.
func (c *Conversation) Items() []*cupel.ContextItem {
	if c == nil {
		return nil
	}
	return slices.Clone(c.items)
}

// Notes returns remarks about the conversation: what was estimated or is unknown,
// and what the API would refuse.
func (c *Conversation) Notes() []string {
	if c == nil {
		return nil
	}
	return slices.Clone(c.notes)
}

// Format returns the format of the conversation, 0 if that is nil.
func (c *Conversation) Format() Format {
	if c == nil {
		return 0
	}
	return c.format
}

// errNil is the error of what is asked of a nil conversation.
var errNil = &Error{Reason: "the conversation is nil; Read returns one"}

// readMessages reads the parts of a request outside its messages, and then the
// messages.
func (c *Conversation) readMessages(r *reader) error {
	var parts []rawjson.Part
	var err error
	if _, c.value, parts, err = split(c.text); err != nil {
		return err
	}
	name := c.codec.list()
	switch {
	case c.value.IsZero():
	case c.value.IsArray():
		parts = c.value.Elements()
	case !c.value.IsObject():
		return c.value.Errorf("", "a conversation must be an array or an object, got %s", c.value.Type())
	default:
		if c.body, err = c.value.Object(""); err != nil {
			return err
		}
		if list := c.body.Get(name); list.IsNull() && c.body.Has("role") { // one message
			parts, c.value = []rawjson.Part{c.value.Alone()}, rawjson.Value{}
			break
		}
		if err := c.codec.request(r, &c.body); err != nil {
			return err
		}
		list := c.body.Get(name)
		switch {
		case list.IsNull():
			return c.body.Value.Errorf(name, "is required: it holds the messages")
		case list.IsString() && slices.ContainsFunc(r.messages, func(m message) bool { return m.member == name }):
		case !list.IsArray():
			return list.Errorf(name, "must be an array of messages, got %s", list.Type())
		}
		parts = list.Elements()
	}
	for i, part := range parts {
		path := rawjson.Index(name, i)
		o, err := part.Value.Object(path)
		if err != nil {
			return err
		}
		r.begin(part, i)
		r.readTime(&o)
		if err := c.codec.message(r, &o, path); err != nil {
			return err
		}
	}
	return nil
}

// split returns the value of a body, or the zero Value and those on its lines. It
// returns the text even if that is neither.
func split(body []byte) (text rawjson.Text, value rawjson.Value, lines []rawjson.Part, err error) {
	if text, err = rawjson.NewText(body); err != nil {
		return text, value, nil, err
	}
	if value, err = text.Value(); err != nil && text.SeveralLines() {
		value = rawjson.Value{}
		lines, err = text.Lines()
	}
	return text, value, lines, err
}
