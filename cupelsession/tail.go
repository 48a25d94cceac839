package cupelsession

import (
	"cmp"
	"context"
	"slices"

	"github.com/wollax/cupel-go/cupel"
)

// quotations are the tail of a window, as the chooser chose it: items of the tail,
// and items that are out, which become quotations.
type quotations struct {
	*layout
	included []cupel.IncludedItem // in the order of the tail
	said     *choice
}

// isQuoted reports whether entry n of the tail is a quotation.
func (q *quotations) isQuoted(n int) bool { return q.at[q.said.from[q.included[n].Candidate]] == out }

// isLabeled reports whether entry n of the tail is the first one of a run of
// quotations, which have one label.
func (q *quotations) isLabeled(n int) bool { return q.isQuoted(n) && (n == 0 || !q.isQuoted(n-1)) }

// fit leaves out the quotations with the lowest scores until the labels have room.
func (q *quotations) fit(room int) {
	for {
		worst, labels := -1, 0
		for n, e := range q.included {
			if !q.isQuoted(n) {
				continue
			}
			// Scores may be NaN, which counts as the lowest.
			if worst < 0 || cmp.Compare(e.Score, q.included[worst].Score) <= 0 {
				worst = n
			}
			if q.isLabeled(n) {
				labels += quoteTokens
			}
		}
		if worst < 0 || labels <= room {
			return
		}
		room += q.included[worst].Item.Tokens()
		q.included = slices.Delete(q.included, worst, worst+1)
	}
}

const (
	quoteLabel  = "[quoted from earlier] "
	quoteTokens = 6
)

// item returns entry n of the tail as it is sent.
func (q *quotations) item(n int) *cupel.ContextItem {
	item := q.included[n].Item
	switch {
	case q.isLabeled(n):
		return changed(item, cupel.WithContent(quoteLabel+item.Content(), item.Tokens()+quoteTokens))
	case q.isQuoted(n):
		return changed(item)
	}
	return item
}

// tailing chooses the tail. The chooser gets the items that were left out unchanged,
// so that a scorer that caches results per item finds them. It also gets the items of
// the stable part, at 0 tokens, because some scores depend on all items.
type tailing struct {
	*layout
	bare map[*cupel.ContextItem]*cupel.ContextItem // items of the last tail that have forms, without these
	made map[*cupel.ContextItem]*cupel.ContextItem // the same of this one
}

// quotable reports whether candidate i may be quoted.
func (t *tailing) quotable(i int) bool {
	return t.at[i] == out && t.items[i].Group() == ""
}

// choose chooses from the tail and the quotable items, for a number of tokens.
func (t *tailing) choose(ctx context.Context, choosing *choosing, target int) (quotations, error) {
	items, from := t.offered()
	said, err := choosing.run(ctx, items, from, target)
	if err != nil {
		return quotations{}, err
	}
	q := quotations{layout: t.layout, said: said, included: make([]cupel.IncludedItem, 0, len(said.Included))}
	for _, e := range said.Included {
		if from[e.Candidate] >= 0 {
			q.included = append(q.included, e)
			target -= e.Item.Tokens()
		}
	}
	q.fit(target)
	return q, nil
}

// offered returns the chooser's input, with the candidate of each item, or -1 for the
// stable part.
func (t *tailing) offered() (items []*cupel.ContextItem, from []int) {
	anyQuotable := false
	for i := range t.items {
		anyQuotable = anyQuotable || t.quotable(i)
	}
	t.made = map[*cupel.ContextItem]*cupel.ContextItem{}
	next := 0
	for i, n := range t.at {
		item, candidate := t.items[i], i
		switch {
		case n == inTail:
		case anyQuotable && int(n) >= next:
			next = int(n) + 1
			candidate = -1
			item = t.without(t.given(&t.window[n]), 0)
		case t.quotable(i):
			if len(item.Variants()) > 0 {
				item = t.without(item, item.Tokens())
			}
		default:
			continue
		}
		items, from = append(items, item), append(from, candidate)
	}
	return items, from
}

// without returns an item without its smaller forms, the same from turn to turn.
func (t *tailing) without(item *cupel.ContextItem, tokens int) *cupel.ContextItem {
	to, ok := t.bare[item]
	if !ok || to.Tokens() != tokens {
		to = changed(item, cupel.WithVariants(), cupel.WithGroupVariants(), cupel.WithContent(item.Content(), tokens))
	}
	t.made[item] = to
	return to
}
