package slicer

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
)

func scoredText(t testing.TB, text string, tokens int, score float64) cupel.ScoredItem {
	t.Helper()
	item, err := cupel.NewContextItem(text, tokens)
	if err != nil {
		t.Fatal(err)
	}
	return cupel.ScoredItem{Item: item, Score: score}
}

// TestDiverseLazy compares with the plain rule: of what fits, take the item that
// is worth most after a comparison with all that was taken.
func TestDiverseLazy(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	lazy, plain := 0, 0
	for range 2000 {
		n := 1 + random.IntN(12)
		items := make([]cupel.ScoredItem, n)
		alike := make([][]float64, n)
		for i := range items {
			score := float64(random.IntN(9)) / 8
			switch random.IntN(30) {
			case 0:
				score = math.NaN()
			case 1:
				score = -1
			case 2:
				score = math.Inf(1)
			}
			items[i] = scoredText(t, "x", random.IntN(6)-random.IntN(2), score)
			alike[i] = make([]float64, n)
			for j := range alike[i] {
				alike[i][j] = []float64{0, 0.1, 0.5, 0.9, 1}[random.IntN(5)]
			}
		}
		from := []float64{0, 0.4, 0.9, 1}[random.IntN(4)]
		least := from
		if least == 0 {
			least = 0.3
		}
		target := 1 + random.IntN(24)
		worth := func(i int, taken []int) float64 {
			most := 0.0
			for _, j := range taken {
				plain++
				most = max(most, alike[i][j])
			}
			if score := items[i].Score; score > 0 && most > least {
				return score * ((1 - most) / (1 - least))
			}
			return items[i].Score
		}
		var want []int
		for left := target; ; {
			best, most := -1, 0.0
			for i, it := range items {
				if it.Item.Tokens() < 0 || it.Item.Tokens() > left || slices.Contains(want, i) {
					continue
				}
				if w := worth(i, want); best < 0 || w > most || math.IsNaN(most) && !math.IsNaN(w) {
					best, most = i, w
				}
			}
			if best < 0 {
				break
			}
			want = append(want, best)
			left -= items[best].Item.Tokens()
		}
		got, err := Diverse{From: from}.take(t.Context(), items, target, func(i, j int) float64 {
			lazy++
			return alike[i][j]
		})
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("got %v, %v, want %v", got, err, want)
		}
	}
	if 2*lazy > plain {
		t.Errorf("%d comparisons; the plain rule makes %d", lazy, plain)
	}
}

func TestWords(t *testing.T) {
	const base = "one two three four five six seven eight nine ten eleven twelve"
	// More pairs than a set has bits.
	count := func(first, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "w%d ", first+i)
		}
		return b.String()
	}
	for _, row := range []struct {
		a, b string
		want float64
		why  string
	}{
		{"one two three four five six seven eight", "one two three four five six seven", 0, "seven words are few, eight or not on the other side"},
		{"one{two three:four five[six seven@eight`nine/ten", "one two three four five six seven eight nine ten", 1, "what stands right before or behind letters and digits separates"},
		{"A Z A0 Z9 five six seven eight", "a z a0 z9 five six seven eight", 1, "the first and the last of letters and digits"},
		{"ÄRGER Ä é two three four five six", "ärger ä É two three four five six", 1, "letters beyond ASCII"},
		{"e\u0301a two three four five six seven eight", "e a two three four five six seven eight", 12.0 / 15, "a mark is a part of its word"},
		{count(0, 6001), count(0, 6001), 1, "6,000 pairs"},
		{count(0, 6001), count(5400, 6001), 0, "a tenth of 6,000 pairs"},
		{base, strings.ToUpper(base) + ".", 1, "case and punctuation do not count"},
		{base, strings.Replace(base, "six", "6", 1), 18.0 / 22, "two pairs of eleven differ"},
		{base, "twelve " + strings.ReplaceAll(base, " twelve", ""), 20.0 / 22, "a word that moved"},
		{base, "one two three four five six vii viii ix x xi xii", 10.0 / 22, "the first half"},
		{base, "one two three iv v vi vii viii ix x xi xii", 0, "less than a quarter"},
		{base, base + " " + strings.ReplaceAll(base, "e", "o") + " and more", 0, "more than twice as long"},
		{strings.Repeat("a ", 9), strings.Repeat("a ", 12), 1, "a pair counts once"},
		{"\xff", base, 0, "no words"},
		{"one two three four five six b z", "one two three four five six m e", 10.0 / 14, "b z and m e are two pairs"},
	} {
		items := []cupel.ScoredItem{scoredText(t, row.a, 1, 1), scoredText(t, row.b, 1, 1)}
		alike := likenesses(items)
		if got, back := alike(0, 1), alike(1, 0); got != row.want || back != got {
			t.Errorf("%q and %q: got %v and %v, want %v: %s", row.a, row.b, got, back, row.want, row.why)
		}
	}
}

func TestDiverseErrors(t *testing.T) {
	items := []cupel.ScoredItem{scoredText(t, "a", 1, 1), scoredText(t, "b", 1, 1)}
	budget := cupel.SliceBudget{MaxTokens: 10, TargetTokens: 10}
	for _, from := range []float64{-0.1, 1.1, math.NaN()} {
		_, err := Diverse{From: from}.Slice(t.Context(), items, budget)
		if bad, ok := compat.AsType[*cupel.InvalidConfigError](err); !ok || bad.Field != "from" {
			t.Errorf("from %v: got %v", from, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Diverse{}).Slice(ctx, items, budget); err != context.Canceled {
		t.Errorf("got %v", err)
	}
	for _, target := range []int{0, -1} {
		sel, err := (Diverse{}).Slice(t.Context(), []cupel.ScoredItem{scoredText(t, "a", 0, 1)}, cupel.SliceBudget{MaxTokens: 10, TargetTokens: target})
		if err != nil || sel.Indices != nil {
			t.Errorf("got %v, %v: a target of %d selects nothing, without tokens either", sel, err, target)
		}
	}
}
