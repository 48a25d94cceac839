package cupelsession_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
)

// Values that no session made say so, and do not panic.
func TestZeroValues(t *testing.T) {
	if n := new(cupelsession.Session).Turns() + new(cupelsession.Session).Fork().Turns(); n != 0 {
		t.Errorf("%d turns of sessions that New did not make, want 0", n)
	}
	turn := new(cupelsession.Turn)
	if err := turn.Commit(cupelsession.Usage{}); err == nil || !strings.Contains(err.Error(), "was not proposed") {
		t.Errorf("Commit of the zero Turn: error %v, want one that says so", err)
	}
	if got := turn.Report(); got.TotalCandidates != 0 || !strings.HasPrefix(turn.String(), "0 tokens kept") {
		t.Errorf("the zero Turn says %q, and reports %d candidates", turn, got.TotalCandidates)
	}
	s := session(t, newest(t), cupelsession.Config{})
	if got := says(next(t, s, numbered(t, 2), 50, nil)); got != "a b" {
		t.Errorf("window %q with a nil option, want a b", got)
	}
}

// A summariser may change the list that it is given: what Dropped gets is another.
func TestSummariserChangesItsList(t *testing.T) {
	items := numbered(t, 9)
	var left []string
	s := session(t, newest(t), cupelsession.Config{
		Summarize: func(_ context.Context, dropped []*cupel.ContextItem) (*cupel.ContextItem, error) {
			clear(dropped)
			return cupel.NewContextItem("(summary)", 5)
		},
		Dropped: func(items []*cupel.ContextItem) {
			for _, item := range items {
				left = append(left, item.Content())
			}
		},
	})
	commit(t, next(t, s, items[:5], 50))
	commit(t, next(t, s, items[:6], 50))
	if want := []string{"b", "c", "d"}; !slices.Equal(left, want) {
		t.Errorf("%q left, want %q", left, want)
	}
}

// Summaries are kept by what they stand for, with any keys.
func TestSummariesOfOddKeys(t *testing.T) {
	for _, test := range []struct{ key, why string }{
		{"", "an empty key"},
		{"x", "one key for contents that change"},
	} {
		calls := 0
		s := session(t, newest(t), cupelsession.Config{
			LowWater: 1,
			Key: func(i *cupel.ContextItem) string {
				if strings.HasPrefix(i.Content(), "b") {
					return test.key
				}
				return i.Content()
			},
			Summarize: func(_ context.Context, dropped []*cupel.ContextItem) (*cupel.ContextItem, error) {
				calls++
				return cupel.NewContextItem("("+dropped[0].Content()+")", 0)
			},
		})
		items := numbered(t, 6)
		commit(t, next(t, s, items[:5], 50))
		if got := says(next(t, s, items, 50)); got != "a (b) c d e f" || calls != 1 {
			t.Errorf("%s: window %q after %d calls, want a (b) c d e f after one", test.why, got, calls)
		}
		edited, err := items[1].With(cupel.WithContent("b, edited", 10))
		if err != nil {
			t.Fatal(err)
		}
		items[1] = edited
		if got := says(next(t, s, items, 50)); got != "a (b, edited) c d e f" || calls != 2 {
			t.Errorf("%s: window %q after %d calls, want a (b, edited) c d e f after two", test.why, got, calls)
		}
	}
}

// Keys that look like those of a second occurrence are none.
func TestKeysOfOccurrences(t *testing.T) {
	config := cupelsession.Config{Key: func(i *cupel.ContextItem) string { return strings.Fields(i.Content())[0] }}
	items := []*cupel.ContextItem{item(t, "a#1 x", 5), item(t, "a y", 5), item(t, "a z", 5), item(t, "a#1 w", 5)}
	s := session(t, newest(t), config)
	commit(t, next(t, s, items, 50))
	other := session(t, newest(t), config)
	if err := other.UnmarshalJSON([]byte(state(t, s))); err != nil {
		t.Fatal(err)
	}
	if got, want := next(t, other, items, 50), next(t, s, items, 50); says(got) != says(want) || got.KeptTokens != 20 || want.KeptTokens != 20 {
		t.Errorf("window %q, %d tokens kept, and %q, %d kept in another process; want 20", says(want), want.KeptTokens, says(got), got.KeptTokens)
	}
}

// What a provider cannot have read or written is not said of it.
func TestImpossibleUsage(t *testing.T) {
	items := numbered(t, 8)
	cache := cupelsession.CacheModel{Read: .1, Write: 1.25, Sure: time.Hour, Likely: time.Hour}
	for _, usage := range []cupelsession.Usage{
		{Input: 50, Read: -7, Cached: true},
		{Input: 50, Written: -7, Cached: true},
		{Input: 50, Read: 10, Written: 45, Cached: true},
		{Input: math.MinInt, Read: math.MaxInt, Written: math.MaxInt, Cached: true},
	} {
		s := session(t, newest(t), cupelsession.Config{Cache: cache})
		commit(t, next(t, s, items[:4], 100))
		turn := next(t, s, items[:5], 100)
		if err := turn.Commit(usage); err != nil || len(turn.Notes) > 0 {
			t.Errorf("%+v: error %v, notes %q, want none", usage, err, turn.Notes)
		}
		if got := next(t, s, items[:6], 100).Cache.Read; got != 50 {
			t.Errorf("%+v: %d tokens are expected in the cache, want 50", usage, got)
		}
	}
}

// Fit takes the model from the request: another model has nothing in its cache, and
// has its own shortest prefix.
func TestFitNamesTheModel(t *testing.T) {
	s := session(t, agent.New(nil), cupelsession.Config{Cache: cupelsession.CacheModel{
		Read: .1, Write: 1.25, Sure: time.Hour, Likely: time.Hour, Breakpoints: 4, Models: []cupelsession.ModelCache{{Name: "long", MinTokens: 1e6}},
	}})
	var messages []any
	for n, test := range []struct {
		member, model string
		read, written bool
		why           string
	}{
		{"model", "a", false, true, "the first turn"},
		{"model", "a", true, true, "the same model"},
		{"model", "b", false, true, "another model"},
		{"modelId", "b", true, true, "as Bedrock names it"},
		{"model", "long", false, false, "its prefixes are longer"},
	} {
		messages = append(messages, map[string]any{"role": "user", "content": strings.Repeat("hello ", 500)})
		params := map[string]any{test.member: test.model, "max_tokens": 5, "messages": messages}
		request, err := cupelsession.Fit(t.Context(), s, params, cupelchat.Anthropic, budget(t, 5000), cupel.HeuristicCounter{})
		if err != nil {
			t.Fatal(err)
		}
		if c := request.Cache; c.Read > 0 != test.read || c.Written > 0 != test.written || request.Params[test.member] != test.model {
			t.Errorf("turn %d of %v: %+v (%s)", n, request.Params[test.member], c, test.why)
		}
		commit(t, request.Turn)
	}
}

// A summary does not stand for an item that comes after what it stood for has gone,
// though that says the same: here, nor in another process.
func TestSummaryOfWhatIsGone(t *testing.T) {
	config := cupelsession.Config{Summarize: func(_ context.Context, dropped []*cupel.ContextItem) (*cupel.ContextItem, error) {
		return cupel.NewContextItem(fmt.Sprint("(summary of ", len(dropped), ")"), 5)
	}}
	items := numbered(t, 7)
	s := session(t, newest(t), config)
	commit(t, next(t, s, items[:5], 50))
	commit(t, next(t, s, items[:6], 50)) // b, c and d leave
	items = slices.Delete(items[:6:6], 2, 3)
	commit(t, next(t, s, items, 50))
	other := session(t, newest(t), config)
	if err := other.UnmarshalJSON([]byte(state(t, s))); err != nil {
		t.Fatal(err)
	}
	items = append(items, item(t, "c", 10, cupel.WithTimestamp(time.Unix(1e9, 0))))
	const want = "a (summary of 3) e f c"
	if x, y := says(next(t, s, items, 50)), says(next(t, other, items, 50)); x != want || y != want {
		t.Errorf("window %q, and %q in another process, want %q", x, y, want)
	}
}

// Another process has only the text of a summary: it chooses and proposes the same.
func TestAnotherProcessWithSummaries(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 3))
		pool := numbered(t, 15)
		for i := range 4 {
			pool = append(pool, item(t, fmt.Sprint("grouped ", i), 10, cupel.WithGroup(fmt.Sprint(i/2))), item(t, "b", 10))
		}
		config := cupelsession.Config{Cache: anyCache, Clock: func() time.Time { return time.Unix(1e9, 0) }, Summarize: func(_ context.Context, dropped []*cupel.ContextItem) (*cupel.ContextItem, error) {
			return cupel.NewContextItem(fmt.Sprint("(", len(dropped), ")"), 1)
		}}
		s := session(t, newest(t), config)
		var items []*cupel.ContextItem
		for step := range 25 {
			one, at := pool[rng.IntN(len(pool))], rng.IntN(len(items)+1)
			switch k := rng.IntN(4); {
			case k == 0 && at < len(items):
				items = slices.Delete(slices.Clone(items), at, at+1)
			case k == 1:
				items = slices.Insert(slices.Clone(items), at, one)
			default:
				items = append(items, one)
			}
			other := session(t, newest(t), config)
			if err := other.UnmarshalJSON([]byte(state(t, s))); err != nil {
				t.Fatal(err)
			}
			turn, same := next(t, s, items, 90), next(t, other, items, 90)
			if says(turn) != says(same) || turn.String() != same.String() {
				t.Fatalf("seed %d, step %d: %q, %s; in another process %q, %s", seed, step, says(turn), turn, says(same), same)
			}
			commit(t, turn)
		}
	}
}
