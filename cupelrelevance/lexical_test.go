package cupelrelevance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
)

// plainBM25 is the formula of the documentation, word by word over all items.
func plainBM25(items []*cupel.ContextItem, query string, language Language, k1, b float64, rare bool, weights map[Field]float64) []float64 {
	cut := func(text string) []string {
		var terms []string
		newTokenizer(func(term []byte, word bool) {
			switch {
			case word:
				terms = append(terms, "word "+language.stem(string(term)))
			case language == LanguageNone:
				terms = append(terms, "word "+string(term))
			default:
				terms = append(terms, "other "+string(term))
			}
		}).text(text)
		return terms
	}
	frequency := make([]map[string]float64, len(items))
	length := make([]float64, len(items))
	mean := 0.0
	for i, it := range items {
		frequency[i] = make(map[string]float64)
		count := func(text string, weight float64) {
			for _, term := range cut(text) {
				frequency[i][term] += weight
				length[i] += weight
			}
		}
		count(it.Content(), weights[FieldContent])
		for _, tag := range it.Tags() {
			count(tag, weights[FieldTags])
		}
		if speaker, ok := it.MetadataValue("speaker"); ok {
			count(speaker.(string), weights[MetadataField("speaker")])
		}
		mean += length[i] / float64(len(items))
	}
	scores := make([]float64, len(items))
	n := float64(len(items))
	for _, term := range cut(query) {
		d := 0.0
		for i := range items {
			if frequency[i][term] > 0 {
				d++
			}
		}
		idf := math.Log(1 + (n-d+0.5)/(d+0.5))
		if rare {
			idf = math.Pow(idf, 1.25)
		}
		for i := range items {
			if f := frequency[i][term]; f > 0 {
				scores[i] += idf * f * (k1 + 1) / (f + k1*(1-b+b*length[i]/mean))
			}
		}
	}
	return scores
}

// TestLexicalIsBM25 compares random lists, settings and questions with the plain
// formula.
func TestLexicalIsBM25(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	queries := []string{"the meeting about roofs", "parseHTTPHeader http", "snake_case", "会議室", "meet meets meeting using dies", "nothing here", "", "RÉSUMÉ 42 42"}
	positive := 0
	for range 600 {
		items := randomItems(t, r, 1+r.IntN(20))
		language := []Language{LanguageEnglish, LanguageNone, LanguageFrench, LanguageSpanish}[r.IntN(4)]
		query := queries[r.IntN(len(queries))]
		k1, b := float64(r.IntN(4))*0.7, float64(r.IntN(3))/2
		weights := map[Field]float64{FieldContent: 1, FieldTags: 1, MetadataField("speaker"): 1}
		index := Must(NewIndex(WithLanguage(language), WithFields(FieldContent, FieldTags, MetadataField("speaker"))))
		lexical := Must(NewLexical(index, query))
		lexical.k1, lexical.b, lexical.rare = k1, b, r.IntN(2) == 0
		want := plainBM25(items, query, language, k1, b, lexical.rare, weights)
		for i, got := range scoresOf(t, lexical, items) {
			if !near(got, want[i]) {
				t.Fatalf("item %d of %q, %s, scores %v, want %v", i, query, language, got, want[i])
			}
			if got > 0 {
				positive++
			}
		}
	}
	if positive < 1000 {
		t.Errorf("only %d items ever scored", positive)
	}
}

// TestFields: metadata is searched as text and as lists of texts.
func TestFields(t *testing.T) {
	items := []*cupel.ContextItem{item(t, "a", "topics", []string{"sea", "roof"}), item(t, "a", "topics", "the roof"), item(t, "roof", "topics", 1), item(t, "a")}
	scores := scoresOf(t, Must(NewLexical(Must(NewIndex(WithFields(MetadataField("topics")))), "roof")), items)
	assert.Positive(t, scores[0])
	assert.Positive(t, scores[1])
	assert.Equal(t, []float64{0, 0}, scores[2:])
}

// TestStemsAreRemembered looks up more stems than a segment remembers.
func TestStemsAreRemembered(t *testing.T) {
	settings := &indexDraft{fields: []Field{FieldContent}, language: LanguageEnglish}
	w, err := newSegment(t.Context(), []*cupel.ContextItem{item(t, "roofs and boats")}, 0, newHashing(), settings, make([]uint32, 1))
	require.NoError(t, err)
	for i := range mostKnown {
		w.stems.of(w, fmt.Sprint("x", i))
	}
	assert.Len(t, w.stems.known, mostKnown)
	assert.Len(t, w.stems.of(w, "roof"), 1)
	assert.Len(t, w.stems.of(w, "boat"), 1)
	assert.Len(t, w.stems.known, 2, "they do not grow without end")
}

// TestStemsBeginAsTheirWords looks at words whose stems end otherwise: what the
// index leaves out of its search must not have the stem.
func TestStemsBeginAsTheirWords(t *testing.T) {
	for language, words := range map[Language][]string{
		LanguageEnglish:   {"using", "used", "dying", "lying", "tying", "ability", "cries", "happily", "hoping", "skies", "relational", "sensibly", "ion", "ease", "easing", "generously", "communication", "succeeding", "innings"},
		LanguageFrench:    {"application", "évidemment", "félicités", "apparemment", "bibliothèques", "allégé", "yeux", "joyeusement"},
		LanguageSpanish:   {"ácidos", "acuérdese", "comprándomelo", "lógica", "árboles"},
		LanguageHungarian: {"házakban", "gyerekeket", "almát", "körtét", "tükröződéseként"},
		LanguageNorwegian: {"havnedistrikter", "opning", "løpene"},
		LanguageSwedish:   {"jaktkarlarne", "klokheten", "möjligheter"},
		LanguageRussian:   {"важнейшими", "падение", "вавилонский"},
	} {
		for _, word := range words {
			stem := language.stem(word)
			if !language.beginsAs([]byte(word), stem) {
				t.Errorf("%s: %q is not looked at for its stem %q", language, word, stem)
			}
			index := Must(NewIndex(WithLanguage(language)))
			scores := scoresOf(t, Must(NewLexical(index, stem)), []*cupel.ContextItem{item(t, word), item(t, "0")})
			if language.stem(stem) == stem && scores[0] <= 0 {
				t.Errorf("%s: %q is not found by its stem %q", language, word, stem)
			}
		}
	}
}

func TestLn(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 10000 {
		x := 1 + math.Exp(r.Float64()*40)*r.Float64()
		if got, want := ln(x), math.Log(x); math.Abs(got-want) > 4e-16*max(1, want) {
			t.Fatalf("ln(%v) is %v, want %v", x, got, want)
		}
	}
	if ln(1) != 0 {
		t.Errorf("ln(1) is %v", ln(1))
	}
}
