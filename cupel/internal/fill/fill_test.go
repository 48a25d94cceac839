package fill

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// unitOf is a unit of a test: where it is, and what it may become.
type unitOf struct {
	state Point
	forms []Point
}

var out = Point{Form: Out}

func run(units []unitOf, left int) (states []Point, rest int) {
	f := New()
	defer f.Free()
	for _, u := range units {
		f.Add(u.state)
		for _, p := range u.forms {
			f.Point(p)
		}
	}
	rest = f.Run(left)
	for i := range units {
		states = append(states, f.State(i))
	}
	return states, rest
}

func TestRun(t *testing.T) {
	tests := []struct {
		why   string
		units []unitOf
		left  int
		want  []int32 // forms
	}{
		{"nothing is left", []unitOf{{out, []Point{{0, 1, 1}}}}, -1, []int32{Out}},
		{"0 tokens fit into 0", []unitOf{{out, []Point{{0, 0, 1}, {1, 1, 2}}}}, 0, []int32{0}},
		{"the best rate comes first", []unitOf{{out, []Point{{0, 10, 5}}}, {out, []Point{{0, 10, 6}}}}, 10, []int32{Out, 0}},
		{"of equal rates the first unit", []unitOf{{out, []Point{{0, 10, 5}}}, {out, []Point{{0, 10, 5}}}}, 10, []int32{0, Out}},
		{"a small form first, then the next one", []unitOf{{out, []Point{{1, 10, 8}, {0, 20, 10}}}, {out, []Point{{0, 10, 5}}}}, 20, []int32{1, 0}},
		{"and the next one if it is worth it", []unitOf{{out, []Point{{1, 10, 8}, {0, 20, 14}}}, {out, []Point{{0, 10, 5}}}}, 20, []int32{0, Out}},
		{"a form below the hull is reached at the end", []unitOf{{out, []Point{{1, 10, 1}, {0, 20, 10}}}}, 15, []int32{1}},
		{"also where the hull was refused", []unitOf{{out, []Point{{0, 10, 9}}}, {out, []Point{{1, 5, 1}, {0, 10, 8}}}}, 16, []int32{0, 1}},
		{"a selected form grows", []unitOf{{Point{2, 5, 2}, []Point{{2, 5, 2}, {1, 10, 3}, {0, 20, 4}}}}, 5, []int32{1}},
		{"but does not lose value", []unitOf{{Point{2, 5, 2}, []Point{{2, 5, 2}, {1, 10, 1}}}}, 50, []int32{2}},
		{"nor shrink", []unitOf{{Point{2, 5, 2}, []Point{{2, 5, 2}, {1, 4, 9}}}}, 50, []int32{2}},
		{"nor change into one of its size", []unitOf{{Point{2, 5, 2}, []Point{{1, 5, 9}}}}, 50, []int32{2}},
		{"a negative value is never taken", []unitOf{{out, []Point{{0, 1, -1}}}}, 50, []int32{Out}},
		{"nor for one that is worth less", []unitOf{{Point{1, 1, -2}, []Point{{0, 2, -1}}}}, 50, []int32{1}},
		{"nor is NaN", []unitOf{{out, []Point{{0, 1, math.NaN()}}}}, 50, []int32{Out}},
		{"a value of 0 is, when it is out", []unitOf{{out, []Point{{0, 1, 0}}}}, 50, []int32{0}},
		{"a step without cost comes first", []unitOf{{out, []Point{{0, 10, 9}}}, {out, []Point{{1, 0, 1}, {0, 10, 8}}}}, 10, []int32{0, 1}},
		{"of equal tokens the greater value", []unitOf{{out, []Point{{0, 10, 3}, {1, 10, 4}}}}, 10, []int32{1}},
		{"of equal tokens and values the lower form", []unitOf{{out, []Point{{1, 10, 3}, {0, 10, 3}}}}, 10, []int32{0}},
		{"larger for less is no point", []unitOf{{out, []Point{{0, 20, 2}, {1, 10, 3}}}}, 50, []int32{1}},
		{"points on an edge of the hull stay", []unitOf{{out, []Point{{1, 10, 4}, {0, 20, 8}}}}, 19, []int32{1}},
		{"three rising rates are one step", []unitOf{{out, []Point{{2, 10, 1}, {1, 20, 3}, {0, 30, 9}}}, {out, []Point{{0, 10, 2}}}}, 30, []int32{0, Out}},
		{"a step without cost has the best rate", []unitOf{{Point{1, 0, 0}, []Point{{0, 10, 90}}}, {out, []Point{{0, 0, 1}}}}, 10, []int32{0, 0}},
		{"sums near the largest int", []unitOf{{out, []Point{{0, math.MaxInt, 4}}}, {out, []Point{{0, 1, 4}}}}, math.MaxInt, []int32{Out, 0}},
	}
	for _, tt := range tests {
		var got []int32
		states, rest := run(tt.units, tt.left)
		for i, p := range states {
			got = append(got, p.Form)
			rest += p.Tokens - tt.units[i].state.Tokens
		}
		if rest != tt.left {
			t.Errorf("%s: %d tokens are spent or left, want %d", tt.why, rest, tt.left)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got forms %v, want %v", tt.why, got, tt.want)
		}
	}
}

// TestSet runs twice: what was taken is given back in between.
func TestSet(t *testing.T) {
	f := New()
	defer f.Free()
	f.Add(out)
	f.Point(Point{0, 10, 5})
	f.Run(10)
	if got := f.State(0).Form; got != 0 {
		t.Fatalf("got form %d, want 0", got)
	}
	f.Set(0, out)
	if f.Run(9); f.State(0) != out {
		t.Errorf("got %v after 10 tokens were taken back and 9 given, want %v", f.State(0), out)
	}
}

func TestValue(t *testing.T) {
	for _, tt := range []struct{ score, worth, want float64 }{
		{.5, 1, .5}, {.5, .5, .25}, {-1, .5, -.5}, {math.Inf(1), 1, math.MaxFloat64}, {math.Inf(1), .5, math.MaxFloat64 / 2}, {0, .5, 0},
	} {
		if got := Value(tt.score, tt.worth); got != tt.want {
			t.Errorf("Value(%g, %g) = %g, want %g", tt.score, tt.worth, got, tt.want)
		}
	}
}

// model is FILL as the Units chapter has it.
func model(units []unitOf, left int) []Point {
	rate := func(a, b Point) float64 {
		if a.Tokens == b.Tokens {
			return math.Inf(1)
		}
		return (b.Value - a.Value) / float64(b.Tokens-a.Tokens)
	}
	points := func(u unitOf, from Point, left int) []Point {
		var all, kept []Point
		for _, p := range u.forms {
			if (p.Tokens > from.Tokens || from.Form == Out) && p.Tokens-from.Tokens <= left && p.Value >= from.Value && p.Value >= 0 {
				all = append(all, p)
			}
		}
		slices.SortFunc(all, func(a, b Point) int {
			return cmp.Or(cmp.Compare(a.Tokens, b.Tokens), cmp.Compare(b.Value, a.Value), cmp.Compare(a.Form, b.Form))
		})
		for i, p := range all {
			if !slices.ContainsFunc(all[:i], func(q Point) bool { return q.Tokens == p.Tokens || q.Value > p.Value }) {
				kept = append(kept, p)
			}
		}
		return kept
	}
	type pair struct {
		unit     int
		from, to Point
	}
	var steps []pair
	var states []Point
	for i, u := range units {
		states = append(states, u.state)
		hull := []Point{u.state}
		for _, p := range points(u, u.state, left) {
			for n := len(hull); n >= 2 && rate(hull[n-2], hull[n-1]) < rate(hull[n-1], p); n = len(hull) {
				hull = hull[:n-1]
			}
			hull = append(hull, p)
		}
		for n := 1; n < len(hull); n++ {
			steps = append(steps, pair{i, hull[n-1], hull[n]})
		}
	}
	slices.SortStableFunc(steps, func(a, b pair) int { return cmp.Compare(rate(b.from, b.to), rate(a.from, a.to)) })
	for _, s := range steps {
		if cost := s.to.Tokens - s.from.Tokens; states[s.unit] == s.from && cost <= left {
			states[s.unit] = s.to
			left -= cost
		}
	}
	for i, u := range units {
		best := states[i]
		for _, p := range points(u, states[i], left) {
			if p.Value > best.Value || best.Form == Out {
				best = p
			}
		}
		left -= best.Tokens - states[i].Tokens
		states[i] = best
	}
	return states
}

// TestRunAgainstTheModel holds Run to the model.
func TestRunAgainstTheModel(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		units := make([]unitOf, 1+r.IntN(5))
		for i := range units {
			for form := range int32(1 + r.IntN(6)) {
				units[i].forms = append(units[i].forms, Point{form, r.IntN(30), float64(r.IntN(12)-1) / 4})
			}
			units[i].state = out
			if p := units[i].forms[0]; r.IntN(3) == 0 && p.Value >= 0 {
				units[i].state = p
			}
		}
		left := r.IntN(80)
		states, _ := run(units, left)
		if want := model(units, left); !slices.Equal(states, want) {
			t.Fatalf("seed %d: got %v, want %v", seed, states, want)
		}
	}
}
