package cupel

import (
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
	kind := c.Optional("kind", true)
	jsonwire.Text(&it.kind, kind)
	it.set(kind, WithKind(it.kind))
	source := c.Optional("source", true)
	jsonwire.Text(&it.source, source)
	it.set(source, WithSource(it.source))
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
	if err := option(it); err != nil {
		if invalid, ok := compat.AsType[*InvalidItemError](err); ok {
			c.R.Fail("", invalid.Reason)
		}
	}
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
