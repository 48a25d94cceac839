package cupel_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// follow moves a cursor and compares its result with a new selection.
type follow struct {
	prepared *cupel.Prepared
	cursor   *cupel.Cursor
	items    []*cupel.ContextItem
	in       []int
	err      error
}

func (f *follow) to(t *testing.T, label string, budget cupel.ContextBudget) {
	t.Helper()
	want, wantErr := f.prepared.Select(t.Context(), budget)
	slices.Sort(want)
	if f.cursor.Unchanged(budget) && (!slices.Equal(want, f.in) || fmt.Sprintf("%T", wantErr) != fmt.Sprintf("%T", f.err)) {
		t.Fatalf("%s: unchanged, said the cursor, but %v, %v became %v, %v", label, f.in, f.err, want, wantErr)
	}
	change, err := f.cursor.Move(t.Context(), budget)
	if !sameError(err, wantErr) {
		t.Fatalf("%s: got error %v, want %v", label, err, wantErr)
	}
	if !slices.IsSorted(change.Came) || !slices.IsSorted(change.Went) {
		t.Fatalf("%s: came %v and went %v are not in order", label, change.Came, change.Went)
	}
	for _, i := range change.Went {
		at, ok := slices.BinarySearch(f.in, i)
		if !ok {
			t.Fatalf("%s: %d went and was not in", label, i)
		}
		f.in = slices.Delete(f.in, at, at+1)
	}
	for _, i := range change.Came {
		at, ok := slices.BinarySearch(f.in, i)
		if ok || slices.Contains(change.Went, i) {
			t.Fatalf("%s: %d came and was in", label, i)
		}
		f.in = slices.Insert(f.in, at, i)
	}
	tokens := 0
	for _, i := range f.in {
		tokens += f.items[i].Tokens()
	}
	if !slices.Equal(f.in, want) || change.Tokens != tokens {
		t.Fatalf("%s: the cursor has %v with %d tokens, want %v with %d", label, f.in, change.Tokens, want, tokens)
	}
	f.err = err
}

// TestCursorIsSelect moves cursors of random pipelines up budget by budget, then
// anywhere, and compares each move with a new selection.
func TestCursorIsSelect(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 11))
	rounds := 400
	if testing.Short() || raceEnabled {
		rounds = 60
	}
	for round := range rounds {
		p := randomPipeline(t, r)
		items := randomItems(t, r, r.IntN(20))
		prepared, err := p.Prepare(t.Context(), items)
		if err != nil {
			t.Fatal(err)
		}
		f := follow{prepared: prepared, cursor: prepared.Cursor(), items: items}
		base := randomBudget(t, r)
		for tokens := range 120 {
			label := fmt.Sprintf("round %d, %T, %v, %d tokens", round, p.Config().Slicer, p.Config().Overflow, tokens)
			if budget, err := base.Resize(tokens, tokens); err == nil {
				f.to(t, label, budget)
			}
		}
		for step := range 30 {
			f.to(t, fmt.Sprintf("round %d, %T, %v, jump %d", round, p.Config().Slicer, p.Config().Overflow, step), randomBudget(t, r))
		}
	}
}

// sweepFunc is a slicer that takes items in order, with a sweep made of
// functions.
type sweepFunc struct {
	cupel.Slicer
	sweep func(items []cupel.ScoredItem) cupel.SliceSweep
}

func (s sweepFunc) Sweep(items []cupel.ScoredItem) cupel.SliceSweep { return s.sweep(items) }

type steps struct {
	advance func(target int) (int, []int)
	next    func() (int, bool)
}

func (s *steps) Advance(target int) (int, []int) { return s.advance(target) }
func (s *steps) Next() (int, bool)               { return s.next() }

func TestBrokenSweeps(t *testing.T) {
	never := func() (int, bool) { return 0, false }
	tells := func(keep int, more ...int) *steps {
		return &steps{func(int) (int, []int) { return keep, more }, never}
	}
	tests := []struct {
		name  string
		sweep func([]cupel.ScoredItem) cupel.SliceSweep
		want  string
		why   string
	}{
		{
			"panics at once", func([]cupel.ScoredItem) cupel.SliceSweep { panic("no") },
			"cupel: slicer cupel_test.sweepFunc panicked: panic: no", "the slicer is the culprit",
		},
		{
			"panics later", func([]cupel.ScoredItem) cupel.SliceSweep {
				return &steps{func(int) (int, []int) { panic("no") }, never}
			},
			"cupel: slicer cupel_test.sweepFunc panicked: panic: no", "the slicer is the culprit",
		},
		{
			"keeps what is not there", func([]cupel.ScoredItem) cupel.SliceSweep { return tells(1) },
			"cupel: slicer cupel_test.sweepFunc cannot be followed: at target 9 it kept 1 of 0 positions and named 0 as the next target, which breaks the contract of a slicer", "the list is empty at first",
		},
		{
			"keeps less than nothing", func([]cupel.ScoredItem) cupel.SliceSweep { return tells(-1) },
			"cupel: slicer cupel_test.sweepFunc cannot be followed: at target 9 it kept -1 of 0 positions and named 0 as the next target, which breaks the contract of a slicer", "no list is that short",
		},
		{
			"goes back", func([]cupel.ScoredItem) cupel.SliceSweep {
				return &steps{func(int) (int, []int) { return 0, nil }, func() (int, bool) { return 9, true }}
			},
			"cupel: slicer cupel_test.sweepFunc cannot be followed: at target 9 it kept 0 of 0 positions and named 9 as the next target, which breaks the contract of a slicer", "the next target is above the last",
		},
		{
			"out of range", func([]cupel.ScoredItem) cupel.SliceSweep { return tells(0, 2) },
			"cupel: slicer cupel_test.sweepFunc returned position 2 out of range of 2 items, which breaks the contract of a slicer", "as for Slice",
		},
		{
			"below the range", func([]cupel.ScoredItem) cupel.SliceSweep { return tells(0, -1) },
			"cupel: slicer cupel_test.sweepFunc returned position -1 out of range of 2 items, which breaks the contract of a slicer", "as for Slice",
		},
		{
			"twice", func([]cupel.ScoredItem) cupel.SliceSweep { return tells(0, 1, 0, 1) },
			"cupel: slicer cupel_test.sweepFunc returned position 1 twice of 2 items, which breaks the contract of a slicer", "as for Slice",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := pipeline(t, withSlicer(sweepFunc{inOrder, tt.sweep}))
			prepared, err := p.Prepare(t.Context(), []*cupel.ContextItem{item(t, "a", 1), item(t, "b", 1), item(t, "p", 1, cupel.WithPinned())})
			if err != nil {
				t.Fatal(err)
			}
			cursor := prepared.Cursor()
			for range 2 { // the second time is no better than the first
				change, err := cursor.Move(t.Context(), budgetOf(t, 10, 10))
				if err == nil || err.Error() != tt.want {
					t.Errorf("got error %v, want %s: %s", err, tt.want, tt.why)
				}
				if len(change.Came)+len(change.Went) > 0 || change.Tokens != 0 {
					t.Errorf("got %+v, want nothing to be selected", change)
				}
			}
		})
	}
}

// TestSweepGivenUp has sweeps that cannot be, and compares with slicing again.
func TestSweepGivenUp(t *testing.T) {
	for name, sweep := range map[string]func([]cupel.ScoredItem) cupel.SliceSweep{
		"nil":           func([]cupel.ScoredItem) cupel.SliceSweep { return nil },
		"a nil pointer": func([]cupel.ScoredItem) cupel.SliceSweep { return (*steps)(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			items := []*cupel.ContextItem{item(t, "a", 4, hint(0.9)), item(t, "b", 3, hint(0.5))}
			prepared, err := pipeline(t, withSlicer(sweepFunc{inOrder, sweep})).Prepare(t.Context(), items)
			if err != nil {
				t.Fatal(err)
			}
			f := follow{prepared: prepared, cursor: prepared.Cursor(), items: items}
			for tokens := range 9 {
				f.to(t, fmt.Sprint(tokens, " tokens"), budgetOf(t, tokens, tokens))
			}
		})
	}
}

// half spends half of the target. Its Sweep is Greedy's, and does not know.
type half struct{ slicer.Greedy }

func (h half) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	budget.TargetTokens /= 2
	return h.Greedy.Slice(ctx, items, budget)
}

type halfOfPointer struct{ *half }

// TestEmbeddedSweep compares the cursor with slicing again for types that have
// somebody else's Sweep.
func TestEmbeddedSweep(t *testing.T) {
	tests := []struct {
		name   string
		slicer cupel.Slicer
		why    string
	}{
		{"a value", half{}, "Greedy's Sweep is promoted, and Greedy's Slice is not"},
		{"a pointer", &half{}, "its methods are those of the value"},
		{"embedded twice", halfOfPointer{&half{}}, "the Sweep is that of the innermost, the Slice that of the one in the middle"},
		{"inside a count quota", slicer.Must(slicer.NewCountQuota(half{}, nil)), "wrappers follow no such slicer either"},
		{"inside a quota", slicer.Must(slicer.NewQuota(half{})), "wrappers follow no such slicer either"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			items := []*cupel.ContextItem{item(t, "a", 4, hint(0.9)), item(t, "b", 3, hint(0.5))}
			prepared, err := pipeline(t, withSlicer(tt.slicer)).Prepare(t.Context(), items)
			if err != nil {
				t.Fatal(err)
			}
			if cupel.Sweep(tt.slicer, []cupel.ScoredItem{{Item: items[0]}}) != nil {
				t.Errorf("it is followed: %s", tt.why)
			}
			f := follow{prepared: prepared, cursor: prepared.Cursor(), items: items}
			for tokens := range 16 {
				f.to(t, fmt.Sprintf("%d tokens (%s)", tokens, tt.why), budgetOf(t, tokens, tokens))
			}
		})
	}
}

type (
	embedsGreedy    struct{ slicer.Greedy }
	embedsTwice     struct{ *embedsGreedy }
	greedyInterface struct{ cupel.SweepSlicer }
	ownSweep        struct{ slicer.Greedy }
	ownHalf         struct{ half }
)

// second follows a slicer that selects the second item alone, which Greedy does not.
func second() cupel.SliceSweep {
	return &steps{func(int) (int, []int) { return 0, []int{1} }, func() (int, bool) { return 0, false }}
}

func (ownSweep) Sweep([]cupel.ScoredItem) cupel.SliceSweep { return second() }
func (ownHalf) Sweep([]cupel.ScoredItem) cupel.SliceSweep  { return second() }
func (h ownHalf) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	return h.half.Slice(ctx, items, budget)
}

// TestEmbeddedSweepIsUsed has types whose Sweep speaks for their Slice.
func TestEmbeddedSweepIsUsed(t *testing.T) {
	scored := []cupel.ScoredItem{{Item: item(t, "a", 3)}, {Item: item(t, "b", 3)}}
	tests := []struct {
		slicer cupel.Slicer
		more   []int // at a target of 3
		why    string
	}{
		{embedsGreedy{}, []int{0}, "embeds only"},
		{&embedsGreedy{}, []int{0}, "embeds only, by pointer"},
		{embedsTwice{&embedsGreedy{}}, []int{0}, "two levels, without own methods"},
		{greedyInterface{slicer.Greedy{}}, []int{0}, "embeds the interface"},
		{greedyInterface{half{}}, nil, "what is in the interface has its own Slice"},
		{ownSweep{}, []int{1}, "its Sweep is its own"},
		{ownHalf{}, []int{1}, "both are its own"},
	}
	for _, tt := range tests {
		sweep := cupel.Sweep(tt.slicer, scored)
		if (sweep != nil) != (tt.more != nil) {
			t.Errorf("%T: followed is %v: %s", tt.slicer, sweep != nil, tt.why)
			continue
		}
		if sweep == nil {
			continue
		}
		if _, more := sweep.Advance(3); !slices.Equal(more, tt.more) {
			t.Errorf("%T: got %v, want %v: %s", tt.slicer, more, tt.more, tt.why)
		}
	}
}

// TestCursorAfterAFailure goes on after a sweep that broke once, and after the
// end of a context.
func TestCursorAfterAFailure(t *testing.T) {
	broken := true
	s := sweepFunc{slicer.Greedy{}, func(items []cupel.ScoredItem) cupel.SliceSweep {
		sweep := slicer.Greedy{}.Sweep(items)
		return &steps{func(target int) (int, []int) {
			if target > 5 && broken {
				broken = false
				panic("once")
			}
			return sweep.Advance(target)
		}, sweep.Next}
	}}
	items := []*cupel.ContextItem{item(t, "a", 4, hint(0.9)), item(t, "b", 3, hint(0.5)), item(t, "p", 1, cupel.WithPinned())}
	prepared, err := pipeline(t, withSlicer(s)).Prepare(t.Context(), items)
	if err != nil {
		t.Fatal(err)
	}
	cursor := prepared.Cursor()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	steps := []struct {
		ctx    context.Context
		tokens int
		want   string
		why    string
	}{
		{t.Context(), 5, "came [0 2] went [], 5 tokens, <nil>", "the pinned item and the best one"},
		{canceled, 6, "came [] went [0 2], 0 tokens, cupel: stopped in stage Classify: context canceled", "a failed move selects nothing"},
		{t.Context(), 5, "came [0 2] went [], 5 tokens, <nil>", "all of it is back"},
		{t.Context(), 8, "came [] went [0 2], 0 tokens, cupel: slicer cupel_test.sweepFunc panicked: panic: once", "the sweep breaks"},
		{t.Context(), 8, "came [0 1 2] went [], 8 tokens, <nil>", "a new sweep does not"},
		{t.Context(), 0, "came [] went [0 1 2], 0 tokens, cupel: Pinned items require 1 tokens, but only 0 are available", "a lower budget may come at any time"},
		{t.Context(), 4, "came [1 2] went [], 4 tokens, <nil>", "and a higher one again"},
	}
	for _, s := range steps {
		change, err := cursor.Move(s.ctx, budgetOf(t, s.tokens, s.tokens))
		got := fmt.Sprintf("came %v went %v, %d tokens, %v", change.Came, change.Went, change.Tokens, err)
		if got != s.want {
			t.Errorf("at %d tokens: %s\nwant %s: %s", s.tokens, got, s.want, s.why)
		}
	}
}

// TestCursorAtTheEndOfInt has token counts whose sums pass the range of int.
func TestCursorAtTheEndOfInt(t *testing.T) {
	items := []*cupel.ContextItem{
		item(t, "a", math.MaxInt, hint(0.9)), item(t, "b", big62, hint(0.8)), item(t, "c", big62, hint(0.7)), item(t, "d", big62-1, hint(0.6)), item(t, "e", 0),
	}
	for _, s := range []cupel.Slicer{
		slicer.Greedy{},
		slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{{Kind: "Message", RequireCount: 2, CapCount: 4}})),
	} {
		p := pipeline(t, withSlicer(s), overflow(cupel.OverflowTruncate))
		prepared, err := p.Prepare(t.Context(), items)
		if err != nil {
			t.Fatal(err)
		}
		f := follow{prepared: prepared, cursor: prepared.Cursor(), items: items}
		for _, tokens := range []int{0, 1, big62 - 2, big62 - 1, big62, big62 + 1, math.MaxInt - 1, math.MaxInt} {
			f.to(t, fmt.Sprintf("%T at %d tokens", s, tokens), budgetOf(t, tokens, tokens))
		}
	}
}
