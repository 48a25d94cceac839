package knapsack

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// flicker is a context that is at its end when it is asked for the n-th time, and
// not before or after: an error that is dropped is never seen again.
type flicker struct {
	context.Context
	asked, at int
}

func (f *flicker) Err() error {
	if f.asked++; f.asked == f.at {
		return context.Canceled
	}
	return nil
}

// TestEveryLookCounts ends the context at each look in turn.
func TestEveryLookCounts(t *testing.T) {
	problems := []Problem{{Capacity: 700}, {Capacity: 150}, {Capacity: 400}}
	r := rand.New(rand.NewPCG(20, 20))
	for range 40 {
		w := 1 + r.Int64N(60)
		problems[0].Weights, problems[0].Values = append(problems[0].Weights, w), append(problems[0].Values, w+20)
		problems[1].Weights, problems[1].Values = append(problems[1].Weights, w), append(problems[1].Values, 1+r.Int64N(300))
		problems[2].Weights, problems[2].Values = append(problems[2].Weights, 7+2*w), append(problems[2].Values, 3*(7+2*w))
	}
	eager := small
	eager.stride = 1
	for i, p := range problems {
		for _, way := range stepWays {
			tune := way.tune
			tune.stride = 1
			if tune.ampleRecord == small.ampleRecord {
				tune.thresholds = eager
			}
			whole := &flicker{Context: t.Context()}
			if _, err := solve(whole, p, tune); err != nil {
				continue // too little memory
			}
			// The fewer looks there are, the more of them are tried.
			step := 1 + whole.asked/200
			for at := 1; at <= whole.asked; at += step {
				got, err := solve(&flicker{Context: t.Context(), at: at}, p, tune)
				if !errors.Is(err, context.Canceled) || got != nil {
					t.Fatalf("problem %d, %s: the end at look %d of %d gave %v and %v", i, way.name, at, whole.asked, got, err)
				}
			}
		}
	}
}

// TestSpend looks at the context once a stride.
func TestSpend(t *testing.T) {
	ctx := &flicker{Context: t.Context(), at: 3}
	s := &solver{ctx: ctx, tune: tuning{thresholds: thresholds{stride: 10}}, look: 10}
	for i, tt := range []struct {
		steps uint64
		asked int
		why   string
	}{
		{9, 0, "not yet"},
		{1, 1, "the stride is reached"},
		{9, 1, "the next one is not"},
		{5, 2, "passed"},
		{9, 2, "strides begin where the context was looked at"},
		{1, 3, "reached again, at the end"},
	} {
		err := s.spend(tt.steps)
		if ctx.asked != tt.asked || (err != nil) != (tt.asked == 3) {
			t.Errorf("step %d: asked %d times, %v; want %d: %s", i, ctx.asked, err, tt.asked, tt.why)
		}
	}
	if s.work != 34 {
		t.Errorf("%d steps counted, want 34", s.work)
	}
}

// TestSizes holds how much memory the solver reckons with.
func TestSizes(t *testing.T) {
	at := func(n int, capacity, limit int64) *solver {
		return &solver{items: make([]item, n), capacity: capacity, tune: tuned(limit, automatic), price: price{w: 1}}
	}
	tests := []struct {
		name      string
		got, want any
		why       string
	}{
		{"subset sums", subsetSumBytes(800), int64(4*801 + 100 + 16), "4 bytes and a bit for each capacity from 0"},
		{"subset sums, widest", subsetSumBytes(1 << 40), int64(4*(1<<40+1) + 1<<37 + 16), "the last that is reckoned"},
		{"subset sums, too wide", subsetSumBytes(1<<40 + 1), int64(1<<40 + 1), "more than any limit, and no overflow"},
		{"subset sums, giant", subsetSumBytes(math.MaxInt64), int64(math.MaxInt64), "no overflow"},
		{"narrow row", at(0, 9, 0).rowBytes(math.MaxInt32 / 2), int64(40), "values of 32 bits"},
		{"wide row", at(0, 9, 0).rowBytes(math.MaxInt32/2 + 1), int64(80), "values of 64 bits"},
		{"cells", at(3, 9, 0).cells(), uint64(30), "capacities from 0"},
		{"cells, giant", at(3, math.MaxInt64, 0).cells(), uint64(math.MaxUint64), "no overflow"},
		{"plain fits", at(4, 127, 16*8).plainFits(), true, "8 words and nothing to spare"},
		{"plain does not fit", at(4, 127, 16*8-1).plainFits(), false, "a byte less"},
		{"plain, next word", at(4, 128, 16*8).plainFits(), false, "a third word an item"},
		{"table fits", at(0, 9, 80).tableFits(), true, "twice a row and nothing to spare"},
		{"table does not fit", at(0, 9, 79).tableFits(), false, "a byte less"},
		{"widest table", at(0, 1<<40-1, math.MaxInt64).tableFits(), true, "the last width"},
		{"table too wide", at(0, 1<<40, math.MaxInt64).tableFits(), false, "one more"},
		{"most value", (&solver{inV: 7, inW: 4, capacity: 10, price: price{w: 4, v: 3}}).mostValue(), int64(7 + 4), "6 of capacity at 3/4, rounded down"},
		{"most value, giant", (&solver{inV: math.MaxInt64 - 1, capacity: 10, price: price{w: 1, v: 3}}).mostValue(), int64(math.MaxInt64), "no overflow"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %v, want %v: %s", tt.name, tt.got, tt.want, tt.why)
		}
	}
	s := at(0, 9, 79)
	var tooLittle *LimitError
	if err := s.solveTable(); !errors.As(err, &tooLittle) || *tooLittle != (LimitError{Limit: 79, Need: 80}) {
		t.Errorf("a table that does not fit: %v", err)
	}
	s = at(0, 1<<40, math.MaxInt64)
	if err := s.solveTable(); !errors.As(err, &tooLittle) || tooLittle.Need != 8*(1<<40+1) {
		t.Errorf("a table that is too wide: %v", err)
	}
}

// TestGivenLimit has limits that are taken as they are given, the least of them
// included.
func TestGivenLimit(t *testing.T) {
	var p Problem
	r := rand.New(rand.NewPCG(9, 9))
	p.Capacity = 1 << 54
	for range 40 {
		w := 1<<49 + r.Int64N(1<<49)
		p.Weights, p.Values = append(p.Weights, w), append(p.Values, w>>10)
	}
	for _, limit := range []int64{1, 2 << 10} {
		_, err := Solve(t.Context(), p, Options{MemoryLimit: limit})
		var tooLittle *LimitError
		if !errors.As(err, &tooLittle) || tooLittle.Limit != limit {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}

// TestCredit cuts the window only where its arithmetic cannot wrap.
func TestCredit(t *testing.T) {
	const enough = 1 << 60
	tests := []struct {
		why      string
		gap      wide
		price    price
		capacity int64
		most     int64
		cut      bool
	}{
		{"small numbers", wide{0, 5}, price{2, 3}, 10, 10, true},
		{"the largest gap", wide{0, enough - 1}, price{2, 3}, 10, 10, true},
		{"a larger gap", wide{0, enough}, price{2, 3}, 10, 10, false},
		{"a gap of more than 64 bits", wide{1, 0}, price{2, 3}, 10, 10, false},
		{"the largest charge", wide{0, 5}, price{2, 1<<30 - 1}, 1 << 30, 10, true},
		{"a larger charge", wide{0, 5}, price{2, 1 << 30}, 1 << 30, 10, false},
		{"the largest worth", wide{0, 5}, price{1 << 30, 1}, 10, 1<<30 - 1, true},
		{"a larger worth", wide{0, 5}, price{1 << 30, 1}, 10, 1 << 30, false},
	}
	for _, tt := range tests {
		s := &solver{gap: tt.gap, price: tt.price, capacity: tt.capacity, items: []item{{in: true, cost: 4}, {cost: 7}, {in: true, cost: 1}}}
		e := &table[int64]{solver: s}
		e.setCredit(tt.most)
		want := []int64{0, 4, 4, 5}
		if !tt.cut {
			want = nil
		}
		if !slices.Equal(e.credit, want) || tt.cut && e.gap != int64(tt.gap.lo) {
			t.Errorf("%s: credit %v and gap %d, want %v", tt.why, e.credit, e.gap, want)
		}
	}
}

// TestImproves has one cell that makes the difference, at each place in turn.
func TestImproves(t *testing.T) {
	for n := 1; n < 40; n++ {
		d, s := make([]int64, n), make([]int64, n)
		for i := range d {
			d[i] = 100 * int64(i+1) // what belongs to another place is far off
			s[i] = d[i] - 50
		}
		if improves(d, s, 50) {
			t.Errorf("%d cells: as much is no improvement", n)
		}
		for i := range s {
			s[i]++
			if !improves(d, s, 50) {
				t.Errorf("%d cells: the improvement of cell %d is not seen", n, i)
			}
			s[i]--
		}
	}
}

// TestMemoryIsReused holds that what depends on the number of items alone is
// taken from a pool.
func TestMemoryIsReused(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 22))
	p := families[0].make(r, 3000, 300)
	for len(p.Weights) < 2000 {
		p = families[0].make(r, 3000, 300)
	}
	p.Capacity = 5000
	var pooled *scratch
	for range 20 { // a garbage collection empties the pool, and the race detector at random
		if _, err := Solve(t.Context(), p, Options{}); err != nil {
			t.Fatal(err)
		}
		if pooled = scratchPool.Get().(*scratch); cap(pooled.items) > 0 {
			break
		}
	}
	if cap(pooled.items) == 0 || cap(pooled.pairs) == 0 || cap(pooled.heap) == 0 || cap(pooled.cur) == 0 {
		t.Errorf("the pool has room for %d items, %d pairs, %d moves and %d states", cap(pooled.items), cap(pooled.pairs), cap(pooled.heap), cap(pooled.cur))
	}
}

// TestRelax compares with a loop over the cells, for rows of every length up to a
// few words.
func TestRelax(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 21))
	for n := 1; n < 300; n++ {
		for _, w := range []int{1, 2, 7, 64, 65, n} {
			spread := 1 + r.Int64N(40)
			row := make([]int32, n+w)
			for i := range row[1:] {
				row[i+1] = row[i] + int32(r.Int64N(spread)*r.Int64N(2))
			}
			v := int32(1 + r.Int64N(3*spread))
			want := slices.Clone(row)
			bits := make([]uint64, (n+63)/64)
			for k := n - 1; k >= 0; k-- {
				if with := want[k] + v; with > want[k+w] {
					want[k+w] = with
					bits[k>>6] |= 1 << (k & 63)
				}
			}
			record := make([]uint64, len(bits))
			for i := range record {
				record[i] = r.Uint64() // the arena hands out memory with any contents
			}
			if got := improves(row[w:], row, v); got != slices.ContainsFunc(bits, func(b uint64) bool { return b != 0 }) {
				t.Fatalf("%d cells, weight %d: improves says %t", n, w, got)
			}
			relax(row[w:], row[:n], v, record)
			if !slices.Equal(row, want) || !slices.Equal(record, bits) {
				t.Fatalf("%d cells, weight %d, value %d:\n got %v %x\nwant %v %x", n, w, v, row, record, want, bits)
			}
		}
	}
}
