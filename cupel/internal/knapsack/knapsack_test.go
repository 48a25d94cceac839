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
	name       string
	freeStates int64
	limit      int64
	giants     bool // whether sums of weights pass 2^63, and no row holds them
}

const never = math.MinInt64 / 2

var ways = []way{
	{"usual", usual.freeStates, 256 << 20, false},
	{"no search", never, 256 << 20, false},
	{"little search, 64 KiB", 8, 64 << 10, false},
	{"no search, 16 KiB", never, 16 << 10, false},
	{"no search, 6 KiB", never, 6 << 10, false},
	{"giant weights", 1 << 12, 1 << 20, true},
}

func (w way) solver(ctx context.Context) *solver {
	s := usual
	s.ctx, s.freeStates = ctx, w.freeStates
	return &s
}

// check compares the answer with the one wanted. A limit may be too small.
func (w way) check(t *testing.T, p instance, want []int) (s *solver, tooLittle *LimitError) {
	t.Helper()
	s = w.solver(t.Context())
	p.limit = w.limit
	if w.giants {
		p = p.scaled()
	}
	got, err := s.solve(p.problem())
	switch {
	case errors.As(err, &tooLittle):
		if tooLittle.Need <= w.limit {
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
	const most = math.MaxInt64
	tests := []struct {
		name string
		why  string
		p    instance
		want []int
		need int64 // of a LimitError
	}{
		{"nothing", "no items, no answer", instance{capacity: 10}, nil, 0},
		{"negative capacity", "takes nothing", instance{[]int64{1}, []int64{1}, -5, 0}, nil, 0},
		{"largest value", "is within the range", instance{[]int64{2, 1}, []int64{MaxValue, MaxValue}, 1, 0}, []int{1}, 0},
		{"all fit", "in any capacity", instance{[]int64{most - 1, 1}, []int64{1, 1}, most, 0}, []int{1, 0}, 0},
		{"too wide", "for a row of any memory", instance{[]int64{most, most - 1, 9}, []int64{3, 2, 3}, most, most}, nil, 16 * (1<<40 + 1)},
		{"limit", "a row takes half of it", instance{[]int64{7, 5, 3}, []int64{10, 7, 4}, 9, 159}, nil, 160},
		{"within the limit", "to the byte", instance{[]int64{7, 5, 3}, []int64{10, 7, 4}, 9, 160}, []int{2, 1}, 0},
	}
	for _, tt := range tests {
		var tooLittle *LimitError
		s := way{freeStates: never}.solver(t.Context())
		got, err := s.solve(tt.p.problem())
		if errors.As(err, &tooLittle) != (tt.need > 0) || tooLittle != nil && tooLittle.Need != tt.need || !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, %+v, want %v, %d: %s", tt.name, got, err, tt.want, tt.need, tt.why)
		}
	}
}

// TestExhaustive tries all problems of up to three items with weights up to 3 and
// values up to 3, at all capacities.
func TestExhaustive(t *testing.T) {
	for code := range 13 * 13 * 13 { // 0 is no item
		var p instance
		var sum int64
		for ; code > 0; code /= 13 {
			if kind := code % 13; kind > 0 {
				p.weights, p.values = append(p.weights, int64(kind%3+1)), append(p.values, int64((kind-1)/3))
				sum += p.weights[len(p.weights)-1]
			}
		}
		for p.capacity = 1; p.capacity <= sum; p.capacity++ {
			want := plainTable(p)
			for _, w := range ways[:2] {
				_, _ = w.check(t, p, want)
			}
		}
	}
}

// TestSteps compares every way of solving with a model, for each family of
// problems, and holds the work of each: bounds that fix fewer items, states that
// are kept for nothing and items that are run over again without need change no
// answer, and show here.
//
// A line has the problems answered and the steps of a way, and the bytes that
// those not answered asked for. Fewer steps are welcome; more want a reason in
// the commit message.
func TestSteps(t *testing.T) {
	const name = "testdata/steps.txt"
	var b strings.Builder
	b.WriteString("# family, way: answered, steps; bytes needed by the others\n")
	for _, f := range families {
		answered, steps, need := make([]int, len(ways)), make([]int64, len(ways)), make([]int64, len(ways))
		r := rand.New(rand.NewPCG(15, uint64(len(f.name))))
		for i := range 60 {
			p := f.make(r, 6+3*i, 20+4*int64(i))
			want := plainTable(p)
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
	// Tables of several attempts, and with memory for short records.
	r := rand.New(rand.NewPCG(12, 12))
	for _, f := range families[7:10] {
		p := instance{}
		for len(p.weights) < 800 {
			p = f.make(r, 1000, 40)
		}
		p.capacity = 0
		for i, w := range p.weights {
			p.capacity += w / int64(2+i%2)
		}
		want := plainTable(p)
		for _, rows := range []int64{1e6, 17, 50} {
			s, _ := way{"bounded", never, rows * (p.capacity + 1), false}.check(t, p, want)
			fmt.Fprintf(&b, "%s, memory of %d cells: %d\n", f.name, rows, s.work)
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
	problems := []instance{{capacity: 700}, {capacity: 700}}
	for range 120 {
		w := 1 + r.Int64N(60)
		problems[0].weights, problems[0].values = append(problems[0].weights, w), append(problems[0].values, w*73/10)
		problems[1].weights, problems[1].values = append(problems[1].weights, w), append(problems[1].values, r.Int64N(300))
	}
	for i, p := range problems {
		for _, way := range ways {
			p.limit = max(way.limit, 12<<10)
			asked := func(at int) (int, error) {
				ctx := &flicker{t.Context(), 0, at}
				_, err := way.solver(ctx).solve(p.problem())
				return ctx.asked, err
			}
			all, _ := asked(0)
			for at := 1; at <= all; at++ {
				if _, err := asked(at); !errors.Is(err, context.Canceled) {
					t.Fatalf("problem %d, %s: the end at look %d of %d gave %v", i, way.name, at, all, err)
				}
			}
			if all < 2 {
				t.Errorf("problem %d, %s: %d looks", i, way.name, all)
			}
		}
	}
}

// TestValueSum has values above MaxValue, which take fewer items to pass 2^59, the
// most that sums are kept for.
func TestValueSum(t *testing.T) {
	for _, last := range []int64{maxSum/2 + 1, maxSum / 2, 1} {
		p := instance{[]int64{1, 1, 2}, []int64{maxSum / 2, last, 1}, 2, 1 << 10}
		got, err := Solve(t.Context(), p.problem())
		if tooMuch := last > maxSum/2; tooMuch != (err != nil) || !tooMuch && !slices.Equal(got, []int{1, 0}) {
			t.Errorf("half of 2^59 and %d: got %v, %v", last, got, err)
		}
	}
}
