package cupelrelevance

import (
	"context"
	"hash/maphash"
	"math"
	"slices"
	"sync"

	"github.com/wollax/cupel-go/cupel"
)

// words says which words occur in which items of a list, and how often. Words
// are kept as they are written, in small letters; stems are looked for when a
// question comes, among the few words that may have them (stems.go), so that
// building needs none.
type words struct {
	n      int // items
	text   []byte
	ends   []int // of each word in text
	seed   maphash.Seed
	slots  []slot   // open addressing
	plain  []uint64 // bit set of the words that may have a stem other than themselves
	fields []postings
	first  []uint32 // of an item given several times, its first position; nil if none is

	stems stems
}

// slot is a place in the table of words.
type slot struct {
	hash uint32
	next uint32 // number of the word + 1; 0: free
}

// postings are the items that have each word in one field.
type postings struct {
	field   Field
	starts  []int    // of each word, in items and counts; one more at the end
	items   []uint32 // ascending
	counts  []uint8  // occurrences, at most 255
	lengths []uint32 // terms by item
	total   int      // terms of all items
}

// builder is words in the making.
type builder struct {
	*words
	mask uint32
	last []int // by word: where its newest occurrence is, or -1

	item       int
	from       int // where the occurrences of the item begin
	occurrence []occurrence
	length     uint32
}

type occurrence struct {
	word  uint32
	count uint32
}

// newWords reads the items once a field.
func newWords(ctx context.Context, all []*cupel.ContextItem, fields []Field, language Language) (*words, error) {
	w := &words{n: len(all), seed: maphash.MakeSeed(), fields: make([]postings, len(fields))}
	b := &builder{words: w, mask: 1<<12 - 1}
	w.slots = make([]slot, b.mask+1)
	cutter := newTokenizer(b.add)
	scratch := occurrences.Get().(*[]occurrence)
	b.occurrence = *scratch
	defer func() {
		*scratch = b.occurrence[:0]
		occurrences.Put(scratch)
	}()
	bytes := 0
	for _, item := range all {
		bytes += len(item.Content())
	}
	b.occurrence = slices.Grow(b.occurrence[:0], bytes/8) // few words are shorter, repeated ones count once
	ends := make([]int, len(all))                         // of the items' occurrences
	for f, field := range fields {
		p := &w.fields[f]
		p.field, p.lengths = field, make([]uint32, len(all))
		b.occurrence = b.occurrence[:0]
		clearLast(b.last)
		for i, item := range all {
			if i%256 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			b.item, b.from, b.length = i, len(b.occurrence), 0
			eachText(item, field, cutter.text)
			p.lengths[i] = b.length
			p.total += int(b.length)
			ends[i] = len(b.occurrence)
		}
		b.distribute(p, ends)
	}
	for f := range w.fields { // words that later fields brought
		p := &w.fields[f]
		for len(p.starts) <= len(w.ends) {
			p.starts = append(p.starts, len(p.items))
		}
	}
	w.stems.prepare(w, language)
	return w, ctx.Err()
}

var occurrences = sync.Pool{New: func() any { return new([]occurrence) }}

func clearLast(last []int) {
	for i := range last {
		last[i] = -1
	}
}

// eachText calls f with each text of a field.
func eachText(item *cupel.ContextItem, field Field, f func(string)) {
	switch field {
	case FieldContent:
		f(item.Content())
	case FieldTags:
		for _, tag := range item.AllTags() {
			f(tag)
		}
	default:
		value, _ := item.MetadataValue(string(field[len(metadataPrefix):]))
		switch v := value.(type) {
		case string:
			f(v)
		case []string:
			for _, s := range v {
				f(s)
			}
		}
	}
}

// add counts one term of the current item.
func (b *builder) add(term []byte, word bool) {
	b.length++
	id := b.word(term, word)
	if at := b.last[id]; at >= b.from {
		b.occurrence[at].count++
		return
	}
	b.last[id] = len(b.occurrence)
	b.occurrence = append(b.occurrence, occurrence{id, 1})
}

// word returns the number of a term, a new one if need be.
func (b *builder) word(term []byte, word bool) uint32 {
	hash := uint32(maphash.Bytes(b.seed, term))
	for at := hash & b.mask; ; at = (at + 1) & b.mask {
		s := b.slots[at]
		if s.next == 0 {
			return b.newWord(at, hash, term, word)
		}
		if id := s.next - 1; s.hash == hash && string(b.at(id)) == string(term) {
			if word {
				b.plain[id/64] |= 1 << (id % 64)
			}
			return id
		}
	}
}

func (b *builder) newWord(at, hash uint32, term []byte, word bool) uint32 {
	id := uint32(len(b.ends))
	b.slots[at] = slot{hash, id + 1}
	b.text = append(b.text, term...)
	b.ends = append(b.ends, len(b.text))
	b.last = append(b.last, -1)
	if id%64 == 0 {
		b.plain = append(b.plain, 0)
	}
	if word {
		b.plain[id/64] |= 1 << (id % 64)
	}
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

// distribute orders the occurrences by word.
func (b *builder) distribute(p *postings, ends []int) {
	p.starts = make([]int, len(b.ends)+1)
	for _, o := range b.occurrence {
		p.starts[o.word+1]++
	}
	for i := 1; i < len(p.starts); i++ {
		p.starts[i] += p.starts[i-1]
	}
	next := b.last // its contents are not needed any more
	copy(next, p.starts)
	p.items = make([]uint32, len(b.occurrence))
	p.counts = make([]uint8, len(b.occurrence))
	from := 0
	for i, end := range ends {
		for _, o := range b.occurrence[from:end] {
			at := next[o.word]
			next[o.word]++
			p.items[at], p.counts[at] = uint32(i), uint8(min(o.count, math.MaxUint8))
		}
		from = end
	}
}

// at returns a word.
func (w *words) at(id uint32) []byte {
	from := 0
	if id > 0 {
		from = w.ends[id-1]
	}
	return w.text[from:w.ends[id]]
}

func (w *words) isPlain(id uint32) bool { return w.plain[id/64]>>(id%64)&1 != 0 }

// find returns the number of a word, and false when no item has it.
func (w *words) find(term string) (uint32, bool) {
	mask := uint32(len(w.slots) - 1)
	hash := uint32(maphash.String(w.seed, term))
	for at := hash & mask; w.slots[at].next != 0; at = (at + 1) & mask {
		if s := w.slots[at]; s.hash == hash && string(w.at(s.next-1)) == term {
			return s.next - 1, true
		}
	}
	return 0, false
}

// firstPositions returns for each item the position at which it occurs first,
// or nil when each occurs once.
func firstPositions(all []*cupel.ContextItem) []uint32 {
	at := make(map[*cupel.ContextItem]uint32, len(all))
	var first []uint32
	for i, item := range all {
		before, twice := at[item]
		if !twice {
			at[item] = uint32(i)
			before = uint32(i)
		} else if first == nil {
			first = make([]uint32, len(all))
			for j := range i {
				first[j] = uint32(j)
			}
		}
		if first != nil {
			first[i] = before
		}
	}
	return first
}
