package cupelotel

import (
	"fmt"
	"slices"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"

	"github.com/wollax/cupel-go/cupel"
)

// WithItemAttributes adds the attributes that get returns for an item to its events,
// cupel.exclusion and cupel.item.included, so that they say which item it was.
// [ItemID] makes such a function. Given several times, all are called, in that order;
// nil adds none. Cupel's own attributes and earlier ones win over attributes of the
// same name.
//
// It is called once for each event, not for items beyond the event limit. Concurrent
// runs call it concurrently. If it panics, its attributes are left out and the
// OpenTelemetry error handler receives an error.
//
// What get returns leaves the process as it is: no [Redactor] sees it.
func WithItemAttributes(get func(item *cupel.ContextItem) []attribute.KeyValue) TraceOption {
	return func(c *TraceCollector) {
		if get != nil {
			c.itemAttrs = append(c.itemAttrs, get)
		}
	}
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

// appendItem appends the caller's attributes of an item to attrs, the event's own.
func (c *TraceCollector) appendItem(attrs []attribute.KeyValue, item *cupel.ContextItem) []attribute.KeyValue {
	for _, get := range c.itemAttrs {
		for _, kv := range itemAttributes(get, item) {
			if slices.ContainsFunc(attrs, func(own attribute.KeyValue) bool { return own.Key == kv.Key }) {
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

// recovered, when deferred, reports a panic of a function of the caller's.
func recovered(what, who string) {
	if v := recover(); v != nil {
		// Not the value: it may quote an item.
		otel.Handle(fmt.Errorf("cupelotel: left out %s: the %s panicked with a %T", what, who, v))
	}
}
