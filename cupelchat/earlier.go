package cupelchat

import (
	"bytes"
	"hash/maphash"
	"maps"
	"reflect"
	"slices"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// WithEarlier names a conversation that the body may continue. Messages at the beginning that
// are equal byte for byte are not read again, and keep their items. The result equals what
// [Read] returns without the option, for any body. The option saves time only if format,
// tokens of media, marker, counter, and the members around the messages are the same; a
// counter that is a function never counts as the same. nil changes nothing.
func WithEarlier(c *Conversation) Option {
	return func(s *settings) error {
		s.earlier = c
		return nil
	}
}

// follows reports whether c, which has no messages yet, may reuse what was
// read of e.
func (c *Conversation) follows(e *Conversation) bool {
	return e != nil && c.format == e.format && reflect.DeepEqual(c.mediaTokens, e.mediaTokens) &&
		identical(c.counter, e.counter) && identical(c.marker, e.marker)
}

// identical reports whether two values are equal, and can be compared at all.
func identical(a, b any) bool { return (a == nil || reflect.ValueOf(a).Comparable()) && a == b }

// stages are distances from the end, in messages, at which a later body may begin to
// differ: an incomplete last message changes, and breakpoints of a prompt cache move
// from a few of the last ones.
var stages = []int{1, 4, 16}

// mostStages is how many are kept.
const mostStages = 6

// stage keeps what was read before message i of the list.
func (r *reader) stage(i int) {
	if i == 0 || r.counter == nil || r.after == nil || !slices.Contains(stages, r.size-i) {
		return
	}
	if f := r.fork(); f != nil {
		r.stages = append(slices.Clip(r.stages[max(0, len(r.stages)+1-mostStages):]), f)
	}
}

// fork returns a reader that continues from here without changing r, or nil if the codec
// cannot.
func (r *reader) fork() *reader {
	f := *r
	if f.codec = r.codec.fork(); f.codec == nil {
		return nil
	}
	f.text, f.stages = nil, nil
	f.messages, f.entries, f.ends, f.found = slices.Clip(r.messages), slices.Clip(r.entries), slices.Clip(r.ends), slices.Clip(r.found)
	f.calls, f.list, f.links.parent = slices.Clone(r.calls), slices.Clone(r.list), slices.Clone(r.links.parent)
	f.pending, f.media = maps.Clone(r.pending), maps.Clone(r.media)
	return &f
}

// follow reads a body that begins like the one that r has read. It returns nil if
// nothing is saved, or the body cannot be read. Messages that others have read are
// only counted.
func (r *reader) follow(body []byte, read ...*reader) *reader {
	if r == nil || !bytes.HasSuffix(body, r.after) {
		return nil
	}
	end := len(body) - len(r.after)
	for i, s := range slices.Backward(r.stages) {
		comma := s.ends[len(s.ends)-1]
		if !bytes.HasPrefix(body[:end], r.text[:comma+1]) {
			continue
		}
		// The new messages get a text of their own, so that they do not keep the body.
		text, err := rawjson.NewText(slices.Concat([]byte("["), body[comma+1:end], []byte("]")))
		if err != nil {
			return nil
		}
		list, err := text.Value()
		parts := list.Elements()
		if err != nil || len(parts) == 0 {
			return nil
		}
		f := s.fork()
		f.text, f.stages, f.kept = body, r.stages[:i+1], len(s.entries)
		if f.readMessages(parts, comma, sizesOf(len(parts), read)); f.err != nil {
			return nil
		}
		return f
	}
	return nil
}

// size returns the tokens of a body that was written. It counts the messages that are in
// neither the conversation nor the body before.
func (c *Conversation) size(body []byte) (tokens int, err error) {
	last := c.written.Load()
	r := last.follow(body, c.reader, last)
	if r == nil {
		r = newReader(c.format, c.counter, c.settings)
		r.read(body, c.reader, last)
	}
	c.written.Store(r)
	if r.err != nil {
		return 0, r.err
	}
	for i := range r.entries {
		tokens = add(tokens, r.entries[i].tokens)
	}
	return tokens, nil
}

// hashes is of texts of messages. That two differ and have one hash of 64 bits is less
// likely than an error of the memory.
var hashes = maphash.MakeSeed()

// sizesOf returns the tokens of messages that were read, by hashes of their texts, if the
// search is worth it for so many messages.
func sizesOf(messages int, read []*reader) map[uint64]int {
	sizes := map[uint64]int{}
	if messages <= slices.Max(stages) {
		return sizes
	}
	for _, r := range read {
		if r == nil {
			continue
		}
		for _, m := range r.messages {
			tokens := 0
			for _, e := range r.entries[m.from:m.to] {
				tokens = add(tokens, e.tokens)
			}
			if m.member == "" {
				sizes[maphash.Bytes(hashes, m.raw.Value.Raw())] = tokens
			}
		}
	}
	return sizes
}

// takeItems takes the items of a group from an earlier conversation that has the same
// ones, and reports whether it does.
func (c *Conversation) takeItems(e *Conversation, g int, pins []bool) bool {
	group := c.groups[g]
	last := group[len(group)-1]
	if e == nil || last >= c.kept || !slices.Equal(group, e.group(last)) || !c.timeOf(last).Equal(e.timeOf(last)) ||
		slices.Contains(c.opened, g) || slices.Contains(e.opened, e.groupOf[last]) {
		return false
	}
	if slices.ContainsFunc(group, func(i int) bool { return pins[i] != e.items[i].Pinned() || c.leavesFirst(i) != e.leavesFirst(i) }) {
		return false
	}
	for _, i := range group {
		c.items[i] = e.items[i]
	}
	return true
}
