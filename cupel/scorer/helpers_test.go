package scorer_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

type items = []*cupel.ContextItem

// item returns an item of one token with the given fields.
func item(opts ...cupel.ItemOption) *cupel.ContextItem {
	return scorer.Must(cupel.NewContextItem("content", 1, opts...))
}

func at(t time.Time) *cupel.ContextItem           { return item(cupel.WithTimestamp(t)) }
func priority(p int) *cupel.ContextItem           { return item(cupel.WithPriority(p)) }
func kind(k cupel.ContextKind) *cupel.ContextItem { return item(cupel.WithKind(k)) }
func tagged(tags ...string) *cupel.ContextItem    { return item(cupel.WithTags(tags...)) }
func hint(h float64) *cupel.ContextItem           { return item(cupel.WithFutureRelevanceHint(h)) }
func metadata(key string, v any) *cupel.ContextItem {
	return item(cupel.WithMetadata(map[string]any{key: v}))
}

func date(year int) time.Time { return time.Date(year, time.June, 15, 12, 0, 0, 0, time.UTC) }

// same reports whether a and b are the same bits. All NaNs are one: which of
// its operands' payloads an addition keeps is the processor's choice.
func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}

// scoreCase is a list of items and the scores that a chapter gives them.
type scoreCase struct {
	name   string
	scorer strategy.Scorer
	items  items
	want   []float64
	why    string
}

func runScoreCases(t *testing.T, cases []scoreCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for i, got := range scoreAll(t, c.scorer, c.items) {
				if !same(got, c.want[i]) {
					t.Errorf("item %d scores %v, want %v: %s", i, got, c.want[i], c.why)
				}
			}
		})
	}
}

// scoreAll calls the scorer itself, with scores that hold something.
func scoreAll(t testing.TB, s strategy.Scorer, all items) []float64 {
	t.Helper()
	scores := make([]float64, len(all))
	for i := range scores {
		scores[i] = -77 // what is not written shows
	}
	if err := s.Score(t.Context(), all, scores); err != nil {
		t.Fatalf("%T: %v", s, err)
	}
	return scores
}

// errorCase is what a constructor returned for settings that it must refuse.
type errorCase struct {
	name string
	err  error
	want string
	why  string
}

func runErrorCases(t *testing.T, cases []errorCase) {
	t.Helper()
	for _, c := range cases {
		if !errors.Is(c.err, cupel.ErrInvalidConfig) || c.err.Error() != c.want {
			t.Errorf("%s: got %q, want %q: %s", c.name, c.err, c.want, c.why)
		}
	}
}

// refused drops the result of a constructor.
func refused[T any](_ T, err error) error { return err }

// one writes a call with a single score.
func one(score float64) []float64 { return []float64{score} }

// rawHint passes the hint through, NaN and infinities too.
var rawHint = strategy.ScorerFunc(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
	h, _ := item.FutureRelevanceHint()
	return h
})
