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
func (it ContextItem) MarshalJSON() ([]byte, error) {
	return marshal(func(w *jsonwire.Writer) { it.write(w) })
}

func (it *ContextItem) write(w *jsonwire.Writer) {
	if it == nil || it.content == "" {
		w.Fail("must be an item that NewContextItem made", nil)
		return
	}
	w.Object(func() {
		w.Field("content").String(it.content)
		w.Field("tokens").Int(it.tokens)
		w.Field("kind").String(string(it.kind))
		w.Field("source").String(string(it.source))
		if n, ok := it.Priority(); ok {
			w.Field("priority").Int(n)
		}
		if len(it.tags) > 0 {
			w.Field("tags").Array(len(it.tags), func(i int) { w.String(it.tags[i]) })
		}
		if len(it.metadata) > 0 {
			w.Field("metadata").AnyMap(it.metadata)
		}
		if t, ok := it.Timestamp(); ok {
			w.Field("timestamp")
			if !hasRFC3339(t) {
				w.Fail("must be in the years 0 to 9999 in UTC", nil)
			}
			w.Time(t)
		}
		if hint, ok := it.FutureRelevanceHint(); ok {
			w.Field("futureRelevanceHint").Float(hint)
		}
		if it.pinned {
			w.Field("pinned").Bool(true)
		}
		if n, ok := it.OriginalTokens(); ok {
			w.Field("originalTokens").Int(n)
		}
		it.units.write(w)
		it.extra.write(w)
	})
}

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
	return unmarshal(data, it, func(r *jsonwire.Reader, it *ContextItem) { readItem(r, it) })
}

// The fields of an item, in the order of itemShape.
const (
	itemContent = iota
	itemTokens
	itemKind
	itemSource
	itemPriority
	itemTags
	itemMetadata
	itemTimestamp
	itemHint
	itemPinned
	itemOriginalTokens
	itemGroup
	itemVersionOf
	itemVariants
	itemGroupVariants
)

var itemShape = jsonwire.NewShape(2, "content", "tokens", "kind", "source", "priority", "tags", "metadata", "timestamp",
	"futureRelevanceHint", "pinned", "originalTokens", "group", "versionOf", "variants", "groupVariants")

// readItemPointer reads an item into a new variable.
func readItemPointer(r *jsonwire.Reader, to **ContextItem) {
	*to = new(ContextItem)
	readItem(r, *to)
}

func readItem(r *jsonwire.Reader, to *ContextItem) {
	it := (*itemDraft)(to)
	it.kind, it.source = KindMessage, SourceChat
	fail := func(err error) {
		if invalid, ok := compat.AsType[*InvalidItemError](err); ok {
			r.Fail("", invalid.Reason, nil) // the path gets the name of the field below
		}
	}
	o := r.Object(itemShape)
	for o.Next() {
		switch o.Field {
		case itemContent:
			if it.content = r.String(); it.content == "" {
				r.Fail("", "must not be empty", nil)
			}
		case itemTokens:
			it.tokens = r.Int()
		case itemKind:
			fail(WithKind(ContextKind(r.Word()))(it))
		case itemSource:
			fail(WithSource(ContextSource(r.Word()))(it))
		case itemPriority:
			it.priority = r.Int()
			it.has |= hasPriority
		case itemTags:
			for a := r.Array(); a.Next(); {
				it.tags = append(it.tags, r.Word())
			}
		case itemMetadata:
			it.metadata = readMetadata(r)
		case itemTimestamp:
			it.timestamp = readTime(r)
			it.has |= hasTimestamp
		case itemHint:
			it.hint = r.Float()
			it.has |= hasHint
		case itemPinned:
			it.pinned = r.Bool()
		case itemOriginalTokens:
			it.originalTokens = r.Int()
			it.has |= hasOriginalTokens
		case itemGroup:
			fail(WithGroup(r.Word())(it))
		case itemVersionOf:
			fail(WithVersionOf(r.Word())(it))
		case itemVariants:
			fail(WithVariants(readList(r, readVariant)...)(it))
		case itemGroupVariants:
			fail(WithGroupVariants(readList(r, readVariant)...)(it))
		}
	}
	if r.Err() == nil {
		if invalid, ok := compat.AsType[*InvalidItemError](join(it.finish(true))); ok {
			r.Fail(invalid.Field, invalid.Reason, nil)
		}
	}
	it.extra = extraOf(&o)
	if err := r.Err(); err != nil && err.Path != "" {
		err.Err = &InvalidItemError{-1, err.Path, err.Reason}
	}
}

// readMetadata reads an object of anything. An empty one is read as nil.
func readMetadata(r *jsonwire.Reader) map[string]any {
	var metadata map[string]any
	for o := r.Object(nil); o.Next(); {
		if metadata == nil {
			metadata = make(map[string]any)
		} else if _, ok := metadata[o.Name]; ok {
			r.Fail("", "is given twice", nil)
		}
		metadata[o.Name] = r.Any()
	}
	return metadata
}
