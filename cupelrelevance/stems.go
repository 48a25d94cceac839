package cupelrelevance

import (
	"hash/maphash"
	"slices"
	"sync"
)

// stems finds the words of a segment that have a given stem. The first question
// in a language stems each word of the segment once.
type stems struct {
	mu    sync.Mutex
	known map[Language][]uint64 // hashes of stems, and the numbers of their words, in order; not of words that are their own stem
}

// table returns the table of the stems of a language.
func (s *stems) table(w *segment, language Language) []uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	table, known := s.known[language]
	if known {
		return table
	}
	stemmer := newStemmer()
	for id := range uint32(len(w.ends)) {
		word := string(w.at(id))
		if stem := stemmer.stem(language, word); stem != word {
			table = append(table, stemHash(w, stem)|uint64(id))
		}
	}
	slices.Sort(table)
	table = slices.Clip(table)
	if s.known == nil {
		s.known = make(map[Language][]uint64)
	}
	s.known[language] = table
	return table
}

// of returns the words with the given stem.
func (s *stems) of(w *segment, language Language, stem string) []uint32 {
	var ids []uint32
	table, stemmer := s.table(w, language), newStemmer()
	hash := stemHash(w, stem)
	at, _ := slices.BinarySearch(table, hash)
	for _, entry := range table[at:] {
		if entry>>32 != hash>>32 {
			break
		}
		if id := uint32(entry); stemmer.stem(language, string(w.at(id))) == stem {
			ids = append(ids, id)
		}
	}
	// A word that is its own stem may be the stem of others.
	if id, ok := w.find(stem); ok && stemmer.stem(language, stem) == stem {
		ids = append(ids, id)
	}
	return ids
}

// stemHash is the hash of a stem, in the upper half.
func stemHash(w *segment, stem string) uint64 {
	return maphash.String(w.seed, stem) >> 32 << 32
}
