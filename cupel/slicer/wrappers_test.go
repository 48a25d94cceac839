package slicer_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// quota and counted are wrappers with entries as quotasOf and countsOf read them.
func quota(inner strategy.Slicer, entries string) strategy.Slicer {
	return slicer.Must(slicer.NewQuota(inner, quotasOf(entries)...))
}

func counted(inner strategy.Slicer, entries string) strategy.Slicer {
	return slicer.Must(slicer.NewCountQuota(inner, countsOf(entries)))
}

// wrappersAround returns each wrapper of the package around inner.
func wrappersAround(inner strategy.Slicer) map[string]strategy.Slicer {
	return map[string]strategy.Slicer{
		"Quota":             quota(inner, ""),
		"CountQuota":        counted(inner, "a 1 2"),
		"Quota(CountQuota)": quota(counted(inner, "a 1 2"), ""),
		"CountQuota(Quota)": counted(quota(inner, ""), "a 1 2"),
	}
}

// narrower is a slicer of someone else's that has one slicer for each kind.
type narrower struct {
	slicerFunc
	forKind func(cupel.ContextKind) strategy.Slicer
}

func (n narrower) Facts() strategy.Facts { return strategy.Facts{Of: n, ForKind: n.forKind} }

var errBroken = errors.New("out of order")

func TestMisbehavingInnerSlicer(t *testing.T) {
	always := func(sel strategy.Selection, err error) slicerFunc {
		return func([]cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) { return sel, err }
	}
	var none *slicer.CountQuota
	for _, tt := range []struct {
		inner  strategy.Slicer
		reason string // part of StrategyError.Reason
		cause  error
		why    string
	}{
		{always(strategy.Selection{Indices: []int{2}}, nil), "out of range", nil, "2 is a position of the outer list alone"},
		{always(strategy.Selection{Drops: []strategy.Drop{{Index: 7}}}, nil), "out of range", nil, "drops are positions too"},
		{always(strategy.Selection{}, errBroken), "failed", errBroken, "the error is kept as the cause"},
		{narrower{takeAll, func(cupel.ContextKind) strategy.Slicer { return none }}, "is nil", nil, "a nil pointer is not a slicer either"},
	} {
		for wrapper, s := range wrappersAround(tt.inner) {
			_, narrows := tt.inner.(narrower)
			if narrows && wrapper == "CountQuota" {
				continue // only a quota narrows
			}
			_, err := strategy.CallSlicer(t.Context(), s, listOf("a 1 0.9, a 1 0.8"), target(10)) // a count slicer commits one
			bad, ok := compat.AsType[*cupel.StrategyError](err)
			if !ok || strings.HasPrefix(bad.Strategy, "*slicer.Quota") || !strings.Contains(bad.Reason, tt.reason) || !errors.Is(err, tt.cause) && tt.cause != nil {
				t.Errorf("%s: got error %v, want %q of the inner slicer: %s", wrapper, err, tt.reason, tt.why)
			}
			if panicked, ok := compat.AsType[*cupel.PanicError](err); ok && !strings.Contains(string(panicked.Stack), "TestMisbehaving") {
				t.Errorf("the stack does not show the panic:\n%s", panicked.Stack)
			}
		}
	}
}

func TestNarrowing(t *testing.T) {
	const all = "c 2 2, b 1 1, a 2 3, gone 1 1"
	const own = "[0 1 3] drop 2 b 1/1 short a 1/2 short c 1/2" // not short of what is gone, and of b in other kinds
	knapsack := slicer.Must(slicer.NewCountConstrainedKnapsack(knapsackOfOne, countsOf(all)))
	greedy := slicer.Greedy{}
	for _, tt := range []struct {
		slicer    strategy.Slicer
		want, why string
	}{
		{quota(counted(greedy, all), ""), own, "R19: within one kind only its own entry counts"},
		{quota(knapsack, ""), own, "R19: the same for the other count slicer"},
		{quota(counted(counted(greedy, "b 1 2, gone 1 1"), all), ""), own, "R19: the slicer inside is narrowed as well"},
		{quota(quota(counted(greedy, all), ""), ""), own, "the inner quota narrows by itself"},
		{counted(quota(counted(greedy, all), ""), "b 1 2, d 1 1"), "[1 0 2 3] short d 0/1 short a 1/2 short c 1/2", "only a quota narrows"},
		{quota(wrapped{counted(greedy, "b 1 1, gone 1 1")}, ""), "[0 1 3] drop 2 b 1/1 short b 0/1 short gone 0/1 short gone 0/1 short b 0/1 short gone 0/1",
			"narrowing is the wrapper's to offer"},
	} {
		if got := sliced(t, tt.slicer, listOf("a 10 0.9, b 10 0.8, B 10 0.7, c 10 0.6"), target(1000)); got != tt.want {
			t.Errorf("got %s, want %s: %s", got, tt.want, tt.why)
		}
	}
}

func TestWrappersThatWereNotBuilt(t *testing.T) {
	for _, s := range []strategy.Slicer{
		new(slicer.Quota), new(slicer.CountQuota), new(slicer.CountConstrainedKnapsack),
		(*slicer.Quota)(nil), (*slicer.CountQuota)(nil), (*slicer.CountConstrainedKnapsack)(nil),
	} {
		facts := strategy.FactsOf(s)
		if !errors.Is(facts.Invalid, cupel.ErrInvalidConfig) || !strings.Contains(facts.Invalid.Error(), "build it with New") || facts.Slicers != nil || facts.ForKind != nil || facts.Explain != nil {
			t.Errorf("%T: got the facts %+v, want an InvalidConfigError", s, facts)
		}
		if _, err := s.Slice(t.Context(), nil, target(10)); !errors.Is(err, cupel.ErrInvalidConfig) {
			t.Errorf("%T: got error %v, want an InvalidConfigError", s, err)
		}
	}
}

func TestWrappersThatWereBuilt(t *testing.T) {
	var none context.Context
	knapsack := slicer.Must(slicer.NewCountConstrainedKnapsack(new(slicer.Knapsack), nil))
	all := wrappersAround(slicer.Greedy{})
	all["CountConstrainedKnapsack"] = knapsack
	all["Quota(CountConstrainedKnapsack)"] = quota(knapsack, "")
	for name, s := range all {
		inside := slices.Collect(strategy.AllSlicers(s))
		last := inside[len(inside)-1]
		_, greedy := last.(slicer.Greedy)
		if _, knapsack := last.(*slicer.Knapsack); !greedy && !knapsack {
			t.Errorf("%s: the slicers inside are %v", name, inside)
		}
		if sel, err := s.Slice(none, listOf("a 100 0.9, b 100 0.8"), target(200)); err != nil || len(sel.Indices) != 2 {
			t.Errorf("%s: got %v and error %v, want both items", name, sel.Indices, err)
		}
	}
}

func TestMust(t *testing.T) {
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, cupel.ErrInvalidConfig) {
			t.Errorf("panicked with %v, want the constructor's error", err)
		}
	}()
	slicer.Must(slicer.NewQuota(nil))
}

func TestQuotaStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	calls := 0
	inner := slicerFunc(func([]cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
		calls++
		cancel()
		return strategy.Selection{}, nil
	})
	_, err := strategy.CallSlicer(ctx, quota(inner, ""), listOf("a 1 0.9, b 1 0.8, c 1 0.7"), target(10))
	if err != context.Canceled || calls != 1 {
		t.Errorf("got error %v after %d calls, want context.Canceled after 1", err, calls)
	}
}

// TestConcurrentUse shares slicers between goroutines that slice lists of
// different sizes, so that pooled memory changes hands.
func TestConcurrentUse(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	lists := make([][]cupel.ScoredItem, 4)
	for i := range lists {
		for range 30 + 60*i {
			lists[i] = append(lists[i], it(oneOf[cupel.ContextKind](r, "a", "A", "b", "Message"), r.IntN(30), float64(r.IntN(20))/20))
		}
	}
	const entries = "a 3 5, message 100 100"
	counts := counted(slicer.Greedy{}, entries)
	k := slicer.Must(slicer.NewCountConstrainedKnapsack(knapsackOfOne, countsOf(entries)))
	for _, s := range []strategy.Slicer{quota(counts, "a 0 40"), counted(counts, entries), k} {
		want := make([]string, len(lists))
		for i, list := range lists {
			want[i] = sliced(t, s, list, target(400))
		}
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for n := range 40 {
					if i := (g + n) % len(lists); sliced(t, s, lists[i], target(400)) != want[i] {
						t.Errorf("%T: the result of list %d changed", s, i)
					}
				}
			}()
		}
		wg.Wait()
	}
}
