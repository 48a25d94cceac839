package transcript

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/internal/rawjson"
)

// Selection is a selection from a transcript.
type Selection struct {
	Window       []*cupel.ContextItem // in any order
	Room         int                  // tokens that the window could still take
	Deduplicated bool                 // among items that are not pinned, equal contents are in the window once
}

// Write writes the transcript with only the items of the window. The messages
// keep the order of the conversation, and everything else is unchanged.
//
// Anthropic's API requires that the user speaks first and that roles alternate.
// If the first message kept is the model's, Write restores the user's message
// before it if there is room, and otherwise drops the messages up to the user's
// next one. It joins messages of one role that become adjacent because the
// messages between them are dropped.
//
// The notes say what was restored, dropped or joined, and what the API would
// refuse in the result. Write fails with an error of w, or if an item of the
// window is not from the transcript.
func (t *Transcript) Write(w io.Writer, selected Selection) (notes []string, err error) {
	kept := make([]bool, len(t.groups))
	for _, item := range selected.Window {
		i, ok := t.byItem[item]
		if !ok {
			return nil, errors.New("an item of the window is not from this transcript")
		}
		kept[i] = true
	}
	n := &notesOf{}
	if selected.Deduplicated {
		t.noteDuplicates(kept, n)
	}
	if t.source.API == Messages {
		t.startWithUser(kept, selected.Room, n)
	}
	keptEntries := make([]bool, len(t.entries))
	messages := 0
	for i, g := range t.groups {
		for _, e := range g.entries {
			keptEntries[e] = kept[i]
			if kept[i] && (t.entries[e].member == "" || t.entries[e].member == t.source.API.list()) {
				messages++
			}
		}
	}
	last := len(t.entries) - 1
	switch {
	case messages == 0:
		n.note("no message is left; the API refuses a request without one")
	case t.source.API == Messages && t.entries[last].role == "user" && !keptEntries[last] && t.lastRole(keptEntries) == "assistant":
		n.note("the last message is now the model's: the API continues it or refuses it")
	case t.source.API == Messages && t.lostThinking(keptEntries):
		n.note("the model's turn at the end no longer begins with its thinking: the API refuses that if thinking is enabled")
	}
	_, err = w.Write(t.text(keptEntries, n))
	return n.notes(), err
}

// lastRole returns the role of the last message kept.
func (t *Transcript) lastRole(kept []bool) string {
	for i, e := range slices.Backward(t.entries) {
		if kept[i] {
			return e.role
		}
	}
	return ""
}

// lostThinking reports whether the selection left the model in the middle of a
// turn that no longer begins with thinking, in a conversation with thinking.
func (t *Transcript) lostThinking(kept []bool) bool {
	last := len(kept) - 1
	for last >= 0 && !kept[last] {
		last--
	}
	if last < 0 || !t.entries[last].tool || !slices.ContainsFunc(t.entries, func(e entry) bool { return e.thinks }) {
		return false
	}
	asked := last
	for asked >= 0 && !(kept[asked] && t.entries[asked].asks()) {
		asked--
	}
	first := t.turn(asked)
	for first >= 0 && !kept[first] {
		first = t.turn(first)
	}
	return first >= 0 && !t.entries[first].thinks && first != t.turn(t.lastAsked())
}

// noteDuplicates adds a note about the messages dropped as duplicates. Pinned
// messages are never deduplicated.
func (t *Transcript) noteDuplicates(kept []bool, n *notesOf) {
	contents := make(map[string]bool, len(kept))
	for i, g := range t.groups {
		if kept[i] && !g.item.Pinned() {
			contents[g.item.Content()] = true
		}
	}
	count, tokens := 0, 0
	for i, g := range t.groups {
		if !kept[i] && contents[g.item.Content()] {
			count, tokens = count+1, add(tokens, g.item.Tokens())
		}
	}
	if count > 0 {
		n.note("dropped as duplicates: %s, %s; a policy with \"deduplicate\": false keeps them",
			plural(count, "item"), plural(tokens, "token"))
	}
}

// startWithUser makes the first message kept one of the user's.
func (t *Transcript) startWithUser(kept []bool, room int, n *notesOf) {
	first := 0
	for ; first < len(kept) && (!kept[first] || !t.first(first).spoken()); first++ {
	}
	if first == len(kept) || t.opens(first) {
		return // there is none, or it is the user's
	}
	opening := first - 1
	for opening >= 0 && !t.opens(opening) {
		opening--
	}
	if opening < 0 {
		return // the transcript has no user message before it
	}
	if item := t.groups[opening].item; item.Tokens() <= room {
		kept[opening] = true
		n.note("restored %s (%s), because the API requires that the user speaks first", t.first(opening).path(Messages), plural(item.Tokens(), "token"))
		return
	}
	count, tokens := 0, 0
	for i := first; i < len(kept) && !(kept[i] && t.opens(i)); i++ {
		if kept[i] && t.first(i).spoken() {
			kept[i] = false
			count, tokens = count+1, add(tokens, t.groups[i].item.Tokens())
		}
	}
	n.note("dropped %s from %s on (%s), because the API requires that the user speaks first, and the user's message before does not fit",
		plural(count, "item"), t.first(first).path(Messages), plural(tokens, "token"))
}

// first returns the first entry of a group.
func (t *Transcript) first(i int) *entry { return &t.entries[t.groups[i].entries[0]] }

// spoken reports whether an entry is a message of the user or the model.
func (e *entry) spoken() bool { return e.member == "" && !isSystem(e.role) }

// opens reports whether a conversation may begin with the group.
func (t *Transcript) opens(i int) bool {
	e := t.first(i)
	return e.member == "" && e.role == "user" && !e.tool
}

// text is the transcript with some of its entries.
func (t *Transcript) text(kept []bool, n *notesOf) []byte {
	messages := t.keptMessages(kept, n)
	if t.source.Value.IsZero() {
		return append(bytes.Join(messages, []byte("\n")), "\n"...)
	}
	before, after := t.source.Value.Around()
	if !bytes.HasSuffix(after, []byte("\n")) {
		after = append(slices.Clip(after), '\n')
	}
	value := t.source.Value
	if value.IsObject() {
		value = t.body.Get(t.source.API.list())
	}
	list := enclose('[', messages, ']')
	if len(value.Elements()) == 0 {
		list = value.Raw() // with the white space that may be in it
	}
	if t.source.Value.IsArray() {
		return slices.Concat(before, list, after)
	}
	gone := make(map[string]bool)
	for i, e := range t.entries {
		gone[e.member] = e.member != "" && e.member != "tools" && !kept[i]
	}
	var members [][]byte
	for _, m := range t.body.Members {
		switch {
		case m.Name == t.source.API.list() && m.Value.IsArray():
			members = append(members, m.With(list))
		case m.Name == t.source.API.list() && gone[m.Name]:
			members = append(members, m.With([]byte("[]")))
		case !gone[m.Name]:
			members = append(members, m.Outer())
		}
	}
	return slices.Concat(before, enclose('{', members, '}'), after)
}

func enclose(opening byte, parts [][]byte, closing byte) []byte {
	return slices.Concat([]byte{opening}, bytes.Join(parts, []byte(",")), []byte{closing})
}

// keptMessages returns the texts of the messages kept, joined where the API
// requires it.
func (t *Transcript) keptMessages(kept []bool, n *notesOf) [][]byte {
	var messages [][]byte
	var last *joined
	flush := func() {
		if last != nil {
			messages = append(messages, last.text())
		}
	}
	count := 0
	for i := range t.entries {
		e := &t.entries[i]
		if !kept[i] || e.member != "" {
			continue
		}
		if last != nil && t.source.API == Messages && last.take(e) {
			count++
			continue
		}
		flush()
		last = &joined{first: e, last: e}
	}
	flush()
	if count > 0 {
		n.note("joined %s with the one before, because the messages between were dropped", plural(count, "message"))
	}
	return messages
}

// joined is a message that may include later ones.
type joined struct {
	first, last *entry
	members     []member // of the first message, then further ones of the others; nil until a join
	blocks      [][]byte
}

// member is a member of a message. Its text without white space is computed once
// for all comparisons.
type member struct {
	rawjson.Part
	compact string // "" of a content, which is never compared
}

func newMember(p rawjson.Part) member {
	if p.Name == "content" {
		return member{Part: p}
	}
	return member{p, p.Value.Compact()}
}

// take joins a message to j if that is necessary and possible.
func (j *joined) take(e *entry) bool {
	if e.role != j.last.role || e.index == j.last.index+1 {
		return false
	}
	const most = 16 // members are compared one by one
	o, err := e.part.Value.Object("")
	if err != nil || len(o.Members) > most || len(j.members) > most {
		return false
	}
	mine, said := slices.Clone(j.members), j.blocks
	if mine == nil {
		first, err := j.first.part.Value.Object("")
		if err != nil || len(first.Members) > most {
			return false
		}
		for _, m := range first.Members {
			mine = append(mine, newMember(m))
		}
		said = blocks(first.Get("content"))
	}
	for _, part := range o.Members {
		m := newMember(part)
		at := slices.IndexFunc(mine, func(p member) bool { return p.Name == m.Name })
		switch {
		case at < 0:
			mine = append(mine, m)
		case mine[at].compact != m.compact:
			return false // both values are needed
		}
	}
	j.members, j.blocks, j.last = mine, append(said, blocks(o.Get("content"))...), e
	return true
}

// blocks returns the parts of a content. The API refuses empty text.
func blocks(content rawjson.Value) [][]byte {
	if content.IsString() {
		if content.String() == "" {
			return nil
		}
		return [][]byte{slices.Concat([]byte(`{"type": "text", "text": `), content.Raw(), []byte("}"))}
	}
	var blocks [][]byte
	for _, part := range content.Elements() {
		blocks = append(blocks, part.Value.Raw())
	}
	return blocks
}

func (j *joined) text() []byte {
	if j.members == nil {
		return j.first.part.Outer()
	}
	members := make([][]byte, len(j.members))
	for i, m := range j.members {
		members[i] = m.Outer()
		if m.Name == "content" {
			members[i] = m.With(slices.Concat([]byte("["), bytes.Join(j.blocks, []byte(", ")), []byte("]")))
		}
	}
	return j.first.part.With(enclose('{', members, '}'))
}
