package cupelrelevance

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
)

// vocabulary is words that look like those of a language: a few common ones,
// and many rare ones with endings.
func vocabulary(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	syllables := strings.Fields("ba be bi bo bu ca co da de di do fa fe ga go ha he in ka ko la le li lo ma me mi mo na ne no pa pe po ra re ri ro sa se si so ta te ti to ver con pro")
	endings := []string{"", "", "", "s", "ed", "ing", "er", "ly", "ation", "ment"}
	words := make([]string, n)
	for i := range words {
		var b strings.Builder
		for range 1 + r.IntN(3) {
			b.WriteString(syllables[r.IntN(len(syllables))])
		}
		words[i] = b.String() + endings[r.IntN(len(endings))]
	}
	return words
}

// manyItems returns n items of size words each, by Zipf's law, as texts have
// them.
func manyItems(tb testing.TB, n, size int) []*cupel.ContextItem {
	tb.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	words := vocabulary(30000)
	zipf := rand.NewZipf(r, 1.1, 8, uint64(len(words)-1))
	items := make([]*cupel.ContextItem, n)
	for i := range items {
		var b strings.Builder
		for j := range size {
			if j > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(words[zipf.Uint64()])
		}
		item, err := cupel.NewContextItem(b.String(), size+size/3, cupel.WithMetadata(map[string]any{"session": fmt.Sprint(i / 20), "speaker": words[i%5]}))
		require.NoError(tb, err)
		items[i] = item
	}
	return items
}

func benchQuery() string {
	words := vocabulary(30000)
	return strings.Join([]string{words[1], words[5], words[20], words[77], words[300], words[1200], words[5000], words[9000], words[15000], words[29000]}, " ")
}

// BenchmarkFirst reads 10,000 items of 100 words and answers the first question.
func BenchmarkFirst(b *testing.B) {
	items := manyItems(b, 10000, 100)
	scores := make([]float64, len(items))
	query := benchQuery()
	b.ReportAllocs()
	for b.Loop() {
		relevance := Must(New(Must(NewIndex()), query))
		if err := relevance.Score(b.Context(), items, scores); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFurther answers further questions about the same items, each with
// new words.
func BenchmarkFurther(b *testing.B) {
	items := manyItems(b, 10000, 100)
	scores := make([]float64, len(items))
	words := vocabulary(30000)
	index := Must(NewIndex())
	if err := Must(New(index, "")).Score(b.Context(), items, scores); err != nil {
		b.Fatal(err)
	}
	at := 0
	b.ReportAllocs()
	for b.Loop() {
		at = (at + 10) % len(words)
		relevance := Must(New(index, strings.Join(words[at:at+10], " ")))
		if err := relevance.Score(b.Context(), items, scores); err != nil {
			b.Fatal(err)
		}
	}
}
