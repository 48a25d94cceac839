package knapsack

import (
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

// TestSteps holds the work of every way of solving, counted, for each family of
// problems: bounds that fix fewer items, states that are kept for nothing and
// blocks that are run again without need change no answer, and show here.
//
// A line has the problems answered, the steps and the items left to the core of
// each way, and the bytes that those not answered asked for. Fewer steps are
// welcome; more want a reason in the commit message.
func TestSteps(t *testing.T) {
	const name = "testdata/steps.txt"
	var b strings.Builder
	b.WriteString("# family, way: answered, steps, items left; bytes needed by the others\n")
	for _, f := range slices.Concat(families, giants) {
		for _, way := range stepWays {
			r := rand.New(rand.NewPCG(15, uint64(len(f.name))))
			var sum counts
			for i := range 24 {
				p := f.make(r, 10+3*i, 20+5*int64(i))
				if p.Capacity > 1<<20 && (way.tune.method == byPlainTable || way.tune.method == byCoreTable) {
					continue
				}
				sum.add(t, p, way.tune)
			}
			fmt.Fprintf(&b, "%s, %s: %d, %d, %d; %d\n", f.name, way.name, sum.answered, sum.steps, sum.left, sum.need)
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
	got, lines := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(lines)) {
		if i >= len(got) || i >= len(lines) || got[i] != lines[i] {
			t.Fatalf("line %d of %s is not what was counted:\n got %q\nwant %q", i+1, name, got[min(i, len(got)-1)], lines[min(i, len(lines)-1)])
		}
	}
}

// counts is what a number of problems took.
type counts struct {
	answered    int
	steps, left uint64
	need        int64
}

// add solves p and compares the answer with the model's.
func (c *counts) add(t *testing.T, p Problem, tune tuning) {
	t.Helper()
	s := &solver{ctx: t.Context(), tune: tune, capacity: p.Capacity}
	err := s.solve(p, new(scratch))
	c.steps += s.work
	c.left += uint64(len(s.items))
	var tooLittle *LimitError
	switch {
	case errors.As(err, &tooLittle):
		if tooLittle.Limit != tune.limit || tooLittle.Need <= tune.limit {
			t.Errorf("%#v at limit %d", tooLittle, tune.limit)
		}
		c.need += tooLittle.Need
	case err != nil:
		t.Error(err)
	default:
		c.answered++
		if p.Capacity <= 1<<20 {
			if want := bitModel(p); !slices.Equal(s.answer(), want) {
				t.Errorf("got %v, want %v\n%+v", s.answer(), want, p)
			}
		} else if want := bruteForce(p); !slices.Equal(s.answer(), want) {
			t.Errorf("got %v, want %v\n%+v", s.answer(), want, p)
		}
	}
}

var stepWays = []struct {
	name string
	tune tuning
}{
	{"usual", tuned(DefaultMemoryLimit, automatic)},
	{"small", tuning{limit: DefaultMemoryLimit, thresholds: small}},
	{"small, 16 KiB", tuning{limit: 16 << 10, thresholds: small}},
	{"small, 4 KiB", tuning{limit: 4 << 10, thresholds: small}},
	{"small, 1 KiB", tuning{limit: 1 << 10, thresholds: small}},
	{"plain table", tuned(DefaultMemoryLimit, byPlainTable)},
	{"table", tuning{limit: DefaultMemoryLimit, method: byCoreTable, thresholds: small}},
	{"table, 8 KiB", tuning{limit: 8 << 10, method: byCoreTable, thresholds: small}},
	{"table, 4 KiB", tuning{limit: 4 << 10, method: byCoreTable, thresholds: small}},
	{"lists", tuned(DefaultMemoryLimit, byCoreFrontier)},
	{"lists, 32 KiB", tuned(32<<10, byCoreFrontier)},
	{"lists, 8 KiB", tuned(8<<10, byCoreFrontier)},
	{"dominance", tuned(DefaultMemoryLimit, byCoreFrontierAfterDominance)},
	{"dominance, 4 KiB", tuned(4<<10, byCoreFrontierAfterDominance)},
}

// giants are families whose numbers no table holds, and whose products need more
// than 64 bits.
var giants = []family{
	{"giant weights", "sums of weights pass 2^63",
		func(r *rand.Rand, n int, _ int64) Problem {
			p := Problem{Capacity: math.MaxInt64 - r.Int64N(1<<r.IntN(63))}
			shift := r.IntN(6)
			for range 1 + min(n, 12) {
				p.Weights = append(p.Weights, 1+r.Int64N(math.MaxInt64>>shift))
				p.Values = append(p.Values, r.Int64N(MaxValue+1))
			}
			return p
		}},
	{"giant weights, few values", "ties among giants",
		func(r *rand.Rand, n int, _ int64) Problem {
			p := Problem{Capacity: math.MaxInt64 - r.Int64N(1<<r.IntN(63))}
			for range 1 + min(n, 12) {
				p.Weights = append(p.Weights, 1<<60+r.Int64N(1<<40))
				p.Values = append(p.Values, 1+r.Int64N(3))
			}
			return p
		}},
	{"giant weights, one density", "subset sums that no bit set holds",
		func(r *rand.Rand, n int, _ int64) Problem {
			p := Problem{Capacity: 1 << 62}
			for range 1 + min(n, 10) {
				v := 1 + r.Int64N(MaxValue)
				p.Weights, p.Values = append(p.Weights, v<<20), append(p.Values, v)
			}
			return p
		}},
	{"giant weights, almost one density", "gaps of more than 61 bits",
		func(r *rand.Rand, n int, _ int64) Problem {
			p := Problem{Capacity: 1 << 60}
			for range 1 + min(n, 12) {
				w := 1<<54 + r.Int64N(1<<58)
				p.Weights, p.Values = append(p.Weights, w), append(p.Values, w>>19+r.Int64N(1<<20))
			}
			return p
		}},
}
