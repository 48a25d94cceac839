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
)

// wrappersAround returns each wrapper of the package around inner.
func wrappersAround(inner cupel.Slicer) map[string]cupel.Slicer {
	quota := slicer.Must(slicer.NewQuota(inner))
	counts := slicer.Must(slicer.NewCountQuota(inner, []slicer.CountQuotaEntry{entry("a", 1, 2)}))
	return map[string]cupel.Slicer{
		"Quota":             quota,
		"CountQuota":        counts,
		"Quota(CountQuota)": slicer.Must(slicer.NewQuota(counts)),
		"CountQuota(Quota)": slicer.Must(slicer.NewCountQuota(quota, []slicer.CountQuotaEntry{entry("a", 1, 2)})),
	}
}

// narrower is a slicer of someone else's that has one slicer for each kind.
type narrower struct {
	slicerFunc
	forKind func(cupel.ContextKind) cupel.Slicer
}

func (n narrower) ForKind(kind cupel.ContextKind) cupel.Slicer { return n.forKind(kind) }

var errBroken = errors.New("out of order")

func TestMisbehavingInnerSlicer(t *testing.T) {
	always := func(sel cupel.Selection, err error) slicerFunc {
		return func([]cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) { return sel, err }
	}
	tests := []struct {
		name    string
		inner   cupel.Slicer
		culprit string
		reason  string // part of StrategyError.Reason
		cause   error
		why     string
	}{
		{"out of range", always(cupel.Selection{Indices: []int{2}}, nil), "slicer_test.slicerFunc", "out of range", nil,
			"2 is a position of the outer list, but not of the list that it was given"},
		{"negative", always(cupel.Selection{Indices: []int{-1}}, nil), "slicer_test.slicerFunc", "out of range", nil, "no position is negative"},
		{"twice", always(cupel.Selection{Indices: []int{0, 0}}, nil), "slicer_test.slicerFunc", "twice", nil, "each position at most once"},
		{"selected and dropped", always(cupel.Selection{Indices: []int{0}, Drops: []cupel.Drop{{Index: 0}}}, nil), "slicer_test.slicerFunc", "twice", nil, "an item is in or out"},
		{"dropped out of range", always(cupel.Selection{Drops: []cupel.Drop{{Index: 7}}}, nil), "slicer_test.slicerFunc", "out of range", nil, "drops are positions too"},
		{"error", always(cupel.Selection{}, errBroken), "slicer_test.slicerFunc", "failed", errBroken, "the error is kept as the cause"},
		{"panic", slicerFunc(func([]cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) { panic(errBroken) }), "slicer_test.slicerFunc", "panicked", errBroken,
			"a panic becomes an error"},
	}
	items := []cupel.ScoredItem{it("a", 1, 0.9), it("a", 1, 0.8)} // the count slicers commit one, and one is left
	for _, tt := range tests {
		if tt.why == "" {
			t.Errorf("row %q does not say why", tt.name)
		}
		for wrapper, s := range wrappersAround(tt.inner) {
			t.Run(tt.name+"/"+wrapper, func(t *testing.T) {
				_, err := cupel.Slice(t.Context(), s, items, target(10))
				bad, ok := compat.AsType[*cupel.StrategyError](err)
				if !ok {
					t.Fatalf("got error %v, want a StrategyError: %s", err, tt.why)
				}
				if bad.Strategy != tt.culprit || !strings.Contains(bad.Reason, tt.reason) {
					t.Errorf("got %q %q, want %q %q: %s", bad.Strategy, bad.Reason, tt.culprit, tt.reason, tt.why)
				}
				if tt.cause != nil && !errors.Is(err, tt.cause) {
					t.Errorf("error %v does not lead to its cause: %s", err, tt.why)
				}
			})
		}
	}
}

func TestNarrowing(t *testing.T) {
	items := []cupel.ScoredItem{it("a", 10, 0.9), it("b", 10, 0.8), it("B", 10, 0.7), it("c", 10, 0.6)}
	counts := func(inner cupel.Slicer, entries ...slicer.CountQuotaEntry) cupel.Slicer {
		return slicer.Must(slicer.NewCountQuota(inner, entries))
	}
	quota := func(inner cupel.Slicer, entries ...slicer.QuotaEntry) cupel.Slicer {
		return slicer.Must(slicer.NewQuota(inner, entries...))
	}
	all := []slicer.CountQuotaEntry{entry("c", 2, 2), entry("b", 1, 1), entry("a", 2, 3), entry("gone", 1, 1)}
	knapsack := slicer.Must(slicer.NewCountConstrainedKnapsack(slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(1))), all))
	ownOnly := []cupel.CountRequirementShortfall{short("a", 2, 1), short("c", 2, 1)}
	tests := []struct {
		slicer cupel.Slicer
		sliceCase
	}{
		{quota(counts(slicer.Greedy{}, all...)), sliceCase{name: "count quota", want: []int{0, 1, 3}, drops: []cupel.Drop{capped(2, "b", 1, 1)}, shortfalls: ownOnly,
			why: "R19: within one kind only its own entry counts; the others and the absent kind are no shortfalls there"}},
		{quota(knapsack), sliceCase{name: "count-constrained knapsack", want: []int{0, 1, 3}, drops: []cupel.Drop{capped(2, "b", 1, 1)}, shortfalls: ownOnly,
			why: "R19: the same for the other count slicer"}},
		{quota(counts(counts(slicer.Greedy{}, entry("b", 1, 2), entry("gone", 1, 1)), all...)), sliceCase{name: "count quota in a count quota", want: []int{0, 1, 3}, drops: []cupel.Drop{capped(2, "b", 1, 1)},
			shortfalls: ownOnly, why: "R19: the slicer inside is narrowed as well; b's rest satisfies its own entry before the outer cap drops it"}},
		{quota(quota(counts(slicer.Greedy{}, all...))), sliceCase{name: "through a quota", want: []int{0, 1, 3}, drops: []cupel.Drop{capped(2, "b", 1, 1)}, shortfalls: ownOnly,
			why: "the inner quota narrows by itself"}},
		{counts(quota(counts(slicer.Greedy{}, all...)), entry("b", 1, 2), entry("d", 1, 1)), sliceCase{name: "not narrowed outside a quota", want: []int{1, 0, 2, 3},
			shortfalls: []cupel.CountRequirementShortfall{short("d", 1, 0), short("a", 2, 1), short("c", 2, 1)},
			why:        "only a quota narrows; the outer shortfalls come first"}},
		{quota(wrapped{counts(slicer.Greedy{}, entry("b", 1, 1), entry("gone", 1, 1))}), sliceCase{name: "wrapper that cannot be narrowed", want: []int{0, 1, 3}, drops: []cupel.Drop{capped(2, "b", 1, 1)},
			shortfalls: []cupel.CountRequirementShortfall{short("b", 1, 0), short("gone", 1, 0), short("gone", 1, 0), short("b", 1, 0), short("gone", 1, 0)},
			why:        "narrowing is the wrapper's to offer: without it every entry counts for every kind"}},
	}
	for _, tt := range tests {
		tt.items, tt.budget = items, target(1000)
		t.Run(tt.name, func(t *testing.T) { tt.check(t, tt.slicer) })
	}
}

func TestMisbehavingNarrower(t *testing.T) {
	items := []cupel.ScoredItem{it("a", 1, 0.9)}
	var none *slicer.CountQuota
	tests := []struct {
		name    string
		forKind func(cupel.ContextKind) cupel.Slicer
		culprit string
		reason  string
		why     string
	}{
		{"panic", func(cupel.ContextKind) cupel.Slicer { panic(errBroken) }, "slicer_test.narrower", `panicked when narrowed to kind "a"`, "the narrower is to blame, not the quota"},
		{"nil", func(cupel.ContextKind) cupel.Slicer { return nil }, "slicer_test.narrower", `returned no slicer for kind "a"`, "nil is no slicer"},
		{"typed nil", func(cupel.ContextKind) cupel.Slicer { return none }, "*slicer.CountQuota", "is nil", "a nil pointer is not a slicer either"},
	}
	for _, tt := range tests {
		n := narrower{takeAll, tt.forKind}
		for name, s := range map[string]cupel.Slicer{
			"Quota":             slicer.Must(slicer.NewQuota(n)),
			"Quota(CountQuota)": slicer.Must(slicer.NewQuota(slicer.Must(slicer.NewCountQuota(n, nil)))),
		} {
			t.Run(tt.name+"/"+name, func(t *testing.T) {
				_, err := cupel.Slice(t.Context(), s, items, target(10))
				bad, ok := compat.AsType[*cupel.StrategyError](err)
				if !ok || bad.Strategy != tt.culprit || bad.Reason != tt.reason {
					t.Errorf("got error %v, want one that says %q %q: %s", err, tt.culprit, tt.reason, tt.why)
				}
				if panicked, ok := compat.AsType[*cupel.PanicError](err); ok && !strings.Contains(string(panicked.Stack), "TestMisbehavingNarrower") {
					t.Errorf("the stack does not show the panic:\n%s", panicked.Stack)
				}
			})
		}
	}
}

func TestWrappersThatWereNotBuilt(t *testing.T) {
	items := []cupel.ScoredItem{it("a", 1, 0.9)}
	for name, s := range map[string]cupel.Slicer{
		"zero Quota":                    new(slicer.Quota),
		"zero CountQuota":               new(slicer.CountQuota),
		"zero CountConstrainedKnapsack": new(slicer.CountConstrainedKnapsack),
		"nil Quota":                     (*slicer.Quota)(nil),
		"nil CountQuota":                (*slicer.CountQuota)(nil),
		"nil CountConstrainedKnapsack":  (*slicer.CountConstrainedKnapsack)(nil),
	} {
		t.Run(name, func(t *testing.T) {
			if err := s.(cupel.Validator).Validate(); !errors.Is(err, cupel.ErrInvalidConfig) {
				t.Errorf("Validate: got %v, want an InvalidConfigError", err)
			}
			if inner := s.(cupel.SlicerWrapper).Slicers(); inner != nil {
				t.Errorf("Slicers: got %v, want none", inner)
			}
			for _, list := range [][]cupel.ScoredItem{nil, items} {
				if _, err := s.Slice(t.Context(), list, target(10)); !errors.Is(err, cupel.ErrInvalidConfig) {
					t.Errorf("Slice of %d items: got error %v, want an InvalidConfigError", len(list), err)
				}
			}
			if n, ok := s.(cupel.KindNarrower); ok {
				if _, err := n.ForKind("a").Slice(t.Context(), items, target(10)); !errors.Is(err, cupel.ErrInvalidConfig) {
					t.Errorf("narrowed: got error %v, want an InvalidConfigError", err)
				}
			}
		})
	}
}

func TestWrappersThatWereBuilt(t *testing.T) {
	greedy := cupel.Slicer(slicer.Greedy{})
	for name, s := range wrappersAround(greedy) {
		if err := cupel.ValidateSlicer(s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if all := slices.Collect(cupel.AllSlicers(s)); all[len(all)-1] != greedy {
			t.Errorf("%s: the slicers inside are %v, want the Greedy last", name, all)
		}
	}
	k := slicer.Must(slicer.NewCountConstrainedKnapsack(new(slicer.Knapsack), nil))
	if err := cupel.ValidateSlicer(k); err != nil {
		t.Error(err)
	}
	if _, ok := k.Slicers()[0].(*slicer.Knapsack); !ok {
		t.Errorf("the slicers inside are %v, want a *Knapsack", k.Slicers())
	}
}

func TestMust(t *testing.T) {
	v := mustPanic(t, func() { slicer.Must(slicer.NewQuota(nil)) })
	if err, ok := v.(error); !ok || !errors.Is(err, cupel.ErrInvalidConfig) {
		t.Errorf("panicked with %v, want the constructor's error", v)
	}
	if s := slicer.Must(slicer.NewKnapsack()); s == nil {
		t.Error("got nil, want the slicer")
	}
}

func TestQuotaStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	calls := 0
	inner := slicerFunc(func([]cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
		calls++
		cancel()
		return cupel.Selection{}, nil
	})
	items := []cupel.ScoredItem{it("a", 1, 0.9), it("b", 1, 0.8), it("c", 1, 0.7)}
	_, err := cupel.Slice(ctx, slicer.Must(slicer.NewQuota(inner)), items, target(10))
	if err != context.Canceled || calls != 1 {
		t.Errorf("got error %v after %d calls, want context.Canceled after 1", err, calls)
	}
}

func TestNoContext(t *testing.T) {
	var none context.Context
	items := []cupel.ScoredItem{it("a", 100, 0.9), it("b", 100, 0.8)}
	k := slicer.Must(slicer.NewCountConstrainedKnapsack(new(slicer.Knapsack), nil))
	for name, s := range wrappersAround(slicer.Greedy{}) {
		if sel, err := s.Slice(none, items, target(200)); err != nil || len(sel.Indices) != 2 {
			t.Errorf("%s: got %v and error %v, want both items", name, sel.Indices, err)
		}
	}
	for name, s := range map[string]cupel.Slicer{"Greedy": slicer.Greedy{}, "Quota(CountConstrainedKnapsack)": slicer.Must(slicer.NewQuota(k))} {
		if sel, err := s.Slice(none, items, target(200)); err != nil || len(sel.Indices) != 2 {
			t.Errorf("%s: got %v and error %v, want both items", name, sel.Indices, err)
		}
	}
	if sel, err := k.Slice(none, items, target(200)); err != nil || len(sel.Indices) != 2 {
		t.Errorf("CountConstrainedKnapsack: got %v and error %v, want both items", sel.Indices, err)
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
	k := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(5)))
	entries := []slicer.CountQuotaEntry{entry("a", 3, 5), entry("message", 100, 100)}
	counts := slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, entries))
	for name, s := range map[string]cupel.Slicer{
		"Greedy":                   slicer.Greedy{},
		"Knapsack":                 k,
		"Quota(CountQuota)":        slicer.Must(slicer.NewQuota(counts, slicer.Cap("a", 40))),
		"CountQuota(CountQuota)":   slicer.Must(slicer.NewCountQuota(counts, entries)),
		"CountConstrainedKnapsack": slicer.Must(slicer.NewCountConstrainedKnapsack(k, entries)),
	} {
		t.Run(name, func(t *testing.T) {
			want := make([]cupel.Selection, len(lists))
			for i, list := range lists {
				var err error
				if want[i], err = cupel.Slice(t.Context(), s, list, target(400)); err != nil {
					t.Fatal(err)
				}
			}
			var wg sync.WaitGroup
			for g := range 8 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					for n := range 40 {
						i := (g + n) % len(lists)
						got, err := cupel.Slice(t.Context(), s, lists[i], target(400))
						if err != nil || !slices.Equal(got.Indices, want[i].Indices) || !slices.EqualFunc(got.Drops, want[i].Drops, sameDrop) || !slices.Equal(got.Shortfalls, want[i].Shortfalls) {
							t.Errorf("list %d: a result changed, or error %v", i, err)
							return
						}
					}
				}()
			}
			wg.Wait()
		})
	}
}
