package agent

import (
	"maps"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelreduce"
)

// unit is a group of items, or an item without a group.
type unit struct {
	members []int // positions among the items
	tokens  int
	pinned  bool
	whole   bool // always in the window in full
	note    bool // a note may stand in place of the group
	newer   int  // units behind it

	forms []form // smallest first, the unit in full last
	added []string
}

// choice is one selection in the making.
type choice struct {
	items   []*cupel.ContextItem
	counter cupel.TokenCounter
	units   []unit
	byItem  []int // unit of each item
	fits    bool
	room    int // tokens for outlines
	known   *cupelreduce.Known
}

func newChoice(items []*cupel.ContextItem, counter cupel.TokenCounter) *choice {
	c := &choice{items: items, counter: counter, byItem: make([]int, len(items))}
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
			c.units = append(c.units, unit{})
		}
		u := &c.units[at]
		u.members = append(u.members, i)
		u.tokens += max(0, item.Tokens())
		u.pinned = u.pinned || item.Pinned()
		u.note = u.note || len(item.GroupVariants()) > 0
		c.byItem[i] = at
	}
	for i := range c.units {
		c.units[i].newer = len(c.units) - 1 - i
		c.units[i].whole = c.units[i].pinned
	}
	return c
}

// keepNear decides which units stay whole: the pinned ones, the newest, and the
// ones before it up to the first that exceeds its share of the room.
func (c *choice) keepNear(budget cupel.ContextBudget) {
	total, pinned := 0, 0
	for i := range c.units {
		total += c.units[i].tokens
		if c.units[i].pinned {
			pinned += c.units[i].tokens
		}
	}
	room := budget.Effective(pinned).TargetTokens
	if c.fits = total-pinned <= room; c.fits || len(c.units) == 0 {
		return
	}
	if newest := &c.units[len(c.units)-1]; !newest.whole && newest.tokens <= room {
		newest.whole = true
		room -= newest.tokens
	}
	c.room = room
	near := int(float64(room) * nearShare)
	for i := len(c.units) - 2; i >= 0; i-- {
		u := &c.units[i]
		if u.whole {
			continue
		}
		if u.tokens > near {
			return
		}
		near -= u.tokens
		c.room -= u.tokens
		u.whole = true
	}
}

// learn takes from a run what it has chosen of the units that are not whole.
func (c *choice) learn(report *cupel.SelectionReport) {
	for i := range c.units {
		c.units[i].added = nil
	}
	for _, e := range report.Included {
		u := &c.units[c.byItem[e.Candidate]]
		if !u.whole && e.Item.Tokens() > 0 {
			u.added = append(u.added, e.Item.Content())
		}
	}
}

// derive returns the items with their pins, forms and worth.
func (c *choice) derive() ([]*cupel.ContextItem, error) {
	derived := make([]*cupel.ContextItem, len(c.items))
	copy(derived, c.items)
	for i := range c.units {
		u := &c.units[i]
		for n, at := range u.members {
			item := c.items[at]
			var opts []cupel.ItemOption
			switch {
			case u.pinned:
				continue
			case u.whole:
				opts = append(opts, cupel.WithPinned())
			default:
				if n == 0 {
					opts = append(opts, c.valued(item, u))
				}
				opts = append(opts, c.shrinking(u, item, n)...)
			}
			var err error
			if derived[at], err = item.With(opts...); err != nil {
				return nil, err
			}
		}
	}
	return derived, nil
}

// valued sets the worth of a unit on its first member.
func (c *choice) valued(item *cupel.ContextItem, u *unit) cupel.ItemOption {
	metadata := maps.Clone(item.Metadata())
	if metadata == nil {
		metadata = map[string]any{}
	}
	metadata[worthKey] = weight(u.newer) * u.forms[len(u.forms)-1].worth
	return cupel.WithMetadata(metadata)
}

// shrinking sets the smaller forms of member n of a unit.
func (c *choice) shrinking(u *unit, item *cupel.ContextItem, n int) []cupel.ItemOption {
	lone := item.Group() == ""
	if !lone && !u.note || role(item) == "reasoning" {
		return nil
	}
	var variants []cupel.Variant
	if n == 0 {
		full := u.forms[len(u.forms)-1].worth
		for _, f := range u.forms[:len(u.forms)-1] {
			if share := f.worth / full; share > 0 && share < 1 && f.tokens < u.tokens {
				variants = append(variants, cupel.Variant{Content: f.text, Tokens: f.tokens, Worth: share})
			}
		}
	}
	if lone {
		return []cupel.ItemOption{cupel.WithVariants(variants...)}
	}
	return []cupel.ItemOption{cupel.WithVariants(), cupel.WithGroupVariants(variants...)}
}

// text returns the contents of a unit, one behind the other.
func (c *choice) text(u *unit) string {
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
