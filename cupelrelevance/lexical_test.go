package cupelrelevance

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

// plainBM25 is the formula of the documentation, word by word over all items.
func plainBM25(items []*cupel.ContextItem, query string, language Language, k1, b float64) []float64 {
	stemmer := newStemmer()
	cut := func(text string) []string {
		var terms []string
		newTokenizer(func(term []byte, word bool) {
			if word {
				terms = append(terms, "word "+stemmer.stem(language, string(term)))
			} else {
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
		for _, text := range append(it.Tags(), it.Content()) {
			for _, term := range cut(text) {
				frequency[i][term]++
				length[i]++
			}
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
		language := []Language{LanguageEnglish, LanguageNone, "french", "spanish"}[r.IntN(4)]
		query := queries[r.IntN(len(queries))]
		k1, b := float64(r.IntN(4))*0.7, float64(r.IntN(3))/2
		lexical := Must(NewLexical(Must(NewIndex(WithLanguage(language))), query))
		lexical.k1, lexical.b = k1, b
		want := plainBM25(items, query, language, k1, b)
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
