package knapsack

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/steps.txt; read the difference before you commit it")

// way is a way of solving that must give the same answer as all others.
type way struct {
	name                   string
	smallTable, freeStates int64
	limit                  int64
}

const never = math.MinInt64 / 2

var ways = []way{
	{"usual", usual.smallTable, usual.freeStates, DefaultMemoryLimit},
	{"bounds", 0, usual.freeStates, DefaultMemoryLimit},
	{"no search", 0, never, DefaultMemoryLimit},
	{"little search, 64 KiB", 0, 8, 64 << 10},
	{"no search, 16 KiB", 0, never, 16 << 10},
	{"no search, 6 KiB", 0, never, 6 << 10},
	{"no bounds, 16 KiB", math.MaxInt64, never, 16 << 10},
}

func (w way) solver(ctx context.Context) *solver {
	s := usual
	s.ctx, s.smallTable, s.freeStates = ctx, w.smallTable, w.freeStates
	return &s
}

// check compares the answer with the one wanted. A limit may be too small.
func (w way) check(t *testing.T, p Problem, want []int) (s *solver, tooLittle *LimitError) {
	t.Helper()
	s = w.solver(t.Context())
	p.MemoryLimit = w.limit
	got, err := s.solve(p)
	switch {
	case errors.As(err, &tooLittle):
		if tooLittle.Limit != w.limit || tooLittle.Need <= w.limit {
			t.Fatalf("%s: %#v at limit %d", w.name, tooLittle, w.limit)
		}
	case err != nil || !slices.Equal(got, want):
		t.Fatalf("%s:\n got %v, %v\nwant %v\n%+v", w.name, got, err, want, p)
	case cap(got) != len(got):
		t.Fatalf("%s: an answer of %d items has room for %d", w.name, len(got), cap(got))
	}
	return s, tooLittle
}

func TestSolve(t *testing.T) {
	tests := []struct {
		name string
		why  string
		p    Problem
		want []int
	}{
		{"nothing", "no items, no answer", Problem{Capacity: 10}, nil},
		{"negative capacity", "takes nothing",
			Problem{Weights: []int64{1}, Values: []int64{1}, Capacity: -5}, nil},
		{"zero value", "strict >: a value of 0 is never taken, even when everything fits (R16)",
			Problem{Weights: []int64{1, 1}, Values: []int64{0, 7}, Capacity: 10}, []int{1}},
		{"largest value", "is within the range",
			Problem{Weights: []int64{2, 1}, Values: []int64{MaxValue, MaxValue}, Capacity: 1}, []int{1}},
		{"all fit", "descending, as the chapter reconstructs",
			Problem{Weights: []int64{1, 2, 3}, Values: []int64{1, 1, 1}, Capacity: 6}, []int{2, 1, 0}},
		{"heavier but earlier", "capacity is there, so the earlier of equal values wins although it is heavier",
			Problem{Weights: []int64{5, 3}, Values: []int64{10, 10}, Capacity: 5}, []int{0}},
		{"two for one", "equal totals: the single last item is left out for the two before it",
			Problem{Weights: []int64{2, 2, 4}, Values: []int64{5, 5, 10}, Capacity: 4}, []int{1, 0}},
		{"one before two", "equal totals: the last of the two is left out",
			Problem{Weights: []int64{4, 2, 2}, Values: []int64{10, 5, 5}, Capacity: 4}, []int{0}},
		{"near 2^63", "sums of weights pass 2^63",
			Problem{Weights: []int64{math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 - 1}, Values: []int64{5, 6, 6}, Capacity: math.MaxInt64}, []int{1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, v := slices.Clone(tt.p.Weights), slices.Clone(tt.p.Values)
			got, err := Solve(t.Context(), tt.p)
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("got %v, %v, want %v: %s", got, err, tt.want, tt.why)
			}
			if !slices.Equal(w, tt.p.Weights) || !slices.Equal(v, tt.p.Values) {
				t.Error("Solve wrote to its input")
			}
		})
	}
}

// TestModelsAgree shows that the tie rule as worded is what the chapter's table
// does.
func TestModelsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		p := families[r.IntN(len(families)-2)].make(r, 9, 12)
		if got, want := bruteForce(p), plainTable(p); !slices.Equal(got, want) {
			t.Fatalf("tie rule: got %v, table %v\n%+v", got, want, p)
		}
	}
}

// TestExhaustive tries all problems of up to three items with weights up to 3 and
// values up to 3, at all capacities.
func TestExhaustive(t *testing.T) {
	for code := range 13 * 13 * 13 { // 0 is no item
		var p Problem
		var sum int64
		for ; code > 0; code /= 13 {
			if kind := code % 13; kind > 0 {
				p.Weights, p.Values = append(p.Weights, int64(kind%3+1)), append(p.Values, int64((kind-1)/3))
				sum += p.Weights[len(p.Weights)-1]
			}
		}
		for p.Capacity = 1; p.Capacity <= sum; p.Capacity++ {
			want := plainTable(p)
			for _, w := range ways[:3] {
				_, _ = w.check(t, p, want)
			}
		}
	}
}

// TestSteps compares every way of solving with a model, for each family of
// problems, and holds the work of each: bounds that fix fewer items, states that
// are kept for nothing and blocks that are run again without need change no
// answer, and show here.
//
// A line has the problems answered and the steps of a way, and the bytes that
// those not answered asked for. Fewer steps are welcome; more want a reason in
// the commit message.
func TestSteps(t *testing.T) {
	const name = "testdata/steps.txt"
	var b strings.Builder
	b.WriteString("# family, way: answered, steps; bytes needed by the others\n")
	for _, f := range slices.Concat(families, giants) {
		if f.why == "" {
			t.Error("a family needs a reason")
		}
		answered, steps, need := make([]int, len(ways)), make([]int64, len(ways)), make([]int64, len(ways))
		r := rand.New(rand.NewPCG(15, uint64(len(f.name))))
		for i := range 60 {
			p := f.make(r, 6+3*i, 20+4*int64(i))
			model := plainTable
			if p.Capacity > 1<<20 {
				model = bruteForce
			}
			want := model(p)
			for j, w := range ways {
				s, tooLittle := w.check(t, p, want)
				steps[j] += s.work
				if tooLittle != nil {
					need[j] += tooLittle.Need >> 1
				} else {
					answered[j]++
				}
			}
		}
		for j, w := range ways {
			fmt.Fprintf(&b, "%s, %s: %d, %d; %d\n", f.name, w.name, answered[j], steps[j], need[j])
		}
	}
	// Tables of several attempts, and with memory for few rows and short records.
	r := rand.New(rand.NewPCG(12, 12))
	for _, f := range families[7:10] {
		p := Problem{}
		for len(p.Weights) < 800 {
			p = f.make(r, 1000, 40)
		}
		p.Capacity = 0
		for i, w := range p.Weights {
			p.Capacity += w / int64(2+i%2)
		}
		want := plainTable(p)
		for _, rows := range []int64{1e6, 17, 34, 50} {
			limit := rows * (p.Capacity + 1)
			bounded, _ := way{"bounded", 0, never, limit}.check(t, p, want)
			unbounded, _ := way{"unbounded", math.MaxInt64, never, limit}.check(t, p, want)
			fmt.Fprintf(&b, "%s, memory of %d cells: %d, without bounds %d\n", f.name, rows, bounded.work, unbounded.work)
		}
	}
	if *update {
		if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("%s is not what was counted, which is\n%s", name, got)
	}
}

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
	r := rand.New(rand.NewPCG(20, 20))
	problems := []Problem{{Capacity: 700}, {Capacity: 700}}
	for range 120 {
		w := 1 + r.Int64N(60)
		problems[0].Weights, problems[0].Values = append(problems[0].Weights, w), append(problems[0].Values, w*73/10)
		problems[1].Weights, problems[1].Values = append(problems[1].Weights, w), append(problems[1].Values, r.Int64N(300))
	}
	for i, p := range problems {
		for _, way := range ways {
			p.MemoryLimit = max(way.limit, 24<<10) // a row is saved
			asked := func(at int, stride int64) (int, *solver, error) {
				ctx := &flicker{t.Context(), 0, at}
				s := way.solver(ctx)
				s.stride = stride
				_, err := s.solve(p)
				return ctx.asked, s, err
			}
			all, _, _ := asked(0, 1)
			for at := 1; at <= all; at++ {
				if _, _, err := asked(at, 1); !errors.Is(err, context.Canceled) {
					t.Fatalf("problem %d, %s: the end at look %d of %d gave %v", i, way.name, at, all, err)
				}
			}
			const stride = 2000 // more than a row takes
			if looks, s, _ := asked(0, stride); all < 2 || int64(looks-1) > s.work/stride || int64(looks-1) < s.work/stride/2 {
				t.Errorf("problem %d, %s: %d looks at a stride of 1, %d in %d steps at %d", i, way.name, all, looks, s.work, stride)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	hard := Problem{Capacity: 1 << 54}
	r := rand.New(rand.NewPCG(9, 9))
	for range 40 {
		w := 1<<49 + r.Int64N(1<<49)
		hard.Weights, hard.Values = append(hard.Weights, w), append(hard.Values, w>>10)
	}
	hard.MemoryLimit = 1
	tests := []struct {
		name string
		why  string
		p    Problem
		want string
	}{
		{"lengths", "one value for two weights", Problem{Weights: []int64{1, 1}, Values: []int64{1}},
			"knapsack: 2 weights but 1 values"},
		{"weight 0", "zero weights are taken before", Problem{Weights: []int64{1, 0}, Values: []int64{1, 1}},
			"knapsack: item 1: weight 0 is below 1"},
		{"negative value", "item 0 is an item, not the whole", Problem{Weights: []int64{1}, Values: []int64{-1}},
			"knapsack: item 0: value -1 is outside [0, 2^40]"},
		{"large value", "values are clamped to 2^40 before (R8)", Problem{Weights: []int64{1}, Values: []int64{MaxValue + 1}},
			"knapsack: item 0: value 1099511627777 is outside [0, 2^40]"},
		{"limit", "says what was needed and what to do", hard,
			"knapsack: the exact answer needs more than 17592186044432 bytes of working memory and the limit is 1: raise the limit or coarsen the weights"},
	}
	for _, tt := range tests {
		if _, err := Solve(t.Context(), tt.p); err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %v, want %q: %s", tt.name, err, tt.want, tt.why)
		}
	}
}

// TestValueSum has values above MaxValue, which take fewer items to pass 2^59, the
// most that sums are kept for.
func TestValueSum(t *testing.T) {
	for _, last := range []int64{maxSum/2 + 1, maxSum / 2, 1} {
		s := way{}.solver(t.Context())
		s.limit, s.capacity = DefaultMemoryLimit, 2
		s.lists = &lists{
			items: []item{{w: 1, v: maxSum / 2}, {w: 1, v: last, pos: 1}, {w: 2, v: 1, pos: 2}},
			taken: make([]bool, 3),
		}
		err := s.run()
		var bad *InputError
		if tooMuch := errors.As(err, &bad) && bad.Error() == "knapsack: values add up to more than 2^59"; tooMuch != (last > maxSum/2) || s.taken[2] {
			t.Errorf("half of 2^59 and %d: got %v, %v", last, s.taken, err)
		}
	}
}

func FuzzSolve(f *testing.F) {
	f.Add([]byte{3, 1, 5, 2, 3, 3, 1, 4}, uint16(6), uint8(0))
	f.Add([]byte{2, 5, 2, 5, 4, 10}, uint16(4), uint8(1))
	f.Add([]byte{7, 7, 7, 7, 7, 7, 7, 7, 200, 1}, uint16(21), uint8(2))
	f.Add([]byte{255, 255, 1, 1, 128, 128, 64, 65, 32, 31}, uint16(300), uint8(3))
	f.Add([]byte{9, 90, 8, 80, 7, 70, 6, 60, 5, 50, 4, 41, 3, 30}, uint16(29), uint8(32))
	f.Fuzz(func(t *testing.T, data []byte, capacity uint16, scale uint8) {
		p := Problem{Capacity: int64(capacity % 4096)}
		for i := 0; i+1 < len(data) && i < 400; i += 2 {
			p.Weights = append(p.Weights, int64(data[i])+1)
			p.Values = append(p.Values, int64(data[i+1])<<(scale%33))
		}
		want := plainTable(p)
		for _, w := range ways {
			_, _ = w.check(t, p, want)
		}
	})
}
