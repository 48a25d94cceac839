package cupel

import "slices"

// keptReport stores the report of a run in a quarter of its size, so that a
// collector can hand over the report itself and still make another one.
// Neighbours usually have the same reason, which is stored once.
type keptReport struct {
	head     SelectionReport // its lists of items are empty
	items    []keptItem      // of those included, then of those excluded
	included []keptReason[InclusionReason]
	excluded []keptReason[ExclusionReason]
}

// keptItem is what included and excluded entries share, apart from their
// reasons.
type keptItem struct {
	item  *ContextItem
	score float64
	at    origin
}

// keptReason is the reason of several items in a row.
type keptReason[R any] struct {
	reason R
	own    bool // BudgetExceeded: the tokens are those of each item
	items  int
}

// keep remembers a report that a run has made.
func keep(r *SelectionReport) *keptReport {
	k := &keptReport{items: make([]keptItem, 0, len(r.Included)+len(r.Excluded))}
	head := *r
	if r.Included != nil {
		head.Included = []IncludedItem{}
	}
	if r.Excluded != nil {
		head.Excluded = []ExcludedItem{}
	}
	k.head = *head.clone()
	for i := range r.Included {
		e := &r.Included[i]
		k.items = append(k.items, keptItem{e.Item, e.Score, e.at})
		if n := len(k.included); n > 0 && k.included[n-1].reason == e.Reason {
			k.included[n-1].items++
			continue
		}
		k.included = append(k.included, keptReason[InclusionReason]{reason: e.Reason, items: 1})
	}
	for i := range r.Excluded {
		e := &r.Excluded[i]
		k.items = append(k.items, keptItem{e.Item, e.Score, e.at})
		reason, own := e.Reason, e.Reason.Code == ExcludeBudgetExceeded && e.Reason.tokens == e.Item.tokens
		if own {
			reason.tokens = 0
		}
		if n := len(k.excluded); n > 0 && k.excluded[n-1].own == own && k.excluded[n-1].reason.sameWords(&reason) {
			k.excluded[n-1].items++
			continue
		}
		k.excluded = append(k.excluded, keptReason[ExclusionReason]{reason, own, 1})
	}
	return k
}

// sameWords reports whether the reasons are the same word for word.
func (r *ExclusionReason) sameWords(other *ExclusionReason) bool {
	return r.Code == other.Code && r.tokens == other.tokens && r.available == other.available && r.other == other.other && r.all == other.all
}

// report makes the report again.
func (k *keptReport) report() *SelectionReport {
	r := k.head.clone()
	rest := k.items
	for _, run := range k.included {
		r.Included = slices.Grow(r.Included, run.items)
		for _, it := range rest[:run.items] {
			r.Included = append(r.Included, IncludedItem{Item: it.item, Score: it.score, Reason: run.reason, at: it.at})
		}
		rest = rest[run.items:]
	}
	for _, run := range k.excluded {
		r.Excluded = slices.Grow(r.Excluded, run.items)
		for _, it := range rest[:run.items] {
			reason := run.reason
			if run.own {
				reason.tokens = it.item.tokens
			}
			r.Excluded = append(r.Excluded, ExcludedItem{Item: it.item, Score: it.score, Reason: reason, at: it.at})
		}
		rest = rest[run.items:]
	}
	return r
}
