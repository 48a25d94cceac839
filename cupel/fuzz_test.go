package cupel_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// reader turns bytes into choices; when they run out every choice is the first.
type reader struct{ data []byte }

func (r *reader) upTo(n int) int {
	if len(r.data) == 0 {
		return 0
	}
	b := r.data[0]
	r.data = r.data[1:]
	return int(b) % n
}

func pick[T any](r *reader, of ...T) T { return of[r.upTo(len(of))] }

func (r *reader) item(t *testing.T) *cupel.ContextItem {
	t.Helper()
	opts := []cupel.ItemOption{
		cupel.WithKind(pick[cupel.ContextKind](r, "Message", "memory", "Tool", "\u212aind", "kind")),
		hint(pick(r, 0, 0.25, 0.5, 0.5, 1, math.NaN(), math.Inf(1), math.Inf(-1), -3)),
		cupel.WithTimestamp(pick(r, time.Time{}, time.Unix(0, 0), time.Unix(5e9, 7), time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC))),
		cupel.WithTags(pick(r, nil, []string{"a"}, []string{"A", "b"}, []string{"b", "c", "b"})...),
		cupel.WithPriority(r.upTo(3)),
	}
	if r.upTo(6) == 5 {
		opts = append(opts, cupel.WithPinned())
	}
	return item(t, pick(r, "x", "y", "é", "e\u0301", "x ")+strings.Repeat("z", r.upTo(4)), pick(r, 1, 10, 0, 7, 30, 100, -1, big62, math.MaxInt), opts...)
}

func (r *reader) scorer() cupel.Scorer {
	absolute := pick[cupel.Scorer](r, scorer.Reflexive{}, scorer.Kind{}, scorer.Frequency{})
	relative := pick[cupel.Scorer](r, scorer.Recency{}, scorer.Priority{}, scorer.Must(scorer.NewScaled(absolute)))
	both := scorer.Must(scorer.NewComposite(scorer.Weighted{Scorer: absolute, Weight: 1}, scorer.Weighted{Scorer: relative, Weight: 2}))
	return pick[cupel.Scorer](r, absolute, relative, both)
}

func (r *reader) slicer() cupel.Slicer {
	scarcity := pick(r, slicer.ScarcityDegrade, slicer.ScarcityThrow)
	entry := slicer.CountQuotaEntry{Kind: pick[cupel.ContextKind](r, "message", "Memory"), RequireCount: r.upTo(2), CapCount: 1 + r.upTo(3)}
	knapsack := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(pick(r, 1, 7, 100))))
	count := slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{entry}, slicer.WithScarcity(scarcity)))
	return pick[cupel.Slicer](r, slicer.Greedy{}, knapsack, count,
		slicer.Must(slicer.NewQuota(count, slicer.Between("Message", 10, 60), slicer.Cap("tool", 0))),
		slicer.Must(slicer.NewQuota(knapsack)),
		slicer.Must(slicer.NewCountConstrainedKnapsack(knapsack, []slicer.CountQuotaEntry{entry}, slicer.WithScarcity(scarcity))))
}

func (r *reader) budget(t *testing.T) cupel.ContextBudget {
	t.Helper()
	maxTokens := pick(r, 100, 0, 10, 1000, math.MaxInt)
	return budgetOf(t, maxTokens, pick(r, maxTokens, maxTokens/2, 0), cupel.WithOutputReserve(pick(r, 0, maxTokens/4, maxTokens)),
		cupel.WithReservedSlots(map[cupel.ContextKind]int{"Memory": pick(r, 0, 5, math.MaxInt)}),
		cupel.WithEstimationSafetyMargin(pick(r, 0.0, 10, 33.3, 100)))
}

// FuzzPipeline holds every run to what holds for all of them: what comes out is
// a subset without duplicates, pinned items are kept, the budget is held, the
// report says the same as the window, and a second run does the same.
func FuzzPipeline(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("one item of each sort, more or less: \x00\x01\x02\x03\x04\x05\x06\x07\x08\x09"))
	for seed := range 24 {
		data := make([]byte, 40+8*seed)
		state := uint32(seed)*2654435761 + 1
		for i := range data {
			state = state*1664525 + 1013904223
			data[i] = byte(state >> 24)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &reader{data}
		config := cupel.Config{
			Scorer: r.scorer(), Slicer: r.slicer(), Placer: pick[cupel.Placer](r, placer.Chronological{}, placer.UShaped{}),
			KeepDuplicates: r.upTo(2) == 1, Overflow: pick(r, cupel.OverflowThrow, cupel.OverflowTruncate, cupel.OverflowProceed),
		}
		budget := r.budget(t)
		var items []*cupel.ContextItem
		for range min(60, len(r.data)/6) {
			if len(items) > 0 && r.upTo(5) == 4 {
				items = append(items, items[r.upTo(len(items))]) // the same pointer again
				continue
			}
			items = append(items, r.item(t))
		}
		p, err := cupel.New(config)
		if err != nil {
			t.Fatal(err)
		}
		window, err := p.Run(t.Context(), items, budget)
		report, dryErr := p.DryRun(t.Context(), items, budget)
		again, againErr := p.Run(t.Context(), items, budget, cupel.WithTrace(cupel.NewDiagnosticTraceCollector(cupel.WithDetailLevel(cupel.TraceDetailItem))))
		if (err == nil) != (dryErr == nil) || (err == nil) != (againErr == nil) {
			t.Fatalf("one way of running fails and another does not: %v, %v, %v", err, dryErr, againErr)
		}
		if err != nil {
			if !errors.Is(err, cupel.ErrOverflow) && !errors.Is(err, cupel.ErrPinnedExceedsBudget) && !errors.Is(err, cupel.ErrScarcity) {
				t.Fatal(err)
			}
			return
		}
		equalSlices(t, "an observed run", again, window)
		checkWindow(t, window, items, config, budget)
		checkReport(t, report, window, items)
	})
}

func checkWindow(t *testing.T, window, items []*cupel.ContextItem, config cupel.Config, budget cupel.ContextBudget) {
	t.Helper()
	left := map[*cupel.ContextItem]int{}
	for _, it := range items {
		left[it]++
	}
	contents := map[string]bool{}
	tokens, pinned := 0.0, 0
	for _, it := range window {
		if left[it]--; left[it] < 0 {
			t.Fatalf("item %q is in more often than it was given", it.Content())
		}
		switch {
		case it.Pinned():
			pinned++
		case contents[it.Content()] && !config.KeepDuplicates:
			t.Fatalf("content %q is in twice", it.Content())
		default:
			contents[it.Content()] = true
		}
		if it.Tokens() < 0 {
			t.Fatalf("item %q has %d tokens and is in", it.Content(), it.Tokens())
		}
		tokens += float64(it.Tokens())
	}
	for _, it := range items {
		if it.Pinned() && it.Tokens() >= 0 {
			pinned--
		}
	}
	if pinned != 0 {
		t.Fatalf("%d pinned items were lost or made up", -pinned)
	}
	if limit := float64(budget.TargetTokens()); config.Overflow == cupel.OverflowThrow && tokens > limit {
		t.Fatalf("%v tokens are in, the target is %v", tokens, limit)
	}
}

func checkReport(t *testing.T, report *cupel.SelectionReport, window, items []*cupel.ContextItem) {
	t.Helper()
	var in []*cupel.ContextItem
	for _, i := range report.Included {
		in = append(in, i.Item)
	}
	equalSlices(t, "included", in, window)
	equal(t, "candidates", len(report.Included)+len(report.Excluded), len(items))
	for i := 1; i < len(report.Excluded); i++ {
		if report.Excluded[i].Score > report.Excluded[i-1].Score {
			t.Fatalf("excluded items are not in order of their scores")
		}
	}
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	var read cupel.SelectionReport
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if back, err := json.Marshal(&read); err != nil || !slices.Equal(back, text) {
		t.Fatalf("the report does not survive JSON, error %v:\n%s\n%s", err, text, back)
	}
}
