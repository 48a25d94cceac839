package cupelrelevance

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/french"
	"github.com/kljensen/snowball/hungarian"
	"github.com/kljensen/snowball/russian"
	"github.com/kljensen/snowball/spanish"
	"github.com/kljensen/snowball/swedish"

	"github.com/wollax/cupel-go/cupel"
)

// TestStopWords asks ordinary questions in each language: what is left is their
// subject.
func TestStopWords(t *testing.T) {
	for language, questions := range map[Language]map[string]string{
		LanguageEnglish: {
			"What did they decide about the roof?":        "decide roof",
			"When would she've been told that it's late?": "told late",
			"Didn't we'll ever":                           "", // only stop words: see TestStopWordsOfQuestion
		},
		LanguageFrench:    {"Pourquoi est-ce que le bateau ne partait pas quand il pleuvait ?": "bateau partait pleuvait"},
		LanguageHungarian: {"Mikor és hol van az új híd?": "híd"},
		LanguageNorwegian: {"Hvorfor har vi ikke bestilt den nye båten?": "bestilt nye båten"},
		LanguageRussian:   {"Когда и почему они закрыли мост?": "закрыли мост"},
		LanguageSpanish:   {"¿Quién dijo que el puente está cerrado, y cuándo?": "dijo puente cerrado"},
		LanguageSwedish:   {"Varför ska vi inte köpa den båten?": "köpa båten"},
		LanguageNone:      {"What did the owl do": "what did the owl do"},
	} {
		for question, want := range questions {
			var left []string
			newTokenizer(func(term []byte, _ bool) {
				if !language.IsStopWord(string(term)) {
					left = append(left, string(term))
				}
			}).text(question)
			if got := strings.Join(left, " "); got != want {
				t.Errorf("%s: %q leaves %q, want %q", language, question, got, want)
			}
		}
	}
}

// TestFurtherStopWords: words that the stemmer's lists have need no second place,
// and a word that the tokenizer never gives has none.
func TestFurtherStopWords(t *testing.T) {
	listed := map[Language]func(string) bool{
		LanguageEnglish: english.IsStopWord, LanguageFrench: french.IsStopWord, LanguageHungarian: hungarian.IsStopWord,
		LanguageNorwegian: func(string) bool { return false },
		LanguageRussian:   russian.IsStopWord, LanguageSpanish: spanish.IsStopWord, LanguageSwedish: swedish.IsStopWord,
	}
	for language, words := range furtherStopWords {
		for _, word := range slices.Sorted(maps.Keys(words)) {
			if listed[language](word) {
				t.Errorf("%s: %q is in the stemmer's list", language, word)
			}
			terms := 0
			newTokenizer(func(term []byte, _ bool) {
				if terms++; string(term) != word {
					t.Errorf("%s: the tokenizer makes %q of %q", language, term, word)
				}
			}).text(word)
			if terms != 1 {
				t.Errorf("%s: %q is %d words", language, word, terms)
			}
		}
	}
}

// TestStopWordsOfQuestion looks at what the preset does with them.
func TestStopWordsOfQuestion(t *testing.T) {
	failing := errors.New("no")
	for _, c := range []struct {
		name  string
		query string
		best  string
		why   string
	}{
		{"default", "What did they do about it: a roof?", "roof tiles", "the roof is the subject"},
		{"only stop words", "What did they do?", "what did they do", "nothing else is left to look for"},
		{"little is better than nothing", "zebra what", "what did they do", "if nothing has the subject, the stop words decide"},
	} {
		items := contents(t, "what did they do", "an owl", "roof tiles", "boats and more boats", "birds")
		scores := scoresOf(t, Must(New(Must(NewIndex()), c.query)), items)
		best := slices.Index(scores, slices.Max(scores))
		if got := items[best].Content(); slices.Max(scores) == 0 || got != c.best {
			t.Errorf("%s: %q scores %v, want %q to be best: %s", c.name, c.query, scores, c.best, c.why)
		}
	}
	if _, err := New(Must(NewIndex()), "a", func(*relevanceDraft) error { return failing }); !errors.Is(err, failing) {
		t.Errorf("got %v, want the option's error", err)
	}
}

// contents returns items with these contents.
func contents(t testing.TB, texts ...string) []*cupel.ContextItem {
	t.Helper()
	items := make([]*cupel.ContextItem, len(texts))
	for i, text := range texts {
		items[i] = item(t, text, "session", text)
	}
	return items
}
