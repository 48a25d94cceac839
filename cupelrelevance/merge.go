package cupelrelevance

import "slices"

// A corpus has few segments. The first has most of the text. The later ones have
// the items that came later, each less than half of the segment before it.
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
	return append(segments[:from], merged(segments[from:]))
}

// size approximates the cost of merging a segment.
func (w *segment) size() int {
	return len(w.ends) + len(w.items)
}

// merged returns one segment in place of several.
func merged(segments []*segment) *segment {
	first := segments[0]
	b := &builder{segment: &segment{hashing: first.hashing}}
	b.makeSlots(len(first.ends))
	ids := make([][]uint32, len(segments)) // of their words in the new one
	for k, s := range segments {
		ids[k] = make([]uint32, len(s.ends))
		for id := range uint32(len(s.ends)) {
			ids[k][id] = b.word(s.at(id))
		}
	}
	w := b.segment
	p := &b.postings
	// While postings are written, the start of the next word holds the place of
	// the next posting; after the last one it is correct.
	p.starts = make([]int, len(w.ends)+2)
	for k, s := range segments {
		for id, to := range ids[k] {
			start, end := s.of(uint32(id))
			p.starts[to+2] += end - start
		}
	}
	for id := range w.ends {
		p.starts[id+2] += p.starts[id+1]
	}
	p.items = make([]uint32, p.starts[len(w.ends)+1])
	for k, s := range segments {
		for id, to := range ids[k] {
			start, end := s.of(uint32(id))
			copy(p.items[p.starts[to+1]:], s.items[start:end])
			p.starts[to+1] += end - start
		}
	}
	b.finish()
	return w
}
