package cupel

import "github.com/wollax/cupel-go/cupel/internal/jsonwire"

// wireUnits reads or writes the fields of an item that is more than one plain
// item.
func (it *itemDraft) wireUnits(c *jsonwire.Codec) {
	var group, versionOf string
	var variants, groupVariants []Variant
	if u := it.units; u != nil {
		group, versionOf = u.group, u.versionOf
		variants, groupVariants = u.given()
	}
	field := c.Optional("group", group != "")
	jsonwire.Text(&group, field)
	it.set(field, WithGroup(group))
	field = c.Optional("versionOf", versionOf != "")
	jsonwire.Text(&versionOf, field)
	it.set(field, WithVersionOf(versionOf))
	field = c.Optional("variants", len(variants) > 0)
	jsonwire.List(field, &variants, (*Variant).wire)
	it.set(field, WithVariants(variants...))
	field = c.Optional("groupVariants", len(groupVariants) > 0)
	jsonwire.List(field, &groupVariants, (*Variant).wire)
	it.set(field, WithGroupVariants(groupVariants...))
}

// wire reads or writes a variant. One that is read without content is kept and
// never chosen.
func (v *Variant) wire(c *jsonwire.Codec) {
	c.Object(func() {
		wireText(&v.Content, c.Optional("content", v.Content != ""))
		c.Required("tokens").Int(&v.Tokens)
		c.Required("worth").Float(&v.Worth)
		wireExtra(c, &v.extra)
	})
	if c.R != nil {
		v.lost = v.Content == ""
	}
}
