package cupel

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/wollax/cupel-go/cupel/internal/engine"
)

// Variant is a smaller form of an item or of a group. The window gets the full
// form, one of the variants, or nothing.
//
// It implements the data model of the Units chapter.
type Variant struct {
	// Content is the text, or "" if Make makes it. JSON has it.
	Content string
	// Make returns the text, which must not be empty. A run calls it at most
	// once, after Truncate and before Place, and only if the form was chosen.
	// Several runs may call it at once. An error, a panic or an empty text
	// fails the run. JSON leaves Make out: after reading, a form made by a
	// function is never chosen.
	Make func(ctx context.Context) (string, error)
	// Tokens is the size in tokens, at least 0 and, for an item's own variants,
	// fewer than the item's.
	Tokens int
	// Worth is in (0,1): the share of the full form's value that it keeps.
	Worth float64

	lost  bool // it was read without its content
	extra *extraFields
}

// Form is the size and the worth of a smaller form.
type Form struct {
	Tokens int     // at least 0
	Worth  float64 // in [0,1): the share of the full form's value that it keeps
}

// itemUnits holds the groups, variants and versions of an item. Most items have
// none of them.
type itemUnits struct {
	forms     []engine.Form // smaller forms: of variants, or of a stand-in's chain
	variants  []Variant     // in use: largest first, without useless ones and those without content
	unit      *standIn      // of a stand-in that a run has made
	group     string
	versionOf string

	groupVariants []Variant // in use
	groupForms    []engine.Form
	given         []Variant // variants as in JSON
	groupGiven    []Variant // group variants as in JSON
}

// standIn is what strategies see in place of a unit that is not one plain item.
type standIn struct {
	members []*ContextItem // of a group, in the order of the candidates
	older   []engine.Form  // older versions of a lone item, by place; their worth is their score
}

// WithGroup puts the item into a group, none by default. Items with the same
// group, byte for byte, are in the window together or out together. An empty
// group is an error.
func WithGroup(group string) ItemOption {
	return func(it *itemDraft) error {
		if group == "" {
			return &InvalidItemError{-1, "group", "must not be empty"}
		}
		it.ofUnits().group = group
		return nil
	}
}

// WithVersionOf makes the item a version of something, such as a file. Items
// with the same key, byte for byte, are versions of one thing, and the newest
// counts. None by default; an empty key is an error.
func WithVersionOf(key string) ItemOption {
	return func(it *itemDraft) error {
		if key == "" {
			return &InvalidItemError{-1, "versionOf", "must not be empty"}
		}
		it.ofUnits().versionOf = key
		return nil
	}
}

// WithVariants sets the smaller forms of the item, none by default. It copies
// list, which may be in any order. A variant without text, with at least as
// many tokens as the item, or with a worth outside (0,1) is an error. A variant
// with at most the worth and at least the tokens of another is never used.
func WithVariants(list ...Variant) ItemOption {
	return func(it *itemDraft) error {
		it.ofUnits().given = slices.Clone(list)
		return nil
	}
}

// WithGroupVariants sets the smaller forms of the item's whole group, none by
// default. Each form is one item in place of all members. The first member that
// has group variants decides for the group. WithGroupVariants copies list and
// checks it as [WithVariants] does, except for the tokens: only the run can
// compare them with the group's. An item without a group never uses them.
func WithGroupVariants(list ...Variant) ItemOption {
	return func(it *itemDraft) error {
		it.ofUnits().groupGiven = slices.Clone(list)
		return nil
	}
}

// ofUnits returns the part of the draft that most items lack.
func (it *itemDraft) ofUnits() *itemUnits {
	if it.units == nil {
		it.units = new(itemUnits)
	}
	return it.units
}

// copy returns a copy that options may change.
func (u *itemUnits) copy() *itemUnits {
	if u == nil {
		return nil
	}
	units := *u
	return &units
}

// finish checks what is known only after all options or fields are set, and
// returns what is wrong. counted says whether the item's tokens are known.
func (it *itemDraft) finish(counted bool) []error {
	u := it.units
	if u == nil {
		return nil
	}
	u.unit = nil
	var problems, more []error
	u.variants, problems = usable(u.given, "variants", it.tokens, counted)
	u.groupVariants, more = usable(u.groupGiven, "groupVariants", 0, false)
	u.forms, u.groupForms = sizesOf(u.variants), sizesOf(u.groupVariants)
	if u.group == "" && u.versionOf == "" && len(u.given) == 0 && len(u.groupGiven) == 0 {
		it.units = nil
	}
	return append(problems, more...)
}

// usable checks the variants given, and returns those that are used and what is
// wrong.
func usable(given []Variant, field string, tokens int, limited bool) (used []Variant, problems []error) {
	for i, g := range given {
		invalid := func(name, reason string) {
			problems = append(problems, &InvalidItemError{-1, fmt.Sprintf("%s[%d].%s", field, i, name), reason})
		}
		switch {
		case g.Tokens < 0:
			invalid("tokens", fmt.Sprintf("must be at least 0, got %d", g.Tokens))
		case limited && g.Tokens >= tokens:
			invalid("tokens", fmt.Sprintf("must be fewer than the item's %d, got %d", tokens, g.Tokens))
		}
		if !(g.Worth > 0 && g.Worth < 1) { // written so that NaN fails
			invalid("worth", fmt.Sprintf("must be above 0 and below 1, got %v", g.Worth))
		}
		switch {
		case g.Content != "" && g.Make != nil:
			invalid("content", "must be empty if a function makes it")
		case g.Content == "" && g.Make == nil && !g.lost:
			invalid("content", "must not be empty, unless a function makes it")
		case g.Content != "" || g.Make != nil:
			used = append(used, g)
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	slices.SortStableFunc(used, func(a, b Variant) int { return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(b.Worth, a.Worth)) })
	return engine.WithoutUseless(used, sizeOf), nil
}

func sizeOf(v Variant) engine.Form { return engine.Form{Tokens: v.Tokens, Worth: v.Worth} }

// sizesOf returns the sizes of variants.
func sizesOf(list []Variant) []engine.Form {
	if len(list) == 0 {
		return nil
	}
	forms := make([]engine.Form, len(list))
	for i, v := range list {
		forms[i] = sizeOf(v)
	}
	return forms
}

var noUnits itemUnits

// unitsOrNone returns what the item has beyond a plain one.
func (it *ContextItem) unitsOrNone() *itemUnits {
	if it.Plain() {
		return &noUnits
	}
	return it.units
}

// Group returns the group, or "" if the item has none.
func (it *ContextItem) Group() string { return it.unitsOrNone().group }

// VersionOf returns the version key of the item, or "" if it has none.
func (it *ContextItem) VersionOf() string { return it.unitsOrNone().versionOf }

// Variants returns a copy of the smaller forms in use, largest first. It leaves
// out useless ones and those that were read without content. Form n of the item
// is the n-th variant, counted from 1.
func (it *ContextItem) Variants() []Variant { return slices.Clone(it.unitsOrNone().variants) }

// GroupVariants returns a copy of the smaller forms of the item's group, as
// [ContextItem.Variants] does.
func (it *ContextItem) GroupVariants() []Variant { return slices.Clone(it.unitsOrNone().groupVariants) }

// unitField returns the name of a field that makes the item more than a plain
// one, or "".
func (it *ContextItem) unitField() string {
	u := it.unitsOrNone()
	switch {
	case u.group != "":
		return "group"
	case len(u.given) > 0: // used or not
		return "variants"
	case len(u.groupGiven) > 0:
		return "groupVariants"
	case u.versionOf != "":
		return "versionOf"
	}
	return "" // a stand-in that a caller has kept
}

// Plain reports whether the item has no group, smaller forms or version key.
func (it *ContextItem) Plain() bool { return it == nil || it.units == nil }

// Members returns the items that a stand-in stands for, in the order of the
// candidates, and nil for all other items. Slicers and placers get a stand-in
// for each group; its tokens are the total of all members.
func (it *ContextItem) Members() []*ContextItem {
	if unit := it.unitsOrNone().unit; unit != nil {
		return slices.Clone(unit.members)
	}
	return nil
}

// Forms returns the smaller forms of a stand-in, or of an item that stands for
// itself: form 1, form 2 and so on, largest first. It does not include form 0,
// the full one.
func (it *ContextItem) Forms() []Form {
	var forms []Form
	for _, f := range it.unitsOrNone().forms {
		forms = append(forms, Form(f))
	}
	return forms
}

// Equal reports whether the variants have the same content, tokens and worth
// (NaN equals NaN), and the same unknown fields of JSON. It compares only
// whether functions make the texts, since functions cannot be compared.
func (v Variant) Equal(other Variant) bool {
	return v.Content == other.Content && (v.Make == nil) == (other.Make == nil) && v.Tokens == other.Tokens &&
		sameFloat(v.Worth, other.Worth) && v.extra.equal(other.extra)
}

// equal compares what JSON has.
func (u *itemUnits) equal(other *itemUnits) bool {
	if u == nil || other == nil {
		return u == other
	}
	return u.group == other.group && u.versionOf == other.versionOf &&
		slices.EqualFunc(u.given, other.given, Variant.Equal) && slices.EqualFunc(u.groupGiven, other.groupGiven, Variant.Equal)
}
