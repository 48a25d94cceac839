package cupelchat

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/internal/rawjson"
)

// The token cost of a request beyond its texts. Anthropic publishes these numbers
// for tools only; the others are estimates.
const (
	messageTokens = 4 // around a message, and for its role
	nameTokens    = 1 // around the name of a speaker
	callTokens    = 4 // around a tool call, and around a result

	anthropicToolsTokens = 346 // the system prompt that the API adds for tools

	bytesPerHiddenToken = 6 // encrypted text, in Base64
)

// deepest is the maximum nesting of parts. It is one more than any API allows,
// such as a document of texts in a tool result. The limit bounds the time, since
// reading a part takes time proportional to its depth.
const deepest = 4

// message is a message of the list, or a member of the request that the model
// sees. It has one entry, or several if it has the results of several calls.
type message struct {
	raw    rawjson.Part
	member string // the name of the member, or "" for a message of the list
	index  int    // in the list
	role   string
	lists  [][]rawjson.Part // the lists of parts in it; the first is its content
	owners []int            // the entry of each part of the first list, if there are several
	from   int              // its first entry
	to     int              // after its last entry
}

// entry is the source of an item: a message, or a tool result.
type entry struct {
	message int
	role    string // as the item has it: "tool" for results, "tools" for definitions
	parts   []part
	tokens  int
	words   bool // says something, apart from calls and results
	asks    bool // the user says something
	tool    bool // has a tool call or a tool result
	thinks  bool // begins with thinking that the API wants back, or with a call that is signed
	compact bool // holds a compaction of the conversation before it
	names   []string
	ids     []string
	blocks  int          // of the message's content that are its own
	title   string       // of the call that a result answers
	tools   []definition // that are defined
	time    time.Time    // zero if the message has none
}

// returns reports whether an entry is a tool result.
func (e *entry) returns() bool { return e.tool && e.role == "tool" }

// part is a piece of an entry that its item shows.
type part struct {
	kind      partKind
	text      string        // in the content of the item, on lines of its own
	value     rawjson.Value // of words: their string; of a call: its arguments, if they may be shortened
	tokens    int           // of a call, those of its arguments
	member    string        // of words in an object: the member that replaces it in a smaller form
	list, at  int           // the place in the lists of the message; list is none outside them
	id, name  string        // of a call
	arguments string        // of a call
}

type partKind uint8

const (
	words partKind = iota // text that a smaller form may replace
	call                  // a tool call: one line, name(arguments)
	media                 // an image and the like: a line that represents it
	fixed                 // a part that has to stay as it is, such as thinking
)

const none = -1

// place is the place in its message of the part that is being read.
type place struct{ list, at int }

// reader reads the messages of one conversation.
type reader struct {
	settings
	rules    *rules
	codec    codec
	counter  cupel.TokenCounter
	messages []message
	entries  []entry
	links    links
	notesOf

	calls   []toolCall
	pending map[string][]int // calls that wait for results, by id
	depth   int              // of the part that is being read
	at      int              // the entry that is being read
	place   place
	when    time.Time // of the message that is being read

	err   error          // the first reason why this cannot be read
	found []Violation    // faults that the API refuses
	value rawjson.Value  // a list of messages or a request; zero if there is a message on each line
	body  rawjson.Object // of a request
	size  int            // messages of the list

	text   []byte    // of the body
	after  []byte    // the text after the messages; nil if they have no list
	ends   []int     // of the messages in the text
	stages []*reader // before some of the last messages; see follow
	kept   int       // entries that were not read again

	media map[string]int // counts, by their words in the notes
}

// toolCall is one call of a tool. Several calls of a message have one id if a server
// gives none.
type toolCall struct {
	entry    int
	name     string
	title    string
	answered bool
}

func newReader(f Format, counter cupel.TokenCounter, s settings) *reader {
	return &reader{
		settings: s, rules: formats[f].rules, codec: formats[f].codec(), counter: counter,
		pending: map[string][]int{}, media: map[string]int{},
	}
}

// begin begins a message of the list.
func (r *reader) begin(raw rawjson.Part, index int) *message {
	n := len(r.entries)
	r.messages = append(r.messages, message{raw: raw, index: index, from: n, to: n})
	r.place, r.when = place{none, 0}, time.Time{}
	return r.message()
}

// beginMember begins a member of the request, which has one entry.
func (r *reader) beginMember(raw rawjson.Part, role string) {
	m := r.begin(raw, 0)
	m.member, m.role = raw.Name, role
	r.entry(role)
}

// message is the message that is being read.
func (r *reader) message() *message { return &r.messages[len(r.messages)-1] }

// entry begins an entry of the message. The first one has the tokens around it.
func (r *reader) entry(role string) *entry {
	m := r.message()
	e := entry{message: len(r.messages) - 1, role: role, time: r.when}
	if m.from == m.to && role != "tools" {
		e.tokens = messageTokens
	}
	r.entries = append(r.entries, e)
	m.to = len(r.entries)
	r.at = m.to - 1
	return r.current()
}

// current is the entry that is being read.
func (r *reader) current() *entry { return &r.entries[r.at] }

func (r *reader) spend(tokens int) { r.current().tokens = add(r.current().tokens, tokens) }

// count counts text that the model sees. Without a counter there is nothing to
// count: the conversation is only checked.
func (r *reader) count(text string) int {
	if r.counter == nil {
		return 0
	}
	n, err := counted(r.counter, text)
	if err != nil {
		r.fail(err)
	}
	r.spend(n)
	return n
}

// counted returns the tokens of a text.
func counted(counter cupel.TokenCounter, text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	// Make an item, because that checks the counter's result.
	item, err := cupel.NewItemFrom(counter, text)
	if err != nil {
		return 0, err
	}
	return item.Tokens(), nil
}

// counting counts texts, and keeps the first error of the counter.
type counting struct {
	counter cupel.TokenCounter
	err     error
}

func (c *counting) count(text string) int {
	n, err := counted(c.counter, text)
	if c.err == nil {
		c.err = err
	}
	return n
}

// put adds a part that has been counted.
func (r *reader) put(p part) {
	p.list, p.at = r.place.list, r.place.at
	r.current().parts = append(r.current().parts, p)
}

// say adds the words of a string.
func (r *reader) say(v rawjson.Value) { r.sayAs(v.String(), v, "") }

// sayAs adds words in place of a value. A smaller form of words in an object is
// a text in an object with one member.
func (r *reader) sayAs(text string, v rawjson.Value, member string) {
	n := r.count(text)
	r.put(part{kind: words, text: text, value: v, tokens: n, member: member})
}

// keep adds a text that forms leave as it is, and counts it.
func (r *reader) keep(text string) {
	r.put(part{kind: fixed, text: text, tokens: r.count(text)})
}

// keepJSON adds the JSON of a value to the content and counts it.
func (r *reader) keepJSON(v rawjson.Value) {
	if !v.IsNull() {
		r.keep(v.Compact())
	}
}

// medium counts a medium. where identifies it.
func (r *reader) medium(name string, tokens int, where rawjson.Value) {
	if r.mediaTokens != nil {
		tokens = *r.mediaTokens
	}
	r.media[fmt.Sprintf("%%s of %d tokens\x00%s", tokens, name)]++
	r.spend(tokens)
	r.put(part{kind: media, text: "[" + name + " " + label(where) + "]", tokens: tokens})
}

// hidden counts text that only the API can read.
func (r *reader) hidden(name string, v rawjson.Value) {
	tokens := len(v.Raw()) / bytesPerHiddenToken
	r.spend(tokens)
	r.put(part{kind: fixed, text: "[" + name + " " + label(v) + "]", tokens: tokens})
}

// label returns the address of a medium, or else a hash of it, so that different
// media give different contents.
func label(v rawjson.Value) string {
	if s := v.String(); len(s) < 200 && !strings.ContainsAny(s, "\r\n") && (strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")) {
		return s
	}
	return fmt.Sprintf("%.6x", sha256.Sum256(v.Raw()))
}

// unknownPart counts a part of an unknown type as JSON.
func (r *reader) unknownPart(path string, v rawjson.Value) {
	r.noteAt(path, "is of an unknown type: kept and counted as JSON")
	r.keepJSON(v)
}

// use reads a tool call: the value of its arguments is a string or JSON.
func (r *reader) use(id, name string, arguments rawjson.Value) {
	p := r.useOf(id, name, arguments)
	r.put(p)
	r.called(id, name, callTitle(name, p.arguments))
}

// useOf counts a call, and returns the part that shows it.
func (r *reader) useOf(id, name string, arguments rawjson.Value) part {
	r.count(name)
	text := arguments.String()
	if !arguments.IsNull() && !arguments.IsString() {
		text = arguments.Compact()
	}
	tokens := r.count(text)
	text = oneLine(text)
	e := r.current()
	e.names = append(e.names, name)
	return part{kind: call, text: name + "(" + text + ")", id: id, name: name, arguments: text, value: arguments, tokens: tokens}
}

// called records a tool call, whose result will name id.
func (r *reader) called(id, name, title string) {
	waiting := slices.Clip(r.pending[id])
	if len(waiting) > 0 && r.calls[waiting[0]].entry != r.at {
		waiting = nil // of an earlier message
	}
	r.pending[id] = append(waiting, len(r.calls))
	r.calls = append(r.calls, toolCall{entry: r.at, name: name, title: title})
	e := r.current()
	e.tool = true
	e.ids = append(e.ids, id)
	r.spend(callTokens)
}

// returned records a result and joins it with its call.
func (r *reader) returned(id string) {
	e := r.current()
	e.tool = true
	e.ids = append(e.ids, id)
	r.spend(callTokens)
	waiting := r.pending[id]
	if len(waiting) == 0 {
		return
	}
	first := &r.calls[waiting[0]]
	e.names = append(e.names, first.name)
	e.title = first.title
	r.links.join(first.entry, r.at)
	first.answered = true
	if len(waiting) > 1 { // without ids, or with one id for all
		r.pending[id] = waiting[1:]
	}
}

// joinCalls joins calls with those in the next message, if an API treats
// consecutive messages of one role as one: all results come after the last of
// these.
func (r *reader) joinCalls() {
	if !r.rules.alternate {
		return
	}
	before := none // the last entry with calls among messages of the model in a row
	for i := range r.messages {
		m := &r.messages[i]
		if m.role != "assistant" {
			before = none
		}
		for at := m.from; at < m.to; at++ {
			if m.role != "assistant" || !r.entries[at].tool {
				continue
			}
			if before != none {
				r.links.join(before, at)
			}
			before = at
		}
	}
}

// readTime reads the time of a message.
func (o cursor) readTime() {
	name, v := o.firstOf("timestamp", "created_at", "created")
	if v.IsNull() {
		return
	}
	if t, ok := instant(v); ok {
		o.when = t
	} else {
		o.noteAt(o.where(name), "is ignored: it is not a time in RFC 3339 or in seconds since 1970")
	}
}

// instant reads RFC 3339, or a number of seconds or milliseconds since 1970.
func instant(v rawjson.Value) (time.Time, bool) {
	if v.IsString() {
		t, err := time.Parse(time.RFC3339Nano, v.String())
		return t, err == nil && plausible(t)
	}
	seconds, err := strconv.ParseFloat(string(v.Raw()), 64)
	if err != nil {
		return time.Time{}, false
	}
	const year5138 = 1e11 // in seconds; in milliseconds it is 1973
	if math.Abs(seconds) >= year5138 {
		seconds /= 1000
	}
	if math.Abs(seconds) >= year5138 {
		return time.Time{}, false
	}
	whole, fraction := math.Modf(seconds)
	t := time.Unix(int64(whole), int64(math.Round(fraction*1e6))*1000)
	return t, plausible(t)
}

// plausible reports whether the year of t, and of times close to it, has four
// digits.
func plausible(t time.Time) bool { return 1 < t.UTC().Year() && t.UTC().Year() < 9999 }

// add adds token counts that are not negative, without overflow.
func add(a, b int) int {
	if sum := a + b; sum >= 0 {
		return sum
	}
	return math.MaxInt
}
