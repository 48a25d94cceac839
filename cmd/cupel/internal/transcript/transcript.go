// Package transcript converts chat transcripts for the OpenAI and Anthropic APIs
// to candidates, and writes a selection of them as a transcript for the same API.
//
// A candidate is a message, or an exchange: the tool calls in one message of the
// model with their results. They are never separated, because an API refuses a
// call without its result and a result without its call.
package transcript

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/internal/rawjson"
)

// API is the API that a transcript is for.
type API int

// The APIs.
const (
	Chat      API = iota // OpenAI's Chat Completions
	Responses            // OpenAI's Responses
	Messages             // Anthropic's Messages
)

// list returns the name of the member of a request that holds the messages.
func (a API) list() string {
	if a == Responses {
		return "input"
	}
	return "messages"
}

// system returns the name of the member of a request that holds the system
// prompt, or "" if it is one of the messages.
func (a API) system() string {
	switch a {
	case Responses:
		return "instructions"
	case Messages:
		return "system"
	default:
		return ""
	}
}

// Source is the text of a transcript: a list of messages, a request with such a
// list, or one message per line.
type Source struct {
	API   API
	Value rawjson.Value  // an array or an object
	Lines []rawjson.Part // the messages, if there is one per line
}

// Options say how a transcript is read.
type Options struct {
	Counter     cupel.TokenCounter
	NoPin       bool // pin nothing but tool definitions
	MediaTokens *int // tokens of each medium; nil estimates by the API and the medium
}

// Transcript is a transcript with its candidates.
type Transcript struct {
	Items []*cupel.ContextItem // in the order of the transcript; tool definitions and system prompt first
	Notes []string             // remarks for the user

	source  Source
	body    rawjson.Object // of a request
	entries []entry
	groups  []group
	byItem  map[*cupel.ContextItem]int // positions in groups
}

// KindTools is the kind of the item for the tool definitions of a request. It is
// always pinned, because they are always sent.
const KindTools cupel.ContextKind = "ToolDefinitions"

// entry is a message of the list, or a member of the request that the model sees.
type entry struct {
	part   rawjson.Part
	member string // the name of the member, or "" for a message of the list
	index  int    // in the list
	role   string

	text   []string // the readable content
	tokens int
	words  bool // has text of its own, not only tool results
	model  bool // made by the model
	tool   bool // has a tool call or a tool result
	thinks bool // begins with thinking
	names  []string
	ids    []string
	time   time.Time // zero if the message has none
}

func (e *entry) path(api API) string {
	if e.member != "" {
		return e.member
	}
	return rawjson.Index(api.list(), e.index)
}

// returns reports whether an entry consists of tool results only.
func (e *entry) returns() bool { return e.tool && (e.role == "tool" || e.role == "function") }

// group is the entries of one item.
type group struct {
	entries []int // ascending
	item    *cupel.ContextItem
}

// Read converts a transcript to candidates. It fails with a [rawjson.Error] or
// with an error of the counter.
func Read(source Source, options Options) (*Transcript, error) {
	r := &reader{Options: options, api: source.API, pending: map[string]pendingCalls{}, server: map[string]int{}, user: -1, userBefore: -1}
	t := &Transcript{source: source, byItem: map[*cupel.ContextItem]int{}}
	if err := t.readEntries(r); err != nil {
		return nil, err
	}
	r.unanswered()
	t.entries = r.entries
	t.groups = r.links.groups(len(t.entries))
	if err := t.makeItems(options.NoPin); err != nil {
		return nil, err
	}
	t.Notes = r.allNotes()
	return t, nil
}

// readEntries reads the parts of the request outside its messages, and then the
// messages.
func (t *Transcript) readEntries(r *reader) error {
	value, name := t.source.Value, t.source.API.list()
	messages := t.source.Lines
	if value.IsObject() {
		var err error
		if t.body, err = value.Object(""); err != nil {
			return err
		}
		if err := r.request(&t.body); err != nil {
			return err
		}
		value = t.body.Get(name)
		if t.source.API == Responses && value.IsString() {
			return r.onlyInput(t.member(name))
		}
		if value.IsNull() {
			return t.body.Value.Errorf(name, "is required: it holds the messages")
		}
		if !value.IsArray() {
			return value.Errorf(name, "must be an array of messages, got %s", value.Type())
		}
	}
	if !value.IsZero() {
		if !value.IsArray() {
			return value.Errorf("", "a transcript must be an array or an object, got %s", value.Type())
		}
		messages = value.Elements()
	}
	for i, part := range messages {
		if err := r.message(part, i); err != nil {
			return err
		}
	}
	return nil
}

func (t *Transcript) member(name string) rawjson.Part {
	for _, m := range t.body.Members {
		if m.Name == name {
			return m
		}
	}
	return rawjson.Part{}
}

// makeItems makes an item for each group.
func (t *Transcript) makeItems(noPin bool) error {
	pins := t.pins(noPin)
	times := t.times()
	for i := range t.groups {
		g := &t.groups[i]
		var err error
		if g.item, err = t.makeItem(g, pins, times); err != nil {
			return err
		}
		t.Items = append(t.Items, g.item)
		t.byItem[g.item] = i
	}
	return nil
}

func (t *Transcript) makeItem(g *group, pins []bool, times []time.Time) (*cupel.ContextItem, error) {
	first := &t.entries[g.entries[0]]
	var (
		text, names, ids []string
		tokens           int
		pinned, tool     bool
	)
	for _, i := range g.entries {
		e := &t.entries[i]
		text = append(text, e.text...)
		names, ids = append(names, e.names...), append(ids, e.ids...)
		tokens = add(tokens, e.tokens)
		pinned, tool = pinned || pins[i], tool || e.tool
	}
	kind, source, origin := cupel.KindMessage, cupel.SourceChat, first.role
	switch {
	case first.member == "tools":
		kind, source, origin = KindTools, cupel.SourceTool, "tool"
	case tool:
		kind, source, origin = cupel.KindToolOutput, cupel.SourceTool, "tool"
	case isSystem(first.role):
		kind, origin = cupel.KindSystemPrompt, "system"
	}
	metadata := map[string]any{"role": first.role, cupel.MetadataSourceType: origin}
	if first.member == "" {
		metadata["index"] = first.index
	}
	if len(g.entries) > 1 {
		metadata["messages"] = len(g.entries)
	}
	for key, list := range map[string][]string{"tool": names, "tool_call_id": ids} {
		if list = distinct(list); len(list) > 0 {
			metadata[key] = strings.Join(list, ", ")
		}
	}
	opts := []cupel.ItemOption{
		cupel.WithKind(kind), cupel.WithSource(source), cupel.WithMetadata(metadata),
		cupel.WithTimestamp(times[g.entries[len(g.entries)-1]]),
	}
	if pinned {
		opts = append(opts, cupel.WithPinned())
	}
	return cupel.NewContextItem(cmp.Or(strings.Join(text, "\n"), "(empty)"), tokens, opts...)
}

func isSystem(role string) bool { return role == "system" || role == "developer" }

// distinct returns the distinct values that are not empty.
func distinct(list []string) []string {
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(s string) bool {
		known := seen[s] || s == ""
		seen[s] = true
		return known
	})
}

// pins returns which entries are pinned: system prompts; the last message in
// which the user says something; the exchange at the end, which the model
// answers; and the entries that Anthropic's API requires with these.
func (t *Transcript) pins(noPin bool) []bool {
	pins := make([]bool, len(t.entries))
	for i := range t.entries {
		e := &t.entries[i]
		pins[i] = e.member == "tools" || isSystem(e.role) && !noPin
	}
	if noPin {
		return pins
	}
	lastUser := t.lastAsked()
	if lastUser >= 0 {
		pins[lastUser] = true
	}
	if last := len(t.entries) - 1; last >= 0 && t.entries[last].tool {
		pins[last] = true
	}
	// Parallel calls of the Responses API are separate items.
	i := len(t.entries) - 1
	for ; i >= 0 && t.entries[i].returns(); i-- {
		pins[i] = true
	}
	for ; i >= 0 && t.entries[i].tool && t.entries[i].role == "assistant"; i-- {
		pins[i] = true
	}
	if t.source.API == Messages {
		if first := t.turn(lastUser); first >= 0 && t.entries[len(pins)-1].tool && t.entries[first].thinks {
			pins[first] = true
		}
		t.pinOpening(pins)
	}
	return pins
}

// asks reports whether the user says something.
func (e *entry) asks() bool { return e.role == "user" && e.words }

// lastAsked returns the last entry in which the user says something, or -1.
func (t *Transcript) lastAsked() int {
	i := len(t.entries) - 1
	for i >= 0 && !t.entries[i].asks() {
		i--
	}
	return i
}

// turn returns the first message of the model after entry i, or -1. If a turn's
// first message begins with thinking, the message is needed until the turn ends.
func (t *Transcript) turn(i int) int {
	for i++; i < len(t.entries); i++ {
		if t.entries[i].role == "assistant" {
			return i
		}
	}
	return -1
}

// pinOpening pins the user's message before the first pinned message if that one
// is the model's: the API would refuse the pinned messages without it.
func (t *Transcript) pinOpening(pins []bool) {
	opening := -1
	for i, g := range t.groups {
		switch e := t.first(i); {
		case e.member != "" || isSystem(e.role):
		case t.opens(i):
			opening = i
			if pins[g.entries[0]] {
				return
			}
		case slices.ContainsFunc(g.entries, func(e int) bool { return pins[e] }):
			if opening >= 0 {
				pins[t.groups[opening].entries[0]] = true
			}
			return
		}
	}
}

// times gives every entry a time. Most transcripts have none; the times that this
// function makes up only order the messages.
func (t *Transcript) times() []time.Time {
	times := make([]time.Time, len(t.entries))
	known := slices.IndexFunc(t.entries, func(e entry) bool { return !e.time.IsZero() })
	if known < 0 {
		for i := range times {
			times[i] = time.Unix(int64(i), 0)
		}
		return times
	}
	for i := range times {
		switch e := &t.entries[i]; {
		case !e.time.IsZero():
			times[i] = e.time
		case i < known:
			times[i] = t.entries[known].time.Add(time.Duration(i - known))
		default:
			times[i] = times[i-1].Add(1)
		}
	}
	return times
}

// add adds token counts that are not negative, without overflow.
func add(a, b int) int {
	if sum := a + b; sum >= 0 {
		return sum
	}
	return int(^uint(0) >> 1)
}

// links joins entries into groups.
type links struct{ parent []int }

func (l *links) root(i int) int {
	for len(l.parent) <= i {
		l.parent = append(l.parent, len(l.parent))
	}
	for l.parent[i] != i {
		l.parent[i] = l.parent[l.parent[i]]
		i = l.parent[i]
	}
	return i
}

// join merges the groups of two entries; the root is the first entry.
func (l *links) join(i, j int) {
	i, j = l.root(i), l.root(j)
	l.parent[max(i, j)] = min(i, j)
}

// groups returns the groups of n entries, ordered by their first one.
func (l *links) groups(n int) []group {
	var groups []group
	at := make([]int, n)
	for i := range n {
		if root := l.root(i); root != i {
			g := &groups[at[root]]
			g.entries = append(g.entries, i)
			continue
		}
		at[i] = len(groups)
		groups = append(groups, group{entries: []int{i}})
	}
	return groups
}
