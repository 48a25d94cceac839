package slicer

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

// TestShareAgainstBig holds the division of quotas to arithmetic of any size,
// with masses on both sides of 2^64.
func TestShareAgainstBig(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	tokens := func() uint64 { return r.Uint64() >> (1 + r.IntN(63)) }
	for range 20_000 {
		var part, total mass
		wantPart, wantTotal := new(big.Int), new(big.Int)
		for range r.IntN(6) {
			n := tokens()
			part.add(n)
			wantPart.Add(wantPart, new(big.Int).SetUint64(n))
		}
		total.addMass(part)
		wantTotal.Set(wantPart)
		for range r.IntN(6) {
			n := tokens()
			total.add(n)
			wantTotal.Add(wantTotal, new(big.Int).SetUint64(n))
		}
		budget := int(tokens() & math.MaxInt)
		want := new(big.Int)
		if wantTotal.Sign() > 0 {
			want.Mul(big.NewInt(int64(budget)), wantPart).Quo(want, wantTotal)
		}
		if got := part.share(budget, total); big.NewInt(int64(got)).Cmp(want) != 0 {
			t.Fatalf("%d * %v / %v: got %d, want %v", budget, wantPart, wantTotal, got, want)
		}
	}
}

func TestPercentOf(t *testing.T) {
	tests := []struct {
		name    string
		percent float64
		target  int
		want    int
		why     string
	}{
		{"none", 0, 1000, 0, "nothing of anything"},
		{"all", 100, 1000, 1000, "everything"},
		{"rounds down", 33.3, 10, 3, "3.33 rounds down"},
		{"IEEE below", 29, 100, 28, "29 / 100.0 * 100 is 28.999999999999996"},
		{"largest", 100, math.MaxInt, math.MaxInt, "the float is 2^63 and must not wrap"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := percentOf(tt.percent, tt.target); got != tt.want {
				t.Errorf("got %d, want %d: %s", got, tt.want, tt.why)
			}
		})
	}
}

// TestScratchForgets holds pooled memory to keep nothing of a call, and to be
// small again after a list with very many kinds.
func TestScratchForgets(t *testing.T) {
	for _, kinds := range []int{3, 1000} {
		var items []cupel.ScoredItem
		for i := range kinds {
			item, err := cupel.NewContextItem("content", 1, cupel.WithKind(kindNumber(i)))
			if err != nil {
				t.Fatal(err)
			}
			items = append(items, cupel.ScoredItem{Item: item})
		}
		s := &scratch{spellings: make(map[cupel.ContextKind]int32), keys: make(map[string]int32)}
		s.partition(items)
		groups, copies, spellings := s.groups, s.items, s.spellings
		if len(groups) != kinds || len(spellings) != kinds || len(copies) != kinds {
			t.Fatalf("%d groups, %d spellings and %d items, want %d of each", len(groups), len(spellings), len(copies), kinds)
		}
		s.reset()
		if len(s.spellings) != 0 || len(s.keys) != 0 || len(s.groups) != 0 || len(s.items) != 0 {
			t.Errorf("%d kinds: something is left of the call: %+v", kinds, s)
		}
		for i := range kinds {
			if copies[i].Item != nil || groups[i].kind != "" {
				t.Fatalf("%d kinds: position %d keeps the caller's memory alive", kinds, i)
			}
		}
		s.spellings["x"] = 1
		if kept := len(spellings) == 1; kept != (kinds == 3) {
			t.Errorf("%d kinds: the map is kept: %v; clearing takes as long as the map is large", kinds, kept)
		}
	}
}

func kindNumber(i int) cupel.ContextKind { return cupel.ContextKind("kind " + strconv.Itoa(i)) }
