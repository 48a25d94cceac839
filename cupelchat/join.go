package cupelchat

import (
	"bytes"
	"slices"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// joiner puts messages one after the other. If an API requires that roles
// alternate, it joins messages of one role that became neighbors because
// everything between them is gone.
type joiner struct {
	rules      *rules
	neighbours bool // joins those that were neighbors before too
	list       []*joined
	joined     int // how many messages were joined with the one before
}

// add adds a message; index is its place in the list, or none for a new one.
func (j *joiner) add(text []byte, role string, index int) {
	next := &joined{text: text, role: role, index: index}
	if last := len(j.list) - 1; last >= 0 && j.wants(j.list[last], next) {
		j.list[last].take(next, j.rules)
		j.joined++
		return
	}
	j.list = append(j.list, next)
}

// texts returns the messages.
func (j *joiner) texts() [][]byte {
	texts := make([][]byte, len(j.list))
	for i, m := range j.list {
		texts[i] = m.bytes()
	}
	return texts
}

// joined is a message that may include later ones.
type joined struct {
	text   []byte
	role   string
	index  int           // of the last message in it
	more   bool          // includes later ones
	outer  rawjson.Part  // of the first message
	said   rawjson.Value // of the first message: its content
	blocks [][]byte      // of all
}

// wants reports whether a message must be joined with the one before.
func (j *joiner) wants(before, next *joined) bool {
	return j.rules.alternate && next.role == before.role && (j.neighbours || next.index != before.index+1)
}

// take joins a message to j. Only its content stays.
func (j *joined) take(next *joined, u *rules) {
	j.parse(u)
	next.parse(u)
	j.index, j.more = next.index, true
	j.blocks = append(j.blocks, next.blocks...)
}

// parse parses a message that is written.
func (j *joined) parse(u *rules) {
	if j.more {
		return
	}
	j.outer, _ = rawjson.Element(j.text) // messages are JSON
	o, _ := j.outer.Value.Fields()
	j.said = o.Get(u.content)
	j.blocks = blocks(j.said, u)
}

// blocks returns the parts of a content. An empty text is none: APIs refuse it.
func blocks(content rawjson.Value, u *rules) [][]byte {
	if content.IsString() {
		if content.String() == "" {
			return nil
		}
		return [][]byte{u.part(content.String())}
	}
	var blocks [][]byte
	for _, part := range content.Elements() {
		blocks = append(blocks, part.Value.Raw())
	}
	return blocks
}

// bytes returns the message with what was joined to it.
func (j *joined) bytes() []byte {
	if !j.more {
		return j.text
	}
	var edits rawjson.Edits
	edits.Replace(j.said, slices.Concat([]byte("["), bytes.Join(j.blocks, []byte(", ")), []byte("]")))
	return edits.Outer(j.outer)
}
