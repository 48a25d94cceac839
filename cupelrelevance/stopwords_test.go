package cupelrelevance

import (
	"slices"
	"strings"
	"testing"

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
		"french":     {"Pourquoi est-ce que le bateau ne partait pas quand il pleuvait ?": "bateau partait pleuvait"},
		"hungarian":  {"Mikor és hol van az új híd?": "híd"},
		"norwegian":  {"Hvorfor har vi ikke bestilt den nye båten?": "bestilt nye båten"},
		"russian":    {"Когда и почему они закрыли мост?": "закрыли мост"},
		"spanish":    {"¿Quién dijo que el puente está cerrado, y cuándo?": "dijo puente cerrado"},
		"swedish":    {"Varför ska vi inte köpa den båten?": "köpa båten"},
		LanguageNone: {"What did the owl do": "what did the owl do"},
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

// TestStopWordsOfQuestion looks at what the preset does with them.
func TestStopWordsOfQuestion(t *testing.T) {
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
