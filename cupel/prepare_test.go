package cupel_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// randomItems has duplicates, negative counts, pinned items, items without
// tokens and pointers that occur twice.
func randomItems(t testing.TB, r *rand.Rand, n int) []*cupel.ContextItem {
	t.Helper()
	kinds := []cupel.ContextKind{"a", "A", "b", "c"}
	var items []*cupel.ContextItem
	for i := range n {
		if i > 0 && r.IntN(12) == 0 {
			items = append(items, items[r.IntN(i)])
			continue
		}
		tokens := 1 + r.IntN(30)
		switch r.IntN(12) {
		case 0:
			tokens = 0
		case 1:
			tokens = -tokens
		}
		opts := []cupel.ItemOption{hint(float64(r.IntN(8)) / 8), cupel.WithKind(kinds[r.IntN(len(kinds))])}
		if r.IntN(12) == 0 {
			opts = append(opts, cupel.WithPinned())
		}
		items = append(items, item(t, fmt.Sprint("content ", r.IntN(2*n)), tokens, opts...))
	}
	return items
}

// randomSlicer returns any slicer, or one around another.
func randomSlicer(r *rand.Rand) cupel.Slicer {
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

func randomPipeline(t testing.TB, r *rand.Rand, change ...func(*cupel.Config)) *cupel.Pipeline {
	t.Helper()
	config := cupel.Config{
		Scorer: byHint{}, Slicer: randomSlicer(r), Placer: placer.UShaped{}, KeepDuplicates: r.IntN(2) == 0,
		Overflow: cupel.OverflowStrategy(r.IntN(3)), Clock: func() time.Time { return time.Time{} },
	}
	for _, c := range change {
		c(&config)
	}
	p, err := cupel.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return p
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
	cupel.NoTrace
	entries []any
}

func (d *diary) note(entry any) { d.entries = append(d.entries, entry) }

func (d *diary) IsEnabled() bool                         { return true }
func (d *diary) RecordStageEvent(event cupel.TraceEvent) { d.note(event) }
func (d *diary) RecordItemEvent(event cupel.TraceEvent)  { d.note(event) }

func (d *diary) Detail() cupel.TraceDetail {
	return cupel.TraceDetail{Reasons: true, Items: true, ItemEvents: true, Report: true}
}

func (d *diary) StartRun(ctx context.Context, info cupel.RunInfo) (context.Context, cupel.RunTrace) {
	info.Prepared = false // the one thing in which prepared runs differ
	d.note(info)
	return ctx, d
}

func (d *diary) StartStage(ctx context.Context, s cupel.StageStart) context.Context {
	d.note(s)
	return ctx
}

func (d *diary) EndRun(_ context.Context, e cupel.RunEnd) { d.note(e) }

func (d *diary) EndStage(_ context.Context, e cupel.StageEnd) {
	if len(e.Excluded) == 0 {
		e.Excluded = nil // an empty list may or may not be nil
	}
	d.note(e)
}

// compare stops at the first entry that differs.
func (d *diary) compare(t *testing.T, label string, want *diary) {
	t.Helper()
	for i := range min(len(d.entries), len(want.entries)) {
		if !reflect.DeepEqual(d.entries[i], want.entries[i]) {
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
		p := randomPipeline(t, r, func(c *cupel.Config) {
			c.OnOverflow = func(e cupel.OverflowEvent) { overflows = append(overflows, e.TokensOverBudget) }
		})
		items := randomItems(t, r, r.IntN(25))
		prepared, err := p.Prepare(t.Context(), items)
		if err != nil {
			t.Fatal(err)
		}
		for range 12 {
			budget := randomBudget(t, r)
			label := fmt.Sprintf("round %d, %T, %+v", round, p.Config().Slicer, budget)

			var wantDiary, gotDiary diary
			want, wantErr := p.Run(t.Context(), items, budget, cupel.WithTrace(&wantDiary))
			got, err := prepared.Run(t.Context(), budget, cupel.WithTrace(&gotDiary))
			if !sameError(err, wantErr) || !slices.Equal(got, want) {
				t.Fatalf("%s: Run gave %v, %v; want %v, %v", label, contents(got), err, contents(want), wantErr)
			}
			gotDiary.compare(t, label, &wantDiary)
			if n := len(overflows); n%2 != 0 || n > 0 && overflows[n-1] != overflows[n-2] {
				t.Fatalf("%s: the overflow observer was told %v", label, overflows)
			}

			told := len(overflows)
			wantReport, wantErr := p.DryRun(t.Context(), items, budget)
			gotReport, err := prepared.DryRun(t.Context(), budget)
			if !sameError(err, wantErr) || !reflect.DeepEqual(gotReport, wantReport) {
				t.Fatalf("%s: DryRun gave\n%+v, %v\nwant\n%+v, %v", label, gotReport, err, wantReport, wantErr)
			}

			positions, err := prepared.Select(t.Context(), budget)
			if !sameError(err, wantErr) {
				t.Fatalf("%s: Select failed with %v, want %v", label, err, wantErr)
			}
			if !sameItems(items, positions, want) {
				t.Fatalf("%s: Select gave %v, want %v", label, positions, contents(want))
			}
			if len(overflows) != told {
				t.Fatalf("%s: a simulation called the overflow observer", label)
			}
			failures[fmt.Sprintf("%T", wantErr)]++
			windows += len(want)
		}
	}
	t.Logf("%d items in windows, errors %v", windows, failures)
	for _, err := range []error{&cupel.PinnedExceedsBudgetError{}, &cupel.OverflowError{}, &cupel.ScarcityError{}, nil} {
		if failures[fmt.Sprintf("%T", err)] < rounds/20 {
			t.Errorf("too few cases end with %T to say much", err)
		}
	}
}

// sameItems reports whether positions hold the same items as window, as often.
func sameItems(items []*cupel.ContextItem, positions []int, window []*cupel.ContextItem) bool {
	count := make(map[*cupel.ContextItem]int)
	for _, it := range window {
		count[it]++
	}
	seen := make(map[int]bool)
	for _, i := range positions {
		count[items[i]]--
		if seen[i] || count[items[i]] < 0 {
			return false
		}
		seen[i] = true
	}
	return len(positions) == len(window)
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
		pipeline *cupel.Pipeline
		ctx      context.Context
		items    []*cupel.ContextItem
		want     string
		why      string
	}{
		{"no pipeline", nil, t.Context(), ok, "cupel: the pipeline is empty: build it with New (Pipeline)", "as Run says"},
		{"a nil item", pipeline(t), t.Context(), []*cupel.ContextItem{ok[0], nil}, "cupel: invalid item at index 1: must come from NewContextItem, got nil or an empty item", "it is wrong at every budget"},
		{"the scorer panics", pipeline(t, broken), t.Context(), ok, "cupel: scorer cupel_test.scoreFunc panicked: panic: no", "it names the strategy"},
		{"canceled before", pipeline(t), canceled, ok, "cupel: stopped in stage Classify: context canceled", "nothing is begun"},
		{"canceled while scoring", pipeline(t, stops), midway, ok, "cupel: stopped in stage Deduplicate: context canceled", "the next stage notices"},
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
	for name, p := range map[string]*cupel.Prepared{"nil": nil, "zero": {}} {
		t.Run(name, func(t *testing.T) {
			budget := budgetOf(t, 1, 1)
			_, err := p.Run(t.Context(), budget)
			errorIs(t, err, cupel.ErrInvalidConfig)
			report, err := p.DryRun(t.Context(), budget)
			errorIs(t, err, cupel.ErrInvalidConfig)
			if report == nil {
				t.Error("DryRun returned no report")
			}
			_, err = p.Select(t.Context(), budget)
			errorIs(t, err, cupel.ErrInvalidConfig)
			_, err = p.For(t.Context(), pipeline(t))
			errorIs(t, err, cupel.ErrInvalidConfig)
			cursor := p.Cursor()
			_, err = cursor.Move(t.Context(), budget)
			errorIs(t, err, cupel.ErrInvalidConfig)
			if cursor.Unchanged(budget) {
				t.Error("a cursor over nothing knows something")
			}
		})
	}
	prepared, err := pipeline(t).Prepare(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = prepared.For(t.Context(), nil)
	errorIs(t, err, cupel.ErrInvalidConfig)
}

// counting counts its passes.
type counting struct {
	byHint
	passes *int
}

func (c counting) ScoreAll(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
	*c.passes++
	for i, it := range all {
		scores[i] = c.Score(it, all)
	}
	return nil
}

// uncomparable cannot be compared with ==.
type uncomparable struct {
	counting
	_ []int
}

func TestForSharesScores(t *testing.T) {
	var first, second, third int
	a, b, c := counting{passes: &first}, counting{passes: &second}, uncomparable{counting: counting{passes: &third}}
	r := rand.New(rand.NewPCG(1, 2))
	items := randomItems(t, r, 30)
	base, err := pipeline(t, withScorer(a)).Prepare(t.Context(), items)
	if err != nil {
		t.Fatal(err)
	}
	steps := []struct {
		scorer cupel.Scorer
		want   [3]int
		why    string
	}{
		{a, [3]int{1, 0, 0}, "the same scorer"},
		{b, [3]int{1, 1, 0}, "another scorer"},
		{a, [3]int{1, 1, 0}, "the first is remembered behind the second"},
		{b, [3]int{1, 1, 0}, "and so is the second"},
		{c, [3]int{1, 1, 1}, "a scorer that cannot be compared"},
		{c, [3]int{1, 1, 2}, "is never known to be the same"},
		{a, [3]int{1, 1, 2}, "and harms no other run"},
	}
	prepared := base
	for _, s := range steps {
		p := randomPipeline(t, r, withScorer(s.scorer))
		if prepared, err = prepared.For(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if got := [3]int{first, second, third}; got != s.want {
			t.Fatalf("passes are %v, want %v: %s", got, s.want, s.why)
		}
		before := [3]int{first, second, third}
		budget := budgetOf(t, 90, 80)
		got, gotErr := prepared.DryRun(t.Context(), budget)
		if after := [3]int{first, second, third}; after != before {
			t.Fatal("a run of a Prepared scored again")
		}
		want, wantErr := p.DryRun(t.Context(), items, budget)
		first, second, third = before[0], before[1], before[2]
		if !sameError(gotErr, wantErr) || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: got\n%+v, %v\nwant\n%+v, %v", s.why, got, gotErr, want, wantErr)
		}
	}
	_, err = prepared.For(t.Context(), pipeline(t, withScorer(scoreFunc(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { panic(1) }))))
	errorIs(t, err, cupel.ErrStrategy)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = prepared.For(canceled, pipeline(t, withScorer(a)))
	errorIs(t, err, context.Canceled)
}

// TestPreparedIsItsOwn changes the caller's list, and has a slicer that breaks
// its contract change what it is given.
func TestPreparedIsItsOwn(t *testing.T) {
	vandal := sliceFunc(func(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
		sel, err := slicer.Greedy{}.Slice(ctx, items, budget)
		clear(items)
		return sel, err
	})
	items := []*cupel.ContextItem{item(t, "a", 5, hint(0.5)), item(t, "b", 5, hint(0.9)), item(t, "p", 1, cupel.WithPinned())}
	prepared, err := pipeline(t, withSlicer(vandal)).Prepare(t.Context(), items)
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
}

// TestPreparedInManyGoroutines is for the race detector, and compares.
func TestPreparedInManyGoroutines(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	items := randomItems(t, r, 60)
	p := pipeline(t, withSlicer(slicer.Greedy{}), withScorer(scorer.Reflexive{}), overflow(cupel.OverflowTruncate))
	other := pipeline(t, withSlicer(slicer.Knapsack{}), withScorer(scorer.Reflexive{}), keepDuplicates)
	prepared, err := p.Prepare(t.Context(), items)
	if err != nil {
		t.Fatal(err)
	}
	var pinned int
	for _, it := range items {
		if it.Pinned() {
			pinned += max(0, it.Tokens())
		}
	}
	budgets := make([]cupel.ContextBudget, 8)
	want := make([][]*cupel.ContextItem, len(budgets))
	for i := range budgets {
		budgets[i] = budgetOf(t, pinned+100*i, pinned+90*i)
		if want[i], err = p.Run(t.Context(), items, budgets[i]); err != nil {
			t.Fatal(err)
		}
	}
	var group sync.WaitGroup
	for worker := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			cursor := prepared.Cursor()
			for i := range 40 {
				n := (worker + i) % len(budgets)
				window, err := prepared.Run(t.Context(), budgets[n])
				if err != nil || !slices.Equal(window, want[n]) {
					t.Errorf("got %v, %v", contents(window), err)
				}
				report, err := prepared.DryRun(t.Context(), budgets[n])
				if err != nil || len(report.Included) != len(want[n]) {
					t.Errorf("got %+v, %v", report, err)
				}
				positions, err := prepared.Select(t.Context(), budgets[n])
				if err != nil || !sameItems(items, positions, want[n]) {
					t.Errorf("got %v, %v", positions, err)
				}
				if _, err := cursor.Move(t.Context(), budgets[n]); err != nil {
					t.Error(err)
				}
				if _, err := prepared.For(t.Context(), other); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	group.Wait()
}

func TestConfigOfNoPipeline(t *testing.T) {
	var p *cupel.Pipeline
	if c := p.Config(); c.Scorer != nil || c.Slicer != nil || c.Placer != nil {
		t.Errorf("got %+v, want nothing", c)
	}
	if got := pipeline(t, overflow(cupel.OverflowProceed)).Config().Overflow; got != cupel.OverflowProceed {
		t.Errorf("got %v, want what the pipeline was made with", got)
	}
}

func TestResize(t *testing.T) {
	base := budgetOf(t, 100, 50, cupel.WithOutputReserve(10), cupel.WithReservedSlots(map[cupel.ContextKind]int{"a": 5}), cupel.WithEstimationSafetyMargin(20))
	got, err := base.Resize(60, 40)
	if err != nil {
		t.Fatal(err)
	}
	want := budgetOf(t, 60, 40, cupel.WithOutputReserve(10), cupel.WithReservedSlots(map[cupel.ContextKind]int{"a": 5}), cupel.WithEstimationSafetyMargin(20))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	// (40 - 3 - 5) * 0.8 = 25.6, and (60 - 10 - 3 - 5) * 0.8 = 33.6
	equal(t, "effective", got.Effective(3), cupel.SliceBudget{MaxTokens: 33, TargetTokens: 25})
	for _, totals := range [][2]int{{9, 9}, {20, 30}, {-1, -1}, {20, -1}} {
		var invalid *cupel.InvalidBudgetError
		if got, err := base.Resize(totals[0], totals[1]); !errors.As(err, &invalid) || got.MaxTokens() != 0 {
			t.Errorf("Resize(%d, %d) gave %+v, %v", totals[0], totals[1], got, err)
		}
	}
}
