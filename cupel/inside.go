package cupel

import (
	"github.com/wollax/cupel-go/cupel/internal/engine"
	"github.com/wollax/cupel-go/cupel/internal/inside"
)

var _ = inside.Set(insider{})

// insider is what the other packages of the core may do with items and reports.
type insider struct{}

// Columns fills the columns of the engine, links only if there are any or always is
// set. It returns the position of the first item that [NewContextItem] did not make,
// or -1.
func (insider) Columns(items []*ContextItem, to *engine.Columns, always bool) int {
	linked := always
	n := len(items)
	tokens, pinned, contents := engine.Resize(to.Tokens, n), engine.Resize(to.Pinned, n), engine.Resize(to.Contents, n)
	to.Tokens, to.Pinned, to.Contents = tokens, pinned, contents
	for i, it := range items {
		if it == nil || it.content == "" {
			return i
		}
		linked = linked || it.units != nil
		tokens[i], pinned[i], contents[i] = it.tokens, it.pinned, it.content
	}
	if !linked {
		to.Links = nil
		return -1
	}
	to.Links = make([]engine.Link, len(items))
	for i, it := range items {
		l := &to.Links[i]
		l.Time, l.Timed = it.timestamp, it.has&hasTimestamp != 0
		if u := it.units; u != nil {
			l.Group, l.Version = u.group, u.versionOf
			l.Forms, l.GroupForms = u.own(), u.groupForms
		}
	}
	return -1
}

// StandIn returns what strategies see of a unit: an item with the fields of its first
// member, and the members of a group, its smaller forms, and the older versions that
// may come back in its place.
func (insider) StandIn(first *ContextItem, kind ContextKind, tokens int, pinned bool, members []*ContextItem, forms, older []engine.Form) *ContextItem {
	made := struct {
		item  ContextItem
		units itemUnits
		unit  standIn
	}{item: *first, unit: standIn{members, older}}
	if first.units != nil {
		made.units = *first.units
	}
	if members != nil {
		made.units = itemUnits{group: first.units.group}
	}
	made.units.forms, made.units.unit = forms, &made.unit
	made.item.units, made.item.kind, made.item.tokens, made.item.pinned = &made.units, kind, tokens, pinned
	return &made.item
}

// Smaller returns a smaller form of an item. full is the tokens of what the form
// stands for.
func (insider) Smaller(whole *ContextItem, content string, tokens, full int) *ContextItem {
	made := struct {
		item  ContextItem
		units itemUnits
	}{item: *whole}
	it := &made.item
	it.content, it.tokens, it.units = content, tokens, nil
	if it.has&hasOriginalTokens == 0 {
		it.originalTokens, it.has = full, it.has|hasOriginalTokens
	}
	if whole.Group() != "" || whole.VersionOf() != "" {
		made.units.group, made.units.versionOf = whole.Group(), whole.VersionOf()
		it.units = &made.units
	}
	return it
}

// Reason returns a reason that a run gives, without the cost of [NewExclusionReason].
func (insider) Reason(code ExclusionCode, tokens, available int, other *ContextItem) ExclusionReason {
	return ExclusionReason{Code: code, tokens: tokens, available: available, other: other}
}

// AppendReason appends the text of a reason.
func (insider) AppendReason(b []byte, r *ExclusionReason) []byte { return r.append(b) }

// AppendIncluded appends the text of an entry.
func (insider) AppendIncluded(b []byte, e *IncludedItem) []byte { return e.append(b) }

// Points returns the smaller forms of what a slicer sees, and the older versions that
// may come back in its place.
func (insider) Points(it *ContextItem) (forms, older []engine.Form) {
	u := it.unitsOrNone()
	if u.unit != nil {
		older = u.unit.older
	}
	return u.forms, older
}

// UnitField returns the first field of an item that makes it more than a plain item,
// or "".
func (insider) UnitField(it *ContextItem) string { return it.unitField() }

// own returns the sizes of the variants in use, even if the item is a stand-in that a
// caller has kept.
func (u *itemUnits) own() []engine.Form {
	if u.unit != nil {
		return sizesOf(u.variants)
	}
	return u.forms
}
