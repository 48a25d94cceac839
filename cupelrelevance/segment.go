package cupelrelevance

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/bits"
	"slices"
	"sync"

	"github.com/wollax/cupel-go/cupel"
)

// segment records which words occur in which items, and how often. Words are
// stored unstemmed, in lower case; a question looks up stems among the few words
// that may have them (stems.go), so that indexing needs no stemmer. A segment is
// immutable.
type segment struct {
	hashing
	text  []byte
	ends  []int  // of each word in text
	slots []slot // open addressing
	postings

	stems stems
}

// slot is a place in the table of words.
type slot struct {
	hash uint32
	next uint32 // number of the word + 1; 0: free
}

// postings are the items that have each word.
type postings struct {
	starts []int    // of each word, in items; one more at the end
	items  []uint32 // their numbers in the corpus, ascending, one for each occurrence that counts
}

// maxOccurrences is how many occurrences of a word in an item count.
const maxOccurrences = 255

// builder builds a segment.
type builder struct {
	*segment
	cutter  *tokenizer
	mask    uint32
	entries []entry // by word

	item       uint32 // 1 + the position of the current one
	from       int    // where its occurrences begin
	occurrence []occurrence
	length     uint32
}

// entry is the data that building needs about a word, in half a cache line.
type entry struct {
	key   key
	item  uint32 // that has its newest occurrence, as builder.item
	at    uint32 // where that is among the occurrences of the item
	items uint32 // in its postings
}

type occurrence struct {
	word  uint32
	count uint32
}

// newSegment reads the contents and the tags of items. The first item has the given
// number. It sets the number of terms of each item.
func newSegment(ctx context.Context, all []*cupel.ContextItem, first uint32, hashing hashing, terms []uint32) (*segment, error) {
	w := &segment{hashing: hashing}
	size := 0
	for _, item := range all {
		size += len(item.Content())
	}
	b := &builder{segment: w}
	b.makeSlots(min(size/16, 1<<11))
	b.cutter = newTokenizer(b.add)
	memory := buildings.Get().(*building)
	b.entries, b.occurrence = memory.entries[:0], memory.occurrence[:0]
	defer func() {
		memory.entries, memory.occurrence = b.entries, b.occurrence
		buildings.Put(memory)
	}()
	b.occurrence = slices.Grow(b.occurrence, size/6) // most texts have fewer words, and repeated ones count once
	ends := make([]int, len(all))                    // of the items' occurrences
	for i, item := range all {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		b.item, b.from, b.length = uint32(i)+1, len(b.occurrence), 0
		b.read(item.Content())
		for _, tag := range item.AllTags() {
			b.read(tag)
		}
		terms[i] = b.length
		ends[i] = len(b.occurrence)
	}
	b.distribute(ends, first)
	b.finish()
	return w, ctx.Err()
}

// finish sets the fields that depend on all words.
func (b *builder) finish() {
	b.text, b.ends = slices.Clone(b.text), slices.Clone(b.ends) // without room for more
}

// makeSlots makes room for a number of words.
func (b *builder) makeSlots(words int) {
	b.slots = make([]slot, 1<<bits.Len(uint(words/3*4+8)))
	b.mask = uint32(len(b.slots) - 1)
}

// building is pooled memory.
type building struct {
	entries    []entry
	occurrence []occurrence
}

var buildings = sync.Pool{New: func() any { return new(building) }}

// read counts the terms of one text of the current item, as the tokenizer finds
// them. It reads plain words, which are most, without the tokenizer.
func (b *builder) read(s string) {
	for i := 0; i < len(s); {
		c := classes[s[i]]
		if c == separator {
			i++
			continue
		}
		if c == lower || c == upper {
			if k, end := plainWord(s, i, c); end > 0 {
				b.count(b.plainWord(k))
				i = end + 1 // the byte after it separates
				continue
			}
		}
		i = b.cutter.word(s, i)
	}
}

// add counts one term of the current item.
func (b *builder) add(term []byte, _ bool) {
	b.count(b.word(term))
}

func (b *builder) count(id uint32) {
	b.length++
	e := &b.entries[id]
	if e.item == b.item {
		if o := &b.occurrence[b.from+int(e.at)]; o.count < maxOccurrences {
			o.count++
			e.items++
		}
		return
	}
	e.item, e.at = b.item, uint32(len(b.occurrence)-b.from)
	e.items++
	b.occurrence = append(b.occurrence, occurrence{id, 1})
}

// plainWord returns the number of a word that has its own key, and adds the word
// if it is new.
func (b *builder) plainWord(k key) uint32 {
	hash := b.hash(k)
	for at := hash & b.mask; ; at = (at + 1) & b.mask {
		s := b.slots[at]
		if s.next == 0 {
			var term [shortTerm]byte
			binary.LittleEndian.PutUint64(term[:], k.low)
			binary.LittleEndian.PutUint64(term[8:], k.high)
			return b.newWord(at, hash, k, bytes.TrimRight(term[:], "\x00"))
		}
		if s.hash == hash && b.entries[s.next-1].key == k {
			return s.next - 1
		}
	}
}

// word returns the number of a term, and adds the term if it is new.
func (b *builder) word(term []byte) uint32 {
	k := keyOf(b.seed, term)
	hash := b.hash(k)
	for at := hash & b.mask; ; at = (at + 1) & b.mask {
		s := b.slots[at]
		if s.next == 0 {
			return b.newWord(at, hash, k, term)
		}
		if id := s.next - 1; b.entries[id].key == k && string(b.at(id)) == string(term) {
			return id
		}
	}
}

func (b *builder) newWord(at, hash uint32, k key, term []byte) uint32 {
	id := uint32(len(b.ends))
	b.slots[at] = slot{hash, id + 1}
	b.text = append(b.text, term...)
	b.ends = append(b.ends, len(b.text))
	b.entries = append(b.entries, entry{key: k})
	if len(b.ends) > len(b.slots)/4*3 {
		old := b.slots
		b.mask = b.mask<<1 | 1
		b.slots = make([]slot, b.mask+1)
		for _, s := range old {
			if s.next == 0 {
				continue
			}
			at := s.hash & b.mask
			for b.slots[at].next != 0 {
				at = (at + 1) & b.mask
			}
			b.slots[at] = s
		}
	}
	return id
}

// distribute orders the occurrences by word. The first item has the given
// number.
func (b *builder) distribute(ends []int, first uint32) {
	p := &b.postings
	// While a word's occurrences are written, the start of the next word holds
	// the place of the next occurrence; after the last one it is correct.
	p.starts = make([]int, len(b.entries)+1)
	at := 0
	for id := range b.entries {
		p.starts[id+1] = at
		at += int(b.entries[id].items)
	}
	p.items = make([]uint32, at)
	from := 0
	for i, end := range ends {
		for _, o := range b.occurrence[from:end] {
			for range o.count {
				p.items[p.starts[o.word+1]] = first + uint32(i)
				p.starts[o.word+1]++
			}
		}
		from = end
	}
}

// of returns the range of the postings of a word.
func (p *postings) of(id uint32) (from, to int) {
	return p.starts[id], p.starts[id+1]
}

// at returns a word.
func (w *segment) at(id uint32) []byte {
	from := 0
	if id > 0 {
		from = w.ends[id-1]
	}
	return w.text[from:w.ends[id]]
}

// find returns the number of a word, and false when no item has it.
func (w *segment) find(term string) (uint32, bool) {
	mask := uint32(len(w.slots) - 1)
	hash := w.hash(keyOf(w.seed, []byte(term)))
	for at := hash & mask; w.slots[at].next != 0; at = (at + 1) & mask {
		if s := w.slots[at]; s.hash == hash && string(w.at(s.next-1)) == term {
			return s.next - 1, true
		}
	}
	return 0, false
}
