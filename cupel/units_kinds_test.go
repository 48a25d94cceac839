package cupel_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// kindUnit is what slicers by kind must see of a unit, worked out from its members
// alone.
type kindUnit struct {
	kind   string // folded
	tokens int    // in full
	score  float64
	used   int // tokens in the window
	in     bool
	full   bool // in the window, each member in form 0
}

// unitsOfKinds returns candidates with groups across kinds and smaller forms, and
// the unit of each candidate.
func unitsOfKinds(t testing.TB, r *rand.Rand, n int) (items []*cupel.ContextItem, unitOf []int, units []kindUnit) {
	t.Helper()
	kinds := []cupel.ContextKind{cupel.KindMessage, cupel.KindToolOutput, "TOOLOUTPUT", cupel.KindDocument, "ticket"}
	forms := func(below int) []cupel.Variant {
		var list []cupel.Variant
		for i := range r.IntN(3) {
			list = append(list, cupel.Variant{Content: fmt.Sprint("form ", i), Tokens: r.IntN(below), Worth: float64(1+r.IntN(9)) / 10})
		}
		return list
	}
	byGroup := map[string]int{}
	byKind := []map[string]int{} // by unit: tokens of its members
	for i := range n {
		kind, tokens, score := kinds[r.IntN(len(kinds))], 1+r.IntN(60), float64(r.IntN(20))/19
		opts := []cupel.ItemOption{hint(score), cupel.WithKind(kind), cupel.WithVariants(forms(tokens)...)}
		group := ""
		if r.IntN(3) > 0 {
			group = fmt.Sprint("group ", r.IntN(1+n/3))
			opts = append(opts, cupel.WithGroup(group))
			if r.IntN(4) == 0 {
				opts = append(opts, cupel.WithGroupVariants(forms(60)...))
			}
		}
		items = append(items, item(t, fmt.Sprint("item ", i), tokens, opts...))
		at, ok := byGroup[group]
		if group == "" || !ok {
			at = len(units)
			units, byKind = append(units, kindUnit{score: score}), append(byKind, map[string]int{})
			byGroup[group] = at
		}
		u := &units[at]
		u.tokens += tokens
		u.score = max(u.score, score)
		key := kind.Key()
		byKind[at][key] += tokens
		unitOf = append(unitOf, at)
	}
	for i, it := range items { // of kinds with equal tokens the first
		u, of := &units[unitOf[i]], byKind[unitOf[i]]
		if key := it.Kind().Key(); u.kind == "" || of[key] > of[u.kind] {
			u.kind = key
		}
	}
	return items, unitOf, units
}

// kindLimits are a slicer by kind and what it promises.
type kindLimits struct {
	slicer cupel.Slicer
	quotas []slicer.QuotaEntry
	counts []slicer.CountQuotaEntry
}

func randomKindLimits(t testing.TB, r *rand.Rand) kindLimits {
	t.Helper()
	knapsack := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(1 + r.IntN(9))))
	inner := []cupel.Slicer{slicer.Greedy{}, slicer.ScoreGreedy{}, slicer.MultipleChoice{}}[r.IntN(3)]
	quotas := []slicer.QuotaEntry{
		slicer.Between(cupel.KindMessage, float64(r.IntN(30)), float64(30+r.IntN(50))),
		slicer.Between("tooloutput", float64(r.IntN(40)), float64(40+r.IntN(60))),
	}
	counts := []slicer.CountQuotaEntry{
		{Kind: "toolOUTPUT", RequireCount: r.IntN(3), CapCount: 2 + r.IntN(3)},
		{Kind: cupel.KindDocument, RequireCount: r.IntN(2), CapCount: 1 + r.IntN(3)},
	}
	switch r.IntN(5) {
	case 0:
		return kindLimits{slicer.Must(slicer.NewQuota(inner, quotas...)), quotas, nil}
	case 1:
		return kindLimits{slicer.Must(slicer.NewQuota(knapsack, quotas...)), quotas, nil}
	case 2:
		return kindLimits{slicer.Must(slicer.NewCountQuota(inner, counts)), nil, counts}
	case 3:
		return kindLimits{slicer.Must(slicer.NewCountConstrainedKnapsack(knapsack, counts)), nil, counts}
	}
	caps := slices.Clone(counts) // what is required may exceed a share
	for i := range caps {
		caps[i].RequireCount = 0
	}
	return kindLimits{slicer.Must(slicer.NewQuota(slicer.Must(slicer.NewCountQuota(inner, caps)), quotas...)), quotas, caps}
}

// checkKinds holds a run to the shares and counts of its slicer, over units.
func checkKinds(t *testing.T, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 29))
	items, unitOf, units := unitsOfKinds(t, r, 1+r.IntN(40))
	limits := randomKindLimits(t, r)
	target := 1 + r.IntN(600)
	p := pipeline(t, func(c *cupel.Config) { c.Slicer, c.Overflow = limits.slicer, cupel.OverflowProceed })
	report, err := p.DryRun(t.Context(), items, budgetOf(t, target, target))
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	for i := range units {
		units[i].full = true
	}
	for _, e := range report.Included {
		u := &units[unitOf[e.Candidate()]]
		u.in = true
		u.used += e.Item.Tokens()
		u.full = u.full && e.Form() == 0
	}
	used, numbers := map[string]int{}, map[string]int{} // by kind
	all := 0
	for _, u := range units {
		if u.in {
			used[u.kind] += u.used
			numbers[u.kind]++
			all += u.used
		}
	}
	for _, q := range limits.quotas {
		key := q.Kind().Key()
		required, most := q.Tokens(target)
		if used[key] > most {
			t.Fatalf("seed %d: units of kind %s have %d tokens, at most %d of %d", seed, key, used[key], most, target)
		}
		if all-used[key] > target-required {
			t.Fatalf("seed %d: other kinds have %d tokens, and %d of %d are for %s", seed, all-used[key], required, target, key)
		}
	}
	for _, c := range limits.counts {
		key := c.Kind.Key()
		if numbers[key] > c.CapCount {
			t.Fatalf("seed %d: %d units of kind %s, at most %d", seed, numbers[key], key, c.CapCount)
		}
		var ofKind []kindUnit
		for _, u := range units {
			if u.kind == key {
				ofKind = append(ofKind, u)
			}
		}
		slices.SortStableFunc(ofKind, func(a, b kindUnit) int { // as stage 4: by score, ties by place
			switch {
			case a.score > b.score:
				return -1
			case a.score < b.score:
				return 1
			}
			return 0
		})
		available := min(c.RequireCount, len(ofKind))
		for _, u := range ofKind[:available] {
			if !u.in || !u.full {
				t.Fatalf("seed %d: %d units of kind %s are required, and the window lacks %+v in full", seed, c.RequireCount, key, u)
			}
		}
		short := slices.ContainsFunc(report.CountRequirementShortfalls, func(s cupel.CountRequirementShortfall) bool {
			return s.Kind.Equal(c.Kind) && s.RequiredCount == c.RequireCount && s.SatisfiedCount == len(ofKind)
		})
		if short != (len(ofKind) < c.RequireCount) {
			t.Fatalf("seed %d: %d of %d units of kind %s, and the report has %v", seed, len(ofKind), c.RequireCount, key, report.CountRequirementShortfalls)
		}
	}
	for _, e := range report.Excluded {
		if units[unitOf[e.Candidate()]].in {
			t.Fatalf("seed %d: the group of candidate %d is split", seed, e.Candidate())
		}
		if e.Reason.Code != cupel.ExcludeCountCapExceeded {
			continue
		}
		// A cap drops whole units, and only where it is reached.
		u, d := units[unitOf[e.Candidate()]], e.Reason.Data()
		if d.Kind.Key() != u.kind || d.Count != d.Cap || numbers[u.kind] != d.Cap {
			t.Fatalf("seed %d: candidate %d of a unit of kind %s is dropped: %+v", seed, e.Candidate(), u.kind, d)
		}
	}
	if limits.quotas == nil && len(report.CountRequirementShortfalls) == 0 && report.Overflow == nil && all > target {
		t.Fatalf("seed %d: %d tokens, target %d", seed, all, target)
	}
}

// TestUnitsKeepQuotasAndCaps: shares and counts by kind hold for groups whose
// members have several kinds: a group counts once, as the kind of most of its
// tokens.
func TestUnitsKeepQuotasAndCaps(t *testing.T) {
	seeds := uint64(10_000)
	if testing.Short() {
		seeds = 1_000
	}
	for seed := range seeds {
		checkKinds(t, seed)
	}
}

func FuzzUnitsKeepQuotasAndCaps(f *testing.F) {
	for seed := range uint64(5) {
		f.Add(seed)
	}
	f.Fuzz(checkKinds)
}
