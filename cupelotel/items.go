package cupelotel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
)

// WithItemAttributes adds the attributes that get returns for an item to its events,
// cupel.exclusion and cupel.item.included. Given several times, all are called, in that order;
// nil adds none. Cupel's own attributes and earlier ones win over attributes of the
// same name.
//
// It is called once for each event, not for items beyond the event limit. Concurrent
// runs call it concurrently. If it panics, its attributes are left out and the
// OpenTelemetry error handler receives an error.
//
// The result of get leaves the process unchanged, except for invalid UTF-8: the
// policy of [WithRedaction] does not apply.
func WithItemAttributes(get func(item *cupel.ContextItem) []attribute.KeyValue) TraceOption {
	return func(c *TraceCollector) {
		if get != nil {
			c.itemAttrs = append(c.itemAttrs, get)
		}
	}
}

// appendItem appends the id of an item and the caller's attributes to attrs, the event's
// own.
func (c *TraceCollector) appendItem(attrs []attribute.KeyValue, item *cupel.ContextItem) []attribute.KeyValue {
	if key := c.redaction.ID; key != "" {
		if id := c.redaction.text(observe.PartID, idOf(item, key)); id != "" {
			attrs = append(attrs, itemIDKey.String(id))
		}
	}
	for _, get := range c.itemAttrs {
		for _, kv := range itemAttributes(get, item) {
			if !slices.ContainsFunc(attrs, func(own attribute.KeyValue) bool { return own.Key == kv.Key }) {
				attrs = append(attrs, valid(kv))
			}
		}
	}
	return attrs
}

// idOf returns the metadata value of a key, if it is a text or a whole number.
func idOf(item *cupel.ContextItem, key string) string {
	if id, ok := item.MetadataText(key); ok {
		return id
	}
	if id, ok := item.MetadataInt(key); ok {
		return strconv.Itoa(id)
	}
	return ""
}

// valid returns an attribute of the caller's in valid UTF-8: an exporter refuses the
// whole batch otherwise, with the spans of others.
func valid(kv attribute.KeyValue) attribute.KeyValue {
	return attribute.KeyValue{Key: attribute.Key(validText(string(kv.Key))), Value: validValue(kv.Value)}
}

func validValue(v attribute.Value) attribute.Value {
	switch v.Type() {
	case attribute.STRING:
		return attribute.StringValue(validText(v.AsString()))
	case attribute.STRINGSLICE:
		return attribute.StringSliceValue(each(v.AsStringSlice(), validText))
	case attribute.SLICE:
		return attribute.SliceValue(each(v.AsSlice(), validValue)...)
	case attribute.MAP:
		return attribute.MapValue(each(v.AsMap(), valid)...)
	default:
		return v
	}
}

func validText(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// each changes the elements of a list.
func each[T any](list []T, change func(T) T) []T {
	for i := range list {
		list[i] = change(list[i])
	}
	return list
}

func itemAttributes(get func(*cupel.ContextItem) []attribute.KeyValue, item *cupel.ContextItem) []attribute.KeyValue {
	defer recovered("the attributes of an item", "function of WithItemAttributes")
	return get(item)
}

// recovered, when deferred, reports a panic of a function of the caller's.
func recovered(what, who string) {
	if v := recover(); v != nil {
		// Without the value, which may quote an item.
		otel.Handle(fmt.Errorf("cupelotel: left out %s: the %s panicked with a %T", what, who, v))
	}
}
