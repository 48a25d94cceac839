package slicer_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// source makes the choices of a random case; *rand.Rand is one, and so are the
// bytes of a fuzzer.
type source interface{ IntN(n int) int }

// byteSource takes its choices from data, and 0 when that is used up.
type byteSource struct{ data []byte }

func (s *byteSource) IntN(n int) int {
	size := 1
	if n > 256 {
		size = 8
	}
	if len(s.data) < size {
		s.data = nil
		return 0
	}
	var word [8]byte
	copy(word[:], s.data[:size])
	s.data = s.data[size:]
	return int(binary.LittleEndian.Uint64(word[:]) % uint64(n))
}

func oneOf[T any](src source, options ...T) T { return options[src.IntN(len(options))] }

// scenario is one random case.
type scenario struct {
	items   []cupel.ScoredItem
	budget  cupel.SliceBudget
	real    cupel.Slicer
	model   model
	text    string // of the slicer
	counted bool   // a count slicer is in it, which commits without the budget
	huge    bool   // tokens near 2^62
}

// allKinds has kinds that are equal up to ASCII case, and such as Unicode alone
// folds: the Kelvin sign and the long s.
var allKinds = []cupel.ContextKind{"Message", "Document", "tool", "TOOL", "Tool", "k", "K", "\u212a", "\u017f", "s", "ä", "Ä"}

func newScenario(src source) *scenario {
	sc := &scenario{huge: src.IntN(5) == 0}
	kinds := allKinds[:1+src.IntN(len(allKinds))]
	tokens := func() int {
		n := oneOf(src, 0, 1, 2, 3, 5, 8, 10, 10, 20, 37, 60, -1, -30)
		if sc.huge {
			n = oneOf(src, 0, 1, math.MaxInt/2+1, math.MaxInt/2, math.MaxInt/4+1, math.MaxInt/8+12346, math.MaxInt, math.MaxInt/32+1, -(math.MaxInt/2 + 1), math.MinInt)
		}
		return n
	}
	score := func() float64 {
		switch src.IntN(6) {
		case 0:
			return oneOf(src, nan, inf, negInf, math.Copysign(0, -1), 0, -0.5, math.MaxFloat64, 1e9, 0.00005)
		case 1:
			return float64(src.IntN(10_000)) / 10_000
		default:
			return oneOf(src, 0.1, 0.2, 0.25, 0.5, 0.5, 0.9, 1)
		}
	}
	for range src.IntN(14) {
		next := it(oneOf(src, kinds...), tokens(), 0)
		if len(sc.items) > 0 && src.IntN(8) == 0 {
			next = sc.items[src.IntN(len(sc.items))] // one pointer twice
		}
		next.Score = score()
		sc.items = append(sc.items, next)
	}
	if src.IntN(2) == 0 { // as a pipeline's list
		order := byScore(upTo(len(sc.items)), func(i int) float64 { return sc.items[i].Score })
		sc.items = pick(sc.items, order)
	}
	sc.budget = target(src.IntN(120))
	if sc.huge {
		sc.budget = target(oneOf(src, math.MaxInt, math.MaxInt/2+1, math.MaxInt/2+2, math.MaxInt/4+100, math.MaxInt/8+1, 7))
	}
	if src.IntN(4) == 0 {
		sc.budget.MaxTokens += min(50, math.MaxInt-sc.budget.MaxTokens)
	}
	sc.real, sc.model, sc.text = sc.tree(src, 3, true)
	return sc
}

// tree makes a slicer with up to depth wrappers, and its model. Without
// knapsack there is none in it.
func (sc *scenario) tree(src source, depth int, knapsack bool) (cupel.Slicer, model, string) {
	choice := src.IntN(7)
	if depth == 0 {
		choice = src.IntN(2)
	}
	bucket := oneOf(src, 1, 2, 7, 10, 100)
	if sc.huge { // so that the model's table has at most 64 columns
		bucket = 1 << (strconv.IntSize - 7 + src.IntN(5))
	}
	k := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(bucket)))
	switch {
	case choice == 1 && knapsack:
		return *k, modelKnapsack{bucket}, fmt.Sprintf("Knapsack(%d)", bucket)
	case choice == 2 && knapsack:
		entries, throw := sc.entries(src)
		return slicer.Must(slicer.NewCountConstrainedKnapsack(k, behaviour(throw), entries...)),
			modelCounts{"CountConstrainedKnapsackSlice", modelKnapsack{bucket}, entries, throw, true},
			fmt.Sprintf("CountConstrainedKnapsack(%d, %v, %v)", bucket, throw, entries)
	case choice == 3 || choice == 4:
		inner, innerModel, text := sc.tree(src, depth-1, knapsack)
		quotas := sc.quotas(src)
		var entries []slicer.QuotaEntry
		for _, q := range quotas {
			entries = append(entries, slicer.Between(cupel.ContextKind(q.kind), q.require, q.cap))
		}
		return slicer.Must(slicer.NewQuota(inner, entries...)), modelQuota{innerModel, quotas}, fmt.Sprintf("Quota(%s, %v)", text, quotas)
	case choice == 5 || choice == 6:
		inner, innerModel, text := sc.tree(src, depth-1, false)
		entries, throw := sc.entries(src)
		return slicer.Must(slicer.NewCountQuota(inner, behaviour(throw), entries...)),
			modelCounts{"CountQuotaSlice", innerModel, entries, throw, false}, fmt.Sprintf("CountQuota(%s, %v, %v)", text, throw, entries)
	}
	return slicer.Greedy{}, modelGreedy{}, "Greedy"
}

func behaviour(throw bool) slicer.ScarcityBehavior {
	if throw {
		return slicer.ScarcityThrow
	}
	return slicer.ScarcityDegrade
}

// distinctKinds are kinds that no folding makes equal.
func distinctKinds(src source) (kinds []cupel.ContextKind) {
	seen := make(map[string]bool)
	for range src.IntN(4) {
		if kind := oneOf(src, append(allKinds, "absent")...); !seen[fold(kind)] {
			seen[fold(kind)] = true
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func (sc *scenario) entries(src source) (entries []slicer.CountQuotaEntry, throw bool) {
	sc.counted = true
	for _, kind := range distinctKinds(src) {
		require := oneOf(src, 0, 0, 1, 1, 2, 3)
		entries = append(entries, entry(kind, require, require+src.IntN(3)))
	}
	return entries, src.IntN(6) == 0
}

func (sc *scenario) quotas(src source) (quotas []share) {
	left := 100.0
	for _, kind := range distinctKinds(src) {
		require := min(left, oneOf(src, 0.0, 0, 10, 29, 33.3, 50, 100))
		left -= require
		quotas = append(quotas, share{string(kind), require, max(require, oneOf(src, 0.0, 15, 57, 100, 100))})
	}
	return quotas
}

// run compares the slicer with its model and checks what must always hold.
func (sc *scenario) run(t *testing.T) {
	t.Helper()
	describe := func() string {
		text := fmt.Sprintf("%s\nbudget %+v\n", sc.text, sc.budget)
		for i, it := range sc.items {
			text += fmt.Sprintf("%d: %p %s %d tokens, score %v\n", i, it.Item, it.Item.Kind(), it.Item.Tokens(), it.Score)
		}
		return text
	}
	got, err := cupel.Slice(t.Context(), sc.real, sc.items, sc.budget)
	want := sc.model.slice(sc.items, sc.budget)
	if want.scarcity != "" {
		if !errors.Is(err, cupel.ErrScarcity) || err.Error() != want.scarcity {
			t.Fatalf("got error %v, want %q\n%s", err, want.scarcity, describe())
		}
		return
	}
	if err != nil {
		t.Fatalf("got error %v\n%s", err, describe())
	}
	if !slices.Equal(got.Indices, want.selected) {
		t.Fatalf("selected %v, want %v\n%s", got.Indices, want.selected, describe())
	}
	if !slices.EqualFunc(got.Drops, want.capped, sameDrop) {
		t.Fatalf("dropped %v, want %v\n%s", got.Drops, want.capped, describe())
	}
	if !slices.Equal(got.Shortfalls, want.shortfalls) {
		t.Fatalf("shortfalls %v, want %v\n%s", got.Shortfalls, want.shortfalls, describe())
	}

	// cupel.Slice has held the result to be a subset without duplicates.
	spent := new(big.Int)
	for _, i := range got.Indices {
		tokens := sc.items[i].Item.Tokens()
		if tokens < 0 {
			t.Fatalf("item %d with %d tokens is selected\n%s", i, tokens, describe())
		}
		spent.Add(spent, big64(tokens))
	}
	if !sc.counted && !sc.huge && spent.Cmp(big64(sc.budget.TargetTokens)) > 0 {
		t.Fatalf("%v tokens are selected\n%s", spent, describe())
	}
}

// TestAgainstTheChapters compares random slicers, nested up to three deep, with
// transliterations of the chapters.
func TestAgainstTheChapters(t *testing.T) {
	cases := 60_000
	if testing.Short() || raceEnabled {
		cases = 6_000
	}
	r := rand.New(rand.NewPCG(2025, 11))
	selected, dropped, short, scarce := 0, 0, 0, 0
	for range cases {
		sc := newScenario(r)
		sc.run(t)
		out := sc.model.slice(sc.items, sc.budget)
		selected += len(out.selected)
		dropped += len(out.capped)
		short += len(out.shortfalls)
		if out.scarcity != "" {
			scarce++
		}
	}
	t.Logf("%d cases: %d selected, %d dropped, %d shortfalls, %d scarcity errors", cases, selected, dropped, short, scarce)
	if selected < cases/2 || dropped < cases/20 || short < cases/20 || scarce < cases/50 {
		t.Error("the cases have become too poor to say much")
	}
}

// TestLongListsAgainstTheChapters covers what only long lists do: other ways of
// sorting, pooled memory that grows and shrinks, thousands of kinds.
func TestLongListsAgainstTheChapters(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for round := range 24 {
		sc := &scenario{budget: target(2000 + r.IntN(2000))}
		for i := range 300 + r.IntN(600) {
			kind := oneOf[cupel.ContextKind](r, "Message", "tool", "TOOL", "Document")
			if round%6 == 0 {
				kind = cupel.ContextKind("Kind" + itoa(i%500))
			}
			sc.items = append(sc.items, it(kind, r.IntN(40), float64(r.IntN(50))/50))
		}
		if round%2 == 0 {
			sc.items = pick(sc.items, byScore(upTo(len(sc.items)), func(i int) float64 { return sc.items[i].Score }))
		}
		counts := []slicer.CountQuotaEntry{entry("tool", 30, 60), entry("message", 0, 40), entry("Document", 500, 500)}
		quotas := []slicer.QuotaEntry{slicer.Require("document", 20), slicer.Cap("tool", 30)}
		modelQuotas := []share{{"document", 20, 100}, {"tool", 0, 30}}
		k := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(10)))
		for i := range counts {
			counts[i].Kind = counts[i].Kind.Canonical()
		}
		switch round % 4 {
		case 0:
			sc.real, sc.model = slicer.Must(slicer.NewQuota(slicer.Greedy{}, quotas...)), modelQuota{modelGreedy{}, modelQuotas}
		case 1:
			sc.real = slicer.Must(slicer.NewCountQuota(slicer.Must(slicer.NewQuota(slicer.Greedy{}, quotas...)), slicer.ScarcityDegrade, counts...))
			sc.model, sc.counted = modelCounts{"CountQuotaSlice", modelQuota{modelGreedy{}, modelQuotas}, counts, false, false}, true
		case 2:
			sc.real = slicer.Must(slicer.NewCountConstrainedKnapsack(k, slicer.ScarcityDegrade, counts...))
			sc.model, sc.counted = modelCounts{"CountConstrainedKnapsackSlice", modelKnapsack{10}, counts, false, true}, true
		case 3:
			sc.real, sc.model = slicer.Must(slicer.NewQuota(k, quotas...)), modelQuota{modelKnapsack{10}, modelQuotas}
		}
		sc.text = fmt.Sprintf("round %d", round)
		sc.run(t)
	}
}

// FuzzSlicers lets a fuzzer make the choices of the random cases.
func FuzzSlicers(f *testing.F) {
	f.Add([]byte{})
	r := rand.New(rand.NewPCG(1, 9))
	for range 12 {
		data := make([]byte, 40+r.IntN(160))
		for i := range data {
			data[i] = byte(r.IntN(256))
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		newScenario(&byteSource{data}).run(t)
	})
}
