// Package fill spends tokens on forms of units, for the left-over pass and for
// the first answer of the multiple-choice knapsack. It is FILL of the Units
// chapter.
package fill

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/wollax/cupel-go/cupel/internal/order"
)

// Out is the form of a unit that is not selected. It has no tokens and no
// value.
const Out = -1

// Point is a form that a unit has or may take.
type Point struct {
	Form   int32 // from 0, or Out
	Tokens int   // at least 0
	Value  float64
}

// Value returns the value of a form: its share of the score. A score of +Inf
// counts as the largest finite number.
func Value(score, worth float64) float64 { return float64(min(score, math.MaxFloat64) * worth) }

// Fill is the state of one call. Get it with [New].
type Fill struct {
	units  []unit
	points []Point // unit by unit
	steps  []step
	order  []order.Pair // of steps
	usable []Point      // of one unit
	stack  []Point      // of the hull of one unit, from its current state on
}

// unit is a unit that takes part.
type unit struct {
	state    Point
	from, to int // in points
}

// step leads from one form of a unit to a larger one.
type step struct {
	unit int
	from int32 // form
	to   Point
	cost int // in tokens
}

var pool = sync.Pool{New: func() any { return new(Fill) }}

// New returns an empty Fill with reused memory.
func New() *Fill {
	f := pool.Get().(*Fill)
	f.units, f.points = f.units[:0], f.points[:0]
	return f
}

// Free makes the memory available to New.
func (f *Fill) Free() { pool.Put(f) }

// Add adds a unit in its current state. Add its points next, with [Fill.Point].
// Add units in the order of their positions.
func (f *Fill) Add(state Point) {
	f.units = append(f.units, unit{state, len(f.points), len(f.points)})
}

// Point adds a form to the last unit added. A negative or NaN value is never
// taken. Among equal tokens and values, the lower form is used.
func (f *Fill) Point(p Point) {
	if !(p.Value >= 0) {
		return
	}
	f.points = append(f.points, p)
	f.units[len(f.units)-1].to = len(f.points)
}

// State returns the state of a unit, numbered in the order of Add.
func (f *Fill) State(unit int) Point { return f.units[unit].state }

// Set changes the state of a unit.
func (f *Fill) Set(unit int, state Point) { f.units[unit].state = state }

// Run improves the states, spending at most left tokens, until nothing more
// fits. It returns the tokens that are left then. It takes O(n log n) for n points.
func (f *Fill) Run(left int) int {
	f.steps, f.order = f.steps[:0], f.order[:0]
	for i := range f.units {
		u := &f.units[i]
		slices.SortFunc(f.points[u.from:u.to], comparePoints)
		f.addSteps(i, left)
	}
	order.SortDescending(f.order) // of equal rates by unit, then by tokens: steps come in that order
	for _, o := range f.order {
		s := &f.steps[o.Index]
		if u := &f.units[s.unit]; u.state.Form == s.from && s.cost <= left {
			u.state = s.to
			left -= s.cost
		}
	}
	for i := range f.units { // spend what the hull left unused
		u := &f.units[i]
		best := u.state
		for _, p := range f.pointsOf(u, left) {
			if p.Value > best.Value || best.Form == Out {
				best = p
			}
		}
		left -= best.Tokens - u.state.Tokens
		u.state = best
	}
	return left
}

// comparePoints is the order of a unit's points: by tokens, then by value, greatest
// first, then by form.
func comparePoints(a, b Point) int {
	return cmp.Or(cmp.Compare(a.Tokens, b.Tokens), cmp.Compare(b.Value, a.Value), cmp.Compare(a.Form, b.Form))
}

// pointsOf is POINTS: what a unit may become with left more tokens.
func (f *Fill) pointsOf(u *unit, left int) []Point {
	f.usable = f.usable[:0]
	var last Point
	for _, p := range f.points[u.from:u.to] {
		if p.Tokens-u.state.Tokens > left { // tokens are at least 0, so the difference does not wrap
			break
		}
		if u.state.Form != Out && p.Tokens <= u.state.Tokens || !(p.Value >= u.state.Value) {
			continue
		}
		if len(f.usable) > 0 && (p.Tokens == last.Tokens || p.Value < last.Value) {
			continue // the last point kept has the greatest value so far
		}
		f.usable = append(f.usable, p)
		last = p
	}
	return f.usable
}

// addSteps adds the consecutive pairs of HULL.
func (f *Fill) addSteps(at, left int) {
	u := &f.units[at]
	f.stack = append(f.stack[:0], u.state)
	for _, p := range f.pointsOf(u, left) {
		n := len(f.stack)
		for n >= 2 && rateOf(f.stack[n-2], f.stack[n-1]) < rateOf(f.stack[n-1], p) {
			n--
		}
		f.stack = append(f.stack[:n], p)
	}
	for n, to := range f.stack[1:] {
		from := f.stack[n]
		f.order = append(f.order, order.Pair{Key: order.Key(rateOf(from, to)), Index: len(f.steps)})
		f.steps = append(f.steps, step{at, from.Form, to, to.Tokens - from.Tokens})
	}
}

func rateOf(a, b Point) float64 {
	if a.Tokens == b.Tokens {
		return math.Inf(1)
	}
	return (b.Value - a.Value) / float64(b.Tokens-a.Tokens)
}
