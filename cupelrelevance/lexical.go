package cupelrelevance

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Lexical scores an item by the words that its content and its tags share with a
// question: BM25.
//
// For each word of the question, let f be the number of its occurrences in the
// item, l the length of the item in words, m the mean of l, n the number of
// items, and d the number of items that have the word:
//
//	idf = ln(1 + (n - d + 0.5) / (d + 0.5))
//	score += idf * f * (k1 + 1) / (f + k1 * (1 - b + b*l/m))
//
// A word that occurs twice in the question counts twice; only the first 1,024
// distinct words count. Scores are at least 0 and have no upper bound; use
// [scorer.Scaled] to scale them to [0,1]. Scores of different lists cannot be
// compared.
//
// It is safe for concurrent use. Create it with [NewLexical].
//
// [scorer.Scaled]: https://pkg.go.dev/github.com/wollax/cupel-go/cupel/scorer#Scaled
type Lexical struct {
	index *Index
	query string
	k1, b float64

	perWord     float64 // least k1 for each word of the mean length
	abbreviated bool    // words match their abbreviations too
}

// queryTerm is a word of the question.
type queryTerm struct {
	text  string
	stems []string // in each language of the list; nil if it has none
	count float64
	items float64 // that match it, set by [words.each]

	languages languages
}

// id is the same for words with the same stems.
func (t *queryTerm) id() string {
	if t.stems == nil {
		return "=" + t.text
	}
	return strings.Join(t.stems, " ")
}

// in returns the words of a segment that match a word of the question.
func (t *queryTerm) in(s *segment) []uint32 {
	if t.stems == nil {
		if id, ok := s.find(t.text); ok {
			return []uint32{id}
		}
		return nil
	}
	var ids []uint32
	for i, language := range t.languages {
		ids = append(ids, s.stems.of(s, language, t.stems[i])...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// The settings of BM25. The preset has its own.
const (
	defaultK1 = 1.2
	defaultB  = 0.75
)

// NewLexical returns a scorer for the words of query, which it looks up in
// index, with k1 = 1.2 and b = 0.75. All words have the same weight. A question without words gives every item
// 0.
//
// It returns a [cupel.InvalidConfigError] if index does not come from
// [NewIndex].
func NewLexical(index *Index, query string) (*Lexical, error) {
	if index == nil || !index.made {
		return nil, invalid("Lexical", "index", "", "index must come from NewIndex")
	}
	return &Lexical{index: index, query: query, k1: defaultK1, b: defaultB}, nil
}

// maxQueryTerms is how many distinct words of a question count. A question with
// more is a text.
const maxQueryTerms = 1 << 10

// newQuestionReader returns a tokenizer that calls f for each word of a question.
func newQuestionReader(languages languages, f func(term queryTerm)) *tokenizer {
	stemmer := newStemmer()
	return newTokenizer(func(term []byte, word bool) {
		t := queryTerm{text: string(term), languages: languages}
		if word {
			for _, language := range languages {
				t.stems = append(t.stems, stemmer.stem(language, t.text))
			}
		}
		f(t)
	})
}

// queryTerms returns the words of a question, each once, in order.
func queryTerms(query string, languages languages) []queryTerm {
	var terms []queryTerm
	at := make(map[string]int)
	newQuestionReader(languages, func(t queryTerm) {
		i, known := at[t.id()]
		if !known {
			if len(terms) == maxQueryTerms {
				return
			}
			i = len(terms)
			at[t.id()] = i
			terms = append(terms, t)
		}
		terms[i].count++
	}).text(query)
	return terms
}

// Facts reports a scorer that was not created with [NewLexical] as invalid.
func (x *Lexical) Facts() strategy.Facts {
	if x == nil || x.index == nil {
		return strategy.Facts{Of: x, Invalid: notBuilt("Lexical", "NewLexical")}
	}
	return strategy.Facts{Of: x}
}

// Score scores all items. The first call for a list reads the whole text;
// later calls take time linear in the number of items with one of the
// question's words. It fails if ctx is done or the scorer is invalid.
func (x *Lexical) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	if err := begin(ctx, x, items, scores); err != nil {
		return err
	}
	l, err := x.index.of(ctx, items)
	if err != nil {
		return err
	}
	x.score(l.words, queryTerms(x.query, l.languages), scores)
	return ctx.Err()
}

func (x *Lexical) score(w *words, terms []queryTerm, scores []float64) {
	clear(scores)
	x.eachTerm(w, terms, func(weight float64, items []uint32, values []float64) {
		for _, i := range items {
			scores[i] += float64(weight * values[i])
		}
	})
}

// eachTerm calls f for each of the words that an item has, with its weight, the
// items that have it, and the word's value in each, from 0 to k1+1. f may write to
// values, but only the entries of these items may differ from 0 when it returns.
func (x *Lexical) eachTerm(w *words, terms []queryTerm, f func(weight float64, items []uint32, values []float64)) {
	n := float64(w.n)
	mean := float64(w.total) / n
	k1 := max(x.k1, x.perWord*mean)
	w.each(terms, x.abbreviated, func(term queryTerm, items []uint32, values []float64) {
		idf := ln(1 + (n-term.items+0.5)/(term.items+0.5))
		for _, i := range items {
			frequency := values[i]
			norm := 1 - x.b + float64(x.b*float64(w.facts[w.numbers[i]].terms)/mean)
			values[i] = frequency * (k1 + 1) / (frequency + float64(k1*norm))
		}
		f(term.count*idf, items, values)
	})
}

// ln returns the natural logarithm of a number of at least 1, with the same
// bits on every processor, which the standard library does not guarantee.
func ln(x float64) float64 {
	fraction, exponent := math.Frexp(x)
	if fraction < math.Sqrt2/2 {
		fraction *= 2
		exponent--
	}
	// ln f = 2 artanh s, with s in [-0.18, 0.18].
	s := (fraction - 1) / (fraction + 1)
	square := s * s
	sum := 0.0
	for k := 21.0; k >= 1; k -= 2 {
		sum = float64(sum*square) + 1/k
	}
	return float64(2*s*sum) + float64(float64(exponent)*math.Ln2)
}
