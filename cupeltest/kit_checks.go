package cupeltest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// accepted finds answers that a pipeline refuses.
func (k *kit) accepted() string {
	k.made = k.strategy()
	if err := k.accept(); err != nil {
		return err.Error()
	}
	if d, ok := k.made.(strategy.Describer); ok && d.Facts().Of == nil {
		return "Facts: Of is nil, and must be the receiver of Facts"
	}
	return ""
}

// builtIn reports whether the strategy is from package scorer or slicer. Its
// settings may make it useless.
func (k *kit) builtIn() bool {
	_, _, found := strategy.Describe(append(scorer.Descriptors(), slicer.Descriptors()...), k.made)
	return found
}

// slowCall is the time that a call may take in the rules that make many.
const slowCall = 50 * time.Millisecond

// failure runs every input for the first time. Inputs that fail are not used
// again, so that one mistake is not reported under every rule.
func (k *kit) failure() string {
	k.slow = make(map[string]time.Duration)
	found, run := "", k.start()
	for _, in := range k.inputs(nextGeneration()) {
		c := call{in: in, memory: give(in, 1)}
		took := timeOf(func() { c.out = k.on(context.Background(), run, c.memory) })
		if took > slowCall { // other work on the machine is not the strategy's fault
			took = min(took, timeOf(func() { k.alone(in) }))
		}
		if took > slowCall {
			k.slow[in.name] = took
		}
		c.copy = c.out.clone()
		k.first = append(k.first, c)
		if c.out.broke != "" && (len(in.list) == 0 || c.out.err == nil || !k.allows(c.out.err)) {
			k.slow[in.name] = 1
			found = cmp.Or(found, in.name+": "+c.out.broke)
		}
	}
	return found
}

// changesList looks at the memory of the first calls.
func (k *kit) changesList() string {
	for _, c := range k.first {
		if found := c.memory.changed(c.in); found != "" {
			return c.in.name + ": " + found
		}
	}
	for i, item := range k.items {
		if fmt.Sprint(item.Metadata()) != k.metadata[i] {
			return fmt.Sprintf("the caller's items: the metadata of item %d is changed", i+1)
		}
	}
	return ""
}

// changesResult looks at the first calls again, after those of other rules.
func (k *kit) changesResult() string {
	for _, c := range k.first {
		if diff := compare(c.copy, c.out); diff != "" {
			return c.in.name + ", its result after the call and after others: " + diff
		}
	}
	return k.changesList()
}

// varies uses a new strategy each time, often enough to expose the order of a map, and
// lists with more and more memory after their end.
func (k *kit) varies() string {
	for _, in := range k.cold(nextGeneration()) {
		first, times := k.alone(in), 6
		if in.long() {
			times = 2
		}
		for room := range times {
			again := k.on(context.Background(), k.start(), give(in, room))
			if diff := compare(first, again); diff != "" {
				return fmt.Sprintf("%s, run again with room for %d items after its end: %s", in.name, room, diff)
			}
		}
	}
	return ""
}

// remembers compares what new strategies return with what one returns that has seen
// other lists.
func (k *kit) remembers() string {
	ctx, g := context.Background(), nextGeneration()
	want, run, inputs := k.eachAlone(k.all(g)), k.start(), k.all(g)
	for _, in := range slices.Concat(inputs, reversed(inputs)) {
		if diff := compare(want[in.name], k.call(ctx, run, in)); diff != "" {
			return in.name + ", run first and after other lists: " + diff
		}
	}
	// The engine reuses the memory of a list for another of the same length.
	inputs = k.short(g)
	for i, a := range inputs {
		b := inputs[(i+len(inputs)/2)%len(inputs)]
		n := min(len(a.list), len(b.list))
		a.list, b.list = a.list[:n], b.list[:n]
		want := k.call(ctx, run, b)
		memory := give(a, 0)
		k.on(ctx, run, memory)
		memory.fill(b.list)
		memory.budget = b.budget
		if diff := compare(want, k.on(ctx, run, memory)); diff != "" {
			return fmt.Sprintf("%s, in memory of its own and in that of the list before (%s): %s", b.name, a.name, diff)
		}
	}
	return k.remembersContents()
}

// remembersContents looks for memory that all strategies of a type share, keyed by
// content. Two sets of new contents show which methods do not depend on contents.
// In these, the memory shows once the lists come in another order.
func (k *kit) remembersContents() string {
	want, again := k.eachAlone(k.short(nextGeneration())), k.eachAlone(k.short(nextGeneration()))
	for name := range want {
		if compare(want[name], again[name]) != "" {
			return ""
		}
	}
	for _, in := range slices.Backward(k.short(nextGeneration())) {
		if diff := compare(want[in.name], k.alone(in)); diff != "" {
			return in.name + ", run in two orders of the lists, with other contents: " + diff
		}
	}
	return ""
}

// kitGoroutines is the number of goroutines that call a strategy concurrently.
const kitGoroutines = 4

// racesItself has several goroutines make the first calls of a strategy, each with
// another list. It finds the expected results afterwards, since finding them fills
// shared caches.
func (k *kit) racesItself() string {
	g := nextGeneration()
	run, inputs := k.start(), k.cold(g)
	results := make([][kitGoroutines]answer, len(inputs))
	var group sync.WaitGroup
	for n := range kitGoroutines {
		group.Go(func() {
			for i := range inputs {
				at := (i + n*len(inputs)/kitGoroutines) % len(inputs)
				results[at][n] = k.call(context.Background(), run, inputs[at])
			}
		})
	}
	group.Wait()
	want := k.eachAlone(k.cold(g))
	for i, in := range inputs {
		for _, out := range results[i] {
			if diff := compare(want[in.name], out); diff != "" {
				return in.name + ", run alone and in several goroutines: " + diff
			}
		}
	}
	return ""
}

// unlikeScores finds an item that has two scores.
func unlikeScores(_ *kit, in input, out answer) string {
	first := make(map[*cupel.ContextItem]int)
	for i, it := range in.list {
		at, again := first[it.Item]
		if again && !sameScore(out.scores[at], out.scores[i]) {
			return fmt.Sprintf("item %d scores %s, and as item %d %s", at+1, score(out.scores[at]), i+1, score(out.scores[i]))
		}
		first[it.Item] = i
	}
	return ""
}

// notNumbers looks for a NaN that nothing explains.
func (k *kit) notNumbers() string {
	for _, c := range k.first {
		if i := slices.IndexFunc(c.copy.scores, math.IsNaN); i >= 0 && c.in.name != hostileFields {
			return fmt.Sprintf("%s: item %d scores NaN", c.in.name, i+1)
		}
	}
	return ""
}

// tellsNothing looks for a list with two scores.
func (k *kit) tellsNothing() string {
	for _, c := range k.first {
		if scores := c.copy.scores; len(scores) > 0 && slices.Min(scores) != slices.Max(scores) {
			return ""
		}
	}
	if k.builtIn() {
		return ""
	}
	return "in every list, all items have one score"
}

func noPermutation(_ *kit, in input, out answer) string {
	placed := strategy.PlacerFunc(func(_ context.Context, _ []cupel.ScoredItem, order []int) error {
		copy(order, out.order)
		return nil
	})
	return contractText(strategy.CallPlacer(context.Background(), placed, in.list, make([]int, len(in.list))))
}

// unstable uses items that differ only in a few values. Equal items must have rising
// or falling scores, be selected first or last, and be placed in order, in reverse,
// or in one direction and then the other, as around the middle of a window.
func (k *kit) unstable() string {
	g := nextGeneration()
	items, kinds := make([]*cupel.ContextItem, 200), []cupel.ContextKind{cupel.KindDocument, cupel.KindMessage, "Sketch"}
	for i := range items {
		level := i % 3
		items[i] = g.item("alike"+strings.Repeat(" again", level), 10+level, cupel.WithKind(kinds[level]), cupel.WithSource(cupel.ContextSource(kinds[level])),
			cupel.WithTags([]string{"a", "b"}[:level]...), cupel.WithPriority(level), cupel.WithFutureRelevanceHint(float64(level)/2), cupel.WithTimestamp(time.Unix(int64(level), 0)))
	}
	most := 0
	if k.role == placers {
		most = 1
	}
	for _, levels := range []int{1, 2} {
		in := input{list: scored(items, func(i int) float64 { return float64(i%levels) / 4 }), budget: budgetOf(600)}
		alike := make(map[string][]float64) // by score and size, in the order of the result
		for i, value := range k.values(in, k.alone(in)) {
			it := in.list[i]
			if k.role == placers {
				it = in.list[int(value)]
			}
			key := fmt.Sprint(it.Score, it.Item.Tokens())
			alike[key] = append(alike[key], value)
		}
		for _, values := range alike {
			if turns(values) > most {
				return fmt.Sprintf("200 items: %d of them are alike in every field, and come in no order", len(values))
			}
		}
	}
	return ""
}

// values returns the decisions of a strategy: scores, 1 for a selected position
// and 0 for the others, or positions in their new order.
func (k *kit) values(in input, out answer) []float64 {
	values := slices.Clone(out.scores)
	for at := range in.list {
		switch {
		case k.role == slicers:
			values = append(values, float64(min(1, 1+formIn(out.selection, at))))
		case k.role == placers && noPermutation(k, in, out) == "":
			values = append(values, float64(out.order[at]))
		}
	}
	return values
}

// turns counts how often values turn from rising to falling or back.
func turns(values []float64) (n int) {
	last := 0
	for i := 1; i < len(values); i++ {
		if way := cmp.Compare(values[i], values[i-1]); way != 0 {
			if last == -way {
				n++
			}
			last = way
		}
	}
	return n
}

// circles asks for the preferred item of each pair, by the order in which they are
// placed, or by which one is selected if only one fits. Slicers around others may
// prefer one kind to another.
func (k *kit) circles() string {
	if strategy.FactsOf(k.made).Slicers != nil {
		return ""
	}
	items, steps := mixedItems(nextGeneration(), 24), []time.Duration{20 * time.Second, 20 * time.Minute, 20 * time.Hour}
	for i, item := range items {
		var opts []cupel.ItemOption
		if i%4 != 1 { // the others may have no time
			opts = append(opts, cupel.WithTimestamp(time.Unix(0, 0).Add(time.Duration(i)*steps[i/8])))
		}
		if k.role == slicers {
			opts = append(opts, cupel.WithContent(item.Content(), 100+i*5%8*7))
		}
		items[i] = must(item.With(opts...))
	}
	list := scored(items, func(i int) float64 { return float64(i*7%5) / 5 })
	run, n := k.start(), len(list)
	preferred := make(map[[2]int]bool)
	for i := range list {
		for j := i + 1; j < n; j++ {
			pair := input{list: []cupel.ScoredItem{list[i], list[j]}, budget: budgetOf(max(list[i].Item.Tokens(), list[j].Item.Tokens()))}
			out := k.call(context.Background(), run, pair)
			if chosen := append(out.order, out.selection.Indices...); len(chosen) > 0 && (k.role == placers || len(chosen) == 1) {
				preferred[[2]int{i, j}], preferred[[2]int{j, i}] = chosen[0] == 0, chosen[0] == 1
			}
		}
	}
	for i := range n * n * n {
		a, b, c := i/n/n, i/n%n, i%n
		if preferred[[2]int{a, b}] && preferred[[2]int{b, c}] && preferred[[2]int{c, a}] {
			return fmt.Sprintf("lists of two items: %s comes before %s, that before %s, and that before the first",
				describeItem(list[a].Item, quote), describeItem(list[b].Item, quote), describeItem(list[c].Item, quote))
		}
	}
	return ""
}
