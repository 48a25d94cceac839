package analysis

import (
	"slices"

	"github.com/wollax/cupel-go/cupel"
)

// formPair is a candidate of two reports that is in a smaller form in one of them
// at least: the positions of its entries.
type formPair struct {
	a, b int
	copyOf
}

// pairForms matches smaller forms, whose contents are not those of their items, by
// the position of the candidate.
func pairForms(a, b *Ledger) []formPair {
	smaller := func(e Entry) bool { return e.Form() > 0 }
	if !slices.ContainsFunc(a.Entries, smaller) && !slices.ContainsFunc(b.Entries, smaller) {
		return nil
	}
	at := make(map[int]int, len(b.Entries)) // entries of b by candidate
	for i := range b.Entries {
		if c := b.Entries[i].original(); c >= 0 {
			at[c] = i
		}
	}
	var pairs []formPair
	for i := range a.Entries {
		x := &a.Entries[i]
		j, ok := at[x.original()]
		if !ok || x.Form() == 0 && b.Entries[j].Form() == 0 || !sameInFull(x, &b.Entries[j]) {
			continue
		}
		full := x
		if x.Form() > 0 && b.Entries[j].Form() == 0 {
			full = &b.Entries[j]
		}
		pairs = append(pairs, formPair{i, j, copyOf{content: full.Item.Content()}})
		delete(at, x.original())
	}
	number(pairs, a, b)
	return pairs
}

// number counts the pairs of each content behind all other entries that have it.
func number(pairs []formPair, a, b *Ledger) {
	counts := make(map[string]int)
	paired := make(map[*Entry]bool)
	for _, pair := range pairs {
		counts[pair.content] = 0
		paired[&a.Entries[pair.a]], paired[&b.Entries[pair.b]] = true, true
	}
	for _, l := range []*Ledger{a, b} {
		mine := make(map[string]int)
		for i := range l.Entries {
			content := l.Entries[i].Item.Content()
			if n, ok := counts[content]; ok && !paired[&l.Entries[i]] {
				mine[content]++
				counts[content] = max(n, mine[content])
			}
		}
	}
	for i := range pairs {
		counts[pairs[i].content]++
		pairs[i].n = counts[pairs[i].content]
	}
}

// original returns the position among the candidates of the run, or -1 if the
// report does not know it.
func (e *Entry) original() int {
	switch {
	case e.Included != nil:
		return e.Included.Candidate()
	case e.Excluded != nil:
		return e.Excluded.Candidate()
	}
	return -1
}

// sameInFull reports whether two entries, one of them in a smaller form, can be of
// the same item: everything but the content is the same. A form of a group has the
// fields of the first member in place of each.
func sameInFull(x, y *Entry) bool {
	if x.Item.Group() != "" || y.Item.Group() != "" {
		return x.Item.Group() == y.Item.Group()
	}
	return sizeInFull(x.Item) == sizeInFull(y.Item) && withoutContent(x.Item).Equal(withoutContent(y.Item))
}

func sizeInFull(item *cupel.ContextItem) int {
	if tokens, ok := item.OriginalTokens(); ok {
		return tokens
	}
	return item.Tokens()
}

// withoutContent returns the item without what differs between its forms.
func withoutContent(item *cupel.ContextItem) *cupel.ContextItem {
	same, err := item.With(cupel.WithContent("-", 0), cupel.WithOriginalTokens(0), cupel.WithVariants(), cupel.WithGroupVariants())
	if err != nil { // an item that was valid stays so
		return item
	}
	return same
}
