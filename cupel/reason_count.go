package cupel

// reasonCounts counts the items that a stage left out, by reason. Most items
// have the same reason as the one before and cost one comparison; others cost a
// map lookup, since a slicer may invent any number of codes.
type reasonCounts struct {
	list []ReasonCount
	last int                   // in list: the code of the last item
	at   map[ExclusionCode]int // in list
}

func (c *reasonCounts) add(code ExclusionCode, items int) {
	switch {
	case items == 0:
		return
	case c.last < len(c.list) && c.list[c.last].Code == code:
		c.list[c.last].Items += items
		return
	}
	at, ok := c.at[code]
	if !ok {
		if c.at == nil {
			c.at = make(map[ExclusionCode]int)
		}
		at = len(c.list)
		c.at[code] = at
		c.list = append(c.list, ReasonCount{Code: code})
	}
	c.last = at
	c.list[at].Items += items
}

// all returns a copy; nil when nothing was left out.
func (c *reasonCounts) all() []ReasonCount { return append([]ReasonCount(nil), c.list...) }

// of returns the count of one reason.
func (c *reasonCounts) of(code ExclusionCode) int {
	if at, ok := c.at[code]; ok {
		return c.list[at].Items
	}
	return 0
}

// reset clears the counts. It keeps memory for a few codes, not for many custom
// ones.
func (c *reasonCounts) reset() {
	const usual = 32
	switch n := len(c.list); {
	case n == 0:
		return
	case n > usual:
		*c = reasonCounts{}
		return
	}
	clear(c.list)
	clear(c.at)
	c.list, c.last = c.list[:0], 0
}
