package cupel

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wollax/cupel-go/cupel/internal/jsonwire"
)

// MarshalJSON returns the item as an object with the field names of the
// ContextItem chapter. Kind and source are always there, other fields when the
// item has them. Metadata keeps the values that JSON knows; numbers keep every
// digit. It fails with an [EncodeError].
//
// encoding/json writes a nil item as null, without calling this method, which
// needs an item.
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
			keys := slices.Sorted(maps.Keys(it.metadata))
			w.Field("metadata").Map(keys, func(i int) { w.Any(it.metadata[keys[i]]) })
		}
		if t, ok := it.Timestamp(); ok {
			w.Field("timestamp")
			if !hasRFC3339(t) {
				w.Fail("must be in the years 0 to 9999 in UTC", nil)
			}
			w.String(t.Format(time.RFC3339Nano))
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
		it.extra.write(w)
	})
}

// UnmarshalJSON reads an item that [ContextItem.MarshalJSON] or another
// implementation wrote, and checks it as [NewContextItem] does. Numbers in
// metadata are read as [json.Number]. Null leaves the item as it is. It fails
// with a [DecodeError].
//
// An item never changes: reading into one that exists already, as encoding/json
// does with the pointers of a list that is read a second time, is an error.
func (it *ContextItem) UnmarshalJSON(data []byte) error {
	if it != nil && it.content != "" {
		return &DecodeError{Reason: "cannot be read into an item that exists already, because items never change: read into a new variable"}
	}
	return unmarshal(data, it, func(raw []byte) (ContextItem, error) {
		item, err := readItem(raw)
		if err != nil {
			return ContextItem{}, err
		}
		return *item, nil
	})
}

func readItem(raw []byte) (*ContextItem, error) {
	o := readObject(raw)
	content := required(o, "content", jsonwire.String)
	tokens := required(o, "tokens", jsonwire.Int)
	var opts []ItemOption
	if kind, ok := optional(o, "kind", readKind); ok {
		opts = append(opts, WithKind(kind))
	}
	if source, ok := optional(o, "source", readName[ContextSource]); ok {
		opts = append(opts, WithSource(source))
	}
	if n, ok := optional(o, "priority", jsonwire.Int); ok {
		opts = append(opts, WithPriority(n))
	}
	if tags, ok := optional(o, "tags", listOf(jsonwire.String)); ok {
		opts = append(opts, WithTags(tags...))
	}
	if metadata, ok := optional(o, "metadata", readMetadata); ok {
		opts = append(opts, WithMetadata(metadata))
	}
	if t, ok := optional(o, "timestamp", readTime); ok {
		opts = append(opts, WithTimestamp(t))
	}
	if hint, ok := optional(o, "futureRelevanceHint", jsonwire.Float); ok {
		opts = append(opts, WithFutureRelevanceHint(hint))
	}
	if pinned, _ := optional(o, "pinned", jsonwire.Bool); pinned {
		opts = append(opts, WithPinned())
	}
	if n, ok := optional(o, "originalTokens", jsonwire.Int); ok {
		opts = append(opts, WithOriginalTokens(n))
	}
	extra := o.extra()
	if err := o.err; err != nil {
		if err.Path == "" { // no object at all
			return nil, err
		}
		return nil, &DecodeError{err.Path, err.Reason, &InvalidItemError{-1, err.Path, err.Reason}}
	}
	it, err := NewContextItem(content, tokens, opts...)
	if invalid, ok := errors.AsType[*InvalidItemError](err); ok {
		return nil, &DecodeError{invalid.Field, invalid.Reason, invalid}
	}
	it.extra = extra
	return it, nil
}

// readMetadata reads an object of anything. An empty one is read as nil.
func readMetadata(raw []byte) (map[string]any, error) {
	o := readObject(raw)
	if o.err != nil || len(o.members) == 0 {
		return nil, o.done()
	}
	metadata := make(map[string]any, len(o.members))
	for _, m := range o.members {
		v, err := jsonwire.Any(m.Value)
		if err != nil {
			return nil, within(fmt.Sprintf("[%q]", m.Name), err)
		}
		metadata[m.Name] = v
	}
	return metadata, nil
}
