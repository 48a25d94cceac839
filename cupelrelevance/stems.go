package cupelrelevance

import (
	"bytes"
	"slices"
	"sort"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/french"
	"github.com/kljensen/snowball/hungarian"
	"github.com/kljensen/snowball/norwegian"
	"github.com/kljensen/snowball/russian"
	"github.com/kljensen/snowball/spanish"
	"github.com/kljensen/snowball/swedish"
)

// Language is a language for stemming, which makes "meeting", "meetings" and
// "meets" one word.
type Language string

// The supported languages. English does little harm to other text. LanguageNone
// disables stemming.
const (
	LanguageNone      Language = "none"
	LanguageEnglish   Language = "english"
	LanguageFrench    Language = "french"
	LanguageHungarian Language = "hungarian"
	LanguageNorwegian Language = "norwegian"
	LanguageRussian   Language = "russian"
	LanguageSpanish   Language = "spanish"
	LanguageSwedish   Language = "swedish"
)

func (l Language) stemmer() func(word string, stopWords bool) string {
	switch l {
	case LanguageEnglish:
		return english.Stem
	case LanguageFrench:
		return french.Stem
	case LanguageHungarian:
		return hungarian.Stem
	case LanguageNorwegian:
		return norwegian.Stem
	case LanguageRussian:
		return russian.Stem
	case LanguageSpanish:
		return spanish.Stem
	case LanguageSwedish:
		return swedish.Stem
	case LanguageNone:
	}
	return nil
}

// longestStemmed is the length in bytes of the longest word to stem. Longer
// ones are names, codes or noise.
const longestStemmed = 32

// stem returns the stem of a word in small letters.
func (l Language) stem(word string) string {
	if !l.hasStem(word) {
		return word
	}
	if stem := l.stemmer()(word, true); stem != "" {
		return stem
	}
	return word
}

// hasStem reports whether a word may have a stem other than itself. Words with
// digits or of another script have none.
func (l Language) hasStem(word string) bool {
	if l.stemmer() == nil || len(word) < 3 || len(word) > longestStemmed {
		return false
	}
	for _, r := range word {
		if r < 'a' || r > 'z' && (r < utf8.RuneSelf || l == LanguageEnglish || !unicode.IsLetter(r)) {
			return false
		}
	}
	return true
}

// stems finds the words of a list that have a given stem. A word and its stem
// begin alike, so that only the few words that begin as the stem does need to be
// reduced, when a question asks for it, and building an index needs no stemmer.
type stems struct {
	language Language
	words    []uint64 // bit set of the words that may have a stem other than themselves
	order    []uint32 // the words that may have a stem, by beginning
	starts   []uint32 // of each beginning in order; one more at the end

	mu     sync.Mutex
	sorted []bool              // by beginning, whether its words are in alphabetical order
	known  map[string][]uint32 // results of earlier lookups
}

func (s *stems) prepare(w *segment, language Language) {
	s.language = language
	if language.stemmer() == nil {
		return
	}
	s.starts, s.sorted = make([]uint32, beginnings+1), make([]bool, beginnings)
	s.words = make([]uint64, (len(w.ends)+63)/64)
	for id := range uint32(len(w.ends)) {
		if language.hasStem(string(w.at(id))) {
			s.starts[beginning(w.at(id))+1]++
			s.words[id/64] |= 1 << (id % 64)
		}
	}
	for i := range beginnings {
		s.starts[i+1] += s.starts[i]
	}
	next := slices.Clone(s.starts)
	s.order = make([]uint32, s.starts[beginnings])
	for id := range uint32(len(w.ends)) {
		if s.has(id) {
			at := &next[beginning(w.at(id))]
			s.order[*at] = id
			*at++
		}
	}
}

// has reports whether a word may have a stem other than itself.
func (s *stems) has(id uint32) bool { return s.words[id/64]>>(id%64)&1 != 0 }

// mostKnown bounds the cache of earlier lookups.
const mostKnown = 1 << 12

// of returns the words with the given stem. The words that begin as a stem are
// looked for in alphabetical order, so that a question of many words over a text
// of many words does not take time in proportion to both.
func (s *stems) of(w *segment, stem string) []uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids, ok := s.known[stem]
	if ok {
		return ids
	}
	for _, id := range s.candidates(w, stem) {
		if word := w.at(id); s.language.beginsAs(word, stem) && s.language.stem(string(word)) == stem {
			ids = append(ids, id)
		}
	}
	// A word that has no stem of its own may be the stem of others.
	if id, ok := w.find(stem); ok && !s.has(id) {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if s.known == nil || len(s.known) >= mostKnown {
		s.known = make(map[string][]uint32)
	}
	s.known[stem] = ids
	return ids
}

// candidates returns the words that may have a stem.
func (s *stems) candidates(w *segment, stem string) []uint32 {
	if s.language.losesAccents() {
		return s.order
	}
	b := beginning([]byte(stem))
	words := s.order[s.starts[b]:s.starts[b+1]]
	prefix := stem[:s.language.kept(stem)]
	if len(prefix) < 2 {
		return words
	}
	if !s.sorted[b] {
		slices.SortFunc(words, func(x, y uint32) int { return bytes.Compare(w.at(x), w.at(y)) })
		s.sorted[b] = true
	}
	from := sort.Search(len(words), func(i int) bool { return string(w.at(words[i])) >= prefix })
	return words[from : from+sort.Search(len(words)-from, func(i int) bool { return !bytes.HasPrefix(w.at(words[from+i]), []byte(prefix)) })]
}

const beginnings = 1 << 10

// beginning returns a number that a word and its stem have in common, from the
// first two bytes. A y may become an i ("dying", "die"), and counts as one.
func beginning(word []byte) int {
	if len(word) < 2 {
		return 0
	}
	return int(beginningLetter(word[0])&31)<<5 | int(beginningLetter(word[1])&31)
}

func beginningLetter(b byte) byte {
	if b == 'y' {
		return 'i'
	}
	return b
}

// kept returns how many bytes of a stem its words surely begin with: all but one
// ("use" of "using"), but for "die" of "dying" and its like, and all but two in
// French ("appliqu" of "application").
func (l Language) kept(stem string) int {
	switch {
	case l == LanguageFrench:
		return max(0, len(stem)-2)
	case l == LanguageEnglish && len(stem) == 3 && stem[1:] == "ie":
		return 1
	}
	return max(0, len(stem)-1)
}

// beginsAs reports whether a word may have a stem: false means that it cannot.
// Accents change letters anywhere.
func (l Language) beginsAs(word []byte, stem string) bool {
	n := l.kept(stem)
	for i := range n {
		if i == len(word) {
			return false
		}
		if word[i] != stem[i] {
			return l.losesAccents() && (word[i] >= utf8.RuneSelf || stem[i] >= utf8.RuneSelf)
		}
	}
	return true
}

// losesAccents reports whether stemming may remove accents, so that letters
// after an accent cannot be compared reliably.
func (l Language) losesAccents() bool {
	return l == LanguageFrench || l == LanguageSpanish || l == LanguageHungarian
}
