package cupelrelevance

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"
	"sync"

	"github.com/wollax/cupel-go/cupel"
)

// words records which words occur in which items of a list, and how often.
// Words are stored unstemmed, in lower case; a question looks up stems among
// the few words that may have them (stems.go), so that indexing needs no
// stemmer.
type words struct {
	n      int // items
	text   []byte
	ends   []int // of each word in text
	seed   maphash.Seed
	low    uint64 // the seed of the hash, with high
	high   uint64
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

// builder builds words.
type builder struct {
	*words
	cutter  *tokenizer
	mask    uint32
	entries []entry // by word

	item       uint32 // 1 + the position of the current one
	from       int    // where its occurrences begin
	occurrence []occurrence
	length     uint32
}

// entry is what building needs to know about a word, in half a line of cache.
type entry struct {
	key   key
	item  uint32 // that has its newest occurrence, as builder.item; 0: none in this field
	at    uint32 // where that is among the occurrences of the item
	items uint32 // that have it in this field
	plain bool   // see words.plain
}

type occurrence struct {
	word  uint32
	count uint32
}

// newWords reads the items once a field.
func newWords(ctx context.Context, all []*cupel.ContextItem, fields []Field, language Language) (*words, error) {
	w := &words{n: len(all), seed: maphash.MakeSeed(), fields: make([]postings, len(fields))}
	w.low, w.high = maphash.String(w.seed, "low"), maphash.String(w.seed, "high")
	b := &builder{words: w, mask: 1<<12 - 1}
	w.slots = make([]slot, b.mask+1)
	b.cutter = newTokenizer(b.add)
	memory := buildings.Get().(*building)
	b.entries, b.occurrence = memory.entries[:0], memory.occurrence[:0]
	defer func() {
		memory.entries, memory.occurrence = b.entries, b.occurrence
		buildings.Put(memory)
	}()
	size := 0
	for _, item := range all {
		size += len(item.Content())
	}
	b.occurrence = slices.Grow(b.occurrence, size/8) // few words are shorter, repeated ones count once
	ends := make([]int, len(all))                    // of the items' occurrences
	for f, field := range fields {
		p := &w.fields[f]
		p.field, p.lengths = field, make([]uint32, len(all))
		b.occurrence = b.occurrence[:0]
		for id := range b.entries {
			b.entries[id].item, b.entries[id].items = 0, 0
		}
		for i, item := range all {
			if i%256 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			b.item, b.from, b.length = uint32(i)+1, len(b.occurrence), 0
			eachText(item, field, b.read)
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
	w.plain = make([]uint64, (len(w.ends)+63)/64)
	for id := range b.entries {
		if b.entries[id].plain {
			w.plain[id/64] |= 1 << (id % 64)
		}
	}
	w.stems.prepare(w, language)
	return w, ctx.Err()
}

// building is pooled memory.
type building struct {
	entries    []entry
	occurrence []occurrence
}

var buildings = sync.Pool{New: func() any { return new(building) }}

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
func (b *builder) add(term []byte, word bool) {
	id := b.word(term)
	if word {
		b.entries[id].plain = true
	}
	b.count(id)
}

func (b *builder) count(id uint32) {
	b.length++
	e := &b.entries[id]
	if e.item == b.item {
		b.occurrence[b.from+int(e.at)].count++
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
			id := b.newWord(at, hash, k, bytes.TrimRight(term[:], "\x00"))
			b.entries[id].plain = true
			return id
		}
		if e := &b.entries[s.next-1]; s.hash == hash && e.key == k {
			e.plain = true
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

// distribute orders the occurrences by word.
func (b *builder) distribute(p *postings, ends []int) {
	// While a word's occurrences are written, the start of the next word is the
	// place of the next occurrence; after the last one it is right.
	p.starts = make([]int, len(b.entries)+1)
	at := 0
	for id := range b.entries {
		p.starts[id+1] = at
		at += int(b.entries[id].items)
	}
	p.items = make([]uint32, len(b.occurrence))
	p.counts = make([]uint8, len(b.occurrence))
	from := 0
	for i, end := range ends {
		for _, o := range b.occurrence[from:end] {
			at := p.starts[o.word+1]
			p.starts[o.word+1]++
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
	hash := w.hash(keyOf(w.seed, []byte(term)))
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
