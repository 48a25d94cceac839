package cupelchat

import (
	"bytes"
	"slices"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// joiner puts messages one after the other. Where an API requires that roles
// alternate, it joins messages of one role that became neighbours because what was
// between them is gone.
type joiner struct {
	codec  codec
	done   [][]byte
	last   *joined
	joined int // how many messages were joined with the one before
}

// add adds a message; index is its place in the list, or none for a new one.
func (j *joiner) add(text []byte, role string, index int) {
	if !j.codec.rules().alternate {
		j.done = append(j.done, text)
		return
	}
	next := &joined{text: text, role: role, index: index}
	if j.last != nil && j.last.take(next, j.codec) {
		j.joined++
		return
	}
	j.flush()
	j.last = next
}

func (j *joiner) flush() {
	if j.last != nil {
		j.done = append(j.done, j.last.bytes(j.codec))
	}
}

// texts returns the messages.
func (j *joiner) texts() [][]byte {
	j.flush()
	j.last = nil
	return j.done
}

// joined is a message that may include later ones.
type joined struct {
	text    []byte
	role    string
	index   int // of the last message in it
	outer   rawjson.Part
	members []member // of the first message, then further ones of the others; nil until a join
	blocks  [][]byte
}

// member is a member of a message. Its text without white space is computed once
// for all comparisons.
type member struct {
	rawjson.Part
	compact string // "" of a content, which is never compared
}

func newMember(p rawjson.Part, content string) member {
	if p.Name == content {
		return member{Part: p}
	}
	return member{p, p.Value.Compact()}
}

// take joins a message to j if that is necessary and possible.
func (j *joined) take(next *joined, c codec) bool {
	if next.role != j.role || next.index != none && next.index == j.index+1 && !c.rules().neighbours {
		return false
	}
	const most = 16 // members are compared one by one
	content := c.rules().content
	o, _, err := objectOf(next.text)
	if err != nil || len(o.Members) > most || len(j.members) > most {
		return false
	}
	mine, said, outer := slices.Clone(j.members), j.blocks, j.outer
	if mine == nil {
		var first rawjson.Object
		if first, outer, err = objectOf(j.text); err != nil || len(first.Members) > most {
			return false
		}
		for _, m := range first.Members {
			mine = append(mine, newMember(m, content))
		}
		said = blocks(first.Get(content), c)
	}
	for _, part := range o.Members {
		m := newMember(part, content)
		at := slices.IndexFunc(mine, func(p member) bool { return p.Name == m.Name })
		switch {
		case at < 0:
			mine = append(mine, m)
		case mine[at].compact != m.compact:
			return false // both values are needed
		}
	}
	j.members, j.outer, j.index = mine, outer, next.index
	j.blocks = append(said, blocks(o.Get(content), c)...)
	return true
}

// objectOf parses a message that is written.
func objectOf(text []byte) (rawjson.Object, rawjson.Part, error) {
	p, err := rawjson.Element(text)
	if err != nil {
		return rawjson.Object{}, p, err
	}
	o, err := p.Value.Object("")
	return o, p, err
}

// blocks returns the parts of a content. An empty text is none: APIs refuse it.
func blocks(content rawjson.Value, c codec) [][]byte {
	if content.IsString() {
		if content.String() == "" {
			return nil
		}
		return [][]byte{c.text(content.String())}
	}
	var blocks [][]byte
	for _, part := range content.Elements() {
		blocks = append(blocks, part.Value.Raw())
	}
	return blocks
}

func (j *joined) bytes(c codec) []byte {
	if j.members == nil {
		return j.text
	}
	members := make([][]byte, len(j.members))
	for i, m := range j.members {
		members[i] = m.Outer()
		if m.Name == c.rules().content {
			members[i] = m.With(slices.Concat([]byte("["), bytes.Join(j.blocks, []byte(", ")), []byte("]")))
		}
	}
	return j.outer.With(enclose('{', members, '}'))
}
