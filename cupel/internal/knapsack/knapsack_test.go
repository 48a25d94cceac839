package knapsack

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// ways are the ways of solving that must all give the same answer, even if the
// solver would not choose them by itself.
var ways = []struct {
	name string
	tune tuning
}{
	{"automatic", tuned(DefaultMemoryLimit, automatic)},
	{"small thresholds", tuning{limit: DefaultMemoryLimit, thresholds: small}},
	{"plain table", tuned(DefaultMemoryLimit, byPlainTable)},
	{"table of the core", tuned(DefaultMemoryLimit, byCoreTable)},
	{"lists, gap not improved", tuned(DefaultMemoryLimit, byCoreFrontier)},
	{"lists after dominance", tuned(DefaultMemoryLimit, byCoreFrontierAfterDominance)},
}

func tuned(limit int64, by method) tuning { return tuning{limit: limit, method: by, thresholds: usual} }

// small are thresholds at which problems of a few dozen items go every way.
var small = thresholds{
	plainCells: 8, plainWidth: 4, plainRow: 8,
	smallTable: 32, fewStates: 4,
	leastSearch: 16, leastRun: 32, longest: 8,
	ampleRecord: 256, stride: 64,
}

// rounds is how many of n random problems to try: all of them, or with -short a
// tenth.
func rounds(n int) int {
	if testing.Short() {
		return n/10 + 1
	}
	return n
}

func check(t *testing.T, p Problem, want []int, tune tuning, way string) {
	t.Helper()
	got, err := solve(t.Context(), p, tune)
	if err != nil {
		t.Fatalf("%s: %v\n%+v", way, err, p)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%s:\n got %v\nwant %v\n%+v", way, got, want, p)
	}
	if cap(got) != len(got) {
		t.Fatalf("%s: an answer of %d items has room for %d", way, len(got), cap(got))
	}
}

func TestSolveTable(t *testing.T) {
	tests := []struct {
		name string
		why  string
		p    Problem
		want []int
	}{
		{"nothing", "no items, no answer",
			Problem{nil, nil, 10}, nil},
		{"no capacity", "a capacity of 0 takes nothing",
			Problem{[]int64{1}, []int64{1}, 0}, nil},
		{"negative capacity", "a negative capacity takes nothing",
			Problem{[]int64{1}, []int64{1}, -5}, nil},
		{"zero value", "strict >: a value of 0 is never taken, even when everything fits (R16)",
			Problem{[]int64{1, 1}, []int64{0, 7}, 10}, []int{1}},
		{"all fit", "descending, as the chapter reconstructs",
			Problem{[]int64{1, 2, 3}, []int64{1, 1, 1}, 6}, []int{2, 1, 0}},
		{"tie of two", "the last item is left out when the one before does as well",
			Problem{[]int64{5, 5}, []int64{3, 3}, 5}, []int{0}},
		{"heavier but earlier", "capacity is there, so the earlier of equal values wins although it is heavier",
			Problem{[]int64{5, 3}, []int64{10, 10}, 5}, []int{0}},
		{"lighter and later", "with less capacity only the later item fits",
			Problem{[]int64{5, 3}, []int64{10, 10}, 4}, []int{1}},
		{"two for one", "equal totals: the single last item is left out for the two before it",
			Problem{[]int64{2, 2, 4}, []int64{5, 5, 10}, 4}, []int{1, 0}},
		{"one before two", "equal totals: the last of the two is left out",
			Problem{[]int64{4, 2, 2}, []int64{10, 5, 5}, 4}, []int{0}},
		{"exactly heavy", "an item of the capacity's weight fits",
			Problem{[]int64{4, 3}, []int64{9, 8}, 4}, []int{0}},
		{"near 2^63", "sums of weights pass 2^63",
			Problem{[]int64{math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 - 1}, []int64{5, 6, 6}, math.MaxInt64}, []int{1}},
		{"near 2^63, two of three", "a pair that just fits beats the single best",
			Problem{[]int64{1<<62 - 1, 1 << 62, math.MaxInt64}, []int64{3, 3, 5}, math.MaxInt64}, []int{1, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.why == "" {
				t.Fatal("a row needs a reason")
			}
			got, err := Solve(t.Context(), tt.p, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v: %s", got, tt.want, tt.why)
			}
		})
	}
}

// TestModelsAgree shows that the tie rule as worded is what the chapter's table
// does, and that the two transliterations are one.
func TestModelsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range rounds(3000) {
		p := families[r.IntN(len(families))].make(r, 9, 12)
		want := model(p)
		if got := bruteForce(p); !slices.Equal(got, want) {
			t.Fatalf("tie rule: got %v, table %v\n%+v", got, want, p)
		}
		if got := bitModel(p); !slices.Equal(got, want) {
			t.Fatalf("bit table: got %v, table %v\n%+v", got, want, p)
		}
	}
}

// TestExhaustive tries all problems of up to four items with weights up to 3 and
// values up to 3, at all capacities.
func TestExhaustive(t *testing.T) {
	const kinds = 3 * 4
	problems := 0
	for n := range 5 {
		total := 1
		for range n {
			total *= kinds
		}
		for code := range total {
			p := Problem{Weights: make([]int64, n), Values: make([]int64, n)}
			var sum int64
			for i := range n {
				p.Weights[i], p.Values[i] = int64(code%3+1), int64(code/3%4)
				code /= kinds
				sum += p.Weights[i]
			}
			for p.Capacity = 1; p.Capacity <= sum; p.Capacity++ {
				if problems++; testing.Short() && problems%7 != 0 {
					continue
				}
				want := model(p)
				// Every way in turn; all of them for the shorter ones.
				for k, way := range ways {
					if n < 4 || problems%len(ways) == k {
						check(t, p, want, way.tune, way.name)
					}
				}
			}
		}
	}
	t.Logf("%d problems", problems)
}

func TestRandom(t *testing.T) {
	sizes := []struct {
		problems, n int
		w           int64
	}{{4200, 7, 9}, {6600, 14, 30}, {1900, 40, 60}, {40, 120, 400}}
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			if f.why == "" {
				t.Fatal("a family needs a reason")
			}
			t.Parallel()
			r := rand.New(rand.NewPCG(7, uint64(len(f.name))))
			for _, size := range sizes {
				for range rounds(size.problems) {
					p := f.make(r, size.n, size.w)
					want := bitModel(p)
					for _, way := range ways {
						check(t, p, want, way.tune, way.name)
					}
				}
			}
		})
	}
}

// TestGiantWeights compares with all subsets: no table holds these weights.
func TestGiantWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range rounds(4000) {
		n := 1 + r.IntN(10)
		p := Problem{Capacity: math.MaxInt64 - r.Int64N(1<<r.IntN(63))}
		shift := r.IntN(10)
		equalDensities := r.IntN(4) == 0
		for range n {
			w := 1 + r.Int64N(math.MaxInt64>>shift)
			v := r.Int64N(MaxValue + 1)
			switch r.IntN(4) {
			case 0:
				v = r.Int64N(4)
			case 1:
				v = w >> 23
			}
			if equalDensities {
				v = 1 + r.Int64N(MaxValue)
				w = v << 20
			}
			p.Weights, p.Values = append(p.Weights, w), append(p.Values, v)
		}
		want := bruteForce(p)
		for _, way := range ways {
			if way.tune.method != byPlainTable && way.tune.method != byCoreTable {
				check(t, p, want, way.tune, way.name)
			}
		}
	}
}

// TestMedium compares where the solver chooses among all of its ways by itself.
func TestMedium(t *testing.T) {
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(12, uint64(len(f.name))))
			for range rounds(6) {
				p := f.make(r, 300, 300)
				want := bitModel(p)
				check(t, p, want, tuned(DefaultMemoryLimit, automatic), "automatic")
				check(t, p, want, tuned(1<<20, automatic), "with a limit of 1 MiB")
			}
		})
	}
}

// TestAlike has more alike items than any table would hold.
func TestAlike(t *testing.T) {
	const n, fit = 1 << 16, 1<<15 + 3
	p := Problem{Weights: make([]int64, n), Values: make([]int64, n), Capacity: 1000*fit + 999}
	for i := range n {
		p.Weights[i], p.Values[i] = 1000, 17
	}
	got, err := Solve(t.Context(), p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != fit || got[0] != fit-1 || got[fit-1] != 0 {
		t.Errorf("got %d items from %d down to %d, want the first %d", len(got), got[0], got[len(got)-1], fit)
	}
}

// TestSparseSums has subset sums of a few items over a wide capacity.
func TestSparseSums(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 14))
	for range 20 {
		p := Problem{Capacity: 1 << 21}
		for range 12 {
			w := 1<<17 + r.Int64N(1<<19)
			p.Weights, p.Values = append(p.Weights, w), append(p.Values, 3*w)
		}
		check(t, p, bruteForce(p), tuned(DefaultMemoryLimit, automatic), "automatic")
	}
}

// TestUncut has numbers too large for the arithmetic that cuts the table's window.
func TestUncut(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 13))
	p := Problem{Capacity: 1 << 20}
	for range 24 {
		w := 1<<15 + r.Int64N(1<<16)
		p.Weights, p.Values = append(p.Weights, w), append(p.Values, w<<23+r.Int64N(1<<20))
	}
	want := bitModel(p)
	for _, way := range ways {
		check(t, p, want, way.tune, way.name)
	}
}

// TestLittleMemory has the record forgotten and blocks run again, in both
// engines, at limits that leave room for a few rows or lists only.
func TestLittleMemory(t *testing.T) {
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(11, uint64(len(f.name))))
			answers := 0
			problems := rounds(150)
			for range problems {
				p := f.make(r, 60, 80)
				want := bitModel(p)
				for _, way := range ways {
					for _, limit := range []int64{1 << 10, 1 << 13, 1 << 15, 1 << 17} {
						tune := way.tune
						tune.limit = limit
						got, err := solve(t.Context(), p, tune)
						var tooLittle *LimitError
						switch {
						case errors.As(err, &tooLittle):
							if tooLittle.Limit != limit || tooLittle.Need <= 0 {
								t.Fatalf("%s: %#v at limit %d", way.name, tooLittle, limit)
							}
						case err != nil:
							t.Fatalf("%s: %v", way.name, err)
						case !slices.Equal(got, want):
							t.Fatalf("%s, limit %d:\n got %v\nwant %v\n%+v", way.name, limit, got, want, p)
						default:
							answers++
						}
					}
				}
			}
			if asked := problems * len(ways) * 4; answers < asked/2 {
				t.Errorf("only %d of %d answered: the limits are too small to test anything", answers, asked)
			}
		})
	}
}

// counting is an engine that counts what a tracer asks of it.
type counting[S any] struct {
	engine[S]
	pushes, forgets, saves int
}

func (c *counting[S]) push(i int, lo, hi int64) error {
	c.pushes++
	return c.engine.push(i, lo, hi)
}

func (c *counting[S]) forget() {
	c.forgets++
	c.engine.forget()
}

func (c *counting[S]) save() (S, int64) {
	c.saves++
	return c.engine.save()
}

// TestCheckpoints runs both engines over items that nothing is known about, with
// room for parts of the record only.
func TestCheckpoints(t *testing.T) {
	p := Problem{Capacity: 1500}
	r := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		w := 1 + r.Int64N(90)
		p.Weights, p.Values = append(p.Weights, w), append(p.Values, w+20)
	}
	want := bitModel(p)
	tests := []struct {
		name          string
		why           string
		record, saves int64
		runs          int // how often at most an item may be run over
	}{
		{"all", "the record fits: one run", math.MaxInt64, math.MaxInt64, 1},
		{"blocks", "blocks are run a second time", 30 << 10, math.MaxInt64, 2},
		{"one item a block", "every state is saved", 1, math.MaxInt64, 2},
		{"few saves", "blocks are split up again", 30 << 10, 200 << 10, 4},
		{"no saves", "everything is run again for every block", 30 << 10, 0, 400},
	}
	admitted := func() *solver {
		s := &solver{ctx: t.Context(), tune: tuned(DefaultMemoryLimit, automatic), capacity: p.Capacity}
		if err := s.admit(p, new(scratch)); err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, tt := range tests {
		t.Run(tt.name+"/table", func(t *testing.T) {
			s := admitted()
			e := &counting[*window[int32]]{engine: &table[int32]{solver: s, row: make([]int32, p.Capacity+1)}}
			err := newTracer(s, e, tt.record, tt.saves).answer(math.MaxInt64)
			checkRun(t, s, err, want, e.pushes, e.forgets, e.saves, tt.runs)
		})
		t.Run(tt.name+"/lists", func(t *testing.T) {
			s := admitted()
			e := &counting[[]state]{engine: &frontier{solver: s, largest: math.MaxInt, endless: true}}
			// A list is about eight times as large as a row here.
			record, saves := saturatingMul(8, uint64(tt.record)), saturatingMul(8, uint64(tt.saves))
			err := newTracer(s, e, int64(min(record, math.MaxInt64)), int64(min(saves, math.MaxInt64))).answer(math.MaxInt64)
			checkRun(t, s, err, want, e.pushes, e.forgets, e.saves, tt.runs)
		})
	}
}

func checkRun(t *testing.T, s *solver, err error, want []int, pushes, forgets, saves, runs int) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if got := s.answer(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	n := len(s.items)
	if pushes > runs*n || runs > 1 && (pushes <= n || forgets == 0 || saves == 0) {
		t.Errorf("%d items: %d pushed, record forgotten %d times, %d states saved", n, pushes, forgets, saves)
	}
}

func TestLimitError(t *testing.T) {
	// Subset sums of random numbers of 50 bits: no two of the 2^40 sets are alike.
	r := rand.New(rand.NewPCG(9, 9))
	p := Problem{Capacity: 1 << 54}
	for range 40 {
		w := 1<<49 + r.Int64N(1<<49)
		p.Weights, p.Values = append(p.Weights, w), append(p.Values, w>>10)
	}
	_, err := Solve(t.Context(), p, Options{MemoryLimit: 1 << 20})
	var tooLittle *LimitError
	if !errors.As(err, &tooLittle) {
		t.Fatalf("got %v, want a *LimitError", err)
	}
	if tooLittle.Limit != 1<<20 || tooLittle.Need <= 1<<20 {
		t.Errorf("got %+v", tooLittle)
	}
}

func TestInputErrors(t *testing.T) {
	tests := []struct {
		name  string
		why   string
		p     Problem
		index int
	}{
		{"lengths", "one value for two weights", Problem{[]int64{1, 1}, []int64{1}, 5}, -1},
		{"weight 0", "zero weights are taken before", Problem{[]int64{1, 0}, []int64{1, 1}, 5}, 1},
		{"negative weight", "not a weight", Problem{[]int64{-1}, []int64{1}, 5}, 0},
		{"negative value", "values are clamped at 0 before", Problem{[]int64{1}, []int64{-1}, 5}, 0},
		{"large value", "values are clamped to 2^40 before (R8)", Problem{[]int64{1}, []int64{MaxValue + 1}, 5}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Solve(t.Context(), tt.p, Options{})
			var bad *InputError
			if !errors.As(err, &bad) || bad.Index != tt.index {
				t.Errorf("got %v, want an *InputError about item %d: %s", err, tt.index, tt.why)
			}
		})
	}
}

// TestValueSum has values above MaxValue, which take fewer items to pass 2^61, the
// most that sums are kept for.
func TestValueSum(t *testing.T) {
	const half = 1 << 60
	tests := []struct {
		name    string
		why     string
		weights []int64
		values  []int64
		fails   bool
	}{
		{"before the break", "what the bound takes is 2^61", []int64{1, 2, 4}, []int64{half, half, 1}, false},
		{"one more before the break", "more than 2^61", []int64{1, 2, 4}, []int64{half, half + 1, 1}, true},
		{"beyond the break", "with what is filled up it is 2^61", []int64{1, 3, 2}, []int64{half, half + half/2 + 9, half}, false},
		{"one more beyond the break", "more than 2^61", []int64{1, 3, 2}, []int64{half, half + half/2 + 9, half + 1}, true},
	}
	for _, tt := range tests {
		s := &solver{ctx: t.Context(), tune: tuned(DefaultMemoryLimit, automatic), capacity: 3}
		for i, v := range tt.values {
			s.items = append(s.items, item{w: tt.weights[i], v: v, pos: int32(i)})
		}
		s.taken = make([]uint64, 1)
		s.tune.plainWidth, s.tune.plainCells = 0, 0
		err := s.run(new(scratch))
		var bad *InputError
		if failed := errors.As(err, &bad); failed != tt.fails || failed && (bad.Index != -1 || bad.Reason != "values add up to more than 2^61") {
			t.Errorf("%s: got %v; %s", tt.name, err, tt.why)
		}
	}
}

func TestErrorTexts(t *testing.T) {
	tests := []struct {
		name string
		why  string
		err  error
		want string
	}{
		{"limit", "says what was needed and what to do", &LimitError{Limit: 10, Need: 20},
			"knapsack: the exact answer needs more than 20 bytes of working memory and the limit is 10: raise the limit or coarsen the weights"},
		{"item", "names the item", &InputError{Index: 3, Reason: "weight 0 is below 1"},
			"knapsack: item 3: weight 0 is below 1"},
		{"first item", "item 0 is an item, not the whole", &InputError{Index: 0, Reason: "weight 0 is below 1"},
			"knapsack: item 0: weight 0 is below 1"},
		{"whole", "no item is at fault", &InputError{Index: -1, Reason: "2 weights but 1 values"},
			"knapsack: 2 weights but 1 values"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.err.Error(); got != tt.want {
				t.Errorf("got %q, want %q: %s", got, tt.want, tt.why)
			}
		})
	}
}

func TestInputUnchanged(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, f := range families {
		p := f.make(r, 50, 50)
		w, v := slices.Clone(p.Weights), slices.Clone(p.Values)
		if _, err := Solve(t.Context(), p, Options{}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(w, p.Weights) || !slices.Equal(v, p.Values) {
			t.Errorf("%s: Solve wrote to its input", f.name)
		}
	}
}

// countdown is a context that ends after it has been asked a number of times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestCancellation(t *testing.T) {
	p := hard(4000, 100_000)
	for _, way := range ways {
		for asked := range 3 {
			ctx := &countdown{t.Context(), asked}
			if _, err := solve(ctx, p, way.tune); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, cancelled when asked %d times: got %v", way.name, asked, err)
			}
		}
	}
}

// TestDeadline has a long run end early: the table has 10^10 cells.
func TestDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	r := rand.New(rand.NewPCG(6, 6))
	p := Problem{Capacity: 1_000_000}
	for range 10_000 {
		v := 1 + r.Int64N(15_000)
		p.Weights, p.Values = append(p.Weights, v+1500), append(p.Values, v)
	}
	if got, err := Solve(ctx, p, Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %d items and %v", len(got), err)
	}
}

// hard makes a problem that bounds and dominance do little about.
func hard(n int, capacity int64) Problem {
	r := rand.New(rand.NewPCG(4, 4))
	p := Problem{Capacity: capacity}
	for range n {
		w := 1 + r.Int64N(1000)
		p.Weights, p.Values = append(p.Weights, w), append(p.Values, w+250)
	}
	return p
}

func FuzzSolve(f *testing.F) {
	f.Add([]byte{3, 1, 5, 2, 3, 3, 1, 4}, uint16(6), uint8(0))
	f.Add([]byte{5, 10, 3, 10}, uint16(5), uint8(0))
	f.Add([]byte{2, 5, 2, 5, 4, 10}, uint16(4), uint8(1))
	f.Add([]byte{7, 7, 7, 7, 7, 7, 7, 7, 200, 1}, uint16(21), uint8(2))
	f.Add([]byte{255, 255, 1, 1, 128, 128, 64, 65, 32, 31}, uint16(300), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, capacity uint16, scale uint8) {
		var p Problem
		p.Capacity = int64(capacity % 4096)
		for i := 0; i+1 < len(data) && i < 400; i += 2 {
			p.Weights = append(p.Weights, int64(data[i])+1)
			p.Values = append(p.Values, int64(data[i+1])<<(scale%33))
		}
		want := bitModel(p)
		for _, way := range ways {
			check(t, p, want, way.tune, way.name)
			tune := way.tune
			tune.limit = 1 << 15
			var tooLittle *LimitError
			got, err := solve(t.Context(), p, tune)
			if err == nil && !slices.Equal(got, want) || err != nil && !errors.As(err, &tooLittle) {
				t.Fatalf("%s with little memory: %v, %v, want %v", way.name, got, err, want)
			}
		}
	})
}
