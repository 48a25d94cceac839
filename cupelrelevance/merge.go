package cupelrelevance

import "slices"

// A corpus has few segments: the first with most of the text, and after it those
// of the items that came later, each less than half of the one before it.
const tail = 16 // the first segment is joined with the others when they are this part of it

// joined returns segments with one more at the end, without changing the slice.
func joined(segments []*segment, last *segment) []*segment {
	segments = append(slices.Clip(segments), last)
	from, behind := len(segments)-1, last.size()
	for from > 1 && 2*behind > segments[from-1].size() {
		from--
		behind += segments[from].size()
	}
	rest := 0
	for _, s := range segments[1:] {
		rest += s.size()
	}
	if rest*tail > segments[0].size() {
		from = 0
	}
	if from == len(segments)-1 {
		return segments
	}
	return append(segments[:from], merged(segments[from:], nil))
}

// size is about what it takes to merge a segment.
func (w *segment) size() int {
	size := len(w.ends)
	for f := range w.fields {
		size += len(w.fields[f].items)
	}
	return size
}

// merged returns one segment in place of several. If kept is not nil, it has
// only the items for which it is not 0, with numbers of one less than that, and
// only their words.
func merged(segments []*segment, kept []uint32) *segment {
	first := segments[0]
	b := &builder{segment: &segment{hashing: first.hashing, fields: make([]postings, len(first.fields))}}
	b.makeSlots(len(first.ends))
	ids := make([][]uint32, len(segments)) // of their words; one more than in the new one, 0 for those that go
	for k, s := range segments {
		ids[k] = make([]uint32, len(s.ends))
		for id := range uint32(len(s.ends)) {
			if kept == nil || s.has(id, kept) {
				ids[k][id] = b.word(s.at(id)) + 1
			}
		}
	}
	w := b.segment
	for f := range w.fields {
		p := &w.fields[f]
		// While postings are written, the start of the next word is the place of the
		// next posting; after the last one it is right.
		p.starts = make([]int, len(w.ends)+2)
		for k, s := range segments {
			from := &s.fields[f]
			for id, to := range ids[k] {
				if to > 0 {
					start, end := from.of(uint32(id))
					p.starts[to+1] += keptOf(from.items[start:end], kept)
				}
			}
		}
		for id := range w.ends {
			p.starts[id+2] += p.starts[id+1]
		}
		p.items, p.counts = make([]uint32, p.starts[len(w.ends)+1]), make([]uint8, p.starts[len(w.ends)+1])
		for k, s := range segments {
			from := &s.fields[f]
			for id, to := range ids[k] {
				if to == 0 {
					continue
				}
				at := p.starts[to]
				start, end := from.of(uint32(id))
				for i := start; i < end; i++ {
					number := from.items[i]
					if kept != nil {
						if kept[number] == 0 {
							continue
						}
						number = kept[number] - 1
					}
					p.items[at], p.counts[at] = number, from.counts[i]
					at++
				}
				p.starts[to] = at
			}
		}
		p.starts = p.starts[:len(w.ends)+1]
		if len(p.items) == 0 {
			p.starts = nil
		}
	}
	b.finish()
	return w
}

// has reports whether an item that is kept has a word.
func (w *segment) has(id uint32, kept []uint32) bool {
	for f := range w.fields {
		p := &w.fields[f]
		from, to := p.of(id)
		if slices.ContainsFunc(p.items[from:to], func(n uint32) bool { return kept[n] != 0 }) {
			return true
		}
	}
	return false
}

// keptOf returns how many of the items are kept.
func keptOf(items, kept []uint32) int {
	if kept == nil {
		return len(items)
	}
	n := 0
	for _, number := range items {
		if kept[number] != 0 {
			n++
		}
	}
	return n
}
