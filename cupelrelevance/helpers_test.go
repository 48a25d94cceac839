package cupelrelevance

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// item returns an item with the given content and pairs of metadata.
func item(t testing.TB, content string, pairs ...any) *cupel.ContextItem {
	t.Helper()
	metadata := make(map[string]any)
	var opts []cupel.ItemOption
	for i := 0; i < len(pairs); i += 2 {
		if at, ok := pairs[i+1].(time.Time); ok && pairs[i] == "at" {
			opts = append(opts, cupel.WithTimestamp(at))
			continue
		}
		if tags, ok := pairs[i+1].([]string); ok && pairs[i] == "tags" {
			opts = append(opts, cupel.WithTags(tags...))
			continue
		}
		metadata[pairs[i].(string)] = pairs[i+1]
	}
	it, err := cupel.NewContextItem(content, len(content)/4+1, append(opts, cupel.WithMetadata(metadata))...)
	require.NoError(t, err)
	return it
}

// scoresOf asks the batch form.
func scoresOf(t testing.TB, s strategy.Scorer, all []*cupel.ContextItem) []float64 {
	t.Helper()
	scores := make([]float64, len(all))
	require.NoError(t, strategy.CallScorer(t.Context(), s, all, scores))
	return scores
}

// near reports whether two numbers differ by rounding only.
func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-12*math.Abs(b)
}

// randomItems returns a list with few words, of a few groups.
func randomItems(t testing.TB, r *rand.Rand, n int) []*cupel.ContextItem {
	t.Helper()
	words := strings.Fields("meet meeting meetings roof parseHTTPHeader header HTTP snake_case snake 会議 会議室 42 résumé using use die dying")
	items := make([]*cupel.ContextItem, n)
	start := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range items {
		var text []string
		for range 1 + r.IntN(8) {
			text = append(text, words[r.IntN(len(words))])
		}
		pairs := []any{"speaker", words[r.IntN(4)]}
		if r.IntN(3) > 0 {
			pairs = append(pairs, "session", fmt.Sprint(r.IntN(3)))
		}
		if r.IntN(3) > 0 {
			pairs = append(pairs, "tags", []string{words[r.IntN(len(words))]})
		}
		if r.IntN(10) > 0 {
			pairs = append(pairs, "at", start.Add(time.Duration(r.IntN(300))*time.Minute))
		}
		items[i] = item(t, strings.Join(text, " "), pairs...)
		if i > 0 && r.IntN(10) == 0 {
			items[i] = items[r.IntN(i)] // one pointer twice
		}
	}
	return items
}

// mustFail expects an InvalidConfigError about a setting.
func mustFail(t *testing.T, err error, component, field string) {
	t.Helper()
	bad, ok := errors.AsType[*cupel.InvalidConfigError](err)
	if !ok {
		t.Fatalf("got error %v, want an InvalidConfigError", err)
	}
	if bad.Component != component || bad.Field != field || bad.Reason == "" {
		t.Errorf("got %s, field %q, reason %q; want %s, field %q, and a reason", bad.Component, bad.Field, bad.Reason, component, field)
	}
}
