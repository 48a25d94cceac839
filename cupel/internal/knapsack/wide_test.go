package knapsack

import (
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func (a wide) big() *big.Int {
	n := new(big.Int).SetUint64(a.hi)
	return n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(a.lo))
}

// TestWide compares the arithmetic of 128 bits with math/big.
func TestWide(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 16))
	edges := []uint64{0, 1, 2, math.MaxInt64, 1 << 63, 1<<63 + 1, math.MaxUint64}
	number := func() uint64 {
		if r.IntN(3) == 0 {
			return edges[r.IntN(len(edges))]
		}
		return r.Uint64() >> r.IntN(64)
	}
	for range 20_000 {
		a, b := wide{number(), number()}, wide{number(), number()}
		if r.IntN(3) == 0 {
			b.hi = a.hi
		}
		x, y := a.big(), b.big()
		if got, want := a.compare(b), x.Cmp(y); got != want || a.less(b) != (want < 0) {
			t.Fatalf("%v and %v: compare %d, less %t", a, b, got, a.less(b))
		}
		if x.Cmp(y) >= 0 {
			if got, want := a.minus(b).big(), new(big.Int).Sub(x, y); got.Cmp(want) != 0 {
				t.Fatalf("%v - %v = %v, want %v", a, b, got, want)
			}
		}
		if got, want := a.bitLen(), x.BitLen(); got != want {
			t.Fatalf("%v has %d bits, want %d", a, got, want)
		}
		n := uint(max(0, x.BitLen()-64) + r.IntN(70))
		if got, want := a.shifted(n), new(big.Int).Rsh(x, n); n < 128 && got != want.Uint64() {
			t.Fatalf("%v >> %d = %d, want %v", a, n, got, want)
		}
		most := big.NewInt(math.MaxInt64)
		p, q := int64(number()>>1), int64(number()>>1)
		product := new(big.Int).Mul(big.NewInt(p), big.NewInt(q))
		if got := mul(p, q).big(); got.Cmp(product) != 0 {
			t.Fatalf("%d * %d = %v", p, q, got)
		}
		if q > 0 {
			want := new(big.Int).Quo(x, big.NewInt(q))
			if want.Cmp(most) > 0 {
				want = most
			}
			if got := a.over(q); got != want.Int64() {
				t.Fatalf("%v / %d = %d, want %v", a, q, got, want)
			}
		}
		if sum := new(big.Int).Add(big.NewInt(p), big.NewInt(q)); sum.Cmp(most) > 0 {
			if got := saturatingAdd(p, q); got != math.MaxInt64 {
				t.Fatalf("%d + %d = %d", p, q, got)
			}
		} else if got := saturatingAdd(p, q); got != sum.Int64() {
			t.Fatalf("%d + %d = %d", p, q, got)
		}
		c, d := number(), number()
		want := new(big.Int).Mul(new(big.Int).SetUint64(c), new(big.Int).SetUint64(d))
		if got := saturatingMul(c, d); want.IsUint64() && got != want.Uint64() || !want.IsUint64() && got != math.MaxUint64 {
			t.Fatalf("%d * %d = %d", c, d, got)
		}
	}
}

// TestDensities compares the order of densities with exact fractions, and the
// break item with its definition.
func TestDensities(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 17))
	for range 4000 {
		giant := r.IntN(2) == 0
		pairs := make([]pair, 1+r.IntN(12))
		var total, most int64
		for i := range pairs {
			pairs[i] = pair{1 + r.Int64N(6), 1 + r.Int64N(6)}
			if giant {
				pairs[i].w, pairs[i].v = pairs[i].w<<58, pairs[i].v<<38-r.Int64N(2)
			}
			most = max(most, pairs[i].w)
			total += min(pairs[i].w, math.MaxInt64-total)
		}
		a, b := pairs[0], pairs[len(pairs)-1]
		want := new(big.Rat).SetFrac64(a.v, a.w).Cmp(new(big.Rat).SetFrac64(b.v, b.w))
		if got := compareDensity(a, b, true); got != want {
			t.Fatalf("%v and %v: %d, want %d", a, b, got, want)
		}
		if !giant {
			if got := compareDensity(a, b, false); got != want {
				t.Fatalf("%v and %v: %d, want %d", a, b, got, want)
			}
		}
		capacity := r.Int64N(total) // less than all of them weigh
		given := append([]pair(nil), pairs...)
		at, weight := breakItem(pairs, capacity, giant)
		// Sums of weights may pass 2^63 but not 2^64: there are at most 12 of 2^61.
		var before, through big.Int
		count := make(map[pair]int)
		for i, p := range pairs {
			count[p]++
			c := compareDensity(p, pairs[at], true)
			if i < at && c <= 0 || i >= at && c > 0 {
				t.Fatalf("%v: pair %d is on the wrong side of %d", pairs, i, at)
			}
			if i < at {
				before.Add(&before, big.NewInt(p.w))
			}
			if c >= 0 {
				through.Add(&through, big.NewInt(p.w))
			}
		}
		for _, p := range given {
			count[p]--
		}
		for p, n := range count {
			if n != 0 {
				t.Fatalf("%v became %v: %v", given, pairs, p)
			}
		}
		if before.Cmp(big.NewInt(weight)) != 0 || weight > capacity || through.Cmp(big.NewInt(capacity)) <= 0 {
			t.Fatalf("%v, capacity %d: broke off at %d, weight %d", pairs, capacity, at, weight)
		}
	}
	if addWeight(1<<63, 1) != 1<<63 || addWeight(1<<62, 1<<61) != 1<<62+1<<61 || addWeight(1<<63-1, math.MaxInt64) != 1<<63 {
		t.Error("sums of weights do not stay at 2^63")
	}
}

// TestCostSums compares the tree with a plain sum, up to its ceiling.
func TestCostSums(t *testing.T) {
	r := rand.New(rand.NewPCG(18, 18))
	for range 200 {
		n := 1 + r.IntN(20)
		tree, plain := make(costSums, n+1), make([]uint64, n)
		for range 30 {
			at, cost := r.IntN(n), uint64(1)<<r.IntN(63)
			tree.add(at, cost)
			plain[at] = min(plain[at]+cost, 1<<62)
			var want uint64
			for i := range n + 1 {
				if got := tree.below(i); got != want {
					t.Fatalf("%v below %d: %d, want %d", plain, i, got, want)
				}
				if i < n {
					want = min(want+plain[i], 1<<62)
				}
			}
		}
	}
	if addCosts(1<<61, 1<<61-1) != 1<<62-1 || addCosts(1<<61, 1<<61) != 1<<62 || addCosts(1<<62, 1<<62) != 1<<62 {
		t.Error("sums of costs do not stay at 2^62")
	}
}

// TestHeap pops all moves in the order of their costs.
func TestHeap(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 19))
	for n := 1; n < 40; n++ {
		h := make([]move, n)
		for i := range h {
			h[i].cost = r.Uint64N(20)
		}
		heapify(h)
		last := uint64(0)
		for len(h) > 0 {
			if cmp.Compare(h[0].cost, last) < 0 {
				t.Fatalf("%d moves: %d after %d", n, h[0].cost, last)
			}
			last = h[0].cost
			h = pop(h)
		}
	}
}

// TestArena holds what an arena reserves and how large it says that it is.
func TestArena(t *testing.T) {
	var a arena[uint16]
	first := a.reserve(100)
	if len(first) != 100 || cap(first) != 100 || len(a.chunks[0]) != smallestChunk || a.bytes() != 0 {
		t.Fatalf("%d of %d elements in a chunk of %d, %d bytes taken", len(first), cap(first), len(a.chunks[0]), a.bytes())
	}
	a.keep(90)
	if a.bytes() != 180 {
		t.Errorf("90 elements take %d bytes", a.bytes())
	}
	first[0] = 7
	rest := a.reserve(smallestChunk - 90)
	if len(a.chunks) != 1 || &rest[0] != &a.chunks[0][90] || cap(rest) != smallestChunk-90 {
		t.Errorf("what is left of a chunk is not used: %d chunks", len(a.chunks))
	}
	a.keep(len(rest))
	big := a.reserve(2 * largestChunk)
	if len(big) != 2*largestChunk || len(a.chunks) != 2 || len(a.chunks[1]) != 2*largestChunk {
		t.Fatalf("%d elements, %d chunks", len(big), len(a.chunks))
	}
	a.keep(len(big))
	a.reserve(1)
	if len(a.chunks) != 3 || len(a.chunks[2]) != largestChunk || a.bytes() != 2*(smallestChunk+2*largestChunk) {
		t.Errorf("a chunk of %d after %d bytes", len(a.chunks[2]), a.bytes())
	}
	a.reset()
	if again := a.reserve(1); a.bytes() != 0 || &again[0] != &first[0] || len(a.chunks) != 3 {
		t.Errorf("after a reset %d bytes are taken of %d chunks", a.bytes(), len(a.chunks))
	}
	if first[0] != 7 {
		t.Error("memory changed")
	}
	// Chunks grow with what is taken.
	var b arena[byte]
	for _, want := range []int{512, 512, 1024, 2048} {
		b.keep(len(b.reserve(1)) - 1)
		chunk := b.chunks[len(b.chunks)-1]
		if len(chunk) != want {
			t.Errorf("a chunk of %d, want %d", len(chunk), want)
		}
		b.keep(len(chunk))
	}
}
