package cupelotel

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/wollax/cupel-go/cupel"
)

// WithItemAttributes adds the attributes that get returns for an item to its events,
// cupel.exclusion and cupel.item.included, so that they say which item it was.
// [ItemID], [ItemSource] and [ItemHash] are such functions. Given several times, all
// are called, in that order; nil adds none. Cupel's own attributes and earlier ones
// win over attributes of the same name.
//
// It is called once for each event, not for items beyond the event limit. Concurrent
// runs call it concurrently. If it panics, its attributes are left out and the
// OpenTelemetry error handler receives an error.
//
// What get returns leaves the process as it is: no [Redactor] sees it.
func WithItemAttributes(get func(item *cupel.ContextItem) []attribute.KeyValue) TraceOption {
	return traceOption(func(c *TraceCollector) {
		if get != nil {
			c.itemAttrs = append(c.itemAttrs, get)
		}
	})
}

// ItemID returns a function for [WithItemAttributes] that adds cupel.item.id: the
// item's metadata value of that key, if it is a string or a whole number.
func ItemID(key string) func(*cupel.ContextItem) []attribute.KeyValue {
	return func(item *cupel.ContextItem) []attribute.KeyValue {
		if id, ok := item.MetadataText(key); ok {
			return []attribute.KeyValue{itemIDKey.String(id)}
		}
		if id, ok := item.MetadataInt(key); ok {
			return []attribute.KeyValue{itemIDKey.String(attribute.IntValue(id).String())}
		}
		return nil
	}
}

// ItemSource is a function for [WithItemAttributes]. It adds cupel.item.source.
func ItemSource(item *cupel.ContextItem) []attribute.KeyValue {
	return []attribute.KeyValue{itemSourceKey.String(string(item.Source()))}
}

// ItemHash returns a function for [WithItemAttributes] that adds cupel.item.hash: half
// of the HMAC-SHA256 of the item's content. Equal contents have equal hashes, in every
// process with the same key. Anyone with the key can test a guess of the content,
// so keep it secret; 32 random bytes are a good one. Without a key it makes one up, so
// that hashes can be compared within the process only. The time grows with the
// content.
func ItemHash(key []byte) func(*cupel.ContextItem) []attribute.KeyValue {
	if key = slices.Clone(key); len(key) == 0 {
		key = make([]byte, sha256.Size)
		_, _ = rand.Read(key) // it never fails
	}
	return func(item *cupel.ContextItem) []attribute.KeyValue {
		h := hmac.New(sha256.New, key)
		_, _ = h.Write([]byte(item.Content())) // a hash never fails
		return []attribute.KeyValue{itemHashKey.String(hex.EncodeToString(h.Sum(nil)[:sha256.Size/2]))}
	}
}

// appendItem appends the caller's attributes of an item to attrs, the event's own.
func (c *TraceCollector) appendItem(attrs []attribute.KeyValue, from int, item *cupel.ContextItem) []attribute.KeyValue {
	for _, get := range c.itemAttrs {
		for _, kv := range itemAttributes(get, item) {
			if slices.ContainsFunc(attrs[from:], func(own attribute.KeyValue) bool { return own.Key == kv.Key }) {
				continue
			}
			if kv.Value.Type() == attribute.STRING {
				kv.Value = attribute.StringValue(strings.ToValidUTF8(kv.Value.AsString(), "\uFFFD"))
			}
			attrs = append(attrs, kv)
		}
	}
	return attrs
}

func itemAttributes(get func(*cupel.ContextItem) []attribute.KeyValue, item *cupel.ContextItem) []attribute.KeyValue {
	defer recovered("the attributes of an item", "function of WithItemAttributes")
	return get(item)
}
