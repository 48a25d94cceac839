package scorer_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
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
	scorer cupel.Scorer
	items  items
	want   []float64
	within float64 // tolerated difference, 0 for the same bits
	why    string
}

// runScoreCases scores every list with both forms.
func runScoreCases(t *testing.T, cases []scoreCase) {
	t.Helper()
	names := map[string]bool{}
	for _, c := range cases {
		if c.name == "" || names[c.name] || c.why == "" {
			t.Fatalf("case %q needs a name of its own and a reason", c.name)
		}
		names[c.name] = true
		t.Run(c.name, func(t *testing.T) {
			if len(c.want) != len(c.items) {
				t.Fatalf("%d scores wanted of %d items", len(c.want), len(c.items))
			}
			for i, got := range scoreAll(t, c.scorer, c.items) {
				if !same(got, c.want[i]) && !(c.within > 0 && math.Abs(got-c.want[i]) <= c.within) {
					t.Errorf("ScoreAll: item %d scores %v, want %v: %s", i, got, c.want[i], c.why)
				}
				if single := c.scorer.Score(c.items[i], c.items); !same(single, got) {
					t.Errorf("item %d: Score gives %v and ScoreAll %v", i, single, got)
				}
			}
		})
	}
}

// scoreAll asks the batch form itself; every scorer of the package has one.
func scoreAll(t testing.TB, s cupel.Scorer, all items) []float64 {
	t.Helper()
	scores := make([]float64, len(all))
	for i := range scores {
		scores[i] = -77 // what is not written shows
	}
	if err := s.(cupel.BatchScorer).ScoreAll(t.Context(), all, scores); err != nil {
		t.Fatalf("ScoreAll of %T: %v", s, err)
	}
	return scores
}

// errorCase is settings that a constructor must refuse.
type errorCase struct {
	name  string
	build func() (any, error)
	want  cupel.InvalidConfigError
	why   string
}

func runErrorCases(t *testing.T, cases []errorCase) {
	t.Helper()
	names := map[string]bool{}
	for _, c := range cases {
		if c.name == "" || names[c.name] || c.why == "" {
			t.Fatalf("case %q needs a name of its own and a reason", c.name)
		}
		names[c.name] = true
		t.Run(c.name, func(t *testing.T) {
			_, err := c.build()
			checkConfigError(t, err, c.want, c.why)
		})
	}
}

// checkConfigError compares the fields exactly, and the reason by what it must
// contain.
func checkConfigError(t testing.TB, err error, want cupel.InvalidConfigError, why string) {
	t.Helper()
	var got *cupel.InvalidConfigError
	if !errors.As(err, &got) || !errors.Is(err, cupel.ErrInvalidConfig) {
		t.Fatalf("got %v, want an InvalidConfigError: %s", err, why)
	}
	if got.Component != want.Component || got.Field != want.Field || got.Value != want.Value || !strings.Contains(got.Reason, want.Reason) {
		t.Errorf("got  %+v\nwant %+v\nbecause %s", *got, want, why)
	}
}

// built drops the type of a constructor's result.
func built[T any](v T, err error) func() (any, error) {
	return func() (any, error) { return v, err }
}

// one writes a call with a single score.
func one(score float64) []float64 { return []float64{score} }

// function is a scorer that is not a batch scorer.
type function func(item *cupel.ContextItem, all []*cupel.ContextItem) float64

func (f function) Score(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	return f(item, all)
}

// rawHint passes the hint through, NaN and infinities too.
var rawHint = function(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
	h, _ := item.FutureRelevanceHint()
	return h
})
