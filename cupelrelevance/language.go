package cupelrelevance

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
	"golang.org/x/text/unicode/norm"
)

// Language is a language for stemming, which makes "meeting", "meetings" and
// "meets" one word. It is the English name of the language in small letters,
// one of those that [Languages] returns.
type Language string

// The languages that code refers to. LanguageNone disables stemming.
const (
	LanguageNone    Language = "none"
	LanguageEnglish Language = "english"
)

var stemmers = map[Language]func(*snowballstem.Env) bool{
	LanguageEnglish: english.Stem,
	"arabic":        arabic.Stem,
	"danish":        danish.Stem,
	"dutch":         dutch.Stem,
	"finnish":       finnish.Stem,
	"french":        french.Stem,
	"german":        german.Stem,
	"hungarian":     hungarian.Stem,
	"irish":         irish.Stem,
	"italian":       italian.Stem,
	"norwegian":     norwegian.Stem,
	"portuguese":    portuguese.Stem,
	"romanian":      romanian.Stem,
	"russian":       russian.Stem,
	"spanish":       spanish.Stem,
	"swedish":       swedish.Stem,
	"tamil":         tamil.Stem,
	"turkish":       turkish.Stem,
}

// Languages returns the languages that have stems and stop words, in alphabetical
// order.
func Languages() []Language { return slices.Sorted(maps.Keys(stemmers)) }

// stopWordLists has a line for each language.
//
//go:embed stopwords.txt
var stopWordLists string

// stopWords has the stop words of each language, and languagesOf the languages of
// each stop word, by which the language of a text is found.
var stopWords, languagesOf = func() (map[Language]map[string]bool, map[string][]Language) {
	words, languages := make(map[Language]map[string]bool), make(map[string][]Language)
	for line := range strings.Lines(stopWordLists) {
		name, list, _ := strings.Cut(line, ":")
		language := Language(name)
		words[language] = make(map[string]bool)
		for word := range strings.FieldsSeq(list) {
			words[language][word] = true
			languages[word] = append(languages[word], language)
		}
	}
	return words, languages
}()

// IsStopWord reports whether a word in small letters holds sentences together
// and tells nothing about their subject, such as "did", "what" and "the". The
// words come from the Snowball stemmers, with words of questions and the
// remains of contractions ("didn", "ll") added. [LanguageNone] has none.
func (l Language) IsStopWord(word string) bool { return stopWords[l][word] }

// languages are the languages of a list, at least one.
type languages []Language

// The settings of detection.
const (
	detectLeast = 3   // least stop words in a sample of another language than English
	detectShare = 0.2 // least share of the first language's stop words that a further language has
)

// detected returns the languages of a text, given how often it has each stop
// word. A further language counts by the words that the languages before it do
// not have. Code, and a text without words, is English.
func detected(having map[string]int) languages {
	var found languages
	first := 0
	for {
		best, most := LanguageEnglish, detectLeast-1
		counts := make(map[Language]int)
		for word, n := range having {
			if slices.ContainsFunc(found, func(l Language) bool { return l.IsStopWord(word) }) {
				continue
			}
			for _, language := range languagesOf[word] {
				counts[language] += n
			}
		}
		if len(found) == 0 {
			most = max(most, counts[LanguageEnglish])
		}
		for _, language := range slices.Sorted(maps.Keys(counts)) {
			if counts[language] > most {
				best, most = language, counts[language]
			}
		}
		if len(found) == 0 {
			first = most
		} else if float64(most) < detectShare*float64(first) || slices.Contains(found, best) {
			return found
		}
		found = append(found, best)
	}
}

// isStopWord reports whether a word is one in any of the languages.
func (l languages) isStopWord(word string) bool {
	return slices.ContainsFunc(l, func(language Language) bool { return language.IsStopWord(word) })
}

// stemmer equates words that differ only in their endings, accents and the
// width of letters.
type stemmer struct {
	env *snowballstem.Env
}

func newStemmer() *stemmer { return &stemmer{snowballstem.NewEnv("")} }

// stem returns the form shared by a word in small letters and all words like
// it. Words of scripts other than Latin are stemmed in the language of their
// script, if there is one. Words with digits have no stem.
func (s *stemmer) stem(language Language, word string) string {
	plain := isASCII(word)
	if !plain {
		word = norm.NFC.String(word)
		language = languageOfScript(word, language)
	}
	if stem := stemmers[language]; stem != nil && len(word) > 2 && !strings.ContainsAny(word, "0123456789") {
		s.env.SetCurrent(word)
		stem(s.env)
		if s.env.Current() != "" {
			word = s.env.Current()
		}
	}
	if plain {
		return word
	}
	return fold(word)
}

// languageOfScript returns the language of the script of a word, or that of Latin.
func languageOfScript(word string, latin Language) Language {
	if latin == LanguageNone {
		return latin
	}
	switch r, _ := utf8.DecodeRuneInString(word); {
	case unicode.Is(unicode.Cyrillic, r):
		return "russian"
	case unicode.Is(unicode.Arabic, r):
		return "arabic"
	case unicode.Is(unicode.Tamil, r):
		return "tamil"
	}
	return latin
}

// letters that do not decompose into a letter and an accent, but are written
// without the accent.
var plainLetters = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "đ", "d", "ð", "d", "ł", "l", "ı", "i")

// fold takes the accents from a word.
func fold(word string) string {
	decomposed := norm.NFD.String(word)
	bare := strings.Map(func(r rune) rune {
		if r >= 0x0300 && r < 0x0370 {
			return -1
		}
		return r
	}, decomposed)
	return plainLetters.Replace(norm.NFC.String(bare))
}

func isASCII(word string) bool {
	for i := range len(word) {
		if word[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
