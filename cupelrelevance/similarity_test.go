package cupelrelevance

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// byContent returns the vectors of a map.
func byContent(vectors map[string][]float32) func(*cupel.ContextItem) ([]float32, bool) {
	return func(it *cupel.ContextItem) ([]float32, bool) {
		v, ok := vectors[it.Content()]
		return v, ok
	}
}

func TestSimilarity(t *testing.T) {
	vectors := map[string][]float32{
		"same": {3, 4}, "longer": {30, 40}, "opposite": {-3, -4}, "orthogonal": {-4, 3}, "half": {3, 0}, "zeros": {0, 0},
		"huge": {3e38, 3e38}, "tiny": {1e-45, 0},
	}
	s, err := NewSimilarity([]float32{3, 4}, byContent(vectors))
	if err != nil {
		t.Fatal(err)
	}
	for content, want := range map[string]float64{
		"same": 1, "longer": 1, "opposite": -1, "orthogonal": 0, "half": 0.6, "zeros": 0, "huge": 7 / (5 * math.Sqrt2), "tiny": 0.6, "none": 0,
	} {
		all := []*cupel.ContextItem{item(t, "x"), item(t, content)}
		got := scoresOf(t, s, all)
		if !near(got[1], want) || got[0] != 0 {
			t.Errorf("%s: got %v, want 0 and %v", content, got, want)
		}
	}
}

func TestSimilarityErrors(t *testing.T) {
	nan, infinity := float32(math.NaN()), float32(math.Inf(1))
	none := byContent(nil)
	for _, row := range []struct {
		name   string
		query  []float32
		vector func(*cupel.ContextItem) ([]float32, bool)
		field  string
		reason string
	}{
		{"no function", []float32{1}, nil, "vector", "a function"},
		{"no dimensions", nil, none, "query", "has no dimensions"},
		{"zeros", []float32{0, 0}, none, "query", "only zeros"},
		{"NaN", []float32{1, nan}, none, "query", "has NaN in dimension 1"},
		{"infinity", []float32{infinity, 0}, none, "query", "has +Inf in dimension 0"},
	} {
		_, err := NewSimilarity(row.query, row.vector)
		if bad, ok := errors.AsType[*cupel.InvalidConfigError](err); !ok || bad.Field != row.field || !strings.Contains(bad.Reason, row.reason) {
			t.Errorf("%s: got %v", row.name, err)
		}
	}
	index := Must(NewIndex())
	for _, row := range []struct {
		name   string
		vector []float32
		want   string
	}{
		{"fewer dimensions", []float32{1}, "that of item 1 has 1 dimensions, and that of the question 2"},
		{"NaN", []float32{1, nan}, "has NaN in dimension 1"},
		{"infinity", []float32{-infinity, 1}, "has -Inf in dimension 0"},
	} {
		s := Must(NewSimilarity([]float32{1, 2}, byContent(map[string][]float32{"a": {1, 1}, "b": row.vector})))
		all := []*cupel.ContextItem{item(t, "a"), item(t, "b")}
		for _, scorer := range []strategy.Scorer{s, Must(New(index, "a", WithSimilarity(s, 1)))} {
			err := scorer.Score(t.Context(), all, make([]float64, 2))
			if bad, ok := errors.AsType[*cupel.StrategyError](err); !ok || bad.Strategy != "Similarity" || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%s: got %v, want %q", row.name, err, row.want)
			}
		}
	}
	good := Must(NewSimilarity([]float32{1}, none))
	for name, opt := range map[string]Option{
		"nil": WithSimilarity(nil, 1), "zero value": WithSimilarity(new(Similarity), 1),
		"weight 0": WithSimilarity(good, 0), "negative": WithSimilarity(good, -1), "NaN": WithSimilarity(good, math.NaN()), "infinite": WithSimilarity(good, math.Inf(1)),
	} {
		if _, err := New(index, "a", opt); !errors.Is(err, cupel.ErrInvalidConfig) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := good.Score(ctx, []*cupel.ContextItem{item(t, "a")}, make([]float64, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestSimilarityKeepsItsQuery: a caller may reuse its slice.
func TestSimilarityKeepsItsQuery(t *testing.T) {
	query := []float32{1, 0}
	s := Must(NewSimilarity(query, byContent(map[string][]float32{"a": {1, 0}})))
	query[0], query[1] = 0, 1
	if got := scoresOf(t, s, []*cupel.ContextItem{item(t, "a")})[0]; got != 1 {
		t.Errorf("got %v", got)
	}
}

// TestWithSimilarity: vectors find what shares no word with the question, words
// find what has no vector, and neighbours share in both.
func TestWithSimilarity(t *testing.T) {
	all := []*cupel.ContextItem{
		item(t, "The oven is broken.", "session", "a"), item(t, "Something quite different.", "session", "a"),
		item(t, "Nothing of interest here.", "session", "b"), item(t, "It bakes no bread now.", "session", "b"), item(t, "Nothing at all, really.", "session", "b"),
		item(t, "Nothing of any kind, ever.", "session", "c"),
	}
	vectors := map[string][]float32{}
	for _, it := range all[1:] { // the first has none
		vectors[it.Content()] = []float32{0.5, 0.5}
	}
	vectors[all[3].Content()] = []float32{0.9, 0.1}
	index := Must(NewIndex())
	s := Must(NewSimilarity([]float32{1, 0}, byContent(vectors)))
	words := scoresOf(t, Must(New(index, "broken oven")), all)
	both := scoresOf(t, Must(New(index, "broken oven", WithSimilarity(s, 1))), all)
	if words[3] != 0 || both[3] <= both[1] || both[3] <= both[5] {
		t.Errorf("with words %v, with vectors %v: the fourth item is the most similar one", words, both)
	}
	if both[0] <= both[1] || both[0] <= both[5] {
		t.Errorf("got %v: the first item has the words", both)
	}
	if both[2] <= both[5] || both[4] <= both[5] {
		t.Errorf("got %v: what is around the fourth item is nearer than what is not", both)
	}
	little := scoresOf(t, Must(New(index, "broken oven", WithSimilarity(s, 1e-9))), all)
	for i := range words {
		if math.Abs(little[i]-words[i]) > 1e-8 {
			t.Errorf("with a weight near 0 the scores are %v, want nearly %v", little, words)
		}
		if both[i] < 0 || both[i] > 1 {
			t.Errorf("scores are outside [0,1]: %v", both)
		}
	}
	parts := Must(New(index, "broken oven", WithSimilarity(s, 1))).Facts().Scorers
	if !slices.Contains(parts, strategy.Scorer(s)) {
		t.Error("the similarity is not among the parts")
	}
	same := Must(NewSimilarity([]float32{1, 0}, func(*cupel.ContextItem) ([]float32, bool) { return []float32{1, 1}, true }))
	if got := scoresOf(t, Must(New(index, "broken oven", WithSimilarity(same, 1))), all); got[5] != 0 || got[0] <= got[1] {
		t.Errorf("got %v: vectors that are all the same say nothing", got)
	}
}
