package cupelrelevance

import (
	"slices"
	"sync"
)

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

	short        []float64 // the same of an abbreviation
	shortTouched []uint32
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// An abbreviation has so many letters, which also keeps long words of a question cheap.
const leastLetters, mostLetters = 3, 8

// abbreviate adds the occurrences of the abbreviation of a term, such as "addr" for
// "address": the word that the term begins with and that is most often in the same items.
// An occurrence counts as much as the share of the items with the rarer of the two that
// have both, less the share that chance gives, so "car" does not stand for "carpet". If
// no item has the term, it counts half.
func (w *words) abbreviate(term *queryTerm, s *scratch) {
	best, weight, letters := "", 0.0, 0
	stemmer, items := newStemmer(), term.items
	for end := range term.text {
		if letters++; letters > mostLetters+1 {
			break
		}
		word := term.text[:end]
		if letters <= leastLetters || term.languages.isStopWord(word) {
			continue
		}
		s.shortTouched = w.count(queryTerm{text: word}, s.short, s.shortTouched[:0])
		if len(s.shortTouched) == 0 {
			continue
		}
		both, short := 0.0, float64(len(s.shortTouched))
		for _, i := range s.shortTouched {
			if s.frequency[i] > 0 {
				both++
			}
			s.short[i] = 0
		}
		share := 0.5
		if items > 0 {
			share = both/min(items, short) - max(items, short)/float64(w.n)
		}
		counted := func(l Language) bool { return slices.Contains(term.stems, stemmer.stem(l, word)) }
		if share > 0 && share >= weight && !slices.ContainsFunc(term.languages, counted) {
			best, weight = word, share
		}
	}
	if best == "" {
		return
	}
	s.shortTouched = w.count(queryTerm{text: best}, s.short, s.shortTouched[:0])
	for _, i := range s.shortTouched {
		if s.frequency[i] == 0 {
			s.touched = append(s.touched, i)
		}
		s.frequency[i] += float64(weight * s.short[i])
		s.short[i] = 0
	}
	term.items += float64(weight * (float64(len(s.touched)) - items))
}

// each calls f for each of the terms that an item has, with the items that have it, and its
// frequency in each. f may write to frequency, but only the entries of these items may
// differ from 0 when it returns. If abbreviated, terms match their abbreviations too.
func (w *words) each(terms []queryTerm, abbreviated bool, f func(term queryTerm, items []uint32, frequency []float64)) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	if cap(s.frequency) < w.n {
		s.frequency, s.short = make([]float64, w.n), make([]float64, w.n)
	}
	s.frequency, s.short = s.frequency[:w.n], s.short[:w.n]
	for _, term := range terms {
		s.touched = w.count(term, s.frequency, s.touched[:0])
		term.items = float64(len(s.touched))
		if abbreviated && term.stems != nil && term.text[0] >= 'a' { // not for numbers
			w.abbreviate(&term, s)
		}
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
