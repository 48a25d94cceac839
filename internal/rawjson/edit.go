package rawjson

import (
	"cmp"
	"slices"
)

// Edits are changes to one text. The rest of the text is copied as it is.
type Edits struct{ list []edit }

type edit struct {
	from, to int
	with     []byte
}

// Replace puts a text in place of a value.
func (e *Edits) Replace(v Value, with []byte) {
	e.list = append(e.list, edit{v.start, v.end, with})
}

// Drop removes elements of an array, or members of an object: the parts for
// which gone is true. Edits within removed parts have no effect.
func (e *Edits) Drop(parts []Part, gone func(i int) bool) {
	kept := -1 // the last part that stays
	for i, p := range parts {
		switch {
		case !gone(i):
			kept = i
		case kept >= 0: // with the comma before it
			e.list = append(e.list, edit{parts[i-1].to, p.to, nil})
		case i+1 < len(parts): // with the comma after it
			e.list = append(e.list, edit{p.from, parts[i+1].from, nil})
		default:
			e.list = append(e.list, edit{p.from, p.to, nil})
		}
	}
}

// Empty reports whether there are no changes.
func (e *Edits) Empty() bool { return len(e.list) == 0 }

// Outer returns the Outer text of a part with the changes within it. If two
// changes overlap, the one that begins first counts.
func (e *Edits) Outer(p Part) []byte {
	slices.SortStableFunc(e.list, func(a, b edit) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	var out []byte
	at := p.from
	for _, change := range e.list {
		if change.from < at || change.to > p.to {
			continue
		}
		out = append(out, p.Value.text[at:change.from]...)
		out = append(out, change.with...)
		at = change.to
	}
	return append(out, p.Value.text[at:p.to]...)
}

// Whole returns a value as a part with the whole text around it.
func Whole(v Value) Part { return Part{Value: v, to: len(v.text)} }

// Element returns a text that is one element of an array, with the white space
// around it.
func Element(text []byte) (Part, error) {
	v, err := Text(text).Value()
	return Part{Value: v, to: len(text)}, err
}
