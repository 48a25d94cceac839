package knapsack

import "sync"

// scratch is memory whose size depends only on the number of items. Calls reuse
// it; states and tables, whose size depends on the instance, are not kept.
type scratch struct {
	items []item
	pairs []pair
	heap  []move
	cur   []state
	next  []state
}

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}
