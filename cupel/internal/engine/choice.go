package engine

import (
	"cmp"
	"slices"

	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/internal/order"
)

// Choice is what a budget buys of a [Ranking]. Begin it with FitPinned; then come
// Start, Take and Drop for what the slicer chose, and Choose, with Truncate where the
// merged units are too large. Its memory is reused.
type Choice struct {
	*Ranking
	// Why asks for decisions about what is left out.
	Why bool
	// Decisions are those of Choose, from Truncated on those of Truncate.
	Decisions []Decision
	Truncated int
	// PinnedTokens are those of the pinned units in their forms.
	PinnedTokens exact.Sum
	// Merged are the pinned units, by place, and after them those that Choose took,
	// best first, without those that Truncate left out.
	Merged []Chosen

	pinnedForms []int32 // parallel to the set's pinned units
	taken       []int32 // by rank: forms
	drops       []Rank  // in the order dropped
	returned    []Chosen
}

// Chosen is a unit in the window, in some form. One with more fields would not be
// kept in registers.
type Chosen struct {
	Unit   Unit
	Form   int32 // or Returned
	Score  float64
	Tokens int // of the form
}

// Returned is the form of an older version that came back in place of a newer one.
const Returned = -1

// PinnedScore is the score of pinned units from Place on.
const PinnedScore = 1.0

// Forms of what is not taken.
const (
	left    = -1
	dropped = -2
)

// FitPinned shrinks pinned units until they fit wanted tokens, as far as it can, and
// adds up their tokens. It is FIT-PINNED of the Units chapter.
func (c *Choice) FitPinned(wanted int) {
	c.pinnedForms = filled(c.pinnedForms, len(c.pinned), 0)
	c.PinnedTokens = exact.Sum{}
	for _, at := range c.pinned {
		c.PinnedTokens.Add(c.units[at].tokens)
	}
	if !c.PinnedTokens.Greater(wanted) {
		return
	}
	var heap stepHeap
	push := func(i int) {
		at := c.pinned[i]
		if int(c.pinnedForms[i]) < len(c.Forms(at)) {
			from, to := c.form(at, c.pinnedForms[i]), c.form(at, c.pinnedForms[i]+1)
			heap.push(step{(from.Worth - to.Worth) * float64(c.units[at].tokens) / float64(from.Tokens-to.Tokens), int32(i)})
		}
	}
	for i := range c.pinned {
		push(i)
	}
	for c.PinnedTokens.Greater(wanted) && len(heap) > 0 {
		i := int(heap.pop().at)
		c.PinnedTokens.Sub(c.form(c.pinned[i], c.pinnedForms[i]).Tokens)
		c.pinnedForms[i]++
		c.PinnedTokens.Add(c.form(c.pinned[i], c.pinnedForms[i]).Tokens)
		push(i)
	}
}

// Start begins a choice from the sorted units: none is taken.
func (c *Choice) Start() {
	c.taken = filled(c.taken, len(c.sorted), left)
	c.drops = c.drops[:0]
}

// Take takes a unit in one of its forms. The older versions that may come back in
// its place have the numbers after its forms.
func (c *Choice) Take(at Rank, form int) { c.taken[at] = int32(form) }

// Drop leaves out a unit for a reason of the slicer's own.
func (c *Choice) Drop(at Rank) {
	c.taken[at] = dropped
	c.drops = append(c.drops, at)
}

// Limits are what a slicer could spend, in tokens.
type Limits struct {
	Left          int // before it chose
	Target        int // if nothing had been chosen before, as by earlier batches
	WithoutPinned int // if nothing were pinned either
}

// Choose turns what was taken into Merged and finds the reasons for the rest. It
// returns the number of candidates chosen, and false if a form does not exist.
func (c *Choice) Choose(limits Limits) (candidates int, ok bool) {
	c.returned, c.Decisions = c.returned[:0], c.Decisions[:0]
	merged := Resize(c.Merged, len(c.pinned)+len(c.taken))[:0]
	for i, at := range c.pinned {
		merged = append(merged, c.take(at, c.pinnedForms[i], PinnedScore))
	}
	for at, form := range c.taken {
		if form < 0 {
			continue
		}
		number := c.sorted[at]
		if form > 0 && int(form) > len(c.Forms(number)) {
			older := c.olderAt(number, form-int32(len(c.Forms(number)))-1)
			if older == None {
				return 0, false
			}
			c.returned = append(c.returned, Chosen{c.unitOf[older], Returned, c.scores[older], c.Tokens[older]})
			c.taken[at] = left // the unit itself is out
			candidates++
			continue
		}
		merged = append(merged, c.take(number, form, c.score[number]))
		candidates += int(c.units[number].size)
	}
	c.Merged = append(merged, c.returned...)
	if len(c.returned) > 0 {
		c.sortChosen()
	}
	if c.Why {
		c.leaveOutRest(limits)
	}
	c.Truncated = len(c.Decisions)
	return candidates, true
}

// take returns a unit in one of its forms.
func (c *Choice) take(at Unit, form int32, score float64) Chosen {
	return Chosen{at, form, score, c.form(at, form).Tokens}
}

// Chosen returns the units that Choose took, best first. Truncate overwrites it.
func (c *Choice) Chosen() []Chosen { return c.Merged[len(c.pinned):] }

// sortChosen sorts by score, and equal scores by place.
func (c *Choice) sortChosen() {
	slices.SortFunc(c.Chosen(), func(a, b Chosen) int {
		return cmp.Or(cmp.Compare(order.Key(b.Score), order.Key(a.Score)), cmp.Compare(a.Unit, b.Unit))
	})
}

// HasReturned reports whether a candidate is an older version that came back.
func (c *Choice) HasReturned(candidate Candidate) bool {
	return slices.ContainsFunc(c.returned, func(r Chosen) bool { return c.Place(r.Unit) == candidate })
}

// leaveOutRest finds the reason for each candidate that was not chosen: the
// slicer's own, the budget, or the pinned units.
func (c *Choice) leaveOutRest(limits Limits) {
	for i, at := range c.drops {
		number := c.sorted[at]
		for _, m := range c.Members(number) {
			c.Decisions = append(c.Decisions, Decision{Candidate: m, Code: Dropped, Score: c.score[number], Tokens: i})
		}
	}
	available := exact.Of(limits.Left).Minus(sumOf(c.Chosen())).Int()
	pinned := c.PinnedTokens.Greater(0)
	for at, form := range c.taken {
		if form != left {
			continue
		}
		number := c.sorted[at]
		tokens := c.units[number].tokens
		c.leaveOut(number, c.score[number], available, pinned && tokens > limits.Target && tokens <= limits.WithoutPinned)
	}
}

// leaveOut leaves out the members of a unit for want of room, or because of what is
// pinned.
func (c *Choice) leaveOut(number Unit, score float64, available int, overridden bool) {
	d := Decision{Code: OverBudget, Score: score, Available: available, Unit: None}
	switch {
	case overridden:
		d = Decision{Code: PinnedFirst, Score: score, Other: c.FirstPinned()}
	case c.units[number].group:
		d.Unit = number
	}
	for _, m := range c.Members(number) {
		if d.Candidate = m; !overridden {
			d.Tokens = c.Tokens[m]
		}
		c.Decisions = append(c.Decisions, d)
	}
}

// MergedTokens returns the tokens of pinned and chosen units.
func (c *Choice) MergedTokens() exact.Sum { return sumOf(c.Merged) }

// Truncate shrinks merged units, and then drops those that are not pinned, the last
// first to shrink and the best first to stay, until they fit the target.
//
// It is TRUNCATE-UNITS of the Units chapter. Units without tokens are no exception
// (R25).
func (c *Choice) Truncate(target int) {
	tokens := sumOf(c.Merged)
	pinned := len(c.pinned)
	for _, part := range [][]Chosen{c.Merged[pinned:], c.Merged[:pinned]} {
		for i := range part {
			c.shrink(&part[len(part)-1-i], &tokens, target)
		}
	}
	if !tokens.Greater(target) {
		return
	}
	pinnedTokens := sumOf(c.Merged[:pinned])
	running, kept := pinnedTokens, pinned
	for i := pinned; i < len(c.Merged); i++ {
		m := &c.Merged[i]
		total := running
		total.Add(m.Tokens)
		if !total.Greater(target) {
			running = total
			c.Merged[kept] = *m
			kept++
			continue
		}
		if c.Why {
			overridden := pinnedTokens.Greater(0) && !total.Minus(pinnedTokens).Greater(target)
			c.leaveOut(m.Unit, m.Score, exact.Of(target).Minus(running).Int(), overridden)
		}
	}
	c.Merged = c.Merged[:kept]
}

// shrink makes a merged unit smaller while the tokens of all exceed the target. An
// older version has no smaller form.
func (c *Choice) shrink(m *Chosen, tokens *exact.Sum, target int) {
	for m.Form != Returned && tokens.Greater(target) && int(m.Form) < len(c.Forms(m.Unit)) {
		tokens.Sub(m.Tokens)
		m.Form++
		m.Tokens = c.form(m.Unit, m.Form).Tokens
		tokens.Add(m.Tokens)
	}
}

// sumOf returns the tokens of chosen units in their forms.
func sumOf(list []Chosen) exact.Sum {
	var sum exact.Sum
	for i := range list {
		sum.Add(list[i].Tokens)
	}
	return sum
}
