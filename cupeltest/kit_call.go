package cupeltest

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// An input is a list and, for slicers, a budget.
type input struct {
	name   string
	list   []cupel.ScoredItem
	budget cupel.SliceBudget
}

// long reports whether a list is too long for many calls.
func (in input) long() bool { return len(in.list) > 100 }

// given is the memory that a strategy gets for a call. Scorers get items.
type given struct {
	scored []cupel.ScoredItem
	items  []*cupel.ContextItem
	budget cupel.SliceBudget
}

// junk fills memory that does not belong to a strategy, or no longer does.
var junk = cupel.ScoredItem{Item: Item("junk", 1), Score: -1}

// give copies an input to memory with room after its end.
func give(in input, room int) given {
	n := len(in.list)
	g := given{make([]cupel.ScoredItem, n, n+room), make([]*cupel.ContextItem, n, n+room), in.budget}
	g.fill(append(slices.Clone(in.list), slices.Repeat([]cupel.ScoredItem{junk}, room)...))
	return g
}

// fill overwrites the memory with the beginning of a list.
func (g given) fill(list []cupel.ScoredItem) {
	scored, items := g.scored[:cap(g.scored)], g.items[:cap(g.items)]
	for i := range scored {
		scored[i], items[i] = list[i], list[i].Item
	}
}

// changed names the part of the memory that is no longer as give left it.
func (g given) changed(in input) string {
	scored, items := g.scored[:cap(g.scored)], g.items[:cap(g.items)]
	for i := range scored {
		it, what := junk, "the memory after the end of the list was written to"
		if i < len(in.list) {
			it, what = in.list[i], fmt.Sprintf("position %d holds something else after the call", i)
		}
		if !sameScored(it, scored[i]) || it.Item != items[i] {
			return what
		}
	}
	return ""
}

// A method is Score, Slice or Place of a strategy.
type method func(ctx context.Context, g given) (answer, error)

// An answer is the result of a method, or a description of the failure.
type answer struct {
	scores    []float64
	selection strategy.Selection
	order     []int
	broke     string
	err       error // the returned error, if that is the failure
}

// unwritten and a number of the call are what memory for scores holds, so that calls
// differ in a score that is not written.
const unwritten = -1e9

var lastScored atomic.Int64

func scoring(s strategy.Scorer) method {
	return func(ctx context.Context, g given) (answer, error) {
		scores := slices.Repeat([]float64{unwritten - float64(lastScored.Add(1))}, len(g.items))
		return answer{scores: scores}, s.Score(ctx, g.items, scores)
	}
}

func slicing(s strategy.Slicer) method {
	return func(ctx context.Context, g given) (answer, error) {
		selection, err := s.Slice(ctx, g.scored, g.budget)
		return answer{selection: selection}, err
	}
}

func placing(p strategy.Placer) method {
	return func(ctx context.Context, g given) (answer, error) {
		order := make([]int, len(g.scored))
		for i := range order {
			order[i] = i
		}
		return answer{order: order}, p.Place(ctx, g.scored, order)
	}
}

// clone copies what the strategy might change.
func (a answer) clone() answer {
	s := &a.selection
	a.scores, a.order, s.Indices = slices.Clone(a.scores), slices.Clone(a.order), slices.Clone(s.Indices)
	s.Smaller, s.Drops, s.Shortfalls = slices.Clone(s.Smaller), slices.Clone(s.Drops), slices.Clone(s.Shortfalls)
	return a
}

// A call is an input with a strategy's answer.
type call struct {
	in     input
	memory given
	out    answer // as the strategy returned it
	copy   answer
}

// on runs a method.
func (k *kit) on(ctx context.Context, run method, g given) (out answer) {
	defer func() {
		if v := recover(); v != nil {
			out = answer{broke: fmt.Sprintf("panic: %v", v)}
		}
	}()
	out, err := run(ctx, g)
	if err != nil {
		return answer{broke: fmt.Sprintf("the error %q", err.Error()), err: err}
	}
	return out
}

// call runs a method as the engine does: on a list whose memory is overwritten
// after the call. The answer is a copy.
func (k *kit) call(ctx context.Context, run method, in input) answer {
	g := give(in, 0)
	out := k.on(ctx, run, g).clone()
	g.fill(slices.Repeat([]cupel.ScoredItem{junk}, len(in.list)))
	return out
}

// alone runs a method of a new strategy.
func (k *kit) alone(in input) answer { return k.call(context.Background(), k.start(), in) }

// eachAlone runs each input with a strategy of its own.
func (k *kit) eachAlone(inputs []input) map[string]answer {
	out := make(map[string]answer)
	for _, in := range inputs {
		out[in.name] = k.alone(in)
	}
	return out
}

// all returns the inputs of a generation, without those that fail or take
// long.
func (k *kit) all(g generation) []input {
	return slices.DeleteFunc(k.inputs(g), func(in input) bool { return k.slow[in.name] > 0 })
}

// cold returns them without the longest lists, which take long to make.
func (k *kit) cold(g generation) []input {
	g.most = 301
	return k.all(g)
}

// short returns inputs for many calls.
func (k *kit) short(g generation) []input {
	g.most = 65
	return k.all(g)
}

// ofAll returns a rule's check of the first answer for each input.
func ofAll(check func(k *kit, in input, out answer) string) func(*kit) string {
	return func(k *kit) string {
		for _, c := range k.first {
			if c.copy.broke != "" {
				continue // another rule's
			}
			if found := check(k, c.in, c.copy); found != "" {
				return c.in.name + ": " + found
			}
		}
		return ""
	}
}

// compare describes how two answers differ. A pipeline merges selections by score,
// so that the order within a selection does not count.
func compare(a, b answer) string {
	switch {
	case a.broke == b.broke && a.broke != "":
		return ""
	case a.broke != "":
		return a.broke + ", then a result"
	case b.broke != "":
		return "a result, then " + b.broke
	}
	for i, was := range a.scores {
		if is := b.scores[i]; !sameScore(was, is) {
			return fmt.Sprintf("item %d scores %s, then %s", i+1, score(was), score(is))
		}
	}
	x, y := a.selection, b.selection
	for _, lists := range [][2][]int{{a.order, b.order}, {slices.Sorted(slices.Values(x.Indices)), slices.Sorted(slices.Values(y.Indices))}} {
		if !slices.Equal(lists[0], lists[1]) {
			return "positions " + differentPositions(lists[0], lists[1])
		}
	}
	for _, parts := range [][3]any{{"smaller forms", x.Smaller, y.Smaller}, {"drops", x.Drops, y.Drops}, {"shortfalls", x.Shortfalls, y.Shortfalls}} {
		if was, is := fmt.Sprint(parts[1]), fmt.Sprint(parts[2]); was != is {
			return fmt.Sprintf("%s %s, then %s", parts[0], was, is)
		}
	}
	return ""
}

// differentPositions shows where two lists of positions begin to differ.
func differentPositions(a, b []int) string {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	return fmt.Sprintf("from index %d on %s, then %s", at, shown(a[at:]), shown(b[at:]))
}

// shown returns the first positions of a list.
func shown(positions []int) string {
	const most = 10
	if more := len(positions) - most; more > 0 {
		return fmt.Sprintf("%v and %d more", positions[:most], more)
	}
	return fmt.Sprint(positions)
}
