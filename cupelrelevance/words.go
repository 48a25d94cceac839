package cupelrelevance

import "sync"

// words finds the items of one list that have a word. Its slices are the
// corpus's at the time when the list was followed.
type words struct {
	n        int      // items
	numbers  []uint32 // in the corpus, by position
	at       []uint32 // by number, one more than the first position; 0: the list does not have the item
	again    []uint32 // by position, one more than the next position of the same item, or 0; nil if each item occurs once
	first    []uint32 // by position, the first of the same item; nil like again
	facts    []fact   // by number
	total    int      // terms of all positions
	segments []*segment
}

// see sets all but n and numbers.
func (w *words) see(c *corpus) {
	w.facts, w.segments = c.facts, c.segments
	w.at = make([]uint32, len(c.facts))
	for i, number := range w.numbers {
		w.total += int(w.facts[number].terms)
		if w.at[number] == 0 {
			w.at[number] = uint32(i) + 1
		} else if w.first == nil {
			w.first, w.again = make([]uint32, w.n), make([]uint32, w.n)
		}
	}
	if w.first == nil {
		return
	}
	last := make([]uint32, len(c.facts))
	for i, number := range w.numbers {
		w.first[i] = w.at[number] - 1
		if w.first[i] != uint32(i) {
			w.again[last[number]] = uint32(i) + 1
		}
		last[number] = uint32(i)
	}
}

// next returns one more than the next position of the same item, or 0.
func (w *words) next(position uint32) uint32 {
	if w.again == nil {
		return 0
	}
	return w.again[position]
}

// count adds the occurrences of a term to the frequencies of the items, which
// are 0 before, and the positions of the items that have it to touched.
func (w *words) count(term queryTerm, frequency []float64, touched []uint32) []uint32 {
	for _, s := range w.segments {
		ids := term.in(s)
		for _, id := range ids {
			from, to := s.of(id)
			for _, number := range s.items[from:to] {
				for at := w.at[number]; at > 0; at = w.next(at - 1) {
					if frequency[at-1] == 0 {
						touched = append(touched, at-1)
					}
					frequency[at-1]++
				}
			}
		}
	}
	return touched
}

// scratch is pooled memory for one question.
type scratch struct {
	frequency []float64 // by item; 0 between two words
	touched   []uint32
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// each calls f for each of the terms that an item has, with the items that have it, and its
// frequency in each. f may write to frequency, but only the entries of these items may
// differ from 0 when it returns.
func (w *words) each(terms []queryTerm, f func(term queryTerm, items []uint32, frequency []float64)) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	if cap(s.frequency) < w.n {
		s.frequency = make([]float64, w.n)
	}
	s.frequency = s.frequency[:w.n]
	for _, term := range terms {
		s.touched = w.count(term, s.frequency, s.touched[:0])
		if len(s.touched) > 0 {
			f(term, s.touched, s.frequency)
		}
		for _, i := range s.touched {
			s.frequency[i] = 0
		}
	}
}

// settle gives all positions of an item the highest of their scores: a scorer
// scores items, not positions.
func (w *words) settle(scores []float64) {
	if w.first == nil {
		return
	}
	for i, f := range w.first {
		if scores[i] > scores[f] {
			scores[f] = scores[i]
		}
	}
	for i, f := range w.first {
		scores[i] = scores[f]
	}
}
