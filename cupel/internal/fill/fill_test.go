package fill_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel/internal/fill"
)

// given is a unit: where it is, and what it may become.
type given struct {
	state fill.Point
	forms []fill.Point
}

var out = fill.Point{Form: fill.Out}

func form(n int32, tokens int, value float64) fill.Point {
	return fill.Point{Form: n, Tokens: tokens, Value: value}
}

func unit(state fill.Point, forms ...fill.Point) given { return given{state, forms} }

func load(units []given) *fill.Fill {
	f := fill.New()
	for _, u := range units {
		f.Add(u.state)
		for _, p := range u.forms {
			f.Point(p)
		}
	}
	return f
}

func states(f *fill.Fill, n int) []fill.Point {
	var all []fill.Point
	for i := range n {
		all = append(all, f.State(i))
	}
	return all
}

func TestRun(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, tt := range []struct {
		name  string
		left  int
		units []given
		want  []int32 // forms
		why   string
	}{
		{"nothing", 9, nil, nil, "there are no units"},
		{"no forms", 9, []given{unit(out)}, []int32{fill.Out}, "a unit without forms stays out"},
		{"just fits", 5, []given{unit(out, form(0, 5, 1))}, []int32{0}, "the last token may be spent"},
		{"just does not fit", 4, []given{unit(out, form(0, 5, 1))}, []int32{fill.Out}, "one token is missing"},
		{"free", 0, []given{unit(out, form(0, 0, 1))}, []int32{0}, "a form without tokens needs none"},
		{"below nothing", -1, []given{unit(out, form(0, 0, 1))}, []int32{fill.Out}, "what is selected exceeds the target"},
		{"worthless", 5, []given{unit(out, form(0, 5, 0))}, []int32{0}, "a value of 0 counts"},
		{"free and worthless", 0, []given{unit(out, form(0, 0, 0))}, []int32{0}, "it costs nothing"},
		{"negative", 5, []given{unit(out, form(0, 5, -1))}, []int32{fill.Out}, "negative values are never taken"},
		{"not a number", 5, []given{unit(out, form(0, 5, nan), form(1, 3, 1))}, []int32{1}, "NaN is never taken"},
		{"infinite", 5, []given{unit(out, form(0, 5, 1)), unit(out, form(0, 5, inf))}, []int32{fill.Out, 0}, "it has the greater rate"},
		{"by rate", 5, []given{unit(out, form(0, 5, 6)), unit(out, form(0, 3, 5))}, []int32{fill.Out, 0}, "5 of 3 tokens is more than 6 of 5"},
		{"equal rates", 5, []given{unit(out, form(0, 4, 4)), unit(out, form(0, 3, 3))}, []int32{0, fill.Out}, "the first unit comes first"},
		{"grows", 3, []given{unit(form(1, 2, 2), form(0, 5, 4), form(1, 2, 2))}, []int32{0}, "only the difference is spent"},
		{"does not grow", 2, []given{unit(form(1, 2, 2), form(0, 5, 4))}, []int32{1}, "the difference is 3"},
		{"does not shrink", 9, []given{unit(form(0, 5, 2), form(1, 2, 4), form(2, 5, 4))}, []int32{0}, "only forms with more tokens are larger"},
		{"no loss", 9, []given{unit(form(1, 2, 4), form(0, 5, 3))}, []int32{1}, "a larger form of less value is none"},
		{"no gain", 9, []given{unit(form(1, 2, 4), form(0, 5, 4))}, []int32{0}, "a step that gains nothing comes last, but comes"},
		{"no gain, beside another", 3, []given{unit(form(1, 2, 4), form(0, 5, 4)), unit(out, form(0, 2, 1))}, []int32{1, 0}, "a step that gains nothing comes last"},
		{"of equal tokens", 5, []given{unit(out, form(0, 5, 1), form(1, 5, 2))}, []int32{1}, "the greater value counts"},
		{"of equal tokens and values", 5, []given{unit(out, form(1, 5, 2), form(0, 5, 2))}, []int32{0}, "the lower form counts"},
		{"hull", 6, []given{unit(out, form(2, 2, 8), form(1, 4, 9), form(0, 6, 12)), unit(out, form(0, 2, 1.8))}, []int32{0, fill.Out}, "form 1 is below the hull: from form 2 to form 0 a token is worth 1, and 0.9 in the other unit"},
		{"hull, of three", 4, []given{unit(out, form(2, 1, 1), form(1, 2, 1.5), form(0, 4, 8))}, []int32{0}, "the whole is worth more for a token than each part before it"},
		{"edge", 2, []given{unit(out, form(2, 1, 1), form(1, 2, 2), form(0, 3, 3))}, []int32{1}, "points on an edge of the hull stay"},
		{"what the hull left", 3, []given{unit(out, form(1, 3, 1), form(0, 4, 9)), unit(out, form(0, 1, 10))}, []int32{fill.Out, 0}, "form 1 does not fit the two tokens left"},
		{"what the hull left fits", 4, []given{unit(out, form(1, 3, 1), form(0, 4, 9)), unit(out, form(0, 1, 10))}, []int32{1, 0}, "form 0 does not fit the three tokens left, and form 1 does"},
		{"what the hull left, twice", 6, []given{unit(out, form(1, 3, 1), form(0, 6, 9)), unit(out, form(1, 3, 1), form(0, 6, 9)), unit(out, form(0, 1, 10))}, []int32{1, fill.Out, 0}, "the first spends the tokens that the second would need"},
		{"huge", math.MaxInt, []given{unit(out, form(0, math.MaxInt, 1)), unit(out, form(0, 1, 1))}, []int32{fill.Out, 0}, "costs do not wrap"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := load(tt.units)
			defer f.Free()
			f.Run(tt.left)
			var got []int32
			for _, p := range states(f, len(tt.units)) {
				got = append(got, p.Form)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got forms %v, want %v: %s", got, tt.want, tt.why)
			}
		})
	}
}

func TestValue(t *testing.T) {
	for _, tt := range []struct {
		score, worth, want float64
		why                string
	}{
		{0.5, 0.5, 0.25, "a share of the score"},
		{-2, 0.5, -1, "a negative score too"},
		{math.Inf(1), 1, math.MaxFloat64, "+Inf counts as the largest finite number"},
		{math.Inf(1), 0, 0, "and not as NaN"},
		{math.Inf(1), 0.5, math.MaxFloat64 / 2, "so that smaller forms are worth less"},
	} {
		if got := fill.Value(tt.score, tt.worth); got != tt.want {
			t.Errorf("Value(%g, %g) = %g, want %g: %s", tt.score, tt.worth, got, tt.want, tt.why)
		}
	}
}

// TestRunDoesAsTheChapterSays compares with the pseudocode of the Units chapter on
// small random units, a second call from changed states included.
func TestRunDoesAsTheChapterSays(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 11))
	random := func(n int32) fill.Point {
		value := float64(r.IntN(12) - 1)
		switch r.IntN(20) {
		case 0:
			value = math.NaN()
		case 1:
			value = math.MaxFloat64
		}
		return form(n, r.IntN(9), value)
	}
	changed := 0
	for range 4000 {
		units := make([]given, r.IntN(5))
		for i := range units {
			for n := range int32(r.IntN(6)) {
				units[i].forms = append(units[i].forms, random(n))
			}
			units[i].state = out
			if n := len(units[i].forms); n > 0 && r.IntN(3) == 0 {
				units[i].state = units[i].forms[r.IntN(n)]
			}
		}
		var before []fill.Point
		for _, u := range units {
			before = append(before, u.state)
		}
		f := load(units)
		for range 2 {
			left := r.IntN(25) - 1
			want := model(units, slices.Clone(before), left)
			f.Run(left)
			got := states(f, len(units))
			if !slices.EqualFunc(got, want, func(a, b fill.Point) bool { return a.Form == b.Form && a.Tokens == b.Tokens }) {
				t.Fatalf("units %v in states %v with %d tokens: got %v, want %v", units, before, left, got, want)
			}
			if !slices.EqualFunc(got, before, func(a, b fill.Point) bool { return a.Form == b.Form }) {
				changed++
			}
			for i := range units { // start again, one unit in
				before[i] = out
				if forms := units[i].forms; len(forms) > 0 && i == len(units)-1 {
					before[i] = forms[0]
				}
				f.Set(i, before[i])
			}
		}
		f.Free()
	}
	if changed < 2000 {
		t.Errorf("only %d runs changed a unit", changed)
	}
}

// model is FILL of the chapter, line by line.
func model(units []given, state []fill.Point, left int) []fill.Point {
	rate := func(a, b fill.Point) float64 {
		if a.Tokens == b.Tokens {
			return math.Inf(1)
		}
		return (b.Value - a.Value) / float64(b.Tokens-a.Tokens)
	}
	points := func(u int) []fill.Point {
		from := state[u]
		var fit []fill.Point
		for _, p := range units[u].forms {
			if (from.Form == fill.Out || p.Tokens > from.Tokens) && p.Tokens-from.Tokens <= left && p.Value >= from.Value && p.Value >= 0 {
				fit = append(fit, p)
			}
		}
		slices.SortStableFunc(fit, func(a, b fill.Point) int {
			return cmp.Or(cmp.Compare(a.Tokens, b.Tokens), cmp.Compare(b.Value, a.Value))
		})
		var kept []fill.Point
		for i, p := range fit {
			if !slices.ContainsFunc(fit[:i], func(q fill.Point) bool { return q.Tokens == p.Tokens || q.Value > p.Value }) {
				kept = append(kept, p)
			}
		}
		return kept
	}
	type step struct {
		unit int
		a, b fill.Point
	}
	var steps []step
	for u := range units {
		hull := []fill.Point{state[u]}
		for _, p := range points(u) {
			for n := len(hull); n >= 2 && rate(hull[n-2], hull[n-1]) < rate(hull[n-1], p); n = len(hull) {
				hull = hull[:n-1]
			}
			hull = append(hull, p)
		}
		for i, b := range hull[1:] {
			steps = append(steps, step{u, hull[i], b})
		}
	}
	slices.SortStableFunc(steps, func(x, y step) int { return cmp.Compare(rate(y.a, y.b), rate(x.a, x.b)) })
	for _, s := range steps {
		if cost := s.b.Tokens - s.a.Tokens; state[s.unit].Form == s.a.Form && cost <= left {
			state[s.unit] = s.b
			left -= cost
		}
	}
	for u := range units {
		list := points(u)
		if len(list) == 0 {
			continue
		}
		best := list[0]
		for _, p := range list {
			if p.Value > best.Value {
				best = p
			}
		}
		if best.Value > state[u].Value || state[u].Form == fill.Out {
			left -= best.Tokens - state[u].Tokens
			state[u] = best
		}
	}
	return state
}
