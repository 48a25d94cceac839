package cupel

import (
	"math"

	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/internal/jsonwire"
)

// MarshalJSON returns the item as an object with the field names of the
// ContextItem chapter. It always writes kind and source, and other fields if
// the item has them. Metadata keeps the values that JSON knows; numbers keep
// every digit. It fails with an [EncodeError].
//
// For a nil item, encoding/json writes null and does not call this method,
// which needs an item.
func (it ContextItem) MarshalJSON() ([]byte, error) { return marshal(it.wire) }

// UnmarshalJSON reads an item that [ContextItem.MarshalJSON] or another
// implementation wrote, and checks it as [NewContextItem] does. Numbers in
// metadata are read as [json.Number]. Null leaves the item as it is. It fails
// with a [DecodeError].
//
// An item never changes, so reading into an existing one is an error.
// encoding/json does that with the pointers of a list that it reads a second
// time.
func (it *ContextItem) UnmarshalJSON(data []byte) error {
	if it != nil && it.content != "" {
		return &DecodeError{Reason: "cannot be read into an item that exists already, because items never change: read into a new variable"}
	}
	return unmarshal(data, it, (*ContextItem).wire)
}

// wireItem reads an item into a new variable, or writes one.
func wireItem(it **ContextItem, c *jsonwire.Codec) {
	if c.R != nil {
		*it = new(ContextItem)
	}
	(*it).wire(c)
}

func (it *ContextItem) wire(c *jsonwire.Codec) {
	draft := (*itemDraft)(it)
	if c.W != nil && (it == nil || it.content == "") {
		c.W.Fail("must be an item that NewContextItem made", nil)
		return
	}
	if c.R != nil {
		it.kind, it.source = KindMessage, SourceChat
	}
	c.Object(func() { draft.wireFields(c) })
	if c.R == nil {
		return
	}
	if c.R.Fault == nil {
		for _, err := range draft.finish(true) {
			if invalid, ok := compat.AsType[*InvalidItemError](err); ok {
				c.R.Fail(invalid.Field, invalid.Reason)
			}
		}
	}
	if fault := c.R.Fault; fault != nil && fault.Path != "" {
		fault.Err = &InvalidItemError{-1, fault.Path, fault.Reason}
	}
}

func (it *itemDraft) wireFields(c *jsonwire.Codec) {
	wireText(&it.content, c.Required("content"))
	c.Required("tokens").Int(&it.tokens)
	wireChecked(it, c.Optional("kind", true), it.kind, WithKind)
	wireChecked(it, c.Optional("source", true), it.source, WithSource)
	it.optional(c, "priority", hasPriority).Int(&it.priority)
	jsonwire.List(c.Optional("tags", len(it.tags) > 0), &it.tags, jsonwire.Text[string])
	it.wireMetadata(c.Optional("metadata", len(it.metadata) > 0))
	wireTime(&it.timestamp, it.optional(c, "timestamp", hasTimestamp))
	it.optional(c, "futureRelevanceHint", hasHint).Float(&it.hint)
	c.Optional("pinned", it.pinned).Bool(&it.pinned)
	it.optional(c, "originalTokens", hasOriginalTokens).Int(&it.originalTokens)
	it.wireUnits(c)
	wireExtra(c, &it.extra)
}

// optional names a field whose presence is a bit of has.
func (it *itemDraft) optional(c *jsonwire.Codec, name string, bit fields) *jsonwire.Codec {
	field := c.Optional(name, it.has&bit != 0)
	if field.R != nil {
		it.has |= bit
	}
	return field
}

// set applies an option to an item that is read. The path of an error is that of
// the field.
func (it *itemDraft) set(c *jsonwire.Codec, option ItemOption) {
	if c.R == nil {
		return
	}
	if invalid, ok := compat.AsType[*InvalidItemError](option(it)); ok {
		c.R.Fail("", invalid.Reason)
	}
}

// wireChecked writes a string, or reads one that an option checks and sets.
func wireChecked[S ~string](it *itemDraft, c *jsonwire.Codec, s S, option func(S) ItemOption) {
	jsonwire.Text(&s, c)
	it.set(c, option(s))
}

// wireText reads or writes a string that must not be empty.
func wireText(s *string, c *jsonwire.Codec) {
	if jsonwire.Text(s, c); c.R != nil && *s == "" {
		c.R.Fail("", "must not be empty")
	}
}

// wireMetadata reads or writes an object of anything. An empty one is read as
// nil.
func (it *itemDraft) wireMetadata(c *jsonwire.Codec) {
	if c.W != nil {
		c.W.AnyMap(it.metadata)
	}
	if c.R == nil {
		return
	}
	c.R.Map(func(name string) {
		if it.metadata == nil {
			it.metadata = make(map[string]any)
		}
		if _, ok := it.metadata[name]; ok {
			c.R.Fail("", "is given twice")
		}
		it.metadata[name] = c.R.Any()
	})
}

// wireUnits reads or writes the fields of an item that is more than one plain
// item.
func (it *itemDraft) wireUnits(c *jsonwire.Codec) {
	u := *(*ContextItem)(it).unitsOrNone()
	wireChecked(it, c.Optional("group", u.group != ""), u.group, WithGroup)
	wireChecked(it, c.Optional("versionOf", u.versionOf != ""), u.versionOf, WithVersionOf)
	field := c.Optional("variants", len(u.given) > 0)
	jsonwire.List(field, &u.given, (*Variant).wire)
	it.set(field, WithVariants(u.given...))
	field = c.Optional("groupVariants", len(u.groupGiven) > 0)
	jsonwire.List(field, &u.groupGiven, (*Variant).wire)
	it.set(field, WithGroupVariants(u.groupGiven...))
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

// MarshalJSON returns the budget as an object with the field names of the
// ContextBudget chapter. It always writes maxTokens and targetTokens, and other
// fields if they are not 0 or empty. Reserved slots come in the order of their
// kinds under ASCII case folding.
func (b ContextBudget) MarshalJSON() ([]byte, error) { return marshal(b.wire) }

// UnmarshalJSON reads a budget that [ContextBudget.MarshalJSON] or another
// implementation wrote, and checks it as [NewContextBudget] does. It fails with
// a [DecodeError].
func (b *ContextBudget) UnmarshalJSON(data []byte) error {
	return unmarshal(data, b, (*ContextBudget).wire)
}

func (b *ContextBudget) wire(c *jsonwire.Codec) {
	c.Object(func() {
		c.Required("maxTokens").Int(&b.maxTokens)
		c.Required("targetTokens").Int(&b.targetTokens)
		c.Optional("outputReserve", b.outputReserve != 0).Int(&b.outputReserve)
		b.wireSlots(c.Optional("reservedSlots", len(b.slots) > 0))
		c.Optional("estimationSafetyMarginPercent", math.Float64bits(b.marginPercent) != 0).Float(&b.marginPercent) // -0.0 is written too
		wireExtra(c, &b.extra)
	})
	if c.R == nil {
		return
	}
	if c.R.Fault == nil {
		if invalid, ok := compat.AsType[*InvalidBudgetError](b.validate()); ok {
			c.R.Fail(invalid.Field, invalid.Reason)
		}
	}
	if fault := c.R.Fault; fault != nil && fault.Path != "" {
		fault.Err = &InvalidBudgetError{fault.Path, fault.Reason}
	}
}

// wireSlots leaves kinds that are given twice for the budget to find.
func (b *ContextBudget) wireSlots(c *jsonwire.Codec) {
	if c.R != nil {
		var slots []reservedSlot
		c.R.Map(func(kind string) { slots = append(slots, reservedSlot{ContextKind(kind).Canonical(), c.R.Int()}) })
		(*budgetDraft)(b).setSlots(slots)
	}
	if c.W != nil {
		kinds := make([]string, len(b.slots))
		for i, s := range b.slots {
			kinds[i] = string(s.kind)
		}
		c.W.Map(kinds, func(i int) { c.W.Int(b.slots[i].tokens) })
	}
}
