package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
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
	tests := []struct {
		why, items    string
		batch, target int
		how, want     string // want is "window | excluded | pulled", and "end" if the source has ended
	}{
		{"a source without items gives an empty window", "", 2, 10, "", " |  | 0 end"},
		{"by score per token, and merged by score", "middle 8 .8; large 6 .7; small 4 .9", 3, 10, "", "small(4) large(6) | middle@0.8 8/0 | 3"},
		{"nothing that was selected is given up for a later item", "a 6 .1; big 5 1; b 4 .2; c 1 1", 1, 10, "", "b(4) a(6) | big@1 5/4 | 3"},
		{"the budget is full with the first batch", "a 2 .5; b 2 .5; c 2 .5", 2, 4, "", "a(2) b(2) |  | 2"},
		{"a batch is pulled to be scored", "a 2 .5; b 2 .5; c 2 .5; d 2 .5; e 2 .5", 4, 4, "", "a(2) b(2) | c@0.5 2/0; d@0.5 2/0 | 4"},
		{"items without tokens come in before the budget is full", "a 4 .5; z 0 .9; late 0 1", 2, 4, "", "z(0)0 a(4) |  | 2"},
		{"equal scores go by arrival", "a 5 .5; b 3 .5", 2, 10, "", "a(5) b(3) |  | 2 end"},
		{"a full budget pulls nothing", "p 0 0 pin; z 0 1", 2, 0, "", " |  | 0"},
		{"pinned items take room in the budget, and none in a batch", "p 5 0 pin; a 5 .1; b 4 .9", 2, 10, "", "*p(5) b(4) | a@0.1 5/1 | 3 end"},
		{"a would fit if nothing were pinned", "p 5 0 pin; a 6 .9; b 4 .1", 1, 10, "", "*p(5) b(4) | a@0.9 for p | 3 end"},
		{"pinned items may fill the budget", "a 0 .1; p 10 0 pin; b 4 .9", 3, 10, "", "*p(10) | a@0.1 0/0 | 2"},
		{"a late pinned item is truncated for", "a 6 .1; b 3 .9; p 6 0 pin; c 1 1", 1, 10, "truncate", "*p(6) b(3) | a@0.1 for p | 3"},
		{"or exceeds the target", "a 6 .1; b 3 .9; p 6 0 pin; c 1 1", 1, 10, "proceed", "*p(6) b(3) a(6) |  | 3"},
		{"negative sizes are out, pinned or not", "n -1 1; a 5 .5; m -5 0 pin; b 1 .1", 2, 10, "", "a(5) b(1) | n@0 -1; m@0 -5 | 4 end"},
		{"of duplicates in a batch the best goes on", "a/1 5 .5; a/2 4 .9; a/3 3 .7", 3, 9, "", "a(4) | a@0.7 is a; a@0.5 is a | 3 end"},
		{"a selected item stays, regardless of a later copy", "a/1 5 .1; a/2 1 1", 1, 9, "", "a(5) | a@1 is a | 2 end"},
		{"a copy of what was not selected is another candidate", "a/1 10 .5; a/2 3 .1", 1, 9, "", "a(3) | a@0.5 10/9 | 2 end"},
		{"pinned items are not deduplicated", "a 3 0 pin; a 3 .1", 2, 9, "", "*a(3) a(3) |  | 2 end"},
		{"nor are others if they are kept", "a 3 .1; a 3 .1", 1, 9, "KeepDuplicates", "a(3) a(3) |  | 2 end"},
	}
	for _, tt := range tests {
		pulled := 0
		collector := observe.NewDiagnosticTraceCollector()
		result, err := pipelineOf(t, tt.how).RunStream(t.Context(), stream(&pulled, unitItems(t, tt.items)...), budgetOf(t, 100, tt.target), pipeline.WithBatchSize(tt.batch), pipeline.WithTrace(collector))
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%s | %s | %d", entries(result.Included), reasons(collector.BuildReport().Excluded), pulled)
		if result.SourceEnded {
			got += " end"
		}
		if got != tt.want || result.TotalCandidates != pulled || contents(result.Window) != included(&cupel.SelectionReport{Included: result.Included}) {
			t.Errorf("%s: %s\n got %s\nwant %s", tt.why, tt.items, got, tt.want)
		}
		out := 0
		for _, n := range result.Excluded {
			out += n
		}
		equal(t, "items in and out", len(result.Included)+out, pulled)
	}
}

func TestRunStreamBatchSize(t *testing.T) {
	var sizes []int
	counting := batchFunc(func(_ context.Context, all []*cupel.ContextItem, _ []float64) error {
		sizes = append(sizes, len(all))
		return nil
	})
	p := newPipeline(t, func(c *pipeline.Config) { c.Scorer = counting })
	items := slices.Concat(numbered(t, "p", 3, 1, cupel.WithPinned()), numbered(t, "a", 40, 1), numbered(t, "n", 5, -1), numbered(t, "b", 30, 1))
	for _, tt := range []struct {
		opts []pipeline.RunOption
		want []int
		why  string
	}{
		{nil, []int{32, 32, 6}, "32 is the default; pinned and negative items take no room"},
		{[]pipeline.RunOption{nil, pipeline.WithBatchSize(50)}, []int{50, 20}, "nil options are skipped"},
		{[]pipeline.RunOption{pipeline.WithBatchSize(1), pipeline.WithBatchSize(1000)}, []int{70}, "the last one counts"},
		{[]pipeline.RunOption{pipeline.WithBatchSize(35)}, []int{35, 35}, "no batch is empty when the last one was complete"},
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
	unread := errors.New("connection reset")
	canceled, cancel := context.WithCancelCause(t.Context())
	cancel(unread)
	of := func(text string) iter.Seq2[*cupel.ContextItem, error] { return stream(new(int), unitItems(t, text)...) }
	const three, instead = "a 2 .5; b 2 .5; c 2 .5", " cannot be used in a stream: collect the items and pass them to Pipeline.Run"
	plain := func(*pipeline.Config) {}
	tests := []struct {
		why    string
		source iter.Seq2[*cupel.ContextItem, error]
		batch  int
		change func(*pipeline.Config)
		text   string // after "cupel: "
		is     error
		total  int
	}{
		{"ranging over nil would panic", nil, 3, plain, "source must not be nil (StreamSlice, source)", cupel.ErrInvalidConfig, 0},
		{"no item would ever be scored", failing(nil), 0, plain, "batch size must be at least 1 (StreamSlice, batchSize = 0)", cupel.ErrInvalidConfig, 0},
		{"a newer copy may come at any time", of(three), 3, func(c *pipeline.Config) { c.NearDuplicates = 0.25 }, "streams do not look for near duplicates: collect the items and pass them to Pipeline.Run (StreamSlice, nearDuplicates = 0.25)", cupel.ErrInvalidConfig, 0},
		{"the position says where to go on", failing(unread, unitItems(t, three)...), 4, plain, "the source failed at item 3: connection reset", unread, 3},
		{"the Error method of a nil pointer panics", failing((*nilError)(nil)), 3, plain, "the source failed at item 0: <nil>", pipeline.ErrSource, 0},
		{"a panic is an error of the source", func(yield func(*cupel.ContextItem, error) bool) {
			yield(item(t, "a", 2), nil)
			panic(unread)
		}, 3, plain, "the source failed at item 1: panic: connection reset", unread, 1},
		{"members may come at any time", of("a 2 .5; g 1 .5 g=g pin"), 3, plain, "invalid item at index 1: group" + instead, cupel.ErrInvalidItem, 1},
		{"pinned items are checked as they come, before others are scored", of("a 2 .5; p 9 0 pin; q 92 0 pin; a 2 .5"), 3, withScorer(batchFunc(func(context.Context, []*cupel.ContextItem, []float64) error { return unread })), "Pinned items require 101 tokens, but only 100 are available", pipeline.ErrPinnedExceedsBudget, 3},
		{"a pinned item may come late", of(three + "; p 9 0 pin"), 1, plain, "Selected items require 15 tokens, exceeding target budget of 10", pipeline.ErrOverflow, 4},
		{"its panic is not the source's", of(three), 3, withScorer(scoreFunc(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { panic("no score") })), "scorer pipeline_test.scoreFunc panicked: panic: no score", cupel.ErrStrategy, 3},
		{"canceled before", of(three), 3, nil, "stopped in stage Classify: context canceled: connection reset", unread, 0},
		{"the source's error is that of the context", failing(context.Canceled), 3, nil, "stopped in stage Classify: context canceled: connection reset", context.Canceled, 0},
		{"a source may end because of the context", of(""), 3, nil, "stopped in stage Classify: context canceled: connection reset", unread, 0},
	}
	for _, tt := range tests {
		ctx, change := t.Context(), tt.change
		if change == nil {
			ctx, change = canceled, plain
		}
		result, err := newPipeline(t, change).RunStream(ctx, tt.source, budgetOf(t, 100, 10), pipeline.WithBatchSize(tt.batch))
		if err == nil || err.Error() != "cupel: "+tt.text || !errors.Is(err, tt.is) {
			t.Errorf("%s: got error %v, want %s", tt.why, err, tt.text)
		}
		if result == nil || result.Window != nil || result.Included != nil || result.SourceEnded && tt.total == 0 || result.TotalCandidates != tt.total {
			t.Errorf("%s: result %+v", tt.why, result)
		}
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
	_, err := newPipeline(t).RunStream(t.Context(), stubborn, budgetOf(t, 1, 1), pipeline.WithBatchSize(1))
	errorIs(t, err, pipeline.ErrSource)
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
	_, err := newPipeline(t).RunStream(t.Context(), source, budgetOf(t, 1, 1))
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
	result, err := newPipeline(t).RunStream(ctx, endless, budgetOf(t, 1000, 3))
	errorIs(t, err, context.Canceled)
	var stopped *pipeline.CanceledError
	if !errors.As(err, &stopped) || stopped.Stage != cupel.StageClassify {
		t.Errorf("got %v", err)
	}
	equal(t, "pulled", pulled, 100)
	equal(t, "candidates", result.TotalCandidates, 99)
	equal(t, "excluded so far", counts(result.Excluded), "BudgetExceeded 96") // three batches
}
