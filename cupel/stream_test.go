package cupel_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/scorer"
)

// stream yields items, and counts how many of them were pulled.
func stream(pulled *int, items ...*cupel.ContextItem) iter.Seq2[*cupel.ContextItem, error] {
	return func(yield func(*cupel.ContextItem, error) bool) {
		for _, it := range items {
			*pulled++
			if !yield(it, nil) {
				return
			}
		}
	}
}

// numbered returns n items called prefix0, prefix1 and so on.
func numbered(t testing.TB, prefix string, n, tokens int, opts ...cupel.ItemOption) []*cupel.ContextItem {
	t.Helper()
	items := make([]*cupel.ContextItem, n)
	for i := range items {
		items[i] = item(t, fmt.Sprint(prefix, i), tokens, opts...)
	}
	return items
}

// counts writes exclusions down in the order of the alphabet.
func counts(m map[cupel.ExclusionCode]int) string {
	var all []string
	for _, code := range slices.Sorted(maps.Keys(m)) {
		all = append(all, fmt.Sprint(code, " ", m[code]))
	}
	return strings.Join(all, ", ")
}

func TestRunStreamSelects(t *testing.T) {
	pinned := cupel.WithPinned()
	keep := func(c *cupel.Config) { c.KeepDuplicates = true }
	relative := func(c *cupel.Config) { c.Scorer = scorer.Priority{} }
	truncate := func(c *cupel.Config) { c.Overflow = cupel.OverflowTruncate }
	proceed := func(c *cupel.Config) { c.Overflow = cupel.OverflowProceed }
	priority := cupel.WithPriority
	list := func(items ...*cupel.ContextItem) []*cupel.ContextItem { return items }

	tests := []struct {
		name     string
		items    []*cupel.ContextItem
		batch    int
		target   int
		change   func(*cupel.Config)
		window   string
		excluded string
		pulled   int
		ended    bool
		why      string
	}{
		{
			name: "nothing", batch: 2, target: 10, ended: true,
			why: "a source without items gives an empty window",
		},
		{
			name: "density", batch: 3, target: 10, window: "small large", pulled: 3, excluded: "BudgetExceeded 1",
			items: list(item(t, "middle", 8, hint(0.8)), item(t, "large", 6, hint(0.7)), item(t, "small", 4, hint(0.9))),
			why:   "scores per token are .1, .117 and .225: small, then large, and middle does not fit; the merged order is by score",
		},
		{
			name: "skipped for good", batch: 1, target: 10, window: "b a", pulled: 3, ended: false, excluded: "BudgetExceeded 1",
			items: list(item(t, "a", 6, hint(0.1)), item(t, "big", 5, hint(1)), item(t, "b", 4, hint(0.2)), item(t, "c", 1, hint(1))),
			why:   "nothing that was selected is given up for a later item, smaller ones still come in, and c is not seen",
		},
		{
			name: "full at the end of a batch", batch: 2, target: 4, window: "a0 a1", pulled: 2,
			items: numbered(t, "a", 5, 2, hint(0.5)),
			why:   "the budget is full with the first batch, and no more is pulled",
		},
		{
			name: "full within a batch", batch: 4, target: 4, window: "a0 a1", pulled: 4, excluded: "BudgetExceeded 2",
			items: numbered(t, "a", 9, 2, hint(0.5)),
			why:   "a batch has to be pulled to be scored; the third and fourth item are candidates",
		},
		{
			name: "zero tokens", batch: 2, target: 4, window: "z a", pulled: 2,
			items: list(item(t, "a", 4, hint(0.5)), item(t, "z", 0, hint(0.9)), item(t, "late", 0, hint(1))),
			why:   "zero-token items of the batch come first, those after the budget is full are not seen",
		},
		{
			name: "nothing to spend", batch: 2, target: 0, window: "", pulled: 0,
			items: list(item(t, "p", 0, pinned), item(t, "z", 0, hint(1))),
			why:   "a full budget pulls nothing, not even what is pinned",
		},
		{
			name: "pinned first", batch: 2, target: 10, window: "p b", pulled: 3, ended: true, excluded: "BudgetExceeded 1",
			items: list(item(t, "p", 5, pinned), item(t, "a", 5, hint(0.1)), item(t, "b", 4, hint(0.9))),
			why:   "pinned items take their room before the batch is sliced, and none in the batch",
		},
		{
			name: "pinned override", batch: 1, target: 10, window: "p b", pulled: 3, ended: true, excluded: "PinnedOverride 1",
			items: list(item(t, "p", 5, pinned), item(t, "a", 6, hint(0.9)), item(t, "b", 4, hint(0.1))),
			why:   "a would fit if nothing were pinned (R30)",
		},
		{
			name: "pinned fill the budget", batch: 3, target: 10, window: "p", pulled: 2, excluded: "BudgetExceeded 1",
			items: list(item(t, "a", 0, hint(0.1)), item(t, "p", 10, pinned), item(t, "b", 4, hint(0.9))),
			why:   "pulling ends in the middle of a batch; with an effective target of 0 not even zero tokens are selected (R7)",
		},
		{
			name: "late pinned, truncate", batch: 1, target: 10, window: "p b", pulled: 3, change: truncate, excluded: "PinnedOverride 1",
			items: list(item(t, "a", 6, hint(0.1)), item(t, "b", 3, hint(0.9)), item(t, "p", 6, pinned)),
			why:   "15 tokens are truncated to 10: p, b, and a would fit if p were not pinned",
		},
		{
			name: "late pinned, proceed", batch: 1, target: 10, window: "p b a", pulled: 3, change: proceed,
			items: list(item(t, "a", 6, hint(0.1)), item(t, "b", 3, hint(0.9)), item(t, "p", 6, pinned)),
			why:   "the overflow strategy takes all 15 tokens; nothing is left for the items after p",
		},
		{
			name: "negative", batch: 2, target: 10, window: "a b", pulled: 4, ended: true, excluded: "NegativeTokens 2",
			items: list(item(t, "n", -1, hint(1)), item(t, "a", 5, hint(0.5)), item(t, "m", -5, pinned), item(t, "b", 1, hint(0.1))),
			why:   "negative sizes are out before scoring, pinned or not",
		},
		{
			name: "duplicates in a batch", batch: 3, target: 9, window: "a", pulled: 3, ended: true, excluded: "Deduplicated 2",
			items: list(item(t, "a", 5, hint(0.5)), item(t, "a", 4, hint(0.9)), item(t, "a", 3, hint(0.7))),
			why:   "the best scored of a batch goes on",
		},
		{
			name: "duplicate of a selected item", batch: 1, target: 9, window: "a", pulled: 2, ended: true, excluded: "Deduplicated 1",
			items: list(item(t, "a", 5, hint(0.1)), item(t, "a", 1, hint(1))),
			why:   "a selected item stays, regardless of the score of the copy",
		},
		{
			name: "duplicate of an item that is out", batch: 1, target: 9, window: "a", pulled: 2, ended: true, excluded: "BudgetExceeded 1",
			items: list(item(t, "a", 10, hint(0.5)), item(t, "a", 3, hint(0.1))),
			why:   "a copy of what was not selected is a new candidate",
		},
		{
			name: "duplicate of a pinned item", batch: 2, target: 9, window: "a a", pulled: 2, ended: true,
			items: list(item(t, "a", 3, pinned), item(t, "a", 3, hint(0.1))),
			why:   "pinned items are not deduplicated, as in a batch run",
		},
		{
			name: "duplicates kept", batch: 1, target: 9, window: "a a", pulled: 2, ended: true, change: keep,
			items: list(item(t, "a", 3, hint(0.1)), item(t, "a", 3, hint(0.1))),
			why:   "deduplication is the pipeline's setting",
		},
		{
			name: "relative scores", batch: 2, target: 9, window: "b d a c", pulled: 4, ended: true, change: relative,
			items: list(item(t, "a", 2, priority(1)), item(t, "b", 2, priority(2)), item(t, "c", 2, priority(3)), item(t, "d", 2, priority(4))),
			why:   "each batch of two ranks its items 0 and 1, and equal scores are in order of arrival",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			change := tt.change
			if change == nil {
				change = func(*cupel.Config) {}
			}
			pulled := 0
			result, err := pipeline(t, change).RunStream(t.Context(), stream(&pulled, tt.items...), budgetOf(t, 100, tt.target), cupel.WithBatchSize(tt.batch))
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "window", contents(result.Window), tt.window)
			equal(t, "excluded", counts(result.Excluded), tt.excluded)
			equal(t, "pulled", pulled, tt.pulled)
			equal(t, "candidates", result.TotalCandidates, tt.pulled)
			equal(t, "source ended", result.SourceEnded, tt.ended)
			for i, in := range result.Included {
				equal(t, "included", in.Item, result.Window[i])
			}
			if t.Failed() {
				t.Log("why:", tt.why)
			}
		})
	}
}

func TestRunStreamExplainsIncluded(t *testing.T) {
	pulled := 0
	result, err := pipeline(t).RunStream(t.Context(), stream(&pulled,
		item(t, "p", 0, cupel.WithPinned()), item(t, "z", 0, hint(0.25)), item(t, "n", -7), item(t, "a", 5, hint(0.5))), budgetOf(t, 10, 10))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, in := range result.Included {
		got = append(got, in.Item.Content()+" "+in.String())
	}
	equalSlices(t, "included", got, []string{"p Pinned: score 1, 0 tokens", "a Scored: score 0.5, 5 tokens", "z ZeroToken: score 0.25, 0 tokens"})
	equal(t, "tokens considered", result.TotalTokensConsidered, -2)
}

func TestRunStreamBatchSize(t *testing.T) {
	var sizes []int
	counting := batchFunc(func(_ context.Context, all []*cupel.ContextItem, _ []float64) error {
		sizes = append(sizes, len(all))
		return nil
	})
	p := pipeline(t, func(c *cupel.Config) { c.Scorer = counting })
	items := slices.Concat(numbered(t, "p", 3, 1, cupel.WithPinned()), numbered(t, "a", 40, 1), numbered(t, "n", 5, -1), numbered(t, "b", 30, 1))
	for _, tt := range []struct {
		opts []cupel.StreamOption
		want []int
		why  string
	}{
		{nil, []int{32, 32, 6}, "32 is the default; pinned and negative items take no room"},
		{[]cupel.StreamOption{nil, cupel.WithBatchSize(50)}, []int{50, 20}, "nil options are skipped"},
		{[]cupel.StreamOption{cupel.WithBatchSize(1), cupel.WithBatchSize(1000)}, []int{70}, "the last one counts"},
		{[]cupel.StreamOption{cupel.WithBatchSize(35)}, []int{35, 35}, "no batch is empty when the last one was complete"},
	} {
		sizes = nil
		pulled := 0
		if _, err := p.RunStream(t.Context(), stream(&pulled, items...), budgetOf(t, 1000, 1000), tt.opts...); err != nil {
			t.Fatal(err)
		}
		equalSlices(t, tt.why, sizes, tt.want)
	}
}

// failing yields some items and then an error, and goes on after it.
func failing(err error, items ...*cupel.ContextItem) iter.Seq2[*cupel.ContextItem, error] {
	return func(yield func(*cupel.ContextItem, error) bool) {
		for _, it := range items {
			if !yield(it, nil) {
				return
			}
		}
		if yield(nil, err) {
			panic("pulled after the error")
		}
	}
}

type nilError struct{ text string }

func (e *nilError) Error() string { return e.text } // panics for a nil pointer

func TestRunStreamFails(t *testing.T) {
	three := numbered(t, "a", 3, 2, hint(0.5))
	unread := errors.New("connection reset")
	canceled, cancel := context.WithCancelCause(t.Context())
	cancel(unread)
	tests := []struct {
		name   string
		ctx    context.Context
		source iter.Seq2[*cupel.ContextItem, error]
		opts   []cupel.StreamOption
		change func(*cupel.Config)
		text   string
		is     error
		total  int
		why    string
	}{
		{name: "no source", text: "cupel: source must not be nil (StreamSlice, source)", is: cupel.ErrInvalidConfig, why: "ranging over nil would panic"},
		{name: "batch of none", opts: []cupel.StreamOption{cupel.WithBatchSize(0)}, source: failing(nil),
			text: "cupel: batch size must be at least 1 (StreamSlice, batchSize = 0)", is: cupel.ErrInvalidConfig, why: "nothing would ever be scored"},
		{name: "source error", source: failing(unread, three...), total: 3,
			text: "cupel: the source failed at item 3: connection reset", is: cupel.ErrSource, why: "the position says where to go on"},
		{name: "source error is kept", source: failing(unread, three...), total: 3,
			text: "cupel: the source failed at item 3: connection reset", is: unread, why: "callers look for their own errors"},
		{name: "typed nil error", source: failing((*nilError)(nil)),
			text: "cupel: the source failed at item 0: <nil>", is: cupel.ErrSource, why: "its Error method panics"},
		{name: "nil item", source: stream(new(int), three[0], nil), total: 1,
			text: "cupel: invalid item at index 1: must come from NewContextItem, got nil or an empty item", is: cupel.ErrInvalidItem, why: "as in a batch run"},
		{name: "empty item", source: stream(new(int), new(cupel.ContextItem)),
			text: "cupel: invalid item at index 0: must come from NewContextItem, got nil or an empty item", is: cupel.ErrInvalidItem, why: "as in a batch run"},
		{name: "source panics", total: 1, text: "cupel: the source failed at item 1: panic: out of order", is: cupel.ErrSource, why: "no panic on any input",
			source: func(yield func(*cupel.ContextItem, error) bool) { yield(three[0], nil); panic("out of order") }},
		{name: "source panics with an error", text: "cupel: the source failed at item 0: panic: EOF", is: io.EOF, why: "the panic's value is looked through",
			source: func(func(*cupel.ContextItem, error) bool) { panic(io.EOF) }},
		{name: "pinned", source: stream(new(int), item(t, "p", 9, cupel.WithPinned()), item(t, "q", 92, cupel.WithPinned()), three[0]), total: 2,
			text: "cupel: Pinned items require 101 tokens, but only 100 are available", is: cupel.ErrPinnedExceedsBudget, why: "checked as they come, before the source ends"},
		{name: "overflow", source: stream(new(int), three[0], three[1], three[2], item(t, "p", 9, cupel.WithPinned())), total: 4,
			opts: []cupel.StreamOption{cupel.WithBatchSize(1)},
			text: "cupel: Selected items require 15 tokens, exceeding target budget of 10", is: cupel.ErrOverflow, why: "a pinned item that comes late"},
		{name: "canceled before", ctx: canceled, source: stream(new(int), three...),
			text: "cupel: stopped in stage Classify: context canceled: connection reset", is: context.Canceled, why: "nothing is classified"},
		{name: "canceled in the source", ctx: canceled, source: failing(context.Canceled),
			text: "cupel: stopped in stage Classify: context canceled: connection reset", is: unread, why: "the source's error is that of the context"},
		{name: "canceled empty source", ctx: canceled, source: stream(new(int)),
			text: "cupel: stopped in stage Classify: context canceled: connection reset", is: context.Canceled, why: "a source may end for the sake of the context"},
		{name: "scorer fails", source: stream(new(int), three...), total: 3,
			change: func(c *cupel.Config) {
				c.Scorer = batchFunc(func(context.Context, []*cupel.ContextItem, []float64) error { return unread })
			},
			text: "cupel: scorer cupel_test.batchFunc failed: connection reset", is: cupel.ErrStrategy, why: "as in a batch run"},
		{name: "scorer panics", source: stream(new(int), three...), total: 3,
			change: func(c *cupel.Config) {
				c.Scorer = scoreFunc(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { panic("no score") })
			},
			text: "cupel: scorer cupel_test.scoreFunc panicked: panic: no score", is: cupel.ErrStrategy, why: "it is not the source's panic, although the source is under it"},
		{name: "placer fails", source: stream(new(int), three...), total: 3,
			change: func(c *cupel.Config) {
				c.Placer = placeFunc(func(context.Context, []cupel.ScoredItem) ([]int, error) { return []int{0}, nil })
			},
			text: "cupel: placer cupel_test.placeFunc returned 1 positions for 3 items, which breaks the contract of a placer", is: cupel.ErrStrategy, why: "as in a batch run"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, change := tt.ctx, tt.change
			if ctx == nil {
				ctx = t.Context()
			}
			if change == nil {
				change = func(*cupel.Config) {}
			}
			result, err := pipeline(t, change).RunStream(ctx, tt.source, budgetOf(t, 100, 10), tt.opts...)
			if err == nil || err.Error() != tt.text {
				t.Fatalf("got error %v, want %s, because %s", err, tt.text, tt.why)
			}
			errorIs(t, err, tt.is)
			if result == nil || result.Window != nil || result.Included != nil || result.SourceEnded && tt.total == 0 {
				t.Fatalf("result %+v", result)
			}
			equal(t, "candidates", result.TotalCandidates, tt.total)
		})
	}
}

func TestRunStreamOnNoPipeline(t *testing.T) {
	for _, p := range []*cupel.Pipeline{nil, {}} {
		result, err := p.RunStream(t.Context(), failing(nil), budgetOf(t, 1, 1))
		errorIs(t, err, cupel.ErrInvalidConfig)
		if result == nil {
			t.Error("no result")
		}
	}
}

func TestRunStreamNilContext(t *testing.T) {
	pulled := 0
	var none context.Context
	result, err := pipeline(t).RunStream(none, stream(&pulled, item(t, "a", 1)), budgetOf(t, 1, 1))
	if err != nil || contents(result.Window) != "a" {
		t.Errorf("window %q, %v", contents(result.Window), err)
	}
}

// A source that ignores that it was told to stop breaks the rules of iterators;
// the runtime panics in it, and the run reports that.
func TestRunStreamSourceGoesOn(t *testing.T) {
	yields := 0
	stubborn := func(yield func(*cupel.ContextItem, error) bool) {
		for range 5 {
			yields++
			yield(item(t, "a", 1), nil)
		}
	}
	_, err := pipeline(t).RunStream(t.Context(), stubborn, budgetOf(t, 1, 1), cupel.WithBatchSize(1))
	errorIs(t, err, cupel.ErrSource)
	equal(t, "yields", yields, 2)
	if cause, ok := compat.AsType[*cupel.PanicError](err); !ok || len(cause.Stack) == 0 {
		t.Errorf("no panic in %v", err)
	}
}

// The error of a run is not replaced by what the source does when it learns
// to stop.
func TestRunStreamSourcePanicsOnStop(t *testing.T) {
	source := func(yield func(*cupel.ContextItem, error) bool) {
		defer func() { panic("cannot close") }()
		yield(nil, nil)
	}
	_, err := pipeline(t).RunStream(t.Context(), source, budgetOf(t, 1, 1))
	errorIs(t, err, cupel.ErrInvalidItem)
}

func TestRunStreamCanceledMidway(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	pulled := 0
	endless := func(yield func(*cupel.ContextItem, error) bool) {
		for {
			pulled++
			if pulled == 100 {
				cancel()
			}
			if !yield(item(t, fmt.Sprint(pulled), 5), nil) {
				return
			}
		}
	}
	result, err := pipeline(t).RunStream(ctx, endless, budgetOf(t, 1000, 3))
	errorIs(t, err, context.Canceled)
	var stopped *cupel.CanceledError
	if !errors.As(err, &stopped) || stopped.Stage != cupel.StageClassify {
		t.Errorf("got %v", err)
	}
	equal(t, "pulled", pulled, 100)
	equal(t, "candidates", result.TotalCandidates, 99)
	equal(t, "excluded so far", counts(result.Excluded), "BudgetExceeded 96") // three batches
}
