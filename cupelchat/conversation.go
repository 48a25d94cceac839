package cupelchat

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/internal/rawjson"
)

// Error describes a fault in a conversation, and its place: its Line, from 1, its
// Path, such as messages[3].role, and the Reason.
type Error = rawjson.Error

// Conversation is a conversation with its items. It is immutable, and may be
// shared between goroutines.
type Conversation struct {
	settings
	*reader // that read it
	format  Format
	counter cupel.TokenCounter
	text    []byte  // as it was given, or as options changed it
	source  []byte  // as it was given
	groups  [][]int // entries that are in or out together
	groupOf []int   // of each entry
	asked   int     // the first entry in which the user says something, or none
	items   []*cupel.ContextItem
	ruled   []bool // of each entry: a rule keeps it; nil without rules
	never   []bool // a rule leaves it out first
	all     bool   // items have all forms, and not only those that every chooser needs
	formed  *formed
	notes   []string

	written *atomic.Pointer[reader] // of the last body that was written; shared with later states
	kept    int                     // entries of an earlier state
	times   []time.Time             // of the entries, nil if no message has one
	opened  []int                   // groups of the exchange at the end

	spare   int                        // tokens that a window had left
	longer  map[int]*cupel.ContextItem // shorter items that take them
	refused []bool                     // entries that the API refused with what was chosen
}

// Read reads a conversation: a list of messages, a request with such a list, or
// one message on each line. The counter, such as [cupel.HeuristicCounter] or an
// exact one of module cupeltiktoken, counts the messages. Read keeps body, which
// must not change afterwards. It takes linear time.
//
// It fails with an [Error] if the body is not in the format or cannot be selected from, with a
// [cupel.InvalidConfigError] for an invalid option, or with an error of the counter.
func Read(body []byte, f Format, counter cupel.TokenCounter, opts ...Option) (*Conversation, error) {
	if _, ok := formats[f]; !ok {
		return nil, &Error{Reason: fmt.Sprintf("the format %d is unknown", uint8(f))}
	}
	c := &Conversation{format: f, counter: counter, text: body, source: body, asked: none, formed: &formed{}, written: &atomic.Pointer[reader]{}}
	c.first, c.last = true, true
	if err := c.apply(opts); err != nil {
		return nil, err
	}
	e := c.earlier
	c.earlier = nil
	var r *reader
	if c.follows(e) {
		r, c.written = e.reader.follow(body), e.written
	}
	if r == nil {
		r = newReader(f, counter, c.settings)
		r.read(body)
	}
	if r.err != nil {
		return nil, r.err
	}
	r.joinCalls()
	c.reader, c.kept = r, r.kept
	c.groups, c.groupOf = r.links.groups(len(c.entries))
	changed, notes, err := c.change()
	if err != nil {
		return nil, err
	}
	if changed != nil {
		again := func(s *settings) error {
			s.keepTools, s.changes = nil, c.changes+1
			return nil
		}
		if c, err = Read(changed, f, counter, append(slices.Clip(opts), again)...); err == nil {
			c.source, c.notes = body, append(notes, c.notes...)
		}
		return c, err
	}
	if r.kept == 0 {
		e = nil
	}
	if err := c.makeItemsAfter(e); err != nil {
		return nil, err
	}
	c.notes = r.allNotes()
	return c, nil
}

// change returns the body as [WithTools] or [WithRepair] change it, with notes, or nil if
// it stays as it is.
func (c *Conversation) change() (body []byte, notes []string, err error) {
	if c.keepTools != nil {
		if body, notes = c.withTools(); body != nil {
			return body, notes, nil
		}
	}
	if !c.repairs || len(c.found) == 0 || c.rules.record || c.changes > mostRepairs {
		return nil, nil, nil
	}
	if err = c.makeItems(nil); err == nil {
		body, notes = c.repair()
	}
	return body, notes, err
}

// With returns the conversation as [Read] returns it with more options. It keeps the
// earlier options and the counted tokens.
func (c *Conversation) With(opts ...Option) (*Conversation, error) {
	if c.isMissing() {
		return nil, errNil
	}
	to := *c
	if err := to.apply(opts); err != nil {
		return nil, err
	}
	to.formed, to.kept = &formed{}, len(c.entries)
	if err := to.makeItemsAfter(c); err != nil { // items that stay equal are the same
		return nil, err
	}
	return &to, nil
}

// makeItemsAfter makes the items, or takes them from an earlier conversation if the
// caller has no forms of its own.
func (c *Conversation) makeItemsAfter(earlier *Conversation) error {
	if earlier == nil || c.forms != nil || earlier.forms != nil {
		return c.makeItems(nil)
	}
	c.formed.earlier = earlier.formed.done.Load()
	return c.makeItems(earlier)
}

// Items returns the items of the conversation: one for each message, and one for
// each tool result, in the order of the conversation; definitions of tools and the
// system prompt come first. docs/agents.md describes them. Items returns nil if
// the counter fails for a smaller form.
func (c *Conversation) Items() []*cupel.ContextItem {
	if c.isMissing() {
		return nil
	}
	if formed, err := c.withForms(); err == nil {
		c = formed
	}
	return slices.Clone(c.items)
}

// formed is a conversation with all forms of its items.
type formed struct {
	once    sync.Once
	earlier *Conversation // with all forms, or nil
	done    atomic.Pointer[Conversation]
	err     error
}

// withForms returns the conversation with all forms of its items. They take longer
// than everything else, and a preset that makes its own needs none.
func (c *Conversation) withForms() (*Conversation, error) {
	f := c.formed
	f.once.Do(func() {
		to := *c
		to.all = true
		if f.err = to.makeItems(f.earlier); f.err == nil {
			f.done.Store(&to)
		}
		f.earlier = nil
	})
	return f.done.Load(), f.err
}

// toChoose returns the conversation with the forms that a chooser needs.
func (c *Conversation) toChoose(chooser Chooser) (*Conversation, error) {
	if _, ok := chooser.(*agent.Preset); ok {
		return c, nil
	}
	return c.withForms()
}

// Notes returns remarks about the conversation: estimates, unknown parts, and
// faults that the API would refuse.
func (c *Conversation) Notes() []string {
	if c.isMissing() {
		return nil
	}
	return slices.Clone(c.notes)
}

// Format returns the format of the conversation, or 0 for a nil conversation.
func (c *Conversation) Format() Format {
	if c.isMissing() {
		return 0
	}
	return c.format
}

// Model returns the model that a request names, or "".
func (c *Conversation) Model() string {
	if c.isMissing() {
		return ""
	}
	return cmp.Or(c.body.Get("model").String(), c.body.Get("modelId").String())
}

// isMissing reports whether a conversation is nil, or one that Read did not return.
func (c *Conversation) isMissing() bool { return c == nil || c.reader == nil }

// errNil is the error of the methods of a conversation that is missing.
var errNil = &Error{Reason: "there is no conversation; Read returns one"}

// read reads a body: the parts of a request outside its messages, and the messages.
// Messages that others have read are only counted.
func (r *reader) read(body []byte, read ...*reader) {
	parts := r.messageList(body)
	r.readMessages(parts, 0, sizesOf(len(parts), read))
}

// readMessages reads the next messages, which are in a text that begins at a byte of the
// body. Those with sizes are not read.
func (r *reader) readMessages(parts []rawjson.Part, from int, sizes map[uint64]int) {
	first := len(r.ends)
	r.size = first + len(parts)
	for i, part := range parts {
		i += first
		r.stage(i)
		r.ends = append(r.ends, from+part.End())
		if tokens, ok := sizes[maphash.Bytes(hashes, part.Value.Raw())]; ok {
			r.begin(part, i)
			r.entry("").tokens = tokens
			continue
		}
		path := rawjson.Index(r.rules.list, i)
		rule := "message-type"
		if part.Value.IsNull() && r.rules.nulls {
			rule = ""
		}
		o, ok := r.object(part.Value, path, rule)
		if !ok {
			continue
		}
		r.begin(part, i)
		o.readTime()
		r.codec.message(o)
		if r.err != nil && r.counter != nil {
			return
		}
	}
	if r.size > 0 {
		r.codec.end(r)
	}
}

// messageList reads the members around the messages, and returns the messages.
func (r *reader) messageList(body []byte) []rawjson.Part {
	name := r.rules.list
	text, value, lines, err := split(body)
	r.text = text
	switch {
	case err != nil:
		r.fail(err)
		r.refuse("", "syntax", "%v", err)
		return nil
	case value.IsZero():
		return lines
	case value.IsArray():
		r.value = value
		return r.nonempty(value)
	case !value.IsObject():
		r.broken(value, "", "body-type", "a conversation must be an array or an object, got %s", value.Type())
		return nil
	}
	o, _ := r.object(value, "", "")
	list := o.Get(name)
	if list.IsNull() && o.Has("role") && r.counter != nil { // one message
		return []rawjson.Part{value.Alone()}
	}
	r.value, r.body = value, o.Object
	r.codec.request(o)
	switch {
	case list.IsNull():
		rule := "list-required"
		if r.rules.nulls {
			rule = ""
		}
		r.broken(value, name, rule, "is required: it holds the messages")
		return nil
	case list.IsString() && slices.ContainsFunc(r.messages, func(m message) bool { return m.member == name }):
		return nil
	case !list.IsArray():
		r.broken(list, name, "list-type", "must be an array of messages, got %s", list.Type())
		return nil
	}
	return r.nonempty(list)
}

// nonempty returns a list, which the API refuses if it has nothing.
func (r *reader) nonempty(v rawjson.Value) []rawjson.Part {
	_, after := v.Around()
	r.after = r.text[len(r.text)-len(after)-1:]
	list := v.Elements()
	if len(list) == 0 && !r.rules.nulls {
		r.refuse(r.rules.list, "list-empty", "at least one message is required")
	}
	return list
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
