package agent

import (
	"maps"
	"math"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelreduce"
)

// unit is a group of items, or an item without a group.
type unit struct {
	members []int // positions among the items
	tokens  int
	pinned  bool    // always in the window in full
	never   bool    // in the window only if everything else is
	note    bool    // one text may replace it
	newer   int     // units after it
	about   float64 // weight because of the task

	parts    []*part
	plan     *plan
	next     int    // the first of the steps that was not taken
	whole    bool   // is in the window in full
	measured bool   // the fields below are up to date
	in       bool   // is in the window in a smaller form
	said     string // the note in its place
	size     int    // tokens in the window
}

// choice is one selection in the making.
type choice struct {
	items []*cupel.ContextItem
	*memory
	units  []unit
	fits   bool
	room   int                        // tokens that pinned items leave
	copies map[*cupel.ContextItem]int // that were read
	known  cupelreduce.Known
}

func newChoice(items []*cupel.ContextItem, budget cupel.ContextBudget) *choice {
	c := &choice{items: items, copies: map[*cupel.ContextItem]int{}}
	groups := map[string]int{}
	for i, item := range items {
		at, seen := len(c.units), false
		if g := item.Group(); g != "" {
			if at, seen = groups[g]; !seen {
				at = len(c.units)
				groups[g] = at
			}
		}
		if !seen {
			c.units = append(c.units, unit{note: item.Group() == ""})
		}
		u := &c.units[at]
		u.members = append(u.members, i)
		u.tokens += max(0, item.Tokens())
		u.pinned = u.pinned || item.Pinned()
		never, _ := item.MetadataValue("never")
		u.never = u.never || never == true
		u.note = u.note || len(item.GroupVariants()) > 0
	}
	total, pinned := 0, 0
	for i := range c.units {
		u := &c.units[i]
		u.newer, u.whole = len(c.units)-1-i, u.pinned
		u.note = u.note && (len(u.members) > 1 || items[u.members[0]].Group() != "" || c.reducible(u.members[0]))
		total += u.tokens
		if u.pinned {
			pinned += u.tokens
		}
	}
	c.room = budget.Effective(pinned).TargetTokens
	c.fits = total-pinned <= c.room
	return c
}

// asked sets how relevant each unit is to the task.
func (c *choice) asked(scores []float64) {
	most := 0.0
	for _, score := range scores {
		if score < math.Inf(1) { // not NaN
			most = max(most, score)
		}
	}
	for i := range c.units {
		u := &c.units[i]
		for _, at := range u.members {
			if share := scores[at] / most; share > 0 {
				u.about = max(u.about, aboutTask*min(share*share, 1))
			}
		}
	}
}

// derive returns the items with their pins, forms and worth.
func (c *choice) derive() ([]*cupel.ContextItem, error) {
	derived := make([]*cupel.ContextItem, len(c.items))
	copy(derived, c.items)
	for i := range c.units {
		u := &c.units[i]
		if u.pinned {
			continue
		}
		for n, at := range u.members {
			var err error
			if derived[at], err = c.items[at].With(c.changes(u, n)...); err != nil {
				return nil, err
			}
		}
	}
	return derived, nil
}

// changes returns the new form of member n of a unit.
func (c *choice) changes(u *unit, n int) []cupel.ItemOption {
	item := c.items[u.members[n]]
	if u.whole {
		return []cupel.ItemOption{cupel.WithPinned()}
	}
	var opts []cupel.ItemOption
	if n == 0 {
		opts = append(opts, valued(item, u))
	}
	switch lone := item.Group() == ""; {
	case lone:
		return append(opts, cupel.WithVariants(u.forms()...))
	case u.note && n == 0:
		return append(opts, cupel.WithVariants(), cupel.WithGroupVariants(u.forms()...))
	case u.note:
		return append(opts, cupel.WithVariants(), cupel.WithGroupVariants())
	case !u.in:
		return opts
	}
	opts = append(opts, cupel.WithPinned(), cupel.WithVariants())
	for _, p := range u.parts {
		if p.member != u.members[n] {
			continue
		}
		text, more := c.member(p)
		least := item.Tokens()
		if p.own == nil {
			least -= p.of.Tokens()
		} else {
			least = p.own[0].Tokens
		}
		opts = append(opts, cupel.WithContent(text, max(0, least)+more), cupel.WithOriginalTokens(item.Tokens()))
	}
	return opts
}

// forms returns the form that a unit has in the window, if it is not whole.
func (u *unit) forms() []cupel.Variant {
	switch {
	case !u.in:
		return nil
	case u.note:
		return []cupel.Variant{{Content: u.said, Tokens: u.size, Worth: formWorth}}
	}
	form := u.parts[0].form()
	form.Worth = formWorth
	return []cupel.Variant{form}
}

// The pipeline has room only for the chosen forms. They are worth as much as the
// whole but for a trace, and so little is everything that is out worth: even a few
// tokens of it must not be worth more for each token than a form of many.
const (
	formWorth = 1 - 1e-12
	outWorth  = 1e-12
)

// valued sets the worth of a unit on its first member.
func valued(item *cupel.ContextItem, u *unit) cupel.ItemOption {
	metadata := maps.Clone(item.Metadata())
	if metadata == nil {
		metadata = map[string]any{}
	}
	worth := u.weight()
	if !u.in {
		worth *= outWorth
	}
	metadata[worthKey] = worth
	return cupel.WithMetadata(metadata)
}

// textOf returns the contents of a unit, one after the other.
func (c *choice) textOf(u *unit) string {
	if len(u.members) == 1 {
		return c.items[u.members[0]].Content()
	}
	var b strings.Builder
	for _, at := range u.members {
		b.WriteString(c.items[at].Content())
		b.WriteByte('\n')
	}
	return b.String()
}
