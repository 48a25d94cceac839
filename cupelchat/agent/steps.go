package agent

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupelreduce"
)

// neverWorth is the share of its worth that counts for a unit that is in the window only
// if everything else is.
const neverWorth = 1e-12

// sketchTokens is how many tokens of a unit count as known for the units
// before it.
const sketchTokens = 40

// step makes a unit larger: it puts the unit in, makes one of its parts larger, or
// makes the unit whole.
type step struct {
	at   int   // among the steps of the unit
	part *part // nil for the first step and the last one
	to   int   // tokens of the part
	cost int   // tokens
	gain float64
	rate float64 // gain for each token; never more than that of the step before
}

// plan is the way of a unit from nothing to the whole, for readings of its parts.
type plan struct {
	of     []*reading
	tokens int // of the unit
	steps  []step
	sketch string         // of the beginning
	sizes  map[string]int // of notes, in tokens
}

// plan sets the plan of a unit, which the reading of the last part keeps.
func (c *choice) plan(u *unit) {
	var last reading
	kept := &last.plan
	var of []*reading
	for _, p := range u.parts {
		kept = &p.plan
		of = append(of, p.reading)
	}
	u.plan = *kept
	if p := u.plan; p == nil || p.tokens != u.tokens || !slices.Equal(p.of, of) {
		u.plan = &plan{of, u.tokens, c.steps(u), "", map[string]int{}}
		u.plan.sketch = c.sketch(u)
		*kept = u.plan
	}
}

// steps returns the steps of a unit. Those of its parts are in the order of their rates.
func (c *choice) steps(u *unit) []step {
	first := step{cost: u.beginning(c)}
	var middle []step
	for _, p := range u.parts {
		if p.call != "" {
			first.gain += callWorth
		}
		first.cost += c.count(p.mark)
		middle = append(middle, p.steps...)
	}
	slices.SortStableFunc(middle, func(a, b step) int { return cmp.Compare(b.rate, a.rate) })
	steps := []step{first}
	last := step{gain: wholeWorth}
	spent := first.cost
	for _, s := range middle {
		if spent >= u.tokens {
			last.gain += s.gain // the unit in full takes less
			continue
		}
		spent += s.cost
		steps = append(steps, s)
	}
	last.cost = max(0, u.tokens-spent)
	steps = append(steps, last)
	pool(steps)
	for i := range steps {
		steps[i].at = i
	}
	return steps
}

// stepsTo returns the steps of a part to its sizes.
func stepsTo(p *part, sizes []cupelreduce.Size) []step {
	steps := make([]step, 0, len(sizes))
	var before cupelreduce.Size
	for _, size := range sizes {
		steps = append(steps, step{part: p, to: size.Tokens, cost: size.Tokens - before.Tokens, gain: size.Worth - before.Worth})
		before = size
	}
	pool(steps)
	return steps
}

// beginning returns the tokens of a unit that is in without any of its texts.
func (u *unit) beginning(c *choice) int {
	if u.note {
		tokens := messageTokens
		for _, p := range u.parts {
			if p.call != "" {
				tokens += c.count(label + p.call + "(…)\n")
			}
		}
		return tokens
	}
	tokens := u.tokens
	for _, p := range u.parts {
		if p.own == nil {
			tokens -= p.of.Tokens()
		} else {
			tokens += p.own[0].Tokens - c.items[p.member].Tokens()
		}
	}
	return max(0, tokens)
}

// pool gives the steps rates that never rise: steps with a higher rate than the
// steps before them share a rate with these.
func pool(steps []step) {
	type block struct {
		from int
		cost int
		gain float64
	}
	rate := func(b block) float64 { return b.gain / float64(max(1, b.cost)) }
	var blocks []block
	for i := range steps {
		next := block{i, steps[i].cost, steps[i].gain}
		for len(blocks) > 0 && rate(next) > rate(blocks[len(blocks)-1]) {
			last := blocks[len(blocks)-1]
			next = block{last.from, last.cost + next.cost, last.gain + next.gain}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, next)
	}
	end := len(steps)
	for _, b := range slices.Backward(blocks) {
		for i := b.from; i < end; i++ {
			steps[i].rate = rate(b)
		}
		end = b.from
	}
}

// taken is a step that was taken, or was begun.
type taken struct {
	*step
	unit   *unit
	before int // tokens of the part
}

// take takes the next step of a unit for at most so many tokens, and returns how many
// it took. It takes as much as fits of a step that makes a part larger.
func (c *choice) take(u *unit, s *step, room int) int {
	if u.whole || s.at != u.next || room <= 0 && s.cost > 0 {
		return 0
	}
	u.measured = false
	if s.part == nil {
		if s.cost > room {
			return 0
		}
		u.next++
		u.whole = u.next == len(u.plan.steps)
		c.taken = append(c.taken, taken{s, u, 0})
		return s.cost
	}
	cost := min(room, s.to-s.part.tokens)
	c.taken = append(c.taken, taken{s, u, s.part.tokens})
	s.part.tokens += cost
	if s.part.tokens == s.to {
		u.next++
	}
	return cost
}

// giveBack takes back the latest steps until they add up to so many tokens.
func (c *choice) giveBack(tokens int) {
	for len(c.taken) > 0 && tokens > 0 {
		t := &c.taken[len(c.taken)-1]
		less := t.cost
		if t.part != nil {
			less = t.part.tokens - t.before
		}
		if t.part != nil && less > tokens {
			t.part.tokens -= tokens
			t.unit.next, t.unit.whole, t.unit.measured = t.at, false, false
			return
		}
		tokens -= less
		c.undo(len(c.taken) - 1)
	}
}

// undo takes back all steps but the first that were taken.
func (c *choice) undo(kept int) {
	for _, t := range slices.Backward(c.taken[kept:]) {
		if t.part != nil {
			t.part.tokens = t.before
		}
		t.unit.next, t.unit.whole, t.unit.measured = t.at, false, false
	}
	c.taken = c.taken[:kept]
}

// choose decides which units are whole, and the forms of the others. The newest have
// a share of the room; the rest goes to the steps of all units, the best first. The
// order of the steps hardly depends on the room, so that more room keeps everything
// that less room kept.
func (c *choice) choose(ctx context.Context) error {
	left, err := c.inOrder(ctx, int(nearShare*float64(c.room)))
	if err != nil {
		return err
	}
	return c.fill(left)
}

// ranked is a step in the order of all.
type ranked struct {
	*step
	unit *unit
	rate float64 // with the weight of the unit
}

// inOrder puts the steps of all units in their order, the best first. It returns the tokens
// of the room that are left once the newest units have up to near of them.
func (c *choice) inOrder(ctx context.Context, near int) (left int, err error) {
	for i := range c.units {
		if u := &c.units[i]; u.whole {
			c.known.Add(c.textOf(u))
		}
	}
	left = c.room
	for i := range slices.Backward(c.units) {
		u := &c.units[i]
		switch {
		case u.pinned:
			continue
		case u.tokens <= near && !u.never:
			u.whole = true
			near, left = near-u.tokens, left-u.tokens
			c.known.Add(c.textOf(u))
			continue
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		c.read(u)
		weight := u.weight()
		if u.never {
			weight *= neverWorth
		} else if u.note {
			c.known.Add(u.plan.sketch) // so that older units do not repeat it
		}
		for i := range u.plan.steps {
			s := &u.plan.steps[i]
			if !u.never {
				used := c.take(u, s, near)
				near, left = near-used, left-used
			}
			c.order = append(c.order, ranked{s, u, s.rate * weight})
		}
		if !u.never {
			near = 0 // the others have their steps alone
		}
	}
	slices.SortFunc(c.order, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.rate, a.rate), a.unit.newer-b.unit.newer, a.at-b.at)
	})
	return left, nil
}

// sketch returns the beginning of a unit.
func (c *choice) sketch(u *unit) string {
	left, before := sketchTokens, len(c.taken)
	for i := range u.plan.steps {
		left -= c.take(u, &u.plan.steps[i], left)
	}
	text := c.write(u)
	c.undo(before)
	return text
}

// fill takes steps in their order until the forms that they make fill the room.
// The tokens of a step are an estimate.
func (c *choice) fill(left int) error {
	const tries = 6
	for try := 0; c.failed == nil; try++ {
		if try < tries {
			for _, s := range c.order {
				left -= c.take(s.unit, s.step, left)
			}
		}
		left = c.left()
		if left == 0 || left > 0 && try >= tries {
			break
		}
		c.giveBack(-left)
	}
	return c.failed
}

// left returns the tokens of the room that are left.
func (c *choice) left() int {
	left := c.room
	for i := range c.units {
		u := &c.units[i]
		switch {
		case u.pinned:
			continue
		case !u.whole:
			c.measure(u)
		}
		if u.whole {
			left -= u.tokens
		} else {
			left -= u.size
		}
	}
	return left
}

// measure finds the window's form of a unit that is not whole.
func (c *choice) measure(u *unit) {
	if u.measured {
		return
	}
	u.measured, u.in, u.said, u.size = true, false, "", 0
	switch {
	case u.next == 0:
		return
	case u.note:
		if u.said = c.write(u); u.said == "" {
			return
		}
		u.size = remembered(u.plan.sizes, mostForms, u.said, c.count) + messageTokens
	default:
		u.size = u.beginning(c)
		for _, p := range u.parts {
			_, tokens := c.member(p)
			u.size += tokens
		}
	}
	u.in = true
	u.whole = u.size >= u.tokens
}

// member returns the text of a member of a unit whose messages stay, and how
// many tokens it adds to the member's least.
func (c *choice) member(p *part) (text string, tokens int) {
	if p.own != nil {
		form := p.form()
		return form.Content, form.Tokens - p.own[0].Tokens
	}
	text = p.marked(cmp.Or(p.said(), leftOut))
	return text, c.count(text)
}

// leftOut replaces a result that is left out entirely.
const leftOut = "[left out]"

// write returns the note of a unit.
func (c *choice) write(u *unit) string {
	var lines []string
	exchange := len(u.members) > 1
	for _, p := range u.parts {
		exchange = exchange || p.call != ""
		if text := p.line(); text != "" {
			lines = append(lines, text)
		}
	}
	text := strings.Join(lines, "\n")
	if exchange {
		text = label + text
	}
	if !strings.ContainsFunc(text, isWord) {
		return ""
	}
	return text
}
