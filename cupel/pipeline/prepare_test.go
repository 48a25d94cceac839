package pipeline_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// randomSlicer returns any slicer, or one around another.
func randomSlicer(r *rand.Rand) strategy.Slicer {
	scarcity := slicer.ScarcityDegrade
	if r.IntN(2) == 0 {
		scarcity = slicer.ScarcityThrow
	}
	knapsack := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(1 + r.IntN(9))))
	counts := []slicer.CountQuotaEntry{{Kind: "a", RequireCount: r.IntN(4), CapCount: 3 + r.IntN(3)}, {Kind: "c", CapCount: r.IntN(3)}}
	quotas := []slicer.QuotaEntry{slicer.Require("a", 30), slicer.Cap("b", 20)}
	switch r.IntN(9) {
	case 0:
		return knapsack
	case 1:
		return slicer.Must(slicer.NewQuota(slicer.Greedy{}, quotas...))
	case 2:
		return slicer.Must(slicer.NewQuota(knapsack, quotas...))
	case 3:
		return slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, counts, slicer.WithScarcity(scarcity)))
	case 4:
		return slicer.Must(slicer.NewCountConstrainedKnapsack(knapsack, counts, slicer.WithScarcity(scarcity)))
	case 5:
		return slicer.Must(slicer.NewCountQuota(slicer.Must(slicer.NewQuota(slicer.Greedy{}, quotas...)), counts, slicer.WithScarcity(scarcity)))
	case 6:
		return everything
	}
	return slicer.Greedy{}
}

func randomPipeline(t testing.TB, r *rand.Rand, change ...func(*pipeline.Config)) *pipeline.Pipeline {
	t.Helper()
	config := pipeline.Config{
		Scorer: byHint{}, Slicer: randomSlicer(r), Placer: placer.UShaped{}, KeepDuplicates: r.IntN(2) == 0,
		Overflow: pipeline.OverflowStrategy(r.IntN(3)), Clock: func() time.Time { return time.Time{} },
	}
	for _, c := range change {
		c(&config)
	}
	p, err := pipeline.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// randomUnits returns candidates with groups, variants and versions.
func randomUnits(t testing.TB, r *rand.Rand, n int) []*cupel.ContextItem {
	t.Helper()
	kinds := []cupel.ContextKind{"a", "A", "b", "c"}
	variants := func(below int, name string) []cupel.Variant {
		var list []cupel.Variant
		for i := range r.IntN(4) {
			if below > 0 {
				v := cupel.Variant{Content: fmt.Sprintf("%s variant %d", name, i), Tokens: r.IntN(below), Worth: float64(1+r.IntN(19)) / 20}
				if r.IntN(3) == 0 {
					v.Content, v.Make = "", func(context.Context) (string, error) { return name + " made", nil }
				}
				list = append(list, v)
			}
		}
		return list
	}
	items := make([]*cupel.ContextItem, n)
	for i := range items {
		tokens := r.IntN(60)
		if r.IntN(12) == 0 {
			tokens = 0
		}
		if r.IntN(25) == 0 {
			tokens = -1
		}
		score := float64(r.IntN(9)) / 8
		switch r.IntN(30) {
		case 0:
			score = math.NaN()
		case 1:
			score = math.Inf(1)
		case 2:
			score = -.5
		}
		content := fmt.Sprint("item ", r.IntN(n*2))
		opts := []cupel.ItemOption{hint(score), cupel.WithKind(kinds[r.IntN(len(kinds))])}
		if r.IntN(3) == 0 {
			opts = append(opts, cupel.WithGroup(fmt.Sprint("g", r.IntN(1+n/4))))
			if r.IntN(3) == 0 {
				opts = append(opts, cupel.WithGroupVariants(variants(100, content)...))
			}
		}
		if r.IntN(4) == 0 {
			opts = append(opts, cupel.WithVersionOf(fmt.Sprint("v", r.IntN(1+n/6))))
		}
		if r.IntN(2) == 0 {
			opts = append(opts, cupel.WithVariants(variants(tokens, content)...))
		}
		if r.IntN(15) == 0 {
			opts = append(opts, cupel.WithPinned())
		}
		if r.IntN(2) == 0 {
			opts = append(opts, cupel.WithTimestamp(time.Unix(int64(r.IntN(5)), 0)))
		}
		items[i] = item(t, content, tokens, opts...)
		if i > 0 && r.IntN(20) == 0 {
			items[i] = items[r.IntN(i)] // the same pointer twice
		}
	}
	return items
}

// randomBudget is often too small for something.
func randomBudget(t testing.TB, r *rand.Rand) cupel.ContextBudget {
	t.Helper()
	maxTokens := r.IntN(150)
	opts := []cupel.BudgetOption{cupel.WithEstimationSafetyMargin(float64(r.IntN(3) * 7))}
	if r.IntN(3) == 0 {
		opts = append(opts, cupel.WithOutputReserve(r.IntN(maxTokens+1)))
	}
	if r.IntN(3) == 0 {
		opts = append(opts, cupel.WithReservedSlots(map[cupel.ContextKind]int{"a": r.IntN(20)}))
	}
	return budgetOf(t, maxTokens, r.IntN(maxTokens+1), opts...)
}

// diary keeps everything that a run tells.
type diary struct {
	observe.NoTrace
	entries []any
}

func (d *diary) note(entry any) { d.entries = append(d.entries, entry) }

func (d *diary) IsEnabled() bool                         { return true }
func (d *diary) RecordStageEvent(event cupel.TraceEvent) { d.note(event) }
func (d *diary) RecordItemEvent(event cupel.TraceEvent)  { d.note(event) }

func (d *diary) Detail() observe.TraceDetail {
	return observe.TraceDetail{Reasons: true, Items: true, ItemEvents: true, Report: true}
}

func (d *diary) StartRun(ctx context.Context, info observe.RunInfo) (context.Context, observe.RunTrace) {
	info.Prepared = false // the one thing in which prepared runs differ
	d.note(info)
	return ctx, d
}

func (d *diary) StartStage(ctx context.Context, s observe.StageStart) context.Context {
	d.note(s)
	return ctx
}

func (d *diary) EndRun(_ context.Context, e observe.RunEnd) { d.note(e) }

func (d *diary) EndStage(_ context.Context, e observe.StageEnd) {
	if len(e.Excluded) == 0 {
		e.Excluded = nil // an empty list may or may not be nil
	}
	d.note(e)
}

// compare stops at the first entry that differs.
func (d *diary) compare(t *testing.T, label string, want *diary) {
	t.Helper()
	for i := range min(len(d.entries), len(want.entries)) {
		if fmt.Sprintf("%+v", d.entries[i]) != fmt.Sprintf("%+v", want.entries[i]) {
			t.Fatalf("%s: the observer was told\n%+v\nwant\n%+v", label, d.entries[i], want.entries[i])
		}
	}
	if len(d.entries) != len(want.entries) {
		t.Fatalf("%s: the observer was told %d things, want %d", label, len(d.entries), len(want.entries))
	}
}

func sameError(a, b error) bool {
	return fmt.Sprintf("%T %v", a, a) == fmt.Sprintf("%T %v", b, b)
}

// TestPreparedIsThePipeline compares every answer of a Prepared with that of its
// pipeline: windows, reports, partial reports, errors, and what observers see.
func TestPreparedIsThePipeline(t *testing.T) {
	r := rand.New(rand.NewPCG(39, 40))
	rounds := 300
	if testing.Short() || raceEnabled {
		rounds = 60
	}
	failures, windows := make(map[string]int), 0
	for round := range rounds {
		var overflows []int
		p := randomPipeline(t, r, func(c *pipeline.Config) {
			c.OnOverflow = func(e cupel.OverflowEvent) { overflows = append(overflows, e.TokensOverBudget) }
		})
		items := hostileItems(t, r, r.IntN(25))
		if round%2 == 0 {
			items = randomUnits(t, r, 1+r.IntN(25))
		}
		prepared, err := p.Prepare(t.Context(), items)
		if err != nil {
			t.Fatal(err)
		}
		for range 12 {
			budget := randomBudget(t, r)
			label := fmt.Sprintf("round %d, %T, %+v", round, p.Config().Slicer, budget)

			var wantDiary, gotDiary diary
			want, wantErr := p.Run(t.Context(), items, budget, pipeline.WithTrace(&wantDiary))
			got, err := prepared.Run(t.Context(), budget, pipeline.WithTrace(&gotDiary))
			if !sameError(err, wantErr) || !slices.EqualFunc(got, want, func(a, b *cupel.ContextItem) bool { return a == b || round%2 == 0 && a.Equal(b) }) {
				t.Fatalf("%s: Run gave %v, %v; want %v, %v", label, contents(got), err, contents(want), wantErr)
			}
			gotDiary.compare(t, label, &wantDiary)
			if n := len(overflows); n%2 != 0 || n > 0 && overflows[n-1] != overflows[n-2] {
				t.Fatalf("%s: the overflow observer was told %v", label, overflows)
			}

			told := len(overflows)
			wantReport, wantErr := p.DryRun(t.Context(), items, budget)
			gotReport, err := prepared.DryRun(t.Context(), budget)
			if !sameError(err, wantErr) || !gotReport.Equal(*wantReport) {
				t.Fatalf("%s: DryRun gave\n%+v, %v\nwant\n%+v, %v", label, gotReport, err, wantReport, wantErr)
			}

			positions, err := prepared.Select(t.Context(), budget)
			if !sameError(err, wantErr) {
				t.Fatalf("%s: Select failed with %v, want %v", label, err, wantErr)
			}
			var included []int
			for _, e := range wantReport.Included {
				included = append(included, e.Candidate)
			}
			slices.Sort(positions)
			slices.Sort(included)
			if !slices.Equal(positions, included) {
				t.Fatalf("%s: Select gave %v, want %v", label, positions, included)
			}
			if len(overflows) != told {
				t.Fatalf("%s: a simulation called the overflow observer", label)
			}
			failures[fmt.Sprintf("%T", wantErr)]++
			windows += len(want)
		}
	}
	t.Logf("%d items in windows, errors %v", windows, failures)
	for _, err := range []error{&pipeline.PinnedExceedsBudgetError{}, &pipeline.OverflowError{}, &cupel.ScarcityError{}, nil} {
		if failures[fmt.Sprintf("%T", err)] < rounds/20 {
			t.Errorf("too few cases end with %T to say much", err)
		}
	}
}

func TestPrepareFails(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	ok := []*cupel.ContextItem{item(t, "a", 1)}
	broken := withScorer(scoreFunc(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { panic("no") }))
	var stopping context.CancelFunc
	midway, stopping := context.WithCancel(t.Context())
	stops := withScorer(scoreFunc(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { stopping(); return 0 }))
	tests := []struct {
		name     string
		pipeline *pipeline.Pipeline
		ctx      context.Context
		items    []*cupel.ContextItem
		want     string
		why      string
	}{
		{"no pipeline", nil, t.Context(), ok, "cupel: the pipeline is empty: build it with New (Pipeline)", "as Run says"},
		{"a nil item", newPipeline(t), t.Context(), []*cupel.ContextItem{ok[0], nil}, "cupel: invalid item at index 1: must come from NewContextItem, got nil or an empty item", "it is wrong at every budget"},
		{"the scorer panics", newPipeline(t, broken), t.Context(), ok, "cupel: scorer pipeline_test.scoreFunc panicked: panic: no", "it names the strategy"},
		{"canceled before", newPipeline(t), canceled, ok, "cupel: stopped in stage Classify: context canceled", "nothing is begun"},
		{"canceled while scoring", newPipeline(t, stops), midway, ok, "cupel: stopped in stage Deduplicate: context canceled", "the next stage notices"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			prepared, err := tt.pipeline.Prepare(tt.ctx, tt.items)
			if prepared != nil || err == nil || err.Error() != tt.want {
				t.Errorf("got %v, %v; want the error %q: %s", prepared, err, tt.want, tt.why)
			}
		})
	}
}

func TestNothingPrepared(t *testing.T) {
	for name, p := range map[string]*pipeline.Prepared{"nil": nil, "zero": {}} {
		t.Run(name, func(t *testing.T) {
			budget := budgetOf(t, 1, 1)
			_, err := p.Run(t.Context(), budget)
			errorIs(t, err, cupel.ErrInvalidConfig)
			report, err := p.DryRun(t.Context(), budget)
			errorIs(t, err, cupel.ErrInvalidConfig)
			if report == nil {
				t.Error("DryRun returned no report")
			}
			choice, err := p.Choose(t.Context(), budget)
			errorIs(t, err, cupel.ErrInvalidConfig)
			if choice.HoldsAt(budget) {
				t.Error("a choice from nothing knows something")
			}
		})
	}
}

// TestPreparedIsItsOwn changes the caller's list, and has a slicer that breaks
// its contract change what it is given.
func TestPreparedIsItsOwn(t *testing.T) {
	vandal := sliceFunc(func(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
		sel, err := slicer.Greedy{}.Slice(ctx, items, budget)
		clear(items)
		return sel, err
	})
	items := []*cupel.ContextItem{item(t, "a", 5, hint(0.5)), item(t, "b", 5, hint(0.9)), item(t, "p", 1, cupel.WithPinned())}
	prepared, err := newPipeline(t, withSlicer(vandal)).Prepare(t.Context(), items)
	if err != nil {
		t.Fatal(err)
	}
	clear(items)
	for range 3 {
		window, err := prepared.Run(nil, budgetOf(t, 6, 6)) //nolint:staticcheck // nil is taken for the background
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "window", contents(window), "p b")
	}
	if positions, err := prepared.Select(nil, budgetOf(t, 6, 6)); err != nil || !slices.Equal(positions, []int{2, 1}) { //nolint:staticcheck // as above
		t.Errorf("got %v, %v", positions, err)
	}
}
